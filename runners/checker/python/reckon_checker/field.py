"""Quotients of polynomials over the rationals in generators with algebraic relations, for normal.py."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from . import budget

MAX_TERMS = 4000
MAX_GENERATORS = 40
MAX_POWER = 400


class TooLarge(Exception):
    """The normal form outgrows the bounds, or holds what it cannot express."""


@dataclass(frozen=True)
class Fraction:
    top: fmpq_mpoly
    bottom: fmpq_mpoly


class Field:
    """Rational functions in generators that are added as they are met. Generator i may have a relation
    generator^degree == value, with a value in earlier generators; reduce applies them from the last to the first."""

    def __init__(self) -> None:
        self.names = [f"g{i}" for i in range(MAX_GENERATORS)]
        self.context = fmpq_mpoly_ctx.get(self.names, Ordering.lex)
        self.keys: dict[object, int] = {}
        self.relations: dict[int, tuple[int, Fraction]] = {}

    def constant(self, value: fmpq | int) -> Fraction:
        return Fraction(self.context.constant(value), self.context.constant(1))

    def generator(self, key: object) -> Fraction:
        index = self.keys.get(key)
        if index is None:
            index = len(self.keys)
            if index >= MAX_GENERATORS:
                raise TooLarge
            self.keys[key] = index
        return Fraction(self.context.gen(index), self.context.constant(1))

    def related(self, key: object, degree: int, value: Fraction) -> Fraction:
        """A generator with generator^degree == value."""
        known = key in self.keys
        found = self.generator(key)
        if not known:
            self.relations[self.keys[key]] = (degree, value)
        return found

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        if a.bottom == b.bottom:
            return self.reduced(a.top + b.top, a.bottom)
        self._bound(a.top, b.bottom)
        self._bound(b.top, a.bottom)
        return self.reduced(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom)

    def multiply(self, a: Fraction, b: Fraction) -> Fraction:
        self._bound(a.top, b.top)
        self._bound(a.bottom, b.bottom)
        return self.reduced(a.top * b.top, a.bottom * b.bottom)

    def invert(self, a: Fraction) -> Fraction:
        if a.top.is_zero():
            raise TooLarge
        return self.reduced(a.bottom, a.top)

    def raised(self, a: Fraction, n: int) -> Fraction:
        if n < 0:
            return self.raised(self.invert(a), -n)
        if n > MAX_POWER or (len(a.top) > 1 and math.comb(n + len(a.top) - 1, n) > MAX_TERMS):
            raise TooLarge
        result = self.constant(1)
        factor = a
        while n:
            if n & 1:
                result = self.multiply(result, factor)
            n >>= 1
            if n:
                factor = self.multiply(factor, factor)
        return result

    def _bound(self, a: fmpq_mpoly, b: fmpq_mpoly) -> None:
        budget.step()
        if len(a) * len(b) > MAX_TERMS * 16:
            raise TooLarge

    def reduced(self, top: fmpq_mpoly, bottom: fmpq_mpoly) -> Fraction:
        """The quotient with relations applied and common factors removed."""
        budget.step()
        for index in sorted(self.relations, reverse=True):
            degree, value = self.relations[index]
            top, scale = self._applied(top, index, degree, value)
            bottom = bottom * scale
            bottom, scale = self._applied(bottom, index, degree, value)
            top = top * scale
        if bottom.is_zero():
            raise TooLarge
        if top.is_zero():
            return self.constant(0)
        if len(top) > MAX_TERMS or len(bottom) > MAX_TERMS:
            raise TooLarge
        common = top.gcd(bottom)
        if not common.is_one():
            top, bottom = top / common, bottom / common
        lead = bottom.leading_coefficient()
        return Fraction(top / lead, bottom / lead)

    def _applied(self, p: fmpq_mpoly, index: int, degree: int, value: Fraction) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """p with generator^degree replaced by value = t/b, times b^k, and b^k: so that it stays a polynomial."""
        one = self.context.constant(1)
        if p.is_zero() or p.degrees()[index] < degree:
            return p, one
        parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
        for monomial, coefficient in p.to_dict().items():
            turns, rest = divmod(monomial[index], degree)
            kept = (*monomial[:index], rest, *monomial[index + 1 :])
            parts.setdefault(turns, {})[kept] = coefficient
        highest = max(parts)
        if highest > MAX_POWER or (len(value.top) > 1 and highest * len(value.top) > MAX_TERMS):
            raise TooLarge
        result = self.context.constant(0)
        for turns, terms in parts.items():
            result += self.context.from_dict(terms) * value.top**turns * value.bottom ** (highest - turns)
            budget.step()
            if len(result) > MAX_TERMS:
                raise TooLarge
        return result, value.bottom**highest


def content(p: fmpq_mpoly) -> fmpq:
    """The positive content: p divided by it has coprime integer coefficients."""
    if p.is_zero():
        raise TooLarge
    top = bottom = 0
    for coefficient in p.coeffs():
        top = math.gcd(top, int(coefficient.p))
        bottom = math.lcm(bottom or 1, int(coefficient.q))
    return fmpq(top or 1, bottom or 1)


def lowest(p: fmpq_mpoly, index: int) -> int:
    return min((int(monomial[index]) for monomial in p.monoms()), default=0)


def as_rational(value: Fraction) -> fmpq | None:
    if value.top.is_zero():
        return fmpq(0)
    if value.top.is_constant() and value.bottom.is_constant():
        return value.top.leading_coefficient() / value.bottom.leading_coefficient()
    return None
