"""Linear algebra over the rationals: matrices made from their decompositions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from enclosure import different, exact
from expression import Expression, Sqrt, X, apply, expression, matrix, plus, power, symbol, times
from flint import fmpq_mat
from pair import Case, rational, small

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
    for wrong, how in [touched(truth, r), touched(truth, r), (transposed(truth), "transposed"), (scaled(truth, -1), "sign"), (identity(len(m)), "constant"), (m, "the question itself")]:
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
    for wrong, how in [(-truth, "sign"), (truth + 1, "off by one"), (Fraction(0), "dropped branch"), (diagonal_product, "product of the diagonal"), (truth * 2, "constant"), (truth + Fraction(1, 10**30), "tiny")]:
        case.wrong(str(wrong), how, f"the determinant is {truth}" if wrong != truth else None)
    case.wrong("Infinity", "not finite", f"the determinant is {truth}")
    return case


def machine_determinant(r: Random) -> Case:
    """Entries beyond the range of machine numbers: the product is finite."""
    k, c = r.randint(160, 300), r.randint(1, 9)
    case = Case("linear_algebra", f"Det[{{{{{c}.*^{k}, 0}}, {{0, 1.*^{k}}}}}]")
    case.right(f"{c}.*^{2 * k}", "product of the diagonal")
    for wrong, how in (("Infinity", "not finite"), ("Indeterminate", "not finite"), (f"{c}.*^{2 * k + 1}", "off by one"), (f"-{c}.*^{2 * k}", "sign"), ("0.", "dropped branch")):
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
        points = [{"x": Fraction(41, 7)}, {"x": Fraction(-9)}]
        for wrong, how in ((-truth, "sign"), (truth + 1, "constant"), (times(*(v + X for v in values)), "sign"), (truth * (X - 1), "off by one")):
            case.unlike(truth, wrong, [*points], how)
        return case
    if head == "Eigenvalues":
        case.right(vector(values), "similar to a diagonal matrix")
        for wrong, how in [touched([values], r), touched([values], r), ([values[:-1]], "dropped branch"), ([[*values[:-1], values[0] + 50]], "constant"), ([[v + Fraction(1, 10**30) for v in values]], "tiny")]:
            case.wrong(vector(wrong[0]), how, f"the eigenvalues are {vector(values)}" if sorted(wrong[0]) != sorted(values) else None)
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


def defective(r: Random) -> Case:
    """A Jordan block: fewer eigenvectors than dimensions, padded with zero vectors in the language's own answer."""
    n, a = r.choice([2, 3]), Fraction(r.randint(-3, 4))
    block = [[a if i == j else Fraction(int(j == i + 1)) for j in range(n)] for i in range(n)]
    s = unimodular(r, n)
    m = product(s, block, inverse(s))
    case = Case("decomposition", f"JordanDecomposition[{said(m)}]")
    case.right(both(s, block), "by construction")
    case.right(both(scaled(s, 3), block), "scaled")
    zero = [[Fraction(0)] * n for _ in range(n)]
    case.wrong(both(zero, block), "S is zero", "S has no inverse")
    case.wrong(both(s, diagonal([a] * n)), "dropped branch", f"S.J is not m.S: m is not {a} times the identity")
    case.wrong(both(identity(n), m), "J is the question", f"m is no Jordan form: {entry(block, m)}" if not jordan(m) else None)
    wrong = [list(row) for row in s]
    wrong[0][n - 1] += 1
    case.wrong(both(wrong, block), "off by one", entry(product(m, wrong), product(wrong, block)))
    case.wrong(both(block, s), "exchanged", f"m.S and S.J: {entry(product(m, block), product(block, s))}" if product(m, block) != product(block, s) else None)
    lost = [[Fraction(0) if j == n - 1 else v for j, v in enumerate(row)] for row in s]
    case.wrong(both(lost, block), "a column of zeros", "S has no inverse")
    return case


def jordan(m: Rows) -> bool:
    n = len(m)
    return all(v == 0 or i == j or (j == i + 1 and v == 1 and m[i][i] == m[j][j]) for i, row in enumerate(m) for j, v in enumerate(row) if n)


PYTHAGOREAN = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)]


def rotation(r: Random, n: int = 2) -> Rows:
    """A rational orthogonal matrix."""
    m = identity(n)
    for _ in range(n - 1):
        a, b, c = r.choice(PYTHAGOREAN)
        i, j = r.sample(range(n), 2)
        turn = identity(n)
        turn[i][i] = turn[j][j] = Fraction(a, c)
        turn[i][j], turn[j][i] = Fraction(-b, c), Fraction(b, c)
        m = product(m, turn)
    return m


