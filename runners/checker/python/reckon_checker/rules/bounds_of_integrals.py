"""Bounds of an integral between two points that are close together, also across a place where the integrand has none."""

from __future__ import annotations

from flint import arb, fmpq

from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..tree import Tree, arguments, is_call, plus, power, rational_of, times
from ..values import Number, Undecided, complex_ball, is_number

UNIT_STEPS = ("UnitStep", "HeavisideTheta", "Boole", "Sign", "RealSign", "UnitBox")  # of size 1 at most


def finite(node: Tree, name: str, x: fmpq | arb) -> Number | None:
    """A finite value; None where none is known."""
    try:
        value = evaluate(node, Environment({name: x}))
    except Undecided:
        return None
    return value if is_number(value) and complex_ball(value).is_finite() else None


def largest(node: Tree, name: str, low: fmpq, high: fmpq) -> arb | None:
    """A bound of the size of an expression between two points."""
    value = finite(node, name, arb((low + high) / 2, arb((high - low) / 2).upper()))
    return None if value is None else arb(complex_ball(value).abs_upper())


def by_size(integrand: Tree, name: str, low: fmpq, high: fmpq) -> arb | None:
    """A bound of an integral of something that has a bound."""
    most = largest(integrand, name, low, high)
    return None if most is None else most * (high - low)


def by_factors(integrand: Tree, name: str, low: fmpq, high: fmpq) -> arb | None:
    """A bound of an integral across a place where one factor of each term is q^-e, 0 < e < 1, or the logarithm of q or its inverse, and q' is not 0:
    |q(x)| is at least half of |x - x0| times the least |q'| for some x0."""
    direct = by_size(integrand, name, low, high)
    if direct is not None:
        return direct
    parts = arguments(integrand)
    if is_call(integrand, "OnReals$", "OffZero$"):
        return by_factors(parts[1], name, low, high)
    if is_call(integrand, *UNIT_STEPS):
        return arb(high - low)
    if is_call(integrand, "Piecewise"):
        return by_factors(plus(*(arguments(case)[0] for case in arguments(parts[0])), *parts[1:]), name, low, high)
    if is_call(integrand, "Plus"):
        bounds = [by_factors(part, name, low, high) for part in parts]
        known = [bound for bound in bounds if bound is not None]
        return sum(known, arb(0)) if len(known) == len(bounds) else None
    if is_call(integrand, "Divide") and len(parts) == 2:
        return by_factors(times(parts[0], inverted(parts[1])), name, low, high)
    if is_call(integrand, "Power") and isinstance(parts[1], int) and is_call(parts[0], "Times"):
        return by_factors(times(*(power(part, parts[1]) for part in arguments(parts[0]))), name, low, high)
    if is_call(integrand, "Times"):
        scale, singular = arb(1), []
        for part in parts:
            most = largest(part, name, low, high)
            if most is None and not is_call(part, *UNIT_STEPS):
                singular.append(part)
            elif most is None:
                continue
            else:
                scale = scale * most
        inner = by_factors(singular[0], name, low, high) if len(singular) == 1 else None
        return None if inner is None else scale * inner
    return of_one_factor(integrand, name, low, high)


def of_one_factor(node: Tree, name: str, low: fmpq, high: fmpq) -> arb | None:
    base, exponent = powers_of(node)
    width = arb(high - low)
    if is_call(base, "Log") and len(arguments(base)) == 1 and exponent.q == 1:
        (q,) = arguments(base)
        most = largest(q, name, low, high)
        if exponent < 0:
            return None if most is None or not most < 1 else (-most.log()) ** int(exponent.p) * width
        least = steepness(q, name, low, high)
        return None if least is None or exponent != 1 else 2 * width * (1 + abs((least * width / 2).log()) + arb.pi())
    if not -1 < exponent < 0:
        return None
    least = steepness(base, name, low, high)
    return None if least is None else (least / 2) ** arb(exponent) * 2 * width ** arb(1 + exponent) / arb(1 + exponent)


def steepness(q: Tree, name: str, low: fmpq, high: fmpq) -> arb | None:
    """The least size of a derivative between two points, where it is not 0."""
    slope = finite(differentiate(q, name), name, arb((low + high) / 2, arb((high - low) / 2).upper()))
    least = arb(complex_ball(slope).abs_lower()) if slope is not None else arb(0)
    return least if least > 0 and largest(q, name, low, high) is not None else None


def powers_of(node: Tree) -> tuple[Tree, fmpq]:
    """Base and exponent of a power, of 1/Cot[x] for Tan[x]."""
    base, exponent = node, fmpq(1)
    while True:
        parts = arguments(base)
        if is_call(base, "Sqrt") and len(parts) == 1:
            base, exponent = parts[0], exponent / 2
        elif is_call(base, "Power") and len(parts) == 2 and parts[0] != "E" and (n := rational_of(parts[1])) is not None:
            base, exponent = parts[0], exponent * n
        elif isinstance(base, tuple) and is_call(base, *INVERSES) and exponent > 0:
            base, exponent = (INVERSES[str(base[0])], *parts), -exponent
        else:
            return base, exponent


INVERSES = {"Tan": "Cot", "Cot": "Tan", "Sec": "Cos", "Csc": "Sin", "Sech": "Cosh", "Csch": "Sinh", "Tanh": "Coth", "Coth": "Tanh"}


def inverted(node: Tree) -> Tree:
    """The inverse of a product, of its factors."""
    parts = arguments(node)
    if is_call(node, "Times"):
        return times(*(inverted(part) for part in parts))
    if is_call(node, "Divide") and len(parts) == 2:
        return times(inverted(parts[0]), parts[1])
    if is_call(node, "Power") and len(parts) == 2 and parts[0] == "E":
        return power("E", times(-1, parts[1]))
    if is_call(node, "Power") and isinstance(parts[1], int) and is_call(parts[0], "Times"):
        return inverted(times(*(power(part, parts[1]) for part in arguments(parts[0]))))
    if is_call(node, "Power") and len(parts) == 2 and isinstance(parts[1], int):
        return power(inverted(parts[0]), parts[1]) if is_call(parts[0], *INVERSES) else power(parts[0], -parts[1]) if parts[1] != -1 else parts[0]
    if isinstance(node, tuple) and is_call(node, *INVERSES) and len(parts) == 1:
        return (INVERSES[str(node[0])], parts[0])
    return power(node, -1)
