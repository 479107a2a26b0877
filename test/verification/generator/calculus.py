"""Integrals, derivatives, limits and series."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from flint import acb, arb, fmpq, fmpq_poly, fmpq_series

from enclosure import different, digits, precision, shown, value
from expression import (
    ONE,
    PI,
    ZERO,
    Abs,
    ArcSinh,
    ArcTan,
    Cos,
    Cosh,
    E,
    Erf,
    Exp,
    Expression,
    Log,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    UnitStep,
    X,
    apply,
    derivative,
    expression,
    plus,
    substitute,
    symbol,
    times,
)
from pair import POSITIVE, REAL, Case, UnsoundError, held, line, plane, rational, small


def primitive(r: Random) -> Expression:
    """A term of an antiderivative: smooth for x > 0."""
    a, n = r.randint(1, 5), r.randint(1, 5)
    choices: list[Callable[[], Expression]] = [
        lambda: X**n,
        lambda: X ** Fraction(2 * n + 1, 2),
        lambda: Exp(a * X),
        lambda: X**n * Exp(-a * X),
        lambda: Sin(a * X),
        lambda: X**n * Cos(a * X),
        lambda: Exp(X) * Sin(a * X),
        lambda: Log(X + a),
        lambda: X**n * Log(X),
        lambda: ArcTan(a * X),
        lambda: ArcTan(X / a),
        lambda: Sqrt(X**2 + a),
        lambda: Erf(X),
        lambda: Exp(-(X**2)) * X**n,
        lambda: 1 / (X + a),
        lambda: Log(X) ** 2,
        lambda: Sinh(a * X),
        lambda: ArcSinh(X),
        lambda: Cosh(X) * X,
        lambda: Log(1 + X**2),
        lambda: 1 / (X**2 + a),
        lambda: Sin(X) ** (n + 1),
    ]
    return r.choice(choices)()


def primitives(r: Random) -> list[Expression]:
    return [rational(r) * primitive(r) for _ in range(r.choice([1, 1, 2, 2, 3]))]


def mutated(terms: list[Expression], r: Random) -> tuple[Expression, str]:
    """A sum of terms with one thing wrong."""
    terms, i = list(terms), r.randrange(len(terms))
    how = r.choice(["sign", "constant", "dropped branch", "extraneous term", "tiny", "off by one"])
    if how == "sign":
        terms[i] = -terms[i]
    elif how == "constant":
        terms[i] = terms[i] * (1 + Fraction(1, r.choice([2, 3, 10, 10**6, 10**12])))
    elif how == "dropped branch":
        terms = terms[:i] + terms[i + 1 :]
    elif how == "extraneous term":
        terms.append(r.choice([X, X**2, Sin(X), Exp(X), Log(X)]) * rational(r))
    elif how == "tiny":
        terms.append(Fraction(1, 10 ** r.choice([6, 12, 20, 30])) * r.choice([X, X**2, Exp(-X)]))
    else:
        terms[i] = terms[i] * X
    return plus(*terms), how


def indefinite(r: Random) -> Case:
    terms = primitives(r)
    answer = plus(*terms)
    integrand = derivative(answer, "x")
    case = Case("integrate", f"Integrate[{integrand}, x]")
    r.shuffle(terms)
    case.same(integrand, derivative(plus(*terms), "x"), line("x", POSITIVE), "differentiated")
    clothes = r.choice([plus(*terms, expression(rational(r))), plus(*terms, symbol("c")), plus(*terms, Sqrt(expression(2)) * PI)])
    case.same(integrand, derivative(clothes, "x"), line("x", POSITIVE), "another constant of integration")
    case.pairs[0] = case.pairs[0].__class__("integrate", case.input, str(plus(*terms)), True, "differentiated", "")
    case.pairs[1] = case.pairs[1].__class__("integrate", case.input, str(clothes), True, "another constant of integration", "")
    for _ in range(2):
        wrong, how = mutated(terms, r)
        against = different(integrand, derivative(wrong, "x"), line("x", POSITIVE))
        case.wrong(wrong, how, against and f"integrand and derivative of the answer {against}")
    if r.random() < 0.2:
        held(case, answer)
    if r.random() < 0.1:
        case.wrong("Infinity", "not finite", "the derivative of a constant is 0, the integrand is not: " + str(different(integrand, ZERO, line("x", POSITIVE))))
    return case


def kinked(r: Random) -> Case:
    """Integrands with a step or a kink far out, where random points seldom fall."""
    a = r.choice([3, 5, 10, 50, 1000, 10**6, -7, -40, -(10**5)])
    u = X - a
    beyond = [{"x": Fraction(a) + d} for d in (Fraction(-5, 3), Fraction(5, 3), Fraction(-101, 2), Fraction(101, 2))]
    integrand, answer, wrongs = r.choice(
        [
            (UnitStep(u), u * UnitStep(u), [ZERO, X, u]),
            (Abs(u), u * Abs(u) / 2, [X**2 / 2 - a * X, a * X - X**2 / 2, Abs(u) ** 2 / 2]),
            (Sign(u), Abs(u), [u, -u, X]),
            (u * UnitStep(u), u**2 * UnitStep(u) / 2, [ZERO, u**2 / 2]),
            (X + UnitStep(u), X**2 / 2 + u * UnitStep(u), [X**2 / 2, X**2 / 2 + u]),
            (Cos(X) * UnitStep(u), (Sin(X) - Sin(expression(a))) * UnitStep(u), [ZERO, Sin(X)]),
            (apply("Max", X, a), X**2 / 2 * UnitStep(u) + (a * X - Fraction(a * a, 2)) * UnitStep(-u), [X**2 / 2, a * X]),
        ]
    )
    case = Case("integrate", f"Integrate[{integrand}, x]")
    if different(integrand, derivative(answer, "x"), beyond):
        raise UnsoundError(case.input)
    case.right(answer, "by cases")
    for wrong in wrongs:
        against = different(integrand, derivative(wrong, "x"), beyond)
        case.wrong(wrong, "right on one side only", against and f"integrand and derivative of the answer {against}")
    return case


def smooth(r: Random) -> Expression:
    """A sum of terms that are smooth on the whole line."""
    a, n = r.randint(1, 3), r.randint(1, 4)
    return plus(
        *(
            rational(r) * r.choice([X**n, Exp(-a * X), Sin(a * X), X * Cos(X), ArcTan(X / a), Exp(-(X**2)), Log(X**2 + a), Erf(X), X * Exp(X), Sqrt(X**2 + a)])
            for _ in range(r.choice([1, 2]))
        )
    )


def number(e: Expression) -> acb:
    return value(e, {})


def shifted(truth: Expression, r: Random) -> tuple[Expression, str]:
    """A constant that is not the truth."""
    choices: list[Callable[[], tuple[Expression, str]]] = [
        lambda: (-truth, "sign"),
        lambda: (truth * Fraction(r.choice([2, 3]), r.choice([1, 5])), "constant"),
        lambda: (truth + Fraction(1, 10 ** r.choice([3, 6, 12, 20])), "off by little"),
        lambda: (truth + PI, "off by a constant"),
        lambda: (truth * PI / 3, "constant"),
        lambda: (ZERO, "dropped branch"),
    ]
    return r.choice(choices)()


def constants(case: Case, truth: Expression, r: Random, count: int = 3) -> None:
    """Wrong values for an exact constant, and what is no number at all."""
    for _ in range(count):
        wrong, how = shifted(truth, r)
        case.unlike(truth, wrong, [{}], how)
    with precision():
        known = number(truth)
    if r.random() < 0.3:
        case.wrong("Infinity", "not finite", f"the value is {shown(known)}")
    if r.random() < 0.15:
        case.wrong("Indeterminate", "not finite", f"the value is {shown(known)}")
    if r.random() < 0.15:
        held(case, truth)


def definite(r: Random) -> Case:
    a = Fraction(r.randint(-4, 2), r.choice([1, 2]))
    b = a + Fraction(r.randint(1, 6), r.choice([1, 2]))
    primitive = smooth(r)
    integrand = derivative(primitive, "x")
    truth = substitute(primitive, "x", b) - substitute(primitive, "x", a)
    case = Case("integrate_definite", f"Integrate[{integrand}, {{x, {a}, {b}}}]")
    case.right(truth, "fundamental theorem")
    case.right(-(substitute(primitive, "x", a) - substitute(primitive, "x", b)), "fundamental theorem, turned round")
    constants(case, truth, r)
    return case


def known_definite(r: Random) -> Case:
    """Definite integrals with singular ends, infinite ranges or parameters, true by classical formulas."""
    a, n = r.randint(1, 7), r.randint(0, 5)
    factorial = 1
    for j in range(2, n + 1):
        factorial *= j
    choices: list[tuple[str, Expression]] = [
        (f"Integrate[x^{n} E^(-{a} x), {{x, 0, Infinity}}]", expression(Fraction(factorial, a ** (n + 1)))),
        (f"Integrate[1/(x^2 + {a}^2), {{x, -Infinity, Infinity}}]", PI / a),
        (f"Integrate[x^{n} Log[x], {{x, 0, 1}}]", expression(Fraction(-1, (n + 1) ** 2))),
        (f"Integrate[Log[x]^{n}, {{x, 0, 1}}]", expression((-1) ** n * factorial)),
        (f"Integrate[Exp[-{a} x^2], {{x, -Infinity, Infinity}}]", Sqrt(PI / a)),
        (f"Integrate[Exp[-{a} (x - 10^6)^2], {{x, -Infinity, Infinity}}]", Sqrt(PI / a)),
        (f"Integrate[Sin[{a} x]/x, {{x, 0, Infinity}}]", PI / 2),
        (f"Integrate[1/Sqrt[x], {{x, 0, {a}}}]", 2 * Sqrt(expression(a))),
        (f"Integrate[1/(x Sqrt[x]), {{x, {a}, Infinity}}]", 2 / Sqrt(expression(a))),
        (f"Integrate[Abs[x - {a}], {{x, 0, {2 * a}}}]", expression(a * a)),
        (f"Integrate[UnitStep[x - {10 * a}], {{x, 0, {10 * a + n + 1}}}]", expression(n + 1)),
        (f"Integrate[Floor[x], {{x, 0, {a + 1}}}]", expression(Fraction(a * (a + 1), 2))),
        (f"Integrate[Cos[{a} x]^2, {{x, 0, Pi}}]", PI / 2),
        (f"Integrate[Sqrt[{a}^2 - x^2], {{x, -{a}, {a}}}]", PI * Fraction(a * a, 2)),
        (f"Integrate[1/Sqrt[{a}^2 - x^2], {{x, -{a}, {a}}}]", PI),
        (f"Integrate[Exp[-x] Sin[{a} x], {{x, 0, Infinity}}]", expression(Fraction(a, 1 + a * a))),
        (f"Integrate[1/((x + {a}) (x + {a + 1})), {{x, 0, Infinity}}]", Log(expression(Fraction(a + 1, a)))),
        ("Integrate[Log[x]/(1 - x), {x, 0, 1}]", -(PI**2) / 6),
        ("Integrate[x/(E^x - 1), {x, 0, Infinity}]", PI**2 / 6),
        (f"Integrate[x^{n}, {{x, 0, {a}}}]", expression(Fraction(a ** (n + 1), n + 1))),
    ]
    text, truth = r.choice(choices)
    case = Case("integrate_definite", text)
    case.right(truth, "classical integral")
    constants(case, truth, r, 4)
    return case


def divergent(r: Random) -> Case:
    """An even pole inside the range: the integral is +Infinity, and Newton's formula across the pole is not it."""
    c, m = r.randint(-3, 3), r.choice([2, 4])
    a, b = c - r.randint(1, 3), c + r.randint(1, 3)
    integrand = (X - c) ** -m
    across = Fraction(1, (m - 1) * (a - c) ** (m - 1)) - Fraction(1, (m - 1) * (b - c) ** (m - 1))
    case = Case("integrate_definite", f"Integrate[{integrand}, {{x, {a}, {b}}}]")
    why = f"the integrand is positive with a pole of order {m} at x = {c}: the integral diverges to Infinity"
    case.wrong(expression(across), "Newton's formula across a pole", why)
    case.wrong(ZERO, "constant", why)
    case.wrong(expression(abs(across)), "sign", why)
    return case


