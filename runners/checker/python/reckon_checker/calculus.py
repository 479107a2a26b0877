"""Derivatives of trees by the rules of calculus. Heads that are no functions of the language end in $:

OnReals$[x, e] is e where x is real and undefined elsewhere: functions such as Abs have derivatives along the real axis only.
OffZero$[g, e] is e where g is not zero and undefined where it is: at jumps, kinks and the ends of the cases of a Piecewise.
"""

from __future__ import annotations

from collections.abc import Callable

from .derivatives import CHAIN, HALF, PARTIALS
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, times, undefined, walk

MAX_ORDER = 12
MAX_NODES = 60000


def differentiate(node: Tree, name: str, order: int = 1) -> Tree:
    """The derivative of a tree by a symbol, simplified only where parts are free of the symbol."""
    if not 0 <= order <= MAX_ORDER:
        raise Refused("D")
    for _ in range(order):
        node = _derivative(node, name)
        if sum(1 for _ in walk(node)) > MAX_NODES:
            raise Refused("D")
    return node


def _free(node: Tree, name: str) -> bool:
    return name not in free_symbols(node)


def _derivative(node: Tree, name: str) -> Tree:
    if node == name:
        return 1
    if not isinstance(node, tuple) or _free(node, name):
        return 0
    head = node[0]
    if not isinstance(head, str):
        return _of_applied(node, name)
    rule = STRUCTURES.get(head)
    if rule is not None:
        return rule(node, name)
    simple = CHAIN.get(head)
    if simple is not None and len(node) == 2:
        return _times(simple(node[1]), _derivative(node[1], name))
    several = PARTIALS.get((head, len(node) - 1))
    if several is not None:
        return _chain(node, several(*node[1:]), name)
    if undefined(head):
        return _chain(node, tuple(_partial(head, len(node) - 1, i, node[1:]) for i in range(len(node) - 1)), name)
    raise Refused("the derivative of " + head)


def _partial(function: Tree, arity: int, index: int, args: tuple[Tree, ...]) -> Tree:
    orders = tuple(int(i == index) for i in range(arity))
    return ((("Derivative", *orders), function), *args)


def _chain(node: tuple[Tree, ...], partials: tuple[Tree | None, ...], name: str) -> Tree:
    terms = []
    for arg, partial in zip(node[1:], partials, strict=True):
        inner = _derivative(arg, name)
        if inner == 0:
            continue
        if partial is None:
            raise Refused("the derivative by an order of a function")
        terms.append(_times(partial, inner))
    return plus(*terms)


def _times(*factors: Tree) -> Tree:
    if any(factor == 0 and isinstance(factor, int) for factor in factors):
        return 0
    return times(*(factor for factor in factors if not (isinstance(factor, int) and factor == 1)))


