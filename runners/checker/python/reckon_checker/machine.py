"""The rounding error of arithmetic with 53 bits: the radius of enclosures of 53 bits, with slack for libraries that are off by some
units of the last place."""

from __future__ import annotations

from flint import acb, arb

from .evaluation import Environment, evaluate
from .tree import Tree
from .values import Gaussian, Number, Undecided, Value, complex_ball, is_number, precision, settled

BITS = 53
SLACK = 64


def rounding(node: Tree, env: Environment) -> Value | None:
    """The value by enclosures of 53 bits; None where they do not suffice."""
    with precision(BITS):
        try:
            return evaluate(node, env)
        except Undecided:
            return None


def allowed(value: Number, lost: Value | None) -> arb | None:
    """The largest error that machine arithmetic may have at this value; None where there is no bound."""
    if lost is None or not is_number(lost):
        return None
    return arb(complex_ball(lost).rad()) * SLACK + arb(complex_ball(value).abs_upper()) * arb(2) ** (6 - BITS)


def widened(value: Value, lost: Value | None) -> Value:
    """A value with what machine arithmetic may have lost of it."""
    if isinstance(value, tuple):
        parts = lost if isinstance(lost, tuple) and len(lost) == len(value) else (None,) * len(value)
        return tuple(widened(part, loss) for part, loss in zip(value, parts, strict=True))
    if not is_number(value):
        return value
    radius = allowed(value, lost)
    if radius is None:
        raise Undecided("machine arithmetic")
    return around(value, radius)


def around(value: Number, radius: arb) -> Number:
    """The ball with a larger radius; a real one stays real."""
    z = complex_ball(value)
    real = arb(z.real.mid(), (arb(z.real.rad()) + radius).upper())
    if not isinstance(value, acb | Gaussian):
        return settled(real)
    return settled(acb(real, arb(z.imag.mid(), (arb(z.imag.rad()) + radius).upper())))