def iterated(r: Random) -> Case:
    """Polynomial double integrals, also with a bound that is a free variable; exact."""
    p, q, c = r.randint(0, 3), r.randint(0, 3), small(r)
    b = r.randint(1, 4)
    outer_free = r.random() < 0.5
    x = symbol("x")
    if outer_free:  # the outer bound x is free, the inner x bound
        text = f"Integrate[{c} x^{p} y^{q}, {{y, 0, x}}, {{x, 0, {b}}}]"
        truth = expression(Fraction(c * b ** (p + 1), (p + 1) * (q + 1))) * x ** (q + 1)
        wrongs = [truth * x, -truth, truth * b, expression(Fraction(c * b ** (p + q + 2), (q + 1) * (p + q + 2)))]
        points = line("x")
    else:
        text = f"Integrate[{c} x^{p} y^{q}, {{x, 0, {b}}}, {{y, 0, x}}]"
        truth = expression(Fraction(c * b ** (p + q + 2), (q + 1) * (p + q + 2)))
        wrongs = [truth + 1, -truth, truth * 2, expression(Fraction(c * b ** (p + q + 2), (q + 1) * (p + 1)))]
        points = [{}]
    case = Case("integrate_definite", text)
    case.right(truth, "term by term")
    for wrong in wrongs:
        case.unlike(truth, wrong, points, "constant")
    return case


