"""Closed forms of sums and products, proved.

Up to a symbolic end n: S(n) - S(n - 1) is the term at n, as an identity in n by a normal form, and S at the first index is the first term
(induction); of a product the quotient. Infinite ones: a hypergeometric antidifference (gosper.py) and its limit; rational terms by the digamma
function and the Hurwitz zeta function (DLMF 5.7.6, 25.11.1); hypergeometric terms by the definition of pFq (DLMF 16.2.1); rational factors of a
product by the Gamma function (DLMF 5.8.5): what that comes to is held against the answer.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq, fmpq_poly

from ..assumptions import Assumptions
from ..evaluation import evaluate
from ..expanding import towards
from ..findings import Verified
from ..hypergeometric import related
from ..normal import proves_zero
from ..signs import sign_between
from ..tree import Refused, Tree, free_symbols, minus, plus, power, rational, rational_tree, replace, times
from ..univariate import as_tree
from ..values import Number, Undecided, Value, complex_ball, is_number, precision
from . import identities, terminating
from .gosper import antidifference, quotient_in, ratio, shifted
from .limits import one_sided
from .primitives import NotOfForm, exponential_sum, factored
from .recurrences import has_values

BITS = 256
MAX_ROOTS = 8
MAX_AHEAD = 8  # terms that are added one by one before a form holds


def to_symbolic_end(task: dict[str, Any], ends: tuple[str, Tree, Tree]) -> Verified | None:
    """ends: the index, a whole number or a symbol, and a symbol that stands in neither the term nor the first end."""
    k, low, high = ends
    term, answer = task["term"], task["answer"]
    if low == 0 and isinstance(high, str) and high in free_symbols(term) - {k} and not task.get("product"):
        return terminating.proof(task, k, high)
    if (
        not isinstance(high, str)
        or not free_symbols(high)
        or high in free_symbols(term) - {k}
        or high in free_symbols(low)
        or k in free_symbols(answer) - {high}
    ):
        return None
    if not isinstance(low, int) or not has_values(answer, high, low) or not has_values(term, k, low):
        return None
    before = replace(answer, high, plus(high, -1))
    at_end, at_start = replace(term, k, high), replace(term, k, low)
    step = minus(answer, times(before, at_end)) if task.get("product") else minus(minus(answer, before), at_end)
    conditions = [*(task.get("assumptions") or []), ("Element", high, "Integers")]
    assumed = Assumptions([c for c in conditions if high not in free_symbols(c) or c[0] == "Element"])
    if not identities.proves([(related(step, {high}), 0)], assumed):
        return None
    first = identities.check({"claims": [(at_start, replace(answer, high, low))], "assumptions": task.get("assumptions")}, 1)
    return first if isinstance(first, Verified) else None


def to_infinity(task: dict[str, Any], term: Tree, k: str, start: int, seed: int) -> Verified | None:
    """A sum from a whole number on, without parameters."""
    for closed in forms(term, k, start):
        found = identities.check({"claims": [(closed, task["answer"])]}, seed)
        if isinstance(found, Verified):
            return found
    return None


def product_to_infinity(task: dict[str, Any], factor: Tree, k: str, start: int, seed: int) -> Verified | None:
    """A product from a whole number on, without parameters."""
    form = unbounded(factor, k, start) if task["answer"] in (0, "Infinity") else of_factors(factor, k, start)
    if form is not None and form == task["answer"]:
        return Verified(exact=True)
    found = None if form is None else identities.check({"claims": [(form, task["answer"])]}, seed)
    return found if isinstance(found, Verified) else None


def unbounded(factor: Tree, k: str, start: int) -> Tree | None:
    """0 or Infinity, of a quotient p/q of polynomials without a zero or a pole from the first index on: the product goes as k^d, d the difference of the
    second coefficients, where the first ones are the same; else as a power of a number, or a factorial."""
    quotient = quotient_in(factor, k)
    if quotient is None:
        return None
    top, bottom = quotient
    if any(f.degree() == 1 and (root := -f[0] / f[1]).q == 1 and root >= start for side in quotient for f, _ in side.factor()[1]):
        return None
    n, m = top.degree(), bottom.degree()
    size = abs(top[n] / bottom[m])
    growth = fmpq(n - m) if n != m else size - 1
    if n == m and top[n] == bottom[m]:
        growth = top[n - 1] / top[n] - bottom[n - 1] / bottom[n] if n > 0 else fmpq(0)
    if growth < 0:
        return 0
    signs = [sign_between(side, fmpq(start), None, strict=False) if side.degree() > 0 else "+" if side[0] > 0 else "-" for side in quotient]
    return "Infinity" if growth > 0 and signs[0] == signs[1] != "" else None


def of_factors(factor: Tree, k: str, start: int) -> Tree | None:
    """The product of (k - a)/(k - b) over as many a as b, with equal sums: Gamma(start - b)/Gamma(start - a) each."""
    quotient = quotient_in(factor, k)
    if quotient is None:
        return None
    sides = [p / p[p.degree()] for p in quotient]
    n = sides[0].degree()
    if n < 1 or sides[1].degree() != n or quotient[0][n] != quotient[1][n] or sides[0][n - 1] != sides[1][n - 1]:
        return None
    found: list[Tree] = []
    for p, exponent in zip(sides, (-1, 1), strict=True):
        zeros = zeros_of(p)
        if zeros is None:
            return None
        if any(isinstance(zero, int) and zero >= start for zero in zeros):
            return None  # a factor that is 0, or has no value
        found += [power(("Gamma", minus(start, zero)), exponent) for zero in zeros]
    return times(*found)


def zeros_of(p: fmpq_poly) -> list[Tree] | None:
    """Each as often as it is one; None where a factor is of higher than second degree."""
    zeros: list[Tree] = []
    for q, n in p.factor()[1]:
        if q.degree() > 2:
            return None
        if q.degree() == 1:
            zeros += [rational_tree(-q[0] / q[1])] * int(n)
            continue
        zeros += of_second_degree(q) * int(n)
    return zeros


def of_second_degree(p: fmpq_poly) -> list[Tree]:
    """The two zeros."""
    root = power(rational_tree(p[1] * p[1] - 4 * p[2] * p[0]), rational(1, 2))
    return [times(rational_tree(1 / (2 * p[2])), plus(rational_tree(-p[1]), times(sign, root))) for sign in (1, -1)]


def forms(term: Tree, k: str, start: int) -> list[Tree]:
    """Closed forms of the sum, where its convergence is proved elsewhere."""
    if proves_zero(term, (), (k,)):
        return [0]
    first = start + start % 2
    pair = plus(replace(term, k, times(2, k)), replace(term, k, plus(times(2, k), 1)))
    by_pairs = of_rational(pair, k, first // 2)  # of a term with (-1)^k
    if by_pairs is not None and first > start:
        by_pairs = plus(replace(term, k, start), by_pairs)
    found = [telescoped(term, k, start), of_rational(term, k, start), of_hypergeometric(term, k, start), by_pairs, of_polylogarithms(term, k, start)]
    return [form for form in found if form is not None]


def after(term: Tree, k: str, start: int, first: int, rest: Tree) -> Tree:
    """The sum from start, by that from a later index."""
    return plus(*(replace(term, k, j) for j in range(start, first)), rest)


def telescoped(term: Tree, k: str, start: int) -> Tree | None:
    total = antidifference(term, k)
    if total is None or not proves_zero(related(minus(minus(replace(total, k, plus(k, 1)), total), term), {k}), (), (k,)):
        return None
    first = next((start + i for i in range(MAX_AHEAD) if has_values(total, k, start + i)), None)
    limit = one_sided(towards(total, k, "Infinity", 1)) if first is not None else None
    if first is None or limit is None or limit[0] is not None or limit[1] is None:
        return None
    return after(term, k, start, first, minus(limit[1], replace(total, k, first)))


def of_rational(term: Tree, k: str, start: int) -> Tree | None:
    """By partial fractions with poles that are rational, or simple and of second degree, and a sign (-1)^k split by even and odd indices."""
    quotient = quotient_in(term, k)
    if quotient is None:
        return None
    top, bottom = quotient
    if top.degree() > bottom.degree() - 2:
        return None
    factors = [(p, int(n)) for p, n in bottom.factor()[1]]
    if any(p.degree() > 2 or (p.degree() == 2 and n > 1) for p, n in factors) or sum(n for _, n in factors) > MAX_ROOTS:
        return None
    poles = [-p[0] / p[1] for p, _ in factors if p.degree() == 1]
    if any(pole.q == 1 and pole >= start for pole in poles):
        return None  # a term without a value
    first = max([start, *(int(pole.ceil()) for pole in poles)])
    if first - start > MAX_AHEAD:
        return None
    parts: list[Tree] = []
    for p, n in factors:
        if p.degree() == 2:
            parts += of_pair(top, bottom, p, first)
            continue
        pole = -p[0] / p[1]
        for order, coefficient in residues(top, bottom, pole, n):
            a = rational_tree(first - pole)
            value: Tree = times(-1, ("PolyGamma", 0, a)) if order == 1 else ("HurwitzZeta", order, a)
            parts.append(times(rational_tree(coefficient), value))
    return after(term, k, start, first, plus(*parts))


def of_polylogarithms(term: Tree, k: str, start: int) -> Tree | None:
    """Sums of c k^(-s) E^(r k) as c PolyLog[s, E^r], where each converges: inside the unit circle, on it for s > 0, and at 1 for s > 1 (DLMF 25.12.10)."""
    constant, factors = factored(term, k)
    s: Tree = times(-1, plus(*(exponent for base, exponent in factors if base == k)))
    if not 1 <= start <= MAX_AHEAD or free_symbols(s):
        return None
    try:
        waves = exponential_sum(times(*(power(base, exponent) if exponent != 1 else base for base, exponent in factors if base != k)), k)
        written = plus(*(times(constant, c, power(k, minus(n, s)), power("E", times(rate, k))) for (rate, n), c in waves.items()))
        if not identities.proves([(term, written)], Assumptions([("Element", k, "PositiveIntegers")])):
            return None
        parts = [times(c, polylogarithm(minus(s, n), rate)) for (rate, n), c in waves.items()]
    except (NotOfForm, Undecided, Refused, ArithmeticError, ValueError):
        return None
    return plus(times(constant, plus(*parts)), *(times(-1, replace(term, k, j)) for j in range(1, start)))


def polylogarithm(s: Tree, rate: Tree) -> Tree:
    """The sum of k^(-s) E^(rate k) from 1 on; NotOfForm where it is not proved to converge."""
    with precision(BITS):
        order, at = number(evaluate(s)), complex_ball(number(evaluate(rate)))
        if at.real == 0:
            unit = bool((at.exp() - 1).contains(0))
            if unit and not proves_zero(minus(power("E", rate), 1)):
                raise NotOfForm
            least = 1 if unit else 0
            if not isinstance(order, fmpq | arb) or not order > least:
                raise NotOfForm
            if unit:
                return ("Zeta", s)
        elif not at.real < 0:
            raise NotOfForm
    if proves_zero(plus(power("E", rate), 1)):
        return times(-1, ("Log", 2)) if proves_zero(minus(s, 1)) else times(minus(power(2, minus(1, s)), 1), ("Zeta", s))
    return ("PolyLog", s, power("E", rate))


def number(value: Value) -> Number:
    if not is_number(value):
        raise NotOfForm
    return value


def of_pair(top: fmpq_poly, bottom: fmpq_poly, p: fmpq_poly, first: int) -> list[Tree]:
    """The part of two simple poles, the zeros r of p: -top(r)/bottom'(r) psi(first - r) each, of conjugate ones twice the real part."""
    found: list[Tree] = []
    for pole in of_second_degree(p):
        residue = times(replace(as_tree(top % p, "r$"), "r$", pole), power(replace(as_tree(bottom.derivative() % p, "r$"), "r$", pole), -1))
        found.append(times(-1, residue, ("PolyGamma", 0, minus(first, pole))))
    return found if p[1] * p[1] > 4 * p[2] * p[0] else [times(2, ("Re", found[0]))]


