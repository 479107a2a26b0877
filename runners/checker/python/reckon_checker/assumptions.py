"""The assumptions of the input on its symbols. Symbols without assumptions are complex, as in the language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from .evaluation import Environment, truth
from .tree import Tree, arguments, free_symbols, is_call, minus, walk
from .values import NonValue, Undecided, precision

INTEGER_DOMAINS = frozenset("Integers PositiveIntegers NonNegativeIntegers NegativeIntegers NonPositiveIntegers Primes".split())
REAL_DOMAINS = frozenset("Reals Rationals PositiveReals NegativeReals NonNegativeReals NonPositiveReals PositiveRationals NegativeRationals".split())
COMPARISONS = ("Less", "LessEqual", "Greater", "GreaterEqual")
BITS = 128  # at which points are tested


class Assumptions:
    """integers, reals: symbols known to be so; given: symbol -> tree for x == e; every point is tested against all of it."""

    def __init__(self, conditions: Iterable[Tree]) -> None:
        self.conditions = list(flatten(conditions))
        self.integers: set[str] = set()
        self.reals: set[str] = set()
        self.given: dict[str, Tree] = {}
        for condition in self.conditions:
            self._learn(condition)

    def _learn(self, condition: Tree) -> None:
        parts = arguments(condition)
        if is_call(condition, "Element") and len(parts) == 2:
            names = arguments(parts[0]) if is_call(parts[0], "Alternatives", "List") else (parts[0],)
            symbols = {name for name in names if isinstance(name, str)}
            if parts[1] in INTEGER_DOMAINS:
                self.integers |= symbols
            elif parts[1] in REAL_DOMAINS:
                self.reals |= symbols
        elif is_call(condition, "Equal") and len(parts) == 2:
            for name, other in (parts, parts[::-1]):
                if isinstance(name, str) and name in free_symbols(name) and name not in free_symbols(other):
                    self.given[name] = other
                    return
        elif is_call(condition, *COMPARISONS, "Inequality"):
            # An inequality holds of real numbers only; Re[x] > 0 says nothing of x itself.
            for side in parts[:: 2 if is_call(condition, "Inequality") else 1]:
                self.reals |= real_in(side)
        elif is_call(condition, "Or"):
            for name in free_symbols(condition):
                if all(name in Assumptions([part]).reals for part in parts):
                    self.reals.add(name)

    def is_real(self, name: str) -> bool:
        return name in self.reals or name in self.integers

    def critical(self) -> list[Tree]:
        """The expressions whose zeros bound the admissible set: the differences of the conditions' sides."""
        found: list[Tree] = []
        for condition in self.conditions:
            parts = arguments(condition)
            if is_call(condition, *COMPARISONS, "Unequal", "Equal"):
                found += [minus(a, b) for a, b in pairwise(parts)]
            elif is_call(condition, "Inequality"):
                found += [minus(a, b) for a, b in pairwise(parts[::2])]
            elif is_call(condition, "Element") and isinstance(parts[0], str):
                found.append(parts[0])
            elif is_call(condition, "Or", "Not"):
                found += Assumptions(parts).critical()
        return found

    def hold(self, env: Environment) -> bool:
        """Whether a point is proved to be admissible."""
        return self.admit(env) is True

    def admit(self, env: Environment) -> bool | None:
        """Whether a point is admissible; None where that is not decided."""
        unknown = False
        with precision(BITS):
            for condition in self.conditions:
                try:
                    found = truth(condition, env)
                except Undecided:
                    unknown = True
                    continue
                if isinstance(found, NonValue) or not found:
                    return False
        return None if unknown else True


def real_in(side: Tree) -> set[str]:
    """Symbols that must be real where this side of an inequality is: those it is a polynomial of one of with real
    coefficients says nothing in general, so only a symbol by itself, and sums and multiples of symbols."""
    if isinstance(side, str):
        return free_symbols(side)
    if is_call(side, "Plus", "Times", "Power") and not any(is_call(part, "Abs", "Re", "Im", "Arg") for part in walk(side)):
        return free_symbols(side)
    return set()


def flatten(conditions: Iterable[Tree]) -> Iterator[Tree]:
    for condition in conditions:
        if is_call(condition, "And", "List"):
            yield from flatten(arguments(condition))
        elif condition != "True":
            yield condition
