"""Procedure "roots": the solutions of equations under conditions, put in, counted and held against all there are.

Algebraic equations with finitely many solutions (candidates.py) and equations in one exponential (periodic.py) are solved
here anew, with proofs; an answer is right where it and that agree one to one. Otherwise solutions are put into the equations,
and left-out ones are looked for at chosen places: one that is found is proved to be one.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from .. import budget, machine
from ..agreement import survey
from ..assumptions import INTEGER_DOMAINS, Assumptions, flatten
from ..critical import exact_tree
from ..deciding import decide
from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..parameters import leaves_out
from ..points import Points
from ..sought import Absent, Found
from ..tree import Refused, Tree, arguments, brief, constants, exactly, free_symbols, is_call, kept_by_machines, reals, replace_each, walk
from ..tree import show as show_tree
from ..values import Kind, NonValue, Relation, Undecided
from . import components, decimals, diophantine, enclosed, exponential, kernels, logarithmic, parametric, parts, periodic, plain_numbers, stepped, window
from .algebraic import NotAlgebraic
from .cancelling import collected
from .candidates import Algebraic
from .ends import at_ends, written
from .identities import proves
from .multiplicity import often_enough
from .problem import Problem, Solution, finite, put_in, solution
from .rounded import ROUNDED, rounds
from .systems import Infinite, TooHard

MAX_SOLUTIONS = 200
PARAMETER_POINTS = 4  # at which solutions with parameters are looked at, where all regions of these are alike
ROUNDED_BITS = 320
REGIONS = 24  # that are looked at one by one


def check(task: dict[str, Any], seed: int) -> Residual:
    if len(task["solutions"]) > MAX_SOLUTIONS:
        return Open("too many solutions")
    found = judged(task, seed)
    if not isinstance(found, Refuted) and (same := given_twice(task)) is not None:
        return same
    if isinstance(found, Verified) and not as_many_as_asked(task, seed):
        return Open("not as many different instances as were asked for, or whether there are more")
    if isinstance(found, Verified) and leaves_out(value for s in task["solutions"] for value in s["values"]):
        return Supported()  # special values of parameters are not looked at
    if isinstance(found, Verified) and not given_once(task):
        return Open("a solution is given more often than it is one")
    if task.get("foreign") and not isinstance(found, Refuted):
        return Open("the answer gives a value to a symbol that the question does not know")
    return found


def given_once(task: dict[str, Any]) -> bool:
    """Whether no solution is given more often than its multiplicity."""
    conditions = list(flatten(task["conditions"]))
    asked = {*task["unknowns"]}.union(*(free_symbols(c) for c in conditions))
    return often_enough([c for c in conditions if is_call(c, "Equal")], [solution(s, asked) for s in task["solutions"]])


def as_many_as_asked(task: dict[str, Any], seed: int) -> bool:
    """Whether an answer that need not be complete has as many different solutions as were asked for, or all that there are."""
    found: list[dict[str, Any]] = task["solutions"]
    if task.get("complete") or not found or (task.get("count", 1) == 1 and len(found) == 1):
        return True
    if not all(told_apart(a, b) for a, b in itertools.combinations(found, 2)):
        return False
    return len(found) == task.get("count", 1) or isinstance(judged({**task, "complete": True}, seed), Verified)


def given_twice(task: dict[str, Any]) -> Refuted | None:
    """Instances that are to be different ones, and of which two are exactly the same."""
    found: list[dict[str, Any]] = task["solutions"]
    if task.get("complete") or task.get("count", 1) == 1:
        return None
    for a, b in itertools.combinations(found, 2):
        one, other = (dict(zip(s["names"], s["values"], strict=True)) for s in (a, b))
        if one == other and not any(free_symbols(value) or constants(value) for value in one.values()):
            where = ", ".join(f"{name} = {brief(value, 80)}" for name, value in sorted(one.items()))
            return Refuted(Statement(f"{where} is given twice, and {task['count']} different instances are asked for"))
    return None


def told_apart(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two solutions are proved to be different."""
    values = dict(zip(b["names"], b["values"], strict=True))
    for name, value in zip(a["names"], a["values"], strict=True):
        if name in values and not free_symbols(value) | free_symbols(values[name]):
            try:
                if decide(lambda left=value: evaluate(left), lambda right=values[name]: evaluate(right)).relation is Relation.DIFFERENT:  # type: ignore[misc]
                    return True
            except Refused:
                continue
    return False


