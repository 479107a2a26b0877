"""Answers that are right nearly everywhere: beyond a far kink, in a narrow spike or window, by a tiny or a hidden term."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from enclosure import different
from expression import (
    PI,
    ZERO,
    Abs,
    ArcTan,
    Cos,
    E,
    Erf,
    Exp,
    Expression,
    Floor,
    I,
    Log,
    N,
    Sin,
    Sqrt,
    UnitStep,
    X,
    Y,
    apply,
    derivative,
    expression,
    matrix,
    rules,
    symbol,
    times,
)
from pair import COMPLEX, Case, Where, line, small


def around(*centres: Fraction | int) -> list[Where]:
    """Points at, just beside and well beside some values."""
    steps = [Fraction(0), Fraction(1, 10**9), Fraction(-1, 10**9), Fraction(1, 7), Fraction(-1, 7), Fraction(5), Fraction(-5)]
    return [{"x": Fraction(c) + s} for c in centres for s in steps]


def hidden_term(r: Random) -> tuple[Expression, str, list[Where]]:
    """A term that is zero or small at nearly every point, and where it shows."""
    a = r.choice([3, 12, 100, 12345, 10**6, -8, -777])
    s = 10 ** r.choice([2, 3, 6])
    tiny = Fraction(1, 10 ** r.choice([40, 70, 100, 200, 400, 1000]))
    choices: list[tuple[Expression, str, list[Where]]] = [
        (Exp(-((s * (X - a)) ** 2)), "a spike", around(a)),
        (UnitStep(X - a) * UnitStep(a + Fraction(1, s) - X), "a window", [{"x": a + Fraction(1, 2 * s)}]),
        (UnitStep(X**2 - 10**8), "beyond 10^4", around(10**5)),
        (UnitStep(-X - s), "beyond -10^n", around(-2 * s)),
        (apply("Max", 0, X - 10 * s), "beyond 10^n", around(20 * s)),
        (UnitStep(Sin(X) - Fraction(9999, 10000)), "near the maxima of the sine", [{"x": Fraction(157079632, 10**8)}]),
        (expression(tiny), "tiny", line("x")),
        (tiny * Sin(X), "tiny", line("x")),
        (tiny * X**3, "tiny", line("x")),
        (1 - Erf(X + s) ** 2 if s < 10**3 else Exp(-(X**2) * s) * X, "only near one point", around(-s, 0)),
        (UnitStep(Abs(X) - s) * (Abs(X) - s), "beyond 10^n of either sign", around(5 * s)),
        (Floor(X / 10**7) * Floor(-X / 10**7), "beyond 10^7", around(3 * 10**7)),
        (times(*(X - j for j in range(-6, 7))), "zero at the integers near 0", line("x")),
        (Sin(PI * X), "zero at the integers", line("x")),
        (UnitStep(Log(X**2 + 1) - 40), "beyond E^20", around(10**10)),
    ]
    return r.choice(choices)


def base(r: Random) -> tuple[str, Expression, Expression]:
    """Head, expression and an equal one."""
    a, b = r.randint(1, 4), small(r)
    choices: list[tuple[str, Expression, Expression]] = [
        ("Simplify", Sin(a * X) ** 2 + Cos(a * X) ** 2 + b * X, 1 + b * X),
        ("Expand", (X + a) * (X + b), X**2 + (a + b) * X + a * b),
        ("FullSimplify", Exp(a * X) * Exp(b * X), Exp((a + b) * X)),
        ("Simplify", Sqrt(X**2 + 2 * a * X + a * a), Sqrt((X + a) ** 2)),
        ("Together", 1 / (X + a) + b, (1 + b * (X + a)) / (X + a)),
        ("TrigReduce", Sin(X) * Cos(X), Sin(2 * X) / 2),
        ("Simplify", X + Abs(X), Abs(X) + X),
    ]
    return r.choice(choices)


def hidden(r: Random) -> Case:
    head, left, right = base(r)
    case = Case("traps", f"{head}[{left}]")
    case.same(left, right, line("x"), "algebra")
    for _ in range(3):
        term, how, points = hidden_term(r)
        case.unlike(left, right + term, points, how)
    return case


def hidden_in_question(r: Random) -> Case:
    """The question holds the term and the answer forgets it."""
    head, left, right = base(r)
    term, how, points = hidden_term(r)
    whole = left + term
    case = Case("traps", f"Simplify[{whole}]" if head != "FullSimplify" else f"FullSimplify[{whole}]")
    case.same(whole, right + term, points + line("x"), "algebra")
    case.unlike(whole, right, points, how)
    case.unlike(whole, right - term, points, how)
    return case


def hidden_in_antiderivative(r: Random) -> Case:
    a, s = r.choice([3, 12, 100, 12345, -8]), 10 ** r.choice([2, 3, 6])
    f, primitive = r.choice([(X**2, X**3 / 3), (Cos(X), Sin(X)), (Exp(X), Exp(X)), (1 / (1 + X**2), ArcTan(X))])
    tiny = Fraction(1, 10 ** r.choice([40, 100, 400]))
    case = Case("traps", f"Integrate[{f}, x]")
    case.right(primitive, "table")
    extra: list[tuple[Expression, str, list[Where]]] = [
        (Erf(s * (X - a)), "a step of the error function", around(a)),
        (tiny * X, "tiny", line("x")),
        (Exp(-((s * (X - a)) ** 2)), "a spike", around(a)),
        ((X - s * 50) * UnitStep(X - s * 50), "beyond 50*10^n", around(60 * s)),
        (Abs(X - a) - X, "below a", around(a - 30)),
        (-Abs(X + 5 * s), "another slope", around(5 * s)),
    ]
    for term, how, points in r.sample(extra, 3):
        against = different(f, derivative(primitive + term, "x"), points)
        case.wrong(primitive + term, how, against and f"integrand and derivative of the answer {against}")
    return case


def narrow_assumptions(r: Random) -> Case:
    """Answers that hold in all of the assumed region but a sliver."""
    a = r.choice([2, 7, 30, 1000])
    d = Fraction(1, 10 ** r.choice([2, 5, 9]))
    inside: list[Where] = [{"x": a - d / 2}, {"x": a + d / 2}, {"x": Fraction(a - 1)}]
    beyond: list[Where] = [{"x": Fraction(a + 1)}, {"x": Fraction(a + 1000)}]
    im: list[Where] = [{"x": (Fraction(1, 3), Fraction(31420, 10**4))}, {"x": (Fraction(-2), Fraction(31427, 10**4))}]
    choices: list[tuple[str, Expression, list[Expression], list[Expression], list[Where]]] = [
        (f"{UnitStep(X - a)}, 0 < x < {a + d}", UnitStep(X - a), [UnitStep(X - a)], [ZERO], inside),
        (f"{UnitStep(X - a)}, 0 < x < {a - d}", UnitStep(X - a), [ZERO], [expression(1)], [{"x": a - 2 * d}, {"x": Fraction(1, 2)}]),
        (f"{Abs(X - a)}, x > {a - d}", Abs(X - a), [Abs(a - X)], [X - a], inside),
        (f"{Abs(X - a)}, x > {a}", Abs(X - a), [X - a], [a - X], beyond),
        (f"{Sqrt((X - a) ** 2)}, x < {a + d}", Sqrt((X - a) ** 2), [Abs(X - a)], [a - X], inside),
        (f"{apply('Max', X, a)}, x > {a - d}", apply("Max", X, a), [apply("Max", a, X)], [X], inside),
        (f"{Floor(X)}, {a} <= x < {a + 1}", Floor(X), [expression(a)], [X, expression(a + 1)], [{"x": Fraction(2 * a + 1, 2)}]),
        (f"{Floor(X)}, {a} <= x < {a + 1 + d}", Floor(X), [Floor(X)], [expression(a)], [{"x": a + 1 + d / 2}]),
        (f"{Log(Exp(X))}, -3 < Im[x] < 3", Log(Exp(X)), [X], [-X, X + 2 * PI * I], [{"x": COMPLEX[4]}, {"x": Fraction(2)}]),
        (f"{Log(Exp(X))}, -22/7 < Im[x] < 22/7", Log(Exp(X)), [Log(Exp(X))], [X], im),
        (f"{Sqrt(Exp(2 * X))}, -11/7 < Im[x] < 11/7", Sqrt(Exp(2 * X)), [Exp(2 * X) ** Fraction(1, 2)], [Exp(X)], [{"x": (Fraction(1), Fraction(1571, 1000))}]),
        (
            f"{Abs(X - Y)}, x > 0 && y > 0",
            Abs(X - Y),
            [Abs(Y - X)],
            [X - Y, Y - X],
            [{"x": Fraction(1), "y": Fraction(3)}, {"x": Fraction(9), "y": Fraction(3)}],
        ),
        (f"{Abs(X - Y)}, x > y > 0", Abs(X - Y), [X - Y], [Y - X, X + Y], [{"x": Fraction(9), "y": Fraction(3)}]),
        (
            f"{apply('Max', X, Y)}, x > 0 && y > 0",
            apply("Max", X, Y),
            [(X + Y + Abs(X - Y)) / 2],
            [X, Y, X + Y],
            [{"x": Fraction(1), "y": Fraction(3)}, {"x": Fraction(9), "y": Fraction(3)}],
        ),
        (f"{Abs(Log(X) - 30)}, x > 0", Abs(Log(X) - 30), [Abs(30 - Log(X))], [30 - Log(X), Log(X) - 30], [{"x": Fraction(1)}, {"x": Fraction(10**20)}]),
        (f"{Abs(Exp(X) - 10**20)}, x > 0", Abs(Exp(X) - 10**20), [Abs(10**20 - Exp(X))], [10**20 - Exp(X)], [{"x": Fraction(100)}]),
        (
            f"{Cos(PI * N)}, Element[n, Integers] && n > 0",
            Cos(PI * N),
            [expression(-1) ** N],
            [expression(-1) ** N + times(*(N - j for j in range(30))), -(expression(-1) ** N)],
            [{"n": Fraction(40)}],
        ),
        (f"{Sqrt(N**2)}, Element[n, Integers]", Sqrt(N**2), [Abs(N)], [N], [{"n": Fraction(-3)}]),
    ]
    text, truth, rights, wrongs, points = r.choice(choices)
    case = Case("traps", f"{r.choice(['Simplify', 'FullSimplify', 'Refine'])}[{text}]")
    for right in rights:
        case.same(truth, right, points, "under the assumptions")
    for wrong in wrongs:
        case.unlike(truth, wrong, points, "right in nearly all of the region")
    return case


def close_roots(r: Random) -> Case:
    """Roots that lie closer than the digits anyone computes with, and roots far out."""
    a, e = r.randint(-4, 4), r.choice([20, 30, 60, 150])
    h = Fraction(1, 10**e)
    far = 10 ** r.choice([12, 40, 100])
    choices: list[tuple[str, list[Expression], list[tuple[list[Expression], str]]]] = [
        (
            f"{(X - a) * (X - (a + h))} == 0",
            [expression(a), expression(a + h)],
            [
                ([expression(a)], f"x = {a} + 10^-{e} is a root"),
                ([expression(a), expression(a)], f"x = {a} + 10^-{e} is a root"),
                ([expression(a), expression(a - h)], f"x = {a} - 10^-{e} leaves 2*10^-{2 * e}"),
            ],
        ),
        (
            f"x^2 == {h * h}",
            [expression(h), expression(-h)],
            [([ZERO], f"x = 0 leaves -10^-{2 * e}"), ([expression(h)], f"x = -10^-{e} is a root"), ([ZERO, expression(h)], f"x = 0 leaves -10^-{2 * e}")],
        ),
        (
            f"x^2 + {h * h} == 0",
            [I * h, -I * h],
            [([ZERO], f"x = 0 leaves 10^-{2 * e}"), ([expression(h), expression(-h)], f"x = 10^-{e} leaves 2*10^-{2 * e}"), ([], f"x = 10^-{e} I is a root")],
        ),
        (
            f"{(X - a) * (X - far)} == 0",
            [expression(a), expression(far)],
            [
                ([expression(a)], f"x = {far} is a root"),
                ([expression(a), expression(far + 1)], f"x = {far + 1} leaves {far + 1 - a}"),
                ([expression(far)], f"x = {a} is a root"),
            ],
        ),
        (
            f"{h} x == {a + 5}",
            [expression((a + 5) / h)],
            [([ZERO], f"x = 0 leaves {-a - 5}"), ([], f"x = {a + 5}*10^{e} is a root"), ([expression((a + 5) / h + 1)], f"leaves 10^-{e}")],
        ),
    ]
    text, roots, wrongs = r.choice(choices)
    case = Case("traps", f"Solve[{text}, x]")
    case.right(rules({"x": v} for v in roots), "factors")
    case.right(rules({"x": v} for v in roots[::-1]), "another order")
    for wrong, why in wrongs:
        case.wrong(rules({"x": v} for v in wrong), "close or far", why)
    return case


def nearly_singular(r: Random) -> Case:
    e = r.choice([30, 60, 100, 400])
    h = Fraction(1, 10**e)
    a = small(r)
    one, zero = Fraction(1), Fraction(0)
    choices: list[tuple[str, list[str], list[tuple[str, str]]]] = [
        (f"MatrixRank[{matrix([[one, one], [one, one + h]])}]", ["2"], [("1", f"the determinant is 10^-{e}"), ("0", "an entry is 1")]),
        (
            f"Det[{matrix([[one, one], [one, one + h]])}]",
            [str(h)],
            [("0", f"the determinant is 10^-{e}"), (str(-h), f"the determinant is 10^-{e}"), (str(2 * h), f"the determinant is 10^-{e}")],
        ),
        (
            f"NullSpace[{matrix([[one, one], [one, one + h]])}]",
            ["{}"],
            [("{{-1, 1}}", f"it goes to (0, 10^-{e})"), ("{{0, 0}}", "a zero vector belongs to no basis")],
        ),
        (
            f"Eigenvalues[{matrix([[Fraction(a), zero], [zero, a + h]])}]",
            [f"{{{a}, {a + h}}}", f"{{{a + h}, {a}}}"],
            [(f"{{{a}, {a}}}", f"{a} + 10^-{e} is an eigenvalue"), (f"{{{a}, {a - h}}}", f"{a} + 10^-{e} is an eigenvalue")],
        ),
        (
            f"Eigenvectors[{matrix([[Fraction(a), h], [zero, Fraction(a)]])}]",
            ["{{1, 0}, {0, 0}}"],
            [("{{1, 0}, {0, 1}}", f"(0, 1) goes to (10^-{e}, {a})"), ("{{0, 1}, {0, 0}}", f"(0, 1) goes to (10^-{e}, {a})")],
        ),
        (
            f"Inverse[{matrix([[one, zero], [zero, h]])}]",
            [str(matrix([[one, zero], [zero, 1 / h]]))],
            [
                (str(matrix([[one, zero], [zero, zero]])), "times the matrix it is not the identity"),
                (str(matrix([[one, zero], [zero, 1 / h + 1]])), f"entry (2, 2) is 10^{e}"),
            ],
        ),
        (
            f"LinearSolve[{matrix([[one, one], [one, one + h]])}, {{2, {2 + h}}}]",
            ["{1, 1}"],
            [("{2, 0}", f"the second row leaves -10^-{e}"), ("{0, 2}", f"the second row leaves 10^-{e}")],
        ),
        (
            f"MatrixPower[{matrix([[one, h], [zero, one]])}, 10]",
            [str(matrix([[one, 10 * h], [zero, one]]))],
            [(str(matrix([[one, zero], [zero, one]])), f"entry (1, 2) is 10^-{e - 1}"), (str(matrix([[one, h], [zero, one]])), f"entry (1, 2) is 10^-{e - 1}")],
        ),
    ]
    text, rights, wrongs = r.choice(choices)
    case = Case("traps", text)
    for right in rights:
        case.right(right, "by hand")
    for wrong, why in wrongs:
        case.wrong(wrong, "nearly singular", why)
    return case


def hidden_in_equation(r: Random) -> Case:
    """Differential equations: a spike, a tiny or a far term added to a general solution."""
    k, a, s = small(r, 3), r.choice([3, 100, 12345]), 10 ** r.choice([2, 6])
    c = symbol("C[1]")
    general = c * Exp(k * X)
    case = Case("traps", f"DSolve[y'[x] == {k} y[x], y[x], x]")
    case.right(rules([{"y[x]": general}]), "exponential")
    case.right(rules([{"y[x]": c * Exp(k * (X - a))}]), "shifted")
    case.right(rules([{"y[x]": symbol("w") * E ** (k * X) * Fraction(1, 10**9)}]), "scaled, another name")
    extra: list[tuple[Expression, str, list[Where]]] = [
        (Exp(-((s * (X - a)) ** 2)), "a spike", around(a)),
        (expression(Fraction(1, 10**100)), "tiny", line("x")),
        (UnitStep(X - 50 * s), "beyond 50*10^n", around(60 * s)),
        (Fraction(1, 10**70) * X, "tiny", line("x")),
    ]
    for term, how, points in r.sample(extra, 3):
        case.wrong(rules([{"y[x]": general + term}]), how, different(derivative(term, "x"), k * term, points))
    case.wrong(rules([{"y[x]": times(c, UnitStep(X - a)) + 1}]), "constant", f"at x = {a - 1} it leaves {-k}")
    return case


def hidden_in_sum(r: Random) -> Case:
    """Series whose terms begin, or change, far out."""
    m = r.choice([50, 1000, 10**4, 10**6])
    q = r.randint(2, 5)
    choices: list[tuple[str, list[str], list[tuple[str, str]]]] = [
        (
            f"UnitStep[k - {m}]/{q}^(k - {m}), {{k, 1, Infinity}}",
            [f"{Fraction(q, q - 1)}"],
            [("0", f"the term at k = {m} is 1"), ("1", f"the terms at {m} and {m + 1} add up to more")],
        ),
        (f"UnitStep[k - {m}]/(k (k + 1)), {{k, 1, Infinity}}", [f"1/{m}"], [("0", f"telescoping from {m}: 1/{m}"), ("1", f"telescoping from {m}: 1/{m}")]),
        (
            f"1/((k - 1/2)^2 + {m}), {{k, -Infinity, Infinity}}",
            [f"Pi Tanh[Pi Sqrt[{m}]]/Sqrt[{m}]"],
            [(f"Pi/Sqrt[{m}]", "Tanh is less than 1"), ("Infinity", "comparison with 1/k^2")],
        ),
        (f"KroneckerDelta[k, {m}], {{k, 1, Infinity}}", ["1"], [("0", f"the term at k = {m} is 1"), ("Infinity", "one term")]),
        (
            f"(1 - UnitStep[k - {m}]) + UnitStep[k - {m}]/2^k, {{k, 1, Infinity}}",
            [f"{m - 1} + 2/2^{m}"],
            [("Infinity", f"from {m} on geometric"), (f"{m - 1}", "the tail is positive"), (f"{m}", "the tail is small")],
        ),
    ]
    text, rights, wrongs = r.choice(choices)
    case = Case("traps", f"Sum[{text}]")
    for right in rights:
        case.right(right, "by hand")
    for wrong, why in wrongs:
        case.wrong(wrong, "far out", why)
    return case


FAMILIES = [
    hidden,
    hidden_in_question,
    hidden_in_antiderivative,
    narrow_assumptions,
    narrow_assumptions,
    close_roots,
    nearly_singular,
    hidden_in_equation,
    hidden_in_sum,
]
