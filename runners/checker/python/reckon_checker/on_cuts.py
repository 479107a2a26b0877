"""Whether a claim about complex values was looked at on the cuts themselves: beside one both sides may agree, and differ on it (Log[1/z] and -Log[z])."""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb, fmpq

from .evaluation import evaluate
from .points import Point, environment
from .tree import Refused, Tree, arguments, free_symbols, is_call, walk
from .values import Undecided, precision

BITS = 64
BELOW_ZERO = ("Log", "Log2", "Log10", "Sqrt")
BEYOND_ONE = ("ArcSin", "ArcCos", "ArcTanh", "ArcCosh")


def cuts_met(trees: Iterable[Tree], points: list[Point], open_names: set[str]) -> bool:
    """Whether every argument of a root, a logarithm or an inverse sine that holds a symbol which may be complex lies on the cut at some point."""
    wanted: dict[tuple[Tree, int], None] = {}
    for tree in trees:
        for part in walk(tree):
            parts = arguments(part)
            root = is_call(part, "Power") and len(parts) == 2 and parts[0] != "E" and not isinstance(parts[1], int)
            if is_call(part, *BEYOND_ONE) and free_symbols(parts[-1]) & open_names:
                wanted[parts[-1], 1] = None
            elif (root or is_call(part, *BELOW_ZERO)) and free_symbols(parts[0 if root else -1]) & open_names:
                wanted[parts[0 if root else -1], 0] = None
    with precision(BITS):
        return all(any(beyond(argument, point, end) for point in points) for argument, end in wanted)


def beyond(argument: Tree, point: Point, end: int) -> bool:
    try:
        value = evaluate(argument, environment(point))
    except (Undecided, Refused):
        return False
    return isinstance(value, fmpq | arb) and bool(value < -end or (end and value > end))
