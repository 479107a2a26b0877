"""Closed forms of power series with one parameter, proved wherever the series converges.

The coefficients c(k) of S(x) = sum c(k) x^(a k + b) satisfy q(k) c(k + 1) = p(k) c(k) with polynomials p, q. With z = x^a, D = z d/dz and G = S/x^b
that is the differential equation q(D - 1) G - z p(D) G = q(m - 1) c(m) z^m, m the first index (DLMF 16.8.3). A closed form that satisfies it as an
identity, and whose difference to the terms up to z^n is o(z^n) for x from above to 0, with n at least m and at least the real part of every exponent of
the equation at 0 (the zeros of q(D - 1)), is S next to 0 (Frobenius); and where S converges, if it is single-valued and analytic there but for
places that do not cut the disc.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any

from flint import fmpq, fmpq_poly

from .. import budget, stand_ins
from ..calculus import differentiate
from ..evaluation import evaluate
from ..findings import Residual, Supported, Verified
from ..hypergeometric import related
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational_tree, reals, replace, times
from ..univariate import polynomial
from ..values import Undecided
from . import series
from .gosper import Ratio, quotient_in, ratio
from .recurrences import has_values
from .series import agrees_up_to, at

MAX_ORDER = 4  # of the differential equation
MAX_TERMS = 10  # that are compared
SINGLE_VALUED = frozenset("Plus Times Exp Sin Cos Sinh Cosh".split())


@dataclass(frozen=True)
class PowerSeries:
    """sum over k from first of c(k) x^(step k + shift), step positive; recurrence: p and q with q(k) c(k + 1) = p(k) c(k)."""

    x: str
    term: Tree
    k: str
    first: int
    step: int
    shift: int
    recurrence: Ratio

    def coefficient(self, k: int) -> fmpq | None:
        value = evaluate(replace(replace(self.term, self.x, 1), self.k, k))
        return value if isinstance(value, fmpq) else None

    def terms(self, last: int) -> Tree | None:
        found: list[Tree] = []
        for k in range(self.first, last + 1):
            c = self.coefficient(k)
            if c is None:
                return None
            found.append(times(rational_tree(c), power(self.x, self.step * k + self.shift)) if self.step * k + self.shift else rational_tree(c))
        return plus(*found)


def proof(term: Tree, k: str, first: int, answer: Tree) -> Verified | None:
    """A sum from a whole number on, of terms in one parameter."""
    names = free_symbols(term) - {k}
    if len(names) != 1 or free_symbols(answer) - names:
        return None
    x = next(iter(names))
    for inverted in (False, True):
        turned = [replace(node, x, power(x, -1)) if inverted else node for node in (term, answer)]
        found = read(turned[0], k, first, x)
        if found is not None:
            return Verified(True) if sums_to(found, turned[1]) else None
    return None


def check(task: dict[str, Any], seed: int) -> Residual:
    """Procedure "series": a coefficient with an index n also by the series that it makes, c(n) x^n from the first n on."""
    found = series.check(task, seed)
    index, given = task.get("index"), task.get("coefficient") or []
    if not isinstance(found, Supported) or not isinstance(index, str) or not index or len(given) != 1:
        return found
    c, first = from_first(task["answer"], index)
    x, point = given[0]["name"], given[0]["point"]
    if first is None or point != 0 or reals(c) or reals(task["function"]) or stand_ins.mentioned(task):
        return found

    def prove() -> Verified | None:
        try:
            return proof(times(c, power(x, index)), index, first, task["function"])
        except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
            return None

    return budget.attempt(prove) or found


def from_first(answer: Tree, n: str) -> tuple[Tree, int | None]:
    """The formula and the first index from which on it holds: of Piecewise[{{c, n >= first}}, 0], and of a formula that has a value from 0 on."""
    if not is_call(answer, "Piecewise"):
        return answer, 0
    cases = arguments(answer)
    rows = [arguments(row) for row in arguments(cases[0])]
    if len(rows) != 1 or (len(cases) > 1 and cases[1] != 0) or not is_call(rows[0][1], "GreaterEqual"):
        return answer, None
    one, first = arguments(rows[0][1])
    return rows[0][0], first if one == n and isinstance(first, int) else None


def read(term: Tree, k: str, first: int, x: str) -> PowerSeries | None:
    exponent = quotient_in(related(times(x, differentiate(term, x), power(term, -1)), {k}), k)
    unit = replace(term, x, 1)
    found = ratio(unit, k)
    if exponent is None or found is None or not has_values(unit, k, first):
        return None
    top, bottom = exponent
    if bottom.degree() != 0 or top.degree() != 1:
        return None
    step, shift = top[1] / bottom[0], top[0] / bottom[0]
    if step.q != 1 or shift.q != 1 or step <= 0 or step * first + shift < 0:
        return None
    p, q = found
    if p.degree() > q.degree() or q.degree() > MAX_ORDER or not powers_of(x, term, k):
        return None
    series = PowerSeries(x, term, k, first, int(step.p), int(shift.p), found)
    while series.coefficient(series.first) == 0 and series.first < first + MAX_TERMS:
        series = replaced(series, first=series.first + 1)
    return None if vanishes_from(q, series.first) else series


def powers_of(x: str, node: Tree, k: str) -> bool:
    """Whether a term depends on x through whole powers only."""
    if not isinstance(node, tuple) or x not in free_symbols(node):
        return True
    parts = arguments(node)
    if is_call(node, "Power") and len(parts) == 2 and x not in free_symbols(parts[1]):
        exponent = polynomial(parts[1], k)
        return exponent is not None and all(c.q == 1 for c in exponent.coeffs()) and powers_of(x, parts[0], k)
    return is_call(node, "Plus", "Times") and all(powers_of(x, part, k) for part in parts)


def vanishes_from(q: fmpq_poly, first: int) -> bool:
    """Whether a polynomial is zero at a whole number from the first one on."""
    return any(f.degree() == 1 and (root := -f[0] / f[1]).q == 1 and root >= first for f, _ in q.factor()[1])


def sums_to(series: PowerSeries, answer: Tree) -> bool:
    p, q = series.recurrence
    exponents = [1 + bound(f) for f, _ in q.factor()[1]]
    last = max([series.first, *exponents])
    start = series.coefficient(series.first)
    if last - series.first > MAX_TERMS or start is None or not analytic_in_disc(answer, series):
        return False
    z, g = power(series.x, series.step), times(answer, power(series.x, -series.shift))
    equation = minus(applied(q(fmpq_poly([-1, 1])), g, series), times(z, applied(p, g, series)))
    right = times(rational_tree(q(fmpq(series.first - 1)) * start), power(z, series.first))
    if not proves_zero(minus(equation, right)):
        return False
    known, order = series.terms(last), series.step * last + series.shift
    return known is not None and agrees_up_to(answer, known, [], (series.x, 0, 1), (order, at(order), True))


def bound(factor: fmpq_poly) -> int:
    """A whole number that no zero of the factor is beyond (Cauchy)."""
    if factor.degree() == 1:
        return int((-factor[0] / factor[1]).ceil())
    lead = abs(factor[factor.degree()])
    return 1 + int(max(abs(factor[i]) / lead for i in range(factor.degree())).ceil())


def applied(p: fmpq_poly, g: Tree, series: PowerSeries) -> Tree:
    """p(D) g with D = (x/step) d/dx."""
    found: list[Tree] = []
    for i in range(p.degree() + 1):
        found.append(times(rational_tree(p[i]), g))
        g = times(rational_tree(fmpq(1, series.step)), series.x, differentiate(g, series.x))
    return plus(*found)


def analytic_in_disc(node: Tree, series: PowerSeries) -> bool:
    """Whether a form has one analytic branch where the series converges, but for places that do not cut the disc: functions without branches; and
    logarithms, roots and inverse functions of polynomials that stay off their cuts in the disc |z| < |q/p|."""
    if not isinstance(node, tuple) or series.x not in free_symbols(node):
        return True
    parts = arguments(node)
    if node[0] in SINGLE_VALUED:
        return all(analytic_in_disc(part, series) for part in parts)
    if is_call(node, "Power") and len(parts) == 2:
        base, exponent = parts
        if isinstance(exponent, int):
            return analytic_in_disc(base, series)
        if base == "E" or (isinstance(base, int) and base > 0):
            return analytic_in_disc(exponent, series)
        return is_call(exponent, "Rational") and off_negative(base, series)
    if is_call(node, "Log", "Sqrt") and len(parts) == 1:
        return off_negative(parts[0], series)
    if is_call(node, "ArcTan", "ArcTanh") and len(parts) == 1:
        u = polynomial(parts[0], series.x)
        size = None if u is None or u[0] != 0 else reach(u, series)
        return size is not None and size <= 1
    return False


def off_negative(node: Tree, series: PowerSeries) -> bool:
    """Whether a polynomial has positive real part in the disc."""
    u = polynomial(node, series.x)
    size = None if u is None else reach(u, series)
    return u is not None and size is not None and u[0] > 0 and size <= u[0]


def reach(u: fmpq_poly, series: PowerSeries) -> fmpq | None:
    """A bound of |u - u(0)| in the disc; None where the series converges everywhere, or the bound is not rational."""
    p, q = series.recurrence
    if p.degree() < q.degree():
        return None
    radius = abs(q[q.degree()] / p[p.degree()])  # of z = x^step
    total = fmpq(0)
    for j in range(1, u.degree() + 1):
        if u[j] != 0:
            if radius != 1 and j % series.step:
                return None
            total += abs(u[j]) * radius ** (j // series.step)
    return total
