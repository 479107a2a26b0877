"""Matrices with decimal numbers: the defining equations may be missed by what backward stable machine arithmetic loses."""

from __future__ import annotations

from flint import acb, acb_mat, arb, fmpq

from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported
from ..tree import Refused, Tree, arguments, free_symbols, is_call
from ..values import Undecided, complex_ball, is_number, precision
from ..wording import apart
from .properties import Case, Rows, rows_of

BITS = 256
PRINTED = Environment(printed=True)


def lost(n: int) -> arb:
    """Relative to the norms of the factors: a generous multiple of the bounds of Higham (2002), chapters 9, 19 and 28."""
    return arb(2) ** -53 * 4096 * n * n


def check(what: str, matrix: Rows, answer: Tree, right: Tree | None, case: Case) -> Residual:
    """Only refutes and supports; decimals prove nothing."""
    if any(free_symbols(entry) for row in matrix for entry in row) or free_symbols(answer):
        return Open("decimals with symbols")
    with precision(BITS):
        try:
            m = balls(matrix, Environment())
            if m is None:
                return Open("shape")
            if what in ("eigenvalues", "eigensystem"):
                return eigen(m, answer, what)
            if what == "eigenvectors":
                return eigenvectors(m, answer)
            return residuals(m, equations(what, m, answer, right))
        except (Undecided, Refused, ZeroDivisionError):
            return Open("no enclosure")


def balls(rows: Rows, env: Environment) -> acb_mat | None:
    values = [evaluate(entry, env) for row in rows for entry in row]
    numbers = [complex_ball(value) for value in values if is_number(value)]
    return acb_mat(len(rows), len(rows[0]), numbers) if len(numbers) == len(values) else None


def norm(m: acb_mat) -> arb:
    total = arb(0)
    for entry in m.entries():
        total += arb(entry.abs_upper()) ** 2
    return total.sqrt()


def around(z: acb, radius: arb) -> acb:
    return acb(arb(z.real.mid(), (arb(z.real.rad()) + radius).upper()), arb(z.imag.mid(), (arb(z.imag.rad()) + radius).upper()))


Equation = tuple[acb_mat, acb_mat, arb]  # what must be close, and the size of what was added up


def unit(n: int) -> acb_mat:
    return acb_mat(n, n, [acb(int(i == j)) for i in range(n) for j in range(n)])


def star(m: acb_mat) -> acb_mat:
    return m.conjugate().transpose()


def column(node: Tree, env: Environment) -> acb_mat | None:
    """A matrix, or a vector as a column."""
    rows = rows_of(node)
    if rows is None and is_call(node, "List") and arguments(node):
        rows = tuple((entry,) for entry in arguments(node))
    return None if rows is None else balls(rows, env)


def equations(what: str, m: acb_mat, answer: Tree, right: Tree | None) -> list[Equation]:
    if what in ("inverse", "linear_solve", "least_squares"):
        x = column(answer, PRINTED)
        b = unit(m.nrows()) if what == "inverse" else column(right, Environment()) if right is not None else None
        if x is None or b is None or m.ncols() != x.nrows() or m.nrows() != b.nrows() or x.ncols() != b.ncols():
            return []
        if what == "least_squares":
            return [(star(m) * (m * x), star(m) * b, norm(m) * (norm(m) * norm(x) + norm(b)))]
        return [(m * x, b, norm(m) * norm(x) + norm(b))]
    if what == "pseudo_inverse":
        x = column(answer, PRINTED)
        if x is None or (x.nrows(), x.ncols()) != (m.ncols(), m.nrows()):
            return []
        size = (norm(m) * norm(x) + 1) ** 2 * (norm(m) + norm(x) + 1)
        return [(m * x * m, m, size), (x * m * x, x, size), (star(m * x), m * x, size), (star(x * m), x * m, size)]
    return factored(what, m, answer)


