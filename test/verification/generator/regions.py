"""Reduce, Eliminate and equations modulo primes."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from expression import X, rules
from pair import Case


def reduced(r: Random) -> Case:
    a = r.randint(-9, 9) if r.random() < 0.7 else r.choice([10**4, -(10**5)])
    b = a + r.randint(2, 9)
    q = r.randint(2, 9)
    table: list[tuple[str, list[str], list[tuple[str, str]]]] = [
        (
            f"{(X - a) * (X - b)} > 0, x",
            [f"x < {a} || x > {b}", f"{b} < x || {a} > x"],
            [
                (f"x > {b}", f"x = {a - 1} makes it true"),
                (f"{a} < x < {b}", f"x = {a}+1/2 makes it false"),
                (f"x < {a} || x > {b + 1}", f"x = {b}+1/2 makes it true"),
                (f"x <= {a} || x > {b}", f"x = {a} makes it false"),
            ],
        ),
        (
            f"{(X - a) * (X - b)} <= 0, x",
            [f"{a} <= x <= {b}", f"x >= {a} && x <= {b}"],
            [(f"{a} < x < {b}", f"x = {a} makes it true"), (f"{a} <= x < {b}", f"x = {b} makes it true"), (f"x <= {b}", f"x = {a - 1} makes it false")],
        ),
        (
            f"Sqrt[x - {a}] < {q}, x".replace("- -", "+ "),
            [f"{a} <= x < {a + q * q}"],
            [
                (f"x < {a + q * q}", f"x = {a - 1}: the root is not real, no order"),
                (f"{a} < x < {a + q * q}", f"x = {a} makes it true"),
                (f"{a} <= x < {a + q * q + 1}", f"x = {a + q * q} makes it false"),
            ],
        ),
        (
            f"Abs[x - {a}] < {q}, x, Reals".replace("- -", "+ "),
            [f"{a - q} < x < {a + q}"],
            [
                (f"{a - q} <= x < {a + q}", f"x = {a - q} makes it false"),
                (f"x < {a + q}", f"x = {a - q - 1} makes it false"),
                (f"{a} < x < {a + q}", f"x = {a} makes it true"),
            ],
        ),
        (
            f"1/(x - {a}) > {q}, x".replace("- -", "+ "),
            [f"{a} < x < {a + Fraction(1, q)}"],
            [
                (f"x < {a + Fraction(1, q)}", f"x = {a - 1} makes it false"),
                ("False", f"x = {a + Fraction(1, 2 * q)} makes it true"),
                (f"x > {a}", f"x = {a + 1} makes it false"),
            ],
        ),
        (
            "x^2 >= 0, x, Reals",
            ["True", "Element[x, Reals]"],
            [("x >= 0", "x = -1 makes it true"), ("False", "x = 1 makes it true"), ("x != 0", "x = 0 makes it true")],
        ),
        (f"x^2 + {q} < 0, x, Reals", ["False"], [("True", "x = 0 makes it false"), (f"x < -{q}", f"x = -{q + 1} makes it false")]),
        (
            f"E^x < {q}, x, Reals",
            [f"x < Log[{q}]"],
            [
                (f"x <= Log[{q}]", f"x = Log[{q}] makes it false"),
                (f"0 < x < Log[{q}]", "x = -1 makes it true"),
                (f"x < Log[{q}] + 10^-30", f"x = Log[{q}] + 10^-31 makes it false"),
            ],
        ),
        (
            f"x^3 > {q**3}, x, Reals",
            [f"x > {q}"],
            [(f"x > {q} || x < -{q}", f"x = -{q + 1} makes it false"), (f"x > {q} && x < 10^9", "x = 10^10 makes it true")],
        ),
        (
            f"x == {a} || x > {b}, x",
            [f"x == {a} || x > {b}", f"x > {b} || x == {a}"],
            [(f"x > {b}", f"x = {a} makes it true"), (f"x >= {a}", f"x = {b} makes it false")],
        ),
    ]
    text, rights, wrongs = r.choice(table)
    case = Case("reduce", f"Reduce[{text}]")
    for right in rights:
        case.right(right, "sign table")
    for wrong, why in wrongs:
        case.wrong(wrong, "wrong region", why)
    return case


def eliminated(r: Random) -> Case:
    a, b = r.randint(1, 6), r.randint(1, 6)
    text, rights, wrongs = r.choice(
        [
            (
                f"{{x == t + {a}, y == t^2}}, t",
                [f"y == (x - {a})^2", f"(x - {a})^2 - y == 0"],
                [
                    (f"y == (x + {a})^2", f"t = 1 gives x = {a + 1}, y = 1"),
                    (f"x == {a} + y^2", f"t = 2 gives x = {a + 2}, y = 4"),
                    ("True", "x = 0, y = -1 comes from no t"),
                ],
            ),
            (
                "{x == t^2, y == t^3}, t",
                ["x^3 == y^2", "y^2 - x^3 == 0"],
                [("x^2 == y^3", "t = 2 gives x = 4, y = 8"), ("x^3 == -y^2", "t = 1 gives x = 1, y = 1"), ("False", "x = 1, y = 1 comes from t = 1")],
            ),
            (
                f"{{{a} x + t == {b}, y - t == 1}}, t",
                [f"{a} x + y == {b + 1}", f"y == {b + 1} - {a} x"],
                [(f"{a} x - y == {b - 1}", f"t = 5: x = {Fraction(b - 5, a)}, y = 6"), (f"{a} x + y == {b}", f"t = 0: x = {Fraction(b, a)}, y = 1")],
            ),
            (
                "{x == Cos[t], y == Sin[t]}, t",
                ["x^2 + y^2 == 1"],
                [("x^2 - y^2 == 1", "t = Pi/2 gives x = 0, y = 1"), ("x + y == 1", "t = Pi gives x = -1, y = 0")],
            ),
        ]
    )
    case = Case("eliminate", f"Eliminate[{text}]")
    for right in rights:
        case.right(right, "substitution")
    for wrong, why in wrongs:
        case.wrong(wrong, "constant", why)
    return case


def modular_equation(r: Random) -> Case:
    p = r.choice([3, 5, 7, 11, 13])
    a, b, c = r.randint(1, p - 1), r.randint(0, p - 1), r.randint(0, p - 1)
    roots = [v for v in range(p) if (a * v * v + b * v + c) % p == 0]
    case = Case("solve_modulus", f"Solve[{a * X**2 + b * X + c} == 0, x, Modulus -> {p}]")
    case.right(rules({"x": v} for v in roots), "every residue tried")
    if roots:
        case.wrong(rules({"x": v} for v in roots[1:]), "dropped branch", f"x = {roots[0]} makes it 0 modulo {p}")
    others = [v for v in range(p) if v not in roots]
    case.wrong(
        rules({"x": v} for v in [*roots, others[0]]), "extraneous root", f"x = {others[0]} leaves {(a * others[0] ** 2 + b * others[0] + c) % p} modulo {p}"
    )
    return case


FAMILIES = [reduced, eliminated, modular_equation]
