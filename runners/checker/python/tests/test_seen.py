"""What agreement to many digits does not show: parts too small to be seen, and quotients of nothing by nothing."""

import pytest

from reckon_checker import service

TINY = ["Power", "E", -500]
HUGE = ["Power", "E", 500]
HALF = ["Rational", 1, 2]


def verdict(left, right, *assumptions):
    claims = [[{"tree": ["Times", "x", left]}, {"tree": ["Times", "x", right]}]]
    return service.check({"kind": "identities", "claims": claims, "assumptions": [{"tree": a} for a in assumptions]})["status"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["Times", ["ProductLog", TINY], HUGE], 1),
        (["Times", ["Gamma", TINY], TINY], 1),
        (["Times", 2, ["BesselJ", 1, TINY], HUGE], 1),
        (["Times", ["ArcTan", 1, TINY], HUGE], 1),
        (["HypergeometricPFQ", ["List", 2], ["List", 3], TINY], 1),
        (["EllipticK", TINY], ["Times", HALF, "Pi"]),
        (["Times", ["Plus", -1, ["Power", "E", TINY]], HUGE], 1),
        (["Power", ["Plus", 1, TINY], HUGE], "E"),
        (["Sinh", 800], ["Times", HALF, ["Power", "E", 800]]),
        (["Cos", ["Times", 600, "I"]], ["Times", HALF, ["Power", "E", 600]]),
        (["Tan", ["Times", 600, "I"]], "I"),
        (["Erfi", ["Times", 30, "I"]], "I"),
        (["ChebyshevT", 800, 2], ["Times", HALF, ["Power", ["Plus", 2, ["Power", 3, HALF]], 800]]),
        (["Fibonacci", 1000], ["Times", ["Power", "GoldenRatio", 1000], ["Power", 5, ["Rational", -1, 2]]]),
        (["Power", ["Plus", 1, ["Power", 9, ["Times", 2, 1000]]], HALF], ["Power", 9, 1000]),
        (["LogGamma", ["Power", "E", 400]], ["Plus", ["Times", 399, ["Power", "E", 400]], -200, ["Times", HALF, ["Log", ["Times", 2, "Pi"]]]]),
    ],
)
def test_what_is_too_small_to_be_seen_is_not_verified(left, right):
    assert verdict(left, right) != "proved"


def test_what_constants_hide_is_looked_for():
    assert verdict(["Times", ["Gamma", TINY], TINY], 1) == "refuted"
    assert verdict(["Sinh", 800], ["Times", HALF, ["Power", "E", 800]]) == "refuted"
    assert verdict(["Times", ["Tan", ["Times", HALF, "Pi"]], ["Power", ["Tan", ["Times", HALF, "Pi"]], -1]], 1) == "open"


NOTHING = ["Plus", ["Gamma", 3], -2]
ROOTS = ["Plus", ["Power", 2, HALF], ["Power", 3, HALF], ["Times", -1, ["Power", ["Plus", 5, ["Times", 2, ["Power", 6, HALF]]], HALF]]]
SIDE = ["Plus", ["Power", ["Power", "x", 2], HALF], "x"]


@pytest.mark.parametrize(("zero", "assumptions"), [(NOTHING, []), (ROOTS, []), (SIDE, [["Less", "x", 0]])])
def test_nothing_by_nothing_is_not_verified(zero, assumptions):
    assert verdict(["Times", zero, ["Power", ["Times", 2, zero], -1]], HALF, *assumptions) == "open"


def test_quotients_that_have_values_are():
    assert verdict(["Times", SIDE, ["Power", ["Times", 2, SIDE], -1]], HALF) == "proved"
