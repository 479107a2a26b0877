"""That no value of a polynomial of several unknowns is better than the answer's, under constraints that are polynomials.

An unknown that an equation gives by the others is put in; any other equation is weakened to an inequality, one way or the other. Objective less value is
looked at in a point of each open cell (open_cells) in which all constraints hold, and holds on what these come near to: all of the feasible set
where that is convex, or where the one constraint that includes its edge has no singular point.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat, fmpq_mpoly, fmpz_mat

from ..evaluation import evaluate
from ..findings import Verified
from ..normal import proves_zero
from ..parameters import Known
from ..tree import Refused, Tree, arguments, exactly, free_symbols, is_call, minus, plus, power, reals, replace, replace_each, times
from ..truth import order
from ..values import Undecided, is_number, precision, real_ball
from .algebraic import System
from .certified_optima import holds, is_zero
from .open_cells import Point, put, samples
from .polynomials import coefficients
from .quotients import Foreign, Ring
from .systems import Infinite, TooHard, basis

MAX_NAMES = 3
MAX_EQUATIONS = 2
MAX_DEGREE = 4  # of the polynomial of a value
BITS = 400
NAMED = "value$"


@dataclass(frozen=True)
class Region:
    """Where all polynomials are positive, or not negative where they stand among the closed ones."""

    open: list[fmpq_mpoly]
    closed: list[fmpq_mpoly]
    equations: list[fmpq_mpoly]


def proof(objective: Tree, constraints: Sequence[Tree], sense: int, value: Tree | None, point: dict[str, Tree]) -> Verified | None:
    """sense: 1 for a minimum, -1 for a maximum. Decimals of the answer count as the fractions that they are."""
    if not 1 <= len(point) <= MAX_NAMES or any(reals(part) for part in (objective, *constraints)):
        return None
    at = {name: exactly(node) for name, node in point.items()}
    value = replace_each(objective, at) if value is None else exactly(value)
    if free_symbols(value) or any(free_symbols(node) for node in at.values()):
        return None
    try:
        if not attained(objective, constraints, at, value):
            return None
        bound = Bound(Ring([("List", *point)]), sense, value)
        return Verified(True) if bound.holds(bound.ring.polynomial(objective), read(bound.ring, constraints)) else None
    except (Foreign, Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
        return None


def attained(objective: Tree, constraints: Sequence[Tree], at: dict[str, Tree], value: Tree) -> bool:
    known: Known = {name: evaluate(node) for name, node in at.items()}
    if not all(is_number(x) and real_ball(x) is not None for x in known.values()):
        return False
    return is_zero(minus(replace_each(objective, at), value)) and all(holds(condition, at, known) for condition in constraints)


def read(ring: Ring, constraints: Sequence[Tree]) -> Region:
    found = Region([], [], [])
    for condition in constraints:
        add(ring, condition, found)
    return found


def add(ring: Ring, condition: Tree, found: Region) -> None:
    parts = arguments(condition)
    if is_call(condition, "And"):
        for part in parts:
            add(ring, part, found)
    elif is_call(condition, "Inequality"):
        for i in range(0, len(parts) - 2, 2):
            add(ring, (parts[i + 1], parts[i], parts[i + 2]), found)
    elif is_call(condition, "Less", "LessEqual", "Greater", "GreaterEqual", "Equal"):
        kind = found.open if is_call(condition, "Less", "Greater") else found.equations if is_call(condition, "Equal") else found.closed
        for a, b in itertools.pairwise(parts):
            kind.append(ring.polynomial(minus(b, a) if is_call(condition, "Less", "LessEqual") else minus(a, b)))
    elif condition != "True":
        raise Refused("a constraint of another kind")


@dataclass(frozen=True)
class Bound:
    """That no value of an objective is better than the one given."""

    ring: Ring
    sense: int
    value: Tree

    def holds(self, height: fmpq_mpoly, region: Region) -> bool:
        height, region, names = without_lines(self.ring, height, region, list(self.ring.names))
        if len(region.equations) > MAX_EQUATIONS or not names:
            return False
        for signs in itertools.product((1, -1), repeat=len(region.equations)):
            weakened = [s * p for s, p in zip(signs, region.equations, strict=True)]
            if self.holds_inside(height, Region(region.open, [*region.closed, *weakened], []), names):
                return True
        return False

    def holds_inside(self, height: fmpq_mpoly, region: Region, names: list[str]) -> bool:
        closed = [p for p in region.closed if not p.is_constant()]
        if any(at(p, {}) < 0 for p in region.closed if p.is_constant()):
            return False
        bounds = [*region.open, *closed]
        seen, inside = False, False
        for point in samples(self.ring, [*bounds, self.of_value(height)], names):
            inside = inside or all(at(p, point) > 0 for p in closed)
            if not all(at(p, point) > 0 for p in bounds):
                continue
            seen = True
            found = order(at(height, point), evaluate(self.value))
            if not isinstance(found, int) or found * self.sense < 0:
                return False
        return seen and inside and near_everywhere(self.ring, closed, names)

    def of_value(self, height: fmpq_mpoly) -> fmpq_mpoly:
        """A polynomial that vanishes where the objective has the value."""
        number = evaluate(self.value)
        if isinstance(number, fmpq):
            return height - number
        for degree in range(2, MAX_DEGREE + 1):
            found = annihilating(self.value, degree)
            if found is not None:
                result = self.ring.context.constant(0)
                for c in reversed(found):
                    result = result * height + c
                return result
        raise Refused("a value that is not algebraic")


def without_lines(ring: Ring, height: fmpq_mpoly, region: Region, names: list[str]) -> tuple[fmpq_mpoly, Region, list[str]]:
    """With the unknowns put in that equations of first degree in them, with a constant factor, give by the others."""
    for p in region.equations:
        for name in names:
            index = ring.index(name)
            if int(p.degrees()[index]) != 1 or not coefficients(ring, p, index)[1].is_constant():
                continue
            rest, slope = coefficients(ring, p, index)
            by = -rest / slope.leading_coefficient()
            gens = [by if other == name else gen for other, gen in zip(ring.names, ring.context.gens(), strict=True)]

            def moved(q: fmpq_mpoly, gens: list[fmpq_mpoly] = gens) -> fmpq_mpoly:
                found = q.compose(*gens, ctx=ring.context)
                ring.bound(found)
                return found

            others = Region([moved(q) for q in region.open], [moved(q) for q in region.closed], [moved(q) for q in region.equations if q is not p])
            return without_lines(ring, moved(height), others, [other for other in names if other != name])
    return height, Region(region.open, region.closed, [p for p in region.equations if not p.is_zero()]), names


def near_everywhere(ring: Ring, closed: list[fmpq_mpoly], names: list[str]) -> bool:
    """Whether every point at which none of the polynomials is negative has points near it at which all are positive, given that there are some."""
    if all(is_concave(ring, p, names) for p in closed):
        return True
    return len(closed) == 1 and is_smooth(ring, closed[0], names)


def is_concave(ring: Ring, p: fmpq_mpoly, names: list[str]) -> bool:
    """Of first degree, or of second with no direction in which it bends up."""
    degree = int(p.total_degree())
    if degree < 2:
        return True
    if degree > 2:
        return False
    bend = [[p.derivative(a).derivative(b) for b in names] for a in names]
    entries = [-(q.leading_coefficient() if not q.is_zero() else fmpq(0)) for row in bend for q in row]
    characteristic = fmpq_mat(len(names), len(names), entries).charpoly()
    n = characteristic.degree()  # the eigenvalues, all real, are not negative where the signs alternate
    return all(characteristic[n - k] * (-1) ** k >= 0 for k in range(n + 1))


def is_smooth(ring: Ring, p: fmpq_mpoly, names: list[str]) -> bool:
    """Whether no complex zero of a polynomial is one of all its derivatives."""
    system = System(list(ring.names), ring.context, [p, *(p.derivative(name) for name in names)], used=len(ring.names))
    try:
        found, _ = basis(system)
    except (TooHard, Infinite):
        return False
    return any(q.is_constant() and not q.is_zero() for q in found)


def at(p: fmpq_mpoly, point: Point) -> fmpq:
    found = put(p, point)
    if not found.is_constant():
        raise Refused("an unknown without a value")
    return fmpq(0) if found.is_zero() else found.leading_coefficient()


def annihilating(value: Tree, degree: int) -> list[int] | None:
    """Coefficients, lowest first, of a polynomial of which a number is proved to be a zero."""
    with precision(BITS):
        found_value = evaluate(value)
        number = real_ball(found_value) if is_number(found_value) else None
        if number is None:
            return None
        scale = 2 ** (BITS - 80)
        powers = [(number**k * scale).mid() for k in range(degree + 1)]
        rows = [[*(int(i == k) for i in range(degree + 1)), int(powers[k].fmpq().floor())] for k in range(degree + 1)]
        shortest = fmpz_mat(rows).lll().table()[0]
    found = [int(c) for c in shortest[: degree + 1]]
    if not any(found[1:]) or max(map(abs, found)) > 2**40:
        return None
    claimed = plus(*(times(c, power(NAMED, k)) if k else c for k, c in enumerate(found) if c))
    return found if proves_zero(replace(claimed, NAMED, value)) else None
