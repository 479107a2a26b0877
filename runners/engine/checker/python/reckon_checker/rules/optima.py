"""Procedure "optimum": a claimed optimum against what can be proved of it.

Refuted: the point is not feasible (limits of strict inequalities are let be), the objective has another value there, a
feasible point is better, a local optimum is not stationary, or the value lies beyond a proved range of the objective. Decimal
numbers of N... and Find... are read to five digits, absolute below 1: what such algorithms promise. Never verified.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate, truth
from ..findings import Open, Refuted, Sampled, Statement, Supported, Witness
from ..tree import Refused, Tree, free_symbols, is_call, reals
from ..truth import member, order
from ..univariate import polynomial
from ..values import INFINITY, MINUS_INFINITY, NonValue, Relation, Undecided, Value, compare, is_number, precision, real_ball, show, sign
from .rivals import Rivals

BITS = 192
PROMISED = fmpq(1, 10**5)
RELAXED = {"Less": "LessEqual", "Greater": "GreaterEqual"}


class Claim:
    """The task: objective, constraints, unknowns, and what the answer says."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.objective: Tree = task["objective"]
        self.constraints: list[Tree] = list(task.get("constraints") or [])
        self.names: list[str] = task["names"]
        self.domain: str = task.get("domain", "Reals")
        self.maximise, self.local = bool(task.get("maximise")), bool(task.get("local"))
        self.value: Tree | None = task.get("value")
        self.point: dict[str, Tree] | None = task.get("point")
        given = [part for part in (self.value, *(self.point or {}).values()) if part is not None]
        self.loose = bool(task.get("approximate")) or any(reals(part) for part in given)

    def read(self, node: Tree) -> Value:
        """A value of the answer; a decimal or approximate one with what is promised of it."""
        found = evaluate(node, Environment(printed=True))
        if self.loose and isinstance(found, fmpq | arb):
            middle = arb(found)
            slack = arb(PROMISED) * max(arb(1), arb(abs(middle).upper()))
            return arb(middle.mid(), (arb(middle.rad()) + slack).upper())
        return found


def check(task: dict[str, Any], seed: int) -> Sampled:
    claim = Claim(task)
    unknown = free_symbols(("List", claim.objective, *claim.constraints)) - set(claim.names)
    if unknown:
        return Open("the objective has parameters")
    with precision(BITS):
        try:
            return judge(claim, seed)
        except Undecided:
            return Open("the enclosures stay too wide")


def judge(claim: Claim, seed: int) -> Sampled:
    at = None
    if claim.point is not None:
        if set(claim.point) != set(claim.names):
            return Open("the point is not complete")
        at = Environment({name: claim.read(node) for name, node in claim.point.items()})
        if any(isinstance(value, NonValue) for value in at.values.values()):
            at = None
        else:
            found = infeasible(claim, at)
            if found is not None:
                return found
    stated = claim.read(claim.value) if claim.value is not None else None
    if at is not None:
        here = objective(claim, at)
        if stated is not None and here is not None:
            compared = compare(here, stated)
            if compared.relation is Relation.DIFFERENT:
                return Refuted(Witness(here, stated, at.values, compared.exact, "the objective at the point given"))
        stated = here if stated is None else stated
    if stated is None:
        return Open("no value is claimed")
    if claim.local:
        return (not_local(claim, at) if at is not None else None) or Supported(show(stated))
    return beyond(claim, stated) or improved(claim, stated, seed) or Supported(show(stated))


def objective(claim: Claim, env: Environment) -> Value | None:
    try:
        value = evaluate(claim.objective, env)
    except Undecided:
        return None
    return value if is_number(value) else None


def infeasible(claim: Claim, at: Environment) -> Refuted | None:
    for name, value in at.values.items():
        inside = tolerant(lambda value=value: member(value, claim.domain))
        if inside is False and not (claim.loose and claim.domain != "Reals"):
            return Refuted(Statement(f"{name} = {show(value)} is not in {claim.domain}"))
    for condition in claim.constraints:
        if tolerant(lambda condition=condition: truth(relaxed(condition), at)) is False:
            where = ", ".join(f"{name} = {show(value)}" for name, value in at.values.items())
            return Refuted(Statement(f"the point {where} is not feasible", exact=not claim.loose))
    return None


