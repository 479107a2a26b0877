"""Functions of numbers by enclosures: the elementary ones and what holds for all of them. Branches are the principal ones of
DLMF chapter 4, with the values on the cuts that the language gives (those of the defining logarithms).

A function is made from a method of arb and acb. Where the argument is real and the real method has a value it is taken, so
that real results stay real; a complex ball that straddles a cut comes back as the union of both sides, or is Undecided.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb, fmpq

from . import arithmetic, watch
from .arithmetic import divide, inverse, minus, plus, power, threaded, times
from .values import (
    COMPLEX_INFINITY,
    INDETERMINATE,
    INFINITY,
    MINUS_INFINITY,
    ONE,
    ZERO,
    Gaussian,
    Kind,
    NonValue,
    Undecided,
    Value,
    ball,
    complex_ball,
    infinity,
    is_zero,
    settled,
    undefined,
)
from .watch import Watch

Function = Callable[..., Value]
I = Gaussian(ZERO, ONE)  # noqa: E741


def pi() -> Value:
    return arb.pi()


def half_pi() -> Value:
    return arb.pi() / 2


# Limits of functions at Infinity and -Infinity, where the language gives them as values.
AT_INFINITY: dict[str, tuple[Callable[[], Value], Callable[[], Value]]] = {
    "ArcTan": (half_pi, lambda: -arb.pi() / 2),
    "ArcCot": (lambda: ZERO, lambda: ZERO),
    "Tanh": (lambda: ONE, lambda: fmpq(-1)),
    "Coth": (lambda: ONE, lambda: fmpq(-1)),
    "Erf": (lambda: ONE, lambda: fmpq(-1)),
    "Erfc": (lambda: ZERO, lambda: fmpq(2)),
    "Sinh": (lambda: INFINITY, lambda: MINUS_INFINITY),
    "Cosh": (lambda: INFINITY, lambda: INFINITY),
    "ArcSinh": (lambda: INFINITY, lambda: MINUS_INFINITY),
    "Log": (lambda: INFINITY, lambda: INFINITY),
    "SinIntegral": (half_pi, lambda: -arb.pi() / 2),
}

# Exact values at exact arguments, so that what is exactly zero is known to be.
AT_POINTS: dict[str, dict[fmpq, fmpq]] = {
    "Cos": {ZERO: ONE},
    "Cosh": {ZERO: ONE},
    "Log": {ONE: ZERO},
    "ArcCos": {ONE: ZERO},
    "ArcCosh": {ONE: ZERO},
    "Erfc": {ZERO: ONE},
    **{name: {ZERO: ZERO} for name in "Sin Tan Sinh Tanh ArcSin ArcTan ArcSinh ArcTanh Erf Erfi SinIntegral".split()},
}

LARGEST_ARGUMENT_BITS = 20000  # of a number that is reduced modulo a period


def numeric(name: str, method: str) -> Function:
    """The function of one number that a method of arb and acb encloses."""
    points = AT_POINTS.get(name, {})
    at_infinity = AT_INFINITY.get(name)

    def applied(value: Value) -> Value:
        if isinstance(value, tuple):
            return threaded(applied, value)
        if isinstance(value, bool):
            return undefined("a truth value is no number")
        if isinstance(value, NonValue):
            return _at_non_value(value, at_infinity)
        if isinstance(value, fmpq) and value in points:
            return points[value]
        inner = ball(value)
        found = getattr(inner, method)()
        if isinstance(inner, arb) and not found.is_finite():
            found = getattr(acb(inner), method)()
        if Watch.on:
            watch.result(inner, found, name)
        return settled(found)

    return applied


def _at_non_value(value: NonValue, at_infinity: tuple[Callable[[], Value], Callable[[], Value]] | None) -> Value:
    if value.kind is Kind.UNDEFINED:
        return value
    if at_infinity is not None and value in (INFINITY, MINUS_INFINITY):
        return at_infinity[0 if value == INFINITY else 1]()
    return INDETERMINATE


def with_pole(function: Function, pole: Callable[[fmpq], bool], at_pole: Value = COMPLEX_INFINITY) -> Function:
    """The function with its value at exact poles."""

    def applied(value: Value) -> Value:
        if isinstance(value, tuple):
            return threaded(applied, value)
        if isinstance(value, fmpq) and pole(value):
            return at_pole
        return function(value)

    return applied


def reciprocal(function: Function) -> Function:
    return lambda value: inverse(function(value))


def of_inverse(function: Function) -> Function:
    """ArcSec and its kin: the function at 1/x."""
    return lambda value: function(inverse(value))


_finite_log = with_pole(numeric("Log", "log"), lambda x: x == 0, MINUS_INFINITY)


def _log(value: Value) -> Value:
    """Log of an infinity in any direction is Infinity."""
    return INFINITY if isinstance(value, NonValue) and value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) else _finite_log(value)


def log(*args: Value) -> Value:
    if len(args) == 1:
        return _log(args[0])
    return divide(_log(args[1]), _log(args[0]))


_atan = numeric("ArcTan", "atan")


def arctan(*args: Value) -> Value:
    """ArcTan[z]; ArcTan[x, y], the argument of x + I y for real ones."""
    if len(args) == 1:
        if args[0] in (I, Gaussian(ZERO, fmpq(-1))):
            return undefined("ArcTan of I or -I")  # an infinity in a direction
        return _atan(args[0])
    x, y = args
    if any(isinstance(part, tuple) for part in args):
        return threaded(arctan, *args)
    if isinstance(x, fmpq | arb) and isinstance(y, fmpq | arb):
        if isinstance(x, fmpq) and isinstance(y, fmpq) and x == 0 and y == 0:
            return INDETERMINATE
        if isinstance(y, fmpq) and y == 0 and isinstance(x, fmpq) and x > 0:
            return ZERO
        found = acb(arb(x), arb(y)).arg()
        watch.visible("ArcTan", acb(arb(x), arb(y)), found)
        watch.visible("ArcTan", arb(y), found)
        return settled(found)
    top = plus(x, times(I, y))
    return times(Gaussian(ZERO, fmpq(-1)), _log(divide(top, power(plus(times(x, x), times(y, y)), fmpq(1, 2)))))


def arccot(value: Value) -> Value:
    if isinstance(value, fmpq) and value == 0:
        return half_pi()
    return arctan(inverse(value))


def arccoth(value: Value) -> Value:
    if isinstance(value, fmpq) and value == 0:
        return settled(acb(arb(0), arb.pi() / 2))
    return ELEMENTARY["ArcTanh"](inverse(value))


def sinc(value: Value) -> Value:
    if isinstance(value, fmpq) and value == 0:
        return ONE
    return _sinc(value)


_sinc = numeric("Sinc", "sinc")


def absolute(value: Value) -> Value:
    if isinstance(value, tuple):
        return threaded(absolute, value)
    if isinstance(value, bool):
        return undefined("a truth value is no number")
    if isinstance(value, NonValue):
        return INFINITY if value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) else value
    if isinstance(value, fmpq):
        return abs(value)
    if isinstance(value, Gaussian):
        return power(value.re * value.re + value.im * value.im, fmpq(1, 2))
    return settled(abs(value))


def direction(value: Value) -> Value:
    """Sign[z], z/|z|."""
    if isinstance(value, tuple):
        return threaded(direction, value)
    if isinstance(value, bool):
        return undefined("a truth value is no number")
    if isinstance(value, NonValue):
        return direction(value.direction) if value.kind is Kind.INFINITY and value.direction is not None else INDETERMINATE
    if is_zero(value):
        return ZERO
    if isinstance(value, fmpq):
        return ONE if value > 0 else fmpq(-1)
    if isinstance(value, arb):
        return ONE if value > 0 else fmpq(-1)
    return divide(value, absolute(value))


def argument(value: Value) -> Value:
    if isinstance(value, tuple):
        return threaded(argument, value)
    if isinstance(value, NonValue) and value.direction is not None:
        return argument(value.direction)
    if isinstance(value, bool | NonValue):
        return undefined("Arg")
    if isinstance(value, fmpq) and value >= 0:
        return ZERO
    if isinstance(value, arb) and value > 0:
        return ZERO
    found = complex_ball(value).arg()
    watch.visible("Arg", complex_ball(value), found)
    return settled(found)


def real_part(value: Value) -> Value:
    if isinstance(value, tuple):
        return threaded(real_part, value)
    if isinstance(value, bool | NonValue):
        return undefined("Re")
    if isinstance(value, Gaussian):
        return value.re
    return settled(value.real) if isinstance(value, acb) else value


def imaginary_part(value: Value) -> Value:
    if isinstance(value, tuple):
        return threaded(imaginary_part, value)
    if isinstance(value, bool | NonValue):
        return undefined("Im")
    if isinstance(value, Gaussian):
        return value.im
    return settled(value.imag) if isinstance(value, acb) else ZERO


def paired(first: Function, second: Function) -> Function:
    """Both of every number: of a list, the list of the pairs."""

    def applied(value: Value) -> Value:
        return tuple(applied(part) for part in value) if isinstance(value, tuple) else (first(value), second(value))

    return applied


def conjugate(value: Value) -> Value:
    if isinstance(value, tuple):
        return threaded(conjugate, value)
    if isinstance(value, NonValue):
        return infinity(conjugate(value.direction)) if value.direction is not None else value  # type: ignore[arg-type]
    if isinstance(value, bool):
        return undefined("Conjugate")
    if isinstance(value, Gaussian):
        return Gaussian(value.re, -value.im)
    return settled(value.conjugate()) if isinstance(value, acb) else value


def cube_root(value: Value) -> Value:
    return surd(value, fmpq(3))


def surd(value: Value, n: Value) -> Value:
    """The real n-th root."""
    if isinstance(value, tuple):
        return threaded(surd, value, n)
    if not isinstance(n, fmpq) or n.q != 1 or n == 0 or not isinstance(value, fmpq | arb):
        return undefined("Surd")
    if is_zero(value):
        return ZERO if n > 0 else COMPLEX_INFINITY
    if value > 0:
        return power(value, 1 / n)
    if int(n.p) % 2 == 0:
        return undefined("an even root of a negative number")
    if not value < 0:
        raise Undecided("surd")
    return times(fmpq(-1), power(times(fmpq(-1), value), 1 / n))


ELEMENTARY: dict[str, Function] = {
    "Exp": arithmetic.exponential,
    "Log": log,
    "Log2": lambda x: log(fmpq(2), x),
    "Log10": lambda x: log(fmpq(10), x),
    "Sin": numeric("Sin", "sin"),
    "Cos": numeric("Cos", "cos"),
    "Tan": numeric("Tan", "tan"),
    "Cot": with_pole(numeric("Cot", "cot"), lambda x: x == 0),
    "Sec": numeric("Sec", "sec"),
    "Csc": with_pole(numeric("Csc", "csc"), lambda x: x == 0),
    "Sinh": numeric("Sinh", "sinh"),
    "Cosh": numeric("Cosh", "cosh"),
    "Tanh": numeric("Tanh", "tanh"),
    "Coth": with_pole(numeric("Coth", "coth"), lambda x: x == 0),
    "Sech": numeric("Sech", "sech"),
    "Csch": with_pole(numeric("Csch", "csch"), lambda x: x == 0),
    "ArcSin": numeric("ArcSin", "asin"),
    "ArcCos": numeric("ArcCos", "acos"),
    "ArcTan": arctan,
    "ArcSinh": numeric("ArcSinh", "asinh"),
    "ArcCosh": numeric("ArcCosh", "acosh"),
    "ArcTanh": with_pole(with_pole(numeric("ArcTanh", "atanh"), lambda x: x == 1, INFINITY), lambda x: x == -1, MINUS_INFINITY),
    "ArcCot": arccot,
    "ArcCoth": arccoth,
    "Sinc": sinc,
    "Haversine": lambda x: divide(minus(ONE, ELEMENTARY["Cos"](x)), fmpq(2)),
    "Gudermannian": lambda x: times(fmpq(2), arctan(ELEMENTARY["Tanh"](divide(x, fmpq(2))))),
    "Abs": absolute,
    "RealAbs": lambda x: absolute(x) if not isinstance(x, Gaussian | acb) else undefined("RealAbs"),
    "Sign": direction,
    "RealSign": lambda x: direction(x) if not isinstance(x, Gaussian | acb) else undefined("RealSign"),
    "Arg": argument,
    "Re": real_part,
    "Im": imaginary_part,
    "ReIm": paired(real_part, imaginary_part),
    "AbsArg": lambda x: (absolute(x), argument(x)) if not isinstance(x, tuple) else undefined("AbsArg of a list"),
    "Conjugate": conjugate,
    "CubeRoot": cube_root,
    "Surd": surd,
    "Sqrt": lambda x: power(x, fmpq(1, 2)),
    "Minus": lambda x: times(fmpq(-1), x),
    "Subtract": minus,
    "Divide": divide,
}
ELEMENTARY["ArcSec"] = of_inverse(ELEMENTARY["ArcCos"])
ELEMENTARY["ArcCsc"] = of_inverse(ELEMENTARY["ArcSin"])
ELEMENTARY["ArcSech"] = of_inverse(ELEMENTARY["ArcCosh"])
ELEMENTARY["ArcCsch"] = of_inverse(ELEMENTARY["ArcSinh"])
