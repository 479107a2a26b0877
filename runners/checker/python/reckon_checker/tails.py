"""Integrals and sums of expansions from the start of their range to Infinity: the terms exactly, by incomplete Gamma, Hurwitz's
zeta and Lerch's function, the remainder by comparison with a power."""

from __future__ import annotations

import itertools

from flint import acb, arb, fmpq

from .expansion import Expander, Germ
from .growth import ONE, Monomial, X, compared, form_value, growth, level, order, product, raised
from .values import Undecided


class Divergent(Exception):
    """A proof that the integral or the sum does not converge. sign: of the infinity it grows to; 0 where it only swings, or where
    that is not known; both: parts of it grow to Infinity and others to -Infinity, so that it is neither."""

    def __init__(self, sign: int, why: str, both: bool = False) -> None:
        super().__init__(why)
        self.sign, self.why, self.both = sign, why, both


INVERSE = raised(X, fmpq(-1))


def logs(first: int, last: int) -> Monomial:
    """x log(x) ... from one level to another."""
    return growth(tuple(fmpq(int(first <= i <= last)) for i in range(5)))


def turns(monomial: Monomial) -> bool:
    return any(not form_value(form).imag.is_zero() for _, form in monomial)


def harmless(monomial: Monomial) -> tuple[int, fmpq] | None:
    """(i, e): the monomial falls at least as fast as 1/(x log(x) ... l_i^(1 + e)), whose integral converges."""
    for i in range(3):
        for e in (fmpq(1), fmpq(1, 4), fmpq(1, 32), fmpq(1, 1024)):
            scale = product(logs(0, i), growth(level(i)), e)
            if compared(monomial, raised(scale, fmpq(-1))) <= 0:
                return i, e
    return None


def falls(monomial: Monomial, on: Expander) -> arb:
    """A bound of the integral of |monomial| over the range."""
    found = harmless(monomial)
    if found is None:
        raise Undecided("the remainder does not fall fast enough")
    i, e = found
    scale = product(logs(0, i), growth(level(i)), e)
    return on.range.supremum(product(monomial, scale)) * on.range.logs[i] ** arb(-e) / arb(e)


def require_convergence(germ: Germ, on: Expander, what: str) -> None:
    """Raises Divergent where the leading term proves it."""
    slow = [m for m in on.ordered(germ) if harmless(m) is None]
    if not slow:
        return
    lead = slow[0]
    if germ.remainder is not None and compared(germ.remainder[0], lead) >= 0:
        raise Undecided("the leading term")
    peers = [m for m in slow if compared(m, lead) == 0]
    constant = germ.terms[lead]
    if not constant.nonzero():
        raise Undecided("the leading term may be zero")
    if any(turns(m) for m in peers):
        if order(lead) >= 0 and what == "sum" and stays_away(peers, germ):
            raise Divergent(0, "the terms do not tend to 0")
        if what == "integral" and swings(peers):
            raise Divergent(0, "the integral swings for ever without settling")
        return
    for i in range(4):
        if compared(lead, raised(logs(0, i), fmpq(-1))) >= 0:
            ball = constant.ball
            sign = 0 if not ball.imag.is_zero() else 1 if ball.real > 0 else -1
            raise Divergent(sign, f"the {what} grows without bound: its terms fall no faster than 1/n" if what == "sum" else "the integral grows without bound")
    raise Undecided("convergence")


def stays_away(peers: list[Monomial], germ: Germ) -> bool:
    """Whether terms of one size do not tend to 0 together over the integers, as those of Sin[Pi k] do: one alone does not, two
    of different sizes, and any number of c E^(I p k) with p that differ by no multiple of 2 Pi (their mean square is the sum
    of |c|^2)."""
    if len(peers) == 1:
        return True
    if len(peers) == 2 and abs(germ.terms[peers[0]].ball) != abs(germ.terms[peers[1]].ball):
        return True
    quotients = [product(a, b, fmpq(-1)) for a, b in itertools.combinations(peers, 2)]
    return all(len(q) == 1 and q[0][0] == level(0) and form_value(q[0][1]).exp() != 1 for q in quotients)


def shape(monomial: Monomial) -> tuple[fmpq, fmpq, fmpq, acb] | None:
    """(p, q, s, a) of x^p log(x)^q exp(a x^s)."""
    p, q, s, a = fmpq(0), fmpq(0), fmpq(0), acb(0)
    for key, form in monomial:
        rational = form[0][1] if len(form) == 1 and form[0][0] == 1 else None
        if key == level(1) and rational is not None:
            p = rational
        elif key == level(2) and rational is not None:
            q = rational
        elif key[0] > 0 and all(part == 0 for part in key[1:]) and s == 0:
            s, a = key[0], form_value(form)
        else:
            return None
    return p, q, s, a


