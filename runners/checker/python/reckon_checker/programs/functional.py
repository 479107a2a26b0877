"""Functions of functions."""

from __future__ import annotations

import itertools
from typing import Any

from .. import budget
from .control import said
from .data import (
    MAX_LENGTH,
    Str,
    Value,
    association,
    compare,
    elements,
    exact,
    has_head,
    in_order,
    is_association,
    is_list,
    is_plain,
    listed,
    ordered,
    pairs,
    plain,
    require,
    truth,
    whole,
)
from .evaluator import apply, builtin, evaluate, holding

MAX_TURNS = 20_000


def parts_of(value: Value, what: str) -> tuple[Any, ...]:
    """The elements of a list, or the values of an association."""
    return tuple(pairs(value, what).values()) if is_association(value) else elements(value, what)


def as_given(value: Value, kept: list[bool]) -> Value:
    """The elements of a list or association that are kept."""
    require(is_list(value) or is_association(value), "a selection")
    return (value[0], *(part for part, keep in zip(value[1:], kept, strict=True) if keep))


@builtin("Map", 2, 3)
def map_(function: Value, value: Value, *level: Value) -> Value:
    if is_association(value) and not level:
        return association({key: apply(function, [part]) for key, part in pairs(value, "Map").items()})
    if level:
        require(is_list(level[0]) and len(level[0]) == 2, "levels")
        return _at_depth(function, value, whole(level[0][1], "levels", 1, 5))
    if isinstance(value, tuple) and isinstance(value[0], str) and value[0] != "List":
        require(is_plain(value) and value[0] not in ("Rule", "Missing"), "Map over an expression")
        return apply(value[0], [apply(function, [part]) for part in value[1:]])
    return listed([apply(function, [part]) for part in elements(value, "Map")])


def _at_depth(function: Value, value: Value, depth: int) -> Value:
    if not is_list(value):
        require(not isinstance(value, tuple), "levels of an expression")
        return value
    return listed([apply(function, [part]) if depth == 1 else _at_depth(function, part, depth - 1) for part in elements(value, "Map")])


@builtin("MapApply", 2)
def map_apply(function: Value, value: Value) -> Value:
    return listed([apply_(function, part) for part in elements(value, "MapApply")])


@builtin("Apply", 2, 3)
def apply_(function: Value, value: Value, *level: Value) -> Value:
    if level:
        require(level[0] == ("List", 1), "levels")
        return map_apply(function, value)
    require(not isinstance(value, tuple) or is_list(value) or is_association(value) or is_plain(value), "Apply to an expression")
    require(isinstance(value, tuple), "Apply to an atom")
    return apply(function, list(pairs(value, "Apply").values()) if is_association(value) else value[1:])


@builtin("MapIndexed", 2)
def map_indexed(function: Value, value: Value) -> Value:
    if is_association(value):
        return association({key: apply(function, [part, ("List", ("Key", key))]) for key, part in pairs(value, "MapIndexed").items()})
    return listed([apply(function, [part, ("List", i + 1)]) for i, part in enumerate(elements(value, "MapIndexed"))])


@builtin("MapThread", 2)
def map_thread(function: Value, lists: Value) -> Value:
    rows = [elements(row, "MapThread") for row in elements(lists, "MapThread")]
    require(len(rows) > 0 and len({len(row) for row in rows}) == 1, "MapThread")
    return listed([apply(function, column) for column in zip(*rows, strict=True)])


@builtin("Thread", 1)
def thread(value: Value) -> Value:
    require(is_plain(value) and isinstance(value, tuple) and not is_list(value) and not is_association(value), "Thread")
    lists = [part for part in value[1:] if is_list(part)]
    require(len(lists) > 0 and len({len(part) for part in lists}) == 1, "Thread")
    return listed([(value[0], *(part[i] if is_list(part) else part for part in value[1:])) for i in range(1, len(lists[0]))])


@builtin("Fold", 2, 3)
def fold(function: Value, *rest: Value) -> Value:
    return _folded(function, *rest)[-1]


@builtin("FoldList", 2, 3)
def fold_list(function: Value, *rest: Value) -> Value:
    return listed(_folded(function, *rest))


def _folded(function: Value, *rest: Value) -> list[Value]:
    parts = list(elements(rest[-1], "Fold"))
    if len(rest) == 1:
        require(len(parts) > 0, "Fold of nothing")
    found = [rest[0]] if len(rest) == 2 else [parts.pop(0)]
    for part in parts:
        found.append(apply(function, [found[-1], part]))
    return found


