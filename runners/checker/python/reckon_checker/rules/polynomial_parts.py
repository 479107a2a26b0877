"""Procedure "polynomial": parts of polynomials, minimal polynomials and Groebner bases; the rest is polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpz, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_mpoly_vec, fmpz_poly

from .. import budget
from ..deciding import not_zero
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..normal import proves_zero
from ..tree import arguments, free_symbols, is_call, minus, replace
from ..univariate import polynomial as univariate
from ..values import Value, is_number, whole
from . import polynomials
from .polynomials import by_values, coefficients, dependent, same
from .quotients import Foreign, Ring, leaves
from .systems import LIMITS

MAX_MINIMAL_DEGREE = 100
MAX_MINIMAL_BITS = 2000
MAX_BASIS = 20


def check(task: dict[str, Any], seed: int) -> Residual:
    """what[args, variable] == answer."""
    rule = RULES.get(task["what"])
    return polynomials.check(task, seed) if rule is None else rule(task, seed)


def coefficient(task: dict[str, Any], seed: int) -> Residual:
    """Of the variable to the power: what stands beside it in the expanded polynomial."""
    (tree,), variable, answer, power = task["args"], task["variable"], task["answer"], whole(evaluate(task["power"]))
    ring = Ring([tree, answer, variable])
    try:
        p = ring.polynomial(tree)
    except Foreign:
        return Open("not a polynomial over the rationals")
    parts = coefficients(ring, p, ring.index(variable))
    wanted = (parts[power] if power is not None and 0 <= power < len(parts) else ring.context.constant(0), ring.one)
    if dependent([tree, answer]):
        return by_values(ring, [wanted], [answer], seed)
    try:
        return same(wanted, ring.quotient(answer))
    except Foreign:
        return by_values(ring, [wanted], [answer], seed)


def exponent(task: dict[str, Any], seed: int) -> Residual:
    """The highest power of the variable in the expanded polynomial."""
    (tree,), variable, answer = task["args"], task["variable"], task["answer"]
    ring = Ring([tree, variable])
    try:
        p = ring.polynomial(tree)
    except Foreign:
        return Open("not a polynomial over the rationals")
    if p.is_zero() or dependent([tree]):
        return Open("a polynomial that is, or may be, zero")
    degree = int(p.degrees()[ring.index(variable)])
    given: Value = evaluate(answer, Environment(printed=True))
    if not is_number(given):
        return Open("not a number")
    return Verified(True) if given == fmpq(degree) else Refuted(Statement(f"{degree} is expected")) if isinstance(given, fmpq) else Open("not an integer")


def minimal_polynomial(task: dict[str, Any], seed: int) -> Residual:
    """Of an algebraic number: primitive with a positive leading coefficient, irreducible, and zero at the number."""
    (number,), variable, answer = task["args"], task["variable"], task["answer"]
    p = univariate(answer, str(variable))
    if free_symbols(number) or p is None or p.degree() > MAX_MINIMAL_DEGREE:
        return Open("not a polynomial over the rationals, or not of a number")
    if p.degree() < 1:
        return Refuted(Statement("the answer does not depend on the variable"))
    if max(max(c.p.bit_length(), c.q.bit_length()) for c in p.coeffs()) > MAX_MINIMAL_BITS:
        return Open("too large")
    at_number = replace(answer, variable, number)
    if not_zero(at_number):
        return Refuted(Statement("the polynomial is not zero at the number", exact=False))
    primitive = fmpz_poly([int((c * p.denom()).p) for c in p.coeffs()])
    content, factors = primitive.factor()
    if len(factors) != 1 or factors[0][1] != 1:
        return Refuted(Statement(f"the polynomial has the factor {factors[0][0]}"))
    if p.denom() != 1 or content != 1 or primitive.leading_coefficient() < 0:
        return Open("a multiple by a number")
    return Verified(True) if budget.attempted(lambda: proves_zero(at_number)) else Supported()


# Groebner bases.


def groebner_basis(task: dict[str, Any], seed: int) -> Residual:
    """Lexicographic in the order of the variables, reduced, each polynomial with integer coefficients without a common divisor."""
    names = [str(name) for name in task["variables"]]
    if not is_call(task["answer"], "List"):
        return Open("not a list")
    given, found = [minus(*arguments(p)) if is_call(p, "Equal") and len(arguments(p)) == 2 else p for p in task["args"]], list(arguments(task["answer"]))
    if (
        max(len(given), len(found), len(names)) > MAX_BASIS
        or len(set(names)) < len(names)
        or {str(s) for p in (*given, *found) for s in leaves(p)} - set(names)
    ):
        return Open("symbols that are no variables")
    ring, context = Ring(list(names)), fmpz_mpoly_ctx.get(names, Ordering.lex)
    order = [names.index(name) for name in ring.names]
    try:
        inputs, answers = ([ring.polynomial(p) for p in trees] for trees in (given, found))
    except Foreign:
        return Open("not polynomials over the rationals")
    wanted, complete = reduced([integral(p, context, order) for p in inputs], context)
    stated = [integral(p, context, order) for p in answers]
    if not complete or any(p.is_zero() for p in stated):
        return Open("the basis is too large, or a polynomial is zero")
    for p in stated:
        if not remainder(p, wanted, context).is_zero():
            return Refuted(Statement(f"{p} is not in the ideal"))
    if {str(p) for p in wanted} == {str(p) for p in stated} and len(wanted) == len(stated):
        return (
            Verified(True)
            if all(c.q == 1 for p in answers for c in p.coeffs()) and all(polynomials.content(p) == 1 for p in answers)
            else Open("multiples by numbers")
        )
    lead = [tuple(map(int, p.monoms()[0])) for p in stated]
    for p in wanted:
        top = tuple(map(int, p.monoms()[0]))
        if not any(all(a <= b for a, b in zip(other, top, strict=True)) for other in lead):
            return Refuted(Statement(f"{p} is in the ideal, and no leading term of the answer divides its own"))
    return Open("a basis that is not reduced")


def integral(p: fmpq_mpoly, context: fmpz_mpoly_ctx, order: list[int]) -> fmpz_mpoly:
    """The polynomial with integer coefficients without a common divisor and a positive leading one, its symbols in another order."""
    common = fmpz(1)
    for c in p.coeffs():
        common = common.lcm(c.q)
    terms: dict[tuple[int, ...], int] = {}
    for monomial, c in p.to_dict().items():
        exponents = [0] * len(order)
        for place, e in zip(order, monomial, strict=False):
            exponents[place] = int(e)
        terms[tuple(exponents)] = int((c * common).p)
    return normalised(context.from_dict(terms))


def normalised(p: fmpz_mpoly) -> fmpz_mpoly:
    if p.is_zero():
        return p
    found: fmpz_mpoly = p.primitive()[1]
    return found if found.leading_coefficient() > 0 else -found


def reduced(given: list[fmpz_mpoly], context: fmpz_mpoly_ctx) -> tuple[list[fmpz_mpoly], bool]:
    nonzero = [p for p in given if not p.is_zero()]
    if not nonzero:
        return [], True
    budget.step()
    found, complete = fmpz_mpoly_vec(nonzero, context).buchberger_naive(limits=LIMITS)
    budget.step()
    return ([normalised(p) for p in found.autoreduction()], True) if complete else ([], False)  # type: ignore[attr-defined]


def remainder(p: fmpz_mpoly, basis: list[fmpz_mpoly], context: fmpz_mpoly_ctx) -> fmpz_mpoly:
    return p.reduction_primitive_part(fmpz_mpoly_vec(basis, context)) if basis else p  # type: ignore[attr-defined]


RULES: dict[str, Callable[[dict[str, Any], int], Residual]] = {
    "Coefficient": coefficient,
    "Exponent": exponent,
    "MinimalPolynomial": minimal_polynomial,
    "GroebnerBasis": groebner_basis,
}
