"""Identities of real symbols, proved for each choice of their signs: Sqrt[1 - 1/x^2] is Sqrt[x^2 - 1]/x for x > 0, and the opposite for x < 0."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..agreement import Claim
from ..normal import proves_equal
from ..tree import Tree, arguments, free_symbols, is_call, reals, replace, times, walk
from .composed import plainly

MAX_NAMES = 4
EXPONENTIALS = ("Sinh", "Cosh", "Tanh", "Coth", "Sech", "Csch", "Exp")


def proved(claims: Sequence[Claim]) -> bool:
    """Whether both sides of each claim have the same normal form for all real values of the symbols but 0 at which they are defined."""
    names = sorted(set().union(*(free_symbols(side) for claim in claims for side in claim)))
    if not 1 <= len(names) <= MAX_NAMES or any(reals(side) for claim in claims for side in claim):
        return False
    written = [(plainly(left), plainly(right)) for left, right in claims]
    return all(
        proves_equal(put(left, names, choice), put(right, names, choice), names, (), names)
        for choice in itertools.product(*(list(ways(name, written)) for name in names))
        for left, right in written
    )


def ways(name: str, claims: Sequence[Claim]) -> Iterator[Tree]:
    """The symbol in a positive one, which stands under the same name: of either sign, or as a logarithm where exponentials are taken of it."""
    if any(name in free_symbols(part) and exponential(part) for claim in claims for side in claim for part in walk(side)):
        yield ("Log", name)
    else:
        yield name
        yield times(-1, name)


def exponential(node: Tree) -> bool:
    return is_call(node, *EXPONENTIALS) or (is_call(node, "Power") and arguments(node)[0] == "E")


def put(node: Tree, names: Sequence[str], choice: Sequence[Tree]) -> Tree:
    for name, way in zip(names, choice, strict=True):
        if way != name:
            node = replace(node, name, way)
    return node
