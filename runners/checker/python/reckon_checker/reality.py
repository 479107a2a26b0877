"""Which trees are real for real symbols, and conjugates of trees: for the exact treatment of Abs, Re, Im and Conjugate."""

from __future__ import annotations

from collections.abc import Collection

from .tree import Tree, arguments, is_call, plus, power, rational, times, walk

# Real for real arguments.
REAL_FUNCTIONS = frozenset(
    "Plus Times Subtract Minus Rational Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Exp Abs Re Im Sign ArcTan ArcSinh Sinc Max Min "
    "UnitStep Floor Ceiling Round Mod Erf Erfc Conjugate RealAbs RealSign SinIntegral".split()
)
REAL_CONSTANTS = frozenset("Pi E EulerGamma GoldenRatio Catalan Degree Khinchin Glaisher".split())
# f(Conjugate[z]) is Conjugate[f(z)]: entire functions that are real on the real axis, and their quotients.
SYMMETRIC = frozenset("Plus Times Subtract Minus Rational Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Exp Erf Erfc Sinc".split())


def is_real(node: Tree, reals: Collection[Tree]) -> bool:
    """Whether a tree is real wherever it is defined, the symbols among reals being so. False: not known."""
    if isinstance(node, int):
        return True
    if isinstance(node, str):
        return node in reals or node in REAL_CONSTANTS
    if not isinstance(node, tuple):
        return False
    if node in reals:
        return True  # Log[p] of a positive p
    if is_call(node, "Abs", "Re", "Im", "Arg"):
        return True
    if is_call(node, "Power") and len(node) == 3:
        return (is_real(node[1], reals) and isinstance(node[2], int)) or (node[1] == "E" and is_real(node[2], reals))
    return node[0] in REAL_FUNCTIONS and all(is_real(part, reals) for part in node[1:])


def conjugate(node: Tree, reals: Collection[Tree]) -> Tree | None:
    """The conjugate as a tree without Conjugate, or None where there is no rule."""
    if is_real(node, reals):
        return node
    if node == "I":
        return times(-1, "I")
    if not isinstance(node, tuple):
        return None
    if is_call(node, "Conjugate"):
        return node[1]
    if is_call(node, "Complex"):
        return plus(node[1], times(-1, "I", node[2]))
    if is_call(node, "Power") and len(node) == 3:
        base = conjugate(node[1], reals)
        exponent = conjugate(node[2], reals)
        if base is None or exponent is None or not (isinstance(node[2], int) or node[1] == "E"):
            return None
        return power(base, exponent)
    if node[0] not in SYMMETRIC:
        return None
    parts = [conjugate(part, reals) for part in node[1:]]
    if any(part is None for part in parts):
        return None
    return (node[0], *(part for part in parts if part is not None))


def rewritten(node: tuple[Tree, ...], reals: Collection[Tree]) -> Tree | None:
    """Abs, Sign, Re, Im, Conjugate, Max and Min through conjugates and roots; None where there is no rule."""
    head, parts = node[0], arguments(node)
    if head in ("Max", "Min") and len(parts) == 2 and all(is_real(part, reals) for part in parts):
        half = rational(1, 2) if head == "Max" else rational(-1, 2)
        difference = plus(parts[0], times(-1, parts[1]))
        return plus(times(rational(1, 2), plus(*parts)), times(half, ("Abs", difference)))
    if len(parts) != 1 or head not in ("Abs", "RealAbs", "Sign", "RealSign", "Re", "Im", "Conjugate"):
        return None
    mirrored = conjugate(parts[0], reals)
    if mirrored is None:
        return None
    size = power(times(parts[0], mirrored), rational(1, 2))
    if head in ("Abs", "RealAbs"):
        return size
    if head in ("Sign", "RealSign"):
        return times(parts[0], power(size, -1))
    if head == "Conjugate":
        return mirrored
    return times(rational(1, 2), plus(parts[0], mirrored)) if head == "Re" else times(rational(-1, 2), "I", plus(parts[0], times(-1, mirrored)))


def on_reals(node: Tree) -> set[str]:
    """Symbols outside whose real values some part of a tree is undefined."""
    return {part[1] for part in walk(node) if isinstance(part, tuple) and part[0] == "OnReals$" and isinstance(part[1], str)}
