"""Solutions with conditions on parameters, at the ends of these: Log[a] for a >= 0 has no value at 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from .. import budget
from ..critical import exact_tree
from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Statement, Verified
from ..points import Point, environment
from ..sought import Absent, Found, Sought, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, walk
from ..values import Undecided
from ..wording import equation
from .problem import Problem
from .stated import holds

INCLUDED = ("LessEqual", "GreaterEqual", "Equal")


@dataclass(frozen=True)
class Ends:
    """wrong: a value that is no solution at an end that the conditions include. left_out: in words, what the answer lacks at one that they
    exclude: it speaks of generic values, so that this is no fault."""

    wrong: Sought[Refuted]
    left_out: str = ""


def at_ends(problem: Problem, points: list[Point], solved: Callable[[Problem], Residual]) -> Ends:
    """What the answer says at the ends of the conditions that it states. points: exact values of the parameters, those on the ends among them."""
    found = [end for s in problem.solutions for condition in s.conditions for end in ends_of(condition)]
    to_see = {end for end, included in found if included}
    note = ""
    for point in points if found else ():
        on = [end for end, _ in found if vanishes(end, point)]
        if not on:
            continue
        budget.step()
        inner = problem.having({str(name): exact_tree(value) for name, value in point.values.items()})
        stated = [all_hold(s.conditions) for s in inner.solutions]
        given = [s for s, stands in zip(inner.solutions, stated, strict=True) if stands and s.conditions]
        if None in stated:
            continue
        try:
            one = solved(replace(inner, solutions=given, complete=problem.complete and not given))
        except (Undecided, Refused) as problem_there:
            one = Open(str(problem_there))
        if isinstance(one, Refuted) and given:
            where = f"at {written(point)}, where the answer's conditions hold: {one.proof.sentence()}"
            return Ends(Found(Refuted(Statement(where, one.proof.exact))))
        if isinstance(one, Refuted):
            note = note or f" but at {written(point)}, which the conditions of the answer exclude: {one.proof.sentence()}"
        if given and not isinstance(one, Verified):
            continue
        to_see -= set(on)
    return Ends(Unseen("an end of a condition of the answer") if to_see else Absent(), note)


def written(point: Point) -> str:
    return ", ".join(equation(str(name), value) for name, value in point.values.items())


def all_hold(conditions: list[Tree]) -> bool | None:
    values = [holds(condition) for condition in conditions]
    return False if False in values else None if None in values else True


def ends_of(condition: Tree) -> Iterator[tuple[Tree, bool]]:
    """The expressions whose zeros are the ends of a condition, and whether these belong to it."""
    for part in walk(condition):
        parts = arguments(part)
        if is_call(part, "Less", "Greater", *INCLUDED) and isinstance(part, tuple):
            pairs = [(a, str(part[0]), b) for a, b in pairwise(parts)]
        elif is_call(part, "Inequality"):
            pairs = [(parts[i], str(parts[i + 1]), parts[i + 2]) for i in range(0, len(parts) - 2, 2)]
        else:
            continue
        yield from ((minus(a, b), head in INCLUDED) for a, head, b in pairs if free_symbols(a) | free_symbols(b))


def vanishes(end: Tree, point: Point) -> bool | None:
    """Whether an expression is exactly 0 at a point; None where that is not decided."""
    try:
        return bool(evaluate(end, environment(point)) == 0)
    except (Undecided, Refused):
        return None
