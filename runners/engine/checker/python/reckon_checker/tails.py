"""Proved bounds of tails: |f(x)| <= C x^p e^(-q x^r) for all x >= M, read off the structure of f, and what they integrate to."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq, fmpq_poly

from .evaluation import EMPTY, evaluate
from .tree import Refused, Tree, arguments, free_symbols, is_call, replace
from .univariate import polynomial
from .values import ZERO, Undecided, complex_ball, is_number

LOGARITHM = fmpq(1, 4)  # log x <= 4 x^(1/4)
BOUNDED = {"Sin": 1, "Cos": 1, "ArcTan": 2, "Tanh": 1, "Erf": 1}

NOTHING = arb(0)

Ratio = tuple[fmpq_poly, fmpq_poly]


@dataclass(frozen=True)
class Bound:
    c: arb
    p: fmpq = ZERO
    q: arb = NOTHING
    r: int = 0

    def __mul__(self, other: Bound) -> Bound:
        if self.r == other.r:
            return Bound(self.c * other.c, self.p + other.p, self.q + other.q, self.r)
        fast = self if self.r > other.r else other
        return Bound(self.c * other.c, self.p + other.p, fast.q, fast.r)

    def __add__(self, other: Bound) -> Bound:
        slow = min((self, other), key=lambda b: (b.r, float(b.q)))
        return Bound(self.c + other.c, max(self.p, other.p), slow.q, slow.r)

    def power(self, e: fmpq) -> Bound:
        """For e > 0."""
        return Bound(self.c ** arb(e), self.p * e, self.q * arb(e), self.r)

    def tail(self, start: arb) -> arb | None:
        """An upper bound of the integral from start to infinity, start >= 1."""
        if self.r >= 1 and self.q > 0:
            rate = self.q * start ** (self.r - 1)
            slowed = rate - arb(self.p) / start if self.p > 0 else rate
            if not slowed > 0:
                return None
            return self.c * start ** arb(self.p) * (-rate * start).exp() / slowed
        if self.p < -1:
            return self.c * start ** arb(self.p + 1) / arb(-self.p - 1)
        return None


def ratio(node: Tree, name: str) -> Ratio | None:
    """The tree as a quotient of polynomials in a symbol with rational coefficients."""
    p = polynomial(node, name)
    if p is not None:
        return p, fmpq_poly([1])
    head, parts = (node[0], arguments(node)) if isinstance(node, tuple) else ("", ())
    if head in ("Plus", "Times"):
        total: Ratio = (fmpq_poly([0 if head == "Plus" else 1]), fmpq_poly([1]))
        for part in parts:
            inner = ratio(part, name)
            if inner is None:
                return None
            (a, b), (c, d) = total, inner
            total = (a * d + c * b, b * d) if head == "Plus" else (a * c, b * d)
        return total
    if head == "Power" and len(parts) == 2 and isinstance(parts[1], int) and abs(parts[1]) <= 60:
        inner = ratio(parts[0], name)
        if inner is None or (parts[1] < 0 and inner[0].is_zero()):
            return None
        top, bottom = inner if parts[1] >= 0 else (inner[1], inner[0])
        return top ** abs(parts[1]), bottom ** abs(parts[1])
    if head == "Divide" and len(parts) == 2:
        return ratio(("Times", parts[0], ("Power", parts[1], -1)), name)
    return None


def upper_of_polynomial(p: fmpq_poly, start: arb) -> Bound:
    n = int(p.degree())
    if n < 0:
        return Bound(arb(0))
    total = arb(0)
    for i in range(n + 1):
        total += abs(arb(p[i])) * start ** (i - n)
    return Bound(total, fmpq(n))


def lower_of_polynomial(p: fmpq_poly, start: arb) -> Bound | None:
    """c x^n <= |p(x)| for x >= start, as a Bound with c > 0."""
    n = int(p.degree())
    if n < 0:
        return None
    total = abs(arb(p[n]))
    for i in range(n):
        total -= abs(arb(p[i])) * start ** (i - n)
    return Bound(total, fmpq(n)) if total > 0 else None


def inverse(lower: Bound) -> Bound:
    return Bound(1 / lower.c, -lower.p)


def bound(node: Tree, name: str, start: arb) -> Bound | None:
    """A bound of |node| for name >= start >= 2, or None."""
    if name not in free_symbols(node):
        try:
            value = evaluate(node, EMPTY)
        except (Undecided, Refused):
            return None
        return Bound(arb(complex_ball(value).abs_upper())) if is_number(value) else None
    whole = ratio(node, name)
    if whole is not None:
        lower = lower_of_polynomial(whole[1], start)
        return None if lower is None else upper_of_polynomial(whole[0], start) * inverse(lower)
    if not isinstance(node, tuple):
        return None
    head, parts = node[0], arguments(node)
    if head in ("Plus", "Times"):
        found = bound(parts[0], name, start)
        for part in parts[1:]:
            inner = bound(part, name, start)
            if found is None or inner is None:
                return None
            found = found + inner if head == "Plus" else found * inner
        return found
    if head == "Power" and len(parts) == 2:
        return _power(parts[0], parts[1], name, start)
    if head == "Sqrt":
        return _power(parts[0], ("Rational", 1, 2), name, start)
    if head == "Exp":
        return _exponential(parts[0], name, start)
    if head == "Log" and len(parts) == 1:
        return _logarithm(parts[0], name, start)
    if isinstance(head, str) and head in BOUNDED and len(parts) == 1 and polynomial(parts[0], name) is not None:
        return Bound(arb(BOUNDED[head]))
    return None


def _exponent(node: Tree) -> fmpq | None:
    try:
        value = None if free_symbols(node) else evaluate(node, EMPTY)
    except (Undecided, Refused):
        return None
    return value if isinstance(value, fmpq) else None


def _power(base: Tree, exponent: Tree, name: str, start: arb) -> Bound | None:
    if base == "E":
        return _exponential(exponent, name, start)
    e = _exponent(exponent)
    if e is None:
        return None
    if e > 0:
        inner = bound(base, name, start)
        return None if inner is None else inner.power(e)
    lower = lower_bound(base, name, start)
    return None if lower is None else inverse(lower.power(-e))


def lower_bound(node: Tree, name: str, start: arb) -> Bound | None:
    """c x^p <= |node| for name >= start."""
    whole = ratio(node, name)
    if whole is not None:
        top = lower_of_polynomial(whole[0], start)
        return None if top is None else top * inverse(upper_of_polynomial(whole[1], start))
    if is_call(node, "Times"):
        found = Bound(arb(1))
        for part in arguments(node):
            inner = lower_bound(part, name, start)
            if inner is None:
                return None
            found = found * inner
        return found
    if is_call(node, "Power") and len(arguments(node)) == 2 and (e := _exponent(arguments(node)[1])) is not None and e > 0:
        inner = lower_bound(arguments(node)[0], name, start)
        return None if inner is None else inner.power(e)
    return None


def _exponential(exponent: Tree, name: str, start: arb) -> Bound | None:
    """|E^g| is E^Re[g]: g a polynomial with rational coefficients, or affine in I with such parts."""
    real = polynomial(replace(exponent, "I", 0), name)
    if real is None:
        return None
    sides = [polynomial(replace(exponent, "I", unit), name) for unit in (1, -1)]
    if sides[0] is None or sides[1] is None or sides[0] + sides[1] != 2 * real:
        return None
    n = int(real.degree())
    if n <= 0:
        return Bound(arb(real[0]).exp())
    if real[n] > 0:
        return None
    rate = abs(arb(real[n]))
    for i in range(n):
        rate -= max(arb(0), arb(real[i])) * start ** (i - n)
    return Bound(arb(1), fmpq(0), rate, n) if rate > 0 else None


def _logarithm(node: Tree, name: str, start: arb) -> Bound | None:
    """|Log[u]| <= |log c| + |log C| + |n| log x + Pi where c x^n <= |u| <= C x^m."""
    near_one = ratio(("Plus", node, -1), name)
    if near_one is not None and near_one[0].degree() < near_one[1].degree():
        away = bound(("Plus", node, -1), name, start)
        if away is not None and away.c * start ** arb(away.p) < arb(fmpq(1, 2)):
            return Bound(2 * away.c, away.p)  # |log u| <= 2 |u - 1| where |u - 1| <= 1/2
    low, high = lower_bound(node, name, start), bound(node, name, start)
    if low is None or high is None or high.q > 0:
        return None
    turns = max(abs(low.p), abs(high.p))
    return Bound(abs(low.c.log()) + abs(high.c.log()) + arb.pi() + 4 * arb(turns), LOGARITHM)


def oscillating(node: Tree, name: str, start: arb) -> arb | None:
    """A bound of |integral from start to infinity| of g(x) Sin or Cos[a x + b], g rational and falling to 0: 2 |g(start)|/|a|
    (second mean value theorem)."""
    if not is_call(node, "Times"):
        return None
    node = unsinc(node)
    waves = [part for part in arguments(node) if is_call(part, "Sin", "Cos") and name in free_symbols(part)]
    rest = [part for part in arguments(node) if part not in waves]
    if len(waves) != 1 or len(rest) + 1 != len(arguments(node)):
        return None
    line = polynomial(arguments(waves[0])[0], name)
    g = ratio(("Times", *rest), name)
    if line is None or line.degree() != 1 or g is None or g[0].degree() >= g[1].degree():
        return None
    slope = g[0].derivative() * g[1] - g[0] * g[1].derivative()
    if lower_of_polynomial(slope, start) is None or lower_of_polynomial(g[1], start) is None:
        return None
    value = evaluate(("Times", *rest), EMPTY.having(name, start))
    return 2 * arb(complex_ball(value).abs_upper()) / abs(arb(line[1])) if is_number(value) else None


def unsinc(node: Tree) -> Tree:
    """Sinc[u] as Sin[u]/u among factors."""
    factors: list[Tree] = []
    for part in arguments(node):
        if is_call(part, "Sinc"):
            factors += [("Sin", *arguments(part)), ("Power", arguments(part)[0], -1)]
        else:
            factors.append(part)
    return ("Times", *factors)


def at_end(node: Tree, name: str, end: Tree, way: int) -> Tree:
    """The integrand near an end, in t -> infinity with x = end + way/t: f(x) t^-2."""
    moved: Tree = ("Times", way, ("Power", name, -1))
    x: Tree = moved if end == 0 else ("Plus", end, moved)
    return ("Times", replace(node, name, x), ("Power", name, -2))
