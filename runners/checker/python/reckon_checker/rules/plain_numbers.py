"""Small whole numbers and halves that solve equations in one unknown, put in exactly: an answer without one of them leaves it out, whatever
the equation is made of."""

from __future__ import annotations

from flint import fmpq

from .. import budget
from ..evaluation import Environment, evaluate, truth
from ..findings import Refuted, Statement
from ..tree import Refused
from ..values import Number, Relation, Undecided, compare, is_number, precision
from ..wording import equation
from .problem import Problem
from .real_values import all_real, branching

BITS = 256
TRIED = (*(fmpq(n) for n in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5)), fmpq(1, 2), fmpq(-1, 2))


def left_out(problem: Problem) -> Refuted | None:
    if not problem.complete or len(problem.unknowns) != 1 or problem.parameters or problem.assumptions or problem.domain not in ("Complexes", "Reals"):
        return None
    if any(s.conditions or s.integers or s.loose or set(s.values) != set(problem.unknowns) for s in problem.solutions):
        return None
    name = problem.unknowns[0]
    try:
        with precision(BITS):
            given = [evaluate(s.values[name]) for s in problem.solutions]
            if not all(is_number(value) for value in given):
                return None
            for x in TRIED:
                budget.step()
                if all(compare(x, value).relation is Relation.DIFFERENT for value in given) and solves(problem, name, x):
                    return Refuted(Statement(equation(name, x) + " is a solution and not in the answer"))
    except (Undecided, Refused):
        return None
    return None


def solves(problem: Problem, name: str, x: fmpq) -> bool:
    values: dict[str, Number] = {name: x}
    try:
        if any(truth(condition, Environment.of(values)) is not True for condition in (*problem.equations, *problem.others)):
            return False
    except (Undecided, Refused):
        return False
    return problem.domain == "Complexes" or all_real(branching(problem.equations), values)
