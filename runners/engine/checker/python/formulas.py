"""Task "truth": two conditions compared as truth functions, on chosen and random points."""
import itertools
from fractions import Fraction

import mpmath
from mpmath import mpf

import numeric
import polynomials
import sampling
import tree
from findings import agrees, proved, refuted, undecided
from numeric import Environment, exact, number
from sampling import DIGITS, show
from tree import Refused, is_call, walk

MAX_PROPOSITIONS = 12
RANDOM_POINTS = 40
MAX_POINTS = 400
FAMILY = range(-6, 7)
COMPARISONS = ("Equal", "Unequal", "Less", "LessEqual", "Greater", "GreaterEqual", "Inequality")


def check(task, seed):
    left, right = task["left"], task["right"]
    if task.get("propositional"):
        return truth_table(left, right)
    return Search(task, seed).run(left, right)


def truth_table(left, right):
    names = sorted(tree.free_symbols(left) | tree.free_symbols(right))
    if len(names) > MAX_PROPOSITIONS:
        return undecided("too many propositions")
    for row in itertools.product((False, True), repeat=len(names)):
        env = Environment(dict(zip(names, row)))
        if numeric.truth(left, env) != numeric.truth(right, env):
            return refuted(", ".join("%s=%s" % pair for pair in zip(names, row)), exact=True)
    return proved(True, "True")