def factored(what: str, m: acb_mat, answer: Tree) -> list[Equation]:
    parts = [answer] if what == "cholesky" else list(arguments(answer))
    found = [rows_of(part) for part in parts]
    given = [balls(rows, PRINTED) for rows in found if rows is not None]
    factors = [factor for factor in given if factor is not None]
    if len(factors) != len(parts):
        return []
    sizes = norm(m) + sum((norm(factor) for factor in factors), arb(0)) + 1
    try:
        if what == "cholesky":
            return [(star(factors[0]) * factors[0], m, sizes**2)]
        if what == "qr" and len(factors) == 2:
            q, r = factors
            return [(star(q) * r, m, sizes), (q * star(q), unit(q.nrows()), arb(q.nrows()))]
        if what in ("schur", "hessenberg") and len(factors) == 2:
            q, t = factors
            return [(q * t * star(q), m, sizes), (star(q) * q, unit(q.ncols()), arb(q.ncols()))]
        if what == "singular_values" and len(factors) == 3:
            u, w, v = factors
            return [(u * w * star(v), m, sizes), (star(u) * u, unit(u.ncols()), arb(u.ncols())), (star(v) * v, unit(v.ncols()), arb(v.ncols()))]
    except ValueError:
        return []
    return []


def residuals(m: acb_mat, wanted: list[Equation]) -> Residual:
    off = lost(max(m.nrows(), m.ncols()))
    for left, right, size in wanted:
        if (left.nrows(), left.ncols()) != (right.nrows(), right.ncols()):
            return Open("shape")
        for i in range(left.nrows()):
            for j in range(left.ncols()):
                if (left[i, j] - right[i, j]).abs_lower() > off * size:
                    found, wanted_one, gap = apart(left[i, j], right[i, j])
                    text = f"entry {i + 1}.{j + 1} of the equation is {found}, not {wanted_one}" + (f", off by {gap}" if gap else "")
                    return Refuted(Statement(text, exact=False))
    return Supported() if wanted else Open("decimals")


def eigen(m: acb_mat, answer: Tree, what: str) -> Residual:
    """The values given are those of some matrix close to m: their symmetric functions are close to those of m's."""
    values = answer if what == "eigenvalues" else arguments(answer)[0] if len(arguments(answer)) == 2 else 0
    n = m.nrows()
    if not is_call(values, "List") or n != m.ncols() or n > 12:
        return Open("shape")
    if any(is_call(value, "List") for value in arguments(values)):
        return Open("shape")
    given = [evaluate(value, PRINTED) for value in arguments(values)]
    if len(given) != n:
        return Refuted(Statement(f"a matrix of {n} rows has {n} eigenvalues, the answer {len(given)}"))
    numbers = [complex_ball(value) for value in given if is_number(value)]
    if len(numbers) != n:
        return Open("shape")
    size, off = norm(m), lost(n)
    coefficients = m.charpoly().coeffs()
    symmetric = [acb(1)] + [acb(0)] * n
    for value in numbers:
        for k in range(n, 0, -1):
            symmetric[k] = symmetric[k] + value * symmetric[k - 1]
    for k in range(1, n + 1):
        true = coefficients[n - k] * (-1) ** k
        radius = off * size**k * arb(fmpq(2) ** n) * k
        if not around(true, radius).overlaps(symmetric[k]):
            wanted, found, gap = apart(true, symmetric[k])
            text = f"the elementary symmetric function {k} of the eigenvalues is {wanted}, of those given {found}" + (f", off by {gap}" if gap else "")
            return Refuted(Statement(text, exact=False))
    if what == "eigensystem":
        return eigenvectors(m, arguments(answer)[1])
    return Supported()


def eigenvectors(m: acb_mat, answer: Tree) -> Residual:
    rows = rows_of(answer)
    n = m.nrows()
    if rows is None or len(rows) != n or len(rows[0]) != n:
        return Open("shape")
    v = balls(rows, PRINTED)
    if v is None:
        return Open("shape")
    size, off = norm(m), lost(n)
    for i in range(n):
        vector = [v[i, j] for j in range(n)]
        length = arb(0)
        for x in vector:
            length += arb(x.abs_upper()) ** 2
        if length.is_zero():
            continue
        image = [sum((m[p, q] * vector[q] for q in range(n)), acb(0)) for p in range(n)]
        for p in range(n):
            for q in range(p):
                cross = image[p] * vector[q] - image[q] * vector[p]
                if cross.abs_lower() > off * size * length:
                    return Refuted(Statement(f"vector {i + 1} is turned by the matrix", exact=False))
    return Supported()
