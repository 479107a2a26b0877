"""The cells of the line of a parameter in which the places of an expression stay apart and what depends on parameters alone goes one way."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpq_poly

from .. import budget
from ..assumptions import Assumptions
from ..critical import zeros_told_apart
from ..evaluation import Environment
from ..parameters import Known
from ..tree import Tree, arguments, free_symbols, plus, power, rational_tree, times
from ..univariate import polynomial
from .breaks import places, single_valued
from .one_variable import VARIABLE, NotPlaced, Places, Polynomial

MAX_CELLS = 12
GENERIC = fmpq(37, 64)


def cells_of(known: Places, answer: Tree, others: list[str], conditions: list[Tree], name: str) -> Iterator[Known]:
    """Values of the parameters in every cell between the values at which places meet, come or go, or at which what depends on parameters alone
    changes its ways. NotPlaced where these are not the zeros of polynomials in one parameter each."""
    bounds: dict[str, list[fmpq_poly]] = {other: [] for other in others}

    def bounded(node: Tree) -> None:
        names = free_symbols(node) - set(known.constants.values())
        if not names:
            return
        p = polynomial(node, next(iter(names))) if len(names) == 1 and names <= bounds.keys() else None
        if p is None:
            raise NotPlaced
        bounds[next(iter(names))].append(p)

    for node in meeting(known.factors):
        for factor in node:
            bounded(factor)
    for other in others:
        alone = places_alone(answer, name, other)
        if alone is not None:
            if alone.line.kind or alone.constants:
                raise NotPlaced
            for polynomial_alone in alone.factors:
                bounded(as_tree(polynomial_alone, {VARIABLE: other}))
    assumed = Assumptions(conditions)
    for condition in assumed.critical():
        bounded(condition)
    choices = [between(zeros_told_apart([*bounds[other], fmpq_poly([0, 1])])) if bounds[other] else [GENERIC] for other in others]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MAX_CELLS:
        raise NotPlaced
    for values in itertools.product(*choices):
        at: Known = dict(zip(others, values, strict=True))
        if assumed.hold(Environment(dict(at))):
            yield at


def places_alone(answer: Tree, name: str, other: str) -> Places | None:
    """Where the parts that are free of the variable change their ways with one parameter."""
    parts = list(free_parts(answer, name))
    if any(len(free_symbols(part)) > 1 for part in parts if not single_valued(part, other)):
        raise NotPlaced
    return places(plus(*(part for part in parts if other in free_symbols(part))), other)


def free_parts(node: Tree, name: str) -> Iterator[Tree]:
    """The largest parts without a symbol."""
    if name not in free_symbols(node):
        if free_symbols(node):
            yield node
        return
    for part in arguments(node):
        yield from free_parts(part, name)


def as_tree(p: Polynomial, names: dict[str, str]) -> Tree:
    terms = [times(rational_tree(c), *(power(names.get(n, n), d) for n, d in zip(p.names, exponents, strict=True) if d)) for exponents, c in p.terms]
    return plus(*terms)


def meeting(factors: list[Polynomial]) -> Iterator[list[Tree]]:
    """Expressions in the parameters whose zeros hold all values at which zeros in t meet, come or go."""
    names = sorted({n for factor in factors for n in factor.names})
    if len(names) < 2 or VARIABLE not in names:
        for factor in factors:
            if VARIABLE not in factor.names:
                yield [as_tree(factor, {})]
        return
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    read = []
    for factor in factors:
        at = [names.index(n) for n in factor.names]
        terms = {}
        for exponents, c in factor.terms:
            monomial = [0] * len(names)
            for i, d in zip(at, exponents, strict=True):
                monomial[i] = d
            terms[tuple(monomial)] = c
        read.append(context.from_dict(terms))
    place = dict(enumerate(names))
    varying = [p for p in read if p.degrees()[names.index(VARIABLE)]]
    found = [p for p in read if not p.degrees()[names.index(VARIABLE)]]
    for p in varying:
        budget.step(len(p))
        top = int(p.degrees()[names.index(VARIABLE)])
        found.append(
            context.from_dict(
                {(*m[: names.index(VARIABLE)], 0, *m[names.index(VARIABLE) + 1 :]): c for m, c in p.to_dict().items() if m[names.index(VARIABLE)] == top}
            )
        )
        if top > 1:
            found.append(p.discriminant(VARIABLE))
    for p, q in itertools.combinations(varying, 2):
        budget.step(len(p) * len(q))
        found.append(p.resultant(q, VARIABLE))
    for p in found:
        if p.is_zero():
            raise NotPlaced
        yield [as_tree(Polynomial.of(factor, place), {}) for factor, _ in p.factor()[1]]


def between(ends: list[fmpq]) -> list[fmpq]:
    """A number in each interval that places divide the line into."""
    return [ends[0] - fmpq(729, 512), *(a + (b - a) * fmpq(313, 512) for a, b in itertools.pairwise(ends)), ends[-1] + fmpq(1117, 512)]
