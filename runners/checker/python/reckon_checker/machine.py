"""The rounding error of arithmetic with 53 bits: the radius of enclosures of 53 bits, with slack for libraries that are off by some
units of the last place."""

from __future__ import annotations

from dataclasses import replace

from flint import acb, arb, fmpq

from .deciding import constant_parts
from .evaluation import EMPTY, Environment, evaluate
from .tree import Tree, reals, walk
from .values import Gaussian, Number, Undecided, Value, complex_ball, is_number, precision, settled

BITS = 53
SLACK = 64
LOST = fmpq(1, 2**12)  # of a value, from which on most of it is taken for lost


def rounding(node: Tree, env: Environment) -> Value | None:
    """The value by enclosures of 53 bits, in which sums of decimals are rounded even where they are exact; None where they do not suffice."""
    with precision(BITS):
        try:
            return evaluate(node, replace(env, rounded=True))
        except Undecided:
            pass
        if computes(node):
            return None
        try:
            return evaluate(node, env)
        except Undecided:
            return None


def computes(node: Tree) -> bool:
    """Whether arithmetic is done with decimals inside a tree, so that its parts may be rounded: not in Floor[-0.5]."""
    return any(isinstance(part, tuple) and any(isinstance(inner, tuple) and reals(inner) for inner in part[1:]) for part in walk(node))


def cancels(*nodes: Tree) -> bool:
    """Whether machine arithmetic may lose most of a part without symbols, as it does of 10.^16 + 1 - 10.^16: exact arithmetic
    with such decimals says nothing about the answer of machines."""
    return any(reals(part) and _lossy(rounding(part, EMPTY)) for node in nodes if reals(node) for part in constant_parts(node))


def _lossy(value: Value | None) -> bool:
    if isinstance(value, tuple):
        return any(_lossy(part) for part in value)
    if value is None:
        return True
    if not is_number(value):
        return False
    z = complex_ball(value)
    return bool(arb(z.rad()) * SLACK > LOST * arb(z.abs_upper()))


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


def loosened(value: Value, answer: Tree) -> Value:
    """A value with what machine arithmetic loses at least, where the answer has machine numbers."""
    if not is_number(value) or not any(real.machine for real in reals(answer)):
        return value
    return around(value, arb(complex_ball(value).abs_upper()) * arb(2) ** (6 - BITS))


def around(value: Number, radius: arb) -> Number:
    """The ball with a larger radius; a real one stays real."""
    z = complex_ball(value)
    real = arb(z.real.mid(), (arb(z.real.rad()) + radius).upper())
    if not isinstance(value, acb | Gaussian):
        return settled(real)
    return settled(acb(real, arb(z.imag.mid(), (arb(z.imag.rad()) + radius).upper())))