def numerical(r: Random) -> Case:
    """NIntegrate: decimals of an enclosed value, 6 or 16 digits, also of spikes that few samples see."""
    a, b = r.randint(-2, 1), r.randint(2, 5)
    spike = 10 ** r.choice([1, 2, 3])
    centre = Fraction(r.randint(1, 9), 10)
    width = expression(spike) * (X - centre)
    with precision():
        one_over = sine_of_reciprocal()
        if r.random() < 0.2:
            text, known = "NIntegrate[Sin[1/t], {t, 0, 1}]", one_over
        elif r.random() < 0.4:
            text = f"NIntegrate[{Exp(-(width**2))}, {{x, 0, 1}}]"
            known = number(Sqrt(PI) / (2 * spike) * (Erf(spike * expression(1 - centre)) + Erf(spike * expression(centre)))).real
        else:
            primitive = smooth(r)
            text = f"NIntegrate[{derivative(primitive, 'x')}, {{x, {a}, {b}}}]"
            known = number(substitute(primitive, "x", b) - substitute(primitive, "x", a)).real
        case = Case("nintegrate", text)
        if abs(known) < arb("1e-6"):
            return case
        case.right(digits(known, 16), "enclosed")
        if r.random() < 0.5:
            case.right(digits(known, 6), "enclosed, six digits")
        for factor, how in ((arb(-1), "sign"), (arb("1.01"), "one per cent"), (arb("0.5"), "constant"), (1 + arb(10) ** -3, "wrong in the 4th digit")):
            if r.random() < 0.6:
                case.wrong(digits(known * factor, 16), how, f"the value is {shown(acb(known))}")
        if r.random() < 0.3:
            case.wrong("Infinity", "not finite", f"the value is {shown(acb(known))}")
        if r.random() < 0.3:
            case.wrong("0.", "dropped branch", f"the value is {shown(acb(known))}")
    return case


