"""Definite integrals by an antiderivative: its derivative is the integrand by a normal form, all places of the range at which it may not be analytic are
known exactly, and the integral is the sum of what it grows by between them, by its limits from both sides. Absolute values, steps and cases are
resolved in each cell between the places at which they change.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import arb, fmpq, fmpq_poly

from .. import budget
from ..assumptions import Assumptions
from ..calculus import differentiate
from ..critical import COMPARED, critical, shows_its_places
from ..evaluation import Environment, evaluate, truth
from ..expanding import is_minus_infinity, towards
from ..findings import Verified
from ..normal import proves_zero
from ..reality import is_real
from ..signs import Signs
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational_of, rational_tree, reals, replace, times, walk
from ..univariate import polynomial
from ..values import INFINITY, MINUS_INFINITY, NonValue, Undecided, is_number, precision, real_ball
from . import identities, known_integrals
from .breaks import single_valued, singular_places
from .continuity import EVERYWHERE, Side, written_out
from .limits import one_sided
from .one_variable import NotPlaced
from .primitives import NotOfForm, candidates, exponential_sum, factored, integrated

BITS = 256
MAX_PLACES = 24
WHOLE_PARTS = ("Floor", "Ceiling", "Round", "IntegerPart", "FractionalPart", "Mod")
KINKED = ("Abs", "RealAbs", "Sign", "RealSign", "UnitStep", "HeavisideTheta", "Ramp", "Max", "Min", "Piecewise", "Boole")


def proof(integrand: Tree, ranges: list[tuple[str, Tree, Tree]], task: dict[str, Any], seed: int) -> Verified | None:
    """Whether the integral over ranges, the first one outermost, is the answer."""
    answer, conditions = task["answer"], list(task.get("assumptions") or [])
    parts = arguments(answer)
    if is_call(answer, "ConditionalExpression") and len(parts) == 2 and plain_condition(parts[1]):
        answer, conditions = parts[0], [*conditions, parts[1]]
    value = over(integrand, ranges, conditions)
    if value is None:
        return None
    found = identities.check({"claims": [(value, answer)], "assumptions": conditions}, seed)
    return found if isinstance(found, Verified) else None


def plain_condition(condition: Tree) -> bool:
    """Whether a condition bounds one symbol, or its real part, by one number: some values meet it."""
    if not is_call(condition, "Greater", "Less", "GreaterEqual", "LessEqual") or len(arguments(condition)) != 2:
        return False
    one, bound = arguments(condition)
    name = arguments(one)[0] if is_call(one, "Re") else one
    return isinstance(name, str) and rational_of(bound) is not None


def over(integrand: Tree, ranges: list[tuple[str, Tree, Tree]], conditions: list[Tree]) -> Tree | None:
    """The integral over ranges, the first one outermost, as a tree."""
    value: Tree | None = integrand
    for one in reversed(ranges):
        value = None if value is None else integral(value, *one, conditions)
    return value


def integral(integrand: Tree, x: str, low: Tree, high: Tree, conditions: list[Tree]) -> Tree | None:
    """The integral as a tree; None where no antiderivative is proved."""
    if x in free_symbols(low) | free_symbols(high) or reals(integrand) or reals(low) or reals(high):
        return None
    integrand = written_out(integrand)
    try:
        if (free_symbols(integrand) - {x}) | free_symbols(low) | free_symbols(high):
            found = of_power(integrand, x, low, high, conditions) or entire(integrand, x, low, high, conditions)
        else:
            found = with_numbers(integrand, x, low, high)
    except (NotPlaced, NotOfForm, Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
        found = None
    return found if found is not None else known_integrals.value(integrand, x, low, high, conditions)


def antiderivative(integrand: Tree, x: str, usable: Any = None) -> Tree | None:
    for found in candidates(integrand, x):
        if (usable is None or usable(found)) and identities.proves([(integrand, ("D", found, x))], Assumptions([])):
            return found
    return None


# With parameters: what is analytic everywhere.


def entire(integrand: Tree, x: str, low: Tree, high: Tree, conditions: list[Tree]) -> Tree | None:
    """Sums of polynomials times exponentials: at an infinite end each exponential goes to 0, by the sign of the real part of its rate."""
    terms = exponential_sum(integrand, x)
    assumed = Assumptions(conditions)
    signs = Signs(assumed.conditions, {name for name in free_symbols(integrand) if assumed.is_real(name)})
    total: list[Tree] = []
    for (rate, n), c in terms.items():
        primitive = integrated(rate, n, c, x)
        total.append(minus(at_end(primitive, rate, x, high, signs), at_end(primitive, rate, x, low, signs)))
    whole = plus(*total)
    primitive = plus(*(integrated(rate, n, c, x) for (rate, n), c in terms.items()))
    return whole if identities.proves([(integrand, ("D", primitive, x))], assumed) else None


def of_power(integrand: Tree, x: str, low: Tree, high: Tree, conditions: list[Tree]) -> Tree | None:
    """c x^p with a symbolic p, between ends that are not negative: 0^(p + 1) is 0 where p > -1, and Infinity^(p + 1) where p < -1."""
    constant, factors = factored(integrand, x)
    if len(factors) != 1 or factors[0][0] != x or not free_symbols(factors[0][1]):
        return None
    after = plus(factors[0][1], 1)
    assumed = Assumptions(conditions)
    signs = Signs(assumed.conditions, {name for name in free_symbols(integrand) if assumed.is_real(name)})
    sign = signs.of(after)

    def at(end: Tree) -> Tree:
        if (end == 0 and sign == "+") or (end == "Infinity" and sign == "-"):
            return 0
        if end in (0, "Infinity") or free_symbols(end) or not position(end) > 0:
            raise NotOfForm
        return power(end, after)

    return times(constant, power(after, -1), minus(at(high), at(low))) if sign in ("+", "-") else None


def at_end(primitive: Tree, rate: Tree, x: str, end: Tree, signs: Signs) -> Tree:
    way = 1 if end == "Infinity" else -1 if is_minus_infinity(end) else 0
    if way == 0:
        if any(part in ("Infinity", "ComplexInfinity", "DirectedInfinity", "Indeterminate") for part in walk(end)):
            raise NotOfForm
        return replace(primitive, x, end)
    if signs.of(real_part(rate, signs)) != ("-" if way > 0 else "+"):
        raise NotOfForm
    return 0


def real_part(rate: Tree, signs: Signs) -> Tree:
    """Of a sum of real terms and of I times real ones; NotOfForm where a factor is not known to be real."""
    if is_call(rate, "Plus"):
        return plus(*(real_part(part, signs) for part in arguments(rate)))
    flat = flattened(rate)
    turns = flat.count("I")
    factors = [factor for factor in flat if factor != "I"]
    if not all(is_real(factor, signs.real) or signs.of(factor) for factor in factors):
        raise NotOfForm
    return 0 if turns % 2 else times((-1) ** (turns // 2), *factors)


def flattened(node: Tree) -> list[Tree]:
    return [factor for part in arguments(node) for factor in flattened(part)] if is_call(node, "Times") else [node]


# Numbers only.


def with_numbers(integrand: Tree, x: str, low: Tree, high: Tree) -> Tree | None:
    order = ordered(low, high)
    if order == 0:
        return 0
    if order < 0:
        inner = with_numbers(integrand, x, high, low)
        return None if inner is None else times(-1, inner)
    parts: list[Tree] = []
    for formula, a, b in smooth(integrand, x, low, high):
        budget.step()
        found = antiderivative(formula, x)
        piece = None if found is None else grown(found, x, a, b)
        if piece is None:
            return None
        parts.append(piece)
    return plus(*parts)


Piece = tuple[Tree, Tree, Tree]  # a formula, and the ends between which it holds


def smooth(integrand: Tree, x: str, low: Tree, high: Tree) -> list[Piece]:
    """The integrand without steps and kinks, range by range: whole parts first, whose values decide where other parts change."""
    whole = [place for part in changing(integrand, x, WHOLE_PARTS) for place in steps(part, x, low, high)]
    pieces = divided(integrand, x, (low, high), whole, WHOLE_PARTS)
    found: list[Piece] = []
    for formula, a, b in pieces:
        kinks = [place for part in changing(formula, x, KINKED) for place in kinks_of(part, x)]
        found += divided(formula, x, (a, b), kinks, KINKED)
    return found


def changing(node: Tree, x: str, heads: tuple[str, ...]) -> list[Tree]:
    return [part for part in walk(node) if is_call(part, *heads) and x in free_symbols(part)]


def divided(node: Tree, x: str, ends: tuple[Tree, Tree], places: list[Tree], heads: tuple[str, ...]) -> list[Piece]:
    """The formulas that hold between places at which functions with these heads change."""
    if not changing(node, x, heads):
        return [(node, *ends)]
    return [(resolved(node, Environment({x: inside(a, b)}), x, heads), a, b) for a, b in pairwise([ends[0], *between_ends(places, *ends), ends[1]])]


def ordered(low: Tree, high: Tree) -> int:
    """1 where low < high, 0 where they are proved equal."""
    if not infinite(low) and not infinite(high) and (low == high or proves_zero(minus(low, high))):
        return 0
    a, b = position(low), position(high)
    if a < b:
        return 1
    if a > b:
        return -1
    raise Undecided("the ends")


def infinite(end: Tree) -> bool:
    return end == "Infinity" or is_minus_infinity(end)


def position(end: Tree) -> arb:
    with precision(BITS):
        value = evaluate(end)
        if value == INFINITY:
            return arb("inf")
        if value == MINUS_INFINITY:
            return arb("-inf")
        found = real_ball(value) if is_number(value) else None
        if found is None:
            raise NotOfForm
        return arb(found)


def inside(a: Tree, b: Tree) -> fmpq:
    low, high = position(a), position(b)
    if not low.is_finite() and not high.is_finite():
        return fmpq(5, 7)
    if not high.is_finite():
        return arb(low.upper()).fmpq() + fmpq(7, 5)
    if not low.is_finite():
        return arb(high.lower()).fmpq() - fmpq(7, 5)
    return (arb(low.upper()).fmpq() + arb(high.lower()).fmpq()) / 2


def between_ends(places: list[Tree], low: Tree, high: Tree) -> list[Tree]:
    """Those inside, each once, in their order."""
    found: list[tuple[arb, Tree]] = []
    for place in places:
        at = position(place)
        if at > position(low) and at < position(high):
            found.append((at, place))
        elif not (at < position(low) or at > position(high) or proves_zero(minus(place, low)) or proves_zero(minus(place, high))):
            raise Undecided("a place at an end")
    found.sort(key=lambda pair: arb(pair[0].mid()).fmpq())
    kept: list[tuple[arb, Tree]] = []
    for at, place in found:
        if kept and at.overlaps(kept[-1][0]):
            if not proves_zero(minus(place, kept[-1][1])):
                raise Undecided("places that are close together")
            continue
        kept.append((at, place))
    if len(kept) > MAX_PLACES:
        raise NotOfForm
    return [place for _, place in kept]


def steps(node: Tree, x: str, low: Tree, high: Tree) -> list[Tree]:
    """Where a whole part of something of first degree jumps."""
    parts = arguments(node)
    if len(parts) != (2 if is_call(node, "Mod") else 1):
        raise NotPlaced  # multiples of a number, or with an offset
    p = polynomial(("Divide", *parts) if is_call(node, "Mod") else parts[0], x)
    if p is None or p.degree() != 1 or infinite(low) or infinite(high):
        raise NotPlaced
    ends = sorted(p(arb(position(end).mid()).fmpq()) for end in (low, high))
    first, last = int(ends[0].floor()) - 1, int(ends[1].ceil()) + 1
    if last - first > MAX_PLACES:
        raise NotPlaced
    shift = fmpq(1, 2) if is_call(node, "Round") else fmpq(0)
    return [rational_tree((n + shift - p[0]) / p[1]) for n in range(first, last + 1)]


def kinks_of(node: Tree, x: str) -> list[Tree]:
    """Where an absolute value, a step or a choice of polynomials changes."""
    if not shows_its_places(node):
        raise NotPlaced
    return [zero for e in critical([node], jumps_only=True) if x in free_symbols(e) for zero in real_zeros(e, x)]


def real_zeros(e: Tree, x: str) -> list[Tree]:
    p = polynomial(e, x)
    if p is None or p.degree() < 0:
        raise NotPlaced
    zeros: list[Tree] = []
    for factor, _ in p.factor()[1]:
        if factor.degree() == 1:
            value = -factor[0] / factor[1]
            zeros.append(rational_tree(value))
        elif factor.degree() == 2:
            a, b, c = factor[2], factor[1], factor[0]
            if b * b - 4 * a * c > 0:
                root = ("Power", rational_tree(b * b - 4 * a * c), ("Rational", 1, 2))
                zeros += [times(rational_tree(1 / (2 * a)), plus(rational_tree(-b), times(sign, root))) for sign in (1, -1)]
        elif has_real_root(factor):
            raise NotPlaced
    return zeros


def has_real_root(factor: fmpq_poly) -> bool:
    roots: Any = factor.complex_roots()
    return any(root.imag.is_zero() for root, _ in roots)


def resolved(node: Tree, env: Environment, x: str, heads: tuple[str, ...]) -> Tree:
    """The formula that holds around a point: functions with these heads written by their values there."""
    if not isinstance(node, tuple) or x not in free_symbols(node):
        return node
    parts = arguments(node)
    if not is_call(node, *heads):
        return (node[0], *(resolved(part, env, x, heads) for part in parts))
    if is_call(node, "Mod"):
        return minus(parts[0], times(parts[1], resolved(("Floor", ("Divide", *parts)), env, x, heads)))
    if is_call(node, "FractionalPart"):
        return minus(parts[0], resolved(("IntegerPart", parts[0]), env, x, heads))
    if is_call(node, *WHOLE_PARTS):
        value = evaluate(node, env)
        if not isinstance(value, fmpq):
            raise NotOfForm
        return rational_tree(value)
    if is_call(node, "Piecewise"):
        for case in arguments(parts[0]):
            formula, condition = arguments(case)
            if holds(condition, env, x):
                return resolved(formula, env, x, heads)
        return resolved(parts[1], env, x, heads) if len(parts) > 1 else 0
    if is_call(node, "Boole"):
        return int(holds(parts[0], env, x))
    if is_call(node, "Max", "Min"):
        if len(parts) != 2:
            raise NotOfForm
        greater = holds(("Greater", *parts), env, x)
        return resolved(parts[0] if greater == is_call(node, "Max") else parts[1], env, x, heads)
    if len(parts) != 1:
        raise NotOfForm
    positive, inner = holds(("Greater", parts[0], 0), env, x), parts[0]
    if is_call(node, "Abs", "RealAbs"):
        return inner if positive else times(-1, inner)
    if is_call(node, "Ramp"):
        return inner if positive else 0
    return (1 if positive else -1) if is_call(node, "Sign", "RealSign") else int(positive)


def holds(condition: Tree, env: Environment, x: str) -> bool:
    """Whether a condition on polynomials with rational coefficients holds at a point: it does then up to the next zero of their differences."""
    compared = [side for part in walk(condition) if is_call(part, *COMPARED) for side in arguments(part) if x in free_symbols(side)]
    if not all(polynomial(side, x) is not None for side in compared):
        raise NotOfForm
    found = truth(condition, env)
    if not isinstance(found, bool):
        raise NotOfForm
    return found


def grown(primitive: Tree, x: str, low: Tree, high: Tree) -> Tree | None:
    """By how much an antiderivative grows in all between two ends, over the places in between at which it may jump or have no value."""
    places = between(primitive, x, low, high)
    total: list[Tree] = []
    for a, b in pairwise([low, *places, high]):
        first, last = limit(primitive, x, a, 1), limit(primitive, x, b, -1)
        if first is None or last is None:
            return None
        total.append(minus(last, first))
    return plus(*total)


def between(primitive: Tree, x: str, low: Tree, high: Tree) -> list[Tree]:
    """The places inside, as exact expressions."""
    known = singular_places(primitive, x)
    if known is None:
        return []
    side = Side(0, primitive, x, {}, known, EVERYWHERE)
    start, end = position(low), position(high)
    found: list[tuple[arb, Tree]] = []
    for place in side.places():
        for turn in turns(side, place, start, end):
            with precision(BITS):
                at = side.position(place, turn, BITS)
                exact = side.exact(place, turn)
            if at < start or at > end:
                continue
            if exact is None:
                raise NotPlaced
            if at > start and at < end:
                found.append((at, exact))
            elif not (proves_zero(minus(exact, low)) or proves_zero(minus(exact, high))):
                raise Undecided("a place at an end")
    if not side.complete or len(found) > MAX_PLACES:
        raise NotPlaced
    found.sort(key=lambda pair: arb(pair[0].mid()).fmpq())
    return [exact for _, exact in found]


def turns(side: Side, place: int | None, start: arb, end: arb) -> range:
    """Which of the periodic images of a place may lie between two ends."""
    if side.known.line.kind != "circular":
        return range(1)
    if not start.is_finite() or not end.is_finite():
        raise NotPlaced
    with precision(BITS):
        first, second = (side.position(place, turn, BITS) for turn in (0, 1))
        ratios = [((edge - first) / (second - first)) for edge in (start, end)]
        found = [arb(end).floor().unique_fmpz() for r in ratios for end in (r.lower(), r.upper())]
    known = [int(n) for n in found if n is not None]
    if len(known) < len(found) or max(known) - min(known) > MAX_PLACES:
        raise NotPlaced
    return range(min(known), max(known) + 2)


def limit(primitive: Tree, x: str, end: Tree, side: int) -> Tree | None:
    """The limit from inside, as a tree; at places at which the formula is plain its value."""
    if not infinite(end) and (plain_at(primitive, x, end) or continuous_at(primitive, x, end, side)):
        return replace(primitive, x, end)
    found = one_sided(towards(primitive, x, "Infinity" if end == "Infinity" else times(-1, "Infinity") if infinite(end) else end, side))
    if found is None or found[1] is None or isinstance(found[0], NonValue):
        return None
    return found[1]


def plain_at(primitive: Tree, x: str, end: Tree) -> bool:
    """Whether a formula is analytic at a place: entire, so that its value is its limit."""
    return single_valued(primitive, x) and singular_places(primitive, x) is None


def continuous_at(node: Tree, x: str, end: Tree, side: int) -> bool:
    """Whether the value at an end is proved to be the limit from a side: sums, products and compositions of functions that are continuous at the
    value of their argument there, on the real line of the side."""
    if not isinstance(node, tuple) or x not in free_symbols(node):
        return True
    head, parts = node[0], arguments(node)
    if not isinstance(head, str) or not all(continuous_at(part, x, end, side) for part in parts):
        return False
    if head in ("Plus", "Times", "Subtract", "Minus", "Exp", "Sin", "Cos", "Sinh", "Cosh", "Erf", "Erfi", "SinIntegral", "FresnelS", "FresnelC"):
        return True
    if head == "Power" and len(parts) == 2:
        if parts[0] == "E" or (isinstance(parts[1], int) and parts[1] > 0):
            return True
        sign = sign_at(parts[0], x, end)
        if isinstance(parts[1], int):
            return sign not in (None, 0)
        return x not in free_symbols(parts[1]) and (sign == 1 or (sign == 0 and positive_exponent(parts[1])))
    if head == "Sqrt":
        return sign_at(parts[0], x, end) in (0, 1)
    if head == "Log" and len(parts) == 1:
        return sign_at(parts[0], x, end) == 1
    if head == "ArcTan" and len(parts) == 1:
        return sign_at(parts[0], x, end) is not None
    if head in ("ArcSin", "ArcCos"):
        near = sign_at(minus(1, power(parts[0], 2)), x, end)
        return near == 1 or (near == 0 and sign_beside(minus(1, power(parts[0], 2)), x, end, side) == 1)
    return head in ("Tan", "Sec") and sign_at(("Cos", parts[0]), x, end) not in (None, 0)


def sign_at(node: Tree, x: str, end: Tree) -> int | None:
    """The sign of a real expression at an end; None where it is not real, or not known."""
    at = replace(node, x, end)
    if proves_zero(at):
        return 0
    with precision(BITS):
        try:
            value = evaluate(at)
        except (Undecided, Refused):
            return None
        real = real_ball(value) if is_number(value) else None
    return None if real is None else 1 if real > 0 else -1 if real < 0 else None


def sign_beside(node: Tree, x: str, end: Tree, side: int) -> int | None:
    """The sign of a polynomial next to an end, by its first derivative there that is not 0."""
    p = polynomial(node, x)
    if p is None:
        return None
    slope: Tree = node
    for n in range(1, p.degree() + 1):
        slope = differentiate(slope, x)
        sign = sign_at(slope, x, end)
        if sign != 0:
            return None if sign is None else sign * side**n
    return None


def positive_exponent(node: Tree) -> bool:
    return sign_at(node, "", 0) == 1
