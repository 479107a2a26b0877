"""Integrals, sums, products and identities: the rule beside each group, with right answers in odd forms that must not be refuted."""

from typing import Any

import pytest

from reckon_checker import service

PI_HALF = ["Times", ["Rational", 1, 2], "Pi"]
X2 = ["Power", "x", 2]
HOLDS = ("agrees", "proved")


def tree(value: Any) -> dict[str, Any]:
    return {"tree": value}


def status(task: dict[str, Any]) -> str:
    return str(service.check(task)["status"])


def integral(term: Any, answer: Any, *ranges: tuple[str, Any, Any]) -> str:
    spans = [[name, tree(low), tree(high)] for name, low, high in ranges]
    return status({"kind": "integral", "integrand": tree(term), "ranges": spans, "answer": tree(answer), "assumptions": []})


def total(term: Any, answer: Any, *ranges: tuple[str, Any, Any], product: bool = False) -> str:
    spans = [[name, tree(low), tree(high)] for name, low, high in ranges]
    return status({"kind": "sum", "term": tree(term), "ranges": spans, "answer": tree(answer), "product": product, "assumptions": []})


def identity(left: Any, right: Any, *assumptions: Any) -> str:
    return status({"kind": "identities", "claims": [[tree(left), tree(right)]], "assumptions": [tree(one) for one in assumptions]})


def antiderivative(function: Any, answer: Any) -> str:
    return status({"kind": "antiderivative", "claims": [[tree(function), tree(["D", answer, "x"])]], "variables": ["x"], "assumptions": []})


LOG_SIN = ["Log", ["Sin", "x"]]
GAUSS = ["Power", "E", ["Plus", ["Times", -1, X2], ["Times", -1, ["Power", "y", 2]]]]
CIRCLE = ["Power", ["Plus", 1, ["Times", -1, X2]], ["Rational", 1, 2]]
INFINITE = ["Times", -1, "Infinity"]


@pytest.mark.parametrize(
    ("term", "ranges", "right", "wrong"),
    [
        # Ends and stops that are no rational numbers.
        (LOG_SIN, [("x", 0, "Pi")], ["Times", -1, "Pi", ["Log", 2]], ["Times", "Pi", ["Log", 2]]),
        (["Tan", "x"], [("x", 0, PI_HALF)], "Infinity", 1),
        (["Abs", ["Sin", "x"]], [("x", 0, ["Times", 100, "Pi"])], 200, 199),
        (["Power", "x", ["Times", -1, ["Power", 2, ["Rational", 1, 2]]]], [("x", 1, "Infinity")], ["Plus", 1, ["Power", 2, ["Rational", 1, 2]]], 2),
        # The way an integral grows.
        (["Power", "x", -1], [("x", 0, 1)], "Infinity", INFINITE),
        (["Power", "x", -1], [("x", 1, 0)], INFINITE, "Infinity"),
        (["Times", ["Sin", "x"], ["Power", "x", -1]], [("x", 0, "Infinity")], PI_HALF, ["Plus", PI_HALF, ["Power", 10, -12]]),
        # Products, and polynomials inside.
        (GAUSS, [("x", INFINITE, "Infinity"), ("y", INFINITE, "Infinity")], "Pi", PI_HALF),
        (1, [("x", -1, 1), ("y", ["Times", -1, CIRCLE], CIRCLE)], "Pi", 3),
        (["Power", ["Times", "x", "y"], ["Rational", -1, 2]], [("x", 0, 1), ("y", 0, 1)], 4, 5),
    ],
)
def test_integrals(term: Any, ranges: list[Any], right: Any, wrong: Any) -> None:
    assert integral(term, right, *ranges) in HOLDS
    assert integral(term, wrong, *ranges) == "refuted"


@pytest.mark.parametrize("term", [["Cos", "x"], ["Times", "x", ["Sin", X2]], ["Times", ["Sin", "x"], ["Plus", 1, ["Power", "x", -1]]]])
def test_integrals_that_swing(term: Any) -> None:
    assert integral(term, 0, ("x", 1, "Infinity")) == "refuted"


