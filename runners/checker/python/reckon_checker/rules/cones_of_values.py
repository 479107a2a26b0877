"""Sets of complex numbers that hold all values of an expression: a line through 0, a convex cone at 0, or the whole plane.

Sums, products and powers of such sets are known without any value: Sqrt[u] of a real u lies between the positive axis and the positive imaginary one,
so that 1 + Sqrt[u] keeps off the negative axis, on which Log is cut. Angles are counted in units of Pi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

ZERO, ONE, HALF = fmpq(0), fmpq(1), fmpq(1, 2)


class Cut(Exception):
    """Values may lie on both sides of a cut."""


@dataclass(frozen=True)
class Shape:
    """kind: "cone" of r E^(I Pi a) with r >= 0 and low <= a <= high, -1 < low <= 1 and high - low <= 1; "line" of all real multiples of E^(I Pi low),
    0 <= low < 1; "plane". nonzero: without 0. inside: without the edges of the cone, so that the cone is as good as open."""

    kind: str
    low: fmpq = ZERO
    high: fmpq = ZERO
    nonzero: bool = False
    inside: bool = False

    @property
    def width(self) -> fmpq:
        return self.high - self.low

    @property
    def ray(self) -> bool:
        return self.kind == "cone" and self.low == self.high

    @property
    def real(self) -> bool:
        return (self.kind == "line" and self.low == 0) or (self.ray and self.low in (ZERO, ONE))

    @property
    def sign(self) -> str:
        """+ or - of real numbers with one sign, 0 being allowed unless nonzero."""
        return "" if not self.real or self.kind == "line" else "+" if self.low == 0 else "-"


def plane(nonzero: bool = False) -> Shape:
    return Shape("plane", nonzero=nonzero)


def line(angle: fmpq = ZERO, nonzero: bool = False) -> Shape:
    angle = angle - angle.floor()
    return Shape("line", angle, angle, nonzero)


def cone(low: fmpq, high: fmpq, nonzero: bool = False, inside: bool = False) -> Shape:
    if high - low > 1:
        return plane(nonzero or inside)
    turns = 2 * ((low + 1) / 2).floor()
    low, high = low - turns, high - turns
    if low == -1:
        low, high = low + 2, high + 2
    return Shape("cone", low, high, nonzero or inside, inside)


POSITIVE, NEGATIVE = cone(ZERO, ZERO, nonzero=True), cone(ONE, ONE, nonzero=True)


def product(a: Shape, b: Shape) -> Shape:
    nonzero = a.nonzero and b.nonzero
    if a.kind == b.kind == "cone":
        return cone(a.low + b.low, a.high + b.high, nonzero, nonzero and (a.inside or b.inside))
    if "plane" not in (a.kind, b.kind) and all(one.kind == "line" or one.ray for one in (a, b)):
        return line(a.low + b.low, nonzero)
    return plane(nonzero)


def total(parts: Sequence[Shape]) -> Shape:
    """Of sums of values of each."""
    if len(parts) == 1:
        return parts[0]
    if any(part.kind == "plane" for part in parts):
        return plane()
    lines, cones = [p for p in parts if p.kind == "line"], [p for p in parts if p.kind == "cone"]
    along = [*(p.low for p in lines), *(p.low for p in cones if p.ray)]
    if len(along) == len(parts) and len({a - a.floor() for a in along}) == 1 and (lines or len({p.low for p in cones}) > 1):
        return line(along[0])
    if lines:
        return beside(lines[0].low, cones) if len({p.low for p in lines}) == 1 else plane()
    middle = (cones[0].low + cones[0].high) / 2
    placed = [turned(p, middle - 1) for p in cones]
    return hull(min(low for low, _ in placed), max(high for _, high in placed), cones, placed)


def turned(p: Shape, least: fmpq) -> tuple[fmpq, fmpq]:
    """The angles of a cone, its middle being least or up to 2 more."""
    middle = (p.low + p.high) / 2
    turns = -2 * ((middle - least) / 2).floor()
    return p.low + turns, p.high + turns


def beside(angle: fmpq, cones: Sequence[Shape]) -> Shape:
    """A line and cones on one side of it."""
    for edge in (angle, angle - 1):
        placed = [turned(p, edge) for p in cones]
        if all(edge <= low and high <= edge + 1 for low, high in placed):
            return hull(edge, edge + 1, cones, placed)
    return plane()


def hull(low: fmpq, high: fmpq, cones: Sequence[Shape], placed: Sequence[tuple[fmpq, fmpq]]) -> Shape:
    """Something inside an open cone stays there whatever of the closed one is added."""
    inside = any(p.inside or (p.nonzero and low < a and b < high) for p, (a, b) in zip(cones, placed, strict=True))
    return cone(low, high, inside or (high - low < 1 and any(p.nonzero for p in cones)), inside and high > low)


def raised(u: Shape, n: int) -> Shape:
    """To a whole power, n not 0."""
    if u.kind == "plane":
        return u
    if u.kind == "line":
        return line(n * u.low, u.nonzero) if n % 2 else cone(n * u.low, n * u.low, u.nonzero)
    return cone(min(n * u.low, n * u.high), max(n * u.low, n * u.high), u.nonzero, u.inside)


def off_the_cut(u: Shape) -> tuple[fmpq, fmpq]:
    """The angles of a cone in -1 < a <= 1, where a power or logarithm is continuous; also -1 and 1 where neither is taken."""
    if u.kind != "cone":
        raise Cut
    if u.high <= 1:
        return u.low, u.high
    if u.inside and u.low == 1:
        return u.low - 2, u.high - 2
    raise Cut


def root(u: Shape, exponent: fmpq) -> Shape:
    """The principal power by an exponent that is no whole number. It is continuous on a cone off the cut, and along a line off 0."""
    if u.kind == "line":
        ends = sorted([exponent * u.low, exponent * (u.low - 1 if u.low else ONE)])
        return cone(ends[0], ends[1], u.nonzero)
    low, high = off_the_cut(u)
    return cone(min(exponent * low, exponent * high), max(exponent * low, exponent * high), u.nonzero, u.inside)
