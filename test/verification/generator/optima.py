"""Extrema by completing squares, and of polynomials made from their stationary points."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from enclosure import digits, precision, value
from expression import Abs, Expression, Sqrt, X, Y, expression, plus
from pair import Case, rational, small


def pair(least: Expression | Fraction | str, at: dict[str, Expression | Fraction | int]) -> str:
    return f"{{{least}, {{{', '.join(f'{k} -> {v}' for k, v in at.items())}}}}}"


def squares(r: Random) -> Case:
    """c + k (x - a)^2 + m (y - b)^2, also far out, exact or by decimals."""
    far = r.choice([1, 1, 1, 10**3, 10**6])
    a, b, c = rational(r, 8) * far, rational(r, 8), rational(r, 20)
    k, m = r.randint(1, 5), r.randint(1, 5)
    two, largest = r.random() < 0.5, r.random() < 0.4
    sign = -1 if largest else 1
    f = plus(expression(c), sign * k * (X - a) ** 2, *([sign * m * (Y - b) ** 2] if two else []))
    head = ("N" if r.random() < 0.3 else "") + ("Maximize" if largest else "Minimize")
    exactly = not head.startswith("N")
    case = Case("optimum", f"{head}[{f}, {'{x, y}' if two else 'x'}]")

    def at(x: Fraction, y: Fraction) -> dict[str, Expression | Fraction | int]:
        return {"x": x, "y": y} if two else {"x": x}

    def said(least: Fraction, x: Fraction, y: Fraction) -> str:
        if exactly:
            return pair(least, at(x, y))
        with precision():
            show = [digits(value(expression(v), {}).real, 16) for v in (least, x, y)]
        return f"{{{show[0]}, {{x -> {show[1]}{', y -> ' + show[2] if two else ''}}}}}"

    case.right(said(c, a, b), "completed square")
    word = "largest" if largest else "least"
    for bad, how in ((said(c + 1, a, b), "off by one"), (said(c - sign * 1, a, b), "beyond the optimum"), (said(-c, a, b), "sign")):
        case.wrong(bad, how, f"the {word} value is {c}, taken at x = {a}" if bad != said(c, a, b) else None)
    case.wrong(said(c + sign * k, a + 1, b), "not the optimum", f"at x = {a} the value is {c}")
    case.wrong(said(c, -a, b), "sign", f"at x = {-a} the value is {c + sign * k * 4 * a * a}, not {c}")
    case.wrong(pair("-Infinity" if not largest else "Infinity", {"x": expression(0), **({"y": 0} if two else {})}), "not finite", f"the {word} value is {c}")
    return case


def wells(r: Random) -> Case:
    """A quartic with two minima of different depth: 12 times the integral of (x - a)(x - m)(x - b)."""
    a = r.randint(-6, 4)
    b = a + r.randint(3, 7)
    m = a + 1 if r.random() < 0.5 else b - 1
    s1, s2, s3 = a + m + b, a * m + a * b + m * b, a * m * b
    f = 3 * X**4 - 4 * s1 * X**3 + 6 * s2 * X**2 - 12 * s3 * X

    def at(x: int) -> Fraction:
        return Fraction(3 * x**4 - 4 * s1 * x**3 + 6 * s2 * x**2 - 12 * s3 * x)

    best, other = (a, b) if at(a) < at(b) else (b, a)
    if at(a) == at(b):
        return Case("optimum", "")
    case = Case("optimum", f"Minimize[{f}, x]")
    case.right(pair(at(best), {"x": best}), "stationary points by construction")
    why = f"at x = {best} the value is {at(best)}, smaller than {at(other)}"
    case.wrong(pair(at(other), {"x": other}), "local minimum", why)
    case.wrong(pair(at(m), {"x": m}), "local maximum", f"at x = {best} the value is {at(best)}, smaller than {at(m)}")
    case.wrong(pair(at(best), {"x": other}), "exchanged", f"at x = {other} the value is {at(other)}, not {at(best)}")
    case.wrong(pair(at(best) - 1, {"x": best}), "off by one", f"at x = {best} the value is {at(best)}")
    return case


def constrained(r: Random) -> Case:
    a, b, k = small(r, 5), small(r, 5), r.randint(1, 6)
    norm = Sqrt(expression(a * a + b * b))
    choice = r.randrange(5)
    if choice == 0:
        case = Case("optimum", f"Maximize[{{{a * X + b * Y}, x^2 + y^2 <= {k * k}}}, {{x, y}}]")
        best, x, y = k * norm, k * a / norm, k * b / norm
        case.right(pair(best, {"x": x, "y": y}), "Cauchy and Schwarz")
        why = f"the largest value is {best}"
        case.wrong(pair(-best, {"x": -x, "y": -y}), "the minimum", why)
        case.wrong(pair(expression(abs(a) * k + abs(b) * k), {"x": k, "y": k}), "outside", f"{k}^2 + {k}^2 is more than {k * k}")
        case.wrong(pair(expression(a * k), {"x": k, "y": 0}), "not the optimum", why)
    elif choice == 1:
        case = Case("optimum", f"Minimize[{{x^2, x >= {k}}}, x]")
        case.right(pair(Fraction(k * k), {"x": k}), "at the bound")
        case.wrong(pair(Fraction(0), {"x": 0}), "outside", f"0 is less than {k}")
        case.wrong(pair(Fraction((k + 1) ** 2), {"x": k + 1}), "not the optimum", f"at x = {k} the value is {k * k}")
        case.wrong(pair(Fraction(k * k), {"x": -k}), "outside", f"{-k} is less than {k}")
    elif choice == 2:
        case = Case("optimum", f"Minimize[{Abs(X - 10**k) + b}, x]")
        case.right(pair(Fraction(b), {"x": 10**k}), "kink")
        case.wrong(pair(Fraction(b + 10**k), {"x": 0}), "not the optimum", f"at x = 10^{k} the value is {b}")
        case.wrong(pair(Fraction(b - 1), {"x": 10**k}), "beyond the optimum", f"at x = 10^{k} the value is {b}")
    elif choice == 3:
        case = Case("optimum", f"MaxValue[{b} - Exp[x] - {k} Exp[-x], x]")
        best = b - 2 * Sqrt(expression(k))
        case.right(best, "arithmetic and geometric mean")
        for wrong in (expression(b), b + 2 * Sqrt(expression(k)), best + Fraction(1, 10**15), -best):
            case.unlike(best, wrong, [{}], "constant")
    else:
        case = Case("optimum", f"MinValue[{k} Cos[x] + {b}, x]")
        case.right(str(b - k), "range of the cosine")
        for wrong_i in (b + k, b, b - k - 1):
            case.wrong(str(wrong_i), "constant", f"the least value is {b - k}, at x = Pi")
        case.wrong("-Infinity", "not finite", f"the least value is {b - k}, at x = Pi")
    return case


FAMILIES = [squares, wells, constrained]
