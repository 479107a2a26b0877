"""Whether an antiderivative jumps: ArcTan[Tan[x]] has the derivative 1 and falls by Pi at Pi/2, Floor[x] + x^2 rises by 1 at every integer. The
derivative tells of none of this.

Off the places that breaks.py gives, an antiderivative is analytic. At each of them the two sides are compared: where the integrand is bounded
the change between two points on the two sides is the integral between them, which is as small as one likes, and a jump; elsewhere expansions
from both sides have limits that are equal, or one of them is infinite and what lies on the other side is another piece. What is analytic but at
single places of the plane needs no look: it continues in one way only. Parameters are real, and have values in every cell of the line in which
the places stay apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import arb, fmpq

from .. import budget
from ..calculus import applied, differentiate
from ..critical import critical, crossings, substituted
from ..deciding import height, hidden
from ..evaluation import EMPTY, Environment, evaluate
from ..expanding import towards
from ..normal import proves_equal, proves_zero
from ..parameters import Known, named, samples
from ..sought import Absent, Found, Sought, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_tree, terms_of, times
from ..tree import show as show_tree
from ..values import NonValue, Number, Undecided, complex_ball, is_number, precision
from ..wording import downwards, equation, show, upwards
from .bounds_of_integrals import by_factors, by_size, finite, inverted
from .breaks import ELLIPTIC, places, single_valued
from .continuous_by_composition import Joined
from .continuous_parts import plainly
from .limits import one_sided
from .one_variable import VARIABLE, NotPlaced, Places, Polynomial
from .parameter_cells import cells_of

MAX_PLACES = 40
MAX_HEIGHT = 4000
CLOSE, SEEN = 640, 200  # bits: of the step to both sides of a place, and of a change that is none
WIDTHS = tuple(fmpq(1, 2**n) for n in (1, 4, 10, 20, 30))
CLEAR = fmpq(101, 100)  # the two are shown to six digits
WAVES = ("Sin", "Cos", "Sinh", "Cosh", "Exp")
SUMS = ("Plus", "Times", "Subtract", "Minus", "Rational", "Complex")
ANGLES = tuple(fmpq(p, q) for q in (1, 2, 3, 4, 5, 6, 8, 10, 12) for p in range(-q, q + 1))


@dataclass(frozen=True)
class Leap:
    """A jump that is proved. low, high: points on its two sides between which the answer changes by change in size, and the integral is at most most."""

    name: str
    low: fmpq
    high: fmpq
    change: arb
    most: arb
    at: Known
    place: str = ""  # in words, where the two points are too close to it to be written

    def sentence(self) -> str:
        where = "".join(f"at {equation(name, value)}, " for name, value in sorted(named(self.at).items()))
        if self.place:
            return f"{where}next to {self.name} = {self.place} the answer jumps by at least {downwards(self.change)} in size, and the integral does not"
        return (
            f"{where}from {equation(self.name, self.low)} to {show(self.high)} the answer changes by at least {downwards(self.change)} in size, "
            f"and the integral is at most {upwards(self.most)}"
        )


def plain(node: Tree, name: str) -> bool:
    """Whether an expression has an antiderivative without jumps of which every form is plain: sums and products of powers, exponentials and
    waves of first degree. That of E^(x^3) is written with an incomplete Gamma function, and jumps at 0."""
    if name not in free_symbols(node) or node == name:
        return True
    args = arguments(node)
    if is_call(node, "Power"):
        base, exponent = args
        if name not in free_symbols(base):
            return proves_zero(differentiate(differentiate(exponent, name), name))
        return isinstance(exponent, int) and exponent >= 0 and plain(base, name)
    if is_call(node, "Divide"):
        return plain(args[0], name) and name not in free_symbols(args[1])
    if is_call(node, *WAVES):
        return proves_zero(differentiate(differentiate(args[0], name), name))
    return is_call(node, *SUMS) and all(plain(part, name) for part in args)


@dataclass(frozen=True)
class Asked:
    """What is asked of an answer. where_real: to be continuous only where the integrand is real on both sides; ends: whether the line is parted
    at an exact place whatever the answer does there."""

    where_real: bool = False
    ends: Callable[[Tree], bool] | None = None


EVERYWHERE = Asked()


def jumps(integrand: Tree, answer: Tree, name: str, conditions: list[Tree], *, seed: int, asked: Asked = EVERYWHERE) -> Sought[Leap]:
    """A jump of an answer where its integrand is integrable, for some admissible real values of the other symbols."""
    answer = plus(*(term for term in terms_of(written_out(answer)) if name in free_symbols(term)))
    if single_valued(answer, name):
        return Absent()
    parameters = (free_symbols(answer) | free_symbols(integrand)) - {name}
    first = asked.ends is None and (asked.where_real or bool(parameters))  # values of parameters cost more
    if first and by_composition(integrand, answer, name, asked):
        return Absent(exact=False)
    found = at_places(integrand, answer, name, conditions, seed=seed, asked=asked)
    if isinstance(found, Unseen) and asked == EVERYWHERE and not first and by_composition(integrand, answer, name, asked):
        return Absent(exact=False)
    return found


def by_composition(integrand: Tree, answer: Tree, name: str, asked: Asked) -> bool:
    def look(of: Joined, known: Places, wanted: Callable[[arb | None], bool]) -> bool:
        side = Side(of.integrand, of.answer, of.name, {}, known, asked)
        turns = range(degree(of.answer, of.name, known) + 1) if known.line.kind == "circular" else range(1)
        roots = known.roots(CLOSE)
        found = [place for place in side.places() if wanted(None if place is None else roots[place])]
        return side.complete and all(isinstance(side.at(place, turn), Absent) for place in found for turn in turns)

    parameters = (free_symbols(answer) | free_symbols(integrand)) - {name}
    return budget.attempted(Joined(plainly(integrand), plainly(answer), name, asked.where_real, None if parameters else look).proved)


def at_places(integrand: Tree, answer: Tree, name: str, conditions: list[Tree], *, seed: int, asked: Asked) -> Sought[Leap]:
    """The same by the places at which the answer may not be analytic."""
    others = sorted((free_symbols(answer) | free_symbols(integrand)) - {name})
    conditions = [c for c in conditions if name not in free_symbols(c)]
    try:
        known = places(answer, name, others)
        if known is None:
            return Absent()  # for all real values of the parameters
        cells = list(cells_of(known, answer, others, conditions, name)) if others else [{}]
        complete = True
    except (NotPlaced, Refused, Undecided):
        cells, complete = list(itertools.islice(samples(set(others), [answer, integrand], conditions, seed, 2), 6)), not others
    why, exact = "" if complete else "whether the answer jumps at other values of the parameters", not others
    for at in cells:
        found = along(substituted(integrand, named(at)), substituted(answer, named(at)), name, at, asked)
        if isinstance(found, Found):
            return found
        if isinstance(found, Unseen):
            why = why or found.why
        else:
            exact = exact and found.exact
    return Unseen(why) if why or not cells else Absent(exact)


def written_out(node: Tree) -> Tree:
    """With pure functions applied, and each If as a Piecewise."""
    if not isinstance(node, tuple):
        return node
    if is_call(node, "If") and len(node) == 4:
        node = ("Piecewise", ("List", ("List", node[2], node[1])), node[3])
    if is_call(node[0], "Function"):
        return written_out(applied(node[0], node[1:]))
    return tuple(part if i == 0 and isinstance(part, str) else written_out(part) for i, part in enumerate(node))


def along(integrand: Tree, answer: Tree, name: str, at: Known, asked: Asked) -> Sought[Leap]:
    """The same of an answer without parameters."""
    try:
        known = places(answer, name)
        if known is None:
            return Absent()
        turns = range(degree(answer, name, known) + 1) if known.line.kind == "circular" else range(1)
    except (NotPlaced, Refused, Undecided):
        return guessed(integrand, answer, name, at)
    side = Side(integrand, answer, name, at, known, asked)
    exact = True
    for place in side.places():
        for turn in turns:
            found = side.at(place, turn)
            if not isinstance(found, Absent):
                return found
            exact = exact and found.exact
    return Absent(exact) if side.complete else Unseen("the places at which the answer may jump")


def guessed(integrand: Tree, answer: Tree, name: str, at: Known) -> Sought[Leap]:
    """A jump at a place that looks like one, where the places are not all known."""
    try:
        found = crossings(critical([answer]), name, EMPTY)
    except (Refused, Undecided):
        found = []
    for place in sorted(found, key=abs)[:MAX_PLACES]:
        leap = wide(integrand, answer, name, place, at)
        if leap is not None:
            return Found(leap)
    return Unseen("the places at which the answer may jump")


def wide(integrand: Tree, answer: Tree, name: str, place: fmpq, at: Known) -> Leap | None:
    """A jump between two points that are easily written, next to a place."""
    with precision(128):
        for width in WIDTHS:
            budget.step()
            low = width * ((place / width).ceil() - 1)
            high = low + 2 * width
            try:
                most, first, last = by_factors(integrand, name, low, high), finite(answer, name, low), finite(answer, name, high)
            except Refused:
                return None
            if most is None or first is None or last is None:
                continue
            change = arb((complex_ball(last) - complex_ball(first)).abs_lower())
            if change > CLEAR * most:
                return Leap(name, low, high, change, most, at)
    return None


def degree(node: Tree, name: str, known: Places) -> int:
    """The degree in the variable of an expression whose other parts have the period of the places; NotPlaced where it has parts of another kind."""
    parts = arguments(node)
    if name not in free_symbols(node):
        return 0
    if node == name:
        return 1
    if is_call(node, "Plus", "Subtract", "Minus"):
        return max(degree(part, name, known) for part in parts)
    if is_call(node, "Times"):
        return sum(degree(part, name, known) for part in parts)
    if is_call(node, "Power") and isinstance(parts[1], int) and parts[1] > 0 and periodic(parts[0], name, known) is False:
        return parts[1] * degree(parts[0], name, known)
    if periodic(node, name, known) or (is_call(node, *ELLIPTIC) and all(part == name or periodic(part, name, known) for part in parts)):
        return 0  # an elliptic integral grows by the same from period to period
    raise NotPlaced


def periodic(node: Tree, name: str, known: Places) -> bool:
    """Whether the variable stands in waves of the period of the places only."""
    if not isinstance(node, tuple) or name not in free_symbols(node):
        return node != name
    try:
        known.line.written(node)
        return True
    except NotPlaced:
        return bool(arguments(node)) and not is_call(node, *WAVES) and all(periodic(part, name, known) for part in arguments(node))


@dataclass
class Side:
    """An answer without parameters on the two sides of its places."""

    integrand: Tree
    answer: Tree
    name: str
    known_at: Known
    known: Places
    asked: Asked
    complete: bool = False

    def places(self) -> Iterator[int | None]:
        """The indices of the places in t, None for infinity."""
        try:
            count = len(self.known.roots(CLOSE))
        except (Undecided, Refused, NotPlaced):
            try:
                count = len(self.known.roots(8 * CLOSE))
            except (Undecided, Refused, NotPlaced):
                return
        if count > MAX_PLACES:
            return
        yield from range(count)
        if self.known.line.kind == "circular":
            yield None
        self.complete = True

    def at(self, place: int | None, turn: int) -> Sought[Leap]:
        budget.step()
        try:
            point = self.exact(place, turn)
            if point is not None and self.asked.ends is not None and self.asked.ends(point):
                return Absent()
            if self.asked.where_real and self._not_real(place, turn):
                return Absent()
            if point is not None and self._same_limits(point):
                return Absent()
            for integral in (by_size, by_factors):
                found = self._bounded(place, turn, integral)
                if found is not None:
                    return found
            if self._pole(place, turn) or (point is not None and self._endless(point)):
                return Absent()
        except (Undecided, Refused, NotPlaced, ValueError, ZeroDivisionError, OverflowError) as problem:
            return Unseen(f"the answer at a place at which it may jump: {problem}"[:160])
        return Unseen("the limits of the answer where its integrand has no bound")

    def _not_real(self, place: int | None, turn: int) -> bool:
        """Whether the integrand is proved not to be real on one of the two sides."""
        with precision(4 * CLOSE + 256):
            for x in self._ends(place, turn, CLOSE):
                value = evaluate(self.integrand, Environment({self.name: x}))
                if is_number(value) and not complex_ball(value).imag.contains(0):
                    return True
        return False

    def _ends(self, place: int | None, turn: int, bits: int) -> tuple[fmpq, fmpq]:
        """Points on the two sides, between which no other place lies."""
        gap = self._gap(place, bits)
        with precision(4 * bits + 256):
            x = self.position(place, turn, 4 * bits + 256)
            step = arb(2) ** -bits if gap is None else min(arb(2) ** -bits, arb(gap.lower()) / 4, key=lambda b: arb(b.lower()).fmpq())
            if not arb(x.rad()) * 4 < step:
                raise Undecided("the place")
            middle, width = arb(x.mid()).fmpq(), arb(step.lower()).fmpq()
            return middle - width, middle + width

    def position(self, place: int | None, turn: int, bits: int) -> arb:
        """Where a place lies, at the precision in force; bits: that of its isolation."""
        if place is None:
            return self.known.line.x_of(None, turn)
        return self.known.line.x_of(self.known.roots(bits)[place], turn)

    def _gap(self, place: int | None, bits: int) -> arb | None:
        """The distance to the next place."""
        with precision(bits):
            roots = self.known.roots(bits)
            line = self.known.line
            every = [line.x_of(t) for t in roots]
            if line.kind == "circular":
                every += [line.x_of(None), *(line.x_of(t, turn) for t in roots for turn in (-1, 1)), line.x_of(None, -1)]
            own = line.x_of(None) if place is None else every[place]
            index = len(roots) if place is None else place
            gaps = [abs(own - other) for i, other in enumerate(every) if i != index]
            if any(gap.contains(0) for gap in gaps):
                raise Undecided("places that are close together")
            return min(gaps, key=lambda g: arb(g.lower()).fmpq()) if gaps else None

    def _bounded(self, place: int | None, turn: int, integral: Callable[[Tree, str, fmpq, fmpq], arb | None]) -> Sought[Leap] | None:
        """By the change between two points; None where no bound of the integral between them is known."""
        size = max(height(self.integrand, self.answer), hidden(self.integrand), hidden(self.answer), 0)
        if size > MAX_HEIGHT:
            raise Undecided("numbers of many digits")
        bits = CLOSE + 2 * size
        low, high = self._ends(place, turn, bits)
        with precision(4 * bits + 256):
            most = integral(self.integrand, self.name, low, high)
            if most is None:
                return None
            first, last = self._value(self.answer, low), self._value(self.answer, high)
            if first is None or last is None:
                raise Undecided("no value beside it")
            change = complex_ball(last) - complex_ball(first)
            if arb(change.abs_lower()) > CLEAR * most:
                exact = self.exact(place, turn)
                where = show_tree(exact) if exact is not None else show(arb((low + high) / 2))
                return Found(self._wide(place, turn) or Leap(self.name, low, high, arb(change.abs_lower()), most, self.known_at, where))
            if arb(change.abs_upper()) + most < arb(2) ** -(SEEN + size):
                return Absent(exact=False)
        raise Undecided("a small change")

    def _value(self, node: Tree, x: fmpq | arb) -> Number | None:
        return finite(node, self.name, x)

    def _wide(self, place: int | None, turn: int) -> Leap | None:
        """The same jump between points that are easily written."""
        with precision(128):
            return wide(self.integrand, self.answer, self.name, arb(self.position(place, turn, 128).mid()).fmpq(), self.known_at)

    def _same_limits(self, point: Tree) -> bool:
        """Whether the limits from both sides are proved to be equal, or one to be infinite."""
        limits = [one_sided(towards(self.answer, self.name, point, side)) for side in (-1, 1)]
        if any(limit is not None and isinstance(limit[0], NonValue) for limit in limits):
            return True
        trees = [limit[1] for limit in limits if limit is not None and limit[1] is not None]
        return len(trees) == 2 and proves_equal(trees[0], trees[1])

    def _endless(self, point: Tree) -> bool:
        """Whether the integrand has no finite integral on a side: (x - x0) f is proved to tend to infinity or to a limit that is not 0."""
        scaled = times(self.integrand, minus(self.name, point))
        for side in (-1, 1):
            limit = one_sided(towards(scaled, self.name, point, side))
            if limit is None or limit == (None, None):
                continue
            if isinstance(limit[0], NonValue):
                return True
            value = evaluate(limit[1]) if limit[1] is not None else limit[0]
            if value is not None and is_number(value) and not complex_ball(value).contains(0):
                return True
        return False

    def _pole(self, place: int | None, turn: int) -> bool:
        """Whether the integrand is 1/q of a q that is differentiable and has a zero between two points: it has no finite integral across."""
        low, high = self._ends(place, turn, CLOSE)
        below = inverted(self.integrand)
        with precision(4 * CLOSE + 256):
            around = arb((low + high) / 2, arb((high - low) / 2).upper())
            if self._value(below, around) is None or self._value(differentiate(below, self.name), around) is None:
                return False
            ends = [self._value(below, low), self._value(below, high)]
            known = [complex_ball(end) for end in ends if end is not None]
            if len(known) < len(ends):
                return False
            first, last = known
            for part in ("real", "imag"):
                a, b = (arb(getattr(end, part)) for end in (first, last))
                rest = [getattr(end, "imag" if part == "real" else "real") for end in (first, last)]
                if all(r.is_zero() for r in rest):
                    return bool((a < 0 and b > 0) or (a > 0 and b < 0))
            return False

    def exact(self, place: int | None, turn: int) -> Tree | None:
        """The place as an exact expression, where it has a short one."""
        line = self.known.line
        if line.kind == "exponential":
            t = self._root(place)
            return (
                None
                if t is None
                else times(power(times(rational_tree(line.slope), line.unit), -1), minus(("Log", t), times(rational_tree(line.start), line.unit)))
            )
        if line.kind == "circular":
            angle = self._angle(place)
            if angle is None:
                return None
            v = times(rational_tree(angle + 2 * turn), "Pi")
            over: Tree = v if line.unit == 1 else times(v, power(line.unit, -1))
            if line.unit == "Pi":
                over = rational_tree(angle + 2 * turn)
            start = rational_tree(line.start)
            return times(rational_tree(1 / line.slope), minus(over, start) if start != 0 else over)
        return self._root(place)

    def _root(self, place: int | None) -> Tree | None:
        if place is None:
            return None
        with precision(CLOSE):
            ball = self.known.roots(CLOSE)[place]
            for factor in self.known.factors:
                if factor.names != (VARIABLE,) or max(e[0] for e, _ in factor.terms) > 2:
                    continue
                by = {e[0]: c for e, c in factor.terms}
                a, b, c = by.get(2, fmpq(0)), by.get(1, fmpq(0)), by.get(0, fmpq(0))
                if a == 0:
                    if ball.contains(-c / b):
                        return rational_tree(-c / b)
                    continue
                for sign in (1, -1):
                    root: Tree = times(
                        rational_tree(1 / (2 * a)), plus(rational_tree(-b), times(sign, power(rational_tree(b * b - 4 * a * c), rational(1, 2))))
                    )
                    value = evaluate(root)
                    if isinstance(value, arb) and value.overlaps(ball):
                        return root
        return None

    def _angle(self, place: int | None) -> fmpq | None:
        """v/Pi of t = Tan[v/2] where that is a short fraction, by the polynomial that t is a zero of."""
        if place is None:
            return fmpq(1)
        with precision(CLOSE):
            ball = self.known.roots(CLOSE)[place]
            for angle in ANGLES:
                if abs(angle) < 1 and (arb.pi() * angle / 2).tan().overlaps(ball):
                    tangent: Tree = ("Tan", times(rational_tree(angle / 2), "Pi"))
                    if any(factor.names == (VARIABLE,) and proves_zero(as_value(factor, tangent)) for factor in self.known.factors):
                        return angle
        return None


def as_value(p: Polynomial, at: Tree) -> Tree:
    terms: list[Tree] = []
    for (n,), c in p.terms:
        terms.append(times(rational_tree(c), power(at, n) if n else 1))
    return plus(*terms)
