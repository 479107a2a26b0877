"""Answers that are visibly not in the form of their function."""

import pytest

from reckon_checker.rules.forms import missed
from reckon_checker.tree import Tree

X2: Tree = ("Power", "x", 2)
SUM: Tree = ("Plus", "x", 1)
CUBE: Tree = ("Power", SUM, 3)
DIFFERENCE: Tree = ("Plus", X2, -1)
HALF: Tree = ("Rational", 1, 2)


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        ("Expand", CUBE),
        ("Expand", ("Times", -1, SUM)),
        ("ExpandAll", ("Sin", CUBE)),
        ("Factor", DIFFERENCE),
        ("Factor", ("Times", ("Plus", ("Times", 2, "x"), 2), "y")),
        ("Factor", ("Power", DIFFERENCE, -1)),
        ("Together", ("Plus", ("Power", "x", -1), 1)),
        ("Cancel", ("Times", DIFFERENCE, ("Power", SUM, -1))),
        ("Apart", ("Power", DIFFERENCE, -1)),
        ("TrigExpand", ("Sin", ("Times", 2, "x"))),
        ("TrigExpand", ("Cos", ("Plus", "x", "y"))),
        ("TrigReduce", ("Times", ("Sin", "x"), ("Cos", "x"))),
        ("TrigToExp", ("Cos", "x")),
        ("ExpToTrig", ("Power", "E", "x")),
        ("Factor", ("List", "x", DIFFERENCE)),
    ],
)
def test_another_form(head: str, answer: Tree) -> None:
    assert missed(head, answer, answer)


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        ("Expand", ("Plus", X2, 1)),
        ("Expand", ("Sin", CUBE)),
        ("Expand", ("Times", "x", ("Power", SUM, -2))),
        ("Expand", ("Times", ("Plus", 1, "Pi"), "x")),
        ("Factor", ("Times", 2, SUM, ("Plus", "x", -1))),
        ("Factor", ("Plus", X2, 1)),
        ("Factor", ("Times", HALF, SUM)),
        ("Factor", ("Sin", DIFFERENCE)),
        ("Together", ("Times", SUM, ("Power", "x", -1))),
        ("Together", ("Plus", ("Times", HALF, "x"), 1)),
        ("Cancel", SUM),
        ("Cancel", ("Times", ("Power", SUM, 10**9), ("Power", "x", -1))),
        ("Apart", ("Plus", ("Power", SUM, -2), ("Power", "x", -1))),
        ("TrigExpand", ("Times", 2, ("Sin", "x"), ("Cos", "x"))),
        ("TrigExpand", ("Sin", ("Times", HALF, "x"))),
        ("TrigReduce", ("Plus", HALF, ("Times", -1, HALF, ("Cos", ("Times", 2, "x"))))),
        ("TrigToExp", ("Power", "E", "x")),
        ("ExpToTrig", ("Cos", "x")),
        ("Simplify", DIFFERENCE),
    ],
)
def test_the_form_or_not_known(head: str, answer: Tree) -> None:
    assert not missed(head, answer, answer)


def test_factors_over_the_rationals() -> None:
    i: Tree = ("Complex", 0, 1)
    root: Tree = ("Power", 2, HALF)
    over_root: Tree = ("Times", ("Plus", "x", root), ("Plus", "x", ("Times", -1, root)))
    over_i: Tree = ("Times", ("Plus", "x", "I"), ("Plus", "x", ("Times", -1, "I")))
    assert missed("Factor", ("Plus", X2, -2), over_root)
    assert missed("Factor", ("Plus", X2, 1), over_i)
    assert missed("Factor", ("Plus", X2, 1), ("Times", ("Plus", "x", i), ("Plus", "x", ("Times", -1, i))))
    assert missed("FactorSquareFree", DIFFERENCE, ("Times", SUM, SUM, ("Plus", ("Times", "x", SUM), 0)))
    assert missed("FactorSquareFree", DIFFERENCE, ("Times", ("Plus", X2, ("Times", -2, "x"), 1), SUM))
    assert not missed("FactorSquareFree", DIFFERENCE, DIFFERENCE)
    assert not missed("Factor", ("Plus", X2, ("Times", -2, root, "x"), 2), ("Power", ("Plus", "x", ("Times", -1, root)), 2))
