"""The values of expressions, and the only place where two values are compared.

A value is exact (a rational, a Gaussian rational), a ball (arb, acb: a midpoint with a proved radius), a truth value, a list
(tuple) of values, or a NonValue. compare answers Equal only for exact equals and Different only with a proof: exactly
different values, disjoint balls, or a finite value against an infinity.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, TypeGuard, Union

from flint import acb, arb, ctx, fmpq, fmpz


class Undecided(Exception):
    """The enclosures at this precision do not tell; more bits may."""


class Kind(enum.Enum):
    INFINITY = "Infinity"
    COMPLEX_INFINITY = "ComplexInfinity"
    INDETERMINATE = "Indeterminate"
    UNDEFINED = "undefined here"  # outside the domain, at a kink, a condition that does not hold


@dataclass(frozen=True)
class NonValue:
    """A value that is not a number. direction, of an Infinity only, is an exact number with |Re| + |Im| = 1 (infinity())."""

    kind: Kind
    direction: fmpq | Gaussian | None = None
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class Gaussian:
    """A Gaussian rational that is not real."""

    re: fmpq
    im: fmpq


Exact: TypeAlias = Union[fmpq, Gaussian]
Ball: TypeAlias = Union[arb, acb]
Number: TypeAlias = Union[fmpq, Gaussian, arb, acb]
Value: TypeAlias = Union[fmpq, Gaussian, arb, acb, bool, NonValue, "tuple[Value, ...]"]

SHORT_BITS = 40  # of exact numbers that are taken back from balls

ZERO, ONE, HALF = fmpq(0), fmpq(1), fmpq(1, 2)
INFINITY = NonValue(Kind.INFINITY, ONE)
MINUS_INFINITY = NonValue(Kind.INFINITY, fmpq(-1))
COMPLEX_INFINITY = NonValue(Kind.COMPLEX_INFINITY)
INDETERMINATE = NonValue(Kind.INDETERMINATE)


def undefined(why: str) -> NonValue:
    return NonValue(Kind.UNDEFINED, None, why)


WITHHELD = undefined("the condition of the answer does not hold")


def infinity(direction: Exact) -> NonValue:
    """The infinity in the direction of a number that is not zero."""
    if isinstance(direction, fmpq):
        return INFINITY if direction > 0 else MINUS_INFINITY
    size = abs(direction.re) + abs(direction.im)
    return NonValue(Kind.INFINITY, Gaussian(direction.re / size, direction.im / size))


def gaussian(re: fmpq, im: fmpq) -> Exact:
    return Gaussian(re, im) if im != 0 else re


def exact(value: int | Fraction | fmpz) -> fmpq:
    return fmpq(value.numerator, value.denominator) if isinstance(value, Fraction) else fmpq(value)


def is_exact(value: Value) -> TypeGuard[Exact]:
    return isinstance(value, fmpq | Gaussian)


def is_number(value: Value) -> TypeGuard[Number]:
    return isinstance(value, fmpq | Gaussian | arb | acb)


def whole(value: Value) -> int | None:
    """The integer that value exactly is, or None."""
    return int(value.p) if isinstance(value, fmpq) and value.q == 1 else None


def ball(value: Number) -> Ball:
    """The value as a ball at the precision in force."""
    if isinstance(value, fmpq):
        return arb(value)
    if isinstance(value, Gaussian):
        return acb(arb(value.re), arb(value.im))
    return value


def complex_ball(value: Number) -> acb:
    inner = ball(value)
    return inner if isinstance(inner, acb) else acb(inner)


def settled(value: Ball) -> Number:
    """The value of a finite ball: without an imaginary part that is exactly zero, and as a rational where the radius is
    zero and the number short. A ball that is not finite decides nothing."""
    if not value.is_finite():
        raise Undecided("not finite")
    if isinstance(value, acb):
        if not value.imag.is_zero():
            return value
        value = value.real
    if value.is_exact() and value.bits() <= SHORT_BITS:
        exponent = value.man_exp()[1]
        if abs(exponent) < 2 * SHORT_BITS:
            return value.fmpq()
    return value


def real_ball(value: Number) -> arb | None:
    """The value as a real ball; None where it is certainly not real. Undecided where it may be."""
    inner = ball(value)
    if isinstance(inner, arb):
        return inner
    if not inner.imag.contains(0):
        return None
    if inner.imag.is_zero():
        return inner.real
    raise Undecided("real?")


def sign(value: fmpq | arb) -> int:
    """-1, 0 or 1; Undecided where the ball holds zero and more."""
    if isinstance(value, fmpq):
        return (value > 0) - (value < 0)
    if value > 0:
        return 1
    if value < 0:
        return -1
    if value.is_zero():
        return 0
    raise Undecided("sign")


def is_zero(value: Number) -> bool:
    """Exactly zero; Undecided where a ball holds zero and more."""
    if isinstance(value, fmpq):
        return value == 0
    if isinstance(value, Gaussian):
        return False
    if not value.contains(0):
        return False
    if value.is_zero():
        return True
    raise Undecided("zero?")


class Relation(enum.Enum):
    EQUAL = "equal"
    DIFFERENT = "different"
    OVERLAP = "overlap"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True)
class Comparison:
    """The relation of two values. digits: of an OVERLAP, the significant digits that agree. left, right: the entries that decide it;
    place: where they stand in two lists, from 1; claim: in which of several claims, from 0."""

    relation: Relation
    left: Value = ZERO
    right: Value = ZERO
    digits: int = 0
    place: tuple[int, ...] = ()
    claim: int = 0

    @property
    def exact(self) -> bool:
        return not any(isinstance(side, arb | acb) for side in (self.left, self.right))


def compare(left: Value, right: Value) -> Comparison:
    if isinstance(left, tuple) or isinstance(right, tuple):
        return _compare_lists(left, right)
    if isinstance(left, bool) or isinstance(right, bool):
        if isinstance(left, bool) and isinstance(right, bool):
            return Comparison(Relation.EQUAL if left == right else Relation.DIFFERENT, left, right)
        return Comparison(Relation.INCOMPARABLE, left, right)
    if isinstance(left, NonValue) or isinstance(right, NonValue):
        return Comparison(_compare_non_values(left, right), left, right)
    if isinstance(left, fmpq | Gaussian) and isinstance(right, fmpq | Gaussian):
        return Comparison(Relation.EQUAL if left == right else Relation.DIFFERENT, left, right)
    a, b = ball(left), ball(right)
    if not (a.is_finite() and b.is_finite()):
        return Comparison(Relation.INCOMPARABLE, left, right)
    if not complex_ball(a).overlaps(complex_ball(b)):
        return Comparison(Relation.DIFFERENT, left, right)
    return Comparison(Relation.OVERLAP, left, right, digits_of(a, b))


def _compare_lists(left: Value, right: Value) -> Comparison:
    """Lists relate as their entries do. Lists of other lengths say nothing about each other: a column and a vector are two
    ways to write the same; a list is no number."""
    for a, b in ((left, right), (right, left)):
        if isinstance(a, tuple) and is_number(b):
            return Comparison(Relation.DIFFERENT, left, right)
    if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
        return Comparison(Relation.INCOMPARABLE, left, right)
    worst = Comparison(Relation.EQUAL, left, right)
    for a, b in zip(left, right, strict=True):
        found = compare(a, b)
        if found.relation is Relation.DIFFERENT:
            return found
        if (
            found.relation is Relation.INCOMPARABLE
            or worst.relation is Relation.EQUAL
            or (found.relation is Relation.OVERLAP and worst.relation is Relation.OVERLAP and found.digits < worst.digits)
        ):
            worst = found
    return worst


def _compare_non_values(left: Value, right: Value) -> Relation:
    infinite = (Kind.INFINITY, Kind.COMPLEX_INFINITY)
    if isinstance(left, NonValue) and isinstance(right, NonValue):
        if left.kind not in infinite or right.kind not in infinite:
            return Relation.INCOMPARABLE
        return Relation.EQUAL if left == right else Relation.DIFFERENT
    infinity, other = (left, right) if isinstance(left, NonValue) else (right, left)
    if isinstance(infinity, NonValue) and infinity.kind in infinite and is_number(other):
        return Relation.DIFFERENT
    return Relation.INCOMPARABLE


def digits_of(a: Ball, b: Ball) -> int:
    """To how many significant digits two overlapping balls are known to agree; 0 where both hold zero."""
    rad = spread(a, b)
    size = max(complex_ball(a).abs_lower(), complex_ball(b).abs_lower())
    return significant(size, rad)


def spread(a: Ball, b: Ball) -> arb:
    """An upper bound of |x - y| for x in a and y in b."""
    return arb((complex_ball(a) - complex_ball(b)).abs_upper())


def significant(size: arb, rad: arb) -> int:
    """The whole number of decimal digits by which rad is below size; many where rad is zero."""
    if rad.is_zero():
        return 10**6
    if not size > 0:
        return 0
    quotient = (size / rad).log() / arb(10).log()
    return max(0, min(int(float(quotient.mid())), 10**6)) if quotient.is_finite() and abs(quotient) < 10**300 else 0


def widened(value: arb, radius: arb | fmpq) -> arb:
    """The ball with its radius enlarged."""
    return arb(value.mid(), (arb(value.rad()) + arb(radius)).upper())


class precision:  # noqa: N801 (used like a keyword)
    """The working precision in bits, for the extent of a with statement."""

    def __init__(self, bits: int) -> None:
        self.bits, self.before = bits, 0

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before
