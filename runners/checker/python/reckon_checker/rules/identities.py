"""Procedure "identities": claims left == right that must hold for all values of their symbols under assumptions.

Verified exactly: the normal form of the difference is 0. Verified numerically: both sides agree to 60 digits or more at
points of every region (points.py). Refuted: at one admissible point the enclosures are disjoint.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .. import bounded, budget, closed_sums, machine
from ..agreement import Claim, Survey, Words, names_of, survey
from ..assumptions import Assumptions
from ..domain import somewhere_defined
from ..evaluation import evaluate
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified, Witness
from ..normal import proves_equal
from ..tree import Refused, Tree, arguments, brief, exactly, free_symbols, is_call, kept_by_machines, minus, reals, replace, walk
from ..values import INDETERMINATE, Relation, Undecided, compare, is_number, precision
from . import forms
from .digits_right import DIGITS, all_right

DIGIT_BITS = 192
# Functions whose value at a place without width the normal form does not tell: Sign[0] is 0, 0/Abs[0] is not.
AT_ZERO = ("Sign", "RealSign", "OffZero$")
ARITHMETIC = frozenset("Plus Times Power Subtract Minus Divide Rational Complex Sqrt".split())
POSITIVE_DOMAINS = ("PositiveReals", "PositiveIntegers", "PositiveRationals", "Primes")


def check(task: dict[str, Any], seed: int) -> Residual:
    """The claims of a residual rule. task: claims, and where given assumptions, real (symbols are real unless assumed
    otherwise), positive (they are positive), form (the name of the function whose form the right sides are to have)."""
    wrong = undefined_question(task) or (other_shape(task) if "form" in task else None)
    if wrong is not None:
        return wrong
    found = judged(task, seed)
    if (
        isinstance(found, Verified)
        and "form" in task
        and any(forms.doubtful(task["form"], left, right, bool(task.get("options"))) for left, right in task["claims"])
    ):
        return Supported()
    return found


def undefined_question(task: dict[str, Any]) -> Refuted | None:
    """0/0, 0^0 and Infinity - Infinity, written out in numbers, have no value; an answer that is a number gives them one."""
    for left, right in task["claims"]:
        if free_symbols(left) or any(isinstance(part, tuple) and part[0] not in ARITHMETIC for part in walk(left)) or reals(left):
            continue
        try:
            value, given = evaluate(left), evaluate(right)
        except (Undecided, Refused):
            continue
        if value == INDETERMINATE and is_number(given):
            return Refuted(Witness(value, given, exact=True, sides=bool(task.get("sides"))))
    return None


def other_shape(task: dict[str, Any]) -> Refuted | None:
    """Lists that are written out with other numbers of entries: a function that rewrites goes through a list entry by entry."""

    def differ(left: Tree, right: Tree) -> str:
        if not is_call(left, "List") or not is_call(right, "List"):
            return ""
        a, b = arguments(left), arguments(right)
        if len(a) != len(b):
            return f"a list of length {len(a)} is expected, the answer gives one of length {len(b)}"
        return next((why for x, y in zip(a, b, strict=True) if (why := differ(x, y))), "")

    why = next((why for left, right in task["claims"] if (why := differ(left, right))), "")
    return Refuted(Statement(why)) if why else None


def judged(task: dict[str, Any], seed: int) -> Residual:
    claims, assumptions = read(task)
    if not claims:
        return Open("nothing to compare")
    proved = budget.attempted(lambda: proves(claims, assumptions, bool(task.get("real")))) or (decimals(claims) and equal_numbers(claims))
    if proved and not any(is_call(part, *AT_ZERO) for claim in claims for side in claim for part in walk(side)):
        return Verified(exact=True)
    sides = bool(task.get("sides"))
    words = Words(task.get("each") or ([brief(("Equal", *claim), 160) for claim in claims] if sides else ()), sides)
    seen = survey(claims, assumptions, seed, real=bool(task.get("real")), printed=True, words=words)
    if any(right == "Indeterminate" for _, right in claims):
        return undefined_answer(seen)
    refuted = seen.refutation("it agrees at the real values that were tried" if seen.holds_for_reals else "")
    if refuted is not None:
        if seen.holds_for_reals is False and not all(point.real for point, _ in seen.differences):
            refuted = _with_reals(claims, assumptions, seed, refuted)
        return refuted
    found = Verified(exact=True) if proved and seen.certain and seen.places_seen else conclude(claims, seen)
    if isinstance(found, Verified) and assumptions.integers and not found.exact:
        return Supported()  # some integers are not all of them
    if isinstance(found, Supported) and budget.attempted(lambda: digits_right(claims)):
        return Verified(exact=False, residual=DIGITS)
    return found


def digits_right(claims: list[Claim]) -> bool:
    """Whether the right sides are decimals that show the numbers on the left, of decimals too, to their digits."""
    if any(free_symbols(side) for claim in claims for side in claim) or not all(reals(side) for claim in claims for side in claim):
        return False
    if not kept_by_machines(*(left for left, _ in claims)) or machine.cancels(*(left for left, _ in claims)):
        return False
    with precision(DIGIT_BITS):
        try:
            return all(all_right(right, evaluate(exactly(left))) for left, right in claims)
        except (Undecided, Refused):
            return False


def _with_reals(claims: list[Claim], assumptions: Assumptions, seed: int, refuted: Refuted) -> Refuted:
    """Says whether a claim that fails at a complex point holds for real values."""
    again = survey(claims, assumptions, seed, real=True, printed=True)
    note = "it agrees at the real values that were tried" if again.covered and not again.differences else ""
    return Refuted(type(refuted.proof)(**{**vars(refuted.proof), "note": note})) if note else refuted


def sampled(task: dict[str, Any], seed: int) -> Sampled:
    """The claims of a sampled rule: what holds is support only."""
    found = check(task, seed)
    return Supported() if isinstance(found, Verified) else found


def read(task: dict[str, Any]) -> tuple[list[Claim], Assumptions]:
    claims = [(left, right) for left, right in task["claims"]]
    conditions = list(task.get("assumptions") or [])
    if task.get("positive"):
        conditions += [("Greater", name, 0) for name in sorted(names_of(claims), key=str) if isinstance(name, str)]
    conditions += counted(claims)
    for name in sorted(split(conditions)):
        claims = [(parted(left, name), parted(right, name)) for left, right in claims]
        conditions = [parted(condition, name) for condition in conditions]
        conditions.append(("Element", ("Alternatives", f"Re[{name}]", f"Im[{name}]"), "Reals"))
    return claims, Assumptions(conditions)


def counted(claims: list[Claim]) -> list[Tree]:
    """Symbols in the ends of sums and products are whole numbers from 1, and the ranges not empty."""
    found: list[Tree] = []
    for claim in claims:
        for side in claim:
            for part in walk(side):
                if is_call(part, "Sum", "Product"):
                    iterators = arguments(part)[1:]
                    outer: set[Tree] = set()  # names that are bound where an iterator stands: its own is not
                    for iterator in iterators:
                        if not free_symbols(("List", *arguments(iterator)[1:])) & outer:
                            found += in_range(arguments(iterator)[1:])
                        outer.update(arguments(iterator)[:1])
    return found


def parted(node: Tree, name: str) -> Tree:
    """The tree with x as Re[x] + I Im[x], two real symbols of these names."""
    re, im = f"Re[{name}]", f"Im[{name}]"
    node = replace(replace(node, ("Re", name), re), ("Im", name), im)
    return replace(node, name, ("Plus", re, ("Times", "I", im)))


def split(conditions: list[Tree]) -> set[str]:
    """Symbols of which something is assumed through their parts: they are looked at as Re[x] + I Im[x], so that the ends of
    the assumed region are found."""
    found: set[str] = set()
    for condition in conditions:
        for part in walk(condition):
            if is_call(part, "Re", "Im", "Arg", "Abs"):
                found |= free_symbols(part)
    assumed = Assumptions(conditions)
    return {name for name in found if not assumed.is_real(name)}


def in_range(ends: tuple[Tree, ...]) -> list[Tree]:
    names = sorted(free_symbols(("List", *ends)))
    conditions: list[Tree] = [("Element", name, "PositiveIntegers") for name in names]
    if names and len(ends) > 1:
        conditions.append(("GreaterEqual", ends[1], ends[0]))
    return conditions


def decimals(claims: list[Claim]) -> bool:
    return any(reals(side) for claim in claims for side in claim)


def text(task: dict[str, Any], seed: int) -> Refuted:
    """An answer that is a text, to a question that has none."""
    return Refuted(Statement(f"{brief(task['part'], 200)} is a text, not a value"))


def positive_symbols(assumptions: Assumptions) -> set[str]:
    """Symbols that are assumed positive in so many words."""
    found: set[str] = set()
    for condition in assumptions.conditions:
        if is_call(condition, "Greater") and isinstance(condition, tuple) and len(condition) == 3:
            low, high = condition[2], condition[1]
        elif is_call(condition, "Less") and isinstance(condition, tuple) and len(condition) == 3:
            low, high = condition[1], condition[2]
        elif is_call(condition, "Element") and isinstance(condition, tuple) and condition[2] in POSITIVE_DOMAINS:
            low, high = 0, condition[1]
        else:
            continue
        if isinstance(high, str) and isinstance(low, int) and low >= 0:
            found |= free_symbols(high)
    return found


def known_positive(assumptions: Assumptions) -> list[Tree]:
    """Differences that are assumed positive, or not negative."""
    found: list[Tree] = []
    for condition in assumptions.conditions:
        parts = arguments(condition)
        if is_call(condition, "Greater", "GreaterEqual"):
            found += [minus(a, b) for a, b in pairwise(parts)]
        elif is_call(condition, "Less", "LessEqual"):
            found += [minus(b, a) for a, b in pairwise(parts)]
    return found


def proves(claims: list[Claim], assumptions: Assumptions, real: bool = False) -> bool:
    """Whether the two sides are proved equal. Decimals are exact only where machine numbers hold them as they are written."""
    sides = [side for claim in claims for side in claim]
    if not kept_by_machines(*sides) or machine.cancels(*sides):
        return False
    positive = positive_symbols(assumptions)
    claims = [(exactly(left), exactly(right)) for left, right in claims]
    if any(bounded.mentions_jumps(side) for claim in claims for side in claim):
        bounds = bounded.Bounds(assumptions)
        claims = [(bounds.resolved(left), bounds.resolved(right)) for left, right in claims]
        if all(bounded.equal_by_cases(left, right, assumptions.integers) for left, right in claims):
            return True
    claims = [(closed_sums.closed(left), closed_sums.closed(right)) for left, right in claims]
    reals = assumptions.reals | (set().union(*(free_symbols(side) for claim in claims for side in claim)) if real else set())
    if not all(proves_equal(left, right, positive, assumptions.integers, reals, known_positive(assumptions)) for left, right in claims):
        return False
    return somewhere_defined(claims, names_of(claims), assumptions)


def equal_numbers(claims: list[Claim]) -> bool:
    """Whether the two sides of every claim are numbers that are exactly equal, and machine numbers hold their decimals."""
    if any(free_symbols(side) for claim in claims for side in claim) or not kept_by_machines(*(side for claim in claims for side in claim)):
        return False
    if machine.cancels(*(side for claim in claims for side in claim)):
        return False
    try:
        return all(compare(evaluate(exactly(left)), evaluate(exactly(right))).relation is Relation.EQUAL for left, right in claims)
    except (Undecided, Refused):
        return False


def undefined_answer(seen: Survey) -> Residual:
    """Indeterminate is no number: where the question has a value it is wrong."""
    if seen.sample is None:
        return Open("no value to compare")
    return Refuted(Witness(seen.sample[1], INDETERMINATE, seen.sample[0].values))


def conclude(claims: list[Claim], seen: Survey) -> Residual:
    if decimals(claims):
        agreed = any(region.agree or region.close for region in seen.regions.values())
        unknown = any(region.unknown for region in seen.regions.values())
        return Supported() if agreed and not unknown else Open("no value to compare")
    if not seen.covered:
        bare = sorted(name for name, region in seen.regions.items() if not region.agree)
        return Open("no decision " + ", ".join(bare)[:200])
    if seen.thin:
        return Open("the assumptions leave values at which no point was taken")
    if seen.stepped:
        return Open("a function may jump where no point was taken")
    if not seen.certain:
        return Supported()  # a branch may change where no point was taken
    return Verified(exact=seen.exact and not names_of(claims))
