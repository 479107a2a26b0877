"""Roots of polynomials with rational coefficients, isolated by enclosures, in the language's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cmp_to_key, lru_cache
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpq_poly

from .arithmetic import plus
from .calculus import applied, differentiate
from .tree import Real, Refused, Tree, arguments, is_call
from .univariate import coefficients
from .values import ZERO, Number, Undecided, Value, ball, exact, is_number, real_ball, settled, undefined
from .watch import unwatched

MAX_DEGREE = 300
NEWTON = 60


@lru_cache(maxsize=256)
def isolated(polynomial: tuple[fmpq, ...], bits: int) -> tuple[tuple[acb, int], ...]:
    """Every root with its multiplicity; polynomial: coefficients, lowest first. bits: the precision, for the cache."""
    found = fmpq_poly(list(polynomial))
    if found.degree() < 1:
        return ()
    if found.degree() > MAX_DEGREE:
        raise Refused("a polynomial of that degree")
    roots: Any = found.complex_roots()  # the stubs forget the multiplicities
    return tuple((acb(root), int(multiplicity)) for root, multiplicity in roots)


def ordered_roots(polynomial: Sequence[fmpq]) -> list[Number]:
    """Roots in the language's order, multiple ones repeated: real ones by size, then by real part, by the size of the
    imaginary part, the negative one first. Undecided where enclosures do not tell the order."""
    found: list[acb] = []
    for root, multiplicity in isolated(tuple(polynomial), ctx.prec):
        found += [root] * multiplicity
    found.sort(key=cmp_to_key(_order))
    return [settled(root) for root in found]


def _order(a: acb, b: acb) -> int:
    if a is b:
        return 0
    real = ((b.imag.is_zero() and 1) or 0) - ((a.imag.is_zero() and 1) or 0)
    if real or a.imag.is_zero():
        return real or _compared(a.real, b.real)
    by_real = _compared(a.real, b.real) if not _conjugates(a, b) else 0
    if by_real:
        return by_real
    by_size = _compared(abs(a.imag), abs(b.imag)) if not _conjugates(a, b) else 0
    return by_size or (-1 if a.imag < 0 else 1)


def _conjugates(a: acb, b: acb) -> bool:
    """Isolating enclosures: one that meets the other's mirror image is its conjugate."""
    return a.overlaps(b.conjugate())


def _compared(a: arb, b: arb) -> int:
    if a < b:
        return -1
    if a > b:
        return 1
    if a.is_zero() and b.is_zero():
        return 0
    raise Undecided("the order of roots")


def polynomial_of(function: Tree) -> list[fmpq]:
    """Coefficients, lowest first, of a polynomial given as a pure function with rational coefficients."""
    if not is_call(function, "Function"):
        raise Refused("Root")
    variable = "root$variable"
    found = coefficients(applied(function, (variable,)), variable)
    if found is None:
        raise Refused("Root")
    return found


def root_of_call(node: tuple[Tree, ...], evaluate: Callable[[Tree, str, Value], Value]) -> Value:
    """Root[f, k]; Root[{f, x0}] of a transcendental function: the root that a real interval around x0 isolates."""
    if len(node) == 2 and is_call(node[1], "List") and len(arguments(node[1])) == 2:
        function, place = arguments(node[1])
        return root_near(function, place, evaluate)
    k = node[2] if len(node) > 2 else None
    if not isinstance(k, int):
        raise Refused("Root")
    roots = ordered_roots(polynomial_of(node[1]))
    return roots[k - 1] if 1 <= k <= len(roots) else undefined("Root")


def root_near(function: Tree, place: Tree, evaluate: Callable[[Tree, str, Value], Value]) -> Value:
    """The one root in an interval of ten times the width of what the decimal prints, proved by an interval Newton step and narrowed by further ones."""
    if not is_call(function, "Function") or not isinstance(place, Real):
        raise Refused("Root of a transcendental function")
    variable = "root$variable"
    body = applied(function, (variable,))
    slope = differentiate(body, variable)

    def real(tree: Tree, x: arb) -> arb:
        with unwatched():
            value = evaluate(tree, variable, x)
        found = real_ball(value) if is_number(value) else None
        if found is None:
            raise Undecided("a root near a place")
        return arb(ball(found).real) if not isinstance(found, arb) else found

    x = arb(exact(place.value), arb(10 * exact(place.half_unit)))
    isolated_here = False
    for _ in range(NEWTON):
        middle, steep = arb(x.mid()), real(slope, x)
        if steep.contains(0):
            raise Undecided("a root near a place")
        closer = middle - real(body, middle) / steep
        isolated_here = isolated_here or bool(x.contains_interior(closer))
        if not isolated_here:
            raise Undecided("a root near a place")
        closer = closer.intersection(x)
        if not arb(closer.rad()) * 2 < arb(x.rad()):
            return settled(acb(closer))
        x = closer
    return settled(acb(x))


def root_sum_of_call(node: tuple[Tree, ...], evaluate: Callable[[Tree, str, Value], Value]) -> Value:
    """RootSum[f, form]: form summed over the roots of f, multiple ones as often as they are there."""
    if len(node) != 3 or not is_call(node[2], "Function"):
        raise Refused("RootSum")
    variable = "root$variable"
    form = applied(node[2], (variable,))
    total: Value = ZERO
    for root, multiplicity in isolated(tuple(polynomial_of(node[1])), ctx.prec):
        term = evaluate(form, variable, settled(root))
        for _ in range(multiplicity):
            total = plus(total, term)
    return total
