"""Rewriting: algebra by construction, and identities that hold only where they are said to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from flint import arb

from enclosure import digits, on_line, precision, shown, value
from expression import (
    ONE,
    PI,
    ZERO,
    Abs,
    ArcSin,
    ArcTan,
    Cos,
    Cosh,
    E,
    Exp,
    Expression,
    Floor,
    I,
    Log,
    N,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    UnitStep,
    X,
    Y,
    apply,
    expression,
    listed,
    plus,
    times,
)
from pair import COMPLEX, POSITIVE, Case, Where, grid, held, line, plane, rational, small

Polynomial = dict[tuple[int, int], Fraction]  # exponents of x and y


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for (i, j), c in a.items():
        for (k, m), d in b.items():
            product[i + k, j + m] = product.get((i + k, j + m), Fraction(0)) + c * d
    return {e: c for e, c in product.items() if c}


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for e, c in b.items():
        total[e] = total.get(e, Fraction(0)) + c
    return {e: c for e, c in total.items() if c}


def polynomial(p: Polynomial, r: Random | None = None) -> Expression:
    terms = [times(expression(c), X**i, Y**j) for (i, j), c in sorted(p.items(), reverse=True)]
    if r:
        r.shuffle(terms)
    return plus(*terms)


def random_factor(r: Random, variables: int = 2) -> Polynomial:
    p: Polynomial = {(0, 0): Fraction(small(r))}
    p[r.randint(1, 2), 0] = Fraction(small(r, 4))
    if variables == 2 and r.random() < 0.5:
        p[0, 1] = Fraction(small(r, 3))
    return p


def spoiled(p: Polynomial, r: Random) -> tuple[Polynomial, str]:
    """A polynomial with one coefficient wrong, or with a term that is zero at 1, 2, …, 12."""
    how = r.choice(["sign", "constant", "dropped branch", "off by one", "right at 1…12", "tiny"])
    wrong, e = dict(p), r.choice(sorted(p))
    if how == "sign":
        wrong[e] = -wrong[e]
    elif how == "constant":
        wrong[e] *= r.choice([Fraction(2), Fraction(3), Fraction(1, 2)])
    elif how == "dropped branch":
        del wrong[e]
    elif how == "off by one":
        wrong[e] += 1
    elif how == "tiny":
        wrong[e] += Fraction(1, 10**30)
    else:
        vanishing: Polynomial = {(0, 0): Fraction(1)}
        for j in range(1, 13):
            vanishing = multiply(vanishing, {(1, 0): Fraction(1), (0, 0): Fraction(-j)})
        wrong = add(wrong, vanishing)
    return {e: c for e, c in wrong.items() if c}, how


def expanded(r: Random) -> Case:
    factors = [random_factor(r) for _ in range(r.choice([2, 2, 3]))]
    product: Polynomial = {(0, 0): Fraction(1)}
    for f in factors:
        product = multiply(product, f)
    points = grid(["x", "y"], r)
    written = times(*(polynomial(f) for f in factors))
    head = r.choice(["Expand", "Factor", "Simplify", "FullSimplify", "ExpandAll", "Collect"])
    if head == "Factor":
        case = Case("rewrite", f"Factor[{polynomial(product)}]")
        case.same(polynomial(product), written, points, "multiplied out")
        r.shuffle(factors)
        case.same(polynomial(product), times(*(-polynomial(f) for f in factors)) * (-1) ** len(factors), points, "multiplied out, signs moved")
        for _ in range(3):
            wrong, how = spoiled(factors[0], r)
            case.unlike(written, times(polynomial(wrong), *(polynomial(f) for f in factors[1:])), points, how)
    else:
        case = Case("rewrite", f"{head}[{written}{', x' if head == 'Collect' else ''}]")
        case.same(written, polynomial(product, r), points, "multiplied out")
        for _ in range(3):
            wrong, how = spoiled(product, r)
            case.unlike(written, polynomial(wrong), points, how)
    if r.random() < 0.15:
        held(case, written)
    return case


def rational_functions(r: Random) -> Case:
    poles = r.sample(range(-6, 7), r.choice([2, 3]))
    weights = [small(r) for _ in poles]
    numerator: Polynomial = {}
    for i, w in enumerate(weights):
        part: Polynomial = {(0, 0): Fraction(w)}
        for j, p in enumerate(poles):
            if i != j:
                part = multiply(part, {(1, 0): Fraction(1), (0, 0): Fraction(-p)})
        numerator = add(numerator, part)
    fractions = [expression(w) / (X - p) for w, p in zip(weights, poles, strict=True)]
    joined = polynomial(numerator) / times(*(X - p for p in poles))
    points = plane("x")
    head = r.choice(["Apart", "Together", "Cancel", "Simplify"])
    if head == "Apart":
        case = Case("rewrite", f"Apart[{joined}]")
        case.same(joined, plus(*fractions), points, "partial fractions")
        for _ in range(3):
            i = r.randrange(len(fractions))
            wrong, how = r.choice([(-fractions[i], "sign"), (ZERO, "dropped branch"), (fractions[i] * 2, "constant"), (1 / (X - poles[i]) ** 2, "off by one")])
            case.unlike(joined, plus(*fractions[:i], wrong, *fractions[i + 1 :]), points, how)
    elif head == "Cancel":
        common = X**2 + small(r) * X + r.randint(1, 9)
        case = Case("rewrite", f"Cancel[({polynomial(numerator) * common})/({times(*(X - p for p in poles)) * common})]")
        case.same(joined, joined, points, "common factor")
        case.unlike(joined, joined * common, points, "factor left")
        case.unlike(joined, 1 / joined, points, "turned over")
        case.unlike(joined, joined + Fraction(1, 10**12), points, "tiny")
    else:
        case = Case("rewrite", f"{head}[{plus(*fractions)}]")
        case.same(plus(*fractions), joined, points, "common denominator")
        for _ in range(3):
            spoilt, how = spoiled(numerator, r)
            case.unlike(plus(*fractions), polynomial(spoilt) / times(*(X - p for p in poles)), points, how)
    return case


def trigonometric(r: Random) -> Case:
    a, b = r.randint(1, 4) * X, r.choice([Y, r.randint(1, 5) * Y, Fraction(1, 2) * X])
    table: list[tuple[str, Expression, Expression]] = [
        ("TrigExpand", Sin(a + b), Sin(a) * Cos(b) + Cos(a) * Sin(b)),
        ("TrigExpand", Cos(a + b), Cos(a) * Cos(b) - Sin(a) * Sin(b)),
        ("TrigExpand", Sin(3 * a), 3 * Cos(a) ** 2 * Sin(a) - Sin(a) ** 3),
        ("TrigExpand", Cos(2 * a), Cos(a) ** 2 - Sin(a) ** 2),
        ("TrigReduce", Sin(a) ** 2, (1 - Cos(2 * a)) / 2),
        ("TrigReduce", Cos(a) ** 2, (1 + Cos(2 * a)) / 2),
        ("TrigReduce", Sin(a) * Cos(b), (Sin(a + b) + Sin(a - b)) / 2),
        ("TrigReduce", Sin(a) ** 3, (3 * Sin(a) - Sin(3 * a)) / 4),
        ("TrigReduce", Cos(a) * Cos(b), (Cos(a - b) + Cos(a + b)) / 2),
        ("Simplify", Sin(a) ** 2 + Cos(a) ** 2, ONE),
        ("Simplify", Cosh(a) ** 2 - Sinh(a) ** 2, ONE),
        ("FullSimplify", Sin(a) ** 4 - Cos(a) ** 4, -Cos(2 * a)),
        ("FullSimplify", Tan(a) ** 2 + 1, Cos(a) ** -2),
        ("TrigToExp", Cos(a), (Exp(I * a) + Exp(-I * a)) / 2),
        ("ExpToTrig", Exp(I * a), Cos(a) + I * Sin(a)),
        ("TrigFactor", Sin(a) + Sin(b), 2 * Sin((a + b) / 2) * Cos((a - b) / 2)),
        ("Simplify", (Exp(a) - Exp(-a)) / 2, Sinh(a)),
        ("TrigExpand", Sinh(a + b), Sinh(a) * Cosh(b) + Cosh(a) * Sinh(b)),
    ]
    head, left, right = r.choice(table)
    points = grid(["x", "y"], r) + [{"x": c, "y": d} for c, d in zip(COMPLEX, reversed(COMPLEX), strict=True)]
    case = Case("rewrite", f"{head}[{left}]")
    case.same(left, right, points, "addition theorems")
    wrongs: list[tuple[Expression, str]] = [
        (-right, "sign"),
        (right + Fraction(1, 10**30), "tiny"),
        (right * 2, "constant"),
        (right + Sin(PI * X), "right at integers"),
    ]
    wrongs.append((right + UnitStep(X - 1000), "right for x < 1000 only"))
    if right.head == "Plus":
        wrongs.append((plus(-right.args[0], *right.args[1:]), "sign"))
    for wrong, how in r.sample(wrongs, 3):
        case.unlike(left, wrong, points, how)
    return case


Template = tuple[str, Expression, list[Expression], list[Expression], list[Where]]


def far(a: int | Fraction) -> list[Where]:
    return [{"x": Fraction(a) + d} for d in (Fraction(-7, 3), Fraction(-1, 5), Fraction(1, 5), Fraction(7, 3), Fraction(10**7))]


def templates(r: Random) -> list[Template]:
    """Input after the head, its value, right answers, wrong answers, and admissible points to tell them apart."""
    a, k, m = r.randint(2, 9), r.randint(2, 7), r.randint(2, 5)
    offset = r.choice([5, 17, 400, 10**6, 10**9])
    d = X - offset
    above: list[Where] = [p for p in far(offset) + line("x", POSITIVE) if isinstance(p["x"], Fraction) and p["x"] > 0]
    negative: list[Where] = line("x", [-v for v in POSITIVE])
    whole: list[Where] = [{"n": Fraction(v)} for v in (-40, -7, -1, 0, 1, 2, 3, 5, 18)]
    broken: list[Where] = [{"n": Fraction(v, 2)} for v in (-7, -1, 1, 3, 5)]
    pairs: list[Where] = [{"x": x, "y": y} for x in (Fraction(3), Fraction(-2), Fraction(-5, 7)) for y in (Fraction(2), Fraction(-7, 3))]
    upper: list[Where] = [{"x": Fraction(v, 10)} for v in (-15, -7, 0, 3, 15)]
    wrapped: list[Where] = [{"x": Fraction(v, 10)} for v in (16, 21, 31, 40, 47)]
    positive = line("x", POSITIVE)
    real = line("x")
    greater, less = apply("GreaterEqual", X, offset), apply("Less", X, offset)
    pieces = apply("Piecewise", listed([listed([offset - X, less])]), d)
    return [
        (f"{Abs(d)}, x > 0", Abs(d), [Abs(d), pieces, Abs(offset - X)], [d, offset - X], above),
        (f"{Abs(d)}, x > {offset}", Abs(d), [d, Sqrt(d**2)], [-d, X + offset], [p for p in far(offset) if isinstance(p["x"], Fraction) and p["x"] > offset]),
        (f"{Sqrt(d**2)}", Sqrt(d**2), [Sqrt((offset - X) ** 2)], [d, -d, Abs(d)], far(offset) + plane("x")),
        (f"{Sqrt(d**2)}, Element[x, Reals]", Sqrt(d**2), [Abs(d), pieces], [d, -d, Abs(X) - offset], far(offset)),
        (f"{Log(Exp(k * X))}", Log(Exp(k * X)), [Log(Exp(X) ** k)], [k * X], plane("x")),
        (f"{Log(Exp(k * X))}, Element[x, Reals]", Log(Exp(k * X)), [k * X], [-k * X, X], real[:4]),
        (f"{Sqrt(Exp(k * X))}", Sqrt(Exp(k * X)), [Exp(k * X) ** Fraction(1, 2)], [Exp(k * X / 2)], plane("x")),
        (f"{Sqrt(Exp(k * X))}, Element[x, Reals]", Sqrt(Exp(k * X)), [Exp(k * X / 2)], [Exp(k * X), -Exp(k * X / 2)], real[:4]),
        (f"{(X**k) ** Fraction(1, k)}", (X**k) ** Fraction(1, k), [(X**k) ** Fraction(1, k)], [X, -X, Abs(X)], plane("x")),
        (f"{(X**k) ** Fraction(1, k)}, x > 0", (X**k) ** Fraction(1, k), [X, Abs(X)], [-X, X**2], positive),
        (f"{ArcSin(Sin(X))}", ArcSin(Sin(X)), [ArcSin(Sin(X))], [X], real[:5]),
        (f"{ArcSin(Sin(X))}, -Pi/2 < x < Pi/2", ArcSin(Sin(X)), [X], [PI - X, -X], upper),
        (f"{ArcSin(Sin(X))}, Pi/2 < x < 3 Pi/2", ArcSin(Sin(X)), [PI - X], [X, X - PI], wrapped),
        (f"{ArcTan(Tan(X))}", ArcTan(Tan(X)), [ArcTan(Sin(X) / Cos(X))], [X], real[:5]),
        (f"{ArcTan(Tan(X))}, Pi/2 < x < 3 Pi/2", ArcTan(Tan(X)), [X - PI], [X, PI - X], wrapped),
        (f"{Log(X ** (2 * m))}", Log(X ** (2 * m)), [Log((X**m) ** 2)], [2 * m * Log(X)], plane("x")),
        (f"{Log(X**2)}, x < 0", Log(X**2), [2 * Log(-X), 2 * Log(Abs(X))], [2 * Log(X), Log(-X)], negative),
        (f"{Log(X * Y)}", Log(X * Y), [Log(Y * X)], [Log(X) + Log(Y)], pairs),
        (f"{Log(X * Y)}, x > 0", Log(X * Y), [Log(X) + Log(Y)], [Log(X) * Log(Y), Log(X) - Log(Y)], [p for p in pairs if p["x"] == 3]),
        (f"{Sqrt(X * Y)}", Sqrt(X * Y), [Sqrt(Y * X)], [Sqrt(X) * Sqrt(Y), -Sqrt(X) * Sqrt(Y)], pairs),
        (f"{Sqrt(X / Y)}", Sqrt(X / Y), [Sqrt(X * Y**-1)], [Sqrt(X) / Sqrt(Y)], pairs),
        (f"{Sin(k * PI * N)}", Sin(k * PI * N), [-Sin(-k * PI * N)], [ZERO, Sin(PI * N)], [{"n": Fraction(v, 13)} for v in (1, 5, 29, -4)]),
        (f"{Sin(k * PI * N)}, Element[n, Integers]", Sin(k * PI * N), [ZERO], [ONE, expression(-1) ** N], whole),
        (f"{Cos(PI * N)}, Element[n, Integers]", Cos(PI * N), [expression(-1) ** N], [ONE, -(expression(-1) ** N)], whole),
        (f"{Cos(PI * N)}", Cos(PI * N), [Cos(-PI * N)], [expression(-1) ** N, ONE], broken),
        (f"{apply('Max', X, offset)}, x > {2 * offset}", X, [X], [expression(offset), X + offset], [{"x": Fraction(3 * offset)}, {"x": Fraction(10**12)}]),
        (f"{apply('Max', X, offset)}, x > 0", apply("Max", X, offset), [(X + offset + Abs(d)) / 2], [X, expression(offset)], above),
        (f"{UnitStep(d)}, Element[x, Reals]", UnitStep(d), [apply("Piecewise", listed([listed([ONE, greater])]), ZERO)], [ZERO, ONE], far(offset)),
        (f"{Sign(d)}, x > {offset}", ONE, [ONE], [expression(-1), ZERO, X], [{"x": Fraction(offset + 1)}, {"x": Fraction(offset * 9)}]),
        (f"{Sign(d)}, x > 0", Sign(d), [-Sign(offset - X)], [ONE, expression(-1)], above),
        (f"{Floor(X)}, x > 0", Floor(X), [Floor(X)], [X, X - Fraction(1, 2)], positive),
        (f"{Floor(N + Fraction(1, 2))}, Element[n, Integers]", Floor(N + Fraction(1, 2)), [N], [N + 1, N + Fraction(1, 2)], whole),
        (f"{Abs(X) ** 2}", Abs(X) ** 2, [X * apply("Conjugate", X)], [X**2], [{"x": c} for c in COMPLEX]),
        (f"{Abs(X) ** 2}, Element[x, Reals]", Abs(X) ** 2, [X**2], [-(X**2), X], real),
        (f"{ArcTan(X) + ArcTan(1 / X)}", ArcTan(X) + ArcTan(1 / X), [ArcTan(1 / X) + ArcTan(X)], [PI / 2, -PI / 2], plane("x")),
        (f"{ArcTan(X) + ArcTan(1 / X)}, x > 0", PI / 2, [PI / 2], [-PI / 2, PI], positive),
        (f"{ArcTan(X) + ArcTan(1 / X)}, x < 0", -PI / 2, [-PI / 2], [PI / 2, ZERO], negative),
        (f"{Log(-X)}, x > 0", Log(-X), [Log(X) + I * PI], [Log(X) - I * PI, -Log(X), Log(X)], positive),
        (f"{Log(-X)}", Log(-X), [Log(-1 * X)], [Log(X) + I * PI], plane("x")),
        (f"{Sqrt(X - 1) * Sqrt(X + 1)}", Sqrt(X - 1) * Sqrt(X + 1), [Sqrt(1 + X) * Sqrt(-1 + X)], [Sqrt(X**2 - 1)], real),
        (f"{Sqrt(1 - X) * Sqrt(1 + X)}", Sqrt(1 - X) * Sqrt(1 + X), [Sqrt(1 - X**2)], [-Sqrt(1 - X**2), 1 - X**2], plane("x")),
        (f"{(X**a) ** Fraction(1, 2)}, x < 0", (X**a) ** Fraction(1, 2), [Sqrt(X**a)], [X * Abs(X) ** Fraction(a, 2)], negative),
        (f"{apply('Conjugate', X)}", apply("Conjugate", X), [apply("Re", X) - I * apply("Im", X)], [X, -X], [{"x": c} for c in COMPLEX]),
        (f"{apply('Re', X)}, Element[x, Reals]", X, [X], [ZERO, -X], real),
        (f"{Exp(X + 2 * PI * I)}", Exp(X), [Exp(X)], [Exp(X + I * PI), -Exp(X)], plane("x")[:8]),
        (
            f"{apply('Gamma', N + m) / apply('Gamma', N)}",
            apply("Gamma", N + m) / apply("Gamma", N),
            [times(*(N + j for j in range(m)))],
            [N**m, times(*(N + j + 1 for j in range(m)))],
            broken,
        ),
    ]


def assumptions(r: Random) -> Case:
    text, truth, rights, wrongs, points = r.choice(templates(r))
    head = r.choice(["Simplify", "FullSimplify", "Refine"] if ", " in text else ["Simplify", "FullSimplify"])
    case = Case("rewrite_assumptions", f"{head}[{text}]")
    for right in rights:
        case.same(truth, right, points, "under the assumptions" if ", " in text else "everywhere")
    for wrong in wrongs:
        case.unlike(truth, wrong, points, "right in part of the domain")
    return case


def power_expanded(r: Random) -> Case:
    """PowerExpand answers for positive variables."""
    a, b = r.randint(2, 5), r.randint(1, 4)
    left, right = r.choice(
        [
            (Log(X**a * Y**b), a * Log(X) + b * Log(Y)),
            (Sqrt(X**2 * Y), X * Sqrt(Y)),
            ((X * Y) ** Fraction(1, a), X ** Fraction(1, a) * Y ** Fraction(1, a)),
            (Log(X / Y), Log(X) - Log(Y)),
            (Log(E**X), X),
            ((X**a) ** Y, X ** (a * Y)),
        ]
    )
    values = [Fraction(1, 3), Fraction(2), Fraction(7, 3), Fraction(9)]
    points = grid(["x", "y"], r, 8, values)
    case = Case("rewrite_assumptions", f"PowerExpand[{left}]")
    case.same(left, right, points, "positive variables")
    for wrong, how in ((-right, "sign"), (right + 1, "constant"), (right * X, "off by one"), (right + Fraction(1, 10**25), "tiny")):
        case.unlike(left, wrong, points, how)
    return case


def exact_constants(r: Random) -> Case:
    """Exact numbers that twenty digits cannot tell apart."""
    p, q = r.sample([2, 3, 5, 7, 11, 13], 2)
    n = r.choice([15, 20, 25, 40])
    table: list[tuple[Expression, list[Expression], list[Expression]]] = [
        (
            Sqrt(p + q + 2 * Sqrt(expression(p * q))),
            [Sqrt(expression(p)) + Sqrt(expression(q))],
            [Sqrt(expression(p)) - Sqrt(expression(q)), Sqrt(expression(p)) + Sqrt(expression(q)) + Fraction(1, 10**30)],
        ),
        (Exp(PI * Sqrt(expression(163))), [E ** (Sqrt(expression(163)) * PI)], [expression(262537412640768744), expression(262537412640768743)]),
        (Exp(PI * Sqrt(expression(67))), [E ** (Sqrt(expression(67)) * PI)], [expression(147197952744)]),
        (expression(10**n + 1) ** 2, [expression(10 ** (2 * n) + 2 * 10**n + 1)], [expression(10 ** (2 * n)), expression(10 ** (2 * n) + 2 * 10**n)]),
        (1 + 1 / expression(10) ** n, [expression(1 + Fraction(1, 10**n))], [ONE, expression(1 + Fraction(1, 10 ** (n + 1)))]),
        (Sqrt(expression(10 ** (2 * n) + 1)), [(10 ** (2 * n) + expression(1)) ** Fraction(1, 2)], [expression(10**n), 10**n + expression(Fraction(1, 10**n))]),
        (Sin(expression(Fraction(1, 10**n))), [-Sin(expression(Fraction(-1, 10**n)))], [expression(Fraction(1, 10**n)), ZERO]),
        (Log(expression(p) ** q), [q * Log(expression(p))], [q * Log(expression(p)) + Fraction(1, 10**30), p * Log(expression(q))]),
        (Cos(PI / 5), [(1 + Sqrt(expression(5))) / 4, Cos(-PI / 5)], [(Sqrt(expression(5)) - 1) / 4, expression(Fraction(809016994, 10**9))]),
        (ArcTan(expression(1)), [PI / 4], [expression(Fraction(355, 452)), PI / 4 + Fraction(1, 10**50)]),
        (Sqrt(expression(2)) * Sqrt(expression(p * 2)), [2 * Sqrt(expression(p))], [Sqrt(expression(2 * p)), 2 * Sqrt(expression(p)) - Fraction(1, 10**35)]),
    ]
    left, rights, wrongs = r.choice(table)
    case = Case("rewrite", f"{r.choice(['Simplify', 'FullSimplify'])}[{left}]")
    for right in rights:
        case.same(left, right, [{}], "exact")
    for wrong in wrongs:
        case.unlike(left, wrong, [{}], "off by little")
    case.unlike(left, left + PI, [{}], "constant")
    with precision():
        case.wrong("Infinity", "not finite", f"the value is {shown(value(left, {}))}")
    return case


CONSTANT_MAKERS: list[Callable[[Random], Expression]] = [
    lambda r: PI ** r.randint(1, 6),
    lambda r: Exp(expression(rational(r, 9))),
    lambda r: Sqrt(expression(r.randint(2, 99))),
    lambda r: Log(expression(r.randint(2, 99))),
    lambda r: apply("Gamma", Fraction(r.randint(1, 9), r.choice([3, 4, 5]))),
    lambda r: apply("Zeta", r.randint(2, 9)),
    lambda r: apply("BesselJ", r.randint(0, 3), r.randint(1, 9)),
    lambda r: apply("Erf", Fraction(r.randint(1, 9), 4)),
    lambda r: Sin(expression(r.randint(1, 10**6))),
    lambda r: ArcTan(expression(rational(r))),
    lambda r: expression(rational(r, 10**6)),
    lambda r: Sinh(expression(rational(r))),
]


def scientific(x: arb, count: int) -> str:
    """d.ddd*^n, rounded to so many digits."""
    text = str(x.str(count + 30, radius=False))
    mantissa, _, exponent = text.partition("e")
    plain = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
    magnitude = len(str(abs(plain.numerator) // plain.denominator)) - 1
    return f"{digits(x / arb(10) ** magnitude, count)}*^{magnitude}"


def evaluated(r: Random) -> Case:
    """N to a number of digits, or to machine precision."""
    e = plus(*(r.choice(CONSTANT_MAKERS)(r) for _ in range(r.choice([1, 1, 2]))))
    n = r.choice([16, 20, 20, 30, 50, 100])
    machine = r.random() < 0.25
    count = 16 if machine else n
    case = Case("numeric_value", f"N[{e}]" if machine else f"N[{e}, {n}]")
    with precision(1024):
        known = on_line(value(e, {}))
        if abs(known) < arb("1e-3"):
            return case
        case.right(digits(known, count), "enclosed")
        if not machine:
            case.right(f"{digits(known, count)}`{count}.", "enclosed, with its precision")
        scale = abs(known)
        errors = [(4, "wrong 4th digit"), (9, "wrong 9th digit")] + ([] if machine else [(12, "wrong 12th digit"), (count - 2, "wrong in the last digits")])
        for places, how in errors:
            wrong = known + scale * arb(10) ** (1 - places) * r.choice([-1, 1]) * 2
            case.wrong(digits(wrong, count), how, f"the value is {known.str(min(count + 5, 60))}, the answer is off by 2 units of digit {places}")
        case.wrong(digits(-known, count), "sign", f"the value is {known.str(25)}")
        if r.random() < 0.3:
            case.wrong("Infinity", "not finite", f"the value is {known.str(25)}")
        if not machine and n > 20:
            case.wrong(digits(known + scale * arb(10) ** -14, count), "machine precision only", f"the value is {known.str(min(count + 5, 60))}")
    return case


def enormous(r: Random) -> Case:
    """Finite numbers beyond the range of machine numbers."""
    n = r.randint(171, 900)
    with precision(4096):
        text, known = r.choice(
            [
                (f"N[{n}!]", (arb(n) + 1).gamma()),
                (f"N[10^{n + 300}]", arb(10) ** (n + 300)),
                (f"N[2^{n * 8}]", arb(2) ** (n * 8)),
                (f"N[E^{n * 5}]", (arb(n) * 5).exp()),
                (f"N[{n}!, 20]", (arb(n) + 1).gamma()),
                (f"Simplify[{n}!*1.0]", (arb(n) + 1).gamma()),
            ]
        )
        case = Case("numeric_value", text)
        count = 20 if ", 20]" in text else 16
        case.right(scientific(known, count), "enclosed")
        why = f"the value is finite: {known.str(20)}"
        case.wrong("Infinity", "not finite", why)
        case.wrong("Indeterminate", "not finite", why)
        case.wrong("ComplexInfinity", "not finite", why)
        case.wrong(scientific(known * 10, count), "off by one", why)
        case.wrong(scientific(known * arb("1.0001"), count), "constant", why)
    return case


FAMILIES = [expanded, rational_functions, trigonometric, assumptions, power_expanded, exact_constants, evaluated, enormous, assumptions]
