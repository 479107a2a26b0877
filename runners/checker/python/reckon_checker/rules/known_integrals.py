"""Definite integrals by a theorem: the Gamma and Beta integrals and those that come of them by a substitution, by a derivative after an exponent, or by
residues. Each formula holds where its conditions are proved, for numbers and for parameters (Signs); what it comes to is held against the answer.

DLMF 5.9.1, 5.12.1-5.12.3 (Gamma, Beta), 5.9.6-5.9.7 (waves), 25.5.1-25.5.3 (zeta), 25.12.2, 25.14.5 (polylogarithm, Lerch); 4.27, 1.14.11 (Fourier).
"""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from ..assumptions import Assumptions
from ..calculus import differentiate
from ..expanding import is_minus_infinity
from ..normal import proves_zero
from ..signs import Signs
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, rational_of, rational_tree, replace, times, walk
from ..univariate import polynomial
from .primitives import HALF, NotOfForm, constant_ratio, factored

EXPONENT = "s$exponent"
MAX_LOGARITHMS = 4
MAX_FACTORIAL = 60
Factors = list[tuple[Tree, Tree]]


def value(integrand: Tree, x: str, low: Tree, high: Tree, conditions: list[Tree]) -> Tree | None:
    """The integral as a tree; None where no formula is proved to hold."""
    assumed = Assumptions(conditions)
    signs = Signs(assumed.conditions, {name for name in free_symbols(integrand) if assumed.is_real(name)})
    try:
        return _Known(x, signs, assumed.conditions).between(integrand, low, high)
    except (NotOfForm, Refused, ArithmeticError, ValueError, RecursionError):
        return None


def require(condition: bool) -> None:
    if not condition:
        raise NotOfForm


