"""Texts: their characters, their parts, and what is found and replaced in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from .. import budget
from ..tree import Refused
from .data import FALSE, MAX_LENGTH, TRUE, Str, Value, elements, has_head, is_list, listed, plain, require, string, text, truth, whole
from .evaluator import builtin, evaluate, put_in
from .lists import place_of, span
from .numbers import listable
from .string_patterns import Finder, finder_of

WHITESPACE = " \t\n\r\f\v"


def _strings(value: Value, what: str) -> list[str]:
    return [string(one, what) for one in elements(value, what)]


@listable("StringLength", 1)
def string_length(value: Value) -> Value:
    return len(string(value, "StringLength"))


@builtin("StringJoin", 0, None)
def string_join(*values: Value) -> Value:
    found: list[str] = []
    pending = list(values[::-1])
    while pending:
        one = pending.pop()
        if is_list(one):
            pending.extend(elements(one, "StringJoin")[::-1])
        else:
            found.append(string(one, "StringJoin"))
    return text("".join(found))


@listable("StringReverse", 1)
def string_reverse(value: Value) -> Value:
    found = string(value, "StringReverse")
    require(found.isascii(), "StringReverse")  # elsewhere a character may be made of several
    return Str(found[::-1])


@listable("Characters", 1)
def characters(value: Value) -> Value:
    return listed([Str(one) for one in string(value, "Characters")])


def _taken(name: str, choose: Callable[[str, range], str]) -> None:
    def of_one(value: Value, spec: Value) -> Value:
        if is_list(value):
            return listed([of_one(one, spec) for one in elements(value, name)])
        found = string(value, name)
        if is_list(spec) and len(spec) > 1 and all(map(is_list, spec[1:])):
            require(name == "StringTake", name)
            return listed([of_one(value, one) for one in elements(spec, name)])
        return Str(choose(found, span(spec, len(found), name)))

    builtin(name, 2)(of_one)


_taken("StringTake", lambda found, places: "".join(found[i] for i in places))
_taken("StringDrop", lambda found, places: "".join(one for i, one in enumerate(found) if i not in set(places)))


@builtin("StringPart", 2)
def string_part(value: Value, place: Value) -> Value:
    found = string(value, "StringPart")
    if is_list(place):
        return listed([string_part(value, one) for one in elements(place, "StringPart")])
    return Str(found[place_of(place, len(found), "StringPart")])


@builtin("StringInsert", 3)
def string_insert(value: Value, more: Value, place: Value) -> Value:
    found, new = string(value, "StringInsert"), string(more, "StringInsert")
    places = []
    for one in elements(place, "StringInsert") if is_list(place) else (place,):
        index = whole(one, "StringInsert")
        require(1 <= abs(index) <= len(found) + 1, "StringInsert")
        places.append(index - 1 if index > 0 else len(found) + 1 + index)
    require(len(set(places)) == len(places), "StringInsert")
    for start in sorted(places, reverse=True):
        found = found[:start] + new + found[start:]
    return text(found)


@builtin("StringRepeat", 2, 3)
def string_repeat(value: Value, count: Value, *most: Value) -> Value:
    found, often = string(value, "StringRepeat"), whole(count, "StringRepeat", 0, MAX_LENGTH)
    require(len(found) * often <= MAX_LENGTH, "a long text")
    return text((found * often)[: whole(most[0], "StringRepeat", 0) if most else None])


@builtin("StringPartition", 2, 3)
def string_partition(value: Value, size: Value, *offset: Value) -> Value:
    found, width = string(value, "StringPartition"), whole(size, "StringPartition", 1)
    by = whole(offset[0], "StringPartition", 1) if offset else width
    return listed([Str(found[i : i + width]) for i in range(0, len(found) - width + 1, by)])


def _rotated(value: Value, count: Value, sign: int) -> Value:
    found = string(value, "a rotation")
    by = sign * whole(count, "a rotation") % len(found) if found else 0
    return Str(found[by:] + found[:by])


builtin("StringRotateLeft", 1, 2)(lambda value, count=1: _rotated(value, count, 1))
builtin("StringRotateRight", 1, 2)(lambda value, count=1: _rotated(value, count, -1))


def _padded(name: str, left: bool) -> None:
    def pad(value: Value, size: Value, *filler: Value) -> Value:
        if is_list(value):
            return listed([pad(one, size, *filler) for one in elements(value, name)])
        found, width = string(value, name), whole(size, name, 0, MAX_LENGTH)
        by = string(filler[0], name) if filler else " "
        require(len(by) == 1, name)
        return Str(found.rjust(width, by)[-width:] if left and width else found.ljust(width, by)[:width])

    builtin(name, 2, 3)(pad)


_padded("StringPadLeft", True)
_padded("StringPadRight", False)


# Letters.


def _cased(value: Value, what: str) -> str:
    """A text whose letters have capitals one by one."""
    found = string(value, what)
    require(all(len(one.upper()) == len(one.lower()) == 1 and one.upper().lower() in (one, one.lower()) for one in found), what)
    require(all(one.isascii() or unicodedata.name(one, "").startswith(("LATIN", "GREEK", "CYRILLIC")) for one in found), what)
    return found


listable("ToUpperCase", 1)(lambda value: Str(_cased(value, "ToUpperCase").upper()))
listable("ToLowerCase", 1)(lambda value: Str(_cased(value, "ToLowerCase").lower()))


@listable("Capitalize", 1)
def capitalize(value: Value) -> Value:
    found = _cased(value, "Capitalize")
    return Str(found[:1].upper() + found[1:])


def _all(name: str, test: Callable[[str], bool]) -> None:
    def check(value: Value) -> Value:
        found = string(value, name)
        require(found.isascii() and found != "", name)
        return truth(all(map(test, found)))

    listable(name, 1)(check)


_all("LetterQ", str.isalpha)
_all("DigitQ", str.isdigit)
_all("UpperCaseQ", str.isupper)
_all("LowerCaseQ", str.islower)


@builtin("PalindromeQ", 1)
def palindrome(value: Value) -> Value:
    if isinstance(value, int):
        found: Sequence[Any] = str(abs(value)) if value.bit_length() < 10_000 else ""
        require(len(found) > 0 and value >= 0, "PalindromeQ")
    else:
        found = string(value, "PalindromeQ") if isinstance(value, Str) else elements(value, "PalindromeQ")
        require(not isinstance(value, Str) or value.text.isascii(), "PalindromeQ")
        require(not any(isinstance(one, tuple) for one in found), "PalindromeQ")
    return truth(list(found) == list(found)[::-1])


@listable("ToCharacterCode", 1)
def to_character_code(value: Value) -> Value:
    return listed([ord(one) for one in string(value, "ToCharacterCode")])


@builtin("FromCharacterCode", 1)
def from_character_code(value: Value) -> Value:
    if is_list(value) and any(map(is_list, value[1:])):
        return listed([from_character_code(one) for one in elements(value, "FromCharacterCode")])
    codes = elements(value, "FromCharacterCode") if is_list(value) else (value,)
    found = [whole(code, "FromCharacterCode", 0, 0xFFFF) for code in codes]
    require(not any(0xD800 <= code < 0xE000 for code in found), "FromCharacterCode")
    return text("".join(map(chr, found)))


@builtin("CharacterRange", 2)
def character_range(first: Value, last: Value) -> Value:
    low, high = string(first, "CharacterRange"), string(last, "CharacterRange")
    require(len(low) == len(high) == 1 and low.isascii() and high.isascii(), "CharacterRange")
    return listed([Str(chr(code)) for code in range(ord(low), ord(high) + 1)])


@builtin("Alphabet", 0)
def alphabet() -> Value:
    return listed([Str(chr(code)) for code in range(ord("a"), ord("z") + 1)])


@builtin("LetterNumber", 1)
def letter_number(value: Value) -> Value:
    found = string(value, "LetterNumber").lower()
    require(len(found) == 1 and found.isascii() and found.isalpha(), "LetterNumber")
    return ord(found) - ord("a") + 1


@builtin("ToString", 1)
def to_string(value: Value) -> Value:
    if isinstance(value, Str):
        return value
    require((isinstance(value, int) and value.bit_length() < 10_000) or value in (TRUE, FALSE), "ToString")
    return Str(str(value))


builtin("TextString", 1)(to_string)


# Distances.


@builtin("HammingDistance", 2)
def hamming_distance(a: Value, b: Value) -> Value:
    x, y = (one.text if isinstance(one, Str) else elements(one, "HammingDistance") for one in (a, b))
    plain([*x, *y], "HammingDistance")
    require(isinstance(a, Str) == isinstance(b, Str) and len(x) == len(y), "HammingDistance")
    return sum(p != q for p, q in zip(x, y, strict=True))


@builtin("EditDistance", 2)
def edit_distance(a: Value, b: Value) -> Value:
    """Insertions, deletions and substitutions of single characters (Levenshtein 1966)."""
    x, y = string(a, "EditDistance"), string(b, "EditDistance")
    budget.step(1 + len(x) * len(y) // 8)
    row = list(range(len(y) + 1))
    for i, one in enumerate(x):
        last, row = row, [i + 1]
        for j, other in enumerate(y):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (one != other)))
    return row[-1]


# Searches.


@builtin("StringTrim", 1)
def string_trim(value: Value) -> Value:
    if is_list(value):
        return listed([string_trim(one) for one in elements(value, "StringTrim")])
    return Str(string(value, "StringTrim").strip(WHITESPACE))


@builtin("StringSplit", 1, 2)
def string_split(value: Value, *separator: Value) -> Value:
    if is_list(value):
        return listed([string_split(one, *separator) for one in elements(value, "StringSplit")])
    found = string(value, "StringSplit")
    if not separator:
        return listed([Str(part) for part in re.split(f"[{WHITESPACE}]+", found) if part])
    finder = finder_of(separator[0], found)
    require(not has_head(separator[0], "List", "Rule"), "StringSplit")
    parts, start = [], 0
    for begin, end, _ in finder.without_overlaps():
        require(end > begin, "StringSplit")
        parts.append(found[start:begin])
        start = end
    parts.append(found[start:])
    outer = [parts[:2], parts[:-3:-1]]
    require(len(parts) < 3 or not any(all(one == "" for one in two) for two in outer), "StringSplit with separators in a row at an end")
    if parts and parts[0] == "":
        parts = parts[1:]
    if parts and parts[-1] == "":
        parts = parts[:-1]
    return listed([Str(part) for part in parts])


@builtin("StringRiffle", 1, 2)
def string_riffle(value: Value, *separator: Value) -> Value:
    parts = [string(to_string(one), "StringRiffle") for one in elements(value, "StringRiffle")]
    first, between, last = "", " ", ""
    if separator and is_list(separator[0]):
        first, between, last = (string(one, "StringRiffle") for one in (*separator[0][1:], *[0] * (4 - len(separator[0]))))
    elif separator:
        between = string(separator[0], "StringRiffle")
    return text(first + between.join(parts) + last)


def _each(function: Callable[..., Value]) -> Callable[..., Value]:
    """The function for each of a list of texts."""

    def through(value: Value, *rest: Value) -> Value:
        return listed([through(one, *rest) for one in elements(value, "a search")]) if is_list(value) else function(value, *rest)

    return through


def _finder(value: Value, form: Value) -> Finder:
    return finder_of(form, string(value, "a search"))


builtin("StringContainsQ", 2)(_each(lambda value, form: truth(bool(_finder(value, form).first()))))
builtin("StringFreeQ", 2)(_each(lambda value, form: truth(not _finder(value, form).first())))
builtin("StringStartsQ", 2)(_each(lambda value, form: truth(_finder(value, form).starts())))
builtin("StringEndsQ", 2)(_each(lambda value, form: truth(_finder(value, form).ends())))
builtin("StringCount", 2)(_each(lambda value, form: len(_finder(value, form).without_overlaps())))


@builtin("StringMatchQ", 2)
def string_match(value: Value, form: Value) -> Value:
    if is_list(value):
        return listed([string_match(one, form) for one in elements(value, "StringMatchQ")])
    if isinstance(form, Str) and "*" in form.text and not any(mark in form.text for mark in "@\\"):
        pieces: list[Value] = [Str(piece) for piece in form.text.split("*")]
        spread = [one for piece in pieces for one in (("BlankNullSequence",), piece) if one != Str("")][1:]
        return truth(_finder(value, ("StringExpression", *spread)).whole())
    literals = [form] if isinstance(form, Str) else [part for part in form[1:] if isinstance(part, Str)] if isinstance(form, tuple) else []
    require(not any(mark in literal.text for literal in literals for mark in "*@\\"), "StringMatchQ with abbreviated patterns")
    return truth(_finder(value, form).whole())


@builtin("StringPosition", 2)
def string_position(value: Value, form: Value) -> Value:
    found = string(value, "StringPosition")
    require(isinstance(form, Str) and form.text != "", "StringPosition")
    size = len(string(form, "StringPosition"))
    budget.step(1 + len(found) * size // 32)
    return listed([("List", i + 1, i + size) for i in range(len(found) - size + 1) if found.startswith(form.text, i)])


@builtin("StringCases", 2)
def string_cases(value: Value, form: Value) -> Value:
    if is_list(value):
        return listed([string_cases(one, form) for one in elements(value, "StringCases")])
    found = string(value, "StringCases")
    if has_head(form, "Rule", "RuleDelayed"):
        return listed([_result(form[2], names) for _, _, names in finder_of(form[1], found).without_overlaps()])
    return listed([Str(found[begin:end]) for begin, end, _ in finder_of(form, found).without_overlaps()])


def _result(node: Any, names: dict[str, str]) -> Value:
    return evaluate(put_in(node, {name: Str(found) for name, found in names.items()}))


@builtin("StringReplace", 2)
def string_replace(value: Value, rules: Value) -> Value:
    if is_list(value):
        return listed([string_replace(one, rules) for one in elements(value, "StringReplace")])
    found = string(value, "StringReplace")
    chosen = elements(rules, "StringReplace") if is_list(rules) else (rules,)
    require(all(has_head(rule, "Rule", "RuleDelayed") for rule in chosen) and len(chosen) <= 100, "StringReplace")
    finders = [finder_of(rule[1], found) for rule in chosen]
    parts: list[str] = []
    at = 0
    while at < len(found):
        budget.step(len(finders))
        places = [(i, finder.at(at)) for i, finder in enumerate(finders)]
        hit = next(((i, place) for i, place in places if place is not None), None)
        if hit is None:
            parts.append(found[at])
            at += 1
            continue
        _, end, names = hit[1]
        require(end > at, "StringReplace of nothing")
        parts.append(string(_result(chosen[hit[0]][2], names), "StringReplace"))
        at = end
    return text("".join(parts))


@builtin("StringDelete", 2)
def string_delete(value: Value, form: Value) -> Value:
    return string_replace(value, ("Rule", form, Str("")))


@builtin("StringReplacePart", 3)
def string_replace_part(value: Value, new: Value, place: Value) -> Value:
    found, bounds = string(value, "StringReplacePart"), elements(place, "StringReplacePart")
    require(len(bounds) == 2 and not any(map(is_list, bounds)), "StringReplacePart")
    first, last = (place_of(one, len(found), "StringReplacePart") for one in bounds)
    require(first <= last, "StringReplacePart")
    return text(found[:first] + string(new, "StringReplacePart") + found[last + 1 :])


@builtin("WordCount", 1)
def word_count(value: Value) -> Value:
    found = string(value, "WordCount")
    if not (found.isascii() and all(one.isalpha() or one == " " for one in found)):
        raise Refused("WordCount")
    return len(found.split())
