"""Constants in answers: which of them are numbers, which families are complete, and what a decimal optimum says."""

from typing import Any

import pytest
from examples import tree

from reckon_checker.service import check

LOG_2 = ["Log", 2]


def antiderivative(constant: Any) -> str:
    answer = ["Plus", ["Sin", "x"], constant]
    claims = [[tree(["Cos", "x"]), tree(["D", answer, "x"])]]
    return str(check({"kind": "antiderivative", "claims": claims, "variables": ["x"]})["status"])


def solved(equations: list[Any], *bodies: Any) -> dict[str, Any]:
    solutions = [[{"name": "y", "function": tree(["Function", ["List", "x"], body])}] for body in bodies]
    return check({"kind": "equations", "equations": [tree(e) for e in equations], "functions": ["y"], "variables": ["x"], "solutions": solutions})


@pytest.mark.parametrize("constant", ["Pi", LOG_2, "a", ["C", 1], ["Power", "E", ["Times", -1, "Infinity"]], ["Power", -2, ["Rational", 1, 2]], ["f", "a"]])
def test_constants_that_are_numbers(constant: Any) -> None:
    assert antiderivative(constant) == "proved"


@pytest.mark.parametrize(
    "constant",
    [
        "Infinity",
        "ComplexInfinity",
        "Indeterminate",
        "True",
        "Null",
        "$Failed",
        {"t": "a"},
        ["List", 1, 2],
        ["Function", ["Slot", 1]],
        ["Log", 0],
        ["Gamma", -1],
        ["Zeta", 1],
        ["Power", 0, -1],
        ["Times", 0, "Infinity"],
    ],
)
def test_constants_that_are_proved_not_to_be_numbers(constant: Any) -> None:
    assert antiderivative(constant) == "refuted"


@pytest.mark.parametrize(
    "constant",
    [
        ["Tan", ["Times", "Pi", ["Rational", 1, 2]]],
        ["Random"],
        ["RandomReal"],
        ["C", "x"],
        ["C", "x", 1],
        ["Unknown", 1],
        "Unheard",
        ["C", 0],
        [[["Derivative", 1], "C"], "x"],
        ["Sum", ["Power", "n", -1], ["List", "n", 1, "Infinity"]],
        ["Log", ["Plus", "x", ["Times", -1, "x"]]],
    ],
)
def test_constants_that_nothing_is_known_of(constant: Any) -> None:
    assert antiderivative(constant) != "proved"


SLOPE_X = ["Equal", [[["Derivative", 1], "y"], "x"], "x"]


@pytest.mark.parametrize(
    ("constant", "wanted"), [("Pi", "proved"), (LOG_2, "proved"), ("a", "proved"), ("Infinity", "refuted"), ({"t": "a"}, "refuted"), ("True", "refuted")]
)
def test_constants_of_solutions(constant: Any, wanted: str) -> None:
    body = ["Plus", ["Times", ["Rational", 1, 2], ["Power", "x", 2]], ["C", 1], constant]
    assert solved([SLOPE_X], body)["status"] == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("0.6666666666666666", "proved"), ("0.6666666666666667", "proved"), ("0.66666666666", "refuted"), ("0.66666666666666666660", "refuted")],
)
@pytest.mark.parametrize("maximise", [False, True])
def test_a_decimal_optimum_is_what_it_prints(value: str, wanted: str, maximise: bool) -> None:
    sense = -1 if maximise else 1
    objective = ["Times", sense, ["Plus", ["Power", ["Plus", "x", -1], 2], ["Rational", 2, 3]]]
    given = {"r": "-" * maximise + value}
    task = {"kind": "optimum", "objective": tree(objective), "constraints": [], "names": ["x"], "value": tree(given), "point": {"x": tree({"r": "1."})}}
    assert check({**task, "maximise": maximise, "approximate": True})["status"] == wanted


def test_values_that_differ_are_printed_so() -> None:
    left, right = ["Power", "E", ["Times", "Pi", ["Power", 163, ["Rational", 1, 2]]]], 640320**3 + 744
    found = check({"kind": "identities", "claims": [[tree(left), tree(right)]]})
    assert found["residual"].startswith("262537412640768743.9999999999992") and found["residual"].endswith("262537412640768744")


SLOPE: Any = [[["Derivative", 1], "y"], "x"]
Y: Any = ["y", "x"]
C1: Any = ["C", 1]
EX: Any = ["Power", "E", "x"]
GROWTH: Any = ["Equal", SLOPE, Y]


@pytest.mark.parametrize("factor", [C1, ["Times", -3, C1], ["Power", C1, 2], ["Sin", C1], ["Plus", C1, "Pi"], ["Plus", C1, ["Power", C1, -1]]])
def test_constants_that_reach_every_solution(factor: Any) -> None:
    assert solved([GROWTH], ["Times", factor, EX])["status"] == "proved"


@pytest.mark.parametrize(
    "factor",
    [
        ["Power", "E", C1],
        ["Abs", C1],
        ["Re", C1],
        ["Tanh", C1],
        ["Power", ["Plus", 1, ["Abs", C1]], -1],
        ["Floor", C1],
        ["ArcTan", C1],
        ["Power", "E", ["Re", C1]],
        ["Times", C1, ["Power", ["Plus", 1, C1], -1]],
    ],  # leaves out E^x
)
def test_constants_that_do_not(factor: Any) -> None:
    assert solved([GROWTH], ["Times", factor, EX])["status"] != "proved"


@pytest.mark.parametrize(
    ("rate", "place", "value", "body", "wanted"),
    [
        (["Power", Y, ["Rational", 1, 2]], 0, 0, 0, False),  # x^2/4 is another
        (["Power", ["Plus", 1, ["Power", Y, 2]], ["Rational", 1, 2]], 0, 0, ["Sinh", "x"], True),
        (["Power", ["Power", Y, 2], ["Rational", 1, 3]], 0, 0, 0, False),
        (["Times", Y, ["Power", "x", -1]], 0, 0, "x", False),  # every multiple of x
        (Y, 0, 1, EX, True),
        (["Power", Y, 2], 0, 1, ["Power", ["Plus", 1, ["Times", -1, "x"]], -1], True),
        (["Sin", Y], 0, 0, 0, True),
    ],
)
def test_initial_values_that_leave_one_solution(rate: Any, place: int, value: int, body: Any, wanted: bool) -> None:
    found = solved([["Equal", SLOPE, rate], ["Equal", ["y", place], value]], body)["status"]
    assert found == "proved" if wanted else found in ("agrees", "open", "refuted")


def test_sentences_of_equations() -> None:
    five = solved([GROWTH, ["Equal", ["y", 0], 5]], ["Times", 7, EX])
    assert five["residual"] == "y[0] == 5: 5 is expected, the answer gives 7"
    assert solved([GROWTH], ["Times", ["Floor", C1], EX])["residual"].endswith("independently are 0")


def test_a_wide_enclosure_is_printed_by_its_ends() -> None:
    root = ["Power", ["Times", -1, "x"], ["Rational", 1, 2]]
    task = {"kind": "integral", "integrand": tree(root), "ranges": [[tree("x"), tree(0), tree(1)]], "answer": tree(["Times", ["Rational", -2, 3], "I"])}
    found = check(task)
    assert found["status"] == "refuted" and found["residual"].startswith("(between 0.577851 and 0.740085)*I is expected")  # 2/3 I lies within
