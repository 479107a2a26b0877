"""Jump functions of bounded arguments: Floor of an expression that the assumptions keep between two whole numbers is known, and an
expression in which a symbol of whole numbers occurs inside Mod only has finitely many cases."""

from __future__ import annotations

from itertools import pairwise
from math import lcm

from flint import fmpq

from .assumptions import Assumptions
from .evaluation import EMPTY, evaluate
from .signs import rational_value
from .tree import Refused, Tree, arguments, free_symbols, is_call, plus, power, times, walk
from .univariate import polynomial
from .values import Undecided, whole

MAX_CASES = 400

End = tuple[fmpq, bool]  # where, and whether the place itself is left out


class Bounds:
    """Intervals of real symbols, from assumptions that compare a symbol with a rational number."""

    def __init__(self, assumptions: Assumptions) -> None:
        self.low: dict[str, End] = {}
        self.high: dict[str, End] = {}
        for condition in assumptions.conditions:
            parts = arguments(condition)
            if is_call(condition, "Inequality"):
                for i in range(0, len(parts) - 2, 2):
                    self._learn(str(parts[i + 1]), parts[i], parts[i + 2])
            elif is_call(condition, "Less", "LessEqual", "Greater", "GreaterEqual") and isinstance(condition, tuple):
                for a, b in pairwise(parts):
                    self._learn(str(condition[0]), a, b)

    def _learn(self, head: str, a: Tree, b: Tree) -> None:
        if head in ("Greater", "GreaterEqual"):
            head, a, b = head.replace("Greater", "Less"), b, a
        if head not in ("Less", "LessEqual"):
            return
        strict = head == "Less"
        for name, other, ends, better in ((a, b, self.high, -1), (b, a, self.low, 1)):
            if isinstance(name, str) and free_symbols(name) and not free_symbols(other):
                value = rational_value(other)
                if value is not None and (name not in ends or (value - ends[name][0]) * better > 0 or (value == ends[name][0] and strict)):
                    ends[name] = (value, strict)

    def interval(self, node: Tree) -> tuple[End, End] | None:
        """The lower and upper bound of a linear expression in one bounded symbol; None for any other expression."""
        names = free_symbols(node)
        if len(names) != 1:
            return None
        name = next(iter(names))
        p = polynomial(node, name)
        if p is None or p.degree() != 1 or name not in self.low or name not in self.high:
            return None
        if not self.low[name][0] < self.high[name][0]:
            return None  # nothing meets the assumptions
        ends = [(p(x), strict) for x, strict in (self.low[name], self.high[name])]
        return (ends[0], ends[1]) if p[1] > 0 else (ends[1], ends[0])

    def floor(self, node: Tree) -> int | None:
        found = self.interval(node)
        if found is None:
            return None
        (low, _), (high, strict) = found
        k = int(low.floor())
        return k if high < k + 1 or (high == k + 1 and strict) else None

    def resolved(self, node: Tree) -> Tree:
        """The tree with jumps that the bounds decide written as numbers."""
        if not isinstance(node, tuple):
            return node
        parts = tuple(part if i == 0 else self.resolved(part) for i, part in enumerate(node))
        if is_call(parts, "Floor") and len(parts) == 2:
            found = self.floor(parts[1])
            return parts if found is None else found
        if is_call(parts, "Ceiling") and len(parts) == 2:
            found = self.floor(times(-1, parts[1]))
            return parts if found is None else -found
        if is_call(parts, "Mod", "Quotient") and len(parts) == 3 and isinstance(parts[2], int) and parts[2] > 0:
            found = self.floor(times(parts[1], power(parts[2], -1)))
            if found is not None:
                return found if is_call(parts, "Quotient") else plus(parts[1], -found * parts[2])
        return parts


def equal_by_cases(left: Tree, right: Tree, integers: set[str]) -> bool:
    """Whether the two are equal for every whole number that their one symbol stands for: it stands inside of Mod[p, m] only,
    with p a polynomial with whole coefficients, so that its residue decides."""
    names = free_symbols(left) | free_symbols(right)
    if len(names) != 1 or not names <= integers:
        return False
    name = next(iter(names))
    moduli: list[int] = []
    if not all(_inside_mod(side, name, moduli) for side in (left, right)):
        return False
    period = lcm(*moduli)
    if period > MAX_CASES:
        return False
    try:
        for residue in range(period):
            env = EMPTY.having(name, fmpq(residue))
            a, b = evaluate(left, env), evaluate(right, env)
            if not isinstance(a, fmpq) or not isinstance(b, fmpq) or a != b:
                return False
    except (Undecided, Refused):
        return False
    return True


def _inside_mod(node: Tree, name: str, moduli: list[int]) -> bool:
    if name not in free_symbols(node):
        return node != name
    if is_call(node, "Mod") and isinstance(node, tuple) and len(node) == 3 and isinstance(node[2], int) and node[2] > 0:
        p = polynomial(node[1], name)
        if p is not None and all(whole(c) is not None for c in p.coeffs()):
            moduli.append(node[2])
            return True
        return False
    return isinstance(node, tuple) and isinstance(node[0], str) and all(_inside_mod(part, name, moduli) for part in node[1:])


def mentions_jumps(node: Tree) -> bool:
    return any(is_call(part, "Floor", "Ceiling", "Mod", "Quotient") for part in walk(node))
