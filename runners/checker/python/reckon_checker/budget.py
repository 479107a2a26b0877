"""The budget of a check in steps: work that is counted, not timed, so that a verdict depends on nothing but the task.

Every evaluation of a node and every turn of a long loop is a step, and what takes longer is several: step() raises Spent once more
are taken than start() gave. A step is some 5 microseconds. Processor time is a backstop far outside, for a call into FLINT that
no step interrupts: it ends the process.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Spent(Exception):
    """The budget is used up."""


class _State:
    left = 2**62  # none is set


def start(steps: int, seconds: float) -> None:
    """From now on, so many steps; the process ends by SIGPROF after so many seconds of processor time."""
    _State.left = steps
    signal.setitimer(signal.ITIMER_PROF, seconds)


def step(count: int = 1) -> None:
    """Takes so many steps, before the work that they stand for."""
    _State.left -= count
    if _State.left < 0:
        raise Spent


def left() -> int:
    """Steps that are left."""
    return max(_State.left, 0)


@contextmanager
def share(part: float) -> Iterator[None]:
    """Within, so much of what is left: an attempt that raises Spent costs only itself. See attempted."""
    outer = _State.left
    inner = _State.left = int(part * left())
    try:
        yield
    finally:
        _State.left += outer - inner


def attempt(proof: Callable[[], T | None], part: float = 0.5) -> T | None:
    """What a proof finds within its share of the budget."""
    try:
        with share(part):
            return proof()
    except Spent:
        step(0)
        return None


def attempted(proof: Callable[[], bool], part: float = 0.5) -> bool:
    """Whether a proof succeeds within its share of the budget."""
    return attempt(proof, part) is True
