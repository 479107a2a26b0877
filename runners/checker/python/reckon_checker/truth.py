"""Truth values of comparisons and of membership: True and False only where enclosures prove them, else Undecided."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from flint import acb, arb, fmpq

from .primes import is_prime
from .tree import Refused, Tree
from .values import (
    INFINITY,
    MINUS_INFINITY,
    Gaussian,
    Kind,
    NonValue,
    Relation,
    Undecided,
    Value,
    compare,
    real_ball,
    sign,
    undefined,
)


def equal(a: Value, b: Value) -> bool | NonValue:
    for side in (a, b):
        if isinstance(side, NonValue) and side.kind in (Kind.UNDEFINED, Kind.INDETERMINATE):
            return side
    found = compare(a, b).relation
    if found is Relation.OVERLAP:
        raise Undecided("equal?")
    if found is Relation.INCOMPARABLE:
        return undefined("things of different kinds compared")
    return found is Relation.EQUAL


def unequal(a: Value, b: Value) -> bool | NonValue:
    found = equal(a, b)
    return not found if isinstance(found, bool) else found


def order(a: Value, b: Value) -> int | NonValue:
    """-1, 0 or 1 for real numbers and infinities."""
    if a in (INFINITY, MINUS_INFINITY) or b in (INFINITY, MINUS_INFINITY):
        ranks = [1 if side == INFINITY else -1 if side == MINUS_INFINITY else 0 for side in (a, b)]
        if all(rank != 0 or isinstance(side, fmpq | arb) for rank, side in zip(ranks, (a, b), strict=True)):
            return (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    numbers: list[fmpq | arb] = []
    for side in (a, b):
        if isinstance(side, NonValue):
            return side if side.kind is Kind.UNDEFINED else undefined("an infinity compared")
        if isinstance(side, bool | tuple | Gaussian):
            return undefined("something not real compared")
        real = side if isinstance(side, fmpq) else real_ball(side)
        if real is None:
            return undefined("something not real compared")
        numbers.append(real)
    x, y = numbers
    if isinstance(x, fmpq) and isinstance(y, fmpq):
        return sign(x - y)
    return sign(arb(x) - arb(y))


def ordered(holds: Callable[[int], bool]) -> Callable[[Value, Value], bool | NonValue]:
    def rule(a: Value, b: Value) -> bool | NonValue:
        found = order(a, b)
        return holds(found) if isinstance(found, int) else found

    return rule


def chain(relation: Callable[[Value, Value], bool | NonValue]) -> Callable[..., Value]:
    """a < b < c: neighbours."""

    def rule(*args: Value) -> Value:
        return _every([(a, b) for a, b in itertools.pairwise(args)], relation)

    return rule


def all_pairs(relation: Callable[[Value, Value], bool | NonValue]) -> Callable[..., Value]:
    def rule(*args: Value) -> Value:
        return _every(list(itertools.combinations(args, 2)), relation)

    return rule


def _every(pairs: list[tuple[Value, Value]], relation: Callable[[Value, Value], bool | NonValue]) -> Value:
    for a, b in pairs:
        found = relation(a, b)
        if found is not True:
            return found
    return True


COMPARISONS: dict[str, Callable[..., Value]] = {
    "Equal": chain(equal),
    "SameQ": chain(equal),
    "Unequal": all_pairs(unequal),
    "UnsameQ": all_pairs(unequal),
    "Less": chain(ordered(lambda n: n < 0)),
    "Greater": chain(ordered(lambda n: n > 0)),
    "LessEqual": chain(ordered(lambda n: n <= 0)),
    "GreaterEqual": chain(ordered(lambda n: n >= 0)),
    "Positive": lambda a: ordered(lambda n: n > 0)(a, fmpq(0)),
    "Negative": lambda a: ordered(lambda n: n < 0)(a, fmpq(0)),
    "NonNegative": lambda a: ordered(lambda n: n >= 0)(a, fmpq(0)),
}

SIGNS: dict[str, Callable[[int], bool]] = {
    "Positive": lambda n: n > 0,
    "Negative": lambda n: n < 0,
    "NonNegative": lambda n: n >= 0,
    "NonPositive": lambda n: n <= 0,
}


def member(value: Value, domain: Tree) -> bool | NonValue:
    """Element[value, domain]."""
    if isinstance(value, tuple):
        for part in value:
            found = member(part, domain)
            if found is not True:
                return found
        return True
    if not isinstance(domain, str):
        raise Refused("domain")
    if isinstance(value, NonValue):
        return value
    if domain == "Booleans":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if domain == "Complexes":
        return True
    for prefix, holds in SIGNS.items():
        if domain.startswith(prefix):
            inner = member(value, domain[len(prefix) :])
            return ordered(holds)(value, fmpq(0)) if inner is True else inner
    return _in_domain(value, domain)


def _in_domain(value: fmpq | Gaussian | arb | acb, domain: str) -> bool:
    if isinstance(value, Gaussian):
        return domain == "Algebraics"
    if domain == "Reals":
        return isinstance(value, fmpq) or real_ball(value) is not None
    if isinstance(value, fmpq):
        if domain in ("Rationals", "Algebraics"):
            return True
        if domain == "Integers":
            return bool(value.q == 1)
        if domain == "Primes":
            return bool(value.q == 1 and value > 1 and is_prime(value.p))
        raise Refused("domain " + domain)
    if domain in ("Integers", "Primes"):
        real = real_ball(value)
        if real is None or not real.contains_integer():
            return False
        raise Undecided("an integer?")
    raise Refused("domain " + domain)
