"""Procedure "integral": an answer against an enclosure of the definite integral (quadrature.py), or against a proof that it diverges."""

from __future__ import annotations

from typing import Any

from flint import acb, arb

from .. import budget
from ..critical import substituted
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified, Witness
from ..parameters import DIVERGES, Known, conditions_of, named, sampled, speaks_of_all
from ..quadrature import FINE_BITS, NARROW, WIDEST, total
from ..tails import Divergent
from ..tree import Refused, Tree, free_symbols, kept_by_machines, reals, replace
from ..values import INFINITY, MINUS_INFINITY, Kind, NonValue, Number, Undecided, Value, ball, complex_ball, is_number, precision, settled, spread
from ..wording import equation, within
from . import certified_integrals, exact_integrals, identities, iterated
from .digits_right import DIGITS, all_right

BITS = (96, 160)
DIGITS_SHARE = 0.5
FINE_SHARE, FINE_STEPS = 0.3, 100_000  # of the budget at most, for an exact answer that agrees and is looked at once more


def check(task: dict[str, Any], seed: int) -> Residual:
    integrand, ranges, answer = task["integrand"], task["ranges"], task["answer"]
    if task.get("principal_value"):
        return Open("principal values are not decided")
    if all(len(one) == 3 for one in ranges) and not reals(answer) and not reals(integrand):
        exactly = exact_integrals.exact(integrand, [(one[0], one[1], one[2]) for one in ranges])
        if exactly is not None:
            return identities.check({"claims": [(exactly, answer)], "assumptions": task.get("assumptions")}, seed)
    found = several(task, seed) if len(ranges) > 1 else single(integrand, ranges[0], task, seed)
    if not isinstance(found, Supported | Open) or any(len(one) != 3 for one in ranges):
        return found
    if reals(answer) or reals(integrand) or task.get("approximate"):
        close = isinstance(found, Supported) and task.get("approximate") and decimal(answer) and kept_by_machines(integrand)
        if close and ((len(ranges) == 1 and digits_enclosed(integrand, ranges[0], task)) or digits_certified(task)):
            return Verified(exact=False, residual=DIGITS)
        return found
    if isinstance(found, Supported) and infinite_number(answer) and not parametric(integrand, ranges):
        return Verified(exact=False)  # it is proved to diverge there
    bounds = [(str(one[0]), one[1], one[2]) for one in ranges]
    return budget.attempt(lambda: certified_integrals.proof(integrand, bounds, task, seed)) or found


def infinite_number(answer: Tree) -> bool:
    try:
        return evaluate(answer) in (INFINITY, MINUS_INFINITY)
    except (Undecided, Refused):
        return False


def parametric(integrand: Tree, ranges: list[list[Tree]]) -> bool:
    return bool(free_symbols(integrand).union(*(free_symbols(end) for one in ranges for end in one[1:])) - {str(one[0]) for one in ranges})


def digits_enclosed(integrand: Tree, one: list[Tree], task: dict[str, Any]) -> bool:
    """Whether a decimal answer is right to its digits, by a narrower enclosure."""
    name, ends = str(one[0]), one[1:]
    if free_symbols(integrand) - {name} or any(free_symbols(end) for end in ends) or not decimal(task["answer"]) or not kept_by_machines(integrand, *ends):
        return False
    found = False

    def look() -> bool:
        nonlocal found
        with precision(FINE_BITS):
            try:
                found = all_right(task["answer"], settled(total(integrand, name, ends, NARROW)), int(task.get("digits") or 0) or None)
            except (Undecided, Refused, Divergent, ValueError, ZeroDivisionError, OverflowError):
                found = False
        return found

    budget.attempted(look, DIGITS_SHARE)
    return found


def digits_certified(task: dict[str, Any]) -> bool:
    """The same by antiderivatives."""
    ranges = [(str(one[0]), one[1], one[2]) for one in task["ranges"]]
    if reals(task["integrand"]) or parametric(task["integrand"], task["ranges"]):
        return False

    def look() -> bool:
        value = exact_integrals.exact(task["integrand"], ranges) or certified_integrals.over(task["integrand"], ranges, [])
        with precision(FINE_BITS):
            try:
                return value is not None and all_right(task["answer"], evaluate(value), int(task.get("digits") or 0) or None)
            except (Undecided, Refused):
                return False

    return budget.attempted(look, DIGITS_SHARE)


def decimal(answer: Tree) -> bool:
    return bool(reals(answer)) and not free_symbols(answer)


def single(integrand: Tree, one: list[Tree], task: dict[str, Any], seed: int) -> Sampled:
    answer = task["answer"]
    name, ends = str(one[0]), one[1:]
    names = free_symbols(integrand) - {name} | free_symbols(answer)
    for end in ends:
        names |= free_symbols(end)
    if name in free_symbols(answer) and not any(name in free_symbols(end) for end in ends):
        return Refuted(Statement(f"the answer depends on {name}"))
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)
    if any(name in free_symbols(end) for end in ends):
        fresh = name + "$bound"
        integrand, name = replace(integrand, name, fresh), fresh

    def look(values: Known) -> Sampled:
        known = named(values)
        return definite(substituted(integrand, known), name, [substituted(end, known) for end in ends], values, task)

    at_ends = [replace(integrand, name, end) for end in ends]  # where what is integrated changes its ways within the range
    return sampled(names, [answer, *ends, *at_ends], conditions, seed, look)