def decomposition(r: Random) -> Case:
    """QR, Schur, singular values, Hessenberg, Cholesky, LU: every defining property broken in turn."""
    n = r.choice([2, 2, 3])
    q = rotation(r, n)
    upper = [[Fraction(small(r, 6)) if j >= i else Fraction(0) for j in range(n)] for i in range(n)]
    for i in range(n):
        upper[i][i] = abs(upper[i][i])
    head = r.choice(["QR", "QR", "Schur", "Schur", "SVD", "SVD", "Hessenberg", "Cholesky", "LU"])
    if head == "QR":
        m = product(q, upper)
        case = Case("decomposition", f"QRDecomposition[{said(m)}]")
        case.right(both(transposed(q), upper), "rotation times triangle")
        case.right(both(scaled(transposed(q), -1), scaled(upper, -1)), "signs of the rows")
        case.wrong(both(transposed(m), identity(n)), "Q is the question", f"Transpose[m].m is not the identity: {entry(identity(n), product(transposed(m), m))}" if product(transposed(m), m) != identity(n) else None)
        case.wrong(both(identity(n), m), "R is the question", "R is not triangular" if any(m[i][j] for i in range(n) for j in range(i)) else None)
        case.wrong(both(scaled(transposed(q), 2), scaled(upper, Fraction(1, 2))), "Q is not orthogonal", "the rows of Q have length 2")
        case.wrong(both(q, upper), "transposed", entry(m, product(transposed(q), upper)))
        wrong, how = touched(upper, r)
        case.wrong(both(transposed(q), wrong), how, entry(m, product(q, wrong)))
    elif head == "Schur":
        m = product(q, upper, transposed(q))
        case = Case("decomposition", f"SchurDecomposition[{said(m)}]")
        case.right(both(q, upper), "rotation of a triangle")
        case.wrong(both(identity(n), m), "T is the question", "T is not triangular" if any(m[i][j] for i in range(n) for j in range(i)) and not complex_block(m) else None)
        case.wrong(both(transposed(q), upper), "transposed", entry(m, product(transposed(q), upper, q)))
        case.wrong(both(scaled(q, 2), scaled(upper, Fraction(1, 4))), "Q is not orthogonal", "the columns of Q have length 2")
        case.wrong(both(q, diagonal([upper[i][i] for i in range(n)])), "dropped branch", entry(m, product(q, diagonal([upper[i][i] for i in range(n)]), transposed(q))))
        wrong, how = touched(upper, r)
        case.wrong(both(q, wrong), how, entry(m, product(q, wrong, transposed(q))))
    elif head == "SVD":
        v, values = rotation(r, n), sorted((Fraction(r.randint(1, 9)) for _ in range(n)), reverse=True)
        s = diagonal(values)
        m = product(q, s, transposed(v))
        case = Case("decomposition", f"SingularValueDecomposition[{said(m)}]")
        case.right(both(q, s, v), "two rotations and a diagonal")
        case.right(both(scaled(q, -1), s, scaled(v, -1)), "signs of the vectors")
        case.wrong(both(identity(n), m, identity(n)), "S is the question", "S is not diagonal" if any(m[i][j] for i in range(n) for j in range(n) if i != j) else None)
        case.wrong(both(m, identity(n), identity(n)), "U is the question", "U is not orthogonal" if product(transposed(m), m) != identity(n) else None)
        case.wrong(both(scaled(q, -1), scaled(s, -1), v), "sign", "singular values are not negative")
        case.wrong(both(scaled(q, 2), scaled(s, Fraction(1, 2)), v), "U is not orthogonal", "the columns of U have length 2")
        case.wrong(both(q, s, transposed(v)), "transposed", entry(m, product(q, s, v)))
        wrong, how = touched(s, r)
        case.wrong(both(q, wrong, v), how, entry(m, product(q, wrong, transposed(v))))
    elif head == "Hessenberg":
        h = [[Fraction(small(r, 5)) if j >= i - 1 else Fraction(0) for j in range(3)] for i in range(3)]
        turn = identity(3)
        a, b, c = r.choice(PYTHAGOREAN)
        turn[1][1], turn[1][2], turn[2][1], turn[2][2] = Fraction(a, c), Fraction(-b, c), Fraction(b, c), Fraction(a, c)
        m = product(turn, h, transposed(turn))
        case = Case("decomposition", f"HessenbergDecomposition[{said(m)}]")
        case.right(both(turn, h), "rotation of a Hessenberg matrix")
        case.wrong(both(identity(3), m), "H is the question", "entry (3, 1) of H is not 0" if m[2][0] else None)
        case.wrong(both(scaled(turn, 2), scaled(h, Fraction(1, 4))), "P is not orthogonal", "the columns of P have length 2")
        case.wrong(both(transposed(turn), h), "transposed", entry(m, product(transposed(turn), h, turn)))
        zero = [[Fraction(0)] * 3 for _ in range(3)]
        case.wrong(both(zero, h), "P is zero", "P is not orthogonal")
    elif head == "Cholesky":
        m = product(transposed(upper), upper)
        case = Case("decomposition", f"CholeskyDecomposition[{said(m)}]")
        case.right(said(upper), "triangle times its transpose")
        turned = product(q, upper)
        case.wrong(said(turned), "not triangular", "the answer is not upper triangular" if any(turned[i][j] for i in range(n) for j in range(i)) else None)
        case.wrong(said(transposed(upper)), "transposed", "the answer is not upper triangular" if upper != transposed(upper) else None)
        case.wrong(said(scaled(upper, -1)), "sign", "the diagonal of a Cholesky factor is positive")
        wrong, how = touched(upper, r)
        case.wrong(said(wrong), how, entry(m, product(transposed(wrong), wrong)))
    else:
        lower = [[Fraction(small(r, 4)) if j < i else Fraction(int(i == j)) for j in range(n)] for i in range(n)]
        m = product(lower, upper)
        packed = [[upper[i][j] if j >= i else lower[i][j] for j in range(n)] for i in range(n)]
        case = Case("decomposition", f"LUDecomposition[{said(m)}]")
        order = "{" + ", ".join(str(i + 1) for i in range(n)) + "}"
        case.right(f"{{{said(packed)}, {order}, 1}}", "triangles multiplied")
        for _ in range(3):
            wrong, how = touched(packed, r)
            l2 = [[wrong[i][j] if j < i else Fraction(int(i == j)) for j in range(n)] for i in range(n)]
            u2 = [[wrong[i][j] if j >= i else Fraction(0) for j in range(n)] for i in range(n)]
            case.wrong(f"{{{said(wrong)}, {order}, 1}}", how, entry(m, product(l2, u2)))
    return case


