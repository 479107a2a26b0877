"""Definitions, assignments and local variables, and the loops that use them: what a name stands for from one statement to the next.

A definition is found by its arguments as patterns. Where several fit, the one that is more special at each place counts; where none is,
nothing is said. The variable of a loop, and a local one that keeps its first value, is put in as a value: that is what the language does but where a
definition mentions the same name, which is refused. Other local variables get a name of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from ..tree import Refused, free_symbols, heads, undefined, walk
from .arithmetic import negative, plus, quotient, times
from .control import said, values_of, while_bound
from .data import NULL, Done, Value, elements, has_head, listed, require, whole
from .evaluator import MENTIONED, RULES, VALUES, apply, builtin, evaluate, holding, put_in, symbols_of_patterns
from .functional import MAX_TURNS
from .patterns import has_patterns, sequences

Names = dict[str, Value]
LITERAL, TESTED, ANY = range(3)  # how much a pattern lets through
LOCAL = "$"  # stands in the names of local variables, and in no other


@dataclass(frozen=True)
class Definition:
    """What a function is of arguments that match and, as a condition behind the body says, pass a test."""

    forms: tuple[Any, ...]
    body: Any
    test: Any = None

    def matched(self, arguments: Sequence[Value]) -> Names | None:
        for found in sequences(self.forms, arguments, {}):
            if self.test is None or said(evaluate(put_in(self.test, found))):
                return found
        return None

    def ranks(self) -> list[int]:
        return [rank(form) for form in self.forms]


def rank(form: Value) -> int:
    if not has_patterns(form):
        return LITERAL
    inner = form[2] if has_head(form, "Pattern") else form
    require(has_head(inner, "Blank", "PatternTest", "Condition"), "which of several definitions counts")
    return ANY if inner == ("Blank",) else TESTED


def unnamed(form: Any) -> Any:
    """A pattern without the names in it."""
    if has_head(form, "Pattern"):
        return unnamed(form[2])
    return tuple(map(unnamed, form)) if isinstance(form, tuple) else form


class Definitions:
    """Those of one function, in the order in which they were made."""

    def __init__(self) -> None:
        self.all: list[Definition] = []

    def add(self, new: Definition) -> None:
        """Takes the place of the one for the same arguments and with the same condition."""
        alike = [one for one in self.all if unnamed(one.forms) == unnamed(new.forms)]
        require(all(one.forms == new.forms for one in alike), "which of several definitions counts")
        self.all = [one for one in self.all if one not in alike or one.test != new.test] + [new]

    def __call__(self, arguments: Sequence[Value]) -> Value | None:
        fitting = [(one, names) for one in self.all if (names := one.matched(arguments)) is not None]
        first = [(one, names) for one, names in fitting if all(other is one or self._before(one, other) for other, _ in fitting)]
        require(len(first) == 1 or not fitting, "which of several definitions counts")
        return evaluate(put_in(first[0][0].body, first[0][1])) if first else None

    def _before(self, one: Definition, other: Definition) -> bool:
        """Whether a definition is more special than another one that fits too."""
        if unnamed(one.forms) == unnamed(other.forms):
            return one.test is not None and self.all.index(one) < self.all.index(other)
        a, b = one.ranks(), other.ranks()
        if len(a) != len(b) or not all(x <= y for x, y in zip(a, b, strict=True)):
            return False
        return other.test is None or TESTED not in a


_numbers = count(1)


def begin() -> None:
    """Forgets what was defined."""
    for known in (VALUES, RULES, MENTIONED):
        known.clear()


def has_local(value: Value) -> bool:
    """Whether a local variable is left in a value."""
    return any(isinstance(part, str) and LOCAL in part for part in walk(value))


def _mention(node: Any, own: set[str]) -> None:
    """What a body mentions, but for the parameters."""
    opened = _opened(node)
    MENTIONED.update((free_symbols(opened) | {head for head in heads(opened) if isinstance(head, str)}) - own)


def _opened(node: Any) -> Any:
    if isinstance(node, Done):
        return node.value
    return tuple(map(_opened, node)) if isinstance(node, tuple) else node


def _variable(node: Any) -> str:
    """The name of what is assigned to."""
    name = _opened(node)
    require(isinstance(name, str) and (undefined(name) or LOCAL in name) and name not in RULES, "an assignment")
    return str(name)


def _assign(name: str, body: Any) -> None:
    require(all(part != name for part in walk(_opened(body))), "a name that stands for itself")
    _mention(body, set())
    VALUES[name] = body


def _define(left: tuple[Any, ...], body: Any, test: Any = None) -> None:
    head = _opened(left[0])
    require(isinstance(head, str) and (undefined(head) or LOCAL in head) and head not in VALUES, "a definition")
    forms = tuple(evaluate(part) for part in left[1:])
    own = set().union(*map(symbols_of_patterns, forms))
    for part in (body, test):
        _mention(part, own)
    function = RULES.setdefault(head, Definitions())
    assert isinstance(function, Definitions)
    function.add(Definition(forms, body, test))


@holding("Set")
def set_(left: Any, right: Any) -> Value:
    value = evaluate(right)
    if has_head(left, "List"):
        values = elements(value, "Set")
        require(len(values) == len(left) - 1, "Set")
        for name, one in zip(left[1:], values, strict=True):
            _assign(_variable(name), Done(one))
    elif has_head(left, "Part"):
        _set_part(left, value)
    elif isinstance(left, tuple):
        _define(left, Done(value) if not symbols_in_patterns(left) else value)
    else:
        _assign(_variable(left), Done(value))
    return value


def symbols_in_patterns(left: tuple[Any, ...]) -> set[str]:
    return set().union(*map(symbols_of_patterns, left[1:]))


def _set_part(left: tuple[Any, ...], value: Value) -> None:
    require(len(left) == 3, "a part that is assigned")
    name, place = _variable(left[1]), whole(evaluate(left[2]), "a part that is assigned")
    parts = list(elements(evaluate(name), "a part that is assigned"))
    require(name in VALUES and place != 0 and -len(parts) <= place <= len(parts), "a part that is assigned")
    parts[place - 1 if place > 0 else place] = value
    _assign(name, Done(listed(parts)))


@holding("SetDelayed")
def set_delayed(left: Any, right: Any) -> Value:
    if not isinstance(left, tuple):
        _assign(_variable(left), right)
    elif has_head(right, "Condition"):
        _define(left, *right[1:])
    else:
        _define(left, right)
    return NULL


def _clear(*names: Any) -> Value:
    for node in names:
        name = _opened(node)
        require(isinstance(name, str) and undefined(name), "Clear")
        VALUES.pop(name, None)
        RULES.pop(name, None)
    return NULL


for _name in ("Clear", "ClearAll"):
    holding(_name)(_clear)


# Variables that change.

Change = Callable[..., Value]
BY_ONE: dict[str, tuple[int, bool]] = {"Increment": (1, False), "Decrement": (-1, False), "PreIncrement": (1, True), "PreDecrement": (-1, True)}
BY: dict[str, Change] = {
    "AddTo": plus,
    "SubtractFrom": lambda old, by: plus(old, negative(by)),
    "TimesBy": times,
    "DivideBy": quotient,
    "AppendTo": lambda old, by: listed([*elements(old, "AppendTo"), by]),
    "PrependTo": lambda old, by: listed([by, *elements(old, "PrependTo")]),
}


def _changed(left: Any, change: Change) -> tuple[Value, Value]:
    """What a variable was and is."""
    name = _variable(left)
    require(name in VALUES, "a variable without a value")
    old = evaluate(name)
    new = change(old)
    _assign(name, Done(new))
    return old, new


def _counting(step: int, new: bool) -> Callable[[Any], Value]:
    return lambda left: _changed(left, lambda old: plus(old, step))[new]


def _changing(change: Change) -> Callable[[Any, Any], Value]:
    return lambda left, by: _changed(left, lambda old: change(old, evaluate(by)))[1]


for _name, (_step, _new) in BY_ONE.items():
    holding(_name)(_counting(_step, _new))
for _name, _change in BY.items():
    holding(_name)(_changing(_change))


# Loops, and what leaves them.


class Left(Refused):
    """Break: where nothing is to be left, it is a function that is not worked out."""


class Thrown(Refused):
    """Throw of a value, up to the next Catch."""

    def __init__(self, value: Value) -> None:
        super().__init__("Throw")
        self.value = value


@builtin("Break", 0)
def break_() -> Value:
    raise Left("Break")


@builtin("Throw", 1)
def throw(value: Value) -> Value:
    raise Thrown(value)


@holding("Catch")
def catch(body: Any) -> Value:
    try:
        return evaluate(body)
    except Thrown as thrown:
        return thrown.value


def _looped(loop: Callable[[], None]) -> Value:
    try:
        loop()
    except Left:
        return NULL
    return NULL


@builtin("Scan", 2)
def scan(function: Value, value: Value) -> Value:
    for part in elements(value, "Scan"):
        apply(function, [part])
    return NULL


@holding("Do")
def do(body: Any, *iterators: Any) -> Value:
    require(len(iterators) > 0, "Do")

    def loop() -> None:
        for _ in values_of(body, iterators):
            pass

    return _looped(loop)


@holding("While")
def while_(test: Any, *body: Any) -> Value:
    require(len(body) < 2, "While")

    def loop() -> None:
        turns = 0
        while said(evaluate(test)):
            turns += 1
            require(turns < MAX_TURNS, "a long loop")
            for part in body:
                evaluate(part)

    return _looped(loop)


@holding("For")
def for_(start: Any, test: Any, step: Any, *body: Any) -> Value:
    evaluate(start)
    return while_(test, ("CompoundExpression", *body, step))


# Local variables.


def _scope(variables: Any, body: Any) -> Value:
    return evaluate(put_in(body, {name: evaluate(given) for name, given in _locals(variables)}))


holding("With")(_scope)


def _locals(variables: Any) -> list[tuple[str, Any]]:
    """The names of local variables, with what they are first, None where nothing is said."""
    require(has_head(variables, "List"), "a scope")
    found = [(one[1], one[2]) if has_head(one, "Set") and len(one) == 3 else (one, None) for one in variables[1:]]
    names = [name for name, _ in found]
    require(all(isinstance(name, str) and undefined(name) for name in names) and len(set(names)) == len(names), "a scope")
    return found


def _with_changes(variables: Any, body: Any) -> Value:
    given: dict[str, Value] = {}
    made: list[tuple[str, Value]] = []
    for name, first in _locals(variables):
        value = None if first is None else evaluate(first)
        if value is None or _assigned(body, name):
            given[name] = f"{name}{LOCAL}{next(_numbers)}"
            if value is not None:
                made.append((given[name], value))
        else:
            given[name] = value
    for local, value in made:
        _assign(local, Done(value))
    return evaluate(put_in(body, given))


def _assigned(node: Any, name: str) -> bool:
    """Whether a name is, or is part of, the first argument of what changes variables."""
    if not isinstance(node, tuple):
        return False
    changes = node[0] in ("Set", "SetDelayed", *BY_ONE, *BY) and any(part == name for part in walk(node[1]))
    return changes or any(_assigned(part, name) for part in node)


holding("Module")(_with_changes)


@holding("Block")
def block(variables: Any, body: Any) -> Value:
    """As Module, where no definition is made that outlives the variables, and none sees them."""
    names = {name for name, _ in _locals(variables)}
    require(not names & (MENTIONED | VALUES.keys() | RULES.keys()), "a variable that definitions mention")
    require(not any(_defines(part) for part in walk(body)), "a definition in a Block")
    kept = [while_bound(name, [body]) for name in names]
    value = _with_changes(variables, body)
    for passed in kept:
        value = passed(value)
    return value


def _defines(node: Any) -> bool:
    return has_head(node, "SetDelayed") or (has_head(node, "Set") and isinstance(node[1], tuple) and not has_head(node[1], "List", "Part"))
