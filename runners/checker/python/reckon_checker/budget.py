"""The budget of a check: processor time of this process, so that a busy machine changes no verdict.

start() sets it; step() is called wherever work is done and raises Spent once it is used up. It looks at the clock once in
some steps: the clock costs more than a step.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STEPS_PER_LOOK = 32


class Spent(Exception):
    """The budget is used up."""


class _State:
    limit = float("inf")
    left = STEPS_PER_LOOK


def start(seconds: float) -> None:
    """From now on, so many seconds of processor time."""
    _State.limit = time.process_time() + seconds
    _State.left = STEPS_PER_LOOK


def insist() -> None:
    """Ends the process by SIGPROF where one step takes longer than twice what is left: a call into FLINT is not interrupted."""
    signal.setitimer(signal.ITIMER_PROF, 2 * max(left(), 0) + 0.1)


def step() -> None:
    _State.left -= 1
    if _State.left <= 0:
        look()


def look() -> None:
    """Compares with the clock at once: before and after work of which one step is long."""
    _State.left = STEPS_PER_LOOK
    if time.process_time() > _State.limit:
        raise Spent


def left() -> float:
    """Seconds of processor time that are left."""
    return _State.limit - time.process_time()


@contextmanager
def share(part: float) -> Iterator[None]:
    """Within, so much of what is left: an attempt that raises Spent costs only itself. See attempted."""
    outer = _State.limit
    _State.limit = time.process_time() + part * max(left(), 0)
    try:
        yield
    finally:
        _State.limit = outer


def attempted(proof: Callable[[], bool], part: float = 0.5) -> bool:
    """Whether a proof succeeds within its share of the budget."""
    try:
        with share(part):
            return proof()
    except Spent:
        look()
        return False