def sine_of_reciprocal() -> arb:
    """Integral of Sin[1/t] over (0, 1): Sin[1] - CosIntegral[1] (by parts, DLMF 6.2)."""
    return arb(1).sin() - arb(1).ci()


def differentiated(r: Random) -> Case:
    f = plus(*primitives(r))
    order = r.choice([1, 1, 1, 2])
    truth = f
    for _ in range(order):
        truth = derivative(truth, "x")
    case = Case("derivative", f"D[{f}, x]" if order == 1 else f"D[{f}, {{x, {order}}}]")
    case.right(truth, "rules of calculus")
    terms = list(truth.args) if truth.head == "Plus" else [truth]
    for _ in range(3):
        wrong, how = mutated(terms, r)
        case.unlike(truth, wrong, line("x", POSITIVE), how)
    case.unlike(truth, f, line("x", POSITIVE), "the function itself")
    case.unlike(truth, truth * UnitStep(60 - X), line("x", POSITIVE), "right for x < 60 only")
    return case


def limits(r: Random) -> Case:
    a, b, n = r.randint(1, 6), r.randint(1, 6), r.randint(2, 4)
    slow = r.choice([3, 7, 20, 50])
    far = 10 ** r.choice([1, 3, 6])
    choices: list[tuple[str, Expression]] = [
        (f"Limit[Sin[{a} x]/({b} x), x -> 0]", expression(Fraction(a, b))),
        (f"Limit[(E^({a} x) - 1 - {a} x)/x^2, x -> 0]", expression(Fraction(a * a, 2))),
        (f"Limit[(1 - Cos[{a} x])/x^2, x -> 0]", expression(Fraction(a * a, 2))),
        (f"Limit[(1 + {a}/n)^({b} n), n -> Infinity]", Exp(expression(a * b))),
        (f"Limit[({a} x^{n} + x)/({b} x^{n} - {a}), x -> Infinity]", expression(Fraction(a, b))),
        (f"Limit[Sqrt[x^2 + {a} x] - x, x -> Infinity]", expression(Fraction(a, 2))),
        (f"Limit[Log[x] x^(1/{slow}), x -> 0]", ZERO),
        (f"Limit[Log[x]/x^(1/{slow}), x -> Infinity]", ZERO),
        (f"Limit[x^{n} E^(-x/{slow}), x -> Infinity]", ZERO),
        (f"Limit[ArcTan[x - {far}], x -> Infinity]", PI / 2),
        (f"Limit[{a} x/({far} + x), x -> Infinity]", expression(a)),
        (f"Limit[UnitStep[x - {far}], x -> Infinity]", ONE),
        (f'Limit[Abs[x - {a}]/(x - {a}), x -> {a}, Direction -> "FromAbove"]', ONE),
        (f'Limit[Abs[x - {a}]/(x - {a}), x -> {a}, Direction -> "FromBelow"]', expression(-1)),
        (f"Limit[(x^{n} - {a**n})/(x - {a}), x -> {a}]", expression(n * a ** (n - 1))),
        (f"Limit[(Log[1 + {a} x] - {a} x)/x^2, x -> 0]", expression(Fraction(-a * a, 2))),
        (f"Limit[{a} + 1/Log[x], x -> Infinity]", expression(a)),
        (f"Limit[x Sin[1/({a} x)], x -> Infinity]", expression(Fraction(1, a))),
        ("Limit[x Sin[1/x], x -> 0]", ZERO),
        (f"Limit[(Tan[{a} x] - {a} x)/x^3, x -> 0]", expression(Fraction(a**3, 3))),
        ("Limit[n^(1/n), n -> Infinity]", ONE),
    ]
    text, truth = r.choice(choices)
    case = Case("limit", text)
    case.right(truth, "expansion by hand")
    constants(case, truth, r, 2)
    for wrong in (ONE, -ONE, truth + Fraction(1, 10**6), E):
        if r.random() < 0.4:
            case.unlike(truth, wrong, [{}], "wrong limit")
    if truth == ZERO:
        case.wrong("-Infinity", "not finite", "the limit is 0")
    return case


