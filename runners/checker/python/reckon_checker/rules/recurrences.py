"""Whether a sequence that satisfies a recurrence, as an identity in the index, is the solution, or all of them.

A recurrence that is explicit in the highest shift leaves one sequence for as many values as its order; a linear one has as many dimensions, all of
which an answer that is affine in independent constants reaches. The formula must have a value at every index from the first one given.
"""

from __future__ import annotations

from flint import fmpq

from ..assumptions import Assumptions
from ..calculus import applied, differentiate
from ..deciding import not_zero
from ..findings import Verified
from ..hypergeometric import related
from ..normal import proves_zero
from ..tree import Tree, arguments, free_symbols, is_call, minus, walk
from ..univariate import polynomial
from . import families
from .identities import proves
from .put_in import PutIn

DEFINED = frozenset("Plus Times Subtract Minus Sqrt Sin Cos Exp Fibonacci LucasL".split())  # at every whole number
LEAST = {
    "Gamma": 1,
    "PolyGamma": 1,
    "Factorial": 0,
    "HarmonicNumber": 0,
    "CatalanNumber": 0,
    "Factorial2": -1,
}  # whole arguments from which on there are values

Orders = dict[str, tuple[int, int]]


def proof(problem: PutIn, orders: Orders, nodes: list[Tree], rank: int | None, exact: bool) -> Verified | None:
    """nodes: the equations as expressions of name$shift that are to be zero; rank: of the constants, where that is known; exact: whether the initial
    values are."""
    if len(problem.solutions) != 1 or len(nodes) != len(problem.names) or len(problem.variables) != 1:
        return None
    s, n = problem.solutions[0], problem.variables[0]
    total = sum(high - low for low, high in orders.values())
    integers = Assumptions([("Element", n, "Integers"), *(c for c in problem.assumptions.conditions if n not in free_symbols(c))])
    if not proves([(related(minus(left, right), {n}), 0) for left, right in problem.claims(problem.general, s)], integers):
        return None
    tops = [f"{name}${orders[name][1]}" for name in problem.names]
    first = start(problem, orders) if problem.initial else None
    if not explicit(nodes, tops, n, None if first is None else first - max(low for low, _ in orders.values())):
        return None
    names = problem.constants(s)
    if not problem.initial:
        reaches = rank == total and families.affine([applied(s[name], (n,)) for name in problem.names], names)
        many = sum(name.startswith("C[") for name in names) > total
        return Verified(exact) if reaches and not many and linear(nodes) else None
    if first is None or names or not all(has_values(applied(s[name], (n,)), n, first) for name in problem.names):
        return None
    return Verified(exact)


def explicit(nodes: list[Tree], tops: list[str], n: str, used: int | None) -> bool:
    """Whether each equation gives the highest shift of one function by lower ones: of first degree in it, with a factor that is no function of the
    sequence and vanishes for finitely many indices at most; used: the index from which the equations hold, with a factor that vanishes for none."""
    for node in nodes:
        inside = [top for top in tops if top in free_symbols(node)]
        if len(inside) != 1:
            return False
        slope = differentiate(node, inside[0])
        if any("$" in name for name in free_symbols(slope)) or not (not_zero(slope) or of_index(slope, n)):
            return False
        if used is not None and not (not_zero(slope) or vanishes_before(slope, n, used)):
            return False
    return len({top for node in nodes for top in tops if top in free_symbols(node)}) == len(tops)


def of_index(slope: Tree, n: str) -> bool:
    p = polynomial(slope, n)
    return p is not None and p.degree() >= 0


def linear(nodes: list[Tree]) -> bool:
    for node in nodes:
        places = sorted(name for name in free_symbols(node) if "$" in name)
        if not all(proves_zero(differentiate(differentiate(node, a), b)) for a in places for b in places):
            return False
    return True


