"""Task "sum": finite sums and products term by term, infinite ones by two accelerations, and tests for divergence."""
import itertools
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

import numeric
import sampling
import tree
from findings import agrees, refuted, undecided
from integrals import limits_of
from numeric import Environment, exact, number
from sampling import DIGITS, compare, show
from tree import is_call

MAX_TERMS = 4000


class Undetermined(Exception):
    """No trustworthy value was found."""


class Divergent(Exception):
    """The terms do not allow a finite value; sign is that of infinity, 0 where it has none."""

    def __init__(self, sign):
        super().__init__("divergent")
        self.sign = sign


def check(task, seed):
    ranges = task["ranges"]
    if any(len(r) == 1 for r in ranges):
        return indefinite(task, seed)
    if any(is_infinite(bound) for r in ranges for bound in r[1:]):
        return infinite(task, seed)
    return finite(task, seed)


def is_infinite(bound):
    return limits_of(bound) is not None


def call_of(task):
    """The finite sum as a tree that numeric can evaluate."""
    iterators = [("List", *r) for r in task["ranges"]]
    return ("Product" if task.get("product") else "Sum", task["term"], *iterators)


def tolerance(task):
    loose = sampling.tolerance_of(task["answer"])
    if task.get("approximate") or loose is not None:
        # Numerical summation promises about half of the working precision.
        digits = task.get("digits") or 0
        loose = mpf(10) ** (2 - digits) if digits > 16 else max(loose or 0, mpf(10) ** -9)
    return loose


def finite(task, seed):
    """Bounds that are numbers, or symbols that are given small integers."""
    ranges, answer = task["ranges"], task["answer"]
    bound = {r[0] for r in ranges}
    if tree.free_symbols(answer) & bound:
        return refuted("the answer depends on " + sorted(tree.free_symbols(answer) & bound)[0])
    in_bounds = set()
    for r in ranges:
        for limit in r[1:]:
            in_bounds |= tree.free_symbols(limit) - bound
    lows = set().union(set(), *(tree.free_symbols(r[1]) for r in ranges if len(r) > 2)) - bound
    free = (tree.free_symbols(task["term"]) | tree.free_symbols(answer)) - bound - in_bounds
    points = sampling.Points(free, sampling.Assumptions(task.get("assumptions", [])), seed)
    left = call_of(task)
    states, example = [], ""
    for round_ in range(8 if in_bounds else 3 if free else 1):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        for i, name in enumerate(sorted(in_bounds)):
            env = env.having(name, 1 + round_ % 3 if name in lows else 2 + round_ + i)
        result = compare(lambda: numeric.evaluate(left, env), lambda: numeric.evaluate(answer, env), tolerance=tolerance(task))
        states.append(result.state)
        if result.state == "different" and not example:
            example = show(result.difference)
    different, same = states.count("different"), states.count("equal") + states.count("near")
    if different and different >= 3 * same:
        return refuted(example)
    if same and not different:
        return agrees("0")
    return undecided("holds at some points only" if same else "no value")


def indefinite(task, seed):
    """F(k + 1) - F(k) = f(k), or the quotient for a product."""
    if len(task["ranges"]) > 1:
        return undecided("several indefinite indices")
    name, term, answer = task["ranges"][0][0], task["term"], task["answer"]
    points = sampling.Points(tree.free_symbols(term) | tree.free_symbols(answer), sampling.Assumptions(task.get("assumptions", [])), seed)
    points.assumptions.integers.add(name)
    states, example = [], ""
    for _ in range(8):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        k = env.values.get(name, 3)
        env = Environment({**env.values, name: k}, {}, {i: Fraction(1, 3) for i in tree.constants(answer)})
        after = env.having(name, k + 1)

        def step():
            f, g = numeric.evaluate(answer, after), numeric.evaluate(answer, env)
            return numeric.times(f, numeric.power(g, -1)) if task.get("product") else numeric.plus(f, numeric.times(-1, g))

        result = compare(step, lambda: numeric.evaluate(term, env))
        states.append(result.state)
        if result.state == "different" and not example:
            example = show(result.difference)
    if states.count("different") >= 6 and "equal" not in states:
        return refuted(example)
    return agrees("0") if states.count("equal") >= 4 and "different" not in states else undecided("holds at some points only")


