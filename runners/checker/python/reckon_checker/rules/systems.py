"""All solutions of a polynomial system with finitely many, as enclosures, and their exact number.

Groebner basis (FLINT), multiplication matrices of the quotient ring, the rank of the trace form as the number of distinct
solutions, and the rational univariate representation: Rouillier, "Solving zero-dimensional systems through the rational
univariate representation", AAECC 9 (1999).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from flint import Ordering, acb, acb_poly, fmpq, fmpq_mat, fmpq_mpoly, fmpq_poly, fmpz, fmpz_mpoly_ctx, fmpz_mpoly_vec

from .. import budget
from ..roots import isolated
from ..tree import Refused
from .algebraic import System

MAX_DIMENSION = 36  # of the quotient ring
LIMITS = (60, 250, 3000)  # of a Groebner basis: polynomials, terms of one, bits of a coefficient

Monomial = tuple[int, ...]


class Infinite(Exception):
    """There are infinitely many solutions. dimension: of the solution set."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.dimension = dimension


class TooHard(Exception):
    """The basis or the number of solutions is over the bounds."""


@dataclass(frozen=True)
class Family:
    """The roots t of an irreducible polynomial, each a solution with coordinates numerators[i](t)/denominator(t)."""

    modulus: fmpq_poly
    numerators: list[fmpq_poly]
    denominator: fmpq_poly

    def exact(self) -> list[fmpq] | None:
        if self.modulus.degree() != 1:
            return None
        t = -self.modulus[0] / self.modulus[1]
        return [p(t) / self.denominator(t) for p in self.numerators]

    def vanishes(self, index: int) -> bool:
        """Whether a coordinate is exactly zero at every root."""
        return (self.numerators[index] % self.modulus).degree() < 0

    def at(self, t: acb) -> list[acb]:
        below = acb_poly(self.denominator)(t)
        return [acb_poly(p)(t) / below for p in self.numerators]


def basis(system: System, extra: list[fmpq_mpoly] | None = None) -> tuple[list[fmpz_mpoly], int]:  # type: ignore[name-defined] # noqa: F821
    """A reduced Groebner basis for degree order, and the number of its unknowns: those used, and one more for denominators."""
    nonzero = system.nonzero if extra is None else [*system.nonzero, *extra]
    count = system.used + (1 if nonzero else 0)
    context = fmpz_mpoly_ctx.get([f"x{i}" for i in range(count)], Ordering.degrevlex)
    polynomials = [whole(p, context, count) for p in system.equations if not p.is_zero()]
    if nonzero:
        product = system.context.constant(1)
        for p in nonzero:
            product = product * p
            if len(product) > 400:
                raise TooHard
        polynomials.append(context.gen(count - 1) * whole(product, context, count) - 1)
    if not polynomials:
        return [], count
    budget.step()
    found, complete = fmpz_mpoly_vec(polynomials, context).buchberger_naive(limits=LIMITS)
    budget.step()
    if not complete:
        raise TooHard
    return list(found.autoreduction()), count  # type: ignore[attr-defined]


def whole(p: fmpq_mpoly, context: fmpz_mpoly_ctx, count: int):  # type: ignore[no-untyped-def]
    """The polynomial with denominators cleared in the ring of count unknowns."""
    common = fmpz(1)
    for c in p.coeffs():
        common = common.lcm(c.q)
    return context.from_dict({tuple(map(int, m[:count])) + (0,) * max(0, count - len(m)): int((c * common).p) for m, c in p.to_dict().items()})


def families(system: System) -> list[Family]:
    """All solutions of the polynomial system; coordinates of the unknowns and the auxiliary ones. Raises Infinite, TooHard."""
    if system.used == 1 and len(system.unknowns) == 1:
        return _univariate(system)
    found, count = basis(system)
    if any(p.is_constant() and not p.is_zero() for p in found):
        return []
    leading = [tuple(map(int, p.monoms()[0])) for p in found]
    dimension = _dimension(leading, count)
    if dimension:
        raise Infinite(dimension)
    return Ring(found, leading, count).families(system.used)


def _univariate(system: System) -> list[Family]:
    p = fmpq_poly([])
    for equation in system.equations:
        p = p.gcd(_poly(equation)) if p.degree() >= 0 else _poly(equation)
    if p.degree() < 0:
        raise Infinite(1)
    for q in system.nonzero:
        common = p.gcd(_poly(q))
        while common.degree() > 0:
            p = p / common if isinstance(p / common, fmpq_poly) else p // common
            common = p.gcd(common)
    return [Family(factor, [fmpq_poly([0, 1])], fmpq_poly([1])) for factor, _ in p.factor()[1]] if p.degree() > 0 else []


def _poly(p: fmpq_mpoly) -> fmpq_poly:
    terms = {int(m[0]): c for m, c in p.to_dict().items()}
    return fmpq_poly([terms.get(i, 0) for i in range(max(terms, default=-1) + 1)])


def _dimension(leading: list[Monomial], count: int) -> int:
    """The largest number of unknowns of which no leading monomial is a product."""
    for size in range(count, 0, -1):
        for free in itertools.combinations(range(count), size):
            if not any(all(e == 0 or i in free for i, e in enumerate(m)) for m in leading):
                return size
    return 0


