"""Equations: what is counted, isolated and covered."""

from typing import Any

import pytest
from examples import HALF, X2, tree
from flint import acb, arb, fmpq

from reckon_checker.rules.algebraic import NotAlgebraic, Reader
from reckon_checker.rules.candidates import Algebraic
from reckon_checker.rules.jacobian import rank_at_least
from reckon_checker.rules.systems import Infinite, families
from reckon_checker.rules.whole_numbers import gaussian_gcd, is_gaussian_prime, sieve
from reckon_checker.service import check
from reckon_checker.tree import decode
from reckon_checker.values import precision


def solve(conditions: list[Any], unknowns: list[str], *solutions: dict[str, Any], domain: str = "Complexes", complete: bool = True) -> str:
    found = check(
        {
            "kind": "roots",
            "conditions": [tree(c) for c in conditions],
            "unknowns": unknowns,
            "domain": domain,
            "complete": complete,
            "solutions": [{"names": list(s), "values": [tree(v) for v in s.values()]} for s in solutions],
        }
    )
    return str(found["status"])


def equal(a: Any, b: Any = 0) -> list[Any]:
    return ["Equal", a, b]


def count(equations: list[Any], unknowns: list[str]) -> int:
    reader = Reader(unknowns)
    for equation in equations:
        reader.equation(decode(equation), 0)
    return sum(family.modulus.degree() for family in families(reader.system))


Y2 = ["Power", "y", 2]


@pytest.mark.parametrize(
    ("equations", "unknowns", "wanted"),
    [
        ([["Plus", X2, 1]], ["x"], 2),
        ([["Power", ["Plus", "x", -1], 3]], ["x"], 1),
        ([["Plus", X2, Y2, -5], ["Plus", ["Times", "x", "y"], -2]], ["x", "y"], 4),
        ([["Plus", X2, Y2, -2], ["Plus", "x", "y", -2]], ["x", "y"], 1),  # a double point counts once
        ([["Power", "x", -1]], ["x"], 0),
        ([["Plus", ["Power", "x", 3], ["Times", -1, "y"], 2], ["Plus", ["Power", "y", 3], ["Times", -2, "x"], 1]], ["x", "y"], 9),
    ],
)
def test_number_of_solutions(equations: list[Any], unknowns: list[str], wanted: int) -> None:
    assert count(equations, unknowns) == wanted


def test_infinitely_many() -> None:
    with pytest.raises(Infinite) as found:
        count([["Times", "x", "y"]], ["x", "y"])
    assert found.value.dimension == 1


def test_not_algebraic() -> None:
    with pytest.raises(NotAlgebraic):
        count([["Sin", "x"]], ["x"])


def test_principal_roots() -> None:
    equation = decode(equal(["Power", ["Plus", "x", 3], HALF], ["Plus", "x", -3]))
    with precision(128):
        (only,) = Algebraic([equation], [], ["x"], "Complexes").at(128)
    assert only.values == {"x": fmpq(6)}


ROOT2 = ["Power", 2, HALF]


@pytest.mark.parametrize(
    ("solutions", "wanted"),
    [
        ([{"x": ROOT2}, {"x": ["Times", -1, ROOT2]}], "proved"),
        ([{"x": ROOT2}], "refuted"),
        ([{"x": ["Plus", ROOT2, ["Power", 10, -300]]}, {"x": ["Times", -1, ROOT2]}], "refuted"),
        ([{"x": ["Plus", ROOT2, ["Power", "E", -100000]]}, {"x": ["Times", -1, ROOT2]}], "refuted"),
        ([], "refuted"),
    ],
)
def test_roots_of_two(solutions: list[dict[str, Any]], wanted: str) -> None:
    assert solve([equal(X2, 2)], ["x"], *solutions) == wanted


