"""Questions with parameters are looked at for sample values of these: what differs at one admissible value is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from flint import fmpq

from . import budget
from .assumptions import COMPARISONS, Assumptions
from .deciding import decide
from .evaluation import Environment, evaluate
from .findings import NO_DIFFERENCE, Open, Refuted, Sampled, Statement, Supported, Witness
from .machine import loosened
from .points import Name, Point, Points, environment
from .tree import Refused, Tree, free_symbols, is_call, walk
from .values import Comparison, NonValue, Relation, Undecided, Value, ball, is_number, spread
from .wording import within

SAMPLES = 4
EDGES, EDGE_SHARE = 10, 0.1  # further values, and the share of the budget that is left for each

# Neither for nor against: a formula need not hold where its series or integral diverges.
DIVERGES = Open("it diverges for these parameters")

Known: TypeAlias = dict[Name, Value]


def conditions_of(answer: Tree) -> list[Tree]:
    return [node[2] for node in walk(answer) if isinstance(node, tuple) and is_call(node, "ConditionalExpression") and len(node) == 3]


def leaves_out(answers: Iterable[Tree]) -> bool:
    """Whether answers have conditions that leave out single values of symbols."""
    conditions = [condition for answer in answers for condition in conditions_of(answer)]
    return any(is_call(part, "Unequal", "Equal", "Not", "NotElement") for condition in conditions for part in walk(condition))


def samples(names: set[str], trees: list[Tree], conditions: list[Tree], seed: int, count: int = SAMPLES) -> Iterator[Known]:
    """Admissible real exact values of parameters: positive ones first."""
    if not names:
        yield {}
        return
    points = Points(names, trees, Assumptions(conditions), seed, real=True).choose()
    usable = [point for point in points if not point.special and all(isinstance(value, fmpq) for value in point.values.values())]
    usable.sort(key=lambda point: point.region != "positive")
    assumed = Assumptions(conditions)
    if speaks_of_all(names, conditions):  # what is assumed of all is meant: other signs too
        negative = [point for point in usable if any(isinstance(value, fmpq) and value < 0 for value in point.values.values())]
        usable = [*usable[:2], *negative[: count - 2], *usable[2:]]
    for point in usable[:count]:
        yield dict(point.values)
    for point in usable[:2]:  # within most circles of convergence, and beyond most abscissas
        for change in (lambda v: v / 16, lambda v: v + 3):
            values: Known = {name: value if name in assumed.integers else change(value) for name, value in point.values.items()}  # type: ignore[no-untyped-call]
            if assumed.hold(Environment(values)):
                yield values


def speaks_of_all(names: set[str], conditions: Iterable[Tree]) -> bool:
    return names <= set().union(*(free_symbols(condition) for condition in conditions))


def edges(names: set[str], trees: list[Tree], conditions: list[Tree], seed: int) -> Iterator[Known]:
    """Further admissible values where conditions, or the cases of an answer, speak of all parameters: on the ends that belong to the
    admissible values, and in every cell between the places that they name, near both of its ends too."""
    cases = [case for tree in trees for part in walk(tree) if is_call(part, "Piecewise") for case in walk(part) if is_call(case, *COMPARISONS, "Inequality")]
    if not names or not speaks_of_all(names, [*conditions, *cases]):
        return
    assumed = Assumptions(conditions)
    ends = [tree for condition in assumed.conditions if is_call(condition, *COMPARISONS, "Inequality") for tree in Assumptions([condition]).critical()]
    points = [p for p in Points(names, trees, assumed, seed, real=True).choose() if all(isinstance(value, fmpq) for value in p.values.values())]
    for point in (*(p for p in points if p.special and on_an_end(p, ends)), *(p for p in points if "inside cell" in p.region)):
        yield dict(point.values)


def on_an_end(point: Point, ends: list[Tree]) -> bool:
    found: list[Value] = []
    for end in ends:
        with suppress(Undecided, Refused):
            found.append(evaluate(end, environment(point)))
    return any(isinstance(value, fmpq) and value == 0 for value in found)


def named(values: Known) -> dict[str, Value]:
    return {name: value for name, value in values.items() if isinstance(name, str)}


def sampled(names: set[str], trees: list[Tree], conditions: list[Tree], seed: int, look: Callable[[Known], Sampled]) -> Sampled:
    """The finding over samples: a refutation at any of them; support where all support."""
    found: Sampled = Open("no admissible values of the parameters")
    supported = opened = 0
    for values in samples(names, trees, conditions, seed):
        one = look(values)
        if one is DIVERGES:
            continue
        found = one
        if isinstance(found, Refuted):
            return found
        supported, opened = supported + isinstance(found, Supported), opened + isinstance(found, Open)
    if not supported:
        return found
    for values in islice(edges(names, trees, conditions, seed), EDGES):
        try:
            with budget.share(EDGE_SHARE):
                one = look(values)
        except budget.Spent:
            budget.step(0)
            break
        if isinstance(one, Refuted):
            return one
    if opened:
        return Open("decided for some parameters only")
    return Supported() if names else found


def judged(expected: Callable[[], Value], answer: Tree, values: Known, note: str = "") -> Sampled:
    """An answer against a value that is enclosed; Undecided and Refused mean nothing."""
    try:
        found: Comparison = decide(lambda: loosened(expected(), answer), lambda: evaluate(answer, Environment(values, printed=True)))
    except Undecided:
        return Open("no enclosure")
    if found.relation is Relation.DIFFERENT:
        return Refuted(Witness(found.left, found.right, values, found.exact, note))
    if found.relation is Relation.INCOMPARABLE:
        if isinstance(found.right, NonValue) and isinstance(found.left, NonValue) and found.left.kind == found.right.kind:
            return Supported()
        return Open("no value to compare")
    return Supported(remaining(found))


def remaining(found: Comparison) -> str:
    """What is known of the difference of two values that were not told apart."""
    if found.relation is Relation.OVERLAP and is_number(found.left) and is_number(found.right):
        return within(spread(ball(found.left), ball(found.right)))
    return NO_DIFFERENCE


def values_only(answer: Tree, name: str) -> Refuted | None:
    """A bound variable has no place in the answer."""
    if name in free_symbols(answer):
        return Refuted(Statement(f"the answer depends on {name}"))
    return None