def test_an_integral_that_settles_by_swinging_faster() -> None:
    root = ["Power", ["Times", ["Rational", 1, 8], "Pi"], ["Rational", 1, 2]]
    assert integral(["Sin", X2], root, ("x", 0, "Infinity")) in HOLDS


def test_infinities_of_both_signs_are_no_infinity_of_one() -> None:
    assert integral(["Power", "x", -1], 0, ("x", -1, 1)) == "refuted"
    assert integral(["Power", "x", -1], "Indeterminate", ("x", -1, 1)) == "agrees"


HUGE = 10**200
GROWING = ["Plus", 1, ["Power", "k", -1]]


@pytest.mark.parametrize(
    ("term", "ranges", "right", "wrong", "product"),
    [
        ("k", [("k", 1, HUGE)], HUGE * (HUGE + 1) // 2, HUGE * HUGE // 2, False),
        ("k", [("k", 1, "n")], ["Times", ["Rational", 1, 2], "n", ["Plus", 1, "n"]], ["Times", ["Rational", 1, 2], "n", "n"], False),
        (["Power", "k", -1], [("k", 1, "n")], ["HarmonicNumber", "n"], ["HarmonicNumber", ["Plus", "n", 1]], False),
        (["Power", "k", -1], [("k", 1, "Infinity")], "Infinity", INFINITE, False),
        (["Power", ["Times", "i", "j"], -2], [("i", 1, "Infinity"), ("j", 1, "Infinity")], ["Power", ["Zeta", 2], 2], ["Zeta", 2], False),
        (["Rational", 1, 2], [("k", 1, "Infinity")], 0, 1, True),
        (GROWING, [("k", 1, "Infinity")], "Infinity", 1, True),
        (["Power", GROWING, -1], [("k", 1, "Infinity")], 0, 1, True),
    ],
)
def test_sums(term: Any, ranges: list[Any], right: Any, wrong: Any, product: bool) -> None:
    assert total(term, right, *ranges, product=product) in HOLDS
    assert total(term, wrong, *ranges, product=product) == "refuted"


def test_a_product_with_a_factor_0_that_grows_otherwise_is_not_said_to_grow() -> None:
    assert total(["Plus", "k", -3], 0, ("k", 1, "Infinity"), product=True) in ("agrees", "open")


def test_an_empty_sum() -> None:
    assert total("k", 0, ("k", 5, 2)) in HOLDS


INTEGER = ["Element", "n", "Integers"]


@pytest.mark.parametrize(
    ("left", "right", "assumptions"),
    [
        (["Floor", "x"], 1, [["Less", 1, "x", 2]]),
        (["Ceiling", "x"], 2, [["Inequality", 1, "Less", "x", "LessEqual", 2]]),
        (["Mod", ["Power", "n", 2], 4], ["Mod", "n", 2], [INTEGER]),
        (["Sum", "k", ["List", "k", 1, "n"]], ["Times", ["Rational", 1, 2], "n", ["Plus", "n", 1]], []),
        (["Sum", ["Power", "k", -1], ["List", "k", 1, "n"]], ["HarmonicNumber", "n"], []),
        (["Times", {"r": "1.5"}, ["Plus", "x", 2]], ["Plus", 3, ["Times", ["Rational", 3, 2], "x"]], []),
    ],
)
def test_proved(left: Any, right: Any, assumptions: list[Any]) -> None:
    assert identity(left, right, *assumptions) == "proved"


@pytest.mark.parametrize(
    ("left", "right", "assumptions"),
    [
        (["Floor", "x"], 1, [["Inequality", 1, "Less", "x", "LessEqual", 2]]),
        (["Floor", "x"], 1, [["Less", 1, "x", 3]]),
        (["Mod", ["Power", "n", 2], 4], ["Mod", "n", 2], []),
        (["Mod", ["Power", "n", 2], 4], ["Mod", "n", 4], [INTEGER]),
        (["Plus", {"r": "0.1"}, {"r": "0.2"}], {"r": "0.31"}, []),
    ],
)
def test_refuted(left: Any, right: Any, assumptions: list[Any]) -> None:
    assert identity(left, right, *assumptions) == "refuted"


ROOT = ["Power", ["Plus", X2, -1], ["Rational", 1, 2]]


def test_an_antiderivative_that_is_right_wherever_it_is_real() -> None:
    logarithm = ["Log", ["Abs", ["Plus", "x", ROOT]]]
    assert antiderivative(["Power", ROOT, -1], logarithm) == "proved"
    assert antiderivative(["Power", ROOT, -1], ["Times", -1, ["ArcCosh", "x"]]) == "refuted"
    # Of the wrong sign for x < -1, where the integrand is real, and for x < 0.
    assert antiderivative(["Power", ROOT, -1], ["ArcCosh", "x"]) == "open"
    assert antiderivative(["Times", ["Power", "x", -1], ["Power", ROOT, -1]], ["ArcSec", "x"]) == "open"
    assert antiderivative(["Power", X2, ["Rational", 1, 2]], ["Times", ["Rational", 1, 2], X2]) == "open"


def test_an_equation_and_its_multiple() -> None:
    left, right = ["Equal", ["Plus", ["Times", "a", "x"], ["Times", "b", "x"]], 0], ["Equal", ["Times", ["Plus", "a", "b"], "x"], 0]
    task = {"kind": "truth", "left": tree(left), "right": tree(right), "assumptions": [], "propositional": False}
    assert status(task) == "proved"
    assert status({**task, "right": tree(["Equal", ["Plus", "a", "b"], 0])}) == "refuted"
    turned = ["Less", ["Times", -1, ["Plus", "a", "b"], "x"], 0]
    assert status({**task, "left": tree(["Less", *left[1:]]), "right": tree(turned)}) == "refuted"


def optimum(objective: Any, value: Any, point: dict[str, Any] | None = None, **more: Any) -> str:
    task = {"kind": "optimum", "objective": tree(objective), "constraints": [], "names": ["x"], "value": tree(value)}
    if point is not None:
        task["point"] = {name: tree(place) for name, place in point.items()}
    return status({**task, **more})


SINES = ["Plus", ["Sin", "x"], ["Cos", "x"]]
EXPONENTIALS = ["Plus", ["Power", "E", "x"], ["Times", 4, ["Power", "E", ["Times", -1, "x"]]]]
DENT = ["Plus", X2, ["Times", -5, ["Abs", "x"]]]


@pytest.mark.parametrize(
    ("objective", "maximise", "right", "wrong"),
    [
        (SINES, True, ["Power", 2, ["Rational", 1, 2]], 2),
        (EXPONENTIALS, False, 4, ["Rational", 39999999999999999, 10000000000000000]),
        (["Power", "E", "x"], False, 0, ["Rational", -1, 10**6]),
        (["ArcTan", "x"], True, PI_HALF, 2),
        (DENT, False, ["Rational", -25, 4], -6),  # -7 is not proved wrong: derivatives do not tell of a kink
    ],
)
def test_optima(objective: Any, maximise: bool, right: Any, wrong: Any) -> None:
    assert optimum(objective, right, maximise=maximise) in HOLDS
    assert optimum(objective, wrong, maximise=maximise) == "refuted"


def test_an_infinity_at_a_place_where_the_objective_is_a_number() -> None:
    assert optimum(X2, INFINITE, {"x": 0}) == "refuted"
    assert optimum("x", INFINITE, {"x": INFINITE}) == "proved"


def test_a_local_maximum_is_no_minimum() -> None:
    low, high = {"x": {"r": "-1.5707963267948966"}}, {"x": {"r": "1.5707963267948966"}}
    assert optimum(["Sin", "x"], {"r": "-1."}, low, maximise=True, local=True) == "refuted"
    assert optimum(["Sin", "x"], {"r": "1."}, high, maximise=True, local=True) == "proved"
    assert optimum(["Power", "x", 4], {"r": "0."}, {"x": {"r": "0.0003"}}, local=True) == "agrees"  # flat: it is near enough
    assert optimum(["Abs", "x"], {"r": "0."}, {"x": {"r": "1.*^-9"}}, local=True) == "agrees"


def test_a_better_place_on_a_linear_equation() -> None:
    equation = [tree(["Equal", ["Plus", "x", "y"], 10])]
    found = {"names": ["x", "y"], "constraints": equation, "maximise": True}
    assert optimum(["Times", "x", "y"], 25, {"x": 5, "y": 5}, **found) == "proved"
    assert optimum(["Times", "x", "y"], 24, {"x": 4, "y": 6}, **found) == "refuted"


def series(function: Any, order: int, answer: Any) -> str:
    variables = [{"name": "x", "point": tree(0), "order": tree(order)}]
    return status({"kind": "series", "function": tree(function), "variables": variables, "answer": tree(answer), "assumptions": []})


def big_o(order: Any) -> Any:
    return ["Power", ["O", "x"], order]


LOGARITHM = ["Log", ["Plus", 1, "x"]]
THREE_TERMS = ["x", ["Times", ["Rational", -1, 2], X2], ["Times", ["Rational", 1, 3], ["Power", "x", 3]]]
ROOT_EXP = ["Power", "E", ["Power", "x", ["Rational", 1, 2]]]
ROOT_TERMS = [1, ["Power", "x", ["Rational", 1, 2]], ["Times", ["Rational", 1, 2], "x"]]
LOG_TERMS = [1, ["Times", "x", ["Log", "x"]], ["Times", ["Rational", 1, 2], X2, ["Power", ["Log", "x"], 2]]]


@pytest.mark.parametrize(
    ("function", "order", "found", "right", "wrong"),
    [
        # A term beyond the order that was asked for, below the one that the answer states.
        (LOGARITHM, 3, "proved", [*THREE_TERMS, big_o(4)], [*THREE_TERMS, ["Times", ["Rational", 1, 4], ["Power", "x", 4]], big_o(5)]),
        (ROOT_EXP, 1, "proved", [*ROOT_TERMS, big_o(["Rational", 3, 2])], [*ROOT_TERMS, big_o(2)]),
        # O[x]^3 may hide x^3 Log[x]^3.
        (["Power", "x", "x"], 2, "agrees", [*LOG_TERMS, big_o(3)], [*LOG_TERMS[:2], big_o(3)]),
    ],
)
def test_series(function: Any, order: int, found: str, right: Any, wrong: Any) -> None:
    assert series(function, order, ["Plus", *right]) == found
    assert series(function, order, ["Plus", *wrong]) == "refuted"


def test_series_data_with_a_denominator() -> None:
    function = ["Times", ["Power", "x", ["Rational", 1, 2]], ["Power", "E", "x"]]
    assert series(function, 2, ["SeriesData", "x", 0, ["List", 1, 0, 1], 1, 5, 2]) == "proved"
    assert series(function, 2, ["SeriesData", "x", 0, ["List", 1, 0, -1], 1, 5, 2]) == "refuted"


BESSEL = ["BesselJ", 0, "x"]


def test_bessel_functions_far_out() -> None:
    assert integral(BESSEL, 1, ("x", 0, "Infinity")) == "agrees"
    assert integral(BESSEL, 2, ("x", 0, "Infinity")) == "refuted"


def test_an_empty_range_has_no_closed_form() -> None:
    assert identity(["Sum", "k", ["List", "k", 5, 2]], 0) == "proved"
    assert identity(["Sum", "k", ["List", "k", 5, 2]], -7) == "refuted"
    half = ["Times", ["Rational", 1, 2], "n"]
    whole = ["Floor", half]
    assert total("k", ["Times", ["Rational", 1, 2], whole, ["Plus", 1, whole]], ("k", 1, half)) != "refuted"


def test_assumptions_that_nothing_meets_prove_nothing() -> None:
    assert identity(["Floor", "x"], 7, ["Less", "x", 1], ["Greater", "x", 2]) != "proved"