def _of_applied(node: tuple[Tree, ...], name: str) -> Tree:
    """Derivative[n...][f][args], C[1][args], (f &)[args]."""
    head = node[0]
    if isinstance(head, tuple) and isinstance(head[0], tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        orders = head[0][1:]
        if len(orders) != len(node) - 1:
            raise Refused("Derivative")
        partials: list[Tree | None] = []
        for i in range(len(orders)):
            higher = tuple(_raised(order, int(i == j)) for j, order in enumerate(orders))
            partials.append(((("Derivative", *higher), head[1]), *node[1:]))
        return _chain(node, tuple(partials), name)
    if is_call(head, "C"):
        return _chain(node, tuple(_partial(head, len(node) - 1, i, node[1:]) for i in range(len(node) - 1)), name)
    if is_call(head, "Function"):
        return _derivative(applied(head, node[1:]), name)
    raise Refused("the derivative of a head")


def _raised(order: Tree, by: int) -> Tree:
    if not isinstance(order, int):
        raise Refused("Derivative")
    return order + by


def applied(function: Tree, args: tuple[Tree, ...]) -> Tree:
    """A Function with its arguments put in."""
    parts = arguments(function)
    if len(parts) == 1:
        return _fill(parts[0], {("Slot", i): arg for i, arg in enumerate(args, 1)})
    names = arguments(parts[0]) if is_call(parts[0], "List") else (parts[0],)
    if len(names) > len(args):
        raise Refused("Function")
    return _fill(parts[1], dict(zip(names, args, strict=False)))


def _fill(node: Tree, values: dict[Tree, Tree]) -> Tree:
    if isinstance(node, str | tuple) and node in values:
        return values[node]
    if isinstance(node, tuple) and not is_call(node, "Function"):
        return tuple(part if i == 0 and isinstance(part, str) else _fill(part, values) for i, part in enumerate(node))
    return node


# Structures: heads whose derivative is not a plain chain rule.


def _of_plus(node: tuple[Tree, ...], name: str) -> Tree:
    return plus(*(term for term in (_derivative(part, name) for part in node[1:]) if term != 0))


def _of_times(node: tuple[Tree, ...], name: str) -> Tree:
    terms = []
    for i, part in enumerate(node[1:], 1):
        inner = _derivative(part, name)
        if inner != 0:
            terms.append(_times(*node[1:i], inner, *node[i + 1 :]))
    return plus(*terms)


def _of_power(node: tuple[Tree, ...], name: str) -> Tree:
    if len(node) != 3:
        raise Refused("Power")
    _, base, exponent = node
    inner = _derivative(base, name)
    if _free(exponent, name):
        lower: Tree = exponent - 1 if isinstance(exponent, int) else plus(exponent, -1)
        return _times(exponent, power(base, lower), inner)
    outer = _derivative(exponent, name)
    if base == "E":
        return _times(node, outer)
    by_exponent = _times(node, ("Log", base), outer)
    if inner == 0:
        return by_exponent
    return plus(by_exponent, _times(exponent, power(base, plus(exponent, -1)), inner))


def _of_list(node: tuple[Tree, ...], name: str) -> Tree:
    return (node[0], *(_derivative(part, name) for part in node[1:]))


def _of_divide(node: tuple[Tree, ...], name: str) -> Tree:
    return _derivative(("Times", node[1], power(node[2], -1)), name)


def _of_log(node: tuple[Tree, ...], name: str) -> Tree:
    if len(node) == 2:
        return _times(power(node[1], -1), _derivative(node[1], name))
    return _derivative(("Times", ("Log", node[2]), power(("Log", node[1]), -1)), name)


def _of_condition(condition: Tree) -> list[Tree]:
    """The expressions whose zeros bound the set on which a condition holds: the differences of its comparisons' sides."""
    found: list[Tree] = []
    for part in walk(condition):
        if is_call(part, "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "Unequal"):
            found += [minus(a, b) for a, b in zip(arguments(part), arguments(part)[1:], strict=False)]
        elif is_call(part, "Inequality"):
            found += [minus(a, b) for a, b in zip(arguments(part)[::2], arguments(part)[2::2], strict=False)]
    return [part for part in found if not any(is_call(inner, "List") for inner in walk(part))]


def _of_piecewise(node: tuple[Tree, ...], name: str) -> Tree:
    cases = []
    ends: list[Tree] = []
    for case in arguments(node[1]):
        parts = arguments(case)
        if len(parts) != 2:
            raise Refused("Piecewise")
        value, condition = parts
        ends += [end for end in _of_condition(condition) if not _free(end, name)]
        cases.append(("List", _derivative(value, name), condition))
    default = _derivative(node[2], name) if len(node) > 2 else 0
    whole: Tree = ("Piecewise", ("List", *cases), default)
    return ("OffZero$", times(*ends), whole) if ends else whole


def _of_if(node: tuple[Tree, ...], name: str) -> Tree:
    if len(node) != 4:
        raise Refused("If")
    return _derivative(("Piecewise", ("List", ("List", node[2], node[1])), node[3]), name)


def _of_conditional(node: tuple[Tree, ...], name: str) -> Tree:
    return ("ConditionalExpression", _derivative(node[1], name), *node[2:])


def _extremum(greater: bool) -> Callable[[tuple[Tree, ...], str], Tree]:
    def rule(node: tuple[Tree, ...], name: str) -> Tree:
        if len(node) == 2:
            return _derivative(node[1], name)
        first, rest = node[1], node[2] if len(node) == 3 else (node[0], *node[2:])
        order = "Greater" if greater else "Less"
        return _derivative(("Piecewise", ("List", ("List", first, (order, first, rest))), rest), name)

    return rule


def _real(formula: Callable[[Tree, Tree], Tree]) -> Callable[[tuple[Tree, ...], str], Tree]:
    """Functions with a derivative along the real axis only: formula(g, g')."""

    def rule(node: tuple[Tree, ...], name: str) -> Tree:
        return ("OnReals$", name, formula(node[1], _derivative(node[1], name)))

    return rule


def _flat(jump: Callable[[Tree], Tree]) -> Callable[[tuple[Tree, ...], str], Tree]:
    """Functions that are constant where jump(g) is not zero."""

    def rule(node: tuple[Tree, ...], name: str) -> Tree:
        return ("OnReals$", name, ("OffZero$", times(*(jump(arg) for arg in node[1:])), 0))

    return rule


def _fraction(g: Tree) -> Tree:
    return minus(g, ("Floor", g))


def _of_mod(node: tuple[Tree, ...], name: str) -> Tree:
    shifted: Tree = node[1] if len(node) == 3 else minus(node[1], node[3])
    return _derivative(minus(node[1], ("Times", node[2], ("Floor", times(shifted, power(node[2], -1))))), name)


def _of_integral(node: tuple[Tree, ...], name: str) -> Tree:
    """Leibniz's rule for one variable of integration."""
    if len(node) != 3:
        raise Refused("the derivative of a multiple integral")
    if node[2] == name:
        return node[1]
    if not is_call(node[2], "List") or len(arguments(node[2])) != 3:
        raise Refused("the derivative of an integral")
    variable, low, high = arguments(node[2])
    terms: list[Tree] = []
    for limit, sign in ((high, 1), (low, -1)):
        speed = _derivative(limit, name)
        if speed != 0:
            terms.append(_times(sign, speed, _fill(node[1], {variable: limit})))
    if name != variable and not _free(node[1], name):
        terms.append((node[0], _derivative(node[1], name), node[2]))
    return plus(*terms)


def _of_sum(node: tuple[Tree, ...], name: str) -> Tree:
    for iterator in node[2:]:
        if not all(_free(part, name) for part in arguments(iterator)):
            raise Refused("the derivative of a sum by its bounds")
    return (node[0], _derivative(node[1], name), *node[2:])


def _of_root_sum(node: tuple[Tree, ...], name: str) -> Tree:
    """RootSum[f, form] where f is free of the symbol."""
    if len(node) != 3 or not _free(node[1], name) or not is_call(node[2], "Function"):
        raise Refused("the derivative of RootSum")
    form = applied(node[2], ("root$variable",))
    return ("RootSum", node[1], ("Function", "root$variable", _derivative(form, name)))


def _of_marked(node: tuple[Tree, ...], name: str) -> Tree:
    return (node[0], node[1], _derivative(node[2], name))


def _of_d(node: tuple[Tree, ...], name: str) -> Tree:
    return _derivative(expand_d(node), name)


STRUCTURES: dict[str, Callable[[tuple[Tree, ...], str], Tree]] = {
    "Plus": _of_plus,
    "Times": _of_times,
    "Power": _of_power,
    "List": _of_list,
    "Subtract": _of_plus,
    "Minus": lambda node, name: _times(-1, _derivative(node[1], name)),
    "Divide": _of_divide,
    "Log": _of_log,
    "Piecewise": _of_piecewise,
    "If": _of_if,
    "ConditionalExpression": _of_conditional,
    "Max": _extremum(True),
    "Min": _extremum(False),
    "Abs": _real(lambda g, dg: times(("Re", times(("Conjugate", g), dg)), power(("Abs", g), -1))),
    "RealAbs": _real(lambda g, dg: times(("RealSign", g), dg, ("OffZero$", g, 1))),
    "Re": _real(lambda g, dg: ("Re", dg)),
    "Im": _real(lambda g, dg: ("Im", dg)),
    "Conjugate": _real(lambda g, dg: ("Conjugate", dg)),
    "Arg": _real(lambda g, dg: ("Im", times(dg, power(g, -1)))),
    "Sign": _real(lambda g, dg: minus(times(dg, power(("Abs", g), -1)), times(g, ("Re", times(("Conjugate", g), dg)), power(("Abs", g), -3)))),
    "RealSign": _flat(lambda g: g),
    "UnitStep": _flat(lambda g: g),
    "HeavisideTheta": _flat(lambda g: g),
    "Floor": _flat(_fraction),
    "Ceiling": _flat(_fraction),
    "Round": _flat(lambda g: _fraction(plus(g, HALF))),
    "IntegerPart": _flat(_fraction),
    "FractionalPart": lambda node, name: ("OffZero$", _fraction(node[1]), _derivative(node[1], name)),
    "Ramp": lambda node, name: ("OffZero$", node[1], _times(("UnitStep", node[1]), _derivative(node[1], name))),
    "Boole": lambda node, name: _derivative(("Piecewise", ("List", ("List", 1, node[1])), 0), name),
    "Mod": _of_mod,
    "Integrate": _of_integral,
    "Sum": _of_sum,
    "RootSum": _of_root_sum,
    "OnReals$": _of_marked,
    "OffZero$": _of_marked,
    "D": _of_d,
    "Subscript": lambda node, name: 0,
}


def _subtract(node: tuple[Tree, ...], name: str) -> Tree:
    return _derivative(minus(node[1], node[2]), name)


STRUCTURES["Subtract"] = _subtract


def expand_d(node: Tree) -> Tree:
    """D[f, x], D[f, {x, n}], D[f, x, y, ...], D[f, {{x, y}}] as the derivative itself."""
    parts = arguments(node)
    result = parts[0]
    for specification in parts[1:]:
        variable: Tree = specification
        order: Tree = 1
        if is_call(specification, "List"):
            inner = arguments(specification)
            if is_call(inner[0], "List"):
                result = _gradient(result, arguments(inner[0]), inner[1] if len(inner) > 1 else 1)
                continue
            if len(inner) != 2:
                raise Refused("D")
            variable, order = inner
        if not isinstance(variable, str) or not isinstance(order, int):
            raise Refused("D")
        result = differentiate(result, variable, order)
    return result


def _gradient(node: Tree, variables: tuple[Tree, ...], levels: Tree) -> Tree:
    if not isinstance(levels, int) or not 0 <= levels <= 3 or len(variables) > 6:
        raise Refused("D")
    if levels == 0:
        return node
    if is_call(node, "List"):
        return ("List", *(_gradient(part, variables, levels) for part in arguments(node)))
    parts = []
    for variable in variables:
        if not isinstance(variable, str):
            raise Refused("D")
        parts.append(_gradient(differentiate(node, variable), variables, levels - 1))
    return ("List", *parts)


def of_language(function: str, orders: tuple[Tree, ...], args: tuple[Tree, ...]) -> Tree:
    """Derivative[orders][function][args] of a function of the language."""
    names = tuple(f"derivative$variable{i}" for i in range(len(args)))
    body: Tree = (function, *names)
    for name, order in zip(names, orders, strict=True):
        if not isinstance(order, int):
            raise Refused("Derivative")
        body = differentiate(body, name, order)
    return applied(("Function", ("List", *names), body), args)


def derivatives_of_list(node: Tree) -> Tree | None:
    """D[{f, g}, x] as {D[f, x], D[g, x]}, D[f, {{x, y}, n}] by entries; None where it is another derivative."""
    of, *by = arguments(node)
    if is_call(of, "List"):
        return ("List", *(("D", entry, *by) for entry in arguments(of)))
    if len(by) == 1 and is_call(by[0], "List") and len(arguments(by[0])) == 1 and is_call(arguments(by[0])[0], "List"):
        return ("List", *(("D", of, name) for name in arguments(arguments(by[0])[0])))
    if len(by) == 1 and is_call(by[0], "List") and len(arguments(by[0])) == 2:
        names, order = arguments(by[0])
        if is_call(names, "List") and isinstance(order, int) and order > 0:
            inner: Tree = ("List", names, order - 1) if order > 2 else ("List", names)
            return ("List", *(("D", of, name) if order == 1 else ("D", ("D", of, name), inner) for name in arguments(names)))
    return None
