"""Procedure "series": coefficients of expansions, from an expansion whose remainder is bounded next to the point."""

from __future__ import annotations

import math
from typing import Any

from flint import arb, fmpq

from .. import stand_ins
from ..calculus import differentiate
from ..critical import substituted
from ..deciding import decide
from ..evaluation import EMPTY, Environment, concrete, evaluate
from ..expanding import ANALYTIC, BY_EXPONENTIALS, expand, towards
from ..expansion import Expander, Germ, tidied
from ..expansion_constants import Constant
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified, Witness
from ..growth import Monomial, X, compared, form_value, level, raised
from ..machine import cancels, loosened
from ..parameters import Known, conditions_of, named, sampled
from ..tree import Refused, Tree, arguments, free_symbols, is_call, kept_by_machines, plus, rational, reals, replace, times
from ..values import NonValue, Relation, Undecided, Value, is_number, precision
from ..wording import equation, show
from . import identities

BITS = (128, 512)
FAR = 2000
INDICES = 10
MAX_ORDER = 45
BETWEEN_POWERS = fmpq(1, 10**6)


def check(task: dict[str, Any], seed: int) -> Residual:
    """Without parameters an expansion with exact coefficients is a proof."""
    if cancels(task["function"]):
        return Open("machine arithmetic loses too much")
    function, answer = concrete(task["function"]), concrete(task["answer"])
    variables = task.get("variables") or task["coefficient"]
    bound = {variable["name"] for variable in variables}
    names = (free_symbols(function) | free_symbols(answer)).union(*(free_symbols(v["point"]) for v in variables)) - bound - {task.get("index") or ""}
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)

    def look(values: Known) -> Sampled:
        f, a = substituted(function, named(values)), substituted(answer, named(values))
        given = [{**variable, "point": substituted(variable["point"], named(values))} for variable in variables]
        if "coefficient" in task:
            return coefficient(f, given, a, task.get("index") or "", values)
        if len(given) == 2:
            return several(f, given, a, values)
        return expansion(f, given[0], a, values)

    found = sampled(names, [answer], conditions, seed, look)
    if isinstance(found, Refuted) and "coefficient" not in task and not kept_by_machines(function, answer):
        return Open("decimals that stand for intervals")
    if isinstance(found, Supported) and not names and not reals(function) and not reals(answer):
        return proof(task, function, answer, seed) or found
    return found


def at(order: int | fmpq) -> Monomial:
    """(x - x0)^order, where x - x0 is 1/X."""
    return raised(X, -fmpq(order))


def germ_of(tree: Tree, name: str, point: Tree, terms: int) -> tuple[Germ, Expander]:
    on = Expander(arb(2) ** FAR, terms)
    return expand(towards(tree, name, point, 1), on), on


def without_order(answer: Tree) -> tuple[Tree, fmpq | None, bool]:
    """The answer without its O term, and the order that the term says: None without one. False where there is more than one."""
    if is_call(answer, "SeriesData"):
        parts = arguments(answer)
        if len(parts) != 6 or not isinstance(parts[4], int) or not isinstance(parts[5], int) or parts[5] < 1:
            return answer, None, False
        return answer, fmpq(parts[4], parts[5]), True
    terms = arguments(answer) if is_call(answer, "Plus") else (answer,)
    rest: list[Tree] = []
    orders: list[fmpq] = []
    for term in terms:
        exponent = fmpq(1) if is_call(term, "O") else order_of(term)
        if exponent is None:
            rest.append(term)
        else:
            orders.append(exponent)
    return plus(*rest), (orders[0] if orders else None), len(orders) <= 1 and not any(_has_order(term) for term in rest)


def order_of(term: Tree) -> fmpq | None:
    """e of O[x]^e."""
    if not is_call(term, "Power") or not is_call(arguments(term)[0], "O") or free_symbols(arguments(term)[1]):
        return None
    exponent = evaluate(arguments(term)[1])
    return exponent if isinstance(exponent, fmpq) else None


