"""Antiderivatives with logarithms of absolute values: Log[Abs[x + Sqrt[x^2 - 1]]], where a root makes the argument complex off a part
of the real line. Where the root is real the argument is, and Log[Abs[u]] has the derivative of Log[u].
"""

from __future__ import annotations

from ..assumptions import Assumptions
from ..normal import proves_zero
from ..tree import Tree, arguments, free_symbols, is_call, minus, walk
from . import identities

WHERE_THE_ROOT_IS = "0 for real values at which the root in it is real"


def proved(integrand: Tree, answer: Tree, name: str, assumptions: Assumptions) -> bool:
    """Whether the answer's derivative is the integrand at all real values of the symbols at which the one root in the answer is real.
    That is where the integrand is real: it is an odd power of that root times a rational function."""
    radicands = list(dict.fromkeys(r for part in walk(answer) if (r := radicand(part)) is not None))
    if not radicands or not all(rational(r) and proves_zero(minus(r, radicands[0])) for r in radicands):
        return False
    if not any(absolute_logarithm(part) for part in walk(answer)) or not real(answer) or not odd(integrand, radicands[0]):
        return False
    return identities.proves([(integrand, ("D", without_absolute(answer), name))], assumptions)


def radicand(node: Tree) -> Tree | None:
    """r of Sqrt[r] and of r^(k/2), k odd."""
    parts = arguments(node)
    if is_call(node, "Sqrt") and len(parts) == 1:
        return parts[0]
    if is_call(node, "Power") and len(parts) == 2 and is_call(parts[1], "Rational") and arguments(parts[1])[1] == 2:
        return parts[0]
    return None


def rational(node: Tree) -> bool:
    """Whether a tree is a rational function of its symbols with rational coefficients."""
    if not isinstance(node, tuple):
        return isinstance(node, int) or (isinstance(node, str) and bool(free_symbols(node)))
    if is_call(node, "Power"):
        return len(node) == 3 and isinstance(node[2], int) and rational(node[1])
    return is_call(node, "Plus", "Times", "Subtract", "Minus", "Divide", "Rational") and all(rational(part) for part in node[1:])


def absolute_logarithm(node: Tree) -> bool:
    return is_call(node, "Log") and len(arguments(node)) == 1 and is_call(arguments(node)[0], "Abs")


def real(node: Tree) -> bool:
    """Whether a tree is real where its symbols and its roots are: a rational function of these and of logarithms of absolute values."""
    if absolute_logarithm(node):
        return real(arguments(arguments(node)[0])[0])
    root = radicand(node)
    if root is not None:
        return rational(root)
    if not isinstance(node, tuple):
        return isinstance(node, int | str) and rational(node)
    if is_call(node, "Power"):
        return len(node) == 3 and isinstance(node[2], int) and real(node[1])
    return is_call(node, "Plus", "Times", "Subtract", "Minus", "Divide", "Rational") and all(real(part) for part in node[1:])


def odd(node: Tree, root: Tree) -> bool:
    """Whether a tree is an odd power of the root times a rational function."""
    count = 0
    for factor in factors(node):
        base = radicand(factor)
        if base is None and is_call(factor, "Power") and isinstance(arguments(factor)[1], int) and arguments(factor)[1] % 2:  # type: ignore[operator]
            base = radicand(arguments(factor)[0])
        if base is not None and rational(base) and proves_zero(minus(base, root)):
            count += 1
        elif not rational(factor):
            return False
    return count % 2 == 1


def factors(node: Tree) -> list[Tree]:
    parts = arguments(node)
    if is_call(node, "Times"):
        return [factor for part in parts for factor in factors(part)]
    if is_call(node, "Divide") and len(parts) == 2:
        return [*factors(parts[0]), ("Power", parts[1], -1)]
    return [node]


def without_absolute(node: Tree) -> Tree:
    """Log[u] for Log[Abs[u]]."""
    if not isinstance(node, tuple):
        return node
    if absolute_logarithm(node):
        return ("Log", without_absolute(arguments(arguments(node)[0])[0]))
    return (node[0], *(without_absolute(part) for part in node[1:]))