def _turns(function: Value, start: Value, count: int) -> list[Value]:
    found = [start]
    for _ in range(count):
        found.append(apply(function, [found[-1]]))
    return found


@builtin("Nest", 3)
def nest(function: Value, start: Value, count: Value) -> Value:
    return _turns(function, start, whole(count, "Nest", 0, MAX_TURNS))[-1]


@builtin("NestList", 3)
def nest_list(function: Value, start: Value, count: Value) -> Value:
    return listed(_turns(function, start, whole(count, "NestList", 0, MAX_TURNS)))


def _while(function: Value, start: Value, test: Value) -> list[Value]:
    found = [start]
    while said(apply(test, [found[-1]])):
        require(len(found) < MAX_TURNS, "a long loop")
        found.append(apply(function, [found[-1]]))
    return found


@builtin("NestWhile", 3)
def nest_while(function: Value, start: Value, test: Value) -> Value:
    return _while(function, start, test)[-1]


@builtin("NestWhileList", 3)
def nest_while_list(function: Value, start: Value, test: Value) -> Value:
    return listed(_while(function, start, test))


def _until_fixed(function: Value, start: Value) -> list[Value]:
    found = [start]
    while True:
        require(len(found) < MAX_TURNS, "a long loop")
        found.append(apply(function, [found[-1]]))
        plain(found[-2:], "FixedPoint")
        if found[-1] == found[-2]:
            return found


@builtin("FixedPoint", 2)
def fixed_point(function: Value, start: Value) -> Value:
    return _until_fixed(function, start)[-1]


@builtin("FixedPointList", 2)
def fixed_point_list(function: Value, start: Value) -> Value:
    return listed(_until_fixed(function, start))


@builtin("Array", 2, 3)
def array(function: Value, size: Value, *start: Value) -> Value:
    first = whole(start[0], "Array") if start else 1
    sizes = [whole(part, "Array", 0, MAX_LENGTH) for part in (elements(size, "Array") if is_list(size) else (size,))]
    require(len(sizes) > 0, "Array")

    def rows(place: tuple[int, ...]) -> Value:
        if len(place) == len(sizes):
            return apply(function, place)
        return listed([rows((*place, first + i)) for i in range(sizes[len(place)])])

    return rows(())


@builtin("Outer", 3, None)
def outer(function: Value, *lists: Value) -> Value:
    rows = [elements(row, "Outer") for row in lists]
    require(not any(isinstance(part, tuple) for row in rows for part in row), "Outer of expressions")

    def inner(place: int, chosen: tuple[Value, ...]) -> Value:
        if place == len(rows):
            return apply(function, chosen)
        return listed([inner(place + 1, (*chosen, part)) for part in rows[place]])

    return inner(0, ())


@holding("Through")
def through(node: Any) -> Value:
    require(isinstance(node, tuple) and has_head(node[0], "List"), "Through")
    values = [evaluate(part) for part in node[1:]]
    return listed([apply(evaluate(part), values) for part in node[0][1:]])


# Choices of elements.


@builtin("Select", 2, 3)
def select(value: Value, test: Value, *most: Value) -> Value:
    limit = whole(most[0], "Select", 0) if most else MAX_LENGTH
    kept, count = [], 0
    for part in parts_of(value, "Select"):
        keep = count < limit and said(apply(test, [part]))
        kept.append(keep)
        count += keep
    return as_given(value, kept)


@builtin("SelectFirst", 2, 3)
def select_first(value: Value, test: Value, *otherwise: Value) -> Value:
    for part in parts_of(value, "SelectFirst"):
        if said(apply(test, [part])):
            return part
    return otherwise[0] if otherwise else ("Missing", Str("NotFound"))


@builtin("AllTrue", 2)
def all_true(value: Value, test: Value) -> Value:
    return truth(all(said(apply(test, [part])) for part in parts_of(value, "AllTrue")))


@builtin("AnyTrue", 2)
def any_true(value: Value, test: Value) -> Value:
    return truth(any(said(apply(test, [part])) for part in parts_of(value, "AnyTrue")))


@builtin("NoneTrue", 2)
def none_true(value: Value, test: Value) -> Value:
    return truth(not any(said(apply(test, [part])) for part in parts_of(value, "NoneTrue")))


def _leading(value: Value, test: Value) -> list[Any]:
    return list(itertools.takewhile(lambda part: said(apply(test, [part])), elements(value, "TakeWhile")))


