"""Notices how small the smallest part of an expression is: a term beside a larger one, what a function's value is off its limit.

Agreement to any number of digits says nothing about such a part: x + E^(-(10^6 (x - 100))^2) agrees with x nearly everywhere,
Sinh[500] with E^500/2 to 430 digits. An agreement counts where it is to more bits than the smallest part calls for (depth).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flint import acb, arb, fmpq

LARGEST_LIMIT = 1000  # of the whole numbers that are taken for limits
SHORT_NUMBER = 64  # bits of exact values that functions come to
LARGE_ORDER = 16  # of a function with an index
POWERS_SEEN = 4  # f(t) is told from f(0) + c t^4 for small t
INVISIBLE = 10**9
MARGIN = 30  # bits


class Watch:
    on = False
    depth = 0


def reset(on: bool) -> None:
    Watch.on, Watch.depth = on, 0


@contextmanager
def unwatched() -> Iterator[None]:
    """While a number is found that an equation defines: what its sides come to there is no part of an expression."""
    before, Watch.on = Watch.on, False
    try:
        yield
    finally:
        Watch.on = before


def seen(bits: float) -> bool:
    """Whether an agreement to so many bits speaks of every part of what was evaluated since reset."""
    return Watch.depth + MARGIN <= bits or Watch.depth == 0


def _note(bits: int) -> None:
    Watch.depth = max(Watch.depth, bits)


def magnitude(size: arb) -> int:
    """The binary exponent of an exact number that is not zero."""
    mantissa, exponent = size.man_exp()
    return int(mantissa.bit_length()) + int(exponent)


def _complex(value: arb | acb) -> acb:
    return value if isinstance(value, acb) else acb(value)


def _upper(value: arb | acb) -> arb:
    return arb(value.abs_upper())


def terms(a: arb | acb, b: arb | acb) -> None:
    """Called for a sum of two balls."""
    if a.is_zero() or b.is_zero() or not (a.is_finite() and b.is_finite()):
        return
    for large, small in ((a, b), (b, a)):
        low = arb(large.abs_lower())
        if not low.is_zero():
            _note(magnitude(low) - magnitude(_upper(small)))


def exact(value: fmpq) -> None:
    """Called for exact values of functions of numbers: Fibonacci[1000] is next to a power of the golden ratio."""
    bits = int(value.p.bit_length()) + int(value.q.bit_length())
    if bits > SHORT_NUMBER:
        _note(2 * bits)


def result(argument: arb | acb, value: arb | acb, name: str | None = None, order: arb | acb | None = None) -> None:
    """Called for a function's value. Near a whole number it is taken to have reached a limit; near its argument it follows it,
    as Sin[10^-50] does. name: of a function whose values at small and large arguments come near to those of others."""
    if not (argument.is_finite() and value.is_finite()):
        return  # it is Undecided
    z, w = _complex(argument), _complex(value)
    if not value.is_exact():
        if value.contains(0):
            _note(INVISIBLE)
        elif _upper(value) < LARGEST_LIMIT:
            near = acb(_nearest(w.real), _nearest(w.imag))
            if not near.is_zero():
                _note(-magnitude(_upper(w - near)))
        if not argument.contains(0):
            off = _upper(w - z)
            _note(magnitude(_upper(argument)) - magnitude(off) if not off.is_zero() else INVISIBLE)
    if name is None or argument.is_zero():
        return
    size = _upper(argument)
    _note(-POWERS_SEEN * magnitude(size))
    large = magnitude(size)
    if large > 1:
        rate = RATES.get(name)
        _note(min(int(float(_upper(rate(z)))), INVISIBLE) if rate is not None and large < 40 else INVISIBLE if rate is not None else POWERS_SEEN * large)
    if order is not None and _upper(order) > LARGE_ORDER:
        many = _upper(order)
        _note(INVISIBLE if many > INVISIBLE else int(float(many)) * 2 * (large + 2 if large > 0 else 2))


def _nearest(value: arb) -> arb:
    return arb(arb(value.mid() + fmpq(1, 2)).floor().mid())


def _along_imaginary(z: acb) -> arb:
    return 3 * abs(z.imag)


def _along_real(z: acb) -> arb:
    return 3 * abs(z.real)


# Bits by which a function is near its leading exponential: E^(-2 |t|) of 3 bits a unit.
RATES: dict[str, Callable[[acb], arb]] = {
    **dict.fromkeys(
        "Sin Cos Tan Cot Sec Csc Sinc BesselJ BesselY HankelH1 HankelH2 SphericalBesselJ SphericalBesselY StruveH SinIntegral".split(), _along_imaginary
    ),
    **dict.fromkeys("Sinh Cosh Tanh Coth Sech Csch BesselI StruveL SinhIntegral CoshIntegral Hypergeometric1F1".split(), _along_real),
    "Hypergeometric0F1": lambda z: 6 * arb(abs(z)).sqrt(),
    "HypergeometricPFQ": lambda z: 3 * arb(abs(z)),
}


def visible(name: str, argument: arb | acb, value: arb | acb, order: arb | acb | None = None) -> None:
    """result, where something is watching."""
    if Watch.on:
        result(argument, value, name, order)
