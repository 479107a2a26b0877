"""Associations: keys, values, and what is made of them."""

from __future__ import annotations

from typing import Any

from .control import said
from .data import Str, Value, association, elements, has_head, in_order, is_association, is_list, listed, pairs, plain, require, truth
from .evaluator import apply, builtin


def content_of(value: Value, what: str) -> dict[Any, Any]:
    """The values by their keys of an association, or of a list of rules with different keys."""
    if is_association(value):
        return pairs(value, what)
    rules = elements(value, what)
    require(all(has_head(rule, "Rule") and len(rule) == 3 for rule in rules) and len({rule[1] for rule in rules}) == len(rules), what)
    return {rule[1]: rule[2] for rule in rules}


@builtin("Keys", 1)
def keys(value: Value) -> Value:
    return listed(list(content_of(value, "Keys")))


@builtin("Values", 1)
def values(value: Value) -> Value:
    return listed(list(content_of(value, "Values").values()))


@builtin("Normal", 1)
def normal(value: Value) -> Value:
    require(is_association(value), "Normal")
    return listed(value[1:])


@builtin("Lookup", 2, 3)
def lookup(value: Value, key: Value, *otherwise: Value) -> Value:
    if is_list(value) and not all(has_head(rule, "Rule") for rule in value[1:]):
        return listed([lookup(one, key, *otherwise) for one in elements(value, "Lookup")])
    if is_list(key):
        return listed([lookup(value, one, *otherwise) for one in elements(key, "Lookup")])
    plain([key], "Lookup")
    missing = otherwise[0] if otherwise else ("Missing", Str("KeyAbsent"), key)
    return content_of(value, "Lookup").get(key, missing)


@builtin("KeyExistsQ", 2)
def key_exists(value: Value, key: Value) -> Value:
    plain([key], "KeyExistsQ")
    return truth(key in pairs(value, "KeyExistsQ"))


@builtin("AssociationThread", 1, 2)
def association_thread(*parts: Value) -> Value:
    if len(parts) == 1:
        require(has_head(parts[0], "Rule"), "AssociationThread")
        parts = parts[0][1:]
    names, found = (elements(part, "AssociationThread") for part in parts)
    require(len(names) == len(found), "AssociationThread")
    return association(dict(zip(names, found, strict=True)))


@builtin("AssociationMap", 2)
def association_map(function: Value, value: Value) -> Value:
    return association({key: apply(function, [key]) for key in elements(value, "AssociationMap")})


@builtin("KeyMap", 2)
def key_map(function: Value, value: Value) -> Value:
    content = pairs(value, "KeyMap")
    found = {apply(function, [key]): one for key, one in content.items()}
    require(len(found) == len(content), "KeyMap")
    return association(found)


@builtin("KeyValueMap", 2)
def key_value_map(function: Value, value: Value) -> Value:
    return listed([apply(function, [key, one]) for key, one in pairs(value, "KeyValueMap").items()])


@builtin("KeySelect", 2)
def key_select(value: Value, test: Value) -> Value:
    return association({key: one for key, one in pairs(value, "KeySelect").items() if said(apply(test, [key]))})


def _names(value: Value) -> list[Any]:
    names = list(elements(value, "keys")) if is_list(value) else [value]
    plain(names, "keys")
    return names


@builtin("KeyTake", 2)
def key_take(value: Value, chosen: Value) -> Value:
    content = pairs(value, "KeyTake")
    return association({key: content[key] for key in _names(chosen) if key in content})


@builtin("KeyDrop", 2)
def key_drop(value: Value, dropped: Value) -> Value:
    gone = set(_names(dropped))
    return association({key: one for key, one in pairs(value, "KeyDrop").items() if key not in gone})


@builtin("KeySort", 1)
def key_sort(value: Value) -> Value:
    content = pairs(value, "KeySort")
    return association({key: content[key] for key in in_order(list(content))})


@builtin("Merge", 2)
def merge(value: Value, combine: Value) -> Value:
    found: dict[Any, list[Value]] = {}
    for one in elements(value, "Merge"):
        for key, part in pairs(one, "Merge").items():
            found.setdefault(key, []).append(part)
    return association({key: apply(combine, [listed(parts)]) for key, parts in found.items()})


@builtin("PositionIndex", 1)
def position_index(value: Value) -> Value:
    parts = elements(value, "PositionIndex")
    plain(parts, "PositionIndex")
    found: dict[Any, list[Value]] = {}
    for i, part in enumerate(parts):
        found.setdefault(part, []).append(i + 1)
    return association({key: listed(places) for key, places in found.items()})