@builtin("TakeWhile", 2)
def take_while(value: Value, test: Value) -> Value:
    return listed(_leading(value, test))


@builtin("LengthWhile", 2)
def length_while(value: Value, test: Value) -> Value:
    return len(_leading(value, test))


# By the value of a function.


@builtin("SortBy", 2)
def sort_by(value: Value, function: Value) -> Value:
    if is_association(value):
        content = pairs(value, "SortBy")
        keys = {key: apply(function, [part]) for key, part in content.items()}
        found = sorted(content, key=lambda key: ordered(keys[key]))
        require(all(compare(keys[a], keys[b]) for a, b in itertools.pairwise(found)), "an order of equals")
        return association({key: content[key] for key in found})
    functions = elements(function, "SortBy") if is_list(function) else (function,)
    parts = elements(value, "SortBy")
    keyed = [([apply(one, [part]) for one in functions], part) for part in parts]
    keyed.sort(key=lambda pair: [ordered(key) for key in pair[0]])
    found = []
    for _, equals in itertools.groupby(keyed, key=lambda pair: [ordered(key) for key in pair[0]]):
        group = [part for _, part in equals]
        found += in_order(group) if len(group) > 1 else group
    return listed(found)


@builtin("ReverseSortBy", 2)
def reverse_sort_by(value: Value, function: Value) -> Value:
    parts = elements(value, "ReverseSortBy")
    keys = [apply(function, [part]) for part in parts]
    order = sorted(range(len(parts)), key=lambda i: ordered(keys[i]), reverse=True)
    require(all(compare(keys[a], keys[b]) for a, b in itertools.pairwise(order)), "an order of equals")
    return listed([parts[i] for i in order])


def _extreme(value: Value, function: Value, sign: int, count: tuple[Value, ...]) -> Value:
    parts = elements(value, "MaximalBy")
    keys = [exact(apply(function, [part]), "MaximalBy") for part in parts]
    require(not count and len(parts) > 0, "MaximalBy")
    best = max(sign * key for key in keys)
    return listed([part for part, key in zip(parts, keys, strict=True) if sign * key == best])


@builtin("MaximalBy", 2)
def maximal_by(value: Value, function: Value) -> Value:
    return _extreme(value, function, 1, ())


@builtin("MinimalBy", 2)
def minimal_by(value: Value, function: Value) -> Value:
    return _extreme(value, function, -1, ())


def grouped(value: Value, function: Value) -> dict[Value, list[Value]]:
    groups: dict[Value, list[Value]] = {}
    for part in parts_of(value, "GroupBy"):
        key = apply(function, [part])
        plain([key], "GroupBy")
        groups.setdefault(key, []).append(part)
    return groups


@builtin("GroupBy", 2, 3)
def group_by(value: Value, function: Value, *reduce: Value) -> Value:
    require(is_list(value), "GroupBy")
    chosen: Value | None = None
    if has_head(function, "Rule"):
        function, chosen = function[1], function[2]
    require(not is_list(function), "GroupBy")
    groups = grouped(value, function)
    if chosen is not None:
        groups = {key: [apply(chosen, [part]) for part in parts] for key, parts in groups.items()}
    return association({key: apply(reduce[0], [listed(parts)]) if reduce else listed(parts) for key, parts in groups.items()})


@builtin("GatherBy", 2)
def gather_by(value: Value, function: Value) -> Value:
    require(is_list(value) and not is_list(function), "GatherBy")
    return listed([listed(parts) for parts in grouped(value, function).values()])


@builtin("CountsBy", 2)
def counts_by(value: Value, function: Value) -> Value:
    require(is_list(value), "CountsBy")
    return association({key: len(parts) for key, parts in grouped(value, function).items()})


@builtin("DeleteDuplicatesBy", 2)
def delete_duplicates_by(value: Value, function: Value) -> Value:
    require(is_list(value), "DeleteDuplicatesBy")
    return listed([parts[0] for parts in grouped(value, function).values()])


@builtin("SplitBy", 2)
def split_by(value: Value, function: Value) -> Value:
    require(not is_list(function), "SplitBy")
    parts = elements(value, "SplitBy")
    keys = [apply(function, [part]) for part in parts]
    plain(keys, "SplitBy")
    runs = itertools.groupby(range(len(parts)), key=lambda i: keys[i])
    budget.step(len(parts))
    return listed([listed([parts[i] for i in run]) for _, run in runs])
