"""Integrands on complex balls: analytic where they must be, piecewise on the real line."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from flint import acb, arb, fmpq

from . import budget
from .cuts import CUTS, not_positive
from .evaluation import EMPTY, HEADS, Environment, evaluate
from .reality import conjugate, is_real
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, times, walk
from .univariate import polynomial
from .values import Undecided, Value, complex_ball, is_number, settled

NAN = acb("nan")


def real_argument(node: Tree, env: Environment) -> acb:
    """The argument of Sign$ or Floor$. It is real on the real line: next to it too, if there it is what is analytic."""
    value = evaluate(node, env)
    along = value
    if any(isinstance(z, acb) for z in env.values.values()):
        along = evaluate(node, replace(env, values={name: z.real if isinstance(z, acb) else z for name, z in env.values.items()}))
    if not is_number(value) or not is_number(along) or not complex_ball(along).imag.contains(0):
        raise Refused("a jump of something that is not real")
    if not complex_ball(along).imag.is_zero():
        raise Undecided("real?")
    return complex_ball(value)


def sign_rule(node: tuple[Tree, ...], env: Environment) -> Value:
    """The sign of a real function, continued analytically next to the real line; all of [-1, 1] where it may jump."""
    ball = real_argument(node[1], env)
    if ball.real > 0:
        return fmpq(1)
    if ball.real < 0:
        return fmpq(-1)
    if not ball.imag.is_zero() or env.values.get("analytic$") is True:
        raise Undecided("a jump")
    return arb(0, 1)


def floor_rule(node: tuple[Tree, ...], env: Environment) -> Value:
    ball = real_argument(node[1], env)
    low = ball.real.floor()
    if not low.is_exact() and (not ball.imag.is_zero() or env.values.get("analytic$") is True):
        raise Undecided("a jump")
    return settled(low)


HEADS["Sign$"] = sign_rule
HEADS["Floor$"] = floor_rule


def sign(node: Tree) -> Tree:
    return ("Sign$", node)


def step(node: Tree) -> Tree:
    return times(rational(1, 2), plus(1, sign(node)))


def extremum(way: int) -> Callable[[tuple[Tree, ...]], Tree]:
    def rule(args: tuple[Tree, ...]) -> Tree:
        result = args[0]
        for arg in args[1:]:
            difference = minus(result, arg)
            result = times(rational(1, 2), plus(result, arg, times(way, difference, sign(difference))))
        return result

    return rule


def condition(node: Tree) -> Tree:
    """1 where a condition holds and 0 where it does not, but for single points."""
    parts = arguments(node)
    if node in ("True", "False"):
        return int(node == "True")
    if is_call(node, "And"):
        return times(*(condition(part) for part in parts))
    if is_call(node, "Not"):
        return minus(1, condition(parts[0]))
    if is_call(node, "Or"):
        return minus(1, times(*(minus(1, condition(part)) for part in parts)))
    if is_call(node, "Less", "LessEqual"):
        return times(*(step(minus(b, a)) for a, b in itertools.pairwise(parts)))
    if is_call(node, "Greater", "GreaterEqual"):
        return times(*(step(minus(a, b)) for a, b in itertools.pairwise(parts)))
    if is_call(node, "Inequality"):
        return times(*(condition((op, parts[2 * i], parts[2 * i + 2])) for i, op in enumerate(parts[1::2])))
    if is_call(node, "Equal", "Unequal") and len(parts) == 2 and at_points(minus(*parts)):
        return int(is_call(node, "Unequal"))
    raise Refused("a condition")


def at_points(difference: Tree) -> bool:
    """Whether the difference has isolated zeros only: it is a non-constant polynomial in one symbol."""
    names = free_symbols(difference)
    found = polynomial(difference, next(iter(names))) if len(names) == 1 else None
    return found is not None and found.degree() > 0


def whole_part(args: tuple[Tree, ...]) -> Tree:
    """Towards 0."""
    return times(sign(args[0]), ("Floor$", times(args[0], sign(args[0]))))


def size(args: tuple[Tree, ...]) -> Tree:
    """Abs of a real function by its sign, of another by its conjugate."""
    mirrored = None if is_real(args[0], free_symbols(args[0])) else conjugate(args[0], free_symbols(args[0]))
    return times(args[0], sign(args[0])) if mirrored is None else power(times(args[0], mirrored), rational(1, 2))


REWRITTEN: dict[str, Callable[[tuple[Tree, ...]], Tree]] = {
    **dict.fromkeys(("Abs", "RealAbs"), size),
    **dict.fromkeys(("Sign", "RealSign"), lambda args: sign(args[0])),
    **dict.fromkeys(("UnitStep", "HeavisideTheta"), lambda args: times(*(step(arg) for arg in args))),
    "Ramp": lambda args: times(args[0], step(args[0])),
    "Max": extremum(1),
    "Min": extremum(-1),
    "Floor": lambda args: ("Floor$", args[0]),
    "Ceiling": lambda args: times(-1, ("Floor$", times(-1, args[0]))),
    "Round": lambda args: ("Floor$", plus(args[0], rational(1, 2))),
    "IntegerPart": whole_part,
    "FractionalPart": lambda args: minus(args[0], whole_part(args)),
    "Mod": lambda args: minus(args[0], times(args[1], ("Floor$", times(args[0], power(args[1], -1))))),
    "Boole": lambda args: condition(args[0]),
    "If": lambda args: plus(times(condition(args[0]), args[1]), times(minus(1, condition(args[0])), args[2])),
    "Sqrt": lambda args: power(args[0], rational(1, 2)),
}


def prepared(node: Tree) -> Tree:
    """Kinks and jumps of real arguments through Sign$ and Floor$."""
    if not isinstance(node, tuple) or not free_symbols(node):
        return node
    if is_call(node, "Piecewise"):
        rest: Tree = 1
        total: list[Tree] = []
        for case in arguments(node[1]):
            value, holds = arguments(case)
            inside = condition(prepared(holds))
            total.append(times(prepared(value), rest, inside))
            rest = times(rest, minus(1, inside))
        return plus(*total, times(prepared(node[2]), rest)) if len(node) > 2 else plus(*total)
    parts = tuple(prepared(part) for part in node[1:])
    rule = REWRITTEN.get(node[0]) if isinstance(node[0], str) else None
    if rule is not None and parts:
        return rule(parts)
    if is_call(node, "Re", "Im", "Conjugate", "Arg", "Surd", "CubeRoot", "Integrate", "NIntegrate"):
        raise Refused(str(node[0]))
    return (node[0], *parts)


UNSAFE = ("ArcSec", "ArcCsc", "ArcSech", "ArcCsch", "ArcCoth", "ArcCot", "Gudermannian")


class Integrand:
    """f as a function for acb.integral, and its tree for expansions."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.original, self.name = tree, name
        self.refused: Exception | None = None
        self.tree = prepared(tree)
        self.cuts: list[tuple[Tree, Callable[[acb], bool]]] = []
        for part in walk(self.tree):
            if not isinstance(part, tuple) or not free_symbols(part):
                continue
            if part[0] == "Power" and len(part) == 3 and not isinstance(part[2], int) and part[1] != "E":
                self.cuts.append((part[1], not_positive))
            elif isinstance(part[0], str) and part[0] in CUTS and len(part) == 2:
                self.cuts.append((part[1], CUTS[part[0]]))
            elif is_call(part, *UNSAFE) or is_call(part, "ArcTan", "Log"):
                raise Refused("cuts of " + str(part[0]))

    def __call__(self, z: acb, analytic: bool) -> acb:
        return self.value({self.name: z}, analytic)

    def value(self, at: dict[str, acb], analytic: bool) -> acb:
        """Not finite where it is not known, or not known to be analytic."""
        if self.refused is not None:
            return NAN
        env = EMPTY.having("analytic$", bool(analytic))
        try:
            budget.step()
            for name, z in at.items():
                env = env.having(name, z.real if z.imag.is_zero() else z)
            if analytic:
                for arg, meets in self.cuts:
                    value = evaluate(arg, env)
                    if not is_number(value) or meets(complex_ball(value)):
                        return NAN
            value = evaluate(self.tree, env)
        except Undecided:
            return NAN
        except (Refused, budget.Spent, RecursionError) as problem:  # an exception does not pass through the integrator
            self.refused = problem
            return NAN
        return complex_ball(value) if is_number(value) else NAN
