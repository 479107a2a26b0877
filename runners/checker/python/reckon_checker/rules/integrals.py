"""Procedure "integral": definite integrals by enclosures: acb.integral (Johansson 2018) inside, expansions with bounded
remainders next to the ends and to places where the integrand is not bounded."""

from __future__ import annotations

import itertools
from typing import Any

from flint import acb, arb, fmpq

from .. import budget, tails
from ..critical import critical, crossings, substituted
from ..evaluation import EMPTY, Environment, evaluate
from ..expanding import expand, towards
from ..expansion import VARIABLE, Expander
from ..findings import Open, Refuted, Sampled, Statement, Supported, Witness
from ..integrand import Integrand
from ..parameters import DIVERGES, Known, conditions_of, named, sampled
from ..tails import Divergent
from ..tree import Refused, Tree, free_symbols, power, rational, reals, times
from ..values import (
    INFINITY,
    MINUS_INFINITY,
    Kind,
    NonValue,
    Number,
    Undecided,
    Value,
    complex_ball,
    is_number,
    precision,
    real_ball,
    settled,
)
from . import exact_integrals, identities

BITS = (96, 160)
STARTS = (3, 5, 7, 10, 14)
MAX_PIECES = 24
EVALUATIONS = 3000


def check(task: dict[str, Any], seed: int) -> Sampled:
    integrand, ranges, answer = task["integrand"], task["ranges"], task["answer"]
    if task.get("principal_value"):
        return Open("principal values are not decided")
    if all(len(one) == 3 for one in ranges) and not reals(answer) and not reals(integrand):
        exactly = exact_integrals.exact(integrand, [(one[0], one[1], one[2]) for one in ranges])
        if exactly is not None:
            return identities.sampled({"claims": [(exactly, answer)], "assumptions": task.get("assumptions")}, seed)
    if len(ranges) > 1:
        return iterated(task, seed)
    name, *ends = ranges[0]
    names = free_symbols(integrand) - {name} | free_symbols(answer)
    for end in ends:
        names |= free_symbols(end)
    if name in free_symbols(answer) and not any(name in free_symbols(end) for end in ends):
        return Refuted(Statement(f"the answer depends on {name}"))
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)
    if any(name in free_symbols(end) for end in ends):
        fresh = name + "$bound"
        integrand, name = renamed(integrand, name, fresh), fresh

    def look(values: Known) -> Sampled:
        known = named(values)
        return definite(substituted(integrand, known), name, [substituted(end, known) for end in ends], values, task)

    return sampled(names, [answer, *ends], conditions, seed, look)


def renamed(tree: Tree, name: str, fresh: str) -> Tree:
    if tree == name:
        return fresh
    return tuple(renamed(part, name, fresh) for part in tree) if isinstance(tree, tuple) else tree


def definite(integrand: Tree, name: str, ends: list[Tree], values: Known, task: dict[str, Any]) -> Sampled:
    found: Sampled = Open("no enclosure")
    answer = task["answer"]
    for bits in BITS:
        budget.look()
        with precision(bits):
            try:
                true: Value = settled(sum((between(integrand, name, a, b) for a, b in itertools.pairwise(ends)), acb(0)))
            except Divergent as proof:
                return diverges(proof, answer, values)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError) as problem:
                found = Open("no enclosure: " + str(problem)[:80])
                continue
            found = against(true, answer, values, task)
            if isinstance(found, Refuted | Supported):
                return found
    return found


def against(true: Value, answer: Tree, values: Known, task: dict[str, Any]) -> Sampled:
    """Decimals of a numerical integral may be off by what its method promises: half of the digits of machine numbers."""
    given = evaluate(answer, Environment(values, printed=True))
    if not is_number(true):
        return Open("no enclosure")
    if isinstance(given, NonValue):
        if given.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) or given.kind is Kind.INDETERMINATE:
            return Refuted(Witness(true, given, dict(values), note="the integral converges"))
        return Open("no value to compare")
    if not is_number(given):
        return Open("no value to compare")
    shown: Number = true
    if task.get("approximate") or reals(answer):
        true = loose(true, int(task.get("digits") or 0))
    if not complex_ball(true).overlaps(complex_ball(given)):
        return Refuted(Witness(shown, given, dict(values)))
    z = complex_ball(shown)
    radius, size = arb(z.rad()), arb(z.abs_upper())
    return Supported() if radius < arb(10) ** -6 * (size + arb(10) ** -6) else Open("the enclosure is too wide")


