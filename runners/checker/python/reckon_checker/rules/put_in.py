"""Differential and difference equations with the functions that are said to solve them: read, and put in."""

from __future__ import annotations

import itertools
from dataclasses import replace as replaced
from typing import Any

from .. import machine
from ..agreement import Claim, Words, survey
from ..assumptions import Assumptions, flatten
from ..calculus import applied
from ..evaluation import EMPTY, derivative_of
from ..findings import Open, Refuted, Residual, Supported, Verified
from ..tree import Refused, Tree, arguments, brief, constants, exactly, free_symbols, is_call, kept_by_machines, reals, replace, show, walk
from .decimal_claims import decimals
from .families import branchless
from .identities import proves

Functions = dict[str, Tree]


class PutIn:
    """task: equations, functions (names), variables, solutions [[{name, function}, ...], ...], recurrence, assumptions."""

    def __init__(self, task: dict[str, Any], seed: int) -> None:
        self.names: list[str] = task["functions"]
        self.variables: list[str] = task["variables"]
        self.recurrence = bool(task.get("recurrence"))
        self.seed = seed
        self.equations = list(flatten(task["equations"]))
        if not all(is_call(e, "Equal") for e in self.equations):
            raise Refused("equation")
        self.asked: set[str] = set().union(*(free_symbols(e) for e in self.equations)) if self.equations else set()
        self.values: dict[str, Tree] = {}  # symbols that stand for values of the functions in the answer: y[0] in y[0] E^x
        self.solutions = [{b["name"]: self._with_symbols(self._without_c(b["function"])) for b in s} for s in task["solutions"]]
        self.initial = [e for e in self.equations if not set(self.variables) & free_symbols(e)]
        self.general = [e for e in self.equations if e not in self.initial]
        conditions = list(task.get("assumptions") or [])
        if self.recurrence:
            conditions += [("Element", name, "Integers") for name in self.variables] + [("GreaterEqual", name, 2) for name in self.variables]
        self.assumptions = Assumptions(conditions)
        self.at_places = Assumptions([c for c in self.assumptions.conditions if not free_symbols(c) & set(self.variables)])

    def _without_c(self, function: Tree) -> Tree:
        for k in constants(function):
            function = replace(function, ("C", k), f"C[{k}]")
        return function

    def _with_symbols(self, node: Tree) -> Tree:
        """Values of the functions and of their derivatives at places without symbols as symbols."""
        if not isinstance(node, tuple):
            return node
        if len(node) == 2 and not free_symbols(node[1]) and (node[0] in self.names or self._derivative(node[0])):
            if any(node in arguments(e) for e in self.equations):
                return node  # the question gives it a value
            symbol = show(node) if node[0] in self.names else f"{show(node[0])}[{show(node[1])}]"
            self.values[symbol] = node
            return symbol
        return tuple(self._with_symbols(part) for part in node)

    def _derivative(self, head: Tree) -> bool:
        return isinstance(head, tuple) and len(head) == 2 and is_call(head[0], "Derivative") and head[1] in self.names

    def constants(self, s: Functions) -> list[str]:
        """The symbols of a solution that the question does not know."""
        found: set[str] = set()
        for function in s.values():
            body = applied(function, tuple(self.variables))
            found |= free_symbols(body)
        return sorted(found - self.asked - set(self.variables) - set(self.names))

    # Putting in.

    def inlined(self, node: Tree, s: Functions) -> Tree:
        """The tree with the functions and their derivatives replaced by the solution."""
        if not isinstance(node, tuple):
            return node
        head = node[0]
        parts = tuple(self.inlined(part, s) for part in node[1:])
        if isinstance(head, str):
            return applied(s[head], parts) if head in s else (head, *parts)
        if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2 and head[1] in s:
            return derivative_of(s[str(head[1])], arguments(head[0]), parts, EMPTY)
        return (head, *parts)

    def claims(self, equations: list[Tree], s: Functions) -> list[Claim]:
        found = []
        for equation in equations:
            sides = [self.inlined(side, s) for side in arguments(equation)]
            if self._turned(equation):
                sides.reverse()  # what is expected is what the equation says
            found += list(itertools.pairwise(sides))
        return found

    def words(self, equations: list[Tree], sides: bool) -> Words:
        """How differences of the claims of equations are told."""
        pairs = [(("Equal", *pair), self._turned(e)) for e in equations for pair in itertools.pairwise(arguments(e))]
        return Words([brief(pair, 160) for pair, _ in pairs], sides, turned=frozenset(i for i, (_, turned) in enumerate(pairs) if turned))

    def _turned(self, equation: Tree) -> bool:
        parts = arguments(equation)
        return len(parts) == 2 and self.free_of_functions(parts[1])

    def free_of_functions(self, node: Tree) -> bool:
        return not any(part in self.names for part in walk(node))

    def put_in(self, s: Functions) -> Residual:
        worst: Residual = Verified(True)
        named = {symbol for function in s.values() for symbol in free_symbols(function) if symbol in self.values}
        own: list[Claim] = [(self.inlined(self.values[symbol], s), symbol) for symbol in sorted(named)]
        general = self.claims(self.general, s)
        initial = self.claims(self.initial, s)
        parts = (
            (general, self.assumptions, self.words(self.general, sides=True)),
            (initial, self.at_places, self.words(self.initial, sides=False)),
            (own, self.at_places, Words([f"the value of {symbol}" for symbol in sorted(named)], sides=True)),
        )
        for claims, assumptions, words in parts:
            found = self._hold(claims, assumptions, words) if claims else Verified(True)
            if isinstance(found, Refuted):
                return found
            if (
                isinstance(found, Open)
                or (isinstance(found, Supported) and not isinstance(worst, Open))
                or (isinstance(worst, Verified) and isinstance(found, Verified) and not found.exact)
            ):
                worst = found
        return worst

    def _hold(self, claims: list[Claim], assumptions: Assumptions, words: Words) -> Residual:
        decimal = any(reals(side) for claim in claims for side in claim)
        sides_of = [side for claim in claims for side in claim]
        if kept_by_machines(*sides_of) and not machine.cancels(*sides_of) and proves([(exactly(a), exactly(b)) for a, b in claims], assumptions):
            return Verified(True)
        seen = survey(claims, assumptions, self.seed, real=True, printed=decimal, enough_differences=40, partial=True, words=words)
        varying = any(free_symbols(side) for claim in claims for side in claim)
        ordinary = [region for name, region in seen.regions.items() if not name.endswith(("special place", ", zero"))]
        differences = [(point, found) for point, found in seen.differences if not (point.special or point.region.endswith(", zero"))] or (
            [] if varying else seen.differences
        )
        agree = sum(region.agree + region.close for region in ordinary)
        if decimal:
            return decimals(seen, differences, agree)
        if seen.differences and varying and all(branchless(side, free_symbols(side)) for claim in claims for side in claim):
            refutation = seen.refutation()  # what is analytic everywhere holds everywhere or is wrong
            if refutation is not None:
                return refutation
        if differences and (agree == 0 or (self.recurrence and len(differences) > agree)):
            refutation = replaced(seen, differences=differences).refutation()
            if refutation is not None:
                return refutation
        if seen.differences:
            return Open("holds at some points only")
        if varying and ordinary and agree and all(region.agree or (region.outside and not region.unknown) for region in ordinary):
            return Verified(False) if seen.certain and self._for_complex_parameters(claims, assumptions) else Supported()
        found = Verified(seen.exact) if seen.certain and self._for_complex_parameters(claims, assumptions) else Supported()
        return found if seen.covered else Open("no decision at some points")

    def _for_complex_parameters(self, claims: list[Claim], assumptions: Assumptions) -> bool:
        """Whether what holds for real values holds for complex ones of all symbols but the variables."""
        if not set().union(*(free_symbols(side) for claim in claims for side in claim)) - set(self.variables):
            return True
        real = Assumptions([*assumptions.conditions, *(("Element", name, "Reals") for name in self.variables)])
        seen = survey(claims, real, self.seed, partial=True)
        return not seen.differences and seen.covered and not seen.undecided
