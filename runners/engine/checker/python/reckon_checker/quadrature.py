"""Enclosures of definite integrals: adaptive Gauss-Legendre quadrature with proved bounds (Petras 2002; Johansson 2018, as in
acb.integral), ends where the integrand is singular and infinite tails by the bounds of tails.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from flint import acb, arb, fmpq

from . import budget, tails
from .critical import critical, crossings, exact_tree, isolated
from .evaluation import Environment, evaluate
from .sides import resolved
from .tree import Tree, arguments, free_symbols, is_call, walk
from .univariate import polynomial
from .values import Undecided, complex_ball, is_number

ANALYTIC = frozenset(
    "Plus Times Subtract Minus Divide Rational Complex Exp Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Sinc Erf Erfc Erfi FresnelS "
    "FresnelC SinIntegral SinhIntegral AiryAi AiryBi AiryAiPrime AiryBiPrime Gamma Factorial Zeta Haversine Identity".split()
)
# Functions with cuts: which real intervals of the last argument.
BELOW: dict[str, int] = {"Log": 0, "Sqrt": 0, "Log2": 0, "Log10": 0, "ExpIntegralEi": 0, "CosIntegral": 0, "LogGamma": 0, "ArcCosh": 1}
BESIDE_ONE = frozenset(["ArcSin", "ArcCos", "ArcTanh"])
BEYOND_ONE = frozenset(["EllipticK", "EllipticE", "PolyLog", "Hypergeometric2F1"])
KINKS = ("Abs", "RealAbs", "Max", "Min", "Ramp", "Clip")
EVALUATIONS = 6000
STARTS = (64, 1 << 10, 1 << 20, 1 << 40)
NEAR = (1 << 10, 1 << 30, 1 << 60)


def holomorphic(node: Tree, env: Environment) -> bool:
    """Whether an expression is proved to be holomorphic on the ball that the environment holds."""
    if not isinstance(node, tuple):
        return True
    head, parts = node[0], arguments(node)
    if not isinstance(head, str) or not all(holomorphic(part, env) for part in parts):
        return False
    if head == "Power" and len(parts) == 2:
        return isinstance(parts[1], int) or parts[0] == "E" or (isinstance(parts[0], int) and parts[0] > 0) or _off(parts[0], env, 0)
    if head in ANALYTIC:
        return True
    if head in BELOW:
        return _off(parts[-1], env, BELOW[head])
    if head in BESIDE_ONE:
        return _off(("Plus", 1, ("Times", -1, ("Power", parts[-1], 2))), env, 0)
    if head in BEYOND_ONE:
        return _off(("Plus", 1, ("Times", -1, parts[-1])), env, 0)
    if head == "ArcTan" and len(parts) == 1:
        return _off(("Plus", 1, ("Power", parts[0], 2)), env, 0)
    if head == "ArcSinh":
        return _off(("Plus", 1, ("Power", parts[0], 2)), env, 0)
    return head in ("BesselJ", "BesselI") and isinstance(parts[0], int)


def _off(node: Tree, env: Environment, end: int) -> bool:
    """Whether an expression stays off the real ray from -infinity to end."""
    value = evaluate(node, env)
    if not is_number(value):
        return False
    z = complex_ball(value)
    return bool(not z.imag.contains(0) or z.real > end)


def smooth_part(node: Tree, name: str, low: arb, high: arb, env: Environment) -> acb:
    """The integral over a finite interval on which the formula is one expression."""

    spent = False  # an exception would not end the quadrature

    def integrand(z: acb, analytic: bool) -> acb:
        nonlocal spent
        if spent:
            return acb("nan")
        here = env.having(name, z)
        try:
            budget.step()
            if analytic and not holomorphic(node, here):
                return acb("nan")
            value = evaluate(node, here)
        except Undecided:
            return acb("nan")
        except budget.Spent:
            spent = True
            return acb("nan")
        return complex_ball(value) if is_number(value) else acb("nan")

    call: Callable[..., Any] = acb.integral
    found = acb(call(integrand, acb(low), acb(high), rel_tol=arb(2) ** -80, abs_tol=arb(2) ** -80, eval_limit=EVALUATIONS, depth_limit=200))
    if spent:
        raise budget.Spent
    return found


def plain(node: Tree, name: str) -> Tree:
    """The tree with Sqrt, Exp and Divide as powers, and Sin[a x]/x as a Sinc[a x], which has a value at 0."""
    if not isinstance(node, tuple):
        return node
    parts = tuple(part if i == 0 and isinstance(part, str) else plain(part, name) for i, part in enumerate(node))
    if parts[0] == "Sqrt" and len(parts) == 2:
        return ("Power", parts[1], ("Rational", 1, 2))
    if parts[0] == "Exp" and len(parts) == 2:
        return ("Power", "E", parts[1])
    if parts[0] == "Divide" and len(parts) == 3:
        return plain(("Times", parts[1], ("Power", parts[2], -1)), name)
    if parts[0] == "Times" and ("Power", name, -1) in parts:
        for wave in parts[1:]:
            line = polynomial(arguments(wave)[0], name) if is_call(wave, "Sin") else None
            if line is not None and line.degree() == 1 and line[0] == 0:
                rest = tuple(part for part in parts[1:] if part not in (wave, ("Power", name, -1)))
                return ("Times", *rest, exact_tree(line[1]), ("Sinc", *arguments(wave)))
    return parts


def enclosed(node: Tree, name: str, low: Tree | None, high: Tree | None, env: Environment) -> acb:
    """An enclosure of the integral of node from low to high (None: infinite). Undecided where none is known."""
    total = acb(0)
    if low is None:
        flipped = _flipped(node, name)
        if high is None:
            return enclosed(flipped, name, 0, None, env) + enclosed(node, name, 0, None, env)
        return enclosed(flipped, name, ("Times", -1, high), None, env)
    a = _real(low, env)
    if high is None:
        start, tail = _tail(node, name, a)
        return _finite(node, name, (a, start), (low, None), env) + acb(arb(0, tail.upper()), arb(0, tail.upper()))
    b = _real(high, env)
    if a > b:
        return -enclosed(node, name, high, low, env)
    return total + _finite(node, name, (a, b), (low, high), env)


def _flipped(node: Tree, name: str) -> Tree:
    return _substitute(node, name, ("Times", -1, name))


def _substitute(node: Tree, name: str, by: Tree) -> Tree:
    if node == name:
        return by
    if isinstance(node, tuple):
        return tuple(part if i == 0 and isinstance(part, str) else _substitute(part, name, by) for i, part in enumerate(node))
    return node


def _real(node: Tree, env: Environment) -> arb:
    value = evaluate(node, env)
    if isinstance(value, fmpq | arb):
        return arb(value)
    raise Undecided("a bound that is not real")


def _tail(node: Tree, name: str, low: arb) -> tuple[arb, arb]:
    """Where to cut an infinite range, and a bound of what is beyond."""
    best: tuple[arb, arb] | None = None
    for start in STARTS:
        if not arb(start) > low:
            continue
        at = arb(start)
        found = tails.bound(node, name, at)
        tail = found.tail(at) if found is not None else None
        if tail is None and start <= STARTS[1]:
            tail = tails.oscillating(node, name, at)
        if tail is not None and tail.is_finite():
            best = (at, tail)
            if tail < arb(10) ** -15:
                break
    if best is None:
        raise Undecided("the tail")
    return best


def _finite(node: Tree, name: str, inside: tuple[arb, arb], ends: tuple[Tree, Tree | None], env: Environment) -> acb:
    a, b = inside
    low, high = ends
    pieces = _pieces(node, name, a, b, env)
    total = acb(0)
    for i, (start, end, formula) in enumerate(pieces):
        first, last = (low if i == 0 else None), (high if i == len(pieces) - 1 else None)
        total += _piece(formula, name, (start, end), (first, last), env)
    return total


def _pieces(node: Tree, name: str, a: arb, b: arb, env: Environment) -> list[tuple[arb, arb, Tree]]:
    """The interval cut where a function that is not analytic changes its ways, with the formula of each piece."""
    if not any(
        is_call(part, *KINKS, "Sign", "UnitStep", "HeavisideTheta", "Piecewise", "If", "Boole", "Floor", "Ceiling", "Round", "Mod") for part in walk(node)
    ):
        return [(a, b, node)]
    if any(is_call(part, "Floor", "Ceiling", "Round", "Mod") for part in walk(node)):
        if not all(is_call(part, "Floor", "Ceiling") is False or part[1] == name for part in walk(node) if isinstance(part, tuple)) or b - a > 200:
            raise Undecided("jumps")
        whole = [fmpq(k) for k in range(int(float(a)) - 1, int(float(b)) + 2)]
    else:
        whole = []
    if not whole and not isolated([node], []):
        raise Undecided("kinks that are not isolated")
    places = sorted({place for place in (*crossings(critical([node], jumps_only=True), name, env), *whole) if arb(place) > a and arb(place) < b})
    ends = [a, *map(arb, places), b]
    return [(s, e, unkinked(node, env.having(name, _between(s, e)))) for s, e in pairwise(ends)]


def _between(a: arb, b: arb) -> fmpq:
    return arb(((a + b) / 2).mid()).fmpq()


def unkinked(node: Tree, env: Environment) -> Tree:
    """The formula around a point: Abs[g] is g or -g, Max one of its arguments, steps are constants."""
    if not isinstance(node, tuple):
        return node
    if is_call(node, *KINKS):
        inner = tuple(unkinked(part, env) for part in node[1:])
        value = evaluate((node[0], *inner), env)
        for part in inner:
            for formula in (part, ("Times", -1, part)):
                if evaluate(formula, env) == value:
                    return formula
        if value == 0:
            return 0
        raise Undecided("a kink")
    if is_call(node, "Piecewise", "If", "UnitStep", "HeavisideTheta", "Sign", "Boole", "Floor", "Ceiling", "Round"):
        return unkinked(resolved(node, env), env) if is_call(node, "Piecewise", "If") else resolved(node, env)
    return tuple(part if i == 0 else unkinked(part, env) for i, part in enumerate(node))


def _piece(node: Tree, name: str, inside: tuple[arb, arb], given: tuple[Tree | None, Tree | None], env: Environment) -> acb:
    """One piece; where quadrature does not come to an end, the ends are cut off and bounded."""
    a, b = inside
    low, high = given
    best: acb | None = None
    if all(end is None or _has_value(node, name, end, env) for end in given):
        found = smooth_part(node, name, a, b, env)
        if found.is_finite() and found.rad() < arb(2) ** -40:
            return found
        best = found if found.is_finite() else None
    for cut in NEAR:
        small = 1 / arb(cut)
        if not b - a > 2 * small:
            continue
        left = _end(node, name, low, 1, arb(cut))
        right = _end(node, name, high, -1, arb(cut))
        inner = smooth_part(node, name, a + small if left is not None else a, b - small if right is not None else b, env)
        rest = sum((part for part in (left, right) if part is not None), arb(0))
        whole = inner + acb(arb(0, rest.upper()), arb(0, rest.upper()))
        if whole.is_finite() and (best is None or whole.rad() < best.rad()):
            best = whole
        if not whole.is_finite() or (best is not None and best.rad() < arb(2) ** -40):
            break
    if best is None:
        raise Undecided("quadrature")
    return best


def _has_value(node: Tree, name: str, end: Tree, env: Environment) -> bool:
    """Whether the integrand has a value at an end."""
    try:
        return is_number(evaluate(node, env.having(name, evaluate(end, env))))
    except Undecided:
        return False


def _end(node: Tree, name: str, end: Tree | None, way: int, cut: arb) -> arb | None:
    if end is None or free_symbols(end):
        return None
    near = tails.at_end(node, name, end, way)
    found = tails.bound(near, name, cut)
    return found.tail(cut) if found is not None else None


def poles_inside(node: Tree, name: str, a: arb, b: arb) -> fmpq | arb | None:
    """A pole of a rational integrand inside the interval or at its ends: the integral diverges."""
    found = tails.ratio(node, name)
    if found is None:
        return None
    top, bottom = found
    if top.is_zero():
        return None
    common = top.gcd(bottom)
    reduced = bottom / common if common.degree() > 0 else bottom
    if reduced.degree() < 1:
        return None
    for factor, _ in reduced.factor()[1]:
        roots: Any = factor.complex_roots()
        for root, _ in roots:
            place = fmpq(-factor[0] / factor[1]) if factor.degree() == 1 else root.real
            if root.imag.is_zero() and arb(place) >= a and arb(place) <= b:
                return place
    return None
