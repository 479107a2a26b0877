"""What the objective of an optimum can be at best: its value at the zeros of the derivative, for a polynomial in one real
unknown, or its range where that is bounded."""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from ..evaluation import Environment, evaluate
from ..tree import Refused, Tree
from ..univariate import polynomial
from ..values import INFINITY, MINUS_INFINITY, Undecided, Value

MAX_DEGREE = 60
EVERYWHERE = 4000  # bits of the largest number that stands for a real unknown
LARGEST = 1000


def best(objective: Tree, names: list[str], constrained: bool, maximise: bool) -> Value | None:
    """A value that the objective is nowhere better than; None where none is known. names: real unknowns."""
    if len(names) == 1 and not constrained:
        found = _of_polynomial(objective, names[0], maximise)
        if found is not None:
            return found
    return _of_range(objective, names, maximise)


def _of_range(objective: Tree, names: list[str], maximise: bool) -> Value | None:
    """From the enclosure of the objective for all real values of the unknowns."""
    try:
        value = evaluate(objective, Environment({name: arb(0, arb(2) ** EVERYWHERE) for name in names}))
    except (Undecided, Refused):
        return None
    if not isinstance(value, arb) or not abs(value) < arb(2) ** LARGEST:
        return None
    return arb(value.upper() if maximise else value.lower())


def _of_polynomial(objective: Tree, name: str, maximise: bool) -> Value | None:
    p = polynomial(objective, name)
    if p is None or not 1 <= p.degree() <= MAX_DEGREE:
        return None
    upward = bool(p[p.degree()] > 0)
    if p.degree() % 2 or upward == maximise:
        return INFINITY if maximise else MINUS_INFINITY
    roots: Any = p.derivative().complex_roots()
    values = [_horner(list(p.coeffs()), root.real) for root, _ in roots if root.imag.is_zero()]
    found = values[0]
    for value in values[1:]:
        found = found.max(value) if maximise else found.min(value)
    return found


def _horner(coefficients: list[fmpq], x: arb) -> arb:
    value = arb(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value
