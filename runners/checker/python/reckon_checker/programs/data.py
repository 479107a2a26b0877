"""Values of programs, and what is said of them without evaluating: kinds, parts, order.

A value is a whole number (int), a fraction (Fraction, never a whole one), a decimal as it is written (Real), a text (Str), a symbol (str),
a unit of measure (Unit) or a call, a tuple of a head and arguments: lists, rules, associations (their keys differ), undefined functions of
values, and arithmetic of symbols. Texts are no Python texts, so that a text is never taken for a symbol.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard, Union

from .. import budget
from ..evaluation import FUNCTIONS, HEADS
from ..tree import Real, Refused, Text, Tree, undefined

MAX_BITS = 200_000  # of a number
MAX_LENGTH = 20_000  # of a list, of a text
MAX_WIDE = 100_000  # digits and bits that are looked at one by one


@dataclass(frozen=True, slots=True)
class Str:
    """A text of the language, in code points of 16 bits."""

    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of powers of units of measure, in order of their names."""

    powers: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A value among what is still to be evaluated."""

    value: Any


Value: TypeAlias = Any  # int, Fraction, Str, Unit, Real, str or tuple: the language has no static types, and neither have its values here
Number: TypeAlias = Union[int, Fraction]

TRUE, FALSE, NULL = "True", "False", "Null"
ARITHMETIC = frozenset(("Plus", "Times", "Power"))
# Functions of numbers that stay as they are: what they come to is for the rules of identities to say.
STAY = frozenset("Sin Cos Tan Cot Sec Csc ArcSin ArcCos ArcTan ArcCot Sinh Cosh Tanh ArcSinh ArcCosh ArcTanh Log Gamma Zeta Erf PolyGamma".split()) & (
    frozenset(HEADS) | frozenset(FUNCTIONS)
)
NUMERIC_CONSTANTS = frozenset(("Pi", "E", "EulerGamma", "GoldenRatio", "Catalan", "Degree"))


def from_tree(node: Tree) -> Any:
    """What is to be evaluated, of the tree of a task."""
    if isinstance(node, Text):
        return Str(checked_text(str(node)))
    if not isinstance(node, tuple):
        return node
    if node[0] == "Rational" and len(node) == 3 and isinstance(node[1], int) and isinstance(node[2], int) and node[2]:
        return number(Fraction(node[1], node[2]))
    return tuple(from_tree(part) for part in node)


def to_tree(value: Value) -> Tree:
    if isinstance(value, Str):
        return Text(value.text)
    if isinstance(value, Fraction):
        return ("Rational", value.numerator, value.denominator)
    if isinstance(value, Unit):
        powers = [Text(name) if exponent == 1 else ("Power", Text(name), to_tree(number(exponent))) for name, exponent in value.powers]
        return powers[0] if len(powers) == 1 else ("Times", *powers)
    return tuple(to_tree(part) for part in value) if isinstance(value, tuple) else value


def checked_text(text: str) -> str:
    """Characters beyond 16 bits count as one or two, by the version of the language."""
    if len(text) > MAX_LENGTH or any(ord(character) > 0xFFFF for character in text):
        raise Refused("String")
    return text


def text(value: str) -> Str:
    return Str(checked_text(value))


def number(value: Number) -> Number:
    """A number in its one form, within the bounds."""
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise Refused("a large number")
    return value.numerator if value.denominator == 1 else value


def truth(value: bool) -> str:
    return TRUE if value else FALSE


def is_number(value: Any) -> TypeGuard[Number]:
    return isinstance(value, int | Fraction)


def is_list(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple) and value[0] == "List"


def is_association(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple) and value[0] == "Association"


def has_head(value: Any, *heads: str) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple) and value[0] in heads


def listed(parts: Sequence[Value] | Iterator[Value]) -> Value:
    """A list of values, without Nothing."""
    kept = [part for part in parts if part != "Nothing"]
    if len(kept) > MAX_LENGTH:
        raise Refused("a long list")
    budget.step(1 + len(kept) // 8)
    return ("List", *kept)


def require(condition: bool, what: str) -> None:
    """Raises Refused where an argument is of no form that is worked out here."""
    if not condition:
        raise Refused(what)


def elements(value: Value, what: str) -> tuple[Any, ...]:
    """The elements of a list."""
    if not isinstance(value, tuple) or value[0] != "List":
        raise Refused(f"{what} of something else than a list")
    budget.step(1 + len(value) // 8)
    return value[1:]


def whole(value: Value, what: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number within bounds."""
    if not isinstance(value, int) or (least is not None and value < least) or (most is not None and value > most):
        raise Refused(what)
    return value


