"""Procedure "modular_matrix": matrices of integers modulo n, by exact arithmetic.

What is an equation (an inverse, a solution, a vector of the null space) and a determinant hold modulo any n; ranks, reduced forms
and bases need a prime n, where the residues are a field. Entries may be rationals whose denominators are units modulo n.
"""

from __future__ import annotations

import math
from typing import Any

from flint import fmpq, fmpz, fmpz_mat, nmod_mat

from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Statement, Verified
from ..tree import Refused, Tree, arguments, is_call
from ..values import Undecided
from .properties import other_shape, rows_of, wrong

MAX_MODULUS = 2**62
MAX_SIZE = 40

Residues = list[list[int]]


class NoResidue(Exception):
    """An entry that is no number modulo n."""


def check(task: dict[str, Any], seed: int) -> Residual:
    """what[matrix, right, Modulus -> modulus] == answer."""
    n, what, answer = task["modulus"], task["what"], task["answer"]
    if not isinstance(n, int) or not 1 < n < MAX_MODULUS:
        return Open("the modulus is too large, or not a number")
    try:
        matrix = rows_at(task["matrix"], n)
    except NoResidue:
        return Open("the matrix is not one of integers")
    if matrix is None or max(len(matrix), len(matrix[0])) > MAX_SIZE:
        return Open("the matrix is not written out")
    try:
        if what == "determinant":
            return determinant(matrix, answer, n)
        if what == "rank":
            return rank(matrix, answer, n)
        if what == "linear_solve":
            return linear_solve(matrix, task["right"], answer, n)
        return {"inverse": inverse, "null_space": null_space, "row_reduce": row_reduce}[what](matrix, answer, n)
    except NoResidue as odd:
        return Refuted(Statement(f"{odd} is no integer modulo {n}"))


def residue(node: Tree, n: int) -> int:
    """An entry modulo n; NoResidue where it certainly is none."""
    try:
        value = evaluate(node)
    except Undecided:
        raise Refused("entry") from None
    if isinstance(value, fmpq):
        if math.gcd(int(value.q), n) != 1:
            raise NoResidue(value)
        return int(value.p) * pow(int(value.q), -1, n) % n
    raise Refused("entry")


def rows_at(node: Tree, n: int) -> Residues | None:
    """The rows of a matrix modulo n; None where it is no matrix."""
    rows = rows_of(node)
    return None if rows is None else [[residue(entry, n) for entry in row] for row in rows]


def reduced(node: Tree, n: int) -> bool:
    """Whether every entry stands as its least residue."""
    if is_call(node, "List"):
        return all(reduced(part, n) for part in arguments(node))
    value = evaluate(node)
    return isinstance(value, fmpq) and value.q == 1 and 0 <= value < n


def concluded(answer: Tree, n: int) -> Residual:
    return Verified(exact=True) if reduced(answer, n) else Open("residues that are not the least ones")


def shown(rows: list[list[int]]) -> str:
    return "{" + ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows) + "}"


def determinant(matrix: Residues, answer: Tree, n: int) -> Residual:
    if len(matrix) != len(matrix[0]) or is_call(answer, "List"):
        return Open("shape")
    wanted = int(fmpz_mat(matrix).det()) % n
    given = residue(answer, n)
    return concluded(answer, n) if given == wanted else wrong(f"{wanted} is expected modulo {n}, the answer gives {given}")


def product(a: Residues, b: Residues, n: int) -> Residues:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) % n for column in zip(*b, strict=True)] for row in a]


def difference(found: Residues, wanted: Residues) -> tuple[int, int] | None:
    """The first place where two matrices differ."""
    return next(((i, j) for i, row in enumerate(wanted) for j, entry in enumerate(row) if found[i][j] != entry), None)


def inverse(matrix: Residues, answer: Tree, n: int) -> Residual:
    size = len(matrix)
    if size != len(matrix[0]):
        return Open("shape")
    rows = rows_at(answer, n)
    if rows is None:
        return Open("the answer is not written out")
    if (len(rows), len(rows[0])) != (size, size):
        return wrong("the answer has another shape than the matrix")
    found = product(matrix, rows, n)
    place = difference(found, [[int(i == j) for j in range(size)] for i in range(size)])
    if place is None:
        return concluded(answer, n)
    i, j = place
    return wrong(f"entry {i + 1}, {j + 1} of the product with the matrix is {found[i][j]} modulo {n}, not {int(i == j)}")


def linear_solve(matrix: Residues, right: Tree, answer: Tree, n: int) -> Residual:
    """Any solution will do."""
    if not is_call(right, "List") or not is_call(answer, "List"):
        return Open("shape")
    if other_shape(right, answer):
        return Open("shape")
    b = rows_at(right, n) or [[residue(entry, n)] for entry in arguments(right)]
    x = rows_at(answer, n) or [[residue(entry, n)] for entry in arguments(answer)]
    if len(b) != len(matrix) or not x or len(x) != len(matrix[0]) or len(x[0]) != len(b[0]):
        return Open("shape")
    found = product(matrix, x, n)
    place = difference(found, b)
    if place is None:
        return concluded(answer, n)
    i, j = place
    return wrong(f"the answer leads to {found[i][j]} modulo {n} in row {i + 1}, not to {b[i][j]}")


def prime_rank(matrix: Residues, n: int) -> int | None:
    return int(nmod_mat(len(matrix), len(matrix[0]), [entry for row in matrix for entry in row], n).rank()) if fmpz(n).is_prime() else None


def rank(matrix: Residues, answer: Tree, n: int) -> Residual:
    wanted, given = prime_rank(matrix, n), evaluate(answer)
    if wanted is None:
        return Open("only prime moduli have ranks")
    if not isinstance(given, fmpq):
        return Open("the answer is no integer")
    return Verified(exact=True) if given == wanted else wrong(f"the rank modulo {n} is {wanted}")


def null_space(matrix: Residues, answer: Tree, n: int) -> Residual:
    whole_rank = prime_rank(matrix, n)
    if not is_call(answer, "List") or whole_rank is None:
        return Open("only prime moduli have bases")
    wanted = len(matrix[0]) - whole_rank
    if not arguments(answer):
        return Verified(exact=True) if wanted == 0 else wrong(f"the null space modulo {n} has dimension {wanted}")
    vectors = rows_at(answer, n)
    if vectors is None or len(vectors[0]) != len(matrix[0]):
        return Open("shape")
    image = product(matrix, [list(column) for column in zip(*vectors, strict=True)], n)
    if any(entry for row in image for entry in row):
        return wrong(f"the matrix does not send every vector to 0 modulo {n}")
    if len(vectors) != wanted:
        return wrong(f"the null space modulo {n} has dimension {wanted}, the answer has {len(vectors)} vectors")
    return concluded(answer, n) if prime_rank(vectors, n) == wanted else wrong(f"the vectors depend on each other modulo {n}")


def row_reduce(matrix: Residues, answer: Tree, n: int) -> Residual:
    rows = rows_at(answer, n)
    if rows is None or (len(rows), len(rows[0])) != (len(matrix), len(matrix[0])):
        return Open("shape")
    if not fmpz(n).is_prime():
        return Open("only prime moduli have reduced forms")
    form = nmod_mat(len(matrix), len(matrix[0]), [entry for row in matrix for entry in row], n).rref()[0]
    wanted = [[int(entry) for entry in row] for row in form.tolist()]
    return concluded(answer, n) if rows == wanted else wrong(f"the reduced form modulo {n} is {shown(wanted)}")
