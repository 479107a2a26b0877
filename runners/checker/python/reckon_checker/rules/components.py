"""Equations with infinitely many solutions: answers that leave unknowns free.

Missing solutions are looked for on slices, where as many unknowns as the dimension have random rational values and the rest
is solved completely; a point of a slice that no solution of the answer gives refutes. Completeness is proved for answers that
are rational functions (a product of one equation of each solution vanishes on the whole solution set) and for one equation
(each irreducible factor is the product of its leading coefficient, which vanishes nowhere on it, and x - value for values of the answer).
"""

from __future__ import annotations

import itertools
import random

from flint import fmpq, fmpq_mpoly

from .. import budget
from ..critical import exact_tree
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, brief, free_symbols, is_call, minus, replace, walk
from ..values import NonValue, Number, Undecided, complex_ball, is_number, precision
from .algebraic import NotAlgebraic, Reader, System, rational_of
from .candidates import Algebraic
from .polynomials import as_tree
from .problem import Problem, Solution, put_one_in, spelled
from .real_values import restricted
from .systems import Infinite, TooHard, basis

MAX_SELECTIONS = 64
MAX_SLICES = 12
BITS = 256


def check(problem: Problem, dimension: int) -> Residual:
    states = [put_one_in(problem, s) for s in problem.solutions]
    for state in states:
        if isinstance(state, Refuted):
            return state
    dimension = min(dimension, len(problem.unknowns))
    if any(s.integers or s.loose for s in problem.solutions):
        return Supported() if all(isinstance(state, Verified) for state in states) else Open("holds at some places only")
    if problem.complete or not problem.solutions:
        missing = slices(problem, dimension)
        if missing is not None:
            return missing
    if not problem.solutions:
        return Open("whether there are solutions")
    if not all(isinstance(state, Verified) for state in states):
        return Open("holds at some places only")
    exact = all(isinstance(state, Verified) and state.exact for state in states)
    if problem.others or any(s.conditions for s in problem.solutions):
        return Supported()
    if not problem.complete:
        return Verified(exact)
    if problem.domain == "Complexes":
        found = covered(problem)
        if isinstance(found, Refuted):
            return found
        if found or factor_by_factor(problem):
            return Verified(exact)
    return Supported()


# Missing solutions.


def slices(problem: Problem, dimension: int) -> Refuted | None:
    chooser = random.Random(problem.seed)
    subsets = list(itertools.combinations(problem.unknowns, dimension))[:MAX_SLICES]
    for fixed in subsets:
        values = {name: fmpq(2 * chooser.randrange(40, 400) + 1, 128) * chooser.choice((1, -1)) for name in fixed}
        found = slice_at(problem, values)
        if found is not None:
            return found
    return None


def slice_at(problem: Problem, values: dict[str, fmpq]) -> Refuted | None:
    budget.step()
    trees = {name: exact_tree(value) for name, value in values.items()}
    inner = problem.having(trees)
    if not inner.unknowns:
        return whole_space(problem, values)
    try:
        algebraic = Algebraic(inner.equations, inner.others, inner.unknowns, problem.domain)
        if algebraic.only_real:
            return None
        with precision(BITS):
            for candidate in restricted(inner.equations, problem.domain, algebraic.at(BITS)):
                point: dict[str, Number] = {**values, **candidate.values}
                if candidate.admissible and not any(may_give(s, point) for s in problem.solutions):
                    return Refuted(Statement(f"{spelled(point)} is a solution and not in the answer"))
    except (Infinite, TooHard, NotAlgebraic, Undecided, Refused):
        return None
    return None


def whole_space(problem: Problem, values: dict[str, fmpq]) -> Refuted | None:
    """Every unknown is free: the point itself is a solution where the equations hold exactly."""
    env = Environment.of(values)
    try:
        holds = all(evaluate(e, env) is True for e in [*problem.equations, *problem.others])
    except (Undecided, Refused):
        return None
    if holds and not any(may_give(s, dict(values)) for s in problem.solutions):
        return Refuted(Statement(f"{spelled(dict(values))} is a solution and not in the answer"))
    return None


def may_give(s: Solution, point: dict[str, Number]) -> bool:
    """Whether a point may be one that a solution of the answer gives: not so where a coordinate is certainly another."""
    env = Environment({name: value for name, value in point.items() if name not in s.values})
    try:
        if any(evaluate(condition, env) is False for condition in s.conditions):
            return False
    except Undecided:
        return True
    for name, value in s.values.items():
        try:
            found = evaluate(value, env)
        except Undecided:
            return True
        if isinstance(found, NonValue) or not is_number(found):
            return False  # the formula has no value there
        if not complex_ball(found).overlaps(complex_ball(point[name])):
            return False
    return True


# Completeness.


def read_system(problem: Problem) -> tuple[System, Reader] | None:
    reader = Reader(problem.unknowns)
    try:
        for equation in problem.equations:
            for left, right in zip(arguments(equation), arguments(equation)[1:], strict=False):
                reader.equation(left, right)
    except NotAlgebraic:
        return None
    return (reader.system, reader) if reader.system.used == len(problem.unknowns) else None


