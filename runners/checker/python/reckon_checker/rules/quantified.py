"""Procedure "quantified": a statement with ForAll or Exists over one number, and the condition on the other symbols that it is said to be.

At exact values of the other symbols the body is decided in every cell between the zeros of what it compares and at each zero
(cells.py). The values are taken from every cell of the projection of the body's polynomials (discriminants, resultants, coefficients: Collins
1975) and of the answer, and at the rational ends of the cells; a value where statement and answer differ is a proof.
That they are the same is proved where there is one other symbol, all is polynomial and real, and no end of a cell is irrational: over a cell the zeros
stay apart (open_cells.py), so that the statement has one truth value in each.
"""

from __future__ import annotations

import itertools
from typing import Any

from flint import arb, fmpq, fmpq_mpoly, fmpq_poly

from .. import budget
from ..critical import exact_tree
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..roots import isolated
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, replace_each, walk
from ..values import Undecided, precision
from ..wording import equation
from . import open_cells
from .cells import ORDERS, Cells, rational_above, rational_below
from .polynomials import coefficients
from .quotients import Foreign, Ring

QUANTIFIERS = ("Exists", "ForAll")
BITS = 192
TOTAL = frozenset((*ORDERS, *"Equal Unequal And Or Not Implies Plus Times Power Subtract Minus Rational Abs Sin Cos Exp Min Max".split()))
MAX_POLYNOMIALS = 24
MAX_POINTS = 150
POOL = tuple(fmpq(n, d) for n, d in ((0, 1), (1, 1), (-1, 1), (5, 2), (-7, 3), (2, 1), (-2, 1), (1, 3), (-1, 2), (13, 1), (-13, 1)))


class Unknown(Exception):
    """The truth of a statement is not decided."""


def check(task: dict[str, Any], seed: int) -> Residual:
    """task: left with quantifiers, right without, domain."""
    left, right, domain = task["left"], task["right"], task.get("domain") or ""
    if domain not in ("", "Reals", "Complexes"):
        return Open("only real and complex numbers")
    ordered = any(is_call(part, *ORDERS, "Inequality") for part in walk(left))
    if ordered and domain == "Complexes":
        return Open("an order of complex numbers")
    real = domain == "Reals" or ordered  # what stands in an order is real unless it is said otherwise
    if ordered and not domain and not symbols_of(left) <= in_orders(left):
        return Open("an order of some numbers and not of others, which may be complex")
    names = sorted(unbound(left) | free_symbols(right))
    agreed, decided = 0, True
    for point in points(left, right, names):
        budget.step()
        here = {name: exact_tree(value) for name, value in zip(names, point, strict=True)}
        try:
            wanted, given = truth(replace_each(left, here), real), truth(replace_each(right, here), real)
        except (Unknown, Undecided, Refused):
            decided = False
            continue
        if wanted != given:
            where = ", ".join(equation(name, value) for name, value in zip(names, point, strict=True))
            return Refuted(Statement((f"at {where}: " if where else "") + f"{wanted} is expected, the answer gives {given}"))
        agreed += 1
    if not agreed:
        return Open("the statement is not decided at any point")
    if decided and real and proved(left, right, names):
        return Verified(exact=True)
    if len(names) == 1 and any(ends_between(right, names[0], low, high, real) for low, high in irrational_places(left, right, names[0])):
        return Open("an end of the answer is irrational, and the statement is not looked at there")
    return Supported()


def symbols_of(node: Tree) -> set[str]:
    """Symbols of a statement, those that quantifiers bind among them."""
    return free_symbols(node) | names_bound(node)


def names_bound(node: Tree) -> set[str]:
    """Names that quantifiers bind anywhere in a statement."""
    return {name for part in walk(node) if is_call(part, *QUANTIFIERS) for name in bound(arguments(part)[0])}


def in_orders(node: Tree) -> set[str]:
    """Symbols that stand in an order."""
    return set().union(*(free_symbols(part) for part in walk(node) if is_call(part, *ORDERS, "Inequality")))


