"""Two equations or inequations that say the same: the differences of their sides are polynomials of which one is a multiple of
the other by a number."""

from __future__ import annotations

from ..field import TooLarge, as_rational
from ..normal import Normalizer
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, walk


def same(left: Tree, right: Tree) -> bool:
    """Whether left and right hold at the same points. False: not known."""
    if not isinstance(left, tuple) or not isinstance(right, tuple) or left[0] != right[0] or len(left) != 3 or len(right) != 3:
        return False
    if not is_call(left, "Equal", "Unequal", "Less", "LessEqual", "Greater", "GreaterEqual"):
        return False
    if any(divides(part) for node in (left, right) for part in walk(node)):
        return False  # nothing is said where a divisor is 0
    normalizer = Normalizer()
    try:
        a, b = (normalizer.normal(minus(node[1], node[2])) for node in (left, right))
        if a.top.is_zero() or b.top.is_zero() or not (a.bottom.is_constant() and b.bottom.is_constant()):
            return False
        ratio = as_rational(normalizer.field.multiply(a, normalizer.field.invert(b)))
    except (TooLarge, Refused, ValueError, ArithmeticError):
        return False
    polynomials = all(isinstance(key, str) for key in normalizer.field.keys)
    return polynomials and ratio is not None and (ratio > 0 or is_call(left, "Equal", "Unequal"))


def divides(node: Tree) -> bool:
    """Whether something with symbols is divided by, or raised to another power than a positive whole one."""
    if not free_symbols(node) or not isinstance(node, tuple):
        return False
    parts = arguments(node)
    if is_call(node, "Power"):
        return not (isinstance(parts[-1], int) and parts[-1] > 0)
    return is_call(node, "Divide", "Rational") and bool(free_symbols(parts[-1]))
