"""Expansions of functions of x on [N, Infinity): terms c m with constants c and monomials m (growth.py), and a remainder of at
most R times a monomial for every x in the range. What is said of such an expansion is proved for the whole range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from flint import acb, arb, fmpq

from . import budget
from .calculus import differentiate
from .cuts import CUTS, not_positive
from .evaluation import EMPTY, evaluate
from .expansion_constants import Constant, add, exactly, form_of, inverted, multiply, upper
from .growth import ONE, Form, Growth, Monomial, Range, as_growth, compared, form_tree, form_value, growth, order, product, raised
from .tree import Refused, Tree, is_call, power, rational, times
from .values import Number, Undecided, complex_ball, is_number, whole

VARIABLE = "x$"
MAX_TERMS = 12
LEAST_RADIUS = arb(2) ** -256  # a larger disc bounds more than is needed, and is quicker than radii of any size


@dataclass(frozen=True)
class Germ:
    """terms: by monomial; remainder: a monomial and the bound of its factor, or None where there is none; real: what is expanded is known to
    be real on the whole range, though the remainder alone does not tell."""

    terms: dict[Monomial, Constant]
    remainder: tuple[Monomial, arb] | None = None
    real: bool = False


ZERO = Germ({}, real=True)


class Expander:
    """Expands trees in VARIABLE on [start, Infinity)."""

    def __init__(self, start: arb, terms: int = MAX_TERMS) -> None:
        self.range, self.count = Range(start), terms
        self.cache: dict[Tree, Germ] = {}

    # Arithmetic.

    def constant(self, tree: Tree) -> Germ:
        found = Constant(tree)
        return ZERO if found.is_zero() else Germ({ONE: found}, real=bool(found.ball.imag.is_zero()))

    def bounded(self, remainders: list[tuple[Monomial, arb]]) -> tuple[Monomial, arb] | None:
        """One remainder in the place of several."""
        if not remainders:
            return None
        lead = remainders[0]
        for one in remainders[1:]:
            if compared(one[0], lead[0]) > 0:
                lead = one
        total = arb(0)
        for monomial, bound in remainders:
            total += bound * self.range.supremum(product(monomial, lead[0], fmpq(-1)))
        return lead[0], arb(total.upper())

    def sum(self, germs: list[Germ]) -> Germ:
        terms: dict[Monomial, Constant] = {}
        for germ in germs:
            for monomial, constant in germ.terms.items():
                terms[monomial] = add(terms[monomial], constant) if monomial in terms else constant
        terms = {monomial: constant for monomial, constant in terms.items() if not constant.is_zero()}
        real = all(germ.real for germ in germs)
        return self.cut(Germ(terms, self.bounded([germ.remainder for germ in germs if germ.remainder is not None]), real))

    def cut(self, germ: Germ) -> Germ:
        """Terms that the remainder swallows go into it, and those beyond the count."""
        if germ.remainder is None and len(germ.terms) <= self.count:
            return germ
        kept: list[Monomial] = []
        rest = [germ.remainder] if germ.remainder is not None else []
        for monomial in self.ordered(germ):
            swallowed = germ.remainder is not None and compared(monomial, germ.remainder[0]) <= 0
            if swallowed or len(kept) >= self.count:
                rest.append((monomial, upper(germ.terms[monomial].ball)))
            else:
                kept.append(monomial)
        return Germ({monomial: germ.terms[monomial] for monomial in kept}, self.bounded(rest), germ.real)

    def ordered(self, germ: Germ) -> list[Monomial]:
        """The monomials, the one that grows fastest first."""
        found: list[Monomial] = []
        for monomial in germ.terms:
            place = len(found)
            while place > 0 and compared(monomial, found[place - 1]) > 0:
                place -= 1
            found.insert(place, monomial)
        return found

    def size(self, germ: Germ) -> tuple[Monomial, arb] | None:
        """A monomial and a factor that bound the germ's size on the range; None for zero."""
        parts = [(monomial, upper(constant.ball)) for monomial, constant in germ.terms.items()]
        if germ.remainder is not None:
            parts.append(germ.remainder)
        return self.bounded(parts)

    def times(self, a: Germ, b: Germ) -> Germ:
        budget.step()
        terms: dict[Monomial, Constant] = {}
        for m, p in a.terms.items():
            for n, q in b.terms.items():
                monomial, constant = product(m, n), multiply(p, q)
                terms[monomial] = add(terms[monomial], constant) if monomial in terms else constant
        terms = {monomial: constant for monomial, constant in terms.items() if not constant.is_zero()}
        rest: list[tuple[Monomial, arb]] = []
        for one, other in ((a, b), (b, a)):
            if one.remainder is not None:
                size = self.size(other)
                if size is not None:
                    rest.append((product(one.remainder[0], size[0]), one.remainder[1] * size[1]))
        return self.cut(Germ(terms, self.bounded(rest), a.real and b.real))

    def scaled(self, germ: Germ, constant: Constant) -> Germ:
        return self.times(germ, Germ({ONE: constant}, real=bool(constant.ball.imag.is_zero())))

    def lead(self, germ: Germ) -> tuple[Monomial, Constant]:
        """The term that all others are small against: its constant is proved not to be zero."""
        monomials = self.ordered(germ)
        if not monomials:
            raise Undecided("no leading term")
        first = monomials[0]
        if not germ.terms[first].nonzero():
            raise Undecided("the leading term may be zero")
        others = monomials[1:2] + ([germ.remainder[0]] if germ.remainder is not None else [])
        if any(compared(other, first) >= 0 for other in others):
            raise Undecided("no single leading term")
        return first, germ.terms[first]

    def relative(self, germ: Germ) -> tuple[Monomial, Constant, Germ]:
        """germ = c m (1 + d) with d small."""
        monomial, constant = self.lead(germ)
        real = germ.real and self.is_real(Germ({monomial: constant}))
        rest = Germ({m: c for m, c in germ.terms.items() if m != monomial}, germ.remainder, real)
        inverse = Germ({raised(monomial, fmpq(-1)): Constant(inverted(constant.tree))}, real=real)
        return monomial, constant, self.times(rest, inverse)

    def composed(self, small: Germ, coefficients: Callable[[int], Constant], bound: Callable[[int, arb], arb]) -> Germ:
        """Sum of coefficients(k) small^k; bound(k, r): of the factor of the remainder |small|^k where |small| <= r."""
        size = self.size(small)
        if size is None:
            return self.constant(coefficients(0).tree)
        if order(size[0]) >= 0:
            raise Undecided("no small argument")
        radius = arb((size[1] * self.range.supremum(size[0]) + LEAST_RADIUS).upper())
        total, powers = [self.constant(coefficients(0).tree)], Germ({ONE: Constant(1)}, real=True)
        count = self.count
        for k in range(1, count):
            powers = self.times(powers, small)
            if not powers.terms and powers.remainder is not None and k > 1:
                count = k
                break
            coefficient = coefficients(k)
            if not coefficient.is_zero():
                total.append(self.scaled(powers, coefficient))
        factor = bound(count, radius)
        if not factor.is_finite():
            raise Undecided("the range starts too early")
        total.append(Germ({}, (raised(size[0], fmpq(count)), arb((factor * size[1] ** count).upper()))))
        return self.sum(total)

    def inverse(self, germ: Germ) -> Germ:
        return self.raise_to(germ, Constant(-1))

    def raise_to(self, germ: Germ, exponent: Constant) -> Germ:
        """A power with a constant exponent. Principal values: the leading constant off the negative axis, or a whole exponent."""
        k = whole(exponent.value)
        if k is not None and 0 <= k <= 8 and not (k > 1 and len(germ.terms) > 6):
            result = Germ({ONE: Constant(1)}, real=True)
            for _ in range(k):
                result = self.times(result, germ)
            return result
        monomial, constant, small = self.relative(germ)
        power_of = exponent.rational()
        turned = self.turns_below(monomial, constant, small) if k is None else False
        head: Monomial
        if power_of is not None:
            head = raised(monomial, power_of)
        else:
            forms: dict[Growth, Form] = {}
            for key, form in monomial:
                if len(form) != 1 or form[0][0] != 1:
                    raise Undecided("an exponent")
                forms[key] = ((exponent.tree, form[0][1]),)
            head = tuple((key, forms[key]) for key, _ in monomial)

        def binomial(j: int) -> Constant:
            if power_of is not None:
                found = fmpq(1)
                for i in range(j):
                    found = found * (power_of - i) / (i + 1)
                return exactly(found)
            return Constant(("Binomial", exponent.tree, j)) if j else Constant(1)

        def bound(j: int, radius: arb) -> arb:
            if not radius < 1:
                return arb("nan")
            inner = acb(arb(0, radius.upper()), arb(0, radius.upper())) + 1
            if inner.contains(0):
                return arb("nan")
            e = exponent.ball
            # The j-th derivative of (1 + z)^e on the disc, over j!.
            factor = acb(1)
            for i in range(j):
                factor = factor * (e - i) / (i + 1)
            return upper(factor * ((e - j) * inner.log()).exp())

        tail = self.composed(small, binomial, bound)
        constant_power = Constant(power(constant.tree, exponent.tree)) if constant.tree != 1 else Constant(1)
        if turned:
            constant_power = Constant(times(constant_power.tree, power("E", times(-2, "I", "Pi", exponent.tree))))
        found = self.times(Germ({head: constant_power}), tail)
        real = germ.real and (k is not None or (bool(constant.ball.real > 0) and power_of is not None and self.is_real(Germ({monomial: constant}))))
        return self.said_real(found, real)

    @staticmethod
    def said_real(germ: Germ, real: bool) -> Germ:
        return Germ(germ.terms, germ.remainder, real)

    def off_the_cut(self, monomial: Monomial, constant: Constant, small: Germ) -> None:
        """c m (1 + d) is on one side of the negative axis, or on it, on the whole range."""
        if any(not form_value(form).imag.is_zero() for _, form in monomial):
            raise Undecided("it turns about the branch point")
        ball = constant.ball
        if ball.real > 0 or (ball.imag.is_zero() and self.is_real(small)):
            return  # |d| < 1, or on the cut and stays there: the principal value is the same power of the same number
        size = self.size(small)
        radius = arb(0) if size is None else arb((size[1] * self.range.supremum(size[0])).upper())
        if not_positive(ball * (1 + acb(arb(0, radius), arb(0, radius)))):
            raise Undecided("a branch cut")

    def turns_below(self, monomial: Monomial, constant: Constant, small: Germ) -> bool:
        """Whether c m (1 + d) lies below the negative axis on the whole range, c being negative: its argument is 2 Pi less than that of c.
        Raises Undecided where it may be on either side."""
        try:
            self.off_the_cut(monomial, constant, small)
        except Undecided:
            ball = constant.ball
            if not (ball.imag.is_zero() and ball.real < 0) or any(not form_value(form).imag.is_zero() for _, form in monomial):
                raise
            return self.imaginary_sign(small) > 0
        return False

    def imaginary_sign(self, germ: Germ) -> int:
        """The sign of the imaginary part of an expansion on the whole range: of its leading term, where that outweighs the rest everywhere."""
        if any(not form_value(form).imag.is_zero() for m in germ.terms for _, form in m):
            raise Undecided("a branch cut")
        sloped = Germ({m: Constant(("Im", c.tree)) for m, c in germ.terms.items() if not c.ball.imag.is_zero()}, germ.remainder)
        first, constant = self.lead(sloped)
        rest = arb(0)
        for monomial, other in sloped.terms.items():
            if monomial != first:
                rest += arb(abs(other.ball).upper()) * self.range.supremum(product(monomial, first, fmpq(-1)))
        if germ.remainder is not None:
            rest += germ.remainder[1] * self.range.supremum(product(germ.remainder[0], first, fmpq(-1)))
        if not abs(constant.ball.real) > rest:
            raise Undecided("a branch cut")
        return 1 if constant.ball.real > 0 else -1

    def is_real(self, germ: Germ) -> bool:
        """Whether what is expanded is known to be real on the whole range."""
        if germ.real:
            return True
        return germ.remainder is None and all(c.ball.imag.is_zero() and all(form_value(f).imag.is_zero() for _, f in m) for m, c in germ.terms.items())

    def log(self, germ: Germ) -> Germ:
        monomial, constant, small = self.relative(germ)
        turned = self.turns_below(monomial, constant, small)
        parts = [Germ({growth(key): Constant(form_tree(form))}) for key, form in monomial]

        def bound(k: int, radius: arb) -> arb:
            return 1 / (k * (1 - radius) ** k) if radius < 1 else arb("nan")

        series = self.composed(small, lambda k: exactly(fmpq((-1) ** (k + 1), k)) if k else Constant(0), bound)
        head = [] if constant.tree == 1 else [self.constant(("Log", constant.tree))]
        head += [self.constant(times(-2, "I", "Pi"))] if turned else []
        real = germ.real and bool(constant.ball.real > 0) and self.is_real(Germ({monomial: constant}))
        return self.said_real(self.sum([*parts, *head, series]), real)

    def exp(self, germ: Germ) -> Germ:
        grown: Monomial = ONE
        small: dict[Monomial, Constant] = {}
        still: Tree = 0
        for monomial, constant in germ.terms.items():
            way = order(monomial)
            if way < 0:
                small[monomial] = constant
            elif monomial == ONE:
                still = constant.tree
            else:
                key = as_growth(monomial)
                if key is None:
                    raise Undecided("an exponential of that")
                grown = product(grown, ((key, form_of(constant)),))
        if germ.remainder is not None and order(germ.remainder[0]) >= 0:
            raise Undecided("the exponent is not known well enough")

        def bound(k: int, radius: arb) -> arb:
            return radius.exp() / math.factorial(k)

        tail = self.composed(Germ(small, germ.remainder), lambda k: exactly(fmpq(1, math.factorial(k))), bound)
        factor = Constant(1) if still == 0 else Constant(power("E", still))
        return self.said_real(self.times(Germ({grown: factor}), tail), germ.real)

    def near_constant(self, head: str, germ: Germ, args: tuple[Tree, ...] = (), along_reals: bool = False) -> Germ:
        """An analytic function of something that tends to a constant, by its derivatives there. along_reals: the something is
        real. A function that is cut along the real line is analytic along it, on either side of its branch point."""
        center = germ.terms.get(ONE, Constant(0))
        small = Germ({m: c for m, c in germ.terms.items() if m != ONE}, germ.remainder, germ.real)
        size = self.size(small)
        if size is not None and order(size[0]) >= 0:
            raise Undecided(head + " of something without a limit")
        body: Tree = (head, *args, VARIABLE)

        def coefficient(k: int) -> Constant:
            found = replaced(derivative_of(body, k), center.tree)
            constant = Constant(times(rational(1, math.factorial(k)), found) if k > 1 else found)
            value = constant.value
            return exactly(value) if isinstance(value, fmpq) else constant

        def bound(k: int, radius: arb) -> arb:
            around = center.ball
            real = around.imag.is_zero() and (along_reals or self.is_real(small))
            ball: Number = arb(around.real.mid(), (arb(around.real.rad()) + radius).upper())
            if not real:
                ball = acb(ball, arb(around.imag.mid(), (arb(around.imag.rad()) + radius).upper()))  # type: ignore[arg-type]
                self.require_analytic(body, ball)
            value = evaluate(derivative_of(body, k), EMPTY.having(VARIABLE, ball))
            if not is_number(value):
                raise Undecided(head)
            return upper(complex_ball(value)) / math.factorial(k)

        before, self.count = self.count, min(self.count, 8)
        try:
            found = self.composed(small, coefficient, bound)
        finally:
            self.count = before
        return self.said_real(found, (along_reals or self.is_real(germ)) and self.real_around(body, center, small))

    def real_around(self, body: Tree, center: Constant, small: Germ) -> bool:
        """Whether a function is real on the real values that a germ has on the whole range."""
        size = self.size(small)
        radius = arb(0) if size is None else size[1] * self.range.supremum(size[0])
        around = arb(center.ball.real.mid(), (arb(center.ball.real.rad()) + radius).upper())
        try:
            return isinstance(evaluate(body, EMPTY.having(VARIABLE, around)), fmpq | arb)
        except Undecided:
            return False

    def require_analytic(self, body: Tree, ball: acb) -> None:
        """The derivatives of a function may have values across its cut."""
        head = body[0] if isinstance(body, tuple) else ""
        if head in CUTS and CUTS[str(head)](ball):
            raise Undecided("a branch cut")
        evaluate(body, EMPTY.having(VARIABLE, ball))  # special functions refuse a ball that straddles their cut


@lru_cache(maxsize=512)
def derivative_of(body: Tree, k: int) -> Tree:
    found = body if k == 0 else tidied(differentiate(derivative_of(body, k - 1), VARIABLE))
    if k > 12:
        raise Refused("a derivative")
    return found


def tidied(tree: Tree) -> Tree:
    """Powers 0 and 1 written out: 0^0 would have no value."""
    if not isinstance(tree, tuple):
        return tree
    if is_call(tree, "Power") and len(tree) == 3 and isinstance(tree[2], int) and tree[2] in (0, 1):
        return 1 if tree[2] == 0 else tidied(tree[1])
    return tuple(tidied(part) for part in tree)


def replaced(tree: Tree, by: Tree) -> Tree:
    if tree == VARIABLE:
        return by
    return tuple(replaced(part, by) for part in tree) if isinstance(tree, tuple) else tree
