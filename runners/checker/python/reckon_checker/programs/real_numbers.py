"""Numbers that are not rational, such as Sqrt[2] and Pi: whether they are finite, and which of two is larger, by enclosures."""

from __future__ import annotations

from flint import acb, arb, fmpq

from ..evaluation import evaluate
from ..tree import Refused
from ..values import precision
from .data import ARITHMETIC, NUMERIC_CONSTANTS, STAY, Value, is_number, to_tree

BITS = 256


def is_number_form(value: Value) -> bool:
    """Whether a value is arithmetic of numbers and constants, without symbols."""
    if isinstance(value, tuple):
        return isinstance(value[0], str) and (value[0] in ARITHMETIC or value[0] in STAY) and all(map(is_number_form, value[1:]))
    return is_number(value) or (isinstance(value, str) and value in NUMERIC_CONSTANTS)


def is_finite(value: Value) -> bool:
    """Whether a number is proved to be finite."""
    with precision(BITS):
        found = evaluate(to_tree(value))
    return isinstance(found, int | fmpq) or (isinstance(found, arb | acb) and found.is_finite())


def sign_of_difference(a: Value, b: Value) -> int:
    """1 where a is larger, -1 where b is; Refused where neither is proved."""
    if not (is_number_form(a) and is_number_form(b)):
        raise Refused("an order of something else than numbers")
    with precision(BITS):
        difference = evaluate(("Plus", to_tree(a), ("Times", -1, to_tree(b))))
    if not isinstance(difference, arb) or difference.contains(0):
        raise Refused("an order that is not decided")
    return 1 if difference > 0 else -1
