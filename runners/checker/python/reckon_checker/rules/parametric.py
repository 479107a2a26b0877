"""What holds of solutions for all values of the parameters but special ones."""

from __future__ import annotations

from ..assumptions import Assumptions
from ..findings import Verified
from ..normal import proves_zero
from ..tree import Tree, arguments, free_symbols, minus, power, times
from .families import branchless
from .kernels import NotOfOneKernel, coefficients_of
from .problem import Problem, equations_hold


def all_roots(problem: Problem) -> bool:
    """Whether one polynomial equation is its leading coefficient times the product of x - value for all values of the answer, by
    normal forms with the parameters as symbols."""
    if len(problem.equations) != 1 or len(problem.unknowns) != 1 or problem.others or problem.domain != "Complexes" or not problem.complete:
        return False
    (name,), sides = problem.unknowns, arguments(problem.equations[0])
    if len(sides) != 2 or any(s.conditions or s.integers or s.loose or set(s.values) != {name} for s in problem.solutions):
        return False
    try:
        found = {n: c for n, c in coefficients_of(minus(*sides), name).items() if not proves_zero(c)}
    except NotOfOneKernel:
        return False
    values = [s.values[name] for s in problem.solutions]
    if not found or min(found) < 0 or not 0 < max(found) <= len(values) or any(name in free_symbols(c) for c in found.values()):
        return False
    degree = max(found)
    if len(values) != degree or any(name in free_symbols(value) for value in values):
        return False
    # The equation may divide by the unknown only where its tree does: coefficients_of has multiplied by nothing.
    product: list[Tree] = [minus(name, value) for value in values]
    whole: list[Tree] = [times(c, power(name, n)) for n, c in found.items()]
    return proves_zero(("Plus", *whole, times(-1, found[degree], *product))) and all(defined_alike(value) for value in values)


def defined_alike(value: Tree) -> bool:
    """Whether a formula is made of rational operations and roots, which have a value everywhere but at zeros of what they divide by."""
    if not isinstance(value, tuple) or not free_symbols(value):
        return True
    if value[0] not in ("Plus", "Times", "Power", "Sqrt", "Minus", "Subtract", "Divide") or (value[0] == "Power" and free_symbols(value[-1])):
        return False
    return all(defined_alike(part) for part in value[1:])


def alike_everywhere(problem: Problem) -> bool:
    """Whether question and answer are rational in the parameters: what is so at generic values of them is so at nearly all."""
    names = problem.parameters | set(problem.unknowns)
    equations = [side for e in problem.equations for side in arguments(e)]
    answers = [value for s in problem.solutions for value in s.values.values()]
    return not problem.others and not any(s.conditions for s in problem.solutions) and all(branchless(node, names) for node in (*equations, *answers))


def all_solve(problem: Problem, assumptions: Assumptions) -> bool:
    """Whether every solution is proved to solve the equations in every region of the parameters."""
    named = Problem(problem.equations, [], problem.unknowns, problem.domain, problem.solutions, assumptions.conditions, problem.complete, problem.seed)
    return all(isinstance(equations_hold(named, s), Verified) for s in problem.solutions)
