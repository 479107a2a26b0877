"""The functions that the checker knows. A task that holds any other is answered by "unsupported", before a rule looks at it: scopes
(Module, With), held parts, choices (Which, Switch) and functions of the form of an expression (Part, Apply) mean what no rule here
works out, so that nothing may be said about an expression around them."""

from __future__ import annotations

from typing import Any

from .evaluation import FUNCTIONS, HEADS
from .tree import Refused, Tree, is_call, undefined

# Heads that rules read beside those that are evaluated.
READ_BY_RULES = frozenset("Function Derivative Rule O Exists ForAll Integrate Alternatives Interval DiracDelta Cyclotomic HilbertMatrix".split())
# What may be applied as a head without being a name: pure functions, C[1][x], Derivative[1][f][x].
APPLIED = ("Function", "C", "Derivative")


def require_known(task: Any) -> None:
    """Raises Refused with the name of the first function, anywhere in a task, that is not known."""
    if isinstance(task, dict):
        task = list(task.values())
    if isinstance(task, list):
        for part in task:
            require_known(part)
    elif isinstance(task, tuple):
        for part in task[1:]:
            require_known(part)
        _require_head(task)


def known(name: str) -> bool:
    """Whether a function has values here: one of the language that is evaluated, or one of the user's, which stands for any."""
    return name in HEADS or name in FUNCTIONS or undefined(name)


def _require_head(node: tuple[Tree, ...]) -> None:
    head = node[0]
    if isinstance(head, str):
        if not (known(head) or head in READ_BY_RULES):
            raise Refused(head)
        return
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and isinstance(head[1], str) and not known(head[1]):
        raise Refused(f"the derivative of {head[1]}")
    if not is_call(head, *APPLIED) and not (isinstance(head, tuple) and is_call(head[0], "Derivative")):
        raise Refused("head")
    require_known(head)
