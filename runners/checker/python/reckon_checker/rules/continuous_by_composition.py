"""Whether an antiderivative is continuous along the real line, by composition (continuous_parts.py), for generic real parameters: off the zeros of some
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
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_of, rational_tree, terms_of, times, walk
from ..tree import replace as put
from ..univariate import polynomial
from ..values import Undecided, Value, complex_ball, is_number, precision
from .breaks import single_valued
from .cones_of_values import plane
from .continuous_parts import Composer, Fact, NotComposed, factors, proportion, slope_of_one_sign
from .one_variable import CIRCULAR, HYPERBOLIC, VARIABLE, NotPlaced, Places, Polynomial, Reader, line_of
from .parameter_cells import as_tree
from .real_logarithms import rational as rational_function
from .superfluous import not_zero_somewhere

MAX_SIGNS, MAX_ROOTS, MAX_POWER = 4, 4, 12
BITS = 256
LOGARITHM, FINER, STRAIGHT = "log$", "finer$", "straight$"
TRIED = (fmpq(-37, 64), fmpq(-201, 64), fmpq(-5, 7), fmpq(-83, 64))

# Looks at some of the places of an expression of the variable alone: whether the answer is proved to be continuous there, or the line parted.
Look = Callable[["Joined", Places, Callable[[arb | None], bool]], bool]


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
            self._straighten()
            return all(self._in_case(case) for case in self._cases())
        except (NotComposed, NotPlaced, Refused, Undecided):
            return False

    def _straighten(self) -> None:
        """Takes the argument of a wave or exponential that holds parameters for the variable, and writes each quotient of waves in a function with
        branches as one of polynomials without a common zero."""
        argument = next((a for part in itertools.chain(walk(self.answer), walk(self.integrand)) if (a := not_rational(part, self.name)) is not None), None)
        if argument is not None:
            slope = differentiate(argument, self.name)
            if self.name in free_symbols(slope) and not proves_zero(differentiate(slope, self.name)):
                raise NotPlaced
            slope, start = put(slope, self.name, 0), put(argument, self.name, 0)
            x = times(minus(STRAIGHT, start), power(slope, -1))
            self.integrand, self.answer = (shortened(put(tree, self.name, x), STRAIGHT) for tree in (self.integrand, self.answer))
            self.integrand, self.name = times(self.integrand, power(slope, -1)), STRAIGHT
        self.answer = self._lowest(self.answer)

    def _lowest(self, node: Tree) -> Tree:
        if not isinstance(node, tuple) or self.name not in free_symbols(node):
            return node
        if single_valued(node, self.name):
            if not any(
                is_call(part, "Tan", "Cot", "Sec", "Csc") or (is_call(part, "Power") and (rational_of(arguments(part)[1]) or 0) < 0) for part in walk(node)
            ):
                return node
            try:
                return lowest_terms(node, self.name)
            except (NotPlaced, Refused, Undecided):
                return node
        return (node[0], *(self._lowest(part) for part in node[1:]))

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
        if self.real and case and all(isinstance(fact.node, str) for fact in case) and self._left_out(case, ""):
            return True
        half = "+" if self.real and of_positive(self.name, self.integrand, self.answer) and not case and self._left_out(case, "-") else ""
        facts = list(real_where(self.integrand, Composer(self.name, half, case))) if self.real else []
        return self._continuous(half, case, facts) or (bool(facts) and self._continuous(half, case, [Fact(f.node, f.sign, strict=True) for f in facts]))

    def _continuous(self, half: str, case: list[Fact], facts: list[Fact]) -> bool:
        """Facts that are strict hold off the zeros of what they are of."""
        composer = Composer(self.name, half, [*case, *facts])
        for fact in facts:
            if fact.strict:
                composer.off(fact.node)
        try:
            for term in terms_of(self.answer):
                if not single_valued(term, self.name):
                    composer.shape(term)
        except NotComposed:
            return False
        return all(Place(self, e, composer, facts).settled() for e in list(composer.bad))

    def _left_out(self, case: list[Fact], half: str) -> bool:
        try:
            return self._nowhere_real(case, half)
        except (NotComposed, Refused, Undecided):
            return False

    def _nowhere_real(self, case: list[Fact], half: str) -> bool:
        """Whether the integrand is real on no interval of a half of the line, or of the line, for parameters of given signs: it is algebraic over
        functions that are analytic there, off poles, and at one point no two values of its branches are conjugates. Were it real somewhere, its
        polynomial and the conjugate one would share a zero all over."""
        signs = {fact.node: fact.sign for fact in case}
        node, roots = self._without_branches(case, half)
        point: dict[str, Value] = {self.name: TRIED[0]}
        for i, n in enumerate(sorted(free_symbols(self.integrand) - {self.name}), 1):
            size = abs(TRIED[i % len(TRIED)]) + i // len(TRIED)
            point[n] = size if signs.get(n, "+-"[i % 2]) == "+" else -size
        values: list[acb] = []
        with precision(BITS):
            for turns in itertools.product(*(range(int(p.q)) for _, (_, p) in roots)):
                env = dict(point)
                for (symbol, (base, p)), turn in zip(roots, turns, strict=True):
                    value = evaluate(power(base, rational_tree(p)), Environment.of(env))
                    if not is_number(value):
                        return False
                    env[symbol] = complex_ball(value) * (2 * acb(arb.pi()) * acb(0, 1) * turn / int(p.q)).exp()
                found = evaluate(node, Environment.of(env))
                if not is_number(found):
                    return False
                values.append(complex_ball(found))
        return not any(a.overlaps(b.conjugate()) for a in values for b in values)

    def _without_branches(self, case: list[Fact], half: str) -> tuple[Tree, list[tuple[str, tuple[Tree, fmpq]]]]:
        """The integrand with a symbol for each root that is not analytic, and these roots."""
        roots: list[tuple[str, tuple[Tree, fmpq]]] = []
        composer = Composer(self.name, half, case, single=True)

        def analytic(node: Tree) -> Tree:
            if not isinstance(node, tuple):
                return node
            inner: Tree = (node[0], *(analytic(part) for part in node[1:]))
            p = rational_of(arguments(inner)[1]) if is_call(inner, "Power") else None
            try:
                base = branching(inner)
                if base is not None and free_symbols(base) - {self.name, *(fact.node for fact in case)} - {symbol for symbol, _ in roots}:
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
        factor = power(base, exponent) if exponent != 1 else base
        try:
            if composer.shape(factor).real:
                if not composer.shape(factor).nonzero and not analytic(factor, composer):
                    return  # 0 on an interval, it may be
                continue
            p = rational_of(exponent)
            plain = (
                plain
                and composer.shape(base).real
                and (p.q != 1 if p is not None else composer.shape(exponent).real and composer.name not in free_symbols(exponent))
            )
        except NotComposed:
            plain = False
        found.append((base, exponent))
    if plain and found:
        ratios = [proportion(base, found[0][0]) for base, _ in found]
        sum_of = [rational_of(exponent) for _, exponent in found]
        known = [p for p in sum_of if p is not None]
        if all(r is not None and r > 0 for r in ratios) and (len(found) == 1 or (len(known) == len(found) and sum(known, fmpq(0)).q != 1)):
            yield Fact(found[0][0], "+")
            return
    yield from real_square_root(integrand, composer)


def analytic(node: Tree, composer: Composer) -> bool:
    """Whether an expression is analytic but at poles, so that it is 0 at single points only, or everywhere."""
    try:
        Composer(composer.name, composer.half, composer.facts, single=True).shape(node)
    except NotComposed:
        return False
    return True


def real_square_root(integrand: Tree, composer: Composer) -> Iterator[Fact]:
    name, symbol = composer.name, "root$"
    roots: dict[Tree, Tree] = {}
    for part in walk(integrand):
        base = branching(part)
        p = rational_of(arguments(part)[1]) if base is not None and is_call(part, "Power") else None
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
        node = put(node, part, power(symbol, int(rational_of(arguments(part)[1]).p)))  # type: ignore[union-attr]
    if not composer.shape(node).real or not analytic(node, composer):
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
        known = self._algebraic
        return all(zeros <= {p for fact in self.facts for p in known.reader.odd(seen(known.change(fact.node)))} for zeros, seen in self._charts())

    @cached_property
    def _algebraic(self) -> Algebraic:
        return algebraic(self.node, self.of.integrand, self.composer)

    def _charts(self) -> Iterator[tuple[set[Polynomial], Callable[[Tree], Tree]]]:
        """The factors of what is 0 here as a function of t, and how that is written; of 1/t for the place where Tan[v/2] is infinite."""
        reader, node = self._algebraic.reader, self._algebraic.node
        written = reader.line.written
        yield set(within(reader.parted(written(node))[0], reader)), written
        if reader.line.kind == "circular":

            def beyond(tree: Tree) -> Tree:
                return put(written(tree), VARIABLE, power(VARIABLE, -1))

            yield {p for p in within(reader.parted(beyond(node))[0], reader) if p == AT_NOTHING}, beyond

    def _at_poles(self) -> bool:
        """With E a factor of what is 0 here, 1/(f E) is finite at the zeros of E, so that |f| >= c/|E|, and E has a derivative."""
        reader, integrand = self._algebraic.reader, self._algebraic.integrand
        for zeros, seen in self._charts():
            for e in zeros:
                infinite: list[Polynomial] = []
                _, bottoms = reader.parted(power(times(seen(integrand), as_tree(e, {})), -1), roots=infinite)
                if reader.constants or e in bottoms or e in infinite:
                    return False
        return not reader.constants

    def _seen(self) -> bool:
        if self.of.look is None or free_symbols(self.node) != {self.of.name}:
            return False
        own = places_of([self.node], self.of.name)
        if self._nowhere_zero(own):
            return True
        known = places_of(list(self.composer.bad), self.of.name)  # all, so that none lies between two points that are close to one
        with precision(BITS):
            roots = own.roots(BITS)
        return known.line == own.line and self.of.look(self.of, known, lambda t: t is None or any(t.overlaps(root) for root in roots))

    def _nowhere_zero(self, known: Places) -> bool:
        """The zeros of a norm may be those of other branches only."""
        with precision(BITS):
            zeros: list[arb | None] = [*known.roots(BITS), *([None] if known.line.kind == "circular" else [])]
            for t in zeros:
                x = known.line.x_of(t)
                if self.composer.half == "+" and x < 0:
                    continue
                value = evaluate(self.node, Environment({self.of.name: x}))
                if not is_number(value) or complex_ball(value).contains(0):
                    return False
        return True


def places_of(nodes: list[Tree], name: str) -> Places:
    """The zeros of expressions."""
    reader = Reader(line_of(nodes, name))
    found = [p for node in nodes for p in reader.parted(reader.line.written(node))[0] if VARIABLE in p.names]
    return Places(reader.line, list(dict.fromkeys(found)), reader.constants)


AT_NOTHING = Polynomial((VARIABLE,), (((1,), fmpq(1)),))


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
            p = rational_of(arguments(part)[1]) if branching(part) == name and is_call(part, "Power") else fmpq(1)
            if p is None:
                raise NotPlaced
            q = math.lcm(q, int(p.q))

        def finer(tree: Tree) -> Tree:
            if tree == name:
                return power(FINER, q) if q > 1 else FINER
            if is_call(tree, "Power") and len(arguments(tree)) == 2 and arguments(tree)[0] == name and (p := rational_of(arguments(tree)[1])) is not None:
                return power(FINER, int((p * q).p))
            return (tree[0], *(finer(part) for part in tree[1:])) if isinstance(tree, tuple) else tree

        return Algebraic(FINER, finer(node), times(finer(integrand), power(FINER, q - 1)), finer)
    return Algebraic(name, node, integrand, lambda tree: tree)


def multiplied(node: Tree, name: str) -> Tree:
    """By the variable."""
    rest = [(base, exponent) for base, exponent in factors(node) if base != name or rational_of(exponent) is None]
    own = sum((rational_of(exponent) or fmpq(0) for base, exponent in factors(node) if base == name), fmpq(1))
    return times(*(power(base, exponent) for base, exponent in rest), *([power(name, rational_tree(own))] if own != 0 else []))


def shortened(node: Tree, name: str) -> Tree:
    """With arguments of waves and exponentials that are multiples of the variable written so."""
    if not isinstance(node, tuple) or name not in free_symbols(node):
        return node
    if is_call(node, "Times", "Plus"):
        for ratio in (fmpq(1), fmpq(1, 2), fmpq(2), fmpq(-1)):
            if proves_zero(minus(node, times(rational_tree(ratio), name))):
                return times(rational_tree(ratio), name) if ratio != 1 else name
    return (node[0], *(shortened(part, name) for part in node[1:]))


def lowest_terms(node: Tree, name: str) -> Tree:
    """A quotient of polynomials in waves as one of polynomials in Sin[w] and Cos[w] of the same degree without a common zero."""
    line = line_of([node], name)
    if line.kind != "circular":
        raise NotPlaced
    fixed: dict[Tree, str] = {}

    def general(part: Tree) -> Tree:
        if isinstance(part, tuple) and name not in free_symbols(part) and not rational_function(part):
            return fixed.setdefault(part, f"fixed${len(fixed)}")
        return (part[0], *(general(inner) for inner in part[1:])) if isinstance(part, tuple) else part

    reader = Reader(line)
    top, bottom = reader.quotient(line.written(general(node)))
    angle = times(rational(1, 2), plus(times(rational_tree(line.slope), line.unit, name), times(rational_tree(line.start), line.unit)))
    degree = max(n for p in (top, bottom) for n in p)
    written = []
    for p in (top, bottom):
        tree = plus(*(times(c, power(("Sin", angle), n) if n else 1, power(("Cos", angle), degree - n) if degree > n else 1) for n, c in p.items()))
        for part, symbol in fixed.items():
            tree = put(tree, symbol, part)
        written.append(tree)
    return times(written[0], power(written[1], -1)) if written[1] != 1 else written[0]


def not_rational(node: Tree, name: str) -> Tree | None:
    """The argument of a wave or exponential, where it holds the variable, and parameters or numbers such as Pi."""
    parts = arguments(node)
    if is_call(node, "Power") and len(parts) == 2 and parts[0] == "E":
        argument = parts[1]
    elif is_call(node, *CIRCULAR, *HYPERBOLIC):
        argument = parts[0]
    else:
        return None
    if name not in free_symbols(argument) or "I" in walk(argument):
        return None
    return argument if free_symbols(argument) != {name} or (polynomial(argument, name) is None and of_numbers(argument)) else None


def of_numbers(node: Tree) -> bool:
    """Whether a tree is made of sums and products."""
    return not isinstance(node, tuple) or (is_call(node, "Plus", "Times", "Power", "Rational") and all(of_numbers(part) for part in arguments(node)))
