"""The points of a real line where an expression may not be smooth: zeros of the arguments of Abs, Log, roots, steps and denominators,
ends of the cases of a Piecewise. They are looked for to choose points, not to prove anything: one that is missed costs a
look, never a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from typing import Any

from flint import arb, fmpq, fmpq_poly

from . import budget
from .evaluation import Environment, evaluate
from .lists import LISTS
from .sequences import SEQUENCES
from .tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, rational_tree, replace, times, walk
from .univariate import polynomial
from .values import Gaussian, Undecided, Value, is_number, precision

MAX_CRITICAL = 10  # expressions that are looked at
MAX_WHOLE_DEGREE = 12
MAX_SCANNED = 8  # of their zeros that are kept
MAX_ISOLATED = 24  # places up to which a region is looked at each
POWERS = (*range(-4, 14), 16, 20, 26, 32, 40, 52, 64, 100)
GRID = sorted({fmpq(0)} | {s * fmpq(2) ** k for s in (1, -1) for k in POWERS} | {fmpq(3 * k + 1, 3) for k in range(-9, 9)})
BISECTIONS = 30
BITS = 53
MAX_BITS = 20_000
MARGIN = 2**40
MAX_FACTOR_DEGREE = 60

Make = Callable[[tuple[Tree, ...]], list[Tree]]


def _each(args: tuple[Tree, ...]) -> list[Tree]:
    return list(args)


def _around(*shifts: int) -> Make:
    return lambda args: [plus(args[-1], shift) if shift else args[-1] for shift in shifts]


def _differences(args: tuple[Tree, ...]) -> list[Tree]:
    return [minus(a, b) for i, a in enumerate(args) for b in args[i + 1 :]]


CRITICAL: dict[str, Make] = {
    **dict.fromkeys("Abs RealAbs Sign RealSign UnitStep HeavisideTheta Ramp Log Sqrt Log2 Log10 Arg CubeRoot ArcCot".split(), _each),
    **dict.fromkeys("Max Min Less LessEqual Greater GreaterEqual Equal Unequal".split(), _differences),
    "Inequality": lambda args: _differences(args[::2]),
    **dict.fromkeys("ArcSin ArcCos ArcTanh ArcCosh ArcSec ArcCsc ArcCoth ArcSech".split(), _around(-1, 0, 1)),
    **dict.fromkeys(
        "Floor Ceiling Round IntegerPart FractionalPart UnitBox UnitTriangle Gamma Factorial LogGamma PolyGamma HarmonicNumber".split(), _around(-1, 0, 1)
    ),
    **dict.fromkeys("Mod Quotient".split(), lambda args: [args[0], minus(args[0], args[1]), args[1]]),
    **dict.fromkeys("Tan Sec".split(), lambda args: [("Cos", args[0])]),
    **dict.fromkeys("Cot Csc".split(), lambda args: [("Sin", args[0])]),
    **dict.fromkeys("PolyLog Hypergeometric2F1 HypergeometricPFQ EllipticK EllipticE EllipticF LerchPhi".split(), _around(-1)),
    **dict.fromkeys("ExpIntegralEi ExpIntegralE LogIntegral CosIntegral CoshIntegral BesselY BesselK ProductLog Surd".split(), _around(0)),
    "ArcTan": _each,
    **dict.fromkeys("Exp Erf Erfc Erfi Tanh Coth Sech Csch Sinc AiryAi AiryBi Zeta DirichletEta FresnelS FresnelC SinIntegral DawsonF ArcSinh".split(), _each),
    **dict.fromkeys("KroneckerDelta DiscreteDelta".split(), lambda args: _differences(args) if len(args) > 1 else list(args)),
    "Boole": lambda args: [],
    "OffZero$": lambda args: [args[0]],
    "Divide": lambda args: [args[1]],
}


def critical(nodes: Iterable[Tree], jumps_only: bool = False) -> list[Tree]:
    """The expressions whose zeros matter, without repetition, those found first first."""
    nodes = list(nodes)
    found: dict[Tree, None] = {}
    jumping = any(is_call(part, *JUMPING) for node in nodes for part in walk(node))
    for node in nodes:
        for part in walk(node):
            if not isinstance(part, tuple) or not isinstance(part[0], str) or (jumps_only and part[0] not in JUMPING | COMPARED):
                continue
            if jumping and part[0] in ("Sin", "Cos"):
                found["Cos" if part[0] == "Sin" else "Sin", part[1]] = None  # where it is largest and smallest
            make = CRITICAL.get(part[0])
            args = arguments(part)
            if part[0] == "Power" and len(args) == 2 and not (isinstance(args[1], int) and args[1] > 0):
                found.update(dict.fromkeys(args))
            elif make is not None and args:
                found.update(dict.fromkeys(make(args)))
    return [node for node in found if free_symbols(node)]


def substituted(node: Tree, values: dict[str, Value]) -> Tree:
    """The tree with exact values put in for symbols."""
    if isinstance(node, str):
        value = values.get(node)
        return node if value is None else exact_tree(value)
    if isinstance(node, tuple):
        return tuple(part if i == 0 and isinstance(part, str) else substituted(part, values) for i, part in enumerate(node))
    return node


def exact_tree(value: Value) -> Tree:
    if isinstance(value, fmpq):
        return rational_tree(value)
    if isinstance(value, Gaussian):
        return ("Complex", exact_tree(value.re), exact_tree(value.im))
    raise Refused("a value that is not exact")


def crossings(nodes: list[Tree], name: str, env: Environment) -> list[fmpq]:
    """Approximate zeros on the real line of the symbol, the others standing for exact values; rational ones exactly. Those of
    polynomials are all there, so near to the true ones that each cell between two of them is what it seems; of the others the MAX_SCANNED nearest to 0."""
    polynomials: list[fmpq_poly] = []
    scanned: set[fmpq] = set()
    others = {key: value for key, value in env.values.items() if isinstance(key, str) and key != name and isinstance(value, fmpq)}
    looked = 0
    for node in nodes:
        if name not in free_symbols(node):
            continue
        budget.step()
        exactly = polynomial(substituted(node, dict(others)), name)
        if exactly is not None:
            if exactly.degree() >= 1:
                polynomials.append(exactly)
        elif looked < MAX_CRITICAL:
            looked += 1
            scanned.update(_scanned(node, name, env))
    by_size = sorted(scanned, key=abs)
    return sorted({*zeros_told_apart(polynomials), *by_size[:MAX_SCANNED], *by_size[-2:]})


def whole_places(nodes: Iterable[Tree], name: str, env: Environment) -> list[fmpq]:
    """The whole zeros of those that are polynomials in the symbol, and whole numbers next to zeros of others: some."""
    others: dict[str, Value] = {key: value for key, value in env.values.items() if isinstance(key, str) and key != name and isinstance(value, fmpq)}
    found: dict[fmpq, None] = {}
    for node in nodes:
        p = polynomial(substituted(node, others), name) if name in free_symbols(node) else None
        if p is None and name in free_symbols(node) and len(found) < MAX_CRITICAL:
            for zero in _scanned(node, name, env)[:MAX_SCANNED]:
                found.update(dict.fromkeys((fmpq((zero + fmpq(1, 2)).floor()), fmpq(zero.floor()), fmpq(zero.ceil()))))
        if p is not None and 1 <= p.degree() <= MAX_WHOLE_DEGREE:
            found.update(dict.fromkeys(zero for zero in zeros_told_apart([p]) if zero.q == 1))
    return list(found)[:MAX_CRITICAL]


def zeros_told_apart(polynomials: Iterable[fmpq_poly]) -> list[fmpq]:
    """The real zeros: rational ones exactly, of others a number that is nearer to its zero than 2^-40 of the gap to the next one."""
    factors: dict[tuple[Any, ...], fmpq_poly] = {}
    for p in polynomials:
        found: Any = p.factor()[1]
        for factor, _ in found:
            if 1 <= factor.degree() <= MAX_FACTOR_DEGREE:
                factors[tuple(factor.coeffs())] = factor
    zeros = [-factor[0] / factor[1] for factor in factors.values() if factor.degree() == 1]
    curved: list[Any] = [factor for factor in factors.values() if factor.degree() > 1]
    bits = BITS
    while curved:
        budget.step()
        with precision(bits):
            balls = [root.real for factor in curved for root, _ in factor.complex_roots() if root.imag.is_zero()]
            every = sorted([*balls, *(arb(zero) for zero in zeros)], key=lambda ball: arb(ball.mid()).fmpq())
            if all((b - a) > MARGIN * (a.rad() + b.rad()) for a, b in pairwise(every)):
                return sorted({*zeros, *(arb(ball.mid()).fmpq() for ball in balls)})
        bits *= 2
        if bits > MAX_BITS:
            raise Refused("places that are too close together")
    return sorted(zeros)


def _middle(value: arb) -> fmpq:
    return arb(value.mid()).fmpq() if abs(value) > arb(2) ** -200 and abs(value) < arb(2) ** 200 else fmpq(0)


def _sign(node: Tree, name: str, env: Environment, x: fmpq) -> int | None:
    """The sign of the real part, or None."""
    try:
        value = evaluate(node, env.having(name, x))
    except (Undecided, Refused):
        return None
    if not is_number(value):
        return None
    real = value.re if isinstance(value, Gaussian) else value if isinstance(value, fmpq | arb) else value.real
    return 1 if real > 0 else -1 if real < 0 else 0 if isinstance(real, fmpq) else None


def _scanned(node: Tree, name: str, env: Environment) -> list[fmpq]:
    zeros: list[fmpq] = []
    with precision(BITS):
        before: tuple[fmpq, int] | None = None
        for x in GRID:
            here = _sign(node, name, env, x)
            if here is None:
                continue
            if here == 0:
                zeros.append(x)
            elif before is not None and before[1] != here:
                zeros.append(_bisected(node, name, env, before[0], x))
            before = (x, here) if here else None
    return zeros


def _bisected(node: Tree, name: str, env: Environment, low: fmpq, high: fmpq) -> fmpq:
    at_low = _sign(node, name, env, low)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        here = _sign(node, name, env, middle)
        if here is None or here == 0:
            return middle
        if here == at_low:
            low = middle
        else:
            high = middle
    return (low + high) / 2


JUMPING = frozenset(
    "Abs RealAbs Sign RealSign UnitStep HeavisideTheta Ramp Max Min Floor Ceiling Round IntegerPart FractionalPart Mod Quotient Clip UnitBox "
    "UnitTriangle ConditionalExpression Piecewise If Boole CubeRoot Surd KroneckerDelta DiscreteDelta OffZero$".split()
)
COMPARED = frozenset("Less LessEqual Greater GreaterEqual Equal Unequal Inequality".split())
PERIODIC = frozenset("Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Exp".split())


# What the conditions of a choice may be made of, for the ends of its cases to be the zeros of what they compare.
LISTED = frozenset((*LISTS, *SEQUENCES, "Table"))
CHOICES = ("Piecewise", "If", "ConditionalExpression", "Boole")
CONNECTIVES = frozenset("And Or Not Xor Nand Nor Implies Equivalent".split())


# Functions whose value jumps at a place.
STEPPED = frozenset(
    "Sign RealSign UnitStep HeavisideTheta UnitBox ConditionalExpression Piecewise If Boole KroneckerDelta DiscreteDelta "
    "Floor Ceiling Round IntegerPart FractionalPart Mod Quotient".split()
)
# Functions whose value at a place is no limit of the values beside it.
DISCONTINUOUS = frozenset(
    "Sign RealSign UnitStep HeavisideTheta UnitBox ConditionalExpression Piecewise If Boole KroneckerDelta DiscreteDelta OffZero$".split()
)


def exact_places(found: Iterable[fmpq_poly], real: bool) -> bool:
    """Whether all zeros of polynomials are rational, so that they can be points; real: but those that are not real."""
    for p in found:
        factors: Any = p.factor()[1]
        for factor, _ in factors:
            if factor.degree() > 1 and not (real and not any(root.imag.is_zero() for root, _ in factor.complex_roots())):
                return False
    return True


def isolated(nodes: Iterable[Tree], others: Iterable[Tree], open_names: Collection[str] | None = None, branches: Collection[Tree] = ()) -> bool:
    """Whether the places where functions that are not analytic change their ways are all found by crossings: in one symbol
    that they depend on as polynomials. others: further places, such as the ends of assumptions; open_names: symbols that may be
    complex, where the places themselves have to be points too; branches: places of functions with branches (branching.py)."""
    nodes = list(nodes)
    jumping = any(is_call(part, *JUMPING) for node in nodes for part in walk(node))
    if not jumping and not branches:
        return True
    places = [*(critical(nodes, jumps_only=True) if jumping else []), *others, *branches]
    names = set().union(*(free_symbols(place) for place in places)) if places else set()
    if any(is_call(part, "Floor", "Ceiling", "Round", "IntegerPart", "FractionalPart", "Mod", "Quotient") for node in nodes for part in walk(node)):
        return False  # jumps without end
    if not all(shows_its_places(part) for node in nodes for part in walk(node)):
        return False
    if len(set(places)) > MAX_CRITICAL:
        return False
    if len(names) > 1:
        return len({linear_form(place) for place in places}) == 1 and linear_form(places[0]) is not None
    found = [polynomial(place, name) for place in set(places) for name in names]
    at_places = open_names is not None and any(is_call(part, *DISCONTINUOUS) for node in nodes for part in walk(node))
    if at_places and not exact_places([p for p in found if p is not None], not names & set(open_names or ())):
        return False
    return all(p is not None for p in found) and sum(p.degree() for p in found if p is not None) <= MAX_ISOLATED


def shows_its_places(node: Tree) -> bool:
    """Whether critical names every place at which a function that is not analytic changes its way: not where its arguments stand in
    lists, and not where a case depends on anything but comparisons, as on Element[x, Integers]."""
    args = arguments(node)
    if not is_call(node, *JUMPING) or not free_symbols(node):
        return True
    if is_call(node, "Piecewise"):
        cases = [arguments(case) for case in arguments(args[0])]
        return all(len(case) == 2 and is_comparison(case[1]) for case in cases)
    if is_call(node, "If"):
        return is_comparison(args[0])
    if is_call(node, "ConditionalExpression", "Boole"):
        return is_comparison(args[-1])
    return not kinks_in_a_list(node)


def kinks_in_a_list(node: Tree) -> bool:
    """Whether a function with kinks or jumps is taken of lists, or has places that are not looked for."""
    if not is_call(node, *JUMPING) or is_call(node, *CHOICES) or not free_symbols(node):
        return False
    args, make = arguments(node), CRITICAL.get(str(node[0])) if isinstance(node, tuple) else None
    if is_call(node, "OffZero$"):
        args = args[:1]  # the places are those of the first; the second stands for itself
    return make is None or not make(args) or any(is_call(part, *LISTED) for arg in args for part in walk(arg))


def is_comparison(node: Tree) -> bool:
    if is_call(node, *CONNECTIVES):
        return all(is_comparison(part) for part in arguments(node))
    return is_call(node, *COMPARED) or node in ("True", "False") or (is_call(node, "Element") and not free_symbols(arguments(node)[0]))


ORDERED = frozenset("UnitStep HeavisideTheta Ramp Max Min Clip UnitBox UnitTriangle Mod Quotient Less LessEqual Greater GreaterEqual Inequality".split())


def real_with(nodes: Iterable[Tree], open_names: set[str]) -> bool:
    """Whether what functions of real numbers are taken of is real where symbols are real only: of the first degree in those that may be
    complex. x^2 + 1 is real on the imaginary axis too, where no points may have been taken."""
    if not open_names:
        return True
    for node in nodes:
        for part in walk(node):
            if is_call(part, *ORDERED) and any(free_symbols(arg) & open_names and linear_form(arg) is None for arg in arguments(part)):
                return False
    return True


def linear_form(node: Tree) -> tuple[tuple[str, fmpq], ...] | None:
    """A tree of degree 1 in its symbols together, up to a factor; None for others."""
    names = sorted(free_symbols(node))
    line: Tree = node
    for i, name in enumerate(names):
        line = replace(line, name, times(2 * i + 3, "line$variable"))
    found = polynomial(line, "line$variable")
    if found is None or found.degree() != 1:
        return None
    at_zero: Tree = node
    for name in names:
        at_zero = replace(at_zero, name, 0)
    constant = polynomial(at_zero, "line$variable")
    form = [("", constant[0] if constant is not None else fmpq(0))]
    for name in names:
        one: Tree = node
        for other in names:
            if other != name:
                one = replace(one, other, 0)
        along = polynomial(one, name)
        if along is None or along.degree() > 1:
            return None
        form.append((name, along[1]))
    if sum((slope * (2 * i + 3) for i, (_, slope) in enumerate(form[1:])), fmpq(0)) != found[1]:
        return None
    scale = next((value for _, value in reversed(form) if value != 0), fmpq(1))
    return tuple((name, value / scale) for name, value in form)


def complex_places(nodes: Iterable[Tree], name: str, env: Environment) -> list[tuple[fmpq, fmpq]]:
    """Approximate complex zeros of the critical expressions that are polynomials in the symbol, and places where the arguments
    of exponentials that are linear in it leave the strip |Im| < Pi."""
    others: dict[str, Value] = {key: value for key, value in env.values.items() if isinstance(key, str) and key != name and isinstance(value, fmpq)}
    found: dict[tuple[fmpq, fmpq], None] = {}
    for node in nodes:
        p = polynomial(substituted(node, others), name)
        if p is None or not 1 <= p.degree() <= 60:
            continue
        with precision(BITS):
            roots: Any = p.complex_roots()
            found.update(dict.fromkeys((_middle(root.real), _middle(root.imag)) for root, _ in roots))
    return list(found)[:MAX_CRITICAL]


def wrapping_places(nodes: Iterable[Tree], name: str, env: Environment) -> list[tuple[fmpq, fmpq]]:
    """Places where arguments of exponentials and of functions with a period, linear in the symbol, are 5 I, 11 I, 5 and 11."""
    others: dict[str, Value] = {key: value for key, value in env.values.items() if isinstance(key, str) and key != name and isinstance(value, fmpq)}
    found: dict[tuple[fmpq, fmpq], None] = {}
    for node in nodes:
        for part in walk(node):
            if is_call(part, *PERIODIC):
                argument = arguments(part)[0]
            elif is_call(part, "Power") and len(arguments(part)) == 2 and free_symbols(arguments(part)[1]):
                argument = arguments(part)[1]
            else:
                continue
            line = polynomial(substituted(argument, others), name)
            if line is None:
                # I times a line: the real direction is the one that wraps.
                line = polynomial(substituted(replace(argument, "I", 1), others), name)
            if line is None or line.degree() != 1:
                continue
            start, slope = line[0], line[1]
            for turn in (5, 11, -5):
                found[-start / slope + fmpq(1, 37), (turn + fmpq(3, 37)) / slope] = None
                found[(turn + fmpq(3, 37) - start) / slope, fmpq(0)] = None
    return list(found)[:16]
