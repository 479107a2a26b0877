"""Equations in one real unknown with functions that have steps: their solutions may be intervals."""

from __future__ import annotations

from ..critical import JUMPING
from ..findings import Open, Refuted, Residual, Supported, Verified
from ..tree import Tree, is_call, walk
from .cells import Cells
from .problem import Problem


def check(problem: Problem) -> Residual | None:
    """The truth of the equation and of the answer in every cell; None where the equation is of another kind."""
    if problem.domain not in ("Reals", "Complexes") or not any(is_call(part, *JUMPING) for e in problem.equations for part in walk(e)):
        return None
    (name,) = problem.unknowns
    if not problem.complete or any(s.conditions or s.integers or s.loose or set(s.values) != {name} for s in problem.solutions):
        return None
    left: Tree = ("And", *problem.equations, *problem.others)
    right: Tree = ("Or", *(("Equal", name, s.values[name]) for s in problem.solutions)) if problem.solutions else "False"
    found = Cells(left, right, [], name, "Reals", real=True, solving=True).compare()
    if isinstance(found, Refuted):
        return found  # at a real number, which is a complex one
    return Supported() if isinstance(found, Verified) and problem.domain == "Reals" else Open("equations in functions with steps")
