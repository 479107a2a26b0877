"""The sign of expressions of real symbols on a convex set that holds all values the assumptions allow: what is analytic where it is
positive is then analytic on a set that hangs together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from flint import fmpq, fmpq_poly

from .evaluation import evaluate
from .normal import proves_zero
from .roots import isolated
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus
from .univariate import polynomial
from .values import Undecided, is_number, precision, real_ball

BITS = 256
MAX_DEGREE = 24
REGULAR = frozenset("Plus Times Subtract Minus Rational Sin Cos Sinh Cosh Tanh Exp ArcTan ArcSinh Erf Erfc".split())
ALWAYS_POSITIVE = ("Exp", "Cosh")


class Signs:
    """real: the symbols that are; conditions: all of which hold. What is no comparison by order is passed over."""

    def __init__(self, conditions: Iterable[Tree], real: Collection[str]) -> None:
        self.real = set(real)
        self.ordered: list[tuple[Tree, Tree, bool]] = []  # a < b, or a <= b where not strict
        for condition in conditions:
            parts = arguments(condition)
            if is_call(condition, "Inequality"):
                for i in range(0, len(parts) - 2, 2):
                    self._learn(str(parts[i + 1]), parts[i], parts[i + 2])
            elif is_call(condition, "Less", "LessEqual", "Greater", "GreaterEqual"):
                for a, b in pairwise(parts):
                    self._learn(str(condition[0]), a, b)  # type: ignore[index]
            elif is_call(condition, "Element") and isinstance(parts[1], str) and parts[1].startswith(("Positive", "Negative")):
                for name in arguments(parts[0]) if is_call(parts[0], "Alternatives", "List") else parts[:1]:
                    self._learn("Greater" if parts[1].startswith("Positive") else "Less", name, 0)

    def _learn(self, head: str, a: Tree, b: Tree) -> None:
        if head.startswith("Greater"):
            a, b = b, a
        if head.startswith(("Greater", "Less")):
            self.ordered.append((a, b, not head.endswith("Equal")))

    def ends(self, name: str) -> tuple[Tree, Tree] | None:
        """The bounds of a symbol, where there is one on each side."""
        low = [a for a, b, _ in self.ordered if b == name and not free_symbols(a)]
        high = [b for a, b, _ in self.ordered if a == name and not free_symbols(b)]
        return (low[0], high[0]) if len(low) == len(high) == 1 else None

    def of(self, node: Tree) -> str:
        """+ or -, all over the set, where the expression is analytic too; 0 where it is only known to be real and analytic and not
        negative; empty where nothing is known."""
        names = free_symbols(node)
        if not names:
            return of_constant(node)
        if not names <= self.real:
            return ""
        found = self._by_structure(node)
        if found in ("+", "-"):
            return found
        return self._of_polynomial(node) or self._of_difference(node) or found

    def _by_structure(self, node: Tree) -> str:
        parts = arguments(node)
        if is_call(node, *ALWAYS_POSITIVE) and len(parts) == 1:
            return "+" if self.regular(parts[0]) else ""
        if is_call(node, "Power") and len(parts) == 2:
            return self._of_power(*parts)
        if is_call(node, "Sqrt") and len(parts) == 1:
            return "+" if self.of(parts[0]) == "+" else ""
        signs = [self.of(part) for part in parts] if is_call(node, "Plus", "Times", "Divide", "Minus") else [""]
        if is_call(node, "Minus") or "" in signs:
            return {"+": "-", "-": "+"}.get(signs[0], "") if len(signs) == 1 and is_call(node, "Minus") else ""
        if is_call(node, "Plus"):
            return "+" if "-" not in signs and "+" in signs else "-" if set(signs) == {"-"} else "0" if set(signs) == {"0"} else ""
        if "0" in signs:
            return ""
        return "-" if signs.count("-") % 2 else "+"

    def _of_power(self, base: Tree, exponent: Tree) -> str:
        sign = self.of(base)
        if sign == "+":
            return "+" if self.regular(exponent) else ""
        if not isinstance(exponent, int):
            return ""
        if sign == "-":
            return "-" if exponent % 2 else "+"
        return "0" if exponent > 0 and exponent % 2 == 0 and self.regular(base) else ""

    def _of_polynomial(self, node: Tree) -> str:
        """By its real zeros, against rational bounds of its one symbol."""
        names = free_symbols(node)
        name = next(iter(names))
        p = polynomial(node, name) if len(names) == 1 else None
        if p is None or not 1 <= p.degree() <= MAX_DEGREE:
            return ""
        low = [v for a, b, _ in self.ordered if b == name and (v := rational_value(a)) is not None]
        high = [v for a, b, _ in self.ordered if a == name and (v := rational_value(b)) is not None]
        strict = all(kept for a, b, kept in self.ordered if name in (a, b))
        return sign_between(p, max(low, default=None), min(high, default=None), strict)

    def _of_difference(self, node: Tree) -> str:
        """By the differences that are assumed positive."""
        for a, b, strict in self.ordered:
            if strict and free_symbols(a) | free_symbols(b) == free_symbols(node):
                if proves_zero(minus(node, minus(b, a))):
                    return "+"
                if proves_zero(minus(node, minus(a, b))):
                    return "-"
        return ""

    def regular(self, node: Tree) -> bool:
        """Whether an expression is known to be real and analytic, without poles, all over the set."""
        if not isinstance(node, tuple):
            return node in self.real or (not free_symbols(node) and of_constant(node) != "")
        parts = arguments(node)
        if node[0] in REGULAR:
            return all(self.regular(part) for part in parts)
        if is_call(node, "Power") and len(parts) == 2:
            if isinstance(parts[1], int) and (parts[1] >= 0 or self.of(parts[0]) in ("+", "-")):
                return parts[1] != 0 and (parts[1] < 0 or self.regular(parts[0]))
            return self.of(parts[0]) == "+" and self.regular(parts[1])
        return is_call(node, "Sqrt", "Log") and len(parts) == 1 and self.of(parts[0]) == "+"


def of_constant(node: Tree) -> str:
    with precision(BITS):
        try:
            value = evaluate(node)
        except (Undecided, Refused):
            return ""
        real = real_ball(value) if is_number(value) else None
        return "" if real is None else "+" if real > 0 else "-" if real < 0 else "0" if real == 0 else ""


def rational_value(node: Tree) -> fmpq | None:
    if free_symbols(node):
        return None
    try:
        value = evaluate(node)
    except (Undecided, Refused):
        return None
    return value if isinstance(value, fmpq) else None


def sign_between(p: fmpq_poly, low: fmpq | None, high: fmpq | None, strict: bool) -> str:
    """The sign of a polynomial between two bounds that its real zeros are proved not to lie between; not strict: nor on them."""
    if low is not None and high is not None and low >= high:
        return ""
    with precision(BITS):
        for root, _ in isolated(tuple(p.coeffs()), BITS):
            if not root.imag.contains(0):
                continue
            zero = root.real
            below = low is not None and (zero < low or (strict and p(low) == 0 and zero.contains(low)))
            above = high is not None and (zero > high or (strict and p(high) == 0 and zero.contains(high)))
            if not (below or above):
                return ""
    place = (low + high) / 2 if low is not None and high is not None else low + 1 if low is not None else high - 1 if high is not None else fmpq(0)
    value = p(place)
    return "+" if value > 0 else "-" if value < 0 else ""
