"""Equations over the integers, and over the integers modulo n.

All integer solutions are found where the equations have finitely many complex ones, or where conditions or a definite form
bound every unknown; otherwise those of a box are, and one that the answer leaves out refutes.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from flint import acb, arb, fmpq

from .. import budget
from ..assumptions import flatten
from ..evaluation import Environment, evaluate, truth
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..tree import Refused, Tree, arguments, brief, free_symbols, is_call, minus, replace
from ..truth import member
from ..univariate import polynomial
from ..values import Kind, NonValue, Undecided, complex_ball, precision, whole
from .algebraic import NotAlgebraic, Reader
from .candidates import Algebraic
from .problem import Problem, Solution, finite, put_one_in
from .systems import Infinite, TooHard
from .window import bounds

MAX_POINTS = 12_000
LINES = 400  # along which one unknown is solved for
REACH = {1: 300, 2: 24, 3: 7, 4: 3}


def check(problem: Problem) -> Residual:
    try:
        return finite(problem, Algebraic(problem.equations, problem.others, problem.unknowns, problem.domain))
    except (Infinite, NotAlgebraic, TooHard):
        pass
    for s in problem.solutions:
        found = put_one_in(problem, s)
        if isinstance(found, Refuted):
            return found
    ranges = limits(problem)
    complete = ranges is not None
    if ranges is None:
        reach = REACH.get(len(problem.unknowns))
        if reach is None:
            return Open("too many unknowns")
        ranges = [range(-reach, reach + 1)] * len(problem.unknowns)
    found_points = inside(problem, ranges)
    if found_points is None:
        return Open("the conditions are not decided")
    if not complete:
        further = along_lines(problem)
        if further is not None:
            found_points = list(dict.fromkeys([*found_points, *further[0]]))
            complete = further[1]
    if any(s.integers or s.loose for s in problem.solutions) or any(set(s.values) != set(problem.unknowns) for s in problem.solutions):
        return families(problem, found_points)
    given: set[tuple[int, ...]] = set()
    for s in problem.solutions:
        point = integers_of(s, problem.unknowns)
        if isinstance(point, Refuted):
            return point
        if point is None:
            return Open("whether a value is an integer")
        if not solves(problem, dict(zip(problem.unknowns, point, strict=True))):
            return Refuted(Statement(f"{spelled(problem.unknowns, point)} is no solution"))
        given.add(point)
    if problem.complete or not given:
        for point in found_points:
            if point not in given:
                return Refuted(Statement(f"{spelled(problem.unknowns, point)} is a solution and not in the answer"))
    if complete or (given and not problem.complete):
        return Verified(True)
    return Open("solutions further out") if not given else Supported()


def spelled(names: list[str], point: tuple[int, ...]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(names, point, strict=True))


def integers_of(s: Solution, unknowns: list[str]) -> tuple[int, ...] | Refuted | None:
    found: list[int] = []
    for name in unknowns:
        with precision(512):
            try:
                value = evaluate(s.values[name])
            except Undecided:
                return None
        n = whole(value)
        if n is None:
            return Refuted(Statement(f"{name} is not an integer")) if isinstance(value, fmpq) else None
        found.append(n)
    return tuple(found)


def solves(problem: Problem, values: dict[str, int]) -> bool | None:
    env = Environment({name: fmpq(value) for name, value in values.items()})
    try:
        for name in problem.unknowns:
            if member(env.values[name], problem.domain) is not True:
                return False
        for condition in [*problem.equations, *problem.others]:
            holds = truth(condition, env)
            if isinstance(holds, NonValue) or not holds:
                return False
    except Undecided:
        return None
    return True


def inside(problem: Problem, ranges: list[range]) -> list[tuple[int, ...]] | None:
    """The solutions in a box; None where one cannot be told."""
    found = []
    for point in itertools.product(*ranges):
        budget.step()
        holds = solves(problem, dict(zip(problem.unknowns, point, strict=True)))
        if holds is None:
            return None
        if holds:
            found.append(point)
    return found


def along_lines(problem: Problem) -> tuple[list[tuple[int, ...]], bool] | None:
    """Solutions for whole values of all unknowns but one, and whether they are all: those have bounds, or range over some, and the equation
    is a polynomial in the last one, of which the whole zeros are known."""
    if len(problem.unknowns) < 2:
        return None
    known = [one_range(problem, name) for name in problem.unknowns]
    last = next((i for i, values in enumerate(known) if values is None), len(known) - 1)
    reach = LINES // 2 if len(known) == 2 else 7
    ranges = [range(-reach, reach + 1) if values is None else values for i, values in enumerate(known) if i != last]
    if math.prod(len(r) for r in ranges) > 2 * LINES:
        return None
    names = [name for i, name in enumerate(problem.unknowns) if i != last]
    found: list[tuple[int, ...]] = []
    for point in itertools.product(*ranges):
        budget.step()
        zeros = whole_zeros(problem, dict(zip(names, point, strict=True)), problem.unknowns[last])
        if zeros is None:
            return None
        for zero in zeros:
            whole_point = (*point[:last], zero, *point[last:])
            holds = solves(problem, dict(zip(problem.unknowns, whole_point, strict=True)))
            if holds is None:
                return None
            if holds:
                found.append(whole_point)
    return found, all(values is not None for i, values in enumerate(known) if i != last)


def whole_zeros(problem: Problem, values: dict[str, int], name: str) -> list[int] | None:
    """The whole zeros of an equation that is a polynomial in one unknown, for values of the others; None where none is, or all vanish."""
    for one in problem.equations:
        node = minus(*arguments(one)[:2])
        for other, value in values.items():
            node = replace(node, other, value)
        p = polynomial(node, name)
        if p is None or p.degree() < 0:
            continue
        if p.degree() == 0:
            return []
        factors: Any = p.factor()[1]
        zeros = [-factor[0] / factor[1] for factor, _ in factors if factor.degree() == 1]
        return [int(zero.p) for zero in zeros if zero.q == 1]
    return None


def one_range(problem: Problem, name: str) -> range | None:
    """The whole numbers that conditions leave for one unknown."""
    low, high = bounds(problem.others, name)
    if problem.domain in ("PositiveIntegers", "NonNegativeIntegers", "Primes"):
        low = max(low, fmpq(0)) if low is not None else fmpq(0)
    return range(int(low.floor()) - 1, int(high.ceil()) + 2) if low is not None and high is not None and high - low <= 2 * LINES else None


def limits(problem: Problem) -> list[range] | None:
    """A box that holds every solution, by the conditions or by a definite form; None where none is known."""
    form = definite(problem)
    result: list[range] = []
    for name in problem.unknowns:
        low, high = bounds(problem.others, name)
        if problem.domain in ("PositiveIntegers", "NonNegativeIntegers", "Primes"):
            low = max(low, fmpq(0)) if low is not None else fmpq(0)
        if form is not None:
            low, high = max(low, -form[name]) if low is not None else -form[name], min(high, form[name]) if high is not None else form[name]
        if low is None or high is None:
            return None
        result.append(range(int(low.floor()) - 1, int(high.ceil()) + 2))
    return result if math.prod(len(r) for r in result) <= MAX_POINTS else None


def definite(problem: Problem) -> dict[str, fmpq] | None:
    """Bounds from an equation sum c x^(2k) == n with positive coefficients."""
    for equation in problem.equations:
        reader = Reader(problem.unknowns)
        try:
            reader.equation(*arguments(equation)[:2])
        except (NotAlgebraic, TypeError):
            continue
        if reader.system.used > len(problem.unknowns) or reader.system.nonzero:
            continue
        found: dict[str, fmpq] = {}
        constant = fmpq(0)
        terms = reader.system.equations[0].to_dict()
        way = 1
        for monomial, c in terms.items():
            if any(monomial):
                way = 1 if c > 0 else -1
                break
        for monomial, c in terms.items():
            used = [(i, int(e)) for i, e in enumerate(monomial) if int(e)]
            if not used:
                constant = -c * way
            elif len(used) == 1 and used[0][1] % 2 == 0 and c * way > 0:
                found[problem.unknowns[used[0][0]]] = c * way
            else:
                found = {}
                break
        if len(found) == len(problem.unknowns):
            return {name: abs(constant) / c + 1 for name, c in found.items()}
    return None


def families(problem: Problem, points: list[tuple[int, ...]]) -> Residual:
    """Answers with constants: every solution of the box must be one of theirs, for constants of a range or of affine values."""
    if not problem.complete:
        return Supported()
    for point in points:
        if not any(gives(s, dict(zip(problem.unknowns, point, strict=True))) for s in problem.solutions):
            return Refuted(Statement(f"{spelled(problem.unknowns, point)} is a solution and not in the answer"))
    return Supported()


def gives(s: Solution, point: dict[str, int]) -> bool:
    """Whether a point may be a member: certainly not where a value that is affine in one constant is another number."""
    names = sorted(s.integers | s.loose)
    if len(names) != 1 or s.conditions or set(s.values) != set(point):
        return True
    allowed: set[fmpq] | None = None
    for name, value in s.values.items():
        p = polynomial(value, names[0])
        if p is None or p.degree() > 1:
            return True
        if p.degree() < 1:
            if p[0] != point[name]:
                return False
            continue
        k = (point[name] - p[0]) / p[1]
        if k.q != 1 or (allowed is not None and k not in allowed):
            return False
        allowed = {k}
    return True


# Modulo n.


def modular(task: dict[str, Any]) -> Residual:
    """Solve[equations, unknowns, Modulus -> n]: every residue is tried."""
    n, unknowns = task["modulus"], list(task["unknowns"])
    if not isinstance(n, int) or n < 2 or n ** len(unknowns) > MAX_POINTS:
        return Open("the modulus is too large, or not a number")
    equations = list(flatten(task["conditions"]))
    names = {name for e in equations for name in free_symbols(e)}
    if not names <= set(unknowns) or not all(is_call(e, "Equal") for e in equations):
        raise Refused("Modulus")
    trees = [minus(a, b) for e in equations for a, b in zip(arguments(e), arguments(e)[1:], strict=False)]
    true = {p for p in itertools.product(range(n), repeat=len(unknowns)) if all(residue(tree, dict(zip(unknowns, p, strict=True)), n) == 0 for tree in trees)}
    given: set[tuple[int, ...]] = set()
    least = True
    for s in task["solutions"]:
        if set(s["names"]) != set(unknowns):
            return Open("unknowns are left free")
        values = dict(zip(s["names"], s["values"], strict=True))
        odd = next((name for name in unknowns if no_integer(values[name])), None)
        if odd is not None:
            return Refuted(Statement(f"{odd} = {brief(values[odd], 200)} is no integer", exact=False))
        point = [residue(values[name], {}, n) for name in unknowns]
        if any(v is None for v in point):
            return Open("a value is no integer")
        given.add(tuple(v for v in point if v is not None))
        least = least and all(isinstance(values[name], int) and 0 <= values[name] < n for name in unknowns)
    for p in sorted(given - true):
        return Refuted(Statement(f"{spelled(unknowns, p)} is no solution modulo {n}"))
    for p in sorted(true - given):
        if not given or task.get("complete", True):
            return Refuted(Statement(f"{spelled(unknowns, p)} is a solution modulo {n} and not in the answer"))
    if not least or len(given) < len(task["solutions"]):
        return Open("the answer is not of different least residues")
    return Verified(True)


def no_integer(node: Tree) -> bool:
    """Whether a value is certainly neither an integer nor a fraction."""
    try:
        value = evaluate(node)
    except (Undecided, Refused):
        return False
    if isinstance(value, NonValue):
        return value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY)
    if not isinstance(value, arb | acb):
        return False
    return not complex_ball(value).imag.contains(0) or not complex_ball(value).real.contains_integer()


def residue(node: Tree, values: dict[str, int], n: int) -> int | None:
    """The value modulo n; None where it has none."""
    budget.step()
    if isinstance(node, int):
        return node % n
    if isinstance(node, str):
        if node in values:
            return values[node]
        raise Refused("symbol " + node)
    if not isinstance(node, tuple):
        return None
    parts = arguments(node)
    if node[0] == "Power" and len(parts) == 2 and isinstance(parts[1], int):
        base = residue(parts[0], values, n)
        if base is None or (parts[1] < 0 and math.gcd(base, n) != 1):
            return None
        return pow(base, parts[1], n)
    if node[0] == "Rational" and isinstance(parts[0], int) and isinstance(parts[1], int):
        return parts[0] * pow(parts[1], -1, n) % n if math.gcd(parts[1], n) == 1 else None
    if node[0] in ("Plus", "Times"):
        total = 0 if node[0] == "Plus" else 1
        for part in parts:
            value = residue(part, values, n)
            if value is None:
                return None
            total = (total + value if node[0] == "Plus" else total * value) % n
        return total
    if node[0] == "Minus":
        inner = residue(parts[0], values, n)
        return None if inner is None else -inner % n
    raise Refused(str(node[0]))
