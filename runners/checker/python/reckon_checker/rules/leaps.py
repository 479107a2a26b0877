"""Whether an antiderivative jumps where its integrand is bounded: ArcTan[Tan[x]] has the derivative 1 and falls by Pi at Pi/2, Floor[x] + x^2
rises by 1 at every integer. The derivative tells of none of this.

Places are looked for where functions with branches and steps change their ways and where denominators vanish. From one side of a place
to the other an antiderivative changes by the length times a bound of the integrand at most; one that changes by more jumps, which proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

from flint import arb, fmpq

from .. import budget
from ..branching import branched
from ..calculus import differentiate
from ..critical import JUMPING, critical, crossings, substituted
from ..evaluation import EMPTY, Environment, evaluate
from ..normal import proves_zero
from ..parameters import Known, named, samples
from ..reality import is_real
from ..tree import Refused, Tree, arguments, free_symbols, is_call, plus, power, times, walk
from ..values import Undecided, complex_ball, is_number, precision
from ..wording import downwards, equation, show, upwards
from .families import branchless
from .placed import NotPlaced, every_place

BITS = 128
MAX_PLACES = 24
MAX_TERMS = 6
WIDTHS = tuple(fmpq(1, 2**n) for n in (1, 4, 10, 20, 30))
NEAR = fmpq(1, 2**20)
CLEAR = fmpq(101, 100)  # the two are shown to six digits
GENERIC = (fmpq(37, 64), fmpq(-83, 64))
SUMS = ("Plus", "Times", "Subtract", "Minus", "Rational", "Complex")
WAVES = ("Sin", "Cos", "Sinh", "Cosh", "Exp")


@dataclass(frozen=True)
class Leap:
    """From low to high the answer changes by change, and the integral is at most most."""

    name: str
    low: fmpq
    high: fmpq
    change: arb
    most: arb
    at: Known

    def sentence(self) -> str:
        where = "".join(f"at {equation(name, value)}, " for name, value in sorted(named(self.at).items()))
        return (
            f"{where}from {equation(self.name, self.low)} to {show(self.high)} the answer changes by at least {downwards(self.change)} in size, "
            f"and the integral is at most {upwards(self.most)}"
        )


def plain(node: Tree, name: str) -> bool:
    """Whether an expression has an antiderivative without jumps of which every form is plain: sums and products of powers, exponentials and
    waves of first degree. That of E^(x^3) is written with an incomplete Gamma function, and jumps at 0."""
    if name not in free_symbols(node) or node == name:
        return True
    args = arguments(node)
    if is_call(node, "Power"):
        base, exponent = args
        if name not in free_symbols(base):
            return proves_zero(differentiate(differentiate(exponent, name), name))
        return isinstance(exponent, int) and exponent >= 0 and plain(base, name)
    if is_call(node, "Divide"):
        return plain(args[0], name) and name not in free_symbols(args[1])
    if is_call(node, *WAVES):
        return proves_zero(differentiate(differentiate(args[0], name), name))
    return is_call(node, *SUMS) and all(plain(part, name) for part in args)


def superfluous(answer: Tree, name: str) -> bool:
    """Whether some terms of a sum, but not all, have the derivative 0 though they depend on the symbol, or two have proportional ones."""
    terms = [term for term in arguments(answer) if name in free_symbols(term)] if is_call(answer, "Plus") else []
    if len(terms) > MAX_TERMS:
        return True  # nobody looks
    parts = (part for count in range(1, len(terms)) for part in combinations(terms, count))
    if any(proves_zero(differentiate(plus(*part), name)) for part in parts):
        return True
    slopes = [differentiate(term, name) for term in terms]
    return any(
        proves_zero(differentiate(times(slopes[i], power(slopes[j], -1)), name))
        for i, j in combinations(range(len(terms)), 2)
        if not (branchless(terms[i], {name}) and branchless(terms[j], {name}))
    )


def found(integrand: Tree, answer: Tree, name: str, conditions: list[Tree], seed: int) -> Leap | None:
    """A jump that is proved, for some admissible values of the other symbols."""
    if branchless(answer, {name}) and not any(is_call(part, *JUMPING) for part in walk(answer)):
        return None
    others = (free_symbols(answer) | free_symbols(integrand)) - {name}
    for at in samples(others, [answer, integrand], [c for c in conditions if name not in free_symbols(c)], seed, 1):
        known = named(at)
        with suppress(Refused, Undecided):
            leap = _along(substituted(integrand, known), substituted(answer, known), name, at)
            if leap is not None:
                return leap
    return None


def _along(integrand: Tree, answer: Tree, name: str, at: Known) -> Leap | None:
    with precision(BITS):
        for place in _places(answer, name):
            for width in WIDTHS:
                budget.step()
                low = width * ((place / width).ceil() - 1)
                leap = _across(integrand, answer, name, (low, low + 2 * width), at)
                if leap is not None:
                    return leap
    return None


def _places(answer: Tree, name: str) -> Iterator[fmpq]:
    """Places at which the answer may jump, those near 0 first."""
    places: list[fmpq] = []
    with suppress(NotPlaced, Refused, Undecided):
        places += every_place(answer, name)
    turned: list[Tree] = [times("I", inner) for _, inner, _ in branched([answer]) if name in free_symbols(inner) and not is_real(inner, {name})]
    for node in [*critical([answer]), *turned]:
        if not _without_real_part(node, name):
            places += crossings([node], name, EMPTY)
    seen: list[fmpq] = []
    for place in sorted(places, key=abs):
        if not any(abs(place - other) < NEAR for other in seen):
            seen.append(place)
            yield place
        if len(seen) == MAX_PLACES:
            return


def _without_real_part(node: Tree, name: str) -> bool:
    """Whether the real part, of which crossings finds the zeros, is 0 all over."""
    with suppress(Undecided, Refused):
        values = [evaluate(node, Environment({name: x})) for x in GENERIC]
        return all(is_number(value) and bool(complex_ball(value).real.is_zero()) for value in values)
    return False


def _across(integrand: Tree, answer: Tree, name: str, ends: tuple[fmpq, fmpq], at: Known) -> Leap | None:
    low, high = ends
    try:
        between = evaluate(integrand, Environment({name: arb((low + high) / 2, arb((high - low) / 2).upper())}))
        first, last = (evaluate(answer, Environment({name: end})) for end in ends)
    except Undecided:
        return None
    if not is_number(between) or not is_number(first) or not is_number(last):
        return None
    most = arb(complex_ball(between).abs_upper()) * (high - low)
    change = arb((complex_ball(last) - complex_ball(first)).abs_lower())
    return Leap(name, low, high, change, most, at) if most.is_finite() and change > CLEAR * most else None
