"""Equations to solve and the solutions of an answer: how they are read, put in, and compared one to one with all there are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import Any

from flint import arb, fmpq

from .. import budget, watch
from ..agreement import Survey, Words, survey
from ..assumptions import INTEGER_DOMAINS, Assumptions, flatten
from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..reality import is_real
from ..tree import Refused, Tree, arguments, brief, clipped, constants, free_symbols, is_call, replace, replace_each, size, walk
from ..tree import show as show_tree
from ..values import Gaussian, NonValue, Number, Relation, Undecided, Value, ball, compare, complex_ball, digits_of, is_exact, is_number, precision, spread
from ..watch import magnitude
from ..wording import equation, show
from .by_definition import true_by_definition
from .candidates import Algebraic, Candidate
from .identities import proves
from .inverted import undone
from .real_values import restricted
from .stated import holds

MAX_BITS = 20_000
DIGITS = 60
FAR_BITS = (256, 2**15, 2**18)
MAX_FAR_SIZE = 300  # nodes
TOO_SMALL = "a part of the question or the answer is too small to be seen"
LOST_BITS = 100  # that evaluation may lose of the working precision


@dataclass
class Solution:
    """One solution of the answer. condition: of its ConditionalExpressions; integers: symbols that are generated constants
    known to be whole numbers; loose: generated constants of which nothing is said."""

    values: dict[str, Tree]
    conditions: list[Tree] = field(default_factory=list)
    integers: set[str] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)  # those of the loose ones of which something else is said


@dataclass
class Problem:
    equations: list[Tree]
    others: list[Tree]
    unknowns: list[str]
    domain: str
    solutions: list[Solution]
    assumptions: list[Tree]
    complete: bool
    seed: int

    @property
    def parameters(self) -> set[str]:
        own = set(self.unknowns) | {name for s in self.solutions for name in s.integers | s.loose}
        names: set[str] = set()
        for node in [*self.equations, *self.others, *(v for s in self.solutions for v in [*s.values.values(), *s.conditions])]:
            names |= free_symbols(node)
        return names - own

    def having(self, values: dict[str, Tree]) -> Problem:
        """The problem with exact numbers for parameters."""

        def put(node: Tree) -> Tree:
            for name, value in values.items():
                node = replace(node, name, value)
            return node

        solutions = [
            Solution({n: put(v) for n, v in s.values.items() if n not in values}, [put(c) for c in s.conditions], s.integers, s.loose) for s in self.solutions
        ]
        unknowns = [n for n in self.unknowns if n not in values]
        return Problem(
            [put(e) for e in self.equations], [put(o) for o in self.others], unknowns, self.domain, solutions, self.assumptions, self.complete, self.seed
        )


def solution(given: dict[str, Any], asked: Collection[str]) -> Solution:
    """A solution with its conditions apart and generated constants as symbols. asked: the symbols of the question; another
    one that the solution says is an integer is a generated constant too."""
    found = Solution({})
    for name, whole in zip(given["names"], given["values"], strict=True):
        value = whole
        while is_call(value, "ConditionalExpression"):
            value, condition = arguments(value)
            found.conditions += [c for c in flatten([condition]) if c not in found.conditions]
        if any(is_call(part, "ConditionalExpression") for part in walk(value)):
            raise Refused("ConditionalExpression")
        found.values[name] = value
    for condition in list(found.conditions):
        parts = arguments(condition)
        if is_call(condition, "Element") and isinstance(parts[0], str) and parts[0] not in asked and parts[1] in INTEGER_DOMAINS:
            found.integers.add(parts[0])
            if parts[1] == "Integers":
                found.conditions.remove(condition)
    names: set[int] = set()
    for node in [*found.values.values(), *found.conditions]:
        names |= set(constants(node))
    for k in names:
        symbol = f"C[{k}]"
        found.values = {n: replace(v, ("C", k), symbol) for n, v in found.values.items()}
        found.conditions = [replace(c, ("C", k), symbol) for c in found.conditions]
        said = [c for c in found.conditions if is_call(c, "Element") and symbol in free_symbols(arguments(c)[0])]
        if any(arguments(c)[1] in INTEGER_DOMAINS for c in said):
            found.integers.add(symbol)
        else:
            found.loose.add(symbol)
            if said:
                found.other.add(symbol)
        if len(said) == 1 and is_call(said[0], "Element") and arguments(said[0])[1] == "Integers":
            rest = [part for part in joined(arguments(said[0])[0]) if part != symbol]
            found.conditions = [c for c in found.conditions if c is not said[0]] + [("Element", part, "Integers") for part in rest]
    return found


def joined(node: Tree) -> list[Tree]:
    return list(arguments(node)) if is_call(node, "Alternatives", "List") else [node]


def height(problem: Problem) -> int:
    """The largest height, in bits, of the numbers of an equation or of the answer: the precision needed to separate them from other numbers."""
    return max((tree_height(node) for node in (*problem.equations, *(value for s in problem.solutions for value in s.values.values()))), default=0)


def tree_height(node: Tree) -> int:
    total = 0
    for part in walk(node):
        if isinstance(part, int):
            total += part.bit_length()
        elif is_call(part, "Power") and len(arguments(part)) == 2:
            base, exponent = arguments(part)
            if isinstance(base, int) and isinstance(exponent, int):
                total += base.bit_length() * min(abs(exponent), MAX_BITS)
    return min(total, MAX_BITS)


def schedule(problem: Problem) -> tuple[int, int, int]:
    extra = 2 * height(problem)
    return (128, 512 + extra, 2048 + 2 * extra)


def values_of(s: Solution, unknowns: list[str]) -> dict[str, Number] | Refuted | None:
    """The values of a solution without constants; None where its condition is false."""
    for condition in s.conditions:
        found = evaluate(condition)
        if found is False:
            return None
        if found is not True:
            raise Undecided("a condition")
    values: dict[str, Number] = {}
    for name in unknowns:
        value = evaluate(s.values[name])
        if isinstance(value, NonValue) or not is_number(value):
            return Refuted(Statement(equation(name, value) + " is no number"))
        values[name] = value
    return values


def finite(problem: Problem, algebraic: Algebraic) -> Residual:
    """The answer against finitely many solutions, one to one."""
    if any(s.integers or s.loose for s in problem.solutions):
        return put_in(problem, "constants in a finite answer")
    for s in problem.solutions:
        missing = [name for name in problem.unknowns if name not in s.values]
        if missing:
            return Refuted(Statement(f"the equations have finitely many solutions, the answer leaves {missing[0]} free"))
    if not algebraic.only_real:
        return one_to_one(problem, algebraic.at)
    with precision(256):
        for s in problem.solutions:
            for value in s.values.values():
                found = evaluate(value)
                if not is_number(found) or not complex_ball(found).imag.is_zero():
                    return Open("complex solutions of equations with absolute values")
    return one_to_one(problem, algebraic.at, "complex solutions of equations with absolute values")


def one_to_one(problem: Problem, at: Callable[[int], list[Candidate]], note: str = "") -> Residual:
    """Every answer is a solution and every solution an answer. at: bits -> candidates. note: why it is open even then."""

    def look(bits: int, agreement: Agreement) -> Residual:
        solutions = at(bits)
        with precision(bits):
            return matched(problem, restricted(problem.equations, problem.domain, solutions), agreement)

    found = at_rising_precision(problem, look)
    return Open(note) if note and isinstance(found, Verified) else found


class Agreement:
    """To how many bits the values of an answer are known to agree with those that they are taken for."""

    def __init__(self) -> None:
        self.bits = 2**62

    def add(self, spread: arb, size: arb) -> None:
        """spread: an upper bound of a difference; size: a lower bound of the values, or 0."""
        if not spread.is_zero():
            self.bits = min(self.bits, (0 if size.is_zero() else magnitude(size)) - magnitude(arb(spread.upper())))


def at_rising_precision(problem: Problem, look: Callable[[int, Agreement], Residual]) -> Residual:
    """What is found at the first precision that decides. look: bits, where to note the agreement -> a finding. An agreement verifies where nothing
    in the question or the answer is too small to be seen by it, or where normal forms prove that the solutions solve the equations."""
    why = "the enclosures stay too wide"
    if height(problem) >= MAX_BITS:
        return far_off(problem) or Open("numbers too large to be told apart")
    proved: bool | None = None
    for bits in schedule(problem):
        budget.step()
        agreement = Agreement()
        try:
            found = look(bits, agreement)
        except Undecided as undecided:
            why = str(undecided)
            continue
        if isinstance(found, Refuted):
            return found
        if isinstance(found, Verified):
            proved = substituted(problem) if proved is None and not found.exact else proved
            exact = found.exact or bool(proved)
            if exact or everything_is_seen(problem, bits, agreement):
                return Verified(exact, found.residual)
            why = TOO_SMALL
        else:
            why = found.why if isinstance(found, Open) else why
    return (far_off(problem) if why == TOO_SMALL else None) or Open(why)


def far_off(problem: Problem) -> Refuted | None:
    """A solution that does not make the equations true, told by many more digits than solving them takes."""
    for s in problem.solutions:
        if s.conditions or s.loose or set(s.values) != set(problem.unknowns):
            continue
        claims = claims_of(problem, s)
        for constant in s.integers:
            claims = [(replace(left, constant, 0), replace(right, constant, 0)) for left, right in claims]
        if any(free_symbols(side) for claim in claims for side in claim) or sum(size(side) for claim in claims for side in claim) > MAX_FAR_SIZE:
            continue
        for left, right in claims:
            found = far_apart(left, right)
            if found is not None:
                where = ", ".join(f"{name} = {show_tree(value)}" for name, value in s.values.items())
                return Refuted(Statement(f"{clipped(where, 200)} is no solution: it leaves {show(found, 5)}", exact=False))
    return None


def far_apart(left: Tree, right: Tree) -> Number | None:
    """The difference of two constants where it is proved not to be zero."""
    for bits in FAR_BITS:
        budget.step()
        with precision(bits):
            try:
                value = evaluate(("Plus", left, ("Times", -1, right)))
            except (Undecided, Refused):
                continue
            if is_number(value) and not complex_ball(value).contains(0):
                return value
    return None


def everything_is_seen(problem: Problem, bits: int, agreement: Agreement) -> bool:
    """Whether no part of the answer's values, and of the equations with these put in, vanishes beside the others at a precision and in
    an agreement."""
    with precision(bits):
        watch.reset(True)
        try:
            for s in problem.solutions:
                for left, right in [*((value, value) for value in s.values.values()), *claims_of(problem, s)]:
                    for symbol in s.integers:
                        left, right = replace(left, symbol, 1), replace(right, symbol, 1)  # noqa: PLW2901
                    if compare(evaluate(left), evaluate(right)).relation is Relation.DIFFERENT:
                        return False
            return watch.seen(min(bits - LOST_BITS, agreement.bits))
        except (Undecided, Refused):
            return False
        finally:
            watch.reset(False)


def matched(problem: Problem, solutions: list[Candidate], agreement: Agreement) -> Residual:
    given: list[dict[str, Number]] = []
    for s in problem.solutions:
        values = values_of(s, problem.unknowns)
        if isinstance(values, Refuted):
            return values
        if values is not None:
            given.append(values)
    exact = True
    met: set[int] = set()
    why = ""
    for values in given:
        near = [i for i, c in enumerate(solutions) if all(complex_ball(values[n]).overlaps(complex_ball(c.values[n])) for n in problem.unknowns)]
        near = [i for i in near if not certainly_other(values, solutions[i].values)]
        if not near:
            return Refuted(
                Statement(f"{spelled(values)} is no solution{nearest(values, solutions)}", all(isinstance(v, fmpq | Gaussian) for v in values.values()))
            )
        if len(near) > 1:
            why = "solutions not told apart"
            continue
        one = solutions[near[0]]
        met.add(near[0])
        if one.admissible is False:
            return Refuted(Statement(f"{spelled(values)} does not meet the conditions"))
        if one.admissible is None:
            why = "whether a solution meets the conditions"
        exact = exact and all(is_exact(values[n]) and is_exact(one.values[n]) for n in problem.unknowns)  # and equal: they overlap
        if not all(close(values[n], one.values[n]) for n in problem.unknowns):
            why = why or "the enclosures stay too wide"
        for n in problem.unknowns:
            if not (is_exact(values[n]) and is_exact(one.values[n])):
                a, b = complex_ball(values[n]), complex_ball(one.values[n])
                agreement.add(spread(a, b), arb(max(a.abs_lower(), b.abs_lower())))
    if problem.complete:
        for i, one in enumerate(solutions):
            if i in met or one.admissible is False:
                continue
            if one.admissible is None:
                why = "whether a solution meets the conditions"
            elif not any(all(complex_ball(v[n]).overlaps(complex_ball(one.values[n])) for n in problem.unknowns) for v in given):
                return Refuted(Statement(f"{spelled(one.values)} is a solution and not in the answer"))
            else:
                why = why or "solutions not told apart"
    elif not given:
        return missing_instance(solutions)
    return Open(why) if why else Verified(exact, "0" if given else "{}")


def missing_instance(solutions: list[Candidate]) -> Residual:
    for one in solutions:
        if one.admissible:
            return Refuted(Statement(f"{spelled(one.values)} is a solution, the answer has none"))
    return Verified(True, "{}") if all(one.admissible is False for one in solutions) else Open("whether there is a solution")


def certainly_other(a: dict[str, Number], b: dict[str, Number]) -> bool:
    return any(isinstance(a[n], fmpq | Gaussian) and isinstance(b[n], fmpq | Gaussian) and a[n] != b[n] for n in b)


def close(a: Number, b: Number) -> bool:
    if isinstance(a, fmpq | Gaussian) and isinstance(b, fmpq | Gaussian):
        return a == b
    return (
        compare(a, b).digits >= DIGITS or digits_of(ball(a), ball(b)) >= DIGITS or bool((complex_ball(a) - complex_ball(b)).abs_upper() < fmpq(1, 10**DIGITS))
    )


def spelled(values: dict[str, Number]) -> str:
    return ", ".join(equation(name, value) for name, value in values.items())


def nearest(values: dict[str, Number], solutions: list[Candidate]) -> str:
    solutions = [one for one in solutions if one.admissible is not False]
    if not solutions:
        return ": there is none"
    size = {i: sum((float(abs(complex_ball(values[n]) - complex_ball(c.values[n])).mid()) for n in values), 0.0) for i, c in enumerate(solutions)}
    best = min(size, key=lambda i: size[i])
    gap = {n: complex_ball(values[n]) - complex_ball(solutions[best].values[n]) for n in values}
    return ": the nearest is " + spelled(solutions[best].values) + ", off by " + ", ".join(show(z, 5) for z in gap.values())


def written_claims(problem: Problem) -> list[tuple[Tree, Tree]]:
    """The equations as the question has them, in the order of claims_of."""
    return [pair for equation in problem.equations for pair in itertools.pairwise(arguments(equation))]


def claims_of(problem: Problem, s: Solution) -> list[tuple[Tree, Tree]]:
    """The equations with a solution put in."""
    claims = []
    for one in problem.equations:
        sides = list(arguments(one))
        for name, value in s.values.items():
            sides = [replace(side, name, value) for side in sides]
        claims += list(itertools.pairwise(sides))
    return claims


def assumptions_for(problem: Problem, s: Solution) -> Assumptions:
    integers_too = [("Element", name, "Integers") for name in sorted(s.integers)]
    real = [("Element", name, problem.domain) for name in problem.unknowns if name not in s.values] if problem.domain != "Complexes" else []
    return Assumptions([*problem.assumptions, *s.conditions, *integers_too, *real])


def substituted(problem: Problem) -> bool:
    """Whether normal forms prove that every solution solves the equations."""
    if len(problem.solutions) > 8:
        return False
    return all(
        all(true_by_definition(*claim) for claim in claims_of(problem, s))
        or proves([(undone(a), undone(b)) for a, b in claims_of(problem, s)], assumptions_for(problem, s))
        for s in problem.solutions
    )


def put_in(problem: Problem, why: str) -> Residual:
    """Solutions put into the equations: refuted where one fails wherever it is looked at."""
    open_ones = False
    for s in problem.solutions:
        found = put_one_in(problem, s)
        if isinstance(found, Refuted):
            return found
        open_ones = open_ones or isinstance(found, Open)
    if not problem.solutions and problem.complete:
        return Open(why)
    if open_ones:
        return Open("holds at some places only")
    if not problem.complete:
        proved = substituted(problem) and not problem.others and (problem.domain == "Complexes" or all(reality(s) is True for s in problem.solutions))
        return Verified(True) if proved else Supported()
    return Supported()


def put_one_in(problem: Problem, s: Solution) -> Residual:
    """Whether a solution makes the equations and conditions true, and is in the domain."""
    for other in problem.others:
        condition = replace_each(other, s.values)
        if holds(condition) is False:
            return Refuted(Statement(f"the condition {brief(condition, 200)} is false"))
    real = reality(s) if problem.domain == "Reals" else True
    if isinstance(real, Refuted):
        return real
    found = equations_hold(problem, s)
    if isinstance(found, Verified) and not (real and all(holds(replace_each(other, s.values)) for other in problem.others)):
        return Supported()  # a condition, or whether a value is real, was not decided
    return found


def equations_hold(problem: Problem, s: Solution) -> Residual:
    claims, assumptions = claims_of(problem, s), assumptions_for(problem, s)
    if all(true_by_definition(*claim) for claim in claims) or proves(claims, assumptions):
        return Verified(True)
    seen = survey(
        claims,
        assumptions,
        problem.seed,
        real=problem.domain != "Complexes",
        enough_differences=60,
        words=Words([brief(("Equal", *claim), 160) for claim in written_claims(problem)], sides=True),
    )
    if seen.differences:
        return failing(problem, s, claims, seen)
    if not seen.covered:
        return Open("no decision at some places")
    return Verified(False) if seen.certain else Supported()


def reality(s: Solution) -> bool | Refuted:
    """Whether all values are known to be real where their symbols are; a value that is proved not to be refutes."""
    known = True
    for name, value in s.values.items():
        if is_real(value, free_symbols(value)):
            continue
        found: Value | None = None
        with suppress(Undecided, Refused):
            found = None if free_symbols(value) else evaluate(value)
        if found is None or not is_number(found):
            known = False
        elif not complex_ball(found).imag.contains(0):
            return Refuted(Statement(equation(name, found) + " is not real"))
        else:
            known = known and bool(complex_ball(found).imag.is_zero())
    return known


def failing(problem: Problem, s: Solution, claims: list[tuple[Tree, Tree]], seen: Survey) -> Residual:
    """A difference refutes where the solution holds nowhere but at special places: it may be meant for some parameters only."""
    ordinary = [region for name, region in seen.regions.items() if not name.endswith(("special place", ", zero"))]
    plain = [(point, found) for point, found in seen.differences if not (point.special or point.region.endswith(", zero"))]
    if not names_vary(claims):
        plain = seen.differences
    if not plain or len(plain) < 4 * sum(region.agree + region.close for region in ordinary):
        return Open("holds at some places only")
    if s.loose - s.other:
        whole = Solution(s.values, s.conditions, s.integers | s.loose)
        again = survey(claims, assumptions_for(problem, whole), problem.seed)
        if again.agreed:
            return Open("holds for whole constants, and the answer does not say that they are")
    refutation = replaced(seen, differences=plain).refutation()
    return refutation or Open("holds at some places only")


def names_vary(claims: list[tuple[Tree, Tree]]) -> bool:
    return any(free_symbols(side) for claim in claims for side in claim)
