"""Procedure "truth": two conditions that must be true at the same points.

Propositions by their truth table. Conditions on one number exactly: the zeros of all that is compared, isolated, cut the real
line into cells; both conditions are looked at in every cell and at every zero. Answers of Reduce that list solutions are held
against all solutions (solutions.py). Conditions on several numbers are looked at along lines: a point where they differ is a
proof, agreement is support.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from flint import fmpq

from .. import budget
from ..agreement import survey
from ..assumptions import INTEGER_DOMAINS, Assumptions, flatten
from ..critical import exact_tree
from ..evaluation import Environment, evaluate, truth
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..normal import proves_equal
from ..regions import have_insides
from ..signs import of_constant
from ..tree import Refused, Tree, arguments, constants, free_symbols, is_call, kept_by_machines, minus, replace_each, walk
from ..univariate import polynomial
from ..values import NonValue, Undecided, is_number, precision
from ..wording import equation
from . import proportional, solutions
from .cells import COMPARED, ORDERS, Cells
from .problem import Problem, Solution, solution

MAX_PROPOSITIONS = 12
MAX_CASES = 64
LINES = 12
SPECIAL = (0, 1, -1, 2)


def check(task: dict[str, Any], seed: int) -> Residual:
    if not kept_by_machines(task["left"], task["right"]):
        return by_intervals(task, seed)
    found = judged(task, seed)
    if isinstance(found, Verified) and not task.get("propositional") and not all_points_count(task):
        return Supported()
    if isinstance(found, Verified) and not have_insides(list(flatten(task.get("assumptions") or []))):
        return Open("the assumptions leave values at which no point was taken")
    return found


def by_intervals(task: dict[str, Any], seed: int) -> Residual:
    """Conditions with decimals that stand for intervals, at points where both are decided."""
    if task.get("domain") not in (None, "", "Reals"):
        return Open("decimals")
    assumptions = Assumptions(list(flatten(task.get("assumptions") or [])))
    seen = survey([(task["left"], task["right"])], assumptions, seed, real=True, printed=True, keep=lambda point: not point.special)
    equations = any(is_call(part, "Equal", "Unequal") for side in (task["left"], task["right"]) for part in walk(side))
    return seen.refutation() or (Supported() if seen.agreed and not equations else Open("decimals"))


def all_points_count(task: dict[str, Any]) -> bool:
    """Whether the points that conditions are compared at speak of all: statements of membership change within every cell, and orders
    hold of symbols that are real only where these are assumed so."""
    left, right = task["left"], task["right"]
    parts = [part for node in (left, right) for part in walk(node) if is_call(part, "Element", "NotElement", *ORDERS, "Inequality")]
    if not parts or task.get("unknowns"):
        return True
    if any(is_call(part, "Element", "NotElement") for part in parts):
        return False
    assumed = Assumptions(list(flatten(task.get("assumptions") or [])))
    names = set().union(*(free_symbols(part) for part in parts)) - set(COMPARED)
    if task.get("domain") or proportional.same(left, right) or all(assumed.is_real(name) for name in names):
        return True
    return len(names) == 1 and all(only_of_reals(node, next(iter(names))) for node in (left, right))


def only_of_reals(node: Tree, name: str) -> bool:
    """Whether a condition is made of orders between a symbol, or something of first degree in it, and rational numbers: it has a truth
    value for real values of the symbol only, so that two such conditions are compared wherever they are defined."""
    parts = arguments(node)
    if is_call(node, "And", "Or", "Not"):
        return all(only_of_reals(part, name) for part in parts)
    if not is_call(node, *ORDERS, "Inequality"):
        return False
    sides = parts[::2] if is_call(node, "Inequality") else parts
    lines = [polynomial(side, name) for side in sides]
    return all(line is not None and line.degree() <= 1 for line in lines) and any(line is not None and line.degree() == 1 for line in lines)


def judged(task: dict[str, Any], seed: int) -> Residual:
    left, right = task["left"], task["right"]
    if other_kind(left, right):
        return Refuted(Statement("the input is a number and the answer a condition"))
    if task.get("propositional"):
        return truth_table(left, right)
    if not task.get("unknowns") and same_equation(left, right):
        return Verified(True, "True")
    domain = task.get("domain") or ""
    if domain == "Complexes":
        domain = ""
    listed, found = as_solutions(task, left, right, domain), None
    if listed is not None:
        found = solutions.solved(listed)
        if isinstance(found, Verified) and right == "True" and any(proportional.divides(part) for part in walk(left)):
            return Supported()  # nothing is said where a divisor is 0
        if isinstance(found, Refuted | Verified):
            return found
    if constants(left) or constants(right):
        return Open("generated constants")
    if domain.endswith("Rationals") or domain in ("Algebraics", "Booleans"):
        return Open("the domain")
    conditions = list(flatten(task.get("assumptions") or []))
    names = sorted((free_symbols(left) | free_symbols(right)) - set(COMPARED))
    if not names:
        return constant(left, right)
    if proportional.same(left, right):
        return Verified(True, "True")
    for condition in conditions:
        names = sorted({*names, *free_symbols(condition)})
    is_real = real(left, conditions, domain)
    if len(names) == 1:
        compared = Cells(left, right, conditions, names[0], domain, real=is_real, solving=bool(task.get("unknowns"))).compare()
    else:
        compared = along_lines(task, names, conditions, domain, seed)
    if isinstance(compared, Verified | Supported) and not is_real and isinstance(found, Open):
        return found  # real values say nothing of complex solutions
    if isinstance(compared, Verified) and task.get("unknowns") and not solved_for(left, right, names[0], known_domain(domain, names[0], conditions)):
        return Supported()
    return compared


ALGEBRAIC = frozenset("Plus Times Subtract Minus Divide Power Sqrt Rational".split())


def known_domain(domain: str, name: str, conditions: list[Tree]) -> str:
    return "Reals" if not domain and Assumptions(conditions).is_real(name) else domain


def solved_for(left: Tree, right: Tree, name: str, domain: str) -> bool:
    """Whether an answer says where a number lies by its own order among real constants, or which whole numbers it is, so that it leaves no doubt of
    which numbers are meant. Without a domain a number is real where it stands algebraically in an order."""
    atoms = list(atoms_of(right))
    if domain in INTEGER_DOMAINS:
        return all(
            atom == "False" or (is_call(atom, "Equal") and set(arguments(atom)) - {name} <= {n for n in arguments(atom) if isinstance(n, int)})
            for atom in atoms
        )
    if not domain and ("True" in atoms or any(is_call(part, "Unequal", "Not") for part in walk(right)) or not orders_algebraically(left, name)):
        return False  # these hold of numbers that are not real too
    sides = [side for atom in atoms if atom not in ("True", "False") for side in (arguments(atom)[::2] if is_call(atom, "Inequality") else arguments(atom))]
    return all(atom in ("True", "False") or is_call(atom, *COMPARED, "Inequality") for atom in atoms) and all(
        side == name or (not free_symbols(side) and of_constant(side) != "") for side in sides
    )


def atoms_of(node: Tree) -> Iterator[Tree]:
    """The conditions of which one is made by And, Or and Not."""
    if is_call(node, "And", "Or", "Not"):
        for part in arguments(node):
            yield from atoms_of(part)
    else:
        yield node


def orders_algebraically(node: Tree, name: str) -> bool:
    compared = [part for part in walk(node) if is_call(part, *COMPARED, "Inequality")]
    sides = [side for part in compared for side in arguments(part) if name in free_symbols(side)]
    algebraic = all(part[0] in ALGEBRAIC for side in sides for part in walk(side) if isinstance(part, tuple) and name in free_symbols(part))
    return algebraic and any(is_call(part, *ORDERS, "Inequality") and name in free_symbols(part) for part in compared)


def same_equation(left: Tree, right: Tree) -> bool:
    """Whether two equations compare the same difference with zero, by its normal form: a x + b x == 0 and (a + b) x == 0."""
    sides = [arguments(node) if is_call(node, "Equal") else () for node in (left, right)]
    if any(len(parts) != 2 for parts in sides):
        return False
    (a, b), (c, d) = sides
    return proves_equal(minus(a, b), minus(c, d)) or proves_equal(minus(a, b), minus(d, c))


CONDITIONS = frozenset((*COMPARED, *"Inequality And Or Not Implies Xor Nand Nor Equivalent Element NotElement".split()))


def other_kind(left: Tree, right: Tree) -> bool:
    """Whether left is a number at some point and right a condition."""
    if not isinstance(left, tuple) or left[0] in CONDITIONS or not (right in ("True", "False") or is_call(right, *CONDITIONS)):
        return False
    try:
        return is_number(evaluate(left, Environment.of({name: fmpq(37, 64) for name in free_symbols(left)})))
    except (Undecided, Refused):
        return False


def real(left: Tree, conditions: list[Tree], domain: str) -> bool:
    """Whether numbers are real: by the domain, an order among them, or an assumption."""
    if domain:
        return True
    return any(
        is_call(part, *ORDERS, "Inequality") or (is_call(part, "Element") and arguments(part)[1] != "Complexes")
        for node in [left, *conditions]
        for part in walk(node)
    )


def truth_table(left: Tree, right: Tree) -> Residual:
    names = sorted(free_symbols(left) | free_symbols(right))
    if len(names) > MAX_PROPOSITIONS:
        return Open("too many propositions")
    for row in itertools.product((False, True), repeat=len(names)):
        budget.step()
        env = Environment(dict(zip(names, row, strict=True)))
        a, b = truth(left, env), truth(right, env)
        if isinstance(a, NonValue) or isinstance(b, NonValue):
            return Open("not propositions")
        if a != b:
            where = ", ".join(f"{name} = {value}" for name, value in zip(names, row, strict=True))
            return Refuted(Statement((f"at {where}: " if names else "") + f"{a} is expected, the answer gives {b}"))
    return Verified(True, "True")


def constant(left: Tree, right: Tree) -> Residual:
    for bits in (128, 1024):
        with precision(bits):
            try:
                a, b = truth(left, Environment()), truth(right, Environment())
            except Undecided:
                continue
            if isinstance(a, NonValue) or isinstance(b, NonValue):
                return Open("no truth value")
            return Verified(True, str(a)) if a == b else Refuted(Statement(f"{a} is expected, the answer gives {b}"))
    return Open("the enclosures stay too wide")


# Answers that list solutions.


def as_solutions(task: dict[str, Any], left: Tree, right: Tree, domain: str) -> Problem | None:
    """Equations, with an answer x == a && ... || ...; None where it is another kind of problem."""
    unknowns = task.get("unknowns")
    if not unknowns or task.get("assumptions"):
        return None
    parts = list(flatten([left]))
    if not any(is_call(part, "Equal") for part in parts) or any(is_call(part, "Or", "Not", "Implies", "Xor", "Exists", "ForAll") for part in parts):
        return None
    cases = disjuncts(right)
    if cases is None:
        return None
    found: list[Solution] = []
    for case in cases:
        one = as_solution(case, unknowns)
        if one is None:
            return None
        found.append(one)
    problem = Problem(
        [p for p in parts if is_call(p, "Equal")],
        [p for p in parts if not is_call(p, "Equal") and p != "True"],
        list(unknowns),
        domain or "Complexes",
        found,
        [],
        True,
        0,
    )
    return None if problem.parameters else problem


def disjuncts(node: Tree) -> list[list[Tree]] | None:
    """The disjunctive form of a condition made of And and Or; None where it is large."""
    if node == "False":
        return []
    if is_call(node, "Or"):
        found: list[list[Tree]] = []
        for part in arguments(node):
            inner = disjuncts(part)
            if inner is None:
                return None
            found += inner
        return found if len(found) <= MAX_CASES else None
    if is_call(node, "And"):
        cases: list[list[Tree]] = [[]]
        for part in arguments(node):
            inner = disjuncts(part)
            if inner is None or len(cases) * len(inner) > MAX_CASES:
                return None
            cases = [a + b for a in cases for b in inner]
        return cases
    return [[]] if node == "True" else [[node]]


def as_solution(parts: list[Tree], unknowns: list[str]) -> Solution | None:
    values: dict[str, Tree] = {}
    conditions: list[Tree] = []
    for part in parts:
        if is_call(part, "Equal") and len(arguments(part)) == 2 and isinstance(arguments(part)[0], str) and arguments(part)[0] in unknowns:
            name, value = arguments(part)
            if str(name) in values:
                return None
            values[str(name)] = value
        elif is_call(part, "Element") and not set(unknowns) & free_symbols(part):
            conditions.append(part)
        else:
            return None
    for _ in values:
        for name in unknowns:
            if name in values:
                values[name] = replace_each(values[name], {other: inner for other, inner in values.items() if other != name})
    condition: Tree = ("And", *conditions)
    names = list(values)
    trees = [("ConditionalExpression", values[n], condition) if conditions else values[n] for n in names]
    return solution({"names": names, "values": trees}, unknowns)


# Several numbers.


def along_lines(task: dict[str, Any], names: list[str], conditions: list[Tree], domain: str, seed: int) -> Residual:
    """Both conditions on lines parallel to the axes, through special and random points."""
    left, right = task["left"], task["right"]
    chooser = random.Random(seed)
    unknowns = [name for name in (task.get("unknowns") or names) if name in names] or names
    integer = domain in INTEGER_DOMAINS
    seen = 0
    values = {part for node in (left, right) for part in walk(node) if isinstance(part, int) and abs(part) < 1000}
    pool = sorted({*SPECIAL, *values, *(-v for v in values)}, key=lambda v: (abs(v), -v))[:10]
    is_real = real(left, conditions, domain)
    corners = iter(sorted(itertools.product(range(min(len(pool), 6)), repeat=min(len(names) - 1, 4)), key=sum))
    for line in range(LINES):
        budget.step()
        name = unknowns[line % len(unknowns)]
        others = [other for other in names if other != name]
        at: dict[str, fmpq] = {}
        special = next(corners, None) if line % 3 else None
        for i, other in enumerate(others):
            if special is not None:
                at[other] = fmpq(pool[special[i]] if i < len(special) else 1)
            elif integer and other in unknowns:
                at[other] = fmpq(chooser.choice(pool))
            else:
                at[other] = fmpq(2 * chooser.randrange(1, 400) + 1, chooser.choice((64, 1024))) * chooser.choice((1, -1))
        trees = {other: exact_tree(value) for other, value in at.items()}
        found = Cells(
            replace_each(left, trees),
            replace_each(right, trees),
            [replace_each(c, trees) for c in conditions],
            name,
            domain,
            real=is_real,
            solving=bool(task.get("unknowns")),
        ).compare()
        if isinstance(found, Refuted):
            where = ", ".join(equation(other, value) for other, value in at.items())
            return Refuted(Statement(f"{where}, {found.proof.sentence()}", found.proof.exact))
        seen += isinstance(found, Verified | Supported)
    return Supported() if seen >= LINES // 2 else Open("too few points")
