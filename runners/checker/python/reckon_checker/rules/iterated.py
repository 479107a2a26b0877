"""Enclosures of iterated integrals: exactly inside where the integrand is a polynomial, as a product where it is one, else by
integrators inside integrators."""

from __future__ import annotations

from flint import acb, arb

from ..evaluation import evaluate
from ..integrand import Integrand
from ..quadrature import between
from ..tails import Divergent
from ..tree import Tree, arguments, free_symbols, is_call, power, times
from ..values import Undecided, complex_ball, is_number
from . import exact_integrals

BITS = 96
INNER_TOLERANCE = 40  # bits of inner integrals

Span = tuple[str, Tree, Tree]


def enclosed(body: Tree, spans: list[Span]) -> acb:
    """The integral of a body without other symbols, the first span outermost."""
    while len(spans) > 1:
        inside = exact_integrals.innermost(body, spans[-1])
        if inside is None:
            break
        body, spans = inside, spans[:-1]
    if len(spans) == 1:
        return between(body, *spans[0])
    factors = separated(body, spans)
    if factors is not None:
        try:
            result = acb(1)
            for factor, span in zip(factors, spans, strict=True):
                result *= between(factor, *span)
            return result
        except Divergent as proof:
            raise Undecided("a factor diverges") from proof
    f = Integrand(body, spans[-1][0])
    ends = [Integrand(end, name) for name, a, b in spans for end in (a, b)]
    return nested(f, ends, [name for name, _, _ in spans], {}, True)


def separated(body: Tree, spans: list[Span]) -> list[Tree] | None:
    """The body as a product of functions of one variable each, over ends that are constants."""
    if any(free_symbols(end) for _, *ends in spans for end in ends):
        return None
    positive = {name for name, low, high in spans if starts_at_zero(low) and starts_at_zero(high)}
    found: dict[str, list[Tree]] = {name: [] for name, _, _ in spans}
    for factor in factors_of(body, positive):
        names = free_symbols(factor)
        if len(names) > 1:
            return None
        found[min(names, default=spans[0][0])].append(factor)
    return [times(*found[name]) if found[name] else 1 for name, _, _ in spans]


def starts_at_zero(end: Tree) -> bool:
    """Whether an end is 0 or more."""
    if end == "Infinity":
        return True
    value = evaluate(end)
    return is_number(value) and bool(complex_ball(value).real >= 0) and bool(complex_ball(value).imag.is_zero())


def factors_of(node: Tree, positive: set[str]) -> list[Tree]:
    if is_call(node, "Times"):
        return [factor for part in arguments(node) for factor in factors_of(part, positive)]
    if is_call(node, "Divide"):
        return [factor for part in (node[1], power(node[2], -1)) for factor in factors_of(part, positive)]  # type: ignore[index]
    if is_call(node, "Sqrt"):
        return factors_of(power(node[1], ("Power", 2, -1)), positive)  # type: ignore[index]
    if is_call(node, "Exp"):
        return factors_of(power("E", node[1]), positive)  # type: ignore[index]
    if not is_call(node, "Power") or len(arguments(node)) != 2:
        return [node]
    base, exponent = arguments(node)
    if not free_symbols(base) and is_call(exponent, "Plus"):
        return [power(base, part) for part in arguments(exponent)]
    if is_call(base, "Times", "Divide", "Power", "Sqrt"):
        parts = factors_of(base, positive)
        # (a b)^e = a^e b^e for whole e, and where no factor is negative.
        if isinstance(exponent, int) or all(part in positive or (isinstance(part, int) and part > 0) for part in parts):
            return [power(part, exponent) for part in parts]
    return [node]


def nested(f: Integrand, ends: list[Integrand], names: list[str], at: dict[str, acb], analytic: bool) -> acb:
    """The integral over the remaining variables: of a function that is analytic in the earlier ones, where analytic is asked for."""
    depth = len(at)
    if depth == len(names):
        return f.value(at, analytic)
    low, high = (end.value(at, analytic) for end in ends[2 * depth : 2 * depth + 2])
    if not (low.is_finite() and high.is_finite()):
        return acb("nan")
    outer = analytic and depth > 0  # the outermost integral is asked for at no place

    width = high - low

    def inner(t: acb, flag: bool) -> acb:  # the path is from 0 to 1: its ends are exact
        return width * nested(f, ends, names, {**at, names[depth]: low + t * width}, bool(flag) or outer)

    tolerance = arb(2) ** -INNER_TOLERANCE
    found = acb.integral(inner, acb(0), acb(1), rel_tol=tolerance, abs_tol=tolerance, eval_limit=400)
    for part in (f, *ends):
        if part.refused is not None:
            if depth > 0:  # an exception does not pass through the outer integrator
                return acb("nan")
            raise part.refused
    return found
