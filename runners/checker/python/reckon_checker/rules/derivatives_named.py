"""The ways to write the derivatives of a function that an equation is about."""

from __future__ import annotations

from ..tree import Tree, arguments, is_call


def function_of(part: tuple[Tree, ...], names: list[str]) -> tuple[str, int] | None:
    head = part[0]
    if head in names and len(part) == 2:
        return str(head), 0
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2 and head[1] in names:
        order = arguments(head[0])
        return (str(head[1]), order[0]) if len(order) == 1 and isinstance(order[0], int) else None
    return None


def written_out(node: Tree, x: str) -> Tree:
    """D[y[x], x] and D[y[x], {x, n}] as Derivative[n][y][x]."""
    if not isinstance(node, tuple):
        return node
    if is_call(node, "D") and len(node) == 3 and isinstance(node[1], tuple) and isinstance(node[1][0], str) and node[1][1:] == (x,):
        if node[2] == x:
            return ((("Derivative", 1), node[1][0]), x)
        parts = arguments(node[2])
        if is_call(node[2], "List") and len(parts) == 2 and parts[0] == x and isinstance(parts[1], int):
            return ((("Derivative", parts[1]), node[1][0]), x)
    return (node[0], *(written_out(part, x) for part in node[1:]))
