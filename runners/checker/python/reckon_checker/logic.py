"""TautologyQ and SatisfiableQ: a proposition at every row of its truth table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from . import budget
from .evaluation import Environment, truth
from .tree import Refused, Tree, arguments, free_symbols, is_call
from .values import NonValue, Undecided, Value

MAX_PROPOSITIONS = 12


def _rows(node: tuple[Tree, ...], env: Environment) -> Iterator[bool]:
    names = [str(name) for name in (arguments(node[2]) if is_call(node[2], "List") else (node[2],))] if len(node) > 2 else sorted(free_symbols(node[1]))
    if len(names) > MAX_PROPOSITIONS:
        raise Refused("too many propositions")
    for row in itertools.product((False, True), repeat=len(names)):
        budget.step()
        inner = env
        for name, value in zip(names, row, strict=True):
            inner = inner.having(name, value)
        found = truth(node[1], inner)
        if isinstance(found, NonValue):
            raise Undecided("no truth value")
        yield found


def _tautology(node: tuple[Tree, ...], env: Environment) -> Value:
    return all(_rows(node, env))


def _satisfiable(node: tuple[Tree, ...], env: Environment) -> Value:
    return any(_rows(node, env))


PROPOSITIONS: dict[str, Callable[[tuple[Tree, ...], Environment], Value]] = {"TautologyQ": _tautology, "SatisfiableQ": _satisfiable}
