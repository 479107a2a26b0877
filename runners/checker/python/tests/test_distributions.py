"""The formulas of distributions agree with each other: densities are the derivatives of distribution functions, moments are integrals and sums."""

from typing import Any

import pytest

from reckon_checker.evaluation import evaluate
from reckon_checker.rules.distributions import INFINITY, KNOWN, MINUS_INFINITY, X, read
from reckon_checker.service import check
from reckon_checker.tree import minus, replace, times

CONTINUOUS: list[tuple[Any, ...]] = [
    ("NormalDistribution", 1, 2),
    ("UniformDistribution", ("List", 1, 4)),
    ("ExponentialDistribution", 2),
    ("GammaDistribution", 3, 2),
    ("ChiSquareDistribution", 4),
    ("BetaDistribution", 2, 3),
    ("CauchyDistribution", 1, 2),
    ("StudentTDistribution", 7),
    ("WeibullDistribution", 2, 3),
    ("LogNormalDistribution", 0, 1),
]
FINITE: list[tuple[Any, ...]] = [
    ("BernoulliDistribution", ("Rational", 1, 3)),
    ("BinomialDistribution", 5, ("Rational", 1, 3)),
    ("DiscreteUniformDistribution", ("List", -2, 5)),
    ("HypergeometricDistribution", 4, 5, 7),
]
ENDLESS: list[tuple[Any, ...]] = [
    ("PoissonDistribution", 2),
    ("GeometricDistribution", ("Rational", 1, 3)),
    ("NegativeBinomialDistribution", 3, ("Rational", 1, 4)),
]


def wire(node: Any) -> Any:
    return [wire(part) for part in node] if isinstance(node, tuple) else node


def tree(node: Any) -> dict[str, Any]:
    return {"tree": wire(replace(node, X, "x"))}


def test_every_distribution_is_here() -> None:
    assert {node[0] for node in (*CONTINUOUS, *FINITE, *ENDLESS)} == set(KNOWN)


@pytest.mark.parametrize("node", [node for node in CONTINUOUS if read(node).cumulative is not None])
def test_distribution_functions(node: Any) -> None:
    known = read(node)
    inside = [("Greater", "x", known.low)] if known.low != MINUS_INFINITY else [("Element", "x", "Reals")]
    inside += [("Less", "x", known.high)] if known.high != INFINITY else []
    assert known.cumulative is not None
    claims = [[{"tree": ["D", tree(known.cumulative)["tree"], "x"]}, tree(known.density)]]
    assert check({"kind": "identities", "claims": claims, "assumptions": [tree(part) for part in inside]})["status"] in ("proved", "agrees")


@pytest.mark.parametrize("node", CONTINUOUS)
def test_moments_are_integrals(node: Any) -> None:
    known = read(node)
    for r in range(3) if known.moment is not None else range(1):
        task = {
            "kind": "integral",
            "integrand": tree(times(("Power", X, r), known.density) if r else known.density),
            "ranges": [["x", tree(known.low), tree(known.high)]],
            "answer": tree(known.raw(r)) if r else tree(1),
        }
        assert check(task)["status"] in ("proved", "agrees"), r


@pytest.mark.parametrize("node", FINITE)
def test_moments_are_sums(node: Any) -> None:
    known = read(node)
    assert isinstance(known.low, int) and isinstance(known.high, int)
    values = range(known.low, known.high + 1)
    for r in range(4):
        total = ("Plus", *(times(x**r, replace(known.density, X, x)) for x in values))
        assert evaluate(minus(total, known.raw(r) if r else 1)) == 0, r


@pytest.mark.parametrize("node", ENDLESS)
def test_moments_are_series(node: Any) -> None:
    known = read(node)
    for r in range(3):
        task = {
            "kind": "sum",
            "term": tree(times(("Power", X, r), known.density) if r else known.density),
            "ranges": [["x", {"tree": known.low}, {"tree": "Infinity"}]],
            "answer": tree(known.raw(r)) if r else tree(1),
        }
        assert check(task)["status"] in ("proved", "agrees"), r
