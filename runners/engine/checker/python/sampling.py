"""Where to look: sample points under assumptions, and the two-precision comparison of two values at one point."""
import random
from fractions import Fraction

import mpmath
from mpmath import mpc, mpf

import numeric
import tree
from numeric import Environment, exact, number
from tree import Refused, is_call

DIGITS = 40  # the first precision; the second is twice that
ZERO = 20  # digits that must vanish for a zero
DIFFERENT = 8  # digits within which two values must differ to be told apart

INTEGER_DOMAINS = {"Integers", "PositiveIntegers", "NonNegativeIntegers", "NegativeIntegers", "Primes"}


class Assumptions:
    """What the input assumes of its symbols, as far as it helps to find points; every point is tested against all of it."""

    def __init__(self, conditions):
        self.conditions = list(flatten(conditions))
        self.integers, self.reals, self.given = set(), set(), {}
        self.low, self.high = {}, {}
        for condition in self.conditions:
            self.learn(condition)

    def learn(self, condition):
        if is_call(condition, "Element"):
            names = condition[1][1:] if is_call(condition[1], "Alternatives", "List") else (condition[1],)
            if condition[2] in INTEGER_DOMAINS:
                self.integers.update(names)
            elif condition[2] != "Complexes":
                self.reals.update(names)
            for name in names:
                if condition[2] in ("PositiveReals", "PositiveIntegers", "NonNegativeIntegers", "NonNegativeReals", "Primes"):
                    self.low[name] = Fraction(0)
                if condition[2] in ("NegativeReals", "NegativeIntegers"):
                    self.high[name] = Fraction(0)
        elif is_call(condition, "Equal") and len(condition) == 3:
            for name, other in ((condition[1], condition[2]), (condition[2], condition[1])):
                if isinstance(name, str) and name not in tree.CONSTANTS and name not in tree.free_symbols(other):
                    self.given[name] = other
                    break
        else:
            for low, high in strict_pairs(condition):
                for name, other, bounds in ((high, low, self.low), (low, high, self.high)):
                    name = name[1] if is_call(name, "Re") else name
                    if isinstance(name, str) and name not in tree.CONSTANTS:
                        self.reals.add(name)
                        try:
                            with mpmath.workdps(15):
                                bounds[name] = Fraction(float(numeric.real(numeric.evaluate(other)))).limit_denominator(1 << 20)
                        except (Refused, *numeric.problems()):
                            pass

    @property
    def named(self):
        """The symbols of which something is assumed."""
        return self.integers | self.reals | set(self.given) | set(self.low) | set(self.high)

    def hold(self, env):
        return all(numeric.truth(condition, env) for condition in self.conditions)


def flatten(conditions):
    for condition in conditions:
        if is_call(condition, "And", "List"):
            yield from flatten(condition[1:])
        elif condition != "True":
            yield condition


def strict_pairs(condition):
    """(smaller, larger) for every neighbouring pair of an inequality."""
    if is_call(condition, "Less", "LessEqual"):
        yield from zip(condition[1:], condition[2:])
    elif is_call(condition, "Greater", "GreaterEqual"):
        yield from ((b, a) for a, b in zip(condition[1:], condition[2:]))
    elif is_call(condition, "Inequality"):
        for a, op, b in zip(condition[1::2], condition[2::2], condition[3::2]):
            if op in ("Less", "LessEqual"):
                yield a, b
            elif op in ("Greater", "GreaterEqual"):
                yield b, a


class Points:
    """Sample points for some symbols, the same for the same plan every time."""

    def __init__(self, names, assumptions, seed):
        self.names, self.assumptions = sorted(names), assumptions
        self.random = random.Random(seed)
        self.natural = set()  # names that take either sign in the region "natural"

    def dyadic(self, low, high):
        return Fraction(self.random.randint(int(low * 256) + 1, max(int(low * 256) + 1, int(high * 256) - 1)), 256)

    def value(self, name, region):
        assumed = self.assumptions
        low, high = assumed.low.get(name), assumed.high.get(name)
        if name in assumed.integers:
            if low is None and high is None:
                return self.random.randint(1, 6) if region == "positive" else self.random.randint(-6, 6)
            start = (low.__floor__() if low is not None else high.__floor__() - 8)
            end = (high.__ceil__() if high is not None else start + 8)
            return self.random.randint(start, min(end, start + 12))
        if low is not None or high is not None:
            width = Fraction(3)
            low, high = (high - width if low is None else low), (low + width if high is None else high)
            return low + (high - low) * self.dyadic(0, 1)
        if region == "positive" or (region == "natural" and name not in self.natural):
            return self.dyadic(0, 1) if self.random.random() < 0.5 else self.dyadic(1, 3)
        if region in ("real", "natural") or name in assumed.reals:
            return self.dyadic(-3, 3) or Fraction(1, 3)
        return mpc(float(self.dyadic(-2, 2)), float(self.dyadic(-2, 2)))

    def draw(self, region):
        """One environment, or None where the assumptions cannot be met by chance."""
        for _ in range(60):
            values = {name: self.value(name, region) for name in self.names if name not in self.assumptions.given}
            env = Environment(values)
            try:
                with mpmath.workdps(DIGITS):
                    for name, expression in self.assumptions.given.items():
                        if name in self.names:
                            env = env.having(name, numeric.evaluate(expression, env))
                    if self.assumptions.hold(env):
                        return env
            except numeric.problems():
                continue
        return None


