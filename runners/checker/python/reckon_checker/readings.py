"""The two readings of a decimal: the number that is written, and the number of 53 bits next to it, with which machines compute.

What holds exactly in both holds whatever was meant: 0.2 x is 0.1 x + 0.1 x in both, 0.3 x is 0.1 x + 0.2 x in the first only.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from . import machine
from .findings import Residual, Supported, Verified
from .stand_ins import parts
from .tree import OF_EXACT, Real, Tree, exactly, is_call, kept_by_machines, rational, reals

EXPONENT = 1000  # of two, up to which numbers are looked at: far from where machine numbers end


def in_both(task: dict[str, Any], found: Residual, procedure: Callable[[dict[str, Any]], Residual]) -> Residual:
    """The finding, verified where it is support only because of decimals that 53 bits do not hold, and exactly right in both readings."""
    trees = [part for part in parts(task) if isinstance(part, tuple | Real)]
    decimals = [real for part in trees for real in reals(part)]
    if not isinstance(found, Supported) or kept_by_machines(*trees) or not all(real.machine and of_usual_size(real.value) for real in decimals):
        return found
    if machine.cancels(*(bodies(part) for part in trees)):
        return found
    results = [procedure(mapped(task, reading)) for reading in (exactly, as_machines)]
    first = results[0]
    return first if all(isinstance(one, Verified) and one.exact for one in results) and results[1] == first else found


def bodies(node: Tree) -> Tree:
    """The tree with each function as what it comes to."""
    if not isinstance(node, tuple):
        return node
    return bodies(node[-1]) if is_call(node, "Function") else tuple(bodies(part) for part in node)


def of_usual_size(value: Fraction) -> bool:
    return value == 0 or Fraction(1, 2**EXPONENT) < abs(value) < 2**EXPONENT


def as_machines(node: Tree) -> Tree:
    """The tree with decimals as the fractions of 53 bits next to them, but where it matters that they are decimals."""
    if isinstance(node, Real):
        value = Fraction(float(node.value))
        return rational(value.numerator, value.denominator)
    if is_call(node, *OF_EXACT):
        return node
    return tuple(as_machines(part) for part in node) if isinstance(node, tuple) else node


def mapped(task: Any, reading: Callable[[Tree], Tree]) -> Any:
    """A task with every tree in it read so."""
    if isinstance(task, dict):
        return {key: mapped(part, reading) for key, part in task.items()}
    if isinstance(task, list):
        return [mapped(part, reading) for part in task]
    return reading(task) if isinstance(task, tuple | Real) else task