def proved(left: Tree, right: Tree, names: list[str]) -> bool:
    """Whether a statement that has the truth value of the answer where it was looked at has it everywhere."""
    if not names:
        return True
    inner = sorted(names_bound(left))
    if len(names) != 1 or names[0] in inner or not (is_polynomial(left) and is_polynomial(right)):
        return False
    (name,) = names
    ring = Ring([("List", name, *inner)])
    try:
        compared = open_cells.factors_of(ring, [ring.polynomial(e) for e in (*differences(left), *differences(right))])
        found = [p for p in compared if not any(int(p.degrees()[ring.index(x)]) for x in inner)]
        for x in inner:
            found += open_cells.projected(ring, [p for p in compared if int(p.degrees()[ring.index(x)])], x)
        found = open_cells.factors_of(ring, found)
        lines = [open_cells.univariate(p, ring.index(name)) for p in found]
        ends = [-p[0] / p[1] for p in lines if p.degree() == 1]
        if any(p.degree() > 1 and open_cells.real_zeros(p) for p in lines):
            return False
        inside = open_cells.between(ring, found, {}, name)
        return bool(inside) and all(same_at(left, right, {name: exact_tree(value)}) for value in (*inside, *ends))
    except (Foreign, Unknown, Undecided, Refused):
        return False


def same_at(left: Tree, right: Tree, here: dict[str, Tree]) -> bool:
    return truth(replace_each(left, here), True) == truth(replace_each(right, here), True)


def is_polynomial(node: Tree) -> bool:
    """Whether a statement is made of comparisons, whose sides are read elsewhere, and of what connects them."""
    if node in ("True", "False"):
        return True
    parts = arguments(node)
    if is_call(node, *QUANTIFIERS):
        return all(map(is_polynomial, parts[1:]))
    if is_call(node, "And", "Or", "Not", "Implies", "List"):
        return all(map(is_polynomial, parts))
    if is_call(node, "Inequality"):
        return all(relation in (*ORDERS, "Equal") for relation in parts[1::2])
    return is_call(node, *ORDERS, "Equal", "Unequal")


def ends_between(right: Tree, name: str, low: fmpq, high: fmpq, real: bool) -> bool:
    """Whether the answer changes between two numbers."""
    try:
        return truth(replace_each(right, {name: exact_tree(low)}), real) != truth(replace_each(right, {name: exact_tree(high)}), real)
    except (Unknown, Undecided, Refused):
        return True


def irrational_places(left: Tree, right: Tree, name: str) -> list[tuple[fmpq, fmpq]]:
    """Rational numbers next to the irrational ends of the projection, on both sides of each."""
    found: list[tuple[fmpq, fmpq]] = []
    with precision(BITS):
        for p in projection(left, right, name):
            for factor, _ in p.factor()[1]:
                if factor.degree() > 1:
                    real_ones = [root.real for root, _ in isolated(tuple(factor.coeffs()), BITS) if root.imag.is_zero()]
                    found += [(rational_below(root), rational_above(root)) for root in real_ones]
    return found


def unbound(node: Tree) -> set[str]:
    """The symbols of a statement that no quantifier binds."""
    if is_call(node, *QUANTIFIERS):
        names, *rest = arguments(node)
        return set().union(*(unbound(part) for part in rest)) - bound(names)
    if is_call(node, "And", "Or", "Not", "Implies", "Xor", "Equivalent", "List"):
        return set().union(*(unbound(part) for part in arguments(node)))
    return free_symbols(node)


def bound(names: Tree) -> set[str]:
    return {name for name in (arguments(names) if is_call(names, "List") else (names,)) if isinstance(name, str)}


def truth(node: Tree, real: bool) -> bool:
    """The truth value of a statement without free symbols. Raises Unknown when it cannot be decided."""
    if node in ("True", "False"):
        return node == "True"
    parts = arguments(node)
    if is_call(node, "And", "Or", "List"):
        deciding = is_call(node, "Or")
        answers = [attempted(part, real) for part in parts]
        if deciding in answers:
            return deciding
        if None in answers:
            raise Unknown
        return not deciding
    if is_call(node, "Not"):
        return not truth(parts[0], real)
    if is_call(node, "Implies"):
        return truth(("Or", ("Not", parts[0]), parts[1]), real)
    if is_call(node, *QUANTIFIERS):
        return quantified(node, real)
    if free_symbols(node):
        raise Unknown
    return holds_somewhere(node, "unused$", real)


def attempted(node: Tree, real: bool) -> bool | None:
    try:
        return truth(node, real)
    except Unknown:
        return None