def family(value: Any, domain: str = "Integers", *more: Any) -> Any:
    condition = ["Element", ["C", 1], domain]
    return ["ConditionalExpression", value, ["And", condition, *more] if more else condition]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (family(["Times", "Pi", ["C", 1]]), "proved"),
        (family(["Times", 2, "Pi", ["C", 1]]), "refuted"),
        (family(["Times", "Pi", ["C", 1]], "Reals"), "refuted"),
        (family(["Times", "Pi", ["C", 1]], "Integers", ["GreaterEqual", ["C", 1], 0]), "refuted"),
        (family(["Times", HALF, "Pi", ["C", 1]]), "refuted"),
    ],
)
def test_zeros_of_the_sine(value: Any, wanted: str) -> None:
    assert solve([equal(["Sin", "x"])], ["x"], {"x": value}) == wanted


def test_components() -> None:
    product = [equal(["Times", "x", "y"])]
    assert solve(product, ["x", "y"], {"x": 0}, {"y": 0}) == "proved"
    assert solve(product, ["x", "y"], {"x": 0}) == "refuted"
    circle = [equal(["Plus", X2, Y2], 1)]
    upper = ["Power", ["Plus", 1, ["Times", -1, X2]], HALF]
    assert solve(circle, ["x", "y"], {"y": upper}, {"y": ["Times", -1, upper]}) == "proved"
    assert solve(circle, ["x", "y"], {"y": upper}, {"y": upper}) == "refuted"


def test_window() -> None:
    inside = [equal(["Cos", "x"]), ["Less", 0, "x", ["Times", 2, "Pi"]]]
    assert solve(inside, ["x"], {"x": ["Times", HALF, "Pi"]}, {"x": ["Times", ["Rational", 3, 2], "Pi"]}) == "proved"
    assert solve(inside, ["x"], {"x": ["Times", HALF, "Pi"]}) == "refuted"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (["Plus", ["Times", "p", ["Cos", "x"]], ["Times", "q", ["Sin", "x"]]], "proved"),
        (["Times", 0, ["C", 1]], "refuted"),
        (["Times", ["Plus", ["C", 1], ["C", 2]], ["Cos", "x"]], "refuted"),
        (["Plus", ["Times", "p", ["Cos", "x"]], ["Times", "q", ["Sinh", "x"]]], "refuted"),
    ],
)
def test_constants_of_an_oscillator(body: Any, wanted: str) -> None:
    equation = equal(["Plus", [[["Derivative", 2], "y"], "x"], ["y", "x"]])
    task = {"kind": "equations", "equations": [tree(equation)], "functions": ["y"], "variables": ["x"]}
    assert check({**task, "solutions": [[{"name": "y", "function": tree(["Function", ["List", "x"], body])}]]})["status"] == wanted


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (["Less", ["Power", "x", HALF], 3], ["Less", "x", 9], "refuted"),
        (["Less", ["Power", "x", HALF], 3], ["Inequality", 0, "LessEqual", "x", "Less", 9], "proved"),
        (["LessEqual", X2, 2], ["Less", ["Times", -1, ROOT2], "x", ROOT2], "refuted"),
        (["Greater", ["Power", "E", "x"], 2], ["Greater", "x", ["Log", 2]], "agrees"),
        (["GreaterEqual", ["Power", "E", "x"], 2], ["Greater", "x", ["Log", 2]], "refuted"),
    ],
)
def test_cells(left: Any, right: Any, wanted: str) -> None:
    assert check({"kind": "truth", "left": tree(left), "right": tree(right), "unknowns": ["x"], "domain": "Reals"})["status"] == wanted


def test_gaussian_integers() -> None:
    assert gaussian_gcd((4, 2), (3, 1)) == (1, 1)
    assert [is_gaussian_prime(z) for z in ((3, 0), (5, 0), (2, 1), (0, 7), (1, 0))] == [True, False, True, True, False]
    assert sieve(100).count(1) == 25


def test_rank_is_a_lower_bound() -> None:
    wide = acb(arb(0, 1))
    assert rank_at_least([[acb(1), acb(2)], [acb(2), acb(4)]]) == 1
    assert rank_at_least([[acb(1), acb(2)], [acb(2), acb(5)]]) == 2
    assert rank_at_least([[wide, wide], [wide, wide]]) == 0


