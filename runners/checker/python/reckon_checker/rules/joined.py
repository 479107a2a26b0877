"""Whether an antiderivative is continuous along the real line, by composition (composed.py), for generic real parameters: off the zeros of some
expressions it is, and at these the line is parted or both sides are compared.

The line is parted where the integrand has no finite integral: where |f| is at least c/|x - x0|. It is parted, too, where the integrand is real at
most on one side, if only what the answer says where the integrand is real counts: then what that takes is a fact (Sqrt[u] is real for u >= 0 only), and
one half of the line may be left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from flint import acb, arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..normal import proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, power, rational, times, walk
from ..tree import replace as put
from ..values import Undecided, complex_ball, is_number, precision
from .breaks import single_valued
from .composed import Composer, Fact, NotComposed, factors, number, of_number, proportion, slope_of_one_sign
from .cones import plane
from .one_variable import VARIABLE, NotPlaced, Places, Polynomial, Reader, line_of
from .parameter_cells import as_tree
from .superfluous import not_zero_somewhere

MAX_SIGNS, MAX_ROOTS, MAX_POWER = 4, 4, 12
BITS = 256
LOGARITHM, FINER, STRAIGHT = "log$", "finer$", "straight$"
TRIED = (fmpq(-37, 64), fmpq(-201, 64), fmpq(-5, 7), fmpq(-83, 64))

# Looks at the zeros of an expression of the variable alone: whether the answer is proved to be continuous there, or the line parted.
Look = Callable[[Places], bool]


@dataclass
class Joined:
    """integrand and answer are written plainly(). real: only where the integrand is real does the answer count. look: for answers without parameters."""

    integrand: Tree
    answer: Tree
    name: str
    real: bool
    look: Look | None = None

    def proved(self) -> bool:
        """For every choice of the signs of what roots and logarithms of parameters are taken of."""
        budget.step()
        try:
            return all(self._in_case(case) for case in self._cases())
        except (NotComposed, NotPlaced, Refused, Undecided):
            return False

    def _cases(self) -> Iterator[list[Fact]]:
        free: list[Tree] = []
        for part in itertools.chain(walk(self.integrand), walk(self.answer)):
            inner = branching(part)
            if inner is None or self.name in free_symbols(inner) or not free_symbols(inner):
                continue
            shape = Composer(self.name).shape(inner)
            if shape.real and not shape.sign and all(proportion(inner, other) is None for other in free):
                free.append(inner)
        if len(free) > MAX_SIGNS:
            raise NotComposed
        for signs in itertools.product("+-", repeat=len(free)):
            yield [Fact(node, sign, strict=True) for node, sign in zip(free, signs, strict=True)]

    def _in_case(self, case: list[Fact]) -> bool:
        half = "+" if self.real and of_positive(self.name, self.integrand, self.answer) and self._nowhere_real_below(case) else ""
        facts = list(real_where(self.integrand, Composer(self.name, half, case))) if self.real else []
        composer = Composer(self.name, half, [*case, *facts])
        for term in terms_of(self.answer):
            if not single_valued(term, self.name):
                composer.shape(term)
        return all(Place(self, e, composer, facts).settled() for e in composer.bad)

    def _nowhere_real_below(self, case: list[Fact]) -> bool:
        """Whether the integrand is real on no interval of negative values: it is algebraic over functions that are analytic there, off poles, and at one
        point no two values of its branches are conjugates. Were it real somewhere, its polynomial and the conjugate one would share a zero all over."""
        if case:
            return False
        node, roots = self._without_branches()
        point = {n: TRIED[i % len(TRIED)] * (-1) ** i + i // len(TRIED) for i, n in enumerate([self.name, *sorted(free_symbols(node) - {self.name})])}
        if any(root in point for root, _ in roots):
            for root, _ in roots:
                point.pop(root, None)
        values: list[acb] = []
        with precision(BITS):
            for turns in itertools.product(*(range(int(p.q)) for _, (_, p) in roots)):
                env = dict(point)
                for (symbol, (base, p)), turn in zip(roots, turns, strict=True):
                    value = evaluate(power(base, of_number(p)), Environment.of(dict(env)))
                    if not is_number(value):
                        return False
                    env[symbol] = complex_ball(value) * (2 * acb(arb.pi()) * acb(0, 1) * turn / int(p.q)).exp()
                found = evaluate(node, Environment(dict(env)))
                if not is_number(found):
                    return False
                values.append(complex_ball(found))
        return not any(a.overlaps(b.conjugate()) for a in values for b in values)

    def _without_branches(self) -> tuple[Tree, list[tuple[str, tuple[Tree, fmpq]]]]:
        """The integrand with a symbol for each root that is not analytic on the negative axis, and these roots."""
        roots: list[tuple[str, tuple[Tree, fmpq]]] = []
        composer = Composer(self.name, "-", single=True)

        def analytic(node: Tree) -> Tree:
            if not isinstance(node, tuple):
                return node
            inner: Tree = (node[0], *(analytic(part) for part in node[1:]))
            p = number(arguments(inner)[1]) if is_call(inner, "Power") else None
            try:
                base = branching(inner)
                if base is not None and free_symbols(base) - {self.name} - {symbol for symbol, _ in roots}:
                    raise NotComposed  # parameters may take it over a cut
                composer.shape(inner)
                return inner
            except NotComposed:
                if p is None or p.q == 1 or p.q > MAX_POWER or len(roots) == MAX_ROOTS:
                    raise
            symbol = f"root${len(roots)}"
            composer.shape(arguments(inner)[0])
            composer.shapes[symbol] = plane()
            roots.append((symbol, (arguments(inner)[0], p)))
            return symbol

        node = analytic(self.integrand)
        composer.shape(node)
        return node, roots


def terms_of(node: Tree) -> list[Tree]:
    return [term for part in arguments(node) for term in terms_of(part)] if is_call(node, "Plus") else [node]


def branching(node: Tree) -> Tree | None:
    """What a root, a power with a symbol for its exponent, or a logarithm is taken of."""
    if is_call(node, "Log"):
        return arguments(node)[0]
    if is_call(node, "Power") and len(arguments(node)) == 2 and node[1] != "E" and not isinstance(node[2], int):  # type: ignore[index]
        return arguments(node)[0]
    return None


def of_positive(name: str, *nodes: Tree) -> bool:
    """Whether a logarithm or root of the variable itself occurs."""
    return any(branching(part) == name for node in nodes for part in walk(node))


def real_where(integrand: Tree, composer: Composer) -> Iterator[Fact]:
    """What is not negative where an integrand is real, but at single points. The integrand is u^p times what is real, p no whole number; or u is the
    one thing that square roots are taken of, and a square root stays: where u < 0 the integrand has the imaginary part of Sqrt[u] times something that
    vanishes at single points only."""
    found: list[tuple[Tree, Tree]] = []
    plain = True
    for base, exponent in factors(integrand):
        try:
            if composer.shape(power(base, exponent) if exponent != 1 else base).real:
                continue
            p = number(exponent)
            plain = plain and composer.shape(base).real and (p.q != 1 if p is not None else composer.shape(exponent).real and composer.name not in free_symbols(exponent))
        except NotComposed:
            plain = False
        found.append((base, exponent))
    if plain and found:
        ratios = [proportion(base, found[0][0]) for base, _ in found]
        sum_of = [number(exponent) for _, exponent in found]
        known = [p for p in sum_of if p is not None]
        if all(r is not None and r > 0 for r in ratios) and (len(found) == 1 or (len(known) == len(found) and sum(known, fmpq(0)).q != 1)):
            yield Fact(found[0][0], "+")
            return
    yield from real_square_root(integrand, composer)


def real_square_root(integrand: Tree, composer: Composer) -> Iterator[Fact]:
    name, symbol = composer.name, "root$"
    roots: dict[Tree, Tree] = {}
    for part in walk(integrand):
        base = branching(part)
        p = number(arguments(part)[1]) if base is not None and is_call(part, "Power") else None
        if base is None or name not in free_symbols(base):
            continue
        shape = composer.shape(base)
        if p is not None and p.q == 2 and shape.real and not shape.sign:
            roots[part] = base
    bases = list(dict.fromkeys(roots.values()))
    if len(bases) != 1:
        return
    node = integrand
    for part in sorted(roots, key=lambda one: -len(str(one))):
        node = put(node, part, power(symbol, int(number(arguments(part)[1]).p)))  # type: ignore[union-attr]
    if not composer.shape(node).real:
        return
    root = power(bases[0], rational(1, 2))
    changed = minus(put(node, symbol, root), put(node, symbol, times(-1, root)))
    if composer.half == "+":
        changed = put(changed, name, power("E", name))
    if not_zero_somewhere(changed):
        yield Fact(bases[0], "+")


@dataclass
class Place:
    """The zeros of an expression off which an answer is continuous."""

    of: Joined
    node: Tree
    composer: Composer
    facts: list[Fact] = field(default_factory=list)

    def settled(self) -> bool:
        """Whether the line is parted at all of them, or the answer continuous."""
        budget.step()
        for proof in (self._at_an_end, self._at_poles, self._seen):
            try:
                if proof():
                    return True
            except (NotPlaced, Refused, Undecided, NotComposed):
                continue
        return False

    def _at_an_end(self) -> bool:
        """Where the integrand is real on one side at most: what must not be negative there changes its sign."""
        for fact in self.facts:
            if proportion(self.node, fact.node) is not None and slope_of_one_sign(fact.node, self.composer):
                return True
        if not self.facts:
            return False
        reader, node = self._algebraic.reader, self._algebraic.node
        here = set(within(reader.parted(reader.line.written(node))[0], reader))
        changing = {p for fact in self.facts for p in within(reader.odd(reader.line.written(self._algebraic.change(fact.node))), reader)}
        return here <= changing and self._finite_line()

    @cached_property
    def _algebraic(self) -> Algebraic:
        return algebraic(self.node, self.of.integrand, self.composer)

    def _finite_line(self) -> bool:
        """Whether none of the zeros is where Tan[v/2] is infinite."""
        reader = self._algebraic.reader
        if reader.line.kind != "circular":
            return True
        return reader.balanced(reader.line.written(self._algebraic.node))

    def _at_poles(self) -> bool:
        """With E a factor of what is 0 here, 1/(f E) is finite at the zeros of E, so that |f| >= c/|E|, and E has a derivative."""
        reader, node, integrand = self._algebraic.reader, self._algebraic.node, self._algebraic.integrand
        zeros = within(reader.parted(reader.line.written(node))[0], reader)
        if reader.constants or not self._finite_line():
            return False
        f = reader.line.written(integrand)
        for e in zeros:
            infinite: list[Polynomial] = []
            _, bottoms = reader.parted(power(times(f, as_tree(e, {})), -1), roots=infinite)
            if reader.constants or e in bottoms or e in infinite:
                return False
        return True

    def _seen(self) -> bool:
        if self.of.look is None or free_symbols(self.node) != {self.of.name}:
            return False
        reader = Reader(line_of([self.node], self.of.name))
        return self.of.look(Places(reader.line, list(dict.fromkeys(reader.parted(reader.line.written(self.node))[0])), reader.constants))


def within(found: list[Polynomial], reader: Reader) -> list[Polynomial]:
    """Those that depend on t, without t itself where it is positive."""
    positive = reader.line.kind == "exponential" or reader.line.name == FINER
    return list(dict.fromkeys(p for p in found if VARIABLE in p.names and not (positive and p.names == (VARIABLE,) and len(p.terms) == 1)))


@dataclass
class Algebraic:
    """An expression and the integrand in a variable that makes them algebraic."""

    name: str
    node: Tree
    integrand: Tree
    change: Callable[[Tree], Tree]

    @cached_property
    def reader(self) -> Reader:
        return Reader(line_of([self.node, self.integrand], self.name))


def algebraic(node: Tree, integrand: Tree, composer: Composer) -> Algebraic:
    """By y = Log[x], by y^q = x on the positive half, or by y = a + b x."""
    name = composer.name
    if composer.half == "+" and any(is_call(part, "Log") and arguments(part)[0] == name for part in walk(node)):

        def logarithmic(tree: Tree) -> Tree:
            return put(put(tree, ("Log", name), LOGARITHM), name, power("E", LOGARITHM))

        return Algebraic(LOGARITHM, logarithmic(node), logarithmic(multiplied(integrand, name)), logarithmic)
    if composer.half == "+":
        q = 1
        for part in itertools.chain(walk(node), walk(integrand)):
            p = number(arguments(part)[1]) if branching(part) == name and is_call(part, "Power") else fmpq(1)
            if p is None:
                raise NotPlaced
            q = math.lcm(q, int(p.q))

        def finer(tree: Tree) -> Tree:
            if tree == name:
                return power(FINER, q) if q > 1 else FINER
            if is_call(tree, "Power") and len(arguments(tree)) == 2 and arguments(tree)[0] == name and (p := number(arguments(tree)[1])) is not None:
                return power(FINER, int((p * q).p))
            return (tree[0], *(finer(part) for part in tree[1:])) if isinstance(tree, tuple) else tree

        return Algebraic(FINER, finer(node), times(finer(integrand), power(FINER, q - 1)), finer)
    return straightened(node, integrand, name)


def multiplied(node: Tree, name: str) -> Tree:
    """By the variable."""
    rest = [(base, exponent) for base, exponent in factors(node) if base != name or number(exponent) is None]
    own = sum((number(exponent) or fmpq(0) for base, exponent in factors(node) if base == name), fmpq(1))
    return times(*(power(base, exponent) for base, exponent in rest), *([power(name, of_number(own))] if own != 0 else []))


def straightened(node: Tree, integrand: Tree, name: str) -> Algebraic:
    """With a new variable for the argument of a wave or exponential that holds parameters."""
    argument = next((a for part in itertools.chain(walk(node), walk(integrand)) if (a := of_parameters(part, name)) is not None), None)
    if argument is None:
        return Algebraic(name, node, integrand, lambda tree: tree)
    slope, start = differentiate(argument, name), put(argument, name, 0)
    if name in free_symbols(slope) and not proves_zero(differentiate(slope, name)):
        raise NotPlaced
    slope = put(slope, name, 1)
    def straight(tree: Tree) -> Tree:
        return put(tree, name, times(minus(STRAIGHT, start), power(slope, -1)))

    return Algebraic(STRAIGHT, straight(node), times(straight(integrand), power(slope, -1)), straight)


def of_parameters(node: Tree, name: str) -> Tree | None:
    """The argument of a function that is no root, where it holds the variable and parameters."""
    parts = arguments(node)
    if is_call(node, "Power") and len(parts) == 2 and parts[0] == "E":
        argument = parts[1]
    elif is_call(node, "Sin", "Cos", "Tan", "Cot", "Sec", "Csc", "Sinh", "Cosh", "Tanh", "Coth", "Sech", "Csch"):
        argument = parts[0]
    else:
        return None
    return argument if name in free_symbols(argument) and free_symbols(argument) != {name} else None
