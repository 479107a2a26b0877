"""Functions of a whole index that are polynomials or rational, and short sums and products, written out: what is checked of them is algebra then.

DLMF 18.9 (recurrences), 18.5.8, 18.5.10 and 18.5.12 (Jacobi, Gegenbauer, Laguerre), 24.2 (Bernoulli, Euler), 25.12 (polylogarithms).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import fmpq, fmpq_poly, fmpz, fmpz_poly

from .tree import BINDERS, BINDING, Tree, arguments, is_call, minus, plus, power, rational, replace, size, times, walk
from .univariate import as_tree

MAX_INDEX = 60
MAX_CYCLOTOMIC = 400
MAX_SIZE = 4000  # of one function written out
MAX_TOTAL = 20_000  # of all in a task
NOT_PLAIN = frozenset("List Infinity ComplexInfinity DirectedInfinity Indeterminate".split())

X = fmpq_poly([0, 1])
Step = Callable[[int], tuple[fmpq | int, fmpq | int, fmpq | int]]

# The first two polynomials, and a, b, c of p[k + 1] = (a x + b) p[k] + c p[k - 1].
RECURRENCES: dict[str, tuple[fmpq_poly, fmpq_poly, Step]] = {
    "ChebyshevT": (fmpq_poly([1]), X, lambda k: (2, 0, -1)),
    "ChebyshevU": (fmpq_poly([1]), 2 * X, lambda k: (2, 0, -1)),
    "LegendreP": (fmpq_poly([1]), X, lambda k: (fmpq(2 * k + 1, k + 1), 0, fmpq(-k, k + 1))),
    "HermiteH": (fmpq_poly([1]), 2 * X, lambda k: (2, 0, -2 * k)),
    "LaguerreL": (fmpq_poly([1]), 1 - X, lambda k: (fmpq(-1, k + 1), fmpq(2 * k + 1, k + 1), fmpq(-k, k + 1))),
    "Fibonacci": (fmpq_poly([0]), fmpq_poly([1]), lambda k: (1, 0, 1)),
    "LucasL": (fmpq_poly([2]), X, lambda k: (1, 0, 1)),
}


def by_recurrence(head: str, n: int) -> fmpq_poly:
    before, p, step = RECURRENCES[head]
    if n == 0:
        return before
    for k in range(1, n):
        a, b, c = step(k)
        before, p = p, (a * X + b) * p + c * before
    return p


def bernoulli(n: int) -> fmpq_poly:
    return fmpq_poly([math.comb(n, k) * fmpq.bernoulli(n - k) for k in range(n + 1)])


def euler(n: int) -> fmpq_poly:
    total = fmpq_poly([0])
    for k in range(n + 1):
        total += fmpq(math.comb(n, k) * int(fmpz.euler_number(k)), 2**k) * (X - fmpq(1, 2)) ** (n - k)
    return total


def touchard(n: int) -> fmpq_poly:
    return fmpq_poly([int(fmpz.stirling_s2(n, k)) for k in range(n + 1)])


POLYNOMIALS: dict[str, Callable[[int], fmpq_poly]] = {
    **{head: (lambda n, head=head: by_recurrence(head, n)) for head in RECURRENCES},  # type: ignore[misc]
    "BernoulliB": bernoulli,
    "EulerE": euler,
    "BellB": touchard,
    "Cyclotomic": lambda n: fmpq_poly(fmpz_poly.cyclotomic(n)),
}


def gegenbauer(n: int, a: Tree, x: Tree) -> Tree:
    terms = [
        times(rational((-1) ** k * 2 ** (n - 2 * k), math.factorial(k) * math.factorial(n - 2 * k)), *rising(a, n - k), power(x, n - 2 * k) if n > 2 * k else 1)
        for k in range(n // 2 + 1)
    ]
    return plus(*terms)


def laguerre(n: int, a: Tree, x: Tree) -> Tree:
    return plus(*(times(rational((-1) ** i, math.factorial(i)), binomial(plus(a, n), n - i), power(x, i) if i else 1) for i in range(n + 1)))


def jacobi(n: int, a: Tree, b: Tree, x: Tree) -> Tree:
    below, above = times(rational(1, 2), minus(x, 1)), times(rational(1, 2), plus(x, 1))
    terms = [
        times(binomial(plus(a, n), n - s), binomial(plus(b, n), s), power(below, s) if s else 1, power(above, n - s) if n > s else 1) for s in range(n + 1)
    ]
    return plus(*terms)


def rising(a: Tree, n: int) -> list[Tree]:
    return [plus(a, i) for i in range(n)]


def binomial(top: Tree, k: int) -> Tree:
    return times(rational(1, math.factorial(k)), *(plus(top, -i) for i in range(k)))


def polylogarithm(n: int, z: Tree) -> Tree | None:
    """PolyLog[n, z] for n from 1 downwards; in terms of z/(1 - z) by Stirling numbers."""
    if n > 1 or -n > MAX_INDEX:
        return None
    if n == 1:
        return times(-1, ("Log", minus(1, z)))
    ratio = times(z, power(minus(1, z), -1))
    return plus(*(times(math.factorial(k) * int(fmpz.stirling_s2(1 - n, k + 1)), power(ratio, k + 1)) for k in range(1 - n)))


def of_call(head: str, args: tuple[Tree, ...]) -> Tree | None:
    """A call written out; None for other functions, and where the index is no small whole number."""
    n = args[0] if args else None
    if len(args) < 2 or not isinstance(n, int) or any(part in NOT_PLAIN for arg in args for part in walk(arg) if isinstance(part, str)):
        return None
    if (abs(n) + 1) ** min(len(args) - 1, 2) * sum(size(arg) for arg in args) > 10 * MAX_SIZE:
        return None
    if (head, len(args)) == ("PolyLog", 2):
        return polylogarithm(n, args[1])
    if not 0 <= n <= (MAX_CYCLOTOMIC if head == "Cyclotomic" else MAX_INDEX):
        return None
    if head in POLYNOMIALS and len(args) == 2 and (n > 0 or head != "Cyclotomic"):
        return as_tree(POLYNOMIALS[head](n), args[1])
    if (head, len(args)) == ("GegenbauerC", 3):
        return gegenbauer(n, args[1], args[2])
    if (head, len(args)) == ("LaguerreL", 3):
        return laguerre(n, args[1], args[2])
    return jacobi(n, args[1], args[2], args[3]) if (head, len(args)) == ("JacobiP", 4) else None


def terms_of(head: str, args: tuple[Tree, ...]) -> Tree | None:
    """Sum and Product over a range of few integers that are written as such."""
    parts = arguments(args[1]) if len(args) > 1 and is_call(args[1], "List") else ()
    name, low, high = (parts[0], 1, parts[1]) if len(parts) == 2 else parts if len(parts) == 3 else (None, None, None)
    if not isinstance(name, str) or not isinstance(low, int) or not isinstance(high, int) or not 0 <= high - low + 1 <= MAX_INDEX:
        return None
    body: Tree = (head, args[0], *args[2:]) if len(args) > 2 else args[0]
    if binds(name, body) or (high - low + 1) * size(body) > MAX_SIZE:
        return None
    terms = [replace(body, name, k) for k in range(low, high + 1)]
    return plus(*terms) if head == "Sum" else times(*terms)


def binds(name: str, body: Tree) -> bool:
    """Whether the name is bound once more in the body, so that no value may stand there for it."""
    for part in walk(body):
        if not isinstance(part, tuple):
            continue
        if part[0] in BINDERS:
            if any(arguments(iterator)[:1] == (name,) for iterator in part[2:]):
                return True
        elif (not isinstance(part[0], str) or part[0] in (*BINDING, "D", "Dt", "Root", "RootSum")) and name in walk(part):
            return True
    return False


def written_out(value: Any) -> Any:
    """A task, or a part of one, with these functions written out."""
    left = MAX_TOTAL

    def visit(value: Any) -> Any:
        nonlocal left
        if isinstance(value, dict):
            return {key: visit(part) for key, part in value.items()}
        if isinstance(value, list):
            return [visit(part) for part in value]
        if not isinstance(value, tuple):
            return value
        node = tuple(visit(part) for part in value)
        if not isinstance(node[0], str):
            return node
        whole = node[0] in ("Sum", "Product")
        found = terms_of(node[0], arguments(node)) if whole else of_call(node[0], arguments(node))
        if found is None or size(found) > min(left, MAX_SIZE):
            return node
        left -= size(found)
        return visit(found) if whole else found

    return visit(value)
