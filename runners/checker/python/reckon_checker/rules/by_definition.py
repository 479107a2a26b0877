"""Root[{f, x0}] put into an equation: it makes the equation true by its definition where the sides differ by a multiple of f."""

from __future__ import annotations

from ..calculus import applied
from ..evaluation import evaluate
from ..normal import proves_zero
from ..tree import Real, Refused, Tree, arguments, free_symbols, is_call, minus, replace, times, walk
from ..values import Undecided, is_number, precision

BITS = 256
ROOT, OTHER = "root$variable", "root$other"


def true_by_definition(left: Tree, right: Tree) -> bool:
    """Whether the sides of an equation without symbols are equal because f of the one Root[{f, x0}] in them is 0. False: not known."""
    roots = {part for side in (left, right) for part in walk(side) if near_a_place(part)}
    if len(roots) != 1 or free_symbols(left) | free_symbols(right):
        return False
    (root,) = roots
    if not has_value(root):
        return False
    gap = minus(with_symbol(left, root), with_symbol(right, root))
    function = arguments(arguments(root)[0])[0]
    try:
        f = applied(function, (ROOT,))
    except Refused:
        return False
    if free_symbols(f) != {ROOT} or free_symbols(gap) != {ROOT}:
        return False
    # gap(a) f(b) == gap(b) f(a) for all a and b: gap is f times a number.
    return proves_zero(minus(times(gap, replace(f, ROOT, OTHER)), times(replace(gap, ROOT, OTHER), f)))


def has_value(root: Tree) -> bool:
    """Whether one root of f is proved to lie near x0."""
    with precision(BITS):
        try:
            return is_number(evaluate(root))
        except (Undecided, Refused):
            return False


def near_a_place(node: Tree) -> bool:
    parts = arguments(arguments(node)[0]) if is_call(node, "Root") and len(arguments(node)) == 1 and is_call(arguments(node)[0], "List") else ()
    return len(parts) == 2 and is_call(parts[0], "Function") and isinstance(parts[1], Real)


def with_symbol(node: Tree, root: Tree) -> Tree:
    if node == root:
        return ROOT
    return tuple(part if i == 0 and isinstance(part, str) else with_symbol(part, root) for i, part in enumerate(node)) if isinstance(node, tuple) else node
