"""Procedure "sum": finite sums and products term by term, infinite ones as a partial sum and an enclosed tail."""

from __future__ import annotations

from math import lcm
from typing import Any

from flint import acb, arb, fmpq

from .. import budget, closed_sums, tails
from ..arithmetic import plus as values_plus
from ..assumptions import Assumptions
from ..critical import substituted
from ..evaluation import EMPTY, evaluate
from ..expanding import expand
from ..expansion import VARIABLE, Expander
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified
from ..hypergeometric import related
from ..normal import proves_equal
from ..parameters import Known, conditions_of, named, sampled
from ..tails import Divergent
from ..tree import Refused, Tree, arguments, free_symbols, is_call, kept_by_machines, minus, plus, power, rational_tree, reals, replace, times, walk
from ..univariate import polynomial
from ..values import NonValue, Undecided, Value, complex_ball, is_number, precision, settled, whole
from . import certified_sums, identities, power_series
from .digits_right import DIGITS, all_right
from .finite import finite_somewhere
from .integrals import against, diverges, infinite_number
from .iterated import separated
from .primitives import factored

BITS = (96, 256)
STARTS = (5, 7, 10, 14)
WIDE = 1e-9  # a radius for which terms are added up to the last start
GOAL, FINE = 1e-12, 1e-22  # radii that are narrow enough
FINE_BITS = 192
MAX_PERIOD = 24


def check(task: dict[str, Any], seed: int) -> Residual:
    ranges = task["ranges"]
    term, answer = task["term"], task["answer"]
    bound = {r[0] for r in ranges}
    outside: set[str] = set()
    inner: set[str] = set()
    for r in ranges:  # the first range is the outermost: its ends are free of all, later ones may use it
        for end in r[1:]:
            outside |= free_symbols(end) - inner
        inner.add(r[0])
    if is_call(answer, "List") and finite_somewhere(term):
        return Refuted(Statement("one value is expected, the answer is a list"))
    if any(len(r) == 1 for r in ranges):
        return indefinite(task, seed)
    if free_symbols(answer) & (bound - outside):
        return Refuted(Statement(f"the answer depends on {min(free_symbols(answer) & (bound - outside))}"))
    infinite = [r for r in ranges if any(goes_to_infinity(end) for end in r[1:])]
    if not infinite:
        found = finite(task, seed)
        if isinstance(found, Supported) and task.get("approximate") and digits_of_terms(task):
            return Verified(exact=False, residual=DIGITS)
        return found
    if any(len(r) != 3 for r in ranges):
        return Open("an infinite index with a step")
    if len(ranges) > 1:
        return several(task, seed)
    name, low, high = ranges[0]
    names = (free_symbols(term) | free_symbols(answer) | outside) - {name}
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)
    fresh = "index$"
    body = at_whole_numbers(replace(term, name, fresh), fresh)

    def look(values: Known) -> Sampled:
        known = named(values)
        return total(substituted(body, known), fresh, (substituted(low, known), substituted(high, known)), values, task)

    found = sampled(names, [answer, low, high], conditions, seed, look)
    if isinstance(found, Supported) and names:
        return of_parameters(task, body, fresh, (low, high), seed) or found
    if not isinstance(found, Supported):
        return found
    if task.get("approximate"):
        close = digits_enclosed(body, fresh, (low, high), task) or digits_of_forms(body, fresh, (low, high), task)
        return Verified(exact=False, residual=DIGITS) if close else found
    if reals(answer):
        return found
    if infinite_number(answer) and not task.get("product"):
        return Verified(exact=False)  # it is proved to grow beyond all bounds
    if reals(term) or not isinstance(low, int) or high != "Infinity":
        return found
    route = certified_sums.product_to_infinity if task.get("product") else certified_sums.to_infinity
    return budget.attempt(lambda: route(task, body, fresh, low, seed)) or found


def of_parameters(task: dict[str, Any], body: Tree, name: str, ends: tuple[Tree, Tree], seed: int) -> Verified | None:
    """A power series in one parameter."""
    low, high = ends
    if task.get("product") or task.get("approximate") or not isinstance(low, int) or high != "Infinity" or reals(body) or reals(task["answer"]):
        return None

    def prove() -> Verified | None:
        try:
            constant, factors = factored(body, name)
            if low == 1 and factors and all(base == name for base, _ in factors):  # the definition of the zeta function (DLMF 25.2.1)
                form = times(constant, ("Zeta", times(-1, plus(*(exponent for _, exponent in factors)))))
                found = identities.check({"claims": [(form, task["answer"])], "assumptions": task.get("assumptions")}, seed)
                return found if isinstance(found, Verified) else None
            return power_series.proof(body, name, low, task["answer"])
        except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
            return None

    return budget.attempt(prove)