def _has_order(node: Tree) -> bool:
    return isinstance(node, tuple) and (node[0] == "O" or any(_has_order(part) for part in node))


def expanded_series(answer: Tree) -> Tree:
    """SeriesData as a sum."""
    if not is_call(answer, "SeriesData"):
        return answer
    if len(arguments(answer)) != 6:
        raise Refused("SeriesData")
    name, point, coefficients, low, _, parts = arguments(answer)
    step: Tree = ("Power", name, -1) if point == "Infinity" else name if point == 0 else plus(name, times(-1, point))
    if not isinstance(low, int) or not isinstance(parts, int) or parts < 1:
        raise Refused("SeriesData")

    def raised_step(k: int) -> Tree:
        return ("Power", step, k // parts if k % parts == 0 else rational(k, parts))

    return plus(*(times(c, raised_step(low + i)) if low + i else c for i, c in enumerate(arguments(coefficients))))


def without_orders(answer: Tree) -> Tree:
    """A nested series without its O terms, as an expression."""
    if not isinstance(answer, tuple):
        return answer
    if is_call(answer, "O") or (is_call(answer, "Power") and is_call(arguments(answer)[0], "O")):
        return 0
    return expanded_series(tuple(part if i == 0 else without_orders(part) for i, part in enumerate(answer)))


# Heads of functions that are analytic but for poles and branch points.
EXPANDED = ANALYTIC | frozenset(BY_EXPONENTIALS) | {"Plus", "Times", "Power"}


def proof(task: dict[str, Any], function: Tree, answer: Tree, seed: int) -> Verified | None:
    """Of one variable, by exact coefficients on either side of the point."""
    given = task.get("coefficient") or task["variables"]
    if len(given) != 1 or task.get("index") or stand_ins.mentioned(task):
        return None
    name, point, order = given[0]["name"], given[0]["point"], given[0]["order"]
    if not is_analytic(function, name):
        return None
    sides = [1] if point == "Infinity" else [1, -1]
    if "coefficient" in task:
        one = all(coefficient_is(function, (name, point, side), order, answer, seed) for side in sides)
        return Verified(exact=True) if one else None
    rest, stated, simple = without_order(answer)
    if not simple or (stated is None) != bool(task.get("normal")) or not (stated is None or stated > order):
        return None
    least = at(order) if stated is None else at(stated)
    small = order_arguments(answer)
    fits = all(agrees_up_to(function, expanded_series(rest), small, (name, point, side), (order, least, stated is None)) for side in sides)
    return Verified(exact=True) if fits else None


def is_analytic(node: Tree, name: str) -> bool:
    if not isinstance(node, tuple) or name not in free_symbols(node):
        return True
    return node[0] in EXPANDED and all(is_analytic(part, name) for part in node[1:])


def order_arguments(answer: Tree) -> list[Tree]:
    """z of each O[z]^e that is a term."""
    terms = arguments(answer) if is_call(answer, "Plus") else (answer,)
    roots = [arguments(term)[0] if is_call(term, "Power") else term for term in terms]
    return [arguments(root)[0] for root in roots if is_call(root, "O")]


def agrees_up_to(function: Tree, answer: Tree, small: list[Tree], where: tuple[str, Tree, int], orders: tuple[int, Monomial, bool]) -> bool:
    """Whether the answer is a sum of powers up to the order, and the function less the answer of the order of least, or smaller. The arguments of O
    terms are multiples of the step from the point."""
    order, least, smaller = orders
    for bits, terms in ((b, t) for b in BITS for t in (order + 6, 2 * order + 12)):
        with precision(bits):
            on = Expander(arb(2) ** FAR, max(terms, 4))
            try:
                steps = [expand(towards(part, *where), on) for part in small]
                given = expand(towards(answer, *where), on)
                rest = expand(towards(plus(function, times(-1, answer)), *where), on)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
                continue
            if given.remainder is not None or any(compared(monomial, at(order)) < 0 for monomial in given.terms):
                return False
            if any(step.remainder is not None or list(step.terms) != [at(1)] for step in steps) or not only_powers(on):
                return False
            left = [*rest.terms, *([rest.remainder[0]] if rest.remainder is not None else [])]
            if all(compared(monomial, least) < (0 if smaller else 1) for monomial in left):
                return True
    return False


def only_powers(on: Expander) -> bool:
    """Whether every part that was expanded has an expansion in powers: none has a logarithm or an essential singularity."""
    monomials = [m for germ in on.cache.values() for m in (*germ.terms, *([germ.remainder[0]] if germ.remainder is not None else []))]
    return all(key == level(1) and form_value(form).imag.is_zero() for monomial in monomials for key, form in monomial)


def coefficient_is(function: Tree, where: tuple[str, Tree, int], order: int, answer: Tree, seed: int) -> bool:
    """Whether the coefficient of order is the answer, exactly."""
    for bits, terms in ((b, t) for b in BITS for t in (abs(order) + 6, 2 * abs(order) + 12)):
        with precision(bits):
            on = Expander(arb(2) ** FAR, terms)
            try:
                found = expand(towards(function, *where), on)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
                continue
            if not only_powers(on):
                return False
            if found.remainder is not None and compared(found.remainder[0], at(order)) >= 0:
                continue
            one = found.terms.get(at(order), Constant(0)).tree
            signed = times(where[2] ** (order % 2), one)  # the step is side/X
            return isinstance(identities.check({"claims": [(signed, answer)]}, seed), Verified)
    return False


def expansion(function: Tree, variable: dict[str, Any], answer: Tree, values: Known) -> Sampled:
    """Every term of an order that was asked for, and every one below the order that the answer itself says it is good to."""
    name, point, order = variable["name"], variable["point"], variable["order"]
    answer, stated, simple = without_order(answer)
    if not simple:
        return Open("the order terms")
    answer = expanded_series(answer)
    last = max(order, int(stated.ceil()) if stated is not None else order, 0)
    if last > MAX_ORDER:
        return Open("the order")
    for bits in BITS:
        for terms in (last + 4, 2 * last + 10):
            with precision(bits):
                try:
                    found, on = germ_of(plus(function, times(-1, answer)), name, point, terms)
                    return judge(found, on, (order, stated), values)
                except Undecided:
                    continue
                except (ValueError, ZeroDivisionError, OverflowError):
                    return Open("no expansion")
    return Open("no expansion")


def judge(found: Germ, on: Expander, orders: tuple[int, fmpq | None], values: Known) -> Sampled:
    """What is left must be smaller than (x - x0)^order, and have no lower power than the answer states: O[x]^3 may hide
    x^3 Log[x]."""
    wanted = at(orders[0])
    stated = None if orders[1] is None else raised(X, BETWEEN_POWERS - orders[1])
    for monomial in on.ordered(found):
        if compared(monomial, wanted) < 0 and (stated is None or compared(monomial, stated) < 0):
            break
        constant = found.terms[monomial]
        if constant.nonzero():
            where = " for " + ", ".join(equation(str(n), v) for n, v in sorted(values.items(), key=str)) if values else ""
            which = "of the order asked for" if compared(monomial, wanted) >= 0 else "of an order below the one it states"
            return Refuted(Statement(f"the function less the answer has a term {which}, with coefficient {show(constant.ball)}{where}", exact=False))
        if not _agrees(constant):
            return Open("a coefficient is not told from zero")
    rest = found.remainder
    if rest is not None and (compared(rest[0], wanted) >= 0 or (stated is not None and compared(rest[0], stated) >= 0)):
        raise Undecided("the remainder")
    return Supported()


def _agrees(constant: Constant) -> bool:
    return bool(constant.ball.abs_upper() < arb(2) ** -60)


def coefficient(function: Tree, variables: list[dict[str, Any]], answer: Tree, index: str, values: Known) -> Sampled:
    if len(variables) == 2:
        return several_coefficient(function, variables, answer, values)
    variable = variables[0]
    if not index:
        return one_coefficient(function, variable, variable["order"], answer, values)
    found: Sampled = Open("no coefficient")
    for n in range(INDICES):
        if not has_value(replace(answer, index, n), values):
            continue  # a formula for most indices
        one = one_coefficient(function, variable, n, replace(answer, index, n), {**values, index: fmpq(n)})
        if isinstance(one, Refuted):
            return one
        found = one if n == 0 or isinstance(one, Supported) else found
    return found


def has_value(answer: Tree, values: Known) -> bool:
    try:
        return is_number(evaluate(answer, Environment(values, printed=True)))
    except (Undecided, Refused):
        return False


def one_coefficient(function: Tree, variable: dict[str, Any], order: int, answer: Tree, values: Known) -> Sampled:
    def expected() -> Value:
        for terms in (max(order, 0) + 4, max(order, 0) + 12):
            try:
                found, _ = germ_of(function, variable["name"], variable["point"], terms)
            except Undecided:
                continue
            if found.remainder is not None and compared(found.remainder[0], at(order)) >= 0:
                continue
            if any(monomial and [key for key, _ in monomial] != [level(1)] for monomial in found.terms):
                raise Undecided("an essential singularity, or logarithms: no series of powers")
            return found.terms[at(order)].value if at(order) in found.terms else fmpq(0)
        raise Undecided("no expansion")

    return compared_values(expected, answer, values, f"the coefficient of order {order}")


def compared_values(expected: Any, answer: Tree, values: Known, note: str) -> Sampled:
    try:
        found = decide(lambda: loosened(expected(), answer), lambda: evaluate(answer, Environment(values, printed=True)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return Open("no expansion")
    if found.relation is Relation.DIFFERENT:
        return Refuted(Witness(found.left, found.right, values, found.exact, note))
    return Supported() if found.relation is not Relation.INCOMPARABLE else Open("no value to compare")


def mixed(tree: Tree, variables: list[dict[str, Any]], orders: tuple[int, int]) -> Tree:
    """The coefficient of Taylor at the point, by derivatives."""
    for variable, order in zip(variables, orders, strict=True):
        tree = tidied(differentiate(tree, variable["name"], order))
    for variable in variables:
        tree = replace(tree, variable["name"], variable["point"])
    return times(rational(1, math.factorial(orders[0]) * math.factorial(orders[1])), tree)


def several(function: Tree, variables: list[dict[str, Any]], answer: Tree, values: Known) -> Sampled:
    """Every coefficient up to the orders; functions that are regular at the point only."""
    answer = without_orders(answer)
    first, second = (variable["order"] for variable in variables)
    if not (0 <= first <= 6 and 0 <= second <= 6) or any(variable["point"] == "Infinity" for variable in variables):
        return Open("the orders")
    found: Sampled = Supported()
    for i in range(first + 1):
        for j in range(second + 1):
            one = pair(mixed(function, variables, (i, j)), mixed(answer, variables, (i, j)), values, f"the coefficient of orders {i} and {j}")
            if isinstance(one, Refuted):
                return one
            found = one if isinstance(one, Open) else found
    return found


def several_coefficient(function: Tree, variables: list[dict[str, Any]], answer: Tree, values: Known) -> Sampled:
    orders = (variables[0]["order"], variables[1]["order"])
    if min(orders) < 0 or max(orders) > 6 or any(variable["point"] == "Infinity" for variable in variables):
        return Open("the orders")
    return pair(mixed(function, variables, orders), answer, values, f"the coefficient of orders {orders[0]} and {orders[1]}")


def pair(expected: Tree, given: Tree, values: Known, note: str) -> Sampled:
    found = decide(lambda: finite(expected), lambda: evaluate(given, Environment(values, printed=True)))
    if found.relation is Relation.DIFFERENT:
        return Refuted(Witness(found.left, found.right, values, found.exact, note))
    return Supported() if found.relation is not Relation.INCOMPARABLE else Open("no value to compare")


def finite(tree: Tree) -> Value:
    value = evaluate(tree, EMPTY)
    if isinstance(value, NonValue) or not is_number(value):
        raise Undecided("not regular at the point")
    return value
