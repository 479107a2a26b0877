"""Solutions that a general solution of one equation of first order leaves out: another branch through the same point.

Where F(x, y, p) == 0 has a root p that is simple, one solution passes through (x, y) with that slope (the implicit function
theorem and Picard-Lindelof). All values of the constant for which the answer passes through (x, y) are found; where none has the slope,
the answer lacks a solution. Points and slopes are real ones, so that what differs by a branch of a logarithm only is not held against an answer.
"""

from __future__ import annotations

from flint import acb, fmpq

from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..findings import Refuted, Statement
from ..tree import Refused, Tree, free_symbols, minus, rational_tree, replace
from ..values import Number, Undecided, Value, complex_ball, is_number, precision, settled
from ..wording import show
from .kernels import NotOfOneKernel, natural, parted, polynomial, roots, values_at

BITS = 192
PLACES = ((fmpq(3, 4), fmpq(-13, 10)), (fmpq(5, 3), fmpq(17, 10)), (fmpq(9, 4), fmpq(-7, 3)), (fmpq(1, 3), fmpq(11, 4)))


def left_out(equation: Tree, x: str, y: str, p: str, answers: list[tuple[Tree, str]]) -> Refuted | None:
    """equation: F as a tree of the symbols x, y and p; answers: y as a tree of x and of one constant, with its name."""
    for x0, y0 in PLACES:
        with precision(BITS):
            try:
                found = through(equation, (x, x0), (y, y0), p, answers)
            except (Undecided, Refused, NotOfOneKernel):
                continue
        if found is not None:
            return Refuted(
                Statement(
                    f"a solution passes through {x} = {show(x0)}, {y.partition('$')[0]} = {show(y0)} with slope {show(found)}, and none of the answer does",
                    exact=False,
                )
            )
    return None


def through(equation: Tree, at: tuple[str, fmpq], value: tuple[str, fmpq], p: str, answers: list[tuple[Tree, str]]) -> Number | None:
    """A real slope at a point that no member of the answers has."""
    (x, x0), (y, y0) = at, value
    here = replace(replace(equation, x, rational_tree(x0)), y, rational_tree(y0))
    if free_symbols(here) != {p}:
        return None
    slopes = [slope for slope in roots(polynomial(natural(here), p), acb(0)) if slope.imag.is_zero()]
    reached = [slope for body, constant in answers for slope in slopes_of(body, constant, x, x0, y0)]
    for slope in slopes:
        if not any(slope.overlaps(other) for other in reached) and simple(here, p, slope):
            return settled(slope)
    return None


def simple(here: Tree, p: str, slope: acb) -> bool:
    value = evaluate(differentiate(here, p), Environment({p: slope}))
    return is_number(value) and not complex_ball(value).contains(0)


def slopes_of(body: Tree, constant: str, x: str, x0: fmpq, y0: fmpq) -> list[acb]:
    """The slopes at x0 of all members that take the value y0 there."""
    node = minus(replace(body, x, rational_tree(x0)), rational_tree(y0))
    if constant not in free_symbols(node) or free_symbols(node) != {constant}:
        raise NotOfOneKernel
    found = []
    slope = differentiate(body, x)
    for value in values_at(parted(natural(node), constant)):
        number = evaluate(slope, Environment({x: x0, constant: settled(value)}))
        if not is_number(number):
            raise Undecided("a slope")
        found.append(complex_ball(number))
    return found


def no_common_zero(factor: Tree, rest: Tree, name: str) -> bool:
    """Whether all zeros of the factor as a function of one symbol, at values of the others, are proved not to be zeros of the rest."""
    others = sorted((free_symbols(factor) | free_symbols(rest)) - {name})
    at = {other: fmpq(2 * ((37 * (i + 1)) % 97) + 65, 64) for i, other in enumerate(others)}
    values: dict[str | tuple[Tree, ...], Value] = {}
    values.update(at)
    node = factor
    for other, value in at.items():
        node = replace(node, other, rational_tree(value))
    try:
        with precision(BITS):
            for zero in values_at(parted(natural(node), name)):
                found = evaluate(rest, Environment({**values, name: settled(zero)}))
                if not is_number(found) or complex_ball(found).contains(0):
                    return False
            return True
    except (NotOfOneKernel, Undecided, Refused):
        return False
