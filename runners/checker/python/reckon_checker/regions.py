"""Whether points speak of all values that assumptions admit: not where these leave single points, curves, or pieces that nobody looks for.

Points are taken in cells between the places where assumptions and expressions change (points.py). That is enough where every part of
the admissible set has an inside: orders of polynomials in one symbol, of sums of symbols, strict orders of continuous functions, and
equations that say what one symbol is. Sin[x] == 0 admits 0, which is looked at, and Pi, which is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .critical import JUMPING, linear_form
from .tree import Tree, arguments, free_symbols, is_call, minus, rational, replace, walk
from .univariate import polynomial

STRICT = ("Less", "Greater", "Unequal")
ORDERS = (*STRICT, "LessEqual", "GreaterEqual")
DENSE = frozenset("Reals Complexes Rationals Algebraics PositiveReals NegativeReals NonNegativeReals NonPositiveReals PositiveRationals".split())
WHOLE = frozenset("Integers PositiveIntegers NonNegativeIntegers NegativeIntegers NonPositiveIntegers Primes".split())
BENDING = frozenset("Abs RealAbs Max Min Ramp".split())  # of the functions with jumps or bends those that are continuous


def have_insides(conditions: Sequence[Tree]) -> bool:
    """Whether every part of the set that conditions admit is known to have an inside, or to be given by an equation for a symbol."""
    equations = [condition for condition in conditions if is_call(condition, "Equal")]
    given: dict[str, Tree] = {}
    for equation in equations:
        sides = arguments(equation)
        names = [(name, other) for name, other in (sides, sides[::-1]) if isinstance(name, str) and name in free_symbols(name)] if len(sides) == 2 else []
        name, other = next(((name, other) for name, other in names if name not in free_symbols(other)), ("", 0))
        if not name or name in given:
            return False
        given[name] = other
    if any(free_symbols(other) & given.keys() for other in given.values()):
        return False
    if any(jumps(other) for other in given.values()) or any(restricts(condition, given) for condition in conditions):
        return False
    if too_many_ends(conditions):
        return False
    rest: list[Tree] = [condition for condition in conditions if not is_call(condition, "Equal")]
    for name, other in given.items():
        rest = [replace(condition, name, other) if not is_call(condition, "Element") else condition for condition in rest]
    return all(has_inside(condition) for condition in rest)


def restricts(condition: Tree, given: dict[str, Tree]) -> bool:
    """Whether a symbol that an equation gives by others is said to be of a domain, which restricts these."""
    names = free_symbols(condition) if is_call(condition, "Element") else set()
    return any(name in given and bool(free_symbols(given[name])) for name in names)


def too_many_ends(conditions: Sequence[Tree]) -> bool:
    """Whether two orders that admit their ends speak of one symbol, and an end of one of them is a root of higher degree: they may meet in
    that end alone, which is no point."""
    curved: list[set[str]] = []
    closed: list[set[str]] = []
    for condition in conditions:
        for part in walk(condition):
            if is_call(part, "LessEqual", "GreaterEqual", "Inequality"):
                closed.append(free_symbols(part) - {*ORDERS})
                curved += [closed[-1]] if any(linear(side) is False for side in arguments(part) if side not in ORDERS) else []
    return any(one & other for one in curved for other in closed if other is not one)


def linear(side: Tree) -> bool:
    """Whether a side is a number or a sum of multiples of symbols, constants standing for numbers."""
    near = with_numbers(side)
    return not free_symbols(side) or isinstance(side, str) or linear_form(near) is not None


def with_numbers(node: Tree) -> Tree:
    """The tree with constants such as Pi as fractions, for a look at its degree alone."""
    if isinstance(node, tuple) and node[0] in ("Plus", "Times", "Subtract", "Minus", "Divide") and free_symbols(node):
        return (node[0], *(with_numbers(part) for part in node[1:]))
    if free_symbols(node) or isinstance(node, int) or is_call(node, "Rational"):
        return node
    return rational(355, 113)


def has_inside(condition: Tree) -> bool:
    parts = arguments(condition)
    if condition == "True":
        return True
    if is_call(condition, "And", "Or"):
        return all(has_inside(part) for part in parts)
    if is_call(condition, "Element") and len(parts) == 2:
        names = arguments(parts[0]) if is_call(parts[0], "Alternatives", "List") else (parts[0],)
        return parts[1] in DENSE | WHOLE and all(isinstance(name, str) for name in names)
    if is_call(condition, *ORDERS):
        return all(order(str(condition[0]), minus(a, b)) for a, b in pairwise(parts))  # type: ignore[index]
    if is_call(condition, "Inequality"):
        return all(order(str(parts[i + 1]), minus(parts[i], parts[i + 2])) for i in range(0, len(parts) - 2, 2))
    return False


def order(head: str, difference: Tree) -> bool:
    """Whether the set on which a difference is of one sign has an inside everywhere."""
    if not free_symbols(difference):
        return True
    if head not in ORDERS or jumps(difference):
        return False
    if head in STRICT:
        return True
    names = free_symbols(difference)
    p = polynomial(difference, next(iter(names))) if len(names) == 1 else None
    if p is not None:
        factors: Any = p.factor()[1]
        return all(factor.degree() == 1 or n % 2 == 1 or not any(root.imag.is_zero() for root, _ in factor.complex_roots()) for factor, n in factors)
    return linear_form(with_numbers(difference)) is not None or simple_modulus(with_numbers(difference))


def simple_modulus(node: Tree) -> bool:
    """Abs[x] and a number: x lies in a disc, or outside one."""
    inside = [part for part in walk(node) if is_call(part, "Abs", "Re", "Im", "Arg")]
    return len(inside) == 1 and isinstance(arguments(inside[0])[0], str) and linear_form(replace(node, inside[0], "size$")) is not None


def jumps(node: Tree) -> bool:
    return any(isinstance(part, tuple) and part[0] in JUMPING - BENDING for part in walk(node))
