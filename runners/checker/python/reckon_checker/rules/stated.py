"""Conditions with the values of an answer put in."""

from __future__ import annotations

from ..evaluation import Environment, evaluate
from ..tree import Tree, free_symbols
from ..values import Undecided, precision


def holds(condition: Tree) -> bool | None:
    """The truth of a condition without symbols; None where it has some, or is not decided."""
    if free_symbols(condition):
        return None
    for bits in (128, 1024):
        with precision(bits):
            try:
                found = evaluate(condition, Environment())
            except Undecided:
                continue
            return found if isinstance(found, bool) else None
    return None
