"""Solutions in amplitude and phase: C[1] Cos[2 x + C[2]] is a Cos[2 x] - b Sin[2 x] with a = C[1] Cos[C[2]] and b = C[1] Sin[C[2]], which for
real constants are all pairs of real numbers (polar coordinates). Over the complex numbers E^(2 I x) is left out.
"""

from __future__ import annotations

from itertools import permutations

from ..calculus import differentiate
from ..normal import proves_zero
from ..reality import is_real
from ..tree import Tree, free_symbols, plus, replace, times
from .families import affine, branchless

ALL_REAL_ONES = "0; every solution that is real is among them"


def all_real_ones(body: Tree, constants: list[str], x: str) -> bool:
    """Whether a family of solutions of a linear equation, of as many independent constants as its order, has every real solution."""
    if free_symbols(body) - {x, *constants}:
        return False
    for amplitude, phase in permutations(constants, 2):
        spread = cartesian(body, amplitude, phase)
        if spread is not None:
            return affine([spread], constants) and all(is_real(differentiate(spread, c), {x}) for c in constants) and is_real(zero(spread, constants), {x})
    return False


def cartesian(body: Tree, amplitude: str, phase: str) -> Tree | None:
    """amplitude W(x, phase) + rest, where W'' == -W by the phase, as a W(x, 0) + b W'(x, 0) + rest with a and b in the places of the two."""
    if not branchless(body, {amplitude, phase}):
        return None
    wave, rest = differentiate(body, amplitude), replace(body, amplitude, 0)
    slope = differentiate(wave, phase)
    if amplitude in free_symbols(wave) and not proves_zero(differentiate(wave, amplitude)):
        return None
    if not proves_zero(differentiate(rest, phase)) or not proves_zero(plus(differentiate(slope, phase), wave)):
        return None
    at_zero = [replace(replace(part, phase, 0), amplitude, 0) for part in (wave, slope)]
    return plus(times(amplitude, at_zero[0]), times(phase, at_zero[1]), replace(rest, phase, 0))


def zero(body: Tree, constants: list[str]) -> Tree:
    for c in constants:
        body = replace(body, c, 0)
    return body