def judged(task: dict[str, Any], seed: int) -> Residual:
    if task.get("modulus") is not None:
        return diophantine.modular(task)
    conditions = [simplest(c) for c in flatten(task["conditions"])]
    if task.get("approximate") or any(reals(without_roots(node)) for s in task["solutions"] for node in s["values"]) or any(reals(c) for c in conditions):
        if machine.cancels(*conditions):
            return Open("machine arithmetic loses too much")
        found = decimals.check(task, conditions)
        if task.get("approximate"):
            return (enclosed.proof(problem_of(task, [exactly(c) for c in conditions], task["solutions"], seed)) if certain(task, found) else None) or found
        if isinstance(found, Refuted) or not kept_by_machines(*conditions):
            return found
        equations = [exactly(c) for c in conditions]
        if kept_by_machines(*(v for s in task["solutions"] for v in s["values"])):
            as_written = [{"names": s["names"], "values": [exactly(value) for value in s["values"]]} for s in task["solutions"]]
            exact = solved(problem_of(task, equations, as_written, seed))
            if isinstance(exact, Verified) and exact.exact:
                return exact
        return rounded_solutions(problem_of(task, equations, task["solutions"], seed)) or found
    return solved(problem_of(task, conditions, task["solutions"], seed))


def certain(task: dict[str, Any], found: Residual) -> bool:
    """Whether nothing speaks against decimal solutions, of a question whose decimals machines hold as they are written, and which lie in the regions
    that it gives."""
    return not isinstance(found, Refuted) and kept_by_machines(*task["conditions"]) and all(within_regions(task, s) for s in task["solutions"])


def within_regions(task: dict[str, Any], solution: dict[str, Any]) -> bool:
    values = dict(zip(solution["names"], solution["values"], strict=True))
    try:
        return all(evaluate(("LessEqual", low, exactly(values.get(name, name)), high)) is True for name, low, high in task.get("regions") or [])
    except (Undecided, Refused):
        return False


def without_roots(node: Tree) -> Tree:
    """Without Root[{f, x0}], whose decimal only says which root is meant."""
    if not isinstance(node, tuple):
        return node
    return "Root" if is_call(node, "Root") else tuple(without_roots(part) for part in node)


def rounded_solutions(problem: Problem) -> Residual | None:
    """Verified where the decimals are all exact solutions rounded; None where that is not known."""
    return Verified(exact=False, residual=ROUNDED) if problem.complete and enclosed.all_near(problem, rounds) else None


def problem_of(task: dict[str, Any], conditions: list[Tree], solutions: list[dict[str, Any]], seed: int) -> Problem:
    asked = {*task["unknowns"]}.union(*(free_symbols(c) for c in conditions))
    return Problem(
        [c for c in conditions if is_call(c, "Equal")],
        [c for c in conditions if not is_call(c, "Equal") and c != "True"],
        list(task["unknowns"]),
        task.get("domain") or "Complexes",
        [solution(s, asked) for s in solutions],
        list(task.get("assumptions") or []),
        bool(task.get("complete")),
        seed,
    )


def simplest(condition: Tree) -> Tree:
    """An equation between truth values, or a constant one, stays as it is; Element[x, Complexes] says nothing."""
    if is_call(condition, "Element") and arguments(condition)[1] == "Complexes":
        return "True"
    return condition


def solved(problem: Problem) -> Residual:
    for s in problem.solutions:
        for name, value in s.values.items():
            if infinite(value):
                return Refuted(Statement(f"{name} = {show_tree(value)} is no number"))
            if free_symbols(value) & set(s.values):
                return Open("a value holds an unknown that has a value")
    if foreign(problem):
        return put_in(problem, "a symbol that the question does not know")
    found = decided(problem)
    written = [collected(e) for e in problem.equations]
    collected_too = replace(problem, equations=[e for e, _ in written])
    if isinstance(found, Open | Supported):
        missing = plain_numbers.left_out(problem)
        if missing is not None and plain_numbers.left_out(collected_too) == missing:
            return missing
    if not any(changed for _, changed in written) or isinstance(found, Open):
        return found
    again = decided(collected_too)
    return found if type(again) is type(found) else Open("what is cancelled in the equations decides")


def foreign(problem: Problem) -> bool:
    """Whether a solution holds a symbol that is neither of the question nor a generated constant."""
    asked = {*problem.unknowns}.union(*(free_symbols(c) for c in (*problem.equations, *problem.others, *problem.assumptions)))
    return any(free_symbols(node) - asked - s.integers - s.loose for s in problem.solutions for node in (*s.values.values(), *s.conditions))


def decided(problem: Problem) -> Residual:
    return with_parameters(problem) if problem.parameters or problem.assumptions else without_parameters(problem)


def infinite(value: Tree) -> bool:
    if not any(part in ("Infinity", "ComplexInfinity", "DirectedInfinity") for part in walk(value)) or free_symbols(value):
        return False
    try:
        found = evaluate(value)
    except (Undecided, Refused):
        return False
    return isinstance(found, NonValue) and found.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY)