def infinite(task, seed):
    if len(task["ranges"]) > 1 or len(task["ranges"][0]) != 3:
        return undecided("several infinite indices or a step")
    name, low, high = task["ranges"][0]
    term, answer = task["term"], task["answer"]
    if limits_of(low) is not None:
        if limits_of(low) != -1 or limits_of(high) not in (None, 1):
            return undecided("the ends")
        mirrored = tree.replace(term, name, ("Times", -1, name))
        if limits_of(high) == 1:
            # Both ends infinite: the term at 0 is shared out between k and -k.
            if task.get("product"):
                return undecided("both ends infinite")
            term, low = ("Plus", ("Times", term, halved(name)), ("Times", mirrored, halved(name))), 0
        else:
            # k -> -k turns {k, -Infinity, m} into {k, -m, Infinity}.
            term, low = mirrored, ("Times", -1, high)
    elif limits_of(high) != 1:
        return undecided("the upper end")
    free = (tree.free_symbols(term) | tree.free_symbols(answer) | tree.free_symbols(low)) - {name}
    if name in tree.free_symbols(answer):
        return refuted("the answer depends on " + name)
    conditions = list(task.get("assumptions", [])) + [n[2] for n in tree.walk(answer) if is_call(n, "ConditionalExpression")]
    outcomes = []
    for stretch in (0, 1):
        assumptions = sampling.Assumptions(conditions)
        points = sampling.Points(free, assumptions, seed + stretch)
        for _ in range(4 if free else 1):
            env = points.draw("positive")
            if env is None:
                continue
            if stretch:
                env = Environment({n: v + 2 if n not in assumptions.low and n not in assumptions.high else v for n, v in env.values.items()})
            elif free:
                # Within the circle of convergence of most power series.
                env = Environment({n: v / 8 if exact(v) and n not in assumptions.low and n not in assumptions.integers else v for n, v in env.values.items()})
            with mpmath.workdps(DIGITS):
                outcomes.append(compare_infinite(task, term, name, low, answer, env))
        decided = [o for o in outcomes if o[0] != "open"]
        if decided:
            break
    decided = [o for o in outcomes if o[0] != "open"]
    if decided and all(state == "different" for state, _ in decided):
        return refuted(decided[0][1])
    if decided and all(state == "same" for state, _ in decided):
        return agrees(decided[0][1])
    return undecided(outcomes[0][1] if outcomes else "no point")


def halved(name):
    """1, and 1/2 at 0."""
    return ("Plus", 1, ("Times", ("Rational", -1, 2), ("KroneckerDelta", name, 0)))


def compare_infinite(task, term, name, low, answer, env):
    start = numeric.whole(numeric.evaluate(low, env))
    if start is None:
        return "open", "the lower end is no integer"
    claimed_infinite = limits_of(answer)

    def at(k):
        return numeric.evaluate(term, env.having(name, k))

    try:
        true = product_value(at, start) if task.get("product") else series_value(at, start)
    except Divergent as divergent:
        if claimed_infinite is not None:
            return ("different" if divergent.sign * claimed_infinite == -1 else "same"), "divergent"
        if answer == "Indeterminate":
            return "same", "divergent"
        try:
            numeric.evaluate(answer, env)
        except numeric.problems():
            return "open", "divergent, and the answer has no value"
        # With free parameters the point may lie outside the region that the answer is meant for.
        return ("open" if env.values else "different"), "divergent"
    except (Undetermined, mpmath.libmp.NoConvergence, *numeric.problems()) as problem:
        return "open", str(problem)
    if claimed_infinite is not None:
        return "different", show(true)
    try:
        with mpmath.workdps(DIGITS):
            claimed = number(numeric.evaluate(answer, env))
    except numeric.problems():
        return "open", "the answer has no value"
    error = abs(true - claimed) / max(abs(true), abs(claimed), mpf(10) ** -10)
    # The value itself is good for 18 digits; a decimal answer for as many as it shows, less a few.
    same = max(tolerance(task) or 0, mpf(10) ** -16)
    if error <= same:
        return "same", show(true)
    return ("different" if error > 50 * same or error > mpf(10) ** -2 else "open"), show(true)


def product_value(at, start):
    """By the logarithms of the factors; a factor of zero makes zero, factors below one for ever make zero."""
    for k in range(start, start + 20):
        if at(k) == 0:
            return mpf(0)

    far = [number(at(10**k)) for k in (4, 8, 12)]
    if all(abs(x) < mpf("0.999") for x in far):
        return mpf(0)
    if all(abs(x) > mpf("1.001") for x in far):
        raise Divergent(0 if any(mpmath.re(x) < 0 for x in far) else 1)
    head = mpf(1)
    cut = start + 12
    for k in range(start, cut):
        head *= number(at(k))

    def logarithm(k):
        # A factor close to 1 loses as many digits as it has zeros behind the point.
        with mpmath.workdps(2 * mp.dps):
            return mpmath.log(number(at(k)))

    try:
        return head * mpmath.exp(series_value(logarithm, cut))
    except Divergent as divergent:
        if divergent.sign < 0:
            return mpf(0)
        raise