def test_modular() -> None:
    task = {"kind": "roots", "conditions": [tree(equal(X2, 1))], "unknowns": ["x"], "modulus": tree(8)}
    given = [{"names": ["x"], "values": [tree(n)]} for n in (1, 3, 5, 7)]
    assert check({**task, "solutions": given})["status"] == "proved"
    assert check({**task, "solutions": given[:3]})["status"] == "refuted"


def power(base: Any, exponent: Any) -> list[Any]:
    return ["Power", base, exponent]


LOG = ["Log", "x"]


@pytest.mark.parametrize(
    ("equation", "values", "wanted"),
    [
        (equal(LOG, 2), [power("E", 2)], "proved"),
        (equal(LOG, 2), [["Plus", power("E", 2), power(10, -70)]], "refuted"),
        (equal(LOG, 2), [["Exp", 2]], "proved"),
        (equal(power(LOG, 2), 4), [power("E", 2), power("E", -2)], "proved"),
        (equal(power(LOG, 2), 4), [power("E", 2)], "refuted"),
        (equal(LOG, ["Times", 4, "I"]), [], "proved"),  # outside the range of Log
        (equal(LOG, ["Times", 4, "I"]), [power("E", ["Times", 4, "I"])], "refuted"),
        (equal(["ArcSin", "x"], 2), [], "proved"),
        (equal(["ArcTan", "x"], ["Times", "Pi", ["Rational", 1, 3]]), [power(3, HALF)], "proved"),
        (equal(["Log", X2], 2), ["E", ["Times", -1, "E"]], "proved"),
        (equal(["Log", X2], 2), ["E"], "refuted"),
        (equal(["Log", 2, "x"], 5), [32], "proved"),
        (equal(X2, "Pi"), [power("Pi", HALF), ["Times", -1, power("Pi", HALF)]], "proved"),
        (equal(X2, "Pi"), [power("Pi", HALF)], "refuted"),
        (equal(["ProductLog", "x"], 1), ["E"], "proved"),
        (equal(X2, 2), [power(2, HALF), ["Plus", ["Times", -1, power(2, HALF)], power(10, -9000)]], "refuted"),
        (equal(X2, 2), [power(2, HALF), ["Plus", ["Times", -1, power(2, HALF)], power("E", -20000)]], "refuted"),
        (equal(["Cos", ["Times", 2, "x"]], ["Plus", power(["Cos", "x"], 2), ["Times", -1, power(["Sin", "x"], 2)]]), [0], "refuted"),
    ],
)
def test_equations_in_one_inverse_function(equation: Any, values: list[Any], wanted: str) -> None:
    assert solve([equation], ["x"], *({"x": value} for value in values)) == wanted


def family(value: Any) -> dict[str, Any]:
    return {"x": ["ConditionalExpression", value, ["Element", ["C", 1], "Integers"]]}


def test_exponential_of_any_number() -> None:
    equation = equal(power("E", "x"), "Pi")
    step = ["Times", 2, "I", "Pi", ["C", 1]]
    assert solve([equation], ["x"], family(["Plus", ["Log", "Pi"], step])) == "proved"
    assert solve([equation], ["x"], family(["Plus", ["Log", "Pi"], ["Times", 2, step]])) == "refuted"
    assert solve([equal(["Sin", "x"])], ["x"], family(["Plus", ["Times", "Pi", ["C", 1]], power("E", -50000)])) == "refuted"


def test_a_symbol_that_the_question_does_not_know() -> None:
    task = {"kind": "roots", "conditions": [tree(equal("x", "x"))], "unknowns": ["x"], "solutions": [{"names": [], "values": []}], "complete": True}
    assert check(task)["status"] == "proved"
    assert check({**task, "foreign": True})["status"] == "open"


