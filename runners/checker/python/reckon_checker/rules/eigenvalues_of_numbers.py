"""Eigenvalues of matrices of rational numbers, isolated: the first ones by absolute value, and decimals that are exact ones rounded."""

from __future__ import annotations

from typing import Any

from flint import acb, fmpq, fmpq_mat, fmpq_poly

from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..tree import Refused, Tree
from ..values import Undecided, complex_ball, is_number, precision
from ..wording import show
from .rounded import ROUNDED, rounds

BITS = 320


def isolated(rows: list[list[fmpq]]) -> list[acb]:
    """All eigenvalues at the precision in force, multiple ones repeated."""
    roots: Any = fmpq_poly(fmpq_mat(len(rows), len(rows), [x for row in rows for x in row]).charpoly().coeffs()).complex_roots()
    return [acb(root) for root, multiplicity in roots for _ in range(multiplicity)]


def first_ones(rows: list[list[fmpq]], values: tuple[Tree, ...], count: int, each: Residual) -> Residual:
    """Eigenvalues[m, count]: of the largest absolute values, of the smallest where count is negative. each: whether the values are eigenvalues."""
    if len(values) != min(abs(count), len(rows)):
        return Refuted(Statement(f"{min(abs(count), len(rows))} eigenvalues are asked for, the answer has {len(values)}"))
    with precision(BITS):
        left = isolated(rows)
        given = []
        for value in values:
            try:
                ball = evaluate(value)
            except (Undecided, Refused):
                return Open("a value of the answer")
            near = [root for root in left if is_number(ball) and complex_ball(ball).overlaps(root)]
            if not near or any(not root.overlaps(near[0]) for root in near):
                return each if isinstance(each, Refuted) else Open("values that are not told apart")
            left.remove(near[0])
            given.append(near[0])
        sign = 1 if count > 0 else -1
        for root in left:
            for one in given:
                if sign * (abs(root) - abs(one)) > 0:
                    kind = "larger" if count > 0 else "smaller"
                    return Refuted(Statement(f"{show(root)} is an eigenvalue of {kind} absolute value than {show(one)}, and not in the answer", exact=False))
        first = all(sign * (abs(one) - abs(root)) > 0 for root in left for one in given)
    return each if first or not isinstance(each, Verified) else Supported()


def decimal_ones(rows: list[list[fmpq]], values: tuple[Tree, ...]) -> Residual | None:
    """Verified where every decimal is an eigenvalue rounded, each as often as it is one; None where that is not known."""
    if len(values) != len(rows):
        return None
    with precision(BITS):
        left = isolated(rows)
    for value in values:
        near = [root for root in left if rounds(value, root)]
        if not near:
            return None
        left.remove(near[0])
    return Verified(exact=False, residual=ROUNDED)
