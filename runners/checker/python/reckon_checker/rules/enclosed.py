"""Decimal solutions, each as near to an exact one as its digits say: of algebraic equations all exact ones are known, of others a box of that size is
proved to hold one (Krawczyk 1969)."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb, arb, fmpq

from ..findings import Verified
from ..tree import Refused, Tree, arguments, minus
from ..values import Number, Undecided, precision
from .algebraic import NotAlgebraic
from .candidates import Algebraic
from .decimals import zero_inside
from .digits_right import ULPS, right
from .problem import Problem
from .real_values import restricted
from .rounded import half_step, read
from .systems import Infinite, TooHard

BITS = 320
ENCLOSED = "0 to the digits that the answer shows: an exact solution lies within"
LEAST = fmpq(1, 2**60)  # radius of the box around a number that is taken for exact


def proof(problem: Problem) -> Verified | None:
    """Where every decimal is a solution to its digits, and, where all were asked for, there is no other."""
    if problem.parameters or problem.assumptions or not problem.solutions:
        return None
    if all_near(problem, right):
        return Verified(exact=False, residual=ENCLOSED)
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
        true = [] if algebraic.only_real else algebraic.at(BITS)
    except (NotAlgebraic, Infinite, TooHard, Undecided):
        return False
    left = [one for one in restricted(problem.equations, problem.domain, true) if one.admissible is not False]
    if any(not one.admissible for one in left) or not left or (problem.complete and len(left) != len(problem.solutions)):
        return False
    for s in problem.solutions:
        found = [one for one in left if all(near(s.values[name], one.values[name]) for name in names)]
        if not found:
            return False
        left.remove(found[0])
    return True


def holds_one(problem: Problem, values: dict[str, Tree]) -> bool:
    """Whether the box of the decimals' own width holds a solution of as many equations as unknowns."""
    names = problem.unknowns
    functions = [minus(a, b) for e in problem.equations for a, b in zip(arguments(e), arguments(e)[1:], strict=False)]
    if set(values) != set(names) or len(functions) != len(names):
        return False
    with precision(BITS):
        box: dict[str, Number] = {}
        for name in names:
            parts = read(values[name])
            if parts is None:
                return False
            sides = [arb(middle, arb(wide(middle, radius)).upper()) for middle, radius in parts]
            box[name] = acb(*sides)
        try:
            return zero_inside(functions, box, names)
        except (Undecided, Refused, ValueError, ZeroDivisionError):
            return False


def wide(middle: fmpq, radius: fmpq) -> fmpq:
    """Half the width of a box: what the digits leave open."""
    return radius * ULPS if radius and radius == half_step(middle) else max(radius, LEAST * max(abs(middle), fmpq(1)))
