"""Two conditions on one number, compared in every cell of the real line and at every zero of what they compare."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

from flint import acb, arb, fmpq

from .. import budget
from ..assumptions import INTEGER_DOMAINS
from ..calculus import differentiate
from ..critical import critical
from ..evaluation import Environment, evaluate, truth
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..normal import proves_equal, proves_zero
from ..roots import isolated
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, replace, walk
from ..truth import member
from ..values import Gaussian, Kind, NonValue, Number, Undecided, complex_ball, is_number, precision, settled
from ..wording import equation
from .algebraic import NotAlgebraic
from .candidates import Algebraic, is_real
from .systems import Infinite, TooHard
from .window import Zeros

ORDERS = ("Less", "LessEqual", "Greater", "GreaterEqual")
COMPARED = (*ORDERS, "Equal", "Unequal")
BITS, MORE_BITS = 256, 1024
MAX_INTEGERS = 1500
REACH = fmpq(24)

Key = tuple[tuple[fmpq, ...], int]  # an algebraic number: its minimal polynomial, and which root


class Cells:
    """left and right as conditions on name, under conditions that must be true. real: the number is real. solving: left is
    to be solved, so that a comparison of what is not real is false."""

    def __init__(self, left: Tree, right: Tree, conditions: list[Tree], name: str, domain: str, *, real: bool, solving: bool) -> None:
        self.solving = solving
        self.left, self.right, self.conditions = left, right, conditions
        self.name, self.domain, self.real = name, domain, real
        self._forget(BITS)

    def _forget(self, bits: int) -> None:
        self.bits = bits
        self.zeros: dict[Tree, set[Key]] = {}  # of each difference that is algebraic
        self.constant: set[Tree] = set()  # differences that are zero everywhere
        self.numbers: dict[Key, Number] = {}
        self.loose: list[arb] = []  # real zeros of other functions, as balls
        self.scanned: list[Tree] = []  # functions that are not algebraic
        self.ends: list[tuple[Tree, Number]] = []  # zeros of those that are linear
        self.complete = True

    def compare(self) -> Residual:
        found: Residual = Open("zeros not told apart")
        for bits in (BITS, MORE_BITS):
            self._forget(bits)
            with precision(bits):
                try:
                    self._collect()
                    found = self._compare()
                except Undecided:
                    continue
            if not isinstance(found, Open):
                return found
        return found

    def _collect(self) -> None:
        trees = [self.left, self.right, *self.conditions]
        if self.domain and self.domain not in ("Reals", *INTEGER_DOMAINS):
            trees.append(("Greater", self.name, 0))
        for e in critical(trees):
            budget.step()
            if self.name not in free_symbols(e):
                continue
            self._zeros_of(e)
        self._settle_ends()
        jumps = {part[0] for tree in trees for part in walk(tree) if isinstance(part, tuple)} & JUMPING
        self.complete = self.complete and not jumps

    def _zeros_of(self, e: Tree) -> None:
        try:
            algebraic = Algebraic([("Equal", e, 0)], [], [self.name], "Complexes")
            found = algebraic.at(self.bits)
        except Infinite:
            self.constant.add(e)
            return
        except (NotAlgebraic, TooHard, Refused):
            self._scan(e)
            return
        if algebraic.system.real and not self.real:
            self.complete = False
        keys: set[Key] = set()
        for candidate in found:
            value = candidate.values[self.name]
            key = self._key(value, algebraic)
            keys.add(key)
            self.numbers[key] = value
        self.zeros[e] = keys

    def _key(self, value: Number, algebraic: Algebraic) -> Key:
        if isinstance(value, fmpq):
            return ((-value, fmpq(1)), 0)
        ball = complex_ball(value)
        for minimal in algebraic.minimal:
            polynomial = minimal[0] / minimal[0][minimal[0].degree()]
            coefficients = tuple(polynomial.coeffs())
            near = [i for i, (root, _) in enumerate(isolated(coefficients, self.bits)) if root.overlaps(ball)]
            if len(near) == 1 and polynomial.degree() > 1 and self._is_root(ball, algebraic):
                return (coefficients, near[0])
        raise Undecided("which root")

    def _is_root(self, ball: acb, algebraic: Algebraic) -> bool:
        """Whether only this minimal polynomial has a root in the ball."""
        count = 0
        for minimal in {tuple((m[0] / m[0][m[0].degree()]).coeffs()) for m in algebraic.minimal}:
            if len(minimal) > 2:
                count += any(root.overlaps(ball) for root, _ in isolated(minimal, self.bits))
        return count == 1

    def _scan(self, e: Tree) -> None:
        """Real zeros in a window: not all of them. Of a linear function with other numbers the zero itself."""
        self.scanned.append(e)
        slope = differentiate(e, self.name)
        if not free_symbols(slope):
            root: Tree = ("Times", -1, replace(e, self.name, 0), ("Power", slope, -1))
            value = evaluate(root)
            if is_number(value):
                self.ends.append((root, value))
            return
        self.complete = False
        try:
            zeros = Zeros(e, self.name)
            for low, high in zeros.between(-REACH, REACH)[:40]:
                self.loose.append(zeros.refined(low, high, self.bits))
        except Refused:
            return

    def _settle_ends(self) -> None:
        """Numbers that are no roots of polynomials, as the zeros of every function that vanishes there by its normal form."""
        known: list[tuple[Tree, Key]] = []
        for i, (root, value) in enumerate(self.ends):
            key: Key | None = next((other for tree, other in known if proves_equal(tree, root)), None)
            if key is None:
                key = ((), i)
                known.append((root, key))
                self.numbers[key] = value
            for e in self.scanned:
                if proves_zero(replace(e, self.name, root)):
                    self.zeros.setdefault(e, set()).add(key)
                    self.loose = [ball for ball in self.loose if not complex_ball(value).overlaps(acb(ball))]

    # Comparing.

    def _compare(self) -> Residual:
        compared = 0
        undecided = beyond = False
        for point, key in self._points():
            budget.step()
            a, b, admitted = (self._truth(part, point, key) for part in (self.left, self.right, ("And", *self.conditions)))
            if admitted is False:
                continue
            if a is None or b is None or admitted is None:
                undecided = True
                continue
            if a == "none" or b == "none" or admitted == "none":
                undecided = undecided or (a is True and b == "none" and admitted is True)
                beyond = beyond or (a == "none" and b is True)  # the answer holds where the input says nothing
                continue
            compared += 1
            if a != b:
                return Refuted(Statement(f"{equation(self.name, point)}: {a} is expected, the answer gives {b}", isinstance(point, fmpq | Gaussian)))
        if undecided or not compared:
            return Open("no decision at some points" if compared else "too few points")
        return Verified(True, "True") if self.complete and not beyond else Supported()

    def _points(self) -> list[tuple[Number, Key | None]]:
        real: list[tuple[arb, Number, Key | None]] = []
        points: list[tuple[Number, Key | None]] = []
        for key, value in self.numbers.items():
            if is_real(value):
                real.append((complex_ball(value).real, value, key))
            elif not self.real:
                points.append((value, key))
        loose = [(ball, settled(ball), None) for ball in self.loose if not any(ball.overlaps(other) for other, _, _ in real)]
        merged: list[tuple[arb, Number, Key | None]] = list(real)
        for one in loose:
            if not any(one[0].overlaps(other[0]) for other in merged[len(real) :]):
                merged.append(one)
        merged.sort(key=cmp_to_key(by_middle))
        for (a, _, _), (b, _, _) in pairwise(merged):
            if not a < b:
                raise Undecided("the order of zeros")
        if self.domain in INTEGER_DOMAINS:
            return self._integers([ball for ball, _, _ in merged])
        points += [(value, key) for _, value, key in merged]
        points += [(x, None) for x in self._samples([ball for ball, _, _ in merged])]
        if not self.real:
            points += [(Gaussian(fmpq(37, 64), fmpq(-83, 64)), None), (Gaussian(fmpq(-221, 64), fmpq(301, 64)), None)]
        if self.domain.startswith(("Positive", "Negative", "NonNegative", "NonPositive")):
            points = [p for p in points if isinstance(p[0], fmpq) and member(p[0], self.domain) is True]
        return points

    @staticmethod
    def _samples(zeros: list[arb]) -> list[fmpq]:
        """Rational points in every cell: in the middle, near the ends, far out."""
        if not zeros:
            return [fmpq(-1000003, 7), fmpq(-5, 3), fmpq(0), fmpq(7, 5), fmpq(1000003, 7)]
        low, high = rational_below(zeros[0]), rational_above(zeros[-1])
        found = [low - 1000003, low - fmpq(5, 3), low - fmpq(1, 1024), high + fmpq(1, 1024), high + fmpq(7, 5), high + 1000003]
        for a, b in pairwise(zeros):
            left, right = rational_above(a), rational_below(b)
            if left < right:
                width = right - left
                found += [left + width * fmpq(499, 1000), left + width / 1024, right - width / 1024]
        return found

    def _integers(self, zeros: list[arb]) -> list[tuple[Number, Key | None]]:
        low, high = (int(rational_below(zeros[0]).floor()), int(rational_above(zeros[-1]).ceil())) if zeros else (-3, 3)
        if high - low > MAX_INTEGERS:
            self.complete = False
            high = low + MAX_INTEGERS
        found: list[tuple[Number, Key | None]] = []
        for n in [low - 1000, *range(low - 3, high + 4), high + 1000]:
            if member(fmpq(n), self.domain) is True:
                found.append((fmpq(n), None))
        return found

    # Truth: True, False, "none" (no truth value there), None (not decided).

    def _truth(self, node: Tree, point: Number, key: Key | None) -> bool | str | None:
        if is_call(node, "And", "List", "Or"):
            wanted = is_call(node, "Or")
            answers = [self._truth(part, point, key) for part in arguments(node)]
            if wanted in [a for a in answers if isinstance(a, bool)]:
                return wanted
            return None if None in answers else "none" if "none" in answers else not wanted
        if is_call(node, "Not"):
            inner = self._truth(arguments(node)[0], point, key)
            return not inner if isinstance(inner, bool) else inner
        if is_call(node, "Implies"):
            return self._truth(("Or", ("Not", arguments(node)[0]), arguments(node)[1]), point, key)
        if is_call(node, "Inequality"):
            parts = arguments(node)
            return self._truth(("And", *((parts[i + 1], parts[i], parts[i + 2]) for i in range(0, len(parts) - 2, 2))), point, key)
        if isinstance(node, tuple) and is_call(node, *COMPARED):
            parts = arguments(node)
            if len(parts) > 2:
                pairs = [(a, b) for i, a in enumerate(parts) for b in parts[i + 1 :]] if node[0] == "Unequal" else list(pairwise(parts))
                return self._truth(("And", *((node[0], a, b) for a, b in pairs)), point, key)
            if len(parts) == 2 and key is not None and key in self.zeros.get(minus(parts[0], parts[1]), ()):
                return node[0] in ("Equal", "LessEqual", "GreaterEqual")
            if self.solving and node[0] in ORDERS and len(parts) == 2:
                kinds = [self._kind(part, point) for part in parts if self.name in free_symbols(part)]
                if None in kinds:
                    return None
                if "not real" in kinds:
                    return False  # an order holds of real numbers only
                if "none" in kinds:
                    return "none"
        return self._evaluated(node, point)

    def _kind(self, side: Tree, point: Number) -> str | None:
        """Whether a side of a comparison has a value that is not real, or none; None where that is not decided."""
        try:
            value = evaluate(side, Environment({self.name: point}))
        except Undecided:
            return None
        if isinstance(value, NonValue):
            return "not real" if value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY) else "none"
        return "not real" if isinstance(value, Gaussian) or (isinstance(value, acb) and not value.imag.contains(0)) else ""

    def _evaluated(self, node: Tree, point: Number) -> bool | str | None:
        env = Environment({self.name: point})
        for bits in (self.bits, MORE_BITS) if isinstance(point, fmpq | Gaussian) else (self.bits,):
            with precision(bits):
                try:
                    found = truth(node, env)
                except Undecided:
                    continue
                return "none" if isinstance(found, NonValue) else found
        return None


def by_middle(a: tuple[arb, Number, Key | None], b: tuple[arb, Number, Key | None]) -> int:
    return int(a[0].mid() > b[0].mid()) - int(a[0].mid() < b[0].mid())


JUMPING = frozenset("Floor Ceiling Round Mod Quotient IntegerPart FractionalPart PrimeQ Divisible EvenQ OddQ Sin Cos Tan Cot Sec Csc".split())


def rational_below(value: arb) -> fmpq:
    return arb(value.lower()).fmpq() if value.rad() != 0 or not value.is_exact() else value.fmpq()


def rational_above(value: arb) -> fmpq:
    return arb(value.upper()).fmpq() if value.rad() != 0 or not value.is_exact() else value.fmpq()