class _Known:
    def __init__(self, x: str, signs: Signs, conditions: list[Tree]) -> None:
        self.x, self.signs, self.conditions = x, signs, conditions

    def between(self, integrand: Tree, low: Tree, high: Tree) -> Tree:
        constant, factors = factored(integrand, self.x)
        require(not any(part in ("Infinity", "Indeterminate", "ComplexInfinity") for part in walk(constant)))
        if low == 0 and high == "Infinity":
            return times(constant, self.first_of(factors, self.gamma, self.bose, self.beta_without_end, self.waves, self.square_of_wave, self.fourier))
        if low == 0 and high == 1:
            return times(constant, self.first_of(factors, self.beta, self.lerch, self.logarithm))
        if low == 0 and high in (times(HALF, "Pi"), times("Pi", power(2, -1)), ("Times", "Pi", HALF), ("Divide", "Pi", 2)):
            return times(constant, self.circular(factors))
        if low == 0 and high == "Pi":
            require(self.same(integrand, replace(integrand, self.x, minus("Pi", self.x))))
            return times(2, constant, self.circular(factors))
        require(is_minus_infinity(low) if high == "Infinity" else proves_zero(plus(low, high)))
        if high == "Infinity":
            try:
                return times(constant, self.gaussian(factors))
            except NotOfForm:
                pass
        if self.same(integrand, replace(integrand, self.x, times(-1, self.x))):
            return times(2, self.between(integrand, 0, high))
        require(self.same(integrand, times(-1, replace(integrand, self.x, times(-1, self.x)))))
        self.between(integrand, 0, high)  # it converges
        return 0

    def first_of(self, factors: Factors, *formulas: Callable[[Factors], Tree]) -> Tree:
        for formula in formulas:
            try:
                return formula(factors)
            except NotOfForm:
                continue
        raise NotOfForm

    def same(self, one: Tree, other: Tree) -> bool:
        return proves_zero(minus(one, other))

    def plain(self, node: Tree) -> Tree:
        """A number as such, where an expression comes to one."""
        found = constant_ratio(node, 1, self.x) if isinstance(node, tuple) else node
        return node if found is None else found

    def positive(self, *nodes: Tree) -> None:
        require(all(self.signs.of(node) == "+" for node in nodes))

    def in_right_half(self, node: Tree) -> None:
        """The real part is positive: of a positive number, or of a positive multiple of a symbol of which that is assumed."""
        node = plain_product(node)
        parts = arguments(node) if is_call(node, "Times") else (node,)
        names = [part for part in parts if free_symbols(part)]
        assumed = (
            len(names) == 1 and isinstance(names[0], str) and any(is_call(c, "Greater") and arguments(c) == (("Re", names[0]), 0) for c in self.conditions)
        )
        self.positive(times(*(part for part in parts if not free_symbols(part))) if assumed else node)

    def powers(self, factors: Factors) -> tuple[Tree, Factors]:
        """The exponent of the variable, and the other factors."""
        return self.plain(plus(*(e for base, e in factors if base == self.x))), [
            (base, self.plain(e) if base != "E" else e) for base, e in factors if base != self.x
        ]

    def monomial(self, node: Tree) -> tuple[Tree, Tree]:
        """c and q of c x^q."""
        c, factors = factored(node, self.x)
        require(bool(factors) and all(base == self.x for base, _ in factors))
        return self.plain(c), self.plain(plus(*(e for _, e in factors)))

    def binomial(self, node: Tree) -> tuple[Tree, Tree, Tree]:
        """a, c and m of a + c x^m."""
        p = polynomial(node, self.x)
        if p is not None:
            degrees = [i for i in range(1, p.degree() + 1) if p[i] != 0]
            require(len(degrees) == 1)
            return rational(int(p[0].p), int(p[0].q)), rational(int(p[degrees[0]].p), int(p[degrees[0]].q)), degrees[0]
        require(is_call(node, "Plus"))
        free = [part for part in arguments(node) if self.x not in free_symbols(part)]
        rest = [part for part in arguments(node) if self.x in free_symbols(part)]
        require(len(rest) == 1)
        return (plus(*free), *self.monomial(rest[0]))

    def logarithms(self, factors: Factors, argument: Tree) -> tuple[int, Factors]:
        """The exponent of Log[argument], and the other factors."""
        k: Tree = 0
        factors = [(base, self.plain(e) if base != "E" else e) for base, e in factors]
        rest: Factors = []
        for base, e in factors:
            if is_call(base, "Log") and arguments(base) == (argument,):
                k = e if k == 0 else plus(k, e)
            else:
                rest.append((base, e))
        require(isinstance(k, int) and 0 <= k <= MAX_LOGARITHMS)
        assert isinstance(k, int)
        return k, rest

    def after_exponent(self, formula: Tree, k: int, at: Tree) -> Tree:
        """The k-th derivative after the exponent: a factor Log[x]^k under the integral, which converges on a whole neighbourhood of the exponent."""
        for _ in range(k):
            formula = differentiate(formula, EXPONENT)
        return replace(formula, EXPONENT, at)

    # From 0 to Infinity.

    def gamma(self, factors: Factors) -> Tree:
        """x^(s - 1) E^(-a x^q) Log[x]^k."""
        k, factors = self.logarithms(factors, self.x)
        p, rest = self.powers(factors)
        require(bool(rest) and all(base == "E" for base, _ in rest))
        c, q = self.monomial(plus(*(e for _, e in rest)))
        a, s = self.plain(times(-1, c)), self.plain(plus(p, 1))
        self.in_right_half(a)
        self.in_right_half(s)
        self.positive(q)
        over = times(EXPONENT, power(q, -1)) if q != 1 else EXPONENT
        if k == 0:
            at = self.plain(replace(over, EXPONENT, s))
            return times(gamma_of(at), power(q, -1), power(a, times(-1, at)))
        return self.after_exponent(times(("Gamma", over), power(q, -1), power(a, times(-1, over))), k, s)

    def bose(self, factors: Factors) -> Tree:
        """x^(s - 1)/(E^(a x) - 1), s > 1, and x^(s - 1)/(E^(a x) + 1), s > 0."""
        p, rest = self.powers(factors)
        require(len(rest) == 1 and rest[0][1] == -1 and is_call(rest[0][0], "Plus") and len(arguments(rest[0][0])) == 2)
        grown = [part for part in arguments(rest[0][0]) if self.x in free_symbols(part)]
        shift = [part for part in arguments(rest[0][0]) if self.x not in free_symbols(part)]
        require(len(grown) == 1 and shift in ([1], [-1]))
        constant, inner = factored(grown[0], self.x)
        require(constant == 1 and bool(inner) and all(base == "E" for base, _ in inner))
        a, q = self.monomial(plus(*(e for _, e in inner)))
        s = self.plain(plus(p, 1))
        require(proves_zero(minus(q, 1)))
        self.positive(a, minus(s, 1))
        found = times(gamma_of(s), ("Zeta", s), power(a, times(-1, s)))
        return found if shift == [-1] else times(minus(1, power(2, minus(1, s))), found)

    def beta_without_end(self, factors: Factors) -> Tree:
        """x^(s - 1) (a + c x^m)^(-q) Log[x]^k."""
        k, factors = self.logarithms(factors, self.x)
        p, rest = self.powers(factors)
        require(len(rest) == 1)
        a, c, m = self.binomial(rest[0][0])
        q, s = self.plain(times(-1, rest[0][1])), self.plain(plus(p, 1))
        self.positive(a, c, m, s, minus(times(q, m), s))
        over = times(EXPONENT, power(m, -1)) if m != 1 else EXPONENT
        first: Tree = times("Pi", power(("Sin", times("Pi", over)), -1)) if q == 1 else ("Beta", over, minus(q, over))
        return self.after_exponent(times(power(a, minus(over, q)), power(c, times(-1, over)), power(m, -1), first), k, s)

    def waves(self, factors: Factors) -> Tree:
        """x^(p) Sin[a x^q] and x^p Cos[a x^q]: u^(t - 1) of u = x^q, t = (p + 1)/q."""
        p, rest = self.powers(factors)
        require(len(rest) == 1 and rest[0][1] == 1 and is_call(rest[0][0], "Sin", "Cos"))
        a, q = self.monomial(arguments(rest[0][0])[0])
        self.positive(a, q)
        t = self.plain(times(plus(p, 1), power(q, -1)))
        sine = is_call(rest[0][0], "Sin")
        if sine and proves_zero(t):
            return times(HALF, "Pi", power(q, -1))
        self.positive(minus(1, t), plus(1, t) if sine else t)
        require(self.signs.of(t) in ("+", "-"))
        turn: Tree = times(HALF, "Pi", t)
        return times(("Gamma", t), ("Sin", turn) if sine else ("Cos", turn), power(a, times(-1, t)), power(q, -1))

    def square_of_wave(self, factors: Factors) -> Tree:
        """Sin[a x]^2/x^2."""
        p, rest = self.powers(factors)
        require(p == -2 and len(rest) == 1 and rest[0][1] == 2 and is_call(rest[0][0], "Sin"))
        a, q = self.monomial(arguments(rest[0][0])[0])
        require(proves_zero(minus(q, 1)))
        self.positive(a)
        return times(HALF, "Pi", a)

    def fourier(self, factors: Factors) -> Tree:
        """Cos[a x]/(c x^2 + d) and x Sin[a x]/(c x^2 + d), by the residue at I Sqrt[d/c]."""
        p, rest = self.powers(factors)
        wave = [base for base, e in rest if is_call(base, "Sin", "Cos") and e == 1]
        below = [base for base, e in rest if e == -1 and base not in wave]
        require(len(rest) == 2 and len(wave) == len(below) == 1)
        a, q = self.monomial(arguments(wave[0])[0])
        d, c, m = self.binomial(below[0])
        require(proves_zero(minus(q, 1)) and m == 2 and p == (1 if is_call(wave[0], "Sin") else 0))
        self.positive(c, d)
        root = power(times(d, power(c, -1)), HALF)
        if is_call(wave[0], "Sin"):
            self.positive(a)
            return times(HALF, "Pi", power(c, -1), power("E", times(-1, a, root)))
        require(free_symbols(a) <= self.signs.real and self.signs.regular(a))
        return times(HALF, "Pi", power(c, -1), power(root, -1), power("E", times(-1, ("Abs", a), root)))

    # From -Infinity to Infinity.

    def gaussian(self, factors: Factors) -> Tree:
        """E^(-a x^2 + b x + c), for any b and c, and waves of first degree times it."""
        found: list[tuple[Tree, Tree]] = [(1, 0)]
        for base, e in factors:
            if base == "E":
                found = [(c, plus(inner, e)) for c, inner in found]
                continue
            require(self.plain(e) == 1 and is_call(base, "Cos", "Sin") and len(arguments(base)) == 1)
            up, down = times("I", arguments(base)[0]), times(-1, "I", arguments(base)[0])
            half, other = (HALF, HALF) if is_call(base, "Cos") else (times(rational(-1, 2), "I"), times(HALF, "I"))
            found = [(times(c, f), plus(inner, way)) for c, inner in found for f, way in ((half, up), (other, down))]
        return plus(*(times(c, self.of_quadratic(inner)) for c, inner in found))

    def of_quadratic(self, exponent: Tree) -> Tree:
        """By its values at 1; that the exponent is of second degree is proved, on every branch."""
        first = differentiate(exponent, self.x)
        second, slope, start = (replace(one, self.x, 1) for one in (differentiate(first, self.x), first, exponent))
        a = self.plain(times(rational(-1, 2), second))
        b = minus(slope, second)
        c = minus(plus(start, a), b)
        require(self.same(exponent, plus(times(-1, a, power(self.x, 2)), times(b, self.x), c)))
        self.in_right_half(a)
        return times(power("Pi", HALF), power(a, rational(-1, 2)), power("E", plus(c, times(rational(1, 4), power(b, 2), power(a, -1)))))

    # From 0 to 1.

    def beta(self, factors: Factors) -> Tree:
        """x^(s - 1) (a - a x^m)^q Log[x]^k."""
        k, factors = self.logarithms(factors, self.x)
        p, rest = self.powers(factors)
        require(len(rest) == 1)
        a, c, m = self.binomial(rest[0][0])
        require(proves_zero(plus(a, c)))
        q, s = rest[0][1], self.plain(plus(p, 1))
        self.positive(a, m, s, plus(q, 1))
        over = times(EXPONENT, power(m, -1)) if m != 1 else EXPONENT
        return self.after_exponent(times(power(a, q), power(m, -1), ("Beta", over, plus(q, 1))), k, s)

    def lerch(self, factors: Factors) -> Tree:
        """x^(s - 1) Log[x]^k/(1 + x^m) and x^(s - 1) Log[x]^k/(1 - x^m), k > 0, by the geometric series."""
        k, factors = self.logarithms(factors, self.x)
        p, rest = self.powers(factors)
        require(len(rest) == 1 and rest[0][1] == -1 and k > 0)
        a, c, m = self.binomial(rest[0][0])
        s = self.plain(plus(p, 1))
        self.positive(m, s)
        require(a == 1 and c in (1, -1))
        start = times(s, power(m, -1))
        if c == -1:
            series: Tree = ("HurwitzZeta", k + 1, start)
        else:
            even, odd = times(HALF, start), times(HALF, plus(start, 1))
            series = times(rational(1, 2 ** (k + 1)), minus(("HurwitzZeta", k + 1, even), ("HurwitzZeta", k + 1, odd)))
        return times((-1) ** k, gamma_of(k + 1), power(m, -k - 1), series)

    def logarithm(self, factors: Factors) -> Tree:
        """Log[1 + c x^m]/x, c >= -1."""
        p, rest = self.powers(factors)
        require(p == -1 and len(rest) == 1 and rest[0][1] == 1 and is_call(rest[0][0], "Log") and len(arguments(rest[0][0])) == 1)
        a, c, m = self.binomial(arguments(rest[0][0])[0])
        require(a == 1 and (c == -1 or self.signs.of(plus(1, c)) == "+"))
        self.positive(m)
        return times(-1, power(m, -1), ("PolyLog", 2, times(-1, c)))

    # From 0 to Pi/2.

    def circular(self, factors: Factors) -> Tree:
        """Sin[x]^p Cos[x]^q Log[Sin[x]]^k."""
        k, factors = self.logarithms(factors, ("Sin", self.x))
        heads = {"Sin": (1, 0), "Cos": (0, 1), "Tan": (1, -1), "Cot": (-1, 1)}
        p: Tree = 0
        q: Tree = 0
        for base, e in factors:
            require(is_call(base, *heads) and arguments(base) == (self.x,))
            up, down = heads[str(base[0])]  # type: ignore[index]
            p, q = plus(p, times(up, e)), plus(q, times(down, e))
        first, second = self.plain(plus(p, 1)), self.plain(plus(q, 1))
        self.positive(first, second)
        return self.after_exponent(times(HALF, ("Beta", times(HALF, EXPONENT), times(HALF, second))), k, first)


def plain_product(node: Tree) -> Tree:
    """A multiple of one symbol as such."""
    names = free_symbols(node)
    name = next(iter(names)) if len(names) == 1 else ""
    p = polynomial(node, name) if name else None
    return times(rational(int(p[1].p), int(p[1].q)), name) if p is not None and p.degree() == 1 and p[0] == 0 else node


def gamma_of(at: Tree) -> Tree:
    """Gamma, of small whole numbers and halves of odd ones by factorials (DLMF 5.4.1, 5.4.6)."""
    value = rational_of(at)
    if value is None or not 0 < value < MAX_FACTORIAL or value.q > 2:
        return ("Gamma", at)
    start = value - int(value.floor()) if value.q == 2 else fmpq(1)
    product = fmpq(1)
    while start < value:
        product *= start
        start += 1
    return times(rational_tree(product), power("Pi", HALF) if value.q == 2 else 1)