def complex_block(m: Rows) -> bool:
    """A 2 by 2 block of a real Schur form: it may stay where its eigenvalues are not real."""
    return len(m) != 2 or (m[0][0] - m[1][1]) ** 2 + 4 * m[0][1] * m[1][0] < 0


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
        for wrong, how in [(formed([power(symbol("E"), expression(-v)) for v in values]), "sign"), (formed([power(symbol("E"), expression(values[0]))] * n), "dropped branch"), ([[power(symbol("E"), expression(v)) for v in row] for row in m], "entry by entry")]:
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
            points = [{"n": Fraction(v)} for v in (13, 20, 2, 3)]
            why = next((w for a, b in zip(truth, wrong, strict=True) for x, y in zip(a, b, strict=True) if (w := different(expression(x), expression(y), [*points]))), None)
            case.wrong(matrix(wrong), how, why)
        return case
    e = r.choice([2, 3, 5, 10, 20, -1, -2])
    raised = product(s, diagonal([v**e for v in values]), inverse(s))
    case = Case("matrix_function", f"MatrixPower[{said(m)}, {e}]")
    case.right(said(raised), "similar to a diagonal matrix")
    for wrong, how in [touched(raised, r), touched(raised, r), (product(raised, m), "off by one"), ([[v**e if v or e > 0 else v for v in row] for row in m], "entry by entry")]:
        case.wrong(said(wrong), how, entry(raised, wrong))
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
        for wrong in ((d + 1) % p, (-d) % p, m[0][0] * m[1][1] - m[0][1] * m[1][0]):
            case.wrong(str(wrong), "constant", f"the residue is {d}" if (wrong - d) % p else None)
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
        for wrong, how in [(product(b, a), "exchanged"), touched(truth, r), ([[x * y for x, y in zip(u, v, strict=True)] for u, v in zip(a, b, strict=True)], "entry by entry")]:
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
        for wrong_e, how in ((expression(total), "constant"), (-truth_e, "sign"), (expression(sum((abs(x) for x in v), Fraction(0))), "another norm"), (truth_e + Fraction(1, 10**30), "tiny")):
            case.unlike(truth_e, wrong_e, [{}], how)
    return case


FAMILIES = [inverted, determinant, machine_determinant, linear_solve, null_space, matrix_rank, eigenvalues, eigenvalues, defective, decomposition, decomposition, matrix_functions, modular, rational_only]
__all__ = ["FAMILIES", "apply"]
