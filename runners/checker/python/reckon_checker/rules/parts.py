"""Equations for a complex number z in its Re, Im, Abs and Conjugate: two real unknowns a and b with z = a + I b, and each equation together with its
conjugate, which for real a and b is the same.
"""

from __future__ import annotations

from dataclasses import replace as replaced
from itertools import pairwise

from ..findings import Open, Residual
from ..tree import Tree, arguments, free_symbols, is_call, minus, plus, power, replace, times, walk
from .algebraic import NotAlgebraic
from .candidates import Algebraic
from .problem import Problem, Solution, one_to_one
from .systems import Infinite, TooHard

OF_PARTS = ("Re", "Im", "Abs", "Conjugate", "Arg", "Sign")
HALF: Tree = ("Rational", 1, 2)


class NotOfParts(Exception):
    """Something else is taken of the unknown."""


def check(problem: Problem) -> Residual | None:
    """None where the equations are of another kind. What is not solved is open: put in alone, an answer shows nothing of what it leaves out."""
    if problem.domain != "Complexes" or not any(is_call(part, *OF_PARTS) for e in problem.equations for part in walk(e)):
        return None
    why = "equations in real and imaginary parts"
    if problem.others or any(s.conditions or s.integers or s.loose or set(s.values) != set(problem.unknowns) for s in problem.solutions):
        return Open(why)
    unknowns = [f"{kind}[{name}]" for name in problem.unknowns for kind in ("Re", "Im")]
    try:
        differences = [minus(a, b) for e in problem.equations for a, b in pairwise(arguments(e))]
        equations: list[Tree] = [("Equal", side, 0) for node in differences for side in both(node, problem)]
        algebraic = Algebraic(equations, [], unknowns, "Reals")
    except (NotOfParts, NotAlgebraic, Infinite, TooHard):
        return Open(why)
    solutions = [Solution({f"{kind}[{name}]": (kind, value) for name, value in s.values.items() for kind in ("Re", "Im")}) for s in problem.solutions]
    return one_to_one(replaced(problem, equations=equations, unknowns=unknowns, domain="Reals", solutions=solutions), algebraic.at)


def both(node: Tree, problem: Problem) -> list[Tree]:
    """An expression and its conjugate, in real unknowns."""
    written = in_parts(node, problem.unknowns)
    return [written, conjugate(written)]


def in_parts(node: Tree, names: list[str]) -> Tree:
    if node in names:
        return plus(f"Re[{node}]", times("I", f"Im[{node}]"))
    if not isinstance(node, tuple) or not free_symbols(node) & set(names):
        return node
    head, parts = node[0], arguments(node)
    if is_call(node, *OF_PARTS):
        if len(parts) != 1:
            raise NotOfParts
        inner = in_parts(parts[0], names)
        mirrored = conjugate(inner)
        if head == "Abs":
            return power(times(inner, mirrored), HALF)
        if head == "Re":
            return times(HALF, plus(inner, mirrored))
        if head == "Im":
            return times(HALF, "I", plus(mirrored, times(-1, inner)))
        if head == "Conjugate":
            return mirrored
        raise NotOfParts
    if head in ("Plus", "Times", "Subtract", "Minus", "Divide") or (head == "Power" and len(parts) == 2 and isinstance(parts[1], int)):
        return (head, *(in_parts(part, names) for part in parts))
    raise NotOfParts


def conjugate(node: Tree) -> Tree:
    """With -I for I: of rational expressions, and of roots of what is real and not negative."""
    for part in walk(node):
        if is_call(part, "Complex") or (is_call(part, "Power") and not isinstance(arguments(part)[1], int) and arguments(part)[1] != HALF):
            raise NotOfParts
        if isinstance(part, tuple) and part[0] not in ("Plus", "Times", "Subtract", "Minus", "Divide", "Power", "Rational"):
            raise NotOfParts
    return replace(node, "I", times(-1, "I"))
