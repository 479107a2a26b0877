"""Equations in one unknown that are polynomial in one inverse function of it: Log[x]^2 == 4, 2 ArcTan[x + 1] == Pi/3, x^2 == Pi.

The polynomial, of coefficients that are numbers of any kind, is solved by balls. An inverse function takes each value inside its range once,
and none outside: Log[z] == u where -Pi < Im[u] <= Pi, and z is E^u. A value on the rim of a range decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, acb_poly, arb

from .. import budget
from ..evaluation import evaluate
from ..findings import Open, Residual
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, replace, times, walk
from ..values import Undecided, complex_ball, is_number, precision, settled
from .candidates import Candidate, holds_at
from .problem import Problem, one_to_one

MAX_DEGREE = 12
MAX_NODES = 6000
MAX_NESTED = 4
UNKNOWN = "kernel$"


class NotOfOneKernel(Exception):
    """The equation is of another kind."""


@dataclass(frozen=True)
class Inverse:
    """inside: a ball that is negative inside the range and positive outside of it; value: what the function is the inverse of."""

    inside: Callable[[acb], arb]
    value: Callable[[acb], acb]


def _half(angle: Callable[[acb], arb]) -> Callable[[acb], arb]:
    return lambda u: abs(angle(u)) - arb.pi() / 2


def _branch_of_product_log(u: acb) -> arb:
    if not u.imag.is_zero():
        raise Undecided("the range off the real line")
    return -1 - u.real


def _root(q: int) -> Inverse:
    def inside(u: acb) -> arb:
        return arb(-1) if u.is_zero() else abs(u.arg()) - arb.pi() / q

    return Inverse(inside, lambda u: u**q)


INVERSES: dict[str, Inverse] = {
    "Log": Inverse(lambda u: abs(u.imag) - arb.pi(), lambda u: u.exp()),
    "ArcSin": Inverse(_half(lambda u: u.real), lambda u: u.sin()),
    "ArcCos": Inverse(lambda u: abs(u.real - arb.pi() / 2) - arb.pi() / 2, lambda u: u.cos()),
    "ArcTan": Inverse(_half(lambda u: u.real), lambda u: u.tan()),
    "ArcSinh": Inverse(_half(lambda u: u.imag), lambda u: u.sinh()),
    "ArcTanh": Inverse(_half(lambda u: u.imag), lambda u: u.tanh()),
    "ProductLog": Inverse(_branch_of_product_log, lambda u: u * u.exp()),
    **{f"Root${q}": _root(q) for q in range(2, MAX_DEGREE + 1)},
}


def check(problem: Problem) -> Residual | None:
    """None where the equation is of another kind, or this decides nothing."""
    if len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2 or any(s.integers or s.loose for s in problem.solutions):
        return None
    if problem.domain not in ("Complexes", "Reals"):
        return None
    name, node = problem.unknowns[0], minus(*arguments(problem.equations[0]))
    if any(name not in s.values for s in problem.solutions):
        return None
    try:
        levels = parted(natural(node), name)
    except NotOfOneKernel:
        return None
    found = one_to_one(problem, lambda bits: candidates(problem, levels, bits))
    return None if isinstance(found, Open) else found


@dataclass(frozen=True)
class Level:
    """A polynomial, lowest coefficient first, in an inverse function (None: in the unknown itself) of the next level's polynomial."""

    coefficients: list[Tree]
    head: str | None


def natural(node: Tree) -> Tree:
    """Log[b, z] as Log[z]/Log[b], and z^(p/q) as the power p of an inverse function Root$q[z]."""
    if not isinstance(node, tuple) or node[0] == "Rational":
        return node
    parts = tuple(natural(part) for part in node[1:])
    if node[0] == "Sqrt" and len(parts) == 1:
        return ("Root$2", parts[0])
    if node[0] == "Power" and len(parts) == 2 and is_call(parts[1], "Rational") and free_symbols(parts[0]):
        p, q = arguments(parts[1])
        if isinstance(p, int) and isinstance(q, int) and 2 <= q <= MAX_DEGREE:
            return ("Power", (f"Root${q}", parts[0]), p)
    if node[0] == "Log" and len(parts) == 2:
        return ("Times", ("Log", parts[1]), ("Power", ("Log", parts[0]), -1))
    return (node[0], *parts)


def parted(node: Tree, name: str) -> list[Level]:
    """The levels of node == 0, the outermost first."""
    levels: list[Level] = []
    while len(levels) < MAX_NESTED:
        kernels = outermost(node, name)
        if not kernels:
            return [*levels, Level(polynomial(node, name), None)]
        if len(kernels) > 1:
            raise NotOfOneKernel
        (kernel,) = kernels
        levels.append(Level(polynomial(replace(node, kernel, UNKNOWN), UNKNOWN, name), str(kernel[0])))
        node = kernel[1]
    raise NotOfOneKernel


def outermost(node: Tree, name: str) -> set[tuple[Tree, ...]]:
    """The inverse functions of the unknown that stand in no other one."""
    if not isinstance(node, tuple) or name not in free_symbols(node):
        return set()
    if is_call(node, *INVERSES) and len(node) == 2:
        return {node}
    return set().union(*(outermost(part, name) for part in node[1:]))