def prime(name: str = "y", order: int = 1, at: Any = "x") -> list[Any]:
    return [[["Derivative", order], name], at]


def differential(equations: list[Any], *bodies: Any, variables: tuple[str, ...] = ("x",), name: str = "y") -> str:
    solutions = [[{"name": name, "function": tree(["Function", ["List", *variables], body])}] for body in bodies]
    task = {"kind": "equations", "equations": [tree(e) for e in equations], "functions": [name], "variables": list(variables), "solutions": solutions}
    return str(check(task)["status"])


Y = ["y", "x"]
C1 = ["C", 1]


def minus(node: Any) -> list[Any]:
    return ["Times", -1, node]


@pytest.mark.parametrize(
    ("equation", "bodies", "wanted"),
    [
        (equal(power(prime(), 2), 1), [["Plus", "x", C1]], "refuted"),
        (equal(power(prime(), 2), 1), [["Plus", "x", C1], ["Plus", minus("x"), C1]], "agrees"),
        (equal(["Times", Y, prime()], "x"), [power(["Plus", X2, C1], HALF)], "refuted"),
        (equal(["Times", Y, prime()], "x"), [power(["Plus", X2, C1], HALF), minus(power(["Plus", X2, C1], HALF))], "agrees"),
        (equal(prime(), power("E", minus(Y))), [["Log", ["Plus", "x", C1]]], "agrees"),  # branches of the logarithm are not held against it
        (equal(power(prime(), 2), Y), [["Times", ["Rational", 1, 4], power(["Plus", "x", C1], 2)]], "proved"),  # one family, both slopes
        (equal(Y, ["Plus", ["Times", "x", prime()], power(prime(), 2)]), [["Plus", ["Times", C1, "x"], power(C1, 2)]], "proved"),  # Clairaut
        (equal(["Plus", prime(order=2), Y], 0), [["Plus", ["Times", C1, ["Sin", ["Times", ["Rational", 1001, 1000], "x"]]], ["C", 2]]], "refuted"),
    ],
)
def test_branches_of_differential_equations(equation: Any, bodies: list[Any], wanted: str) -> None:
    assert differential([equation], *bodies) == wanted


PI2 = power("Pi", 2)


@pytest.mark.parametrize(
    ("rate", "end", "value", "body", "wanted"),
    [
        (PI2, 1, 0, 0, "refuted"),  # C Sin[Pi x] solves it too
        (PI2, 1, 0, ["Times", C1, ["Sin", ["Times", "Pi", "x"]]], "agrees"),
        (PI2, 1, 0, ["Sin", ["Times", 2, "Pi", "x"]], "refuted"),
        (1, 1, 0, 0, "proved"),
        (1, 1, 1, ["Times", ["Sin", "x"], power(["Sin", 1], -1)], "proved"),
        (0, 1, 1, "x", "proved"),
    ],
)
def test_boundary_problems(rate: Any, end: Any, value: Any, body: Any, wanted: str) -> None:
    equation = equal(["Plus", prime(order=2), ["Times", rate, Y]], 0)
    assert differential([equation, equal(["y", 0], 0), equal(["y", end], value)], body) == wanted


def test_partial_equations_of_first_order() -> None:
    u = ["u", "x", "t"]
    equation = equal(["Plus", [[["Derivative", 0, 1], "u"], "x", "t"], ["D", u, "x"]], 0)

    def status(body: Any) -> str:
        return differential([equation], body, variables=("x", "t"), name="u")

    difference = ["Plus", "t", minus("x")]
    assert status([C1, difference]) == "proved"
    assert status([C1, ["Times", 3, difference]]) == "proved"
    assert status([C1, ["Plus", "x", "t"]]) == "refuted"
    assert status(difference) == "refuted"  # one solution of infinitely many
    assert status(["Times", difference, [C1, difference]]) == "agrees"  # nothing that is not 0 at x = t is reached
    assert status([C1, power(difference, 2)]) == "agrees"  # even functions only
