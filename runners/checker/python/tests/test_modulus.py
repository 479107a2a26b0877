"""Matrices and equations modulo n, and remainders of whole numbers."""

from typing import Any

import pytest
from examples import tree

from reckon_checker.service import check

M = ["List", ["List", 1, 2], ["List", 3, 5]]


def status(what: str, matrix: Any, answer: Any, modulus: int, **more: Any) -> str:
    task = {"kind": "modular_matrix", "what": what, "matrix": tree(matrix), "answer": tree(answer), "modulus": tree(modulus)}
    return str(check({**task, **{key: tree(value) for key, value in more.items()}})["status"])


@pytest.mark.parametrize(
    ("what", "answer", "modulus", "wanted"),
    [
        ("inverse", ["List", ["List", 2, 2], ["List", 3, 6]], 7, "proved"),
        ("inverse", ["List", ["List", 2, 2], ["List", 3, -1]], 7, "open"),  # right, but not the least residues
        ("inverse", ["List", ["List", 2, 2], ["List", 3, 5]], 7, "refuted"),
        ("inverse", ["List", ["List", 1, 2], ["List", 3, 5]], 6, "proved"),  # no prime is needed
        ("determinant", 6, 7, "proved"),
        ("determinant", -1, 7, "open"),
        ("determinant", ["Rational", 1, 7], 7, "refuted"),
        ("rank", 2, 7, "proved"),
        ("rank", 2, 6, "open"),  # no field
        ("null_space", ["List"], 7, "proved"),
        ("row_reduce", ["List", ["List", 1, 0], ["List", 0, 1]], 7, "proved"),
        ("row_reduce", ["List", ["List", 1, 2], ["List", 0, 0]], 7, "refuted"),
    ],
)
def test_matrices(what: str, answer: Any, modulus: int, wanted: str) -> None:
    assert status(what, M, answer, modulus) == wanted


def test_null_space_and_linear_systems() -> None:
    singular = ["List", ["List", 1, 2], ["List", 3, 6]]
    assert status("null_space", singular, ["List", ["List", 3, 1]], 5) == "proved"
    assert status("null_space", singular, ["List", ["List", 1, 2]], 5) == "proved"  # any multiple is a basis
    assert status("null_space", singular, ["List", ["List", 2, 1]], 5) == "refuted"
    assert status("linear_solve", M, ["List", 6, 1], 7, right=["List", 1, 2]) == "proved"
    assert status("linear_solve", M, ["List", 6, 2], 7, right=["List", 1, 2]) == "refuted"


def residues(*values: Any, complete: bool = True) -> str:
    solutions = [{"names": ["x"], "values": [tree(value)]} for value in values]
    equation = tree(["Equal", ["Power", "x", 2], 2])
    task = {"kind": "roots", "conditions": [equation], "unknowns": ["x"], "modulus": tree(7), "solutions": solutions, "complete": complete}
    return str(check(task)["status"])


def test_equations_modulo_a_number() -> None:
    assert residues(3, 4) == "proved"
    assert residues(-4, 4) == "open"  # no least residue
    assert residues(3) == "refuted"
    assert residues(3, complete=False) == "proved"  # an instance is wanted
    assert residues(["Power", 2, ["Rational", 1, 2]], 4) == "refuted"  # no integer


def remainder(what: str, m: Any, n: Any, answer: Any, *more: Any) -> str:
    task = {"kind": "primes", "what": what, "args": [tree(arg) for arg in (m, n, *more)], "answer": tree(answer), "gaussian": False}
    return str(check(task)["status"])


@pytest.mark.parametrize(
    ("what", "m", "n", "answer", "wanted"),
    [
        ("Mod", ["Plus", 7, ["Times", 3, "I"]], ["Plus", 2, "I"], 1, "agrees"),
        ("Mod", ["Plus", 7, ["Times", 3, "I"]], ["Plus", 2, "I"], 0, "refuted"),
        ("Mod", ["Plus", 7, ["Times", 3, "I"]], ["Plus", 2, "I"], ["Plus", -1, ["Times", -1, "I"]], "agrees"),  # another convention
        ("Quotient", ["Plus", 7, ["Times", 3, "I"]], ["Plus", 2, "I"], 9, "refuted"),
        ("Mod", ["Rational", 7, 2], 1, ["Rational", 1, 2], "proved"),
        ("Quotient", ["Rational", -7, 2], 1, -3, "refuted"),
        ("Mod", -7, 3, 2, "proved"),
        ("Mod", -7, 3, -1, "refuted"),
    ],
)
def test_remainders(what: str, m: Any, n: Any, answer: Any, wanted: str) -> None:
    assert remainder(what, m, n, answer) == wanted


def test_remainders_from_an_offset() -> None:
    assert remainder("Mod", 9, 3, 3, 1) == "proved"
    assert remainder("Mod", 9, 3, 0, 1) == "refuted"


def test_binomials_are_counted_again() -> None:
    assert check({"kind": "identities", "claims": [[tree(["Binomial", 27, 5]), tree(80730)]]})["status"] == "proved"
    assert check({"kind": "identities", "claims": [[tree(["Binomial", 27, 5]), tree(80731)]]})["status"] == "refuted"
