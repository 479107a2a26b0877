"""Boundary problems of one linear equation of second order with constant coefficients, and partial equations of first order.

The exponentials E^(r x) of the roots r of the characteristic polynomial span the solutions of the homogeneous equation. The conditions at them
are a matrix: where its determinant is not zero there is one solution and no other, where it is zero there is none or infinitely many.
"""

from __future__ import annotations

from ..calculus import differentiate
from ..deciding import not_zero
from ..evaluation import Environment, evaluate
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, replace, times, walk
from ..values import Undecided, complex_ball, is_number, precision

BITS = 512
PLAIN = frozenset("Plus Times Power Rational Complex Exp Log Sqrt Sin Cos Tan Sinh Cosh Tanh ArcTan".split())
HALF: Tree = ("Rational", 1, 2)

Condition = tuple[Tree, int]  # the place, and the order of the derivative that is given there


def unique(node: Tree, symbols: list[str], x: str, conditions: list[Condition]) -> bool | None:
    """Whether y'' a + y' b + y c + d == 0 with two conditions has one solution (True) or none or infinitely many (False); None
    where that is not known, or the equation is of another kind. node: of the symbols of y, y' and y''."""
    slopes = [differentiate(node, name) for name in symbols]
    if len(symbols) != 3 or len(conditions) != 2 or any(free_symbols(slope) for slope in slopes):
        return None
    if not finite_between(node, symbols, x, conditions):
        return None
    c, b, a = slopes
    discriminant = plus(("Power", b, 2), times(-4, a, c))
    below = ("Power", times(2, a), -1)
    if proves_zero(discriminant):
        r = times(-1, b, below)
        basis: list[Tree] = [("Power", "E", times(r, x)), times(x, ("Power", "E", times(r, x)))]
    elif not_zero(discriminant):
        width = ("Power", discriminant, HALF)
        basis = [("Power", "E", times(plus(times(-1, b), times(sign, width)), below, x)) for sign in (1, -1)]
    else:
        return None
    rows = [[replace(differentiate(f, x, order) if order else f, x, place) for f in basis] for place, order in conditions]
    determinant = minus(times(rows[0][0], rows[1][1]), times(rows[0][1], rows[1][0]))
    if proves_zero(determinant):
        return False
    return True if not_zero(determinant) else None


def finite_between(node: Tree, symbols: list[str], x: str, conditions: list[Condition]) -> bool:
    """Whether what stands beside the function and its derivatives is finite all the way from one place to the other."""
    for name in symbols:
        node = replace(node, name, 0)
    if x not in free_symbols(node):
        return True
    try:
        with precision(BITS):
            a, b = (evaluate(place) for place, _ in conditions)
            if not is_number(a) or not is_number(b):
                return False
            bound = evaluate(node, Environment({x: complex_ball(a).union(complex_ball(b)).real}))
            return is_number(bound) and bool(complex_ball(bound).is_finite())
    except (Undecided, Refused):
        return False


def transported(node: Tree, u: str, slopes: list[str], variables: list[str], body: Tree) -> bool:
    """Whether h + g C[k][s] is the general solution of a u_x + b u_t + c u + d == 0 with numbers a, b, c, given that it solves it for
    every function C[k]: s is linear and constant along (a, b) but not everywhere, and g is nowhere zero. The difference of a solution and
    h, over g, is constant along (a, b), so that it is a function of s. node: of the symbols of u and its slopes."""
    if len(variables) != 2 or not moves(node, u, slopes):
        return False
    a, b = (differentiate(node, name) for name in slopes)
    terms = list(arguments(body)) if is_call(body, "Plus") else [body]
    moving = [term for term in terms if called(term)]
    if len(moving) != 1:
        return False
    factors = list(arguments(moving[0])) if is_call(moving[0], "Times") else [moving[0]]
    functions = [factor for factor in factors if called(factor)]
    if len(functions) != 1 or not all(factor in functions or nowhere_zero(factor) for factor in factors):
        return False
    (function,) = functions
    if not isinstance(function, tuple) or not is_call(function[0], "C") or len(function) != 2:
        return False
    gradient = [differentiate(function[1], name) for name in variables]
    if any(free_symbols(part) for part in gradient):
        return False
    return any(not_zero(part) for part in gradient) and proves_zero(plus(times(a, gradient[0]), times(b, gradient[1])))


def moves(node: Tree, u: str, slopes: list[str]) -> bool:
    """Whether a u_x + b u_t + c u + d == 0 has numbers a, b and c, and a or b is not zero."""
    rates = [differentiate(node, name) for name in (*slopes, u)]
    return not any(free_symbols(rate) for rate in rates) and any(not_zero(rate) for rate in rates[:2])


def without_functions(body: Tree) -> bool:
    """Whether a tree certainly holds no function that may stand for any one: only a few numbers in it are free."""
    return all(not isinstance(part, tuple) or part[0] == "C" or (isinstance(part[0], str) and part[0] in PLAIN) for part in walk(body))


def called(node: Tree) -> bool:
    """Whether an arbitrary function C[k][...] stands in a tree."""
    return isinstance(node, tuple) and (is_call(node[0], "C") or any(called(part) for part in node))


def nowhere_zero(node: Tree) -> bool:
    if not free_symbols(node):
        return not_zero(node)
    return is_call(node, "Exp") or (is_call(node, "Power") and arguments(node)[0] == "E")


def partial_symbols(node: Tree, u: str, variables: list[str]) -> Tree:
    """u[x, t] and its first derivatives as symbols u$, u$0 and u$1."""
    if not isinstance(node, tuple):
        return node
    head = node[0]
    if head == u and node[1:] == tuple(variables):
        return u + "$"
    if is_call(node, "D") and len(node) == 3 and node[1] == (u, *variables) and node[2] in variables:
        return f"{u}${variables.index(str(node[2]))}"
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and head[1] == u and node[1:] == tuple(variables):
        orders = arguments(head[0])
        if sorted(orders, key=str) == [0, 1]:
            return f"{u}${orders.index(1)}"
    return (node[0], *(partial_symbols(part, u, variables) for part in node[1:]))