class Ring:
    """The quotient ring of an ideal with finitely many zeros, as a vector space over the rationals."""

    def __init__(self, polynomials: list[fmpz_mpoly], leading: list[Monomial], count: int) -> None:  # type: ignore[name-defined] # noqa: F821
        self.count, self.leading = count, leading
        self.tails: dict[Monomial, dict[Monomial, fmpq]] = {}
        for p in polynomials:
            terms = list(zip((tuple(map(int, m)) for m in p.monoms()), p.coeffs(), strict=True))
            lead = fmpq(terms[0][1])
            self.tails[terms[0][0]] = {m: -fmpq(c) / lead for m, c in terms[1:]}
        self.standard = self._standard()
        self.position = {m: i for i, m in enumerate(self.standard)}
        self.known: dict[Monomial, list[fmpq]] = {}

    def _standard(self) -> list[Monomial]:
        """The monomials that no leading one divides, by degree."""
        found: list[Monomial] = []
        layer = {(0,) * self.count}
        while layer:
            layer = {m for m in layer if not any(all(a <= b for a, b in zip(lead, m, strict=True)) for lead in self.leading)}
            found += sorted(layer)
            if len(found) > MAX_DIMENSION:
                raise TooHard
            layer = {raised(m, i) for m in layer for i in range(self.count)}
        return found

    def normal(self, m: Monomial) -> list[fmpq]:
        """A monomial in terms of the standard ones."""
        if m in self.known:
            return self.known[m]
        budget.step()
        size = len(self.standard)
        if m in self.position:
            result = [fmpq(int(i == self.position[m])) for i in range(size)]
        elif m in self.tails:
            result = [fmpq(0)] * size
            for part, c in self.tails[m].items():
                result = [a + c * b for a, b in zip(result, self.normal(part), strict=True)]
        else:
            j = next(j for j in range(self.count) if m[j] and lowered(m, j) not in self.position)
            result = [fmpq(0)] * size
            for part, c in zip(self.standard, self.normal(lowered(m, j)), strict=True):
                if c != 0:
                    result = [a + c * b for a, b in zip(result, self.normal(raised(part, j)), strict=True)]
        self.known[m] = result
        return result

    def multiplication(self, i: int) -> fmpq_mat:
        """The matrix of multiplication by an unknown; column j is the image of the j-th standard monomial."""
        columns = [self.normal(raised(m, i)) for m in self.standard]
        size = len(self.standard)
        return fmpq_mat(size, size, [columns[j][k] for k in range(size) for j in range(size)])

    def families(self, used: int) -> list[Family]:
        size = len(self.standard)
        by_unknown = [self.multiplication(i) for i in range(self.count)]
        products: dict[Monomial, fmpq_mat] = {self.standard[0]: identity(size)}
        for m in self.standard[1:]:
            budget.step()
            j = next(j for j in range(self.count) if m[j])
            products[m] = by_unknown[j] * products[lowered(m, j)]
        traces = [sum((products[m][i, i] for i in range(size)), fmpq(0)) for m in self.standard]
        distinct = self._rank(products, traces)
        for weights in _weights(used):
            budget.step()
            u = fmpq_mat(size, size, [fmpq(0)] * (size * size))
            for weight, matrix in zip(weights, by_unknown, strict=False):
                u = u + matrix * fmpq(weight)
            full = u.charpoly()
            simple = full // full.gcd(full.derivative())
            if simple.degree() == distinct:
                return self._represented(u, simple, by_unknown[:used], traces)
        raise TooHard

    def _rank(self, products: dict[Monomial, fmpq_mat], traces: list[fmpq]) -> int:
        size = len(self.standard)
        entries = []
        for a in self.standard:
            for b in self.standard:
                column = self.position[b]
                entries.append(sum((products[a][k, column] * traces[k] for k in range(size)), fmpq(0)))
            budget.step()
        return int(fmpq_mat(size, size, entries).rank())

    def _represented(self, u: fmpq_mat, simple: fmpq_poly, unknowns: list[fmpq_mat], traces: list[fmpq]) -> list[Family]:
        size, n = len(self.standard), simple.degree()
        simple = simple / simple[n]
        horner = [fmpq_poly([simple[n - j + i] for i in range(j + 1)]) for j in range(n)]
        power = fmpq_mat(size, 1, [fmpq(int(i == 0)) for i in range(size)])
        numerators = [fmpq_poly([]) for _ in unknowns]
        denominator = fmpq_poly([])
        for i in range(n):
            budget.step()
            denominator += sum((power[k, 0] * traces[k] for k in range(size)), fmpq(0)) * horner[n - i - 1]
            for v, matrix in enumerate(unknowns):
                image = matrix * power
                numerators[v] = numerators[v] + sum((image[k, 0] * traces[k] for k in range(size)), fmpq(0)) * horner[n - i - 1]
            power = u * power
        return [Family(factor, numerators, denominator) for factor, _ in simple.factor()[1]]


def identity(size: int) -> fmpq_mat:
    return fmpq_mat(size, size, [fmpq(int(i == j)) for i in range(size) for j in range(size)])


def raised(m: Monomial, i: int) -> Monomial:
    return (*m[:i], m[i] + 1, *m[i + 1 :])


def lowered(m: Monomial, i: int) -> Monomial:
    return (*m[:i], m[i] - 1, *m[i + 1 :])


def _weights(count: int) -> Iterator[list[int]]:
    for base in (1, 2, 3, 5, 7, 11):
        yield [base**i if base > 1 else i + 1 for i in range(count)]


def roots_of(family: Family, bits: int) -> list[acb]:
    """The roots t of the modulus; the precision must be in force."""
    if family.modulus.degree() > 60:
        raise Refused("degree")
    return [root for root, _ in isolated(tuple(family.modulus.coeffs()), bits)]
