"""From a tree in one variable that goes to Infinity to its expansion. Undecided where a function is not handled there."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from flint import arb, fmpq

from . import budget
from .expansion import VARIABLE, Expander, Germ
from .expansion_constants import Constant, exactly
from .growth import ONE, Monomial, X, combined, form_value, order, product
from .logarithms import LOGARITHMS
from .reality import is_real
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, replace, times
from .values import INFINITY, MINUS_INFINITY, NonValue, Undecided, Value, complex_ball, is_number, whole

REAL = frozenset({VARIABLE})
STIRLING = 6

# Through exponentials, logarithms and roots.
BY_EXPONENTIALS: dict[str, Callable[[Tree], Tree]] = {
    "Sinh": lambda z: times(rational(1, 2), minus(power("E", z), power("E", times(-1, z)))),
    "Cosh": lambda z: times(rational(1, 2), plus(power("E", z), power("E", times(-1, z)))),
    "Tanh": lambda z: times(minus(power("E", times(2, z)), 1), power(plus(power("E", times(2, z)), 1), -1)),
    "Coth": lambda z: times(plus(power("E", times(2, z)), 1), power(minus(power("E", times(2, z)), 1), -1)),
    "Sech": lambda z: power(("Cosh", z), -1),
    "Csch": lambda z: power(("Sinh", z), -1),
    "ArcSinh": lambda z: ("Log", plus(z, power(plus(power(z, 2), 1), rational(1, 2)))),
    "ArcCosh": lambda z: ("Log", plus(z, times(power(plus(z, -1), rational(1, 2)), power(plus(z, 1), rational(1, 2))))),
    "Tan": lambda z: times(("Sin", z), power(("Cos", z), -1)),
    "Cot": lambda z: times(("Cos", z), power(("Sin", z), -1)),
    "Sec": lambda z: power(("Cos", z), -1),
    "Csc": lambda z: power(("Sin", z), -1),
    "Sqrt": lambda z: power(z, rational(1, 2)),
    "Exp": lambda z: power("E", z),
    "Sinc": lambda z: times(("Sin", z), power(z, -1)),
    "Minus": lambda z: times(-1, z),
    "Log2": lambda z: times(("Log", z), power(("Log", 2), -1)),
    "Log10": lambda z: times(("Log", z), power(("Log", 10), -1)),
    "Factorial": lambda z: ("Gamma", plus(z, 1)),
    "HarmonicNumber": lambda z: plus(("PolyGamma", 0, plus(z, 1)), "EulerGamma"),
    "CubeRoot": lambda z: times(("Sign", z), power(("Abs", z), rational(1, 3))),
    "ArcCot": lambda z: ("ArcTan", power(z, -1)),
    "ArcCoth": lambda z: ("ArcTanh", power(z, -1)),
    "ArcSec": lambda z: ("ArcCos", power(z, -1)),
    "ArcCsc": lambda z: ("ArcSin", power(z, -1)),
}

WITH_POLES = ("Tan", "Cot", "Sec", "Csc", "Coth", "Csch")

# Analytic near every point where they have a value off their cuts: expanded there by derivatives.
ANALYTIC = frozenset(
    "Sin Cos Log ArcSin ArcCos ArcTan ArcTanh ArcSinh ArcCosh Gamma LogGamma PolyGamma Zeta Erf Erfc Erfi FresnelS FresnelC SinIntegral CosIntegral "
    "ExpIntegralEi LogIntegral ProductLog PolyLog BesselJ BesselY BesselI BesselK AiryAi AiryBi EllipticK EllipticE Tan Cot Sec Csc Sinh Cosh Tanh "
    "Coth Sech Csch SinhIntegral CoshIntegral DawsonF LegendreP ChebyshevT ChebyshevU HermiteH Hypergeometric2F1 Hypergeometric1F1".split()
)


def expand(node: Tree, on: Expander) -> Germ:
    """The expansion of a tree in VARIABLE, which has no other symbols."""
    found = on.cache.get(node) if isinstance(node, tuple) else None
    if found is None:
        budget.step()
        found = _expand(node, on)
        if isinstance(node, tuple):
            on.cache[node] = found
    return found


def _expand(node: Tree, on: Expander) -> Germ:  # noqa: C901 (a table of cases)
    if node == VARIABLE:
        return Germ({X: Constant(1)}, real=True)
    if VARIABLE not in free_symbols(node):
        return on.constant(node)
    if not isinstance(node, tuple) or not isinstance(node[0], str):
        raise Refused("an expansion")
    head, args = node[0], node[1:]
    if head == "Plus":
        return on.sum([expand(arg, on) for arg in args])
    if head == "Times":
        result = expand(args[0], on)
        for arg in args[1:]:
            result = on.times(result, expand(arg, on))
        return result
    if head in ("Subtract", "Divide") and len(args) == 2:
        return expand(minus(*args) if head == "Subtract" else times(args[0], power(args[1], -1)), on)
    if head == "Power" and len(args) == 2:
        return _power(args[0], args[1], on)
    if head == "Log" and len(args) == 2:
        return expand(times(("Log", args[1]), power(("Log", args[0]), -1)), on)
    if head == "Erf" and len(args) == 2:
        return expand(minus(("Erf", args[1]), ("Erf", args[0])), on)
    if head == "Binomial" and len(args) == 2:
        n, k = args
        return expand(times(("Factorial", n), power(times(("Factorial", k), ("Factorial", minus(n, k))), -1)), on)
    if head in ("Max", "Min") and len(args) == 2:
        return expand(args[0] if (eventual_sign(expand(minus(*args), on), on) >= 0) == (head == "Max") else args[1], on)
    if head == "Piecewise":
        return _piecewise(node, on)
    if head == "PolyGamma" and len(args) == 1:
        return _function("PolyGamma", expand(args[0], on), args[0], on, (0,))
    if len(args) > 1:
        if any(VARIABLE in free_symbols(arg) for arg in args[:-1]) or head not in ANALYTIC:
            raise Refused(head)
        return _function(head, expand(args[-1], on), args[-1], on, args[:-1])
    if len(args) != 1:
        raise Refused(head)
    inner = expand(args[0], on)
    if head in ("Abs", "RealAbs", "Sign", "RealSign", "UnitStep", "HeavisideTheta", "Ramp"):
        return _by_sign(head, args[0], inner, on)
    if head in ("Re", "Im", "Conjugate") and is_real(args[0], REAL):
        return Germ({}) if head == "Im" else inner
    if head in ("Floor", "Ceiling", "Round", "IntegerPart", "FractionalPart"):
        return _jumping(head, args[0], inner, on)
    if head in ("Sin", "Cos") and grows(inner):
        return _turning(head, inner, on)
    if head in BY_EXPONENTIALS and (
        grows(inner) or head in ("Tan", "Cot", "Sec", "Csc", "Coth", "Csch", "Sqrt", "Exp", "Minus", "Sinc") or head not in ANALYTIC
    ):
        return expand(BY_EXPONENTIALS[head](args[0]), on)
    if head == "Log":
        return on.log(inner)
    if head in LOGARITHMS:
        try:
            return _function(head, inner, args[0], on, ())
        except Undecided:  # beside a cut, where logarithms know their side
            return expand(LOGARITHMS[head](args[0]), on)
    return _function(head, inner, args[0], on, ())


def grows(germ: Germ) -> bool:
    return any(order(monomial) > 0 for monomial in germ.terms) or (germ.remainder is not None and order(germ.remainder[0]) > 0)


def _power(base: Tree, exponent: Tree, on: Expander) -> Germ:
    if VARIABLE not in free_symbols(exponent):
        return on.raise_to(expand(base, on), Constant(exponent))
    if base == "E":
        return on.exp(expand(exponent, on))
    return on.exp(on.times(expand(exponent, on), on.log(expand(base, on))))


def reach(germ: Germ, on: Expander, beside: Monomial = ONE) -> arb:
    """An upper bound of |germ|/beside on the whole range."""
    total = arb(0)
    for monomial, constant in germ.terms.items():
        total += arb(abs(constant.ball).upper()) * on.range.supremum(product(monomial, beside, fmpq(-1)))
    if germ.remainder is not None:
        total += germ.remainder[1] * on.range.supremum(product(germ.remainder[0], beside, fmpq(-1)))
    return total


def eventual_sign(germ: Germ, on: Expander) -> int:
    """The sign of a real expansion on the whole range: of its leading term, where that outweighs the rest everywhere."""
    if not germ.terms and germ.remainder is None:
        return 0
    monomial, constant = on.lead(germ)
    if any(not form_value(form).imag.is_zero() for _, form in monomial) or not constant.ball.imag.is_zero():
        raise Undecided("not real")
    rest = Germ({m: c for m, c in germ.terms.items() if m != monomial}, germ.remainder)
    if not abs(constant.ball.real) > reach(rest, on, monomial):
        raise Undecided("the sign settles further out")
    return 1 if constant.ball.real > 0 else -1


def _by_sign(head: str, arg: Tree, inner: Germ, on: Expander) -> Germ:
    if not is_real(arg, REAL) and not on.is_real(inner):
        raise Undecided(head + " of something that may be complex")
    sign = eventual_sign(inner, on)
    if head in ("Abs", "RealAbs"):
        return on.scaled(inner, Constant(sign)) if sign else inner
    if head == "Ramp":
        return inner if sign > 0 else Germ({})
    if sign == 0:
        raise Undecided("a jump")
    if head in ("Sign", "RealSign"):
        return Germ({ONE: Constant(sign)})
    return Germ({ONE: Constant(1)} if sign > 0 else {})


def _jumping(head: str, arg: Tree, inner: Germ, on: Expander) -> Germ:
    if not is_real(arg, REAL):
        raise Undecided(head)
    if head == "FractionalPart":
        return on.sum([inner, on.scaled(_jumping("IntegerPart", arg, inner, on), Constant(-1))])
    if grows(inner) or any(m != ONE and order(m) == 0 for m in inner.terms):
        return on.sum([inner, Germ({}, (ONE, arb(1)))])
    center = inner.terms.get(ONE, Constant(0)).value
    away = reach(Germ({m: c for m, c in inner.terms.items() if m != ONE}, inner.remainder), on)
    near = abs(complex_ball(center).real * 2 - (complex_ball(center).real * 2 + fmpq(1, 2)).floor()) if is_number(center) else arb(0)
    if not away < fmpq(1, 2) or ((not isinstance(center, fmpq) or (2 * center).q != 1) and not 2 * away < near):
        raise Undecided("a jump may lie in the range")
    shift = {"Ceiling": 1, "Round": 0}.get(head, 0)
    if not isinstance(center, fmpq):
        return on.constant((head, inner.terms[ONE].tree))
    if head == "Round":
        if (2 * center).q == 1 and center.q != 1:
            raise Undecided("a jump")
        return on.constant((head, rational_tree(center)))
    if center.q != 1:
        return on.constant((head, rational_tree(center)))
    if head == "IntegerPart" and center == 0:
        return Germ({})
    rest = Germ({m: c for m, c in inner.terms.items() if m != ONE}, inner.remainder)
    sign = eventual_sign(rest, on) if rest.terms or rest.remainder else 0
    if head == "IntegerPart":
        head = "Floor" if center > 0 else "Ceiling"
        shift = int(head == "Ceiling")
    below = sign < 0 and not shift
    above = sign > 0 and shift
    return on.constant(int(center.p) - int(below) + int(bool(above)))


def _turning(head: str, inner: Germ, on: Expander) -> Germ:
    i = Constant("I")
    turned = on.exp(on.scaled(inner, i))
    back = on.exp(on.scaled(inner, Constant(times(-1, "I"))))
    if head == "Cos":
        return on.scaled(on.sum([turned, back]), exactly(fmpq(1, 2)))
    return on.scaled(on.sum([turned, on.scaled(back, Constant(-1))]), Constant(times(rational(-1, 2), "I")))


def _piecewise(node: tuple[Tree, ...], on: Expander) -> Germ:
    for case in arguments(node[1]):
        value, condition = arguments(case)
        if _holds(condition, on):
            return expand(value, on)
    return expand(node[2], on) if len(node) > 2 else Germ({})


def _holds(condition: Tree, on: Expander) -> bool:
    parts = arguments(condition)
    if condition == "True":
        return True
    if is_call(condition, "And"):
        return all(_holds(part, on) for part in parts)
    if is_call(condition, "Or"):
        return any(_holds(part, on) for part in parts)
    if is_call(condition, "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "Unequal") and len(parts) == 2:
        sign = eventual_sign(expand(minus(*parts), on), on)
        return {
            "Less": sign < 0,
            "LessEqual": sign <= 0,
            "Greater": sign > 0,
            "GreaterEqual": sign >= 0,
            "Equal": sign == 0,
            "Unequal": sign != 0,
        }[str(condition[0])]  # type: ignore[index]
    raise Refused("a condition")


def _function(head: str, inner: Germ, arg: Tree, on: Expander, before: tuple[Tree, ...]) -> Germ:
    if head not in ANALYTIC or (head == "ArcTan" and before):
        raise Refused(head)
    if not grows(inner):
        return _with_poles(head, inner, on, before, is_real(arg, REAL))
    if before and head not in ("PolyGamma", "BesselJ", "BesselY"):
        raise Undecided(head + " far out")
    sign = eventual_sign(inner, on)
    if head == "ArcTan":
        turned = on.near_constant("ArcTan", on.inverse(inner))
        return on.sum([on.constant(times(rational(sign, 2), "Pi")), on.scaled(turned, Constant(-1))])
    if head in ("Erf", "Erfc"):
        return _error_function(head, inner, sign, on)
    if head in LIMITS:
        return _settling(head, inner, sign, on)
    if sign < 0:
        raise Undecided(head + " far left")
    if head in ("BesselJ", "BesselY"):
        return _bessel(head, before, inner, on)
    if head == "LogGamma":
        return _stirling(inner, on)
    if head == "Gamma" and not before:
        return on.exp(_stirling(inner, on))
    if head == "PolyGamma" and before in ((), (0,)):
        return _digamma(inner, on)
    raise Undecided(head + " far out")


def _with_poles(head: str, inner: Germ, on: Expander, before: tuple[Tree, ...], along_reals: bool) -> Germ:
    """Next to a pole of Gamma: Gamma(z) = Gamma(z + n)/(z (z + 1) ...), after shifting to the right of 0."""
    center = inner.terms.get(ONE, Constant(0)).value
    k = whole(center)
    if head != "Gamma" or before or k is None or k > 0 or k < -20:
        return on.near_constant(head, inner, before, along_reals)
    shifted = on.sum([inner, on.constant(1 - k)])
    result = on.near_constant("Gamma", shifted)
    for j in range(1 - k):
        result = on.times(result, on.inverse(on.sum([inner, on.constant(j)])))
    return result


def _error_function(head: str, inner: Germ, sign: int, on: Expander) -> Germ:
    """|1 - erf(z)| <= exp(-z^2) for z >= 0 (DLMF 7.8.3 is sharper)."""
    size = on.size(on.exp(on.scaled(on.times(inner, inner), Constant(-1))))
    small = Germ({}, size) if size is not None else Germ({})
    limit = sign if head == "Erf" else 0 if sign > 0 else 2
    return on.sum([on.constant(limit), small])


LIMITS: dict[str, Tree] = {"SinIntegral": times(rational(1, 2), "Pi"), "FresnelS": rational(1, 2), "FresnelC": rational(1, 2)}


def _settling(head: str, inner: Germ, sign: int, on: Expander) -> Germ:
    """Odd functions with a limit: for real z > 0 they are off it by at most 2/z (DLMF 6.2.19 and 6.12.4, 7.2.10 and 7.12.3: |f|, |g| < 1/z)."""
    size = on.size(on.scaled(on.inverse(inner), Constant(2)))
    return on.sum([on.constant(times(sign, LIMITS[head])), Germ({}, size)]) if size is not None else on.constant(times(sign, LIMITS[head]))


BERNOULLI = [fmpq(1, 6), fmpq(-1, 30), fmpq(1, 42), fmpq(-1, 30), fmpq(5, 66), fmpq(-691, 2730), fmpq(7, 6), fmpq(-3617, 510)]


def _stirling(z: Germ, on: Expander) -> Germ:
    """log Gamma(z) for z > 0: the error is less than the first term left out (DLMF 5.11.1, 5.11(ii))."""
    _real_far(z, on)
    log = on.log(z)
    parts = [on.times(on.sum([z, on.constant(rational(-1, 2))]), log), on.scaled(z, Constant(-1)), on.constant(times(rational(1, 2), ("Log", times(2, "Pi"))))]
    inverse = on.inverse(z)
    square = on.times(inverse, inverse)
    for k in range(1, STIRLING + 1):
        c = BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
        parts.append(on.scaled(inverse, exactly(c)) if k < STIRLING else _remainder(inverse, c, on))
        inverse = on.times(inverse, square)
    return on.sum(parts)


def _digamma(z: Germ, on: Expander) -> Germ:
    """DLMF 5.11.2."""
    _real_far(z, on)
    inverse = on.inverse(z)
    square = on.times(inverse, inverse)
    parts, current = [on.log(z), on.scaled(inverse, exactly(fmpq(-1, 2)))], square
    for k in range(1, STIRLING + 1):
        c = -BERNOULLI[k - 1] / (2 * k)
        parts.append(on.scaled(current, exactly(c)) if k < STIRLING else _remainder(current, c, on))
        current = on.times(current, square)
    return on.sum(parts)


HANKEL = 5


def _bessel(head: str, before: tuple[Tree, ...], z: Germ, on: Expander) -> Germ:
    """Hankel's expansion (DLMF 10.17.3-4) for real z > 0 and orders from 0 to 4: each of the two sums is off by less than the
    first term left out (DLMF 10.17(iii))."""
    nu = Constant(before[0]).rational() if len(before) == 1 else None
    if nu is None or not 0 <= nu <= 4:
        raise Undecided("an order of " + head)
    _real_far(z, on)
    turned = on.sum([z, on.constant(times(rational(-int((2 * nu + 1).p), 4 * int((2 * nu + 1).q)), "Pi"))])
    inverse = on.inverse(z)
    even: list[Germ] = []
    odd: list[Germ] = []
    current, coefficient = on.constant(1), fmpq(1)
    for k in range(2 * HANKEL + 2):
        signed = coefficient * (-1) ** (k // 2)
        part = on.scaled(current, exactly(signed)) if k < 2 * HANKEL else _remainder(current, signed, on)
        (odd if k % 2 else even).append(part)
        current = on.times(current, inverse)
        coefficient = coefficient * (4 * nu * nu - (2 * k + 1) ** 2) / (8 * (k + 1))
    cosine, sine = _turning("Cos", turned, on), _turning("Sin", turned, on)
    first, second = (cosine, on.scaled(sine, Constant(-1))) if head == "BesselJ" else (sine, cosine)
    both = on.sum([on.times(first, on.sum(even)), on.times(second, on.sum(odd))])
    root = on.raise_to(on.scaled(inverse, Constant(times(2, power("Pi", -1)))), exactly(fmpq(1, 2)))
    return on.times(root, both)


def _real_far(z: Germ, on: Expander) -> None:
    """The argument is real and positive on the whole range."""
    _, constant, small = on.relative(z)
    size = on.size(small)
    if not constant.ball.imag.is_zero() or not constant.ball.real > 0:
        raise Undecided("a complex argument")
    if size is not None and not size[1] * on.range.supremum(size[0]) < fmpq(7, 10):  # |ph z| < Pi/4, whatever the remainder is
        raise Undecided("the range starts too early")
    if not on.is_real(Germ(dict(z.terms.items()))):
        raise Undecided("a complex argument")


def _remainder(germ: Germ, factor: fmpq, on: Expander) -> Germ:
    size = on.size(germ)
    return Germ({}, (size[0], size[1] * abs(arb(factor)))) if size is not None else Germ({})


# What an expansion says.


def limit_of(germ: Germ, on: Expander) -> tuple[Value | None, Tree | None]:
    """The limit: a value that is no number, or a tree; (None, None) where it is proved that there is none."""
    growing = [m for m in germ.terms if order(m) > 0]
    if germ.remainder is not None and order(germ.remainder[0]) >= 0 and not growing:
        raise Undecided("the remainder does not vanish")
    if growing:
        monomial, constant = on.lead(germ)
        if any(not form_value(form).imag.is_zero() for _, form in monomial):
            raise Undecided("it turns and grows")
        ball = constant.ball
        if ball.imag.is_zero():
            return (INFINITY if ball.real > 0 else MINUS_INFINITY), None
        return NonValue(INFINITY.kind, None), constant.tree
    turning = [m for m in germ.terms if m != ONE and order(m) == 0]
    if turning:
        if all(len(m) == 1 for m in turning) and any(germ.terms[m].nonzero() for m in turning) and told_apart(turning):
            return None, None
        raise Undecided("it turns")
    return None, germ.terms[ONE].tree if ONE in germ.terms else 0


def told_apart(turning: list[Monomial]) -> bool:
    """Whether no two of these E^(I c g) are the same in another form."""
    for a, b in itertools.combinations(turning, 2):
        if a[0][0] == b[0][0] and form_value(combined(a[0][1], b[0][1], fmpq(-1))).imag.contains(0):
            return False
    return all(form_value(form).imag != 0 for m in turning for _, form in m)


def towards(function: Tree, name: str, point: Tree, side: int) -> Tree:
    """The function in VARIABLE, which goes to Infinity as the name goes to the point from a side."""
    if point == "Infinity":
        where: Tree = VARIABLE
    elif is_minus_infinity(point):
        where = times(-1, VARIABLE)
    else:
        where = plus(point, times(side, power(VARIABLE, -1))) if point != 0 else power(VARIABLE, -1) if side > 0 else times(-1, power(VARIABLE, -1))
    return replace(function, name, where)


def is_minus_infinity(point: Tree) -> bool:
    return (is_call(point, "Times") and set(arguments(point)) == {-1, "Infinity"}) or (is_call(point, "Minus") and arguments(point) == ("Infinity",))
