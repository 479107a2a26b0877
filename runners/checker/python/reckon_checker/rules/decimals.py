"""Decimal solutions: NSolve, NRoots, FindRoot and N[Solve[...]].

A decimal stands for the interval that prints so, widened by what arithmetic with its digits may lose: for a root of one
polynomial by its condition number, else by half of the digits. A solution is refuted where no true one is that near: all
true ones are known, or the function has no zero in the box. Decimals of the equations are read exactly as written.
"""

from __future__ import annotations

from typing import Any

from flint import acb, acb_mat, arb, fmpq, fmpq_poly

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Sampled, Statement, Supported
from ..tree import Refused, Tree, arguments, exactly, free_symbols, is_call, minus, reals
from ..values import NonValue, Number, Undecided, complex_ball, is_number, precision
from ..wording import equation, show, upwards
from .algebraic import NotAlgebraic
from .candidates import Algebraic, Candidate, bounded
from .problem import Problem, Solution, solution, spelled
from .systems import Infinite, TooHard
from .window import Zeros, bounds

BITS = 256
SLACK = 2**8  # times what one rounding loses through the condition of a root
WORST = fmpq(1, 1000)  # relative: no decimal is allowed to be off by more
MACHINE_HALF = fmpq(1, 10**6)
MAX_DIGITS = 400


def check(task: dict[str, Any], conditions: list[Tree]) -> Sampled:
    exact = [exactly(c) for c in conditions]
    problem_names = {*task["unknowns"]}.union(*(free_symbols(c) for c in exact))
    problem = Problem(
        [c for c in exact if is_call(c, "Equal")],
        [c for c in exact if not is_call(c, "Equal") and c != "True"],
        list(task["unknowns"]),
        task.get("domain") or "Complexes",
        [solution(s, problem_names) for s in task["solutions"]],
        [],
        bool(task.get("complete")),
        0,
    )
    if problem.parameters or task.get("assumptions") or any(s.conditions or s.integers or s.loose for s in problem.solutions):
        return Open("parameters in a decimal answer")
    if any(set(s.values) != set(problem.unknowns) for s in problem.solutions):
        return Open("unknowns are left free")
    digits = min([15.95, *(part.digits for s in problem.solutions for v in s.values.values() for part in reals(v))] if machine(problem) else shown(problem))
    if digits > MAX_DIGITS:
        return Open("too many digits")
    with precision(max(BITS, int(8 * digits))):
        try:
            given = [values_of(s, problem.unknowns) for s in problem.solutions]
        except Undecided:
            return Open("a value is not known well enough")
        for values in given:
            if isinstance(values, Refuted):
                return values
        known = [values for values in given if not isinstance(values, Refuted)]
        if problem.complete and problem.domain in ("Complexes", "Reals"):  # one root is wanted: its box says enough
            found = against_all(problem, known, digits)
            if found is not None:
                return found
        return by_boxes(problem, known, digits)


def machine(problem: Problem) -> bool:
    return not shown(problem) or any(part.machine for s in problem.solutions for v in s.values.values() for part in reals(v))


def shown(problem: Problem) -> list[float]:
    return [part.digits for s in problem.solutions for v in s.values.values() for part in reals(v)]


def values_of(s: Solution, unknowns: list[str]) -> dict[str, Number] | Refuted:
    found: dict[str, Number] = {}
    for name in unknowns:
        value = evaluate(s.values[name], Environment(printed=True))
        if isinstance(value, NonValue) or not is_number(value):
            return Refuted(Statement(equation(name, value) + " is no number"))
        found[name] = value
    return found


