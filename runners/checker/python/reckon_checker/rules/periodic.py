"""Equations in one unknown x that are algebraic in one exponential w = E^(k x): trigonometric, hyperbolic and exponential ones.

All values of w are found as in candidates.py. Each gives the progression (Log[w] + 2 Pi I n)/k of solutions; the answer's
progressions are held against these class by class, modulo a common multiple of the periods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..field import TooLarge, as_rational
from ..findings import Open, Refuted, Residual, Statement, Verified
from ..normal import Normalizer, proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, minus, rational, rational_tree, replace
from ..values import Number, Undecided, complex_ball, is_number, precision, settled
from ..wording import equation
from .algebraic import NotAlgebraic, rational_of
from .candidates import Algebraic, Candidate, bounded, holds_at
from .kernels import NotOfOneKernel, coefficients_of, polynomial, roots
from .problem import DIGITS, Agreement, Problem, Solution, at_rising_precision, one_to_one, put_one_in
from .systems import Infinite, TooHard
from .window import bounds

EXPONENTIAL = "w$"
MAX_CLASSES = 64
MAX_MEMBERS = 300

# Functions of u in terms of e = E^(c u): the factor c, and the function as a tree of e and 1/e.
_E, _F = ("e$",), ("Power", ("e$",), -1)
_HALF, _HALF_I = rational(1, 2), ("Times", rational(1, 2), "I")
_COSINE: Tree = ("Times", _HALF, ("Plus", _E, _F))
_SINE: Tree = ("Times", -1, _HALF_I, ("Plus", _E, ("Times", -1, _F)))
_HYPERBOLIC_SINE: Tree = ("Times", _HALF, ("Plus", _E, ("Times", -1, _F)))


def _over(top: Tree, bottom: Tree) -> Tree:
    return ("Times", top, ("Power", bottom, -1))


FORMS: dict[str, tuple[bool, Tree]] = {
    "Cos": (True, _COSINE),
    "Sin": (True, _SINE),
    "Tan": (True, _over(_SINE, _COSINE)),
    "Cot": (True, _over(_COSINE, _SINE)),
    "Sec": (True, ("Power", _COSINE, -1)),
    "Csc": (True, ("Power", _SINE, -1)),
    "Cosh": (False, _COSINE),
    "Sinh": (False, _HYPERBOLIC_SINE),
    "Tanh": (False, _over(_HYPERBOLIC_SINE, _COSINE)),
    "Coth": (False, _over(_COSINE, _HYPERBOLIC_SINE)),
}


class NotPeriodic(Exception):
    """The equation is not algebraic in one exponential."""


@dataclass
class Kernel:
    """w = E^(rate x). imaginary: rate is I times something real; else it is real."""

    rate: Tree
    imaginary: bool


class Rewriter:
    """Writes an expression by exponentials of one rate. First pass: collects the rates; second: writes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rates: list[Tree] = []
        self.unit: Tree | None = None  # the rate of w

    def linear(self, node: Tree) -> tuple[Tree, Tree]:
        slope = differentiate(node, self.name)
        if self.name in free_symbols(slope) or slope == 0:
            raise NotPeriodic
        return slope, replace(node, self.name, 0)

    def write(self, node: Tree) -> Tree:
        budget.step()
        if node == self.name:
            raise NotPeriodic
        if not isinstance(node, tuple) or self.name not in free_symbols(node):
            return node
        head, parts = node[0], arguments(node)
        if head == "Exp" and len(parts) == 1:
            return self.exponential(*self.linear(parts[0]))
        if head == "Power" and len(parts) == 2 and self.name in free_symbols(parts[1]):
            return self.power(parts[0], parts[1])
        form = FORMS.get(str(head))
        if form is not None and len(parts) == 1:
            slope, shift = self.linear(parts[0])
            factor: Tree = "I" if form[0] else 1
            e = self.exponential(("Times", factor, slope), 0 if shift == 0 else ("Times", factor, shift))
            return replace(form[1], ("e$",), e)
        if head in ("Plus", "Times", "Subtract", "Minus", "Divide", "Sqrt") or (head == "Power" and not free_symbols(parts[1])):
            return (head, *(self.write(part) for part in parts))
        raise NotPeriodic

    def power(self, base: Tree, exponent: Tree) -> Tree:
        slope, shift = self.linear(exponent)
        if base == "E":
            return self.exponential(slope, shift)
        number = rational_of(base)
        if number is None or number <= 0 or number == 1:
            raise NotPeriodic
        return ("Times", ("Power", base, shift), self.exponential(("Times", slope, ("Log", base)), 0))

    def exponential(self, rate: Tree, shift: Tree) -> Tree:
        """E^(rate x + shift)."""
        if self.unit is None:
            self.rates.append(rate)
            return EXPONENTIAL
        turns = ratio(rate, self.unit)
        if turns is None or turns.q != 1:
            raise NotPeriodic
        wave: Tree = ("Power", EXPONENTIAL, int(turns.p))
        if shift == 0:
            return wave
        angle = ratio(shift, ("Times", "I", "Pi"))
        if angle is None:
            raise NotPeriodic
        angle = angle - 2 * ((angle + 1) / 2).ceil() + 2
        return ("Times", ("Power", -1, rational_tree(angle)), wave)


