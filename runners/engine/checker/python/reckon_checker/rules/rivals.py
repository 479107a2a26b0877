"""Points that may be better than a claimed optimum: zeros of derivatives, ends of constraints, cells between them, and what a
pattern search finds from there. Every point is exact, so that what it shows is a proof.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import arb, fmpq

from .. import budget
from ..assumptions import Assumptions
from ..calculus import differentiate
from ..critical import exact_tree, substituted
from ..evaluation import Environment, evaluate, truth
from ..normal import proves_zero
from ..points import Name, Points
from ..tree import Refused, Tree, arguments, is_call, minus, plus, power, rational, times
from ..univariate import polynomial
from ..values import Undecided, Value, precision

SEARCHES = 10
STEPS = 60
GUIDE_BITS = 53
LARGEST_INTEGER = 40


class Rivals:
    def __init__(self, objective: Tree, constraints: list[Tree], names: list[str], *, domain: str, maximise: bool, seed: int) -> None:
        self.objective, self.names, self.maximise = objective, names, maximise
        self.integers = domain == "Integers" or domain.endswith("Integers")
        self.assumptions = Assumptions([*constraints, ("Element", ("Alternatives", *names), domain)])
        self.constraints = self.assumptions.conditions
        self.equations = [condition for condition in self.constraints if is_call(condition, "Equal") and len(arguments(condition)) == 2]
        self.seed = seed
        self.solved: list[Environment] = []  # points that satisfy the equation by its algebra

    def feasible(self, env: Environment) -> bool:
        """Whether every constraint is proved to hold; an equation by its own algebra where the point was solved from it."""
        with precision(192):
            for condition in self.constraints:
                try:
                    if truth(condition, env) is not True:
                        return False
                except Undecided:
                    if not (condition in self.equations and env in self.solved):
                        return False
        return True

    def points(self) -> Iterator[Environment]:
        if self.equations:
            yield from self._on_equations()
            return
        expressions = [self.objective, *self.constraints]
        for name in self.names:
            try:
                expressions.append(power(differentiate(self.objective, name), -1))  # its zeros are places
            except Refused:
                continue
        chosen = Points(self.names, expressions, self.assumptions, self.seed, real=True).choose()
        starts = [Environment(dict(point.values)) for point in chosen]
        yield from starts
        ranked = sorted(starts, key=self._guide)[:SEARCHES]
        for start in ranked:
            yield self._descended(start)

    def _guide(self, env: Environment) -> float:
        """Roughly the objective, small for good: for choosing points only."""
        with precision(GUIDE_BITS):
            try:
                value = evaluate(self.objective, env)
            except (Undecided, Refused):
                return float("inf")
            if not isinstance(value, fmpq | arb):
                return float("inf")
            rough = float(arb(value).mid()) if abs(arb(value)) < arb(10) ** 300 else float("inf")
            return -rough if self.maximise else rough

    def _allowed(self, env: Environment) -> bool:
        return self.assumptions.hold(env)

    def _descended(self, env: Environment) -> Environment:
        """Pattern search among dyadic points that meet the constraints."""
        best, step = self._guide(env), fmpq(1)
        for _ in range(STEPS):
            moved = False
            for name in self.names:
                for way in (1, -1):
                    budget.step()
                    value = env.values[name]
                    assert isinstance(value, fmpq)
                    candidate = env.having(name, value + way * step)
                    found = self._guide(candidate)
                    if found < best and self._allowed(candidate):
                        env, best, moved = candidate, found, True
            step = step * 2 if moved else step / 2
            if step < (1 if self.integers else fmpq(1, 4096)) or best < -1e12:
                break
        return env

    def _on_equations(self) -> Iterator[Environment]:
        """With one equation: solved for one unknown, linear or quadratic, the others on a grid."""
        if len(self.equations) > 1 or len(self.names) > 3:
            return
        (left, right) = arguments(self.equations[0])
        residual = minus(left, right)
        for name in self.names:
            for others in self._grids(name):
                for root in self._roots(residual, name, others):
                    env = Environment({**others, name: root})
                    self.solved.append(env)
                    yield env

    def _grids(self, name: str) -> Iterator[dict[Name, Value]]:
        rest = [other for other in self.names if other != name]
        sizes = range(-LARGEST_INTEGER, LARGEST_INTEGER + 1)
        values = [fmpq(k) for k in sizes] if self.integers else [*(fmpq(k, 16) for k in sizes), *(fmpq(k) for k in sizes if abs(k) > 2)]
        if not rest:
            yield {}
        elif len(rest) == 1:
            for value in values:
                yield {rest[0]: value}
        else:
            for a in values[::8]:
                for b in values[::8]:
                    yield {rest[0]: a, rest[1]: b}

    def _roots(self, residual: Tree, name: str, others: dict[Name, Value]) -> Iterator[Value]:
        p = polynomial(substituted(residual, {str(key): value for key, value in others.items()}), name)
        if p is None or p.degree() not in (1, 2):
            return
        budget.step()
        if p.degree() == 1:
            yield -p[0] / p[1]
            return
        inside = p[1] * p[1] - 4 * p[2] * p[0]
        if inside < 0:
            return
        for way in (1, -1):
            root: Tree = times(plus(exact_tree(-p[1]), times(way, power(exact_tree(inside), rational(1, 2)))), power(exact_tree(2 * p[2]), -1))
            check = plus(*(times(exact_tree(p[k]), power(root, k) if k else 1) for k in range(3)))
            if proves_zero(check):
                with precision(192):
                    yield evaluate(root)