def against_all(problem: Problem, given: list[dict[str, Number]], digits: float) -> Sampled | None:
    """None where the equations are not solved completely."""
    try:
        algebraic = Algebraic(problem.equations, problem.others, problem.unknowns, problem.domain)
        solutions = algebraic.at(max(BITS, int(8 * digits)))
    except (NotAlgebraic, Infinite, TooHard, Undecided):
        return None
    if algebraic.only_real:
        return None
    allowed = [tolerances(algebraic, one, digits) for one in solutions]
    met: set[int] = set()
    why = ""
    for values in given:
        near = [i for i, one in enumerate(solutions) if all(widened(values[n], allowed[i][n]).overlaps(complex_ball(one.values[n])) for n in problem.unknowns)]
        if not near:
            return Refuted(Statement(f"{spelled(values)} is no solution{closest(values, solutions)}", exact=False))
        met |= set(near)
        if all(solutions[i].admissible is False for i in near):
            return Refuted(Statement(f"{spelled(values)} does not meet the conditions", exact=False))
        if any(solutions[i].admissible is None for i in near):
            why = "whether a solution meets the conditions"
    if problem.complete:
        for i, one in enumerate(solutions):
            if i not in met and one.admissible:
                return Refuted(Statement(f"{spelled(one.values)} is a solution and not in the answer", exact=False))
            if i not in met and one.admissible is None:
                why = "whether a solution meets the conditions"
    return Open(why) if why else Supported()


def closest(values: dict[str, Number], solutions: list[Candidate]) -> str:
    solutions = [one for one in solutions if one.admissible is not False]
    if not solutions:
        return ": there is none"
    best = min(solutions, key=lambda one: sum(float(arb((complex_ball(values[n]) - complex_ball(one.values[n])).abs_upper()).mid()) for n in values))
    return ": the nearest is " + spelled(best.values)


def widened(value: Number, radius: arb) -> acb:
    z = complex_ball(value)
    return z + acb(arb(0, radius.upper()), arb(0, radius.upper()))


