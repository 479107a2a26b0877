"""Sums and products: telescoping by construction, and classical series; recurrences."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import acb, arb

from calculus import constants
from enclosure import different, digits, precision, shown
from expression import ONE, PI, ZERO, E, Expression, K, Log, N, Zeta, apply, expression, plus, rules, substitute, symbol, times
from pair import Case, Where, rational, small

WHOLE: list[Where] = [{"n": Fraction(v)} for v in (1, 2, 3, 5, 13, 20, 40)]


def telescoped(r: Random) -> tuple[Expression, str]:
    a, m, q = r.randint(1, 5), r.randint(1, 4), Fraction(r.choice(["2", "3", "1/2", "-1", "-2"]))
    return r.choice(
        [
            (rational(r) * K**m + small(r) * K, "polynomial"),
            (small(r) / (K + a), "rational"),
            (rational(r) * expression(q) ** K, "geometric"),
            (K * expression(q) ** K, "arithmetic and geometric"),
            (small(r) / ((K + a) * (K + a + 1)), "rational"),
        ]
    )


def finite(r: Random) -> Case:
    t, _ = telescoped(r)
    term = substitute(t, "k", K + 1) - t
    truth = substitute(t, "k", N + 1) - substitute(t, "k", ONE)
    case = Case("sum", f"Sum[{term}, {{k, 1, n}}]")
    case.right(truth, "telescoping")
    if t.head == "Plus" and different(term, plus(*(substitute(p, "k", K + 1) - p for p in t.args)), [{"k": Fraction(3)}]) is None:
        case.same(truth, plus(*(substitute(p, "k", N + 1) - substitute(p, "k", ONE) for p in t.args)), WHOLE, "telescoping, term by term")
    agreeing = times(*(N - j for j in range(1, 13)))
    wrongs = [
        (truth + agreeing, "right for n = 1…12"),
        (substitute(truth, "n", N - 1), "off by one"),
        (substitute(truth, "n", N + 1), "off by one"),
        (-truth, "sign"),
        (truth + Fraction(1, 10**30), "tiny"),
        (truth * N, "constant"),
    ]
    for wrong, how in r.sample(wrongs, 4):
        case.unlike(truth, wrong, WHOLE, how)
    return case


def definite(r: Random) -> Case:
    t, _ = telescoped(r)
    top = r.choice([10, 25, 100])
    term = substitute(t, "k", K + 1) - t
    truth = substitute(t, "k", expression(top + 1)) - substitute(t, "k", ONE)
    case = Case("sum", f"Sum[{term}, {{k, 1, {top}}}]")
    case.right(truth, "telescoping")
    constants(case, truth, r, 2)
    case.unlike(truth, substitute(t, "k", expression(top)) - substitute(t, "k", ONE), [{}], "off by one")
    return case


def zeta(s: int) -> Expression:
    return {2: PI**2 / 6, 4: PI**4 / 90, 6: PI**6 / 945}.get(s) or Zeta(s)


def infinite(r: Random) -> Case:
    a, b, q = r.randint(1, 9), r.randint(1, 5), r.randint(2, 7)
    s = r.choice([2, 4, 6])
    x = Fraction(r.randint(1, q - 1), q)
    table: list[tuple[str, Expression]] = [
        (f"1/((k + {a}) (k + {a + 1})), {{k, 1, Infinity}}", expression(Fraction(1, a + 1))),
        (f"({x})^k, {{k, 0, Infinity}}", expression(1 / (1 - x))),
        (f"k ({x})^k, {{k, 1, Infinity}}", expression(x / (1 - x) ** 2)),
        (f"1/k^{s}, {{k, 1, Infinity}}", zeta(s)),
        (f"{a}/k^{s}, {{k, {b + 1}, Infinity}}", a * (zeta(s) - sum((Fraction(1, j**s) for j in range(1, b + 1)), Fraction(0)))),
        ("(-1)^(k + 1)/k, {k, 1, Infinity}", Log(expression(2))),
        ("(-1)^k/(2 k + 1), {k, 0, Infinity}", PI / 4),
        (f"{a}^k/k!, {{k, 0, Infinity}}", E**a),
        ("Mod[k, 2]/k^2, {k, 1, Infinity}", PI**2 / 8),
        ("Cos[k]/k^2, {k, 1, Infinity}", PI**2 / 6 - PI / 2 + Fraction(1, 4)),
        ("Sin[k]/k, {k, 1, Infinity}", (PI - 1) / 2),
        (f"1/(k^2 + k), {{k, {a}, Infinity}}", expression(Fraction(1, a))),
        ("(2 + (-1)^k)/3^k, {k, 0, Infinity}", expression(Fraction(15, 4))),
        (f"(-1)^k ({x})^k, {{k, 0, Infinity}}", expression(1 / (1 + x))),
        ("(3 + (-1)^k)/k^2, {k, 1, Infinity}", 5 * PI**2 / 12),
        (f"UnitStep[k - {100 * a}]/2^(k - {100 * a}), {{k, 1, Infinity}}", expression(2)),
        ("1/k^2 - 1/(k + 10^6)^2, {k, 1, Infinity}", ZERO),
    ]
    text, truth = r.choice(table[:-1])
    case = Case("sum", f"Sum[{text}]")
    case.right(truth, "classical series")
    constants(case, truth, r, 4)
    return case


def divergent(r: Random) -> Case:
    a, b = r.randint(1, 9), r.randint(2, 9)
    text, why, infinite = r.choice(
        [
            (f"1/(k + {a})", "the harmonic series", True),
            (f"{b}^k", "terms grow", True),
            (f"1/({a} k + {b})", "above 1/((a + b) k)", True),
            (f"k^{a}/(k^{a + 1} + 1)", "above 1/(2 k)", True),
            ("1/Sqrt[k]", "above 1/k", True),
            (f"Log[1 + {a}/k]", "telescoping: Log[n + 1] at least", True),
        ]
    )
    case = Case("sum", f"Sum[{text}, {{k, 1, Infinity}}]")
    if infinite:
        case.right("Infinity", "divergent")
    for wrong in ("0", str(b), "-Infinity", "Pi^2/6"):
        case.wrong(wrong, "divergent", f"the series diverges to Infinity: {why}")
    return case


def numerical(r: Random) -> Case:
    p, a = r.choice([Fraction(11, 10), Fraction(3, 2), Fraction(6, 5), Fraction(101, 100), Fraction(2), Fraction(5, 2), Fraction(3)]), r.randint(1, 5)
    with precision():
        pb = arb(p.numerator) / p.denominator
        text, known = r.choice(
            [
                (f"1/k^({p}), {{k, 1, Infinity}}", pb.zeta()),
                (f"1/(k + {a})^({p}), {{k, 0, Infinity}}", pb.zeta(arb(a))),
                ("Cos[k]/k^2, {k, 1, Infinity}", arb.pi() ** 2 / 6 - arb.pi() / 2 + arb(1) / 4),
                (f"(-1)^k/(k + {a}), {{k, 0, Infinity}}", ((arb(a) + 1) / 2).digamma() / 2 - (arb(a) / 2).digamma() / 2),
                (f"1/(k^2 + {a}^2), {{k, 1, Infinity}}", (arb.pi() * a * (arb.pi() * a).coth() - 1) / (2 * a * a)),
                (f"{a}/2^k, {{k, 0, Infinity}}", arb(2 * a)),
                ("Mod[k, 2]/k^2, {k, 1, Infinity}", arb.pi() ** 2 / 8),
            ]
        )
        case = Case("nsum", f"NSum[{text}]")
        case.right(digits(known, 16), "enclosed")
        case.right(digits(known, 6), "enclosed, six digits")
        for factor, how in ((arb("1.001"), "wrong 4th digit"), (arb("-1"), "sign"), (arb("0.9"), "truncated"), (arb("1.01"), "one per cent")):
            case.wrong(digits(known * factor, 16), how, f"the sum is {shown(acb(known))}")
        case.wrong("Infinity", "not finite", f"the sum is {shown(acb(known))}")
    return case


def products(r: Random) -> Case:
    a, q = r.randint(1, 6), r.randint(2, 6)
    choice = r.randrange(3)
    if choice == 0:
        term, truth = r.choice(
            [
                ((K + a + 1) / (K + a), (N + a + 1) / expression(a + 1)),
                (expression(q) ** K, expression(q) ** (N * (N + 1) / 2)),
                (K * (K + 2) / (K + 1) ** 2, (N + 2) / (2 * (N + 1))),
                (expression(q) * ONE, expression(q) ** N),
                (q * K, expression(q) ** N * apply("Factorial", N)),
            ]
        )
        case = Case("product", f"Product[{term}, {{k, 1, n}}]")
        case.right(truth, "telescoping")
        agreeing = times(*(N - j for j in range(1, 13)))
        for wrong, how in (
            (truth + agreeing, "right for n = 1…12"),
            (substitute(truth, "n", N + 1), "off by one"),
            (-truth, "sign"),
            (truth + Fraction(1, 10**20), "tiny"),
        ):
            case.unlike(truth, wrong, WHOLE, how)
        return case
    if choice == 1:
        text, truth = r.choice(
            [
                ("1 - 1/k^2, {k, 2, Infinity}", expression(Fraction(1, 2))),
                (f"1 - {a * a}/k^2, {{k, {a + 1}, Infinity}}", expression(Fraction(1, binomial(2 * a, a)))),
                ("1 - 1/(4 k^2), {k, 1, Infinity}", 2 / PI),
                ("1 + 1/(k (k + 2)), {k, 1, Infinity}", expression(2)),
                (f"{q}^(1/2^k), {{k, 1, Infinity}}", expression(q)),
                ("(k^3 - 1)/(k^3 + 1), {k, 2, Infinity}", expression(Fraction(2, 3))),
            ]
        )
    else:
        text, truth = f"(k + {a})/(k + {a + 1}), {{k, 1, {10 * q}}}", expression(Fraction(a + 1, a + 1 + 10 * q))
    case = Case("product", f"Product[{text}]")
    case.right(truth, "telescoping")
    constants(case, truth, r, 3)
    return case


def binomial(n: int, k: int) -> int:
    value = 1
    for j in range(k):
        value = value * (n - j) // (j + 1)
    return value


def recurrences(r: Random) -> Case:
    p, q = r.sample([v for v in (-3, -2, 2, 3, 4, 5) if v], 2)
    c1, c2 = symbol("C[1]"), symbol("C[2]")
    general = c1 * expression(p) ** N + c2 * expression(q) ** N
    equation = f"a[n + 2] == {p + q} a[n + 1] - ({p * q}) a[n]"
    if r.random() < 0.5:
        case = Case("rsolve", f"RSolve[{equation}, a[n], n]")

        def answer(e: Expression) -> str:
            return rules([{"a[n]": e}])

        case.right(answer(general), "roots of the characteristic equation")
        case.right(answer(symbol("u") * expression(q) ** N + symbol("v") * expression(p) ** N), "other names, another order")
        case.right(answer((c1 + c2) * expression(p) ** N + (c1 - c2) * expression(q) ** N), "another basis")
        case.wrong(answer(c1 * expression(p) ** N), "dropped branch", f"({q})^n is a solution, and no multiple of ({p})^n")
        case.wrong(answer((c1 + c2) * expression(p) ** N), "one constant in fact", f"({q})^n is a solution, and no multiple of ({p})^n")
        case.wrong(answer(expression(p) ** N + expression(q) ** N), "no constants", f"({p})^n is a solution and is not this one")
        case.wrong(answer(ZERO), "zero", f"({p})^n is a solution and is not 0")
        for s in (p + 1, q + 1):
            if s not in (p, q, 0):
                case.wrong(
                    answer(c1 * expression(s) ** N + c2 * expression(q if s == p + 1 else p) ** N),
                    "off by one",
                    f"{s}^2 - {p + q}*{s} + {p * q} = {s * s - (p + q) * s + p * q}",
                )
        case.wrong(
            f"{{{{a[n] -> {c1 * expression(p) ** N}}}, {{a[n] -> {c2 * expression(q) ** N}}}}}",
            "two halves",
            f"({p})^n + ({q})^n is a solution and in neither half",
        )
        return case
    u, v = small(r), small(r)
    truth = u * expression(p) ** N + v * expression(q) ** N
    case = Case("rsolve", f"RSolve[{{{equation}, a[0] == {u + v}, a[1] == {u * p + v * q}}}, a[n], n]")
    case.right(rules([{"a[n]": truth}]), "roots of the characteristic equation")
    case.right(f"{{{{a -> Function[{{n}}, {truth}]}}}}", "as a function")
    agreeing = times(*(N - j for j in range(13)))
    for wrong, how in (
        (truth + agreeing, "right for n = 0…12"),
        (-truth, "sign"),
        (substitute(truth, "n", N + 1), "off by one"),
        (u * expression(p) ** N, "dropped branch"),
        (general, "conditions ignored"),
    ):
        case.wrong(rules([{"a[n]": wrong}]), how, different(truth, substitute(substitute(wrong, "C[1]", u + 1), "C[2]", v), WHOLE))
    return case


FAMILIES = [finite, finite, definite, infinite, infinite, divergent, numerical, products, recurrences]