def loose(value: Number, digits: int) -> Number:
    z = complex_ball(value)
    relative = arb(10) ** (2 - digits) if digits > 16 else arb(10) ** -8
    radius = arb((arb(z.abs_upper()) * relative + (arb(10) ** -10 if digits <= 16 else arb(0))).upper())
    return acb(arb(z.real.mid(), (arb(z.real.rad()) + radius).upper()), arb(z.imag.mid(), (arb(z.imag.rad()) + radius).upper()))


def diverges(proof: Divergent, answer: Tree, values: Known) -> Sampled:
    if values:
        return DIVERGES
    with precision(128):
        try:
            given = evaluate(answer, Environment(dict(values), printed=True))
        except (Undecided, Refused):
            return Open("no value to compare")
    if is_number(given):
        return Refuted(Statement(proof.why, exact=False))
    if isinstance(given, NonValue):
        wrong_way = (given == INFINITY and proof.sign < 0) or (given == MINUS_INFINITY and proof.sign > 0)
        return Open("the sign of the infinity") if wrong_way else Supported()
    return Open("no value to compare")


def between(integrand: Tree, name: str, low: Tree, high: Tree) -> acb:
    """The integral from low to high."""
    a, b = evaluate(low), evaluate(high)
    if a == INFINITY or b == MINUS_INFINITY:
        return -between(integrand, name, high, low)
    if is_number(a) and is_number(b):
        x, y = real_ball(a), real_ball(b)
        if x is None or y is None:
            f = Integrand(integrand, name)
            return integrated(f, complex_ball(a), complex_ball(b))
        if x > y:
            return -between(integrand, name, high, low)
        if (x - y).is_zero() or low == high:
            return acb(0)
    stops = breaks(integrand, name, a, b)
    points: list[Tree] = [low, *(rational(int(s.p), int(s.q)) for s in stops), high]
    if len(points) > MAX_PIECES:
        raise Undecided("too many pieces")
    f = Integrand(integrand, name)
    return sum((piece(f, p, q) for p, q in itertools.pairwise(points)), acb(0))


def breaks(integrand: Tree, name: str, a: Value, b: Value) -> list[fmpq]:
    """Rational places inside where the integrand may not be analytic."""
    found: list[fmpq] = []
    for x in crossings(critical([integrand]), name, EMPTY):
        low = is_number(a) and not complex_ball(a).real < arb(x)
        high = is_number(b) and not complex_ball(b).real > arb(x)
        if not low and not high:
            found.append(x)
    if not found and not is_number(a) and not is_number(b):
        return [fmpq(0)]
    return found


def piece(f: Integrand, low: Tree, high: Tree) -> acb:
    """Between two breaks: directly where that works, else with expansions at the ends."""
    a, b = evaluate(low), evaluate(high)
    if is_number(a) and is_number(b):
        whole = integrated(f, complex_ball(a), complex_ball(b))
        if whole.is_finite() and whole.rad() < 1e-9:
            return whole
        left, start = end_part(f, low, 1, b, a)
        right, stop = end_part(f, high, -1, a, b)
    elif is_number(a):
        left, start = end_part(f, low, 1, b, a)
        right, stop = far_part(f, "Infinity", start)
    elif is_number(b):
        right, stop = end_part(f, high, -1, a, b)
        left, start = far_part(f, times(-1, "Infinity"), stop)
    else:
        raise Undecided("the ends")
    middle = integrated(f, acb(start), acb(stop))
    if not middle.is_finite():
        raise Undecided("the middle")
    return left + middle + right


def integrated(f: Integrand, a: acb, b: acb) -> acb:
    budget.look()
    exact = a.rad() == 0 and b.rad() == 0
    width = b - a
    path = f if exact else lambda t, flag: width * f(a + t * width, flag)  # ends that are balls: from 0 to 1 instead
    found = acb.integral(path, a if exact else acb(0), b if exact else acb(1), eval_limit=EVALUATIONS, rel_tol=arb(2) ** -70, abs_tol=arb(2) ** -80)
    if f.refused is not None:
        raise f.refused
    return found


