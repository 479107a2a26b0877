"""Whole numbers to look at: those that stand in expressions and their neighbours, and the symbols of which functions of whole numbers are taken.

GCD[n, 1000003] is 1 for every small n, and BellB[n] has no value but at whole numbers, of which 0 and 1 alone say little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .deciding import constant_parts
from .evaluation import evaluate
from .tree import OF_EXACT, OF_FORM, Refused, Tree, arguments, free_symbols, is_call, walk
from .values import Undecided, precision, whole

LARGEST = 10**12
LEAST = 8  # smaller ones are looked at anyway
SMALLER = 2000
MAX_NUMBERS = 4  # that stand in the expressions, and are looked at with their neighbours
# Functions that take no longer for large numbers; with others the numbers are at most SMALLER.
LIGHT = frozenset(
    "Plus Times Subtract Minus Divide Rational Mod Quotient GCD LCM Floor Ceiling Round Abs Sign Max Min Boole Piecewise If List Equal Unequal Less "
    "LessEqual Greater GreaterEqual Inequality And Or Not Element KroneckerDelta DiscreteDelta UnitStep BitAnd BitOr BitXor EvenQ OddQ PrimeQ PowerMod "
    "JacobiSymbol IntegerLength CoprimeQ Divisible Sin Cos".split()
)
SMALL = (5, 2, 3, 7, 10, -3, 12, 24, 0, 1, 30, 101)


def near_numbers(expressions: Sequence[Tree], name: str) -> list[int]:
    """The whole numbers that stand beside a symbol in expressions, with their neighbours."""
    about = [node for node in expressions if name in free_symbols(node)]
    heads = {part[0] for node in about for part in walk(node) if isinstance(part, tuple) and isinstance(part[0], str) and name in free_symbols(part)}
    limit = LARGEST if heads <= LIGHT else SMALLER
    found: dict[int, None] = {}
    for node in about:
        for part in (*constant_parts(node), *(part for part in walk(node) if isinstance(part, int))):
            n = _whole(part)
            if n is not None and LEAST < abs(n) <= limit // 2:
                found[abs(n)] = None
    largest = sorted(found, reverse=True)[:MAX_NUMBERS]
    return list(dict.fromkeys(m for n in largest for m in (n, 2 * n, n + 1, n - 1, -n)))


def _whole(part: Tree) -> int | None:
    if isinstance(part, int):
        return part
    if not is_call(part, "Power", "Times", "Plus", "Factorial") or any(isinstance(inner, int) and abs(inner) > LARGEST for inner in walk(part)):
        return None
    try:
        with precision(64):
            return whole(evaluate(part))
    except (Undecided, Refused):
        return None


def counting(expressions: Iterable[Tree]) -> set[str]:
    """Symbols of which a function is taken that has values at whole numbers only."""
    return {
        name for node in expressions for part in walk(node) if is_call(part, *(OF_EXACT - OF_FORM)) for arg in arguments(part) for name in free_symbols(arg)
    }
