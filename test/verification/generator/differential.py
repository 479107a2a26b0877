"""DSolve: equations made from the space of their solutions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import acb

from enclosure import NotEnclosedError, apart, ball, precision, shown, value
from expression import ZERO, Cos, Cosh, Exp, Expression, Log, Sin, Sinh, Sqrt, Tan, X, derivative, expression, rules, substitute, symbol
from pair import REAL, Case, small

C1, C2, C3 = symbol("C[1]"), symbol("C[2]"), symbol("C[3]")
CONSTANTS = {"C[1]": Fraction(3, 7), "C[2]": Fraction(-5, 3), "C[3]": Fraction(11, 2), "u": Fraction(2), "v": Fraction(-7), "K1": Fraction(9, 5)}


def operator(c: list[Fraction], y: Expression) -> Expression:
    """c0 y + c1 y' + c2 y'' + …"""
    total = ZERO
    for k in c:
        total = total + k * y
        y = derivative(y, "x")
    return total


def written(c: list[Fraction]) -> str:
    text = ""
    for order, k in reversed(list(enumerate(c))):
        if k:
            text += f" {'-' if k < 0 else '+'} {'' if abs(k) == 1 else f'{abs(k)} '}y{chr(39) * order}[x]"
    return text.removeprefix(" + ")


def leaves(residual: Expression) -> str | None:
    """A point and constants at which a residual is not zero."""
    with precision():
        for v in [*REAL[:4], Fraction(-1, 3)]:
            at = {"x": ball(v)} | {name: ball(k) for name, k in CONSTANTS.items()}
            try:
                left = value(residual, at)
            except (NotEnclosedError, ZeroDivisionError):
                continue
            if apart(left, acb(0)):
                return f"at x = {v} with C[1] = 3/7, C[2] = -5/3 the equation leaves {shown(left)}"
    return None


def answer(e: Expression) -> str:
    return rules([{"y[x]": e}])


def as_function(e: Expression) -> str:
    return f"{{{{y -> Function[{{x}}, {e}]}}}}"


def second_order(r: Random) -> Case:
    p, q = (Fraction(small(r, 4)) for _ in range(2))
    kind = r.choice(["distinct", "repeated", "complex", "imaginary", "opposite"])
    if kind == "repeated":
        basis, c = [Exp(p * X), X * Exp(p * X)], [p * p, -2 * p, Fraction(1)]
    elif kind == "complex":
        basis, c = [Exp(p * X) * Cos(q * X), Exp(p * X) * Sin(q * X)], [p * p + q * q, -2 * p, Fraction(1)]
    elif kind == "imaginary":
        basis, c = [Cos(q * X), Sin(q * X)], [q * q, Fraction(0), Fraction(1)]
    elif kind == "opposite":
        basis, c = [Exp(q * X), Exp(-q * X)], [-q * q, Fraction(0), Fraction(1)]
    else:
        if p == q:
            q = p + 1 or Fraction(2)
        basis, c = [Exp(p * X), Exp(q * X)], [p * q, -p - q, Fraction(1)]
    particular = r.choice([ZERO, ZERO, expression(small(r)) * X**2, Exp(7 * X), expression(small(r)), Sin(9 * X)])
    forcing = operator(c, particular)
    b1, b2 = basis
    case = Case("dsolve", f"DSolve[{written(c)} == {forcing}, y[x], x]")

    def general(k1: Expression, k2: Expression) -> Expression:
        return k1 * b1 + k2 * b2 + particular

    case.right(answer(general(C1, C2)), "roots of the characteristic equation")
    case.right(answer(general(C2, C1)), "constants exchanged")
    case.right(answer(general(symbol("u"), symbol("v"))), "other names")
    case.right(answer(general(C1 + C2, C1 - C2)), "another basis")
    if kind == "opposite":
        case.right(answer(C1 * Cosh(q * X) + C2 * Sinh(q * X) + particular), "hyperbolic form")
    if kind == "imaginary":
        i = symbol("I")
        case.right(answer(C1 * Exp(i * q * X) + C2 * Exp(-i * q * X) + particular), "exponential form")
    other = f"{b2 + particular} is a solution, the Wronskian of {b1} and {b2} is not 0, and"
    case.wrong(answer(C1 * b1 + particular), "dropped branch", f"{other} the answer has the first alone")
    case.wrong(answer((C1 + C2) * b1 + particular), "one constant in fact", f"{other} the answer has the first alone")
    case.wrong(answer(C1 * b1 + C1 * b2 + particular), "one constant twice", f"{other} the answer ties them together")
    case.wrong(answer(b1 + b2 + particular), "no constants", f"{other} the answer is one function")
    case.wrong(f"{{{{y[x] -> 0*C[1] + 0*C[2] + {particular}}}}}", "zero times the general solution", f"{other} the answer is one function")
    case.wrong(
        f"{{{{y[x] -> {C1 * b1 + particular}}}, {{y[x] -> {C2 * b2 + particular}}}}}", "two halves", f"{b1 + b2 + particular} is a solution and in neither half"
    )
    shifted = [Exp(X / 1000) * b for b in basis]
    for wrong, how in (
        (C1 * shifted[0] + C2 * b2 + particular, "off by little"),
        (general(C1, C2) + X, "extraneous term"),
        (general(C1, C2) + Fraction(1, 10**20) * Sin(X / 3), "tiny"),
        (C1 * substitute(b1, "x", -X) + C2 * substitute(b2, "x", -X) + particular, "sign"),
        (general(C1, C2) - 2 * particular, "sign"),
    ):
        why = leaves(operator(c, wrong) - forcing)
        case.wrong(answer(wrong), how, why)
    return case


