"""Lists: parts, order, sets, arrangements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import budget
from ..tree import Refused
from .arithmetic import negative, plus, quotient, times
from .control import steps
from .data import (
    MAX_LENGTH,
    Str,
    Value,
    association,
    elements,
    exact,
    has_head,
    is_association,
    is_list,
    is_plain,
    listed,
    pairs,
    plain,
    require,
    whole,
)
from .evaluator import builtin
from .functional import parts_of


@builtin("Range", 1, 3)
def range_(*bounds: Value) -> Value:
    require(not any(map(is_list, bounds)), "Range")
    first, last, step = (1, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return listed(steps(first, last, step))


@builtin("ConstantArray", 2)
def constant_array(value: Value, size: Value) -> Value:
    sizes = elements(size, "ConstantArray") if is_list(size) else (size,)
    require(math.prod(whole(part, "ConstantArray", 0, MAX_LENGTH) for part in sizes) <= MAX_LENGTH, "a long list")
    for part in reversed(sizes):
        value = listed([value] * part)
    return value


@builtin("Length", 1)
def length(value: Value) -> Value:
    if isinstance(value, tuple):
        require(is_list(value) or is_association(value) or is_plain(value), "Length of an expression")
        return len(value) - 1
    return 0


# Parts.


def place_of(index: Value, size: int, what: str) -> int:
    """A place counted from 0, of one counted from 1 or from the end."""
    found = whole(index, what)
    require(1 <= abs(found) <= size, what)
    return found - 1 if found > 0 else size + found


def span(spec: Value, size: int, what: str) -> range:
    """The places that n, -n, UpTo[n], {m}, {m, n} or {m, n, s} takes."""
    if has_head(spec, "UpTo") and len(spec) == 2:
        return range(min(whole(spec[1], what, 0), size))
    if spec == "All":
        return range(size)
    if isinstance(spec, int):
        require(abs(spec) <= size, what)
        return range(spec) if spec >= 0 else range(size + spec, size)
    bounds = elements(spec, what)
    if len(bounds) == 1:
        place = place_of(bounds[0], size, what)
        return range(place, place + 1)
    require(len(bounds) in (2, 3), what)
    first, last = place_of(bounds[0], size, what), place_of(bounds[1], size, what)
    by = whole(bounds[2], what, 1) if len(bounds) == 3 else 1
    require(first <= last + 1, what)
    return range(first, last + 1, by)


@builtin("Take", 2, 9)
def take(value: Value, spec: Value, *inner: Value) -> Value:
    require(is_list(value) or (is_association(value) and not inner), "Take")
    parts = value[1:]
    chosen = [parts[i] for i in span(spec, len(parts), "Take")]
    return (value[0], *([take(part, *inner) for part in chosen] if inner else chosen))


@builtin("Drop", 2)
def drop(value: Value, spec: Value) -> Value:
    require(is_list(value) or is_association(value), "Drop")
    parts = value[1:]
    dropped = set(span(spec, len(parts), "Drop"))
    return (value[0], *(part for i, part in enumerate(parts) if i not in dropped))


def _end(place: int) -> Callable[..., Value]:
    def chosen(value: Value, *otherwise: Value) -> Value:
        parts = parts_of(value, "an end")
        if not parts:
            require(len(otherwise) == 1, "an end of nothing")
            return otherwise[0]
        return parts[place]

    return chosen


builtin("First", 1, 2)(_end(0))
builtin("Last", 1, 2)(_end(-1))


@builtin("Rest", 1)
def rest(value: Value) -> Value:
    require((is_list(value) or is_association(value)) and len(value) > 1, "Rest")
    return (value[0], *value[2:])


@builtin("Most", 1)
def most(value: Value) -> Value:
    require((is_list(value) or is_association(value)) and len(value) > 1, "Most")
    return value[:-1]


@builtin("Part", 2, 9)
def part(value: Value, *places: Value) -> Value:
    if not places:
        return value
    place, inner = places[0], places[1:]
    if is_association(value):
        return part(_of_association(value, place), *inner)
    parts = elements(value, "Part")
    if isinstance(place, int):
        return part(parts[place_of(place, len(parts), "Part")], *inner)
    if has_head(place, "Span"):
        return listed([part(parts[i], *inner) for i in _span_of_part(place[1:], len(parts))])
    chosen = parts if place == "All" else [parts[place_of(i, len(parts), "Part")] for i in elements(place, "Part")]
    return listed([part(one, *inner) for one in chosen])


def _of_association(value: Value, place: Value) -> Value:
    content = pairs(value, "Part")
    if isinstance(place, int):
        return list(content.values())[place_of(place, len(content), "Part")]
    key = place[1] if has_head(place, "Key") and len(place) == 2 else place
    require(isinstance(key, Str) or has_head(place, "Key"), "Part")
    return content.get(key, ("Missing", Str("KeyAbsent"), key))


def _span_of_part(bounds: Sequence[Value], size: int) -> range:
    require(len(bounds) in (2, 3), "Span")
    by = whole(bounds[2], "Span") if len(bounds) == 3 else 1
    require(by != 0, "Span")
    if by < 0:
        require(bounds[0] != 1 and isinstance(bounds[0], int) and isinstance(bounds[1], int), "Span")
        return range(place_of(bounds[0], size, "Span"), place_of(bounds[1], size, "Span") - 1, by)
    first = place_of(bounds[0], size, "Span") if size or bounds[0] != 1 else 0
    last = size - 1 if bounds[1] == "All" else place_of(bounds[1], size, "Span")
    require(first <= last + 1, "Span")
    return range(first, last + 1, by)


@builtin("Extract", 2)
def extract(value: Value, place: Value) -> Value:
    places = elements(place, "Extract")
    if places and all(map(is_list, places)):
        return listed([part(value, *elements(one, "Extract")) for one in places])
    require(len(places) > 0, "Extract")
    return part(value, *places)


@builtin("ReplacePart", 2)
def replace_part(value: Value, rule: Value) -> Value:
    parts = list(elements(value, "ReplacePart"))
    for one in elements(rule, "ReplacePart") if is_list(rule) else (rule,):
        require(has_head(one, "Rule"), "ReplacePart")
        place = elements(one[1], "ReplacePart") if is_list(one[1]) else (one[1],)
        require(len(place) > 0 and all(isinstance(index, int) for index in place), "ReplacePart")
        at = place_of(place[0], len(parts), "ReplacePart")
        parts[at] = replace_part(parts[at], ("Rule", ("List", *place[1:]), one[2])) if len(place) > 1 else one[2]
    return listed(parts)


@builtin("Insert", 3)
def insert(value: Value, one: Value, place: Value) -> Value:
    parts = list(elements(value, "Insert"))
    index = whole(place, "Insert")
    require(1 <= abs(index) <= len(parts) + 1, "Insert")
    parts.insert(index - 1 if index > 0 else len(parts) + 1 + index, one)
    return listed(parts)


@builtin("Delete", 2)
def delete(value: Value, place: Value) -> Value:
    parts = elements(value, "Delete")
    places = [elements(one, "Delete") for one in elements(place, "Delete")] if is_list(place) else [(place,)]
    require(all(len(one) == 1 for one in places), "Delete")
    gone = {place_of(one[0], len(parts), "Delete") for one in places}
    return listed([one for i, one in enumerate(parts) if i not in gone])


# Making lists of lists.


@builtin("Join", 1, None)
def join(*lists: Value) -> Value:
    if all(map(is_association, lists)):
        return association({key: value for one in lists for key, value in pairs(one, "Join").items()})
    return listed([part for one in lists for part in elements(one, "Join")])


@builtin("Catenate", 1)
def catenate(lists: Value) -> Value:
    return listed([part for one in elements(lists, "Catenate") for part in parts_of(one, "Catenate")])


@builtin("Append", 2)
def append(value: Value, part: Value) -> Value:
    if is_association(value):
        require(has_head(part, "Rule"), "Append")
        return association(pairs(value, "Append") | {part[1]: part[2]})
    return listed([*elements(value, "Append"), part])


@builtin("Prepend", 2)
def prepend(value: Value, part: Value) -> Value:
    return listed([part, *elements(value, "Prepend")])


@builtin("Reverse", 1)
def reverse(value: Value) -> Value:
    require(is_list(value) or is_association(value), "Reverse")
    return (value[0], *value[:0:-1])


@builtin("Flatten", 1, 2)
def flatten(value: Value, *depth: Value) -> Value:
    limit = 10**6 if not depth or depth[0] == "Infinity" else whole(depth[0], "Flatten", 0)

    def flat(parts: Sequence[Any], left: int) -> list[Any]:
        budget.step(1 + len(parts))
        return [inner for part in parts for inner in (flat(part[1:], left - 1) if is_list(part) and left else [part])]

    return listed(flat(elements(value, "Flatten"), limit))


@builtin("Partition", 2, 3)
def partition(value: Value, size: Value, *offset: Value) -> Value:
    parts, width = elements(value, "Partition"), whole(size, "Partition", 1)
    by = whole(offset[0], "Partition", 1) if offset else width
    return listed([listed(parts[i : i + width]) for i in range(0, len(parts) - width + 1, by)])


@builtin("Riffle", 2)
def riffle(value: Value, between: Value) -> Value:
    parts = list(elements(value, "Riffle"))
    if not is_list(between):
        return listed([one for part in parts for one in (part, between)][:-1])
    others = elements(between, "Riffle")
    require(0 < len(others) == len(parts), "Riffle")
    return listed([one for pair in zip(parts, others, strict=True) for one in pair])


def _rotated(value: Value, count: int) -> Value:
    parts = elements(value, "a rotation")
    shift = count % len(parts) if parts else 0
    return listed([*parts[shift:], *parts[:shift]])


builtin("RotateLeft", 1, 2)(lambda value, count=1: _rotated(value, whole(count, "RotateLeft")))
builtin("RotateRight", 1, 2)(lambda value, count=1: _rotated(value, -whole(count, "RotateRight")))


def _padded(value: Value, size: Value, pad: Value, left: bool) -> Value:
    parts, width = list(elements(value, "a padding")), whole(size, "a padding", 0, MAX_LENGTH)
    require(not is_list(pad), "a padding")
    more = [pad] * max(width - len(parts), 0)
    if left:
        return listed([*more, *parts][len(more) + len(parts) - width :])
    return listed([*parts, *more][:width])


builtin("PadLeft", 2, 3)(lambda value, size, pad=0: _padded(value, size, pad, True))
builtin("PadRight", 2, 3)(lambda value, size, pad=0: _padded(value, size, pad, False))


@builtin("Transpose", 1)
def transpose(value: Value) -> Value:
    rows = [elements(row, "Transpose") for row in elements(value, "Transpose")]
    require(len(rows) > 0 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 0, "Transpose")
    return listed([listed(column) for column in zip(*rows, strict=True)])


@builtin("Dimensions", 1)
def dimensions(value: Value) -> Value:
    def of(one: Any) -> list[int]:
        if not is_list(one):
            require(not isinstance(one, tuple) or has_head(one, "Association") is False, "Dimensions")
            return []
        inner = [of(part) for part in one[1:]]
        same = list(itertools.takewhile(lambda sizes: len(set(sizes)) == 1, zip(*inner, strict=False))) if inner else []
        return [len(inner), *(sizes[0] for sizes in same)]

    require(is_list(value), "Dimensions")
    return listed(of(value))


@builtin("ArrayDepth", 1)
def array_depth(value: Value) -> Value:
    return len(dimensions(value)) - 1


@builtin("ArrayReshape", 2)
def array_reshape(value: Value, size: Value) -> Value:
    parts: list[Value] = list(elements(flatten(value), "ArrayReshape"))
    sizes = [whole(one, "ArrayReshape", 1) for one in elements(size, "ArrayReshape")]
    require(len(sizes) > 0 and math.prod(sizes) == len(parts), "ArrayReshape")
    for width in reversed(sizes[1:]):
        parts = [listed(parts[i : i + width]) for i in range(0, len(parts), width)]
    return listed(parts)


@builtin("Dot", 2, None)
def dot(*arrays: Value) -> Value:
    found = arrays[0]
    for other in arrays[1:]:
        found = _dot(found, other)
    return found


def _dot(a: Value, b: Value) -> Value:
    left, right = elements(a, "Dot"), elements(b, "Dot")
    if left and is_list(left[0]):
        return listed([_dot(row, b) for row in left])
    require(0 < len(left) == len(right) and not any(map(is_list, left)), "Dot")
    if is_list(right[0]):
        require(all(is_list(row) for row in right) and len({len(row) for row in right}) == 1, "Dot")
    return plus(*(times(x, y) for x, y in zip(left, right, strict=True)))


# Sums along a list.


@builtin("Total", 1)
def total(value: Value) -> Value:
    return plus(*parts_of(value, "Total"))


@builtin("Accumulate", 1)
def accumulate(value: Value) -> Value:
    return listed(list(itertools.accumulate(elements(value, "Accumulate"), plus)))


@builtin("Differences", 1, 2)
def differences(value: Value, *times_: Value) -> Value:
    for _ in range(whole(times_[0], "Differences", 0, 100) if times_ else 1):
        value = listed([plus(b, negative(a)) for a, b in itertools.pairwise(elements(value, "Differences"))])
    return value


@builtin("Ratios", 1)
def ratios(value: Value) -> Value:
    return listed([quotient(b, a) for a, b in itertools.pairwise(elements(value, "Ratios"))])


def _largest(values: Sequence[Value], sign: int) -> Value:
    numbers = [exact(one, "Max") for value in values for one in (elements(flatten(value), "Max") if is_list(value) else (value,))]
    require(len(numbers) > 0, "Max of nothing")
    return sign * max(sign * one for one in numbers)


builtin("Max", 1, None)(lambda *values: _largest(values, 1))
builtin("Min", 1, None)(lambda *values: _largest(values, -1))
builtin("MinMax", 1)(lambda value: listed([_largest([value], -1), _largest([value], 1)]))


# Arrangements.


def many(count: int) -> None:
    if count > MAX_LENGTH:
        raise Refused("a long list")
    budget.step(count)


@builtin("Tuples", 1, 2)
def tuples(value: Value, *count: Value) -> Value:
    parts = elements(value, "Tuples")
    rows = [parts] * whole(count[0], "Tuples", 0, 20) if count else [elements(row, "Tuples") for row in parts]
    many(math.prod(len(row) for row in rows))
    return listed([listed(row) for row in itertools.product(*rows)])


@builtin("Subsets", 1, 2)
def subsets(value: Value, *size: Value) -> Value:
    parts = elements(value, "Subsets")
    sizes: Sequence[int] = range(len(parts) + 1)
    if size and is_list(size[0]):
        bounds = [whole(one, "Subsets", 0, 100) for one in elements(size[0], "Subsets")]
        require(len(bounds) in (1, 2), "Subsets")
        sizes = range(bounds[0], bounds[-1] + 1)
    elif size:
        sizes = range(whole(size[0], "Subsets", 0, 100) + 1)
    many(sum(math.comb(len(parts), one) for one in sizes))
    return listed([listed(chosen) for one in sizes for chosen in itertools.combinations(parts, one)])


@builtin("Permutations", 1, 2)
def permutations(value: Value, *size: Value) -> Value:
    parts = elements(value, "Permutations")
    require(len(parts) <= 100, "Permutations")
    width = len(parts)
    if size:
        [width] = [whole(one, "Permutations", 0, len(parts)) for one in elements(size[0], "Permutations")]
    many(math.perm(len(parts), width))
    plain(parts, "Permutations")
    require(len(set(parts)) == len(parts), "permutations of equals")
    return listed([listed(chosen) for chosen in itertools.permutations(parts, width)])
