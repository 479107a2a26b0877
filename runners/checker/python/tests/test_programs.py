"""Functions of programs with other numbers of arguments than they take are not worked out, and nothing fails."""

from typing import Any

import pytest

from reckon_checker.programs.evaluator import BUILTINS, HOLDING
from reckon_checker.rules import programs
from reckon_checker.service import check

ARGUMENT: Any = ["List", "x", 1]


@pytest.mark.parametrize("head", sorted({*BUILTINS, *HOLDING}))
def test_any_number_of_arguments(head: str) -> None:
    assert programs.FAMILIES
    for count in range(5):
        program = ["List", [head, *[ARGUMENT] * count]]
        assert check({"kind": "program", "program": {"tree": program}, "answer": {"tree": ["List", "another"]}})["status"] != "proved"
