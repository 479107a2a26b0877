"""Solve, NSolve, FindRoot, Roots, Reduce and Eliminate: equations made from their solutions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import acb, arb, fmpq_poly, fmpz_poly

from enclosure import NotEnclosedError, apart, digits, precision, shown, value
from expression import (
    PI,
    ArcSin,
    ArcTan,
    Cos,
    Exp,
    Expression,
    I,
    Log,
    Sin,
    Sqrt,
    Tan,
    X,
    Y,
    apply,
    expression,
    plus,
    rules,
    substitute,
    symbol,
)
from pair import Case, rational, small


def enclosed(e: Expression) -> acb:
    return value(e, {})


def coefficients(roots: list[Fraction]) -> list[int]:
    """The integer polynomial with these roots, lowest coefficient first."""
    p = fmpq_poly([1])
    for root in roots:
        p *= fmpq_poly([-root.numerator, root.denominator])
    return [int(c.p) for c in p.coeffs()]


def from_coefficients(c: list[int]) -> Expression:
    return plus(*(expression(v) * X**j for j, v in reversed(list(enumerate(c)))))


def conjugates(r: Random) -> tuple[list[Expression], list[int], str]:
    """Two conjugate quadratic numbers and their integer polynomial x^2 - 2 p x + p^2 - q."""
    p, q = r.randint(-4, 4), r.choice([2, 3, 5, 7, -1, -4, -2])
    radical = Sqrt(expression(q)) if q > 0 else I * Sqrt(expression(-q))
    return [p - radical, p + radical], [p * p - q, -2 * p, 1], "quadratic"


def missing(root: Expression, listed: list[Expression]) -> str | None:
    """Why a root is not in the list."""
    with precision():
        wanted = enclosed(root)
        if all(apart(wanted, enclosed(e)) for e in listed):
            return f"x = {root} = {shown(wanted)} makes the equation true and is not in the answer"
    return None


def no_root(c: list[int], x: Expression) -> str | None:
    """Why x is no root of the polynomial."""
    with precision():
        at = enclosed(x)
        residual = acb(0)
        for v in reversed(c):
            residual = residual * at + v
        return f"x = {x} leaves {shown(residual)}" if apart(residual, acb(0)) else None


def polynomial_equation(r: Random) -> Case:
    roots = [rational(r, 7) for _ in range(r.choice([1, 2, 2, 3]))]
    answers: list[Expression] = [expression(v) for v in dict.fromkeys(roots)]
    c = coefficients(roots)
    real = r.random() < 0.2
    if r.random() < 0.6:
        pair, quadratic, _ = conjugates(r)
        c = [int(v) for v in (fmpz_poly(c) * fmpz_poly(quadratic)).coeffs()]
        if not real or quadratic[1] ** 2 > 4 * quadratic[0]:
            answers += pair
    every = answers
    left = from_coefficients(c)
    moved = left.head == "Plus" and r.random() < 0.3
    text = f"{plus(*left.args[:-1])} == {-left.args[-1]}" if moved else f"{left} == 0"
    head = r.choice(["Solve", "Solve", "Solve", "Roots", "NSolve", "Reduce", "SolveValues"])
    case = Case(
        head.lower() if head != "SolveValues" else "solve", f"{head}[{text}, x{', Reals' if real and head in ('Solve', 'Reduce', 'SolveValues') else ''}]"
    )
    if real and head in ("Roots", "NSolve"):
        return Case(case.family, case.input)

    def answer(values: list[Expression]) -> str:
        if head in ("Roots", "Reduce"):
            return " || ".join(f"x == {v}" for v in values) if values else "False"
        if head == "SolveValues":
            return "{" + ", ".join(map(str, values)) + "}"
        if head == "NSolve":
            return rules({"x": approximate(v)} for v in values)
        return rules({"x": v} for v in values)

    r.shuffle(every)
    case.right(answer(every), "product of linear factors")
    case.right(answer(every[::-1]), "another order")
    for i in r.sample(range(len(every)), min(2, len(every))):
        rest = every[:i] + every[i + 1 :]
        case.wrong(answer(rest), "dropped branch", missing(every[i], rest))
        case.wrong(answer([*rest, -every[i]]), "sign", no_root(c, -every[i]))
        if len(every) > 1:
            doubled = [*rest, rest[0]]
            case.wrong(answer(doubled), "one root twice, another missing", missing(every[i], doubled))
    extra = expression(rational(r, 9))
    if head in ("NSolve",):
        case.wrong(answer([*every, extra + 100]), "extraneous root", no_root(c, extra + 100))
        shifted = every[0] + Fraction(1, 1000)
    else:
        case.wrong(answer([*every, extra]), "extraneous root", no_root(c, extra))
        shifted = every[0] + Fraction(1, 10 ** r.choice([3, 12, 30]))
    case.wrong(answer([shifted, *every[1:]]), "off by little", no_root(c, shifted))
    if head == "Solve" and r.random() < 0.2:
        case.wrong(f"Hold[{answer(every)}]", "held", "a held list is no list of solutions")
    return case


def approximate(e: Expression) -> str:
    """A decimal of 16 digits, real or complex."""
    with precision():
        z = enclosed(e)
        if z.imag == 0:
            return digits(z.real, 16)
        real = "0." if z.real == 0 else digits(z.real, 16)
        return f"{real} + ({digits(z.imag, 16)})*I"


def symbolic_equation(r: Random) -> Case:
    k, m = r.randint(1, 6), small(r)
    a, b, c = symbol("a"), symbol("b"), symbol("c")
    text, rights, wrongs = r.choice(
        [
            ("a x + b == 0", [[-b / a]], [[b / a], [-a / b], []]),
            (f"a x^2 - {k} == 0", [[Sqrt(k / a), -Sqrt(k / a)]], [[Sqrt(k / a)], [Sqrt(a / k), -Sqrt(a / k)]]),
            (
                "x^2 + b x + c == 0",
                [[(-b + Sqrt(b**2 - 4 * c)) / 2, (-b - Sqrt(b**2 - 4 * c)) / 2]],
                [[(-b + Sqrt(b**2 - 4 * c)) / 2], [(b + Sqrt(b**2 - 4 * c)) / 2, (b - Sqrt(b**2 - 4 * c)) / 2]],
            ),
            (f"(x - a) (x - b) (x - {k}) == 0", [[a, b, expression(k)], [b, expression(k), a]], [[a, b], [a, expression(k)], [a, -b, expression(k)]]),
            (f"x^2 == a^2 + {2 * m} a + {m * m}", [[a + m, -a - m]], [[a + m], [a - m, -a + m]]),
            (f"{k} x == a + b c", [[(a + b * c) / k]], [[a / k + b * c], [(a - b * c) / k]]),
        ]
    )
    case = Case("solve", f"Solve[{text}, x]")
    at = {"a": acb(2), "b": acb(7), "c": acb(3)}
    with precision():
        truth = [value(e, at) for e in rights[0]]
        for right in rights:
            case.right(rules({"x": e} for e in right), "by hand")
        for wrong in wrongs:
            listed = [value(e, at) for e in wrong]
            lost = [t for t in truth if all(apart(t, v) for v in listed)]
            false = [v for v in listed if all(apart(t, v) for t in truth)]
            why = (
                f"at a = 2, b = 7, c = 3 the solution {shown(lost[0])} is missing"
                if lost
                else f"at a = 2, b = 7, c = 3 the value {shown(false[0])} is no solution"
                if false
                else None
            )
            case.wrong(rules({"x": e} for e in wrong), "dropped branch or sign", why)
    return case


def family_answer(bases: list[Expression], period: Expression, name: str = "C[1]", domain: str = "Integers") -> str:
    return rules({"x": f"ConditionalExpression[{base + period * symbol(name)}, Element[{name}, {domain}]]"} for base in bases)


def unreached(solution: Expression, bases: list[Expression], period: Expression) -> str | None:
    """Why a solution is none of base + period * integer."""
    with precision():
        for base in bases:
            steps = (enclosed(solution) - enclosed(base)) / enclosed(period)
            if steps.imag.contains(0) and steps.real.contains_integer():
                return None
        return f"x = {solution} makes the equation true, and is at no whole number of periods from any solution of the answer"


def periodic_equation(r: Random) -> Case:
    k = r.randint(1, 4)
    value_of = expression(r.choice([Fraction(1, 2), Fraction(1, 3), Fraction(-1, 4), Fraction(2, 5)]))
    u = k * X
    two_pi = 2 * PI / k
    q = r.randint(2, 9)
    text, bases, period, residual = r.choice(
        [
            (f"{Sin(u)} == {value_of}", [ArcSin(value_of) / k, (PI - ArcSin(value_of)) / k], two_pi, Sin(u) - value_of),
            (f"{Cos(u)} == {value_of}", [apply("ArcCos", value_of) / k, -apply("ArcCos", value_of) / k], two_pi, Cos(u) - value_of),
            (f"{Tan(u)} == {q}", [ArcTan(expression(q)) / k], PI / k, Tan(u) - q),
            (f"{Exp(u)} == {q}", [Log(expression(q)) / k], two_pi * I, Exp(u) - q),
            (f"{Exp(u)} == -{q}", [(Log(expression(q)) + PI * I) / k], two_pi * I, Exp(u) + q),
            (f"{Sin(u)} == 0", [expression(0), PI / k], two_pi, Sin(u)),
            (f"{Cos(u)} == 0", [PI / (2 * k), -PI / (2 * k)], two_pi, Cos(u)),
            (f"{q}^x == {q + 1}", [Log(expression(q + 1)) / Log(expression(q))], 2 * PI * I / Log(expression(q)), expression(q) ** X - (q + 1)),
        ]
    )
    case = Case("solve_periodic", f"Solve[{text}, x]")
    case.right(family_answer(bases, period), "principal value and period")
    case.right(family_answer([b + period for b in bases[::-1]], period), "a period further, another order")
    case.right(family_answer([b - 3 * period for b in bases], -period, "C[2]"), "another constant, period turned round")
    if text.endswith("== 0"):
        case.right(family_answer(bases[:1], period / 2), "one family for both")
    for n, base in enumerate(bases):
        rest = bases[:n] + bases[n + 1 :]
        if rest:
            case.wrong(family_answer(rest, period), "dropped branch", unreached(base, rest, period))
    case.wrong(family_answer(bases, period * 2), "period doubled", unreached(bases[0] + period, bases, period * 2))
    third = substitute(residual, "x", bases[0] + period / 3)
    for wrong, how in ((family_answer(bases, period / 3), "period a third"), (family_answer(bases, period, "C[1]", "Reals"), "the constant real")):
        with precision():
            left = enclosed(third)
            case.wrong(wrong, how, f"x = {bases[0] + period / 3} is in the answer and leaves {shown(left)}" if apart(left, acb(0)) else None)
    case.wrong(rules([]), "dropped branch", f"x = {bases[0]} makes the equation true")
    moved = [b + Fraction(1, 10**20) for b in bases]
    with precision():
        left = enclosed(substitute(residual, "x", moved[0]))
        case.wrong(family_answer(moved, period), "off by little", f"x = {moved[0]} leaves {shown(left)}" if apart(left, acb(0)) else None)
    return case


def special_equation(r: Random) -> Case:
    """Equations that are always or never true, poles, and roots that squaring adds."""
    k, q = r.randint(1, 9), r.randint(2, 6)
    s = r.randint(2, 6)
    b = s * s - r.randint(0, 3)  # Sqrt[x + c] == x - b at x = b + s where c = s^2 - s - b
    root, c = b + s, s * s - s - b
    choice = r.randrange(6)
    if choice == 0:
        case = Case("solve", f"Solve[{k} x == {k} x, x]")
        case.right("{{}}", "true for every x")
        case.wrong("{}", "dropped branch", "x = 0 makes the equation true")
        case.wrong("{{x -> 0}}", "dropped branch", "x = 1 makes the equation true and is not in the answer")
    elif choice == 1:
        case = Case("solve", f"Solve[x + {k} == x, x]")
        case.right("{}", f"{k} is not 0")
        case.wrong("{{}}", "extraneous root", f"x = 0 leaves {k}")
        case.wrong(f"{{{{x -> {k}}}}}", "extraneous root", f"x = {k} leaves {k}")
    elif choice == 2:
        case = Case("solve", f"Solve[{k}/(x - {q}) == 0, x]")
        case.right("{}", "a reciprocal is never 0")
        case.wrong("{{x -> Infinity}}", "not finite", "Infinity is no number: the equation has no solution")
        case.wrong(f"{{{{x -> {q}}}}}", "extraneous root", f"x = {q} divides by zero")
        case.wrong("{{x -> 10^30}}", "extraneous root", f"x = 10^30 leaves {k}/(10^30 - {q}), not 0")
    elif choice == 3:
        case = Case("solve", f"Solve[Sqrt[x + {c}] == x - {b}, x]".replace("+ -", "- "))
        other = b + (1 - s)  # the root of the squared equation with Sqrt = 1 - s < 0
        case.right(f"{{{{x -> {root}}}}}", "squared and tried")
        case.wrong(f"{{{{x -> {root}}}, {{x -> {other}}}}}", "extraneous root", f"x = {other}: the root is {s - 1}, the other side {1 - s}")
        case.wrong(f"{{{{x -> {other}}}}}", "extraneous root", f"x = {other}: the root is {s - 1}, the other side {1 - s}")
        case.wrong("{}", "dropped branch", f"x = {root} makes the equation true")
    elif choice == 4:
        case = Case("solve", f"Solve[{r.choice(['Exp[x] == 0', f'{k + 1}/x == 1/x', f'{k} E^(-x) == 0', f'1/(x^2 + {k}) == 0'])}, x]")
        case.right("{}", "never true")
        case.wrong("{{x -> -Infinity}}", "not finite", "-Infinity is no number: the equation has no solution")
        case.wrong("{{x -> 0}}", "extraneous root", "x = 0 is no solution")
    else:
        case = Case("solve", f"Solve[Abs[x - {k}] == {q}, x, Reals]")
        case.right(f"{{{{x -> {k - q}}}, {{x -> {k + q}}}}}", "by cases")
        case.wrong(f"{{{{x -> {k + q}}}}}", "dropped branch", f"x = {k - q} makes the equation true")
        case.wrong(
            f"{{{{x -> {k + q}}}, {{x -> {q - k - 1}}}}}", "sign", f"x = {q - k - 1} leaves {abs(q - 2 * k - 1) - q}" if abs(q - 2 * k - 1) != q else None
        )
    return case


def systems(r: Random) -> Case:
    """Systems with isolated solutions or with curves of them."""
    a, b = r.sample([v for v in range(-6, 7) if v], 2)
    p, q, s, t = (small(r) for _ in range(4))
    choice = r.randrange(5)
    if choice == 0:
        if p * t == q * s:
            return Case("solve_system", "")
        case = Case("solve_system", f"Solve[{{{p * X + q * Y} == {p * a + q * b}, {s * X + t * Y} == {s * a + t * b}}}, {{x, y}}]")
        case.right(rules([{"x": a, "y": b}]), "multiplied out")
        case.right(rules([{"y": b, "x": a}]), "another order")
        for x, y, how in ((b, a, "exchanged"), (-a, b, "sign"), (a, b + 1, "off by one")):
            left = p * x + q * y - p * a - q * b, s * x + t * y - s * a - t * b
            case.wrong(rules([{"x": x, "y": y}]), how, f"leaves {left}" if any(left) else None)
        case.wrong(rules([{"x": a}]), "dropped branch", f"x = {a}, y = {b + 1} is in the answer and leaves {q}, {t}")
        case.wrong("{}", "dropped branch", f"x = {a}, y = {b} makes it true")
        tiny = Fraction(1, 10**30)
        case.wrong(rules([{"x": a + tiny, "y": b}]), "off by little", f"leaves {p}*10^-30, {s}*10^-30")
    elif choice == 1:
        case = Case("solve_system", f"Solve[{{x + y == {a + b}, x y == {a * b}}}, {{x, y}}]")
        both = [{"x": a, "y": b}, {"x": b, "y": a}]
        case.right(rules(both), "sum and product")
        case.right(rules(both[::-1]), "another order")
        case.wrong(rules(both[:1]), "dropped branch", f"x = {b}, y = {a} makes it true")
        case.wrong(rules([*both, {"x": a, "y": b + 1}]), "extraneous root", f"x = {a}, y = {b + 1} leaves 1")
        case.wrong(rules([{"x": a, "y": b}, {"x": -b, "y": -a}]), "sign", f"x = {-b}, y = {-a} leaves {-2 * (a + b)}" if a + b else None)
    elif choice == 2:
        case = Case("solve_system", f"Solve[{(X - a) * (Y - b)} == 0, {{x, y}}]")
        case.right(rules([{"x": a}, {"y": b}]), "two lines")
        case.right(rules([{"y": b}, {"x": a}]), "two lines, another order")
        case.wrong(rules([{"x": a}]), "dropped branch", f"x = {a + 1}, y = {b} makes it true and is not in the answer")
        case.wrong(rules([{"y": b}]), "dropped branch", f"x = {a}, y = {b + 1} makes it true and is not in the answer")
        case.wrong(rules([{"x": a, "y": b}]), "dropped branch", f"x = {a}, y = {b + 1} makes it true and is not in the answer")
        case.wrong(rules([{"x": b}, {"y": a}]), "exchanged", f"x = {b}, y = {a + b + 50}: leaves {(b - a) * (a + 50)}" if (b - a) * (a + 50) else None)
    elif choice == 3:
        n, d = a * a + b * b, a - b
        case = Case("solve_system", f"Solve[{{x^2 + y^2 == {n}, x - y == {d}}}, {{x, y}}]")
        both = [{"x": a, "y": b}, {"x": -b, "y": -a}] if a != -b else [{"x": a, "y": b}]
        case.right(rules(both), "line and circle")
        if len(both) == 2:
            case.wrong(rules(both[1:]), "dropped branch", f"x = {a}, y = {b} makes it true")
        case.wrong(rules([{"x": b, "y": a}]), "exchanged", f"x - y is {b - a}, not {a - b}")
    else:
        case = Case("solve_system", f"Solve[{X + q * Y} == {p}, {{x, y}}]")
        case.right(rules([{"x": p - q * Y}]), "one line, x by y")
        case.right(rules([{"y": (p - X) / q}]), "one line, y by x")
        case.wrong(rules([{"x": p, "y": 0}]), "dropped branch", f"x = {p - q}, y = 1 makes it true and is not in the answer")
        case.wrong(rules([{"x": p + q * Y}]), "sign", f"y = 1, x = {p + q} leaves {2 * q}")
    return case


def found_root(r: Random) -> Case:
    q = r.randint(2, 40)
    residual, root, start = r.choice(
        [
            (X**2 - q, Sqrt(expression(q)), q),
            (Exp(X) - q, Log(expression(q)), 1),
            (X**3 - q, expression(q) ** Fraction(1, 3), q),
            (Log(X) - q % 5, Exp(expression(q % 5)), q),
            (Tan(X) - q, ArcTan(expression(q)), 1),
            (X - (10**6 + q), expression(10**6 + q), 1),
            (ArcTan(X / 10) - Fraction(1, q), 10 * Tan(expression(Fraction(1, q))), 1),
        ]
    )
    case = Case("findroot", f"FindRoot[{residual}{r.choice([' == 0', ''])}, {{x, {start}}}]")
    with precision():
        known = enclosed(root).real
        case.right(f"{{x -> {digits(known, 16)}}}", "inverse function")
        case.right(f"{{x -> {digits(known, 6)}}}", "six digits")
        for factor, how in ((arb("1.1"), "one tenth more"), (arb("1.0001"), "wrong 5th digit"), (arb("-1.01"), "sign")):
            near = arb((known * factor).mid(), abs(known * factor) * arb("1e-10"))  # all that the digits shown may stand for
            try:
                left = value(residual, {"x": acb(near)})
            except NotEnclosedError:
                continue
            case.wrong(f"{{x -> {digits(known * factor, 16)}}}", how, f"around it the equation leaves {shown(left)}" if apart(left, acb(0)) else None)
        case.wrong("{x -> Infinity}", "not finite", f"Infinity is no number; a root is {shown(acb(known))}")
        case.wrong("{}", "dropped branch", f"x = {shown(acb(known))} is a root")
    return case


FAMILIES = [polynomial_equation, polynomial_equation, symbolic_equation, periodic_equation, special_equation, systems, found_root]
