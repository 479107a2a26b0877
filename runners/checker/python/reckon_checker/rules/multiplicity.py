"""How often an answer gives one solution: a root of one equation up to its multiplicity, every other solution once."""

from __future__ import annotations

from flint import fmpq

from .. import budget
from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..tree import Refused, Tree, arguments, free_symbols, minus
from ..values import NonValue, Number, Undecided, complex_ball, is_number, precision
from .problem import Solution

BITS = 192
MAX_TIMES = 20


def often_enough(equations: list[Tree], solutions: list[Solution]) -> bool:
    """Whether it is known that no solution is given more often than it may be. Symbols have one generic value."""
    if len(solutions) < 2:
        return True
    symbols = set().union(*(free_symbols(e) for e in equations), *(free_symbols(v) for s in solutions for v in s.values.values()))
    env = Environment.of({name: fmpq(2 * ((37 * (i + 1)) % 97) + 65, 64) for i, name in enumerate(sorted(symbols))})
    with precision(BITS):
        groups: list[tuple[dict[str, Number], list[int]]] = []
        for i, s in enumerate(solutions):
            try:
                values = valued(s, env)
            except (Undecided, Refused):
                return False
            if values is None:
                continue  # it has no value there
            for other, members in groups:
                budget.step()
                if other.keys() == values.keys() and all(alike(other[name], values[name]) for name in other):
                    members.append(i)
                    break
            else:
                groups.append((values, [i]))
        return all(len(members) == 1 or multiple(equations, values, len(members), env) for values, members in groups)


def valued(s: Solution, env: Environment) -> dict[str, Number] | None:
    found: dict[str, Number] = {}
    for name, tree in s.values.items():
        value = evaluate(tree, env)
        if isinstance(value, NonValue) or not is_number(value):
            return None
        found[name] = value
    return found


def alike(a: Number, b: Number) -> bool:
    return a == b if isinstance(a, fmpq) and isinstance(b, fmpq) else bool(complex_ball(a).overlaps(complex_ball(b)))


def multiple(equations: list[Tree], values: dict[str, Number], times: int, env: Environment) -> bool:
    """Whether one equation may have a zero of some multiplicity at a value of its unknown."""
    if len(equations) != 1 or len(values) != 1 or len(arguments(equations[0])) != 2 or times > MAX_TIMES:
        return False
    ((name, value),) = values.items()
    node, at = minus(*arguments(equations[0])), env.having(name, value)
    try:
        for _ in range(times - 1):
            node = differentiate(node, name)
            slope = evaluate(node, at)
            if not is_number(slope) or not complex_ball(slope).contains(0):
                return False
    except (Undecided, Refused):
        return False
    return True
