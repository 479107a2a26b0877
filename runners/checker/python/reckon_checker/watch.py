"""Notices what is too small to be seen: a term that vanishes beside another, a function that is its limit to all digits.

Agreement to any number of digits says nothing about such a part: x + E^(-(10^6 (x - 100))^2) agrees with x nearly everywhere.
"""

from __future__ import annotations

from flint import acb, arb, ctx

LARGEST_LIMIT = 1000  # of the whole numbers that are taken for limits
VISIBLE_BITS = 200  # to which every part of an expression must be known for an agreement to speak of it


class Watch:
    on = False
    vanished = False


def reset(on: bool) -> None:
    Watch.on, Watch.vanished = on, False


def _size(value: arb | acb) -> tuple[arb, arb]:
    return arb(value.abs_lower()), arb(value.abs_upper())


def _complex(value: arb | acb) -> acb:
    return value if isinstance(value, acb) else acb(value)


def terms(a: arb | acb, b: arb | acb) -> None:
    """Called for a sum of two balls."""
    (low_a, high_a), (low_b, high_b) = _size(a), _size(b)
    limit = arb(2) ** min(VISIBLE_BITS - ctx.prec, -1)
    if (high_a < low_b * limit and not a.is_zero()) or (high_b < low_a * limit and not b.is_zero()):
        Watch.vanished = True


def result(argument: arb | acb, value: arb | acb, saturates: bool = True) -> None:
    """Called for a function's value: one that may be a whole number has reached a limit; one that may be its argument
    follows it too closely, as Sin[10^-50] does; one of a large argument is its limit there, where it saturates."""
    near = not value.is_exact() and ((value.contains_integer() and abs(value) < LARGEST_LIMIT) or _complex(value).overlaps(_complex(argument)))
    if near or (saturates and abs(argument) > arb(2) ** max(ctx.prec - VISIBLE_BITS, 1)):
        Watch.vanished = True
