"""Sums over a range of whole numbers in closed form: of polynomials by Bernoulli's formula (DLMF 24.4.7), of 1/k^p by harmonic
numbers. The formula holds wherever the upper end is a whole number of at least the lower one less 1; in between it is what the
language takes such a sum for."""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_poly

from .evaluation import evaluate
from .field import TooLarge
from .normal import Normalizer
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, replace, times
from .univariate import as_tree

MAX_DEGREE = 40
COUNTING = ("Sum", "Product", "Table")


def closed(node: Tree) -> Tree:
    """A tree with the sums in it written in closed form where one is known."""
    if not isinstance(node, tuple):
        return node
    parts = tuple(part if i == 0 else closed(part) for i, part in enumerate(node))
    if is_call(parts, "Sum") and len(parts) == 3 and is_call(parts[2], "List") and len(arguments(parts[2])) in (2, 3):
        name, *ends = arguments(parts[2])
        found = total(parts[1], str(name), ends[0] if len(ends) == 2 else 1, ends[-1]) if isinstance(name, str) else None
        return parts if found is None else found
    return parts


def without_symbolic_ends(value: Any, bound: frozenset[str] = frozenset()) -> Any:
    """A task, or a part of one, in which sums to symbolic ends are in closed form. The language evaluates them so, which has values where the
    sum of terms has none: a sum, product or table that is left to such an end is Refused."""
    if isinstance(value, dict):
        return {key: without_symbolic_ends(part, bound) for key, part in value.items()}
    if isinstance(value, list):
        return [without_symbolic_ends(part, bound) for part in value]
    if not isinstance(value, tuple):
        return value
    if not is_call(value, *COUNTING):
        return tuple(without_symbolic_ends(part, bound) for part in value)
    inner = bound
    for iterator in value[2:]:
        if free_symbols(("List", *arguments(iterator)[1:])) - inner:
            found = closed(value)
            if found == value:
                raise Refused(str(value[0]))
            return without_symbolic_ends(found, bound)
        inner |= {str(name) for name in arguments(iterator)[:1]}
    return (value[0], without_symbolic_ends(value[1], inner), *value[2:])


def total(term: Tree, name: str, low: Tree, high: Tree) -> Tree | None:
    """The sum of a term from low to high; None where no formula is known."""
    if not counts(low, high) or name in free_symbols(low) | free_symbols(high):
        return None
    coefficients = powers(term, name)
    if coefficients is None:
        return None
    parts: list[Tree] = []
    for degree, coefficient in coefficients.items():
        if degree < 0:
            if not isinstance(low, int) or low < 1:
                return None
            order = () if degree == -1 else (-degree,)
            first = ("HarmonicNumber", low - 1, *order) if low > 1 else 0
            parts.append(times(coefficient, minus(("HarmonicNumber", high, *order), first)))
            continue
        formula = bernoulli(degree + 1)
        over = as_tree(formula, "k$")
        difference = minus(replace(over, "k$", plus(high, 1)), replace(over, "k$", low))
        parts.append(times(coefficient, rational(1, degree + 1), difference))
    return plus(*parts)


def iterated(term: Tree, ranges: list[Any]) -> Tree | None:
    """The same over several ranges, the first one outermost, of which none can be empty: ends are whole numbers, or an index that starts high enough."""
    spans = [(str(r[0]), r[1] if len(r) == 3 else 1, r[-1]) if len(r) in (2, 3) else None for r in ranges]
    found: Tree | None = term
    for i in range(len(spans) - 1, -1, -1):
        span = spans[i]
        if span is None or found is None:
            return None
        name, low, high = span
        outer = {one[0]: one[1] for one in spans[:i] if one is not None}
        within = free_symbols(low) | free_symbols(high)
        if within & set(outer):
            start = outer.get(high) if isinstance(high, str) else None
            if not isinstance(low, int) or not isinstance(start, int) or start < low - 1:
                return None
        elif i > 0 and within and not (isinstance(low, int) and low <= 2):
            return None
        found = total(found, name, low, high)
    return found


def counts(low: Tree, high: Tree) -> bool:
    """Whether the ends are whole numbers wherever their symbols are, and no empty range is seen."""
    if not whole_valued(low) or not whole_valued(high):
        return False
    if free_symbols(low) | free_symbols(high):
        return True
    first, last = evaluate(low), evaluate(high)
    return isinstance(first, fmpq) and isinstance(last, fmpq) and first <= last


def whole_valued(end: Tree) -> bool:
    """Sums, products and powers of whole numbers and symbols."""
    if isinstance(end, int) or (isinstance(end, str) and free_symbols(end)):
        return True
    if is_call(end, "Power") and len(arguments(end)) == 2:
        base, exponent = arguments(end)
        return isinstance(exponent, int) and exponent >= 0 and whole_valued(base)
    return is_call(end, "Plus", "Times", "Subtract", "Minus") and all(whole_valued(part) for part in arguments(end))


def bernoulli(n: int) -> fmpq_poly:
    """B_n(x): B_0 = 1, B_n' = n B_(n - 1), and its integral from 0 to 1 is 0 (DLMF 24.4.34, 24.4.45)."""
    found = fmpq_poly([1])
    for k in range(1, n + 1):
        found = k * found.integral()
        found -= found.integral()(1)
    return found


def powers(term: Tree, name: str) -> dict[int, Tree] | None:
    """Coefficients by whole powers of the name, negative ones too; None where the term is no sum of such powers."""
    normalizer = Normalizer()
    try:
        value, variable = normalizer.normal(term), normalizer.normal(name)
    except (TooLarge, Refused, ValueError, ArithmeticError):
        return None
    keys = {index: key for key, index in normalizer.field.keys.items()}
    if not all(isinstance(key, str) for key in keys.values()):
        return None
    index = next(i for i, d in enumerate(variable.top.degrees()) if d)
    shift = value.bottom.degrees()[index]
    if max(shift, value.top.degrees()[index]) > MAX_DEGREE or any(m[index] != shift for m in value.bottom.to_dict()):
        return None
    below: Tree = plus(*(_term(m, c, keys, index) for m, c in value.bottom.to_dict().items()))
    found: dict[int, list[Tree]] = {}
    for monomial, coefficient in value.top.to_dict().items():
        found.setdefault(int(monomial[index] - shift), []).append(_term(monomial, coefficient, keys, index))
    return {degree: times(plus(*terms), power(below, -1)) for degree, terms in found.items()}


def _term(monomial: tuple[int, ...], coefficient: fmpq, keys: dict[int, object], skip: int) -> Tree:
    factors: list[Tree] = [power(str(keys[i]), int(d)) for i, d in enumerate(monomial) if d and i != skip]
    return times(rational_tree(coefficient), *factors)
