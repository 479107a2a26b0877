"""MatrixPower[m, n] for a symbol n, by what defines it."""

from __future__ import annotations

from typing import Any

from flint import acb_mat, fmpq_mat, fmpq_poly

from ..calculus import differentiate
from ..deciding import SCHEDULE
from ..evaluation import evaluate
from ..findings import Open, Residual, Supported, Verified
from ..tree import Refused, Tree, arguments, free_symbols, is_call, plus, replace
from ..values import Undecided, complex_ball, is_number, precision
from .properties import Case, Rows, all_of, as_tree, dotted, exact_rows, fits, rows_of, unit, wrong


def power(matrix: Rows, answer: Tree, index: str, case: Case) -> Residual:
    """MatrixPower[m, n] for a symbol n. For all complex n: P(0) = 1, P(1) = m, P' = P'(0).P, and P'(0) is the principal
    logarithm. For integers n: P(1) = m and P(n + 1) = m.P(n) and, where m has an inverse, no more is wanted."""
    rows = rows_of(answer)
    if rows is None or len(matrix) != len(matrix[0]):
        return Open("shape")
    if not fits(rows, matrix):
        return wrong("the answer has another shape than the matrix")
    next_one = tuple(tuple(replace(entry, index, plus(index, 1)) for entry in row) for row in rows)
    at_one = tuple(tuple(replace(entry, index, 1) for entry in row) for row in rows)
    steps = [
        lambda: case.equal(at_one, matrix, "the answer at 1 == m"),
        lambda: case.equal(dotted(matrix, rows), next_one, f"m.x == (x /. {index} -> {index} + 1)"),
    ]
    found = all_of(steps)
    if not isinstance(found, Verified) or not found.exact:
        return Supported() if isinstance(found, Verified) else found
    if any(is_call(condition, "Element") and index in arguments(condition) for condition in case.assumptions):
        return found
    at_zero = tuple(tuple(replace(entry, index, 0) for entry in row) for row in rows)
    try:
        slope = tuple(tuple(differentiate(entry, index) for entry in row) for row in rows)
    except Refused:
        return Supported()
    first = tuple(tuple(replace(entry, index, 0) for entry in row) for row in slope)
    whole = all_of(
        [
            lambda: case.equal(at_zero, unit(len(matrix)), "the answer at 0 == 1"),
            lambda: case.equal(slope, dotted(first, rows), f"D[x, {index}] == (D[x, {index}] /. {index} -> 0).x"),
        ]
    )
    if isinstance(whole, Verified) and whole.exact and principal(first, case):
        return whole
    return Supported() if isinstance(whole, Verified) else Open("it holds for positive integers; other exponents are not decided")


def principal(logarithm: Rows, case: Case) -> bool:
    """Whether the eigenvalues of a logarithm have imaginary parts in (-Pi, Pi]: proved for constants, the closed end by the width of a ball
    that no other value of the logarithm can reach."""
    if free_symbols(as_tree(logarithm)):
        return False
    rational = exact_rows(logarithm)
    if rational is not None:
        m = fmpq_mat(len(rational), len(rational), [x for row in rational for x in row])
        roots: Any = fmpq_poly(m.charpoly().coeffs()).complex_roots()
        return all(abs(root.imag) < 3 for root, _ in roots)
    if all(isinstance(entry, int) and entry == 0 for i, row in enumerate(logarithm) for j, entry in enumerate(row) if j < i):
        return all(within(row[i]) for i, row in enumerate(logarithm))
    n = len(logarithm)
    for bits in SCHEDULE:
        with precision(bits):
            try:
                values = [evaluate(entry) for row in logarithm for entry in row]
                if not all(is_number(value) for value in values):
                    return False
                found = acb_mat(n, n, [complex_ball(value) for value in values if is_number(value)]).eig(multiple=True)
            except (Undecided, Refused):
                continue
            except (ValueError, ZeroDivisionError):
                continue
            if all(abs(value.imag) < 4 and value.imag > -3 for value in found):
                return True
    return False


def within(node: Tree) -> bool:
    try:
        with precision(SCHEDULE[0]):
            value = evaluate(node)
            return is_number(value) and bool(abs(complex_ball(value).imag) < 4 and complex_ball(value).imag > -3)
    except (Undecided, Refused):
        return False