def start(problem: PutIn, orders: Orders) -> int | None:
    """The first index for which values are given: as many as determine each function, one after the other; None where they are others."""
    given: dict[str, list[int]] = {name: [] for name in problem.names}
    for equation in problem.initial:
        sides = [side for side in arguments(equation) if isinstance(side, tuple) and side[0] in given]
        if len(arguments(equation)) != 2 or len(sides) != 1 or len(sides[0]) != 2 or not isinstance(sides[0][1], int):
            return None
        given[str(sides[0][0])].append(sides[0][1])
    firsts = {min(places) for places in given.values() if places}
    if len(firsts) != 1:
        return None
    first = firsts.pop()
    complete = all(sorted(places) == list(range(first, first + orders[name][1] - orders[name][0])) for name, places in given.items())
    return first if complete else None


def has_values(body: Tree, n: str, first: int) -> bool:
    """Whether a formula has a value at every whole number from the first one."""
    for part in walk(body):
        if not isinstance(part, tuple) or n not in free_symbols(part):
            continue
        head, parts = part[0], arguments(part)
        if head == "Power" and len(parts) == 2:
            base, exponent = parts
            if n not in free_symbols(base):
                if not (not_zero(base) or base == "E" or isinstance(base, str)):
                    return False
            elif not isinstance(exponent, int) or (exponent < 0 and not never_zero(base, n, first)):
                return False
        elif head in LEAST and len(parts) == (2 if head == "PolyGamma" else 1):
            if not above(parts[-1], n, first, LEAST[str(head)]) or (head == "PolyGamma" and parts[0] != 0):
                return False
        elif head == "Pochhammer" and len(parts) == 2:
            if not counts_from(parts[1], n, first) or n in free_symbols(parts[0]) or not of_positive(parts[0]):
                return False
        elif head == "Binomial" and len(parts) == 2:
            if not (counts_from(parts[0], n, first) or counts_from(parts[1], n, first)):
                return False
        elif head not in DEFINED:
            return False
    return True


def above(node: Tree, n: str, first: int, least: int) -> bool:
    """Whether an expression of first degree grows, by whole steps, from a number that is at least the least one or not whole."""
    line = polynomial(node, n)
    if line is None or line.degree() != 1 or line[1].q != 1 or line[1] < 0:
        return False
    return bool(line[0].q != 1 and line[1] == 1 and least > 0) or bool(line[0].q == 1 and line[0] + line[1] * first >= least)


def of_positive(node: Tree) -> bool:
    value = polynomial(node, "")
    return value is not None and value.degree() == 0 and bool(value[0] > 0)


def counts_from(node: Tree, n: str, first: int) -> bool:
    """Whether an expression of first degree is a whole number of at least 0 at every whole number from an index on. Of a binomial coefficient one is:
    of either side a finite product, which is an analytic function of the other one."""
    line = polynomial(node, n)
    if line is None or line.degree() > 1:
        return False
    return bool(line[0].q == line[1].q == 1 and line[1] >= 0 and line[0] + line[1] * first >= 0)


def never_zero(base: Tree, n: str, first: int) -> bool:
    """Whether an expression is not zero at any whole number from an index on."""
    parts = arguments(base)
    if is_call(base, "Times"):
        return all(never_zero(part, n, first) for part in parts)
    if n not in free_symbols(base):
        return not_zero(base)
    if is_call(base, "Power") and len(parts) == 2 and n not in free_symbols(parts[0]):
        return not_zero(parts[0])
    if is_call(base, "Gamma", "Factorial", "Factorial2", "CatalanNumber"):
        return True  # positive where has_values lets them stand
    return vanishes_before(base, n, first)


def vanishes_before(base: Tree, n: str, first: int) -> bool:
    """Whether a polynomial has no whole zero from an index on."""
    p = polynomial(base, n)
    if p is None or p.degree() < 0:
        return False
    return all(not is_whole_from(-factor[0] / factor[1], first) for factor, _ in p.factor()[1] if factor.degree() == 1)


def is_whole_from(value: fmpq, first: int) -> bool:
    return bool(value.q == 1 and value >= first)
