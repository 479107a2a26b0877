"""Whether an answer to a differential equation is one function across the places where its formula jumps: x^2 + UnitStep[x - 3] has
the derivative 2 x off 3, and is no solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..critical import JUMPING, isolated, substituted
from ..evaluation import Environment, evaluate
from ..sides import JUMPING as STEPS
from ..sides import resolved
from ..tree import Refused, Tree, free_symbols, is_call, replace, walk
from ..values import Undecided, complex_ball, is_number, precision
from .families import branchless
from .placed import NotPlaced, every_place

BITS = 256
STEP, GAP, WIDE = fmpq(1, 2**40), fmpq(1, 2**8), arb(2) ** -20  # places are known to about 2^-60
SAMPLES = ((fmpq(37, 64), fmpq(83, 64), fmpq(55, 64)), (fmpq(-29, 64), fmpq(111, 64), fmpq(-77, 64)))

Bodies = dict[str, tuple[Tree, int]]  # the function of x, and how many of its derivatives are determined


@dataclass(frozen=True)
class Answer:
    """nodes: the equations as expressions of name$order that are to be zero; tops: the symbols of the highest derivatives."""

    bodies: Bodies
    nodes: list[Tree]
    tops: list[str]
    x: str

    def unbroken(self) -> bool:
        jumping = any(is_call(part, *JUMPING) for node in self.nodes for part in walk(node))
        for body, _ in self.bodies.values():
            if branchless(body, {self.x}):
                continue
            if any(is_call(part, *JUMPING) for part in walk(body)) and not jumping:
                return False
            if not all(self._along(body, sample) for sample in SAMPLES):
                return False
        return True

    def jumps(self) -> bool:
        """Whether a function is seen to jump where the equations are regular."""
        for body, _ in self.bodies.values():
            if branchless(body, {self.x}):
                continue
            env, own = self._sampled(body, SAMPLES[0])
            try:
                if any(not self._fits(env, place) and self._bounded(env, place) for place in every_place(own, self.x)):
                    return True
            except (Refused, NotPlaced):
                continue
        return False

    def _sampled(self, body: Tree, sample: tuple[fmpq, ...]) -> tuple[Environment, Tree]:
        """Values of all symbols but x, and the body with these."""
        names = sorted(set().union(*(free_symbols(b) for b, _ in self.bodies.values())) - {self.x})
        values = {name: sample[i % len(sample)] + i // len(sample) for i, name in enumerate(names)}
        return Environment.of(values), substituted(body, dict(values))

    def _fits(self, env: Environment, place: fmpq) -> bool:
        budget.step()
        step = STEP * (1 + abs(place))
        return self._passes(env, place, step) or self._singular(env, place, step)

    def _bounded(self, env: Environment, place: fmpq) -> bool:
        """Whether the functions come to rest on both sides of a place: one that grows without bound ends there."""
        step = STEP * (1 + abs(place))
        with precision(BITS):
            for body, _ in self.bodies.values():
                for way in (-1, 1):
                    try:
                        near, next_to = (evaluate(body, env.having(self.x, place + way * s)) for s in (step, step * STEP))
                    except (Undecided, Refused):
                        return False
                    if not is_number(near) or not is_number(next_to):
                        return False
                    a, b = complex_ball(near), complex_ball(next_to)
                    if not abs(a - b) < arb(GAP) * (1 + abs(a)):
                        return False
        return True

    def _along(self, body: Tree, sample: tuple[fmpq, ...]) -> bool:
        env, own = self._sampled(body, sample)
        try:
            if any(is_call(part, *JUMPING) for part in walk(body)) and not isolated([body], []):
                return False
            return all(self._fits(env, place) for place in every_place(own, self.x))
        except (Refused, NotPlaced):
            return False

    def _derivatives(self) -> Iterator[tuple[str, Tree]]:
        """The functions and those of their derivatives that have to be continuous."""
        for name, (body, order) in self.bodies.items():
            for n in range(order):
                yield f"{name}${n}", differentiate(body, self.x, n) if n else body

    def _passes(self, env: Environment, place: fmpq, step: fmpq) -> bool:
        """Whether no function, and none of the derivatives that it has to have, is seen to jump at a place."""
        with precision(BITS):
            for _, node in self._derivatives():
                try:
                    left, right = (evaluate(node, env.having(self.x, place + way * step)) for way in (-1, 1))
                except Undecided:
                    return False
                if not is_number(left) or not is_number(right):
                    return False
                a, b = complex_ball(left), complex_ball(right)
                if not abs(a - b) < arb(GAP) * (1 + abs(a)):
                    return False
        return True

    def _singular(self, env: Environment, place: fmpq, step: fmpq) -> bool:
        """Whether the equations may be singular at a place, for the values that the answer has beside it. Where they jump there the
        formulas of both sides are looked at."""
        jumping = any(is_call(part, *STEPS) for node in self.nodes for part in walk(node))
        with precision(BITS):
            try:
                beside, box = env.having(self.x, place - step), env.having(self.x, arb(place, (arb(step) * 2).upper()))
                for name, node in self._derivatives():
                    value = evaluate(node, beside)
                    if not is_number(value):
                        return True
                    box = box.having(name, complex_ball(value) + arb(0, WIDE))
                if not jumping:
                    return self._unbounded(self.nodes, box)
                sides = [Environment({self.x: place + way * step}) for way in (-1, 1)]
                return any(self._unbounded([resolved(node, side) for node in self.nodes], box) for side in sides)
            except (Undecided, Refused):
                return not jumping

    def _unbounded(self, nodes: list[Tree], box: Environment) -> bool:
        """Whether the nodes or their derivatives by the highest derivatives may have no bound in a box, or these vanish."""
        for node in nodes:
            slopes = [differentiate(node, top) for top in self.tops]
            rest = node
            for top in self.tops:
                rest = replace(rest, top, 0)
            bounds = [evaluate(part, box) for part in (rest, *slopes)]
            if not all(is_number(bound) and complex_ball(bound).is_finite() for bound in bounds):
                return True
            if len(slopes) == 1 and is_number(bounds[1]) and complex_ball(bounds[1]).contains(0):
                return True
        return False