def exact(value: Value, what: str) -> Number:
    if not isinstance(value, int | Fraction):
        raise Refused(f"{what} of something else than a number")
    return value


def string(value: Value, what: str) -> str:
    if not isinstance(value, Str):
        raise Refused(f"{what} of something else than a text")
    budget.step(1 + len(value.text) // 32)
    return value.text


def pairs(value: Value, what: str) -> dict[Any, Any]:
    """The values of an association by their keys, in order."""
    if not is_association(value):
        raise Refused(f"{what} of something else than an association")
    return {rule[1]: rule[2] for rule in value[1:]}


def association(content: dict[Any, Any]) -> Value:
    if len(content) > MAX_LENGTH:
        raise Refused("a long association")
    plain(list(content), "keys")
    return ("Association", *(("Rule", key, value) for key, value in content.items()))


def is_plain(value: Value) -> bool:
    """Whether two values of this kind are the same expression where they are equal here, and different where not: no arithmetic of
    symbols and no function of numbers in it, whose form the language chooses, no decimals and no pure functions."""
    if isinstance(value, Real | Unit):
        return False
    if isinstance(value, str):
        return value not in NUMERIC_CONSTANTS
    if not isinstance(value, tuple):
        return True
    head = value[0]
    known = isinstance(head, str) and (head in ("List", "Rule", "Association", "Missing") or undefined(head))
    return known and all(is_plain(part) for part in value[1:])


def is_settled(value: Value) -> bool:
    """Whether the language leaves a value as it stands here: no function of numbers and no root, which it may work out (Sin[0] is 0)."""
    if isinstance(value, tuple):
        if value[0] == "Power":
            return is_settled(value[1]) and isinstance(value[2], int) and not is_number(value[1])
        known = isinstance(value[0], str) and (value[0] in ("Plus", "Times", "List", "Rule", "Association", "Missing", "Quantity") or undefined(value[0]))
        return known and all(is_settled(part) for part in value[1:])
    return not (isinstance(value, str) and value in NUMERIC_CONSTANTS)


def settled(value: Value, what: str) -> Value:
    """The value, where its kind is known by its form."""
    require(not (isinstance(value, tuple) and isinstance(value[0], str) and (value[0] in ARITHMETIC or value[0] in STAY)) or is_settled(value), what)
    return value


def plain(values: Sequence[Value], what: str) -> None:
    budget.step(1 + len(values) // 2)
    require(all(is_plain(value) for value in values), f"{what} of expressions")


def _alphabetical(name: str) -> tuple[Any, ...]:
    """Letters before their capitals, case aside where another letter decides; digits come before letters."""
    if not all(character.isascii() and character.isalnum() for character in name):
        raise Refused("the order of texts with other characters than letters and digits")
    return (name.lower(), tuple(character.isupper() for character in name))


def compare(a: Value, b: Value) -> int:
    """The order of the language: -1, 0 or 1; numbers first. What it says of unlike values but numbers is not worked out here."""
    budget.step()
    if is_number(a) and is_number(b):
        return (a > b) - (a < b)
    if is_number(a) or is_number(b):
        other = b if is_number(a) else a
        require(is_list(other) or isinstance(other, Str) or (isinstance(other, str) and undefined(other)), "the order of expressions")
        return -1 if is_number(a) else 1
    if isinstance(a, Str) and isinstance(b, Str):
        return _compare_keys(_alphabetical(a.text), _alphabetical(b.text))
    if isinstance(a, str) and isinstance(b, str):
        require(all(undefined(name) or name in (TRUE, FALSE) for name in (a, b)), "the order of expressions")
        return _compare_keys(_alphabetical(a), _alphabetical(b))
    if isinstance(a, tuple) and isinstance(b, tuple) and is_list(a) and is_list(b):
        if len(a) != len(b):
            return -1 if len(a) < len(b) else 1
        return next((found for x, y in zip(a[1:], b[1:], strict=True) if (found := compare(x, y))), 0)
    raise Refused("the order of expressions")


def _compare_keys(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


ordered = functools.cmp_to_key(compare)


def in_order(values: Sequence[Value]) -> list[Value]:
    return sorted(values, key=ordered)