def initial_values(r: Random) -> Case:
    p, u = Fraction(small(r, 3)), small(r)
    q, v = p + r.randint(1, 3) or Fraction(5), small(r)
    if q == p:
        q = p + 1
    truth = u * Exp(p * X) + v * Exp(q * X)
    c = [p * q, -p - q, Fraction(1)]
    case = Case("dsolve", f"DSolve[{{{written(c)} == 0, y[0] == {u + v}, y'[0] == {u * p + v * q}}}, y[x], x]")
    case.right(answer(truth), "by construction")
    case.right(as_function(truth), "as a function")
    for wrong, how in (
        (u * Exp(p * X), "dropped branch"),
        (u * Exp(p * X) - v * Exp(q * X), "sign"),
        (truth + Fraction(1, 10**15), "tiny"),
        (2 * truth, "constant"),
    ):
        at_zero = substitute(wrong, "x", 0)
        why = leaves(operator(c, wrong))
        with precision():
            got = value(at_zero, {})
            if why is None and apart(got, ball(u + v)):
                why = f"y[0] is {shown(got)}, not {u + v}"
        case.wrong(answer(wrong), how, why)
    case.wrong(answer(C1 * Exp(p * X) + C2 * Exp(q * X)), "conditions ignored", f"y[0] is C[1] + C[2], not {u + v}")
    return case


