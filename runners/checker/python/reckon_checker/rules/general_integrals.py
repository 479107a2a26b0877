"""General solutions of one equation F(x, y, y') == 0 of first order and higher degree, F a polynomial that does not factor.

The answer is y = a(x, C)/b(x, C), polynomials over the rationals in one constant. Elimination of C from it and its derivative gives a
polynomial R(x, y, p); where F divides R, every point of F == 0, but for those on a curve, has a value of C whose member passes through it with slope p. Where
dF/dp is not 0 too, one solution alone passes there (Picard and Lindelof), so that all solutions but singular ones are members.
"""

from __future__ import annotations

from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from ..calculus import differentiate
from ..tree import Refused, Tree, arguments, is_call

NAMES = ("x", "y", "p", "c")
MAX_DEGREE, MAX_TERMS = 8, 60


class NotRational(Exception):
    """No quotient of polynomials in the four symbols."""


def has_all_but_singular(equation: Tree, names: tuple[str, str, str], body: Tree, constant: str) -> bool:
    """equation: F as a tree of three symbols for x, y and y'; body: y as a tree of x and the constant."""
    x, y, p = names
    context = fmpq_mpoly_ctx.get(NAMES, Ordering.lex)
    symbols = dict(zip((x, y, p, constant), (context.gen(i) for i in range(4)), strict=True))
    try:
        top, bottom = quotient(equation, symbols, context)
        if not bottom.is_constant() or top.is_zero():
            return False
        f = irreducible(top)
        value, slope = (quotient(node, symbols, context) for node in (body, differentiate(body, x)))
    except (NotRational, Refused):
        return False
    if f is None or not int(f.degrees()[2]):
        return False
    first = symbols[y] * value[1] - value[0]
    second = symbols[p] * slope[1] - slope[0]
    if not all(int(g.degrees()[3]) for g in (first, second)):
        return False
    eliminated = first.resultant(second, "c")
    if eliminated.is_zero() or not divides(f, eliminated):
        return False
    return not any(divides(f, leading(g, context)) for g in (first, second))


def irreducible(top: fmpq_mpoly) -> fmpq_mpoly | None:
    """The one factor of a polynomial; None where there are several."""
    found: Any = top.factor()[1]
    return found[0][0] if len(found) == 1 and int(found[0][1]) == 1 else None


def divides(f: fmpq_mpoly, g: fmpq_mpoly) -> bool:
    return bool(divmod(g, f)[1].is_zero())


def leading(g: fmpq_mpoly, context: fmpq_mpoly_ctx) -> fmpq_mpoly:
    """The coefficient of the highest power of c."""
    degree = int(g.degrees()[3])
    return context.from_dict({(*monomial[:3], 0): c for monomial, c in g.to_dict().items() if int(monomial[3]) == degree})


def quotient(node: Tree, symbols: dict[str, fmpq_mpoly], context: fmpq_mpoly_ctx) -> tuple[fmpq_mpoly, fmpq_mpoly]:
    one = context.constant(1)
    if isinstance(node, int):
        return context.constant(node), one
    if isinstance(node, str) and node in symbols:
        return symbols[node], one
    parts = arguments(node)
    if is_call(node, "Rational"):
        return context.constant(fmpq(parts[0], parts[1])), one  # type: ignore[arg-type]
    if is_call(node, "Plus", "Times"):
        top, bottom = context.constant(0 if is_call(node, "Plus") else 1), one
        for part in parts:
            t, b = quotient(part, symbols, context)
            top, bottom = (top * b + t * bottom, bottom * b) if is_call(node, "Plus") else (top * t, bottom * b)
            bounded(top, bottom)
        return reduced(top, bottom)
    if is_call(node, "Subtract") and len(parts) == 2:
        return quotient(("Plus", parts[0], ("Times", -1, parts[1])), symbols, context)
    if is_call(node, "Minus") and len(parts) == 1:
        return quotient(("Times", -1, parts[0]), symbols, context)
    if is_call(node, "Divide") and len(parts) == 2:
        return quotient(("Times", parts[0], ("Power", parts[1], -1)), symbols, context)
    if is_call(node, "Power") and len(parts) == 2 and isinstance(parts[1], int) and 0 < abs(parts[1]) <= MAX_DEGREE:
        top, bottom = quotient(parts[0], symbols, context)
        top, bottom = top ** abs(parts[1]), bottom ** abs(parts[1])
        bounded(top, bottom)
        if parts[1] < 0 and top.is_zero():
            raise NotRational
        return (top, bottom) if parts[1] > 0 else (bottom, top)
    raise NotRational


def reduced(top: fmpq_mpoly, bottom: fmpq_mpoly) -> tuple[fmpq_mpoly, fmpq_mpoly]:
    common = top.gcd(bottom)
    return top / common, bottom / common


def bounded(*polynomials: fmpq_mpoly) -> None:
    if any(len(p) > MAX_TERMS or int(p.total_degree()) > 2 * MAX_DEGREE for p in polynomials if not p.is_zero()):
        raise NotRational
