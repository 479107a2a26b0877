"""Expansions against what they expand: at every point of their range the value lies in the terms and the bounded remainder."""

import random

import pytest
from flint import acb, arb, fmpq

from reckon_checker import budget, service  # noqa: F401 (its rules register heads)
from reckon_checker.evaluation import EMPTY, evaluate
from reckon_checker.expanding import expand
from reckon_checker.expansion import VARIABLE as X
from reckon_checker.expansion import Expander
from reckon_checker.growth import tree_of
from reckon_checker.tree import Refused
from reckon_checker.values import Undecided, complex_ball, is_number, precision

NUMBERS = [0, 1, 2, -1, -3, ("Rational", 1, 2), ("Rational", -4, 3), "Pi", "E", "I", ("Plus", 1, "I"), ("Plus", -2, "I"), ("Plus", 2, ("Times", -1, "I"))]
NEAR_A_CUT = ("Plus", -3, ("Times", ("Rational", 1, 50), "I"))
EXPONENTS = [-2, -1, 2, 3, ("Rational", 1, 2), ("Rational", -1, 2), ("Rational", 1, 3), "I"]
HEADS = (
    "Sin Cos Tan Log ArcSin ArcCos ArcTan ArcTanh ArcSinh ArcCosh Gamma LogGamma Zeta Erf Erfi Sqrt Exp Abs Sign Floor Ceiling Round FractionalPart "
    "IntegerPart Sinh Tanh Coth UnitStep ArcCot ArcSec HarmonicNumber SinIntegral CosIntegral ExpIntegralEi LogIntegral ProductLog EllipticK CubeRoot Ramp"
).split()
UNSETTLED = (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError, budget.Spent)


def near_a_constant(choose):
    """Functions beside their branch points, poles and jumps."""
    argument = (
        "Plus",
        choose([*NUMBERS, NEAR_A_CUT]),
        ("Times", choose([*NUMBERS, "I", ("Times", -1, "I")]), ("Power", X, choose([-1, -2, ("Rational", -1, 2)]))),
    )
    node = choose([(choose(HEADS), argument), ("PolyLog", 2, argument), ("BesselY", 1, argument), ("Erf", choose(NUMBERS), argument)])
    return choose([node, ("Power", node, choose(EXPONENTS)), (choose(["Log", "ArcTan", "Abs", "Sqrt", "ArcSin"]), node)])


def grown(choose, depth):
    if depth == 0:
        return choose([X, X, choose(NUMBERS)])
    a = grown(choose, depth - 1)
    kind = choose(["Plus", "Times", "Power", "E", "Max", "", ""])
    if kind in ("Plus", "Times", "Max"):
        return (kind, a, grown(choose, depth - 1))
    return ("Power", a, choose(EXPONENTS)) if kind == "Power" else ("Power", "E", a) if kind else (choose(HEADS), a)


def enclosure(germ, x):
    total = acb(0)
    for monomial, constant in germ.terms.items():
        total += complex_ball(evaluate(tree_of(monomial, X), EMPTY.having(X, x))) * constant.ball
    if germ.remainder is not None:
        size = complex_ball(evaluate(tree_of(germ.remainder[0], X), EMPTY.having(X, x))).abs_upper() * germ.remainder[1]
        radius = arb(arb(size).upper())
        total += acb(arb(0, radius), arb(0, radius))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_an_expansion_encloses_its_function_on_the_whole_range(seed):
    choose = random.Random(seed).choice
    expanded = 0
    for number in range(160):
        node = near_a_constant(choose) if number % 4 else grown(choose, 3)
        start = choose([2, 4, 8, 32, 128])
        budget.start(2_000_000, 600)
        with precision(128):
            try:
                germ = expand(node, Expander(arb(start), choose([3, 4, 8])))
            except UNSETTLED:
                continue
            expanded += 1
            for x in (fmpq(start), fmpq(1013 * start, 1000), fmpq(2 * start) + fmpq(1, 7), fmpq(start) ** 3 + fmpq(1, 3)):
                try:
                    true, enclosed = evaluate(node, EMPTY.having(X, x)), enclosure(germ, x)
                except UNSETTLED:
                    continue
                if is_number(true) and enclosed.is_finite():
                    assert complex_ball(true).overlaps(enclosed), (node, start, x)
    assert expanded > 40
