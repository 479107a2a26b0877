"""ArcSin and its kin as logarithms, by their definitions (DLMF 4.23, 4.37)."""

from __future__ import annotations

from collections.abc import Callable

from .tree import Tree, minus, plus, power, rational, times

HALF = rational(1, 2)


def _root(node: Tree) -> Tree:
    return power(node, HALF)


def _arc_sine(z: Tree) -> Tree:
    return times(-1, "I", ("Log", plus(times("I", z), _root(minus(1, times(z, z))))))


LOGARITHMS: dict[str, Callable[[Tree], Tree]] = {
    "ArcSin": _arc_sine,
    "ArcCos": lambda z: minus(times(HALF, "Pi"), _arc_sine(z)),
    "ArcSinh": lambda z: ("Log", plus(z, _root(plus(times(z, z), 1)))),
    "ArcCosh": lambda z: ("Log", plus(z, times(_root(plus(z, 1)), _root(plus(z, -1))))),
    "ArcTan": lambda z: times(HALF, "I", minus(("Log", minus(1, times("I", z))), ("Log", plus(1, times("I", z))))),
    "ArcTanh": lambda z: times(HALF, minus(("Log", plus(1, z)), ("Log", minus(1, z)))),
}
