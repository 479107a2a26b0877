"""Procedure "optimum": the point given is feasible and has the value given, and no feasible point that was found is better,
or, in one unknown, none is proved to be. A better point is looked for at rational places; that it is feasible and better is proved by enclosures."""

from __future__ import annotations

import random
from typing import Any

from flint import arb, fmpq

from .. import budget
from ..assumptions import flatten
from ..calculus import differentiate
from ..evaluation import Environment, evaluate, truth
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified, Witness
from ..machine import around, rounding
from ..normal import proves_zero
from ..parameters import Known
from ..tree import Real, Refused, Tree, arguments, free_symbols, is_call, minus, reals, replace, times, walk
from ..truth import order
from ..values import Kind, NonValue, Number, Undecided, Value, ball, complex_ball, exact, is_exact, is_number, precision, real_ball
from ..wording import apart, equation, show
from . import bounds, certified_optima, certified_optima_of_several, globally

BITS = 128
BITS_LOST = 47  # machine arithmetic is off by less than 2^-47 of the largest number it meets
ROUNDS = 12
DOMAINS = {
    "PositiveReals": "Greater",
    "NonNegativeReals": "GreaterEqual",
    "NegativeReals": "Less",
    "NonPositiveReals": "LessEqual",
    "PositiveIntegers": "Greater",
    "NonNegativeIntegers": "GreaterEqual",
}
CLOSED = {"Less": "LessEqual", "Greater": "GreaterEqual"}  # an infimum may lie on the edge
SCATTERED = 60
SLACK = fmpq(1, 10**5)  # by which decimals may miss a constraint or a value, relative to 1 + their size
GRID = [
    fmpq(0),
    fmpq(1),
    fmpq(-1),
    fmpq(1, 2),
    fmpq(-1, 2),
    fmpq(2),
    fmpq(-2),
    fmpq(3),
    fmpq(-3),
    fmpq(5),
    fmpq(-5),
    fmpq(10),
    fmpq(-10),
    fmpq(100),
    fmpq(-100),
]
# Far places, where something unbounded shows.
FAR = [fmpq(10) ** 4, -(fmpq(10) ** 4), fmpq(10) ** 9, -(fmpq(10) ** 9)]


def check(task: dict[str, Any], seed: int) -> Residual:
    if task.get("domain", "Reals") not in (*DOMAINS, "Reals", "Integers"):
        return Open("the domain")
    question = Question(task, seed)
    if free_symbols(question.objective) - set(question.names):
        return Open("parameters")
    with precision(BITS):
        return question.judge()


def closed(node: Tree) -> Tree:
    if node in CLOSED:
        return CLOSED[str(node)]
    return tuple(closed(part) for part in node) if isinstance(node, tuple) else node


