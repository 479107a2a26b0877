"""Determinants and ranks of small matrices of trees, and of balls: what is not zero is proved not to be."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, fmpq

from .. import budget
from ..evaluation import Environment, evaluate
from ..tree import Refused, Tree, free_symbols, plus, times
from ..values import Undecided, Value, complex_ball, is_number, precision

BITS = 512


def number(value: Value) -> acb:
    if not is_number(value):
        raise Undecided("no number")
    return complex_ball(value)


def rank_at_points(slopes: list[list[Tree]], whole: str | None) -> int | None:
    """The largest rank that is proved at generic values of the symbols; whole: one that is a whole number."""
    names = sorted(set().union(*(free_symbols(node) for row in slopes for node in row)) if slopes else set())
    best: int | None = None
    for turn in range(3):
        budget.step()
        values = {name: fmpq(2 * ((37 * (i + 1) + 53 * turn) % 97) + 65, 64) for i, name in enumerate(names)}
        if whole is not None:
            values[whole] = fmpq(4 + turn)
        with precision(BITS):
            try:
                matrix = [[number(evaluate(node, Environment.of(values))) for node in row] for row in slopes]
            except Undecided:
                continue
            found = rank_at_least(matrix)
            best = found if best is None else max(best, found)
    return best


def determinant(rows: list[list[Tree]]) -> Tree:
    """By expansion: of a few rows."""
    if not rows:
        return 1
    terms = []
    for j, entry in enumerate(rows[0]):
        if entry != 0:
            inner = determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
            terms.append(times(1 if j % 2 == 0 else -1, entry, inner))
    return plus(*terms)


def nonzero(node: Tree, seed: int) -> bool:
    """Whether an expression is proved not to vanish at some point."""
    names = sorted(free_symbols(node))
    for turn in range(3):
        values = {name: fmpq(2 * ((41 * (i + 1) + 29 * turn + seed) % 89) + 65, 64) for i, name in enumerate(names)}
        with precision(BITS):
            try:
                if not number(evaluate(node, Environment.of(values))).contains(0):
                    return True
            except (Undecided, Refused):
                continue
    return False


def rank_at_least(matrix: list[list[acb]]) -> int:
    """Gaussian elimination with pivots that are proved not to be zero."""
    rows = [list(row) for row in matrix]
    rank = 0
    size: Callable[[acb], float] = lambda z: float(z.abs_lower())  # noqa: E731
    for column in range(len(rows[0]) if rows else 0):
        pivots = [i for i in range(rank, len(rows)) if not rows[i][column].contains(0)]
        if not pivots:
            continue
        best = max(pivots, key=lambda i: size(rows[i][column]))
        rows[rank], rows[best] = rows[best], rows[rank]
        for i in range(rank + 1, len(rows)):
            share = rows[i][column] / rows[rank][column]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
