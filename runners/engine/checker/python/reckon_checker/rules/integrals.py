"""Procedure "integral": a definite integral against its enclosure. Polynomials are integrated exactly, iterated ranges and
parameters included; other integrands in one dimension, and products of them, by quadrature with proved bounds. Divergence is
proved by a pole of a rational integrand. Never verified; where no bound of a tail or an end is known, nothing is said.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb, fmpq

from .. import budget
from ..assumptions import Assumptions
from ..evaluation import Environment, evaluate
from ..field import TooLarge
from ..findings import Open, Refuted, Sampled, Statement, Supported, Witness
from ..machine import around
from ..normal import Normalizer, proves_equal
from ..points import Points, environment
from ..quadrature import enclosed, plain, poles_inside
from ..reality import is_real
from ..tree import Refused, Tree, arguments, free_symbols, is_call, plus, power, reals, replace, times
from ..values import (
    Kind,
    NonValue,
    Relation,
    Undecided,
    Value,
    compare,
    complex_ball,
    is_number,
    precision,
    real_ball,
    show,
)
from . import identities

BITS = 128
LOOKED = 3  # points of the parameters
PROMISED = fmpq(1, 10**6)  # of NIntegrate: six digits, absolute below 1

Range = tuple[str, Tree, Tree]


def check(task: dict[str, Any], seed: int) -> Sampled:
    integrand, answer = task["integrand"], task["answer"]
    ranges: list[Range] = []
    for one in task["ranges"]:
        if len(one) != 3:
            return Open("a range with more than two ends")
        ranges.append((one[0], one[1], one[2]))
    if identities.held(answer):
        return Refuted(Statement("the answer is held, not a value")) if is_call(answer, *identities.HELD) else Open("a part is held")
    exactly = exact(integrand, ranges)
    assumptions = Assumptions(task.get("assumptions") or [])
    if exactly is not None and not reals(answer) and not reals(exactly):
        return compared(exactly, answer, assumptions, seed)
    if task.get("principal_value"):
        return Open("a principal value")
    return numeric(task, ranges, assumptions, seed)


def compared(expected: Tree, answer: Tree, assumptions: Assumptions, seed: int) -> Sampled:
    """Two closed forms."""
    if proves_equal(expected, answer):
        return Supported("0")
    return identities.sampled({"claims": [(expected, answer)], "assumptions": assumptions.conditions}, seed)


def exact(integrand: Tree, ranges: list[Range]) -> Tree | None:
    """The integral of a polynomial in the variables of integration, innermost range (the last) first, as a tree."""
    found: Tree | None = integrand
    for name, low, high in reversed(ranges):
        if infinite(low) or infinite(high) or found is None:
            return None
        found = integrated(found, name, low, high)
    return found


def integrated(node: Tree, name: str, low: Tree, high: Tree) -> Tree | None:
    normalizer = Normalizer()
    try:
        value = normalizer.normal(node)
        variable = normalizer.normal(name)
    except (TooLarge, Refused, ValueError, ArithmeticError):
        return None
    keys = {index: key for key, index in normalizer.field.keys.items()}
    if not all(isinstance(key, str) for key in keys.values()):
        return None
    index = next(i for i, d in enumerate(variable.top.degrees()) if d)
    if value.bottom.degrees()[index] > 0:
        return None
    anti = value.top.integral(index)
    terms: list[Tree] = []
    for monomial, coefficient in anti.to_dict().items():
        factors: list[Tree] = [("Rational", int(coefficient.p), int(coefficient.q))]
        factors += [power(str(keys[i]), int(d)) for i, d in enumerate(monomial) if d]
        terms.append(times(*factors))
    whole = plus(*terms)
    bottom = plus(
        *(times(("Rational", int(c.p), int(c.q)), *(power(str(keys[i]), int(d)) for i, d in enumerate(m) if d)) for m, c in value.bottom.to_dict().items())
    )
    ends = plus(replace(whole, name, high), times(-1, replace(whole, name, low)))
    return times(ends, power(bottom, -1))


def infinite(node: Tree) -> int:
    """1 for Infinity, -1 for -Infinity, else 0."""
    if node == "Infinity":
        return 1
    if is_call(node, "Times") and arguments(node)[:1] == (-1,) and "Infinity" in arguments(node):
        return -1
    if is_call(node, "DirectedInfinity") and len(arguments(node)) == 1 and arguments(node)[0] in (1, -1):
        return int(arguments(node)[0])  # type: ignore[arg-type]
    return 0


def numeric(task: dict[str, Any], ranges: list[Range], assumptions: Assumptions, seed: int) -> Sampled:
    integrand, answer = task["integrand"], task["answer"]
    names = free_symbols(("Integrate", integrand, *(("List", *one) for one in ranges))) | (free_symbols(answer) - {one[0] for one in ranges})
    if len(ranges) > 1 and names:
        return Open("a multiple integral with parameters")
    conditions = list(assumptions.conditions) + [("Greater", name, 0) for name in sorted(names) if not assumptions.conditions]
    points = Points(names, [integrand], Assumptions(conditions), seed, real=True).choose()[:LOOKED]
    agreed = False
    with precision(BITS):
        for point in points:
            if point.special:
                continue
            budget.look()
            env = environment(point)
            try:
                found = one_point(integrand, ranges, answer, env, task)
            except Undecided as problem:
                return Supported() if agreed else Open(str(problem))
            if isinstance(found, Refuted | Open):
                return found
            agreed = True
    return Supported() if agreed else Open("no admissible point")


def one_point(integrand: Tree, ranges: list[Range], answer: Tree, env: Environment, task: dict[str, Any]) -> Sampled:
    given = evaluate(answer, Environment(env.values, printed=True))
    if len(ranges) == 1:
        name = ranges[0][0]
        place = pole(integrand, ranges[0], env)
        if place is not None:
            if is_number(given) or given == NonValue(Kind.INDETERMINATE):
                return Refuted(Statement(f"the integral diverges: the integrand has a pole at {name} = {show(place)}, the answer gives {show(given)}"))
            return Open("the integral diverges")
        value = over(integrand, ranges[0], env)
    else:
        value = product(integrand, ranges, env)
    if task.get("approximate") or reals(answer):
        if not is_number(given):
            return Refuted(Witness(value, given, env.values)) if is_infinite(given) or indeterminate(answer) else Open("no value")
        slack = arb(PROMISED) * max(arb(1), arb(complex_ball(value).abs_upper()))
        return Supported(show(value)) if complex_ball(around(value, slack)).overlaps(complex_ball(given)) else Refuted(Witness(value, given, env.values))
    if indeterminate(answer):
        return Refuted(Witness(value, given, env.values))
    relation = compare(value, given).relation
    if relation is Relation.DIFFERENT:
        return Refuted(Witness(value, given, env.values))
    return Supported(show(value)) if relation in (Relation.OVERLAP, Relation.EQUAL) else Open("no value to compare")


def indeterminate(answer: Tree) -> bool:
    return answer == "Indeterminate"


def is_infinite(value: Value) -> bool:
    return isinstance(value, NonValue) and value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY)


def pole(integrand: Tree, one: Range, env: Environment) -> Value | None:
    name = one[0]
    if free_symbols(integrand) - {name}:
        return None
    ends: list[arb] = []
    for end in one[1:]:
        if infinite(end):
            ends.append(arb(infinite(end)) * arb(2) ** 4000)
            continue
        value = evaluate(end, env)
        real = real_ball(value) if is_number(value) else None
        if real is None:
            return None
        ends.append(arb(real))
    return poles_inside(integrand, name, *sorted(ends, key=float) if ends[0] > ends[1] else ends)


def over(integrand: Tree, one: Range, env: Environment) -> acb | arb:
    name, low, high = one
    a, b = infinite(low), infinite(high)
    if a > 0 or b < 0:
        raise Undecided("a range from Infinity")
    filled = plain(with_values(integrand, env, name), name)
    found = enclosed(filled, name, None if a else with_values(low, env, name), None if b else with_values(high, env, name), env)
    return found.real if found.imag.contains(0) and real_integrand(filled, name) else found


def with_values(node: Tree, env: Environment, name: str) -> Tree:
    """Rational values put in for parameters, so that the structure of the integrand is seen."""
    for key, value in env.values.items():
        if isinstance(key, str) and key != name and isinstance(value, fmpq):
            node = replace(node, key, int(value.p) if value.q == 1 else ("Rational", int(value.p), int(value.q)))
    return node


def real_integrand(node: Tree, name: str) -> bool:
    return is_real(node, {name})


def product(integrand: Tree, ranges: list[Range], env: Environment) -> acb | arb:
    """A product of functions of one variable each over constant ranges."""
    names = [one[0] for one in ranges]
    if any(free_symbols(end) for one in ranges for end in one[1:]):
        raise Undecided("a range that depends on another variable")
    factors: dict[str, list[Tree]] = {name: [] for name in names}
    for factor in separated(integrand):
        inside = [name for name in names if name in free_symbols(factor)]
        if len(inside) > 1:
            raise Undecided("an integrand that is no product")
        factors[inside[0] if inside else names[0]].append(factor)
    value: acb | arb = arb(1)
    for one in ranges:
        value = value * over(times(*factors[one[0]]), one, env)
    return value


def separated(node: Tree) -> list[Tree]:
    if is_call(node, "Times"):
        return [factor for part in arguments(node) for factor in separated(part)]
    if is_call(node, "Power") and node[1] == "E" and is_call(node[2], "Plus"):  # type: ignore[index]
        return [power("E", part) for part in arguments(node[2])]  # type: ignore[index]
    return [node]
