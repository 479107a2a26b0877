"""Polynomials in one variable as lists of coefficients, highest first; entries are values of module numeric."""
import itertools
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

import numeric
from numeric import exact, number
from tree import Refused, is_call, walk

MAX_DEGREE = 200


class NotPolynomial(Exception):
    """The tree is no polynomial (or quotient of polynomials) in the variable."""


def trim(p):
    while len(p) > 1 and p[0] == 0:
        p = p[1:]
    return p


def add(p, q):
    if len(p) < len(q):
        p, q = q, p
    offset = len(p) - len(q)
    return trim(p[:offset] + [numeric.plus(a, b) for a, b in zip(p[offset:], q)])


def multiply(p, q):
    if len(p) + len(q) - 2 > MAX_DEGREE:
        raise Refused("degree")
    result = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] = numeric.plus(result[i + j], numeric.times(a, b))
    return trim(result)


def quotient(node, variable, env):
    """The tree as (numerator, denominator). Sums over one denominator; nothing is cancelled."""
    if node == variable:
        return [1, 0], [1]
    if not any(part == variable for part in walk(node)):
        value = numeric.evaluate(node, env)
        if isinstance(value, (bool, list)):
            raise NotPolynomial()
        return [value], [1]
    if is_call(node, "Plus", "Subtract"):
        top, bottom = [0], [1]
        for i, arg in enumerate(node[1:]):
            p, q = quotient(arg, variable, env)
            if node[0] == "Subtract" and i:
                p = [numeric.times(-1, a) for a in p]
            if q == bottom:
                top = add(top, p)
            else:
                top, bottom = add(multiply(top, q), multiply(p, bottom)), multiply(bottom, q)
        return top, bottom
    if is_call(node, "Times"):
        top, bottom = [1], [1]
        for arg in node[1:]:
            p, q = quotient(arg, variable, env)
            top, bottom = multiply(top, p), multiply(bottom, q)
        return top, bottom
    if is_call(node, "Minus"):
        return quotient(("Times", -1, node[1]), variable, env)
    if is_call(node, "Divide"):
        p, q = quotient(node[1], variable, env)
        r, s = quotient(node[2], variable, env)
        return multiply(p, s), multiply(q, r)
    if is_call(node, "Power"):
        k = numeric.whole(numeric.evaluate(node[2], env)) if not any(part == variable for part in walk(node[2])) else None
        if k is None or abs(k) > MAX_DEGREE:
            raise NotPolynomial()
        p, q = quotient(node[1], variable, env)
        if k < 0:
            p, q, k = q, p, -k
        top, bottom = [1], [1]
        for _ in range(k):
            top, bottom = multiply(top, p), multiply(bottom, q)
        return top, bottom
    raise NotPolynomial()


def coefficients(node, variable, env):
    top, bottom = quotient(node, variable, env)
    if len(bottom) != 1:
        raise NotPolynomial()
    return [numeric.times(a, numeric.power(bottom[0], -1)) for a in top]


def value(p, x):
    result = mpf(0)
    for a in p:
        result = result * x + number(a)
    return result


def divide(p, q):
    """Quotient and remainder over the rationals."""
    p, result = list(p), []
    while len(p) >= len(q):
        factor = Fraction(p[0]) / q[0]
        result.append(factor)
        for i in range(len(q)):
            p[i] -= factor * q[i]
        p.pop(0)
    return result or [0], trim(p or [0])


def gcd(p, q):
    p, q = trim(list(p)), trim(list(q))
    while any(q):
        p, q = q, divide(p, q)[1]
    return [Fraction(a) / p[0] for a in p]


def square_free(p):
    if len(p) < 3 or not all(exact(a) for a in p):
        return p
    slope = [a * (len(p) - 1 - i) for i, a in enumerate(p[:-1])]
    common = gcd([Fraction(a) for a in p], [Fraction(a) for a in slope])
    return divide([Fraction(a) for a in p], common)[0] if len(common) > 1 else p


def roots(p):
    """The distinct roots of an exact polynomial, or the roots of one with rounded coefficients."""
    p = trim(square_free(trim(list(p))))
    if len(p) < 2:
        return []
    if len(p) > 60:
        raise Refused("degree")
    zeros = []
    while p[-1] == 0:
        p = p[:-1]
        zeros = [mpf(0)]
    if len(p) < 2:
        return zeros
    return zeros + list(mpmath.polyroots([number(a) for a in p], maxsteps=300, extraprec=2 * mp.prec + 20 * len(p)))


def ordered_roots(p):
    """All roots with multiplicity, in the order of the language's Root objects."""
    p = trim(list(p))
    multiplicities = []
    if all(exact(a) for a in p):
        rest = [Fraction(a) for a in p]
        for root in roots(p):
            multiplicities.append((root, multiplicity(rest, root)))
    else:
        multiplicities = [(root, 1) for root in roots(p)]
    tiny = mpf(10) ** (-mp.dps // 2)
    flat = list(itertools.chain.from_iterable([root] * count for root, count in multiplicities))
    real = sorted((mpmath.re(z) for z in flat if abs(mpmath.im(z)) <= tiny * (1 + abs(z))))
    pairs = [z for z in flat if abs(mpmath.im(z)) > tiny * (1 + abs(z))]
    digits = mp.dps // 2
    pairs.sort(key=lambda z: (mpmath.nint(mpmath.re(z) * mpf(10) ** digits), mpmath.nint(abs(mpmath.im(z)) * mpf(10) ** digits), mpmath.im(z)))
    return real + pairs


def multiplicity(p, root):
    count = 0
    while len(p) > 1:
        scale = sum(abs(number(a)) * max(1, abs(root)) ** (len(p) - 1 - i) for i, a in enumerate(p))
        if abs(value(p, root)) > scale * mpf(10) ** (-mp.dps // 2):
            break
        count += 1
        p = [a * (len(p) - 1 - i) for i, a in enumerate(p[:-1])]
    return max(count, 1)