def digits_enclosed(body: Tree, name: str, ends: tuple[Tree, Tree], task: dict[str, Any]) -> bool:
    """Whether a decimal answer is right to its digits, by a narrower enclosure."""
    if not reals(task["answer"]) or not kept_by_machines(body):
        return False

    def look() -> bool:
        with precision(FINE_BITS):
            try:
                true = settled(series_between(body, name, ends, bool(task.get("product")), FINE))
            except (Undecided, Refused, Divergent, ValueError, ZeroDivisionError, OverflowError):
                return False
            return all_right(task["answer"], true, int(task.get("digits") or 0) or None)

    return budget.attempted(look)


def digits_of_forms(body: Tree, name: str, ends: tuple[Tree, Tree], task: dict[str, Any]) -> bool:
    """The same by closed forms of a sum that is proved to converge."""
    low, high = ends
    if task.get("product") or not isinstance(low, int) or high != "Infinity" or not reals(task["answer"]) or reals(body):
        return False

    def look() -> bool:
        for form in certified_sums.forms(body, name, low):
            with precision(FINE_BITS):
                try:
                    if all_right(task["answer"], evaluate(form), int(task.get("digits") or 0) or None):
                        return True
                except (Undecided, Refused):
                    continue
        return False

    return budget.attempted(look)


def digits_of_terms(task: dict[str, Any]) -> bool:
    """The same of terms that are added up, or multiplied."""
    whole_sum: Tree = ("Product" if task.get("product") else "Sum", task["term"], *(("List", *r) for r in task["ranges"]))
    if free_symbols(whole_sum) or not reals(task["answer"]) or not kept_by_machines(whole_sum):
        return False

    def look() -> bool:
        with precision(FINE_BITS):
            try:
                return all_right(task["answer"], evaluate(whole_sum), int(task.get("digits") or 0) or None)
            except (Undecided, Refused):
                return False

    return budget.attempted(look)


def several(task: dict[str, Any], seed: int) -> Sampled:
    """Several indices of which the term is a product of functions of one each."""
    spans = [(str(name), low, high) for name, low, high in task["ranges"]]
    if len({name for name, _, _ in spans}) < len(spans) or (free_symbols(task["term"]) | free_symbols(task["answer"])) - {name for name, _, _ in spans}:
        return Open("several infinite indices with parameters")
    factors = None if task.get("product") else separated(task["term"], spans)
    if factors is None:
        return Open("several infinite indices")
    for bits in BITS:
        with precision(bits):
            try:
                true = acb(1)
                for factor, (name, low, high) in zip(factors, spans, strict=True):
                    true *= series_between(replace(factor, name, "index$"), "index$", (low, high), False)
                return against(settled(true), task["answer"], {}, task)
            except (Undecided, Refused, Divergent, ValueError, ZeroDivisionError, OverflowError):
                continue
    return Open("no enclosure")


def at_whole_numbers(term: Tree, name: str) -> Tree:
    """The term with Cos[Pi (a k + b)] as (-1)^(a k) Cos[Pi b], a whole, and Sin alike: the index is a whole number."""
    if not isinstance(term, tuple) or name not in free_symbols(term):
        return term
    if is_call(term, "Sin", "Cos"):
        p = polynomial(replace(term[1], "Pi", 1), name)
        if p is not None and p.degree() == 1 and p[1].q == 1:
            slope, start = int(p[1].p), rational_tree(p[0])
            if proves_equal(term[1], times("Pi", plus(times(slope, name), start))):
                sign: Tree = power(-1, name) if slope % 2 else 1
                return times(sign, (term[0], times("Pi", start)))
        return term
    return (term[0], *(at_whole_numbers(part, name) for part in term[1:]))


def goes_to_infinity(end: Tree) -> bool:
    return end == "Infinity" or (is_call(end, "Times", "DirectedInfinity", "Minus") and "Infinity" in arguments(end))


