"""Expansions with bounded remainders, and what rests on them: limits, series, sums, integrals."""

import pytest
from flint import arb

from reckon_checker import service


def tree(value):
    return {"tree": value}


def status(task):
    return service.check(task)["status"]


def limit(function, point, answer, direction=0):
    return status(
        {"kind": "limit", "function": tree(function), "name": "x", "point": tree(point), "answer": tree(answer), "direction": direction, "assumptions": []}
    )


def total(term, low, high, answer):
    return status({"kind": "sum", "term": tree(term), "ranges": [["k", tree(low), tree(high)]], "answer": tree(answer), "product": False, "assumptions": []})


def integral(term, low, high, answer):
    return status({"kind": "integral", "integrand": tree(term), "ranges": [["x", tree(low), tree(high)]], "answer": tree(answer), "assumptions": []})


HOLDS = ("agrees", "proved")
SLOW = ["Times", ["Log", "x"], ["Power", "x", ["Rational", 1, 20]]]


@pytest.mark.parametrize(
    ("function", "point", "right", "wrong"),
    [
        (SLOW, 0, 0, "Infinity"),
        (["Power", ["Log", ["Log", "x"]], -1], "Infinity", 0, ["Rational", 1, 3]),
        (["Times", ["Sin", "x"], ["Power", "x", -1]], 0, 1, 0),
        (["Power", ["Plus", 1, ["Power", "x", -1]], "x"], "Infinity", "E", 1),
        (["ArcTan", "x"], "Infinity", ["Times", ["Rational", 1, 2], "Pi"], 0),
        (["Sin", "x"], "Infinity", "Indeterminate", 0),
    ],
)
def test_limits(function, point, right, wrong):
    assert limit(function, point, right) in HOLDS
    assert limit(function, point, wrong) == "refuted"


@pytest.mark.parametrize(
    ("term", "low", "right", "wrong"),
    [
        (["Power", "k", ["Rational", -11, 10]], 1, ["Zeta", ["Rational", 11, 10]], "Infinity"),
        (["Times", ["Mod", "k", 2], ["Power", "k", -2]], 1, ["Times", ["Rational", 1, 8], ["Power", "Pi", 2]], 1),
        (["Times", ["Sin", "k"], ["Power", "k", -1]], 1, ["Times", ["Rational", 1, 2], ["Plus", "Pi", -1]], "Infinity"),
        (["Power", ["Times", "k", ["Log", "k"]], -1], 2, "Infinity", 5),
    ],
)
def test_sums(term, low, right, wrong):
    assert total(term, low, "Infinity", right) in HOLDS
    assert total(term, low, "Infinity", wrong) == "refuted"


@pytest.mark.parametrize(
    ("term", "low", "high", "right", "wrong"),
    [
        (["Log", "x"], 0, 1, -1, "Indeterminate"),
        (["Times", ["Sin", "x"], ["Power", "x", -1]], 0, "Infinity", ["Times", ["Rational", 1, 2], "Pi"], "Pi"),
        (["Abs", ["Plus", "x", -5]], 0, 10, 25, 0),
        (["Power", "x", -1], 0, 1, "Infinity", 0),
        (["Power", "x", ["Rational", -1, 2]], 0, 1, 2, "Infinity"),
    ],
)
def test_integrals(term, low, high, right, wrong):
    assert integral(term, low, high, right) in HOLDS
    assert integral(term, low, high, wrong) == "refuted"


def test_a_branch_cut_in_an_inner_end_is_seen():
    root = ["Power", ["Plus", 1, ["Times", -1, ["Power", "x", 2]]], ["Rational", 1, 2]]
    ranges = [["x", tree(-1), tree(1)], ["y", tree(["Times", -1, root]), tree(root)]]
    assert status({"kind": "integral", "integrand": tree(1), "ranges": ranges, "answer": tree("Pi"), "assumptions": []}) != "refuted"


def test_powers_of_a_ball_around_zero_are_enclosed():
    from reckon_checker.arithmetic import power
    from reckon_checker.values import exact

    assert power(arb(0, 1), exact(2)).contains(1)
