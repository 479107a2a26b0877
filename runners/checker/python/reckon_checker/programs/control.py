"""Choices, logic, comparisons, iterators and scopes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from .. import budget
from ..tree import Real, Refused, undefined, walk
from . import units
from .arithmetic import negative, plus, power, quotient, times
from .data import (
    FALSE,
    MAX_LENGTH,
    NULL,
    TRUE,
    Done,
    Str,
    Value,
    elements,
    exact,
    has_head,
    is_association,
    is_list,
    is_number,
    is_plain,
    listed,
    number,
    require,
    settled,
    truth,
    whole,
)
from .evaluator import MENTIONED, builtin, evaluate, holding, put_in
from .real_numbers import sign_of_difference

builtin("Plus", 0, None)(plus)
builtin("Times", 0, None)(times)
builtin("Power", 2)(power)
builtin("Minus", 1)(negative)
builtin("Divide", 2)(quotient)
builtin("Subtract", 2)(lambda a, b: plus(a, negative(b)))
builtin("Sqrt", 1)(lambda a: power(a, Fraction(1, 2)))
builtin("Rational", 2)(quotient)
builtin("Exp", 1)(lambda a: power("E", a))


def said(value: Value) -> bool:
    """A truth value; no other value decides a choice."""
    require(value in (TRUE, FALSE), "a test without a truth value")
    return bool(value == TRUE)


@holding("If")
def if_(test: Any, *results: Any) -> Value:
    require(1 <= len(results) <= 3, "If")
    if said(evaluate(test)):
        return evaluate(results[0])
    return evaluate(results[1]) if len(results) > 1 else NULL


@holding("Which")
def which(*parts: Any) -> Value:
    require(len(parts) % 2 == 0, "Which")
    for test, result in zip(parts[::2], parts[1::2], strict=True):
        if said(evaluate(test)):
            return evaluate(result)
    return NULL


@holding("And")
def and_(*parts: Any) -> Value:
    return _connected(parts, FALSE)


@holding("Or")
def or_(*parts: Any) -> Value:
    return _connected(parts, TRUE)


def _connected(parts: Sequence[Any], decides: str) -> Value:
    """The value that decides where a part has it, else the other one where all parts have it."""
    known = True
    for part in parts:
        value = evaluate(part)
        if value == decides:
            return decides
        require(value in (TRUE, FALSE) or (isinstance(value, str) and undefined(value)), "a test without a truth value")
        known = known and value in (TRUE, FALSE)
    require(known, "a test without a truth value")
    return TRUE if decides == FALSE else FALSE


@builtin("Not", 1)
def not_(value: Value) -> Value:
    return truth(not said(value))


@builtin("Xor", 0, None)
def xor(*values: Value) -> Value:
    return truth(sum(map(said, values)) % 2 == 1)


@builtin("Nand", 0, None)
def nand(*values: Value) -> Value:
    return not_(_connected([Done(value) for value in values], FALSE))


@builtin("Nor", 0, None)
def nor(*values: Value) -> Value:
    return not_(_connected([Done(value) for value in values], TRUE))


@builtin("Implies", 2)
def implies(a: Value, b: Value) -> Value:
    return truth(said(b) or not said(a))


@builtin("Equivalent", 0, None)
def equivalent(*values: Value) -> Value:
    return truth(len({said(value) for value in values}) < 2)


@builtin("Boole", 1)
def boole(value: Value) -> Value:
    if is_list(value):
        return listed([boole(part) for part in elements(value, "Boole")])
    return int(said(value))


@builtin("TrueQ", 1)
def true(value: Value) -> Value:
    return truth(value == TRUE)


# Comparisons: of numbers by their size, of anything else whether it is the same.


def _orders(value: Value, other: Value) -> int:
    """The sign of a difference of numbers, or of quantities of one dimension."""
    if has_head(value, "Quantity") and has_head(other, "Quantity"):
        (value, dimensions), (other, others) = units.in_base(value), units.in_base(other)
        require(dimensions == others, "an order of quantities")
    if is_number(value) and is_number(other):
        return (value > other) - (value < other)
    return sign_of_difference(value, other)


ORDERS: dict[str, Callable[[int], bool]] = {
    "Less": lambda sign: sign < 0,
    "LessEqual": lambda sign: sign <= 0,
    "Greater": lambda sign: sign > 0,
    "GreaterEqual": lambda sign: sign >= 0,
}


def _ordered(holds: Callable[[int], bool]) -> Callable[..., Value]:
    def check(*values: Value) -> Value:
        signs = [_orders(a, b) for a, b in itertools.pairwise(values)]  # each of which must be known
        return truth(all(map(holds, signs)))

    return check


for _name, _holds in ORDERS.items():
    builtin(_name, 0, None)(_ordered(_holds))


def equal(a: Value, b: Value) -> bool:
    """Whether a == b: numbers, texts and lists of these are told apart; a symbol is equal to itself, to another it may be."""
    budget.step()
    if isinstance(a, Real) or isinstance(b, Real):
        raise Refused("a decimal")
    if is_list(a) and is_list(b):
        if len(a) != len(b):
            require(is_plain(a) and is_plain(b), "Equal")
            return False
        pairs = [equal(x, y) for x, y in zip(a[1:], b[1:], strict=True)]  # each of which must be known
        return all(pairs)
    if type(a) is type(b) and a == b:
        return True
    if has_head(a, "Quantity") and has_head(b, "Quantity"):
        return _orders(a, b) == 0
    told_apart = (is_number(a) and is_number(b)) or (isinstance(a, Str) and isinstance(b, Str)) or ({a, b} == {TRUE, FALSE})
    require(told_apart, "Equal")
    return False


@builtin("Equal", 0, None)
def equal_(*values: Value) -> Value:
    pairs = [equal(a, b) for a, b in itertools.pairwise(values)]
    return truth(all(pairs))


@builtin("Unequal", 0, None)
def unequal(*values: Value) -> Value:
    pairs = [equal(a, b) for a, b in itertools.combinations(values, 2)]
    return truth(not any(pairs))


def identical(values: Sequence[Value]) -> None:
    require(
        all(is_plain(value) or isinstance(value, Real) for value in values) and sum(isinstance(value, Real) for value in values) < 2, "SameQ of expressions"
    )


@builtin("SameQ", 0, None)
def same(*values: Value) -> Value:
    identical(values)
    return truth(all(type(a) is type(b) and a == b for a, b in itertools.pairwise(values)))


@builtin("UnsameQ", 0, None)
def unsame(*values: Value) -> Value:
    identical(values)
    return truth(not any(type(a) is type(b) and a == b for a, b in itertools.combinations(values, 2)))


@holding("Inequality")
def inequality(*parts: Any) -> Value:
    values, names = [evaluate(part) for part in parts[::2]], parts[1::2]
    require(all(name in ORDERS for name in names) and len(values) == len(names) + 1, "Inequality")
    pairs = [ORDERS[name](_orders(a, b)) for name, (a, b) in zip(names, itertools.pairwise(values), strict=True)]
    return truth(all(pairs))


# Iterators.


def steps(start: Value, end: Value, step: Value) -> list[Value]:
    """The numbers start, start + step, ... up to end."""
    first, last, by = exact(start, "an iterator"), exact(end, "an iterator"), exact(step, "an iterator")
    require(by != 0, "a step of zero")
    count = (last - first) // by + 1
    require(count <= MAX_LENGTH, "a long list")
    budget.step(max(int(count), 0))
    return [number(first + i * by) for i in range(max(int(count), 0))]


def iterator(parts: Any) -> tuple[str | None, list[Value]]:
    """The variable of an iterator and its values."""
    if not has_head(parts, "List"):
        return None, [0] * whole(evaluate(parts), "an iterator", 0, MAX_LENGTH)
    if len(parts) == 2:
        return None, [0] * whole(evaluate(parts[1]), "an iterator", 0, MAX_LENGTH)
    name, bounds = parts[1], [evaluate(part) for part in parts[2:]]
    require(isinstance(name, str) and undefined(name) and name not in MENTIONED and len(bounds) <= 3, "an iterator")
    if len(bounds) == 1:
        return name, list(elements(bounds[0], "an iterator")) if is_list(bounds[0]) else steps(1, bounds[0], 1)
    return name, steps(bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else 1)


def values_of(body: Any, iterators: Sequence[Any]) -> Iterator[Value]:
    """The values of an expression for the values of all iterators, the last fastest."""
    if not iterators:
        yield evaluate(body)
        return
    name, values = iterator(iterators[0])
    kept = while_bound(name, [body, *iterators[1:]])
    for value in values:
        given = {} if name is None else {name: value}
        for one in values_of(put_in(body, given), [_put_in_bounds(rest, given) for rest in iterators[1:]]):
            yield kept(one)


def _put_in_bounds(one: Any, given: dict[str, Value]) -> Any:
    if not given or not has_head(one, "List") or len(one) < 3:
        return put_in(one, given)
    require(one[1] not in given, "a name that is bound twice")
    return (*one[:2], *(put_in(part, given) for part in one[2:]))


HELD = ("Function", "RuleDelayed", "SetDelayed", "TagSetDelayed", "UpSetDelayed")
LEAVING = frozenset(
    "SetDelayed TagSetDelayed UpSetDelayed Set Throw AppendTo PrependTo AddTo SubtractFrom TimesBy DivideBy Increment Decrement "
    "PreIncrement PreDecrement".split()
)


def while_bound(name: str | None, parts: Sequence[Any]) -> Callable[[Value], Value]:
    """Requires that parts may have a value put in for the variable of an iterator or a Block, and gives what each of their values must pass.

    The language gives the variable its value while the parts are evaluated. What they hold (a pure function, a delayed rule) mentions the
    variable still when it is used later: so nothing held that mentions it may leave. A value that was put in before and mentions the same
    name would get the variable's value.
    """
    if name is None:
        return _as_it_is
    require(not any(isinstance(node, Done) and name in walk(node.value) for part in parts for node in walk(part)), "a value that mentions the variable")
    if not any(held_mention(part, name) for part in parts):
        return _as_it_is
    require(not any(isinstance(node, str) and node in LEAVING for part in parts for node in walk(part)), "a function that mentions a variable")
    return _without_functions


def held_mention(node: Any, name: str) -> bool:
    return any(has_head(part, *HELD) and name in walk(part) for part in walk(node))


def _as_it_is(value: Value) -> Value:
    return value


def _without_functions(value: Value) -> Value:
    require(not any(node in HELD for node in walk(value) if isinstance(node, str)), "a function that mentions a variable")
    return value


@holding("Table")
def table(body: Any, *iterators: Any) -> Value:
    require(len(iterators) > 0, "Table")
    name, values = iterator(iterators[0])
    kept = while_bound(name, [body, *iterators[1:]])
    rows = []
    for value in values:
        given = {} if name is None else {name: value}
        inner, rest = put_in(body, given), [_put_in_bounds(one, given) for one in iterators[1:]]
        rows.append(kept(table(inner, *rest) if rest else evaluate(inner)))
    return listed(rows)


@holding("Sum")
def sum_(body: Any, *iterators: Any) -> Value:
    require(len(iterators) > 0 and all(has_head(one, "List") and len(one) > 2 for one in iterators), "Sum")
    return plus(*values_of(body, iterators))


@holding("Product")
def product(body: Any, *iterators: Any) -> Value:
    require(len(iterators) > 0 and all(has_head(one, "List") and len(one) > 2 for one in iterators), "Product")
    return times(*values_of(body, iterators))


@builtin("CompoundExpression", 1, None)
def compound(*values: Value) -> Value:
    return values[-1]


@builtin("Identity", 1)
def identity(value: Value) -> Value:
    return value


@builtin("Evaluate", 1)
def evaluated(value: Value) -> Value:
    return value


# Kinds.

KINDS: dict[str, Callable[[Value], bool]] = {
    "IntegerQ": lambda value: isinstance(value, int),
    "StringQ": lambda value: isinstance(value, Str),
    "ListQ": is_list,
    "AssociationQ": is_association,
    "NumberQ": lambda value: is_number(value) or isinstance(value, Real),
    "BooleanQ": lambda value: value in (TRUE, FALSE),
    "AtomQ": lambda value: not isinstance(value, tuple) or is_association(value),
    "VectorQ": lambda value: is_list(value) and not any(map(is_list, value[1:])),
    "MissingQ": lambda value: has_head(value, "Missing"),
}


def _kind(test: Callable[[Value], bool]) -> Callable[[Value], Value]:
    return lambda value: truth(test(settled(value, "the kind of an expression")))


for _name, _test in KINDS.items():
    builtin(_name, 1)(_kind(_test))
