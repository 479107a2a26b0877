"""One task or more of every procedure, as the server sends them."""

import json
from pathlib import Path
from typing import Any


def tree(node: Any) -> dict[str, Any]:
    return {"tree": node}


HALF = ["Rational", 1, 2]
X2 = ["Power", "x", 2]

TASKS: list[dict[str, Any]] = [
    {"kind": "identities", "claims": [[tree(["Plus", X2, X2]), tree(["Times", 2, X2])]]},
    {"kind": "identities", "claims": [[tree(["Times", ["Gamma", "x"], "x"]), tree(["Gamma", ["Plus", 1, "x"]])]], "assumptions": [tree(["Greater", "x", 0])]},
    {"kind": "identities", "claims": [[tree(["List", ["BesselJ", 0, "x"], ["Zeta", "x"]]), tree(["List", ["PolyLog", 2, "x"], ["EllipticK", "x"]])]]},
    {"kind": "identities_sampled", "claims": [[tree(["D", ["Power", "x", 3], "x"]), tree(["Times", 3, X2])]]},
    {"kind": "antiderivative", "claims": [[tree("x"), tree(["D", ["Times", HALF, X2], "x"])]], "variables": ["x"]},
    {"kind": "value", "expression": tree(["Zeta", 3]), "answer": tree({"r": "1.2020569031595942"})},
    {"kind": "value", "expression": tree(["Zeta", 3]), "answer": tree({"r": "1.2020569031595942854"}), "digits": tree(20)},
    {
        "kind": "roots",
        "conditions": [tree(["Equal", X2, 2])],
        "unknowns": ["x"],
        "solutions": [{"names": ["x"], "values": [tree(["Power", 2, HALF])]}],
        "complete": True,
    },
    {
        "kind": "roots",
        "conditions": [tree(["Equal", ["Plus", X2, ["Power", "y", 2]], 5]), tree(["Equal", ["Times", "x", "y"], 2])],
        "unknowns": ["x", "y"],
        "solutions": [{"names": ["x", "y"], "values": [tree(1), tree(2)]}],
        "complete": True,
    },
    {"kind": "roots", "conditions": [tree(["Equal", ["Sin", "x"], 0])], "unknowns": ["x"], "solutions": [], "complete": True},
    {
        "kind": "roots",
        "conditions": [tree(["Equal", ["Cos", "x"], "x"])],
        "unknowns": ["x"],
        "solutions": [{"names": ["x"], "values": [tree({"r": "0.7390851332151607"})]}],
        "approximate": True,
    },
    {"kind": "truth", "left": tree(["Less", X2, 4]), "right": tree(["Less", -2, "x", 2]), "unknowns": ["x"], "domain": "Reals"},
    {
        "kind": "equations",
        "equations": [tree(["Equal", [[["Derivative", 1], "y"], "x"], ["y", "x"]])],
        "functions": ["y"],
        "variables": ["x"],
        "solutions": [[{"name": "y", "function": tree(["Function", ["List", "x"], ["Times", ["C", 1], ["Power", "E", "x"]]])}]],
    },
    {
        "kind": "elimination",
        "equations": [tree(["Equal", "x", ["Power", "t", 2]]), tree(["Equal", "y", "t"])],
        "names": ["t"],
        "answer": tree(["Equal", "x", ["Power", "y", 2]]),
    },
    {"kind": "quantified", "left": tree(["ForAll", "x", ["Greater", ["Plus", X2, "a"], 0]]), "right": tree(["Greater", "a", 0]), "domain": "Reals"},
    {"kind": "program", "program": tree(["Map", ["Function", ["Power", ["Slot", 1], 2]], ["List", 1, 2]]), "answer": tree(["List", 1, 4])},
    {"kind": "program", "program": tree(["StringReplace", {"t": "abc"}, ["Rule", {"t": "b"}, {"t": "x"}]]), "answer": tree({"t": "axc"})},
    {
        "kind": "program",
        "program": tree(["UnitConvert", ["Quantity", 1, {"t": "Miles"}], {"t": "Meters"}]),
        "answer": tree(["Quantity", 1609, {"t": "Meters"}]),
    },
    {"kind": "text", "part": {"tree": {"t": "1"}}},
    {"kind": "modular_matrix", "what": "determinant", "matrix": tree(["List", ["List", 1, 2], ["List", 3, 4]]), "answer": tree(3), "modulus": tree(5)},
    {"kind": "factors", "number": tree(2**67 - 1), "pairs": [[tree(193707721), tree(1)], [tree(761838257287), tree(1)]]},
    {"kind": "primes", "what": "PrimePi", "args": [tree(10000)], "answer": tree(1229)},
    {"kind": "polynomial", "what": "PolynomialGCD", "args": [tree(["Plus", X2, -1]), tree(["Plus", "x", 1])], "answer": tree(["Plus", "x", 1])},
    {"kind": "matrix", "what": "rank", "matrix": {"tree": ["List", ["List", 1, 2], ["List", 2, 4]]}, "answer": {"tree": 1}},
    {
        "kind": "limit",
        "function": {"tree": ["Times", ["Sin", "x"], ["Power", "x", -1]]},
        "name": "x",
        "point": {"tree": 0},
        "answer": {"tree": 1},
        "direction": 0,
    },
    {"kind": "series", "function": {"tree": ["Sin", "x"]}, "answer": {"tree": "x"}, "variables": [{"name": "x", "point": {"tree": 0}, "order": 2}]},
    {"kind": "sum", "term": {"tree": ["Power", "k", -2]}, "ranges": [["k", {"tree": 1}, {"tree": "Infinity"}]], "answer": {"tree": ["Zeta", 2]}},
    {"kind": "integral", "integrand": {"tree": ["Log", "x"]}, "ranges": [["x", {"tree": 0}, {"tree": 1}]], "answer": {"tree": -1}},
    {
        "kind": "optimum",
        "objective": tree(["Plus", X2, ["Power", "y", 2]]),
        "constraints": [tree(["Equal", ["Plus", "x", "y"], 2])],
        "names": ["x", "y"],
        "value": tree(2),
        "point": {"x": tree(1), "y": tree(1)},
    },
    {"kind": "distribution", "what": "Variance", "args": [tree(["NormalDistribution", "m", "s"])], "answer": tree(["Power", "s", 2])},
    {
        "kind": "orders",
        "claims": [[tree(["D", ["Power", "E", ["Times", 2, "x"]], "x"]), tree(["Times", 2, ["Power", "E", ["Times", 2, "x"]]])]],
        "function": tree(["Power", "E", ["Times", 2, "x"]]),
        "answer": tree(["Times", ["Power", 2, "n"], ["Power", "E", ["Times", 2, "x"]]]),
        "variable": tree("x"),
        "order": tree("n"),
    },
    {
        "kind": "program",
        "program": tree(["CompoundExpression", ["Set", "x", 3], ["SetDelayed", ["f", ["Pattern", "n", ["Blank"]]], ["Plus", "n", "x"]], ["f", 1]]),
        "answer": tree(4),
    },
    {"kind": "optimum", "objective": {"tree": ["Power", "x", 2]}, "constraints": [], "names": ["x"], "value": {"tree": 0}, "point": {"x": {"tree": 0}}},
]
# Plans of domain/verification for pairs of the battery, two of a kind.
TASKS += json.loads((Path(__file__).parent / "examples.json").read_text())
