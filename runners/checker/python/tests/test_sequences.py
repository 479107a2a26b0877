"""Lists, digits and propositions, computed again."""

from typing import Any

import pytest
from examples import tree

from reckon_checker.service import check


def status(left: Any, right: Any) -> str:
    return str(check({"kind": "identities", "claims": [[tree(left), tree(right)]]})["status"])


@pytest.mark.parametrize(
    ("call", "value", "wrong"),
    [
        (["Range", 3], ["List", 1, 2, 3], ["List", 1, 2, 4]),
        (["Accumulate", ["List", "a", "b"]], ["List", "a", ["Plus", "b", "a"]], ["List", "a", "b"]),
        (["Sort", ["List", 3, -1, ["Rational", 1, 2]]], ["List", -1, ["Rational", 1, 2], 3], ["List", -1, 3, ["Rational", 1, 2]]),
        (["Union", ["List", 3, 1], ["List", 1, 2]], ["List", 1, 2, 3], ["List", 1, 2, 4]),
        (
            ["Subsets", ["List", 1, 2]],
            ["List", ["List"], ["List", 1], ["List", 2], ["List", 1, 2]],
            ["List", ["List"], ["List", 2], ["List", 1], ["List", 1, 2]],
        ),
        (["IntegerDigits", 10, 2], ["List", 1, 0, 1, 0], ["List", 0, 1, 0, 1]),
        (["ContinuedFraction", ["Rational", 45, 16]], ["List", 2, 1, 4, 3], ["List", 2, 1, 4, 4]),
        (["ContinuedFraction", ["Rational", -45, 16]], ["List", -2, -1, -4, -3], ["List", -3, 5, 3, 1]),
        (["ChineseRemainder", ["List", 1, 2], ["List", 3, 5]], 7, 22),
        (["ChineseRemainder", ["List", 3, 1], ["List", 4, 6]], 7, 19),
        (["MultiplicativeOrder", 2, 7], 3, 6),
        (["JacobiSymbol", 2, 7], 1, -1),
        (["CarmichaelLambda", 8], 2, 4),
        (["Multinomial", 1, 2, 1], 12, 24),
        (["BitXor", 5, 3], 6, 7),
        (["TautologyQ", ["Or", "a", ["Not", "a"]]], "True", "False"),
        (["SatisfiableQ", ["And", "a", ["Not", "a"]]], "False", "True"),
    ],
)
def test_values(call: Any, value: Any, wrong: Any) -> None:
    assert status(call, value) == "proved"
    assert status(call, wrong) == "refuted"


def test_the_length_of_a_list_counts() -> None:
    assert status(["Length", ["Range", 3]], ["Length", ["List", 1, 2]]) == "refuted"


def test_decimals_that_machines_hold() -> None:
    det = ["Det", ["List", ["List", {"r": "1."}, {"r": "2."}], ["List", {"r": "3."}, {"r": "4."}]]]
    assert status(det, {"r": "-2."}) == "proved"
    assert status(det, {"r": "-2.0000000000000004"}) == "proved"  # to the digits that it shows
    assert status(det, {"r": "-2.00001"}) == "refuted"
    assert status(["Times", {"r": "1."}, ["Rational", 1, 3]], {"r": "0.333333"}) == "agrees"


def test_ends_closer_than_a_float_tells() -> None:
    near = ["Plus", ["Log", 8], ["Power", 10, -30]]

    def reduced(end: Any) -> str:
        task = {"kind": "truth", "left": tree(["Less", ["Power", "E", "x"], 8]), "right": tree(["Less", "x", end]), "unknowns": ["x"], "domain": "Reals"}
        return str(check(task)["status"])

    assert reduced(near) == "refuted"
    assert reduced(["Log", 8]) == "agrees"
    assert reduced(["Times", 3, ["Log", 2]]) == "agrees"


@pytest.mark.parametrize(
    ("right", "wanted"),
    [
        (["Equal", ["Times", ["Plus", "a", "b"], "x"], 0], "proved"),
        (["Equal", ["Times", "a", "x"], ["Times", -1, "b", "x"]], "proved"),
        (["Equal", 0, ["Times", "x", ["Plus", "b", "a"]]], "proved"),
        (["Equal", ["Times", ["Plus", "a", ["Times", -1, "b"]], "x"], 0], "refuted"),
        (["Equal", ["Plus", "a", "b"], 0], "refuted"),
    ],
)
def test_the_same_equation(right: Any, wanted: str) -> None:
    left = ["Equal", ["Plus", ["Times", "a", "x"], ["Times", "b", "x"]], 0]
    assert str(check({"kind": "truth", "left": tree(left), "right": tree(right)})["status"]) == wanted
