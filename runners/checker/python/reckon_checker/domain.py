"""Whether claims that a normal form proves speak of anything: it cancels factors, so that 0/0 or 0 Gamma[0] may be left of what it
calls equal."""

from __future__ import annotations

import random
from collections.abc import Sequence

from flint import fmpq

from .assumptions import Assumptions
from .deciding import constant_parts
from .evaluation import Environment, evaluate
from .points import Name, Points, constants_of, environment
from .tree import Refused, Tree, is_call, walk
from .values import Undecided, Value, gaussian, is_number, precision

TRIES = 4
MAX_POINTS = 40
BITS = 320
# Functions that have a value everywhere.
ENTIRE = frozenset("List Plus Times Subtract Minus Rational Complex Exp Sin Cos Sinh Cosh Sqrt C".split())


def somewhere_defined(claims: Sequence[tuple[Tree, Tree]], names: set[Name], assumptions: Assumptions, seed: int = 1) -> bool:
    """Whether both sides of each claim are proved to have a value at some admissible point, and their parts without symbols have one."""
    sides = [side for claim in claims for side in claim]
    if not all(_constant_has_value(part) for side in sides for part in constant_parts(side)):
        return False
    if not any(divides(side) for side in sides):
        return True
    chance = random.Random(seed)
    for attempt in range(TRIES):
        values: dict[Name, Value] = {}
        for name in sorted(names, key=str):
            sign = -1 if attempt % 2 else 1
            size = fmpq(2 * chance.randrange(6000) + 1, 4096)
            if isinstance(name, str) and name in assumptions.integers:
                values[name] = fmpq(sign * chance.randrange(1, 9))
            elif attempt > 1 and not (isinstance(name, str) and assumptions.is_real(name)):
                values[name] = gaussian(size, sign * size / 3)
            else:
                values[name] = sign * size
        env = Environment(values, constants=constants_of(values))
        if assumptions.hold(env) and all(has_value(side, env) for side in sides):
            return True
    chosen = [environment(point) for point in Points(names, sides, assumptions, seed).choose()[:MAX_POINTS]]
    return any(all(has_value(side, env) for side in sides) for env in chosen)


def _constant_has_value(part: Tree) -> bool:
    """Whether a part without symbols is proved to have a value, for some values of the generated constants in it."""
    if all(not isinstance(inner, tuple) or inner[0] in ENTIRE for inner in walk(part)):
        return True
    generated = {inner[1]: fmpq(2 * i + 37, 64) for i, inner in enumerate(walk(part)) if isinstance(inner, tuple) and inner[0] == "C" and len(inner) == 2}
    try:
        with precision(BITS):
            return _number(evaluate(part, Environment({}, constants=generated)))
    except (Undecided, Refused):
        return False


def divides(node: Tree) -> bool:
    """Whether a tree divides by more than a symbol."""
    for part in walk(node):
        if is_call(part, "Power") and not isinstance(part[1], int) and not (isinstance(part[2], int) and part[2] > 0):  # type: ignore[index]
            if part[1] != "E" and not isinstance(part[1], str):  # type: ignore[index]
                return True
        elif is_call(part, "Divide", "Tan", "Cot", "Sec", "Csc", "Coth", "Csch", "Tanh", "Sech"):
            return True
    return False


def has_value(node: Tree, env: Environment) -> bool:
    with precision(BITS):
        try:
            return _number(evaluate(node, env))
        except (Undecided, Refused):
            return False


def _number(value: Value) -> bool:
    return all(_number(part) for part in value) if isinstance(value, tuple) else isinstance(value, bool) or is_number(value)
