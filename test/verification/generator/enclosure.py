"""Enclosures of expressions (Arb balls through python-flint), and proofs that two expressions differ.

Principal branches are the language's: Log, powers, Sqrt and the inverse functions continuous from above on the cut
of Log (NIST DLMF 4.2, 4.23). A value is used only where every function on the way was finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from flint import acb, arb, ctx, fmpq

from expression import Expression

Point = dict[str, "acb"]
BITS = 320
SHOWN = 25  # digits of an enclosure in a sentence


class NotEnclosedError(Exception):
    """The value is not finite here, or a ball straddles a kink or a cut."""


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def exact(value: Fraction | int) -> fmpq:
    value = Fraction(value)
    return fmpq(value.numerator, value.denominator)


def ball(value: Fraction | int | complex | tuple[Fraction, Fraction]) -> acb:
    if isinstance(value, tuple):
        return acb(arb(exact(value[0])), arb(exact(value[1])))
    if isinstance(value, complex):
        return ball((Fraction(value.real), Fraction(value.imag)))
    return acb(arb(exact(value)))


CONSTANTS: dict[str, Callable[[], acb]] = {
    "Pi": lambda: acb(arb.pi()),
    "E": lambda: acb(arb(1).exp()),
    "I": lambda: acb(0, 1),
    "EulerGamma": lambda: acb(arb.const_euler()),
    "Catalan": lambda: acb(arb.const_catalan()),
    "GoldenRatio": lambda: acb((1 + arb(5).sqrt()) / 2),
}


def sign(value: acb) -> acb:
    real = on_line(value)
    if real > 0:
        return acb(1)
    if real < 0:
        return acb(-1)
    raise NotEnclosedError("sign")


def on_line(value: acb) -> arb:
    if value.imag != 0:
        raise NotEnclosedError("not real")
    return value.real


def absolute(value: acb) -> acb:
    return acb(abs(value))


def floor(value: acb) -> acb:
    down = on_line(value).floor()
    if not down.is_exact():
        raise NotEnclosedError("floor")
    return acb(down)


def logarithm(value: acb) -> acb:
    if not (value.imag == 0 or value.imag > 0 or value.imag < 0 or value.real > 0):
        raise NotEnclosedError("cut of Log")
    return value.log()


def root(value: acb) -> acb:
    if value == 0:
        return acb(0)
    if not (value.imag == 0 or value.imag > 0 or value.imag < 0 or value.real > 0):
        raise NotEnclosedError("cut of Sqrt")
    return value.sqrt()


FUNCTIONS: dict[str, Callable[..., acb]] = {
    "Sin": acb.sin,
    "Cos": acb.cos,
    "Tan": acb.tan,
    "Cot": acb.cot,
    "Sec": acb.sec,
    "Csc": acb.csc,
    "Sinh": acb.sinh,
    "Cosh": acb.cosh,
    "Tanh": acb.tanh,
    "Log": logarithm,
    "Sqrt": root,
    "ArcTan": acb.atan,
    "ArcSin": acb.asin,
    "ArcCos": acb.acos,
    "ArcSinh": acb.asinh,
    "ArcTanh": acb.atanh,
    "Erf": acb.erf,
    "Gamma": acb.gamma,
    "Zeta": acb.zeta,
    "Factorial": lambda v: (v + 1).gamma(),
    "BesselJ": lambda order, v: v.bessel_j(order),
    "Abs": absolute,
    "Sign": sign,
    "UnitStep": lambda v: acb(1) if on_line(v) == 0 else (sign(v) + 1) / 2,
    "Floor": floor,
    "Max": lambda a, b: a if sign(a - b) == 1 else b,
    "Min": lambda a, b: b if sign(a - b) == 1 else a,
    "Re": lambda v: acb(v.real),
    "Im": lambda v: acb(v.imag),
    "Conjugate": lambda v: v.conjugate(),
    "Arg": lambda v: acb(v.arg()),
}


def holds(e: Expression, at: Point) -> bool:
    """Whether a condition holds at a point, decided by enclosures."""
    left, right = (on_line(value(a, at)) for a in e.args)
    decided = {"Less": (left < right, left >= right), "LessEqual": (left <= right, left > right)}
    decided |= {"Greater": (left > right, left <= right), "GreaterEqual": (left >= right, left < right)}
    true, false = decided[e.head]
    if not true and not false:
        raise NotEnclosedError("condition")
    return bool(true)


def value(e: Expression, at: Point) -> acb:
    """An enclosure of e at a point, at the precision in force."""
    if e.head == "number":
        return ball(e.number)
    if e.head == "symbol":
        if e.name in at:
            return at[e.name]
        if e.name in CONSTANTS:
            return CONSTANTS[e.name]()
        raise NotEnclosedError(e.name)
    if e.head == "Piecewise":
        for branch in e.args[0].args:
            if holds(branch.args[1], at):
                return value(branch.args[0], at)
        return value(e.args[1], at)
    args = [value(a, at) for a in e.args]
    if e.head == "Plus":
        return sum(args, acb(0))
    if e.head == "Times":
        product = acb(1)
        for a in args:
            product *= a
        return product
    result = raised(args[0], args[1], e.args[1]) if e.head == "Power" else FUNCTIONS[e.head](*args)
    if not result.is_finite():
        raise NotEnclosedError(e.head)
    return result


def raised(base: acb, exponent: acb, how: Expression) -> acb:
    if how.head == "number" and how.number.denominator == 1 and abs(how.number) < 10**6:
        return base ** int(how.number)
    if base == 0:
        if exponent.real > 0:
            return acb(0)
        raise NotEnclosedError("0^0")
    return (exponent * logarithm(base)).exp()


def shown(value: acb) -> str:
    return str(value.str(SHOWN))


def apart(a: acb, b: acb) -> bool:
    return bool(a.is_finite() and b.is_finite() and not a.overlaps(b))


def different(a: Expression, b: Expression, points: Iterable[Mapping[str, Fraction | int | tuple[Fraction, Fraction]]]) -> str | None:
    """A sentence that proves a and b different at one of the points, or None where none of them does."""
    with precision():
        for point in points:
            at = {name: ball(v) for name, v in point.items()}
            try:
                left, right = value(a, at), value(b, at)
            except (NotEnclosedError, ZeroDivisionError):
                continue
            if apart(left, right):
                where = ", ".join(f"{name} = {said(v)}" for name, v in point.items()) or "no variables"
                return f"at {where}: {shown(left)} against {shown(right)}, apart by {(left - right).str(5)}"
    return None


def said(v: Fraction | int | tuple[Fraction, Fraction]) -> str:
    return f"{v[0]} + {v[1]} I" if isinstance(v, tuple) else str(v)


def digits(x: arb, count: int) -> str:
    """x rounded to so many significant digits, as the language writes a decimal; every digit proved."""
    with precision(max(BITS, 5 * count + 64)):
        text = str(x.str(count + 12, radius=False, more=True))
    mantissa, _, exponent = text.partition("e")
    negative, mantissa = mantissa.startswith("-"), mantissa.lstrip("-")
    whole, _, fraction = mantissa.partition(".")
    number = Fraction(int(whole + fraction), 10 ** len(fraction)) * Fraction(10) ** int(exponent or 0)
    if number == 0:
        return "0."
    magnitude = 0
    while number >= Fraction(10) ** (magnitude + 1):
        magnitude += 1
    while number < Fraction(10) ** magnitude:
        magnitude -= 1
    places = count - 1 - magnitude
    scaled = round(number * Fraction(10) ** places)
    return ("-" if negative else "") + decimal(scaled, places)


def decimal(scaled: int, places: int) -> str:
    """scaled / 10^places in plain digits."""
    if places <= 0:
        return f"{scaled * 10**-places}."
    text = str(scaled).rjust(places + 1, "0")
    return f"{text[:-places]}.{text[-places:]}"
