"""Definite integrals of polynomials in the variables of integration, exactly, iterated ranges and parameters included."""

from __future__ import annotations

from flint import fmpq_mpoly

from ..field import TooLarge
from ..normal import Normalizer
from ..tree import Refused, Tree, plus, power, rational_tree, replace, times

Range = tuple[str, Tree, Tree]


def exact(integrand: Tree, ranges: list[Range]) -> Tree | None:
    """The integral as a tree, innermost range (the last) first; None where the integrand is no polynomial."""
    found: Tree | None = integrand
    for name, low, high in reversed(ranges):
        if found is not None:
            found = innermost(found, (name, low, high))
    return found


def innermost(node: Tree, one: Range) -> Tree | None:
    """The integral over one range."""
    name, low, high = one
    normalizer = Normalizer()
    try:
        value, variable = normalizer.normal(node), normalizer.normal(name)
        for end in (low, high):
            Normalizer().normal(end)  # an infinite end has no normal form
    except (TooLarge, Refused, ValueError, ArithmeticError):
        return None
    keys = {index: key for key, index in normalizer.field.keys.items()}
    if not all(isinstance(key, str) for key in keys.values()):
        return None
    names = {index: str(key) for index, key in keys.items()}
    index = next(i for i, d in enumerate(variable.top.degrees()) if d)
    if value.bottom.degrees()[index] > 0:
        return None
    whole = _tree(value.top.integral(index), names)
    ends = plus(replace(whole, name, high), times(-1, replace(whole, name, low)))
    return times(ends, power(_tree(value.bottom, names), -1))


def _tree(p: fmpq_mpoly, names: dict[int, str]) -> Tree:
    terms = []
    for monomial, coefficient in p.to_dict().items():
        factors = [power(names[i], int(d)) for i, d in enumerate(monomial) if d]
        terms.append(times(rational_tree(coefficient), *factors))
    return plus(*terms)
