"""Sums, products and powers of values: exact where the parts are, else enclosures. Lists are threaded over.

What meets an infinity follows the language: Infinity + 1 is Infinity, 0*Infinity and Infinity - Infinity are Indeterminate,
1/0 is ComplexInfinity, 1/Infinity is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb, fmpq, fmpz

from . import watch
from .values import (
    COMPLEX_INFINITY,
    HALF,
    INDETERMINATE,
    INFINITY,
    MINUS_INFINITY,
    ONE,
    ZERO,
    Ball,
    Exact,
    Gaussian,
    Kind,
    NonValue,
    Number,
    Undecided,
    Value,
    ball,
    complex_ball,
    gaussian,
    infinity,
    is_zero,
    real_ball,
    settled,
    sign,
    undefined,
    whole,
)
from .watch import Watch

MAX_EXACT_BITS = 100000
MAX_ROOT = 64  # of exact roots that are looked for


def threaded(function: Callable[..., Value], *args: Value) -> Value:
    """Listable functions work element by element; lists must have one length."""
    lengths = {len(arg) for arg in args if isinstance(arg, tuple)}
    if len(lengths) != 1:
        return undefined("lists of different lengths")
    return tuple(function(*(arg[i] if isinstance(arg, tuple) else arg for arg in args)) for i in range(lengths.pop()))


def plus(a: Value, b: Value) -> Value:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return threaded(plus, a, b)
    if isinstance(a, NonValue) or isinstance(b, NonValue):
        return _plus_infinite(a, b)
    if isinstance(a, bool) or isinstance(b, bool):
        return undefined("a truth value is no number")
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return a + b
    if isinstance(a, fmpq | Gaussian) and isinstance(b, fmpq | Gaussian):
        (p, q), (r, s) = parts(a), parts(b)
        return gaussian(p + r, q + s)
    if isinstance(a, fmpq) and a == 0:
        return b
    if isinstance(b, fmpq) and b == 0:
        return a
    x, y = ball(a), ball(b)
    if Watch.on:
        watch.terms(x, y)
    return settled(x + y)


def parts(a: fmpq | Gaussian) -> tuple[fmpq, fmpq]:
    return (a.re, a.im) if isinstance(a, Gaussian) else (a, ZERO)


def _plus_infinite(a: Value, b: Value) -> Value:
    for value in (a, b):
        if isinstance(value, NonValue) and value.kind in (Kind.UNDEFINED, Kind.INDETERMINATE):
            return value
        if isinstance(value, bool):
            return undefined("a truth value is no number")
    if isinstance(a, NonValue) and isinstance(b, NonValue):
        return a if a == b and a.kind is Kind.INFINITY else INDETERMINATE
    return a if isinstance(a, NonValue) else b


def times(a: Value, b: Value) -> Value:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return threaded(times, a, b)
    if isinstance(a, NonValue) or isinstance(b, NonValue):
        return _times_infinite(a, b)
    if isinstance(a, bool) or isinstance(b, bool):
        return undefined("a truth value is no number")
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return a * b
    if isinstance(a, fmpq | Gaussian) and isinstance(b, fmpq | Gaussian):
        (p, q), (r, s) = parts(a), parts(b)
        return gaussian(p * r - q * s, p * s + q * r)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, fmpq):
            if x == 0:
                return ZERO
            if x == 1:
                return y
        if isinstance(x, Gaussian) and x.re == 0 and isinstance(y, arb):
            return settled(acb(arb(0), arb(x.im) * y))  # a ball times I stays exactly imaginary
    return settled(ball(a) * ball(b))


def _times_infinite(a: Value, b: Value) -> Value:
    for value in (a, b):
        if isinstance(value, NonValue) and value.kind in (Kind.UNDEFINED, Kind.INDETERMINATE):
            return value
        if isinstance(value, bool):
            return undefined("a truth value is no number")
    directions = [direction_of(value) for value in (a, b)]
    if any(d is not None and is_zero(d) for d in directions):  # type: ignore[arg-type] # a ball that may be 0 is Undecided
        return INDETERMINATE
    if any(d is None for d in directions):
        return COMPLEX_INFINITY
    product = times(*directions)  # type: ignore[arg-type]
    if isinstance(product, fmpq | Gaussian):
        return infinity(product)
    if isinstance(product, arb):
        return INFINITY if sign(product) > 0 else MINUS_INFINITY
    return COMPLEX_INFINITY if is_zero(product) else undefined("an infinity in some direction")  # type: ignore[arg-type]


def direction_of(value: Value) -> Value | None:
    """The direction in which a value lies from 0: the value itself, or that of an infinity; None for ComplexInfinity."""
    return value.direction if isinstance(value, NonValue) else value


def negative(a: Value) -> Value:
    return times(fmpq(-1), a)


def minus(a: Value, b: Value) -> Value:
    return plus(a, negative(b))


def inverse(a: Value) -> Value:
    if isinstance(a, tuple):
        return threaded(inverse, a)
    if isinstance(a, NonValue):
        return ZERO if a.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) else a
    if isinstance(a, bool):
        return undefined("a truth value is no number")
    if isinstance(a, fmpq):
        return 1 / a if a != 0 else COMPLEX_INFINITY
    if isinstance(a, Gaussian):
        norm = a.re * a.re + a.im * a.im
        return Gaussian(a.re / norm, -a.im / norm)
    if is_zero(a):
        return COMPLEX_INFINITY
    return settled(1 / a)


def divide(a: Value, b: Value) -> Value:
    return times(a, inverse(b))


def power(base: Value, exponent: Value) -> Value:
    """The principal power, exp(exponent log(base))."""
    if isinstance(base, tuple) or isinstance(exponent, tuple):
        return threaded(power, base, exponent)
    if isinstance(base, bool) or isinstance(exponent, bool):
        return undefined("a truth value is no number")
    if isinstance(base, NonValue) or isinstance(exponent, NonValue):
        return _power_infinite(base, exponent)
    k = whole(exponent)
    if k is not None:
        return _integer_power(base, k)
    try:
        if is_zero(base):
            return _power_of_zero(exponent)
    except Undecided:
        if isinstance(exponent, fmpq) and exponent > 0:
            return _power_near_zero(base, exponent)
        raise
    if isinstance(exponent, fmpq) and isinstance(base, fmpq) and base > 0 and (root := exact_root(base, int(exponent.q))) is not None:
        return _integer_power(root, int(exponent.p))
    if isinstance(exponent, fmpq) and exponent == HALF:
        return square_root(base)
    if isinstance(exponent, fmpq) and exponent == -HALF:
        return inverse(square_root(base))
    b, e = ball(base), ball(exponent)
    if isinstance(b, arb) and isinstance(e, arb) and b > 0:
        return _watched(b, b**e)
    return _watched(b, (e * complex_ball(b).log()).exp())


def _power_near_zero(base: Number, exponent: fmpq) -> Value:
    """A ball that contains x^exponent for every x in the ball base, which contains zero. exponent > 0."""
    bound = arb(0, (arb(complex_ball(base).abs_upper()) ** arb(exponent)).upper())
    if isinstance(base, arb) and base >= 0:
        return settled(bound)
    return settled(acb(bound, bound))


def square_root(value: Number) -> Value:
    inner = ball(value)
    if isinstance(inner, arb):
        if inner >= 0:
            return _watched(inner, inner.sqrt())
        if inner < 0:
            return _watched(inner, acb(arb(0), (-inner).sqrt()))
    return _watched(inner, complex_ball(inner).sqrt())


def exact_root(base: fmpq, n: int) -> fmpq | None:
    """The rational n-th root of a positive rational, where there is one."""
    if n > MAX_ROOT or base.p.bit_length() > MAX_EXACT_BITS:
        return None
    numerator, denominator = _root(base.p, n), _root(base.q, n)
    return fmpq(numerator, denominator) if numerator is not None and denominator is not None else None


def _root(value: fmpz, n: int) -> fmpz | None:
    root = value.root(n)
    return root if root**n == value else None


def _integer_power(base: Number, k: int) -> Value:
    if isinstance(base, fmpq):
        if base == 0:
            return INDETERMINATE if k == 0 else ZERO if k > 0 else COMPLEX_INFINITY
        bits = base.p.bit_length() + base.q.bit_length()
        if abs(base) == 1 or bits * abs(k) <= MAX_EXACT_BITS:
            return base**k if k >= 0 else 1 / base ** (-k)
        return settled(arb(base) ** arb(k))
    if isinstance(base, Gaussian):
        if abs(k) * (base.re.height_bits() + base.im.height_bits()) > MAX_EXACT_BITS:
            return settled(complex_ball(base) ** arb(k))
        result: Value = ONE
        factor: Value = base if k >= 0 else inverse(base)
        k = abs(k)
        while k:
            if k & 1:
                result = times(result, factor)
            factor, k = times(factor, factor), k >> 1
        return result
    if k == 0:
        return ONE if not is_zero(base) else INDETERMINATE
    if k < 0:
        return inverse(_integer_power(base, -k))
    if isinstance(base, acb) and base.real.is_zero():  # a power of an imaginary number is exactly real or imaginary
        turned = (acb(base.imag) ** k).real
        return settled([acb(turned), acb(arb(0), turned), acb(-turned), acb(arb(0), -turned)][k % 4])
    if isinstance(base, arb) and base.contains(0):  # a power of a ball around 0 comes back as NaN
        return settled(acb((acb(base) ** k).real))
    return settled(base**k)


def _power_of_zero(exponent: Number) -> Value:
    real = ball(exponent).real
    if real > 0:
        return ZERO
    if real < 0:
        return COMPLEX_INFINITY
    if real.is_zero():
        return INDETERMINATE
    raise Undecided("0 to a power")


def _power_infinite(base: Value, exponent: Value) -> Value:
    for value in (base, exponent):
        if isinstance(value, NonValue) and value.kind in (Kind.UNDEFINED, Kind.INDETERMINATE):
            return value
    if isinstance(base, NonValue):
        if isinstance(exponent, NonValue):
            return undefined("an infinity to an infinite power")
        real = real_ball(exponent)  # type: ignore[arg-type]
        if real is None:
            return undefined("an infinity to a complex power")
        order = sign(real)
        if order < 0:
            return ZERO
        if order == 0:
            return INDETERMINATE
        if base.direction is None:
            return COMPLEX_INFINITY
        return _direction_power(base.direction, exponent)  # type: ignore[arg-type]
    if not isinstance(exponent, NonValue) or exponent.direction not in (ONE, fmpq(-1)):
        return INDETERMINATE
    return _to_infinity(base if exponent.direction == 1 else inverse(base))


AXES = (ONE, Gaussian(ZERO, ONE), fmpq(-1), Gaussian(ZERO, fmpq(-1)))  # I^0 ... I^3
QUARTERS = {AXES[0]: 0, AXES[1]: 1, AXES[2]: 2, AXES[3]: -1}  # Arg[z] as a multiple of Pi/2


def _direction_power(direction: Exact, exponent: Number) -> Value:
    """The infinity in a direction to a positive power: in the direction of the principal power of the direction."""
    if direction == ONE:
        return INFINITY
    k = whole(exponent)
    if k is not None:
        return times(INFINITY, _integer_power(direction, k))
    quarters = QUARTERS[direction] * exponent if direction in QUARTERS and isinstance(exponent, fmpq) else HALF
    if quarters.q != 1:
        return undefined("an infinity in some direction")
    return infinity(AXES[int(quarters.p) % 4])


def _to_infinity(base: Value) -> Value:
    """base^Infinity."""
    if isinstance(base, NonValue):
        return COMPLEX_INFINITY
    if isinstance(base, Gaussian) and base.re * base.re + base.im * base.im == 1:
        return INDETERMINATE
    size = abs(ball(base))  # type: ignore[arg-type]
    if size < 1:
        return ZERO
    if size > 1:
        real = real_ball(base)  # type: ignore[arg-type]
        return INFINITY if real is not None and real > 0 else COMPLEX_INFINITY
    if isinstance(base, fmpq):
        return INDETERMINATE
    raise Undecided("a power of modulus 1")


def exponential(value: Value) -> Value:
    """E to a value."""
    if isinstance(value, tuple):
        return threaded(exponential, value)
    if isinstance(value, NonValue):
        if value == INFINITY:
            return INFINITY
        return ZERO if value == MINUS_INFINITY else INDETERMINATE if value.kind is not Kind.UNDEFINED else value
    if isinstance(value, bool):
        return undefined("a truth value is no number")
    if isinstance(value, fmpq) and value == 0:
        return ONE
    return _watched(ball(value), ball(value).exp())


def _watched(argument: Ball, found: Ball) -> Value:
    if Watch.on:
        watch.result(argument, found)
    return settled(found)
