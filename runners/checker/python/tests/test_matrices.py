"""Every defining property of an answer about a matrix."""

import pytest
from examples import tree

from reckon_checker import service
from reckon_checker.service import check


def rows(*lines):
    return ["List", *(["List", *line] for line in lines)]


def status(what, matrix, answer, **more):
    task = {"kind": "matrix", "what": what, "matrix": {"tree": matrix}, "answer": {"tree": answer}, "assumptions": [], **more}
    return service.check(task)["status"]


M = rows([3, 1], [-1, 1])
TINY = ["Power", 10, -60]
UNIT = rows([1, 0], [0, 1])


@pytest.mark.parametrize(
    ("what", "matrix", "answer", "wanted"),
    [
        ("jordan", M, ["List", rows([-1, -1], [1, 0]), rows([2, 1], [0, 2])], "proved"),
        ("jordan", M, ["List", rows([0, 0], [0, 0]), rows([2, 1], [0, 2])], "refuted"),
        ("jordan", M, ["List", UNIT, M], "refuted"),
        ("qr", rows([3, 0], [4, 5]), ["List", rows([3, 4], [0, 5]), UNIT], "refuted"),
        ("singular_values", rows([2, 0], [0, 1]), ["List", rows([-1, 0], [0, 1]), rows([-2, 0], [0, 1]), UNIT], "refuted"),
        ("schur", rows([0, 1], [1, 0]), ["List", UNIT, rows([0, 1], [1, 0])], "refuted"),
        ("schur", rows([0, 1], [-1, 0]), ["List", UNIT, rows([0, 1], [-1, 0])], "proved"),
        ("eigenvectors", rows([-3, TINY], [0, -3]), UNIT, "refuted"),
        ("eigenvectors", rows([-3, TINY], [0, -3]), rows([1, 0], [0, 0]), "proved"),
        ("eigenvalues", rows([2, 1], [1, 2]), ["List", 3, 1], "proved"),
        ("eigenvalues", rows([2, 1], [1, 2]), ["List", 3, ["Plus", 1, TINY]], "refuted"),
        ("null_space", rows([1, 2], [2, 4]), rows([-2, 1], [0, 0]), "refuted"),
        ("cholesky", rows([4, 2], [2, 5]), rows([-2, -1], [0, 2]), "refuted"),
    ],
)
def test_properties(what, matrix, answer, wanted):
    assert status(what, matrix, answer) == wanted


def test_a_symbolic_power_is_proved_for_every_exponent():
    shear = rows([1, 1], [0, 1])
    assert status("power", shear, rows([1, "n"], [0, 1]), index="n") == "proved"
    twelve = ["Times", *(["Plus", "n", -i] for i in range(1, 13))]
    assert status("power", shear, rows([1, ["Plus", "n", twelve]], [0, 1]), index="n") == "refuted"


def test_a_solution_has_an_entry_for_every_unknown():
    m, b = rows([4, -2], [-2, 5]), tree(["List", 10, -1])
    assert check({"kind": "matrix", "what": "linear_solve", "matrix": tree(m), "answer": tree(["List"]), "right": b})["status"] == "refuted"
    assert check({"kind": "matrix", "what": "linear_solve", "matrix": tree(m), "answer": tree(["List", 3, 1]), "right": b})["status"] == "proved"
    assert check({"kind": "matrix", "what": "linear_solve", "matrix": tree(m), "answer": tree(rows([3], [1])), "right": b})["status"] == "open"
    singular = rows([1, 1], [1, 1])
    assert check({"kind": "matrix", "what": "linear_solve", "matrix": tree(singular), "answer": tree(["List"]), "right": b})["status"] == "open"