def infinite_limits(r: Random) -> Case:
    a, n = r.randint(1, 5), r.choice([1, 2, 3])
    slow = r.choice([2, 5, 20])
    text, truth = r.choice(
        [
            (f"Limit[x^(1/{slow})/Log[x], x -> Infinity]", "Infinity"),
            ("Limit[Log[Log[x]], x -> Infinity]", "Infinity"),
            (f"Limit[1/(x - {a})^{2 * n}, x -> {a}]", "Infinity"),
            (f"Limit[-{a} x^{n} + 10^6, x -> Infinity]", "-Infinity"),
            (f'Limit[1/(x - {a}), x -> {a}, Direction -> "FromBelow"]', "-Infinity"),
            (f"Limit[x - {10**6} Log[x], x -> Infinity]", "Infinity"),
        ]
    )
    case = Case("limit", text)
    case.right(truth, "growth by hand")
    why = f"the function grows beyond all bounds towards {truth}"
    other = "-Infinity" if truth == "Infinity" else "Infinity"
    for wrong, how in (("0", "wrong limit"), (other, "sign"), (str(a), "wrong limit")):
        case.wrong(wrong, how, why)
    return case


def power_series(r: Random, order: int) -> tuple[Expression, fmpq_series]:
    """An analytic function at 0 and its exact expansion to the order (fmpq power series)."""
    x = fmpq_series([0, 1], prec=order)

    def basic() -> tuple[Expression, fmpq_series]:
        a = rational(r, 3)
        ax = fmpq_series([0, fmpq(a.numerator, a.denominator)], prec=order)
        one = fmpq_series([1], prec=order)
        choices: list[Callable[[], tuple[Expression, fmpq_series]]] = [
            lambda: (Exp(a * X), ax.exp()),
            lambda: (Sin(a * X), ax.sin()),
            lambda: (Cos(a * X), ax.cos()),
            lambda: (Log(1 + a * X), (one + ax).log()),
            lambda: (1 / (1 - a * X), one / (one - ax)),
            lambda: (ArcTan(a * X), ax.atan()),
            lambda: (Sqrt(1 + a * X), (one + ax).sqrt()),
            lambda: (1 + a * X**2, one + ax * x),
        ]
        return r.choice(choices)()

    f, s = basic()
    g, t = basic()
    return r.choice([(f, s), (f * g, s * t), (f + g, s + t)])


