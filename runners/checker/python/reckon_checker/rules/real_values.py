"""Solutions over the reals: the language takes all values of functions in the equations for real as well, others take the unknowns
only. Where the two differ nothing is decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from flint import acb

from ..evaluation import Environment, evaluate
from ..tree import Refused, Tree, arguments, free_symbols, walk
from ..values import Gaussian, Number, Undecided
from .candidates import Candidate
from .families import BRANCHLESS


def restricted(equations: Iterable[Tree], domain: str, solutions: list[Candidate]) -> list[Candidate]:
    """Candidates at which not all functions in the equations are known to have real values are neither admissible nor not."""
    parts = branching(equations) if domain != "Complexes" else []
    if not parts:
        return solutions
    return [replace(one, admissible=None) if one.admissible and not all_real(parts, one.values) else one for one in solutions]


def branching(equations: Iterable[Tree]) -> list[Tree]:
    """The parts whose values may not be real for real symbols."""
    found: dict[Tree, None] = {}
    for equation in equations:
        for side in arguments(equation):
            for part in walk(side):
                if isinstance(part, tuple) and free_symbols(part) and part[0] not in BRANCHLESS and not (part[0] == "Power" and isinstance(part[-1], int)):
                    found[part] = None
    return list(found)


def all_real(parts: list[Tree], values: dict[str, Number]) -> bool:
    env = Environment.of(values)
    for part in parts:
        try:
            value = evaluate(part, env)
        except (Undecided, Refused):
            return False  # it is not known to be
        if isinstance(value, Gaussian) or (isinstance(value, acb) and not value.imag.contains(0)):
            return False
    return True
