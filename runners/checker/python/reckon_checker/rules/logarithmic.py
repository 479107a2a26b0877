"""Equations in one unknown that are sums of whole multiples of logarithms: Log[x] + Log[x - 3] == Log[10].

E^ of both sides gives a polynomial equation that every solution fulfils. At each of its roots the sum is off by a whole multiple of
2 Pi I, which an enclosure tells.
"""

from __future__ import annotations

from flint import acb, arb

from ..evaluation import Environment, evaluate
from ..findings import Open, Residual
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, times
from ..values import Undecided, complex_ball, is_number, precision, settled
from .candidates import Candidate, holds_at
from .kernels import NotOfOneKernel, polynomial, roots
from .problem import Problem, one_to_one

MAX_MULTIPLE = 6


def check(problem: Problem) -> Residual | None:
    """None where the equation is of another kind, or this decides nothing."""
    if len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2 or any(s.integers or s.loose for s in problem.solutions):
        return None
    name, node = problem.unknowns[0], minus(*arguments(problem.equations[0]))
    if problem.domain not in ("Complexes", "Reals") or any(name not in s.values for s in problem.solutions):
        return None
    terms: list[tuple[int, Tree]] = []
    rest: list[Tree] = []
    if not collected(node, 1, name, terms, rest) or len(terms) < 2:
        return None
    top = times(*(power(u, n) for n, u in terms if n > 0))
    bottom = times(power("E", times(-1, plus(*rest))), *(power(u, -n) for n, u in terms if n < 0))
    try:
        coefficients = polynomial(minus(top, bottom), name)
    except NotOfOneKernel:
        return None
    found = one_to_one(problem, lambda bits: candidates(problem, node, coefficients, bits))
    return None if isinstance(found, Open) else found


def collected(node: Tree, factor: int, name: str, terms: list[tuple[int, Tree]], rest: list[Tree]) -> bool:
    """Reads factor times the node as a sum of logarithms of the unknown and constants."""
    parts = arguments(node)
    if name not in free_symbols(node):
        rest.append(times(factor, node))
        return True
    if is_call(node, "Plus"):
        return all(collected(part, factor, name, terms, rest) for part in parts)
    if is_call(node, "Subtract") and len(parts) == 2:
        return collected(parts[0], factor, name, terms, rest) and collected(parts[1], -factor, name, terms, rest)
    if is_call(node, "Minus") and len(parts) == 1:
        return collected(parts[0], -factor, name, terms, rest)
    if is_call(node, "Times") and len(parts) == 2 and isinstance(parts[0], int):
        return abs(factor * parts[0]) <= MAX_MULTIPLE and collected(parts[1], factor * parts[0], name, terms, rest)
    if is_call(node, "Log") and len(parts) == 1:
        terms.append((factor, parts[0]))
        return True
    return False


def candidates(problem: Problem, node: Tree, coefficients: list[Tree], bits: int) -> list[Candidate]:
    """The roots at which the sum of logarithms itself is 0."""
    (name,) = problem.unknowns
    with precision(bits):
        try:
            values = [{name: settled(root)} for root in roots(coefficients, acb(0))]
        except Refused:
            raise Undecided("a coefficient") from None
        kept = [one for one in values if vanishes(node, Environment.of(one))]
        found = []
        for one in kept:
            z = complex_ball(one[name])
            if problem.domain == "Reals" and not z.imag.is_zero():
                if z.imag.contains(0):
                    raise Undecided("real?")
                continue
            holds = [holds_at(other, one, problem.equations, kept) for other in problem.others]
            found.append(Candidate(one, False if False in holds else None if None in holds else True, z.imag.is_zero()))
        return found


def vanishes(node: Tree, env: Environment) -> bool:
    """Whether a whole multiple of 2 Pi I is 0."""
    try:
        value = evaluate(node, env)
    except Refused:
        raise Undecided("a logarithm") from None
    if not is_number(value):
        raise Undecided("a logarithm without a value")
    z = complex_ball(value)
    if not z.contains(0):
        return False
    if not abs(z) < arb.pi():
        raise Undecided("which multiple of 2 Pi I")
    return True
