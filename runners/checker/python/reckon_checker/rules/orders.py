"""Procedure "orders": a derivative of symbolic order. Looked at for some orders; proved by induction: it is right for 1, and what it says of n + 1 is the
derivative of what it says of n, as identities by a normal form."""

from __future__ import annotations

from typing import Any

from ..assumptions import Assumptions
from ..calculus import differentiate
from ..findings import Residual, Supported, Verified
from ..hypergeometric import related
from ..tree import Refused, minus, plus, reals, replace
from . import identities


def check(task: dict[str, Any], seed: int) -> Residual:
    """task: claims for some orders, and function, answer, variable, order."""
    found = identities.sampled(task, seed)
    return (proof(task, seed) or found) if isinstance(found, Supported) else found


def proof(task: dict[str, Any], seed: int) -> Verified | None:
    function, answer, x, n = (task[key] for key in ("function", "answer", "variable", "order"))
    if reals(function) or reals(answer):
        return None
    conditions = list(task.get("assumptions") or [])
    try:
        first = (differentiate(function, x), replace(answer, n, 1))
        step = related(minus(replace(answer, n, plus(n, 1)), differentiate(answer, x)), {n})
    except Refused:
        return None
    if not identities.proves([(step, 0)], Assumptions([*conditions, ("Element", n, "PositiveIntegers")])):
        return None
    start = identities.check({"claims": [first], "assumptions": conditions}, seed)
    return start if isinstance(start, Verified) else None