def ratio(a: Tree, b: Tree) -> fmpq | None:
    """a / b where normal forms show that it is a rational number."""
    try:
        return as_rational(Normalizer().normal(("Times", a, ("Power", b, -1))))
    except (TooLarge, Refused, RecursionError, OverflowError):
        return None


def read(problem: Problem) -> tuple[Waves, Kernel] | None:
    """The equation in w, solved, and the rate of w."""
    name, node = problem.unknowns[0], minus(*arguments(problem.equations[0]))
    rewriter = Rewriter(name)
    try:
        rewriter.write(node)
        if not rewriter.rates:
            return None
        first = rewriter.rates[0]
        turns = [ratio(rate, first) for rate in rewriter.rates]
        if any(turn is None or turn == 0 for turn in turns):
            return None
        known = [turn for turn in turns if turn is not None]
        below = math.lcm(*(int(turn.q) for turn in known))
        above = math.gcd(*(int((turn * below).p) for turn in known))
        unit = ("Times", first, rational(above, below))
        with precision(128):
            rate = evaluate(unit)
        if not is_number(rate):
            return None
        z = complex_ball(rate)
        if not (z.real.is_zero() or z.imag.is_zero()):
            return None
        rewriter.unit = unit
        equation = ("Equal", rewriter.write(node), 0)
        return solved_for_wave(equation), Kernel(unit, bool(z.real.is_zero()))
    except (NotPeriodic, NotAlgebraic, NotOfOneKernel, Infinite, TooHard, Undecided):
        return None


Waves = Callable[[int], list[Number]]  # bits -> the values of w at that precision


def solved_for_wave(equation: Tree) -> Waves:
    """Zero is no value of w."""
    try:
        algebraic = Algebraic([equation], [], [EXPONENTIAL], "Complexes")
    except NotAlgebraic:
        coefficients = polynomial(minus(*arguments(equation)), EXPONENTIAL)
        return lambda bits: [settled(root) for root in roots(coefficients, acb(0)) if not root.is_zero()]
    return lambda bits: [c.values[EXPONENTIAL] for c in algebraic.at(bits) if c.values[EXPONENTIAL] != 0]


def check(problem: Problem) -> Residual | None:
    """None where the equation is of another kind, or this decides nothing."""
    if len(problem.equations) != 1 or len(arguments(problem.equations[0])) != 2:
        return None
    found = read(problem)
    if found is None:
        return None
    waves, kernel = found
    real = problem.domain == "Reals" or bounded(problem.others, problem.unknowns)
    if real and any(part == "I" for part in symbols(problem.equations[0])):
        return None
    if problem.others or (real and not kernel.imaginary):
        if not real or any(s.integers or s.loose for s in problem.solutions) or not problem.complete:
            return None
        return one_to_one(problem, lambda bits: members(problem, waves, kernel, bits))
    if any(s.loose for s in problem.solutions) or not problem.complete:
        return None
    return classes(problem, waves, kernel, real)


def symbols(node: Tree) -> list[Tree]:
    return [part for sub in arguments(node) for part in symbols(sub)] if isinstance(node, tuple) else [node]


