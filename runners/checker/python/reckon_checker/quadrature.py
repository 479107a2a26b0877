"""Enclosures of integrals over one real range: acb.integral (Johansson 2018) inside, expansions with bounded remainders next
to the ends and to places where the integrand is not bounded."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from flint import acb, arb, ctx

from . import budget, tails
from .evaluation import evaluate
from .expanding import expand, towards
from .expansion import VARIABLE, Expander
from .integrand import Integrand
from .stops import periods, stops
from .tails import Divergent
from .tree import Tree, plus, power
from .values import INFINITY, MINUS_INFINITY, Undecided, Value, complex_ball, is_number, real_ball

WIDEST = arb(10) ** -7  # of an enclosure that is of use
NARROW = arb(10) ** -26
FINE_BITS = 192
STARTS = (3, 5, 7, 10, 14)
MAX_PIECES = 300
BOTH_WAYS = "one part of the integral grows to Infinity and another to -Infinity"
EVALUATIONS = 3000
FINE_EVALUATIONS = 1500  # a second look is not to cost more than the first
FINE_START = 5


def total(integrand: Tree, name: str, ends: list[Tree], goal: arb) -> acb:
    """Over one range, or along the places it is to go through."""
    found, together = acb(0), Together()
    for a, b in itertools.pairwise(ends):
        found += together.add(lambda a=a, b=b: between(integrand, name, a, b, goal))  # type: ignore[misc]
    together.conclude()
    return found


def backwards(integrand: Tree, name: str, low: Tree, high: Tree, goal: arb) -> acb:
    try:
        return -between(integrand, name, low, high, goal)
    except Divergent as proof:
        raise Divergent(-proof.sign, proof.why, proof.both) from proof


def between(integrand: Tree, name: str, low: Tree, high: Tree, goal: arb = WIDEST) -> acb:
    """The integral from low to high."""
    a, b = evaluate(low), evaluate(high)
    if a == INFINITY or b == MINUS_INFINITY:
        return backwards(integrand, name, high, low, goal)
    if is_number(a) and is_number(b):
        x, y = real_ball(a), real_ball(b)
        if x is None or y is None:
            f = Integrand(integrand, name)
            return integrated(f, complex_ball(a), complex_ball(b))
        if x > y:
            return backwards(integrand, name, high, low, goal)
        if (x - y).is_zero() or low == high:
            return acb(0)
    turns = periods(integrand, name, low, high)
    if turns is not None:
        return turns[1] * between(integrand, name, low, plus(low, turns[0]), goal)
    points: list[Tree] = [low, *stops(integrand, name, a, b), high]
    if len(points) > MAX_PIECES:
        raise Undecided("too many pieces")
    f = Integrand(integrand, name)
    total, together = acb(0), Together()
    for p, q in itertools.pairwise(points):
        total += together.add(lambda p=p, q=q: piece(f, p, q, goal))  # type: ignore[misc]
    together.conclude()
    return total


class Together:
    """Parts of one integral: where one diverges it has no finite value, and where all that do go one way, and the others are
    finite, it is that infinity."""

    def __init__(self) -> None:
        self.divergent: list[Divergent] = []
        self.unknown: Exception | None = None

    def add(self, part: Callable[[], acb]) -> acb:
        try:
            return part()
        except Divergent as proof:
            self.divergent.append(proof)
        except Undecided as problem:
            self.unknown = problem
        return acb(0)

    def conclude(self) -> None:
        if self.divergent:
            signs = {proof.sign for proof in self.divergent}
            if {1, -1} <= signs or any(proof.both for proof in self.divergent):
                raise Divergent(0, BOTH_WAYS, both=True)
            raise Divergent(signs.pop() if len(signs) == 1 and self.unknown is None else 0, self.divergent[0].why)
        if self.unknown is not None:
            raise self.unknown


def piece(f: Integrand, low: Tree, high: Tree, goal: arb) -> acb:
    """Between two stops: directly where that works, else with expansions at the ends."""
    a, b = evaluate(low), evaluate(high)
    left = right = (acb(0), arb(0))
    together = Together()
    if is_number(a) and is_number(b):
        whole = integrated(f, complex_ball(a), complex_ball(b))
        if whole.is_finite() and whole.rad() < goal / 100:
            return whole
    if not is_number(a) and not is_number(b):
        raise Undecided("the ends")

    def near(end: Tree, side: int, other: Value, here: Value) -> Callable[[], acb]:
        def part() -> acb:
            nonlocal left, right
            found = end_part(f, (end, here), side, other, goal) if is_number(here) else far_part(f, end, other, goal)
            if side > 0:
                left = found
            else:
                right = found
            return acb(0)

        return part

    together.add(near(low, 1, b, a))
    together.add(near(high, -1, a, b))
    together.conclude()
    middle = integrated(f, acb(left[1]), acb(right[1]))
    if not middle.is_finite():
        raise Undecided("the middle")
    return left[0] + middle + right[0]


def integrated(f: Integrand, a: acb, b: acb) -> acb:
    budget.step()
    exact = a.rad() == 0 and b.rad() == 0
    width = b - a
    path = f if exact else lambda t, flag: width * f(a + t * width, flag)  # ends that are balls: from 0 to 1 instead
    bits = 70 if ctx.prec < FINE_BITS else 110
    found = acb.integral(
        path,
        a if exact else acb(0),
        b if exact else acb(1),
        eval_limit=EVALUATIONS if ctx.prec < FINE_BITS else FINE_EVALUATIONS,
        rel_tol=arb(2) ** -bits,
        abs_tol=arb(2) ** -(bits + 10),
    )
    if f.refused is not None:
        raise f.refused
    return found


def end_part(f: Integrand, end: tuple[Tree, Value], side: int, other: Value, goal: arb) -> tuple[acb, arb]:
    """The integral next to a finite end, and where it stops."""
    point, here = end
    at = complex_ball(here).real  # type: ignore[arg-type]
    room = abs(complex_ball(other).real - at) / 3 if is_number(other) else arb(1)
    probe = at + side * room * arb(2) ** -6
    direct = integrated(f, acb(at), acb(probe)) if side > 0 else integrated(f, acb(probe), acb(at))
    if direct.is_finite() and direct.rad() < goal / 100:
        return direct, probe

    def value(on: Expander) -> acb:
        germ = on.times(expand(towards(f.original, f.name, point, side), on), expand(power(VARIABLE, -2), on))
        return tails.integral(germ, on)

    return best([s for s in STARTS if 1 / arb(2) ** s < room], value, lambda n: at + side / n, goal)


def far_part(f: Integrand, point: Tree, other: Value, goal: arb) -> tuple[acb, arb]:
    """The integral far out, and where it begins."""

    def value(on: Expander) -> acb:
        return tails.integral(expand(towards(f.original, f.name, point, 1), on), on)

    near = complex_ball(other).real  # type: ignore[arg-type]
    starts = [s for s in (*STARTS[1:], 22) if arb(2) ** s > abs(near) + 1]
    return best(starts, value, lambda n: n if point == "Infinity" else -n, goal)


def best(starts: list[int], value: Callable[[Expander], acb], place: Callable[[arb], arb], goal: arb) -> tuple[acb, arb]:
    """The first enclosure that is as narrow as wanted, else the narrowest that is narrow enough for anything."""
    problem: Exception = Undecided("the end")
    found: tuple[acb, arb] | None = None
    for start in starts:
        n = arb(2) ** start
        if goal < WIDEST and start < FINE_START:
            continue
        for terms in (6, 14) if goal >= WIDEST else (14,):
            try:
                one = value(Expander(n, terms))
            except Undecided as undecided:
                problem = undecided
                continue
            if one.is_finite() and one.rad() < WIDEST and (found is None or one.rad() < found[0].rad()):
                found = one, place(n)
            if found is not None and found[0].rad() < goal:
                return found
    if found is None:
        raise problem
    return found