def without_parameters(problem: Problem) -> Residual:
    if "False" in problem.others or "False" in problem.equations:
        return Refuted(Statement("False has no solutions")) if problem.solutions else Verified(True, "{}")
    if not any(set(problem.unknowns) & free_symbols(e) for e in problem.equations) and not problem.others:
        return constant(problem)
    if problem.domain in INTEGER_DOMAINS:
        return diophantine.check(problem)
    try:
        return finite(problem, Algebraic(problem.equations, problem.others, problem.unknowns, problem.domain))
    except Infinite as infinite:
        return components.check(problem, infinite.dimension)
    except TooHard:
        return put_in(problem, "the system is too large to solve here")
    except NotAlgebraic:
        pass
    found = parts.check(problem) if not identically(problem) else None
    if found is not None:
        return found
    if not problem.others and identically(problem):
        return constant(problem)
    if problem.domain.endswith("Rationals") or problem.domain in ("Algebraics", "Booleans"):
        return Open("the domain")
    if len(problem.unknowns) == 1:
        for check_one in (kernels.check, logarithmic.check, exponential.check, stepped.check, periodic.check, window.check):
            found = check_one(problem)
            if found is not None:
                return found
    return put_in(problem, "whether all solutions were found")


def identically(problem: Problem) -> bool:
    """Whether the equations hold for all values, by their normal forms."""
    return proves([(a, b) for e in problem.equations for a, b in itertools.pairwise(arguments(e))], Assumptions([]))


def constant(problem: Problem) -> Residual:
    """Equations without unknowns: everything solves them, or nothing."""
    claims = [(a, b) for e in problem.equations for a, b in zip(arguments(e), arguments(e)[1:], strict=False)]
    if proves(claims, Assumptions([])):
        if any(not s.values and not s.conditions for s in problem.solutions):
            return Verified(True) if len(problem.solutions) == 1 else Open("solutions besides all")
        if not problem.solutions:
            return Refuted(Statement("every value of the unknowns is a solution"))
        if problem.complete and problem.domain in ("Complexes", "Reals") and all(countable(problem, s) for s in problem.solutions):
            return Refuted(Statement("every value of the unknowns is a solution, the answer gives single ones only"))
        return Open("parts of all")
    seen = survey(claims, Assumptions([]), problem.seed)
    if seen.differences:
        return Refuted(Statement("there are no solutions: the equations are false")) if problem.solutions else Verified(seen.exact, "{}")
    return Open("whether the equations hold")


def countable(problem: Problem, s: Solution) -> bool:
    """Whether a solution fixes an unknown to countably many values."""
    return not s.loose and any(name in problem.unknowns and not free_symbols(value) - s.integers for name, value in s.values.items())


def with_parameters(problem: Problem) -> Residual:
    """Decides the problem at exact values of its parameters, chosen in several regions of the parameter space."""
    assumptions = Assumptions(problem.assumptions)
    names = problem.parameters
    if set(problem.unknowns) & {name for a in problem.assumptions for name in free_symbols(a)}:
        problem = Problem(
            problem.equations,
            [*problem.others, *[a for a in assumptions.conditions if free_symbols(a) & set(problem.unknowns)]],
            problem.unknowns,
            problem.domain,
            problem.solutions,
            [],
            problem.complete,
            problem.seed,
        )
        assumptions = Assumptions([a for a in assumptions.conditions if not free_symbols(a) & set(problem.unknowns)])
    bare = Problem(problem.equations, problem.others, problem.unknowns, problem.domain, problem.solutions, [], problem.complete, problem.seed)
    if not names:
        return without_parameters(bare)
    if parametric.all_roots(bare):
        return Verified(True)
    trees = [side for e in problem.equations for side in arguments(e)] + [node for s in problem.solutions for node in (*s.values.values(), *s.conditions)]
    trees += [replace_each(other, s.values) for other in problem.others for s in problem.solutions]
    points = Points(names, trees, assumptions, problem.seed, problem.domain != "Complexes")
    chosen = points.choose()
    plain = [p for p in chosen if not p.special]
    alike = parametric.alike_everywhere(bare)
    everywhere = alike or (points.certain and len({p.region for p in plain}) <= REGIONS)
    ends = at_ends(bare, chosen, without_parameters)
    if isinstance(ends.wrong, Found):
        return ends.wrong.what
    findings: list[Residual] = []
    for point in plain[: PARAMETER_POINTS if alike or not everywhere else REGIONS]:
        budget.step()
        values = {str(name): exact_tree(value) for name, value in point.values.items()}
        findings.append(without_parameters(bare.having(values)))
    refuted = [found for found in findings if isinstance(found, Refuted)]
    if refuted and len(refuted) == len(findings):
        return Refuted(Statement(f"at {written(plain[0])}: {refuted[0].proof.sentence()}"))
    if refuted:
        return Open("holds for some values of the parameters only")
    if findings and all(isinstance(found, Verified) for found in findings):
        proved = everywhere and parametric.all_solve(bare, assumptions) and isinstance(ends.wrong, Absent)
        return Verified(False, "0" + ends.left_out) if proved else Supported()
    if findings and all(isinstance(found, Verified | Supported) for found in findings):
        return Supported()
    return Open(next((found.why for found in findings if isinstance(found, Open)), "no admissible parameters"))