class Question:
    def __init__(self, task: dict[str, Any], seed: int) -> None:
        self.objective, self.constraints, self.names = task["objective"], list(flatten(task["constraints"])), list(task["names"])
        self.integers = task.get("domain") in ("Integers", "PositiveIntegers", "NonNegativeIntegers")
        self.sense = -1 if task.get("maximise") else 1
        self.local, self.value, self.point = bool(task.get("local")), task.get("value"), task.get("point")
        self.decimal = bool(task.get("approximate")) or any(reals(part) for part in self.given())
        self.random = random.Random(seed)
        self.constraints += [(DOMAINS[task["domain"]], name, 0) for name in self.names if task.get("domain") in DOMAINS]
        for condition in self.constraints:
            if is_call(condition, "Element") and arguments(condition)[1] == "Integers":
                self.integers = True

    def given(self) -> list[Tree]:
        found = list((self.point or {}).values())
        return found if self.value is None else [*found, self.value]

    def judge(self) -> Residual:
        claimed = self.claimed()
        if isinstance(claimed, Refuted | Open):
            return claimed
        if self.local:
            near = self.no_extremum()
            return near or self.proved() or (Supported() if claimed is not None else Open("no value"))
        better = self.better(claimed)
        if better is not None:
            return better
        beyond = self.beyond(claimed)
        if beyond is not None:
            return beyond
        return self.proved() or (Supported() if claimed is not None and is_number(claimed) else Open("no bound"))

    def proved(self) -> Verified | None:
        """That the answer is the optimum."""
        if len(self.names) != 1:
            if self.integers or set(self.point or {}) != set(self.names):
                return None
            point = self.point or {}
            return budget.attempt(lambda: certified_optima_of_several.proof(self.objective, self.constraints, self.sense, self.value, point))
        name = self.names[0]
        found = certified_optima.Optimum(self.objective, self.constraints, name, self.sense, self.value, (self.point or {}).get(name))
        return certified_optima.proof(found, "Integers" if self.integers else "Reals", self.local)

    def beyond(self, claimed: Value) -> Refuted | None:
        """Whether the claimed optimum is better than the objective can be."""
        if self.never_reached(claimed):
            return Refuted(Statement(f"the objective stays away from {show(claimed)}, which is better than all its values", exact=False))
        bound = bounds.best(self.objective, self.names, bool(self.constraints), self.sense < 0)
        if bound is None or self.integers:
            return None
        try:
            found = order(self.as_computed(claimed), bound)
        except Undecided:
            return None
        if not isinstance(found, int) or found * self.sense >= 0:
            return None
        word = "below" if self.sense > 0 else "above"
        least, given, off = apart(bound, claimed)
        return Refuted(Statement(f"the objective is never {word} {least}, the answer gives {given}" + (f", which is off by {off}" if off else ""), exact=False))

    def as_computed(self, claimed: Value) -> Value:
        """The claimed value with what arithmetic with 53 bits may have lost of it, where the answer has decimals of that kind: relative
        to the value, and to the numbers of the objective, of which the value may be a small difference."""
        said = self.given() if self.value is None else [self.value]
        if not is_number(claimed) or not any(part.machine for node in said for part in reals(node)):
            return claimed
        scale = 1 + arb(complex_ball(claimed).abs_upper())
        for part in walk(self.objective):
            if isinstance(part, int | Real):
                scale += abs(arb(fmpq(part) if isinstance(part, int) else exact(part.value)))
        at: Known = {}
        try:
            at = {name: evaluate(tree) for name, tree in (self.point or {}).items()}
        except (Undecided, Refused):
            at = {}
        lost = rounding(self.objective, Environment(at)) if at else None
        spread = arb(complex_ball(lost).rad()) if lost is not None and is_number(lost) else arb(0)
        return around(claimed, (spread + scale * arb(2) ** -BITS_LOST).upper())

    def never_reached(self, claimed: Value) -> bool:
        """For one real unknown, constraints left aside: whether even without them nothing comes near the claimed value."""
        if len(self.names) != 1 or not is_number(claimed):
            return False
        real = ball(claimed).real * self.sense
        if self.decimal:
            real = real + arb(SLACK) * (1 + arb(real.abs_upper()))
        target = arb(real.upper()).fmpq()
        return globally.stays_above(times(self.sense, self.objective), self.names[0], target)

    def no_extremum(self) -> Refuted | None:
        """For a local optimum without constraints."""
        if self.constraints or self.point is None:
            return None
        at: dict[str, arb] = {}
        shown: Known = {}
        for name, node in self.point.items():
            try:
                value = evaluate(node, Environment(printed=True))
            except (Undecided, Refused):
                return None
            real = real_ball(value) if is_number(value) else None
            if real is None:
                return None
            at[name] = shown[name] = real
        why = globally.no_extremum_near(self.objective, at, self.sense)
        return None if why is None else Refuted(Statement(f"at {self.words(shown)} there is no extremum of this kind: {why}", exact=False))

    def claimed(self) -> Value | Refuted | Open:
        """The value that is claimed: that of the point, where it agrees."""
        try:
            value = None if self.value is None else evaluate(self.value, Environment(printed=True))
        except (Undecided, Refused) as problem:
            return Open(str(problem))
        if isinstance(value, tuple | bool):
            return Open("no value")
        if self.point is None:
            return value if value is not None else Open("no value")
        if isinstance(value, NonValue):
            return self.infinite_at_point(value)
        try:
            at: Known = {name: evaluate(tree, Environment(printed=True)) for name, tree in self.point.items()}
        except (Undecided, Refused) as problem:
            return Open(str(problem))
        if set(at) != set(self.names) or not all(is_number(x) for x in at.values()):
            return Open("no point")
        if self.integers and any(isinstance(x, fmpq) and x.q != 1 for x in at.values()):
            return Refuted(Statement(f"the point is not of integers: {self.words(at)}"))
        for condition in self.constraints:
            if self.violated(condition, at):
                return Refuted(Statement("the point does not meet " + str(condition[0]) + f" of the constraints: {self.words(at)}", exact=False))  # type: ignore[index]
        try:
            there = evaluate(self.objective, Environment(at))
        except Undecided:
            return Open("the objective at the point")
        if not is_number(there):
            return Open("the objective at the point")
        if value is None:
            return there
        if self.decimal:
            there_wide = self.loose(there)
            return value if complex_ball(there_wide).overlaps(complex_ball(value)) else Refuted(Witness(there, value, at))
        if not complex_ball(there).overlaps(complex_ball(value)) or (is_exact(there) and is_exact(value) and there != value):
            return Refuted(Witness(there, value, at))
        return value

    def infinite_at_point(self, value: NonValue) -> Value | Refuted:
        """An infinity is no value at a place where the objective is a number."""
        try:
            at: Known = {name: evaluate(tree, Environment(printed=True)) for name, tree in (self.point or {}).items()}
            there = evaluate(self.objective, Environment(at))
        except (Undecided, Refused):
            return value
        placed = set(at) == set(self.names) and all(is_number(x) for x in at.values()) and is_number(there)
        return Refuted(Witness(there, value, at)) if placed and value.kind is Kind.INFINITY else value

    def loose(self, value: Number) -> Number:
        real = ball(value).real
        return arb(real.mid(), (arb(real.rad()) + arb(SLACK) * (1 + arb(real.abs_upper()))).upper())

    def words(self, at: Known) -> str:
        return ", ".join(equation(str(name), value) for name, value in sorted(at.items(), key=str))

    def violated(self, condition: Tree, at: Known) -> bool:
        """Proved not to hold; for decimals by more than they may be off."""
        try:
            if not self.decimal:
                return truth(closed(condition), Environment(at)) is False
            parts = arguments(condition)
            if is_call(condition, "And", "List"):
                return any(self.violated(part, at) for part in parts)
            if not is_call(condition, "Less", "LessEqual", "Greater", "GreaterEqual", "Equal") or len(parts) != 2:
                return False
            value = evaluate(minus(*parts), Environment(at))
            size = evaluate(parts[1], Environment(at))
            if not is_number(value) or not is_number(size):
                return False
            real, room = ball(value).real, arb(SLACK) * (1 + arb(complex_ball(size).abs_upper()))
            if is_call(condition, "Less", "LessEqual"):
                return bool(real > room)
            if is_call(condition, "Greater", "GreaterEqual"):
                return bool(real < -room)
            return bool(abs(real) > room)
        except (Undecided, Refused, AttributeError):
            return False

    def feasible(self, at: Known) -> bool:
        try:
            return all(truth(condition, Environment(at)) is True for condition in self.constraints)
        except Undecided:
            return False

    def height(self, at: Known) -> arb | None:
        """The objective, turned so that less is better."""
        try:
            value = evaluate(self.objective, Environment(at))
            real = real_ball(value) if is_number(value) else None
        except Undecided:
            return None
        return None if real is None else real * self.sense

    def better(self, claimed: Value) -> Refuted | None:
        bound: arb | None
        if isinstance(claimed, NonValue):
            if claimed.kind is not Kind.INFINITY or claimed.direction != self.sense:
                return None
            bound = None  # the claim is that nothing is feasible
        elif is_number(claimed):
            real = ball(claimed).real * self.sense
            bound = real - arb(SLACK) * (1 + arb(real.abs_upper())) if self.decimal else real
        else:
            return None
        for at in self.on_equation(self.candidates(claimed)):
            budget.step()
            if not self.feasible(at):
                continue
            height = self.height(at)
            if height is None:
                continue
            if bound is None or height < bound:
                return Refuted(
                    Statement(f"at {self.words(at)} the objective is {show(evaluate(self.objective, Environment(at)))}, which is better", exact=False)
                )
        return None

    def on_equation(self, found: list[Known]) -> list[Known]:
        """Places moved onto the one equation among the constraints, where that is linear in some unknown."""
        equations = [c for c in self.constraints if is_call(c, "Equal") and len(arguments(c)) == 2]
        if len(equations) != 1:
            return found
        difference = minus(*arguments(equations[0]))
        for name in self.names:
            slope, rest = differentiate(difference, name), replace(difference, name, 0)
            if not proves_zero(differentiate(difference, name, 2)):
                continue
            moved: list[Known] = []
            for at in found:
                try:
                    a, b = evaluate(slope, Environment(at)), evaluate(rest, Environment(at))
                except (Undecided, Refused):
                    continue
                if isinstance(a, fmpq) and isinstance(b, fmpq) and a != 0:
                    moved.append({**at, name: -b / a})
            return moved + found
        return found

    def candidates(self, claimed: Value) -> list[Known]:
        """Rational places: a grid, scattered ones, and what descent from the best of them finds."""
        values = [x for x in GRID if x.q == 1] if self.integers else GRID
        found: list[Known] = []
        if len(self.names) == 1:
            extra = [fmpq(i) for i in range(-30, 31)] if self.integers else [fmpq(i, 8) for i in range(-64, 65)]
            found = [{self.names[0]: x} for x in (*values, *extra, *FAR)]
        else:
            for x in values[:9]:
                for y in values[:9]:
                    found.append({name: x if i % 2 == 0 else y for i, name in enumerate(self.names)})
            found += [dict.fromkeys(self.names, x) for x in FAR]
            for _ in range(SCATTERED):
                found.append({name: self.scattered() for name in self.names})
        found += self.around_claim()
        ranked = [(height, i) for i, at in enumerate(found) if self.feasible(at) and (height := self.height(at)) is not None]
        ranked.sort(key=lambda pair: float(pair[0].mid()) if abs(pair[0]) < arb(10) ** 300 else 0.0)
        for _, i in ranked[:3]:
            found.append(self.descended(found[i]))
        return found

    def scattered(self) -> fmpq:
        return fmpq(self.random.randint(-12, 12)) if self.integers else fmpq(self.random.randint(-320, 320), 64)

    def around_claim(self) -> list[Known]:
        """Next to the point that is given."""
        found: list[Known] = []
        for tree in (self.point or {}).values():
            if free_symbols(tree):
                return []
        try:
            center = {name: evaluate(tree) for name, tree in (self.point or {}).items()}
        except (Undecided, Refused):
            return []
        for i, _name in enumerate(self.names):
            for step in (fmpq(1), fmpq(-1), fmpq(1, 8), fmpq(-1, 8), fmpq(1, 100), fmpq(-1, 100)):
                if self.integers and step.q != 1:
                    continue
                at: Known = {}
                for j, other in enumerate(self.names):
                    value = center.get(other)
                    if value is None or not is_number(value):
                        return []
                    near = value if isinstance(value, fmpq) else ball(value).real.mid().fmpq()
                    at[other] = near + step if j == i else near
                found.append(at)

        return found

    def descended(self, start: Known) -> Known:
        at, best = dict(start), self.height(start)
        step = fmpq(1)
        for _ in range(ROUNDS):
            moved = False
            for name in self.names:
                for way in (step, -step):
                    value = at[name]
                    if not isinstance(value, fmpq):
                        continue
                    trial = {**at, name: value + way}
                    height = self.height(trial) if self.feasible(trial) else None
                    if height is not None and best is not None and height < best:
                        at, best, moved = trial, height, True
                        break
            if not moved:
                if self.integers:
                    break
                step = step / 4
        return at
