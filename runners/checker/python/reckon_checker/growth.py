"""Orders of growth as x goes to Infinity, and what bounds them on [N, Infinity).

A monomial is exp(sum of c.g) with growths g = x^s0 log(x)^s1 log(log(x))^s2 ... that tend to infinity and constants c: x itself
is exp(1.log(x)), x^2 E^(-3 x) is exp(-3.x + 2.log(x)). A growth is the tuple (s0, ..., s4), ordered as tuples are. A constant is
a linear form over trees with rational coefficients, so that equal ones cancel exactly; it may be complex: exp(I x) has size 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import TypeAlias

from flint import acb, arb, ctx, fmpq

from . import budget
from .evaluation import evaluate
from .tree import Tree, plus, power, rational_tree, times
from .values import Undecided, complex_ball, is_number

LEVELS = 5


class Growth(tuple[fmpq, ...]):
    """Exponents of x, log(x), ...: a tuple that keeps its hash, as that of an fmpq is slow."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


Form: TypeAlias = tuple[tuple[Tree, fmpq], ...]  # sorted: generator, coefficient; the generator 1 for rationals
Monomial: TypeAlias = tuple[tuple[Growth, Form], ...]  # the largest growth first

NONE = Growth((fmpq(0),) * LEVELS)
ONE: Monomial = ()


@cache
def level(i: int) -> Growth:
    return Growth(fmpq(int(j == i)) for j in range(LEVELS))


X: Monomial = ((level(1), ((1, fmpq(1)),)),)


def growth(exponents: tuple[fmpq, ...]) -> Monomial:
    """The growth itself as a monomial: x^s0 log(x)^s1 ... is exp(s0 log(x) + s1 log(log(x)) + ...)."""
    if exponents[-1] != 0:
        raise Undecided("too many logarithms")
    return tuple((level(i + 1), ((1, s),)) for i, s in enumerate(exponents) if s != 0)


def as_growth(monomial: Monomial) -> Growth | None:
    """The inverse: None for what is no product of rational powers of x, log(x), ..."""
    found = list(NONE)
    for key, form in monomial:
        places = [i for i, s in enumerate(key) if s != 0]
        if len(places) != 1 or key[places[0]] != 1 or places[0] == 0 or len(form) != 1 or form[0][0] != 1:
            return None
        found[places[0] - 1] = form[0][1]
    return Growth(found)


def combined(a: Form, b: Form, factor: fmpq) -> Form:
    total: dict[Tree, fmpq] = dict(a)
    for generator, coefficient in b:
        total[generator] = total.get(generator, fmpq(0)) + factor * coefficient
    return tuple(sorted(((g, c) for g, c in total.items() if c != 0), key=lambda pair: str(pair[0])))


def product(a: Monomial, b: Monomial, exponent: fmpq = fmpq(1)) -> Monomial:  # noqa: B008 (a constant)
    """a b^exponent."""
    budget.step()
    total: dict[Growth, Form] = dict(a)
    for key, form in b:
        total[key] = combined(total.get(key, ()), form, exponent)
    return tuple(sorted(((key, form) for key, form in total.items() if form), reverse=True, key=lambda pair: pair[0]))


def raised(a: Monomial, exponent: fmpq) -> Monomial:
    return product(ONE, a, exponent)


def form_tree(form: Form) -> Tree:
    return plus(*(times(rational_tree(c), generator) for generator, c in form))


@lru_cache(maxsize=2048)
def _form_value(form: Form, bits: int) -> acb:
    value = evaluate(form_tree(form))
    if not is_number(value):
        raise Undecided("a constant without a value")
    return complex_ball(value)


def form_value(form: Form) -> acb:
    return _form_value(form, ctx.prec)


def sign_of(form: Form) -> int:
    """The sign of the real part."""
    if all(generator == 1 for generator, _ in form):
        return 1 if form[0][1] > 0 else -1
    real = form_value(form).real
    if real > 0:
        return 1
    if real < 0:
        return -1
    if real.is_zero():
        return 0
    raise Undecided("which grows faster")


def order(monomial: Monomial) -> int:
    """1 where the size tends to infinity, -1 where it tends to 0, 0 where it is 1."""
    for _, form in monomial:
        found = sign_of(form)
        if found:
            return found
    return 0


def compared(a: Monomial, b: Monomial) -> int:
    return order(product(a, b, fmpq(-1)))


def tree_of(monomial: Monomial, x: Tree) -> Tree:
    logs: list[Tree] = [x]
    for _ in range(LEVELS - 1):
        logs.append(("Log", logs[-1]))
    exponent = plus(*(times(form_tree(form), *(power(logs[i], rational_tree(s)) for i, s in enumerate(key) if s != 0)) for key, form in monomial))
    return power("E", exponent)


class Range:
    """x >= start, with what the logarithms are at the start."""

    def __init__(self, start: arb) -> None:
        self.start = start
        self.logs = [start]
        for _ in range(LEVELS - 1):
            last = self.logs[-1]
            self.logs.append(last.log() if last > 0 else arb("nan"))
        self.known: dict[Monomial, arb] = {}

    def at_start(self, key: tuple[fmpq, ...]) -> arb:
        value = arb(1)
        for i, s in enumerate(key):
            if s != 0:
                if not self.logs[i] > 0:
                    raise Undecided("the range starts too early")
                value *= self.logs[i] ** arb(s)
        return value

    def monotone(self, exponents: Mapping[int, fmpq]) -> int:
        """1 or -1 where the product of powers of x, log(x), ... increases or decreases on the whole range: the sign of its
        first exponent, where what the others add to the logarithmic derivative is less at the start; it falls from there on."""
        places = sorted(i for i, s in exponents.items() if s != 0)
        if not places:
            return 0
        first = places[0]
        if not self.logs[first] > 0:
            raise Undecided("the range starts too early")
        total, scale = arb(0), arb(1)
        for i in range(first + 1, LEVELS):
            if i > places[-1]:
                break
            if not self.logs[i] > 0:
                raise Undecided("the range starts too early")
            scale /= self.logs[i]  # of l_i' against l_first'
            if i in places:
                total += abs(arb(exponents[i])) * scale
        if not total < abs(arb(exponents[first])):
            raise Undecided("not monotone on the range")
        return 1 if exponents[first] > 0 else -1

    def supremum(self, monomial: Monomial) -> arb:
        """An upper bound of |monomial| on the range, for one that does not grow."""
        found = self.known.get(monomial)
        if found is None:
            found = self.known[monomial] = self._supremum(monomial)
        return found

    def _supremum(self, monomial: Monomial) -> arb:
        real = [(key, form) for key, form in monomial if sign_of(form) != 0]
        if not real:
            return arb(1)
        lead, form = real[0]
        value = form_value(form).real
        if not value < 0:
            raise Undecided("it grows")
        if self.monotone(dict(enumerate(lead))) != 1:
            raise Undecided("the range starts too early")
        for key, other in real[1:]:
            if sign_of(other) < 0:
                self.at_start(key)  # left out, being negative: all logarithms in it are positive
            else:
                ratio = tuple(a - b for a, b in zip(key, lead, strict=True))
                if self.monotone(dict(enumerate(ratio))) != -1:
                    raise Undecided("the range starts too early")
                value += form_value(other).real * self.at_start(ratio)
        if not value < 0:
            raise Undecided("the range starts too early")
        return arb((value * self.at_start(lead)).exp().upper())
