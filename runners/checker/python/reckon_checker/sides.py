"""Continuity at a jump: the formulas that hold on the two sides of a place and the value there, compared at the place."""

from __future__ import annotations

from itertools import pairwise

from flint import fmpq

from .critical import critical, crossings, exact_places, exact_tree, isolated
from .deciding import ENOUGH_DIGITS, decide
from .evaluation import EMPTY, Environment, evaluate, truth
from .tree import Refused, Tree, arguments, free_symbols, is_call
from .univariate import polynomial
from .values import Relation, Undecided, precision

JUMPING = (
    "UnitStep",
    "HeavisideTheta",
    "Sign",
    "RealSign",
    "Floor",
    "Ceiling",
    "Round",
    "IntegerPart",
    "FractionalPart",
    "Mod",
    "Quotient",
    "Piecewise",
    "If",
    "Boole",
    "UnitBox",
    "KroneckerDelta",
    "DiscreteDelta",
    "Arg",
)
CONSTANT = ("UnitStep", "HeavisideTheta", "Sign", "RealSign", "Floor", "Ceiling", "Round", "IntegerPart", "Quotient", "Boole", "UnitBox", "KroneckerDelta")
BITS = 512


def continuous(node: Tree, name: str) -> bool:
    """Whether an expression in one symbol is known to be continuous at all its jumps. False: it jumps, or that is not known."""
    if free_symbols(node) - {name} or not isolated([node], []):
        return False
    try:
        with precision(BITS):
            ends = critical([node], jumps_only=True)
            if not exact_places([p for p in (polynomial(end, name) for end in ends) if p is not None], real=True):
                return False  # x^2 == 2 may choose a value at its zeros alone
            places = crossings(ends, name, EMPTY)
            gaps = [b - a for a, b in pairwise(places)]
            step = min([fmpq(1), *gaps]) / 2**20
            return all(_meets(node, name, place, step) for place in places)
    except (Undecided, Refused):
        return False


def _meets(node: Tree, name: str, place: fmpq, step: fmpq) -> bool:
    left, right = (resolved(node, Environment({name: place + way * step})) for way in (-1, 1))
    at = Environment({name: place})
    return _same(left, right, at) and _same(left, node, at)


def _same(left: Tree, right: Tree, at: Environment) -> bool:
    found = decide(lambda: evaluate(left, at), lambda: evaluate(right, at))
    return found.relation is Relation.EQUAL or (found.relation is Relation.OVERLAP and found.digits >= ENOUGH_DIGITS)


def resolved(node: Tree, env: Environment) -> Tree:
    """The formula that holds around a point: steps are their constants there, cases are chosen."""
    if not isinstance(node, tuple):
        return node
    if node[0] in CONSTANT:
        return exact_tree(evaluate(node, env))
    if is_call(node, "If"):
        node = ("Piecewise", ("List", ("List", node[2], node[1])), *node[3:])
    if is_call(node, "Piecewise"):
        for case in arguments(node[1]):
            value, condition = arguments(case)
            if truth(condition, env) is True:
                return resolved(value, env)
        return resolved(node[2], env) if len(node) > 2 else 0
    if node[0] in JUMPING:
        raise Refused("a jump")
    return tuple(part if i == 0 else resolved(part, env) for i, part in enumerate(node))
