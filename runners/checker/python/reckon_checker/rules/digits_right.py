"""Whether the digits of a decimal answer are right, by an enclosure of the exact value.

Asked for n digits: the answer is off by half a unit of the n-th digit at most. A machine number: by four units of the 53rd bit at most, as
accumulated rounding allows; with more digits than machine numbers hold, by half a unit of the last digit shown."""

from __future__ import annotations

from flint import arb, fmpq

from ..tree import Tree, arguments, is_call, reals
from ..values import Number, Value, complex_ball, is_number, precision
from .rounded import half_step, read

ULPS = 8  # half steps
DIGITS = "0 to the digits that the answer shows"  # a residual


def all_right(answer: Tree, true: Value, digits: int | None = None) -> bool:
    """true: enclosures narrow enough to tell; lists entry by entry."""
    if is_call(answer, "List"):
        parts = arguments(answer)
        return isinstance(true, tuple) and len(true) == len(parts) and all(all_right(part, value, digits) for part, value in zip(parts, true, strict=True))
    return is_number(true) and right(answer, true, digits)


def right(answer: Tree, true: Number, digits: int | None = None) -> bool:
    parts = read(answer)
    if parts is None:
        return False
    ball = complex_ball(true)
    size = arb(ball.abs_upper())
    with precision(max(320, 8 * (digits or 0))):
        short = all(part.machine for part in reals(answer)) and bool(reals(answer))  # 2. is the machine number 2
        for (middle, shown), side in zip(parts, (ball.real, ball.imag), strict=True):
            radius = half_step(middle) if short and shown == 0 and middle != 0 else shown
            off = abs(side - arb(middle))
            if off.is_zero() or bool(off <= radius * (ULPS if machine(middle, radius) else 1)):
                continue
            if digits is None or not bool(off <= unit(size, digits) / 2):
                return False
    return True


def machine(middle: fmpq, radius: fmpq) -> bool:
    """Whether a radius is that of a machine number, not of more digits that are shown."""
    return radius != 0 and radius == half_step(middle)


def unit(size: arb, digits: int) -> arb:
    """A unit of the n-th digit of a number of a size."""
    if not size > 0:
        return arb(0)
    leading = (arb(size.lower()).log() / arb(10).log()).floor().unique_fmpz()
    return arb(0) if leading is None else arb(10) ** (int(leading) - digits + 1)
