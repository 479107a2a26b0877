"""Task "optimum": the claimed point is feasible and has the claimed value, and sampling finds nothing better."""
import itertools

import mpmath
from mpmath import mpf

import formulas
import numeric
import sampling
import tree
from findings import agrees, refuted, undecided
from integrals import limits_of
from numeric import Environment, number
from sampling import DIGITS, show
from tree import Refused, is_call

STARTS = 40
REACH = ((-4, 12), (-1, 1), (0, 3), (-2, 2))  # where points of a constraint that is an equation are looked for
ENOUGH = mpf(10) ** -5


def check(task, seed):
    search = Search(task, seed)
    if search.parameters:
        return undecided("the objective has parameters")
    return search.run()


class Search:
    def __init__(self, task, seed):
        self.task = task
        self.objective, self.names, self.maximise = task["objective"], task["names"], task.get("maximise")
        self.domain = task.get("domain", "Reals")
        self.conditions = list(sampling.flatten(task.get("constraints", [])))
        self.local = task.get("local")
        names = tree.free_symbols(self.objective).union(*(tree.free_symbols(c) for c in self.conditions))
        self.parameters = names - set(self.names)
        assumptions = sampling.Assumptions(self.conditions + [("Element", name, self.domain) for name in self.names])
        self.points = sampling.Points(self.names, assumptions, seed)
        value, point = task.get("value"), task.get("point")
        loose = bool(tree.reals(("List", *(p for p in (value, *(point or {}).values()) if p is not None))))
        self.tolerance = ENOUGH if loose or task.get("approximate") else mpf(10) ** -15

    def f(self, env):
        return numeric.real(numeric.evaluate(self.objective, env))

    def better(self, a, b):
        return a > b if self.maximise else a < b

    def feasible(self, env, slack=mpf(10) ** -6):
        """Whether the constraints hold, equalities and boundaries within the slack."""
        for condition in self.conditions:
            if not holds_nearly(condition, env, slack):
                return False
        return True

    def rival(self, env):
        """Whether a point may stand against the claimed one: the constraints hold sharply, and the variables are of the domain."""
        inside = self.domain == "Reals" or all(numeric.member(v, self.domain) for v in env.values.values())
        return inside and self.feasible(env, mpf(10) ** -12)

    def run(self):
        value, point = self.task.get("value"), self.task.get("point")
        infinite = limits_of(value) if value is not None else None
        if infinite is None and value is not None and point and any(limits_of(v) is not None for v in point.values()):
            infinite = 0
        with mpmath.workdps(DIGITS):
            if infinite is not None:
                return self.unbounded(infinite)
            claimed = None
            if point is not None:
                at = Environment({name: number(numeric.evaluate(v)) for name, v in point.items()})
                if set(point) != set(self.names):
                    return undecided("the point is not complete")
                if self.domain in sampling.INTEGER_DOMAINS and not all(numeric.member(v, self.domain) for v in at.values.values()):
                    return refuted("not an integer point")
                if not self.feasible(at, mpf(10) ** -4 if self.tolerance == ENOUGH else mpf(10) ** -12):
                    return refuted("the point is not feasible")
                claimed = self.f(at)
                if value is not None:
                    stated = numeric.real(numeric.evaluate(value))
                    if abs(stated - claimed) > 100 * self.tolerance * max(1, abs(claimed)):
                        return refuted("the objective is %s there" % show(claimed))
                found = self.improved_near(at, claimed) if self.local else self.improved(at, claimed)
                if found is not None:
                    return refuted("%s at %s" % (show(found[0]), self.where(found[1])))
                return agrees(show(claimed))
            if value is None:
                return undecided("no claim")
            stated = numeric.real(numeric.evaluate(value))
            found = self.improved(None, stated)
            if found is not None:
                return refuted("%s at %s" % (show(found[0]), self.where(found[1])))
            return self.attained(stated)

    def where(self, env):
        return ", ".join("%s=%s" % (name, show(env.values[name])) for name in self.names)

    def gap(self, claimed):
        return (mpf(10) ** -3 if self.tolerance == ENOUGH else mpf(10) ** -6) * max(1, abs(claimed))

    def improved(self, start, claimed):
        """A feasible point that is clearly better, found by sampling and descent."""
        for env in self.starts(start):
            best = self.descend(env)
            if best is None:
                continue
            value = self.f(best)
            if self.better(value, claimed) and abs(value - claimed) > self.gap(claimed) and self.rival(best):
                return value, best
        return None

    def improved_near(self, at, claimed):
        """For a local optimum: better points in every small neighbourhood."""
        for scale in (mpf(10) ** -2, mpf(10) ** -3):
            found = None
            for env in self.around(at, scale):
                try:
                    value = self.f(env)
                    if self.rival(env) and self.better(value, claimed) and abs(value - claimed) > scale**2 * max(1, abs(claimed)) / 10:
                        found = value, env
                        break
                except numeric.problems():
                    continue
            if found is None:
                return None
        return found

    def around(self, at, scale):
        for name in self.names:
            for sign in (1, -1):
                yield at.having(name, at.values[name] + sign * scale * max(1, abs(at.values[name])))

    def starts(self, start):
        if start is not None:
            yield start
        for index in range(STARTS):
            env = self.points.draw(("positive", "real")[index % 2])
            if env is None:
                env = self.on_boundary(index)
            if env is not None:
                values = {name: v * (1 + 3 * (index % 3)) if self.domain not in sampling.INTEGER_DOMAINS and not self.conditions else v for name, v in env.values.items()}
                yield Environment({name: number(v) for name, v in values.items()})

    def on_boundary(self, index):
        """With equations among the constraints: solve one of them for one variable."""
        equations = [c for c in self.conditions if is_call(c, "Equal") and len(c) == 3]
        if len(equations) != 1 or len(self.names) < 2:
            return None
        import polynomials

        name = self.names[index % len(self.names)]
        low, high = REACH[index // 2 % len(REACH)]
        draw = (lambda: self.points.random.randint(-12, 12)) if self.domain in sampling.INTEGER_DOMAINS else (lambda: self.points.dyadic(low, high))
        env = Environment({n: draw() if n != name else 0 for n in self.names})
        try:
            top, _ = polynomials.quotient(("Subtract", equations[0][1], equations[0][2]), name, env)
            real = [mpmath.re(z) for z in map(number, polynomials.roots(top)) if abs(mpmath.im(z)) < mpf(10) ** -DIGITS * 100]
        except (polynomials.NotPolynomial, Refused, *numeric.problems()):
            return None
        if not real:
            return None
        env = env.having(name, formulas.clean(real[index % len(real)]))
        return env if self.feasible(env) else None

    def descend(self, env):
        """Pattern search that keeps feasible; a handful of steps is enough to show that something better exists."""
        integers = self.domain in sampling.INTEGER_DOMAINS
        try:
            with mpmath.workdps(20):
                if not self.rival(env):
                    return None
                value = self.f(env)
        except numeric.problems():
            return None
        step = mpf(1)
        with mpmath.workdps(20):
            for _ in range(60):
                moved = False
                for name in self.names:
                    for sign in (1, -1):
                        x = env.values[name] + sign * (step if not integers else max(1, int(step)))
                        candidate = env.having(name, x)
                        try:
                            if self.rival(candidate) and self.better(self.f(candidate), value):
                                env, value, moved = candidate, self.f(candidate), True
                        except numeric.problems():
                            continue
                step = step * 2 if moved else step / 2
                if step < mpf(10) ** -4 or abs(value) > 10**9 or (integers and step < 1):
                    break
        return env

    def attained(self, stated):
        """For a value alone: the best of many descents of a convincing search lies at it. One variable only."""
        if len(self.names) != 1 or self.domain != "Reals":
            return agrees(show(stated))
        best = None
        for env in self.starts(None):
            found = self.descend(env)
            if found is not None:
                value = self.f(found)
                best = value if best is None or self.better(value, best) else best
        if best is None:
            return undecided("nothing feasible was found")
        critical = self.critical()
        if critical is not None:
            best = critical if self.better(critical, best) or abs(critical - best) < mpf(10) ** -4 else best
            if abs(best - stated) > mpf(10) ** -3 * max(1, abs(stated)) and self.better(stated, best):
                return refuted("the best value is %s" % show(best))
        return agrees(show(stated))

    def critical(self):
        """The best value of an unconstrained polynomial over its critical points; None for anything else."""
        import polynomials

        name = self.names[0]
        if self.conditions:
            return None
        try:
            p = polynomials.coefficients(self.objective, name, numeric.EMPTY)
        except (polynomials.NotPolynomial, Refused, *numeric.problems()):
            return None
        if len(p) < 3 or len(p) % 2 == 0:
            return None
        slope = [numeric.times(a, len(p) - 1 - i) for i, a in enumerate(p[:-1])]
        real = [mpmath.re(z) for z in map(number, polynomials.roots(slope)) if abs(mpmath.im(z)) < mpf(10) ** -10]
        values = [polynomials.value(p, x) for x in real]
        if not values:
            return None
        return max(values) if self.maximise else min(values)

    def unbounded(self, infinite):
        """Infinity claimed: far points must go on improving."""
        wanted = 1 if self.maximise else -1
        if infinite == -wanted:
            found = next((env for env in self.starts(None) if self.points.assumptions.hold(env)), None)
            return refuted("a feasible point exists") if found is not None else undecided("no feasible point was found")
        for env in self.starts(None):
            end = self.descend(env)
            if end is not None and abs(self.f(end)) > 10**6 and self.better(self.f(end), 0):
                return agrees("unbounded")
        critical = self.critical() if len(self.names) == 1 else None
        return undecided("no unbounded direction was found") if critical is None else refuted("the best value is %s" % show(critical))


def holds_nearly(condition, env, slack):
    if is_call(condition, "Or"):
        return any(holds_nearly(part, env, slack) for part in condition[1:])
    if is_call(condition, "And"):
        return all(holds_nearly(part, env, slack) for part in condition[1:])
    if is_call(condition, "Equal"):
        values = [numeric.real(numeric.evaluate(part, env)) for part in condition[1:]]
        return all(abs(a - b) <= slack * max(1, abs(a)) for a, b in itertools.pairwise(values))
    pairs = list(sampling.strict_pairs(condition))
    if pairs:
        for low, high in pairs:
            a, b = end(low, env), end(high, env)
            if a > b + slack * max(1, abs(b)):
                return False
        return True
    return numeric.truth(condition, env)


def end(node, env):
    sign = limits_of(node)
    return sign * mpf("inf") if sign else numeric.real(numeric.evaluate(node, env))