def starts(found: list[Number], kernel: Kernel, only_real: bool) -> list[Number]:
    """(Log[w])/rate of each w; only_real: of those that have real solutions."""
    rate = evaluate(kernel.rate)
    assert is_number(rate)
    result: list[Number] = []
    for w in found:
        z = complex_ball(w)
        if z.contains(0):
            raise Undecided("zero")
        if only_real and kernel.imaginary:
            mirror = 1 / z.conjugate()
            near = [other for other in found if complex_ball(other).overlaps(mirror)]
            if len(near) != 1:
                raise Undecided("on the unit circle?")
            if near[0] is not w:
                continue
            result.append(settled(acb(z.arg()) / (complex_ball(rate) / acb(0, 1))))
            continue
        if only_real:
            if not z.imag.is_zero():
                if z.imag.contains(0):
                    raise Undecided("real?")
                continue
            if not z.real > 0:
                continue
            result.append(settled(acb(z.real.log() / complex_ball(rate).real)))
            continue
        result.append(settled(z.log() / complex_ball(rate)))
    return result


def period(kernel: Kernel) -> acb:
    rate = evaluate(kernel.rate)
    assert is_number(rate)
    return acb(0, 2 * arb.pi()) / complex_ball(rate)


def members(problem: Problem, waves: Waves, kernel: Kernel, bits: int) -> list[Candidate]:
    """The real solutions that meet the conditions, where these bound the unknown or there are finitely many."""
    name = problem.unknowns[0]
    with precision(bits):
        values = starts(waves(bits), kernel, True)
        if kernel.imaginary:
            low, high = bounds(problem.others, name)
            if low is None or high is None:
                raise Undecided("no bounds")
            step = abs(period(kernel).real)
            found: list[Number] = []
            for value in values:
                x = complex_ball(value).real
                first, last = ((low - x) / step).floor(), ((high - x) / step).ceil()
                ends = [end.unique_fmpz() for end in (first, last)]
                a, b = (int(e) if e is not None else math.floor(float(end.mid())) for e, end in zip(ends, (first, last), strict=True))
                if b - a > MAX_MEMBERS:
                    raise Refused("size")
                found += [settled(acb(x + n * step)) for n in range(a - 1, b + 2)]
            values = found
        solutions = [{name: value} for value in values]
        result = []
        for one in solutions:
            holds = [holds_at(other, one, problem.equations, solutions) for other in problem.others]
            result.append(Candidate(one, False if False in holds else None if None in holds else True, True))
        return result


@dataclass
class Progression:
    """start + n period times multiple, for all integers n."""

    start: Tree
    multiple: int


def step_of(value: Tree, constant: str) -> Tree | None:
    """By how much a value grows with a constant; None where it does not grow evenly."""
    try:
        powers = coefficients_of(value, constant)
        if not set(powers) - {0, 1}:
            return powers.get(1, 0)
    except NotOfOneKernel:
        pass
    at = [replace(value, constant, n) for n in range(3)]
    even = proves_zero(("Plus", at[0], ("Times", -2, at[1]), at[2])) and constant not in free_symbols(differentiate(value, constant))
    return minus(at[1], at[0]) if even else None


def progressions(s: Solution, name: str, kernel: Kernel) -> list[Progression] | None:
    """The values of one solution as progressions by whole multiples of the period; None where they are none."""
    value = s.values[name]
    if s.conditions or len(s.integers) > 1:
        return None
    if not s.integers:
        return [Progression(value, 0)]
    (constant,) = s.integers
    step = step_of(value, constant)
    if step is None:
        return None
    multiple = ratio(("Times", step, kernel.rate), ("Times", 2, "I", "Pi"))
    if multiple is None or int(multiple.q) > MAX_CLASSES:
        return None
    return [Progression(replace(value, constant, n), abs(int(multiple.p))) for n in range(int(multiple.q))]


