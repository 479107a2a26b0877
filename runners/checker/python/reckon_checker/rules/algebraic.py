"""Equations that become polynomial: rational functions and roots of the unknowns, with rational constants.

Each root of the equation's trees becomes an auxiliary unknown s with s^q = radicand, each denominator d one with z d = 1; a
solution of the polynomial system is one of the equations where every s is the principal root (solutions_of in systems.py).
Nothing is cancelled, so that a place where a denominator vanishes is never among the solutions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from .. import budget
from ..evaluation import evaluate
from ..tree import Real, Refused, Tree, arguments, free_symbols
from ..values import Undecided

MAX_AUXILIARY = 7
MAX_TERMS = 600
MAX_DEGREE = 120

Quotient = tuple[fmpq_mpoly, fmpq_mpoly]


class NotAlgebraic(Exception):
    """The equations hold what does not become polynomial."""


@dataclass(frozen=True)
class Root:
    """The auxiliary unknown at an index is radicand^(1/degree); degree 0: the absolute value of the radicand, which is real."""

    index: int
    degree: int
    top: fmpq_mpoly
    bottom: fmpq_mpoly


@dataclass
class System:
    """Polynomials in the unknowns, then the auxiliary ones, that vanish together."""

    unknowns: list[str]
    context: fmpq_mpoly_ctx
    equations: list[fmpq_mpoly] = field(default_factory=list)
    nonzero: list[fmpq_mpoly] = field(default_factory=list)
    roots: list[Root] = field(default_factory=list)
    imaginary: int | None = None  # the index of the auxiliary unknown that is I
    used: int = 0
    real: bool = False  # absolute values were taken: only real solutions count


class Reader:
    """Reads trees into one system. values: exact values of other symbols."""

    def __init__(self, unknowns: list[str]) -> None:
        names = [*unknowns, *(f"s{i}$" for i in range(MAX_AUXILIARY))]
        self.system = System(list(unknowns), fmpq_mpoly_ctx.get(names, Ordering.degrevlex), used=len(unknowns))
        self.known: dict[object, Quotient] = {}
        self.one = self.system.context.constant(1)

    def equation(self, left: Tree, right: Tree) -> None:
        top, _ = self.read(("Plus", left, ("Times", -1, right)))
        self.system.equations.append(top)

    def read(self, node: Tree) -> Quotient:
        """The tree as top and bottom."""
        budget.step()
        context = self.system.context
        if isinstance(node, int):
            return context.constant(node), self.one
        if isinstance(node, Real):
            return context.constant(fmpq(node.value.numerator, node.value.denominator)), self.one
        if node in self.known:
            return self.known[node]
        if isinstance(node, str):
            return self._symbol(node)
        if not isinstance(node, tuple):
            raise NotAlgebraic
        found = self._call(node)
        self._bound(*found)
        self.known[node] = found
        return found

    def _symbol(self, name: str) -> Quotient:
        if name in self.system.unknowns:
            return self.system.context.gen(self.system.unknowns.index(name)), self.one
        if name == "I":
            i = self._auxiliary()
            gen = self.system.context.gen(i)
            self.system.equations.append(gen**2 + 1)
            self.system.imaginary = i
            self.known["I"] = gen, self.one
            return gen, self.one
        if name == "GoldenRatio":
            return self.read(("Times", ("Rational", 1, 2), ("Plus", 1, ("Power", 5, ("Rational", 1, 2)))))
        raise NotAlgebraic

    def _auxiliary(self) -> int:
        if self.system.used >= len(self.system.unknowns) + MAX_AUXILIARY:
            raise NotAlgebraic
        self.system.used += 1
        return self.system.used - 1

    def _call(self, node: tuple[Tree, ...]) -> Quotient:
        head, parts = node[0], arguments(node)
        if head == "Rational" and isinstance(parts[0], int) and isinstance(parts[1], int) and parts[1]:
            return self.system.context.constant(fmpq(parts[0], parts[1])), self.one
        if head == "Complex" and len(parts) == 2:
            return self.read(("Plus", parts[0], ("Times", parts[1], "I")))
        if head == "Plus":
            top, bottom = self.system.context.constant(0), self.one
            for part in parts:
                t, b = self.read(part)
                top, bottom = (top + t, bottom) if b == bottom else (top * b + t * bottom, bottom * b)
                self._bound(top, bottom)
            return top, bottom
        if head == "Times":
            top = bottom = self.one
            for part in parts:
                t, b = self.read(part)
                top, bottom = top * t, bottom * b
                self._bound(top, bottom)
            return top, bottom
        if head == "Power" and len(parts) == 2:
            return self._power(*parts)
        rewritten = REWRITES.get((str(head), len(parts)))
        if rewritten is not None:
            return self.read(rewritten(parts))
        if head == "Abs" and len(parts) == 1:
            return self._absolute(node, parts[0])
        raise NotAlgebraic

    def _power(self, base: Tree, exponent: Tree) -> Quotient:
        if isinstance(exponent, int):
            return self._raised(self.read(base), exponent)
        number = rational_of(exponent)
        if number is None or base == "E":
            raise NotAlgebraic
        p, q = int(number.p), int(number.q)
        if q == 1:
            return self._raised(self.read(base), p)
        if q > 24:
            raise NotAlgebraic
        key = ("root$", q, base)
        if key not in self.known:
            top, bottom = self.read(base)
            index = self._auxiliary()
            gen = self.system.context.gen(index)
            self.system.equations.append(gen**q * bottom - top)
            self.system.roots.append(Root(index, q, top, bottom))
            self.known[key] = gen, self.one
        return self._raised(self.known[key], p)

    def _absolute(self, node: tuple[Tree, ...], inner: Tree) -> Quotient:
        top, bottom = self.read(inner)
        index = self._auxiliary()
        gen = self.system.context.gen(index)
        self.system.equations.append(gen**2 * bottom**2 - top**2)
        self.system.roots.append(Root(index, 0, top, bottom))
        self.system.real = True
        return gen, self.one

    def _raised(self, base: Quotient, n: int) -> Quotient:
        top, bottom = base
        if n <= 0 and top.is_zero():
            raise NotAlgebraic
        if n < 0:
            if not top.is_constant() and top not in self.system.nonzero:
                self.system.nonzero.append(top)
            top, bottom, n = bottom, top, -n
        for p in (top, bottom):
            if not p.is_zero() and (int(p.total_degree()) * n > MAX_DEGREE or (len(p) > 1 and math.comb(n + len(p) - 1, n) > 20 * MAX_TERMS) or n > 1000):
                raise Refused("degree")
        return top**n, bottom**n

    def _bound(self, *polynomials: fmpq_mpoly) -> None:
        if any(len(p) > MAX_TERMS or (not p.is_zero() and int(p.total_degree()) > MAX_DEGREE) for p in polynomials):
            raise Refused("size")


def rational_of(node: Tree) -> fmpq | None:
    """The rational number that a tree without symbols exactly is."""
    if free_symbols(node):
        return None
    try:
        value = evaluate(node)
    except Undecided:
        return None
    return value if isinstance(value, fmpq) else None


REWRITES: dict[tuple[str, int], Callable[[tuple[Tree, ...]], Tree]] = {
    ("Subtract", 2): lambda p: ("Plus", p[0], ("Times", -1, p[1])),
    ("Minus", 1): lambda p: ("Times", -1, p[0]),
    ("Divide", 2): lambda p: ("Times", p[0], ("Power", p[1], -1)),
    ("Sqrt", 1): lambda p: ("Power", p[0], ("Rational", 1, 2)),
    ("RealAbs", 1): lambda p: ("Abs", p[0]),
}
