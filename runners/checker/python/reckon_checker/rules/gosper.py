"""Indefinite summation of hypergeometric terms (Gosper 1978; Petkovsek, Wilf, Zeilberger, A = B, chapter 5), over the rationals in one index."""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly

from .. import budget
from ..field import TooLarge
from ..hypergeometric import related
from ..normal import Normalizer
from ..tree import Refused, Tree, plus, power, replace, times
from ..univariate import as_tree

MAX_DEGREE = 30
MAX_SHIFT = 60

Ratio = tuple[fmpq_poly, fmpq_poly]
X = fmpq_poly([0, 1])


def ratio(term: Tree, k: str) -> Ratio | None:
    """term(k + 1)/term(k) as a quotient of polynomials; None where it is none."""
    return quotient_in(related(times(replace(term, k, plus(k, 1)), power(term, -1)), {k}), k)


def quotient_in(node: Tree, k: str) -> Ratio | None:
    """A tree as a quotient of polynomials in a whole number with rational coefficients."""
    found = Normalizer(integers=(k,))
    try:
        value = found.normal(node)
    except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
        return None
    keys = {index: key for key, index in found.field.keys.items()}
    sides = []
    for side in (value.top, value.bottom):
        if any(d and keys[i] != k for i, d in enumerate(side.degrees())):
            return None
        p = fmpq_poly([0])
        for monomial, coefficient in side.to_dict().items():
            p[max((int(d) for d in monomial), default=0)] = coefficient
        if p.degree() > MAX_DEGREE or p.degree() < 0:
            return None
        sides.append(p)
    return sides[0], sides[1]


def shifted(p: fmpq_poly, by: int) -> fmpq_poly:
    return p(X + by) if p.degree() > 0 else p


def antidifference(term: Tree, k: str) -> Tree | None:
    """T with T(k + 1) - T(k) == term(k); None where there is no hypergeometric one."""
    found = ratio(term, k)
    if found is None:
        return None
    top, bottom = found
    a, b, c = normal(top, bottom)
    solution = solve(a, shifted(b, -1), c)
    if solution is None:
        return None
    return times(as_tree(shifted(b, -1) * solution, k), power(as_tree(c, k), -1), term)


def normal(top: fmpq_poly, bottom: fmpq_poly) -> tuple[fmpq_poly, fmpq_poly, fmpq_poly]:
    """a, b, c with top/bottom == a(k)/b(k) c(k + 1)/c(k) and gcd(a(k), b(k + h)) == 1 for every whole h >= 0."""
    a, b, c = top, bottom, fmpq_poly([1])
    for h in dispersion(a, b):
        budget.step()
        common: Any = a.gcd(shifted(b, h))
        if common.degree() > 0:
            a, b = a // common, b // shifted(common, -h)
            for i in range(1, h + 1):
                c = c * shifted(common, -i)
    return a, b, c


def dispersion(a: fmpq_poly, b: fmpq_poly) -> list[int]:
    """Whole h >= 0 at which a(k) and b(k + h) have a common zero: differences of zeros of factors of the same degree."""
    found: set[int] = set()
    for p, _ in a.factor()[1]:
        for q, _ in b.factor()[1]:
            n = p.degree()
            if q.degree() != n or n < 1:
                continue
            # q(k + h) == p(k) for monic ones: by the second coefficient, n h = p[n-1] - q[n-1].
            h = (p[n - 1] / p[n] - q[n - 1] / q[n]) / n
            if h.q == 1 and 0 <= h <= MAX_SHIFT:
                found.add(int(h.p))
    return sorted(found)


def solve(a: fmpq_poly, b: fmpq_poly, c: fmpq_poly) -> fmpq_poly | None:
    """A polynomial x with a(k) x(k + 1) - b(k) x(k) == c(k)."""
    for degree in degrees(a, b, c):
        budget.step()
        columns = [a * shifted(X**i, 1) - b * X**i for i in range(degree + 1)]
        height = max([c.degree(), *(p.degree() for p in columns)]) + 1
        matrix = fmpq_mat(height, degree + 1, [columns[j][i] for i in range(height) for j in range(degree + 1)])
        solution = solved(matrix, [c[i] for i in range(height)])
        if solution is not None:
            return fmpq_poly(solution)
    return None


def degrees(a: fmpq_poly, b: fmpq_poly, c: fmpq_poly) -> list[int]:
    """Bounds of the degree of the solution."""
    n = a.degree()
    if n != b.degree() or a[n] != b[n]:
        bound = c.degree() - max(n, b.degree())
        return [bound] if 0 <= bound <= MAX_DEGREE else []
    found = {c.degree() - n + 1}
    special = (b[n - 1] - a[n - 1]) / a[n] if n > 0 else fmpq(0)
    if special.q == 1:
        found.add(int(special.p))
    usable = [d for d in found if 0 <= d <= MAX_DEGREE]
    return [max(usable)] if usable else []


def solved(matrix: fmpq_mat, right: list[fmpq]) -> list[fmpq] | None:
    """A solution of a system of linear equations."""
    height, width = matrix.nrows(), matrix.ncols()
    rows = fmpq_mat(height, width + 1, [x for i in range(height) for x in (*(matrix[i, j] for j in range(width)), right[i])])
    reduced, rank = rows.rref()
    found = [fmpq(0)] * width
    for i in range(rank):
        lead = next(j for j in range(width + 1) if reduced[i, j] != 0)
        if lead == width:
            return None
        found[lead] = reduced[i, width]
    return found
