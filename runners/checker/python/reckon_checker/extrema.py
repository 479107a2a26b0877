"""Max, Min and Clip of lists written as Max and Min of numbers: Max[{a, {b}}] is Max[a, b], Clip[x, {a, b}] is Min[Max[x, a], b], so that
the places where they have kinks stand among their arguments, where critical.py looks for them."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .evaluation import FUNCTIONS, HEADS
from .functions import ELEMENTARY
from .jumps import JUMPS
from .special import SPECIAL
from .tree import Real, Tree, arguments, is_call, undefined

# Functions whose value is one number where each argument is one number.
OF_NUMBERS = ELEMENTARY.keys() | JUMPS.keys() | SPECIAL.keys() | {"Plus", "Times", "Power"}


def of_numbers(task: Any) -> Any:
    """A task with the Max, Min and Clip in it written as those of numbers."""
    if isinstance(task, dict):
        return {key: of_numbers(part) for key, part in task.items()}
    if isinstance(task, list):
        return [of_numbers(part) for part in task]
    return written(task) if isinstance(task, tuple) else task


def written(node: Tree) -> Tree:
    if not isinstance(node, tuple):
        return node
    node = tuple(written(part) for part in node)
    if is_call(node, "Max", "Min"):
        return (node[0], *flat(arguments(node)))
    if is_call(node, "Clip"):
        return clipped(node)
    return node


def flat(parts: tuple[Tree, ...]) -> list[Tree]:
    """The entries of nested lists in order."""
    return [entry for part in parts for entry in (flat(arguments(part)) if is_call(part, "List") else [part])]


def clipped(node: tuple[Tree, ...]) -> Tree:
    """Clip of one number to an interval of rational ends in order; any other as it is."""
    ends = arguments(node[2]) if len(node) == 3 and is_call(node[2], "List") else (-1, 1) if len(node) == 2 else ()
    if len(ends) != 2 or not is_number(node[1]):
        return node
    values = [value_of(end) for end in ends]
    if values[0] is None or values[1] is None or values[0] > values[1]:
        return node
    return ("Min", ("Max", node[1], ends[0]), ends[1])


def is_number(node: Tree) -> bool:
    """Whether a tree is made of symbols, numbers and functions of numbers, without a list anywhere."""
    if not isinstance(node, tuple):
        return True
    head = node[0]
    known = isinstance(head, str) and (head in OF_NUMBERS or (head not in FUNCTIONS and head not in HEADS and undefined(head)))
    return known and all(is_number(part) for part in node[1:])


def value_of(node: Tree) -> fmpq | None:
    """An integer, fraction or power of ten as it is written: None for anything else."""
    if isinstance(node, int):
        return fmpq(node)
    if isinstance(node, Real):
        return None
    parts = [value_of(part) for part in arguments(node)]
    if not parts or any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if is_call(node, "Times"):
        product = fmpq(1)
        for part in known:
            product *= part
        return product
    if is_call(node, "Rational") and known[1] != 0:
        return known[0] / known[1]
    if is_call(node, "Power") and len(known) == 2 and known[1].q == 1 and abs(known[1]) <= 1000 and known[0] != 0:
        return known[0] ** int(known[1].p)
    return None
