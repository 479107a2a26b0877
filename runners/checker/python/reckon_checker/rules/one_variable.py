"""Functions of one real variable as algebraic functions of one variable t, and the polynomials whose zeros hold those of such a function.

t is x, Tan[v/2] for circular functions of multiples of v, or E^v for exponentials, where v is of first degree in x. Roots are eliminated by
resultants, so that each zero is one of a polynomial in t with rational coefficients: these are isolated, and none is missed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from flint import acb_poly, arb, fmpq, fmpq_mpoly, fmpq_poly

from .. import budget
from ..evaluation import evaluate
from ..field import Fraction, TooLarge
from ..normal import Normalizer
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, replace, times, walk
from ..univariate import as_tree
from ..values import Undecided, precision
from .kernels import refined

VARIABLE = "t$"
MAX_DEGREE = 80
MAX_MULTIPLE = 12
MAX_TERMS = 600
SHORT_BITS = 12  # of integers below roots
CIRCULAR = frozenset("Sin Cos Tan Cot Sec Csc".split())
HYPERBOLIC = frozenset("Exp Sinh Cosh Tanh Coth Sech Csch".split())


class NotPlaced(Exception):
    """An expression is of another kind, or too large."""


def radical(node: Tree) -> tuple[Tree, fmpq] | None:
    """What a root is taken of, and its exponent."""
    parts = arguments(node)
    if is_call(node, "Sqrt") and len(parts) == 1:
        return parts[0], fmpq(1, 2)
    if is_call(node, "Power") and len(parts) == 2 and is_call(parts[1], "Rational") and parts[0] != "E":
        p, q = arguments(parts[1])
        if isinstance(p, int) and isinstance(q, int):
            return parts[0], fmpq(p, q)
    return None


@dataclass(frozen=True)
class Line:
    """kind: "" (t is x), "circular" (t is Tan[v/2]) or "exponential" (t is E^v), v = slope x + start."""

    name: str
    kind: str = ""
    slope: fmpq = field(default_factory=lambda: fmpq(1))
    start: fmpq = field(default_factory=lambda: fmpq(0))
    unit: Tree = 1  # by which slope and start are multiplied: Pi in Sin[Pi x]

    def written(self, node: Tree) -> Tree:
        """The tree as one in t."""
        if node == self.name:
            if self.kind:
                raise NotPlaced
            return VARIABLE
        if not isinstance(node, tuple) or self.name not in free_symbols(node):
            return node
        head, parts = node[0], arguments(node)
        wave = of_wave(node)
        if wave is not None:
            return self._wave(*wave)
        if head in ("Plus", "Times", "Subtract", "Minus", "Divide", "Sqrt") or (head == "Power" and self.name not in free_symbols(parts[1])):
            return (head, *(self.written(part) for part in parts))
        raise NotPlaced

    def _wave(self, head: str, argument: Tree, turned: bool) -> Tree:
        line = first_degree(argument, self.name, self.unit)
        if line is None or not self.kind or self.slope == 0:
            raise NotPlaced
        multiple = line[0] / self.slope
        if multiple.q != 1 or abs(multiple.p) > MAX_MULTIPLE or line[1] != multiple * self.start:
            raise NotPlaced
        m = int(multiple.p)
        circular = head in CIRCULAR or turned
        if circular != (self.kind == "circular"):
            raise NotPlaced
        if not circular:
            up, down = power(VARIABLE, m), power(VARIABLE, -m)
            half = rational(1, 2)
            cosine, sine = times(half, plus(up, down)), times(half, minus(up, down))
            if head == "Exp":
                return up
        else:
            cosine, sine = cosine_and_sine(m)
            if head == "Exp":
                return plus(cosine, times("I", sine))
        quotients = {"Tan": (sine, cosine), "Cot": (cosine, sine), "Sec": (1, cosine), "Csc": (1, sine)}
        plain = head.removesuffix("h")
        if plain in quotients:
            return times(quotients[plain][0], power(quotients[plain][1], -1))
        return sine if plain == "Sin" else cosine

    def x_of(self, t: arb | None, turn: int = 0) -> arb:
        """The x with a value of t, None being infinite; turn: of the periodic ones which."""
        unit = ball_of(self.unit)
        if not self.kind:
            assert t is not None
            return t
        if self.kind == "exponential":
            assert t is not None
            v = t.log()
        else:
            v = (arb.pi() if t is None else 2 * t.atan()) + 2 * turn * arb.pi()
        return (v / unit - arb(self.start)) / arb(self.slope)


def ball_of(node: Tree) -> arb:
    value = evaluate(node)
    if isinstance(value, fmpq):
        return arb(value)
    if not isinstance(value, arb):
        raise NotPlaced
    return value


def of_wave(node: Tree) -> tuple[str, Tree, bool] | None:
    """Head and argument of a circular, hyperbolic or exponential function; whether the argument of E^(I v) is v."""
    parts = arguments(node)
    if isinstance(node, tuple) and is_call(node, *CIRCULAR, *HYPERBOLIC - {"Exp"}) and len(parts) == 1:
        return str(node[0]), parts[0], False
    exponent = parts[1] if is_call(node, "Power") and len(parts) == 2 and parts[0] == "E" else parts[0] if is_call(node, "Exp") and len(parts) == 1 else None
    if exponent is None:
        return None
    if any(part == "I" or is_call(part, "Complex") for part in walk(exponent)):
        return "Exp", times(-1, "I", exponent), True
    return "Exp", exponent, False


def first_degree(node: Tree, name: str, unit: Tree) -> tuple[fmpq, fmpq] | None:
    """Slope and start of an argument over a unit; None where it is of another kind."""
    found = Normalizer()
    try:
        over = found.normal(times(node, power(unit, -1)))
    except (TooLarge, Refused):
        return None
    if not over.bottom.is_one() or over.top.is_zero():
        return None
    names = {index: key for key, index in found.field.keys.items()}
    slope, start = fmpq(0), fmpq(0)
    for monomial, coefficient in over.top.to_dict().items():
        symbols = {names[i]: d for i, d in enumerate(monomial) if d}
        if symbols == {name: 1}:
            slope = coefficient
        elif not symbols:
            start = coefficient
        else:
            return None
    return (slope, start) if slope != 0 else None


def cosine_and_sine(m: int) -> tuple[Tree, Tree]:
    """Cos[m v] and Sin[m v] by t = Tan[v/2]."""
    c, s = fmpq_poly([1]), fmpq_poly([0])
    for _ in range(abs(m)):
        c, s = c * fmpq_poly([1, 0, -1]) - s * fmpq_poly([0, 2]), s * fmpq_poly([1, 0, -1]) + c * fmpq_poly([0, 2])
    below = power(plus(1, power(VARIABLE, 2)), -abs(m)) if m else 1
    return times(as_tree(c, VARIABLE), below), times(as_tree(s if m >= 0 else -s, VARIABLE), below)


def line_of(nodes: Iterable[Tree], name: str) -> Line:
    """The variable that expressions are made of."""
    found: list[tuple[str, Tree]] = []
    for node in nodes:
        for part in walk(node):
            if isinstance(part, tuple) and name in free_symbols(part):
                wave = of_wave(part)
                if wave is not None:
                    head, argument, turned = wave
                    found.append(("circular" if head in CIRCULAR or turned else "exponential", argument))
    if not found:
        return Line(name)
    if len({kind for kind, _ in found}) != 1:
        raise NotPlaced
    for unit in (1, "Pi"):
        lines = [first_degree(argument, name, unit) for _, argument in found]
        known = [line for line in lines if line is not None]
        if len(known) != len(lines):
            continue
        ratios = [slope / known[0][0] for slope, _ in known]
        step = fmpq(math.gcd(*(int(r.p) for r in ratios)), math.lcm(*(int(r.q) for r in ratios)))
        return Line(name, found[0][0], known[0][0] * step, known[0][1] * step, unit)
    raise NotPlaced


@dataclass
class Reader:
    """Polynomials in t, and in parameters, whose zeros hold those of expressions."""

    line: Line
    constants: dict[Tree, str] = field(default_factory=dict)

    def factors(self, node: Tree) -> list[Polynomial]:
        """Irreducible factors of the numerator and of the denominator once roots are eliminated. Constants that are no algebraic numbers
        stand as symbols."""
        tops, bottoms = self.parted(self.line.written(node))
        return [*tops, *bottoms]

    def parted(self, written: Tree, *, roots: list[Polynomial] | None = None) -> tuple[list[Polynomial], list[Polynomial]]:
        """The irreducible factors of the numerator and those of the denominator of an expression in t. roots: receives those of the denominators
        of what roots in it are taken of."""
        found = Normalizer(positive=(VARIABLE,) if self.line.kind == "exponential" else (), reals=(VARIABLE,))
        try:
            normal = found.normal(self.with_symbols(written))
            if roots is not None:
                for _, value in list(found.field.relations.values()):
                    roots += self._factors(found, value.bottom)
            tops, bottoms = (list(self._factors(found, p)) for p in (normal.top, normal.bottom))
            return tops, bottoms
        except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
            raise NotPlaced from None

    def odd(self, written: Tree) -> list[Polynomial]:
        """The factors of the numerator of a rational function of t that have an odd multiplicity: it changes its sign at their zeros."""
        normal, names = self._rational(written)
        return [Polynomial.of(factor, names) for factor, multiplicity in normal.top.factor()[1] if int(multiplicity) % 2]

    def quotient(self, written: Tree) -> tuple[dict[int, Tree], dict[int, Tree]]:
        """Numerator and denominator of a rational function of t by the powers of t, without a common factor."""
        normal, names = self._rational(written)
        (top, above), (bottom, below) = (Polynomial.scaled(p, names) for p in (normal.top, normal.bottom))
        ratio, tops, bottoms = above / below, top.coefficients(VARIABLE), bottom.coefficients(VARIABLE)
        return {n: times(rational_tree(ratio), c) for n, c in tops.items()}, bottoms

    def _rational(self, written: Tree) -> tuple[Fraction, dict[int, str]]:
        found = Normalizer(reals=(VARIABLE,))
        try:
            normal = found.normal(self.with_symbols(written))
        except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
            raise NotPlaced from None
        names = {index: key for key, index in found.field.keys.items()}
        used = {i for p in (normal.top, normal.bottom) for i, d in enumerate(p.degrees()) if d}
        if self.constants or not all(isinstance(names[i], str) and names[i] != "I" for i in used):
            raise NotPlaced
        return normal, {i: str(key) for i, key in names.items() if isinstance(key, str)}

    def with_symbols(self, node: Tree) -> Tree:
        if isinstance(node, int) or (isinstance(node, str) and free_symbols(node)) or node == "I" or is_call(node, "Rational", "Complex"):
            return node
        root = radical(node)
        if root is not None and not free_symbols(node) and any(isinstance(part, int) and part.bit_length() > SHORT_BITS for part in walk(node)):
            return self.constants.setdefault(node, f"constant${len(self.constants)}")  # not to be written in roots of primes
        if isinstance(node, tuple) and node[0] in ("Plus", "Times", "Subtract", "Minus", "Divide", "Sqrt"):
            return (node[0], *(self.with_symbols(part) for part in node[1:]))
        if isinstance(node, tuple) and node[0] == "Power" and len(node) == 3:
            if isinstance(node[2], int) or radical(node) is not None:
                return power(self.with_symbols(node[1]), node[2])
            if node[1] == "E" and not free_symbols(node):
                return node  # a root of unity
        if free_symbols(node):
            raise NotPlaced
        return self.constants.setdefault(node, f"constant${len(self.constants)}")

    def _factors(self, found: Normalizer, p: fmpq_mpoly) -> Iterator[Polynomial]:
        if p.is_zero():
            raise NotPlaced  # it vanishes all over, on a branch at least
        for index in sorted(found.field.relations, reverse=True):
            if p.degrees()[index]:
                degree, value = found.field.relations[index]
                relation = found.field.context.gen(index) ** degree * value.bottom - value.top
                self._bounded(p, relation)
                p = p.resultant(relation, found.field.names[index])
                if p.is_zero():
                    raise NotPlaced
        names = {index: key for key, index in found.field.keys.items()}
        used = {names[i] for i, d in enumerate(p.degrees()) if d}
        if not all(isinstance(key, str) for key in used):
            raise NotPlaced
        self._bounded(p, p)
        for factor, _ in p.factor()[1]:
            yield Polynomial.of(factor, {i: str(key) for i, key in names.items() if isinstance(key, str)})

    @staticmethod
    def _bounded(*polynomials: fmpq_mpoly) -> None:
        budget.step(sum(len(p) for p in polynomials))
        if any(len(p) > MAX_TERMS or int(p.total_degree()) > MAX_DEGREE for p in polynomials):
            raise NotPlaced


@dataclass(frozen=True)
class Polynomial:
    """Of symbols, irreducible: exponents in the order of names, and coefficients."""

    names: tuple[str, ...]
    terms: tuple[tuple[tuple[int, ...], fmpq], ...]

    @classmethod
    def of(cls, p: fmpq_mpoly, names: dict[int, str]) -> Polynomial:
        return cls.scaled(p, names)[0]

    @classmethod
    def scaled(cls, p: fmpq_mpoly, names: dict[int, str]) -> tuple[Polynomial, fmpq]:
        """The polynomial with 1 for its last coefficient, and the one that it had."""
        used = sorted((i for i, d in enumerate(p.degrees()) if d), key=lambda i: names[i])
        terms = sorted(((tuple(int(m[i]) for i in used), c) for m, c in p.to_dict().items()), key=lambda term: term[0])
        lead = fmpq(terms[-1][1])
        return cls(tuple(names[i] for i in used), tuple((exponents, c / lead) for exponents, c in terms)), lead

    def coefficients(self, name: str) -> dict[int, Tree]:
        """By the powers of a symbol, as trees of the others."""
        at = self.names.index(name) if name in self.names else -1
        found: dict[int, list[Tree]] = {}
        for exponents, c in self.terms:
            rest = [power(other, d) for i, (other, d) in enumerate(zip(self.names, exponents, strict=True)) if d and i != at]
            found.setdefault(exponents[at] if at >= 0 else 0, []).append(times(rational_tree(c), *rest))
        return {n: plus(*terms) for n, terms in found.items()}


@dataclass
class Places:
    """The places of an expression, in one variable."""

    line: Line
    factors: list[Polynomial]
    constants: dict[Tree, str]

    def roots(self, bits: int) -> list[arb]:
        """The real zeros in t, apart from each other, lowest first."""
        with precision(bits):
            known = {symbol: tree for tree, symbol in self.constants.items()}
            found: list[arb] = []
            for factor in self.factors:
                if VARIABLE in factor.names:
                    found += self._zeros(factor, known)
            found = sorted(found, key=lambda ball: arb(ball.mid()).fmpq())
            if any(not a < b for a, b in itertools.pairwise(found)):
                raise Undecided("places that are close together")
            return [t for t in found if self.line.kind != "exponential" or t > 0]

    def _zeros(self, factor: Polynomial, known: dict[str, Tree]) -> list[arb]:
        coefficients = factor.coefficients(VARIABLE)
        degree = max(coefficients)
        if factor.names == (VARIABLE,):
            p = fmpq_poly([fmpq(0)] * (degree + 1))
            for exponents, c in factor.terms:
                p[exponents[0]] = c
            roots: Any = p.complex_roots()
            return [root.real for root, _ in roots if root.imag.is_zero()]
        values = []
        for n in range(degree + 1):
            tree = coefficients.get(n, 0)
            for symbol, constant in known.items():
                tree = replace(tree, symbol, constant)
            values.append(ball_of(tree))
        if values[-1].contains(0):
            raise Undecided("a leading coefficient")
        try:
            balls = [refined(acb_poly(values), root) for root in acb_poly(values).roots()]
        except ValueError:
            raise Undecided("zeros that are close together") from None
        real = []
        for i, ball in enumerate(balls):
            if ball.imag.contains(0):
                if any(ball.conjugate().overlaps(other) for j, other in enumerate(balls) if j != i):
                    raise Undecided("zeros that are close together")
                real.append(ball.real)  # alone with its conjugate: real
        return real
