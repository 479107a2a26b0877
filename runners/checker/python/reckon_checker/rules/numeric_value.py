"""Procedure "value": N[expression] and N[expression, n] against the enclosure of the expression."""

from __future__ import annotations

from typing import Any

from flint import arb

from .. import budget, machine
from ..deciding import matched
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Sampled, Statement, Supported, Verified, Witness
from ..tree import Tree, exactly, free_symbols, kept_by_machines, reals
from ..values import INDETERMINATE, Number, Relation, Undecided, Value, ball, compare, complex_ball, is_number, precision, spread, whole
from ..wording import show, within
from .digits_right import all_right

SCHEDULE = (128, 384, 1152, 3456)
LARGEST_DIGITS = 5000


def check(task: dict[str, Any], seed: int) -> Residual:
    expression, answer = task["expression"], task["answer"]
    digits: int | None = None
    if task.get("digits") is not None:
        value = evaluate(task["digits"])
        digits = whole(value)
        if digits is None or not 0 < digits <= LARGEST_DIGITS:
            return Open("no such precision")
    if free_symbols(expression):
        return Open("the expression has symbols without values")
    if digits is not None:  # the answer claims so many digits, whatever it shows
        answer = exactly(answer)
    lost = machine.rounding(expression, Environment()) if digits is None else None
    for least in SCHEDULE:
        bits = least if digits is None else max(least, int(digits * 3.33) + 64)
        budget.step()
        with precision(bits):
            try:
                true, given = evaluate(expression), evaluate(answer, Environment(printed=True))
            except Undecided:
                continue
            found = judge(true, given, digits, lost, expression)
            if isinstance(found, Supported) and not cancels(expression) and all_right(task["answer"], true, digits):
                return Verified(exact=False, residual=found.residual)
            if found is not None:
                return found
    return Open("the enclosure stays too wide")


def cancels(expression: Tree) -> bool:
    """Whether decimals in the question stand for more than the numbers that are written."""
    return bool(reals(expression)) and (not kept_by_machines(expression) or machine.cancels(expression))


def judge(true: Value, given: Value, digits: int | None, lost: Value | None, expression: Tree) -> Sampled | None:
    pairs = matched(true, given)
    if pairs is None:
        return Refuted(Statement(f"the value is {show(true)}, of another shape than the answer"))
    losses = [pair[0] for pair in matched(lost, true) or []] if lost is not None else []
    wide, gap = False, arb(0)
    for i, (a, b) in enumerate(pairs):
        if not is_number(a) or not is_number(b):
            relation = compare(a, b)
            if relation.relation is Relation.DIFFERENT or (is_number(a) and b == INDETERMINATE):
                return Refuted(Witness(a, b, exact=relation.exact))
            if relation.relation is not Relation.EQUAL:
                return Open("no value to compare")
            continue
        loss = losses[i] if i < len(losses) else None
        allowed = tolerance(a, digits, loss)
        if allowed is None:
            return Open("machine arithmetic may lose every digit")
        z, gap = complex_ball(a), gap.max(spread(ball(a), ball(b)))
        if not complex_ball(machine.around(a, allowed)).overlaps(complex_ball(b)):
            return Refuted(Witness(a, b, digits=min(max(20, digits or 0), 60)))
        if arb(z.rad()) > allowed + arb(2) ** -2000:
            wide = True
    return None if wide else Supported(within(gap))


def tolerance(value: Number, digits: int | None, loss: Value | None) -> arb | None:
    """The share 10^(1-n) of the value, for n digits; for machine numbers what 53 bits lose. None where nothing is promised."""
    if digits is not None:
        return arb(complex_ball(value).abs_upper()) * arb(10) ** (1 - digits)
    return machine.allowed(value, loss)
