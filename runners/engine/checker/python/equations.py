"""Task "equations": functions put into the differential or difference equations they are said to solve."""
from fractions import Fraction

import mpmath
from mpmath import mpf

import numeric
import sampling
import tree
from findings import agrees, proved, proved_by_numbers, refuted, undecided
from numeric import Environment, number
from sampling import DIGITS, compare, show
from tree import Refused, is_call, walk

POINTS = 12


def check(task, seed):
    problem = Problem(task, seed)
    states = []
    for solution in task["solutions"]:
        state, residual = problem.substitute(solution)
        if state == "refuted":
            return refuted(residual)
        states.append(state)
    if not states:
        return undecided("no solution")
    missing = problem.missing_constants()
    if missing:
        return refuted(missing)
    if "open" in states:
        return undecided("holds at some points only")
    if "near" in states:
        return agrees("0.")
    pairs = problem.exact_pairs()
    return proved_by_numbers(pairs, problem.points.assumptions) if pairs else proved(False)


class Problem:
    def __init__(self, task, seed):
        self.task = task
        self.names = task["functions"]
        self.variables = task["variables"]
        self.recurrence = bool(task.get("recurrence"))
        self.equations = [e for e in sampling.flatten(task["equations"])]
        for equation in self.equations:
            if not is_call(equation, "Equal"):
                raise Refused("equation")
        bodies = [f["function"] for s in task["solutions"] for f in s]
        free = set().union(*(tree.free_symbols(node) for node in self.equations + bodies))
        self.free = free - set(self.variables) - set(self.names)
        # Initial conditions hold at one point: they do not speak of the independent variable.
        self.initial = [e for e in self.equations if not set(self.variables) & tree.free_symbols(e)]
        self.general = [e for e in self.equations if e not in self.initial]
        assumptions = sampling.Assumptions(task.get("assumptions", []))
        if self.recurrence:
            assumptions.integers.update(self.variables)
            for name in self.variables:
                assumptions.low.setdefault(name, Fraction(2))
        self.points = sampling.Points(self.free | set(self.variables), assumptions, seed)

    def bound(self, solution, env):
        """The environment in which the unknown functions are the solution's."""
        functions = {}
        for binding in solution:
            functions[binding["name"]] = self.callable(binding["function"], env)
        return Environment(env.values, functions, env.constants)

    def callable(self, function, env):
        return lambda *args: numeric.call_function(function, args, env)

    def substitute(self, solution):
        constants = sorted({k for b in solution for k in tree.constants(b["function"])})
        loose = sampling.tolerance_of(*(b["function"] for b in solution))
        counts = {"equal": 0, "different": 0, "near": 0, "unknown": 0}
        example = ""
        for index in range(POINTS):
            env = self.points.draw(("positive", "real")[index % 2] if not self.recurrence else "positive")
            if env is None:
                return "open", ""
            values = {k: Fraction(self.points.random.randint(20, 200), 64) for k in constants}
            at = self.bound(solution, Environment(env.values, {}, values))
            for equation in self.initial:
                state, residual = self.compare(equation, at, loose)
                if state == "different":
                    return "refuted", residual
                counts[state] += state == "unknown"
            states = [self.compare(equation, at, loose) for equation in self.general]
            worst = next((s for s in states if s[0] == "different"), None) or next((s for s in states if s[0] != "equal"), ("equal", "0"))
            counts[worst[0]] += 1
            if worst[0] == "different":
                example = example or worst[1]
                if counts["different"] >= 5 and not counts["equal"]:
                    break
        if counts["different"] and counts["different"] >= 4 * (counts["equal"] + counts["near"]):
            return "refuted", example
        if counts["different"] or counts["equal"] + counts["near"] < (4 if self.general else 0):
            return "open", example
        return ("near" if counts["near"] else "equal"), "0"

    def compare(self, equation, env, loose):
        for left, right in zip(equation[1:], equation[2:]):
            result = compare(lambda: numeric.evaluate(left, env), lambda: numeric.evaluate(right, env), tolerance=loose)
            if result.state == "shape":
                raise Refused("List")
            if result.state != "equal":
                return result.state, show(result.difference)
        return "equal", "0"

    # How many constants the general solution of a linear equation has.

    def orders(self):
        found = {}
        for name in self.names:
            shifts = [0] if not self.recurrence else []
            for part in (p for e in self.general for p in walk(e)):
                if not isinstance(part, tuple):
                    continue
                if self.recurrence and part[0] == name and len(part) == 2:
                    shift = self.shift(part[1])
                    if shift is None:
                        return None
                    shifts.append(shift)
                elif isinstance(part[0], tuple) and is_call(part[0][0], "Derivative") and part[0][1] == name:
                    if len(part[0][0]) != 2:
                        return None
                    shifts.append(part[0][0][1])
                elif is_call(part, "D") and name in [p[0] for p in walk(part[1]) if isinstance(p, tuple)]:
                    if len(part) != 3:
                        return None
                    shifts.append(part[2][2] if is_call(part[2], "List") and isinstance(part[2][2], int) else 1)
            if not shifts:
                return None
            found[name] = max(shifts) - min(shifts)
        return found

    def shift(self, argument):
        try:
            at = [numeric.evaluate(argument, Environment({self.variables[0]: n})) for n in (5, 6)]
        except (Refused, *numeric.problems()):
            return None
        return at[0] - 5 if at[1] - at[0] == 1 else None

    def missing_constants(self):
        if len(self.variables) != 1 or len(self.general) != len(self.names) or self.task.get("particular"):
            return ""
        orders = self.orders()
        if orders is None or len(self.task["solutions"]) != 1 or len(self.names) != 1:
            return ""
        order = sum(orders.values())
        given = self.effective_constants(self.task["solutions"][0])
        if given is None or given + len(self.initial) >= order or not self.linear():
            return ""
        return "the general solution has %d constants, not %d" % (order - len(self.initial), given)

    def effective_constants(self, solution):
        """How many of the constants change the solution independently: the rank of its derivatives by them; None if unknown."""
        constants = sorted({k for b in solution for k in tree.constants(b["function"])})
        if len(constants) < 2:
            return len(constants)
        env = self.points.draw("positive")
        if env is None:
            return None
        base = {k: mpf(20 + 7 * i) / 64 for i, k in enumerate(constants)}
        step = mpf(10) ** -12
        rows = []
        try:
            with mpmath.workdps(DIGITS):
                for k in constants:
                    ends = [self.values_along(solution, env, {**base, k: base[k] + shift}, len(constants) + 2) for shift in (step, -step)]
                    rows.append([(a - b) / (2 * step) for a, b in zip(*ends)])
                return rank(rows)
        except (Refused, *numeric.problems()):
            return None

    def values_along(self, solution, env, constants, count):
        name = self.variables[0]
        start = env.values[name]
        points = [start + i if self.recurrence else start + mpf(i) / 5 for i in range(count)]
        return [
            number(numeric.call_function(b["function"], [x], Environment({**env.values, name: x}, {}, constants))) for b in solution for x in points
        ]

    def linear(self):
        """R[f + g] + R[0] = R[f] + R[g] for two functions without meaning."""
        env = self.points.draw("positive")
        if env is None:
            return False
        f, g = numeric.wave("first"), numeric.wave("second")
        zero = lambda *args: mpf(0)
        both = lambda *args: f(*args) + g(*args)
        try:
            with mpmath.workdps(DIGITS):
                for equation in self.general:
                    values = []
                    for h in (both, zero, f, g):
                        at = Environment(env.values, {name: h for name in self.names})
                        values.append(number(numeric.evaluate(equation[1], at)) - number(numeric.evaluate(equation[2], at)))
                    if abs(values[0] + values[1] - values[2] - values[3]) > mpf(10) ** -20 * max(abs(v) for v in values):
                        return False
                return True
        except (Refused, *numeric.problems()):
            return False

    def exact_pairs(self):
        """What an exact proof would have to show, for differential equations."""
        if self.recurrence:
            return []
        pairs = []
        for solution in self.task["solutions"]:
            bodies = {b["name"]: b["function"] for b in solution}
            for equation in self.equations:
                sides = [self.inlined(side, bodies) for side in equation[1:]]
                if any(side is None for side in sides):
                    return []
                pairs += zip(sides, sides[1:])
        return pairs

    def inlined(self, node, bodies):
        """The tree with y[x] and its derivatives replaced by the solution; None where that is not possible."""
        if not isinstance(node, tuple):
            return node
        head = node[0]
        if head in bodies or (isinstance(head, tuple) and is_call(head[0], "Derivative") and head[1] in bodies):
            name, order = (head, 0) if isinstance(head, str) else (head[1], head[0][1])
            function = bodies[name]
            parameters = function[1][1:] if is_call(function[1], "List") else (function[1],)
            if len(function) != 3 or node[1:] != tuple(parameters):
                return None
            return function[2] if order == 0 else ("D", function[2], ("List", parameters[0], order))
        parts = [self.inlined(part, bodies) for part in node[1:]]
        return None if any(part is None for part in parts) else (head, *parts)


def rank(rows):
    """The numerical rank: Gaussian elimination of rows of unit size, with a threshold far above the rounding errors."""
    rows = [[x / max(map(abs, row)) for x in row] for row in rows if any(abs(x) > mpf(10) ** -20 for x in row)]
    found = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = max(range(found, len(rows)), key=lambda i: abs(rows[i][column]), default=None)
        if pivot is None or abs(rows[pivot][column]) < mpf(10) ** -15:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        top = rows[found]
        for i in range(found + 1, len(rows)):
            share = rows[i][column] / top[column]
            rows[i] = [x - share * y for x, y in zip(rows[i], top)]
        found += 1
    return found
