"""Linear algebra over the rationals: matrices made from their decompositions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import fmpq_mat

from enclosure import different, exact
from expression import Expression, Sqrt, X, expression, matrix, plus, power, symbol, times
from pair import Case, Where, rational, small

Rows = list[list[Fraction]]


def flint(m: Rows) -> fmpq_mat:
    return fmpq_mat(len(m), len(m[0]), [exact(v) for row in m for v in row])


def rows(m: fmpq_mat) -> Rows:
    return [[Fraction(int(v.p), int(v.q)) for v in row] for row in m.tolist()]


def product(a: Rows, *others: Rows) -> Rows:
    for b in others:
        a = [[sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*b, strict=True)] for row in a]
    return a


def transposed(m: Rows) -> Rows:
    return [list(column) for column in zip(*m, strict=True)]


def identity(n: int) -> Rows:
    return [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]


def scaled(m: Rows, by: Fraction | int) -> Rows:
    return [[v * by for v in row] for row in m]


def unimodular(r: Random, n: int) -> Rows:
    """A product of shears: determinant 1, integer inverse."""
    m = identity(n)
    for _ in range(2 * n):
        i, j = r.sample(range(n), 2)
        shear = identity(n)
        shear[i][j] = Fraction(r.choice([-2, -1, 1, 2]))
        m = product(m, shear)
    return m


def inverse(m: Rows) -> Rows:
    return rows(flint(m).inv())


def diagonal(values: list[Fraction]) -> Rows:
    return [[values[i] if i == j else Fraction(0) for j in range(len(values))] for i in range(len(values))]


def said(m: Rows) -> str:
    return str(matrix(m))


def vector(v: list[Fraction]) -> str:
    return "{" + ", ".join(map(str, v)) + "}"


def both(*parts: Rows) -> str:
    return "{" + ", ".join(said(p) for p in parts) + "}"


def touched(m: Rows, r: Random) -> tuple[Rows, str]:
    """One entry wrong."""
    i, j = r.randrange(len(m)), r.randrange(len(m[0]))
    wrong = [list(row) for row in m]
    how = r.choice(["sign", "off by one", "constant", "tiny"])
    wrong[i][j] = {"sign": -m[i][j], "off by one": m[i][j] + 1, "constant": m[i][j] * 2, "tiny": m[i][j] + Fraction(1, 10**30)}[how]
    return wrong, how


def entry(a: Rows, b: Rows) -> str | None:
    """Where two matrices differ."""
    for i, (left, right) in enumerate(zip(a, b, strict=True)):
        for j, (x, y) in enumerate(zip(left, right, strict=True)):
            if x != y:
                return f"entry ({i + 1}, {j + 1}) is {x}, not {y}"
    return None


def square(r: Random, n: int = 0, bound: int = 6) -> Rows:
    """An invertible matrix of small integers."""
    n = n or r.choice([2, 2, 3])
    while True:
        m = [[Fraction(r.randint(-bound, bound)) for _ in range(n)] for _ in range(n)]
        if flint(m).det() != 0:
            return m


def inverted(r: Random) -> Case:
    m = square(r)
    truth = inverse(m)
    case = Case("linear_algebra", f"Inverse[{said(m)}]")
    case.right(said(truth), "exact elimination")
    for wrong, how in [
        touched(truth, r),
        touched(truth, r),
        (transposed(truth), "transposed"),
        (scaled(truth, -1), "sign"),
        (identity(len(m)), "constant"),
        (m, "the question itself"),
    ]:
        case.wrong(said(wrong), how, entry(truth, wrong))
    return case


def determinant(r: Random) -> Case:
    n = r.choice([2, 2, 3, 4])
    m = square(r, n)
    kind = r.random()
    if kind < 0.3:  # big and small entries, where twenty digits are not enough
        big = Fraction(10 ** r.choice([15, 25, 200]))
        m = [[v * big if i == j else v for j, v in enumerate(row)] for i, row in enumerate(m)]
    elif kind < 0.45:
        m[0] = [v * Fraction(1, 10 ** r.choice([30, 40])) for v in m[0]]
    d = flint(m).det()
    truth = Fraction(int(d.p), int(d.q))
    case = Case("linear_algebra", f"Det[{said(m)}]")
    case.right(str(truth), "exact elimination")
    diagonal_product = Fraction(1)
    for i in range(n):
        diagonal_product *= m[i][i]
    for wrong, how in [
        (-truth, "sign"),
        (truth + 1, "off by one"),
        (Fraction(0), "dropped branch"),
        (diagonal_product, "product of the diagonal"),
        (truth * 2, "constant"),
        (truth + Fraction(1, 10**30), "tiny"),
    ]:
        case.wrong(str(wrong), how, f"the determinant is {truth}" if wrong != truth else None)
    case.wrong("Infinity", "not finite", f"the determinant is {truth}")
    return case


def machine_determinant(r: Random) -> Case:
    """Entries beyond the range of machine numbers: the product is finite."""
    k, c = r.randint(160, 300), r.randint(1, 9)
    case = Case("linear_algebra", f"Det[{{{{{c}.*^{k}, 0}}, {{0, 1.*^{k}}}}}]")
    case.right(f"{c}.*^{2 * k}", "product of the diagonal")
    for wrong, how in (
        ("Infinity", "not finite"),
        ("Indeterminate", "not finite"),
        (f"{c}.*^{2 * k + 1}", "off by one"),
        (f"-{c}.*^{2 * k}", "sign"),
        ("0.", "dropped branch"),
    ):
        case.wrong(wrong, how, f"the determinant is {c}*10^{2 * k}, finite")
    return case


def linear_solve(r: Random) -> Case:
    m = square(r)
    x = [rational(r) for _ in m]
    b = [row[0] for row in product(m, [[v] for v in x])]
    case = Case("linear_algebra", f"LinearSolve[{said(m)}, {vector(b)}]")
    case.right(vector(x), "multiplied out")
    for _ in range(4):
        wrong, how = touched([x], r)
        residual = [row[0] for row in product(m, [[v] for v in wrong[0]])]
        case.wrong(vector(wrong[0]), how, f"m.x is {vector(residual)}" if residual != b else None)
    case.wrong("{}", "dropped branch", "the solution has components")
    return case


def singular(r: Random, n: int, rank: int) -> tuple[Rows, Rows]:
    """A matrix of a given rank, and a basis of its null space, one vector a row."""
    left, right = unimodular(r, n), unimodular(r, n)
    values = [Fraction(small(r, 3)) if i < rank else Fraction(0) for i in range(n)]
    kernel = transposed(inverse(right))[rank:]
    return product(left, diagonal(values), right), kernel


def null_space(r: Random) -> Case:
    n = r.choice([2, 3, 3, 4])
    rank = r.randint(1, n - 1)
    m, kernel = singular(r, n, rank)
    case = Case("linear_algebra", f"NullSpace[{said(m)}]")
    case.right(said(kernel), "columns of the inverse")
    case.right(said([scaled([v], Fraction(small(r, 5)))[0] for v in kernel[::-1]]), "scaled, another order")
    if len(kernel) > 1:
        mixed = [[a + b for a, b in zip(kernel[0], kernel[1], strict=True)], *kernel[1:]]
        case.right(said(mixed), "another basis")
        case.wrong(said(kernel[:1]), "dropped branch", f"the kernel has {len(kernel)} dimensions")
        case.wrong(said([kernel[0], scaled([kernel[0]], 2)[0], *kernel[2:]]), "dependent", "the second vector is twice the first")
    case.wrong(said([*kernel[:-1], [Fraction(0)] * n]), "zero vector", "a zero vector belongs to no basis")
    case.wrong(said([*kernel, [Fraction(0)] * n]), "padded with zero", "a zero vector belongs to no basis")
    case.wrong("{}", "dropped branch", f"the kernel has {len(kernel)} dimensions")
    wrong, how = touched(kernel, r)
    image = product(m, transposed(wrong))
    case.wrong(said(wrong), how, f"m times a vector of the answer is {said(transposed(image))}" if any(v for row in image for v in row) else None)
    return case


def matrix_rank(r: Random) -> Case:
    n = r.choice([2, 3, 4])
    rank = r.randint(1, n)
    m, _ = singular(r, n, rank)
    if r.random() < 0.3:
        m = product(m, diagonal([Fraction(1, 10**40)] + [Fraction(1)] * (n - 1)))
    case = Case("linear_algebra", f"MatrixRank[{said(m)}]")
    case.right(str(rank), "unimodular factors")
    for wrong in (rank - 1, rank + 1, 0):
        case.wrong(str(wrong), "off by one", f"the rank is {rank}" if wrong != rank else None)
    return case


def eigenvalues(r: Random) -> Case:
    n = r.choice([2, 2, 3])
    values = sorted((Fraction(small(r, 6)) for _ in range(n)), key=lambda v: -abs(v))
    s = unimodular(r, n)
    m = product(s, diagonal(values), inverse(s))
    vectors = transposed(s)
    head = r.choice(["Eigenvalues", "Eigenvalues", "Eigensystem", "Eigenvectors", "CharacteristicPolynomial"])
    case = Case("eigen", f"{head}[{said(m)}{', x' if head == 'CharacteristicPolynomial' else ''}]")
    scales = [Fraction(small(r, 4), r.choice([1, 3])) for _ in range(n)]
    if head == "CharacteristicPolynomial":
        truth = times(*(v - X for v in values))
        case.right(truth, "product over the eigenvalues")
        points: list[Where] = [{"x": Fraction(41, 7)}, {"x": Fraction(-9)}]
        for polynomial, how in ((-truth, "sign"), (truth + 1, "constant"), (times(*(v + X for v in values)), "sign"), (truth * (X - 1), "off by one")):
            case.unlike(truth, polynomial, points, how)
        return case
    if head == "Eigenvalues":
        case.right(vector(values), "similar to a diagonal matrix")
        for changed, how in [
            touched([values], r),
            touched([values], r),
            ([values[:-1]], "dropped branch"),
            ([[*values[:-1], values[0] + 50]], "constant"),
            ([[v + Fraction(1, 10**30) for v in values]], "tiny"),
        ]:
            case.wrong(vector(changed[0]), how, f"the eigenvalues are {vector(values)}" if sorted(changed[0]) != sorted(values) else None)
        return case

    def answer(lambdas: list[Fraction], ws: Rows) -> str:
        return "{" + vector(lambdas) + ", " + said(ws) + "}" if head == "Eigensystem" else said(ws)

    case.right(answer(values, vectors), "columns of the similarity")
    case.right(answer(values, [scaled([v], k)[0] for v, k in zip(vectors, scales, strict=True)]), "scaled")
    if head == "Eigensystem":
        case.right(answer(values[::-1], vectors[::-1]), "another order")
    zero = [Fraction(0)] * n
    why = "the matrix has a basis of eigenvectors, and the answer has a zero vector in its place"
    case.wrong(answer(values, [*vectors[:-1], zero]), "zero vector", why)
    case.wrong(answer(values, [*vectors[:-1], vectors[0]]), "one vector twice", "the vectors are dependent, the matrix is diagonalizable")
    case.wrong(answer(values, vectors[:-1]), "dropped branch", f"{n} independent eigenvectors exist")
    wrong, how = touched(vectors, r)
    image = product(m, transposed(wrong))
    for j, w in enumerate(wrong):
        column = [row[j] for row in image]
        if any(column[i] * w[k] != column[k] * w[i] for i in range(n) for k in range(n)):
            case.wrong(answer(values, wrong), how, f"m maps {vector(w)} to {vector(column)}, no multiple")
            break
    if head == "Eigensystem" and values[0] != values[-1]:
        case.wrong(answer(values[::-1], vectors), "exchanged", f"m maps {vector(vectors[0])} to {values[0]} times it, not {values[-1]} times")
    return case


def matrix_functions(r: Random) -> Case:
    """MatrixPower and MatrixExp through the eigenvalues, also with a symbolic exponent."""
    n = 2
    values = r.sample([Fraction(v) for v in (-3, -2, -1, 1, 2, 3, 4)], n)
    s = unimodular(r, n)
    m = product(s, diagonal(values), inverse(s))
    symbolic = r.random() < 0.4
    head = "MatrixExp" if r.random() < 0.3 else "MatrixPower"
    k = symbol("n")

    def formed(parts: list[Expression]) -> list[list[Expression]]:
        t = inverse(s)
        return [[plus(*(expression(s[i][e] * t[e][j]) * parts[e] for e in range(n))) for j in range(n)] for i in range(n)]

    if head == "MatrixExp":
        truth = formed([power(symbol("E"), expression(v)) for v in values])
        case = Case("matrix_function", f"MatrixExp[{said(m)}]")
        case.right(matrix(truth), "similar to a diagonal matrix")
        for wrong, how in [
            (formed([power(symbol("E"), expression(-v)) for v in values]), "sign"),
            (formed([power(symbol("E"), expression(values[0]))] * n), "dropped branch"),
            ([[power(symbol("E"), expression(v)) for v in row] for row in m], "entry by entry"),
        ]:
            why = next((w for a, b in zip(truth, wrong, strict=True) for x, y in zip(a, b, strict=True) if (w := different(x, y, [{}]))), None)
            case.wrong(matrix(wrong), how, why)
        return case
    if symbolic:
        truth = formed([power(expression(v), k) for v in values])
        case = Case("matrix_function", f"MatrixPower[{said(m)}, n]")
        case.right(matrix(truth), "similar to a diagonal matrix")
        agreeing = times(*(k - j for j in range(1, 13)))
        wrongs = [
            ([[truth[0][0] + agreeing, truth[0][1]], truth[1]], "right for n = 1…12"),
            (formed([power(expression(v), k + 1) for v in values]), "off by one"),
            (formed([power(expression(v), -k) for v in values]), "sign"),
            ([[power(expression(v), k) if v else v * k for v in row] for row in m], "entry by entry"),
        ]
        for wrong, how in wrongs:
            points: list[Where] = [{"n": Fraction(v)} for v in (13, 20, 2, 3)]
            why = next(
                (w for a, b in zip(truth, wrong, strict=True) for x, y in zip(a, b, strict=True) if (w := different(expression(x), expression(y), points))),
                None,
            )
            case.wrong(matrix(wrong), how, why)
        return case
    e = r.choice([2, 3, 5, 10, 20, -1, -2])
    raised = product(s, diagonal([v**e for v in values]), inverse(s))
    case = Case("matrix_function", f"MatrixPower[{said(m)}, {e}]")
    case.right(said(raised), "similar to a diagonal matrix")
    for numbers, how in [
        touched(raised, r),
        touched(raised, r),
        (product(raised, m), "off by one"),
        ([[v**e if v or e > 0 else v for v in row] for row in m], "entry by entry"),
    ]:
        case.wrong(said(numbers), how, entry(raised, numbers))
    return case


def modular(r: Random) -> Case:
    p = r.choice([5, 7, 11, 13])
    while True:
        m = [[r.randint(0, p - 1) for _ in range(2)] for _ in range(2)]
        d = (m[0][0] * m[1][1] - m[0][1] * m[1][0]) % p
        if d:
            break
    text = str(matrix(m))
    if r.random() < 0.5:
        case = Case("modulus", f"Det[{text}, Modulus -> {p}]")
        case.right(str(d), "exact, reduced")
        for residue in ((d + 1) % p, (-d) % p, m[0][0] * m[1][1] - m[0][1] * m[1][0]):
            case.wrong(str(residue), "constant", f"the residue is {d}" if (residue - d) % p else None)
        return case
    i = pow(d, -1, p)
    truth = [[m[1][1] * i % p, -m[0][1] * i % p], [-m[1][0] * i % p, m[0][0] * i % p]]
    case = Case("modulus", f"Inverse[{text}, Modulus -> {p}]")
    case.right(str(matrix(truth)), "adjugate")
    wrong = [[truth[0][0], truth[0][1]], [truth[1][0], (truth[1][1] + 1) % p]]
    case.wrong(str(matrix(wrong)), "off by one", f"entry (2, 2) is {truth[1][1]} modulo {p}")
    case.wrong(str(matrix(m)), "the question itself", "m.m is not the identity" if truth != m else None)
    case.wrong(str(matrix([[-v % p for v in row] for row in truth])), "sign", "the product is minus the identity" if p != 2 else None)
    return case


def rational_only(r: Random) -> Case:
    """Dot, Tr, RowReduce, Cross and the like."""
    a, b = square(r, 2), square(r, 2)
    head = r.choice(["Dot", "Tr", "RowReduce", "Cross", "Norm"])
    if head == "Dot":
        truth = product(a, b)
        case = Case("linear_algebra", f"{said(a)} . {said(b)}")
        case.right(said(truth), "multiplied out")
        for wrong, how in [
            (product(b, a), "exchanged"),
            touched(truth, r),
            ([[x * y for x, y in zip(u, v, strict=True)] for u, v in zip(a, b, strict=True)], "entry by entry"),
        ]:
            case.wrong(said(wrong), how, entry(truth, wrong))
    elif head == "Tr":
        case = Case("linear_algebra", f"Tr[{said(a)}]")
        t = a[0][0] + a[1][1]
        case.right(str(t), "sum of the diagonal")
        case.wrong(str(t + 1), "off by one", f"the trace is {t}")
        case.wrong("Infinity", "not finite", f"the trace is {t}")
    elif head == "RowReduce":
        m = [[*a[0], b[0][0]], [*a[1], b[1][0]]]
        reduced = rows(flint(m).rref()[0])
        case = Case("linear_algebra", f"RowReduce[{said(m)}]")
        case.right(said(reduced), "exact elimination")
        wrong, how = touched(reduced, r)
        case.wrong(said(wrong), how, entry(reduced, wrong))
        case.wrong(said(m), "the question itself", entry(reduced, m))
        case.wrong(said([[Fraction(0)] * 3] * 2), "zero", "the rank is 2")
    elif head == "Cross":
        u, v = [[Fraction(small(r)) for _ in range(3)] for _ in range(2)]
        w = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
        case = Case("linear_algebra", f"Cross[{vector(u)}, {vector(v)}]")
        case.right(vector(w), "by definition")
        for bad, how in [(scaled([w], -1), "sign"), touched([w], r)]:
            case.wrong(vector(bad[0]), how, entry([w], bad))
    else:
        v = [Fraction(small(r, 9)) for _ in range(3)]
        total = sum((x * x for x in v), Fraction(0))
        case = Case("linear_algebra", f"Norm[{vector(v)}]")
        case.right(Sqrt(expression(total)), "by definition")
        truth_e = Sqrt(expression(total))
        for wrong_e, how in (
            (expression(total), "constant"),
            (-truth_e, "sign"),
            (expression(sum((abs(x) for x in v), Fraction(0))), "another norm"),
            (truth_e + Fraction(1, 10**30), "tiny"),
        ):
            case.unlike(truth_e, wrong_e, [{}], how)
    return case


FAMILIES = [
    inverted,
    determinant,
    machine_determinant,
    linear_solve,
    null_space,
    matrix_rank,
    eigenvalues,
    eigenvalues,
    matrix_functions,
    modular,
    rational_only,
]
