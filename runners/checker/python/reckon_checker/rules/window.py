"""Equations in one real unknown that no algebra solves: zeros isolated on an interval by enclosures of the function and of its
derivative. Complete where the conditions bound the unknown; without bounds only zeros that the answer leaves out are looked for.
"""

from __future__ import annotations

import itertools

from flint import arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..findings import Refuted, Residual, Statement
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus
from ..values import Number, Undecided, complex_ball, is_number, precision, real_ball
from .candidates import ORDERS, Candidate, bounded, holds_at
from .problem import Problem, one_to_one, spelled, values_of
from .real_values import restricted

REACH = 24  # how far zeros are looked for without bounds
MAX_PIECES = 3000
DEPTH = 26
BITS = 64


class Unresolved(Exception):
    """Somewhere it is not known whether there is a zero."""


def check(problem: Problem) -> Residual | None:
    """None where this says nothing."""
    name = problem.unknowns[0]
    if len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2 or any(s.integers or s.loose for s in problem.solutions):
        return None
    if problem.domain != "Reals" and not bounded(problem.others, problem.unknowns):
        return None
    function = minus(*arguments(problem.equations[0]))
    low, high = bounds(problem.others, name)
    complete = low is not None and high is not None
    with precision(BITS):
        zeros = Zeros(function, name)
        try:
            found = zeros.between(low if low is not None else fmpq(-REACH) - fmpq(1, 7), high if high is not None else fmpq(REACH) + fmpq(1, 7))
        except Refused:
            return None
    if complete and not zeros.unresolved:
        return one_to_one(problem, lambda bits: zeros.candidates(found, problem, bits))
    return left_out(problem, restricted(problem.equations, problem.domain, zeros.candidates(found, problem, 192)), 192) if problem.complete else None


def left_out(problem: Problem, found: list[Candidate], bits: int) -> Refuted | None:
    """A zero that the answer does not have."""
    with precision(bits):
        try:
            given = [values_of(s, problem.unknowns) for s in problem.solutions]
        except Undecided:
            return None
        values = [v for v in given if isinstance(v, dict)]
        for one in found:
            if one.admissible and not any(all(complex_ball(v[n]).overlaps(complex_ball(one.values[n])) for n in v) for v in values):
                return Refuted(Statement(f"{spelled(one.values)} is a solution and not in the answer", exact=False))
    return None


def bounds(others: list[Tree], name: str) -> tuple[fmpq | None, fmpq | None]:
    """Rational bounds of an unknown, a little outside those that the conditions state."""
    low: list[fmpq] = []
    high: list[fmpq] = []
    for other in others:
        parts = list(arguments(other))
        if is_call(other, "Inequality"):
            triples = [(parts[i], str(parts[i + 1]), parts[i + 2]) for i in range(0, len(parts) - 2, 2)]
        elif is_call(other, *ORDERS):
            triples = [(a, str(other[0]), b) for a, b in itertools.pairwise(parts)]  # type: ignore[index]
        elif is_call(other, "And"):
            inner = bounds(parts, name)
            low, high = low + [b for b in inner[:1] if b is not None], high + [b for b in inner[1:] if b is not None]
            continue
        else:
            continue
        for first, head, second in triples:
            if not head.startswith(("Greater", "Less")):
                continue
            a, b = (first, second) if head.startswith("Less") else (second, first)
            for end, side, ends, way in ((a, b, low, -1), (b, a, high, 1)):
                value = number(end) if side == name and not free_symbols(end) else None
                if value is not None:
                    ends.append(value + way * fmpq(1, 997))
    return (max(low) if low else None), (min(high) if high else None)


def number(node: Tree) -> fmpq | None:
    with precision(BITS):
        try:
            value = evaluate(node)
        except (Undecided, Refused):
            return None
        if isinstance(value, fmpq):
            return value
        return arb(value.mid()).fmpq() if isinstance(value, arb) and abs(value) < 10**9 else None


class Zeros:
    """Simple zeros of a function on the real line."""

    def __init__(self, function: Tree, name: str) -> None:
        self.function, self.name = function, name
        self.slope = differentiate(function, name)
        self.unresolved = False
        self.pieces = 0

    def enclosure(self, node: Tree, x: Number) -> arb | None:
        """The values over a ball; None where they are not known to be real and finite."""
        try:
            value = evaluate(node, Environment({self.name: x}))
            real = real_ball(value) if is_number(value) else None
        except Undecided:
            return None
        return real if isinstance(real, arb) else None

    def no_zero(self, x: arb) -> bool:
        try:
            value = evaluate(self.function, Environment({self.name: x}))
        except Undecided:
            return False
        return is_number(value) and not complex_ball(value).contains(0)

    def between(self, low: fmpq, high: fmpq) -> list[tuple[fmpq, fmpq]]:
        """Intervals that hold exactly one zero each."""
        found: list[tuple[fmpq, fmpq]] = []
        if low >= high:
            return found
        steps = 24
        width = (high - low) / steps
        pending = [(low + i * width, low + (i + 1) * width, 0) for i in reversed(range(steps))]
        while pending:
            a, b, depth = pending.pop()
            budget.step()
            self.pieces += 1
            x = arb((a + b) / 2, arb((b - a) / 2))
            if self.no_zero(x):
                continue
            value = self.enclosure(self.function, x)
            slope = self.enclosure(self.slope, x) if value is not None else None
            if slope is not None and not slope.contains(0):
                ends = [self.enclosure(self.function, end) for end in (a, b)]
                if all(end is not None and not end.contains(0) for end in ends):
                    if (ends[0] > 0) != (ends[1] > 0):  # type: ignore[operator]
                        found.append((a, b))
                    continue
            if depth >= DEPTH or self.pieces > MAX_PIECES or (self.pieces > 400 and depth > 12):
                self.unresolved = True
                continue
            middle = a + (b - a) * fmpq(499, 1000)
            pending += [(middle, b, depth + 1), (a, middle, depth + 1)]
        return found

    def refined(self, low: fmpq, high: fmpq, bits: int) -> arb:
        """The zero between two places as a ball, by interval Newton steps."""
        x = arb((low + high) / 2, arb((high - low) / 2))
        for _ in range(200):
            budget.step()
            middle = arb(x.mid())
            value, slope = self.enclosure(self.function, middle), self.enclosure(self.slope, x)
            if value is None or slope is None or slope.contains(0):
                break
            newton = middle - value / slope
            if not newton.overlaps(x):
                raise Unresolved
            closer = newton.intersection(x)
            if arb(closer.rad()) * 2 > arb(x.rad()):
                x = closer
                break
            x = closer
        return x

    def candidates(self, intervals: list[tuple[fmpq, fmpq]], problem: Problem, bits: int) -> list[Candidate]:
        with precision(bits):
            values: list[dict[str, Number]] = [{self.name: self.refined(a, b, bits)} for a, b in intervals]
            found = []
            for one in values:
                holds = [holds_at(other, one, problem.equations, values) for other in problem.others]
                found.append(Candidate(one, False if False in holds else None if None in holds else True, True))
            return found
