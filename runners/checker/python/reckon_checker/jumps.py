"""Functions of real arguments that jump or bend: the enclosure is the one side, or Undecided where the ball holds the jump."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb, fmpq

from .arithmetic import divide, minus, threaded, times
from .values import (
    COMPLEX_INFINITY,
    INDETERMINATE,
    INFINITY,
    MINUS_INFINITY,
    ONE,
    ZERO,
    Gaussian,
    NonValue,
    Undecided,
    Value,
    ball,
    gaussian,
    is_zero,
    real_ball,
    sign,
    undefined,
)

Real = fmpq | arb
UNIT: Value = (fmpq(-1), ONE)


def of_reals(name: str, function: Callable[..., Value]) -> Callable[..., Value]:
    """The function with lists threaded over; of a number that is not real it is undefined here."""

    def applied(*args: Value) -> Value:
        if any(isinstance(arg, tuple) for arg in args):
            return threaded(applied, *args)
        numbers: list[Real] = []
        for arg in args:
            if isinstance(arg, NonValue):
                return arg if arg.why else undefined(name + " of " + arg.kind.value)
            if isinstance(arg, bool | Gaussian | tuple):
                return undefined(name + " of something not real")
            number = arg if isinstance(arg, fmpq) else real_ball(arg)
            if number is None:
                return undefined(name + " of something not real")
            numbers.append(number)
        return function(*numbers)

    return applied


def floor(x: Real) -> fmpq:
    if isinstance(x, fmpq):
        return fmpq(x.floor())
    found = x.floor().unique_fmpz()
    if found is None:
        raise Undecided("floor")
    return fmpq(found)


def ceiling(x: Real) -> fmpq:
    return -floor(-x)


def nearest(x: Real) -> fmpq:
    """Round: halves go to the even neighbour."""
    below = floor(x)
    rest: Real = x - below
    order = sign(rest - fmpq(1, 2))
    if order == 0:
        return below + int(below.p) % 2
    return below + (1 if order > 0 else 0)


def complex_floor(function: Callable[[Real], fmpq]) -> Callable[..., Value]:
    """Floor, Ceiling and Round, of both parts of a complex number, to multiples of a second argument."""

    def applied(x: Value, step: Value = ONE) -> Value:
        if isinstance(x, tuple) or isinstance(step, tuple):
            return threaded(applied, x, step)
        if not isinstance(step, fmpq | arb):
            return undefined("Floor to multiples of something not real")
        if step != ONE:
            return times(applied(divide(x, step)), step)
        if isinstance(x, bool | NonValue):
            return x if x in (INFINITY, MINUS_INFINITY) else undefined("Floor")
        if isinstance(x, Gaussian):
            return gaussian(function(x.re), function(x.im))
        if isinstance(x, acb):
            return gaussian(function(x.real), function(x.imag))
        return function(x)

    return applied


def integer_part(x: Real) -> fmpq:
    return floor(x) if sign(x) >= 0 else ceiling(x)


def whole_part(x: Value) -> Value:
    return complex_floor(integer_part)(x)


def unit_step(*args: Real) -> Value:
    return ONE if all(sign(x) >= 0 for x in args) else ZERO


def heaviside(*args: Real) -> Value:
    signs = [sign(x) for x in args]
    if any(s < 0 for s in signs):
        return ZERO
    return undefined("HeavisideTheta[0]") if 0 in signs else ONE


def ramp(x: Real) -> Value:
    return x if sign(x) >= 0 else ZERO


def unit_box(x: Real) -> Value:
    return ONE if sign(_size(x) - fmpq(1, 2)) <= 0 else ZERO


def unit_triangle(x: Real) -> Value:
    return 1 - _size(x) if sign(_size(x) - 1) < 0 else ZERO


def _size(x: Real) -> Real:
    return x if sign(x) >= 0 else -x


def modulo(m: Real, n: Real, d: Real = ZERO) -> Value:
    if is_zero(n):
        return INDETERMINATE
    return minus(m, times(n, floor(_quotient(m - d, n))))


def quotient(m: Real, n: Real) -> Value:
    return COMPLEX_INFINITY if is_zero(n) else floor(_quotient(m, n))


def _quotient(m: Real, n: Real) -> Real:
    return m / n if isinstance(m, fmpq) and isinstance(n, fmpq) else arb(ball(m).real) / ball(n).real


def extremum(largest: bool) -> Callable[..., Value]:
    """Max and Min of real numbers, lists flattened, infinities among them."""

    def applied(*args: Value) -> Value:
        flat: list[Value] = []
        pending = list(reversed(args))
        while pending:
            part = pending.pop()
            if isinstance(part, tuple):
                pending.extend(reversed(part))
            else:
                flat.append(part)
        best: Value = MINUS_INFINITY if largest else INFINITY
        for part in flat:
            if isinstance(part, bool | Gaussian | acb) or (isinstance(part, NonValue) and part not in (INFINITY, MINUS_INFINITY)):
                return undefined("Max or Min of something not real")
            best = _better(best, part, largest)
        return best

    return applied


def clip(x: Value, ends: Value = UNIT, *rest: Value) -> Value:
    """Clip[x], Clip[x, {low, high}]."""
    if rest or not isinstance(ends, tuple) or len(ends) != 2:
        raise TypeError("Clip")
    low, high = ends
    if not isinstance(low, fmpq | arb) or not isinstance(high, fmpq | arb) or sign(low - high) > 0:
        return undefined("Clip to no interval")
    return extremum(False)(extremum(True)(x, low), high) if not isinstance(x, tuple) else tuple(clip(part, ends) for part in x)


def _better(a: Value, b: Value, largest: bool) -> Value:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, NonValue):
            return x if (x == INFINITY) == largest else y
    assert isinstance(a, fmpq | arb) and isinstance(b, fmpq | arb)
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return max(a, b) if largest else min(a, b)
    p, q = arb(a), arb(b)
    return p.max(q) if largest else p.min(q)


def kronecker_delta(*args: Value) -> Value:
    for arg in args:
        if isinstance(arg, tuple | bool | NonValue):
            return undefined("KroneckerDelta")
    first = args[0] if len(args) > 1 else ZERO
    return ONE if all(is_zero(minus(arg, first)) for arg in args) else ZERO  # type: ignore[arg-type]


def discrete_delta(*args: Value) -> Value:
    if any(isinstance(arg, tuple | bool | NonValue) for arg in args):
        return undefined("DiscreteDelta")
    return ONE if all(is_zero(arg) for arg in args) else ZERO  # type: ignore[arg-type]


JUMPS: dict[str, Callable[..., Value]] = {
    "Floor": complex_floor(floor),
    "Ceiling": complex_floor(ceiling),
    "Round": complex_floor(nearest),
    "IntegerPart": whole_part,
    "FractionalPart": of_reals("FractionalPart", lambda x: x - integer_part(x)),
    "UnitStep": of_reals("UnitStep", unit_step),
    "HeavisideTheta": of_reals("HeavisideTheta", heaviside),
    "Ramp": of_reals("Ramp", ramp),
    "UnitBox": of_reals("UnitBox", unit_box),
    "UnitTriangle": of_reals("UnitTriangle", unit_triangle),
    "Mod": of_reals("Mod", modulo),
    "Quotient": of_reals("Quotient", quotient),
    "Clip": clip,
    "Max": extremum(True),
    "Min": extremum(False),
    "KroneckerDelta": kronecker_delta,
    "DiscreteDelta": discrete_delta,
}
