"""Statements with ForAll and Exists."""

from typing import Any

import pytest
from examples import X2, tree

from reckon_checker.service import check


def status(left: Any, right: Any, domain: str = "Reals") -> str:
    return str(check({"kind": "quantified", "left": tree(left), "right": tree(right), "domain": domain})["status"])


ABOVE = ["ForAll", "x", ["Greater", ["Plus", X2, ["Times", "b", "x"], 1], 0]]
SQUARE = ["Exists", "y", ["Equal", "x", ["Power", "y", 2]]]
INVERSE = ["Exists", "x", ["And", ["Less", 0, "x", 1], ["Equal", ["Times", "a", "x"], 1]]]


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (ABOVE, ["Less", -2, "b", 2], "proved"),
        (ABOVE, ["Less", ["Power", "b", 2], 4], "proved"),  # the same in another form
        (ABOVE, ["Less", ["Abs", "b"], 2], "agrees"),
        (["Exists", "x", ["And", ["Equal", X2, 2], ["Greater", "x", "a"]]], ["Less", "a", ["Power", 2, ["Rational", 1, 2]]], "open"),  # an irrational end
        (ABOVE, ["LessEqual", -2, "b", 2], "refuted"),
        (ABOVE, ["Less", -2, "b", ["Plus", 2, ["Power", 10, -40]]], "refuted"),
        (ABOVE, ["Less", "b", 2], "refuted"),
        (SQUARE, ["GreaterEqual", "x", 0], "proved"),
        (SQUARE, ["Greater", "x", 0], "refuted"),
        (INVERSE, ["Greater", "a", 1], "proved"),
        (INVERSE, ["GreaterEqual", "a", 1], "refuted"),
        (["ForAll", "x", ["GreaterEqual", X2, 0]], "True", "proved"),
        (["ForAll", "x", ["Greater", X2, 0]], "True", "refuted"),
        (["Not", ["Exists", "x", ["Equal", X2, -1]]], "True", "proved"),
        (["ForAll", "x", ["Unequal", ["Power", "x", -1], 0]], "False", "open"),  # at 0 it has no value
        (["Exists", ["List", "x", "y"], ["Equal", ["Plus", X2, ["Power", "y", 2]], "r"]], ["Less", "r", 0], "open"),
    ],
)
def test_real_statements(left: Any, right: Any, wanted: str) -> None:
    assert status(left, right) == wanted


def test_complex_statements() -> None:
    assert status(["Exists", "x", ["Equal", X2, -1]], "True", "") == "agrees"
    assert status(["Exists", "x", ["Equal", X2, -1]], "False", "") == "refuted"
    assert status(["Exists", "x", ["Less", X2, 0]], "True", "Complexes") == "open"