def tolerant(test: Any) -> object:
    """The outcome of a test; None where the enclosures do not tell."""
    try:
        return test()
    except Undecided:
        return None


def relaxed(condition: Tree) -> Tree:
    """The condition with its ends: a limit that is not attained is often given as the optimum."""
    if not isinstance(condition, tuple):
        return condition
    head = RELAXED.get(condition[0], condition[0]) if isinstance(condition[0], str) else condition[0]
    if head == "Inequality":
        return (head, *(RELAXED.get(part, part) if isinstance(part, str) else part for part in condition[1:]))
    return (head, *(relaxed(part) if is_call(part, "And", "Or", "Not", *RELAXED, "Inequality") else part for part in condition[1:]))


def better(claim: Claim, a: Value, b: Value) -> bool:
    """Whether a is proved to be better than b."""
    try:
        found = order(a, b)
    except Undecided:
        return False
    return isinstance(found, int) and (found > 0 if claim.maximise else found < 0)


def improved(claim: Claim, stated: Value, seed: int) -> Refuted | None:
    """A feasible point that is better."""
    rivals = Rivals(claim.objective, claim.constraints, claim.names, domain=claim.domain, maximise=claim.maximise, seed=seed)
    for env in rivals.points():
        budget.look()
        value = objective(claim, env)
        if value is not None and better(claim, value, stated) and rivals.feasible(env):
            return Refuted(Witness(value, stated, env.values, not isinstance(value, arb | acb), "a feasible point that is better"))
    return None


def beyond(claim: Claim, stated: Value) -> Refuted | None:
    """Whether the claimed optimum is better than the objective can be."""
    bound = best_of_polynomial(claim) or best_of_range(claim)
    if bound is None or not better(claim, stated, bound):
        return None
    return Refuted(Statement(f"the objective is never {'above' if claim.maximise else 'below'} {show(bound)}, the answer gives {show(stated)}", exact=False))


def best_of_range(claim: Claim) -> Value | None:
    """An enclosure of the objective for all real values of the unknowns, where it is bounded."""
    everywhere = Environment({name: arb(0, arb(2) ** 4000) for name in claim.names})
    try:
        value = evaluate(claim.objective, everywhere)
    except Undecided:
        return None
    if not isinstance(value, arb) or not abs(value) < arb(2) ** 1000:
        return None
    return arb(value.upper() if claim.maximise else value.lower())


def best_of_polynomial(claim: Claim) -> Value | None:
    """The optimum of a polynomial in one real unknown without constraints: at a zero of the derivative, or infinite."""
    if claim.constraints or len(claim.names) != 1 or claim.domain != "Reals":
        return None
    p = polynomial(claim.objective, claim.names[0])
    if p is None or not 1 <= p.degree() <= 60:
        return None
    upward = bool(p[p.degree()] > 0)
    if p.degree() % 2 or upward == claim.maximise:
        return INFINITY if claim.maximise else MINUS_INFINITY
    roots: Any = p.derivative().complex_roots()
    values = [horner(list(p.coeffs()), root.real) for root, _ in roots if root.imag.is_zero()]
    best = values[0]
    for value in values[1:]:
        best = best.max(value) if claim.maximise else best.min(value)
    return best


def horner(coefficients: list[fmpq], x: arb) -> arb:
    value = arb(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def not_local(claim: Claim, at: Environment) -> Refuted | None:
    """Whether a local optimum inside its constraints is not stationary, or is one of the other kind."""
    if any(tolerant(lambda condition=condition: truth(condition, at)) is not True for condition in claim.constraints):
        return None
    for name in claim.names:
        try:
            slope = evaluate(differentiate(claim.objective, name), at)
            if is_number(slope) and (real := real_ball(slope)) is not None and sign(arb(real)) != 0:
                return Refuted(Statement(f"the derivative by {name} is {show(slope)} there, not 0", exact=False))
        except (Undecided, Refused):
            pass
        try:
            bend = evaluate(differentiate(claim.objective, name, 2), at)
            if is_number(bend) and (real := real_ball(bend)) is not None and sign(arb(real)) == (1 if claim.maximise else -1):
                return Refuted(Statement(f"the second derivative by {name} is {show(bend)} there", exact=False))
        except (Undecided, Refused):
            pass
    return None
