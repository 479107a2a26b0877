"""Plus, Times and Power of values: numbers are worked out, symbols collected, lists threaded over.

The form of what symbols come to is one of its own and not the language's: two sums are compared as an identity where they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ..tree import Refused, undefined
from .data import (
    ARITHMETIC,
    MAX_BITS,
    NUMERIC_CONSTANTS,
    STAY,
    Number,
    Value,
    association,
    has_head,
    is_association,
    is_list,
    is_number,
    is_settled,
    number,
    pairs,
    require,
)


def is_scalar(value: Value) -> bool:
    """Whether a value may stand in arithmetic that is not threaded: a number, a symbol, an undefined function, arithmetic of these."""
    if isinstance(value, str):
        return undefined(value) or value in NUMERIC_CONSTANTS
    if isinstance(value, tuple):
        return isinstance(value[0], str) and (value[0] in ARITHMETIC or value[0] in STAY or undefined(value[0]))
    return is_number(value)


def threaded(operation: Callable[..., Value], arguments: Sequence[Value]) -> Value | None:
    """The operation element by element where an argument is a list or an association; None where none is."""
    lists = [argument for argument in arguments if is_list(argument)]
    if any(is_association(argument) for argument in arguments):
        require(not lists and sum(map(is_association, arguments)) == 1, "arithmetic of associations")
        [content] = [pairs(argument, "arithmetic") for argument in arguments if is_association(argument)]
        return association({key: operation(*(value if is_association(a) else a for a in arguments)) for key, value in content.items()})
    if not lists:
        return None
    length = len(lists[0])
    require(all(len(part) == length for part in lists), "lists of unequal length")
    return ("List", *(operation(*(a[i] if is_list(a) else a for a in arguments)) for i in range(1, length)))


# What units.py knows of quantities: the sum, the product and the power of arguments of which one is a quantity.
OF_QUANTITIES: dict[str, Callable[[Sequence[Value]], Value]] = {}


def _of_quantities(arguments: Sequence[Value]) -> bool:
    return any(has_head(argument, "Quantity") for argument in arguments) and not any(is_list(argument) or is_association(argument) for argument in arguments)


def plus(*terms: Value) -> Value:
    if all(map(is_number, terms)):
        return number(sum(terms, 0))
    if _of_quantities(terms):
        return OF_QUANTITIES["plus"](terms)
    found = threaded(plus, terms)
    return _sum(terms) if found is None else found


def _sum(terms: Sequence[Value]) -> Value:
    constant: Number = 0
    coefficients: dict[Any, Number] = {}
    for term in terms:
        for part in term[1:] if isinstance(term, tuple) and term[0] == "Plus" else (term,):
            require(is_scalar(part), "Plus")
            if isinstance(part, int | Fraction):
                constant += part
                continue
            coefficient, rest = _split(part)
            coefficients[rest] = coefficients.get(rest, 0) + coefficient
    parts = sorted((times(number(factor), rest) for rest, factor in coefficients.items() if factor), key=repr)
    parts = [number(constant), *parts] if constant else parts
    return ("Plus", *parts) if len(parts) > 1 else parts[0] if parts else 0


def _split(term: Value) -> tuple[Number, Value]:
    if has_head(term, "Times") and is_number(term[1]):
        rest = term[2:]
        return term[1], rest[0] if len(rest) == 1 else ("Times", *rest)
    return 1, term


def times(*factors: Value) -> Value:
    if all(map(is_number, factors)):
        return number(math.prod(factors))
    if _of_quantities(factors):
        return OF_QUANTITIES["times"](factors)
    found = threaded(times, factors)
    return _product(factors) if found is None else found


def _product(factors: Sequence[Value]) -> Value:
    constant: Number = 1
    exponents: dict[Any, list[Value]] = {}
    for factor in factors:
        for part in factor[1:] if isinstance(factor, tuple) and factor[0] == "Times" else (factor,):
            require(is_scalar(part), "Times")
            if isinstance(part, int | Fraction):
                constant = number(constant * part)
                continue
            base, exponent = (part[1], part[2]) if isinstance(part, tuple) and part[0] == "Power" else (part, 1)
            exponents.setdefault(base, []).append(exponent)
    parts: list[Value] = []
    for base, powers in exponents.items():
        part = power(base, plus(*powers))
        if isinstance(part, int | Fraction):
            constant = number(constant * part)
        else:
            parts.extend(part[1:] if isinstance(part, tuple) and part[0] == "Times" else [part])
    if constant == 0:
        require(all(is_settled(part) and not _has_quotient(part) for part in parts), "zero times a number that may be infinite")
        return 0
    parts.sort(key=repr)
    parts = [constant, *parts] if constant != 1 else parts
    return ("Times", *parts) if len(parts) > 1 else parts[0] if parts else 1


def _has_quotient(part: Value) -> bool:
    return isinstance(part, tuple) and ((part[0] == "Power" and not (isinstance(part[2], int) and part[2] > 0)) or any(map(_has_quotient, part[1:])))


def power(base: Value, exponent: Value) -> Value:
    if is_list(base) or is_list(exponent) or is_association(base):
        return threaded(power, (base, exponent)) or ("List",)
    if has_head(base, "Quantity"):
        return OF_QUANTITIES["power"]((base, exponent))
    if is_number(base) and is_number(exponent):
        return numeric_power(base, exponent)
    require(is_scalar(base) and is_scalar(exponent), "Power")
    if isinstance(exponent, int):
        if exponent in (0, 1):
            return base if exponent else 1
        if isinstance(base, tuple) and base[0] == "Times":
            return times(*(power(factor, exponent) for factor in base[1:]))
        if isinstance(base, tuple) and base[0] == "Power":
            return power(base[1], times(base[2], exponent))
    require(base not in (0, 1), "Power")
    return ("Power", base, exponent)


def numeric_power(base: Number, exponent: Number) -> Value:
    if isinstance(exponent, int):
        require(base != 0 or exponent > 0, "0 to a power that is not positive")
        size = max(base.numerator.bit_length(), base.denominator.bit_length(), 1)
        require(base in (0, 1, -1) or abs(exponent) * size <= MAX_BITS, "a large number")
        if base in (0, 1, -1):
            return base if exponent % 2 else abs(base)
        return number(Fraction(base) ** exponent)
    require(base > 0 and exponent.denominator <= 64 and abs(exponent.numerator) <= 1000, "Power")
    above, below = root(base.numerator, exponent.denominator), root(base.denominator, exponent.denominator)
    if above is not None and below is not None:
        return numeric_power(number(Fraction(above, below)), exponent.numerator)
    return ("Power", base, exponent)


def root(value: int, degree: int) -> int | None:
    """The whole root of a positive number, where there is one."""
    low, high = 1, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low if low**degree == value else None


def negative(value: Value) -> Value:
    return times(-1, value)


def quotient(a: Value, b: Value) -> Value:
    if is_number(a) and is_number(b):
        if b == 0:
            raise Refused("a division by zero")
        return number(Fraction(a) / b)
    return times(a, power(b, -1))
