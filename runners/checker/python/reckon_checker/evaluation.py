"""Values of trees by enclosures at the precision in force (flint.ctx.prec). Nothing here knows what is being checked.

evaluate answers a Value whose balls hold the true value; it raises Undecided where more bits may tell more, and tree.Refused
for what is not handled. HEADS may be added to: rules that enclose sums or integrals register themselves there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from flint import arb, ctx, fmpq

from . import budget, watch
from .arithmetic import exponential, minus, plus, power, times
from .calculus import applied, differentiate, expand_d
from .constants import CONSTANTS
from .functions import ELEMENTARY
from .jumps import JUMPS
from .lists import LISTS, dot
from .roots import root_of_call, root_sum_of_call
from .sequences import SEQUENCES
from .special import SPECIAL
from .stand_ins import stand_in
from .tree import OF_EXACT, Real, Refused, Text, Tree, arguments, free_symbols, is_call, refuse_by_form, stands_as_head
from .tree import undefined as may_be_users
from .truth import COMPARISONS, member
from .values import (
    COMPLEX_INFINITY,
    ONE,
    WITHHELD,
    ZERO,
    Gaussian,
    NonValue,
    Undecided,
    Value,
    exact,
    infinity,
    is_zero,
    real_ball,
    sign,
    undefined,
    whole,
)
from .watch import Watch
from .whole import WHOLE

MAX_LOOP, BITS_A_STEP = 20000, 256  # an evaluation is a step, and one more for so many bits of precision
MACHINE_EPSILON, BELOW_MACHINE_EPSILON = fmpq(1, 2**53), fmpq(1, 2**60)


@dataclass(frozen=True)
class Environment:
    """The meaning of symbols. values: of variables; functions: trees of pure functions for undefined heads; constants: of
    C[k]. printed: whether decimal numbers are the intervals that print so (an answer's) or within half a unit of 2^-52 of
    what is written (an input's); rounded: they are never exact, so that sums round as machine numbers do. counted: names that
    stand for the numbers an iterator runs over, not for any number."""

    values: Mapping[str | tuple[Tree, ...], Value] = field(default_factory=dict)
    functions: Mapping[str, Tree] = field(default_factory=dict)
    constants: Mapping[Tree, Value] = field(default_factory=dict)
    printed: bool = False
    rounded: bool = False
    counted: frozenset[str] = frozenset()

    @classmethod
    def of(cls, values: Mapping[str, Value]) -> Environment:
        """Symbols with values, and nothing else."""
        named: dict[str | tuple[Tree, ...], Value] = {}
        for name, value in values.items():
            named[name] = value
        return cls(named)

    def having(self, name: str | tuple[Tree, ...], value: Value) -> Environment:
        return replace(self, values={**self.values, name: value})

    def counting(self, name: str, value: Value) -> Environment:
        return replace(self.having(name, value), counted=self.counted | {name})


EMPTY = Environment()


def evaluate(node: Tree, env: Environment = EMPTY) -> Value:
    """The value of a tree in an environment, at the working precision."""
    if isinstance(node, int):
        return fmpq(node)
    if isinstance(node, str):
        return _symbol(node, env)
    if isinstance(node, Real):
        return _decimal(node, env)
    budget.step(1 + ctx.prec // BITS_A_STEP)
    found = _evaluate_call(node, env)
    if Watch.on and isinstance(found, fmpq) and not free_symbols(node):
        watch.exact(found)
    return found


def _evaluate_call(node: tuple[Tree, ...], env: Environment) -> Value:
    head = node[0]
    if isinstance(head, str):
        if head in OF_EXACT:
            refuse_by_form(node, env.counted)
        special = HEADS.get(head)
        if special is not None:
            return special(node, env)
        function = FUNCTIONS.get(head)
        if function is not None:
            args = [evaluate(arg, env) for arg in node[1:]]
            try:
                return function(*args)
            except (TypeError, ValueError, IndexError) as problem:
                raise Refused(head) from problem  # as many arguments as the function does not take
        if head in env.functions or (len(node) > 1 and may_be_users(head)):
            return evaluate(applied(_function(head, len(node) - 1, env), node[1:]), env)
        raise Refused(head)
    return _apply(head, node[1:], env)


def _symbol(node: str, env: Environment) -> Value:
    if isinstance(node, Text):
        raise Refused("String")
    if node in env.values:
        return env.values[node]
    if node == "Undefined":
        return WITHHELD
    constant = CONSTANTS.get(node)
    if constant is None:
        raise Refused("symbol " + node)
    return constant()


def _decimal(node: Real, env: Environment) -> Value:
    middle = exact(node.value)
    if env.rounded and node.machine:
        return arb(middle, arb(abs(middle) * BELOW_MACHINE_EPSILON))
    if env.printed:
        return arb(middle, arb(exact(node.half_unit)))
    if not node.machine or (middle.q.bit_length() < 40 and int(middle.q) & (int(middle.q) - 1) == 0):
        return middle  # digits that are meant exactly, or a double that is exactly what is written
    return arb(middle, arb(abs(middle) * MACHINE_EPSILON))


def _function(head: Tree, arity: int, env: Environment) -> Tree:
    if isinstance(head, str) and head in env.functions:
        return env.functions[head]
    return stand_in(str(head), arity)


def _apply(head: Tree, args: tuple[Tree, ...], env: Environment) -> Value:
    """Function[...][args], C[1][args], Derivative[n...][f][args]."""
    if is_call(head, "Function"):
        return evaluate(applied(head, args), env)
    if is_call(head, "C") and len(arguments(head)) == 1:
        return evaluate(applied(_function("C" + str(arguments(head)[0]), len(args), env), args), env)
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        return evaluate(derivative_of(head[1], arguments(head[0]), args, env), env)
    raise Refused("head")


def derivative_of(function: Tree, orders: tuple[Tree, ...], args: tuple[Tree, ...], env: Environment) -> Tree:
    """Derivative[orders][function][args] as a tree."""
    if len(orders) != len(args):
        raise Refused("Derivative")
    names = tuple(f"derivative$variable{i}" for i in range(len(args)))
    if isinstance(function, str) and (function in FUNCTIONS or function in HEADS) and not may_be_users(function):
        body: Tree = (function, *names)
    elif is_call(function, "Function"):
        body = applied(function, names)
    elif (isinstance(function, str) and may_be_users(function)) or is_call(function, "C"):
        label = function if isinstance(function, str) else "C" + str(arguments(function)[0])
        body = applied(_function(label, len(args), env), names)
    elif isinstance(function, tuple) and is_call(function[0], "Derivative"):
        raise Refused("Derivative of a Derivative")
    else:
        raise Refused("Derivative")
    for name, order in zip(names, orders, strict=True):
        if not isinstance(order, int):
            raise Refused("Derivative")
        body = differentiate(body, name, order)
    return applied(("Function", ("List", *names), body), args)


def concrete(node: Tree) -> Tree:
    """The tree with its undefined functions, and their derivatives, as the functions that stand for them."""
    if not isinstance(node, tuple):
        return node
    head = node[0]
    if isinstance(head, str) and len(node) > 1 and may_be_users(head):
        return applied(stand_in(head, len(node) - 1), tuple(concrete(part) for part in node[1:]))
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        return derivative_of(head[1], arguments(head[0]), tuple(concrete(part) for part in node[1:]), EMPTY)
    return tuple(part if i == 0 else concrete(part) for i, part in enumerate(node))


def truth(node: Tree, env: Environment) -> bool | NonValue:
    """The truth value of a condition, or undefined."""
    value = evaluate(node, env)
    if isinstance(value, bool | NonValue):
        return value
    if isinstance(value, tuple) and all(isinstance(part, bool) for part in value):
        return all(part is True for part in value)
    return undefined("a condition without a truth value")


# Heads with rules of evaluation of their own.


def _fold(combine: Callable[[Value, Value], Value], start: Value) -> Callable[[tuple[Tree, ...], Environment], Value]:
    def rule(node: tuple[Tree, ...], env: Environment) -> Value:
        if len(node) == 1:
            return start
        value = evaluate(node[1], env)
        for arg in node[2:]:
            value = combine(value, evaluate(arg, env))
        return value

    return rule


def _power(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) != 3:
        raise Refused("Power")
    exponent = evaluate(node[2], env)
    return exponential(exponent) if node[1] == "E" else power(evaluate(node[1], env), exponent)


def _rational(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) != 3 or not isinstance(node[1], int) or not isinstance(node[2], int) or node[2] == 0:
        raise Refused("Rational")
    return fmpq(node[1], node[2])


def _complex(node: tuple[Tree, ...], env: Environment) -> Value:
    return plus(evaluate(node[1], env), times(evaluate(node[2], env), Gaussian(ZERO, ONE)))


@lru_cache(maxsize=64)
def _derivative_tree(node: Tree) -> Tree:
    return expand_d(node)


def _d(node: tuple[Tree, ...], env: Environment) -> Value:
    return evaluate(_derivative_tree(node), env)


def _piecewise(node: tuple[Tree, ...], env: Environment) -> Value:
    for case in arguments(node[1]):
        value, condition = arguments(case)
        holds = truth(condition, env)
        if isinstance(holds, NonValue):
            return holds
        if holds:
            return evaluate(value, env)
    return evaluate(node[2], env) if len(node) > 2 else ZERO


def _conditional(node: tuple[Tree, ...], env: Environment) -> Value:
    holds = truth(node[2], env)
    if isinstance(holds, NonValue):
        return holds
    return evaluate(node[1], env) if holds else WITHHELD


def _if(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) != 4:
        raise Refused("If")
    holds = truth(node[1], env)
    if isinstance(holds, NonValue):
        return holds
    return evaluate(node[2] if holds else node[3], env)


def _comparison(node: tuple[Tree, ...], env: Environment) -> Value:
    return COMPARISONS[str(node[0])](*(evaluate(arg, env) for arg in node[1:]))


def _inequality(node: tuple[Tree, ...], env: Environment) -> Value:
    args = [evaluate(arg, env) for arg in node[1::2]]
    return _all([lambda i=i, op=op: COMPARISONS[str(op)](args[i], args[i + 1]) for i, op in enumerate(node[2::2])])  # type: ignore[misc]


def _all(parts: list[Callable[[], Value]], wanted: bool = True) -> Value:
    """Whether all are wanted; one that is not decides, whatever the others are."""
    problem: NonValue | Undecided | None = None
    for part in parts:
        try:
            value = part()
        except Undecided as undecided:
            problem = undecided
            continue
        if isinstance(value, bool):
            if value is not wanted:
                return not wanted
        else:
            problem = problem or (value if isinstance(value, NonValue) else undefined("no truth value"))
    if isinstance(problem, Undecided):
        raise problem
    return problem if problem is not None else wanted


def _and(node: tuple[Tree, ...], env: Environment) -> Value:
    return _all([lambda arg=arg: truth(arg, env) for arg in node[1:]])  # type: ignore[misc]


def _or(node: tuple[Tree, ...], env: Environment) -> Value:
    return _all([lambda arg=arg: truth(arg, env) for arg in node[1:]], wanted=False)  # type: ignore[misc]


def _negated(value: Value) -> Value:
    return not value if isinstance(value, bool) else value


def _truths(node: tuple[Tree, ...], env: Environment, combine: Callable[[list[bool]], bool]) -> Value:
    values = [truth(arg, env) for arg in node[1:]]
    for value in values:
        if isinstance(value, NonValue):
            return value
    return combine([value is True for value in values])


def _element(node: tuple[Tree, ...], env: Environment) -> Value:
    parts = arguments(node[1]) if is_call(node[1], "Alternatives", "List") else (node[1],)
    domain = node[2]
    return _all([lambda part=part: member(evaluate(part, env), domain) for part in parts])  # type: ignore[misc]


def _constant(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) == 2 and node[1] in env.constants:
        return env.constants[node[1]]
    raise Refused("C")


def _slot(node: tuple[Tree, ...], env: Environment) -> Value:
    if node in env.values:
        return env.values[node]
    raise Refused("Slot")


def ranges(iterator: Tree, env: Environment) -> tuple[str, list[Value]]:
    """The values of a finite iterator {k, a, b, step}."""
    parts = arguments(iterator)
    if not is_call(iterator, "List") or not 1 < len(parts) <= 4 or not isinstance(parts[0], str):
        raise Refused("iterator")
    if len(parts) == 2 and is_call(parts[1], "List"):
        return parts[0], [evaluate(part, env) for part in arguments(parts[1])]
    bounds = [evaluate(part, env) for part in parts[1:]]
    low, high = (ONE, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    step = bounds[2] if len(bounds) == 3 else ONE
    if not isinstance(step, fmpq) or step == 0 or isinstance(high, tuple | bool | NonValue) or isinstance(low, tuple | bool | NonValue):
        raise Refused("iterator")
    span = minus(high, low)
    real = None if isinstance(span, NonValue | bool | tuple) else real_ball(span) if not isinstance(span, fmpq) else span
    if real is None:
        raise Refused("iterator")
    count = whole(JUMPS["Floor"](times(real, 1 / step)))
    if count is None or count + 1 > MAX_LOOP:
        raise Refused("iterator too long")
    return parts[0], [plus(low, times(fmpq(i), step)) for i in range(max(count + 1, 0))]


def finite_fold(node: tuple[Tree, ...], env: Environment, combine: Callable[[Value, Value], Value], start: Value) -> Value:
    """Sum and Product over finite ranges, the outermost iterator first."""
    if len(node) < 3:
        raise Refused(str(node[0]))
    name, values = ranges(node[2], env)
    inner = (node[0], node[1], *node[3:])
    result = start
    for value in values:
        budget.step()
        at = env.counting(name, value)
        result = combine(result, finite_fold(inner, at, combine, start) if len(inner) > 2 else evaluate(node[1], at))
    return result


def _table(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) < 3:
        raise Refused("Table")
    name, values = ranges(node[2], env)
    inner = (node[0], node[1], *node[3:])
    return tuple(_table(inner, env.counting(name, value)) if len(inner) > 2 else evaluate(node[1], env.counting(name, value)) for value in values)


def _series(node: tuple[Tree, ...], env: Environment) -> Value:
    """SeriesData[x, x0, {a...}, nmin, nmax, den] as the polynomial it shows, without its O term."""
    variable, point, coefficients, low, _, denominator = node[1:7]
    if not isinstance(low, int) or not isinstance(denominator, int):
        raise Refused("SeriesData")
    x = evaluate(variable, env)
    at = evaluate(point, env)
    step = power(x, fmpq(-1)) if isinstance(at, NonValue) else minus(x, at)
    value: Value = ZERO
    for i, coefficient in enumerate(arguments(coefficients)):
        exponent = fmpq(low + i, denominator)
        factor = ONE if exponent == 0 else power(step, exponent)
        value = plus(value, times(evaluate(coefficient, env), factor))
    return value


def _dot(node: tuple[Tree, ...], env: Environment) -> Value:
    result = evaluate(node[1], env)
    for arg in node[2:]:
        result = dot(result, evaluate(arg, env))
    return result


def _counted(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_counted(part) for part in value)
    return (ONE if value else ZERO) if isinstance(value, bool) else value if isinstance(value, NonValue) else undefined("Boole of a number")


def _boole(node: tuple[Tree, ...], env: Environment) -> Value:
    return _counted(evaluate(node[1], env)) if len(node) == 2 else undefined("Boole")


def _replaced(node: tuple[Tree, ...], env: Environment) -> Value:
    """expr /. {symbol -> value, ...}: all at once, of symbols that are no heads."""
    rules = [arguments(rule) if is_call(rule, "Rule") else () for rule in (arguments(node[2]) if is_call(node[2], "List") else (node[2],))]
    if not all(len(parts) == 2 and isinstance(parts[0], str) and not stands_as_head(parts[0], node[1]) for parts in rules):
        raise Refused("ReplaceAll")
    values = [(str(name), evaluate(value, env)) for name, value in rules]
    for name, value in reversed(values):  # the first rule for a symbol holds
        env = env.having(name, value)
    return evaluate(node[1], env)


def _on_reals(node: tuple[Tree, ...], env: Environment) -> Value:
    x = evaluate(node[1], env)
    if isinstance(x, fmpq | arb):
        return evaluate(node[2], env)
    return undefined("not differentiable off the real axis")


def _off_zero(node: tuple[Tree, ...], env: Environment) -> Value:
    g = evaluate(node[1], env)
    if isinstance(g, NonValue):
        return g
    if isinstance(g, tuple | bool) or is_zero(g):
        return undefined("a jump or a kink")
    return evaluate(node[2], env)


def _first(node: tuple[Tree, ...], env: Environment) -> Value:
    return evaluate(node[1], env)


def _directed(node: tuple[Tree, ...], env: Environment) -> Value:
    if len(node) == 1:
        return COMPLEX_INFINITY
    value = evaluate(node[1], env)
    if isinstance(value, fmpq | arb):
        order = sign(value)
        return COMPLEX_INFINITY if order == 0 else infinity(fmpq(order))
    return infinity(value) if isinstance(value, Gaussian) else undefined("DirectedInfinity")


Rule = Callable[[tuple[Tree, ...], Environment], Value]

HEADS: dict[str, Rule] = {
    "Plus": _fold(plus, ZERO),
    "Times": _fold(times, ONE),
    "Power": _power,
    "Rational": _rational,
    "Complex": _complex,
    "D": _d,
    "Piecewise": _piecewise,
    "ConditionalExpression": _conditional,
    "If": _if,
    "Element": _element,
    "NotElement": lambda node, env: _negated(_element(node, env)),
    "C": _constant,
    "Slot": _slot,
    "Root": lambda node, env: root_of_call(node, lambda tree, name, value: evaluate(tree, env.having(name, value))),
    "RootSum": lambda node, env: root_sum_of_call(node, lambda tree, name, value: evaluate(tree, env.having(name, value) if name else env)),
    "Inequality": _inequality,
    "And": _and,
    "Or": _or,
    "Not": lambda node, env: _negated(truth(node[1], env)),
    "Implies": lambda node, env: _or(("Or", ("Not", node[1]), node[2]), env),
    "Xor": lambda node, env: _truths(node, env, lambda v: sum(v) % 2 == 1),
    "Nand": lambda node, env: _negated(_and(node, env)),
    "Nor": lambda node, env: _negated(_or(node, env)),
    "Equivalent": lambda node, env: _truths(node, env, lambda v: len(set(v)) == 1),
    "Sum": lambda node, env: finite_fold(node, env, plus, ZERO),
    "Product": lambda node, env: finite_fold(node, env, times, ONE),
    "Table": _table,
    "SeriesData": _series,
    "Dot": _dot,
    "Boole": _boole,
    "ReplaceAll": _replaced,
    "OnReals$": _on_reals,
    "OffZero$": _off_zero,
    "Identity": _first,
    "DirectedInfinity": _directed,
    **dict.fromkeys(COMPARISONS, _comparison),
}

FUNCTIONS: dict[str, Callable[..., Value]] = {**ELEMENTARY, **JUMPS, **SPECIAL, **WHOLE, **LISTS, **SEQUENCES}
