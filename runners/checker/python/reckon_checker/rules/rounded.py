"""Decimals in answers that are exact numbers rounded: to 53 bits, or, with more digits than these hold, to the digits they show.

The text of a machine number is the shortest one that reads back as the same 53 bits: 1.414210000 comes as 1.41421, so that the digits
that were shown are not known and do not count."""

from __future__ import annotations

from flint import arb, fmpq

from ..tree import Real, Tree, arguments, is_call, plus, times
from ..values import Number, complex_ball, exact, precision

ROUNDED = "0 to 53 bits, or to the digits shown where these are more"
BITS = 320
LEAST_DIGITS = 6
MIN_NORMAL = 2.0**-1022
Interval = tuple[fmpq, fmpq]  # middle and radius


def rounds(value: Tree, true: Number) -> bool:
    """Whether a decimal number, real or complex, is proved to be another number rounded: not farther from it than half a unit of the last place."""
    parts = read(value)
    if parts is None:
        return False
    ball = complex_ball(true)
    with precision(BITS):
        return all(within(part, side) for part, side in zip(parts, (ball.real, ball.imag), strict=True))


def within(part: Interval, true: arb) -> bool:
    middle, radius = part
    return bool(abs(true - arb(middle)) <= arb(radius)) if radius else bool((true - arb(middle)).is_zero())


def read(value: Tree) -> tuple[Interval, Interval] | None:
    """Middle and radius of the real and the imaginary part; None for what is no number. Fewer digits than six count as exact."""
    nothing = fmpq(0), fmpq(0)
    if is_call(value, "Plus") and len(arguments(value)) == 2:
        first, second = (read(part) for part in arguments(value))
        if first is None or second is None or first[1] != nothing or second[0] != nothing:
            return None
        return first[0], second[1]
    if is_call(value, "Subtract") and len(arguments(value)) == 2:
        return read(plus(arguments(value)[0], times(-1, arguments(value)[1])))
    if is_call(value, "Times", "Minus"):
        factors = arguments(value) if is_call(value, "Times") else (-1, *arguments(value))
        rest = [factor for factor in factors if factor not in ("I", -1)]
        inner = read(rest[0]) if len(rest) == 1 else ((fmpq(1), fmpq(0)), nothing) if not rest else None
        if inner is None or inner[1] != nothing or factors.count("I") > 1:
            return None
        number = (inner[0][0] * (-1) ** factors.count(-1), inner[0][1])
        return (nothing, number) if "I" in factors else (number, nothing)
    if is_call(value, "Complex"):
        re, im = (read(part) for part in arguments(value))
        return None if re is None or im is None else (re[0], im[0])
    if isinstance(value, int):
        return (fmpq(value), fmpq(0)), nothing
    if not isinstance(value, Real):
        return None
    middle, radius = exact(value.value), fmpq(0)  # 3. is exactly 3
    if value.written >= LEAST_DIGITS and value.machine:
        middle = as_machine_number(value)
        radius = half_step(middle)
    elif value.written >= LEAST_DIGITS and significant(value) == value.written:
        radius = exact(value.half_unit)
    return (middle, radius), nothing


def as_machine_number(value: Real) -> fmpq:
    """The number of 53 bits next to a decimal; the decimal itself where it is beyond the exponents of machine numbers."""
    try:
        double = float(value.value)
    except OverflowError:
        return exact(value.value)
    return fmpq(*double.as_integer_ratio()) if abs(double) >= MIN_NORMAL else exact(value.value)


def half_step(double: fmpq) -> fmpq:
    """Half the distance between numbers of 53 bits around one of them; above it where it is a power of 2."""
    top = int(abs(double.p)).bit_length() - int(double.q).bit_length()
    power = fmpq(2) ** top
    return fmpq(2) ** (top - (53 if power <= abs(double) else 54))


def significant(value: Real) -> int:
    """Digits from the first that is not 0."""
    return 0 if value.value == 0 else len(str(int(abs(value.value) / (2 * value.half_unit))))
