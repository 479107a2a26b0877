"""Quotients of polynomials over the rationals, of trees that are made of sums, products and whole powers."""

from __future__ import annotations

import math

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from .. import budget
from ..tree import Refused, Tree, arguments, walk

MAX_DEGREE = 400
MAX_TERMS = 3000
MAX_NAMES = 12

Quotient = tuple[fmpq_mpoly, fmpq_mpoly]  # top and bottom


class Foreign(Exception):
    """Raised for an expression that is no rational function with rational coefficients."""


class Ring:
    """Quotients of polynomials over the rationals in the symbols of some trees."""

    def __init__(self, trees: list[Tree]) -> None:
        names = sorted({str(part) for tree in trees for part in leaves(tree)})
        if len(names) > MAX_NAMES:
            raise Refused("size")
        self.names = names
        self.context = fmpq_mpoly_ctx.get(names or ["x"], Ordering.lex)
        self.one = self.context.constant(1)

    def index(self, name: Tree) -> int:
        return self.names.index(str(name)) if name in self.names else -1

    def quotient(self, node: Tree) -> Quotient:
        """The tree as top and bottom, nothing cancelled."""
        budget.step()
        if isinstance(node, int):
            return self.context.constant(node), self.one
        if isinstance(node, str) and node in self.names:
            return self.context.gen(self.names.index(node)), self.one
        if not isinstance(node, tuple):
            raise Foreign
        head, parts = node[0], arguments(node)
        if head == "Rational" and isinstance(parts[0], int) and isinstance(parts[1], int) and parts[1]:
            return self.context.constant(fmpq(parts[0], parts[1])), self.one
        if head in ("Plus", "Times"):
            top, bottom = self.context.constant(0 if head == "Plus" else 1), self.one
            for part in parts:
                t, b = self.quotient(part)
                self.bound(top, b, t, bottom)
                top, bottom = (
                    (top * b + t * bottom, bottom * b) if head == "Plus" and b != bottom else (top + t, bottom) if head == "Plus" else (top * t, bottom * b)
                )
                self.bound(top, bottom)
            return top, bottom
        if head == "Subtract" and len(parts) == 2:
            return self.quotient(("Plus", parts[0], ("Times", -1, parts[1])))
        if head == "Minus" and len(parts) == 1:
            return self.quotient(("Times", -1, parts[0]))
        if head == "Divide" and len(parts) == 2:
            return self.quotient(("Times", parts[0], ("Power", parts[1], -1)))
        if head == "Power" and len(parts) == 2 and isinstance(parts[1], int):
            return self.raised(*self.quotient(parts[0]), parts[1])
        raise Foreign

    def raised(self, top: fmpq_mpoly, bottom: fmpq_mpoly, n: int) -> Quotient:
        if n <= 0 and top.is_zero():
            raise Foreign  # 1/0, or 0^0
        if n < 0:
            top, bottom, n = bottom, top, -n
        for p in (top, bottom):
            if not p.is_zero() and (
                int(p.total_degree()) * n > MAX_DEGREE or (len(p) > 1 and math.comb(n + len(p) - 1, n) > 50 * MAX_TERMS) or n > 10 * MAX_DEGREE
            ):
                raise Refused("degree")
        return top**n, bottom**n

    def bound(self, *polynomials: fmpq_mpoly) -> None:
        if any(len(p) > MAX_TERMS for p in polynomials):
            raise Refused("size")

    def polynomial(self, node: Tree) -> fmpq_mpoly:
        top, bottom = self.quotient(node)
        if bottom.is_constant():
            return top / bottom.leading_coefficient()
        common = top.gcd(bottom)
        if not (bottom / common).is_constant():
            raise Foreign
        return (top / common) / (bottom / common).leading_coefficient()


def leaves(node: Tree) -> list[Tree]:
    return [part for part in walk(node) if isinstance(part, str) and part not in HEADS]


HEADS = frozenset(("Plus", "Times", "Power", "Rational", "Divide", "Subtract", "Minus", "List"))
