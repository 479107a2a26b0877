"""Questions about probability distributions, as claims: the answer equals what the definition of the distribution gives.

Densities, distribution functions and factorial or raw moments are those of the NIST Digital Library (7.2, 8.17, 26.8) and of the NIST/SEMATECH Handbook
of Statistical Methods (1.3.6.6). Everything else is worked out from these: variances and the like from moments, probabilities from the distribution
function or, of a discrete distribution, from a finite sum, quantiles by putting them into the distribution function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from ..evaluation import EMPTY, evaluate, truth
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational, reals, replace, times
from ..univariate import polynomial
from ..values import Undecided, is_number, real_ball

HALF: Tree = ("Rational", 1, 2)
MAX_ORDER = 8
MAX_TERMS = 2000
X = "x$"


@dataclass(frozen=True)
class Distribution:
    """density and cumulative in x between low and high; moment: the raw moments, or of a discrete one the factorial ones."""

    conditions: list[Tree]
    low: Tree
    high: Tree
    density: Tree
    discrete: bool
    cumulative: Tree | None = None
    moment: Callable[[int], Tree] | None = None

    def raw(self, r: int) -> Tree:
        """E[x^r]."""
        if self.moment is None or not 0 <= r <= MAX_ORDER:
            raise Refused("moments")
        if not self.discrete or r == 0:
            return self.moment(r) if r else 1
        return plus(*(times(stirling(r, k), self.moment(k)) for k in range(1, r + 1)))

    def central(self, r: int) -> Tree:
        """E[(x - mean)^r]."""
        mean = self.raw(1)
        return plus(*(times(math.comb(r, j), self.raw(r - j), power(times(-1, mean), j)) if j else self.raw(r) for j in range(r + 1)))


def stirling(n: int, k: int) -> int:
    """Of the second kind."""
    terms: list[int] = [(-1) ** (k - j) * math.comb(k, j) * j**n for j in range(k + 1)]
    return sum(terms) // math.factorial(k)


def rising(a: Tree, k: int) -> Tree:
    return times(*(plus(a, j) if j else a for j in range(k))) if k else 1


def falling(a: Tree, k: int) -> Tree:
    return times(*(plus(a, -j) if j else a for j in range(k))) if k else 1


def quotient(a: Tree, b: Tree) -> Tree:
    return times(a, power(b, -1))


def root(a: Tree) -> Tree:
    return power(a, HALF)


def exp(a: Tree) -> Tree:
    return power("E", a)


def positive(*names: Tree) -> list[Tree]:
    return [("Greater", name, 0) for name in names]


def probability(p: Tree) -> list[Tree]:
    return [("Greater", p, 0), ("Less", p, 1)]


def whole(*names: Tree) -> list[Tree]:
    return [("Element", name, "Integers") for name in names]


INFINITY: Tree = "Infinity"
MINUS_INFINITY: Tree = ("Times", -1, "Infinity")


def normal(m: Tree = 0, s: Tree = 1) -> Distribution:
    z = quotient(minus(X, m), s)

    def moment(r: int) -> Tree:
        terms = [
            times(math.comb(r, 2 * j) * math.prod(range(1, 2 * j, 2)), power(s, 2 * j) if j else 1, power(m, r - 2 * j) if r > 2 * j else 1)
            for j in range(r // 2 + 1)
        ]
        return plus(*terms)

    density = times(exp(times(rational(-1, 2), power(z, 2))), power(times(s, root(times(2, "Pi"))), -1))
    return Distribution(positive(s), MINUS_INFINITY, INFINITY, density, False, times(HALF, plus(1, ("Erf", quotient(z, root(2))))), moment)


def uniform(ends: Tree = ("List", 0, 1)) -> Distribution:
    a, b = pair(ends)

    def moment(r: int) -> Tree:
        return times(rational(1, r + 1), plus(*(times(power(a, j) if j else 1, power(b, r - j) if r > j else 1) for j in range(r + 1))))

    width = minus(b, a)
    return Distribution([("Less", a, b)], a, b, power(width, -1), False, quotient(minus(X, a), width), moment)


def exponential(rate: Tree) -> Distribution:
    fall = exp(times(-1, rate, X))
    return Distribution(positive(rate), 0, INFINITY, times(rate, fall), False, minus(1, fall), lambda r: times(math.factorial(r), power(rate, -r)))


def gamma(a: Tree, b: Tree) -> Distribution:
    density = times(power(X, plus(a, -1)), exp(times(-1, quotient(X, b))), power(times(("Gamma", a), power(b, a)), -1))
    cumulative = minus(1, quotient(("Gamma", a, quotient(X, b)), ("Gamma", a)))
    return Distribution(positive(a, b), 0, INFINITY, density, False, cumulative, lambda r: times(power(b, r), rising(a, r)))


def chi_square(n: Tree) -> Distribution:
    found = gamma(times(HALF, n), 2)
    return Distribution(positive(n), found.low, found.high, found.density, False, found.cumulative, found.moment)


def beta(a: Tree, b: Tree) -> Distribution:
    density = times(power(X, plus(a, -1)), power(minus(1, X), plus(b, -1)), power(("Beta", a, b), -1))
    return Distribution(positive(a, b), 0, 1, density, False, None, lambda r: quotient(rising(a, r), rising(plus(a, b), r)))


def cauchy(a: Tree = 0, b: Tree = 1) -> Distribution:
    z = quotient(minus(X, a), b)
    density = power(times("Pi", b, plus(1, power(z, 2))), -1)
    return Distribution(positive(b), MINUS_INFINITY, INFINITY, density, False, plus(HALF, quotient(("ArcTan", z), "Pi")))


def student(n: Tree) -> Distribution:
    density = times(
        ("Gamma", times(HALF, plus(n, 1))),
        power(times(root(times(n, "Pi")), ("Gamma", times(HALF, n))), -1),
        power(plus(1, quotient(power(X, 2), n)), times(rational(-1, 2), plus(n, 1))),
    )

    def moment(r: int) -> Tree:
        require_true(("Greater", n, r))  # no others exist
        if r % 2:
            return 0
        k = r // 2
        return quotient(times(power(n, k), math.prod(range(1, 2 * k, 2))), times(*(plus(n, -2 * j) for j in range(1, k + 1))))

    return Distribution(positive(n), MINUS_INFINITY, INFINITY, density, False, None, moment)


def weibull(a: Tree, b: Tree) -> Distribution:
    z = quotient(X, b)
    density = times(quotient(a, b), power(z, plus(a, -1)), exp(times(-1, power(z, a))))
    cumulative = minus(1, exp(times(-1, power(z, a))))
    return Distribution(positive(a, b), 0, INFINITY, density, False, cumulative, lambda r: times(power(b, r), ("Gamma", plus(1, quotient(r, a)))))


def log_normal(m: Tree, s: Tree) -> Distribution:
    z = quotient(minus(("Log", X), m), s)
    density = times(exp(times(rational(-1, 2), power(z, 2))), power(times(X, s, root(times(2, "Pi"))), -1))
    cumulative = times(HALF, plus(1, ("Erf", quotient(z, root(2)))))
    return Distribution(positive(s), 0, INFINITY, density, False, cumulative, lambda r: exp(plus(times(r, m), times(rational(r * r, 2), power(s, 2)))))


def bernoulli(p: Tree) -> Distribution:
    return binomial(1, p)


def binomial(n: Tree, p: Tree) -> Distribution:
    density = times(("Binomial", n, X), power(p, X), power(minus(1, p), minus(n, X)))
    return Distribution([*whole(n), *positive(n), *probability(p)], 0, n, density, True, None, lambda k: times(falling(n, k), power(p, k)))


def poisson(m: Tree) -> Distribution:
    density = times(exp(times(-1, m)), power(m, X), power(("Factorial", X), -1))
    return Distribution(positive(m), 0, INFINITY, density, True, None, lambda k: power(m, k))


def geometric(p: Tree) -> Distribution:
    return negative_binomial(1, p)


def negative_binomial(n: Tree, p: Tree) -> Distribution:
    density = times(("Binomial", plus(n, X, -1), X), power(p, n), power(minus(1, p), X))
    ratio = quotient(minus(1, p), p)
    return Distribution([*whole(n), *positive(n), *probability(p)], 0, INFINITY, density, True, None, lambda k: times(rising(n, k), power(ratio, k)))


def discrete_uniform(ends: Tree) -> Distribution:
    a, b = pair(ends)
    if not isinstance(a, int) or not isinstance(b, int) or not a <= b <= a + MAX_TERMS:
        raise Refused("the ends")
    values = range(a, b + 1)

    def moment(k: int) -> Tree:
        return rational(sum(math.prod(x - j for j in range(k)) for x in values), len(values))

    return Distribution([], a, b, rational(1, len(values)), True, None, moment)


def hypergeometric(n: Tree, good: Tree, total: Tree) -> Distribution:
    if not all(isinstance(part, int) for part in (n, good, total)):
        raise Refused("whole numbers")
    density = times(("Binomial", good, X), ("Binomial", minus(total, good), minus(n, X)), power(("Binomial", total, n), -1))
    conditions: list[Tree] = [*positive(n, good), ("LessEqual", n, total), ("LessEqual", good, total)]
    return Distribution(conditions, 0, n, density, True, None, lambda k: quotient(times(falling(n, k), falling(good, k)), falling(total, k)))


KNOWN: dict[str, tuple[Callable[..., Distribution], int, int]] = {
    "NormalDistribution": (normal, 0, 2),
    "UniformDistribution": (uniform, 0, 1),
    "ExponentialDistribution": (exponential, 1, 1),
    "GammaDistribution": (gamma, 2, 2),
    "ChiSquareDistribution": (chi_square, 1, 1),
    "BetaDistribution": (beta, 2, 2),
    "CauchyDistribution": (cauchy, 0, 2),
    "StudentTDistribution": (student, 1, 1),
    "WeibullDistribution": (weibull, 2, 2),
    "LogNormalDistribution": (log_normal, 2, 2),
    "BernoulliDistribution": (bernoulli, 1, 1),
    "BinomialDistribution": (binomial, 2, 2),
    "PoissonDistribution": (poisson, 1, 1),
    "GeometricDistribution": (geometric, 1, 1),
    "NegativeBinomialDistribution": (negative_binomial, 2, 2),
    "DiscreteUniformDistribution": (discrete_uniform, 1, 1),
    "HypergeometricDistribution": (hypergeometric, 3, 3),
}


def pair(ends: Tree) -> tuple[Tree, Tree]:
    parts = arguments(ends)
    if not is_call(ends, "List") or len(parts) != 2:
        raise Refused("the ends")
    return parts[0], parts[1]


def read(node: Tree) -> Distribution:
    """The distribution that a tree names; conditions on numbers must hold."""
    make, least, most = KNOWN.get(node[0], (None, 0, 0)) if isinstance(node, tuple) and isinstance(node[0], str) else (None, 0, 0)
    parts = arguments(node)
    if make is None or not least <= len(parts) <= most or (make in (normal, cauchy) and len(parts) == 1):
        raise Refused("a distribution")
    if any(reals(part) or is_call(part, "List") != (make in (uniform, discrete_uniform)) for part in parts):
        raise Refused("a distribution")
    found = make(*parts)
    for condition in found.conditions:
        if not free_symbols(condition):
            require_true(condition)
    return found


def require_true(condition: Tree) -> None:
    if free_symbols(condition) or truth(condition, EMPTY) is not True:
        raise Refused("parameters of that kind")


def claims(task: dict[str, Any]) -> dict[str, Any]:
    """The task of identities for a question. task: what (the function), args, answer."""
    try:
        return claims_of(task)
    except (Refused, Undecided) as problem:
        raise Refused(str(task["what"])) from problem  # it is the form of the question that is not known


def claims_of(task: dict[str, Any]) -> dict[str, Any]:
    what, args, answer = str(task["what"]), list(task["args"]), task["answer"]
    symbols = free_symbols(("List", *args))
    if any(reals(part) for part in (*args, answer)):
        raise Refused("decimals")
    if what in ("Probability", "Expectation"):
        x, named = distributed(args[1])
        known = read(named)
        symbols -= {x}
        left = of_event(known, args[0], x) if what == "Probability" else expectation(known, args[0], x)
        claim = (left, answer)
    else:
        known = read(args[0])
        claim = of_quantile(known, args[1:] or [HALF], answer) if what in QUANTILES else (ASKED[what](known, *args[1:]), answer)
    conditions = [condition for condition in known.conditions if free_symbols(condition)]
    conditions += [("Element", name, "Reals") for name in sorted(symbols)]  # parameters and places of distributions are real
    return {"kind": "identities", "claims": [list(claim)], "assumptions": [*conditions, *(task.get("assumptions") or [])]}


def distributed(node: Tree) -> tuple[str, Tree]:
    parts = arguments(node)
    if not is_call(node, "Distributed") or len(parts) != 2 or not isinstance(parts[0], str):
        raise Refused("Distributed")
    return parts[0], parts[1]


def inside(known: Distribution, place: Tree) -> bool:
    """Whether a number is proved to lie between the ends, or not to; Undecided where neither."""
    found = truth(("And", ("GreaterEqual", place, known.low), ("LessEqual", place, known.high)), EMPTY)
    if not isinstance(found, bool):
        raise Refused("a place")
    return found


def unbounded(known: Distribution) -> bool:
    return not known.discrete and known.low == MINUS_INFINITY and known.high == INFINITY


def density_at(known: Distribution, place: Tree) -> Tree:
    if unbounded(known):
        return replace(known.density, X, place)
    number = evaluate(place) if not free_symbols(place) else None
    if not isinstance(number, fmpq) or free_symbols(("List", known.low, known.high)):
        raise Refused("a place")
    if not known.discrete:
        if number in (evaluate(known.low), evaluate(known.high)):
            raise Refused("an end")  # where the density is is a convention
        return replace(known.density, X, place) if inside(known, place) else 0
    return replace(known.density, X, place) if number.q == 1 and inside(known, place) else 0


def cumulative_at(known: Distribution, place: Tree) -> Tree:
    if unbounded(known) and known.cumulative is not None:
        return replace(known.cumulative, X, place)
    number = evaluate(place) if not free_symbols(place) else None
    if not isinstance(number, fmpq):
        raise Refused("a place")
    if known.discrete:
        return total(known, int(number.floor()))
    if truth(("LessEqual", place, known.low), EMPTY) is True:
        return 0
    if truth(("GreaterEqual", place, known.high), EMPTY) is True:
        return 1
    if known.cumulative is None or not inside(known, place):
        raise Refused("a place")
    return replace(known.cumulative, X, place)


def total(known: Distribution, last: int) -> Tree:
    """The probability of all whole numbers up to the last one."""
    if not isinstance(known.low, int) or last - known.low > MAX_TERMS or not (isinstance(known.high, int) or known.high == INFINITY):
        raise Refused("a long sum")
    end = min(last, known.high) if isinstance(known.high, int) else last
    terms = [replace(known.density, X, k) for k in range(known.low, end + 1)]
    return plus(*terms) if terms else 0


def survival(known: Distribution, place: Tree) -> Tree:
    return minus(1, cumulative_at(known, place))


def hazard(known: Distribution, place: Tree) -> Tree:
    if known.discrete:
        raise Refused("a discrete distribution")
    return quotient(density_at(known, place), survival(known, place))


def order_of(node: Tree) -> int:
    if not isinstance(node, int) or not 0 <= node <= MAX_ORDER:
        raise Refused("an order")
    return node


ASKED: dict[str, Callable[..., Tree]] = {
    "PDF": density_at,
    "CDF": cumulative_at,
    "SurvivalFunction": survival,
    "HazardFunction": hazard,
    "Mean": lambda known: known.raw(1),
    "Variance": lambda known: known.central(2),
    "StandardDeviation": lambda known: root(known.central(2)),
    "Skewness": lambda known: times(known.central(3), power(known.central(2), rational(-3, 2))),
    "Kurtosis": lambda known: times(known.central(4), power(known.central(2), -2)),
    "Moment": lambda known, r: known.raw(order_of(r)),
    "CentralMoment": lambda known, r: known.central(order_of(r)),
}
QUANTILES = ("InverseCDF", "Quantile", "Median")


def of_quantile(known: Distribution, order: list[Tree], answer: Tree) -> tuple[Tree, Tree]:
    """That the distribution function, which grows between the ends, has the value there."""
    if known.discrete or known.cumulative is None or free_symbols(order[0]):
        raise Refused("a quantile")
    require_true(("And", ("Greater", order[0], 0), ("Less", order[0], 1)))
    if not is_real(answer) or (not unbounded(known) and (free_symbols(answer) or not inside(known, answer))):
        raise Refused("a quantile")
    return replace(known.cumulative, X, answer), order[0]


def is_real(node: Tree) -> bool:
    """Whether a number is real, or a polynomial of symbols, which are."""
    if not free_symbols(node):
        value = evaluate(node)
        return is_number(value) and real_ball(value) is not None
    if isinstance(node, str):
        return True
    parts = arguments(node)
    if is_call(node, "Power"):
        return isinstance(parts[1], int) and parts[1] > 0 and is_real(parts[0])
    return is_call(node, "Plus", "Times") and all(map(is_real, parts))


def expectation(known: Distribution, node: Tree, x: str) -> Tree:
    """Of a polynomial with rational coefficients."""
    if free_symbols(node) - {x}:
        raise Refused("an expectation")
    p = polynomial(node, x)
    if p is None:
        raise Refused("an expectation")
    return plus(*(times(("Rational", int(p[r].p), int(p[r].q)), known.raw(r)) for r in range(p.degree() + 1) if p[r] != 0))


@dataclass(frozen=True)
class Interval:
    """Of numbers; None where there is no end."""

    low: Tree | None = None
    high: Tree | None = None
    has_low: bool = True
    has_high: bool = True


def interval(event: Tree, x: str) -> Interval:
    """The numbers at which a comparison of the variable with numbers is true."""
    parts, relation = arguments(event), event[0] if isinstance(event, tuple) else ""
    if is_call(event, "Inequality") and len(parts) == 5 and parts[2] == x:
        left, right = interval((parts[1], parts[0], x), x), interval((parts[3], x, parts[4]), x)
        return joined(left, right)
    if is_call(event, "Less", "LessEqual", "Greater", "GreaterEqual") and len(parts) == 3 and parts[1] == x:
        return joined(interval((relation, parts[0], x), x), interval((relation, x, parts[2]), x))
    if len(parts) != 2 or (parts[0] == x) == (parts[1] == x) or any(free_symbols(part) for part in parts if part != x):
        raise Refused("an event")
    number = parts[1] if parts[0] == x else parts[0]
    if is_call(event, "Equal"):
        return Interval(number, number)
    if not is_call(event, "Less", "LessEqual", "Greater", "GreaterEqual"):
        raise Refused("an event")
    closed = is_call(event, "LessEqual", "GreaterEqual")
    below = is_call(event, "Less", "LessEqual") == (parts[0] == x)
    return Interval(high=number, has_high=closed) if below else Interval(low=number, has_low=closed)


def joined(a: Interval, b: Interval) -> Interval:
    if a.low is None and b.high is None:
        a, b = b, a
    if a.low is None or b.high is None or a.high is not None or b.low is not None:
        raise Refused("an event")
    require_true(("Less", a.low, b.high))
    return Interval(a.low, b.high, a.has_low, b.has_high)


def of_event(known: Distribution, event: Tree, x: str) -> Tree:
    """The probability of a comparison of the variable with numbers."""
    found = interval(event, x)
    if not known.discrete:
        if found.low is not None and found.low == found.high:
            return 0
        above, below = (None if end is None else cumulative_at(known, end) for end in (found.high, found.low))
        return minus(1 if above is None else above, 0 if below is None else below)
    last = None if found.high is None else whole_below(found.high, found.has_high)
    before = None if found.low is None else whole_below(found.low, not found.has_low)
    return minus(1 if last is None else total(known, last), 0 if before is None else total(known, before))


def whole_below(end: Tree, included: bool) -> int:
    """The last whole number up to an end."""
    number = evaluate(end)
    if not isinstance(number, fmpq):
        raise Refused("a place")
    return int(number.floor()) if included or number.q != 1 else int(number.floor()) - 1
