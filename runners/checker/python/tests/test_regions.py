"""Assumptions of which points speak, and those that leave single values."""

import pytest

from reckon_checker.regions import have_insides
from reckon_checker.tree import Tree

X2: Tree = ("Power", "x", 2)
SINE: Tree = ("Sin", "x")


@pytest.mark.parametrize(
    "conditions",
    [
        [],
        [("Greater", "x", 0)],
        [("GreaterEqual", "x", 0), ("LessEqual", "x", "Pi")],
        [("Inequality", ("Times", ("Rational", -1, 2), "Pi"), "LessEqual", "x", "LessEqual", ("Times", ("Rational", 1, 2), "Pi"))],
        [("Element", ("Alternatives", "x", "y"), "Reals")],
        [("Equal", "x", ("Times", 2, "y"))],
        [("Equal", "x", 3), ("Element", "x", "Integers")],
        [("Less", ("Power", SINE, 2), ("Rational", 1, 100))],
        [("LessEqual", ("Abs", "z"), 1)],
        [("LessEqual", ("Times", X2, ("Power", ("Plus", "x", -1), 2)), 0)],
    ],
)
def test_points_speak_of_all(conditions: list[Tree]) -> None:
    assert have_insides(conditions)


@pytest.mark.parametrize(
    "conditions",
    [
        [("Equal", SINE, 0)],
        [("Equal", X2, "x")],
        [("Equal", "x", "y"), ("Equal", "x", X2)],
        [("Equal", "x", "y"), ("Equal", "y", "x")],
        [("Equal", ("Mod", "n", 2), 0), ("Element", "n", "Integers")],
        [("Equal", "n", ("Times", "x", "y")), ("Element", "n", "Integers")],
        [("Element", ("Times", "x", ("Power", "Pi", -1)), "Integers")],
        [("GreaterEqual", ("Cos", "x"), 1)],
        [("LessEqual", ("Power", ("Plus", X2, -2), 2), 0)],
        [("LessEqual", ("Plus", X2, -2), 0), ("GreaterEqual", ("Plus", X2, -2), 0)],
        [("Less", ("FractionalPart", "x"), ("Rational", 1, 100))],
        [("Or", ("Equal", "x", 0), ("Equal", "x", 1))],
        [("PrimeQ", "n")],
    ],
)
def test_single_values_are_left(conditions: list[Tree]) -> None:
    assert not have_insides(conditions)
