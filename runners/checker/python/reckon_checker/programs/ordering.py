"""Lists in order, as sets, and as groups of equal elements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .control import said
from .data import (
    Value,
    association,
    compare,
    elements,
    exact,
    in_order,
    is_association,
    listed,
    ordered,
    pairs,
    plain,
    require,
    truth,
    whole,
)
from .evaluator import apply, builtin
from .lists import reverse, take


def by_function(parts: Sequence[Value], before: Value) -> list[Value]:
    """Elements in the order of a function of two, which must tell all that differ apart."""

    def compared(a: Value, b: Value) -> int:
        if a == b:
            return 0
        first, second = _is_before(apply(before, [a, b])), _is_before(apply(before, [b, a]))
        require(first != second, "an order of equals")
        return -1 if first else 1

    plain(parts, "Sort")
    require(len(parts) <= 60, "a long list to sort by a function")
    found: list[Value] = []
    for part in parts:
        place = sum(compared(one, part) <= 0 for one in found)
        require(all(compared(one, part) <= 0 for one in found[:place]), "an order that is none")
        found.insert(place, part)
    return found


def _is_before(value: Value) -> bool:
    if isinstance(value, int):
        require(value in (1, -1), "an order")
        return value == 1
    return said(value)


@builtin("Sort", 1, 2)
def sort(value: Value, *before: Value) -> Value:
    if is_association(value):
        require(not before, "Sort")
        content = pairs(value, "Sort")
        found = sorted(content, key=lambda key: ordered(content[key]))
        require(all(compare(content[a], content[b]) for a, b in itertools.pairwise(found)), "an order of equals")
        return association({key: content[key] for key in found})
    parts = elements(value, "Sort")
    return listed(by_function(parts, before[0]) if before else in_order(parts))


@builtin("ReverseSort", 1)
def reverse_sort(value: Value) -> Value:
    found = sort(value)
    return reverse(found)


@builtin("Ordering", 1, 2)
def ordering(value: Value, *count: Value) -> Value:
    parts = elements(value, "Ordering")
    order = sorted(range(len(parts)), key=lambda i: ordered(parts[i]))
    places: Value = listed([i + 1 for i in order])
    require(all(compare(parts[a], parts[b]) for a, b in itertools.pairwise(order)), "an order of equals")
    return take(places, count[0]) if count else places


@builtin("OrderedQ", 1)
def is_ordered(value: Value) -> Value:
    return truth(all(compare(a, b) <= 0 for a, b in itertools.pairwise(elements(value, "OrderedQ"))))


@builtin("Order", 2)
def order(a: Value, b: Value) -> Value:
    return -compare(a, b)


def _extremes(value: Value, count: Value, largest: bool) -> Value:
    parts = sorted((exact(part, "TakeLargest") for part in elements(value, "TakeLargest")), reverse=largest)
    return listed(parts[: whole(count, "TakeLargest", 0, len(parts))])


builtin("TakeLargest", 2)(lambda value, count: _extremes(value, count, True))
builtin("TakeSmallest", 2)(lambda value, count: _extremes(value, count, False))


def distinct(parts: Sequence[Any]) -> list[Any]:
    plain(parts, "distinct elements")
    return list(dict.fromkeys(parts))


@builtin("DeleteDuplicates", 1)
def delete_duplicates(value: Value) -> Value:
    return listed(distinct(elements(value, "DeleteDuplicates")))


@builtin("DuplicateFreeQ", 1)
def duplicate_free(value: Value) -> Value:
    parts = elements(value, "DuplicateFreeQ")
    return truth(len(distinct(parts)) == len(parts))


@builtin("CountDistinct", 1)
def count_distinct(value: Value) -> Value:
    return len(distinct(elements(value, "CountDistinct")))


@builtin("Union", 1, None)
def union(*lists: Value) -> Value:
    return listed(in_order(distinct([part for one in lists for part in elements(one, "Union")])))


@builtin("Intersection", 1, None)
def intersection(*lists: Value) -> Value:
    sets = [distinct(elements(one, "Intersection")) for one in lists]
    return listed(in_order([part for part in sets[0] if all(part in set(other) for other in sets[1:])]))


@builtin("Complement", 1, None)
def complement(*lists: Value) -> Value:
    sets = [distinct(elements(one, "Complement")) for one in lists]
    gone = {part for other in sets[1:] for part in other}
    return listed(in_order([part for part in sets[0] if part not in gone]))


@builtin("SymmetricDifference", 2)
def symmetric_difference(a: Value, b: Value) -> Value:
    return union(complement(a, b), complement(b, a))


def _set(value: Value) -> set[Any]:
    return set(distinct(elements(value, "a set")))


for _name, _holds in {
    "ContainsAll": lambda a, b: _set(b) <= _set(a),
    "SubsetQ": lambda a, b: _set(b) <= _set(a),
    "ContainsAny": lambda a, b: bool(_set(a) & _set(b)),
    "ContainsNone": lambda a, b: not _set(a) & _set(b),
    "ContainsOnly": lambda a, b: _set(a) <= _set(b),
    "ContainsExactly": lambda a, b: _set(a) == _set(b),
    "IntersectingQ": lambda a, b: bool(_set(a) & _set(b)),
    "DisjointQ": lambda a, b: not _set(a) & _set(b),
}.items():
    builtin(_name, 2)(lambda a, b, holds=_holds: truth(holds(a, b)))


@builtin("Tally", 1)
def tally(value: Value) -> Value:
    counted = counts_of(elements(value, "Tally"))
    return listed([("List", part, count) for part, count in counted.items()])


def counts_of(parts: Sequence[Value]) -> dict[Any, int]:
    plain(parts, "counts")
    found: dict[Any, int] = {}
    for one in parts:
        found[one] = found.get(one, 0) + 1
    return found


@builtin("Counts", 1)
def counts(value: Value) -> Value:
    return association(dict(counts_of(elements(value, "Counts"))))


@builtin("Commonest", 1)
def commonest(value: Value) -> Value:
    counted = counts_of(elements(value, "Commonest"))
    require(len(counted) > 0, "Commonest")
    return listed([part for part, count in counted.items() if count == max(counted.values())])


@builtin("Gather", 1)
def gather(value: Value) -> Value:
    return listed([listed([part] * count) for part, count in counts_of(elements(value, "Gather")).items()])


@builtin("Split", 1, 2)
def split(value: Value, *same: Value) -> Value:
    parts = elements(value, "Split")
    if not same:
        plain(parts, "Split")
    runs: list[list[Value]] = []
    for one in parts:
        if runs and (said(apply(same[0], [runs[-1][-1], one])) if same else runs[-1][-1] == one):
            runs[-1].append(one)
        else:
            runs.append([one])
    return listed([listed(run) for run in runs])