def fraction(q: fmpq) -> Fraction:
    return Fraction(int(q.p), int(q.q))


def series(r: Random) -> Case:
    order = r.randint(2, 6)
    f, s = power_series(r, order + 1)
    coefficients = [fraction(s[j]) for j in range(order + 1)]
    normal = r.random() < 0.4
    text = f"Series[{f}, {{x, 0, {order}}}]"
    case = Case("series", f"Normal[{text}]" if normal else text)

    def answer(c: list[Fraction]) -> str:
        polynomial = str(plus(*(times(expression(v), X**j) for j, v in enumerate(c))))
        if normal:
            return polynomial
        return f"{polynomial} + O[x]^{order + 1}"

    case.right(answer(coefficients), "exact power series")
    if not normal:
        inside = ", ".join(str(c) for c in coefficients)
        case.right(f"SeriesData[x, 0, {{{inside}}}, 0, {order + 1}, 1]", "exact power series, as data")
    for _ in range(3):
        wrong, j = list(coefficients), r.randrange(order + 1)
        how = r.choice(["sign", "constant", "off by little", "dropped branch"])
        wrong[j] = {"sign": -wrong[j], "constant": wrong[j] * 2, "off by little": wrong[j] + Fraction(1, 10**12), "dropped branch": Fraction(0)}[how]
        why = f"the coefficient of x^{j} is {coefficients[j]}, not {wrong[j]}" if wrong[j] != coefficients[j] else None
        case.wrong(answer(wrong), how, why)
    return case


def rational_integral(r: Random) -> Case:
    """Distinct real poles: partial fractions by construction."""
    poles = r.sample(range(-6, 7), r.choice([2, 2, 3]))
    weights = [small(r) for _ in poles]
    combined = plus(*(expression(w) / (X - p) for w, p in zip(weights, poles, strict=True)))
    numerator = fmpq_poly([0])
    for i, w in enumerate(weights):
        product = fmpq_poly([w])
        for j, p in enumerate(poles):
            if j != i:
                product *= fmpq_poly([-p, 1])
        numerator += product
    top = plus(*(expression(fraction(c)) * X**j for j, c in enumerate(numerator.coeffs())))
    integrand = top / times(*(X - p for p in poles))
    case = Case("integrate", f"Integrate[{integrand}, x]")
    if different(integrand, combined, plane("x")):
        raise UnsoundError(case.input)
    terms = [w * Log(X - p) for w, p in zip(weights, poles, strict=True)]
    case.right(plus(*terms), "partial fractions")
    case.right(plus(*(w * Log(p - X) for w, p in zip(weights, poles, strict=True))), "partial fractions, the other branch")
    for _ in range(3):
        wrong, how = mutated(terms, r)
        against = different(integrand, derivative(wrong, "x"), line("x", REAL))
        case.wrong(wrong, how, against and f"integrand and derivative of the answer {against}")
    return case


FAMILIES = [indefinite, kinked, rational_integral, definite, known_definite, divergent, iterated, numerical, differentiated, limits, infinite_limits, series]
