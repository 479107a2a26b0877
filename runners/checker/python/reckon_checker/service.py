"""The independent checker: executes plans of domain/verification. Entry points for the zygote: warm, info, handle.

A request {"op": "check", "task": {...}, "steps": n, "cpu_ms": m} is answered by a finding (findings.py) within n steps (budget.py),
or by {"status": "timeout"}; the process ends after m milliseconds of processor time, whatever it does. Every tree in a task is decoded
by tree.decode, which bounds it; nothing is parsed from text and nothing is evaluated but known heads. After warm() nothing is imported
any more: an import raises.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import flint

from . import budget, closed_sums, critical, explicit, extrema, logic, readings, stand_ins, tree, vocabulary
from .evaluation import HEADS
from .findings import Open, Refuted, Residual, Sampled, Supported, Verified, as_reply
from .rules import (
    antiderivatives,
    conditions,
    distributions,
    elimination,
    functional,
    identities,
    integrals,
    limits,
    matrices,
    modular_matrices,
    number_properties,
    numeric_value,
    optima,
    orders,
    polynomial_parts,
    power_series,
    programs,
    programs_within,
    quantified,
    solutions,
    sums,
    whole_numbers,
)
from .values import Undecided

HEADS.update(logic.PROPOSITIONS)
sys.setrecursionlimit(8000)
sys.set_int_max_str_digits(tree.MAX_INTEGER_DIGITS + 100)  # whole numbers come as JSON

# Procedures of rules that may verify or have a proof, and of those that only sample: the types differ by Verified.
RESIDUAL: dict[str, Callable[[dict[str, Any], int], Residual]] = {
    "identities": identities.check,
    "antiderivative": antiderivatives.check,
    "roots": solutions.check,
    "truth": conditions.check,
    "elimination": elimination.check,
    "equations": functional.check,
    "factors": whole_numbers.factors,
    "primes": number_properties.check,
    "polynomial": polynomial_parts.check,
    "matrix": matrices.check,
    "modular_matrix": modular_matrices.check,
    "text": identities.text,
    "limit": limits.check,
    "series": power_series.check,
    "sum": sums.check,
    "integral": integrals.check,
    "value": numeric_value.check,
    "optimum": optima.check,
    "orders": orders.check,
    "quantified": quantified.check,
}
SAMPLED: dict[str, Callable[[dict[str, Any], int], Sampled]] = {
    "identities_sampled": identities.sampled,
}

# The kind whose functions have an evaluator of their own: what it leaves are claims for identities.
PROGRAM = "program"
# The kind of questions that become claims for identities.
DISTRIBUTION = "distribution"

# Kinds that look at symbolic ends of sums at natural numbers only.
OF_NATURAL_ENDS = frozenset(("identities", "identities_sampled", "orders", "antiderivative", "sum"))

# Kinds that read decimals as the fractions that they are: what they refute is no proof where a decimal stands for the interval that prints so.
OF_EXACT_NUMBERS = frozenset(("quantified", "equations", "elimination", "polynomial"))

# Kinds that only support what holds of decimals that 53 bits do not hold as they are written.
OF_TWO_READINGS = frozenset(("identities", "antiderivative", "equations"))


def decoded(value: Any) -> Any:
    """A task with every {"tree": ...} in it decoded."""
    if isinstance(value, dict):
        if set(value) == {"tree"}:
            return tree.decode(value["tree"])
        return {key: decoded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [decoded(part) for part in value]
    return value


def handle(request: dict[str, Any]) -> dict[str, Any]:
    started = time.process_time()
    budget.start(request["steps"], request["cpu_ms"] / 1000)
    reply = check(request["task"])
    reply["cpu_us"] = round((time.process_time() - started) * 1e6)
    return reply


def check(task: dict[str, Any]) -> dict[str, Any]:
    seed = int.from_bytes(hashlib.sha256(json.dumps(task, sort_keys=True).encode()).digest()[:8], "big")
    try:
        task = decoded(task)
        if task["kind"] == PROGRAM:
            found = programs.check(task, seed)
            if not isinstance(found, list):
                return as_reply(found)
            task = {"kind": "identities", "claims": found}
        if task["kind"] == DISTRIBUTION:
            task = distributions.claims(task)
        task = programs_within.worked_out(task)
        vocabulary.require_known(task)
        stand_ins.begin(task)
        task = explicit.written_out(extrema.of_numbers(task))
        if task["kind"] != "equations":
            task = stand_ins.indexed(task)
        if task["kind"] not in OF_NATURAL_ENDS:
            task = closed_sums.without_symbolic_ends(task)
        procedure = RESIDUAL.get(task["kind"]) or SAMPLED[task["kind"]]
        found = procedure(task, seed)
        if task["kind"] in OF_TWO_READINGS:
            found = readings.in_both(task, found, lambda read: procedure(read, seed))
        if isinstance(found, Verified) and (task["kind"] == "truth" or not found.exact) and stand_ins.mentioned(task):
            found = Supported()  # what holds of the stand-in need not hold of every function
        if isinstance(found, Verified) and (task["kind"] == "truth" or not found.exact) and hides_kinks(task):
            found = Supported()  # there may be places at which nothing was looked at
        if isinstance(found, Refuted) and task["kind"] in OF_EXACT_NUMBERS and not tree.kept_by_machines(*stand_ins.parts(task)):
            found = Open("decimals that stand for intervals")
        return as_reply(found)
    except tree.Refused as refused:
        return as_reply(Open("unsupported: " + str(refused)))
    except Undecided as undecided:
        return as_reply(Open("not decided: " + str(undecided)))
    except RecursionError:
        return as_reply(Open("unsupported: depth"))
    except budget.Spent:
        return {"status": "timeout", "residual": "", "exact": False}


def hides_kinks(task: dict[str, Any]) -> bool:
    """Whether functions in a task have kinks at places that are not looked for."""
    return any(critical.kinks_in_a_list(part) for node in stand_ins.parts(task) for part in tree.walk(node))


class NoImport:
    """Stands first among the finders once everything is loaded: an import in a sandboxed worker would fail there."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        raise ImportError(f"{name} is imported after the checker was warmed")


def warm() -> None:
    """Runs what is cached or loaded lazily, then forbids imports."""
    for task in WARM:
        check(task)
    sys.meta_path.insert(0, NoImport())


def claim(left: Any, right: Any) -> dict[str, Any]:
    return {"kind": "identities", "claims": [[{"tree": left}, {"tree": right}]]}


WARM: list[dict[str, Any]] = [
    claim(["D", ["Sin", ["Power", "x", 2]], "x"], ["Times", 2, "x", ["Cos", ["Power", "x", 2]]]),
    claim(["Times", ["Gamma", "x"], ["Gamma", ["Plus", 1, ["Times", -1, "x"]]]], ["Times", "Pi", ["Power", ["Sin", ["Times", "Pi", "x"]], -1]]),
    claim(["Plus", ["Zeta", 3], "EulerGamma"], ["Plus", ["Zeta", 3], "Catalan"]),
]


INFO = {"name": "python-flint", "revision": f"{flint.__version__}+FLINT-{flint.__FLINT_VERSION__}"}


def info() -> dict[str, str]:
    return INFO
