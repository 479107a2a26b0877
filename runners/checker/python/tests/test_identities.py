"""The identities procedure: what is proved, what is refuted, what is left open."""

from typing import Any

import pytest
from examples import HALF, tree

from reckon_checker.service import check

X2 = ["Power", "x", 2]
ROOT_X2 = ["Power", X2, HALF]
REALS = ["Element", "x", "Reals"]


def status(left: Any, right: Any, *assumptions: Any) -> str:
    found = check({"kind": "identities", "claims": [[tree(left), tree(right)]], "assumptions": [tree(a) for a in assumptions]})
    return str(found["status"])


@pytest.mark.parametrize(
    ("left", "right", "assumptions"),
    [
        (["Plus", ["Power", ["Sin", "x"], 2], ["Power", ["Cos", "x"], 2]], 1, []),
        (ROOT_X2, "x", [["Greater", "x", 0]]),
        (ROOT_X2, ["Abs", "x"], [REALS]),
        (["Log", ["Exp", "x"]], "x", [REALS]),
        (["Times", ["Gamma", "x"], "x"], ["Gamma", ["Plus", "x", 1]], []),
        (["Power", ["Plus", 5, ["Times", 2, ["Power", 6, HALF]]], HALF], ["Plus", ["Power", 2, HALF], ["Power", 3, HALF]], []),
        (["Times", "x", ["Power", "x", -1]], 1, []),
        (["Sin", ["Times", "n", "Pi"]], 0, [["Element", "n", "Integers"]]),
        (["Abs", ["Plus", "x", -5]], ["Piecewise", ["List", ["List", ["Plus", "x", -5], ["Greater", "x", 5]]], ["Plus", 5, ["Times", -1, "x"]]], [REALS]),
    ],
)
def test_right(left: Any, right: Any, assumptions: list[Any]) -> None:
    assert status(left, right, *assumptions) == "proved"


@pytest.mark.parametrize(
    ("left", "right", "assumptions"),
    [
        (ROOT_X2, "x", []),
        (["Log", ["Exp", "x"]], "x", []),
        (["Power", ["Power", "E", "x"], HALF], ["Power", "E", ["Times", HALF, "x"]], []),
        (["Abs", ["Plus", "x", -5]], ["Plus", 5, ["Times", -1, "x"]], [["Greater", "x", 0]]),
        (["UnitStep", ["Plus", "x", -1000]], 0, [REALS]),
        (["ArcTan", ["Tan", "x"]], "x", [REALS]),
        (["Exp", ["Times", "Pi", ["Power", 163, HALF]]], 262537412640768744, []),
        (["Plus", ["Power", 2, HALF], ["Power", 10, -30]], ["Power", 2, HALF], []),
        (["Times", ["Factorial", 200], {"r": "1.0"}], "Infinity", []),
        (["Plus", "x", 1], ["List", "x", 1], []),
        ("x", "Indeterminate", []),
        # Too small to be seen on the reals, large off them.
        (["Plus", "x", ["Power", "E", ["Plus", -(10**6), ["Times", -1, ["Power", ["Plus", ["Power", "x", 2], 1], 2]]]]], "x", []),
        (["Log", ["Exp", ["Times", "x", ["Rational", 1, 1000]]]], ["Times", "x", ["Rational", 1, 1000]], []),
        (["Plus", "x", ["Power", "E", ["Times", -1, ["Power", ["Times", 1000, ["Plus", "x", -77]], 2]]]], "x", []),
        (["Max", "x", "y"], "x", [["Element", ["Alternatives", "x", "y"], "Reals"]]),
    ],
)
def test_wrong(left: Any, right: Any, assumptions: list[Any]) -> None:
    assert status(left, right, *assumptions) == "refuted"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["Plus", "x", 1], ["Plus", ["Hold", "x"], 1]),
        (["Times", {"r": "0.1"}, "x"], ["Times", ["Rational", 1, 10], "x"]),  # no machine number is 0.1
        (["Plus", {"r": "0.1"}, {"r": "0.2"}], {"r": "0.30000000000000004"}),
        (["Times", {"r": "0.3333333333333333"}, "x"], ["Times", ["Rational", 1, 3], "x"]),
        # Jumps without end, and one that lies where nobody looks: support, not proof.
        (["UnitStep", ["Plus", ["Sin", "x"], ["Sin", ["Times", ["Power", 2, HALF], "x"]], ["Rational", -19999, 10000]]], 0),
    ],
)
def test_never_verified(left: Any, right: Any) -> None:
    assert status(left, right) in ("open", "agrees")


def test_the_proof_is_a_sentence() -> None:
    found = check({"kind": "identities", "claims": [[tree(["Log", ["Exp", "x"]]), tree("x")]]})
    assert found["residual"].startswith("at x = ")
    assert "it agrees at the real values that were tried" in found["residual"]


def test_what_is_held_is_no_value() -> None:
    held = tree(["Hold", "x"])
    assert check({"kind": "identities", "claims": [[held, held]]})["why"] == "unsupported: Hold"


@pytest.mark.parametrize(
    "answer",
    [
        ["First", ["Hold", "x"]],
        ["With", ["List", ["Set", "y", "x"]], ["Hold", "y"]],
        ["Part", ["Hold", "x", 5], 1],
        ["CompoundExpression", ["Set", "y", "x"], "y"],
        [["Composition", "Sin"], "x"],
    ],
)
def test_functions_that_are_not_known_decide_nothing(answer: Any) -> None:
    for kind in ("identities", "antiderivative"):
        found = check({"kind": kind, "claims": [[tree("x"), tree(["Plus", "x", answer, ["Times", -1, answer]])]], "variables": ["x"]})
        assert found["status"] == "open"
        assert found["why"].startswith("unsupported: ")


@pytest.mark.parametrize("answer", [["With", ["List", ["Set", "y", "x"]], "y"], ["Part", ["List", "x", 5], 1], ["Which", "True", "x"]])
def test_programs_within_an_answer_are_worked_out(answer: Any) -> None:
    for other, status in (("x", "proved"), (["Times", 2, "x"], "refuted")):
        assert check({"kind": "identities", "claims": [[tree(other), tree(answer)]]})["status"] == status


@pytest.mark.parametrize(
    "answer",
    [
        ["Clip", "x", ["List", 0, ["Power", 10, 9]]],
        ["Min", ["List", "x", ["Power", 10, 9]]],
        ["Max", ["List", ["List", "x"], ["List", ["Rational", 1, 1000]]]],
    ],
)
def test_kinks_of_lists_are_found(answer: Any) -> None:
    positive = [tree(["Greater", "x", 0])]
    assert check({"kind": "identities", "claims": [[tree("x"), tree(answer)]], "assumptions": positive})["status"] == "refuted"
