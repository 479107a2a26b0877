"""Whether a family of solutions is all of them: which values its constants reach, and whether initial values leave one solution.

A family that is affine in its constants and of full rank reaches everything. In one constant C it is a rational function of C, or
of E^(a C): as a map of the sphere that is onto (it is not constant), so that only its limits at C = Infinity, or at E^(a C) = 0 and Infinity, are
left out; these must be infinite or constant in x. Abs, Re or Floor of a constant, and Tanh[C] E^x, which leaves out E^x, are not proved onto.
Initial values determine the solution where the right side has bounded derivatives by the unknowns next to them (Picard-Lindelof).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flint import arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..normal import proves_zero
from ..sides import JUMPING
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, replace, times, walk
from ..values import Undecided, Value, complex_ball, is_number, precision, real_ball
from .jacobian import BITS, determinant, nonzero

MAX_POWER, MAX_TERMS = 12, 40
NEARBY = arb(2) ** -30
Powers = dict[int, Tree]  # coefficients of the powers of t
Fraction = tuple[Powers, Powers]
EXPONENTIAL = frozenset("Exp Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch".split())


class NotRational(Exception):
    """Not a rational function of the constant, or of one exponential of it."""


BRANCHLESS = frozenset("Plus Times Exp Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Rational Complex".split())


def branchless(node: Tree, names: set[str]) -> bool:
    """Whether an expression is meromorphic in some symbols: no root, logarithm or step is taken of them."""
    if not isinstance(node, tuple) or not free_symbols(node) & names:
        return True
    parts = arguments(node)
    if node[0] == "Power" and len(parts) == 2:
        return branchless(parts[1], names) if parts[0] == "E" else isinstance(parts[1], int) and branchless(parts[0], names)
    return node[0] in BRANCHLESS and all(branchless(part, names) for part in parts)


def affine(bodies: list[Tree], constants: list[str]) -> bool:
    """Whether bodies are of first degree in all constants together."""
    if not all(branchless(body, set(constants)) for body in bodies):
        return False
    return all(proves_zero(differentiate(differentiate(body, a), b)) for body in bodies for i, a in enumerate(constants) for b in constants[i:])


def onto(body: Tree, constant: str, x: str, seed: int, everything: bool = False) -> bool:
    """Whether a family in one constant reaches every value, but for limits that are constant in x; everything: for limits that are infinite only."""
    if not branchless(body, {constant}):
        return False
    try:
        exponents = [part for part in walk(body) if _exponential(part) and constant in free_symbols(part)]
        if not exponents:
            top, bottom = _rational(body, constant, None)
            return _end((top, bottom), x, seed, max, everything)
        unit = differentiate(_exponent(exponents[0]), constant)
        top, bottom = _rational(body, constant, unit)
        return _end((top, bottom), x, seed, max, everything) and _end((top, bottom), x, seed, min, everything)
    except (NotRational, Undecided, Refused):
        return False


def _exponential(part: Tree) -> bool:
    return (is_call(part, "Power") and isinstance(part, tuple) and len(part) == 3 and part[1] == "E") or (
        isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str) and part[0] in EXPONENTIAL
    )


def _exponent(part: Tree) -> Tree:
    """The exponent of the exponential that stands in E^u, Sinh[u] (u) or Sin[u] (I u)."""
    assert isinstance(part, tuple)
    return times("I", part[1]) if part[0] in ("Sin", "Cos", "Tan", "Cot", "Sec", "Csc") else part[-1]


def _rational(node: Tree, constant: str, unit: Tree | None) -> Fraction:
    """The node as a fraction of polynomials in t: the constant, or E^(unit constant)."""
    budget.step()
    if not isinstance(node, tuple):
        return ({1: 1} if node == constant and unit is None else _free(node, constant)), {0: 1}
    if constant not in free_symbols(node):
        return _free(node, constant), {0: 1}
    if _exponential(node) and unit is not None:
        return _of_exponential(node, constant, unit)
    parts = node[1:]
    if node[0] == "Plus":
        found: Fraction = ({}, {0: 1})
        for part in parts:
            a, b = _rational(part, constant, unit)
            found = _sum(_product(found[0], b), _product(a, found[1])), _product(found[1], b)
        return found
    if node[0] == "Times":
        found = ({0: 1}, {0: 1})
        for part in parts:
            a, b = _rational(part, constant, unit)
            found = _product(found[0], a), _product(found[1], b)
        return found
    if node[0] == "Power" and len(parts) == 2 and isinstance(parts[1], int) and 0 < abs(parts[1]) <= MAX_POWER:
        a, b = _rational(parts[0], constant, unit)
        found = ({0: 1}, {0: 1})
        for _ in range(abs(parts[1])):
            found = _product(found[0], a), _product(found[1], b)
        return found if parts[1] > 0 else (found[1], found[0])
    raise NotRational


def _free(node: Tree, constant: str) -> Powers:
    if constant in free_symbols(node):
        raise NotRational
    return {0: node}


def _of_exponential(node: tuple[Tree, ...], constant: str, unit: Tree) -> Fraction:
    exponent = _exponent(node)
    slope = differentiate(exponent, constant)
    degree = next((n for n in range(-4, 5) if n and proves_zero(minus(slope, times(n, unit)))), None)
    if degree is None or free_symbols(slope):
        raise NotRational
    rest = power("E", replace(exponent, constant, 0))
    e, inverse = {degree: rest}, {-degree: power(rest, -1)}
    head = node[0]
    if head in ("Power", "Exp"):
        return e, {0: 1}
    trigonometric = head in ("Sin", "Cos", "Tan", "Cot", "Sec", "Csc")
    difference = _sum(e, _product({0: -1}, inverse))
    sine: Fraction = difference, {0: times(2, "I") if trigonometric else 2}
    cosine: Fraction = _sum(e, inverse), {0: 2}
    quotient = {"Tan": (sine, cosine), "Tanh": (sine, cosine), "Cot": (cosine, sine), "Coth": (cosine, sine)}
    if head in quotient:
        (a, b), (c, d) = quotient[str(head)]
        return _product(a, d), _product(b, c)
    if head in ("Sin", "Sinh"):
        return sine
    if head in ("Cos", "Cosh"):
        return cosine
    a, b = cosine if head in ("Sec", "Sech") else sine
    return b, a


def _sum(a: Powers, b: Powers) -> Powers:
    return {n: plus(*(side[n] for side in (a, b) if n in side)) for n in sorted({*a, *b})}


def _product(a: Powers, b: Powers) -> Powers:
    found: dict[int, list[Tree]] = {}
    for n, left in a.items():
        for m, right in b.items():
            found.setdefault(n + m, []).append(right if left == 1 else left if right == 1 else times(left, right))
    if len(found) > MAX_TERMS:
        raise NotRational
    return {n: plus(*terms) for n, terms in found.items()}


def _end(fraction: Fraction, x: str, seed: int, which: Callable[[Iterable[int]], int], everything: bool) -> bool:
    """Whether the limit at t = Infinity (max) or t = 0 (min) is infinite or, without everything, constant in x."""
    top, bottom = (_kept(powers, seed) for powers in fraction)
    if not top or not bottom:
        raise NotRational
    n, d = which(top), which(bottom)
    if n != d:
        return not everything or (n > d) == (which is max)  # 0 or infinite
    return not everything and proves_zero(differentiate(times(top[n], power(bottom[d], -1)), x))


def _kept(powers: Powers, seed: int) -> Powers:
    """The terms that are proved not to vanish; every other is proved to."""
    found = {}
    for n, coefficient in powers.items():
        if proves_zero(coefficient):
            continue
        if not nonzero(coefficient, seed):
            raise NotRational
        found[n] = coefficient
    return found


def unique(nodes: list[Tree], tops: list[str], lower: dict[str, Tree], at: tuple[str, Tree], meromorphic: bool) -> bool:
    """Whether equations node == 0, of first degree in the highest derivatives tops, leave one solution for the initial values of
    the lower ones at x = place: next to them the coefficients of tops and the rest have bounded derivatives by the lower ones. meromorphic: the
    nodes are in all symbols; else everything must be real there."""
    if any(is_call(part, *JUMPING) for node in nodes for part in walk(node)):
        return False
    x, place = at
    names = sorted(set().union(*(free_symbols(node) for node in nodes), *(free_symbols(value) for value in lower.values())) - {x, *tops, *lower})
    values: dict[str, Value] = {name: fmpq(2 * ((37 * (i + 1)) % 97) + 65, 64) for i, name in enumerate(names)}
    try:
        with precision(BITS):
            for name, tree in ((x, place), *lower.items()):
                value = evaluate(tree, Environment.of(values))
                if not is_number(value):
                    return False
                values[name] = complex_ball(value) if meromorphic else real_ball(value) or arb("nan")
            box: dict[str, Value] = {name: _around(value) if name in {x, *lower} else value for name, value in values.items()}
            for node in nodes:
                rest = node
                for top in tops:
                    rest = replace(rest, top, 0)
                for part in (rest, *(differentiate(node, top) for top in tops)):
                    for tree in (part, *(differentiate(part, name) for name in lower)):
                        bound = evaluate(tree, Environment.of(box))
                        if not is_number(bound) or not complex_ball(bound).is_finite() or (not meromorphic and real_ball(bound) is None):
                            return False
            regular = evaluate(determinant([[differentiate(node, top) for top in tops] for node in nodes]), Environment.of(box))
            return is_number(regular) and not complex_ball(regular).contains(0)
    except (Undecided, Refused, ValueError):
        return False


def _around(value: Value) -> Value:
    return value + arb(0, NEARBY) if not isinstance(value, bool | tuple) and is_number(value) else value  # type: ignore[operator]
