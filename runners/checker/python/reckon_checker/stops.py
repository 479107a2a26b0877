"""Where an integral is split: places inside its range at which the integrand may not be analytic, exactly where they are
recognized, so that an expansion can begin at them. A place that is missed or taken for nothing costs width, never truth."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from flint import arb, fmpq

from .critical import critical, crossings
from .evaluation import EMPTY, evaluate
from .normal import proves_equal
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, replace, times
from .univariate import polynomial
from .values import Number, Undecided, Value, complex_ball, is_number, real_ball

NEAR = fmpq(1, 2**30)  # two places that are closer are one
MAX_ZEROS = 260  # of one sine or cosine
MOST_PERIODS = 10**9
SHORT = 10**6  # denominators of rational numbers that are what they seem


def stops(integrand: Tree, name: str, low: Value, high: Value) -> list[Tree]:
    """Places inside, in order, as trees without symbols."""
    nodes = critical([integrand])
    found: list[tuple[fmpq, Tree]] = []
    if is_number(low) and is_number(high):
        for node in nodes:
            found += zeros_of_sine(node, name, low, high)
    for x in crossings(nodes, name, EMPTY):
        if not any(close(x, other) for other, _ in found):
            found.append((x, recognized(x)))
    inside = sorted((pair for pair in found if above(pair[0], low) and above(-pair[0], minus_value(high))), key=lambda pair: pair[0])
    if not inside and not is_number(low) and not is_number(high):
        return [0]
    return [tree for _, tree in inside]


def minus_value(value: Value) -> Value:
    return -complex_ball(value) if is_number(value) else value


def close(x: fmpq, y: fmpq) -> bool:
    return bool(abs(x - y) < NEAR * (1 + abs(x)))


def above(x: fmpq, end: Value) -> bool:
    """Whether the place lies clearly above an end; what lies at the end is its critical place itself."""
    return not is_number(end) or bool(complex_ball(end).real + arb(NEAR * (1 + abs(x))) < arb(x))


def middle(tree: Tree) -> fmpq:
    value = evaluate(tree)
    real = real_ball(value) if is_number(value) else None
    if real is None:
        raise Undecided("a place")
    return arb(real.mid()).fmpq()


def zeros_of_sine(node: Tree, name: str, low: Number, high: Number) -> list[tuple[fmpq, Tree]]:
    """All zeros of Sin[a x + b] or Cos[a x + b] between two ends."""
    if not is_call(node, "Sin", "Cos") or name not in free_symbols(node):
        return []
    inner = arguments(node)[0]
    shift = replace(inner, name, 0)
    slope = minus(replace(inner, name, 1), shift)
    try:
        if free_symbols(inner) != {name} or not proves_equal(inner, plus(times(slope, name), shift)):
            return []
        a, b = middle(slope), middle(shift)
        if a == 0:
            return []
        ends = sorted(((arb(a) * complex_ball(end).real + arb(b)) / arb.pi() for end in (low, high)), key=lambda end: arb(end.mid()))
        first, last = (round(Fraction(str(arb(end.mid()).fmpq()))) for end in ends)
    except (Undecided, Refused, ValueError, TypeError):
        return []
    if last - first > MAX_ZEROS:
        return []
    half: Tree = 0 if is_call(node, "Sin") else rational(1, 2)
    places = [times(plus(times(plus(k, half), "Pi"), times(-1, shift)), power(slope, -1)) for k in range(first - 1, last + 2)]
    return [(middle(place), place) for place in places]


TURNING = ("Sin", "Cos", "Tan", "Cot", "Sec", "Csc")


def period(node: Tree, name: str) -> Tree | None:
    """The period of an expression in which the symbol stands in sines and their kin only."""
    slopes: list[fmpq] = []
    if not _collect(node, name, slopes) or not slopes or 0 in slopes:
        return None
    common = slopes[0]
    for slope in slopes[1:]:
        common = fmpq(gcd(int(common.p * slope.q), int(slope.p * common.q)), int(common.q * slope.q))
    return times(rational(2 * int(common.q), abs(int(common.p))), "Pi")


def periods(integrand: Tree, name: str, low: Tree, high: Tree) -> tuple[Tree, int] | None:
    """The period of an integrand, and how many of them the range is, where it is a whole number of 2 or more."""
    turn = period(integrand, name)
    if turn is None:
        return None
    try:
        count = round(Fraction(str(middle(times(minus(high, low), power(turn, -1))))))
    except Undecided:
        return None
    if not 2 <= count <= MOST_PERIODS or not proves_equal(minus(high, low), times(count, turn)):
        return None
    return turn, count


def _collect(node: Tree, name: str, slopes: list[fmpq]) -> bool:
    """Slopes of the arguments; False where the symbol stands elsewhere, or in an argument that is not linear."""
    if name not in free_symbols(node):
        return node != name
    if is_call(node, *TURNING):
        p = polynomial(minus(arguments(node)[0], replace(arguments(node)[0], name, 0)), name)
        if p is None or p.degree() != 1:
            return False
        slopes.append(p[1])
        return True
    return isinstance(node, tuple) and all(_collect(part, name, slopes) for part in node[1:])


def recognized(x: fmpq) -> Tree:
    """A rational approximation as Pi, a root or a logarithm times a short number, where it is that near to one."""
    plain = rational_tree(x)
    if x.q < SHORT:
        return plain
    ball = arb(x)
    for value, tree in ((ball / arb.pi(), lambda r: times(r, "Pi")), (ball.exp(), lambda r: ("Log", r)), (ball * ball, lambda r: root(r, x))):
        if not abs(value) < 10**6:
            continue
        y = arb(value.mid()).fmpq()
        short = Fraction(int(y.p), int(y.q)).limit_denominator(120)
        if abs(y - fmpq(short.numerator, short.denominator)) < NEAR and short:
            return tree(rational(short.numerator, short.denominator))
    return plain


def root(square: Tree, x: fmpq) -> Tree:
    found = power(square, rational(1, 2))
    return found if x > 0 else times(-1, found)
