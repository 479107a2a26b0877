"""Exact proofs that an expression is identically zero, by rational normal form.

An expression becomes a quotient of polynomials over the rationals in generators: symbols, roots of polynomials in what comes
before them, exponentials, logarithms and other functions of expressions in normal form. Relations that hold wherever both
sides are defined are applied: I^2 = -1, Sqrt[p]^2 = p, E^(a + b) = E^a E^b, x^(a + b) = x^a x^b, sines and cosines through
exponentials. A numerator that reduces to 0 proves equality; one that does not proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

from flint import fmpq

from . import budget
from .calculus import applied, derivatives_of_list, expand_d, of_language
from .field import Field, Fraction, TooLarge, as_rational, content, lowest
from .primes import factorization
from .reality import on_reals, rewritten
from .tree import CONSTANTS, Refused, Text, Tree, arguments, is_call, minus, plus, power, rational, times, undefined

MAX_FACTORIAL = 200
BESSEL = {"BesselJ": -1, "BesselY": -1, "BesselI": 1, "BesselK": 1}  # the value of order -n is that of n times this to the n-th (DLMF 10.4.1, 10.27)
NUMBERS = frozenset("Pi EulerGamma Catalan Khinchin Glaisher".split())


class Normalizer:
    """Turns trees into fractions of one field. positive, integers, reals: symbols that are known to be so;
    signs: trees that are known to be 0 or more."""

    def __init__(self, positive: Collection[str] = (), integers: Collection[str] = (), reals: Collection[str] = (), signs: Collection[Tree] = ()) -> None:
        self.signs = list(signs)
        self.integers = frozenset(integers)
        self.reals: frozenset[Tree] = frozenset([*reals, *self.integers, *positive, *(("Log", name) for name in positive)])
        self.field = Field()
        self.known: dict[Tree, Fraction] = {}
        self.logarithms: dict[object, Fraction] = {}
        self.positive = {"Pi", "EulerGamma", "Catalan", *positive}

    def key(self, a: Fraction) -> tuple[str, str]:
        return (str(a.top), str(a.bottom))

    def normal(self, node: Tree) -> Fraction:
        found = self.known.get(node) if not isinstance(node, int) else None
        if found is None:
            found = self._normal(node)
            self.known[node] = found
        return found

    def _normal(self, node: Tree) -> Fraction:
        field = self.field
        budget.step()
        if isinstance(node, int):
            return field.constant(node)
        if isinstance(node, Text):
            raise TooLarge
        if isinstance(node, str):
            return self._symbol(node)
        if not isinstance(node, tuple):
            raise TooLarge
        head, parts = node[0], arguments(node)
        if not isinstance(head, str):
            return self._call(node)
        if head == "Plus":
            total = field.constant(0)
            for part in parts:
                total = field.add(total, self.normal(part))
            return total
        if head == "Times":
            product = field.constant(1)
            for part in parts:
                product = field.multiply(product, self.normal(part))
            return product
        if head == "Power" and len(parts) == 2:
            return self._power(parts[0], parts[1])
        rewrite = REWRITES.get((head, len(parts)))
        if rewrite is not None:
            return self.normal(rewrite(*parts))
        if head == "D":
            return self.normal(expand_d(node))
        return self._marked(head, node, parts)

    def _marked(self, head: str, node: tuple[Tree, ...], parts: tuple[Tree, ...]) -> Fraction:
        """Functions with relations of their own: Abs, Floor, Log, and those that reality.rewritten knows."""
        if head == "OnReals$":
            return self.normal(parts[1])  # the caller took the symbol for real
        if head == "OffZero$":
            return self.normal(parts[1])  # undefined at some places
        if head == "Abs" and self.signs and len(parts) == 1:
            known = self._known_sign(self.normal(parts[0]))
            if known is not None:
                return known
        through = rewritten(node, self.reals)
        if through is not None:
            return self.normal(through)
        if head == "Abs" and len(parts) == 1:
            return self._abs(self.normal(parts[0]))
        if head == "Floor" and len(parts) == 1:
            return self._floor(self.normal(parts[0]))
        if head == "Log" and len(parts) == 1:
            return self._log(self.normal(parts[0]))
        return self._call(node)

    def _known_sign(self, argument: Fraction) -> Fraction | None:
        """The absolute value of a rational multiple of something that is known to be 0 or more."""
        for sign in self.signs:
            other = self.normal(sign)
            if other.top.is_zero() or argument.top.is_zero():
                continue
            ratio = as_rational(self.field.multiply(argument, self.field.invert(other)))
            if ratio is not None:
                return argument if ratio > 0 else self.field.multiply(self.field.constant(-1), argument)
        return None

    def _abs(self, argument: Fraction) -> Fraction:
        """Abs[p r] is p Abs[r] for positive p."""
        field = self.field
        if argument.top.is_zero():
            return argument
        constant, factors, rest = self._positive_part(argument)
        result = field.constant(constant)
        for factor, multiplicity in factors:
            result = field.multiply(result, field.raised(factor, multiplicity))
        if as_rational(rest) in (fmpq(1), fmpq(-1)):
            return result
        if rest.top.leading_coefficient() < 0:
            rest = Fraction(-rest.top, rest.bottom)
        return field.multiply(result, field.generator(("Abs", self.key(rest))))

    def _floor(self, argument: Fraction) -> Fraction:
        """Floor[g + n] is Floor[g] + n for whole n."""
        field = self.field
        if not argument.bottom.is_one():
            return field.generator(("Floor", self.key(argument)))
        names = {index: key for key, index in field.keys.items()}
        whole = field.constant(0)
        for monomial, coefficient in argument.top.to_dict().items():
            symbols = {names[i] for i, d in enumerate(monomial) if d}
            if not all(isinstance(name, str) and name in self.integers for name in symbols):
                continue
            turns = fmpq(coefficient.floor()) if not symbols else coefficient if coefficient.q == 1 else fmpq(coefficient.floor())
            term = Fraction(field.context.from_dict({monomial: fmpq(1)}), field.context.constant(1))
            whole = field.add(whole, field.multiply(field.constant(turns), term))
        rest = field.add(argument, field.multiply(field.constant(-1), whole))
        constant = as_rational(rest)
        if constant is not None:
            return field.add(whole, field.constant(fmpq(constant.floor())))
        return field.add(whole, field.generator(("Floor", self.key(rest))))

    def _log(self, argument: Fraction) -> Fraction:
        """Log[p r] is Log[p] + Log[r] for positive p."""
        field = self.field
        if argument == self.normal("E"):
            return field.constant(1)
        constant, factors, rest = self._positive_part(argument)
        total = self._log_of_constant(constant)
        if as_rational(rest) == -1:
            total, rest = field.add(total, field.multiply(self._symbol("I"), self._symbol("Pi"))), field.constant(1)
        for factor, multiplicity in factors:
            total = field.add(total, field.multiply(field.constant(multiplicity), self._log_generator(factor)))
        return total if as_rational(rest) == 1 else field.add(total, self._log_generator(rest))

    def _log_generator(self, argument: Fraction) -> Fraction:
        self.logarithms[self.key(argument)] = argument
        return self.field.generator(("Log", self.key(argument)))

    def _log_of_constant(self, constant: fmpq) -> Fraction:
        field = self.field
        total = field.constant(0)
        for part, way in ((constant.p, 1), (constant.q, -1)):
            if part.bit_length() > 80:
                raise TooLarge
            for prime, multiplicity in factorization(part):
                term = self._log_generator(field.constant(fmpq(prime)))
                total = field.add(total, field.multiply(field.constant(way * multiplicity), term))
        return total

    def _symbol(self, name: str) -> Fraction:
        if name == "I":
            return self.field.related("I", 2, self.field.constant(-1))
        if name == "GoldenRatio":
            return self.normal(("Times", rational(1, 2), ("Plus", 1, ("Power", 5, rational(1, 2)))))
        if name == "Degree":
            return self.normal(("Times", "Pi", rational(1, 180)))
        if name == "E":
            return self._exponential(1)
        if name == "GoldenAngle":
            return self.normal(("Times", "Pi", ("Plus", 3, ("Times", -1, ("Power", 5, rational(1, 2))))))
        if (name in CONSTANTS and name not in NUMBERS) or name.startswith("$"):
            raise TooLarge  # Infinity, Undefined, domains, truth values, $MachineEpsilon
        return self.field.generator(name)

    def _call(self, node: tuple[Tree, ...]) -> Fraction:
        """A function with no relations: known by its arguments in normal form."""
        head = node[0]
        if isinstance(head, str):
            if head not in OPAQUE and not undefined(head):
                raise TooLarge
            order = as_rational(self.normal(node[1])) if head in BESSEL or (head == "Gamma" and len(node) == 2) else None
            if order is not None and order.q == 1 and head in BESSEL and order < 0:
                return self.normal(times(BESSEL[head] ** int(order.p), (head, -int(order.p), *node[2:])))
            if order is not None and order.q == 1 and head == "Gamma" and 0 < order <= MAX_FACTORIAL:
                return self.field.constant(math.factorial(int(order.p) - 1))
            name: object = head
        elif is_call(head, "Function"):
            return self.normal(applied(head, node[1:]))
        elif isinstance(head, tuple) and is_call(head[0], "Derivative") and isinstance(head[1], str) and head[1] in ANALYTIC:
            return self.normal(of_language(head[1], arguments(head[0]), node[1:]))
        elif is_call(head, "C") or (isinstance(head, tuple) and is_call(head[0], "Derivative")):
            name = head
        else:
            raise TooLarge
        parts: list[object] = [name]
        for part in node[1:]:
            parts.append(part if head == "C" else self.key(self.normal(part)))
        return self.field.generator(tuple(parts))

    def _power(self, base: Tree, exponent: Tree) -> Fraction:
        if isinstance(exponent, int):
            return self._raised(self.normal(base), exponent)
        if base == "E":
            return self._exponential(exponent)
        value = self.normal(exponent)
        number = as_rational(value)
        if number is not None:
            if number.q == 1:
                return self._raised(self.normal(base), int(number.p))
            return self._root(self.normal(base), number)
        return self._exponential_of(self.field.multiply(value, self._log(self.normal(base))))

    def _raised(self, base: Fraction, n: int) -> Fraction:
        if n <= 0 and base.top.is_zero():
            raise TooLarge  # 0^0 is no number
        return self.field.raised(base, n)

    def _root(self, base: Fraction, exponent: fmpq) -> Fraction:
        """base^(p/q): the q-th root of the base is a generator whose q-th power is the base."""
        field = self.field
        constant, factors, base = self._positive_part(base)
        if constant != 1 or factors:
            result = self._constant_root(constant, exponent)
            for factor, multiplicity in factors:
                result = field.multiply(result, self._root_of_rest(factor, exponent * multiplicity))
            return field.multiply(result, self._root_of_rest(base, exponent)) if as_rational(base) != 1 else result
        return self._root_of_rest(base, exponent)

    def _root_of_rest(self, base: Fraction, exponent: fmpq) -> Fraction:
        field = self.field
        q = int(exponent.q)
        if as_rational(base) == 1:
            return base
        if as_rational(base) == -1:
            return self._root_of_unity(exponent)
        if q == 1:
            return field.raised(base, int(exponent.p))
        key = ("root", q, self.key(base))
        for known, index in list(field.keys.items()):
            # A finer root of the same base: x^(1/2) is (x^(1/4))^2.
            if isinstance(known, tuple) and len(known) == 3 and known[0] == "root" and known[2] == key[2] and known[1] % q == 0:
                generator = Fraction(field.context.gen(index), field.context.constant(1))
                return field.raised(generator, int(exponent.p) * (int(known[1]) // q))
        generator = field.related(key, q, base)
        return field.raised(generator, int(exponent.p))

    def _positive_part(self, base: Fraction) -> tuple[fmpq, list[tuple[Fraction, int]], Fraction]:
        """base as a positive rational, powers of positive generators, and the rest: (p r)^q is p^q r^q for positive p."""
        field = self.field
        constant = abs(content(base.top) / content(base.bottom))
        rest = Fraction(base.top / content(base.top), base.bottom / content(base.bottom))
        if base.top.leading_coefficient() * base.bottom.leading_coefficient() < 0 and rest.top.leading_coefficient() > 0:
            rest = Fraction(-rest.top, rest.bottom)
        factors: list[tuple[Fraction, int]] = []
        for key, index in list(field.keys.items()):
            if not (key in self.positive if isinstance(key, str) else isinstance(key, tuple) and key[0] == "prime"):
                continue
            generator = field.context.gen(index)
            low = lowest(rest.top, index) - lowest(rest.bottom, index)
            if low:
                factors.append((Fraction(generator, field.context.constant(1)), low))
                rest = field.multiply(rest, field.raised(Fraction(generator, field.context.constant(1)), -low))
        return constant, factors, rest

    def _constant_root(self, base: fmpq, exponent: fmpq) -> Fraction:
        """A positive rational to a rational power: over the roots of primes, so that Sqrt[8] is 2 Sqrt[2]."""
        field = self.field
        result = field.constant(1)
        for part, way in ((base.p, 1), (base.q, -1)):
            if part.bit_length() > 80:
                raise TooLarge
            for prime, multiplicity in factorization(part):
                whole = exponent * multiplicity * way
                turns = whole.floor()
                rest = whole - turns
                result = field.multiply(result, field.raised(field.constant(fmpq(prime)), int(turns)))
                if rest != 0:
                    generator = field.related(("prime", int(rest.q), int(prime)), int(rest.q), field.constant(fmpq(prime)))
                    result = field.multiply(result, field.raised(generator, int(rest.p)))
        return result

    def _terms(self, exponent: Fraction) -> list[tuple[fmpq, Fraction]]:
        """An exponent as a sum of rational multiples of monic terms over the common denominator."""
        found = []
        for monomial, coefficient in exponent.top.to_dict().items():
            term = self.field.reduced(self.field.context.from_dict({monomial: fmpq(1)}), exponent.bottom)
            lead = term.top.leading_coefficient()
            found.append((coefficient * lead, Fraction(term.top / lead, term.bottom)))
        if len(found) > 30:
            raise TooLarge
        return found

    def _exponential(self, exponent: Tree) -> Fraction:
        """E^(sum of q t) is the product of (E^(t/n))^(n q); E^(q Log[u]) is u^q, E^(I Pi p/q) a root of unity."""
        return self._exponential_of(self.normal(exponent))

    def _exponential_of(self, value: Fraction) -> Fraction:
        field = self.field
        result = field.constant(1)
        for coefficient, term in self._terms(value):
            logarithm = self._logarithm_of(term)
            if logarithm is not None:
                factor = self._root(logarithm, coefficient) if coefficient.q != 1 else field.raised(logarithm, int(coefficient.p))
            elif self._is_i_pi(term):
                factor = self._root_of_unity(coefficient)
            elif self._is_i_pi_integer(term):
                factor = self._sign_of(term, coefficient)
            else:
                factor = self._fine(("exp", self.key(term)), coefficient)
            result = field.multiply(result, factor)
        return result

    def _fine(self, key: tuple[object, ...], coefficient: fmpq) -> Fraction:
        """The coefficient-th power of a quantity whose powers add: a generator for its FINE-th root."""
        if abs(coefficient.p) > MAX_EXPONENT:
            return self.field.generator((*key, str(coefficient)))
        if FINE % int(coefficient.q):
            generator = self.field.generator((*key, int(coefficient.q)))
            return self.field.raised(generator, int(coefficient.p))
        return self.field.raised(self.field.generator((*key, FINE)), int(coefficient.p) * (FINE // int(coefficient.q)))

    def _generator_of(self, term: Fraction) -> object:
        """The key of a term that is one generator, else None."""
        if not term.bottom.is_one() or len(term.top) != 1 or term.top.total_degree() != 1 or term.top.leading_coefficient() != 1:
            return None
        index = next(i for i, d in enumerate(term.top.degrees()) if d)
        return next(key for key, at in self.field.keys.items() if at == index)

    def _logarithm_of(self, term: Fraction) -> Fraction | None:
        key = self._generator_of(term)
        if isinstance(key, tuple) and len(key) == 2 and key[0] == "Log":
            return self.logarithms.get(key[1])
        return None

    def _is_i_pi(self, term: Fraction) -> bool:
        return term == self.field.multiply(self._symbol("I"), self._symbol("Pi"))

    def _is_i_pi_integer(self, term: Fraction) -> bool:
        """Whether a term is I Pi times symbols that are integers."""
        if not self.integers or not term.bottom.is_one():
            return False
        names = {index: key for key, index in self.field.keys.items()}
        exponents = {names[i]: d for i, d in enumerate(term.top.degrees()) if d}
        return exponents.pop("I", 0) == 1 and exponents.pop("Pi", 0) == 1 and bool(exponents) and self.integers.issuperset(map(str, exponents))

    def _sign_of(self, term: Fraction, coefficient: fmpq) -> Fraction:
        """E^(I Pi n q) for an integer n: a generator for E^(I Pi n/FINE), whose 2 FINE-th power is 1."""
        if FINE % int(coefficient.q):
            return self._fine(("exp", self.key(term)), coefficient)
        generator = self.field.related(("exp", self.key(term), FINE), 2 * FINE, self.field.constant(1))
        return self.field.raised(generator, int(coefficient.p) * (FINE // int(coefficient.q)) % (2 * FINE))

    def _root_of_unity(self, turns: fmpq) -> Fraction:
        """E^(I Pi turns) in radicals where they are short."""
        turns = turns - 2 * ((turns / 2).floor())
        node = UNITY.get((int(turns.p), int(turns.q)))
        if node is not None:
            return self.normal(node)
        n = 2 * int(turns.q)
        field = self.field
        generator = field.related(("unity", n), n, field.constant(1))
        return field.raised(generator, int(turns.p))


# Roots of unity E^(I Pi p/q), 0 <= p/q < 2, in radicals.
_H = rational(1, 2)


def _unity(cosine: Tree, sine: Tree) -> Tree:
    return ("Plus", cosine, ("Times", "I", sine))


_ROOT2, _ROOT3 = ("Times", _H, ("Power", 2, _H)), ("Times", _H, ("Power", 3, _H))
_QUARTER: dict[tuple[int, int], tuple[Tree, Tree]] = {
    (0, 1): (1, 0),
    (1, 6): (_ROOT3, _H),
    (1, 4): (_ROOT2, _ROOT2),
    (1, 3): (_H, _ROOT3),
}


def _table() -> dict[tuple[int, int], Tree]:
    found: dict[tuple[int, int], Tree] = {}
    for (p, q), (c, s) in _QUARTER.items():
        for quarter in range(4):
            turns = fmpq(p, q) + fmpq(quarter, 2)
            pair = [(c, s), (("Times", -1, s), c), (("Times", -1, c), ("Times", -1, s)), (s, ("Times", -1, c))][quarter]
            found[(int(turns.p), int(turns.q))] = _unity(*pair)
    return found


UNITY = _table()
MAX_EXPONENT = 30  # E^(k t) beyond is a generator of its own
FINE = 12  # E^(t/12) is the generator for E^t: rational multiples of t with denominators up to 4 and 6 are its powers


def _exp(node: Tree) -> Tree:
    return power("E", node)


def _i(node: Tree) -> Tree:
    return times("I", node)


def _sine(g: Tree) -> Tree:
    return times(rational(-1, 2), "I", minus(_exp(_i(g)), _exp(times(-1, "I", g))))


def _cosine(g: Tree) -> Tree:
    return times(rational(1, 2), plus(_exp(_i(g)), _exp(times(-1, "I", g))))


def _hyperbolic(sign: int, g: Tree) -> Tree:
    return times(rational(1, 2), plus(_exp(g), times(sign, _exp(times(-1, g)))))


REWRITES: dict[tuple[str, int], Callable[..., Tree]] = {
    ("Rational", 2): lambda a, b: times(a, power(b, -1)) if b != 1 else a,
    ("Complex", 2): lambda a, b: plus(a, times("I", b)),
    ("Subtract", 2): minus,
    ("Minus", 1): lambda a: times(-1, a),
    ("Divide", 2): lambda a, b: times(a, power(b, -1)),
    ("Sqrt", 1): lambda a: power(a, rational(1, 2)),
    ("Exp", 1): _exp,
    ("Sin", 1): _sine,
    ("Cos", 1): _cosine,
    ("Tan", 1): lambda g: times(_sine(g), power(_cosine(g), -1)),
    ("Cot", 1): lambda g: times(_cosine(g), power(_sine(g), -1)),
    ("Sec", 1): lambda g: power(_cosine(g), -1),
    ("Csc", 1): lambda g: power(_sine(g), -1),
    ("Sinh", 1): lambda g: _hyperbolic(-1, g),
    ("Cosh", 1): lambda g: _hyperbolic(1, g),
    ("Tanh", 1): lambda g: times(_hyperbolic(-1, g), power(_hyperbolic(1, g), -1)),
    ("Coth", 1): lambda g: times(_hyperbolic(1, g), power(_hyperbolic(-1, g), -1)),
    ("Sech", 1): lambda g: power(_hyperbolic(1, g), -1),
    ("Csch", 1): lambda g: power(_hyperbolic(-1, g), -1),
    ("Sinc", 1): lambda g: times(_sine(g), power(g, -1)),
    ("Haversine", 1): lambda g: times(rational(1, 2), plus(1, times(-1, _cosine(g)))),
    ("Log", 2): lambda b, x: times(("Log", x), power(("Log", b), -1)),
    ("Log2", 1): lambda x: times(("Log", x), power(("Log", 2), -1)),
    ("Log10", 1): lambda x: times(("Log", x), power(("Log", 10), -1)),
    ("Factorial", 1): lambda n: ("Gamma", plus(n, 1)),
    ("Ceiling", 1): lambda x: times(-1, ("Floor", times(-1, x))),
    ("Mod", 2): lambda m, n: plus(m, times(-1, n, ("Floor", times(m, power(n, -1))))),
    ("Quotient", 2): lambda m, n: ("Floor", times(m, power(n, -1))),
    ("PolyGamma", 1): lambda z: ("PolyGamma", 0, z),
    ("Identity", 1): lambda z: z,
}

# Functions of which only the value at equal arguments is used.
OPAQUE = frozenset(
    "Log ArcSin ArcCos ArcTan ArcCot ArcSec ArcCsc ArcSinh ArcCosh ArcTanh ArcCoth ArcSech ArcCsch Gamma LogGamma PolyGamma Beta Erf Erfc Erfi "
    "FresnelS FresnelC ExpIntegralE ExpIntegralEi LogIntegral SinIntegral CosIntegral SinhIntegral CoshIntegral Zeta HurwitzZeta PolyLog "
    "LerchPhi ProductLog BesselJ BesselY BesselI BesselK HankelH1 HankelH2 AiryAi AiryBi AiryAiPrime AiryBiPrime EllipticK EllipticE EllipticF "
    "EllipticPi LegendreP LegendreQ ChebyshevT ChebyshevU HermiteH LaguerreL GegenbauerC JacobiP Hypergeometric0F1 Hypergeometric1F1 "
    "Hypergeometric2F1 HypergeometricU HarmonicNumber Pochhammer Abs Sign Re Im Arg Conjugate UnitStep HeavisideTheta Floor Ceiling Mod "
    "C DawsonF InverseErf Binomial Fibonacci LucasL Gudermannian".split()
)
# Those of one branch or several that have complex derivatives.
ANALYTIC = (OPAQUE - frozenset("Abs Sign Re Im Arg Conjugate UnitStep HeavisideTheta Floor Ceiling Mod C".split())) | frozenset(
    "Sin Cos Tan Cot Sec Csc Sinh Cosh Tanh Coth Sech Csch Exp Sqrt".split()
)


def proves_zero(node: Tree, *known: Collection[Any]) -> bool:
    """Whether the normal form shows that the expression is zero wherever it is defined. known: as a Normalizer takes it."""
    empty: tuple[Collection[Any], ...] = ((),) * 4
    positive, integers, reals, signs = (*known, *empty)[:4]
    try:
        return bool(Normalizer(positive, integers, {*reals, *on_reals(node)}, signs).normal(node).top.is_zero())
    except (TooLarge, Refused, RecursionError, ArithmeticError, ValueError):
        return False


def proves_equal(left: Tree, right: Tree, *known: Collection[Any]) -> bool:
    if is_call(left, "List") and is_call(right, "List"):
        return len(arguments(left)) == len(arguments(right)) and all(proves_equal(a, b, *known) for a, b in zip(arguments(left), arguments(right), strict=True))
    if is_call(left, "D") and is_call(right, "List") and (entries := derivatives_of_list(left)) is not None:
        return proves_equal(entries, right, *known)
    return proves_zero(minus(left, right), *known)
