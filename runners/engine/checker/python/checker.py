"""The independent checker: executes plans of domain/verification. Entry points for the zygote: warm, info, handle.

Requests: {"op": "check", "task": {...}}, answered by a finding (see findings.py), and then, where the finding says that
it is provable, {"op": "prove"}, answered by {"exact": bool}. In two steps, so that a proof that takes too long costs only
itself. Every tree in a task is decoded by tree.decode, which bounds it; nothing is parsed from text and nothing is
evaluated but known heads.
"""
import hashlib
import json
import sys

import mpmath
import sympy

import identities
import symbolic
import tree
import values
from findings import undecided
from reckon_checker import service

sys.setrecursionlimit(8000)


EXECUTORS = {
    "identities": identities.check, 
    
    "value": values.check,
}


def decoded(value):
    """A task with every {"tree": ...} in it decoded."""
    if isinstance(value, dict):
        if set(value) == {"tree"}:
            return tree.decode(value["tree"])
        return {key: decoded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [decoded(part) for part in value]
    return value


def handle(request):
    if request["task"]["kind"] in {**service.RESIDUAL, **service.SAMPLED}:
        return service.handle(request)
    return check(request["task"])


def check(task):
    seed = int.from_bytes(hashlib.sha256(json.dumps(task, sort_keys=True).encode()).digest()[:8], "big")
    try:
        task = decoded(task)
        found = EXECUTORS[task["kind"]](task, seed)
    except tree.Refused as refused:
        return undecided("unsupported: " + str(refused))
    except RecursionError:
        return undecided("unsupported: depth")
    found.pop("proof", None)
    return found


def warm():
    """Touches what is imported or cached lazily, so that a sandboxed child needs no file."""
    for task in WARM:
        check(task)
    service.warm()


def claim(left, right):
    return {"kind": "identities", "claims": [[{"tree": left}, {"tree": right}]]}


# What is cached here, no check has to compute again.
WARM = [
    claim(["D", ["Sin", ["Power", "x", 2]], "x"], ["Times", 2, "x", ["Cos", ["Power", "x", 2]]]),
    claim(["Plus", ["Power", ["Sin", "x"], 2], ["Power", ["Cos", "x"], 2]], 1),
]


info = service.info
