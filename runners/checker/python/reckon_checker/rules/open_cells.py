"""A point in each open cell into which polynomials divide the space of several real unknowns (Collins 1975; McCallum 1993: open cells alone
need no points on the boundaries).

Over a connected open set on which the leading coefficients, the discriminants and the resultants of irreducible polynomials in one more unknown are not 0,
their real zeros are as many everywhere, apart from each other, and continuous: between two of them no polynomial changes its sign. What is left out is
of measure 0, so that a closed condition that holds in all cells of an open set holds on the set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from flint import arb, ctx, fmpq, fmpq_mpoly, fmpq_poly, fmpz

from .. import budget
from ..roots import isolated
from ..tree import Refused
from ..values import precision
from .cells import rational_above, rational_below
from .polynomials import coefficients
from .quotients import Ring

MAX_FACTORS = 24
MAX_DEGREE = 60
MAX_SIZE = 1500  # terms of a polynomial times its degree
MAX_POINTS = 600
BITS = (128, 512, 2048)

Point = dict[str | int, int | fmpz | fmpq]  # values of unknowns, as polynomials take them


def samples(ring: Ring, polynomials: Sequence[fmpq_mpoly], names: Sequence[str]) -> Iterator[Point]:
    """A rational point in every open cell; Refused where the polynomials are too large."""
    levels = [factors_of(ring, polynomials)]
    for name in names[:0:-1]:
        levels.append(projected(ring, levels[-1], name))
    points: list[Point] = [{}]
    for name, level in zip(names, reversed(levels), strict=True):
        points = [{**point, name: place} for point in points for place in between(ring, level, point, name)]
        if len(points) > MAX_POINTS:
            raise Refused("many cells")
    yield from points


def factors_of(ring: Ring, polynomials: Sequence[fmpq_mpoly]) -> list[fmpq_mpoly]:
    """The different irreducible factors."""
    found: dict[str, fmpq_mpoly] = {}
    for p in polynomials:
        if p.is_zero() or p.is_constant():
            continue
        degree = int(p.total_degree())
        if degree > MAX_DEGREE or degree * len(p) > MAX_SIZE:
            raise Refused("a large polynomial")
        budget.step(degree * len(p))
        for factor, _ in p.factor()[1]:
            monic = factor / factor.leading_coefficient()
            found[str(monic)] = monic
    if len(found) > MAX_FACTORS:
        raise Refused("many polynomials")
    return list(found.values())


def projected(ring: Ring, polynomials: Sequence[fmpq_mpoly], name: str) -> list[fmpq_mpoly]:
    """Polynomials in the other unknowns, off whose zeros those given have zeros that stay apart in this one."""
    index = ring.index(name)
    varying = [p for p in polynomials if int(p.degrees()[index])]
    found = [p for p in polynomials if not int(p.degrees()[index])]
    for p in varying:
        degree = int(p.degrees()[index])
        budget.step(degree * len(p))
        found.append(coefficients(ring, p, index)[-1])
        if degree > 1:
            found.append(p.discriminant(name))
    for p, q in itertools.combinations(varying, 2):
        budget.step(int(p.degrees()[index]) * int(q.degrees()[index]) * (len(p) + len(q)))
        found.append(p.resultant(q, name))
    if any(p.is_zero() for p in found):
        raise Refused("polynomials with a common zero everywhere")
    return factors_of(ring, found)


def between(ring: Ring, polynomials: Sequence[fmpq_mpoly], point: Point, name: str) -> list[fmpq]:
    """A number between each two neighbouring zeros, below and above all, at a point of the other unknowns."""
    index = ring.index(name)
    at = [univariate(put(p, point), index) for p in polynomials]
    for bits in BITS:
        budget.step(1 + sum(max(p.degree(), 0) for p in at))
        with precision(bits):
            zeros = sorted((zero for p in at for zero in real_zeros(p)), key=lambda zero: float(zero.mid()))
            if all(a < b for a, b in itertools.pairwise(zeros)):
                ends = [(rational_below(zero), rational_above(zero)) for zero in zeros]
                if not ends:
                    return [fmpq(0)]
                middles = [(low + high) / 2 for (_, low), (high, _) in itertools.pairwise(ends)]
                return [simple(ends[0][0] - 1), *middles, simple(ends[-1][1] + 1, up=True)]
    raise Refused("zeros that are close together")


def put(p: fmpq_mpoly, point: Point) -> fmpq_mpoly:
    """The polynomial with values for unknowns."""
    return p.subs(point) if point else p


def simple(place: fmpq, up: bool = False) -> fmpq:
    """A whole number farther out."""
    return fmpq(place.ceil() if up else place.floor())


def univariate(p: fmpq_mpoly, index: int) -> fmpq_poly:
    terms = {int(m[index]): c for m, c in p.to_dict().items()}
    if any(int(d) for m in p.monoms() for i, d in enumerate(m) if i != index):
        raise Refused("an unknown without a value")
    return fmpq_poly([terms.get(i, 0) for i in range(max(terms, default=0) + 1)])


def real_zeros(p: fmpq_poly) -> list[arb]:
    """Each once; none of a polynomial that is 0 there, or constant."""
    if p.degree() < 1:
        return []
    return [zero.real for zero, _ in isolated(tuple(p.coeffs()), ctx.prec) if zero.imag.is_zero()]