def finite(task: dict[str, Any], seed: int) -> Residual:
    """A closed form for the sum of a polynomial; else term by term, symbolic ends as whole numbers."""
    ranges, conditions = task["ranges"], list(task.get("assumptions") or [])
    if not task.get("product") and not reals(task["term"]) and (found := closed_sums.iterated(task["term"], ranges)) is not None:
        outermost = tuple(ranges[0][-2:]) if len(ranges[0]) == 3 else (1, ranges[0][-1])
        known = identities.check({"claims": [(found, task["answer"])], "assumptions": conditions + identities.in_range(outermost)}, seed)
        if not isinstance(known, Supported | Open) or len(ranges) > 1:
            return known
    head = "Product" if task.get("product") else "Sum"
    left: Tree = (head, task["term"], *(("List", *r) for r in ranges))
    seen = identities.check({"claims": [(left, task["answer"])], "assumptions": conditions}, seed)
    if isinstance(seen, Supported | Open) and len(ranges) == 1 and len(ranges[0]) == 3 and not reals(left):
        return certified_sums.to_symbolic_end(task, (str(ranges[0][0]), ranges[0][1], ranges[0][2])) or seen
    return seen


def indefinite(task: dict[str, Any], seed: int) -> Residual:
    """F(k + 1) - F(k) = f(k), or the quotient for a product, at whole k."""
    if len(task["ranges"]) > 1:
        return Open("several indefinite indices")
    name, term, answer = task["ranges"][0][0], task["term"], task["answer"]
    after = replace(answer, name, plus(name, 1))
    step = times(after, power(answer, -1)) if task.get("product") else plus(after, times(-1, answer))
    conditions = [*(task.get("assumptions") or []), ("Element", name, "PositiveIntegers")]
    if identities.proves([(related(minus(term, step), {name}), 0)], Assumptions(conditions)):
        return Verified(exact=True)
    return identities.check({"claims": [(term, step)], "assumptions": conditions}, seed)


def total(term: Tree, name: str, ends: tuple[Tree, Tree], values: Known, task: dict[str, Any]) -> Sampled:
    """One infinite range. Both ends infinite: from 1 on, mirrored, and the term at 0."""
    product = bool(task.get("product"))
    found: Sampled = Open("no enclosure")
    for bits in BITS:
        budget.step()
        with precision(bits):
            try:
                true = settled(series_between(term, name, ends, product))
            except Divergent as proof:
                return diverges(proof, task["answer"], values)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError) as problem:
                found = Open("no enclosure: " + str(problem)[:80])
                continue
            found = against(true, task["answer"], values, task)
            if isinstance(found, Refuted | Supported):
                return found
    return found


def series_between(term: Tree, name: str, ends: tuple[Tree, Tree], product: bool, goal: float = GOAL) -> acb:
    low, high = ends
    mirrored = replace(term, name, times(-1, name))
    if goes_to_infinity(low) and low != "Infinity":
        if high == "Infinity":
            try:
                parts = [from_start(term, name, 1, product, goal), from_start(mirrored, name, 1, product, goal), complex_of(replace(term, name, 0))]
            except Divergent as proof:
                raise (Undecided("a product of parts") if product else Divergent(0, proof.why)) from proof
            return parts[0] * parts[1] * parts[2] if product else parts[0] + parts[1] + parts[2]
        end = whole(evaluate(high))
        if end is None:
            raise Undecided("the ends")
        return from_start(mirrored, name, -end, product, goal)
    start = whole(evaluate(low))
    if start is None or high != "Infinity" or abs(start) > 10**6:
        raise Undecided("the ends")
    return from_start(term, name, start, product, goal)


def complex_of(tree: Tree) -> acb:
    value = evaluate(tree)
    if not is_number(value):
        raise Undecided("a term without a value")
    return complex_ball(value)


def period(term: Tree, name: str) -> int:
    """The least common period of Mod[k, m] and the like in a term; 1 where there are none."""
    found = 1
    for part in walk(term):
        if is_call(part, "Mod") and name in free_symbols(part):
            args = arguments(part)
            if args[0] != name or len(args) != 2 or not isinstance(args[1], int) or args[1] < 1:
                raise Refused("Mod")
            found = lcm(found, args[1])
        elif is_call(part, "EvenQ", "OddQ") and arguments(part) == (name,):
            found = lcm(found, 2)
    return found


def at_residue(term: Tree, name: str, m: int, r: int) -> Tree:
    """The term at m k + r, residues written out."""
    if term == name:
        return plus(times(m, name), r)
    if not isinstance(term, tuple):
        return term
    if is_call(term, "Mod") and term[1] == name and isinstance(term[2], int):
        return r % term[2]
    if is_call(term, "EvenQ", "OddQ") and term[1:] == (name,):
        return "True" if (r % 2 == 0) == (term[0] == "EvenQ") else "False"
    inner = tuple(at_residue(part, name, m, r) for part in term)
    return decided(inner) if is_call(inner, "If", "Boole") else inner


