"""Task "roots": solutions put into the equations they are said to solve, and a search for solutions left out."""
import itertools

import mpmath
from mpmath import mp, mpc, mpf

import numeric
import polynomials
import sampling
import tree
from findings import agrees, proved, proved_by_numbers, refuted, undecided
from numeric import Environment, Unequal, exact, number
from sampling import DIGITS, show
from tree import Refused, is_call, walk

MAX_SOLUTIONS = 200
FAMILY = range(-8, 9)  # the values of generated constants that are tried
SEARCH = 10  # real roots are searched in [-SEARCH, SEARCH]


def check(task, seed):
    problem = Problem(task, seed)
    if len(problem.solutions) > MAX_SOLUTIONS:
        return undecided("too many solutions")
    states = []
    for env in problem.environments():
        states.append(problem.substituted(env))
    if not states:
        return undecided("assumptions cannot be met")
    for index in range(len(problem.solutions)):
        verdicts = [state[index] for state in states]
        bad = [v for v in verdicts if v[0] == "different"]
        # Without parameters one failing member of a family is enough; with them a solution may be meant for some values only.
        always = len(bad) == sum(v[0] in ("equal", "near", "different") for v in verdicts)
        if bad and (always or not problem.parameters):
            return refuted(show(bad[0][1]) if bad[0][1] is not None else "no solution")
    flat = [v[0] for state in states for v in state]
    if task.get("complete"):
        missing = problem.missing()
        if missing.found is not None and missing.certain:
            return refuted("missing " + missing.found)
    else:
        missing = Missing(searched=True)
    if any(state not in ("equal", "near", "absent") for state in flat):
        return undecided("holds at some points only")
    if missing.found is not None:
        return undecided("another solution: " + missing.found)
    if not problem.solutions or all(state == "absent" for state in flat):
        if missing.exhaustive:
            return proved(False, "{}")
        return agrees("{}") if missing.searched else undecided("nothing to substitute")
    if "near" in flat or task.get("approximate"):
        return agrees("0.")
    if "absent" in flat and "equal" not in flat:
        return undecided("no solution applies")
    pairs = problem.exact_pairs()
    return proved_by_numbers(pairs, problem.assumptions) if pairs else proved(False)


class Missing:
    """The outcome of the search for solutions that the answer leaves out."""

    def __init__(self, found=None, certain=False, exhaustive=False, searched=False):
        self.found, self.certain, self.exhaustive, self.searched = found, certain, exhaustive, searched


