"""Procedure "sum": finite sums and products term by term, infinite ones as a partial sum and an enclosed tail."""

from __future__ import annotations

from math import lcm
from typing import Any

from flint import acb, arb, fmpq

from .. import budget, tails
from ..arithmetic import plus as values_plus
from ..critical import substituted
from ..evaluation import EMPTY, evaluate
from ..expanding import expand
from ..expansion import VARIABLE, Expander
from ..findings import Open, Refuted, Sampled, Statement, Supported
from ..parameters import Known, conditions_of, named, sampled
from ..tails import Divergent
from ..tree import Refused, Tree, arguments, free_symbols, is_call, plus, power, replace, times, walk
from ..values import NonValue, Undecided, Value, complex_ball, is_number, precision, settled, whole
from . import identities
from .integrals import against, diverges

BITS = (96, 256)
STARTS = (5, 7, 10)
MAX_PERIOD = 24


def check(task: dict[str, Any], seed: int) -> Sampled:
    ranges = task["ranges"]
    term, answer = task["term"], task["answer"]
    bound = {r[0] for r in ranges}
    outside: set[str] = set()
    inner: set[str] = set()
    for r in ranges:  # the first range is the outermost: its ends are free of all, later ones may use it
        for end in r[1:]:
            outside |= free_symbols(end) - inner
        inner.add(r[0])
    if any(len(r) == 1 for r in ranges):
        return indefinite(task, seed)
    if free_symbols(answer) & (bound - outside):
        return Refuted(Statement(f"the answer depends on {min(free_symbols(answer) & (bound - outside))}"))
    infinite = [r for r in ranges if any(goes_to_infinity(end) for end in r[1:])]
    if not infinite:
        return finite(task, seed)
    if len(ranges) > 1 or len(ranges[0]) != 3:
        return Open("several infinite indices or a step")
    name, low, high = ranges[0]
    names = (free_symbols(term) | free_symbols(answer) | outside) - {name}
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)
    fresh = "index$"
    body = renamed(term, name, fresh)

    def look(values: Known) -> Sampled:
        known = named(values)
        return total(substituted(body, known), fresh, (substituted(low, known), substituted(high, known)), values, task)

    return sampled(names, [answer, low, high], conditions, seed, look)


def renamed(tree: Tree, name: str, fresh: str) -> Tree:
    if tree == name:
        return fresh
    return tuple(renamed(part, name, fresh) for part in tree) if isinstance(tree, tuple) else tree


def goes_to_infinity(end: Tree) -> bool:
    return end == "Infinity" or (is_call(end, "Times", "DirectedInfinity", "Minus") and "Infinity" in arguments(end))


def finite(task: dict[str, Any], seed: int) -> Sampled:
    """Symbolic ends get whole numbers."""
    head = "Product" if task.get("product") else "Sum"
    left: Tree = (head, task["term"], *(("List", *r) for r in task["ranges"]))
    return identities.sampled({"claims": [(left, task["answer"])], "assumptions": task.get("assumptions") or []}, seed)


def indefinite(task: dict[str, Any], seed: int) -> Sampled:
    """F(k + 1) - F(k) = f(k), or the quotient for a product, at whole k."""
    if len(task["ranges"]) > 1:
        return Open("several indefinite indices")
    name, term, answer = task["ranges"][0][0], task["term"], task["answer"]
    after = replace(answer, name, plus(name, 1))
    step = times(after, power(answer, -1)) if task.get("product") else plus(after, times(-1, answer))
    conditions = [*(task.get("assumptions") or []), ("Element", name, "PositiveIntegers")]
    return identities.sampled({"claims": [(term, step)], "assumptions": conditions}, seed)


def total(term: Tree, name: str, ends: tuple[Tree, Tree], values: Known, task: dict[str, Any]) -> Sampled:
    """One infinite range. Both ends infinite: from 1 on, mirrored, and the term at 0."""
    product = bool(task.get("product"))
    found: Sampled = Open("no enclosure")
    for bits in BITS:
        budget.look()
        with precision(bits):
            try:
                true = settled(series_between(term, name, ends, product))
            except Divergent as proof:
                return Open("a product without limit") if product else diverges(proof, task["answer"], values)
            except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError) as problem:
                found = Open("no enclosure: " + str(problem)[:80])
                continue
            found = against(true, task["answer"], values, task)
            if isinstance(found, Refuted | Supported):
                return found
    return found


def series_between(term: Tree, name: str, ends: tuple[Tree, Tree], product: bool) -> acb:
    low, high = ends
    mirrored = replace(term, name, times(-1, name))
    if goes_to_infinity(low) and low != "Infinity":
        if high == "Infinity":
            parts = [from_start(term, name, 1, product), from_start(mirrored, name, 1, product), complex_of(replace(term, name, 0))]
            return parts[0] * parts[1] * parts[2] if product else parts[0] + parts[1] + parts[2]
        end = whole(evaluate(high))
        if end is None:
            raise Undecided("the ends")
        return from_start(mirrored, name, -end, product)
    start = whole(evaluate(low))
    if start is None or high != "Infinity" or abs(start) > 10**6:
        raise Undecided("the ends")
    return from_start(term, name, start, product)


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


def from_start(term: Tree, name: str, start: int, product: bool) -> acb:
    m = period(term, name)
    if m > MAX_PERIOD:
        raise Undecided("a long period")
    if m == 1:
        return enclosed(term, name, start, product)
    parts: list[acb] = []
    try:
        for r in range(m):
            first = -((r - start) // m)  # the least k with m k + r >= start
            part = at_residue(term, name, m, r)
            parts.append(enclosed(part, name, first, product))
    except Divergent as proof:
        raise Undecided("parts that diverge one by one") from proof
    result = acb(int(product))
    for value in parts:
        result = result * value if product else result + value
    return result


def enclosed(term: Tree, name: str, start: int, product: bool) -> acb:
    """The terms up to a power of 2 one by one, the rest from the expansion."""
    if not product and isinstance(term, int) and term == 0:
        return acb(0)
    tree = replace(term, name, VARIABLE)
    problem: Exception = Undecided("the tail")
    best: acb | None = None
    for exponent in STARTS:
        n = 2**exponent
        if n <= start:
            continue
        for terms in (4, 12):
            budget.look()
            try:
                on = Expander(arb(n), terms)
                germ = expand(tree, on)
                if product:
                    germ = on.log(germ)
                tail = tails.series(germ, on, n)
            except Undecided as undecided:
                problem = undecided
                continue
            if not tail.is_finite():
                continue
            if best is None or tail.rad() < 1e-12 or exponent == STARTS[-1]:
                best = combined(partial(term, name, start, n, product), tail, product)
            if tail.rad() < 1e-12:
                return best
    if best is None:
        raise problem
    return best


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
