"""Procedure "antiderivative": the derivative of the answer is the integrand.

Formulas with roots, logarithms and inverse functions are often meant on some branches only: ArcCosh[x] for 1/Sqrt[x^2 - 1],
right for x > 1. Such an answer is refuted at a point with positive parameters where the integrand is real and differs from
the derivative by more than a root of unity, or by anything where nothing agrees for positive values; where neither integrand
nor derivative has branches, any difference refutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flint import arb, fmpq

from .. import budget
from ..agreement import Claim, survey
from ..arithmetic import divide, power
from ..assumptions import Assumptions
from ..calculus import differentiate, expand_d
from ..critical import ORDERED
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..jumps import JUMPS
from ..parameters import leaves_out
from ..points import Name, Point, environment
from ..reality import on_reals
from ..sides import JUMPING, continuous
from ..sought import Absent, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, walk
from ..univariate import polynomial
from ..values import ONE, Comparison, NonValue, Relation, Undecided, Value, compare, is_number, is_zero, precision
from . import continuity, finite, identities, identities_by_signs, real_logarithms, superfluous

MAX_DIFFERENCES = 400
KEPT_BITS, LEAST_AGREED = 128, 3
ROOTS_OF_UNITY = fmpq(12)
LOOKED_AT = tuple(fmpq(p, 64) for p in (37, -83, 201, -13, 29, 353, 83, -331, 59, 613, -29, 1033, 7, -641, 149, 401, 1, 3, -3, 5))
OF_PARTS = ("Re", "Im", "Arg", "Conjugate", "ReIm", "AbsArg")
NOT_ANALYTIC = ("Abs", "Sign", "Floor", "Ceiling", "Round", "IntegerPart", *OF_PARTS)
FOR_REALS = "0 for real values"
WHERE_THE_INTEGRAND_IS = "0 for real values at which the integrand is real"

# Functions with one value everywhere, whatever one's conventions.
SINGLE_VALUED = frozenset(JUMPS) | frozenset(
    "List Plus Times Subtract Minus Divide Rational Complex D Exp Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch RealAbs RealSign Abs Sign Re Im "
    "Conjugate Piecewise Boole If Equal Unequal Less LessEqual Greater GreaterEqual Inequality And Or Not Erf Erfc Erfi FresnelS FresnelC "
    "SinIntegral SinhIntegral Sinc AiryAi AiryBi OnReals$ OffZero$".split()
)


def check(task: dict[str, Any], seed: int) -> Residual:
    claims, assumptions = identities.read(task)
    answers = [answer_of(right) for _, right in claims]
    objection = finite.objection(answers, list(task.get("variables") or []), [left for left, _ in claims])
    if isinstance(objection, Refuted):
        return objection if all(finite.finite_somewhere(left) for left, _ in claims) else Open("the integrand has no value")
    found = judged(claims, assumptions, task, seed)
    if objection is not None and isinstance(found, Verified | Supported):
        return objection
    jumping = any(is_call(part, *JUMPING) for answer in answers for part in walk(answer))
    if isinstance(found, Verified) and leaves_out(answers):
        return Supported()
    variables = task.get("variables") or []
    if isinstance(found, Verified | Supported):
        found = unless_it_leaps(found, claims, conditions=list(assumptions.conditions), variables=variables, seed=seed)
    if isinstance(found, Refuted | Open):
        return found
    proved_along = (
        isinstance(found, Verified)
        and found.residual in (FOR_REALS, WHERE_THE_INTEGRAND_IS)
        and len(variables) == 1
        and all(no_value_at_steps(answer, variables[0]) for answer in answers)
    )
    if (
        isinstance(found, Verified)
        and jumping
        and not proved_along
        and not (len(variables) == 1 and all(continuous(answer, variables[0]) for answer in answers))
    ):
        return Supported()  # the derivative does not tell of a jump
    only_real = any(on_reals(derived(right)) for _, right in claims)
    if isinstance(found, Verified) and (only_real or any(not_analytic(left, variables) for left, _ in claims) or any(ordered(a, variables) for a in answers)):
        parts = [any(is_call(part, *OF_PARTS) for node in nodes for part in walk(node)) for nodes in (answers, [left for left, _ in claims])]
        foreign = parts[0] != parts[1] if not only_real else parts == [True, False]
        return (
            Supported()
            if foreign
            else Verified(found.exact, FOR_REALS + found.residual.removeprefix("0") if FOR_REALS not in found.residual else found.residual)
        )
    return found


def unless_it_leaps(found: Verified | Supported, claims: list[Claim], *, conditions: list[Tree], variables: list[str], seed: int) -> Residual:
    """What a jump says: the antiderivative of a plain integrand has none. For others, such as
    1/(2 + Cos[x]), formulas that jump are in use, and the residual says so; where they do because of terms that add up to a
    step, nothing is verified. Nor is where not every place was seen at which the answer may jump."""
    asked = continuity.Asked(where_real=found.residual in (real_logarithms.WHERE_THE_ROOT_IS, WHERE_THE_INTEGRAND_IS))
    exact, notes, narrowed = True, [], False
    for integrand, answer in entries(claims):
        for name in variables:
            rate = integrand if len(variables) == 1 else rate_of(answer, name)
            sought = continuity.jumps(rate, answer, name, conditions, seed=seed, asked=asked) if rate is not None else Unseen("a derivative")
            if isinstance(sought, Unseen) and len(variables) == 1 and not asked.where_real and rate is not None:
                sought = where_it_is_real(rate, answer, name, conditions, seed) or sought
                narrowed = narrowed or not isinstance(sought, Unseen)
            if isinstance(sought, Unseen):
                return Supported(sought.why)
            if isinstance(sought, Absent):
                exact = exact and sought.exact
                continue
            if continuity.plain(rate, name):  # type: ignore[arg-type]
                return Refuted(Statement(sought.what.sentence(), exact=False))
            if isinstance(found, Supported) or not isinstance(superfluous.superfluous(answer, name), Absent):
                return Supported("the answer jumps: " + sought.what.sentence())
            notes.append(sought.what.sentence())
    if isinstance(found, Supported):
        return found
    if narrowed:
        found = Verified(found.exact, WHERE_THE_INTEGRAND_IS)
    return Verified(found.exact and exact, f"{found.residual} where the answer does not jump: {notes[0]}" if notes else found.residual)


def where_it_is_real(integrand: Tree, answer: Tree, name: str, conditions: list[Tree], seed: int) -> Absent | None:
    """That an answer does not jump where its integrand is real, which it is somewhere. An answer that may have terms of no use is not meant so."""
    if not real_somewhere(integrand) or not isinstance(superfluous.superfluous(answer, name), Absent):
        return None
    found = continuity.jumps(integrand, answer, name, conditions, seed=seed, asked=continuity.Asked(where_real=True))
    return found if isinstance(found, Absent) else None


def real_somewhere(node: Tree) -> bool:
    """Whether an expression is real at some of the points at which it is looked at."""
    names, count = sorted(free_symbols(node)), 0
    for shift in range(len(LOOKED_AT)):
        try:
            with precision(KEPT_BITS):
                env = Environment.of({name: LOOKED_AT[(shift + 3 * i) % len(LOOKED_AT)] + i // 4 for i, name in enumerate(names)})
                count += isinstance(evaluate(node, env), fmpq | arb)
        except (Undecided, Refused):
            continue
    return count >= LEAST_AGREED


def no_value_at_steps(answer: Tree, name: str) -> bool:
    """Whether an expression steps by signs of expressions of first degree only, and has no value where these are 0, that could be another one."""
    for part in walk(answer):
        if not is_call(part, *JUMPING):
            continue
        line = polynomial(arguments(part)[0], name) if is_call(part, "Sign", "RealSign") else None
        if line is None or line.degree() != 1:
            return False
        try:
            with precision(KEPT_BITS):
                env = Environment.of({other: fmpq(37, 64) for other in free_symbols(answer)} | {name: -line[0] / line[1]})
                if not isinstance(evaluate(answer, env), NonValue):
                    return False
        except (Undecided, Refused):
            return False
    return True


def rate_of(answer: Tree, name: str) -> Tree | None:
    try:
        return differentiate(answer, name)
    except Refused:
        return None


def entries(claims: list[Claim]) -> list[Claim]:
    """Integrands with their antiderivatives, those in lists one by one."""
    found: list[Claim] = []
    for left, right in claims:
        answer = answer_of(right)
        if is_call(left, "List") and is_call(answer, "List") and len(arguments(left)) == len(arguments(answer)):
            found += entries(list(zip(arguments(left), arguments(answer), strict=True)))
        else:
            found.append((left, answer))
    return found


def ordered(node: Tree, names: Iterable[str]) -> bool:
    """Whether a part has a value for real values of the symbols only, because it asks which of two numbers is greater."""
    return any(is_call(part, *ORDERED) and free_symbols(part) & set(names) for part in walk(node))


def judged(claims: list[Claim], assumptions: Assumptions, task: dict[str, Any], seed: int) -> Residual:
    originals = [(left, answer_of(right)) for left, right in claims]
    claims = [(left, derived(right)) for left, right in claims]
    plain = all(single_valued(side) for claim in claims for side in claim)
    claims = [(along_reals(left, right, task.get("variables") or []), right) for left, right in claims]
    real = sorted(set().union(*(on_reals(left) for left, _ in claims)))
    assumptions = Assumptions([*assumptions.conditions, *(("Element", name, "Reals") for name in real)]) if real else assumptions
    if budget.attempted(lambda: identities.proves(claims, assumptions)):
        return Verified(exact=True)
    seen = survey(claims, assumptions, seed, printed=True, partial=True, enough_differences=1 if plain else MAX_DIFFERENCES)
    if not seen.differences:
        found = identities.conclude(claims, seen)
        if not isinstance(found, Verified) and seen.agreed and not seen.undecided and budget.attempted(lambda: identities_by_signs.proved(claims)):
            return Verified(exact=True, residual=FOR_REALS)
        real_only = where_real(claims, assumptions, seed) if isinstance(found, Supported) else found
        return real_only if isinstance(real_only, Verified) else found
    refuted = seen.refutation()
    if refuted is None or plain or seen.agreed == 0:
        return refuted or Open("no value to compare")
    variables = set(task.get("variables") or [])
    principal = [(point, found) for point, found in seen.differences if on_principal_branch(point, found, variables)]
    held = survey(claims, assumptions, seed, printed=True, keep=lambda point: positive(point, point.values), enough_differences=MAX_DIFFERENCES)
    if principal and not held.agreed:
        seen.differences = principal
    else:
        seen.differences = [(point, found) for point, found in principal if clear(found)]
    refuted = seen.refutation()
    if refuted is not None:
        return refuted
    if len(variables) == 1 and all(real_logarithms.proved(*original, next(iter(variables)), assumptions) for original in originals):
        return Verified(exact=True, residual=real_logarithms.WHERE_THE_ROOT_IS)
    if not any(point.real for point, _ in seen.differences) and budget.attempted(lambda: identities_by_signs.proved(claims)):
        return Verified(exact=True, residual=FOR_REALS)
    return where_real(claims, assumptions, seed)


def where_real(claims: list[Claim], assumptions: Assumptions, seed: int) -> Residual:
    """Formulas of which the real values are meant: whether the derivative is the integrand at all real values of the symbols at which
    the integrand is real. What the answer is there does not count: a constant may be complex."""

    def real_integrand(point: Point) -> bool | None:
        try:
            with precision(KEPT_BITS):
                return all(isinstance(evaluate(left, environment(point)), fmpq | arb) for left, _ in claims)
        except (Undecided, Refused):
            return None

    seen = survey(claims, assumptions, seed, real=True, printed=True, keep=real_integrand, enough_differences=1)
    agreed = sum(region.agree for region in seen.regions.values())
    if seen.differences or not seen.covered or not seen.certain or agreed < LEAST_AGREED or identities.decimals(claims):
        return Open("it holds on some branches")
    return Verified(exact=False, residual=WHERE_THE_INTEGRAND_IS)


def answer_of(node: Tree) -> Tree:
    """f of D[f, x]."""
    return node[1] if isinstance(node, tuple) and node[0] == "D" else node


def derived(node: Tree) -> Tree:
    """The derivative itself in place of D[answer, x], so that a branch that differentiation removes does not count."""
    try:
        return expand_d(node)
    except Refused:
        return node


def along_reals(left: Tree, right: Tree, variables: Iterable[str]) -> Tree:
    """The integrand, said to be looked at for real values only where the derivative exists for these alone, or where it has no
    antiderivative off the reals because it is not analytic anywhere."""
    for name in sorted(on_reals(right) | not_analytic(left, variables)):
        left = ("OnReals$", name, left)
    return left


def not_analytic(node: Tree, variables: Iterable[str]) -> set[str]:
    """The variables of which a function is taken that has values for complex numbers, but no derivative there."""
    return {name for part in walk(node) if is_call(part, *NOT_ANALYTIC) for name in free_symbols(part) & set(variables)}


def positive(point: Point, names: Iterable[Name]) -> bool:
    return all(isinstance(value, fmpq) and value > 0 for value in (point.values[name] for name in names))


def on_principal_branch(point: Point, found: Comparison, variables: set[str]) -> bool:
    """Whether the point is real, parameters are positive, and the integrand is real and not zero."""
    if not point.real or point.special or not positive(point, [name for name in point.values if name not in variables]):
        return False
    try:
        return isinstance(found.left, fmpq | arb) and is_number(found.right) and not is_zero(found.left)
    except Undecided:
        return False


def clear(found: Comparison) -> bool:
    """Whether the two differ by more than the choice of a root."""
    try:
        ratio = divide(found.right, found.left)
        return is_number(ratio) and not root_of_unity(ratio)
    except Undecided:
        return False


def root_of_unity(value: Value) -> bool:
    """Whether a value may be a twelfth root of unity."""
    if isinstance(value, NonValue | bool | tuple):
        return True
    return compare(power(value, ROOTS_OF_UNITY), ONE).relation is not Relation.DIFFERENT


def single_valued(node: Tree) -> bool:
    if not isinstance(node, tuple):
        return True
    if is_call(node, "BesselJ", "BesselI", "HermiteH", "LegendreP", "ChebyshevT", "ChebyshevU", "LaguerreL"):
        return isinstance(node[1], int) and single_valued(node[-1])
    if is_call(node, "Power"):
        return len(node) == 3 and (isinstance(node[2], int) or node[1] == "E") and all(single_valued(part) for part in node[1:])
    return node[0] in SINGLE_VALUED and all(single_valued(part) for part in node[1:])
