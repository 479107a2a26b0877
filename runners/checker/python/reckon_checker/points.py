"""Points of comparison: exact values of the symbols that satisfy the assumptions, chosen from the expressions themselves.

Every symbol that may be real gets points in each cell between the places where an expression changes its ways (critical.py),
just inside both ends of a cell, far out, and on the places themselves; symbols that may be complex get points in every
quadrant, on both sides of the real axis close to it, and in strips beyond +-Pi and +-3 Pi, where exponentials wrap round;
integers small, large, zero and negative, even and odd. The same plan gets the same points every time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from flint import fmpq

from .assumptions import Assumptions
from .branching import branched, real_places, states
from .critical import complex_places, critical, crossings, isolated, real_with, whole_places, wrapping_places
from .evaluation import Environment, evaluate
from .regions import have_insides
from .signs import Signs
from .tree import Refused, Tree, free_symbols
from .values import Gaussian, Undecided, Value, gaussian, is_number, precision
from .wholes import SMALL, counting, near_numbers

Name = str | tuple[Tree, ...]

MAX_CELLS = 40
MAX_POINTS = 144
INTEGERS = (2, 1, 0, -1, 3, -2, 7, -5, 12, 4, -8, 25, 101)
GENERIC = 4096  # denominator of generic points: odd multiples of 1/4096 are no special values of anything written by hand


@dataclass(frozen=True)
class Point:
    """Exact values of the symbols. special: on a place where an expression changes its ways. real: no symbol is complex."""

    values: dict[Name, Value] = field(hash=False)
    region: str = ""
    special: bool = False
    real: bool = True


class Points:
    """Chooses points for the symbols of some expressions. names: strings, and ("C", k) for generated constants; real: symbols
    without assumptions are real too."""

    def __init__(self, names: Iterable[Name], expressions: Iterable[Tree], assumptions: Assumptions, seed: int, real: bool = False) -> None:
        self.names = sorted(set(names), key=str)
        self.assumptions, self.all_real = assumptions, real
        self.random = random.Random(seed)
        self.free = [name for name in self.names if not (isinstance(name, str) and name in assumptions.given)]
        self.expressions = list(expressions)
        self.missed = False  # whether places were left out
        self.undecided_regions = False  # whether a region has no point of which it is known that it is admissible
        signs = Signs(assumptions.conditions, [name for name in self.names if isinstance(name, str) and self.is_real(name)])
        self.branch_places = real_places(self.expressions, signs, self._open_names())
        self.sides_of_cuts = states(self.expressions, self._open_names())
        self.critical = critical(self.expressions) + assumptions.critical() + (self.branch_places or [])

    @property
    def certain(self) -> bool:
        """Whether every place where a function that is not analytic changes its ways was found, so that no region is missed."""
        if not self.names:
            return True
        return self.spread and self.branch_places is not None and self.sides_of_cuts is not None and self.no_step_missed

    @property
    def spread(self) -> bool:
        """Whether points speak of all values that the assumptions admit."""
        return not self.assumptions.conditions or have_insides(self.assumptions.conditions)

    @property
    def no_step_missed(self) -> bool:
        """The same of functions that jump or bend alone. Without symbols there is one point, and it is all."""
        if not self.names:
            return True
        open_names = self._open_names()
        known = isolated(self.expressions, self.assumptions.critical(), open_names, self.branch_places or ())
        return not self.missed and known and self._given_alike() and real_with(self.expressions, open_names)

    def _given_alike(self) -> bool:
        """Whether no symbol that an equation gives stands where a function changes its ways: its cells are not walked through."""
        given = {name for name in self.names if name in self.assumptions.given and free_symbols(self.assumptions.given[str(name)])}
        steps = critical(self.expressions, jumps_only=True) if given else []
        branches = [argument for _, argument, _ in branched(self.expressions)] if given else []
        return not given & set().union(*(free_symbols(node) for node in (*steps, *branches)))

    def _open_names(self) -> set[str]:
        return {name for name in self.names if isinstance(name, str) and not self.is_real(name)}

    def is_integer(self, name: Name) -> bool:
        return isinstance(name, str) and name in self.assumptions.integers

    def is_real(self, name: Name) -> bool:
        return isinstance(name, str) and (self.all_real or self.assumptions.is_real(name))

    def choose(self) -> list[Point]:
        """At most MAX_POINTS admissible points, regions mixed so that the first ones differ most."""
        if not self.names:
            return [Point({}, "constant")]
        by_region: dict[str, list[Point]] = {}
        self.undecided: set[str] = set()  # regions of points of which it is not known whether they are admissible
        for point in self._candidates():
            settled = self._settled(point)
            if settled is not None:
                by_region.setdefault(settled.region, []).append(settled)
        unseen = self.undecided - set(by_region)
        mixed: list[Point] = []
        while by_region and len(mixed) < MAX_POINTS:
            first = not mixed
            for region in list(by_region):
                mixed.append(by_region[region].pop(0))
                if not by_region[region]:
                    del by_region[region]
            if first:  # places are points of their own
                for region in [region for region, points in by_region.items() if points[0].special]:
                    mixed += by_region.pop(region)
        regions = {point.region for point in mixed[:MAX_POINTS]}
        self.missed = any(point.special or point.region not in regions for point in mixed[MAX_POINTS:]) or any(
            point.special for points in by_region.values() for point in points
        )
        self.undecided_regions = bool(unseen)
        self.missed = self.missed or self.undecided_regions
        return mixed[:MAX_POINTS]

    def _settled(self, point: Point) -> Point | None:
        """The point with given symbols filled in, where it meets the assumptions."""
        env = Environment(point.values, constants=constants_of(point.values))
        for _ in self.assumptions.given:
            for name, expression in self.assumptions.given.items():
                if name in self.names and name not in env.values:
                    try:
                        with precision(1024):
                            value = evaluate(expression, env)
                    except (Undecided, Refused):
                        self.undecided.add(point.region)
                        continue
                    if is_number(value):
                        env = env.having(name, value)
        if any(name not in env.values for name in self.names):
            return None
        admitted = self.assumptions.admit(env)
        if admitted is None:
            self.undecided.add(point.region)
        if not admitted:
            return None
        return Point(dict(env.values), point.region, point.special, point.real)

    # Candidates, region by region.

    def _candidates(self) -> Iterator[Point]:
        if not self.free:
            yield Point({}, "given")
            return
        for _ in range(3):
            yield Point({name: self._integer() if self.is_integer(name) else self._generic(0, 3) for name in self.free}, "positive")
        yield from self._signs()
        yield from self._counting()
        lines = 3 if len(self.free) < 3 else 1
        for name in self.free:
            for line in range(1 if len(self.free) == 1 else lines):
                yield from self._along(name, line)
        if not all(self.is_real(name) for name in self.free):
            yield from self._complex()

    def _signs(self) -> Iterator[Point]:
        """Every combination of signs of up to four symbols, near and far; random beyond four."""
        count = min(1 << len(self.free), 16)
        for pattern in range(count):
            for reach, label in ((3, "near"), (40, "far")):
                values: dict[Name, Value] = {}
                for i, name in enumerate(self.free):
                    negative = pattern >> i & 1 if i < 4 else self.random.random() < 0.5
                    size = fmpq(abs(self._integer())) if self.is_integer(name) else self._generic(0, reach)
                    values[name] = -size if negative else size
                yield Point(values, f"{label}, signs {pattern}")

    def _counting(self) -> Iterator[Point]:
        """Whole numbers for symbols of which functions of whole numbers alone are taken, though nothing is assumed of them."""
        names = sorted(name for name in counting(self.expressions) if name in self.free and not self.is_integer(name))
        for i in range(len(SMALL) if names else 0):
            whole: dict[Name, Value] = {name: fmpq(SMALL[(i + j * (i + 1)) % len(SMALL)]) for j, name in enumerate(names)}
            yield Point({**{name: self._any_real(name) for name in self.free}, **whole}, "whole numbers")
        for name in names:
            for n in near_numbers([*self.expressions, *self.assumptions.conditions], name):
                values = {other: fmpq(SMALL[j]) if other in names else self._any_real(other) for j, other in enumerate(self.free[: len(SMALL)])}
                if len(values) == len(self.free):
                    yield Point({**values, name: fmpq(n)}, "whole numbers near those that stand there")

    def _along(self, name: Name, line: int) -> Iterator[Point]:
        """Cells along the line of one symbol, the others fixed at random."""
        others: dict[Name, Value] = {other: self._any_real(other) for other in self.free if other != name}
        label = f"along {name if isinstance(name, str) else 'C'}"
        if self.is_integer(name):
            env = Environment(others, constants=constants_of(others))
            for place in whole_places(self.critical, str(name), env):
                yield Point({**others, name: place}, f"{label}, at a special place", special=True)
            for n in near_numbers([*self.expressions, *self.assumptions.conditions], str(name)):
                yield Point({**others, name: fmpq(n)}, f"{label}, near numbers that stand there")
            for n in INTEGERS:
                yield Point({**others, name: fmpq(n)}, f"{label}, {'negative' if n < 0 else 'zero' if n == 0 else 'even' if n % 2 == 0 else 'odd'}")
            return
        env = Environment(others, constants=constants_of(others))
        ends = crossings(self.critical, name, env) if isinstance(name, str) else []
        if len(ends) > MAX_CELLS:
            ends = sorted(sorted(ends, key=abs)[:MAX_CELLS])
        if isinstance(name, str):
            yield from self._wrapping(name, others, env)
        ends = ends or [fmpq(0)]
        for end in ends:
            yield Point({**others, name: end}, f"{label}, at a special place", special=True)
        yield Point({**others, name: fmpq(0)}, f"{label}, zero", special=True)
        cells = [(None, ends[0]), *pairwise(ends), (ends[-1], None)]
        for number, (low, high) in enumerate(cells):
            for value, where in self._inside(low, high):
                yield Point({**others, name: value}, f"{label}, {where} cell {number} of line {line}")

    def _wrapping(self, name: str, others: dict[Name, Value], env: Environment) -> Iterator[Point]:
        """Round the complex zeros of critical expressions, and where periodic functions wrap."""
        real = self.is_real(name)
        for re, im in wrapping_places(self.expressions, name, env):
            if im == 0:
                yield Point({**others, name: re}, f"along {name}, beyond a period")
            elif not real:
                yield Point({**others, name: Gaussian(re, im)}, "complex, beyond a period", real=False)
        if real:
            return
        for re, im in complex_places(self.critical, name, env):
            size = 1 + abs(re) + abs(im)
            if im != 0:
                yield Point({**others, name: Gaussian(re, im)}, "complex, at a special place", special=True, real=False)
            for turn in range(4):
                step = size * self._generic(0, 1) / (3 if turn % 2 else 50)
                values = {**others, name: gaussian(re + step * (1, -1, 1, -1)[turn], im + step * (1, 1, -1, -1)[turn])}
                yield Point(values, "complex, round a special place", real=False)

    def _inside(self, low: fmpq | None, high: fmpq | None) -> list[tuple[fmpq, str]]:
        """In the middle of a cell, just inside its ends, and far out where it has no end."""
        if low is None or high is None:
            end, way = (high, -1) if high is not None else (low, 1)
            assert end is not None
            steps = (
                self._generic(0, 1),
                (1 + abs(end)) * self._generic(1, 4),
                self._generic(20, 60),
                self._generic(1, 4),
                fmpq(2 * self.random.randrange(1000, 9000) + 1, 2),
            )
            return [(end + way * step, "inside") for step in steps]
        width = high - low
        inner = fmpq(2 * self.random.randrange(GENERIC // 4, 3 * GENERIC // 4) + 1, 2 * GENERIC)
        near = ((fmpq(1, 2**30), "at the ends of"), (fmpq(1, 1024), "inside"))
        return [(low + width * inner, "inside"), *((end, where) for part, where in near for end in (low + width * part, high - width * part))]

    def _complex(self) -> Iterator[Point]:
        """Quadrants, both sides of the real axis, strips where exponentials wrap."""
        open_names = [name for name in self.free if not self.is_real(name)]
        for number, sides in enumerate(self.sides_of_cuts or []):
            values: dict[Name, Value] = {
                name: self._any_real(name) if self.is_real(name) else gaussian(self._generic(0, 3), self._generic(0, 3)) for name in self.free
            }
            yield Point(
                {**values, **sides}, f"complex, part {number} of what cuts part", real=all(isinstance(v, fmpq) for v in (*values.values(), *sides.values()))
            )
        strips = ((0, 3, "quadrants"), (4, 9, "strips beyond Pi"), (10, 15, "strips beyond 3 Pi"))
        for low, high, label in strips:
            for pattern in range(4 if low == 0 else 3):
                values = {name: self._any_real(name) for name in self.free}
                for i, name in enumerate(open_names):
                    re, im = self._generic(0, 3), self._generic(low, high)
                    turn = pattern if i == 0 else self.random.randrange(4)
                    values[name] = gaussian(-re if turn & 1 else re, -im if turn & 2 else im)
                yield Point(values, f"complex, {label}", real=False)
        for side in (1, -1):
            for way in (1, -1):
                values = {name: self._any_real(name) for name in self.free}
                for name in open_names:
                    values[name] = gaussian(way * self._generic(0, 6), side * fmpq(1, 512))
                yield Point(values, f"complex, {'above' if side > 0 else 'below'} the real axis", real=False)
        for side in (1, -1):
            values = {name: self._any_real(name) for name in self.free}
            for name in open_names:
                values[name] = Gaussian(fmpq(1, 512) * side, side * self._generic(1, 4))
            yield Point(values, "complex, near the imaginary axis", real=False)
            if not real_with(self.expressions, {name for name in open_names if isinstance(name, str)}):
                values = {name: Gaussian(fmpq(0), side * self._generic(2, 4)) if name in open_names else self._any_real(name) for name in self.free}
                yield Point(values, "complex, on the imaginary axis", real=False)

    # Values.

    def _integer(self) -> fmpq:
        return fmpq(self.random.choice((1, 2, 3, 4, 5, 6, 9)))

    def _generic(self, low: int, high: int) -> fmpq:
        return fmpq(2 * self.random.randrange(low * GENERIC // 2, high * GENERIC // 2) + 1, GENERIC)

    def _any_real(self, name: Name) -> fmpq:
        size = self._integer() if self.is_integer(name) else self._generic(0, 3)
        return size if self.random.random() < 0.6 else -size


def constants_of(values: dict[Name, Value]) -> dict[Tree, Value]:
    """The values of C[k] among those of a point."""
    return {key[1]: value for key, value in values.items() if isinstance(key, tuple) and key[0] == "C"}


def environment(point: Point, functions: dict[str, Tree] | None = None, printed: bool = False) -> Environment:
    """The environment that gives every symbol its value at the point."""
    return Environment(point.values, functions or {}, constants_of(point.values), printed)
