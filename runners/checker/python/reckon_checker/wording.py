"""Values as text that is true as it stands: an integer and a fraction are exact, of a decimal (1.50, 2., 3*^-5) the last digit is right to
one unit, of which fewer than two digits are known is said between what it lies. A part that is less than a unit of the last digit of the other is
left out. No digit is left out of an exact number: one that is long is written as a decimal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, fmpq

from .values import Gaussian, Kind, NonValue, Number, Value, complex_ball, exact, is_exact, is_number, precision

EXACT_CHARACTERS = 120  # of an exact number that is written out
FEW_BITS = 7  # of a ball: two digits
DIGITS = (20, 40, 80)  # of two values until they are told apart
BEYOND = fmpq(1, 10**5)  # two units of the sixth digit at most
GUARD_BITS, READING_BITS, MOST_BITS = 64, 500, 60_000
EXACT_POWER = 400

DECIMAL = r"-?\d+(?:\.\d*)?(?:\*\^-?\d+)?"
REAL = re.compile(rf"\(?(?:(-?\d+/\d+)|({DECIMAL})|between ({DECIMAL}) and ({DECIMAL}))\)?")
COMPLEX = re.compile(r"(.+?)(?: ([+-]) (\S+|\(.*\))\*I)?")


@dataclass(frozen=True)
class Style:
    """digits: at most, of a decimal; decimal: fractions as decimals too; padded: with zeros at the end of exact ones, so that they say more."""

    digits: int = 20
    decimal: bool = False
    padded: bool = False


def show(value: Value, digits: int = 20) -> str:
    """A value as text of the language; a ball as its midpoint to at most so many digits."""
    return styled(value, Style(digits))


def styled(value: Value, style: Style) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, tuple):
        return "{" + ", ".join(styled(part, style) for part in value) + "}"
    if isinstance(value, NonValue):
        if value.kind is Kind.INFINITY and value.direction is not None and value.direction != 1:
            return "-Infinity" if value.direction == -1 else "DirectedInfinity[" + show(value.direction) + "]"
        return value.kind.value if not value.why else value.why
    if isinstance(value, fmpq | arb):
        return _real(value, style)
    re, im = (value.re, value.im) if isinstance(value, Gaussian) else (value.real, value.imag)
    if isinstance(im, arb) and im.is_zero():
        return _real(re, style)
    if (isinstance(re, arb) and re.is_zero()) or (isinstance(re, fmpq) and re == 0):
        return _real(im, style) + "*I"
    if isinstance(re, arb) and isinstance(im, arb):
        for part, other, unit in ((re, im, ""), (im, re, "*I")):
            if other.contains(0) and (text := _real(part, style)) and _below(other, text):
                return (f"({text})" if unit and text.startswith("between") else text) + unit
    first, imaginary = (f"({text})" if text.startswith("between") else text for text in (_real(re, style), _real(im, style)))
    return first + (" - " + imaginary[1:] if imaginary.startswith("-") else " + " + imaginary) + "*I"


def equation(name: str, value: Value) -> str:
    """name = value, with another sign where an exact number is rounded."""
    text = show(value, 40 if is_exact(value) else 20)
    sign = "\u2248 " if is_exact(value) and not _written_out(value) else "" if text.startswith("between") else "= "
    return f"{name} {sign}{text}"


def apart(left: Value, right: Value, least: int = 20) -> tuple[str, str, str]:
    """Two different values as texts that are true of different numbers only, in one notation; where 80 digits do not tell them apart, also
    right - left. least: digits that are shown at least."""
    mixed = any(isinstance(side, arb | acb) for side in (left, right))
    for style in (Style(digits, mixed, padded) for digits in (least, *DIGITS) if digits >= least for padded in (False, True)):
        a, b = styled(left, style), styled(right, style)
        if told_apart(a, b):
            return a, b, ""
    return show(left), show(right), _difference(right, left)


def within(gap: arb) -> str:
    """What is known of a difference that is at most so much."""
    return f"0 \u00b1 {upwards(gap)}" if not gap.is_zero() else "0"


def upwards(size: arb) -> str:
    """Six digits of a size that is not smaller."""
    return _language((arb(size.upper()) * (1 + BEYOND)).str(6, radius=False))


def _end(value: arb, way: int) -> str:
    """Six digits of an end of an interval that lies not inside it."""
    if value.is_zero():
        return "0"
    return _language((value * (1 + way * (1 if value > 0 else -1) * BEYOND)).str(6, radius=False))


def _below(part: arb, text: str) -> bool:
    """Whether a part is less than a unit of the last digit of the other one, which is shown."""
    other = _read_real(text)
    return other is not None and bool(part.abs_upper() < arb(other.rad()) / 2)


def downwards(size: arb) -> str:
    """Six digits of a size that is not larger."""
    return _language((arb(size.lower()) * (1 - BEYOND)).str(6, radius=False))


def told_apart(a: str, b: str) -> bool:
    """Whether two texts of show are true of different values only."""
    one, other = read_back(a), read_back(b)
    if one is None or other is None:
        return a != b
    return not one.overlaps(other)


def read_back(text: str) -> acb | None:
    """The numbers of which a text of show is true; None where it is no number."""
    if text.endswith("*I") and (alone := _read_real(text[:-2])) is not None:
        return acb(arb(0, alone.rad()), alone)
    match = COMPLEX.fullmatch(text)
    if match is None:
        return None
    re, sign, imaginary = match.groups()
    real = _read_real(re)
    if real is None:
        return None
    other = _read_real(imaginary) if imaginary else arb(0, real.rad())  # one that is below the digits shown is left out
    if other is None:
        return None
    return acb(real, -other if sign == "-" else other)


def _read_real(text: str) -> arb | None:
    match = REAL.fullmatch(text)
    if match is None:
        return None
    fraction, decimal, low, high = match.groups()
    with precision(READING_BITS):
        if fraction:
            return arb(exact(Fraction(fraction)))
        if decimal:
            value, unit = _digits(decimal)
            return value + arb(0, unit.upper()) if "." in decimal or "^" in decimal else value
        return _digits(low)[0].union(_digits(high)[0])


def _digits(text: str) -> tuple[arb, arb]:
    """The value of a decimal, and one unit of its last digit."""
    number, power = _parts(text)
    unit = arb(10) ** power
    return number * unit, unit


def _parts(text: str) -> tuple[int, int]:
    """A decimal as a whole number times a power of ten."""
    mantissa, _, exponent = text.partition("*^")
    return int(mantissa.replace(".", "")), int(exponent or 0) - len(mantissa.partition(".")[2])


def _written_out(value: Number) -> bool:
    """Whether an exact number is short enough to be written in full."""
    parts = (value.re, value.im) if isinstance(value, Gaussian) else (value,)
    return all(isinstance(part, fmpq) and len(str(part)) <= EXACT_CHARACTERS for part in parts)


def _real(value: fmpq | arb, style: Style) -> str:
    if isinstance(value, fmpq):
        if _written_out(value) and not (style.decimal and value.q != 1):
            return str(value)
        with precision(int(3.33 * style.digits) + GUARD_BITS):
            return _rounded(arb(value), style.digits, None if style.padded else value)
    if value.is_zero():
        return "0"
    text = value.str(style.digits, radius=False)
    if "+/-" in text or text.startswith(("0e", "-0e")) or (not value.is_exact() and value.rel_accuracy_bits() < FEW_BITS):
        # The digits alone would say more than is known.
        return f"between {_end(arb(value.lower()), -1)} and {_end(arb(value.upper()), 1)}"
    return _rounded(value, style.digits, value.fmpq() if value.is_exact() and not style.padded and abs(value.man_exp()[1]) < GUARD_BITS**2 else None)


def _rounded(value: arb, digits: int, exactly: fmpq | None) -> str:
    """So many digits, without zeros at the end where those before them are the whole number."""
    text = _language(value.str(digits, radius=False))
    mantissa, exponent_sign, exponent = text.partition("*^")
    if exactly is not None and _is(text, exactly):
        mantissa = (mantissa.rstrip("0") if "." in mantissa else mantissa).rstrip(".")
    elif "." not in mantissa and not exponent:
        mantissa += "."  # without it the number would be exact
    return mantissa + exponent_sign + exponent


def _is(text: str, value: fmpq) -> bool:
    number, power = _parts(text)
    return abs(power) < EXACT_POWER and number * fmpq(10) ** power == value


def _language(text: str) -> str:
    """1.5e-07 as 1.5*^-7."""
    mantissa, _, exponent = text.partition("e")
    return mantissa + (f"*^{int(exponent)}" if exponent else "")


def _difference(left: Value, right: Value) -> str:
    if not is_number(left) or not is_number(right):
        return ""
    with precision(MOST_BITS):
        found = complex_ball(left) - complex_ball(right)
    return show(found, 5)