def series_value(at, start):
    """The sum of a series, decided by how its terms fall."""
    with mpmath.workdps(DIGITS):
        early = [number(at(start + k)) for k in range(40)]
        if all(term == 0 for term in early):
            raise Undetermined("terms vanish")
        ratio = ratio_far(at, start)
        if ratio is not None and ratio > mpf("1.0001"):
            raise Divergent(sign_of(early[-8:]))
        if ratio is not None and ratio < mpf("0.97"):
            return geometric(at, start, ratio)
        if alternating(early):
            return alternating_value(at, start)
        return power_law(at, start)


def sign_of(terms):
    if all(isinstance(t, mpf) and t > 0 for t in terms):
        return 1
    if all(isinstance(t, mpf) and t < 0 for t in terms):
        return -1
    return 0


def ratio_far(at, start):
    """|a(k+1)/a(k)|, as far out as terms can be had."""
    for k in (1000, 200, 60, 30):
        try:
            a, b = number(at(start + k)), number(at(start + k + 1))
            if a != 0 and mpmath.isfinite(a) and mpmath.isfinite(b):
                return abs(b / a)
        except numeric.problems():
            continue
    return None


def alternating(terms):
    tail = [t for t in terms[10:]]
    return all(isinstance(t, mpf) for t in tail) and all(s * t < 0 for s, t in itertools.pairwise(tail))


def geometric(at, start, ratio):
    total, k = mpf(0), start
    while k < start + MAX_TERMS:
        term = number(at(k))
        total += term
        k += 1
        if k > start + 20 and abs(term) < mpf(10) ** -36 * max(abs(total), mpf(10) ** -10):
            return total
    raise Undetermined("slow convergence")


def alternating_value(at, start):
    """The Cohen-Rodriguez Villegas-Zagier acceleration with two lengths."""
    terms = [number(at(start + 10 + k)) for k in range(60)]
    if abs(terms[-1]) >= abs(terms[0]):
        raise Divergent(0) if abs(terms[-1]) > mpf(10) ** -3 * max(1, abs(terms[0])) and not falls(terms) else Undetermined("terms do not fall")
    head = sum((number(at(start + k)) for k in range(10)), mpf(0))
    values = [head + cohen(terms, n) for n in (40, 56)]
    if abs(values[0] - values[1]) > mpf(10) ** -20 * max(1, abs(values[1])):
        raise Undetermined("two accelerations differ")
    return values[1]


def falls(terms):
    return abs(terms[-1]) < abs(terms[len(terms) // 2])


def cohen(terms, n):
    d = (3 + mpmath.sqrt(8)) ** n
    d = (d + 1 / d) / 2
    b, c, s = mpf(-1), -d, mpf(0)
    for k in range(n):
        c = b - c
        s += c * terms[k] * (1 if k % 2 == 0 else -1)
        b = (k + n) * (k - n) * b / ((k + mpf(1) / 2) * (k + 1))
    return s / d


def power_law(at, start):
    """Terms like k^-p: divergent for p <= 1; else Richardson's extrapolation, checked by Euler and Maclaurin."""
    samples = [number(at(10**k)) for k in (6, 9, 12)]
    if any(term == 0 for term in samples):
        raise Undetermined("terms vanish far out")
    orders = [float(mpmath.log(abs(a / b), 10) / 3) for a, b in itertools.pairwise(samples)]
    if any(isinstance(t, mpmath.mpc) for t in samples) or sign_of(samples) == 0:
        raise Undetermined("irregular terms")
    if orders[1] < 0.97 or (abs(orders[1] - 1) < 1e-6 and abs(orders[0] - 1) < 1e-3):
        raise Divergent(sign_of(samples))
    if orders[1] < 1.05 or abs(orders[1] - orders[0]) > 0.02:
        raise Undetermined("slow decay")
    values = []
    for base in (20, 30):
        values.append(tail_by_integral(at, start, base))
    if abs(values[0] - values[1]) > mpf(10) ** -18 * max(abs(values[1]), mpf(10) ** -6):
        raise Undetermined("two accelerations differ")
    return values[1]


def tail_by_integral(at, start, base):
    """Terms up to base, then Euler and Maclaurin's formula for the rest (DLMF 2.10.1)."""
    cut = start + base
    head = sum((number(at(k)) for k in range(start, cut)), mpf(0))
    f = lambda x: number(at(x))
    cuts = [mpf(cut), mpf(2 * cut), mpf(8 * cut), mpf(64 * cut), mpf("inf")]
    total = mpmath.quad(f, cuts) + f(mpf(cut)) / 2
    slopes = mpmath.taylor(f, mpf(cut), 15)
    for j in range(1, 9):
        total -= mpmath.bernoulli(2 * j) / (2 * j) * slopes[2 * j - 1]
    return head + total
