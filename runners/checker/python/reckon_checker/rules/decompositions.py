"""Decompositions of matrices: the product and every property of the factors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from ..findings import Open, Residual, Verified
from ..normal import proves_equal, proves_zero
from ..tree import Tree, arguments, free_symbols, is_call, minus, plus, power, times
from .properties import Case, Rows, all_of, as_tree, dotted, fits, generic_rank_at_least, rows_of, sign_of, starred, unit, wrong


def factors(answer: Tree, count: int) -> list[Rows] | None:
    parts = arguments(answer)
    rows = [rows_of(part) for part in parts]
    found = [row for row in rows if row is not None]
    return found if is_call(answer, "List") and len(parts) == len(found) == count else None


def below(rows: Rows, diagonals: int = 0) -> list[tuple[Tree, Tree]]:
    """Entries below the diagonal are zero; diagonals: so many below it may be other than zero."""
    return [(entry, 0) for i, row in enumerate(rows) for j, entry in enumerate(row) if j < i - diagonals]


def unitary(rows: Rows, case: Case, name: str) -> Residual:
    """The columns are orthonormal."""
    return case.equal(dotted(starred(rows), rows), unit(len(rows[0])), f"{name}*.{name} == 1")


def qr(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """m = q*.r, the rows of q orthonormal, r upper triangular."""
    found = factors(answer, 2)
    if found is None:
        return Open("shape")
    q, r = found
    if len(q) != len(r) or len(q[0]) != len(matrix) or len(r[0]) != len(matrix[0]):
        return wrong("the factors have shapes whose product is not of the matrix's")
    return all_of(
        [
            lambda: case.equal(dotted(starred(q), r), matrix, "q*.r == m"),
            lambda: case.claims(below(r), "r below its diagonal == 0"),
            lambda: unitary(starred(q), case, "q"),
        ]
    )


def singular_values(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """m = u.w.v*, u and v with orthonormal columns, w diagonal, its values real, not negative, the largest first."""
    found = factors(answer, 3)
    if found is None:
        return Open("shape")
    u, w, v = found
    if len(u) != len(matrix) or len(v) != len(matrix[0]) or len(u[0]) != len(w) or len(w[0]) != len(v[0]):
        return wrong("the factors have shapes whose product is not of the matrix's")
    diagonal = [w[i][i] for i in range(min(len(w), len(w[0])))]
    off = [(entry, 0) for i, row in enumerate(w) for j, entry in enumerate(row) if i != j]
    return all_of(
        [
            lambda: case.equal(dotted(u, w, starred(v)), matrix, "u.w.v* == m"),
            lambda: case.claims([(a, b) for a, b in off], "w off its diagonal == 0"),
            lambda: unitary(u, case, "u"),
            lambda: unitary(v, case, "v"),
            lambda: descending(diagonal),
        ]
    )


def descending(values: list[Tree]) -> Residual:
    for value in values:
        sign = sign_of(value)
        if sign is None:
            return Open("the sign of a singular value")
        if sign < 0 or sign == 2:
            return wrong("a singular value is a number that is not negative")
    for a, b in pairwise(values):
        sign = sign_of(minus(a, b))
        if sign is None:
            return Open("the order of singular values")
        if sign < 0:
            return Open("the singular values do not descend")
    return Verified(exact=True)


def positive(values: list[Tree]) -> Residual:
    for value in values:
        sign = sign_of(value)
        if sign is None:
            return Open("the sign of the diagonal")
        if sign != 1:
            return wrong("the diagonal of a Cholesky factor is positive")
    return Verified(exact=True)


def similar(matrix: Rows, answer: Tree, case: Case, shape: Callable[[Rows], Residual]) -> Residual:
    """m = q.t.q* with q unitary."""
    found = factors(answer, 2)
    if found is None:
        return Open("shape")
    q, t = found
    if not fits(q, matrix) or not fits(t, matrix) or len(matrix) != len(matrix[0]):
        return wrong("the factors are not of the matrix's shape")
    return all_of([lambda: case.equal(dotted(q, t, starred(q)), matrix, "q.t.q* == m"), lambda: shape(t), lambda: unitary(q, case, "q")])


def schur(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """t is upper triangular, but for blocks of two rows with eigenvalues that are not real."""

    def triangular(t: Rows) -> Residual:
        return all_of([lambda: case.claims(below(t, 1), "t below its second diagonal == 0"), lambda: blocks(t, case)])

    return similar(matrix, answer, case, triangular)


def blocks(t: Rows, case: Case) -> Residual:
    entries = [t[i + 1][i] for i in range(len(t) - 1)]
    real = all(sign_of(entry) not in (None, 2) for row in t for entry in row)
    if not real:
        return case.claims([(entry, 0) for entry in entries], "t below its diagonal == 0")
    inside = False
    for i, entry in enumerate(entries):
        if sign_of(entry) == 0:
            inside = False
            continue
        discriminant = plus(power(minus(t[i][i], t[i + 1][i + 1]), 2), times(4, t[i][i + 1], entry))
        sign = sign_of(discriminant)
        if inside or sign in (0, 1):
            return wrong(f"entry ({i + 2}, {i + 1}) of the triangular factor is not 0, and its block has real eigenvalues")
        if sign is None:
            return Open("a block")
        inside = True
    return Verified(exact=True)


def hessenberg(matrix: Rows, answer: Tree, case: Case) -> Residual:
    return similar(matrix, answer, case, lambda h: case.claims(below(h, 1), "h below its second diagonal == 0"))


def jordan(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """m.s = s.j, s invertible, j of Jordan blocks."""
    found = factors(answer, 2)
    if found is None:
        return Open("shape")
    s, j = found
    if not fits(s, matrix) or not fits(j, matrix) or len(matrix) != len(matrix[0]):
        return wrong("the factors are not of the matrix's shape")
    off = [(entry, 0) for i, row in enumerate(j) for k, entry in enumerate(row) if k not in (i, i + 1)]
    return all_of(
        [
            lambda: case.equal(dotted(matrix, s), dotted(s, j), "m.s == s.j"),
            lambda: case.claims([(a, b) for a, b in off], "j off its two diagonals == 0"),
            lambda: jordan_blocks(j, case),
            lambda: invertible(s, case),
        ]
    )


def jordan_blocks(j: Rows, case: Case) -> Residual:
    for i in range(len(j) - 1):
        entry = j[i][i + 1]
        if proves_zero(entry):
            continue
        if proves_equal(entry, 1):
            if not proves_equal(j[i][i], j[i + 1][i + 1]):
                found = case.claims([(j[i][i], j[i + 1][i + 1])], f"the diagonal of j in rows {i + 1} and {i + 2}, in one block")
                if not isinstance(found, Verified):
                    return found
            continue
        one = case.claims([(entry, 1)], "j beside its diagonal == 1")
        return (
            wrong(f"{i + 1} and {i + 2}: beside the diagonal of a Jordan form stands 0 or 1")
            if not free_symbols(entry) and not isinstance(one, Open | Verified)
            else Open("a block")
        )
    return Verified(exact=True)


def invertible(s: Rows, case: Case) -> Residual:
    if generic_rank_at_least(s, case) == len(s):
        return Verified(exact=True)
    zero = case.claims([(("Det", as_tree(s)), 0)], "Det[s] == 0")
    return wrong("the first factor has no inverse") if isinstance(zero, Verified) and zero.exact else Open("whether the first factor has an inverse")


def cholesky(matrix: Rows, answer: Tree, case: Case) -> Residual:
    u = rows_of(answer)
    if u is None:
        return Open("shape")
    if not fits(u, matrix) or len(matrix) != len(matrix[0]):
        return wrong("the factor is not of the matrix's shape")
    return all_of(
        [
            lambda: case.equal(dotted(starred(u), u), matrix, "u*.u == m"),
            lambda: case.claims(below(u), "u below its diagonal == 0"),
            lambda: positive([u[i][i] for i in range(len(u))]),
        ]
    )


def lu(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """The rows of m in the order of p are l.u. The third part is 1 for exact numbers; another one, a condition number, is not looked at."""
    parts = arguments(answer)
    if not is_call(answer, "List") or len(parts) != 3 or not is_call(parts[1], "List"):
        return Open("shape")
    packed, order = rows_of(parts[0]), arguments(parts[1])
    if packed is None or not fits(packed, matrix):
        return Open("shape")
    places = [k for k in order if isinstance(k, int)]
    if sorted(places) != list(range(1, len(matrix) + 1)) or len(order) != len(places):
        return wrong("the second part is no permutation of the rows")
    height, width = len(packed), len(packed[0])
    inner = min(height, width)
    lower = tuple(tuple(packed[i][j] if j < i else int(i == j) for j in range(inner)) for i in range(height))
    upper = tuple(tuple(packed[i][j] if j >= i else 0 for j in range(width)) for i in range(inner))
    found = case.equal(dotted(lower, upper), tuple(matrix[k - 1] for k in places), "l.u == m[[p]]")
    return Open("the condition number is not looked at") if isinstance(found, Verified) and parts[2] != 1 else found


DECOMPOSITIONS: dict[str, Callable[[Rows, Tree, Case], Residual]] = {
    "qr": qr,
    "singular_values": singular_values,
    "schur": schur,
    "hessenberg": hessenberg,
    "jordan": jordan,
    "cholesky": cholesky,
    "lu": lu,
}
