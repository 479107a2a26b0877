"""All real zeros of sums of p_i(x) E^(a_i x), with rational polynomials and rational a_i: x E^x == 1, E^x == 1 + 2 x.

Divided by its lowest exponential and differentiated as often as its polynomial part allows, such a sum loses a term (Polya and Szego,
part V, 75). Between two zeros of its derivative a function is strictly monotone: the signs at these places and at both infinities
tell how many zeros it has, and where. A place where the sign is not told apart from 0 decides nothing, but for whole zeros at x = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import acb, arb, fmpq, fmpq_poly

from .. import budget
from ..findings import Open, Residual
from ..tree import Tree, arguments, free_symbols, is_call, minus
from ..univariate import polynomial
from ..values import Number, Undecided, precision, settled
from .candidates import Candidate, holds_at
from .kernels import NotOfOneKernel
from .problem import Problem, one_to_one

Sum = dict[fmpq, fmpq_poly]  # polynomials by the factor in the exponent, none of them 0
MAX_TERMS, MAX_DEGREE = 6, 24
START, HALVINGS, DOUBLINGS = 64, 4000, 60
BITS = (64, 256, 1024)


@dataclass(frozen=True)
class Place:
    """One zero between two rational numbers at which the signs differ; low == high where it is known exactly."""

    low: fmpq
    high: fmpq


def check(problem: Problem) -> Residual | None:
    """None where the equation is of another kind, or this decides nothing."""
    if problem.domain != "Reals" or len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2:
        return None
    (name,) = problem.unknowns
    if any(s.integers or s.loose or name not in s.values for s in problem.solutions):
        return None
    try:
        f = read(minus(*arguments(problem.equations[0])), name)
        places = zeros(f) if f and set(f) != {fmpq(0)} else None
    except (NotOfOneKernel, Undecided):
        return None
    if places is None:
        return None
    found = one_to_one(problem, lambda bits: candidates(problem, f, places, bits))
    return None if isinstance(found, Open) else found


def candidates(problem: Problem, f: Sum, places: list[Place], bits: int) -> list[Candidate]:
    (name,) = problem.unknowns
    with precision(bits):
        values: list[dict[str, Number]] = [{name: number(refined(f, place, bits))} for place in places]
        found = []
        for one in values:
            holds = [holds_at(other, one, problem.equations, values) for other in problem.others]
            found.append(Candidate(one, False if False in holds else None if None in holds else True, True))
        return found


def number(place: Place) -> Number:
    return place.low if place.low == place.high else settled(acb(ball(place)))


def ball(place: Place) -> arb:
    return arb(place.low) if place.low == place.high else arb((place.low + place.high) / 2, (place.high - place.low) / 2)


# Reading.


def read(node: Tree, name: str) -> Sum:
    budget.step()
    plain = polynomial(node, name)
    if plain is not None:
        return cleaned({fmpq(0): plain})
    parts = arguments(node)
    if is_call(node, "Plus"):
        return cleaned(added([read(part, name) for part in parts]))
    if is_call(node, "Subtract", "Minus"):
        signs = (1, -1) if len(parts) == 2 else (-1,)
        return cleaned(added([{a: sign * p for a, p in read(part, name).items()} for sign, part in zip(signs, parts, strict=True)]))
    if is_call(node, "Times"):
        found: Sum = {fmpq(0): fmpq_poly([1])}
        for part in parts:
            found = product(found, read(part, name))
        return found
    if is_call(node, "Exp") and len(parts) == 1:
        return read(("Power", "E", parts[0]), name)
    if is_call(node, "Power") and len(parts) == 2:
        return power(parts[0], parts[1], name)
    if is_call(node, "Sinh", "Cosh") and len(parts) == 1:
        sign = -1 if is_call(node, "Sinh") else 1
        up, down = read(("Power", "E", parts[0]), name), read(("Power", "E", ("Times", -1, parts[0])), name)
        return cleaned(added([{a: p / 2 for a, p in up.items()}, {a: sign * p / 2 for a, p in down.items()}]))
    raise NotOfOneKernel


def power(base: Tree, exponent: Tree, name: str) -> Sum:
    if base == "E":
        line = polynomial(exponent, name)
        if line is None or line.degree() != 1 or line[0] != 0:
            raise NotOfOneKernel
        return {line[1]: fmpq_poly([1])}
    if not isinstance(exponent, int) or not 0 < abs(exponent) <= MAX_DEGREE or name not in free_symbols(base):
        raise NotOfOneKernel
    inner = read(base, name)
    if exponent < 0:
        if len(inner) != 1 or next(iter(inner.values())).degree() != 0:
            raise NotOfOneKernel
        inner = {-a: 1 / p[0] * fmpq_poly([1]) for a, p in inner.items()}
    found: Sum = {fmpq(0): fmpq_poly([1])}
    for _ in range(abs(exponent)):
        found = product(found, inner)
    return found


def added(sums: list[Sum]) -> Sum:
    found: Sum = {}
    for one in sums:
        for a, p in one.items():
            found[a] = found.get(a, fmpq_poly([])) + p
    return found


def product(f: Sum, g: Sum) -> Sum:
    return cleaned(added([{a + b: p * q} for a, p in f.items() for b, q in g.items()]))


def cleaned(f: Sum) -> Sum:
    kept = {a: p for a, p in f.items() if p.degree() >= 0}
    if len(kept) > MAX_TERMS or any(p.degree() > MAX_DEGREE for p in kept.values()):
        raise NotOfOneKernel
    return kept


# Zeros.


def zeros(f: Sum) -> list[Place]:
    """All real zeros, in order; f is not 0."""
    budget.step()
    low = min(f)
    f = {a - low: p for a, p in f.items()}  # the same zeros
    if len(f) == 1:
        return zeros_of_polynomial(f)
    return between(f, zeros(derivative(f)))


def derivative(f: Sum) -> Sum:
    found = cleaned({a: a * p + p.derivative() for a, p in f.items()})
    if not found:
        raise Undecided("a constant")
    return found


def zeros_of_polynomial(f: Sum) -> list[Place]:
    (p,) = f.values()
    return [] if p.degree() < 1 else between(f, zeros_of_polynomial({fmpq(0): p.derivative()}))


def between(f: Sum, turns: list[Place]) -> list[Place]:
    """The zeros of a function by the zeros of its derivative."""
    ends = [Place(*outside(f, turns, -1)), *(turn_settled(f, turn) for turn in turns), Place(*outside(f, turns, 1))]
    found: list[Place] = []
    before: tuple[fmpq, int] | None = None
    for end in ends:
        here = sign(f, end)
        if here == 0:
            found.append(end)  # a zero of the derivative too, known exactly
        elif before is not None and before[1] == -here:
            at_zero = before[0] < 0 < end.low and value_at_zero(f) == 0
            found.append(Place(fmpq(0), fmpq(0)) if at_zero else Place(before[0], end.low))
        before = (end.high, here) if here else None
    return found


def turn_settled(f: Sum, turn: Place) -> Place:
    """A zero of the derivative of f, enclosed so closely that the sign of f does not change around it. What is narrowed is the sign
    change of the derivative, so that its enclosure stays true."""
    slope = derivative(f)
    for bits in BITS:
        place = refined(slope, turn, bits)
        if sign_over(f, place, bits) is not None:
            return place
    if turn.low <= 0 <= turn.high and value_at_zero(f) == 0 and value_at_zero(slope) == 0:
        return Place(fmpq(0), fmpq(0))
    raise Undecided("a double zero")


def sign(f: Sum, place: Place) -> int:
    if place.low == place.high == 0:
        value = value_at_zero(f)
        return 1 if value > 0 else -1 if value < 0 else 0
    for bits in BITS:
        found = sign_over(f, place, bits)
        if found is not None:
            return found
    raise Undecided("a sign")


def sign_over(f: Sum, place: Place, bits: int) -> int | None:
    with precision(bits):
        x = ball(place)
        total = sum(((x * a).exp() * horner(p, x) for a, p in f.items()), arb(0))
        return 1 if total > 0 else -1 if total < 0 else None


def horner(p: fmpq_poly, x: arb) -> arb:
    total = arb(0)
    for c in reversed(p.coeffs()):
        total = total * x + arb(c)
    return total


def value_at_zero(f: Sum) -> fmpq:
    return sum((p[0] for p in f.values()), fmpq(0))


def outside(f: Sum, turns: list[Place], way: int) -> tuple[fmpq, fmpq]:
    """A place beyond all turns with the sign that f has at an infinity: monotone from there on, there is no further zero."""
    top = max(f) if way > 0 else min(f)
    p = f[top]
    wanted = (1 if p[p.degree()] > 0 else -1) * (-1 if way < 0 and p.degree() % 2 else 1)
    x = max((turn.high for turn in turns), default=fmpq(0)) if way > 0 else min((turn.low for turn in turns), default=fmpq(0))
    step = fmpq(1)
    for _ in range(DOUBLINGS):
        place = Place(x + way * step, x + way * step)
        if sign_over(f, place, START) == wanted or sign_over(f, place, 4 * START) == wanted:
            return place.low, place.high
        step *= 2
    raise Undecided("the sign far out")


def refined(f: Sum, place: Place, bits: int) -> Place:
    """The zero between two places where the signs differ, halved to an absolute and relative error of 2^-bits."""
    low, high = place.low, place.high
    if low == high:
        return place
    at_low = sign(f, Place(low, low))
    for _ in range(HALVINGS):
        budget.step()
        if (high - low) * 2**bits <= min(fmpq(1), max(abs(low), abs(high))):
            return Place(low, high)
        middle = (low + high) / 2
        here = sign(f, Place(middle, middle)) if middle else sign(f, Place(fmpq(0), fmpq(0)))
        if here == 0:
            return Place(middle, middle)
        if here == at_low:
            low = middle
        else:
            high = middle
    raise Undecided("a zero near 0")
