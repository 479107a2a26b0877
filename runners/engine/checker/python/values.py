"""Task "value": N[expression, precision], computed with more digits than the answer claims."""
import mpmath
from mpmath import mpf

import numeric
import tree
from findings import agrees, refuted, undecided
from numeric import number
from sampling import matched, show

MAX_DIGITS = 2000


def check(task, seed):
    expression, answer = task["expression"], task["answer"]
    if tree.free_symbols(expression) | tree.free_symbols(answer):
        return undecided("symbols are left")
    digits = task.get("digits")
    wanted = min(float(numeric.number(numeric.evaluate(digits))) if digits is not None else tree.MACHINE_DIGITS, MAX_DIGITS)
    # Rounding in the engine's arithmetic may cost a machine number some of its digits.
    lost = 3 if digits is None or wanted > tree.MACHINE_DIGITS - 3 and wanted <= tree.MACHINE_DIGITS else 1
    if any(part.machine for part in tree.reals(expression)):
        lost = 6
    try:
        results = []
        for working in (int(wanted) + 15, 2 * int(wanted) + 30):
            with mpmath.workdps(working):
                results.append(matched(numeric.evaluate(expression), numeric.evaluate(answer)))
    except numeric.problems() as problem:
        return undecided(str(problem))
    if results[0] is None or results[1] is None:
        return undecided("shape")
    with mpmath.workdps(2 * int(wanted) + 30):
        for (low, _), (high, claimed) in zip(*results):
            low, high, claimed = number(low), number(high), number(claimed)
            size = max(abs(high), abs(claimed))
            if abs(low - high) > size * mpf(10) ** (-wanted - 2):
                return undecided("the value moves with the precision")
            error = abs(high - claimed)
            allowed = mpf(10) ** (lost - wanted)
            if digits is None and tree.rounded_for_show(answer):
                allowed = mpf(10) ** -5
            if error > size * allowed:
                # A machine number may be all zero in one part of a complex value.
                return refuted(show(high, max(int(wanted), 10)))
    return agrees(show(results[1][0][0], max(min(int(wanted), 40), 10)) if results[1] else "{}")
