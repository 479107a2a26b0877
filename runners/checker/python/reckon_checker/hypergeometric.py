"""Functions of a whole index by values next to each other: Gamma[n + 3] through Gamma[n], so that normal forms see their relations."""

from __future__ import annotations

import math

from flint import fmpq

from .closed_sums import whole_valued
from .field import TooLarge
from .normal import Normalizer
from .tree import Refused, Tree, free_symbols, is_call, minus, plus, power, times, walk
from .univariate import polynomial

HALF: Tree = ("Rational", 1, 2)
MAX_SHIFT = 24


def by_gamma(node: Tree, whole: set[str]) -> Tree:
    """Factorials, binomials and their kin through Gamma, Fibonacci and Lucas numbers of whole indices through powers (DLMF 5.2.5, 26.3.1, 24.15)."""
    if not isinstance(node, tuple):
        return node
    head = node[0]
    parts = tuple(by_gamma(part, whole) for part in node[1:])
    if not free_symbols(node) & whole:
        return (head, *parts)
    if head == "Factorial" and len(parts) == 1:
        return gamma(plus(parts[0], 1))
    if head == "Factorial2" and len(parts) == 1:
        return _double_factorial(parts[0], whole)
    if head == "PolyGamma" and (len(parts) == 1 or parts[0] == 0):
        return minus(("HarmonicNumber", plus(parts[-1], -1)), "EulerGamma")
    if head == "Pochhammer" and len(parts) == 2:
        return times(gamma(plus(*parts)), power(gamma(parts[0]), -1))
    if head == "FactorialPower" and len(parts) == 2:
        return times(gamma(plus(parts[0], 1)), power(gamma(plus(minus(*parts), 1)), -1))
    if head == "Binomial" and len(parts) == 2:
        n, k = parts
        return times(gamma(plus(n, 1)), power(gamma(plus(k, 1)), -1), power(gamma(plus(minus(n, k), 1)), -1))
    if head == "CatalanNumber" and len(parts) == 1:
        n = parts[0]
        return times(gamma(plus(times(2, n), 1)), power(gamma(plus(n, 1)), -1), power(gamma(plus(n, 2)), -1))
    if head in ("Fibonacci", "LucasL") and len(parts) == 1 and free_symbols(parts[0]) <= whole and whole_valued(parts[0]):
        return _of_golden_ratio(str(head), parts[0])
    return (head, *parts)


def gamma(argument: Tree) -> Tree:
    """Gamma, of a small positive whole number the factorial that it is."""
    value = polynomial(argument, "")
    known = value is not None and value.degree() == 0 and value[0].q == 1 and 0 < value[0] <= MAX_SHIFT
    return math.factorial(int(value[0].p) - 1) if known and value is not None else ("Gamma", argument)


def _double_factorial(n: Tree, whole: set[str]) -> Tree:
    """Of even numbers 2 m as 2^m m!, of odd ones 2 m - 1 as 2^m Gamma[m + 1/2]/Sqrt[Pi] (DLMF 5.4.2, 5.5.5)."""
    names = free_symbols(n)
    line = polynomial(n, next(iter(names))) if len(names) == 1 and names <= whole else None
    if line is None or line.degree() != 1 or line[0].q != 1 or (line[1] / 2).q != 1:
        return ("Factorial2", n)
    if (line[0] / 2).q == 1:
        m = times(HALF, n)
        return times(power(2, m), ("Gamma", plus(m, 1)))
    m = times(HALF, plus(n, 1))
    return times(power(2, m), ("Gamma", plus(m, HALF)), power("Pi", ("Rational", -1, 2)))


def _of_golden_ratio(head: str, n: Tree) -> Tree:
    root = power(5, HALF)
    up, down = (power(times(HALF, plus(1, times(sign, root))), n) for sign in (1, -1))
    return plus(up, down) if head == "LucasL" else times(minus(up, down), power(root, -1))


def related(node: Tree, whole: set[str]) -> Tree:
    """The tree with Gamma[u + k] as Gamma[u] times a product, and HarmonicNumber[u + k] as HarmonicNumber[u] and a sum, for whole k: of arguments
    that differ by whole numbers the one that is met first stands for all."""
    node = by_gamma(node, whole)
    known: dict[tuple[str, Tree], Tree] = {}
    for part in walk(node):
        if isinstance(part, tuple) and is_call(part, "Gamma", "HarmonicNumber") and len(part) == 2 and free_symbols(part):
            known.setdefault((str(part[0]), part[1]), part)
    chosen: dict[Tree, Tree] = {}
    first: list[tuple[str, Tree]] = []
    for head, argument in known:
        for other_head, base in first:
            if other_head == head and (shift := whole_difference(argument, base)) is not None:
                chosen[head, argument] = _shifted(head, base, shift)
                break
        else:
            first.append((head, argument))
    return _with(node, chosen)


def whole_difference(a: Tree, b: Tree) -> int | None:
    """a - b where that is a whole number of a small size."""
    names = free_symbols(a) | free_symbols(b)
    difference = polynomial(minus(a, b), next(iter(names))) if len(names) == 1 else None
    if difference is not None:
        value = difference[0] if difference.degree() <= 0 else None
    else:
        try:
            found = Normalizer().normal(minus(a, b))
            constant = found.top.is_constant() and found.bottom.is_constant()
            value = (found.top.leading_coefficient() / found.bottom.leading_coefficient() if not found.top.is_zero() else fmpq(0)) if constant else None
        except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
            return None
    return int(value.p) if value is not None and value.q == 1 and abs(value) <= MAX_SHIFT else None


def _shifted(head: str, base: Tree, shift: int) -> Tree:
    whole: Tree = (head, base)
    if head == "HarmonicNumber":
        terms = [power(plus(base, j), -1) for j in range(1, shift + 1)]
        return plus(whole, *terms) if shift >= 0 else plus(whole, *(times(-1, power(plus(base, -j), -1)) for j in range(-shift)))
    if shift >= 0:
        return times(whole, *(plus(base, j) if j else base for j in range(shift)))
    return times(whole, *(power(plus(base, -j), -1) for j in range(1, -shift + 1)))


def _with(node: Tree, chosen: dict[Tree, Tree]) -> Tree:
    if node in chosen:
        return chosen[node]
    return tuple(_with(part, chosen) for part in node) if isinstance(node, tuple) else node
