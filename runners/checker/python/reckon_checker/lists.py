"""Vectors and matrices of values: exact where the entries are. A pivot whose ball holds zero is Undecided."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, acb_mat, fmpq

from .arithmetic import inverse, minus, plus, power, times
from .functions import absolute, conjugate
from .jumps import JUMPS
from .tree import Refused
from .values import (
    HALF,
    INFINITY,
    ONE,
    ZERO,
    Gaussian,
    NonValue,
    Undecided,
    Value,
    complex_ball,
    is_exact,
    is_number,
    is_zero,
    settled,
    undefined,
    whole,
)

MAX_SIZE = 50
TWO = fmpq(2)

Matrix = tuple[tuple[Value, ...], ...]


def matrix(value: Value) -> Matrix | None:
    """The value as rows of one length of numbers, or None."""
    if not isinstance(value, tuple) or not value or len(value) > MAX_SIZE:
        return None
    rows: list[tuple[Value, ...]] = []
    for row in value:
        if not isinstance(row, tuple) or not row or not all(is_number(entry) for entry in row):
            return None
        rows.append(row)
    return tuple(rows) if len({len(row) for row in rows}) == 1 and len(rows[0]) <= MAX_SIZE else None


def square(value: Value) -> Matrix | None:
    rows = matrix(value)
    return rows if rows is not None and len(rows) == len(rows[0]) else None


def identity(n: int) -> Matrix:
    return tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))


def total_of(values: list[Value]) -> Value:
    result: Value = ZERO
    for value in values:
        result = plus(result, value)
    return result


def dot(a: Value, b: Value) -> Value:
    if not isinstance(a, tuple) or not isinstance(b, tuple) or not a or not b:
        return undefined("Dot of something that is no list")
    if isinstance(a[0], tuple):
        return tuple(dot(row, b) for row in a)
    if len(a) != len(b):
        return undefined("Dot of lists of different lengths")
    return total_of([times(x, y) for x, y in zip(a, b, strict=True)])


def transpose(value: Value) -> Value:
    rows = matrix(value)
    return undefined("Transpose") if rows is None else tuple(zip(*rows, strict=True))


def _pivot(rows: list[list[Value]], column: int, start: int) -> int | None:
    """A row from start on whose entry is certainly not zero, exact ones first; None where all are certainly zero."""
    undecided = False
    best: int | None = None
    for i in range(start, len(rows)):
        try:
            if not is_zero(rows[i][column]):  # type: ignore[arg-type]
                if is_exact(rows[i][column]):
                    return i
                if best is None or complex_ball(rows[i][column]).abs_lower() > complex_ball(rows[best][column]).abs_lower():  # type: ignore[arg-type]
                    best = i
        except Undecided:
            undecided = True
    if best is None and undecided:
        raise Undecided("pivot")
    return best


def determinant(value: Value) -> Value:
    found = square(value)
    if found is None:
        return undefined("Det")
    rows = [list(row) for row in found]
    result: Value = ONE
    for column in range(len(rows)):
        pivot = _pivot(rows, column, column)
        if pivot is None:
            return ZERO
        if pivot != column:
            rows[pivot], rows[column] = rows[column], rows[pivot]
            result = times(fmpq(-1), result)
        result = times(result, rows[column][column])
        scale = inverse(rows[column][column])
        for i in range(column + 1, len(rows)):
            factor = times(fmpq(-1), times(rows[i][column], scale))
            rows[i] = [plus(a, times(factor, b)) for a, b in zip(rows[i], rows[column], strict=True)]
    return result


def row_reduce(value: Value, columns: int | None = None) -> Value:
    found = matrix(value)
    if found is None:
        return undefined("RowReduce")
    rows = [list(row) for row in found]
    lead = 0
    for column in range(columns or len(rows[0])):
        if lead == len(rows):
            break
        pivot = _pivot(rows, column, lead)
        if pivot is None:
            for row in rows[lead:]:
                row[column] = ZERO
            continue
        rows[lead], rows[pivot] = rows[pivot], rows[lead]
        scale = inverse(rows[lead][column])
        rows[lead] = [times(entry, scale) for entry in rows[lead]]
        rows[lead][column] = ONE
        for i, row in enumerate(rows):
            if i != lead:
                factor = times(fmpq(-1), row[column])
                rows[i] = [plus(a, times(factor, b)) for a, b in zip(row, rows[lead], strict=True)]
                rows[i][column] = ZERO
        lead += 1
    return tuple(tuple(row) for row in rows)


def inverse_matrix(value: Value) -> Value:
    rows = square(value)
    if rows is None:
        return undefined("Inverse")
    n = len(rows)
    reduced = row_reduce(tuple(row + unit for row, unit in zip(rows, identity(n), strict=True)), n)
    assert isinstance(reduced, tuple)
    if any(not isinstance(row, tuple) or row[i] != ONE for i, row in enumerate(reduced)):
        return undefined("the matrix is singular")
    return tuple(row[n:] for row in reduced if isinstance(row, tuple))


def rank(value: Value) -> Value:
    reduced = row_reduce(value)
    if not isinstance(reduced, tuple):
        return reduced
    return fmpq(sum(isinstance(row, tuple) and not all(is_number(entry) and is_zero(entry) for entry in row) for row in reduced))


def matrix_power(value: Value, exponent: Value, *rest: Value) -> Value:
    rows, k = square(value), whole(exponent)
    if rest or rows is None or k is None or abs(k) > 10000:
        raise Refused("MatrixPower")
    base: Value = rows
    if k < 0:
        base, k = inverse_matrix(rows), -k
        if isinstance(base, NonValue):
            return base
    result: Value = identity(len(rows))
    while k:
        if k & 1:
            result = dot(result, base)
        k >>= 1
        if k:
            base = dot(base, base)
    return result


def matrix_exponential(value: Value) -> Value:
    rows = square(value)
    if rows is None:
        return undefined("MatrixExp")
    found = acb_mat([[complex_ball(entry) for entry in row] for row in rows]).exp()  # type: ignore[arg-type]
    return tuple(tuple(settled(found[i, j]) for j in range(len(rows))) for i in range(len(rows)))


def squared_modulus(value: Value) -> Value:
    """|z|^2, real in form."""
    if isinstance(value, Gaussian):
        return value.re * value.re + value.im * value.im
    if isinstance(value, acb):
        return settled(value.real * value.real + value.imag * value.imag)
    return times(value, value)


def norm(value: Value, p: Value = TWO) -> Value:
    if value == () or (p != INFINITY and not (isinstance(p, fmpq) and p >= 1)):
        return undefined("Norm")
    if not isinstance(value, tuple):
        return absolute(value)
    if value and isinstance(value[0], tuple):
        if p == fmpq(2):
            raise Refused("Norm of a matrix")
        return undefined("Norm")
    sizes = [absolute(entry) for entry in value]
    if p == INFINITY:
        return JUMPS["Max"](*sizes)
    if p == fmpq(2):
        return power(total_of([squared_modulus(entry) for entry in value]), HALF)
    return power(total_of([power(size, p) for size in sizes]), inverse(p))


def cross(a: Value, b: Value) -> Value:
    if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == 3):
        return undefined("Cross")
    (a1, a2, a3), (b1, b2, b3) = a, b
    pairs = ((a2, b3, a3, b2), (a3, b1, a1, b3), (a1, b2, a2, b1))
    return tuple(minus(times(p, q), times(r, s)) for p, q, r, s in pairs)


def kronecker_product(a: Value, b: Value) -> Value:
    m, n = matrix(a), matrix(b)
    if m is None or n is None:
        return undefined("KroneckerProduct")
    return tuple(tuple(times(x, y) for x in row for y in other) for row in m for other in n)


def trace(value: Value) -> Value:
    rows = matrix(value)
    return undefined("Tr") if rows is None else total_of([row[i] for i, row in enumerate(rows) if i < len(row)])


def diagonal_matrix(value: Value) -> Value:
    if not isinstance(value, tuple) or not 0 < len(value) <= MAX_SIZE:
        return undefined("DiagonalMatrix")
    return tuple(tuple(entry if i == j else ZERO for j in range(len(value))) for i, entry in enumerate(value))


def identity_matrix(value: Value) -> Value:
    n = whole(value)
    if n is None or not 0 < n <= MAX_SIZE:
        raise Refused("IdentityMatrix")
    return identity(n)


def part(index: int) -> Callable[[Value], Value]:
    return lambda value: value[index] if isinstance(value, tuple) and value else undefined("a part of something that is no list")


def total(value: Value, levels: Value = ONE) -> Value:
    """Total[list] and Total[array, n]: of the entries down to level n."""
    n = whole(levels)
    if not isinstance(value, tuple) or n is None or n < 1:
        return undefined("Total")
    for _ in range(n - 1):
        if not all(isinstance(part, tuple) for part in value):
            return undefined("Total of a list that is not so deep")
        value = tuple(entry for part in value if isinstance(part, tuple) for entry in part)
    return total_of(list(value))


LISTS: dict[str, Callable[..., Value]] = {
    "List": lambda *values: values,
    "Det": determinant,
    "Transpose": transpose,
    "ConjugateTranspose": lambda m: conjugate(transpose(m)),
    "IdentityMatrix": identity_matrix,
    "MatrixPower": matrix_power,
    "Inverse": inverse_matrix,
    "MatrixExp": matrix_exponential,
    "RowReduce": row_reduce,
    "MatrixRank": rank,
    "Tr": trace,
    "Norm": norm,
    "Cross": cross,
    "KroneckerProduct": kronecker_product,
    "Total": total,
    "DiagonalMatrix": diagonal_matrix,
    "Normalize": lambda v: times(v, inverse(norm(v))),
    "First": part(0),
    "Last": part(-1),
}
