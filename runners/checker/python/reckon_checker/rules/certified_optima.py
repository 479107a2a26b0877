"""That no value of an objective of one unknown is better than the answer's, and that the answer's is one of its values.

Exactly: objective minus value is compared with zero in every cell of the real line and at every zero (cells). For decimals: the infimum over the whole
line, or that next to a local optimum, lies within the digits of the value, by enclosures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import arb, fmpq

from ..calculus import differentiate
from ..evaluation import Environment, evaluate, truth
from ..expanding import is_minus_infinity, towards
from ..findings import Refuted, Verified
from ..normal import proves_zero
from ..parameters import Known
from ..tree import Refused, Tree, arguments, exactly, free_symbols, is_call, minus, power, rational_tree, reals, replace, replace_each, times, walk
from ..values import Undecided, is_number, precision, real_ball
from . import globally
from .breaks import single_valued
from .cells import Cells
from .enclosed import interval
from .limits import one_sided
from .one_variable import VARIABLE, Line, NotPlaced, line_of
from .rounded import read

BITS = 320
NEARBY = 2.0**-20  # a local optimum is looked for so near to the point given, relative to 1 + its size
COMPARISONS = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "Inequality", "And", "Or")


@dataclass(frozen=True)
class Optimum:
    """sense: 1 for a minimum, -1 for a maximum. value and point as the answer gives them; one of them may be missing."""

    objective: Tree
    constraints: list[Tree]
    name: str
    sense: int
    value: Tree | None
    point: Tree | None

    def exact(self, domain: str) -> Verified | None:
        """domain: Reals or Integers. Decimals count as the fractions that they are."""
        given = [None if part is None else exactly(part) for part in (self.value, self.point)]
        value, point = given[0], given[1]
        if point is not None and self._infinite(point):
            return self._unbounded([point], value, domain)
        if value is not None and self._infinite(value):
            return self._unbounded(["Infinity", times(-1, "Infinity")], value, domain) if point is None else None
        if value is None:
            if point is None:
                return None
            value = replace(self.objective, self.name, point)
        if not all(self._comparison(condition) for condition in self.constraints) or not self._attained(value, point, domain):
            return None
        bound = ("GreaterEqual" if self.sense > 0 else "LessEqual", self.objective, value)
        return Verified(True) if isinstance(self._cells(bound, "True", domain), Verified) or self._bound_by_waves(value, domain) else None

    def _waves(self) -> tuple[Line, Tree, list[Tree]] | None:
        """Without constraints, the objective in t = Tan[v/2] for all real t, or in t = E^v for t > 0. At the one x of a period at which t is infinite
        the objective is continuous, or has no value."""
        if self.constraints:
            return None
        try:
            line = line_of([self.objective], self.name)
            written = line.written(self.objective)
        except NotPlaced:
            return None
        if not line.kind or not single_valued(self.objective, self.name):
            return None
        return line, written, [("Greater", VARIABLE, 0)] if line.kind == "exponential" else []

    def _bound_by_waves(self, value: Tree, domain: str) -> bool:
        found = self._waves() if domain == "Reals" else None
        if found is None:
            return False
        bound = ("GreaterEqual" if self.sense > 0 else "LessEqual", found[1], value)
        return isinstance(Cells(bound, "True", found[2], VARIABLE, "Reals", real=True, solving=False).compare(), Verified)

    def _attained_by_waves(self, value: Tree, domain: str) -> bool:
        found = self._waves() if domain == "Reals" else None
        if found is None:
            return False
        line, written, conditions = found
        if isinstance(Cells(("Equal", written, value), "False", conditions, VARIABLE, "Reals", real=True, solving=False).compare(), Refuted):
            return True
        x = times(power(rational_tree(line.slope), -1), minus(times("Pi", power(line.unit, -1)), rational_tree(line.start)))
        return line.kind == "circular" and proves_zero(minus(replace(self.objective, self.name, x), value))

    def decimal(self, local: bool) -> Verified | None:
        """Without constraints: the optimum lies within the digits of the value, and so does the objective at the point."""
        if self.constraints or self.value is None or self.point is None or globally.kinked(self.objective):
            return None
        parts, place = read(self.value), read(self.point)
        if parts is None or place is None or any(parts[1]) or any(place[1]):
            return None
        with precision(BITS):
            allowed = interval(parts[0], self.value)
            if allowed is None:
                return None
            x, f = place[0][0], times(self.sense, self.objective)
            there = globally.real_at(f, self.name, arb(x))
            wanted = allowed * self.sense
            if there is None or not there < arb(wanted.upper()):
                return None
            low = arb(wanted.lower()).fmpq()
            found = self._least_nearby(f, arb(x), arb(wanted.lower())) if local else globally.stays_above(f, self.name, low)
            return Verified(exact=False) if found else None

    def _least_nearby(self, f: Tree, x: arb, low: arb) -> bool:
        """Whether f has one minimum within a small distance of x, proved to be above low: it falls to it and rises from it, and is convex."""
        radius = arb(NEARBY) * (1 + abs(x))
        slope, bend = differentiate(f, self.name), differentiate(f, self.name, 2)
        before, after = (globally.real_at(slope, self.name, place) for place in (x - radius, x + radius))
        around = arb(x.mid(), (radius + arb(x.rad())).upper())
        here, steep, curved = (globally.real_at(tree, self.name, place) for tree, place in ((f, x), (slope, x), (bend, around)))
        if before is None or after is None or here is None or steep is None or curved is None:
            return False
        return bool(before < 0) and bool(after > 0) and bool(curved > 0) and bool(here - steep * steep / (2 * arb(curved.lower())) > low)

    def _unbounded(self, ways: list[Tree], value: Tree | None, domain: str) -> Verified | None:
        """Without constraints: the objective goes to the infinity that is best."""
        best = "Infinity" if self.sense < 0 else times(-1, "Infinity")
        if self.constraints or domain != "Reals" or (value is not None and not self._same_infinity(value, best)):
            return None
        reached = evaluate(best)
        for way in ways:
            if self._infinite(way) and one_sided(towards(self.objective, self.name, way, 1)) == (reached, None):
                return Verified(True, "True")
        return None

    @staticmethod
    def _infinite(node: Tree) -> bool:
        return node == "Infinity" or is_minus_infinity(node)

    def _same_infinity(self, a: Tree, b: Tree) -> bool:
        return self._infinite(a) and (a == "Infinity") == (b == "Infinity")

    def _comparison(self, condition: Tree) -> bool:
        return is_call(condition, *COMPARISONS) and not any(is_call(part, "Element", "NotElement", "Not", "Unequal", "Implies") for part in walk(condition))

    def _attained(self, value: Tree, point: Tree | None, domain: str) -> bool:
        if point is None:
            return isinstance(self._cells(("Equal", self.objective, value), "False", domain), Refuted) or self._attained_by_waves(value, domain)
        if free_symbols(point) or (domain == "Integers" and not isinstance(point, int)):
            return False
        try:
            at = evaluate(point)
            if not is_number(at) or real_ball(at) is None:
                return False
            known: Known = {self.name: at}
            return is_zero(minus(replace(self.objective, self.name, point), value)) and all(holds(c, {self.name: point}, known) for c in self.constraints)
        except (Undecided, Refused):
            return False

    def _cells(self, left: Tree, right: Tree, domain: str) -> object:
        return Cells(left, right, self.constraints, self.name, domain, real=True, solving=False).compare()


def holds(condition: Tree, point: dict[str, Tree], known: Known) -> bool:
    """Whether a constraint is proved at a point, which may lie on its edge. known: the values of the point."""
    if not isinstance(condition, tuple):
        return False
    parts = arguments(condition)
    if is_call(condition, "And"):
        return all(holds(part, point, known) for part in parts)
    if is_call(condition, "Or"):
        return any(holds(part, point, known) for part in parts)
    if is_call(condition, "Inequality"):
        return all(holds((parts[i + 1], parts[i], parts[i + 2]), point, known) for i in range(0, len(parts) - 2, 2))
    if len(parts) > 2:
        return all(holds((condition[0], a, b), point, known) for a, b in pairwise(parts))
    if is_call(condition, "LessEqual", "GreaterEqual", "Equal") and is_zero(replace_each(minus(*parts), point)):
        return True
    try:
        return truth(condition, Environment(known)) is True
    except Undecided:
        return False


def is_zero(number: Tree) -> bool:
    """By its exact value or by a normal form."""
    return evaluate(number) == fmpq(0) or proves_zero(number)


def proof(optimum: Optimum, domain: str, local: bool) -> Verified | None:
    """An optimum over the whole line is a local one, but a local one may be asked for where there is another."""
    given = [part for part in (optimum.value, optimum.point) if part is not None]
    if any(reals(part) for part in (optimum.objective, *optimum.constraints)) or any(free_symbols(part) - {"Infinity"} for part in given):
        return None
    names = free_symbols(optimum.objective).union(*(free_symbols(part) for part in optimum.constraints))
    if names != {optimum.name}:
        return None
    try:
        return optimum.exact(domain) or (optimum.decimal(local) if any(reals(part) for part in given) and domain == "Reals" else None)
    except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
        return None