class Search:
    def __init__(self, task, seed):
        self.task = task
        self.assumptions = sampling.Assumptions(task.get("assumptions", []))
        self.domain = task.get("domain") or "Complexes"
        self.unknowns = task.get("unknowns") or []
        self.seed = seed

    def run(self, left, right):
        constants = sorted(set(tree.constants(left)) | set(tree.constants(right)))
        if len(constants) > 2:
            return undecided("too many generated constants")
        self.constants = constants
        names = sorted(tree.free_symbols(left) | tree.free_symbols(right))
        if self.domain in sampling.INTEGER_DOMAINS:
            self.assumptions.integers.update(self.unknowns)
        self.names = names
        self.parameters = [name for name in names if name not in self.unknowns]
        self.points = sampling.Points(names, self.assumptions, self.seed)
        compared = 0
        for env in itertools.islice(self.environments(left, right), MAX_POINTS):
            first = self.truths(left, right, env, DIGITS)
            if first is None:
                continue
            compared += 1
            if first[0] != first[1] and self.truths(left, right, env, 2 * DIGITS) == first:
                where = ", ".join("%s=%s" % (name, show(value)) for name, value in sorted(env.values.items()) if isinstance(name, str))
                return refuted("%s: %s, %s" % (where, first[0], first[1]))
        return agrees("True") if compared >= (10 if names else 1) else undecided("too few points")

    def truths(self, left, right, env, digits):
        try:
            with mpmath.workdps(digits):
                if not self.assumptions.hold(env):
                    return None
                if self.domain != "Complexes" and not all(numeric.member(env.values[name], self.domain) for name in self.unknowns):
                    return None
                return self.truth(left, env), self.truth(right, env)
        except numeric.problems():
            return None

    def truth(self, node, env):
        """True where some choice of generated constants makes the condition true."""
        own = tree.constants(node)
        if not own:
            return numeric.truth(node, env)
        problem = None
        for choice in itertools.product(FAMILY, repeat=len(own)):
            try:
                if numeric.truth(node, Environment(env.values, {}, dict(zip(own, choice)))):
                    return True
            except numeric.problems() as no_value:
                problem = no_value
        if problem:
            raise problem
        return False

    def environments(self, left, right):
        """Special points first: where a comparison of either side is an equality, and a little beside it."""
        atoms = [part for side in (left, right) for part in walk(side) if is_call(part, *COMPARISONS)]
        bases = self.bases()
        for env in bases[:14]:
            for name in self.unknowns or self.names:
                if name in env.values:
                    for value in self.candidates(atoms, name, env):
                        for moved in self.beside(value):
                            at = env.having(name, moved)
                            yield at
                            for other in self.unknowns:
                                if other != name:
                                    for second in self.candidates(atoms, other, at)[:6]:
                                        yield at.having(other, second)
        yield from bases
        for _ in range(RANDOM_POINTS):
            env = self.points.draw("real")
            if env is not None:
                yield env

    def bases(self):
        """Environments with ordinary, then with special values of the parameters."""
        found = []
        for index in range(4):
            env = self.points.draw("positive" if index % 2 else "real")
            if env is not None:
                found.append(env)
        if not found:
            return []
        special = [0, 1, -1]
        for values in itertools.islice(itertools.product(special, repeat=min(len(self.parameters), 3)), 27):
            env = found[0]
            for name, value in zip(self.parameters, values):
                env = env.having(name, value)
            found.append(env)
        for value in (0, 1, -1, 2, -2, 3, -3, 5, -5, Fraction(1, 2), 10, -10):
            env = found[0]
            for name in self.unknowns or self.names:
                env = env.having(name, value)
            found.append(env)
        return found

    def beside(self, value):
        yield value
        if self.domain in sampling.INTEGER_DOMAINS:
            k = number(value)
            if abs(k) < 10**6 and mpmath.im(k) == 0:
                near = int(mpmath.nint(mpmath.re(k)))
                yield from (near, near + 1, near - 1)
        elif not isinstance(value, mpmath.mpc):
            shift = Fraction(1, 64)
            yield from ((value + shift, value - shift) if exact(value) else (value + mpf(1) / 64, value - mpf(1) / 64))

    def candidates(self, atoms, name, env):
        """Values of a symbol at which one of the comparisons is an equality."""
        found = []
        for atom in atoms:
            parts = atom[1::2] if atom[0] == "Inequality" else atom[1:]
            for a, b in zip(parts, parts[1:]):
                found += self.solutions(a, b, name, env)
        distinct = []
        for value in found:
            if not any(value == other for other in distinct):
                distinct.append(value)
        return distinct[:24]

    def solutions(self, a, b, name, env):
        constants = tree.constants(("List", a, b))
        values = []
        with mpmath.workdps(2 * DIGITS):
            for choice in itertools.product((0, 1, -1), repeat=len(constants)):
                at = Environment(env.values, {}, dict(zip(constants, choice)))
                try:
                    for side, other in ((a, b), (b, a)):
                        if side == name and name not in tree.free_symbols(other):
                            values.append(numeric.evaluate(other, at))
                            break
                    else:
                        if name in tree.free_symbols(a) | tree.free_symbols(b):
                            values += self.zeros(("Subtract", a, b), name, at)
                except (Refused, polynomials.NotPolynomial, mpmath.libmp.NoConvergence, *numeric.problems()):
                    continue
        return [clean(value) for value in values if not isinstance(value, (bool, list)) and mpmath.isfinite(number(value))]

    def zeros(self, node, name, env):
        try:
            top, bottom = polynomials.quotient(node, name, env)
            return polynomials.roots(top) + polynomials.roots(bottom)
        except polynomials.NotPolynomial:
            return scan(lambda x: numeric.real(numeric.evaluate(node, env.having(name, x))))


def clean(value):
    """A root whose imaginary part is a rounding error, as a real number; a near-integer as the integer."""
    if exact(value):
        return value
    value = number(value)
    if abs(mpmath.im(value)) < mpf(10) ** -DIGITS:
        value = mpmath.re(value)
        if abs(value - mpmath.nint(value)) < mpf(10) ** -DIGITS:
            return int(mpmath.nint(value))
    return value


def scan(function, low=-8, high=8, steps=160):
    """Real zeros by sign changes."""

    def value(x):
        try:
            return function(x)
        except numeric.problems():
            return None

    with mpmath.workdps(15):
        grid = [mpf(low) + mpf(high - low) * (i + mpf("0.37")) / steps for i in range(steps)]
        values = [value(x) for x in grid]
    found = []
    for (x, a), (y, b) in itertools.pairwise(zip(grid, values)):
        if a is not None and b is not None and a * b < 0 and len(found) < 12:
            try:
                found.append(mpmath.findroot(function, (x, y), solver="anderson", verify=False, maxsteps=60))
            except numeric.problems():
                continue
    return found
