"""Where functions with branches are analytic, so that no region is missed in which an expression goes its own way.

With real symbols: what a root, a logarithm or an inverse function is taken of has one sign on a convex set that holds all admissible
values, or its zeros are those of a polynomial and become points (critical.crossings). With a complex symbol: it is linear in the symbol, so that
the cut lies on a line parallel to an axis; states() gives a point on each side of all lines and on each piece of them.
Everything else is not known, and agreement at points is support only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise, product

from flint import fmpq

from .deciding import not_zero
from .evaluation import evaluate
from .signs import Signs
from .tree import Refused, Tree, arguments, constants, free_symbols, is_call, plus, replace, walk
from .univariate import polynomial
from .values import Gaussian, Undecided, Value, gaussian

Piece = tuple[bool, fmpq | None, fmpq | None]  # of a cut: whether on the imaginary axis, and its ends; None: infinite
BELOW_ZERO: tuple[Piece, ...] = ((False, None, fmpq(0)),)
BEYOND_ONE: tuple[Piece, ...] = ((False, None, fmpq(-1)), (False, fmpq(1), None))
ABOVE_ONE: tuple[Piece, ...] = ((False, fmpq(1), None),)
BETWEEN: tuple[Piece, ...] = ((False, fmpq(-1), fmpq(0)), (False, fmpq(0), fmpq(1)))
IMAGINARY: tuple[Piece, ...] = ((True, None, fmpq(-1)), (True, fmpq(1), None))

# DLMF 4.2, 4.23, 4.37, 5.9, 6.2, 10.2, 19.2, 25.12 and the language's own ArcCot, ArcSec, ArcCsc, ArcCoth, ArcSech, ArcCsch of 1/z.
CUTS: dict[str, tuple[Piece, ...]] = {
    **dict.fromkeys(
        "Log Log2 Log10 Sqrt Power Arg LogGamma BesselJ BesselI BesselY BesselK ExpIntegralEi ExpIntegralE CosIntegral CoshIntegral".split(), BELOW_ZERO
    ),
    **dict.fromkeys("ArcSin ArcCos ArcTanh".split(), BEYOND_ONE),
    **dict.fromkeys("ArcSec ArcCsc ArcCoth".split(), BETWEEN),
    **dict.fromkeys("ArcTan ArcSinh".split(), IMAGINARY),
    **dict.fromkeys("ArcCot ArcCsch".split(), tuple((True, low, high) for _, low, high in BETWEEN)),
    **dict.fromkeys("PolyLog EllipticK EllipticE Hypergeometric2F1".split(), ABOVE_ONE),
    "ArcCosh": ((False, None, fmpq(-1)), (False, fmpq(-1), fmpq(1))),
    "ArcSech": ((False, None, fmpq(-1)), (False, fmpq(-1), fmpq(0)), (False, fmpq(1), None)),
    "ProductLog": ((False, None, fmpq(-3, 8)),),  # from -1/E, which is above
    "LogIntegral": ((False, None, fmpq(0)), (False, fmpq(0), fmpq(1))),
}
# Where a function of a real argument changes its ways.
CHANGES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys("Log Log2 Log10 Sqrt Power BesselJ BesselI BesselY BesselK ExpIntegralEi CosIntegral CoshIntegral ArcCot ArcCsch".split(), (0,)),
    **dict.fromkeys("ArcSin ArcCos ArcTanh ArcCosh ArcSec ArcCsc ArcCoth ArcSech".split(), (-1, 0, 1)),
    **dict.fromkeys("PolyLog EllipticK EllipticE Hypergeometric2F1 LogIntegral".split(), (0, 1)),
    **dict.fromkeys("ArcTan ArcSinh".split(), ()),
}
AT_ZERO_ONLY = frozenset(
    [head for head, places in CHANGES.items() if places in ((), (0,))] + ["LogGamma", "ProductLog", "Arg"]
)  # analytic for positive numbers
# Analytic but for poles, for any values of all arguments, however many.
MEROMORPHIC = frozenset(
    "Plus Times Subtract Minus Divide Rational Complex List Function RootSum Slot OnReals$ Rule Det Tr Dot Transpose ConjugateTranspose Inverse "
    "LinearSolve CharacteristicPolynomial MatrixExp Cross KroneckerProduct Total Mean Differences "
    "Accumulate Adjugate IdentityMatrix DiagonalMatrix Re Im Conjugate".split()
)
# The same with so many arguments.
ARGUMENTS: dict[str, int] = {
    **dict.fromkeys(
        "Exp Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Sinc Gamma Factorial HarmonicNumber Zeta Erf Erfc Erfi FresnelS FresnelC SinIntegral "
        "SinhIntegral AiryAi AiryBi AiryAiPrime AiryBiPrime DawsonF Fibonacci LucasL PolyGamma".split(),
        1,
    ),
    **dict.fromkeys("Binomial Pochhammer Beta".split(), 2),
}
# What a cut lies in is the last argument; without branches in the others.
LAST: dict[str, int] = {
    **dict.fromkeys("Power PolyLog BesselJ BesselI BesselY BesselK ExpIntegralE".split(), 2),
    "Hypergeometric2F1": 4,
}
OF_WHOLE_ORDER = frozenset("BesselJ BesselI HermiteH LegendreP ChebyshevT ChebyshevU LaguerreL BernoulliB EulerE PolyGamma".split())
# Looked at by critical.isolated, or of truth values.
STEPS = frozenset(
    "Abs RealAbs Sign RealSign UnitStep HeavisideTheta Ramp Max Min Floor Ceiling Round IntegerPart FractionalPart Mod Quotient Clip UnitBox UnitTriangle "
    "Piecewise If Boole CubeRoot Surd KroneckerDelta DiscreteDelta OffZero$ Less LessEqual Greater GreaterEqual Equal Unequal Inequality And Or Not True "
    "Element Alternatives ConditionalExpression Xor Implies Equivalent Nand Nor".split()
)
TURNING = {("ArcSin", "Sin"): fmpq(1, 2), ("ArcCos", "Cos"): fmpq(0), ("ArcTan", "Tan"): fmpq(1, 2)}  # where, in units of Pi, up to whole ones
MAX_STATES = 40
NOTHING = Gaussian(fmpq(0), fmpq(0))


def branched(nodes: Iterable[Tree]) -> list[tuple[str, Tree, Tree]]:
    """The functions with branches: head, what it is taken of, the call. A head that is not known is one too."""
    found: dict[tuple[str, Tree, Tree], None] = {}
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if not isinstance(node, tuple):
            continue
        pending.extend(node[1:] if isinstance(node[0], str) else node)
        head, parts = node[0], arguments(node)
        if not (free_symbols(node) or constants(node)) or head in MEROMORPHIC or head in STEPS or not parts or ARGUMENTS.get(str(head)) == len(parts):
            continue
        if head == "ReplaceAll":
            if not put_in_plainly(parts):
                found["", node, node] = None
            continue
        if head == "Power" and len(parts) == 2:
            analytic = isinstance(parts[1], int) or parts[0] == "E" or not_zero(parts[0])
            if not analytic:
                found["Power", parts[0], node] = None
        elif head in OF_WHOLE_ORDER and len(parts) == 2 and isinstance(parts[0], int):
            continue
        elif not isinstance(head, str) or not usual(head, parts):
            found["", parts[-1], node] = None
        else:
            found[head, parts[-1], node] = None
    return list(found)


def usual(head: str, parts: tuple[Tree, ...]) -> bool:
    """Whether a call is of the form that CUTS and CHANGES speak of."""
    if head == "Log" and len(parts) == 2:
        return not free_symbols(parts[0])
    return len(parts) == LAST.get(head, 1) and (head.startswith("Bessel") or not any(free_symbols(part) for part in parts[:-1]))


def put_in_plainly(parts: tuple[Tree, ...]) -> bool:
    """Whether symbols alone are replaced, in what is meromorphic whatever stands for them."""
    rules = [part for part in walk(parts[-1]) if is_call(part, "Rule", "RuleDelayed")]
    calls = [part for node in parts for part in walk(node) if isinstance(part, tuple)]
    plain = (
        call[0] in MEROMORPHIC
        or call[0] in ("RuleDelayed", "ReplaceAll")
        or ARGUMENTS.get(str(call[0])) == len(call) - 1
        or (call[0] == "Power" and isinstance(call[-1], int))
        for call in calls
    )
    return all(isinstance(arguments(rule)[0], str) for rule in rules) and all(plain)


def real_places(nodes: Iterable[Tree], signs: Signs, open_names: Collection[str]) -> list[Tree] | None:
    """Expressions of real symbols whose zeros must all be points; None where it is not known what matters."""
    found: list[Tree] = []
    for head, argument, _ in branched(nodes):
        if free_symbols(argument) & set(open_names):
            continue
        if head in AT_ZERO_ONLY and signs.of(argument) == "+":
            continue
        if head in ("ArcTan", "ArcSinh") and signs.regular(argument):
            continue
        if turns_nowhere(head, argument, signs):
            continue
        names = free_symbols(argument)
        if head not in CHANGES or len(names) != 1 or polynomial(argument, next(iter(names))) is None:
            return None
        found += [plus(argument, -place) if place else argument for place in CHANGES[head]]
    return found


def turns_nowhere(head: str, argument: Tree, signs: Signs) -> bool:
    """ArcSin[Sin[x]] and its like where x has bounds between which Sin[x] has no extremum."""
    if not (isinstance(argument, tuple) and isinstance(argument[0], str) and (head, argument[0]) in TURNING and isinstance(argument[1], str)):
        return False
    ends = signs.ends(argument[1])
    if ends is None:
        return False
    return no_whole_between(*ends, TURNING[head, argument[0]])


def no_whole_between(low: Tree, high: Tree, shift: fmpq) -> bool:
    """Whether no (k + shift) Pi lies strictly between two multiples of Pi by rational numbers."""
    found = []
    for end in (low, high):
        number = multiple_of_pi(end)
        if number is None:
            return False
        found.append(number - shift)
    return bool(fmpq(found[0].floor()) + 1 >= found[1])


def multiple_of_pi(node: Tree) -> fmpq | None:
    line = polynomial(replace(node, "Pi", "pi$"), "pi$")
    return line[1] if line is not None and line.degree() <= 1 and line[0] == 0 else None


def states(nodes: Iterable[Tree], open_names: Collection[str]) -> list[dict[str | tuple[Tree, ...], Value]] | None:
    """Values of the complex symbols on all sides of all cuts and on each of their pieces; None where the cuts are not known."""
    lines: dict[str, tuple[dict[fmpq, set[fmpq]], dict[fmpq, set[fmpq]]]] = {}
    for head, argument, _ in branched(nodes):
        if not free_symbols(argument) & set(open_names):
            continue
        line = linear(argument)
        if head not in CUTS or line is None or line[0] not in open_names:
            return None
        name, slope, start = line
        across, along = lines.setdefault(name, ({}, {}))
        for imaginary, low, high in CUTS[head]:
            for end in (low, high):
                if end is None:
                    continue
                z = divided(Gaussian(fmpq(0), end) if imaginary else Gaussian(end, fmpq(0)), start, slope)
                if imaginary == (slope.re == 0):
                    across.setdefault(z.im, set()).add(z.re)  # on a horizontal line
                else:
                    along.setdefault(z.re, set()).add(z.im)
    found: list[list[tuple[str | tuple[Tree, ...], Value]]] = []
    total = 1
    for name, (across, along) in lines.items():
        places: list[tuple[str | tuple[Tree, ...], Value]] = [(name, place) for place in plane(across, along)]
        total *= len(places)
        if total > MAX_STATES:
            return None
        found.append(places)
    return [dict(choice) for choice in product(*found)] if found else []


def divided(end: Gaussian, start: Gaussian, slope: Gaussian) -> Gaussian:
    """(end - start)/slope, of a slope that is real or imaginary."""
    re, im = end.re - start.re, end.im - start.im
    return Gaussian(re / slope.re, im / slope.re) if slope.im == 0 else Gaussian(im / slope.im, -re / slope.im)


def plane(across: dict[fmpq, set[fmpq]], along: dict[fmpq, set[fmpq]]) -> list[Value]:
    """A point in each part of the plane between horizontal lines across and vertical ones along, and on each piece of a line."""
    rows, columns = between(across), between(along)
    found: list[Value] = [gaussian(x, y) for x in columns for y in rows]
    found += [gaussian(x, y) for y, ends in across.items() for x in between({*ends, *along})]
    return found + [gaussian(x, y) for x, ends in along.items() for y in between({*ends, *across})]


def between(places: Collection[fmpq]) -> list[fmpq]:
    """A number in each interval that places divide the line into."""
    ends = sorted(places)
    if not ends:
        return [fmpq(611, 512)]
    return [ends[0] - fmpq(729, 512), *(a + (b - a) * fmpq(313, 512) for a, b in pairwise(ends)), ends[-1] + fmpq(1117, 512)]


def linear(node: Tree) -> tuple[str, Gaussian, Gaussian] | None:
    """Symbol, slope and start of a z + b with Gaussian rationals, a real or imaginary and not zero."""
    names = free_symbols(node)
    if len(names) != 1:
        return None
    found = of_first_degree(node)
    if found is None or (found[0].re == 0) == (found[0].im == 0):
        return None
    return next(iter(names)), *found


def of_first_degree(node: Tree) -> tuple[Gaussian, Gaussian] | None:
    """Slope and start of a tree of first degree in its symbol; None for others."""
    if not free_symbols(node):
        value = evaluate_exactly(node)
        return None if value is None else (NOTHING, value)
    if isinstance(node, str):
        return Gaussian(fmpq(1), fmpq(0)), NOTHING
    parts = [of_first_degree(part) for part in arguments(node)]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    if is_call(node, "Plus"):
        return added([slope for slope, _ in known]), added([start for _, start in known])
    if is_call(node, "Subtract", "Minus"):
        signed = [scaled(part, Gaussian(fmpq(-1), fmpq(0))) if i or len(known) == 1 else part for i, part in enumerate(known)]
        return added([slope for slope, _ in signed]), added([start for _, start in signed])
    if is_call(node, "Times") and sum(slope != NOTHING for slope, _ in known) == 1:
        line = next(part for part in known if part[0] != NOTHING)
        for slope, start in known:
            if slope == NOTHING:
                line = scaled(line, start)
        return line
    if is_call(node, "Divide") and len(known) == 2 and known[1][0] == NOTHING and known[1][1] != NOTHING:
        c = known[1][1]
        size = c.re**2 + c.im**2
        return scaled(known[0], Gaussian(c.re / size, -c.im / size))
    return None


def added(values: list[Gaussian]) -> Gaussian:
    return Gaussian(sum((v.re for v in values), fmpq(0)), sum((v.im for v in values), fmpq(0)))


def scaled(line: tuple[Gaussian, Gaussian], c: Gaussian) -> tuple[Gaussian, Gaussian]:
    first, second = (Gaussian(v.re * c.re - v.im * c.im, v.re * c.im + v.im * c.re) for v in line)
    return first, second


def evaluate_exactly(node: Tree) -> Gaussian | None:
    try:
        value = evaluate(node)
    except (Undecided, Refused):
        return None
    return value if isinstance(value, Gaussian) else Gaussian(value, fmpq(0)) if isinstance(value, fmpq) else None