def residues(top: fmpq_poly, bottom: fmpq_poly, pole: fmpq, n: int) -> list[tuple[int, fmpq]]:
    """Order j and coefficient c of c/(k - pole)^j."""
    x = fmpq_poly([pole, 1])
    above, below = top(x), bottom(x)
    rest = fmpq_poly([below[i + n] for i in range(below.degree() - n + 1)])
    series: list[fmpq] = []
    for i in range(n):
        total = above[i] - sum((rest[j] * series[i - j] for j in range(1, i + 1)), fmpq(0))
        series.append(total / rest[0])
    return [(n - i, c) for i, c in enumerate(series) if c != 0]


def of_hypergeometric(term: Tree, k: str, start: int) -> Tree | None:
    """t(first) pFq(a, 1; b; z) of a term ratio with rational zeros and poles."""
    found = ratio(term, k)
    if found is None:
        return None
    top, bottom = found
    for first in range(start, start + MAX_AHEAD):
        form = pfq(shifted(top, first), shifted(bottom, first))
        if form is not None:
            return after(term, k, start, first, times(replace(term, k, first), form))
    return None


def pfq(top: fmpq_poly, bottom: fmpq_poly) -> Tree | None:
    """The sum of terms from 0 on, the first one being 1, of which each is the quotient times the one before."""
    z = top[top.degree()] / bottom[bottom.degree()]
    if top.degree() > bottom.degree() or (top.degree() == bottom.degree() and not abs(z) < 1):
        return None
    sides: list[list[fmpq]] = []
    for p in (top, bottom):
        zeros: list[fmpq] = []
        for factor, n in p.factor()[1]:
            if factor.degree() > 1:
                return None
            zeros += [factor[0] / factor[1]] * int(n)
        sides.append(zeros)
    upper, lower = sides
    if fmpq(1) in lower:
        lower.remove(fmpq(1))
    else:
        upper.append(fmpq(1))
    for value in list(lower):
        if value in upper:
            lower.remove(value)
            upper.remove(value)
    if any(value.q == 1 and value <= 0 for value in lower):
        return None
    return ("HypergeometricPFQ", listed(upper), listed(lower), rational_tree(z))


def listed(values: list[fmpq]) -> Tree:
    return ("List", *(rational_tree(value) for value in values))
