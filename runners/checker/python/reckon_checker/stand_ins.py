"""Functions that stand for undefined ones, and symbols that stand for indexed variables such as a[1]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .tree import Tree, is_call, replace, show, undefined, walk


class _State:
    complex_values = False  # set by begin, for one task


OF_PARTS = ("Re", "Im", "Arg", "Abs", "Conjugate", "Sign", "ReIm", "AbsArg")
OF_CALCULUS = ("D", "Dt", "Integrate", "Limit", "Sum", "Product", "Grad", "Div", "Curl", "Laplacian")


def begin(task: dict[str, Any]) -> None:
    """Chooses functions for a task: with complex values for real arguments where the parts of these matter (Im[f[x]] is not 0), and where
    nothing is assumed of the functions and nothing is done with them that is usual for real ones only."""
    trees = list(parts(task))
    assumed = any(undefined_functions(condition) for condition in parts(task.get("assumptions") or []))
    calls = [part for node in trees for part in walk(node) if isinstance(part, tuple)]
    split = any(is_call(call, *OF_PARTS) and undefined_functions(call) for call in calls)
    usual = any(is_call(call, *OF_CALCULUS) or is_call(call[0], "Derivative") for call in calls)
    _State.complex_values = task.get("kind") in ("identities", "identities_sampled") and split and not assumed and not usual


def stand_in(name: str, arity: int) -> Tree:
    """A fixed smooth function, as a pure function, that stands for the undefined function of that name: what holds of
    every function holds of it, so a difference found with it is a proof."""
    return _made(name, arity, _State.complex_values)


@lru_cache(maxsize=256)
def _made(name: str, arity: int, complex_values: bool) -> Tree:
    seed = hashlib.sha256(f"{name}/{arity}".encode()).digest()
    result: Tree = 0
    for i in range(arity):
        a, b, c = (("Rational", seed[(3 * i + j) % 32] + 40, 256) for j in range(3))
        x: Tree = ("Slot", i + 1)
        wave: Tree = ("Plus", ("Times", i + 1, ("Sin", ("Plus", ("Times", a, x), b))), ("Power", "E", ("Times", c, x, ("Rational", 1, 3))))
        result = ("Times", ("Plus", result, wave), ("Plus", 1, ("Times", b, x))) if i else wave
    return ("Function", ("Times", ("Plus", 1, ("Times", "I", ("Rational", seed[31] + 40, 256))), result) if complex_values else result)


def undefined_functions(node: Tree) -> set[tuple[str, int]]:
    """The names of undefined functions in a tree, with their numbers of arguments."""
    if not isinstance(node, tuple):
        return set()
    head, found = node[0], set().union(*(undefined_functions(part) for part in node[1:])) if len(node) > 1 else set()
    if isinstance(head, str):
        return found | {(head, len(node) - 1)} if undefined(head) and len(node) > 1 else found
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        head = head[1]
        if isinstance(head, str) and not undefined(head):
            return found
    if isinstance(head, str) or is_call(head, "C"):
        return found | {(head if isinstance(head, str) else "C" + str(head[1]), len(node) - 1)}  # type: ignore[index]
    return found | undefined_functions(head)


def told(name: str, arity: int) -> str:
    """The stand-in for an undefined function, so that others can check what was found with it."""
    body: Tree = stand_in(name, arity)[1]  # type: ignore[index]
    for i in range(arity):
        body = replace(body, ("Slot", i + 1), f"x{i + 1}")
    return f"with {name}[{', '.join(f'x{i + 1}' for i in range(arity))}] = {show(body)}"


# Indexed variables.


def indexed(task: dict[str, Any]) -> dict[str, Any]:
    """The task with a[1], of a function that is used with numbers in its place only, as a symbol of its own: it is any number then."""
    names: dict[str, bool] = {}
    for part in parts(task):
        _note_uses(part, names)
    chosen = frozenset(name for name, only in names.items() if only)
    return _with_symbols(task, chosen) if chosen else task


def mentioned(task: dict[str, Any]) -> bool:
    """Whether a task speaks of undefined functions, other than those that it asks for."""
    asked = set(task.get("functions") or [])
    return any(name not in asked for part in parts(task) for name, _ in undefined_functions(part))


def parts(value: Any) -> Iterator[Any]:
    """The trees of a task, and what else stands in it."""
    if isinstance(value, dict):
        for part in value.values():
            yield from parts(part)
    elif isinstance(value, list):
        for part in value:
            yield from parts(part)
    else:
        yield value


def _note_uses(node: Any, names: dict[str, bool]) -> None:
    """Whether functions are used as indexed variables only: numbers as they are written in their places."""
    if isinstance(node, str) and undefined(node):
        names[node] = False
    if not isinstance(node, tuple):
        return
    for part in node[1:]:
        _note_uses(part, names)
    if not isinstance(node[0], str):
        _note_uses(node[0], names)
    elif undefined(node[0]):
        names[node[0]] = names.get(node[0], True) and len(node) > 1 and all(_index(part) for part in node[1:])


def _index(node: Tree) -> bool:
    return isinstance(node, int) or (isinstance(node, tuple) and is_call(node, "Rational", "Complex") and all(_index(part) for part in node[1:]))


def _with_symbols(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _with_symbols(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_symbols(part, names) for part in value]
    if isinstance(value, tuple):
        if value[0] in names:
            return f"{value[0]}[{', '.join(show(part) for part in value[1:])}]"
        return tuple(_with_symbols(part, names) for part in value)
    return value
