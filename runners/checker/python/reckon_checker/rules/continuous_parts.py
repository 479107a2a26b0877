"""Continuity by composition: an expression made of parts that are continuous is, but where one of its parts has a pole, a logarithm of 0 or an end of a
cut.

Nothing is looked for: the shape (cones_of_values.py) of what a root, a logarithm or an inverse function is taken of shows that it keeps off the cut,
or stays on the axis that the cut lies on, where only its ends count. Parameters are real and need no values; a case is made of each sign of what
roots of parameters are taken of, and what holds but on a set without an inside of their values is said of generic ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flint import arb, fmpq

from .. import budget
from ..calculus import applied, differentiate
from ..evaluation import Environment, evaluate
from ..normal import proves_zero
from ..signs import Signs, rational_value
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_of, rational_tree, times
from ..values import Undecided, complex_ball, is_number, precision
from .cones_of_values import HALF, NEGATIVE, ONE, POSITIVE, ZERO, Cut, Shape, cone, line, off_the_cut, plane, product, raised, root, total
from .real_logarithms import rational as rational_function
from .superfluous import not_zero_somewhere

BITS = 192
FINE = 2**40
POLYNOMIAL = ("Plus", "Times")
ENTIRE = frozenset("Sin Cos Sinh Cosh Erf Erfc Erfi SinIntegral SinhIntegral FresnelS FresnelC AiryAi AiryBi AiryAiPrime AiryBiPrime DawsonF".split())
# Meromorphic functions by what is 0 at their poles.
POLES = {"Tan": "Cos", "Sec": "Cos", "Cot": "Sin", "Csc": "Sin", "Coth": "Sinh", "Csch": "Sinh"}
WITHOUT_POLES = ("Tanh", "Sech")
OF_INVERSES = {"ArcCot": "ArcTan", "ArcSec": "ArcCos", "ArcCsc": "ArcSin", "ArcCoth": "ArcTanh", "ArcSech": "ArcCosh", "ArcCsch": "ArcSinh"}
# Real and continuous for real numbers but at 0, with the values beside a cut taken on one side of it.
OFF_ZERO = ("ExpIntegralEi", "CosIntegral", "CoshIntegral")
ALONG_THE_AXIS = ("ArcSin", "ArcCos", "ArcCosh")  # continuous for all real numbers: the cut is met from one side, and its ends are no poles


class NotComposed(Exception):
    """Nothing is known of the continuity of a part."""


@dataclass(frozen=True)
class Fact:
    """A real expression that is nowhere negative, or nowhere positive; strict: nor 0."""

    node: Tree
    sign: str
    strict: bool = False


def plainly(node: Tree) -> Tree:
    """In sums, products, powers and functions of one argument."""
    if not isinstance(node, tuple):
        return node
    if is_call(node[0], "Function"):
        return plainly(applied(node[0], node[1:]))
    head, parts = node[0], tuple(plainly(part) for part in node[1:])
    if head == "Subtract" and len(parts) == 2:
        return minus(*parts)
    if head == "Minus" and len(parts) == 1:
        return times(-1, parts[0])
    if head == "Divide" and len(parts) == 2:
        p, q = (rational_of(part) for part in parts)
        return rational_tree(p / q) if p is not None and q else times(parts[0], power(parts[1], -1))
    if head == "Power" and len(parts) == 2 and isinstance(parts[1], tuple) and (n := rational_value(parts[1])) is not None:
        return power(parts[0], rational_tree(n))
    if head == "Sqrt" and len(parts) == 1:
        return power(parts[0], rational(1, 2))
    if head == "Exp" and len(parts) == 1:
        return power("E", parts[0])
    if head == "OnReals$":
        return parts[1]
    if head in OF_INVERSES and len(parts) == 1:
        return (OF_INVERSES[str(head)], power(parts[0], -1))
    if head == "Log" and len(parts) == 2:
        return times(("Log", parts[1]), power(("Log", parts[0]), -1))
    return (head, *parts)


@dataclass
class Composer:
    """The shapes of the parts of an expression, and in bad the expressions off whose zeros it is continuous. Expressions are written plainly().
    half: + or - where the variable has this sign. single: what is not single-valued around a zero is not allowed, so that off poles the expression is
    analytic."""

    name: str
    half: str = ""
    facts: Sequence[Fact] = ()
    single: bool = False
    bad: dict[Tree, None] = field(default_factory=dict)
    shapes: dict[Tree, Shape] = field(default_factory=dict)

    def shape(self, node: Tree) -> Shape:
        found = self.shapes.get(node) if not isinstance(node, int) else None
        if found is None:
            budget.step()
            found = self.shapes[node] = self._shape(node)
            if found.real and not (found.sign and found.nonzero) and not isinstance(node, int):
                found = self._signed(node) or found
            self.shapes[node] = found
        return found

    def _shape(self, node: Tree) -> Shape:
        if not free_symbols(node):
            return of_constant(node)
        if node == self.name:
            return POSITIVE if self.half == "+" else NEGATIVE if self.half == "-" else line()
        if isinstance(node, str):
            return line(nonzero=True)  # a parameter
        if not isinstance(node, tuple) or not isinstance(node[0], str):
            raise NotComposed
        head, parts = node[0], arguments(node)
        if head == "Plus":
            found = total([self.shape(part) for part in parts])
            return line(nonzero=True) if found.real and not found.nonzero and self._generic(node) else found
        if head == "Times":
            found = self.shape(parts[0])
            for part in parts[1:]:
                found = product(found, self.shape(part))
            return found
        if head == "Power" and len(parts) == 2:
            return self._power(*parts)
        if len(parts) != 1:
            return self._of_two(head, parts)
        return self._function(head, parts[0])

    def _generic(self, node: Tree) -> bool:
        """Whether an expression of parameters alone is not 0 but on a set without an inside."""
        return self.name not in free_symbols(node) and rational_function(node) and not_zero_somewhere(node)

    def off(self, node: Tree, *, branch: bool = False) -> None:
        """Continuous but at zeros of an expression; branch: where what is around it is not single-valued."""
        if branch and self.single:
            raise NotComposed
        if is_call(node, "Times"):
            for part in arguments(node):
                if not self.shape(part).nonzero:
                    self.off(part)
        elif is_call(node, "Power") and node[1] != "E" and (rational_of(node[2]) or 0) > 0:  # type: ignore[index]
            self.off(node[1])  # type: ignore[index]
        elif self.name in free_symbols(node):
            self.bad[node] = None

    def _power(self, base: Tree, exponent: Tree) -> Shape:
        if base == "E":
            u = self.shape(exponent)
            return POSITIVE if u.real else plane(nonzero=True)
        u = self.shape(base)
        p = rational_of(exponent)
        if p is None:
            return self._real_exponent(base, exponent, u)
        if p == 0:
            raise NotComposed
        if p < 0 and not u.nonzero:
            self.off(base, branch=p.q != 1)
        if p.q == 1:
            found = raised(u, int(p.p))
        else:
            if u.kind == "plane" or (self.single and (u.kind == "line" or not u.nonzero)):
                raise NotComposed
            try:
                found = root(u, p)
            except Cut:
                raise NotComposed from None
        return found if found.nonzero or p > 0 else Shape(found.kind, found.low, found.high, True, found.inside)

    def _real_exponent(self, base: Tree, exponent: Tree, u: Shape) -> Shape:
        varying = self.name in free_symbols(exponent)
        real = self.shape(exponent).real
        if self.name not in free_symbols(base) and u.nonzero and u.ray and u.real:  # E^(c Log[u])
            return POSITIVE if real and u.sign == "+" else plane(nonzero=True)
        if not real or not (u.sign == "+" and u.nonzero if varying else u.real or u.kind == "cone"):
            raise NotComposed
        if not u.nonzero:
            self.off(base, branch=True)
        if u.kind == "cone":
            self._uncut(u)
        elif self.single:
            raise NotComposed
        return POSITIVE if u.sign == "+" else plane(nonzero=True)

    @staticmethod
    def _uncut(u: Shape) -> tuple[fmpq, fmpq]:
        try:
            return off_the_cut(u)
        except Cut:
            raise NotComposed from None

    def _of_two(self, head: str, parts: tuple[Tree, ...]) -> Shape:
        if head == "PolyLog" and len(parts) == 2 and isinstance(parts[0], int) and parts[0] >= 2 and not self.single and self.shape(parts[1]).real:
            return plane()  # continuous at 1, and along the cut beyond
        raise NotComposed

    def _function(self, head: str, inner: Tree) -> Shape:
        u = self.shape(inner)
        if head == "Log":
            return self._log(inner, u)
        if head in ("Abs", "RealAbs"):
            if not u.real or self.single:
                raise NotComposed
            return cone(ZERO, ZERO, u.nonzero)
        if head in ("Sign", "RealSign"):
            if not u.real or self.single:
                raise NotComposed
            self.off(inner)
            return line(nonzero=True) if not u.sign else POSITIVE if u.sign == "+" else NEGATIVE
        if head == "Cosh" and u.real:
            return POSITIVE
        if head in ENTIRE:
            return line() if u.real else plane()
        if head in POLES and u.real:
            self.off((POLES[head], inner))
            return line(nonzero=head in ("Sec", "Csc", "Coth", "Csch"))
        if head in WITHOUT_POLES and u.real:
            return line() if head == "Tanh" else POSITIVE
        if head in OFF_ZERO and u.real:
            self.off(inner, branch=True)
            return plane() if head != "ExpIntegralEi" else line()
        if head in ALONG_THE_AXIS and u.real and not self.single:
            return plane()
        if head == "ArcSinh" and u.real:
            return cone(ZERO, ZERO, u.nonzero) if u.sign == "+" else line()
        if head == "ArcTan":
            return self._arctangent(inner, u)
        if head == "ArcTanh" and u.real:
            if self.single:
                raise NotComposed
            self.off(minus(1, inner))
            self.off(plus(1, inner))
            return plane()
        raise NotComposed

    def _log(self, inner: Tree, u: Shape) -> Shape:
        if u.kind == "plane" or (self.single and (u.kind == "line" or not u.nonzero)):
            raise NotComposed
        if not u.nonzero:
            self.off(inner, branch=True)
        if u.kind == "line":
            if u.low not in (ZERO, HALF):
                raise NotComposed
            return plane()
        low, high = self._uncut(u)
        if low == high == 0:
            return line()
        if low > 0 or high < 0:  # the imaginary part has one sign
            return cone(ZERO, ONE, inside=True) if low > 0 else cone(-ONE, ZERO, inside=True)
        return plane()

    def _arctangent(self, inner: Tree, u: Shape) -> Shape:
        if u.kind == "plane" and is_call(inner, "Times"):  # up to its sign
            rest = [part for part in arguments(inner) if self.name in free_symbols(part) or not self.shape(part).real]
            inner = times(*rest)
            u = self.shape(inner)
        if is_call(inner, "Plus") and not u.real and any((shape := self.shape(part)).ray and abs(shape.low) == HALF for part in arguments(inner)):
            shapes = [self.shape(part) for part in arguments(inner)]
            u = total([line(HALF) if shape.ray and abs(shape.low) == HALF else shape for shape in shapes])
        if u.real:
            return cone(ZERO, ZERO, u.nonzero) if u.sign == "+" else line()
        if (u.kind == "line" and u.low == HALF) or (u.ray and u.low in (HALF, -HALF)):
            if self.single:
                raise NotComposed
            self.off(plus(1, power(inner, 2)))
            return plane()
        low, high = (u.low, u.high) if u.kind == "cone" else (ONE, ZERO)
        for a, b in ((low - shift, high - shift) for shift in (0, 1, -1, 2)):  # off the imaginary axis but at 0
            if u.kind == "cone" and ((a > -HALF and b < HALF) or (u.inside and a >= -HALF and b <= HALF)):
                return plane()
        raise NotComposed

    # Signs of real expressions.

    def _signed(self, node: Tree) -> Shape | None:
        for fact in self.facts:
            ratio = proportion(node, fact.node)
            if ratio is not None:
                positive = (ratio > 0) == (fact.sign == "+")
                return cone(ZERO, ZERO, fact.strict) if positive else cone(ONE, ONE, fact.strict)
        symbols: dict[Tree, str] = {}
        conditions: list[Tree] = []

        def general(part: Tree) -> Tree:
            if isinstance(part, int) or is_call(part, "Rational"):
                return part
            if is_call(part, *POLYNOMIAL) or (is_call(part, "Power") and isinstance(arguments(part)[1], int) and arguments(part)[1] > 0):  # type: ignore[operator]
                return (part[0], *(general(inner) for inner in part[1:])) if part[0] != "Power" else power(general(part[1]), part[2])  # type: ignore[index]
            if not free_symbols(part):
                return part
            known = self.shape(part)
            if not known.real:
                raise NotComposed
            if part not in symbols:
                symbols[part] = part if isinstance(part, str) else f"real${len(symbols)}"
                if known.sign or known.nonzero:
                    if known.sign == "+":
                        conditions.append(("Greater" if known.nonzero else "GreaterEqual", symbols[part], 0))
                    elif known.sign == "-":
                        conditions.append(("Less" if known.nonzero else "LessEqual", symbols[part], 0))
            return symbols[part]

        if not is_call(node, "Plus", "Times", "Power") or (is_call(node, "Power") and not isinstance(arguments(node)[1], int)):
            return None
        try:
            written = general(node)
        except NotComposed:
            return None
        found = Signs(conditions, set(symbols.values())).of(written)
        return {"+": POSITIVE, "-": NEGATIVE, "0": cone(ZERO, ZERO)}.get(found)


def proportion(node: Tree, other: Tree) -> fmpq | None:
    """The rational number that node is a multiple of other by."""
    if node == other:
        return fmpq(1)
    if free_symbols(node) != free_symbols(other):
        return None
    tried = {name: fmpq(37 + 12 * i, 64) for i, name in enumerate(sorted(free_symbols(node)))}
    try:
        with precision(BITS):
            a, b = (evaluate(one, Environment.of(tried)) for one in (node, other))
    except (Undecided, Refused):
        return None
    ratios = [a / b] if isinstance(a, fmpq) and isinstance(b, fmpq) and b != 0 else [fmpq(1), fmpq(-1)]
    return next((r for r in ratios if r != 0 and proves_zero(minus(node, times(rational_tree(r), other)))), None)


def of_constant(node: Tree) -> Shape:
    with precision(BITS):
        try:
            value = evaluate(node)
        except (Undecided, Refused):
            raise NotComposed from None
        if not is_number(value):
            raise NotComposed
        z = complex_ball(value)
        if not z.is_finite():
            raise NotComposed
        if z.imag.is_zero():
            return POSITIVE if z.real > 0 else NEGATIVE if z.real < 0 else cone(ZERO, ZERO) if z.real.is_zero() else line()
        if z.real.is_zero():
            return cone(HALF, HALF, True) if z.imag > 0 else cone(-HALF, -HALF, True) if z.imag < 0 else line(HALF)
        angle = z.arg() / arb.pi()
        if z.contains(0) or not arb(angle.rad()) < fmpq(1, FINE):
            return plane()
        middle = fmpq((arb(angle.mid()).fmpq() * FINE).floor(), FINE)
        return cone(middle - fmpq(2, FINE), middle + fmpq(2, FINE), nonzero=True)


def slope_of_one_sign(node: Tree, composer: Composer) -> bool:
    """Whether a derivative keeps its sign, so that an expression changes its own at each of its zeros."""
    fresh = Composer(composer.name, composer.half, composer.facts)
    try:
        slope = fresh.shape(plainly(differentiate(node, composer.name)))
    except (NotComposed, Refused):
        return False
    return bool(slope.sign) and slope.nonzero and not fresh.bad


def factors(node: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Bases and exponents of a product that is written plainly()."""
    if is_call(node, "Times"):
        for part in arguments(node):
            yield from factors(part)
    elif is_call(node, "Power") and len(arguments(node)) == 2 and node[1] != "E":  # type: ignore[index]
        base, exponent = arguments(node)
        if is_call(base, "Times") and isinstance(exponent, int):
            for inner, of in factors(base):
                p = rational_of(of)
                yield inner, rational_tree(p * exponent) if p is not None else times(of, exponent)
        else:
            yield base, exponent
    else:
        yield node, 1
