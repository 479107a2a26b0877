"""All places of the real line where the argument of a function with a branch cut may meet an axis of the complex plane.

The argument is read as a + c r, where r^2 = b, and a, b, c are quotients of polynomials in one variable t with rational coefficients: t is x,
Tan[u/2] for circular functions of multiples of u, or E^u for exponentials and hyperbolic ones, where u is of first degree in x. Between the
zeros of a, b, c, their denominators and a^2 - b c^2 neither its real nor its imaginary part changes sign. Of periodic places some stand for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from flint import arb, fmpq, fmpq_poly

from .. import budget
from ..critical import COMPARED
from ..evaluation import evaluate
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, walk
from ..univariate import polynomial
from ..values import Undecided, is_number, precision, real_ball
from .families import BRANCHLESS

BITS = 128
MAX_DEGREE = 60
MAX_MULTIPLE = 12
PERIODS = (0, 1, -1, 2, -2, 17, -23)
CIRCULAR = frozenset("Sin Cos Tan Cot Sec Csc".split())
HYPERBOLIC = frozenset("Exp Sinh Cosh Tanh Coth Sech Csch".split())
# Functions by where they change their ways: nowhere, at the axes, beyond 1 and -1.
ENTIRE = frozenset(
    "Erf Erfc Erfi AiryAi AiryBi FresnelS FresnelC SinIntegral SinhIntegral DawsonF Sinc Hypergeometric1F1 Hypergeometric0F1 HermiteH LaguerreL".split()
)
STRUCTURE = frozenset("Piecewise If Boole List And Or Not".split())
AT_ZERO = frozenset("Log Log2 Log10 Sqrt Abs RealAbs Sign RealSign UnitStep HeavisideTheta Ramp ExpIntegralEi CosIntegral CubeRoot ArcCot".split())
AT_ONE = frozenset(
    "ArcSin ArcCos ArcTanh ArcCosh ArcSec ArcCsc ArcCoth ArcSech ArcTan ArcSinh LogIntegral PolyLog EllipticK EllipticE LegendreP LegendreQ".split()
)
BESSEL = frozenset("BesselJ BesselY BesselI BesselK ExpIntegralE Gamma".split())


class NotPlaced(Exception):
    """The argument is of another kind."""


@dataclass(frozen=True)
class Quotient:
    top: fmpq_poly
    bottom: fmpq_poly

    def plus(self, other: Quotient) -> Quotient:
        return quotient(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def times(self, other: Quotient) -> Quotient:
        return quotient(self.top * other.top, self.bottom * other.bottom)

    def inverse(self) -> Quotient:
        if self.top.degree() < 0:
            raise NotPlaced
        return Quotient(self.bottom, self.top)


def quotient(top: fmpq_poly, bottom: fmpq_poly) -> Quotient:
    budget.step()
    common: Any = top.gcd(bottom)
    if common.degree() > 0:
        top, bottom = top // common, bottom // common
    if max(top.degree(), bottom.degree()) > MAX_DEGREE:
        raise NotPlaced
    return Quotient(top, bottom)


def constant(value: fmpq | int) -> Quotient:
    return Quotient(fmpq_poly([value]), fmpq_poly([1]))


VARIABLE = Quotient(fmpq_poly([0, 1]), fmpq_poly([1]))
ZERO, ONE = constant(0), constant(1)


def square_of_half(multiple: int) -> tuple[Quotient, Quotient]:
    """Cos[m u] and Sin[m u] by t = Tan[u/2]."""
    below = fmpq_poly([1, 0, 1])
    cosine, sine = Quotient(fmpq_poly([1, 0, -1]), below), Quotient(fmpq_poly([0, 2]), below)
    c, s = ONE, ZERO
    for _ in range(abs(multiple)):
        c, s = c.times(cosine).plus(s.times(sine).times(constant(-1))), s.times(cosine).plus(c.times(sine))
    return c, s if multiple >= 0 else s.times(constant(-1))


@dataclass
class Reader:
    """Reads arguments as a + c r. kind: "" (t is x), "circular" or "exponential"; slope, start: of u = slope x + start."""

    x: str
    kind: str = ""
    slope: fmpq = field(default_factory=lambda: fmpq(1))
    start: fmpq = field(default_factory=lambda: fmpq(0))
    radicand: Tree | None = None
    square: Quotient = ONE

    def read(self, node: Tree) -> tuple[Quotient, Quotient]:
        budget.step()
        parts = arguments(node)
        if node == "I" or is_call(node, "Complex"):
            self._rooted(-1, constant(-1))
            re, im = (self._number(part) for part in parts) if parts else (fmpq(0), fmpq(1))
            return constant(re), constant(im)
        if is_call(node, "Plus", "Subtract"):
            found = [self.read(part) for part in parts]
            if is_call(node, "Subtract"):
                found[1:] = [(a.times(constant(-1)), c.times(constant(-1))) for a, c in found[1:]]
            total = ZERO, ZERO
            for a, c in found:
                total = total[0].plus(a), total[1].plus(c)
            return total
        if is_call(node, "Minus") and len(parts) == 1:
            return self._product((constant(-1), ZERO), self.read(parts[0]))
        if is_call(node, "Times"):
            whole = ONE, ZERO
            for part in parts:
                whole = self._product(whole, self.read(part))
            return whole
        if is_call(node, "Divide") and len(parts) == 2:
            return self._product(self.read(parts[0]), self._inverse(self.read(parts[1])))
        if is_call(node, "Power") and len(parts) == 2 and isinstance(parts[1], int) and abs(parts[1]) <= MAX_MULTIPLE:
            base = self.read(parts[0])
            base = self._inverse(base) if parts[1] < 0 else base
            whole = ONE, ZERO
            for _ in range(abs(parts[1])):
                whole = self._product(whole, base)
            return whole
        if is_call(node, "Sqrt") or (is_call(node, "Power") and parts[1] == ("Rational", 1, 2)):
            return self._root(parts[0])
        if self.x not in free_symbols(node):
            return constant(self._number(node)), ZERO
        if node == self.x and not self.kind:
            return VARIABLE, ZERO
        return self._kernel(node), ZERO

    def _product(self, left: tuple[Quotient, Quotient], right: tuple[Quotient, Quotient]) -> tuple[Quotient, Quotient]:
        (a, c), (b, d) = left, right
        return a.times(b).plus(c.times(d).times(self.square)), a.times(d).plus(c.times(b))

    def _inverse(self, one: tuple[Quotient, Quotient]) -> tuple[Quotient, Quotient]:
        norm = self.norm(one).inverse()
        return one[0].times(norm), one[1].times(norm).times(constant(-1))

    def norm(self, one: tuple[Quotient, Quotient]) -> Quotient:
        a, c = one
        return a.times(a).plus(c.times(c).times(self.square).times(constant(-1)))

    def _root(self, inside: Tree) -> tuple[Quotient, Quotient]:
        a, c = self.read(inside)
        if c.top.degree() >= 0:
            raise NotPlaced
        self._rooted(inside, a)
        return ZERO, ONE

    def _rooted(self, radicand: Tree, square: Quotient) -> None:
        if self.radicand is not None and self.radicand != radicand:
            raise NotPlaced
        self.radicand, self.square = radicand, square

    def _number(self, node: Tree) -> fmpq:
        """A constant, nearly."""
        with precision(BITS):
            value = evaluate(node)
            if isinstance(value, fmpq):
                return value
            if not is_number(value):
                raise NotPlaced
            middle: Any = real_ball(value)
            return fmpq(middle.mid().fmpq())

    def _kernel(self, node: Tree) -> Quotient:
        """A circular or exponential function of a multiple of u."""
        head, argument = inner(node)
        line = polynomial(argument, self.x)
        if line is None or line.degree() != 1:
            raise NotPlaced
        multiple = line[1] / self.slope
        if multiple.q != 1 or not 0 < abs(multiple.p) <= MAX_MULTIPLE or line[0] != multiple * self.start:
            raise NotPlaced
        m = int(multiple.p)
        if self.kind == "circular" and head in CIRCULAR:
            cosine, sine = square_of_half(m)
        elif self.kind == "exponential" and head in HYPERBOLIC:
            up = Quotient(fmpq_poly([0] * abs(m) + [1]), fmpq_poly([1]))
            up = up if m > 0 else up.inverse()
            if head == "Exp":
                return up
            half = constant(fmpq(1, 2))
            cosine, sine = up.plus(up.inverse()).times(half), up.plus(up.inverse().times(constant(-1))).times(half)
        else:
            raise NotPlaced
        values = {"Sin": sine, "Cos": cosine, "Tan": sine.times(cosine.inverse()), "Cot": cosine.times(sine.inverse())}
        return {**values, "Sec": cosine.inverse(), "Csc": sine.inverse()}[head.removesuffix("h")]

    def places(self, t: fmpq) -> list[arb]:
        """The x with a value of t."""
        if not self.kind:
            return [arb(t)]
        if self.kind == "exponential":
            return [(arb(t).log() - self.start) / self.slope] if t > 0 else []
        return [(2 * arb(t).atan() + 2 * n * arb.pi() - self.start) / self.slope for n in PERIODS]


def inner(node: Tree) -> tuple[str, Tree]:
    parts = arguments(node)
    if is_call(node, "Power") and parts[0] == "E":
        return "Exp", parts[1]
    if is_call(node, *CIRCULAR, *HYPERBOLIC) and len(parts) == 1 and isinstance(node, tuple):
        return str(node[0]), parts[0]
    raise NotPlaced


def reader(node: Tree, x: str) -> Reader:
    """A reader in the variable that a tree is made of."""
    lines: list[tuple[str, fmpq, fmpq]] = []
    for part in walk(node):
        if isinstance(part, tuple) and x in free_symbols(part) and (is_call(part, *CIRCULAR, *HYPERBOLIC) or part[:2] == ("Power", "E")):
            head, argument = inner(part)
            line = polynomial(argument, x)
            if line is None or line.degree() != 1:
                raise NotPlaced
            lines.append(("circular" if head in CIRCULAR else "exponential", line[1], line[0]))
    if not lines:
        return Reader(x)
    kinds = {kind for kind, _, _ in lines}
    if len(kinds) != 1:
        raise NotPlaced
    ratios = [slope / lines[0][1] for _, slope, _ in lines]
    step = fmpq(math.gcd(*(int(r.p) for r in ratios)), math.lcm(*(int(r.q) for r in ratios)))
    return Reader(x, kinds.pop(), lines[0][1] * step, lines[0][2] * step)


def places(node: Tree, x: str) -> list[fmpq]:
    """Approximate places for a tree whose only symbol is x; NotPlaced where they are not all known."""
    try:
        read = reader(node, x)
        a, c = value = read.read(node)
        watched = [read.square.top, read.square.bottom]
        for one in (a, c, read.norm(value)):
            watched += [one.top, one.bottom]
        with precision(BITS):
            found = [place for p in watched for t in real_zeros(p) for place in read.places(t)]
            if read.kind == "circular":  # where Tan[u/2] is infinite
                found += [((2 * n + 1) * arb.pi() - read.start) / read.slope for n in PERIODS]
            return [fmpq(arb(place.mid()).fmpq()) for place in found]
    except (Undecided, Refused, ZeroDivisionError):
        raise NotPlaced from None


def every_place(body: Tree, x: str) -> list[fmpq]:
    """Approximate places of the real line at which a tree of one symbol may jump, all of them but for periods; NotPlaced where these are not known."""
    found: set[fmpq] = set()
    looked: set[Tree] = set()
    for part in walk(body):
        if not isinstance(part, tuple) or x not in free_symbols(part) or part[0] in BRANCHLESS or part[0] in ENTIRE or part[0] in STRUCTURE:
            continue
        for node in watched(part, x):
            if x in free_symbols(node) and node not in looked:
                looked.add(node)
                found.update(places(node, x))
    return sorted(found)


def watched(part: tuple[Tree, ...], x: str) -> list[Tree]:
    """What a function changes its ways at the zeros of, or where it meets an axis."""
    parts = arguments(part)
    if part[0] == "Power" and len(parts) == 2:
        if isinstance(parts[1], int):
            return [parts[0]] if parts[1] < 0 else []
        return [] if parts[0] == "E" else [parts[0]]
    if part[0] in COMPARED or part[0] in ("Max", "Min"):
        return [minus(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]]
    if part[0] in AT_ONE or (part[0] in AT_ZERO and len(parts) == 1) or part[0] in BESSEL:
        if any(x in free_symbols(one) for one in parts[:-1]):
            raise NotPlaced
        return [plus(parts[-1], shift) if shift else parts[-1] for shift in ((-1, 0, 1) if part[0] in AT_ONE else (0,))]
    raise NotPlaced


def real_zeros(p: fmpq_poly) -> list[fmpq]:
    """Zeros so near to the real line that they may be real where constants were rounded."""
    if p.degree() < 1:
        return []
    found = []
    roots: Any = p.complex_roots()
    for root, _ in roots:
        if abs(root.imag) < arb(2) ** (-BITS // 4):
            found.append(fmpq(arb(root.real.mid()).fmpq()))
    return found
