"""Values of inverse functions at constants in forms whose normal forms are found: ArcSin and its kin as logarithms, by their definitions, and
Log[z] as w where z is E^w and w is on the principal branch."""

from __future__ import annotations

from contextlib import suppress

from flint import acb, arb, fmpq

from ..evaluation import evaluate
from ..logarithms import LOGARITHMS
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, power, rational_tree, times
from ..values import Undecided, complex_ball, is_number, precision

BITS, NEAR = 256, arb(2) ** -128
LARGEST_DENOMINATOR = 6


def undone(node: Tree) -> Tree:
    """An expression that equals the given one wherever that has a value."""
    if not isinstance(node, tuple):
        return node
    node = (node[0], *(undone(part) for part in node[1:]))
    if len(node) != 2 or not isinstance(node[0], str) or free_symbols(node):
        return node
    if node[0] in LOGARITHMS:
        return undone(LOGARITHMS[node[0]](node[1]))
    if node[0] in ("Log", "ProductLog"):
        return _principal(node[0], node[1])
    return node


def _principal(head: str, z: Tree) -> Tree:
    """Log[z] or ProductLog[z] by a simpler number where that is proved to be its value."""
    guesses: list[Tree] = [arguments(z)[1]] if is_call(z, "Power") and len(arguments(z)) == 2 and arguments(z)[0] == "E" else []
    with suppress(Undecided, Refused), precision(BITS):
        value = evaluate((head, z))
        if is_number(value) and (near := _near(complex_ball(value))) is not None:
            guesses.append(rational_tree(near))
        for w in guesses:
            at = evaluate(w)
            if is_number(at) and _on_branch(head, complex_ball(at)) and proves_zero(minus(z, power("E", w) if head == "Log" else times(w, power("E", w)))):
                return w
    return (head, z)


def _on_branch(head: str, w: acb) -> bool:
    return bool(abs(w.imag) < arb.pi()) if head == "Log" else w.imag.is_zero() and bool(w.real > -1)


def _near(value: acb) -> fmpq | None:
    """A fraction that the value may be: what follows has to prove it."""
    for q in range(1, LARGEST_DENOMINATOR + 1):
        p = (value.real * q + HALF_BALL).floor().unique_fmpz()
        if p is not None and bool((value - fmpq(p, q)).abs_upper() < NEAR):
            return fmpq(p, q)
    return None


HALF_BALL = arb(fmpq(1, 2))
