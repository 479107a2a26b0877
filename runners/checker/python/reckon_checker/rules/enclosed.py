"""Decimal solutions, each as near to an exact one as its digits say: of algebraic equations all exact ones are known, of others a box of that size is
proved to hold one (Krawczyk 1969)."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb

from ..findings import Verified
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, exactly, minus, reals, replace
from ..values import Number, Undecided, precision
from .algebraic import NotAlgebraic
from .candidates import Algebraic
from .decimals import zero_inside
from .digits_right import ULPS, right
from .problem import Problem
from .real_values import restricted
from .rounded import Interval, half_step, read
from .systems import Infinite, TooHard

BITS = 320
ENCLOSED = "0 to the digits that the answer shows: an exact solution lies within"


def proof(problem: Problem) -> Verified | None:
    """Where every decimal is a solution to its digits, and, where all were asked for, there is no other."""
    if problem.parameters or problem.assumptions or not (problem.solutions or problem.complete):
        return None
    if all_near(problem, right):
        return Verified(exact=False, residual=ENCLOSED if problem.solutions else "{}")
    if problem.complete or problem.others:
        return None
    return Verified(exact=False, residual=ENCLOSED) if all(holds_one(problem, s.values) for s in problem.solutions) else None


def all_near(problem: Problem, near: Callable[[Tree, Number], bool]) -> bool:
    """Whether each decimal is near to another exact solution of algebraic equations; all of them, where all were asked for."""
    names = problem.unknowns
    if problem.parameters or problem.assumptions or any(s.conditions or s.integers or s.loose or set(s.values) != set(names) for s in problem.solutions):
        return False
    try:
        algebraic = Algebraic(problem.equations, problem.others, names, problem.domain)
        if algebraic.only_real:
            return False
        true = algebraic.at(BITS)
    except (NotAlgebraic, Infinite, TooHard, Undecided):
        return False
    left = [one for one in restricted(problem.equations, problem.domain, true) if one.admissible is not False]
    if any(not one.admissible for one in left) or (problem.complete and len(left) != len(problem.solutions)):
        return False
    for s in problem.solutions:
        found = [one for one in left if all(near(s.values[name], one.values[name]) for name in names)]
        if not found:
            return False
        left.remove(found[0])
    return True


def holds_one(problem: Problem, values: dict[str, Tree]) -> bool:
    """Whether decimals solve as many equations as unknowns exactly, or the box of their own width is proved to hold a solution: a real one for real
    decimals, whose equations are real then."""
    names = problem.unknowns
    functions = [minus(a, b) for e in problem.equations for a, b in zip(arguments(e), arguments(e)[1:], strict=False)]
    if set(values) != set(names) or len(functions) != len(names):
        return False
    if all(proves_zero(with_values(f, values)) for f in functions):
        return True
    with precision(BITS):
        box: dict[str, Number] = {}
        for name in names:
            parts = read(values[name])
            sides = [interval(part, values[name]) for part in parts] if parts is not None else []
            if not sides or sides[0] is None or (sides[1] is None and parts is not None and any(parts[1])):
                return False
            box[name] = sides[0] if sides[1] is None else acb(sides[0], sides[1])
        try:
            return zero_inside(functions, box, names)
        except (Undecided, Refused, ValueError, ZeroDivisionError):
            return False


def with_values(node: Tree, values: dict[str, Tree]) -> Tree:
    for name, value in values.items():
        node = replace(node, name, exactly(value))
    return node


def interval(part: Interval, value: Tree) -> arb | None:
    """What the digits of the real or imaginary part of a decimal leave open; None where it stands for one number."""
    middle, radius = part
    if radius == 0 and middle != 0 and all(real.machine for real in reals(value)) and reals(value):
        radius = half_step(middle)
    if radius == 0:
        return None
    return arb(middle, arb(radius * (ULPS if radius == half_step(middle) else 1)).upper())
