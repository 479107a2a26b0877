"""Procedure "limit": the limit from an expansion whose remainder is bounded on a whole neighbourhood of the point."""

from __future__ import annotations

from typing import Any

from flint import arb

from ..closed_sums import closed
from ..critical import substituted
from ..evaluation import Environment, evaluate
from ..expanding import expand, is_minus_infinity, limit_of, towards
from ..expansion import Expander
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified
from ..machine import cancels
from ..parameters import Known, conditions_of, judged, named, sampled, values_only
from ..tree import Refused, Tree, arguments, free_symbols, is_call, kept_by_machines
from ..values import COMPLEX_INFINITY, INDETERMINATE, Kind, NonValue, Relation, Undecided, Value, compare, precision
from ..wording import show
from . import identities

TERMS = (3, 6, 10)
BITS = (128, 512)
FAR = 100000  # the range starts at 2^FAR


def check(task: dict[str, Any], seed: int) -> Residual:
    """Without parameters what is found on every side that counts is a proof."""
    function, name, point, answer = closed(task["function"]), task["name"], task["point"], task["answer"]
    wrong = values_only(answer, name) if name not in free_symbols(point) else None
    if wrong is not None:
        return wrong
    if is_call(point, "DirectedInfinity") or point == "ComplexInfinity":
        return Open("the point")
    if is_call(function, "List"):
        return entrywise(task, seed)
    if cancels(function):
        return Open("machine arithmetic loses too much")
    conditions = list(task.get("assumptions") or []) + conditions_of(answer)
    names = (free_symbols(function) | free_symbols(point) | free_symbols(answer)) - {name}
    infinite = point == "Infinity" or is_minus_infinity(point)
    sides = [1] if infinite else [task["direction"]] if task["direction"] else [1, -1]

    limits: list[Limit | None] = []

    def look(values: Known) -> Sampled:
        known = named(values)
        f, p = substituted(function, known), substituted(point, known)
        limits[:] = [one_sided(towards(f, name, p, side)) for side in sides]
        return conclude(limits, answer, values, bool(task.get("discrete")))

    found = sampled(names, [answer, point], conditions, seed, look)
    exact = kept_by_machines(function, point)
    return (proof(limits, answer, seed) or found) if isinstance(found, Supported) and not names and exact else found


def proof(limits: list[Limit | None], answer: Tree, seed: int) -> Verified | None:
    """Where all sides have the limit that the answer gives, or there is proved to be none and the answer says so."""
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(limits):
        return None
    if answer == "Indeterminate" and not any(isinstance(value, NonValue) and tree is not None for value, tree in known) and differ(known):
        return Verified(exact=False)  # one on each side
    exact = True
    for limit in limits:
        value, tree = limit or (None, None)
        if limit == (None, None):
            if answer != "Indeterminate":
                return None
        elif value is not None:
            if tree is not None or value != answer_value(answer, {}):
                return None  # an infinity in some direction, or another one
        else:
            same = identities.check({"claims": [(tree, answer)]}, seed)
            if not isinstance(same, Verified):
                return None
            exact = exact and same.exact
    return Verified(exact)


def entrywise(task: dict[str, Any], seed: int) -> Residual:
    """A list has the limits of its entries."""
    functions, answers = arguments(task["function"]), arguments(task["answer"])
    if not is_call(task["answer"], "List") or len(functions) != len(answers):
        return Open("shape")
    found = [check({**task, "function": f, "answer": a}, seed) for f, a in zip(functions, answers, strict=True)]
    refuted = [one for one in found if isinstance(one, Refuted)]
    if found and all(isinstance(one, Verified) for one in found):
        return Verified(all(isinstance(one, Verified) and one.exact for one in found))
    return refuted[0] if refuted else next((one for one in found if isinstance(one, Open)), Supported())


Limit = tuple[Value | None, Tree | None]


def one_sided(tree: Tree) -> Limit | None:
    """The limit at Infinity; (None, None) where it is proved that there is none; None where nothing is known."""
    for bits in BITS:
        for terms in TERMS:
            with precision(bits):
                try:
                    on = Expander(arb(2) ** FAR, terms)
                    return limit_of(expand(tree, on), on)
                except Undecided:
                    continue
                except (Refused, ValueError, ZeroDivisionError, OverflowError):
                    return None
    return None


def value_of(limit: Limit) -> Value:
    value, tree = limit
    if tree is not None and value is None:
        return evaluate(tree)
    return INDETERMINATE if value is None else value


def conclude(limits: list[Limit | None], answer: Tree, values: Known, discrete: bool) -> Sampled:
    known = [limit for limit in limits if limit is not None]
    if not known:
        return Open("no expansion")
    if any(limit == (None, None) for limit in known):
        return no_limit(answer, values) if not discrete else Open("values at integers may settle where others do not")
    if any(isinstance(limit[0], NonValue) and limit[1] is not None for limit in known):
        return Open("an infinity in some direction")
    found = [judged(lambda limit=limit: value_of(limit), answer, values) for limit in known]  # type: ignore[misc]
    if len(known) < len(limits):
        # One side only is known: a finite limit there contradicts the answer, if the answer is to hold on both sides.
        return Open("one side only") if isinstance(found[0], Refuted) else found[0]
    refuted = [one for one in found if isinstance(one, Refuted)]
    given = answer_value(answer, values)
    if isinstance(given, NonValue) and given.kind is Kind.INDETERMINATE and agree(known):
        with precision(128):
            return Refuted(Statement(f"the limit is {show(value_of(known[0]))}", exact=False))
    if isinstance(given, NonValue) and given.kind is Kind.INDETERMINATE and differ(known):
        return Supported()
    if not refuted:
        return found[0] if all(isinstance(one, type(found[0])) for one in found) else Open("decided on one side only")
    if len(refuted) < len(found) or differ(known):
        return two_sided(known, answer, values)
    return refuted[0]


def differ(limits: list[Limit]) -> bool:
    try:
        with precision(128):
            return len(limits) == 2 and compare(value_of(limits[0]), value_of(limits[1])).relation is Relation.DIFFERENT
    except Undecided:
        return False


def agree(limits: list[Limit]) -> bool:
    """One side is all there is, or both have the same limit in form."""
    return len(limits) == 1 or limits[0] == limits[1]


def two_sided(limits: list[Limit], answer: Tree, values: Known) -> Sampled:
    """The sides differ: there is no limit. Indeterminate and, for infinities, ComplexInfinity are answers that are given."""
    if not differ(limits) or any(limit[0] is None and limit[1] is None for limit in limits):
        return Open("the limit is that from one side only")
    given = answer_value(answer, values)
    if isinstance(given, NonValue) and given.kind is Kind.INDETERMINATE:
        return Supported()
    if given == COMPLEX_INFINITY and all(isinstance(limit[0], NonValue) for limit in limits):
        return Supported()
    with precision(128):
        left, right = (value_of(limit) for limit in limits)
    if given is None:
        return Open("no value to compare")
    return Refuted(Statement(f"the limit from above is {show(left)}, from below {show(right)}", exact=False))


def no_limit(answer: Tree, values: Known) -> Sampled:
    given = answer_value(answer, values)
    if given is None or (isinstance(given, NonValue) and given.kind in (Kind.INDETERMINATE, Kind.UNDEFINED)):
        return Supported() if given is not None else Open("no value to compare")
    return Refuted(Statement("the function turns for ever without settling: there is no limit", exact=False))


def answer_value(answer: Tree, values: Known) -> Value | None:
    try:
        with precision(128):
            return evaluate(answer, Environment(values, printed=True))
    except (Undecided, Refused):
        return None