def real_power(monomial: Monomial) -> arb | None:
    """p of x^p, a real number that need not be rational."""
    if len(monomial) != 1 or monomial[0][0] != level(1):
        return None
    value = form_value(monomial[0][1])
    return value.real if value.imag.is_zero() else None


def swings(peers: list[Monomial]) -> bool:
    """Terms x^p exp(i a x^s) of one p and s with p >= s - 1 and different a: with t = x^s their sum is t^q times a function
    that comes back to itself as nearly as one likes, so that its integral over some length stays away from 0 for ever."""
    found = [shape(monomial) for monomial in peers]
    turning: list[acb] = []
    for one in found:
        if one is None or found[0] is None or one[1] != 0 or one[2] <= 0 or one[2] != found[0][2] or one[0] < one[2] - 1:
            return False
        a = one[3]
        if not a.real.is_zero() or any((a - other).contains(0) for other in (acb(0), *turning)):
            return False
        turning.append(a)
    return True


def integral(germ: Germ, on: Expander) -> acb:
    """The integral over the range."""
    require_convergence(germ, on, "integral")
    total = acb(0)
    for monomial, constant in germ.terms.items():
        value = _integral_of(monomial, on)
        if value is None:
            bound = falls(monomial, on)
            value = acb(arb(0, bound.upper()), arb(0, bound.upper()))
        total += constant.ball * value
    return total + _rest(germ, on, falls)


def _rest(germ: Germ, on: Expander, bound_of: object) -> acb:
    if germ.remainder is None:
        return acb(0)
    bound = arb((germ.remainder[1] * bound_of(germ.remainder[0], on)).upper())  # type: ignore[operator]
    return acb(arb(0, bound), arb(0, bound))


def _integral_of(monomial: Monomial, on: Expander) -> acb | None:
    """x^p exp(a x^s) by the substitution t = -a x^s: an incomplete Gamma function (DLMF 8.2.2); x^p log(x)^q likewise."""
    n = acb(on.range.start)
    found = shape(monomial)
    if found is None:
        plain = real_power(monomial)
        return -(n ** acb(plain + 1)) / acb(plain + 1) if plain is not None and plain < -1 else None
    p, q, s, a = found
    if s > 0:
        if q != 0 or not a.real <= 0 or (a.real.is_zero() and not p < s - 1):
            return None
        e = (p + 1) / s
        return (-a) ** acb(arb(-e)) * (-a * n ** acb(arb(s))).gamma_upper(acb(arb(e))) / acb(arb(s))
    if p < -1:
        if q == 0:
            return -(n ** acb(arb(p + 1))) / acb(arb(p + 1))
        c = acb(arb(-p - 1))
        return c ** acb(arb(-q - 1)) * (c * n.log()).gamma_upper(acb(arb(q + 1)))
    if p == -1 and q < -1:
        return -(n.log() ** acb(arb(q + 1))) / acb(arb(q + 1))
    return None


def series(germ: Germ, on: Expander, n: int) -> acb:
    """The sum over the integers from the start n of the range on."""
    require_convergence(germ, on, "sum")
    total = acb(0)
    for monomial, constant in germ.terms.items():
        total += constant.ball * _sum_of(monomial, on, n)
    return total + _rest(germ, on, _sum_bound)


def _sum_bound(monomial: Monomial, on: Expander) -> arb:
    """An upper bound of the sum of a decreasing monomial from the start of the range: its first value plus its integral."""
    found = harmless(monomial)
    if found is None:
        raise Undecided("the remainder does not fall fast enough")
    i, e = found
    scale = product(logs(0, i), growth(level(i)), e)
    first = on.range.at_start(tuple(-(fmpq(int(j <= i)) + (e if j == i else 0)) for j in range(5)))
    return on.range.supremum(product(monomial, scale)) * (first + on.range.logs[i] ** arb(-e) / arb(e))


def _sum_of(monomial: Monomial, on: Expander, n: int) -> acb:
    found = shape(monomial)
    if found is not None:
        p, q, s, a = found
        if s == 0 and q == 0 and p < -1:
            return acb(arb(-p)).zeta(acb(n))
        if s == 1 and q == 0:
            z = a.exp()
            if a.real < 0 or p < 0:
                value = z**n * z.lerch_phi(acb(arb(-p)), acb(n))
                if value.is_finite():
                    return value
        if s == 0 and harmless(monomial) is not None:
            inside = _integral_of(monomial, on)
            if inside is not None and not turns(monomial):
                # Falling terms: between the integral and the integral with the first term. They fall where the range says so.
                if on.range.monotone({0: p, 1: q}) != -1:
                    raise Undecided("the range starts too early")
                first = on.range.at_start((p, q, fmpq(0), fmpq(0), fmpq(0)))
                return inside + acb(arb(first / 2).union(arb(0)).union(first))
    bound = arb(_sum_bound(monomial, on).upper())
    return acb(arb(0, bound), arb(0, bound))


__all__ = ["INVERSE", "ONE", "Divergent", "integral", "require_convergence", "series"]