def decided(node: tuple[Tree, ...]) -> Tree:
    """If and Boole of a condition without symbols."""
    if free_symbols(node[1]):
        return node
    holds = evaluate(node[1])
    if not isinstance(holds, bool):
        return node
    if node[0] == "Boole":
        return int(holds)
    return node[2] if holds else node[3] if len(node) > 3 else 0


def from_start(term: Tree, name: str, start: int, product: bool, goal: float = GOAL) -> acb:
    m = period(term, name)
    if m > MAX_PERIOD:
        raise Undecided("a long period")
    if m == 1:
        return enclosed(term, name, start, product, goal)
    parts: list[acb] = []
    try:
        for r in range(m):
            first = -((r - start) // m)  # the least k with m k + r >= start
            part = at_residue(term, name, m, r)
            parts.append(enclosed(part, name, first, product, goal))
    except Divergent as proof:
        raise Undecided("parts that diverge one by one") from proof
    result = acb(int(product))
    for value in parts:
        result = result * value if product else result + value
    return result


def enclosed(term: Tree, name: str, start: int, product: bool, goal: float = GOAL) -> acb:
    """The terms up to a power of 2 one by one, the rest from the expansion."""
    if not product and isinstance(term, int) and term == 0:
        return acb(0)
    term, start = switched_on(term, name, start)
    tree = replace(term, name, VARIABLE)
    problem: Exception = Undecided("the tail")
    best: acb | None = None
    starts = [start] if start >= 2 ** STARTS[0] else []
    starts += [2**exponent for exponent in STARTS if 2**exponent > start]
    for n in starts:
        if best is not None and n == 2 ** STARTS[-1] and best.rad() < (WIDE if goal == GOAL else goal):
            break
        for terms in (4, 12) if goal == GOAL else (12, 24):
            budget.step()
            try:
                on = Expander(arb(n), terms)
                germ = expand(tree, on)
                if product:
                    germ = on.log(germ)
                tail = tails.series(germ, on, n)
            except Divergent as proof:
                if not product:
                    raise
                return without_limit(proof, partial(term, name, start, n, product))
            except Undecided as undecided:
                problem = undecided
                continue
            if not tail.is_finite():
                continue
            if best is None or tail.rad() < goal or n == starts[-1]:
                best = combined(partial(term, name, start, n, product), tail, product)
            if tail.rad() < goal:
                return best
    if best is None:
        raise problem
    return best


def switched_on(term: Tree, name: str, start: int) -> tuple[Tree, int]:
    """A factor UnitStep[k - c] is a later start."""
    if not is_call(term, "Times"):
        return term, start
    rest: list[Tree] = []
    for factor in arguments(term):
        p = polynomial(arguments(factor)[0], name) if is_call(factor, "UnitStep") and len(arguments(factor)) == 1 else None
        if p is not None and p.degree() == 1 and p[1] > 0:
            start = max(start, int((-p[0] / p[1]).ceil()))
        else:
            rest.append(factor)
    return times(*rest), start


def without_limit(proof: Divergent, head: acb) -> acb:
    """A product of which the logarithms of the factors add up to an infinity: 0, or one that grows."""
    if proof.sign < 0:
        return acb(0)
    if proof.sign == 0 or head.contains(0) or not head.imag.is_zero():
        raise Undecided("a product without limit")
    raise Divergent(1 if head.real > 0 else -1, "the product grows without bound")


def combined(head: acb, tail: acb, product: bool) -> acb:
    return head * tail.exp() if product else head + tail


def partial(term: Tree, name: str, start: int, stop: int, product: bool) -> acb:
    result: Value = fmpq(int(product))
    ball = acb(int(product))
    exact = True
    for k in range(start, stop):
        budget.step()
        value = evaluate(term, EMPTY.having(name, fmpq(k)))
        if isinstance(value, NonValue) or not is_number(value):
            raise Undecided("a term without a value")
        if exact and isinstance(value, fmpq) and k < start + 40 and not product:
            result = values_plus(result, value)
            continue
        if exact:
            exact, ball = False, complex_ball(result)  # type: ignore[arg-type]
        ball = ball * complex_ball(value) if product else ball + complex_ball(value)
    return complex_ball(result) if exact else ball  # type: ignore[arg-type]
