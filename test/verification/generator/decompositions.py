"""Matrices made from their decompositions, and answers that break one defining property each."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from matrices import Rows, both, diagonal, entry, identity, inverse, product, said, scaled, touched, transposed, unimodular
from pair import Case, small


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
    return all(v == 0 or i == j or (j == i + 1 and v == 1 and row[i] == m[j][j]) for i, row in enumerate(m) for j, v in enumerate(row) if n)


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
        case.wrong(
            both(transposed(m), identity(n)),
            "Q is the question",
            f"Transpose[m].m is not the identity: {entry(identity(n), product(transposed(m), m))}" if product(transposed(m), m) != identity(n) else None,
        )
        case.wrong(both(identity(n), m), "R is the question", "R is not triangular" if any(m[i][j] for i in range(n) for j in range(i)) else None)
        case.wrong(both(scaled(transposed(q), 2), scaled(upper, Fraction(1, 2))), "Q is not orthogonal", "the rows of Q have length 2")
        case.wrong(both(q, upper), "transposed", entry(m, product(transposed(q), upper)))
        wrong, how = touched(upper, r)
        case.wrong(both(transposed(q), wrong), how, entry(m, product(q, wrong)))
    elif head == "Schur":
        m = product(q, upper, transposed(q))
        case = Case("decomposition", f"SchurDecomposition[{said(m)}]")
        case.right(both(q, upper), "rotation of a triangle")
        case.wrong(
            both(identity(n), m),
            "T is the question",
            "T is not triangular" if any(m[i][j] for i in range(n) for j in range(i)) and not complex_block(m) else None,
        )
        case.wrong(both(transposed(q), upper), "transposed", entry(m, product(transposed(q), upper, q)))
        case.wrong(both(scaled(q, 2), scaled(upper, Fraction(1, 4))), "Q is not orthogonal", "the columns of Q have length 2")
        case.wrong(
            both(q, diagonal([upper[i][i] for i in range(n)])), "dropped branch", entry(m, product(q, diagonal([upper[i][i] for i in range(n)]), transposed(q)))
        )
        wrong, how = touched(upper, r)
        case.wrong(both(q, wrong), how, entry(m, product(q, wrong, transposed(q))))
    elif head == "SVD":
        v, values = rotation(r, n), sorted((Fraction(r.randint(1, 9)) for _ in range(n)), reverse=True)
        s = diagonal(values)
        m = product(q, s, transposed(v))
        case = Case("decomposition", f"SingularValueDecomposition[{said(m)}]")
        case.right(both(q, s, v), "two rotations and a diagonal")
        case.right(both(scaled(q, -1), s, scaled(v, -1)), "signs of the vectors")
        case.wrong(
            both(identity(n), m, identity(n)), "S is the question", "S is not diagonal" if any(m[i][j] for i in range(n) for j in range(n) if i != j) else None
        )
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


FAMILIES = [defective, decomposition, decomposition]