def tolerances(algebraic: Algebraic, one: Candidate, digits: float) -> dict[str, arb]:
    """By unknown: the largest distance from the exact solution that its printed decimals may have."""
    loss = arb(2) ** -52 if digits < 16 else arb(10) ** (1 - int(digits))
    if algebraic.system.used == 1:
        (name,) = one.values
        p = polynomial(algebraic)
        return {name: by_condition(p, complex_ball(one.values[name]), loss)}
    half = arb(10) ** -(int(digits) // 2)
    return {name: (arb(complex_ball(value).abs_upper()) + size_of(one)) * half for name, value in one.values.items()}


def size_of(one: Candidate) -> arb:
    found = arb(0)
    for value in one.values.values():
        found = found.max(arb(complex_ball(value).abs_upper()))
    return found.max(arb(1) / 1000)


def polynomial(algebraic: Algebraic) -> fmpq_poly:
    terms = {int(m[0]): c for m, c in algebraic.system.equations[0].to_dict().items()}
    return fmpq_poly([terms.get(i, 0) for i in range(max(terms, default=0) + 1)])


def by_condition(p: fmpq_poly, root: acb, loss: arb) -> arb:
    """(loss sum |a_i| |r|^i / |p^(m)(r)/m!|)^(1/m) for a root r of multiplicity m, with slack."""
    size = abs(root)
    total = arb(0)
    for i, c in enumerate(p.coeffs()):
        total += abs(arb(c)) * size**i
    m, slope, factorial = 1, p.derivative(), 1
    simple = p.gcd(slope)
    while simple.degree() > 0 and evaluated(simple, root).contains(0):
        m += 1
        factorial *= m
        slope, simple = slope.derivative(), simple.gcd(simple.derivative())
    below = arb(evaluated(slope, root).abs_lower()) / factorial
    worst = arb(size.upper()).max(arb(1) / 1000) * WORST
    if not below > 0:
        return worst
    found = (SLACK * loss * total / below).root(m)
    least = arb(size.upper()).max(arb(1)) * (loss * SLACK).root(m)
    return (found.max(least)).min(worst) if found.is_finite() else worst


def evaluated(p: fmpq_poly, z: acb) -> acb:
    result = acb(0)
    for c in reversed(p.coeffs()):
        result = result * z + arb(c)
    return result


# Functions without a complete solution.


def by_boxes(problem: Problem, given: list[dict[str, Number]], digits: float) -> Sampled:
    """Each solution by the box around it."""
    functions = [minus(a, b) for e in problem.equations for a, b in zip(arguments(e), arguments(e)[1:], strict=False)]
    half = arb(10) ** -(int(digits) // 2) if digits > 16 else arb(MACHINE_HALF)
    sure = True
    for values in given:
        budget.step()
        box: dict[str, Number] = {}
        for name, value in values.items():
            radius = half * arb(complex_ball(value).abs_upper()).max(arb(1))
            box[name] = (
                value + arb(0, radius.upper())
                if isinstance(value, arb)
                else widened(value, radius)
                if isinstance(value, acb)
                else arb(arb(value).mid(), radius.upper())
                if isinstance(value, fmpq)
                else widened(value, radius)
            )
        for f in functions:
            z = enclosed(f, box)
            if z is not None and not z.contains(0):
                return Refuted(
                    Statement(
                        f"{spelled(values)} is no solution: within {show_radius(half)} of it the difference of the sides is {show(z)}, never 0", exact=False
                    )
                )
        for condition in problem.others:
            try:
                if evaluate(condition, Environment.of(box)) is False:
                    return Refuted(Statement(f"{spelled(values)} does not meet the conditions", exact=False))
            except Undecided:
                sure = False
        if sure and not zero_inside(functions, box, problem.unknowns):
            sure = False
    missing = left_out(problem, given)
    if missing is not None:
        return missing
    return Supported() if sure and given else Open("whether there are zeros in the boxes" if given else "whether there are solutions")


def show_radius(value: arb) -> str:
    return upwards(value)


def enclosed(node: Tree, box: dict[str, Number]) -> acb | None:
    try:
        value = evaluate(node, Environment.of(box))
    except (Undecided, Refused):
        return None
    return complex_ball(value) if is_number(value) else None


def zero_inside(functions: list[Tree], box: dict[str, Number], names: list[str]) -> bool:
    """The Krawczyk test: the box holds a zero of all functions."""
    n = len(names)
    if len(functions) != n or n > 8:
        return False
    middle: dict[str, Number] = {name: acb(arb(complex_ball(box[name]).real.mid()), arb(complex_ball(box[name]).imag.mid())) for name in names}
    slopes = [[enclosed(differentiate(f, name), box) for name in names] for f in functions]
    values = [z for z in (enclosed(f, middle) for f in functions) if z is not None]
    flat = [z for row in slopes for z in row if z is not None]
    if len(flat) < n * n or len(values) < n:
        return False
    jacobian = acb_mat(n, n, flat)
    try:
        inverse = acb_mat(n, n, [acb(arb(z.real.mid()), arb(z.imag.mid())) for z in flat]).inv()
    except ZeroDivisionError:
        return False
    radius = acb_mat(n, 1, [complex_ball(box[name]) - complex_ball(middle[name]) for name in names])
    unit = acb_mat(n, n, [acb(int(i == j)) for i in range(n) for j in range(n)])
    image = acb_mat(n, 1, [complex_ball(middle[name]) for name in names]) - inverse * acb_mat(n, 1, values) + (unit - inverse * jacobian) * radius
    return all(complex_ball(box[name]).contains(image[i, 0]) for i, name in enumerate(names))


def left_out(problem: Problem, given: list[dict[str, Number]]) -> Refuted | None:
    """A real zero that the answer does not have: where it has none, or the conditions bound the unknown."""
    if len(problem.unknowns) != 1 or len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2 or (given and not problem.complete):
        return None
    name = problem.unknowns[0]
    low, high = bounds(problem.others, name)
    if (low is None or high is None) and given:
        return None
    if problem.complete and problem.domain != "Reals" and not bounded(problem.others, problem.unknowns):
        return None
    ranges = [(low if low is not None else fmpq(-24), high if high is not None else fmpq(24))]
    if not given and high is None:
        ranges.append((fmpq(24), fmpq(4096)))
    for start, end in ranges:
        found = zero_between(problem, given, start, end)
        if found is not None:
            return found
    return None


def zero_between(problem: Problem, given: list[dict[str, Number]], low: fmpq, high: fmpq) -> Refuted | None:
    name = problem.unknowns[0]
    with precision(64):
        zeros = Zeros(minus(*arguments(problem.equations[0])), name)
        try:
            intervals = zeros.between(low, high)
        except Refused:
            return None
    for one in zeros.candidates(intervals, problem, 128):
        if one.admissible and not any(
            widened(v[name], arb(MACHINE_HALF) * arb(complex_ball(v[name]).abs_upper()).max(arb(1))).overlaps(complex_ball(one.values[name])) for v in given
        ):
            return Refuted(Statement(f"{spelled(one.values)} is a solution and not in the answer", exact=False))
    return None
