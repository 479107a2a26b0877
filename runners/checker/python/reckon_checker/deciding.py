"""Two values computed to more and more bits until they are told apart, agree to enough digits, or the last precision is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from flint import arb

from . import budget, watch
from .evaluation import evaluate
from .tree import Refused, Tree, constants, free_symbols, walk
from .values import (
    Comparison,
    Relation,
    Undecided,
    Value,
    ball,
    compare,
    complex_ball,
    digits_of,
    is_number,
    precision,
    significant,
    spread,
)

SCHEDULE = (64, 320, 1024)
ENOUGH_DIGITS = 60
BITS_A_DIGIT = 3.3

NOT_ZERO_BITS = 512
MAX_EXTRA_BITS = 20000
SHORT_NUMBER = 24  # bits
MAX_HIDDEN_BITS = 12000  # of what constants hide, at which it is looked for

UNKNOWN = Comparison(Relation.INCOMPARABLE)


def decide(left: Callable[[], Value], right: Callable[[], Value], enough: int = ENOUGH_DIGITS, extra: int = 0) -> Comparison:
    """Compares two values at rising precision until their relation is decided. An OVERLAP of fewer than enough digits, and UNKNOWN, mean that the
    precision did not suffice. extra: bits of the numbers that stand in the expressions (height), by which more are wanted."""
    found = UNKNOWN
    first: list[arb | None] | None = None
    if extra > MAX_EXTRA_BITS:
        enough = 10**6
    for bits in (SCHEDULE[0], *(bits + min(extra, MAX_EXTRA_BITS) for bits in SCHEDULE[1:])):
        budget.step()
        with precision(bits):
            try:
                a, b = left(), right()
                pairs, shapes = matched(a, b), compare(a, b)
            except Undecided:
                continue
            if pairs is None:
                return shapes
            spreads = [spread(ball(a), ball(b)) if _inexact(a, b) else None for a, b in pairs]  # type: ignore[arg-type]
            each = [_digits(compare(a, b), now, then, bits) for (a, b), now, then in zip(pairs, spreads, first or spreads, strict=True)]
            found = _worst(each)
            if found.relation is Relation.DIFFERENT and isinstance(a, tuple):
                return replace(found, place=list(_places(a))[each.index(found)])
            if found.relation is not Relation.OVERLAP:
                return found
            if found.digits >= enough + extra * 3 // 10:
                if everything_is_seen(left, right, found.digits):
                    return found
                found = Comparison(Relation.OVERLAP, found.left, found.right, 0)
            elif found.digits >= ENOUGH_DIGITS:
                found = Comparison(Relation.OVERLAP, found.left, found.right, ENOUGH_DIGITS - 1)  # fewer than the numbers call for
            first = first or spreads
    return found


def everything_is_seen(left: Callable[[], Value], right: Callable[[], Value], digits: int) -> bool:
    """Whether no part of either side is too small to be seen by an agreement to so many digits."""
    watch.reset(True)
    try:
        left()
        right()
        return watch.seen(digits * BITS_A_DIGIT)
    except Undecided:
        return False
    finally:
        watch.reset(False)


def height(*nodes: Tree) -> int:
    """Bits of the large and small numbers that stand in trees: 10^-400 cannot be seen with fewer digits."""
    bits = 0
    for node in nodes:
        for part in walk(node):
            if isinstance(part, int):
                bits += part.bit_length() if part.bit_length() > SHORT_NUMBER else 0
            elif isinstance(part, tuple) and part[0] == "Power" and len(part) == 3 and isinstance(part[1], int) and isinstance(part[2], int):
                size = abs(part[2]) * part[1].bit_length()
                bits += size if size > SHORT_NUMBER else 0
            elif isinstance(part, tuple) and part[0] in ("Factorial", "Gamma") and len(part) == 2 and isinstance(part[1], int):
                bits += abs(part[1]) * part[1].bit_length() if part[1] > SHORT_NUMBER else 0
    return bits


@lru_cache(maxsize=256)
def hidden(node: Tree) -> int:
    """Bits below which parts of a tree without symbols lie, as E^-500 does; 0 where 60 digits show them."""
    bits = 0
    for part in constant_parts(node):
        with precision(SCHEDULE[0]):
            watch.reset(True)
            try:
                evaluate(part)
                depth = watch.Watch.depth
            except (Undecided, Refused):
                depth = 0
            finally:
                watch.reset(False)
        if SCHEDULE[1] < 2 * depth <= MAX_HIDDEN_BITS:
            bits = max(bits, 2 * depth)
    return bits


def not_zero(node: Tree) -> bool:
    """Whether a tree without symbols and generated constants is a number that is proved not to be zero."""
    if free_symbols(node) or constants(node):
        return False
    with precision(NOT_ZERO_BITS):
        try:
            value = evaluate(node)
        except (Undecided, Refused):
            return False
        return is_number(value) and not complex_ball(value).contains(0)


def constant_parts(node: Tree) -> Iterator[Tree]:
    """The largest parts without symbols."""
    if not isinstance(node, tuple):
        return
    if not free_symbols(node):
        yield node
        return
    for part in node[1:]:
        yield from constant_parts(part)


def matched(a: Value, b: Value) -> list[tuple[Value, Value]] | None:
    """The pairs of entries at the same places of two nested lists; None where the shapes differ."""
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        return [(a, b)]
    if not isinstance(a, tuple) or not isinstance(b, tuple) or len(a) != len(b):
        return None
    pairs: list[tuple[Value, Value]] = []
    for x, y in zip(a, b, strict=True):
        inner = matched(x, y)
        if inner is None:
            return None
        pairs += inner
    return pairs


def _places(value: Value) -> Iterator[tuple[int, ...]]:
    """The places of the entries of a nested list, in the order of matched."""
    if not isinstance(value, tuple):
        yield ()
        return
    for i, part in enumerate(value, 1):
        for inner in _places(part):
            yield (i, *inner)


def _inexact(a: Value, b: Value) -> bool:
    return is_number(a) and is_number(b) and compare(a, b).relation is Relation.OVERLAP


def _digits(found: Comparison, now: arb | None, then: arb | None, bits: int) -> Comparison:
    """Where both values may be zero, digits count from the size of what cancelled: the radius that 64 bits left, times 2^64."""
    if found.relation is not Relation.OVERLAP or now is None:
        return found
    digits = digits_of(ball(found.left), ball(found.right))  # type: ignore[arg-type]
    if then is not None and bits > SCHEDULE[0]:
        by_scale = significant(then * arb(2) ** SCHEDULE[0], now)
        digits = max(digits, by_scale) if digits == 0 else digits
    return Comparison(found.relation, found.left, found.right, digits)


def _worst(found: list[Comparison]) -> Comparison:
    """A difference anywhere decides; then what cannot be compared, then the fewest digits."""
    worst = Comparison(Relation.EQUAL)
    for one in found:
        if one.relation is Relation.DIFFERENT:
            return one
        if worst.relation is Relation.INCOMPARABLE:
            continue
        if one.relation is Relation.INCOMPARABLE or worst.relation is Relation.EQUAL or (one.relation is Relation.OVERLAP and one.digits < worst.digits):
            worst = one
    return worst
