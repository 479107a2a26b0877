"""Patterns: what matches, where, and what it is replaced by.

A literal part of a pattern is compared with values of one form only: numbers, texts, symbols, lists and undefined functions of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from .. import budget
from ..tree import Real, Refused, undefined
from .data import ARITHMETIC, FALSE, STAY, TRUE, Str, Value, elements, has_head, is_association, is_list, is_plain, listed, require, settled, truth, whole
from .evaluator import apply, builtin, evaluate, holding, put_in

OF_PATTERNS = frozenset("Blank BlankSequence BlankNullSequence Pattern PatternTest Condition Alternatives Except Repeated".split())
HEADS_OF_ATOMS = {int: "Integer", Fraction: "Rational", Str: "String", str: "Symbol", Real: "Real"}
Names = dict[str, Value]


@holding("Blank")
def blank(*head: Any) -> Value:
    return ("Blank", *head)


@holding("BlankSequence")
def blank_sequence(*head: Any) -> Value:
    return ("BlankSequence", *head)


@holding("BlankNullSequence")
def blank_null_sequence(*head: Any) -> Value:
    return ("BlankNullSequence", *head)


@holding("Pattern")
def pattern(name: Any, form: Any) -> Value:
    require(isinstance(name, str) and undefined(name), "Pattern")
    return ("Pattern", name, evaluate(form))


@holding("PatternTest")
def pattern_test(form: Any, test: Any) -> Value:
    return ("PatternTest", evaluate(form), evaluate(test))


@holding("Condition")
def condition(form: Any, test: Any) -> Value:
    return ("Condition", evaluate(form), test)


@holding("RuleDelayed")
def rule_delayed(form: Any, result: Any) -> Value:
    return ("RuleDelayed", evaluate(form), result)


def head_of(value: Value) -> Value:
    for kind, name in HEADS_OF_ATOMS.items():
        if isinstance(value, kind):
            return name
    require(isinstance(value, tuple) and value[0] not in ARITHMETIC and value[0] not in STAY, "the head of an expression")
    return value[0]


def has_patterns(form: Value) -> bool:
    return isinstance(form, tuple) and (form[0] in OF_PATTERNS or any(has_patterns(part) for part in form))


def matches(form: Value, value: Value) -> Names | None:
    """The values of the names in a pattern where it matches; None where it does not."""
    return next(_match(form, value, {}), None)


def _match(form: Value, value: Value, names: Names) -> Iterator[Names]:
    budget.step()
    if not has_patterns(form):
        if _same(form, value):
            yield names
        return
    assert isinstance(form, tuple)
    head = form[0]
    if head == "Blank":
        if _has_head_of(form, value):
            yield names
    elif head == "Pattern":
        for found in _match(form[2], value, names):
            yield from _bound(form[1], value, found)
    elif head in ("PatternTest", "Condition"):
        yield from _tested(form, value, names)
    elif head == "Alternatives":
        for choice in form[1:]:
            yield from _match(choice, value, names)
    elif head == "Except":
        require(len(form) in (2, 3), "Except")
        if next(_match(form[1], value, names), None) is None:
            yield from _match(form[2], value, names) if len(form) == 3 else iter([names])
    elif isinstance(head, str) and (head in ("List", "Rule") or undefined(head)):
        if isinstance(value, tuple) and value[0] == head:
            yield from sequences(form[1:], value[1:], names)
    else:
        raise Refused("a pattern")


def _has_head_of(form: tuple[Any, ...], value: Value) -> bool:
    require(len(form) < 3, "Blank")
    if len(form) == 1:
        return True
    require(form[1] in (*HEADS_OF_ATOMS.values(), "List", "Association", "Rule") or undefined(form[1]), "Blank")
    if isinstance(settled(value, "the head of an expression"), tuple) and value[0] in ARITHMETIC:
        return False
    return bool(head_of(value) == form[1])


def _bound(name: str, value: Value, names: Names) -> Iterator[Names]:
    if name not in names:
        yield {**names, name: value}
    elif _same(names[name], value):
        yield names


def _tested(form: tuple[Any, ...], value: Value, names: Names) -> Iterator[Names]:
    for found in _match(form[1], value, names):
        said = apply(form[2], [value]) if form[0] == "PatternTest" else evaluate(put_in(form[2], found))
        require(said in (TRUE, FALSE), "a test without a truth value")
        if said == TRUE:
            yield found


def sequences(forms: Sequence[Value], values: Sequence[Value], names: Names) -> Iterator[Names]:
    """Arguments against patterns, the shortest sequences first."""
    if not forms:
        if not values:
            yield names
        return
    form = forms[0]
    inner = form[2] if has_head(form, "Pattern") else form
    if has_head(form, "Repeated"):
        yield from _repeated(form, forms[1:], values, names)
        return
    if not has_head(inner, "BlankSequence", "BlankNullSequence"):
        if values:
            for found in _match(form, values[0], names):
                yield from sequences(forms[1:], values[1:], found)
        return
    least = 1 if inner[0] == "BlankSequence" else 0
    for count in range(least, len(values) + 1):
        if count and not _has_head_of(("Blank", *inner[1:]), values[count - 1]):
            return
        taken: Value = ("Sequence", *values[:count])
        for found in _bound(form[1], taken, names) if has_head(form, "Pattern") else iter([names]):
            yield from sequences(forms[1:], values[count:], found)


def _repeated(form: Any, forms: Sequence[Value], values: Sequence[Value], names: Names) -> Iterator[Names]:
    """One or more arguments that match the same pattern, which has no names."""
    require(len(form) == 2 and not _named(form[1]), "Repeated")
    for count in range(1, len(values) + 1):
        if next(_match(form[1], values[count - 1], {}), None) is None:
            return
        yield from sequences(forms, values[count:], names)


def _named(form: Value) -> bool:
    return isinstance(form, tuple) and (form[0] == "Pattern" or any(map(_named, form)))


def _same(form: Value, value: Value) -> bool:
    if isinstance(form, int | Str) or (isinstance(form, str) and is_plain(form)):
        require(not isinstance(value, Real) or not isinstance(form, int), "a decimal")
        settled(value, "an expression against a pattern")
        return type(form) is type(value) and form == value
    require(is_plain(form), "an expression as a pattern")
    if isinstance(settled(value, "an expression against a pattern"), tuple) and isinstance(value[0], str) and value[0] in ARITHMETIC:
        return False
    require(is_plain(value), "an expression against a pattern")
    return bool(form == value)


# Rules.


def rules_of(value: Value) -> list[tuple[Any, ...]]:
    rules = value[1:] if is_list(value) or is_association(value) else (value,)
    require(all(has_head(rule, "Rule", "RuleDelayed") and len(rule) == 3 for rule in rules), "a rule")
    return list(rules)


def replaced(rules: Sequence[tuple[Any, ...]], value: Value) -> Value | None:
    """What the first rule that matches makes of a value; None where none does."""
    for rule in rules:
        found = matches(rule[1], value)
        if found is not None:
            return evaluate(put_in(rule[2], found))
    return None


@builtin("Replace", 2)
def replace(value: Value, rules: Value) -> Value:
    found = replaced(rules_of(rules), value)
    return value if found is None else found


@builtin("ReplaceAll", 2)
def replace_all(value: Value, rules: Value) -> Value:
    listed_rules = rules_of(rules)
    require(not has_head(rules, "List") or not any(is_list(rule) for rule in rules[1:]), "lists of rules")
    if not is_plain(value):
        require(all(isinstance(rule[1], str) and undefined(rule[1]) for rule in listed_rules) and _without_functions(value), "rules for expressions")
    return evaluate(_everywhere(listed_rules, value))


def _without_functions(value: Value) -> bool:
    if isinstance(value, Real | str | int | Fraction | Str):
        return True
    return isinstance(value, tuple) and isinstance(value[0], str) and value[0] not in ("Association", "Function") and all(map(_without_functions, value[1:]))


def _everywhere(rules: Sequence[tuple[Any, ...]], value: Value) -> Any:
    arithmetic = isinstance(value, tuple) and isinstance(value[0], str) and (value[0] in ARITHMETIC or value[0] in STAY)
    found = replaced(rules, value) if not isinstance(value, Real) and not arithmetic else None
    if found is not None:
        return found
    if not isinstance(value, tuple):
        return value
    require(not is_association(value), "rules in an association")
    head = value[0] if arithmetic else _everywhere(rules, value[0])
    return (head, *(_everywhere(rules, part) for part in value[1:]))


# Where and how often.


def parts_at(value: Value, levels: Sequence[Value], what: str) -> list[Any]:
    """The elements of a list, or of lists in it down to a level or at one: parts before what they are parts of."""
    chosen = levels[0] if levels else 1
    least, most = 1, 10**6
    if isinstance(chosen, tuple) and chosen[0] == "List" and len(chosen) == 2:
        least = most = whole(chosen[1], what, 1)
    elif chosen != "Infinity":
        most = whole(chosen, what, 1)
    require(most == 1 or is_plain(value), what)
    found: list[Any] = []

    def collect(one: Value, level: int) -> None:
        budget.step()
        require(level == 1 or not isinstance(one, tuple) or is_list(one), what)
        for part in elements(one, what) if is_list(one) or level == 1 else ():
            if level < most:
                collect(part, level + 1)
            if level >= least:
                found.append(part)

    collect(value, 1)
    return found


@builtin("Cases", 2, 3)
def cases(value: Value, form: Value, *levels: Value) -> Value:
    parts = parts_at(value, levels, "Cases")
    if has_head(form, "Rule", "RuleDelayed"):
        return listed([found for part in parts if (found := replaced(rules_of(form), part)) is not None])
    return listed([part for part in parts if matches(form, part) is not None])


@builtin("DeleteCases", 2)
def delete_cases(value: Value, form: Value) -> Value:
    return listed([part for part in elements(value, "DeleteCases") if matches(form, part) is None])


@builtin("FirstCase", 2, 3)
def first_case(value: Value, form: Value, *otherwise: Value) -> Value:
    for part in elements(value, "FirstCase"):
        found = replaced(rules_of(form), part) if has_head(form, "Rule", "RuleDelayed") else part if matches(form, part) is not None else None
        if found is not None:
            return found
    return otherwise[0] if otherwise else ("Missing", Str("NotFound"))


@builtin("Count", 2, 3)
def count(value: Value, form: Value, *levels: Value) -> Value:
    parts = [rule[2] for rule in value[1:]] if has_head(value, "Association") and not levels else parts_at(value, levels, "Count")
    return sum(matches(form, part) is not None for part in parts)


@builtin("MemberQ", 2)
def member(value: Value, form: Value) -> Value:
    parts = tuple(rule[2] for rule in value[1:]) if has_head(value, "Association") else elements(value, "MemberQ")
    return truth(any(matches(form, part) is not None for part in parts))


@builtin("MatchQ", 2)
def match(value: Value, form: Value) -> Value:
    return truth(matches(form, value) is not None)


@builtin("FreeQ", 2)
def free(value: Value, form: Value) -> Value:
    require(is_plain(value) and not is_association(value), "FreeQ of an expression")
    return truth(not any(matches(form, part) is not None for _, part in places(value)))


@builtin("Position", 2)
def position(value: Value, form: Value) -> Value:
    require(is_plain(value) and is_list(value), "Position in an expression")
    return listed([("List", *place) for place, part in places(value) if matches(form, part) is not None])


@builtin("FirstPosition", 2)
def first_position(value: Value, form: Value) -> Value:
    found = position(value, form)[1:]
    return found[0] if found else ("Missing", Str("NotFound"))


def places(value: Value, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Value]]:
    """Every part with its place, heads too, parts before what they are parts of."""
    budget.step()
    if isinstance(value, tuple):
        require(not is_association(value), "parts of an association")
        for i, part in enumerate(value):
            yield from places(part, (*place, i))
    yield place, value


@holding("Switch")
def switch(value: Any, *cases: Any) -> Value:
    found = evaluate(value)
    require(len(cases) % 2 == 0, "Switch")
    for form, result in zip(cases[::2], cases[1::2], strict=True):
        names = matches(evaluate(form), found)
        if names is not None:
            require(not names, "names in Switch")
            return evaluate(result)
    raise Refused("Switch without a case")
