"""Procedure "matrix": eigenvalues, eigenvectors, null spaces, ranks and powers: each defining property is proved."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

from flint import fmpq_mat, fmpq_poly

from .. import machine
from ..agreement import CHOOSING
from ..findings import Open, Refuted, Residual, Supported, Verified
from ..tree import Tree, arguments, brief, exactly, is_call, kept_by_machines, plus, rational_tree, reals, times, walk
from ..wording import show
from . import decimal_matrices, eigenvalues_of_numbers
from .decompositions import DECOMPOSITIONS
from .matrix_powers import power
from .properties import (
    Case,
    Rows,
    all_of,
    as_tree,
    dotted,
    exact_rows,
    fits,
    generic_rank_at_least,
    other_shape,
    rows_of,
    starred,
    transposed,
    unit,
    wrong,
)

MAX_MINORS = 400
MAX_ROWS = 8


def check(task: dict[str, Any], seed: int) -> Residual:
    """task: what, matrix, answer, assumptions; right for a right-hand side, index for the exponent of a power. The answer stands in products, so that
    where an entry has no value by its own condition no point is looked at: such an answer is never verified."""
    found = judged(task, seed)
    if isinstance(found, Verified) and any(is_call(part, *CHOOSING) for part in walk(task["answer"])):
        return Supported()
    return found


def judged(task: dict[str, Any], seed: int) -> Residual:
    what, matrix, answer = task["what"], rows_of(task["matrix"]), task["answer"]
    case = Case(list(task.get("assumptions") or []), seed)
    if matrix is None:
        return Open("the matrix is not written out")
    if "right" in task and other_shape(task["right"], answer):
        return Open("a column in the place of a vector, or a vector in the place of a column")  # which some take for the same
    if reals(task["matrix"]) or reals(answer) or reals(task.get("right", 0)) or task.get("approximate"):
        if machine.cancels(task["matrix"], task.get("right", 0)):
            return Open("machine arithmetic loses too much")
        found = decimal_matrices.check(what, matrix, answer, task.get("right"), case)
        if isinstance(found, Refuted) or task.get("approximate") or not kept_by_machines(task["matrix"], task.get("right", 0)):
            return found
        as_written: dict[str, Any] = {key: exactly(task[key]) for key in ("matrix", "answer", "right") if key in task}
        if kept_by_machines(answer) and proved_exactly(judged({**task, **as_written}, seed)):
            return Verified(exact=True)
        return rounded_eigenvalues(what, as_written["matrix"], answer) or found
    if what == "power":
        return power(matrix, answer, task["index"], case)
    if what == "linear_solve":
        return linear_solve(matrix, answer, task["right"], case)
    if what == "least_squares":
        return least_squares(matrix, answer, task["right"], case)
    if what == "some_eigenvalues":
        return some_eigenvalues(matrix, answer, case, int(task["index"]))
    procedure = PROCEDURES.get(what) or DECOMPOSITIONS[what]
    return procedure(matrix, answer, case)


def rounded_eigenvalues(what: str, matrix: Tree, answer: Tree) -> Residual | None:
    rows = rows_of(matrix)
    rational = exact_rows(rows) if rows is not None and what == "eigenvalues" and is_call(answer, "List") else None
    square = rational is not None and len(rational) == len(rational[0]) <= MAX_ROWS
    return eigenvalues_of_numbers.decimal_ones(rational, arguments(answer)) if square and rational is not None else None


def symmetric_functions(values: tuple[Tree, ...]) -> list[Tree]:
    """The elementary symmetric functions of values, the first one first."""
    return [plus(*(times(*chosen) for chosen in combinations(values, k))) for k in range(1, len(values) + 1)]


def characteristic(matrix: Rows) -> list[Tree]:
    """The elementary symmetric functions of the eigenvalues: sums of principal minors."""
    n = len(matrix)
    rational = exact_rows(matrix)
    if rational is not None:
        coefficients = fmpq_mat(n, n, [x for row in rational for x in row]).charpoly().coeffs()
        return [rational_tree(coefficients[n - k] * (-1) ** k) for k in range(1, n + 1)]
    found: list[Tree] = []
    for k in range(1, n + 1):
        minors = [determinant(tuple(tuple(matrix[i][j] for j in chosen) for i in chosen)) for chosen in combinations(range(n), k)]
        found.append(plus(*minors))
    return found


def determinant(rows: Rows) -> Tree:
    return rows[0][0] if len(rows) == 1 else ("Det", as_tree(rows))


def proved_exactly(found: Residual) -> bool:
    return isinstance(found, Verified) and found.exact


def eigenvalues(matrix: Rows, answer: Tree, case: Case) -> Residual:
    values = arguments(answer)
    if any(is_call(value, "List") for value in values) or len(matrix) != len(matrix[0]):
        return Open("shape")
    if len(values) != len(matrix):
        return wrong(f"a matrix of {len(matrix)} rows has {len(matrix)} eigenvalues, the answer {len(values)}")
    if len(matrix) > MAX_ROWS:
        return Open("too large")
    names = [f"elementary symmetric function {k} of the eigenvalues, by the characteristic polynomial and by the answer" for k in range(1, len(values) + 1)]
    return case.claims(list(zip(characteristic(matrix), symmetric_functions(values), strict=True)), names)


def some_eigenvalues(matrix: Rows, answer: Tree, case: Case, count: int) -> Residual:
    """Each is an eigenvalue; that they are those asked for is decided for matrices of rational numbers."""
    values = arguments(answer)
    if len(values) > len(matrix) or any(is_call(value, "List") for value in values):
        return Open("shape")
    found = case.claims([(characteristic_at(matrix, value), 0) for value in values], [f"Det[m - v] == 0 for v = {brief(value, 80)}" for value in values])
    rational = exact_rows(matrix)
    if rational is not None and len(rational) == len(rational[0]) <= MAX_ROWS and not isinstance(found, Refuted):
        return eigenvalues_of_numbers.first_ones(rational, values, count, found)
    return Supported() if isinstance(found, Verified) else found


def characteristic_at(matrix: Rows, value: Tree) -> Tree:
    return determinant(tuple(tuple(plus(entry, times(-1, value)) if i == j else entry for j, entry in enumerate(row)) for i, row in enumerate(matrix)))


def is_zero_vector(vector: tuple[Tree, ...]) -> bool:
    return all(isinstance(entry, int) and entry == 0 for entry in vector)


def vectors_of(matrix: Rows, answer: Tree) -> Rows | None:
    vectors = rows_of(answer)
    return vectors if vectors is not None and len(vectors[0]) == len(matrix[0]) else None


def eigenvectors(matrix: Rows, answer: Tree, case: Case) -> Residual:
    vectors = vectors_of(matrix, answer)
    if vectors is None or len(vectors) > len(matrix) or len(matrix) != len(matrix[0]):
        return Open("shape")
    proper = tuple(vector for vector in vectors if not is_zero_vector(vector))
    if not proper:
        return wrong("every matrix has an eigenvector, the answer has none")
    claims: list[tuple[Tree, Tree]] = []
    names: list[str] = []
    for vector in proper:
        image = tuple(row[0] for row in dotted(matrix, tuple((entry,) for entry in vector)))
        for i, j in combinations(range(len(vector)), 2):
            claims.append((times(image[i], vector[j]), times(image[j], vector[i])))
            names.append(f"entries {i + 1} and {j + 1} of m.v, which is to be a multiple of v = {brief(('List', *vector), 120)}")
    return all_of([lambda: case.claims(claims, names), lambda: independent(proper, case), lambda: all_directions(matrix, len(proper), case)])


def independent(vectors: Rows, case: Case) -> Residual:
    rational = exact_rows(vectors)
    if rational is not None:
        found = fmpq_mat(len(vectors), len(vectors[0]), [x for row in rational for x in row]).rank()
        return Verified(exact=True) if found == len(vectors) else wrong(f"{len(vectors)} vectors of rank {found} depend on each other")
    if generic_rank_at_least(vectors, case) == len(vectors):
        return Verified(exact=True)
    if len(vectors) <= len(vectors[0]) <= 4:
        chosen = list(combinations(range(len(vectors[0])), len(vectors)))
        minors = [(determinant(tuple(tuple(row[j] for j in columns) for row in vectors)), 0) for columns in chosen]
        found_zero = case.claims([(left, right) for left, right in minors], "a minor of the vectors")
        if isinstance(found_zero, Verified) and found_zero.exact:
            return wrong("the vectors depend on each other")
    return Open("independence")


def all_directions(matrix: Rows, count: int, case: Case) -> Residual:
    """Whether so many independent eigenvectors are all that there are."""
    n = len(matrix)
    if count == n:
        return Verified(exact=True)
    rational = exact_rows(matrix)
    if rational is None:
        return Open("the number of eigenvectors")
    wanted = geometric(fmpq_mat(n, n, [x for row in rational for x in row]))
    return Verified(exact=True) if wanted == count else wrong(f"there are {wanted} independent eigenvectors, the answer has {count}")


def geometric(m: fmpq_mat) -> int:
    """The number of independent eigenvectors: kernels of the irreducible factors of the characteristic polynomial at m."""
    n = m.nrows()
    total = 0
    for factor, _ in fmpq_poly(m.charpoly().coeffs()).factor()[1]:
        value = fmpq_mat(n, n)
        one = fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
        for coefficient in reversed(factor.coeffs()):
            value = value * m + one * coefficient
        total += n - value.rank()
    return int(total)


def eigensystem(matrix: Rows, answer: Tree, case: Case) -> Residual:
    if not is_call(answer, "List") or len(arguments(answer)) != 2 or not is_call(arguments(answer)[0], "List"):
        return Open("shape")
    values, vectors = arguments(answer)
    rows = vectors_of(matrix, vectors)
    if rows is None:
        return Open("shape")

    def images() -> Residual:
        if len(rows) != len(arguments(values)):
            return wrong("as many vectors as values are wanted")
        claims: list[tuple[Tree, Tree]] = []
        names: list[str] = []
        for value, vector in zip(arguments(values), rows, strict=True):
            if not is_zero_vector(vector):
                image = dotted(matrix, tuple((entry,) for entry in vector))
                claims += [(row[0], times(value, entry)) for row, entry in zip(image, vector, strict=True)]
                names += [f"entry {i} of m.v == {brief(value, 80)} v for v = {brief(('List', *vector), 120)}" for i in range(1, len(vector) + 1)]
        return case.claims(claims, names)

    return all_of([lambda: eigenvalues(matrix, values, case), images, lambda: eigenvectors(matrix, vectors, case)])


def null_space(matrix: Rows, answer: Tree, case: Case) -> Residual:
    width = len(matrix[0])
    if not is_call(answer, "List"):
        return Open("shape")
    vectors = vectors_of(matrix, answer) if arguments(answer) else ()
    if vectors is None:
        return Open("shape")
    if any(is_zero_vector(vector) for vector in vectors):
        return wrong("a zero vector belongs to no basis")
    rational = exact_rows(matrix)
    if rational is not None:
        wanted = width - fmpq_mat(len(matrix), width, [x for row in rational for x in row]).rank()
        if wanted != len(vectors):
            return wrong(f"the null space has dimension {wanted}, the answer has {len(vectors)} vectors")

    def complete() -> Residual:
        if rational is not None:
            return Verified(exact=True)
        least = generic_rank_at_least(matrix, case)
        if len(vectors) + least > width:
            return wrong(f"the rank is at least {least}: there are not {len(vectors)} independent vectors")
        return Verified(exact=True) if len(vectors) + least == width else Open("the dimension of the null space")

    def kernel() -> Residual:
        return case.equal(dotted(matrix, transposed(vectors)), tuple((0,) * len(vectors) for _ in matrix), "m.v == 0, a column for each vector v")

    if not vectors:
        return complete()
    return all_of([kernel, lambda: independent(vectors, case), complete])


def rank(matrix: Rows, answer: Tree, case: Case) -> Residual:
    if not isinstance(answer, int):
        return Open("the answer is no integer")
    rational = exact_rows(matrix)
    if rational is not None:
        found = fmpq_mat(len(matrix), len(matrix[0]), [x for row in rational for x in row]).rank()
        return Verified(exact=True) if found == answer else wrong(f"the rank is {found}")
    least = generic_rank_at_least(matrix, case)
    if least > answer:
        return wrong(f"a minor of {least} rows is not zero")
    if answer > min(len(matrix), len(matrix[0])):
        return wrong("the rank is at most the number of rows and columns")
    if least == answer == min(len(matrix), len(matrix[0])):
        return Verified(exact=True)
    # No minor of one row more: every one is zero.
    minors = minors_of(matrix, least + 1)
    if minors is None:
        return Open("the rank")
    found_zero = case.claims([(minor, 0) for minor in minors], "a minor")
    if isinstance(found_zero, Verified) and found_zero.exact:
        return Verified(exact=True) if least == answer else wrong(f"every minor of {least + 1} rows is zero")
    return Open("the rank")


def minors_of(matrix: Rows, k: int) -> list[Tree] | None:
    rows, columns = list(combinations(range(len(matrix)), k)), list(combinations(range(len(matrix[0])), k))
    if len(rows) * len(columns) > MAX_MINORS or k > 5:
        return None
    return [determinant(tuple(tuple(matrix[i][j] for j in c) for i in r)) for r in rows for c in columns]


def inverse(matrix: Rows, answer: Tree, case: Case) -> Residual:
    rows = rows_of(answer)
    if len(matrix) != len(matrix[0]):
        return Open("shape")
    if rows is None:
        return Open("the answer is not written out")
    if not fits(rows, matrix):
        return wrong("the answer has another shape than the matrix")
    return case.equal(dotted(matrix, rows), unit(len(matrix)), "m.x == 1")


def linear_solve(matrix: Rows, answer: Tree, right: Tree, case: Case) -> Residual:
    """Any solution will do."""
    if not is_call(right, "List") or not is_call(answer, "List"):
        return Open("shape")
    b = rows_of(right) or tuple((entry,) for entry in arguments(right))
    x = rows_of(answer) or tuple((entry,) for entry in arguments(answer))
    if (
        len(x) != len(matrix[0])
        and len(b) == len(matrix)
        and not any(is_call(entry, "List") for row in (*x, *b) for entry in row)
        and (x or solvable(matrix, b))
    ):
        return wrong(f"a solution has {len(matrix[0])} entries, the answer {len(x)}")
    if len(x) != len(matrix[0]) or len(b) != len(matrix) or not b or any(is_call(entry, "List") for row in (*x, *b) for entry in row):
        return Open("shape")
    if len(x[0]) != len(b[0]):
        return wrong("the answer has another shape than the right-hand side")
    return case.equal(dotted(matrix, x), b, "m.x == b")


def solvable(matrix: Rows, b: Rows) -> bool:
    """Whether a system of rational numbers is proved to have a solution."""
    left, whole = exact_rows(matrix), exact_rows(tuple((*row, *right) for row, right in zip(matrix, b, strict=True)))
    if left is None or whole is None:
        return False
    ranks = [fmpq_mat(len(m), len(m[0]), [x for row in m for x in row]).rank() for m in (left, whole)]
    return ranks[0] == ranks[1]


def least_squares(matrix: Rows, answer: Tree, right: Tree, case: Case) -> Residual:
    """The normal equations: every solution of them is one of least squares."""
    x, b = arguments(answer), arguments(right)
    if not is_call(answer, "List") or not is_call(right, "List") or len(x) != len(matrix[0]) or len(b) != len(matrix):
        return Open("shape")
    if any(is_call(entry, "List") for entry in (*x, *b)):
        return Open("shape")
    star = starred(matrix)
    left = dotted(star, dotted(matrix, tuple((entry,) for entry in x)))
    return case.equal(left, dotted(star, tuple((entry,) for entry in b)), "m*.m.x == m*.b")


def pseudo_inverse(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """The four equations of Penrose (1955)."""
    x = rows_of(answer)
    if x is None:
        return Open("shape")
    if not fits(x, transposed(matrix)):
        return wrong("the answer has another shape than the transpose")
    ax, xa = dotted(matrix, x), dotted(x, matrix)
    pairs = [
        (dotted(ax, matrix), matrix, "m.x.m == m"),
        (dotted(xa, x), x, "x.m.x == x"),
        (starred(ax), ax, "(m.x)* == m.x"),
        (starred(xa), xa, "(x.m)* == x.m"),
    ]
    return all_of([lambda left=left, right=right, what=what: case.equal(left, right, what) for left, right, what in pairs])  # type: ignore[misc]


def adjugate(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """Entry by entry the cofactors, transposed."""
    rows, n = rows_of(answer), len(matrix)
    if rows is None or n != len(matrix[0]) or not 1 < n <= 7:
        return Open("shape")
    if not fits(rows, matrix):
        return wrong("the answer has another shape than the matrix")
    claims: list[tuple[Tree, Tree]] = []
    for i in range(n):
        for j in range(n):
            minor = determinant(tuple(tuple(matrix[p][q] for q in range(n) if q != i) for p in range(n) if p != j))
            claims.append((minor if (i + j) % 2 == 0 else times(-1, minor), rows[i][j]))
    names = [f"the cofactor and the answer in row {i}, column {j}" for i in range(1, n + 1) for j in range(1, n + 1)]
    return case.claims(claims, names)


def row_reduce(matrix: Rows, answer: Tree, case: Case) -> Residual:
    """The answer is in reduced form, every row of the matrix is a combination of its rows, and the rank is the same."""
    rows = rows_of(answer)
    if rows is None or not fits(rows, matrix):
        return Open("shape")
    rational, given = exact_rows(matrix), exact_rows(rows)
    if rational is not None and given is not None:
        reduced = fmpq_mat(len(matrix), len(matrix[0]), [x for row in rational for x in row]).rref()[0]
        return Verified(exact=True) if reduced.tolist() == given else wrong(f"the reduced form is {show(tuple(map(tuple, reduced.tolist())))}")
    pivots: list[int] = []
    for row in rows:
        lead = next((j for j, entry in enumerate(row) if not (isinstance(entry, int) and entry == 0)), None)
        if lead is None:
            pivots.append(len(row))
            continue
        if not (isinstance(row[lead], int) and row[lead] == 1):
            return Open("a leading entry is not written as 1")
        if any(not (isinstance(other[lead], int) and other[lead] == 0) for other in rows if other is not row):
            return Open("a column of a leading entry is not written as 0")
        pivots.append(lead)
    places = [pivot for pivot in pivots if pivot < len(matrix[0])]
    if pivots != sorted(pivots) or len(set(places)) != len(places):
        return wrong("the leading entries do not move to the right")
    if not places:
        return case.equal(matrix, rows, "m == 0")
    parts = tuple(tuple(row[j] for j in places) for row in matrix)
    combined = dotted(parts, rows[: len(places)])

    def full() -> Residual:
        least = generic_rank_at_least(matrix, case)
        return Verified(exact=True) if least == len(places) else wrong("the rank is higher") if least > len(places) else Open("the rank")

    return all_of([lambda: case.equal(combined, matrix, "m as a combination of the rows of the answer"), full])


PROCEDURES: dict[str, Callable[[Rows, Tree, Case], Residual]] = {
    "inverse": inverse,
    "eigenvalues": eigenvalues,
    "eigenvectors": eigenvectors,
    "eigensystem": eigensystem,
    "null_space": null_space,
    "rank": rank,
    "pseudo_inverse": pseudo_inverse,
    "adjugate": adjugate,
    "row_reduce": row_reduce,
}
