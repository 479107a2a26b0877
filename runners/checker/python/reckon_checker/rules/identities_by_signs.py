"""Identities of real symbols, proved for each choice of their signs: Sqrt[1 - 1/x^2] is Sqrt[x^2 - 1]/x for x > 0, and the opposite for x < 0."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from flint import fmpq

from ..agreement import Claim
from ..normal import proves_equal
from ..tree import Tree, arguments, free_symbols, is_call, plus, rational_tree, reals, replace, times, walk
from ..univariate import polynomial
from .continuous_parts import plainly

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
        kinks = {kink for claim in claims for side in claim for part in walk(side) if (kink := kink_of(part, name)) is not None}
        start = kinks.pop() if len(kinks) == 1 else fmpq(0)
        for way in (name, times(-1, name)):
            yield plus(way, rational_tree(start)) if start != 0 else way


def kink_of(node: Tree, name: str) -> fmpq | None:
    """Where what a sign or size is taken of is 0."""
    line = polynomial(arguments(node)[0], name) if is_call(node, "Sign", "Abs") else None
    return -line[0] / line[1] if line is not None and line.degree() == 1 else None


def exponential(node: Tree) -> bool:
    return is_call(node, *EXPONENTIALS) or (is_call(node, "Power") and arguments(node)[0] == "E")


def put(node: Tree, names: Sequence[str], choice: Sequence[Tree]) -> Tree:
    for name, way in zip(names, choice, strict=True):
        if way != name:
            node = replace(node, name, way)
    return node