def polynomial(node: Tree, unknown: str, foreign: str = "") -> list[Tree]:
    """Coefficients in a symbol, lowest first, after multiplication with as many powers of it as make the exponents whole; NotOfOneKernel
    where it is no polynomial, or holds another symbol."""
    found = {n: c for n, c in coefficients_of(node, unknown).items() if not proves_zero(c)}
    if any(free_symbols(c) for c in found.values()) or (foreign and any(foreign in free_symbols(c) for c in found.values())):
        raise NotOfOneKernel
    low = min([0, *found])
    return [found.get(n, 0) for n in range(low, max(found, default=low) + 1)]


def coefficients_of(node: Tree, unknown: str) -> dict[int, Tree]:
    """Coefficients by exponent."""
    budget.step()
    if node == unknown:
        return {1: 1}
    if unknown not in free_symbols(node):
        return {0: node}
    parts = arguments(node)
    if is_call(node, "Plus"):
        every = [coefficients_of(part, unknown) for part in parts]
        return {n: plus(*(c[n] for c in every if n in c)) for n in {n for c in every for n in c}}
    if is_call(node, "Times"):
        found: dict[int, Tree] = {0: 1}
        for part in parts:
            found = _product(found, coefficients_of(part, unknown))
        return found
    if is_call(node, "Subtract") and len(parts) == 2:
        return coefficients_of(("Plus", parts[0], ("Times", -1, parts[1])), unknown)
    if is_call(node, "Minus") and len(parts) == 1:
        return coefficients_of(("Times", -1, parts[0]), unknown)
    if is_call(node, "Divide") and len(parts) == 2:
        return coefficients_of(("Times", parts[0], ("Power", parts[1], -1)), unknown)
    if is_call(node, "Power") and len(parts) == 2 and isinstance(parts[1], int) and 0 < abs(parts[1]) <= MAX_DEGREE:
        inner = coefficients_of(parts[0], unknown)
        if parts[1] < 0:
            if len(inner) > 1:
                raise NotOfOneKernel
            inner = {-n: ("Power", c, -1) for n, c in inner.items()}
        found = {0: 1}
        for _ in range(abs(parts[1])):
            found = _product(found, inner)
        return found
    raise NotOfOneKernel


def _product(a: dict[int, Tree], b: dict[int, Tree]) -> dict[int, Tree]:
    found: dict[int, list[Tree]] = {}
    for i, x in a.items():
        for j, y in b.items():
            found.setdefault(i + j, []).append(times(x, y))
    if max(found) - min(found) > MAX_DEGREE or sum(sum(1 for _ in walk(part)) for terms in found.values() for part in terms) > MAX_NODES:
        raise NotOfOneKernel
    return {n: plus(*terms) for n, terms in found.items()}


def roots(coefficients: list[Tree], target: acb) -> list[acb]:
    """Every x where the polynomial takes the value target. Real coefficients have real roots or pairs."""
    values = []
    for c in coefficients:
        value = evaluate(c)
        if not is_number(value):
            raise Undecided("a coefficient")
        values.append(complex_ball(value))
    values[0] -= target
    if len(values) < 2:
        if values[0].contains(0):
            raise Undecided("a constant")
        return []
    if values[-1].contains(0):
        raise Undecided("the degree")
    if len(values) == 2:
        return [-values[0] / values[1]]
    try:
        found = list(acb_poly(values).roots())
    except ValueError:
        raise Undecided("roots not told apart") from None
    if all(value.imag.is_zero() for value in values):
        for i, root in enumerate(found):
            if root.imag.contains(0) and not any(root.conjugate().overlaps(other) for j, other in enumerate(found) if i != j):
                found[i] = acb(root.real)
    return [refined(acb_poly(values), root) for root in found]


def refined(p: acb_poly, root: acb) -> acb:
    """A simple root, isolated in a ball, by interval Newton steps."""
    slope = p.derivative()
    for _ in range(60):
        budget.step()
        below = slope(root)
        if below.contains(0):
            break
        middle = acb(arb(root.real.mid()), arb(root.imag.mid()))
        step = middle - p(middle) / below
        if root.imag.is_zero():
            step = acb(step.real)
        if not step.overlaps(root) or not arb(step.rad()) * 2 < arb(root.rad()):
            break
        root = step
    return root


def values_at(levels: list[Level]) -> list[acb]:
    """The solutions, as balls at the precision in force."""
    targets = [acb(0)]
    for level in levels:
        budget.step()
        found = [root for target in targets for root in roots(level.coefficients, target)]
        if level.head is None:
            return found
        inverse = INVERSES[level.head]
        targets = []
        for u in found:
            side = inverse.inside(u)
            if side < 0:
                targets.append(inverse.value(u))
            elif not side > 0:
                raise Undecided("on the rim of a range")
    return []


def candidates(problem: Problem, levels: list[Level], bits: int) -> list[Candidate]:
    with precision(bits):
        name = problem.unknowns[0]
        try:
            solutions = [{name: settled(value)} for value in values_at(levels)]
        except Refused:
            raise Undecided("a coefficient") from None
        result = []
        for one in solutions:
            z = complex_ball(one[name])
            real = True if z.imag.is_zero() else None if z.imag.contains(0) else False
            if problem.domain == "Reals" and real is not True:
                if real is None:
                    raise Undecided("real?")
                result.append(Candidate(one, False, False))
                continue
            holds = [holds_at(other, one, problem.equations, solutions) for other in problem.others]
            result.append(Candidate(one, False if False in holds else None if None in holds else True, real))
        return result
