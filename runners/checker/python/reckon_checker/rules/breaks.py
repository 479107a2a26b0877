"""Every place of the real line at which an expression of one real variable may fail to be analytic, exactly.

A function with branches is analytic along the line off the places where what it is taken of reaches an end of its cut, has a pole, or meets
the axis that the cut lies on: zeros of u - end, of u - Conjugate[u] and of denominators, as algebraic functions of one variable
(one_variable.py). NotPlaced where an expression is of another kind: nothing is known of its places then.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from flint import arb, fmpq

from .. import budget
from ..branching import CUTS
from ..calculus import applied
from ..critical import COMPARED, JUMPING, critical, shows_its_places
from ..evaluation import evaluate
from ..normal import proves_zero
from ..reality import is_real
from ..signs import Signs
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, replace, times, walk
from ..tree import undefined as may_be_users
from ..univariate import polynomial
from ..values import Gaussian, Undecided, is_number, precision
from .one_variable import NotPlaced, Places, Polynomial, Reader, line_of, radical

BITS = 128
MAX_ROOTS_OF_FUNCTIONS = 4  # radicals whose sign patterns are looked at
MAX_EXPRESSIONS = 60
# Analytic wherever their arguments are, in each of these.
ENTIRE = frozenset(
    "Plus Times Subtract Minus Rational Complex List Exp Sin Cos Sinh Cosh Erf Erfc Erfi AiryAi AiryBi AiryAiPrime AiryBiPrime FresnelS FresnelC "
    "SinIntegral SinhIntegral DawsonF Sinc Hypergeometric0F1 Hypergeometric1F1".split()
)
# Meromorphic: what has a pole is analytic around it, and continues in one way only.
MEROMORPHIC = frozenset("Divide Tan Cot Sec Csc Tanh Coth Sech Csch Gamma Factorial PolyGamma HarmonicNumber Zeta".split())
OF_WHOLE_ORDER = frozenset("BesselJ BesselI HermiteH LaguerreL ChebyshevT ChebyshevU LegendreP".split())
AT_ZERO = frozenset("Log Log2 Log10 Sqrt Power ExpIntegralEi CosIntegral CoshIntegral ProductLog".split())  # analytic for positive numbers
WITHOUT_END = frozenset("Floor Ceiling Round IntegerPart FractionalPart Mod Quotient Arg Re Im Conjugate".split())
RADICALS = ("Power", "Sqrt")
ELLIPTIC = {"EllipticF": (0, 1, None), "EllipticE": (0, 1, None), "EllipticPi": (1, 2, 0)}  # where amplitude, parameter and characteristic stand


def single_valued(node: Tree, name: str) -> bool:
    """Whether an expression is analytic in a symbol but at places that stand by themselves, on the whole plane."""
    if not isinstance(node, tuple) or name not in free_symbols(node):
        return True
    head, parts = node[0], arguments(node)
    if not isinstance(head, str):
        if is_call(head, "Function"):
            return single_valued(applied(head, parts), name)
        return arbitrary(head) and all(single_valued(part, name) for part in parts)
    if head == "Power" and len(parts) == 2:
        if parts[0] == "E":
            return single_valued(parts[1], name)
        return (isinstance(parts[1], int) and single_valued(parts[0], name)) or (name not in free_symbols(parts[0]) and single_valued(parts[1], name))
    if head == "Gamma" and len(parts) == 2:
        return isinstance(parts[0], int) and parts[0] > 0 and single_valued(parts[1], name)
    if head in OF_WHOLE_ORDER and len(parts) == 2 and isinstance(parts[0], int):
        return single_valued(parts[1], name)
    if head in ENTIRE or (head in MEROMORPHIC and len(parts) == (2 if head == "Divide" else 1)) or may_be_users(head):
        return all(single_valued(part, name) for part in parts)
    return False


def arbitrary(head: Tree) -> bool:
    """Whether a head is C[k], or a derivative of it or of a user's function: any function with derivatives."""
    if isinstance(head, tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        return (isinstance(head[1], str) and may_be_users(head[1])) or is_call(head[1], "C")
    return is_call(head, "C")


def split(node: Tree, name: str) -> Tree:
    """The terms of a sum that are not single-valued: where the others are singular they continue in one way only."""
    if is_call(node, "Plus", "Subtract"):
        return plus(*(split(part, name) for part in arguments(node) if not single_valued(part, name)))
    return 0 if single_valued(node, name) else node


# What is watched.


@dataclass
class Watch:
    """Collects the expressions whose zeros, and the zeros of whose denominators, are the places."""

    name: str
    signs: Signs
    zeros: dict[Tree, None] = field(default_factory=dict)

    def see(self, node: Tree) -> None:
        """What an expression with functions that are not single-valued changes its ways at."""
        if not isinstance(node, tuple) or self.name not in free_symbols(node):
            return None
        budget.step()
        head, parts = node[0], arguments(node)
        if not isinstance(head, str):
            if not is_call(head, "Function"):
                raise NotPlaced
            return self.see(applied(head, parts))
        if single_valued(node, self.name):
            return None
        if head in JUMPING:
            return self._steps(node)
        if head in COMPARED or head in ENTIRE or head in MEROMORPHIC or (head == "Power" and (isinstance(parts[1], int) or parts[0] == "E")):
            for part in parts:
                self.see(part)
            return None
        return self._branches(head, parts)

    def _steps(self, node: tuple[Tree, ...]) -> None:
        if node[0] in WITHOUT_END or not shows_its_places(node):
            raise NotPlaced
        for e in critical([node], jumps_only=True):
            if self.name in free_symbols(e):
                self.within(e)
        for part in node[1:]:
            self.see(part)

    def _branches(self, head: str, parts: tuple[Tree, ...]) -> None:
        if head == "RootSum":
            return self._root_sum(parts)
        if head in ELLIPTIC and len(parts) == max(place for place in ELLIPTIC[head] if place is not None) + 1:
            return self._elliptic(parts, *ELLIPTIC[head])
        if head == "Gamma" and len(parts) == 2:
            head = "Log"  # cut along the negative axis
        if head == "Log" and len(parts) == 2:
            if self.name in free_symbols(parts[0]):
                raise NotPlaced
        elif head == "Power":
            if self.name in free_symbols(parts[1]):
                raise NotPlaced  # x^x
            parts = parts[:1]
        elif any(self.name in free_symbols(part) for part in parts[:-1]) or head not in CUTS:
            raise NotPlaced
        inner = parts[-1]
        if head in AT_ZERO and is_call(inner, "Abs", "RealAbs") and len(arguments(inner)) == 1:
            self.see(inner)  # positive but at zeros
            return None
        if (head in AT_ZERO and self.signs.of(inner) == "+") or (head in ("ArcTan", "ArcSinh") and self._regular(inner)):
            return None
        if is_call(inner, "Log") and len(arguments(inner)) == 1 and head in ("Log", "ExpIntegralEi"):
            (inside,) = arguments(inner)
            self.see(inner)
            self.within(minus(inside, 1))  # where the logarithm is 0
            self.on_axis(inside, imaginary=False)
            return None
        self.within(inner)
        self.see(inner)
        ends = {end if not imaginary else times("I", end) for imaginary, low, high in CUTS[head] for end in self._trees(low, high)}
        if head == "ProductLog":
            ends = {times(-1, power("E", -1))}
        for end in sorted(ends, key=str):
            self.within(minus(inner, end) if end != 0 else inner)
        for imaginary in {imaginary for imaginary, _, _ in CUTS[head]}:
            self.on_axis(inner, imaginary=imaginary)
        return None

    @staticmethod
    def _trees(*ends: fmpq | None) -> list[Tree]:
        return [rational_tree(end) for end in ends if end is not None]

    def _elliptic(self, parts: tuple[Tree, ...], amplitude: int, parameter: int, characteristic: int | None) -> None:
        """Integrals of 1/Sqrt[1 - m Sin[u]^2] and their kin along the real line, u and m being real."""
        u = parts[amplitude]
        if any(self.name in free_symbols(part) for i, part in enumerate(parts) if i != amplitude) or not self._real(u) or not self._real(parts[parameter]):
            raise NotPlaced
        if not self._below_one(parts[parameter]):
            self.within(("Cos", u))
        for i in (parameter, characteristic):
            if i is not None:
                self.within(minus(1, times(parts[i], power(("Sin", u), 2))))

    def _regular(self, node: Tree) -> bool:
        """Whether an expression is real and analytic all along the line, for any real values that its parts without the variable have."""
        if self.signs.regular(node):
            return True
        fixed: dict[Tree, str] = {}

        def fresh(part: Tree) -> Tree:
            if self.name not in free_symbols(part) and is_real(part, self.signs.real):
                return fixed.setdefault(part, f"fixed${len(fixed)}") if free_symbols(part) else part
            return (part[0], *(fresh(inner) for inner in part[1:])) if isinstance(part, tuple) else part

        written = fresh(node)
        return Signs([], self.signs.real | set(fixed.values())).regular(written)

    @staticmethod
    def _below_one(node: Tree) -> bool:
        try:
            return sign_of_constant(minus(node, 1))
        except NotPlaced:
            return False

    def _real(self, node: Tree) -> bool:
        return all(is_zero_form(minus(node, other)) for other in conjugates(node, self.name, self.signs.real))

    def _root_sum(self, parts: tuple[Tree, ...]) -> None:
        """RootSum[f, c Log[x - #]]: the logarithm is real at most where x is a root."""
        if len(parts) != 2 or self.name in free_symbols(parts[0]) or not all(is_call(part, "Function") for part in parts):
            raise NotPlaced
        root = "root$place"
        body = applied(parts[1], (root,))
        for part in walk(body):
            if isinstance(part, tuple) and self.name in free_symbols(part) and not is_call(part, "Plus", "Times", "Subtract", "Minus", "Divide"):
                if not is_call(part, "Log") or len(part) != 2:
                    raise NotPlaced
                line = replace(part[1], root, 0)  # s x + b of Log[s x + b - #]
                slope = polynomial(line, self.name)
                if slope is None or slope.degree() != 1 or not is_zero_form(minus(part[1], minus(line, root))):
                    raise NotPlaced
                self.within(applied(parts[0], (line,)))
            elif is_call(part, "Divide") and self.name in free_symbols(arguments(part)[-1]):
                raise NotPlaced

    def within(self, node: Tree) -> None:
        if self.name in free_symbols(node):
            self.zeros[node] = None
            if len(self.zeros) > MAX_EXPRESSIONS:
                raise NotPlaced

    def on_axis(self, node: Tree, imaginary: bool) -> None:
        """Where a value off an axis comes to it. One that stays on it changes at the ends of cuts only."""
        for other in conjugates(node, self.name, self.signs.real):
            part = plus(node, other) if imaginary else minus(node, other)
            if not is_zero_form(part):
                self.within(part)


def is_zero_form(node: Tree) -> bool:
    return node == 0 or proves_zero(node)


def conjugates(node: Tree, name: str, real: Iterable[str]) -> list[Tree]:
    """What the conjugate of an expression of real symbols may be: one for each choice of the signs of what roots are taken of."""
    roots = list(dict.fromkeys(part for part in walk(node) if is_call(part, *RADICALS) and radical(part) is not None and name in free_symbols(part)))
    if len(roots) > MAX_ROOTS_OF_FUNCTIONS:
        raise NotPlaced
    found: dict[Tree, None] = {}
    for below in itertools.product((False, True), repeat=len(roots)):
        found[mirrored(node, dict(zip(roots, below, strict=True)), frozenset(real))] = None
    return list(found)


def mirrored(node: Tree, below: dict[Tree, bool], real: frozenset[str]) -> Tree:
    """The conjugate; below: whether what a root is taken of is negative, of those that depend on the variable."""
    if node == "I":
        return times(-1, "I")
    if not isinstance(node, tuple):
        if isinstance(node, str) and free_symbols(node) and node not in real:
            raise NotPlaced
        return node
    head, parts = node[0], arguments(node)
    if head == "Rational":
        return node
    if head == "Complex":
        return plus(parts[0], times(-1, "I", parts[1]))
    root = radical(node)
    if root is not None:
        inside, exponent = root
        other = mirrored(inside, below, real)
        conjugate = power(other, rational_tree(exponent))
        if node not in below:
            negative = sign_of_constant(inside)
        elif is_zero_form(minus(inside, other)):
            negative = below[node]
        else:
            return conjugate  # off the axis, and on its cut at places that are watched
        return times(conjugate, power("E", times(rational(-2 * int(exponent.p), int(exponent.q)), "I", "Pi"))) if negative else conjugate
    if head in (
        "Plus",
        "Times",
        "Subtract",
        "Minus",
        "Divide",
        "Sin",
        "Cos",
        "Tan",
        "Cot",
        "Sec",
        "Csc",
        "Sinh",
        "Cosh",
        "Tanh",
        "Coth",
        "Sech",
        "Csch",
        "Exp",
    ):
        return (head, *(mirrored(part, below, real) for part in parts))
    if head == "Power" and len(parts) == 2 and (isinstance(parts[1], int) or parts[0] == "E"):
        return power(mirrored(parts[0], below, real), mirrored(parts[1], below, real))
    if not free_symbols(node):
        with precision(BITS):
            try:
                value = evaluate(node)
            except (Undecided, Refused):
                raise NotPlaced from None
        if is_number(value) and not isinstance(value, Gaussian) and (isinstance(value, fmpq | arb) or value.imag.is_zero()):
            return node
    raise NotPlaced


def sign_of_constant(node: Tree) -> bool:
    """Whether a constant below a root is negative; a complex one is not."""
    if free_symbols(node):
        raise NotPlaced
    with precision(BITS):
        try:
            value = evaluate(node)
        except (Undecided, Refused):
            raise NotPlaced from None
    if isinstance(value, fmpq):
        return bool(value < 0)
    if isinstance(value, arb) and not value.contains(0):
        return bool(value < 0)
    if isinstance(value, Gaussian):
        return False
    raise NotPlaced


# In one variable t.


def places(node: Tree, name: str, real: Iterable[str] = ()) -> Places | None:
    """The places of an expression that is analytic off them; None where it has none. Its other symbols are parameters that are real."""
    signs = Signs([], [name, *real])
    watch = Watch(name, signs)
    watch.see(split(node, name))
    return zeros_seen(watch)


def singular_places(node: Tree, name: str) -> Places | None:
    """The places of an expression without other symbols, poles of all its parts included."""
    watch = Watch(name, Signs([], [name]))
    for part in walk(node):
        if isinstance(part, tuple) and name in free_symbols(part):
            poles(part, watch)
    watch.see(node)
    return zeros_seen(watch)


def zeros_seen(watch: Watch) -> Places | None:
    if not watch.zeros:
        return None
    reader = Reader(line_of(watch.zeros, watch.name))
    factors: dict[Polynomial, None] = {}
    for e in watch.zeros:
        factors.update(dict.fromkeys(reader.factors(e)))
    return Places(reader.line, list(factors), reader.constants)


def poles(node: tuple[Tree, ...], watch: Watch) -> None:
    head, parts = node[0], arguments(node)
    if head == "Power" and not (isinstance(parts[1], int) and parts[1] > 0) and parts[0] != "E":
        zeros_of(parts[0], watch)
    elif head == "Divide":
        watch.within(parts[1])
    elif head in ("Tan", "Sec"):
        watch.within(("Cos", parts[0]))
    elif head in ("Cot", "Csc"):
        watch.within(("Sin", parts[0]))
    elif head in ("Coth", "Csch"):
        watch.within(("Sinh", parts[0]))
    elif head in MEROMORPHIC and head not in ("Tanh", "Sech"):
        raise NotPlaced


def zeros_of(node: Tree, watch: Watch) -> None:
    """Where an expression is zero: a logarithm where its argument is 1, a logarithm of one where that is E."""
    value: Tree = 0
    for one in (1, "E"):
        if not (is_call(node, "Log") and len(arguments(node)) == 1):
            break
        node, value = arguments(node)[0], one
    watch.within(minus(node, value) if value != 0 else node)