def covered(problem: Problem) -> bool | Refuted:
    """Whether the solution set lies in the union of the answer's solutions: of rational functions only. By the Nullstellensatz
    there is a solution outside where a product of one equation of each does not vanish on the whole set."""
    read = read_system(problem)
    if read is None:
        return False
    system, reader = read
    excluded = list(system.nonzero)
    generators: list[list[fmpq_mpoly]] = []
    for s in problem.solutions:
        one: list[fmpq_mpoly] = []
        for name, value in s.values.items():
            try:
                top, bottom = reader.read(("Plus", name, ("Times", -1, value)))
            except NotAlgebraic:
                return False
            if system.used > len(problem.unknowns) or (not bottom.is_constant() and not empty(system, excluded, bottom)):
                return False
            one.append(top)
        if not one:
            return True  # all unknowns free, and proved to solve
        generators.append(one)
    selections = 1
    for one in generators:
        selections *= len(one)
    if selections > MAX_SELECTIONS:
        return False
    system.nonzero = excluded
    for choice in itertools.product(*generators):
        product = system.context.constant(1)
        for p in choice:
            product = product * p
        zero = vanishes(system, product)
        if zero is None:
            return False
        if not zero:
            return Refuted(Statement("there are further solutions, where this is not zero: " + brief(as_tree(product, problem.unknowns), 200)))
    return True


def vanishes(system: System, p: fmpq_mpoly) -> bool | None:
    """Whether a polynomial is zero on the whole solution set (Rabinowitsch); None where that is too hard."""
    if p.is_zero():
        return True
    try:
        found, _ = basis(system, [] if p.is_constant() else [p])
    except TooHard:
        return None
    return any(q.is_constant() and not q.is_zero() for q in found)


def empty(system: System, nonzero: list[fmpq_mpoly], p: fmpq_mpoly) -> bool:
    """Whether no solution is a zero of p."""
    inner = System(system.unknowns, system.context, [*system.equations, p], nonzero, used=system.used)
    try:
        found, _ = basis(inner)
    except TooHard:
        return False
    return any(q.is_constant() and not q.is_zero() for q in found)


def factor_by_factor(problem: Problem) -> bool:
    """One polynomial equation: each irreducible factor is the product of the differences of one unknown and values of the answer."""
    read = read_system(problem)
    if read is None or len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2:
        return False
    system, _ = read
    top = system.equations[0]
    if top.is_zero() or any(len(s.values) != 1 for s in problem.solutions):
        return False
    for factor, _ in top.factor()[1]:
        if any((denominator.gcd(factor)) == factor for denominator in system.nonzero):
            continue
        if not factor_covered(problem, system, factor):
            return False
    return True


def factor_covered(problem: Problem, system: System, factor: fmpq_mpoly) -> bool:
    tree = as_tree(factor, problem.unknowns)
    on_factor = System(system.unknowns, system.context, [factor], [], used=system.used)
    for i, name in enumerate(problem.unknowns):
        degree = int(factor.degrees()[i])
        if not degree:
            continue
        leading = leading_coefficient(system, factor, i, degree)
        if not leading.is_constant() and not empty(on_factor, [], leading):
            continue
        values = [s.values[name] for s in problem.solutions if name in s.values and proves_zero(replace(tree, name, s.values[name]))]
        values = [value for value in values if always_defined(value, on_factor, problem.unknowns)]
        for chosen in itertools.islice(itertools.combinations(values, degree), MAX_SELECTIONS):
            product: Tree = ("Times", as_tree(leading, problem.unknowns), *(minus(name, value) for value in chosen))
            if proves_zero(minus(tree, product)):
                return True
    return False


def leading_coefficient(system: System, p: fmpq_mpoly, i: int, degree: int) -> fmpq_mpoly:
    """The coefficient of the highest power of an unknown, a polynomial in the others."""
    return system.context.from_dict({(*m[:i], 0, *m[i + 1 :]): c for m, c in p.to_dict().items() if int(m[i]) == degree})


def always_defined(value: Tree, on_factor: System, unknowns: list[str]) -> bool:
    """Whether a formula of rational operations and roots divides by nothing that vanishes on the zeros of the factor."""
    for part in walk(value):
        if not isinstance(part, tuple) or not free_symbols(part):
            continue
        if not is_call(part, "Plus", "Times", "Power", "Sqrt", "Subtract", "Minus"):
            return False
        exponent = rational_of(part[2]) if is_call(part, "Power") and len(part) == 3 else fmpq(1)
        if exponent is None:
            return False
        if exponent <= 0:
            try:
                top, bottom = Reader(unknowns).read(part[1])
            except NotAlgebraic:
                return False
            if not bottom.is_constant() or not (top.is_constant() or empty(on_factor, [], top)):
                return False
    return True