def quantified(node: Tree, real: bool) -> bool:
    names, *rest = arguments(node)
    chosen = bound(names)
    if len(chosen) != 1 or not 1 <= len(rest) <= 2 or any(is_call(part, *QUANTIFIERS) for inner in rest for part in walk(inner)):
        raise Unknown  # cells of one number only
    (name,) = chosen
    body = rest[-1]
    if is_call(node, "Exists"):
        return holds_somewhere(("And", *rest), name, real)
    if holds_somewhere(("And", *rest[:-1], ("Not", body)), name, real):
        return False
    if not defined_everywhere(("And", *rest)):
        raise Unknown  # what is said of a number where the body has no value is a convention
    return True


def defined_everywhere(node: Tree) -> bool:
    if not isinstance(node, tuple):
        return True
    if node[0] == "Power" and not (isinstance(node[2], int) and node[2] >= 0) and node[1] != "E" and free_symbols(node):
        return False
    if node[0] == "Inequality":
        return all(defined_everywhere(part) for part in node[1::2])
    return node[0] in TOTAL and all(defined_everywhere(part) for part in node[1:])


def holds_somewhere(body: Tree, name: str, real: bool) -> bool:
    """Whether a condition on one number is true of some number. Raises Unknown."""
    if free_symbols(body) - {name}:
        raise Unknown
    found = Cells(body, "False", [], name, "", real=real, solving=True).compare()
    if isinstance(found, Refuted):
        return True
    if isinstance(found, Verified):
        return False
    raise Unknown


# Values of the other symbols.


def points(left: Tree, right: Tree, names: list[str]) -> list[tuple[fmpq, ...]]:
    if not names:
        return [()]
    if len(names) > 1:
        return list(itertools.islice(itertools.product(POOL if len(names) == 2 else POOL[:5], repeat=len(names)), MAX_POINTS))
    return [(value,) for value in one_name(left, right, names[0])]


def one_name(left: Tree, right: Tree, name: str) -> list[fmpq]:
    """Rational values in every cell of the projection, close to each end and at it where it is rational."""
    ends: list[arb] = []
    exact: list[fmpq] = list(POOL)
    with precision(BITS):
        for p in projection(left, right, name):
            for root, _ in isolated(tuple(p.coeffs()), BITS):
                if root.imag.is_zero():
                    ends.append(root.real)
            exact += [-factor[0] / factor[1] for factor, _ in p.factor()[1] if factor.degree() == 1]
    ends.sort(key=lambda end: float(end.mid()))
    for a, b in itertools.pairwise(ends):
        low, high = rational_above(a), rational_below(b)
        if low < high:
            exact += [low + (high - low) / 1024, (low + high) / 2, high - (high - low) / 1024]
    if ends:
        exact += [rational_below(ends[0]) - fmpq(1, 1024), rational_above(ends[-1]) + fmpq(1, 1024)]
        exact += [rational_below(ends[0]) - 1000, rational_above(ends[-1]) + 1000]
    return sorted(set(exact), key=str)


def projection(left: Tree, right: Tree, name: str) -> list[fmpq_poly]:
    """Polynomials in the free symbol whose zeros may change the truth of the statement, or of the answer."""
    found: list[fmpq_mpoly] = []
    ring = Ring([*differences(left), *differences(right), name])
    index = ring.index(name)
    for x in [i for i in range(len(ring.names)) if i != index]:
        inside = []
        for e in differences(left):
            try:
                inside.append(ring.polynomial(e))
            except (Foreign, Refused):
                continue
        inside = [p for p in inside[:MAX_POLYNOMIALS] if not p.is_zero() and int(p.degrees()[x])]
        for p in inside:
            found += coefficients(ring, p, x)
            if int(p.degrees()[x]) > 1:
                found.append(p.discriminant(ring.names[x]))
        found += [p.resultant(q, ring.names[x]) for p, q in itertools.combinations(inside, 2)]
    for e in [*differences(left), *differences(right)]:
        try:
            found.append(ring.polynomial(e))
        except (Foreign, Refused):
            continue
    result = []
    for p in found:
        if p.is_zero() or any(int(d) for i, d in enumerate(p.degrees()) if i != index) or not int(p.degrees()[index]):
            continue
        dense = open_cells.univariate(p, index)
        result.append(dense // dense.gcd(dense.derivative()))
    return result


def differences(node: Tree) -> list[Tree]:
    """The difference left - right of every comparison in a condition."""
    found: list[Tree] = []
    for part in walk(node):
        if is_call(part, *ORDERS, "Equal", "Unequal"):
            found += [minus(a, b) for a, b in itertools.pairwise(arguments(part))]
        elif is_call(part, "Inequality"):
            found += [minus(a, b) for a, b in itertools.pairwise(arguments(part)[::2])]
    return found