def classes(problem: Problem, waves: Waves, kernel: Kernel, real: bool) -> Residual | None:
    """The answer's progressions against those of the equation."""
    name = problem.unknowns[0]
    given: list[Progression] = []
    for s in problem.solutions:
        found = put_one_in(problem, s)
        if isinstance(found, Refuted):
            return found
        listed = progressions(s, name, kernel)
        if listed is None:
            return restricted(problem, waves, kernel, real)
        given += listed
    if given and not kernel.imaginary and not any(p.multiple for p in given):
        # Some systems answer with the real solutions of such equations: not wrong, but not complete either.
        finite = one_to_one(problem, lambda bits: members(problem, waves, kernel, bits))
        if isinstance(finite, Verified):
            return Open("solutions that are not real are not in the answer")
        return Open("there are infinitely many solutions, the answer lists some") if isinstance(finite, Refuted) and not real else finite

    def look(bits: int, agreement: Agreement) -> Residual:
        with precision(bits):
            return compare(problem, given, starts(waves(bits), kernel, real), period(kernel), agreement)

    return at_rising_precision(problem, look)


def restricted(problem: Problem, waves: Waves, kernel: Kernel, real: bool) -> Refuted | None:
    """Families whose constant is restricted further: a solution that none of them gives."""
    name = problem.unknowns[0]
    families: list[tuple[Solution, str, Tree, Tree]] = []
    for s in problem.solutions:
        if len(s.integers) != 1 or s.loose or any(free_symbols(c) - s.integers for c in s.conditions):
            return None
        (constant,) = s.integers
        width = step_of(s.values[name], constant)
        if width is None:
            return None
        families.append((s, constant, replace(s.values[name], constant, 0), width))
    with precision(512):
        try:
            step = period(kernel)
            for value in starts(waves(512), kernel, real):
                for n in range(-4, 5):
                    x = complex_ball(value) + n * step
                    if not any(may_give(family, x) for family in families):
                        return Refuted(Statement(equation(name, settled(x)) + " is a solution and not in the answer", exact=False))
        except Undecided:
            return None
    return None


def may_give(family: tuple[Solution, str, Tree, Tree], x: acb) -> bool:
    """Whether a number may be a member of a family; it is none where its index is no integer or does not meet the conditions."""
    s, constant, first, step = family
    start, width = evaluate(first), evaluate(step)
    if not is_number(start) or not is_number(width) or complex_ball(width).contains(0):
        return True
    index = (x - complex_ball(start)) / complex_ball(width)
    if not index.imag.contains(0) or not index.real.contains_integer():
        return False
    whole = index.real.unique_fmpz()
    if whole is None:
        return True
    env = Environment.of({constant: fmpq(whole)})
    return all(evaluate(condition, env) is not False for condition in s.conditions)


def compare(problem: Problem, given: list[Progression], true: list[Number], step: acb, agreement: Agreement) -> Residual:
    name = problem.unknowns[0]
    if not true:
        return Refuted(Statement("the equation has no solutions", exact=False)) if given else Verified(True, "{}")
    common = math.lcm(*(p.multiple or 1 for p in given)) if given else 1
    if common > MAX_CLASSES:
        return Open("too many classes")
    covered: set[tuple[int, int]] = set()
    for progression in given:
        start = evaluate(progression.start)
        if not is_number(start):
            return Refuted(Statement(equation(name, start) + " is no number"))
        near: list[tuple[int, int]] = []
        for i, value in enumerate(true):
            turns = (complex_ball(start) - complex_ball(value)) / step
            if not turns.imag.contains(0) or not turns.real.contains_integer():
                continue
            whole = turns.real.unique_fmpz()
            if whole is None:
                raise Undecided("the enclosures stay too wide")
            near.append((i, int(whole)))
            off = arb((turns - int(whole)).abs_upper())
            if off > fmpq(1, 10**DIGITS):
                raise Undecided("the enclosures stay too wide")
            agreement.add(off, arb(0))
        if not near:
            return Refuted(Statement(equation(name, start) + " is no solution", exact=False))
        if len(near) > 1:
            raise Undecided("solutions not told apart")
        if progression.multiple:
            i, n = near[0]
            covered |= {(i, (n + k * progression.multiple) % common) for k in range(common // progression.multiple)}
    for i, value in enumerate(true):
        for n in range(common):
            if (i, n) not in covered:
                missing = settled(complex_ball(value) + n * step)
                if not is_number(missing):
                    raise Undecided("missing")
                if any(p.multiple == 0 for p in given):
                    missing = settled(complex_ball(value) + (n + 1000 * common) * step)
                return Refuted(Statement(equation(name, missing) + " is a solution and not in the answer", exact=False))
    return Verified(False)
