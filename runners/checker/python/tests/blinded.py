"""Makes the searches of the checker blind, one at a time, and looks whether a wrong answer is verified then.

A search that finds no objection because it cannot evaluate anything has not found that there is none. Each module is given an evaluation, a
truth value, a derivative or a normal form that refuses, is not decided, or proves nothing: always, or from the second or fourth call on.

Reads tasks of wrong answers from stdin, one a line as {"task": ..., "what": text}; writes those that are verified with open eyes or blind.
"""

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import reckon_checker
from reckon_checker import budget, calculus, critical, evaluation, normal, service, tree, univariate, values
from reckon_checker.rules import breaks, limits, one_variable, open_cells

STEPS, SECONDS = 500_000, 3600
AFTER = (0, 1, 3)
Fault = Callable[[], Any]


def refuses() -> Any:
    raise tree.Refused("blind")


def undecided() -> Any:
    raise values.Undecided("blind")


def not_placed() -> Any:
    raise one_variable.NotPlaced


def nothing() -> Any:
    return None


def none() -> Any:
    return []


def not_proved() -> Any:
    return False


# What is made blind, and how it says so.
SEARCHES: dict[str, tuple[Callable[..., Any], tuple[Fault, ...]]] = {
    "evaluate": (evaluation.evaluate, (refuses, undecided)),
    "truth": (evaluation.truth, (refuses, undecided)),
    "differentiate": (calculus.differentiate, (refuses,)),
    "crossings": (critical.crossings, (refuses,)),
    "proves_zero": (normal.proves_zero, (not_proved,)),
    "proves_equal": (normal.proves_equal, (not_proved,)),
    "polynomial": (univariate.polynomial, (nothing,)),
    "places": (breaks.places, (not_placed,)),
    "one_sided": (limits.one_sided, (nothing,)),
    "samples": (open_cells.samples, (refuses, none)),
    "between": (open_cells.between, (refuses, none)),
}
MODULES = [importlib.import_module(one.name) for one in pkgutil.walk_packages(reckon_checker.__path__, "reckon_checker.")]
SITES = [(m, name) for m in MODULES for name, (search, _) in SEARCHES.items() if getattr(m, name, None) is search and m is not evaluation]


def forget() -> None:
    """What was cached with open eyes."""
    for module in MODULES:
        for part in vars(module).values():
            if hasattr(part, "cache_clear"):
                part.cache_clear()


@contextmanager
def replaced(module: Any, name: str, by: Callable[..., Any]) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, by)
    try:
        yield
    finally:
        setattr(module, name, before)


def status(task: Any) -> str:
    forget()
    budget.start(STEPS, SECONDS)
    return str(service.check(json.loads(json.dumps(task)))["status"])


def calls(task: Any) -> tuple[str, dict[tuple[str, str], int]]:
    """What the check says with open eyes, and how often each search is called."""
    count: dict[tuple[str, str], int] = {}

    def counting(module: Any, name: str) -> Callable[..., Any]:
        def search(*args: Any, **named: Any) -> Any:
            count[module.__name__, name] = count.get((module.__name__, name), 0) + 1
            return SEARCHES[name][0](*args, **named)

        return search

    for module, name in SITES:
        setattr(module, name, counting(module, name))
    try:
        return status(task), count
    finally:
        for module, name in SITES:
            setattr(module, name, SEARCHES[name][0])


def blinded(task: Any) -> Iterator[str]:
    """Searches with which the answer is verified: "" for open eyes."""
    found, count = calls(task)
    if found == "proved":
        yield "open eyes"
        return
    for (module, name), often in count.items():
        search, faults = SEARCHES[name]
        for fault in faults:
            for after in (n for n in AFTER if n < often):
                turn = iter(range(10**9))

                def blind(*args: Any, search: Any = search, fault: Fault = fault, after: int = after, turn: Any = turn, **named: Any) -> Any:
                    return fault() if next(turn) >= after else search(*args, **named)

                with replaced(sys.modules[module], name, blind):
                    if status(task) == "proved":
                        yield f"{module}.{name} {fault.__name__} from call {after + 1}"
                        break


def main() -> None:
    for line in sys.stdin:
        one = json.loads(line)
        for search in blinded(one["task"]):
            print(f"{search} | {one['what']}", flush=True)  # noqa: T201 (its output)


if __name__ == "__main__":
    main()
