"""The evaluator: what a program over exact values comes to, by the documented meaning of its functions.

A function is registered with the numbers of arguments that it takes; anything that is not worked out raises Refused, so that nothing is
said of it. A function that holds its arguments gets them unevaluated. Variables of iterators and parameters are put in as values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from .. import budget
from ..tree import Real, Refused, undefined
from .arithmetic import is_scalar
from .data import NUMERIC_CONSTANTS, STAY, Done, Str, Unit, Value, association, has_head, is_association, listed, pairs, plain, require
from .real_numbers import is_finite, is_number_form

Builtin = Callable[..., Value]
BUILTINS: dict[str, tuple[int, int | None, Builtin]] = {}
HOLDING: dict[str, tuple[int, int | None, Callable[..., Value]]] = {}
# What the program itself has defined so far: what a symbol stands for, still to be evaluated, and what a function makes of arguments, None where
# no definition fits them.
VALUES: dict[str, Any] = {}
RULES: dict[str, Callable[[Sequence[Value]], Value | None]] = {}
MENTIONED: set[str] = set()  # names in definitions that these do not bind themselves
# f[a][x] is f[x, a] of these, but of those with their function first f[a, x].
OPERATORS_LAST = frozenset(
    "Select Cases Count MemberQ FreeQ SortBy GroupBy CountsBy GatherBy SplitBy DeleteDuplicatesBy MaximalBy MinimalBy DeleteCases MatchQ Append "
    "Prepend Position AllTrue AnyTrue NoneTrue FirstCase SelectFirst TakeWhile StringContainsQ StringStartsQ StringEndsQ StringMatchQ StringFreeQ "
    "StringReplace StringCases StringDelete KeySelect KeyTake KeyDrop KeyExistsQ Lookup Extract Replace ReplaceAll ContainsAll ContainsAny "
    "ContainsNone ContainsOnly ContainsExactly SubsetQ".split()
)
OPERATORS_FIRST = frozenset("Map Apply MapApply MapIndexed MapThread KeyMap KeyValueMap AssociationMap".split())
COMPARISONS = {
    "GreaterThan": "Greater",
    "LessThan": "Less",
    "GreaterEqualThan": "GreaterEqual",
    "LessEqualThan": "LessEqual",
    "EqualTo": "Equal",
    "UnequalTo": "Unequal",
    "SameAs": "SameQ",
    "UnsameAs": "UnsameQ",
}
# What stands for itself, besides functions and the user's own symbols.
WORDS = frozenset(
    "True False Null All None Nothing Integer Rational Real String List Symbol Association Rule Infinity Monday Tuesday Wednesday Thursday Friday Saturday "
    "Sunday LetterCharacter DigitCharacter WhitespaceCharacter Whitespace WordCharacter StartOfString EndOfString UpTo Span Missing Key Function".split()
)
# Calls that stand for themselves once their arguments are evaluated.
DATA = frozenset("Rule UpTo Span Key Missing Composition RightComposition Alternatives Except StringExpression Repeated DateObject".split())


def builtin(name: str, least: int, most: int | None = -1) -> Callable[[Builtin], Builtin]:
    """Registers a function of so many arguments: exactly least, up to most, or any number from least on where most is None."""

    def register(function: Builtin) -> Builtin:
        BUILTINS[name] = (least, least if most == -1 else most, function)
        return function

    return register


def holding(name: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Registers a function that gets its arguments unevaluated."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
        least = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
        HOLDING[name] = (least, None if inspect.Parameter.VAR_POSITIONAL in kinds else least, function)
        return function

    return register


def evaluate(node: Any) -> Value:
    budget.step()
    if isinstance(node, Done):
        return again(node.value)
    if isinstance(node, int | Fraction | Str | Real | Unit):
        return node
    if isinstance(node, str):
        return _symbol(node)
    head = node[0]
    if isinstance(head, str) and head in HOLDING:
        return _registered(head, HOLDING, node[1:])
    function = _symbol(head) if isinstance(head, str) else evaluate(head)
    return apply(function, _arguments(function, node[1:]))


def _arguments(function: Value, parts: Sequence[Any]) -> list[Value]:
    values: list[Value] = []
    for part in parts:
        value = evaluate(part)
        if isinstance(value, tuple) and value[0] == "Sequence":
            require(function not in ("Rule", "Association"), "Sequence")
            values.extend(value[1:])
        else:
            values.append(value)
    return values


def again(value: Value) -> Value:
    """A value as it stands once more: what was defined since it was worked out counts."""
    return evaluate(value) if (VALUES or RULES) and _defined_in(value) else value


def _defined_in(value: Value) -> bool:
    """Whether the program has defined a name in a value."""
    if isinstance(value, tuple):
        budget.step(1 + len(value) // 8)
        return any(map(_defined_in, value))
    return isinstance(value, str) and (value in VALUES or value in RULES)


def _symbol(name: str) -> Value:
    if name in VALUES:
        return evaluate(VALUES[name])
    if not (
        name in BUILTINS or name in HOLDING or name in WORDS or name in DATA or name in NUMERIC_CONSTANTS or name in STAY or _operator(name) or undefined(name)
    ):
        raise Refused(name)
    return name


def _operator(name: str) -> bool:
    return name in OPERATORS_LAST or name in OPERATORS_FIRST or name in COMPARISONS


def apply(function: Value, arguments: Sequence[Value]) -> Value:
    """A function of values."""
    budget.step()
    if isinstance(function, str):
        return _named(function, arguments)
    if not isinstance(function, tuple):
        raise Refused("head")
    head = function[0]
    if head == "Function":
        return called(function, arguments)
    if head in ("Composition", "RightComposition"):
        parts = function[1:] if head == "RightComposition" else function[:0:-1]
        require(bool(parts), "head")
        value = apply(parts[0], arguments)
        for part in parts[1:]:
            value = apply(part, [value])
        return value
    if len(arguments) == 1 and len(function) == 2 and isinstance(head, str):
        if head in OPERATORS_LAST:
            return _named(head, [arguments[0], function[1]])
        if head in OPERATORS_FIRST:
            return _named(head, [function[1], arguments[0]])
        if head in COMPARISONS:
            return _named(COMPARISONS[head], [arguments[0], function[1]])
        if head == "Key":
            return _at_key(arguments[0], function[1])
    if is_association(function) and len(arguments) == 1:
        return _at_key(function, arguments[0])
    if isinstance(head, str) and undefined(head):
        return (function, *arguments)
    raise Refused("head")


def _registered(name: str, known: dict[str, tuple[int, int | None, Builtin]], arguments: Sequence[Any]) -> Value:
    least, most, function = known[name]
    if len(arguments) < least or (most is not None and len(arguments) > most):
        raise Refused(name)
    return function(*arguments)


def _at_key(content: Value, key: Value) -> Value:
    plain([key], "Key")
    return pairs(content, "Key").get(key, ("Missing", Str("KeyAbsent"), key))


def _named(name: str, arguments: Sequence[Value]) -> Value:
    if name in RULES:
        found = RULES[name](arguments)
        return (name, *arguments) if found is None else found
    if name in HOLDING:
        return _registered(name, HOLDING, [Done(argument) for argument in arguments])
    if len(arguments) == 1 and (name in OPERATORS_LAST or name in OPERATORS_FIRST or name in COMPARISONS):
        return (name, arguments[0])
    if name in BUILTINS:
        return _registered(name, BUILTINS, arguments)
    if name in DATA or undefined(name):
        return (name, *arguments)
    if name in STAY and all(is_scalar(argument) for argument in arguments):
        value = (name, *arguments)
        require(not is_number_form(value) or is_finite(value), "a pole")
        return value
    raise Refused(name)


@builtin("List", 0, None)
def make_list(*parts: Value) -> Value:
    return listed(parts)


@builtin("Sequence", 0, None)
def sequence(*parts: Value) -> Value:
    return ("Sequence", *parts)


@builtin("Association", 0, None)
def make_association(*rules: Value) -> Value:
    content: dict[Any, Any] = {}
    for rule in [inner for part in rules for inner in (part[1:] if has_head(part, "List", "Association") else (part,))]:
        require(has_head(rule, "Rule") and len(rule) == 3, "Association")
        content[rule[1]] = rule[2]
    return association(content)


# Pure functions.


@holding("Function")
def function(*parts: Any) -> Value:
    require(1 <= len(parts) <= 2, "Function")
    return ("Function", *parts)


def called(function: tuple[Any, ...], arguments: Sequence[Value]) -> Value:
    if len(function) == 2:
        return evaluate(filled(function[1], arguments))
    names = function[1][1:] if has_head(function[1], "List") else (function[1],)
    require(all(isinstance(name, str) and undefined(name) for name in names) and len(arguments) >= len(names) == len(set(names)), "Function")
    return evaluate(put_in(function[2], dict(zip(names, arguments, strict=False))))


def filled(node: Any, arguments: Sequence[Value]) -> Any:
    """The body of a pure function with values in its slots; those of pure functions in it are their own."""
    if not isinstance(node, tuple):
        return node
    budget.step()
    if node[0] == "Function" and len(node) == 2:
        return node
    if node[0] == "Slot" and len(node) == 2:
        return Done(_slot(node[1], arguments))
    if node[0] == "SlotSequence":
        start = node[1]
        require(isinstance(start, int) and start >= 1, "SlotSequence")
        return Done(("Sequence", *arguments[start - 1 :]))
    return tuple(filled(part, arguments) for part in node)


def _slot(place: Any, arguments: Sequence[Value]) -> Value:
    if isinstance(place, Str):
        require(bool(arguments) and is_association(arguments[0]), "Slot")
        return _at_key(arguments[0], place)
    require(isinstance(place, int) and 1 <= place <= len(arguments), "Slot")
    return arguments[place - 1]


ITERATING = frozenset(("Table", "Sum", "Product", "Do"))
SCOPES = frozenset(("With", "Module", "Block"))


def put_in(node: Any, values: dict[str, Value]) -> Any:
    """What is to be evaluated with values for symbols. Parameters of pure functions and variables of iterators in it are their own;
    other scopes, and rules, must not bind the same names again."""
    if isinstance(node, str):
        return Done(values[node]) if node in values else node
    if not isinstance(node, tuple):
        return node
    budget.step()
    if node[0] == "Function" and len(node) == 3:
        names = _symbols(node[1])
        return ("Function", node[1], put_in(node[2], {name: value for name, value in values.items() if name not in names}))
    if node[0] in ITERATING and len(node) > 2:
        return _put_in_iterators(node, values)
    if node[0] in ("Pattern", "RuleDelayed", "Rule", "Condition"):
        bound = symbols_of_patterns(node[1]) if node[0] == "Rule" else set(_symbols(node[1]))
        require(not bound & values.keys(), "a name that is bound twice")
    if node[0] in SCOPES:
        require(not set(_symbols(node[1])) & values.keys(), "a name that is bound twice")
    return tuple(put_in(part, values) for part in node)


def _put_in_iterators(node: tuple[Any, ...], values: dict[str, Value]) -> Any:
    """The bounds of an iterator know the variables of those before it, the body knows all."""
    iterators = []
    for one in node[2:]:
        if has_head(one, "List") and len(one) > 2 and isinstance(one[1], str):
            iterators.append((*one[:2], *(put_in(part, values) for part in one[2:])))
            values = {name: value for name, value in values.items() if name != one[1]}
        else:
            iterators.append(put_in(one, values))
    return (node[0], put_in(node[1], values), *iterators)


def _symbols(node: Any) -> list[str]:
    if isinstance(node, tuple):
        return [name for part in node for name in _symbols(part)]
    return [node] if isinstance(node, str) else []


def symbols_of_patterns(node: Any) -> set[str]:
    if not isinstance(node, tuple):
        return set()
    own = {node[1]} if node[0] == "Pattern" and isinstance(node[1], str) else set()
    return own.union(*(symbols_of_patterns(part) for part in node))