class Problem:
    def __init__(self, task, seed):
        self.task = task
        self.conditions = list(sampling.flatten(task["conditions"]))
        self.unknowns = task["unknowns"]
        self.solutions = [dict(zip(s["names"], s["values"])) for s in task["solutions"]]
        self.domain = task.get("domain", "Complexes")
        self.approximate = bool(task.get("approximate"))
        self.assumptions = sampling.Assumptions(task.get("assumptions", []))
        values = [value for solution in self.solutions for value in solution.values()]
        names = set().union(set(), *(tree.free_symbols(node) for node in self.conditions + values))
        self.parameters = sorted(names - set(self.unknowns))
        self.constants = sorted({k for value in values for k in tree.constants(value)})
        self.points = sampling.Points(self.parameters, self.assumptions, seed)
        self.equations = [c for c in self.conditions if is_call(c, "Equal")]
        self.others = [c for c in self.conditions if not is_call(c, "Equal")]
        self.digits = min([part.digits for value in values for part in tree.reals(value)] or [16])
        self.cached = None

    def environments(self):
        """Values for parameters, free unknowns and generated constants."""
        if self.cached is None:
            self.cached = []
            free = [u for u in self.unknowns if any(u not in s for s in self.solutions)]
            regions = ["positive"] * 3 + ["real"] * 2
            if self.domain == "Complexes":
                regions += ["complex"] * 2
            if not self.parameters and not free and not self.constants:
                regions = ["positive"]
            for index, region in enumerate(regions):
                env = self.points.draw(region)
                if env is None:
                    continue
                for name in free:
                    env = env.having(name, self.points.value(name, region))
                env = Environment(env.values, {}, {k: (index, -index)[k % 2] % 5 - 1 for k in self.constants})
                self.cached.append(env)
        return self.cached

    def substituted(self, env):
        """For each solution (state, residual): equal, near, different, absent (its condition is false) or unknown."""
        return [self.substitute(solution, env) for solution in self.solutions]

    def bound(self, solution, env):
        """The environment with the unknowns at their values; NoValue (Unequal) where a condition says no."""
        values = {name: numeric.evaluate(value, env) for name, value in solution.items()}
        for value in values.values():
            if isinstance(value, (list, bool)):
                raise Refused("solution")
        return Environment({**env.values, **values}, env.functions, env.constants), values

    def substitute(self, solution, env):
        try:
            with mpmath.workdps(DIGITS):
                at, values = self.bound(solution, env)
                if self.outside(values):
                    return "different", None
        except Unequal:
            return "absent", None
        except numeric.problems():
            return "unknown", None
        if self.approximate or any(tree.reals(value) for value in solution.values()):
            return self.approximately(solution, env)
        worst = ("equal", 0)
        for equation in self.equations:
            for left, right in zip(equation[1:], equation[2:]):
                result = self.residual(left, right, solution, env)
                if result[0] == "different":
                    return result
                if result[0] != "equal":
                    worst = result
        for condition in self.others:
            try:
                with mpmath.workdps(DIGITS):
                    if not numeric.truth(condition, at):
                        return "different", None
            except numeric.problems():
                worst = ("unknown", None)
        return worst

    def outside(self, values):
        if self.domain == "Complexes":
            return False
        return not all(numeric.member(value, self.domain) for value in values.values())

    def residual(self, left, right, solution, env):
        """left - right at the solution, judged against the size of the terms it is made of."""

        def both(digits):
            with mpmath.workdps(digits):
                at, _ = self.bound(solution, env)
                a, b = numeric.evaluate(left, at), numeric.evaluate(right, at)
                if isinstance(a, (bool, list)) or isinstance(b, (bool, list)):
                    raise Refused("equation")
                size = max(terms_size(left, at), terms_size(right, at))
                return numeric.plus(a, numeric.times(-1, b)), size

        try:
            difference, size = both(DIGITS)
            if difference == 0:
                return "equal", 0
            if exact(difference):
                return "different", difference
            if abs(difference) <= size * mpf(10) ** (-DIGITS * 3 // 5):
                return "equal", difference
            second, size2 = both(2 * DIGITS)
        except Unequal:
            return "absent", None
        except numeric.problems():
            return "unknown", None
        with mpmath.workdps(2 * DIGITS):
            second = number(second)
            if abs(second) <= size2 * mpf(10) ** (-DIGITS):
                return "equal", second
            # A zero of a function like Cos: the value is all rounding error, and falls with it.
            if abs(difference) <= mpf(10) ** (-DIGITS * 3 // 5) and abs(second) <= mpf(10) ** (-DIGITS * 6 // 5):
                return "equal", second
            if abs(second) > size2 * mpf(10) ** -10 and abs(second - difference) <= mpf(10) ** -6 * abs(second):
                return "different", second
        return "unknown", difference

    def approximately(self, solution, env):
        """Judges a decimal root by the Newton step that would correct it."""
        with mpmath.workdps(DIGITS):
            try:
                at, values = self.bound(solution, env)
                names = [name for name in self.unknowns if name in values]
                functions = [self.difference(equation, i) for equation in self.equations for i in range(1, len(equation) - 1)]
                size = max([mpf(1)] + [abs(number(v)) for v in values.values()])
                step = newton_step(functions, names, at)
                for condition in self.others:
                    if not numeric.truth(condition, at):
                        return ("different", None) if step is not None and step < size * mpf(10) ** -6 else ("unknown", None)
            except numeric.problems():
                return "unknown", None
            if step is None:
                residual = max(abs(f(at)) for f in functions)
                scale = max(terms_size(part, at) for equation in self.equations for part in equation[1:])
                if residual <= scale * mpf(10) ** (-self.digits / 2):
                    return "near", residual
                return ("different", residual) if residual > scale * mpf(10) ** -4 else ("unknown", residual)
            digits = self.digits / 4 if self.digits < 20 else self.digits / 3
            if step > size * mpf(10) ** (-digits):
                return "different", max((f(at) for f in functions), key=abs)
            return ("near", step) if step <= size * mpf(10) ** (-digits - 1) else ("unknown", step)

    def difference(self, equation, i):
        return lambda env: number(numeric.evaluate(equation[i], env)) - number(numeric.evaluate(equation[i + 1], env))

    def exact_pairs(self):
        """What an exact proof would have to show; nothing where substitution alone does not say it."""
        if self.constants or len(self.solutions) > 8 or self.others or self.domain != "Complexes":
            return []
        pairs = []
        for solution in self.solutions:
            if any(is_call(value, "ConditionalExpression", "Root") for value in solution.values()):
                return []
            for equation in self.equations:
                sides = list(equation[1:])
                for name, value in solution.items():
                    sides = [tree.replace(side, name, value) for side in sides]
                pairs += zip(sides, sides[1:])
        return pairs

    # The search for what is missing.

    def known(self, env):
        """All values of the answer in an environment, generated constants running through FAMILY."""
        found = []
        for solution in self.solutions:
            own = sorted({k for value in solution.values() for k in tree.constants(value)})
            if len(own) > 1:
                raise Refused("two generated constants")
            for choice in itertools.product(FAMILY, repeat=len(own)):
                at = Environment(env.values, {}, dict(zip(own, choice)))
                try:
                    _, values = self.bound(solution, at)
                except numeric.problems():
                    continue
                found.append(values)
        return found

    def missing(self):
        if any(set(solution) != set(self.unknowns) for solution in self.solutions):
            return Missing()
        try:
            found = Missing()
            if len(self.unknowns) == 1 and len(self.equations) == 1 and len(self.equations[0]) == 3:
                found = self.missing_single()
            if self.domain in sampling.INTEGER_DOMAINS and not found.exhaustive:
                return found if self.parameters or self.constants else self.missing_integers()
            if found.searched or found.found is not None or len(self.unknowns) == 1:
                return found
            if not self.parameters and len(self.equations) == len(self.unknowns) <= 3 and not self.constants:
                return self.missing_system()
        except (Refused, mpmath.libmp.NoConvergence, *numeric.problems()):
            pass
        return Missing()

    def missing_integers(self):
        """Every integer point of a small box."""
        reach = {1: 60, 2: 12, 3: 4}.get(len(self.unknowns))
        if reach is None:
            return Missing()
        known = self.known(self.environments()[0])
        for point in itertools.product(range(-reach, reach + 1), repeat=len(self.unknowns)):
            values = dict(zip(self.unknowns, point))
            at = Environment(values)
            try:
                solves = all(numeric.truth(condition, at) for condition in self.conditions) and not self.outside(values)
            except numeric.problems():
                continue
            if solves and not any(all(self.same(values[n], other[n]) for n in self.unknowns) for other in known):
                return Missing(", ".join(map(str, point)), True)
        return Missing(searched=True)

    def missing_single(self):
        outcomes = [self.missing_at(env) for env in self.environments()[: 3 if self.parameters else 1]]
        if not outcomes:
            return Missing()
        if all(outcome.found is not None for outcome in outcomes):
            return outcomes[0]
        if any(outcome.found is not None for outcome in outcomes):
            return Missing()
        return outcomes[0]

    def missing_at(self, env):
        name, equation = self.unknowns[0], self.equations[0]
        with mpmath.workdps(DIGITS):
            known = [values[name] for values in self.known(env)]
            try:
                top, bottom = polynomials.quotient(("Subtract", equation[1], equation[2]), name, env)
                candidates = polynomials.roots(top)
                certain = exhaustive = True
            except polynomials.NotPolynomial:
                if self.parameters:
                    return Missing()
                candidates = self.real_roots(name, env)
                certain = bool(self.constants) or not self.solutions or self.algebraic(name) or self.bounded(name)
                exhaustive = False
            for candidate in candidates:
                if self.applies(name, candidate, env) and not any(self.same(candidate, value) for value in known):
                    return Missing(show(candidate), certain)
            return Missing(exhaustive=exhaustive, searched=True)

    def bounded(self, name):
        """Whether the conditions keep the unknown between two numbers: then an answer claims to be complete."""
        learnt = sampling.Assumptions(self.others)
        return name in learnt.low and name in learnt.high

    def algebraic(self, name):
        """Whether the unknown stands under nothing but roots, powers and absolute values."""
        parts = [part for equation in self.equations for part in walk(equation)]
        plain = {"Plus", "Times", "Power", "Sqrt", "Subtract", "Minus", "Divide", "Equal", "Rational", "Abs", "CubeRoot", "Surd"}
        for part in parts:
            if isinstance(part, tuple) and any(piece == name for piece in walk(part)):
                if part[0] not in plain or (part[0] == "Power" and any(piece == name for piece in walk(part[2]))):
                    return False
        return True

    def same(self, a, b):
        a, b = number(a), number(b)
        near = mpf(10) ** (-5 if self.approximate or self.digits < 16 else -12)
        if any(tree.reals(value) for solution in self.solutions for value in solution.values()):
            near = mpf(10) ** -4
        return abs(a - b) <= near * max(1, abs(a))

    def applies(self, name, candidate, env):
        """Whether a root of the polynomial or of the search really solves the whole problem."""
        candidate = number(candidate)
        if abs(mpmath.im(candidate)) <= mpf(10) ** (-DIGITS // 2) * max(1, abs(candidate)):
            candidate = mpmath.re(candidate)
        try:
            at = env.having(name, candidate)
            if self.outside({name: candidate}):
                return False
            left, right = self.equations[0][1], self.equations[0][2]
            size = max(terms_size(left, at), terms_size(right, at), mpf(1))
            if abs(self.difference(self.equations[0], 1)(at)) > size * mpf(10) ** (-DIGITS // 2):
                return False
            return all(numeric.truth(condition, at) for condition in self.others)
        except numeric.problems():
            return False

    def real_roots(self, name, env):
        """Real roots in a bounded interval, by sign changes and by small minima of |f|, refined to full precision."""
        function = self.difference(self.equations[0], 1)

        def f(x):
            return numeric.real(function(env.having(name, mpf(x))))

        def value(x):
            try:
                return f(x)
            except numeric.problems():
                return None

        with mpmath.workdps(15):
            grid = [mpf(-SEARCH) + mpf(2 * SEARCH) * (i + mpf("0.3137")) / 500 for i in range(500)]
            grid = sorted(grid + [mpf(k) for k in range(-SEARCH, SEARCH + 1)])
            values = [value(x) for x in grid]
        starts = []
        for i in range(len(grid)):
            if values[i] == 0:
                starts.append((grid[i],))
            elif i and values[i] is not None and values[i - 1] is not None and values[i] * values[i - 1] < 0:
                starts.append((grid[i - 1], grid[i]))
        found = []
        for start in starts[:40]:
            try:
                root = start[0] if len(start) == 1 else mpmath.findroot(f, start, solver="anderson", tol=mpf(10) ** (-DIGITS), maxsteps=80, verify=False)
            except (Refused, *numeric.problems()):
                continue
            if isinstance(root, mpf) and abs(root) <= SEARCH and not any(abs(root - r) < mpf(10) ** -15 for r in found):
                found.append(root)
        return found

    def missing_system(self):
        """Newton's method from many starts; only regular isolated solutions count."""
        functions = [self.difference(equation, 1) for equation in self.equations]
        names = self.unknowns
        with mpmath.workdps(DIGITS):
            known = self.known(self.environments()[0])
            complex_starts = self.domain == "Complexes" and not self.others
            for index in range(24):
                start = {}
                for name in names:
                    x = number(self.points.dyadic(-4, 4))
                    start[name] = mpc(x, number(self.points.dyadic(-2, 2))) if complex_starts and index % 3 == 2 else x
                root = newton(functions, names, start)
                if root is None:
                    continue
                at = Environment(root)
                if self.outside(root):
                    continue
                try:
                    if not all(numeric.truth(condition, at) for condition in self.others):
                        continue
                except numeric.problems():
                    continue
                if not any(all(self.same(root[n], values[n]) for n in names) for values in known):
                    return Missing(", ".join(show(root[n]) for n in names), True)
        return Missing(searched=True)


def terms_size(node, env):
    """The size of the largest part that a sum is made of, so that cancellation is not taken for a root."""
    if is_call(node, "Plus", "Subtract"):
        return max((terms_size(arg, env) for arg in node[1:]), default=mpf(0))
    if is_call(node, "Times", "Minus") and sum(1 for arg in node[1:] if is_call(arg, "Plus", "Subtract")):
        result = mpf(1)
        for arg in node[1:]:
            result *= terms_size(arg, env)
        return result
    if is_call(node, "Power") and is_call(node[1], "Plus", "Subtract") and isinstance(node[2], int) and 0 < node[2] < 100:
        return terms_size(node[1], env) ** node[2]
    return abs(number(numeric.evaluate(node, env)))


def jacobian(functions, names, env):
    def partial(f, name):
        return mpmath.diff(lambda x: f(env.having(name, x)), number(env.values[name]))

    return mpmath.matrix([[partial(f, name) for name in names] for f in functions])


def newton_step(functions, names, env):
    """The length of the Newton correction, None where the Jacobian is singular."""
    matrix = jacobian(functions, names, env)
    values = mpmath.matrix([f(env) for f in functions])
    if matrix.rows != matrix.cols:
        return None
    try:
        step = mpmath.lu_solve(matrix, values)
    except ZeroDivisionError:
        return None
    return max(abs(entry) for entry in step)


def newton(functions, names, start):
    values = dict(start)
    for _ in range(30):
        env = Environment(values)
        try:
            with mpmath.workdps(mp.dps):
                step = mpmath.lu_solve(jacobian(functions, names, env), mpmath.matrix([f(env) for f in functions]))
        except (Refused, *numeric.problems()):
            return None
        size = max(abs(entry) for entry in step)
        values = {name: number(values[name]) - step[i] for i, name in enumerate(names)}
        if max(abs(value) for value in values.values()) > 10**6:
            return None
        if size < mpf(10) ** (-DIGITS * 3 // 4):
            return values
    return None
