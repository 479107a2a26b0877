"""Antiderivatives of common forms: sums of polynomials times exponentials and waves, rational functions, powers of the variable and its logarithm, roots
of quadratic polynomials, Gaussians, and one function of another times its derivative. They are candidates: who uses one proves its derivative."""

from __future__ import annotations

import math
from collections.abc import Iterator

from flint import fmpq, fmpq_mat, fmpq_poly

from .. import budget
from ..calculus import differentiate
from ..field import TooLarge
from ..normal import Normalizer, proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_of, rational_tree, replace, times, walk
from ..univariate import as_tree, polynomial
from .gosper import quotient_in, solved
from .one_variable import VARIABLE, NotPlaced, line_of

MAX_POWER = 8
MAX_TERMS = 60
HALF: Tree = ("Rational", 1, 2)
Sum = dict[tuple[Tree, int], Tree]  # rate of the exponential and power of the variable, with the coefficient


class NotOfForm(Exception):
    """The integrand is of another form."""


def candidates(node: Tree, x: str) -> Iterator[Tree]:
    """Antiderivatives to be proved, one after the other."""
    for make in (by_exponentials, of_quotient, by_terms, of_root, by_substitution, of_waves, by_parts):
        budget.step()
        try:
            yield make(node, x)
        except (NotOfForm, TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
            continue


# Polynomials times exponentials.


def exponential_sum(node: Tree, x: str) -> Sum:
    parts = arguments(node)
    if x not in free_symbols(node):
        return {(0, 0): node}
    if node == x:
        return {(0, 1): 1}
    if is_call(node, "Plus"):
        return added(*(exponential_sum(part, x) for part in parts))
    if is_call(node, "Subtract") and len(parts) == 2:
        return added(exponential_sum(parts[0], x), multiplied({(0, 0): -1}, exponential_sum(parts[1], x)))
    if is_call(node, "Times"):
        found: Sum = {(0, 0): 1}
        for part in parts:
            found = multiplied(found, exponential_sum(part, x))
        return found
    if is_call(node, "Divide") and len(parts) == 2 and x not in free_symbols(parts[1]):
        return multiplied(exponential_sum(parts[0], x), {(0, 0): power(parts[1], -1)})
    if is_call(node, "Power") and len(parts) == 2:
        if x not in free_symbols(parts[0]):
            rate, start = line(parts[1], x)
            scale: Tree = 1 if parts[0] == "E" else ("Log", parts[0])
            return {(times(scale, rate) if scale != 1 else rate, 0): power(parts[0], start) if start != 0 else 1}
        if isinstance(parts[1], int) and 0 < parts[1] <= MAX_POWER:
            found = {(0, 0): 1}
            for _ in range(parts[1]):
                found = multiplied(found, exponential_sum(parts[0], x))
            return found
    if is_call(node, "Exp") and len(parts) == 1:
        return exponential_sum(power("E", parts[0]), x)
    if is_call(node, "Sin", "Cos", "Sinh", "Cosh") and len(parts) == 1:
        circular = is_call(node, "Sin", "Cos")
        inner = times("I", parts[0]) if circular else parts[0]
        up, down = exponential_sum(power("E", inner), x), exponential_sum(power("E", times(-1, inner)), x)
        if is_call(node, "Cos", "Cosh"):
            return multiplied({(0, 0): HALF}, added(up, down))
        factor: Tree = times(rational(-1, 2), "I") if circular else HALF
        return multiplied({(0, 0): factor}, added(up, multiplied({(0, 0): -1}, down)))
    raise NotOfForm


def line(node: Tree, x: str) -> tuple[Tree, Tree]:
    slope = differentiate(node, x)
    if x in free_symbols(slope):
        if not proves_zero(differentiate(slope, x)):
            raise NotOfForm
        slope = replace(slope, x, 0)
    return slope, replace(node, x, 0)


def added(*sums: Sum) -> Sum:
    found: Sum = {}
    for one in sums:
        for key, c in one.items():
            same = next((other for other in found if other[1] == key[1] and (other[0] == key[0] or proves_zero(minus(other[0], key[0])))), key)
            found[same] = plus(found[same], c) if same in found else c
    if len(found) > MAX_TERMS:
        raise NotOfForm
    return found


def multiplied(a: Sum, b: Sum) -> Sum:
    pieces: list[Sum] = []
    for (p, n), c in a.items():
        for (q, m), d in b.items():
            rate = q if p == 0 else p if q == 0 else plus(p, q)
            pieces.append({(rate, n + m): d if c == 1 else c if d == 1 else times(c, d)})
    return added(*pieces)


def by_exponentials(node: Tree, x: str) -> Tree:
    return plus(*(integrated(rate, n, c, x) for (rate, n), c in exponential_sum(node, x).items()))


def integrated(rate: Tree, n: int, c: Tree, x: str) -> Tree:
    """Of c x^n E^(rate x)."""
    if rate == 0 or proves_zero(rate):
        return times(c, rational(1, n + 1), power(x, n + 1))
    terms: list[Tree] = []
    for j in range(n + 1):
        factor = rational((-1) ** j * math.factorial(n), math.factorial(n - j))
        terms.append(times(factor, power(x, n - j) if n > j else 1, power(rate, -j - 1)))
    return times(c, plus(*terms), power("E", times(rate, x)))


# Rational functions.


def of_quotient(node: Tree, x: str) -> Tree:
    """Hermite's reduction by linear equations (Horowitz 1971), and logarithms and arc tangents of factors of first and second degree."""
    found = quotient_in(node, x)
    if found is None:
        raise NotOfForm
    top, bottom = found
    whole, top = divmod_poly(top, bottom)
    parts: list[Tree] = [as_tree(whole.integral(), x)] if whole.degree() >= 0 else []
    if top.degree() >= 0:
        common = bottom.gcd(bottom.derivative())
        square_free = bottom // common
        rational_part, rest = horowitz(top, common, square_free)
        if rational_part.degree() >= 0:
            parts.append(times(as_tree(rational_part, x), power(as_tree(common, x), -1)))
        parts += [logarithm(rest, square_free, factor, x) for factor, _ in square_free.factor()[1]] if rest.degree() >= 0 else []
    return plus(*parts)


def divmod_poly(a: fmpq_poly, b: fmpq_poly) -> tuple[fmpq_poly, fmpq_poly]:
    quotient = a // b
    return quotient, a - quotient * b


def horowitz(top: fmpq_poly, common: fmpq_poly, square_free: fmpq_poly) -> tuple[fmpq_poly, fmpq_poly]:
    """top/(common square_free) = (A/common)' + B/square_free."""
    n, m = common.degree(), square_free.degree()
    if n < 1:
        return fmpq_poly([0]), top / common[0] if common[0] != 1 else top
    cofactor = square_free * common.derivative() // common
    columns = [fmpq_poly([0] * i + [1]).derivative() * square_free - fmpq_poly([0] * i + [1]) * cofactor for i in range(n)]
    columns += [fmpq_poly([0] * i + [1]) * common for i in range(m)]
    height = n + m
    matrix = fmpq_mat(height, height, [column[i] for i in range(height) for column in columns])
    solution = solved(matrix, [top[i] for i in range(height)])
    if solution is None:
        raise NotOfForm
    return fmpq_poly(solution[:n]), fmpq_poly(solution[n:])


def logarithm(rest: fmpq_poly, square_free: fmpq_poly, factor: fmpq_poly, x: str) -> Tree:
    """The part of one factor in partial fractions, integrated."""
    others = square_free // factor
    _, inverse, _ = (others % factor).xgcd(factor) if factor.degree() > 1 else (None, fmpq_poly([1 / others(-factor[0] / factor[1])]), None)
    over = rest * inverse % factor
    if factor.degree() == 1:
        return times(rational_tree(over[0] / factor[1]), ("Log", as_tree(factor, x)))
    if factor.degree() != 2:
        raise NotOfForm
    # (p x + q)/(a x^2 + b x + c)
    a, b, c = factor[2], factor[1], factor[0]
    p, q = over[1], over[0]
    discriminant = 4 * a * c - b * b
    parts: list[Tree] = [times(rational_tree(p / (2 * a)), ("Log", as_tree(factor, x)))] if p != 0 else []
    flat = q - p * b / (2 * a)
    if flat != 0:
        inner = fmpq_poly([b, 2 * a])
        if discriminant > 0:
            root = power(rational_tree(discriminant), HALF)
            parts.append(times(rational_tree(2 * flat), power(root, -1), ("ArcTan", times(as_tree(inner, x), power(root, -1)))))
        else:
            root = power(rational_tree(-discriminant), HALF)
            low, high = minus(as_tree(inner, x), root), plus(as_tree(inner, x), root)
            parts.append(times(rational_tree(flat), power(root, -1), minus(("Log", low), ("Log", high))))
    return plus(*parts)


# Term by term: powers, logarithms, Gaussians.


def by_terms(node: Tree, x: str) -> Tree:
    terms = arguments(node) if is_call(node, "Plus") else (node,)
    return plus(*(of_term(term, x) for term in terms))


def of_term(node: Tree, x: str) -> Tree:
    constant, factors = factored(node, x)
    try:
        return times(constant, of_factors(factors, x))
    except NotOfForm:
        for make in (by_exponentials, of_quotient):
            try:
                return make(node, x)
            except NotOfForm:
                continue
        return by_substitution(node, x)


def factored(node: Tree, x: str) -> tuple[Tree, list[tuple[Tree, Tree]]]:
    """A constant, and bases with exponents."""
    constants: list[Tree] = []
    found: list[tuple[Tree, Tree]] = []
    pending = [(node, 1)]
    while pending:
        one, n = pending.pop()
        parts = arguments(one)
        if x not in free_symbols(one):
            constants.append(power(one, n) if n != 1 else one)
        elif is_call(one, "Times"):
            pending += [(part, n) for part in parts]
        elif is_call(one, "Divide") and len(parts) == 2:
            pending += [(parts[0], n), (parts[1], -n)]
        elif is_call(one, "Sqrt"):
            found.append((parts[0], times(n, HALF) if n != 1 else HALF))
        elif is_call(one, "Power") and len(parts) == 2 and parts[0] != "E" and x not in free_symbols(parts[1]):
            if isinstance(parts[1], int) and is_call(parts[0], "Times", "Divide", "Sqrt", "Power", "Exp"):
                pending.append((parts[0], n * parts[1]))
            else:
                found.append((parts[0], times(n, parts[1]) if n != 1 else parts[1]))
        elif is_call(one, "Exp"):
            found.append(("E", times(n, parts[0]) if n != 1 else parts[0]))
        elif is_call(one, "Power") and parts[0] == "E":
            found.append(("E", times(n, parts[1]) if n != 1 else parts[1]))
        else:
            found.append((one, n))
    return times(*constants), found


def of_factors(factors: list[tuple[Tree, Tree]], x: str) -> Tree:
    powers: Tree = plus(*(exponent for base, exponent in factors if base == x))
    rest = [(base, exponent) for base, exponent in factors if base != x]
    if not rest:
        return of_power(powers, x)
    if len(rest) == 1:
        (base, exponent) = rest[0]
        if is_call(base, "Log") and arguments(base) == (x,) and isinstance(exponent, int) and exponent > 0:
            return of_logarithm(powers, exponent, x)
        n = rational_of(powers)
        if base == "E" and n in (0, -1, 2):
            gauss = polynomial(exponent, x)
            if n == 0 and gauss is not None and gauss.degree() == 2:
                return gaussian(gauss, x)
        if n == -1 and is_call(base, "Sin", "Cos") and exponent == 1:
            slope, start = line(arguments(base)[0], x)
            if start == 0:
                return ("SinIntegral" if is_call(base, "Sin") else "CosIntegral", times(slope, x))
        if n == 0 and is_call(base, "Sin", "Cos") and exponent == 1:
            square = polynomial(arguments(base)[0], x)
            if square is not None and square.degree() == 2 and square[1] == square[0] == 0 and square[2] > 0:
                scale = power(times(rational_tree(2 * square[2]), power("Pi", -1)), HALF)
                return times(power(scale, -1), ("FresnelS" if is_call(base, "Sin") else "FresnelC", times(scale, x)))
        if n == 0 and not isinstance(exponent, int):
            slope, _ = line(base, x)
            return times(of_power(exponent, base), power(slope, -1))
        if n == 0 and is_call(base, "Log") and exponent == 1:
            inner = arguments(base)[0]
            slope, _ = line(inner, x)
            return times(minus(times(inner, base), inner), power(slope, -1))
    raise NotOfForm


def of_power(exponent: Tree, x: Tree) -> Tree:
    if exponent == -1 or (not free_symbols(exponent) and proves_zero(plus(exponent, 1))):
        return ("Log", x)
    after = plus(exponent, 1) if not isinstance(exponent, int) else exponent + 1
    return times(power(after, -1), power(x, after)) if after != 0 else ("Log", x)


def of_logarithm(exponent: Tree, m: int, x: str) -> Tree:
    """x^p Log[x]^m."""
    after = plus(exponent, 1)
    if not free_symbols(after) and proves_zero(after):
        return times(rational(1, m + 1), power(("Log", x), m + 1))
    terms: list[Tree] = []
    for j in range(m + 1):
        factor = rational((-1) ** j * math.factorial(m), math.factorial(m - j))
        terms.append(times(factor, power(("Log", x), m - j) if m > j else 1, power(after, -j - 1)))
    return times(power(x, after), plus(*terms))


def gaussian(p: fmpq_poly, x: str) -> Tree:
    """E^(a x^2 + b x + c)."""
    a, b, c = p[2], p[1], p[0]
    head = "Erf" if a < 0 else "Erfi"
    root = power(rational_tree(abs(a)), HALF)
    middle = b / (2 * a)
    scale = power("E", rational_tree(c - b * b / (4 * a)))
    return times(HALF, power("Pi", HALF), power(root, -1), scale, (head, times(root, plus(x, rational_tree(middle)))))


# Roots of quadratic polynomials.


def of_root(node: Tree, x: str) -> Tree:
    """P(x) q^(1/2) and P(x) q^(-1/2), q of second degree: Q q^(1/2) + c L, where L' is q^(-1/2)."""
    constant, factors = factored(node, x)
    roots = [(base, n) for base, exponent in factors if (n := rational_of(exponent)) is not None and n.q == 2]
    if len(roots) != 1 or abs(roots[0][1]) != fmpq(1, 2):
        raise NotOfForm
    base, exponent = roots[0]
    q = polynomial(base, x)
    rest = times(*(power(other, e) if e != 1 else other for other, e in factors if other is not base))
    p = polynomial(rest, x) if rest != 1 else fmpq_poly([1])
    if q is None or p is None or q.degree() != 2:
        raise NotOfForm
    if exponent > 0:
        p = p * q
    # (Q q^(1/2))' = (Q' q + Q q'/2) q^(-1/2)
    most = max(p.degree() - 1, 0)
    columns = [fmpq_poly([0] * i + [1]).derivative() * q + fmpq_poly([0] * i + [1]) * q.derivative() / 2 for i in range(most + 1)] + [fmpq_poly([1])]
    height = max(column.degree() for column in [*columns, p]) + 1
    matrix = fmpq_mat(height, most + 2, [column[i] for i in range(height) for column in columns])
    solution = solved(matrix, [p[i] for i in range(height)])
    if solution is None:
        raise NotOfForm
    root = power(base, HALF)
    parts: list[Tree] = [times(as_tree(fmpq_poly(solution[:-1]), x), root)]
    if solution[-1] != 0:
        parts.append(times(rational_tree(solution[-1]), of_inverse_root(q, root, x)))
    return times(constant, plus(*parts))


def of_inverse_root(q: fmpq_poly, root: Tree, x: str) -> Tree:
    a, b, c = q[2], q[1], q[0]
    line_of_x = as_tree(fmpq_poly([b, 2 * a]), x)
    if a < 0:
        discriminant = b * b - 4 * a * c
        if discriminant <= 0:
            raise NotOfForm
        return times(-1, power(rational_tree(-a), rational(-1, 2)), ("ArcSin", times(line_of_x, power(rational_tree(discriminant), rational(-1, 2)))))
    return times(power(rational_tree(a), rational(-1, 2)), ("Log", plus(line_of_x, times(2, power(rational_tree(a), HALF), root))))


def of_waves(node: Tree, x: str) -> Tree:
    """Rational functions of circular or exponential functions, by t = Tan[v/2] or E^v."""
    try:
        over = line_of([node], x)
        if not over.kind:
            raise NotOfForm
        written = over.written(node)
    except NotPlaced:
        raise NotOfForm from None
    speed = times(HALF, plus(1, power(VARIABLE, 2))) if over.kind == "circular" else VARIABLE
    rate = times(rational_tree(over.slope), over.unit)
    found = replace(of_quotient(times(written, power(speed, -1)), VARIABLE), VARIABLE, "t$value")
    v = plus(times(rate, x), times(rational_tree(over.start), over.unit)) if over.start != 0 else times(rate, x)
    t: Tree = ("Tan", times(HALF, v)) if over.kind == "circular" else power("E", v)
    return times(power(rate, -1), replace(found, "t$value", t))


# Inverse functions and logarithms, by parts.

OF_PARTS = ("ArcSin", "ArcCos", "ArcTan", "ArcCot", "ArcSinh", "ArcCosh", "ArcTanh", "ArcCoth", "Log")


def by_parts(node: Tree, x: str) -> Tree:
    """P(x) g(x) with a polynomial P and an inverse function g: Q g less the integral of Q g', where Q' is P and Q g' has none."""
    constant, factors = factored(node, x)
    inverse = [base for base, exponent in factors if is_call(base, *OF_PARTS) and exponent == 1]
    if len(inverse) != 1:
        raise NotOfForm
    g = inverse[0]
    p = polynomial(times(*(power(base, exponent) if exponent != 1 else base for base, exponent in factors if base is not g)), x)
    if p is None:
        raise NotOfForm
    whole = as_tree(p.integral(), x)
    rest = times(whole, differentiate(g, x))
    for make in (of_quotient, of_root, by_substitution):
        try:
            return times(constant, minus(times(whole, g), make(rest, x)))
        except NotOfForm:
            continue
    raise NotOfForm


# A function of another times its derivative.


def by_substitution(node: Tree, x: str) -> Tree:
    for inner in dict.fromkeys(part for part in walk(node) if isinstance(part, tuple) and x in free_symbols(part)):
        slope = differentiate(inner, x)
        for f, primitive in outer(inner):
            budget.step()
            factor = constant_ratio(node, times(f, slope), x)
            if factor is not None:
                return times(factor, primitive)
    raise NotOfForm


def outer(u: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Functions of u with their antiderivatives."""
    yield power(u, -1), ("Log", u)
    for n in (1, -2, 2, 3, -3):
        yield power(u, n) if n != 1 else u, times(rational(1, n + 1), power(u, n + 1))
    yield 1, u
    yield power(u, HALF), times(rational(2, 3), power(u, rational(3, 2)))
    yield power(u, rational(-1, 2)), times(2, power(u, HALF))
    yield power("E", u), power("E", u)
    yield ("Sin", u), times(-1, ("Cos", u))
    yield ("Cos", u), ("Sin", u)
    yield power(plus(1, power(u, 2)), -1), ("ArcTan", u)


def constant_ratio(a: Tree, b: Tree, x: str) -> Tree | None:
    """a/b where that is a rational number."""
    try:
        found = Normalizer().normal(times(a, power(b, -1)))
    except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
        return None
    if found.top.is_zero() or not found.top.is_constant() or not found.bottom.is_constant():
        return None
    return rational_tree(found.top.leading_coefficient() / found.bottom.leading_coefficient())
