"""Procedure "elimination": Eliminate[equations, names] by Groebner bases.

An answer is right where it and the elimination ideal vanish together: each equation of the answer vanishes on all solutions of the
equations, and each generator of the elimination ideal on all solutions of the answer (Rabinowitsch).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_mpoly_vec

from .. import budget
from ..assumptions import flatten
from ..findings import Open, Refuted, Residual, Statement, Verified
from ..tree import Tree, arguments, brief, free_symbols, is_call, replace
from .algebraic import NotAlgebraic, Reader, System
from .components import vanishes
from .systems import LIMITS, TooHard, whole


def check(task: dict[str, Any], seed: int) -> Residual:
    equations, gone = list(flatten(task["equations"])), list(task["names"])
    answer = list(flatten([task["answer"]]))
    if not all(is_call(e, "Equal") for e in equations) or not all(is_call(e, "Equal") or e == "False" for e in answer):
        return Open("only equations joined by And")
    for name in list(gone):
        equations, gone = without_trigonometry(equations, gone, name)
    kept = sorted(set().union(*(free_symbols(e) for e in [*equations, *answer])) - set(gone))
    if any(free_symbols(e) & set(gone) for e in answer):
        return Refuted(Statement("the answer holds an eliminated symbol"))
    names = [*gone, *kept]
    try:
        given, stated = read(equations, names), read([e for e in answer if e != "False"], names)
    except NotAlgebraic:
        return Open("not polynomial")
    if "False" in answer:
        stated.equations.append(stated.context.constant(1))
    try:
        return compared(given, stated, names, len(gone), answer)
    except TooHard:
        return Open("the basis is too large")


def without_trigonometry(equations: list[Tree], gone: list[str], name: str) -> tuple[list[Tree], list[str]]:
    """Sin[t] and Cos[t] of an eliminated t as two symbols on the unit circle."""
    if not any(name in free_symbols(e) for e in equations):
        return equations, gone
    s, c = f"sin${name}", f"cos${name}"
    changed = [replace(replace(e, ("Sin", name), s), ("Cos", name), c) for e in equations]
    if changed == equations or any(name in free_symbols(e) for e in changed):
        return equations, gone
    circle: Tree = ("Equal", ("Plus", ("Power", s, 2), ("Power", c, 2)), 1)
    return [*changed, circle], [*(n for n in gone if n != name), s, c]


def read(equations: list[Tree], names: list[str]) -> System:
    reader = Reader(names)
    for equation in equations:
        for left, right in pairwise(arguments(equation)):
            reader.equation(left, right)
    if reader.system.used > len(names):
        raise NotAlgebraic
    return reader.system


def compared(given: System, stated: System, names: list[str], gone: int, answer: list[Tree]) -> Residual:
    for equation, p in zip([e for e in answer if e != "False"], stated.equations, strict=False):
        holds = vanishes(given, p)
        if holds is None:
            raise TooHard
        if not holds:
            return Refuted(Statement(f"{brief(equation, 200)} does not follow from the equations"))
    if "False" in answer and not vanishes(given, given.context.constant(1)):
        return Refuted(Statement("the equations have solutions"))
    rest = [0] * (given.context.nvars() - len(names))
    for implied in eliminated(given, len(names), gone):
        terms = zip(implied.monoms(), implied.coeffs(), strict=True)
        holds = vanishes(stated, stated.context.from_dict({(*map(int, m), *rest): int(c) for m, c in terms}))
        if holds is None:
            raise TooHard
        if not holds:
            return Refuted(Statement(f"the equations imply that {shown(implied, names)} is 0, the answer does not"))
    return Verified(True)


def shown(p: fmpz_mpoly, names: list[str]) -> str:
    text = str(p)
    for i in reversed(range(len(names))):
        text = text.replace(f"x{i}", names[i])
    return text[:200]


def eliminated(system: System, count: int, gone: int) -> list[fmpz_mpoly]:
    """Generators of the elimination ideal: the part of a lexicographic basis without the first unknowns. One for
    denominators is the last but comes first in the order."""
    context = fmpz_mpoly_ctx.get(["z0", *(f"x{i}" for i in range(count))], Ordering.lex)
    inner = fmpz_mpoly_ctx.get([f"x{i}" for i in range(count)], Ordering.lex)

    def lifted(p: fmpz_mpoly, z: int) -> fmpz_mpoly:
        return context.from_dict({(z, *map(int, m)): int(c) for m, c in zip(p.monoms(), p.coeffs(), strict=True)})

    polynomials = [lifted(whole(p, inner, count), 0) for p in system.equations if not p.is_zero()]
    if system.nonzero:
        product = system.context.constant(1)
        for p in system.nonzero:
            product = product * p
        polynomials.append(lifted(whole(product, inner, count), 1) - 1)
    if not polynomials:
        return []
    budget.step()
    found, complete = fmpz_mpoly_vec(polynomials, context).buchberger_naive(limits=LIMITS)
    if not complete:
        raise TooHard
    result = []
    polynomials_found: Any = found  # the stubs take it for one polynomial
    for p in polynomials_found:
        if not any(int(m[i]) for m in p.monoms() for i in range(gone + 1)):
            result.append(inner.from_dict({tuple(map(int, m[1:])): int(c) for m, c in zip(p.monoms(), p.coeffs(), strict=True)}))
    return result