def first_order(r: Random) -> Case:
    k, m = small(r, 5), r.randint(1, 4)
    y = symbol("y[x]")
    table: list[tuple[str, Expression, Expression, list[Expression]]] = [
        # equation, y' as an expression of x and y, solution, wrong ones
        (f"y'[x] == {k} y[x]", k * y, C1 * Exp(k * X), [Exp(k * X), C1 * Exp(-k * X), C1 + Exp(k * X), ZERO, C1 * Exp(k * X) + 1]),
        (f"y'[x] == {k} x y[x]", k * X * y, C1 * Exp(k * X**2 / 2), [C1 * Exp(k * X**2), C1 * Exp(k * X / 2), Exp(k * X**2 / 2)]),
        (
            f"y'[x] + {m} y[x] == x",
            X - m * y,
            C1 * Exp(-m * X) + X / m - Fraction(1, m * m),
            [C1 * Exp(-m * X) + X / m, C1 * Exp(m * X) + X / m - Fraction(1, m * m), X / m - Fraction(1, m * m)],
        ),
        ("y'[x] == y[x]^2", y**2, -1 / (X + C1), [1 / (X + C1), -1 / X, -C1 / (X + C1)]),
        ("y'[x] == 1 + y[x]^2", 1 + y**2, Tan(X + C1), [Tan(X), Tan(-X + C1), C1 * Tan(X)]),
        (f"x y'[x] == {m} y[x]", m * y / X, C1 * X**m, [C1 * X ** (m + 1), X**m, C1 + X**m]),
        ("y'[x] == Exp[-y[x]]", Exp(-y), Log(X + C1), [Log(X) + C1, Log(C1 - X), Log(X)]),
        (
            f"y'[x] == {m} x^2",
            m * X**2,
            expression(Fraction(m, 3)) * X**3 + C1,
            [expression(Fraction(m, 3)) * X**3, expression(m) * X**3 + C1, expression(Fraction(m, 3)) * X**3 + C1 * X],
        ),
        ("y'[x] == y[x]/(2 x)", y / (2 * X), C1 * Sqrt(X), [C1 * X, Sqrt(X), C1 / Sqrt(X)]),
    ]
    text, slope, truth, wrongs = r.choice(table)
    case = Case("dsolve", f"DSolve[{text}, y[x], x]")
    case.right(answer(truth), "separated or linear")
    case.right(answer(substitute(truth, "C[1]", symbol("K1"))), "another name")
    case.right(answer(substitute(truth, "C[1]", 2 * C1 + 1)), "another constant")
    case.right(as_function(substitute(truth, "C[1]", C2)), "as a function, another constant")
    for wrong in wrongs:
        why = leaves(derivative(wrong, "x") - substitute(slope, "y[x]", wrong))
        if why is None and "C[1]" not in str(wrong):
            why = f"the solution {truth} has a constant, the answer is one function"
        case.wrong(answer(wrong), "constant or sign", why)
    case.wrong(
        f"{{{{y[x] -> 0*C[1] + ({substitute(truth, 'C[1]', 1)})}}}}",
        "constant without effect",
        f"the solution {truth} has a constant, the answer is one function",
    )
    return case


def system(r: Random) -> Case:
    """Two linear equations with the matrix {{a, b}, {b, a}}: eigenvectors (1, 1) and (1, -1)."""
    a, b = r.randint(-3, 3), small(r, 3)
    e1, e2 = Exp((a + b) * X), Exp((a - b) * X)

    def answer(p: Expression, q: Expression) -> str:
        return rules([{"y[x]": p, "z[x]": q}])

    case = Case("dsolve_system", f"DSolve[{{y'[x] == {a} y[x] + ({b}) z[x], z'[x] == ({b}) y[x] + ({a}) z[x]}}, {{y[x], z[x]}}, x]")
    case.right(answer(C1 * e1 + C2 * e2, C1 * e1 - C2 * e2), "eigenvectors")
    case.right(answer(symbol("u") * e2 + symbol("v") * e1, symbol("v") * e1 - symbol("u") * e2), "other names")
    case.right(answer((C1 + C2) * e1 + (C1 - C2) * e2, (C1 + C2) * e1 - (C1 - C2) * e2), "another basis")
    why = f"y = {e2}, z = {-e2} is a solution"
    case.wrong(answer(C1 * e1, C1 * e1), "too few constants", why)
    case.wrong(answer((C1 + C2) * e1, (C1 + C2) * e1), "one constant in fact", why)
    case.wrong(answer(ZERO, ZERO), "zero", why)
    for y, z, how in (
        (C1 * e1 + C2 * e2, C1 * e1 + C2 * e2, "sign"),
        (C1 * e1 + C2 * e2, C2 * e1 - C1 * e2, "exchanged"),
        (C1 * e1 + C2 * e2, C3 * e1 - C2 * e2, "too many constants"),
    ):
        left = leaves(derivative(y, "x") - a * y - b * z) or leaves(derivative(z, "x") - b * y - a * z)
        case.wrong(answer(y, z), how, left)
    return case


FAMILIES = [second_order, second_order, initial_values, first_order, first_order, system]
