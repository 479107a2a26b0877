"""Constants of expansions: their value and their tree."""

from __future__ import annotations

from functools import lru_cache

from flint import acb, arb, ctx, fmpq

from .arithmetic import plus as values_plus
from .arithmetic import times as values_times
from .evaluation import EMPTY, evaluate
from .growth import Form, combined
from .normal import proves_zero
from .primes import factorization
from .tree import Tree, arguments, is_call, plus, power, rational, rational_tree, times
from .tree import size as nodes
from .values import Gaussian, Number, Undecided, Value, complex_ball, is_number

MAX_TREE = 250


class Constant:
    """A constant: its value at the precision it was made with, and its tree, which is looked at where the value may be zero."""

    __slots__ = ("size", "tree", "value")

    def __init__(self, tree: Tree, value: Number | None = None, size: int = 0) -> None:
        self.tree = tree
        self.value: Number = _value(tree, ctx.prec) if value is None else value
        self.size = size or nodes(tree)

    @property
    def ball(self) -> acb:
        return complex_ball(self.value)

    def is_zero(self) -> bool:
        """True: exactly zero. False: not zero, or not known to be."""
        value = self.value
        if isinstance(value, fmpq):
            return value == 0
        if isinstance(value, Gaussian):
            return False
        return bool(complex_ball(value).contains(0)) and self.size <= MAX_TREE and _proved_zero(self.tree)

    def nonzero(self) -> bool:
        return not self.ball.contains(0)

    def rational(self) -> fmpq | None:
        value = self.value
        return value if isinstance(value, fmpq) else None


@lru_cache(maxsize=8192)
def _value(tree: Tree, bits: int) -> Number:
    value = evaluate(tree, EMPTY)
    if not is_number(value):
        raise Undecided("a constant without a value")
    return value


@lru_cache(maxsize=2048)
def _proved_zero(tree: Tree) -> bool:
    return proves_zero(tree)


def exactly(value: fmpq) -> Constant:
    return Constant(rational_tree(value), value)


def add(a: Constant, b: Constant) -> Constant:
    value = values_plus(a.value, b.value)
    if isinstance(value, fmpq):
        return exactly(value)
    return Constant(plus(a.tree, b.tree), number(value), a.size + b.size + 1)


def multiply(a: Constant, b: Constant) -> Constant:
    if isinstance(a.value, fmpq) and a.value == 1:
        return b
    if isinstance(b.value, fmpq) and b.value == 1:
        return a
    value = values_times(a.value, b.value)
    if isinstance(value, fmpq):
        return exactly(value)
    return Constant(times(a.tree, b.tree), number(value), a.size + b.size + 1)


def number(value: Value) -> Number:
    if not is_number(value):
        raise Undecided("a constant without a value")
    return value


def upper(value: acb) -> arb:
    return arb(value.abs_upper())


def form_of(constant: Constant) -> Form:
    """A constant as a linear form: rational multiples of trees are told apart."""
    value = constant.rational()
    if value is not None:
        return ((1, value),)
    tree = constant.tree
    if is_call(tree, "Times"):
        factor, rest = fmpq(1), []
        for part in arguments(tree):
            one = Constant(part).rational()
            if one is not None:
                factor *= one
            else:
                rest.append(part)
        if len(rest) == 1 and not is_call(rest[0], "Times", "Plus"):
            return tuple((g, c * factor) for g, c in form_of(Constant(rest[0])))
        return ((times(*sorted(rest, key=str)), factor),)
    if is_call(tree, "Plus"):
        total: Form = ()
        for part in arguments(tree):
            total = combined(total, form_of(Constant(part)), fmpq(1))
        return total
    if is_call(tree, "Log") and len(arguments(tree)) == 1:
        inner = Constant(arguments(tree)[0]).rational()
        if inner is not None and inner > 0 and inner.p.bit_length() + inner.q.bit_length() < 80:
            primes = factorization(inner.p) + [(p, -e) for p, e in factorization(inner.q)]
            total = ()
            for p, e in primes:
                total = combined(total, ((("Log", p), fmpq(e)),), fmpq(1))
            return total
    return ((tree, fmpq(1)),)


def inverted(tree: Tree) -> Tree:
    value = Constant(tree).rational()
    return rational(int(value.q), int(value.p)) if value is not None else power(tree, -1)
