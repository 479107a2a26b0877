"""What is written out has the values of FLINT's own functions."""

import pytest

from reckon_checker.evaluation import evaluate
from reckon_checker.explicit import MAX_INDEX, written_out
from reckon_checker.tree import Tree, is_call
from reckon_checker.values import Relation, compare, precision

THIRD: Tree = ("Rational", 1, 3)
PLACE: Tree = ("Rational", -5, 7)


@pytest.mark.parametrize("head", ["ChebyshevT", "ChebyshevU", "LegendreP", "HermiteH", "LaguerreL", "BernoulliB", "PolyLog"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 12, MAX_INDEX])
def test_of_one_number(head: str, n: int) -> None:
    node: Tree = (head, -n if head == "PolyLog" else n, PLACE)
    same(node)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_with_parameters(n: int) -> None:
    same(("GegenbauerC", n, THIRD, PLACE))
    same(("LaguerreL", n, THIRD, PLACE))
    same(("JacobiP", n, THIRD, 2, PLACE))


@pytest.mark.parametrize(
    ("node", "value"), [(("Fibonacci", 7, 1), 13), (("LucasL", 7, 1), 29), (("BellB", 5, 1), 52), (("EulerE", 4, 0), 0), (("Cyclotomic", 12, 2), 13)]
)
def test_known(node: Tree, value: int) -> None:
    assert evaluate(written_out(node)) == value


def test_left_alone() -> None:
    for node in (
        ("HermiteH", "n", "x"),
        ("HermiteH", -1, "x"),
        ("HermiteH", MAX_INDEX + 1, "x"),
        ("LegendreP", 1, 1, "x"),
        ("PolyLog", 2, "x"),
        ("HermiteH", 2, "Infinity"),
    ):
        assert written_out(node) == node


def same(node: Tree) -> None:
    written = written_out(node)
    assert not isinstance(node, tuple) or not is_call(written, str(node[0]))
    with precision(400):
        assert compare(evaluate(node), evaluate(written)).relation in (Relation.EQUAL, Relation.OVERLAP)