class Comparison:
    """How two values compare at one point."""

    def __init__(self, state, difference=None):
        self.state, self.difference = state, difference


def compare(left, right, digits=DIGITS, tolerance=None):
    """Compares two functions of nothing (evaluated at the working precision): equal, different, near or unknown.

    tolerance: relative; set where an answer is a decimal number. Then equal means within it and different means beyond
    a thousand times of it. Without one: equal to 20 digits, or different in the first 8 at both precisions.
    """
    try:
        with mpmath.workdps(digits):
            a, b = left(), right()
        pairs = matched(a, b)
    except numeric.problems():
        return Comparison("unknown")
    if pairs is None:
        return Comparison("shape")
    # Rounding errors are of the size of the largest entry, and of the terms that cancelled: never judged by themselves.
    floor = max([mpf(1)] + [abs(number(v)) for pair in pairs for v in pair if not isinstance(v, bool)]) if tolerance else 0
    states = []
    worst = None
    for index, (x, y) in enumerate(pairs):
        state, difference = compare_numbers(x, y, digits, tolerance, floor, lambda: again(left, right, 2 * digits, index))
        states.append(state)
        if state == "different":
            return Comparison("different", difference)
        if worst is None or abs(difference) > abs(worst):
            worst = difference
    for state in ("unknown", "near"):
        if state in states:
            return Comparison(state, worst)
    return Comparison("equal", worst if worst is not None else 0)


def again(left, right, digits, index):
    with mpmath.workdps(digits):
        return matched(left(), right())[index]


def matched(a, b):
    """The pairs of numbers at the same places of two nested lists; None where the lengths differ."""
    if isinstance(a, list) or isinstance(b, list):
        if not isinstance(a, list) or not isinstance(b, list):
            raise numeric.NoValue("a list and a number")  # a column and a vector, say: another way to write the same
        if len(a) != len(b):
            return None
        pairs = []
        for x, y in zip(a, b):
            inner = matched(x, y)
            if inner is None:
                return None
            pairs += inner
        return pairs
    return [(a, b)]


def compare_numbers(a, b, digits, tolerance, floor, higher):
    if isinstance(a, bool) or isinstance(b, bool):
        if not (isinstance(a, bool) and isinstance(b, bool)):
            return "unknown", 0
        return ("equal", 0) if a is b else ("different", 1)
    if exact(a) and exact(b):
        difference = a - b
        if difference == 0:
            return "equal", 0
        if tolerance and abs(difference) <= tolerance * floor:
            return "near", number(difference)
    with mpmath.workdps(digits):
        a, b = number(a), number(b)
        difference = a - b
        size = max(abs(a), abs(b), floor)
        if tolerance is not None:
            if abs(difference) <= tolerance * size:
                return "near", difference
            limit = 1000 * tolerance
        else:
            if abs(difference) <= size * mpf(10) ** -ZERO:
                return "equal", difference
            limit = mpf(10) ** -DIFFERENT
        suspicious = abs(difference) > size * limit
    if not suspicious and tolerance is not None:
        return "unknown", difference
    try:
        a2, b2 = higher()
    except numeric.problems():
        return "unknown", difference
    with mpmath.workdps(2 * digits):
        second = number(a2) - number(b2)
        if abs(second) <= mpf(10) ** (-digits) and abs(difference) <= mpf(10) ** (-digits * 3 // 4):
            return "equal", second
        if suspicious and abs(second - difference) <= mpf(10) ** -6 * abs(difference):
            return "different", second
    return "unknown", difference


def tolerance_of(*nodes):
    """The relative tolerance that the decimal numbers of an answer call for; None where there are none."""
    if tree.rounded_for_show(*nodes):
        return mpf(10) ** -5
    digits = [part.digits for node in nodes for part in tree.reals(node)]
    if not digits:
        return None
    return mpf(10) ** (-(min(digits) - 6)) if min(digits) > 8 else mpf(10) ** -2


def show(value, digits=10):
    if value is None:
        return ""
    if exact(value):
        return str(value)
    value = number(value)
    if isinstance(value, mpc) and value.imag == 0:
        value = value.real
    text = mpmath.nstr(value, digits).replace("j)", "*I)").replace("e-", "*^-").replace("e+", "*^")
    return text.strip("()") if not isinstance(value, mpc) else text