def definite(integrand: Tree, name: str, ends: list[Tree], values: Known, task: dict[str, Any]) -> Sampled:
    def looked_at(bits: int, goal: arb) -> Sampled:
        budget.step()
        with precision(bits):
            try:
                return against(settled(total(integrand, name, ends, goal)), task["answer"], values, task)
            except Divergent as proof:
                return diverges(proof, task["answer"], values)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError) as problem:
                return Open("no enclosure: " + str(problem)[:80])

    found: Sampled = Open("no enclosure")
    for bits in BITS:
        found = looked_at(bits, WIDEST)
        if isinstance(found, Refuted):
            return found
        if isinstance(found, Supported):
            break
    exact = not task.get("approximate") and not reals(task["answer"]) and not reals(integrand)
    if not isinstance(found, Supported) or not exact or values:
        return found
    finer: list[Sampled] = []

    def once_more() -> bool:
        finer.append(looked_at(FINE_BITS, NARROW))
        return True

    budget.attempted(once_more, min(FINE_SHARE, FINE_STEPS / max(budget.left(), FINE_STEPS)))
    return finer[0] if finer and isinstance(finer[0], Refuted) else found


def against(true: Value, answer: Tree, values: Known, task: dict[str, Any]) -> Sampled:
    """Decimals of a numerical integral may be off by what its method promises: half of the digits of machine numbers."""
    given = evaluate(answer, Environment(values, printed=True))
    if not is_number(true):
        return Open("no enclosure")
    if isinstance(given, NonValue):
        if given.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) or given.kind is Kind.INDETERMINATE:
            return Refuted(Witness(true, given, dict(values), note="it converges"))
        return Open("no value to compare")
    if not is_number(given):
        return Open("no value to compare")
    shown: Number = true
    if task.get("approximate") or reals(answer):
        true = loose(true, int(task.get("digits") or 0))
    if not complex_ball(true).overlaps(complex_ball(given)):
        return Refuted(Witness(shown, given, dict(values)))
    z = complex_ball(shown)
    radius, size = arb(z.rad()), arb(z.abs_upper())
    return Supported(within(spread(ball(shown), ball(given)))) if radius < arb(10) ** -6 * (size + arb(10) ** -6) else Open("the enclosure is too wide")


def loose(value: Number, digits: int) -> Number:
    z = complex_ball(value)
    relative = arb(10) ** (2 - digits) if digits > 16 else arb(10) ** -8
    radius = arb((arb(z.abs_upper()) * relative + (arb(10) ** -10 if digits <= 16 else arb(0))).upper())
    return acb(arb(z.real.mid(), (arb(z.real.rad()) + radius).upper()), arb(z.imag.mid(), (arb(z.imag.rad()) + radius).upper()))


def diverges(proof: Divergent, answer: Tree, values: Known) -> Sampled:
    if values and not speaks_of_all({name for name in values if isinstance(name, str)}, conditions_of(answer)):
        return DIVERGES
    with precision(128):
        try:
            given = evaluate(answer, Environment(dict(values), printed=True))
        except (Undecided, Refused):
            return Open("no value to compare")
    if is_number(given):
        at = ", ".join(equation(name, value) for name, value in named(values).items())
        return Refuted(Statement(proof.why + (f" at {at}, where the answer says it has a value" if at else ""), exact=False))
    if not isinstance(given, NonValue):
        return Open("no value to compare")
    if given in (INFINITY, MINUS_INFINITY):
        if proof.both:
            return Refuted(Statement(f"{proof.why}: it has no value", exact=False))
        if (given == INFINITY) != (proof.sign > 0) and proof.sign != 0:
            return Refuted(Statement(f"{proof.why}, to {'Infinity' if proof.sign > 0 else '-Infinity'}", exact=False))
        return Supported() if proof.sign != 0 else Open("it diverges, and whether to an infinity is not known")
    return Supported() if given.kind is Kind.INDETERMINATE else Open("it diverges, which the answer does not say in so many words")


def several(task: dict[str, Any], seed: int) -> Sampled:
    """Several ranges, the first one outermost. Its ends are free of all variables, later ones may use those before them."""
    body, answer = task["integrand"], task["answer"]
    ranges: list[tuple[str, Tree, Tree]] = []
    if any(len(r) != 3 for r in task["ranges"]):
        return Open("stops in several dimensions")
    pending = [tuple(r) for r in task["ranges"]]
    names: set[str] = set()
    for i in range(len(pending)):
        name, low, high = pending[i]
        fresh = f"{name}$bound{i}"
        names |= free_symbols(low) | free_symbols(high)
        ranges.append((fresh, low, high))
        body = replace(body, name, fresh)
        pending[i + 1 :] = [(n, replace(a, name, fresh), replace(b, name, fresh)) for n, a, b in pending[i + 1 :]]
    bound = {name for name, _, _ in ranges}
    names = (names | free_symbols(body)) - bound | free_symbols(answer)
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)

    def look(values: Known) -> Sampled:
        known = named(values)
        spans = [(n, substituted(a, known), substituted(b, known)) for n, a, b in ranges]
        with precision(iterated.BITS):
            try:
                return against(settled(iterated.enclosed(substituted(body, known), spans)), answer, values, task)
            except Divergent as proof:
                return diverges(proof, answer, values)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError, TypeError) as problem:
                return Open("no enclosure: " + str(problem)[:80])

    return sampled(names, [answer], conditions, seed, look)