def end_part(f: Integrand, point: Tree, side: int, other: Value, here: Value) -> tuple[acb, arb]:
    """The integral next to a finite end, and where it stops."""
    at = complex_ball(here).real  # type: ignore[arg-type]
    room = abs(complex_ball(other).real - at) / 3 if is_number(other) else arb(1)
    probe = at + side * room * arb(2) ** -6
    direct = integrated(f, acb(at), acb(probe)) if side > 0 else integrated(f, acb(probe), acb(at))
    if direct.is_finite() and direct.rad() < 1e-9:
        return direct, probe
    problem: Exception = Undecided("the end")
    for start in STARTS:
        n = arb(2) ** start
        if not 1 / n < room:
            continue
        for terms in (6, 14):
            try:
                on = Expander(n, terms)
                germ = on.times(expand(towards(f.original, f.name, point, side), on), expand(power(VARIABLE, -2), on))
                value = tails.integral(germ, on)
            except Undecided as undecided:
                problem = undecided
                continue
            if value.is_finite() and value.rad() < 1e-7:
                return value, at + side / n
    raise problem


def far_part(f: Integrand, point: Tree, near: arb) -> tuple[acb, arb]:
    """The integral far out, and where it begins."""
    problem: Exception = Undecided("the tail")
    for start in (*STARTS[1:], 22):
        n = arb(2) ** start
        if not n > abs(near) + 1:
            continue
        for terms in (6, 14):
            try:
                on = Expander(n, terms)
                value = tails.integral(expand(towards(f.original, f.name, point, 1), on), on)
            except Undecided as undecided:
                problem = undecided
                continue
            if value.is_finite() and value.rad() < 1e-7:
                return value, n if point == "Infinity" else -n
    raise problem


INNER_TOLERANCE = 40  # bits of inner integrals


def iterated(task: dict[str, Any], seed: int) -> Sampled:
    """Several ranges, the first one outermost. Its ends are free of all variables, later ones may use those before them."""
    body, answer = task["integrand"], task["answer"]
    ranges: list[tuple[str, Tree, Tree]] = []
    if any(len(r) != 3 for r in task["ranges"]):
        return Open("stops in several dimensions")
    pending = [tuple(r) for r in task["ranges"]]
    names: set[str] = set()
    for i in range(len(pending)):
        name, low, high = pending[i]
        fresh = f"{name}$bound{i}"
        names |= free_symbols(low) | free_symbols(high)
        ranges.append((fresh, low, high))
        body = renamed(body, name, fresh)
        pending[i + 1 :] = [(n, renamed(a, name, fresh), renamed(b, name, fresh)) for n, a, b in pending[i + 1 :]]
    bound = {name for name, _, _ in ranges}
    names = (names | free_symbols(body)) - bound | free_symbols(answer)
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)

    def look(values: Known) -> Sampled:
        known = named(values)
        spans = [(n, substituted(a, known), substituted(b, known)) for n, a, b in ranges]
        with precision(64):
            try:
                f = Integrand(substituted(body, known), spans[-1][0])
                ends = [Integrand(end, name) for name, a, b in spans for end in (a, b)]
                true = settled(nested(f, ends, [name for name, _, _ in spans], {}, True))
                return against(true, answer, values, task)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError, TypeError) as problem:
                return Open("no enclosure: " + str(problem)[:80])

    return sampled(names, [answer], conditions, seed, look)


def nested(f: Integrand, ends: list[Integrand], names: list[str], at: dict[str, acb], analytic: bool) -> acb:
    """The integral over the remaining variables: of a function that is analytic in the earlier ones, where analytic is asked for."""
    depth = len(at)
    if depth == len(names):
        return f.value(at, analytic)
    low, high = (end.value(at, analytic) for end in ends[2 * depth : 2 * depth + 2])
    if not (low.is_finite() and high.is_finite()):
        return acb("nan")
    outer = analytic and depth > 0  # the outermost integral is asked for at no place

    width = high - low

    def inner(t: acb, flag: bool) -> acb:  # the path is from 0 to 1: its ends are exact
        return width * nested(f, ends, names, {**at, names[depth]: low + t * width}, bool(flag) or outer)

    tolerance = arb(2) ** -INNER_TOLERANCE
    found = acb.integral(inner, acb(0), acb(1), rel_tol=tolerance, abs_tol=tolerance, eval_limit=400)
    for part in (f, *ends):
        if part.refused is not None:
            if depth > 0:  # an exception does not pass through the outer integrator
                return acb("nan")
            raise part.refused
    return found
