"""Task "limit": the function at points that approach, from each side asked for, at many scales."""
import itertools

import mpmath
from mpmath import mpf

import numeric
import sampling
import tree
from findings import agrees, refuted, undecided
from integrals import limits_of
from numeric import number
from sampling import show
from tree import Refused, is_call

SCALES = (4, 8, 16, 32, 64)  # distances 10^-k, or arguments 10^k
MIDDLE_SCALES = (2, 3, 4, 5, 6)
SMALL_SCALES = (1, 1.3, 1.6, 1.9, 2.2)  # for functions that grow too fast for the others


def check(task, seed):
    function, name, point, answer = task["function"], task["name"], task["point"], task["answer"]
    if is_call(function, "List"):
        return elements(task, seed)
    if name in tree.free_symbols(answer):
        return refuted("the answer depends on " + name)
    free = (tree.free_symbols(function) | tree.free_symbols(point) | tree.free_symbols(answer)) - {name}
    points = sampling.Points(free, sampling.Assumptions(task.get("assumptions", [])), seed)
    outcomes = []
    for _ in range(3 if free else 1):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        outcomes.append(judge(function, name, point, answer, task.get("direction"), env))
        if outcomes[-1][0] == "open":
            return undecided(outcomes[-1][1])
    states = {state for state, _ in outcomes}
    if states == {"different"}:
        return refuted(outcomes[0][1])
    return agrees(outcomes[0][1]) if states == {"same"} else undecided("holds at some points only")


def elements(task, seed):
    """The limit of a list is the list of the limits."""
    functions, answers = task["function"][1:], task["answer"][1:] if is_call(task["answer"], "List") else ()
    if len(functions) != len(answers) or len(functions) > 20:
        return undecided("shape")
    found = [check({**task, "function": f, "answer": a}, seed) for f, a in zip(functions, answers)]
    for status in ("refuted", "open"):
        for one in found:
            if one["status"] == status:
                return one
    return agrees(", ".join(one["residual"] for one in found))


def judge(function, name, point, answer, direction, env):
    """same, different or open, over the sides that count."""
    sign = limits_of(point)
    if sign == 0:
        return "open", "an unknown direction"
    sides = [direction] if direction in (1, -1) else [1, -1]
    if sign is not None:
        sides = [sign]
    seen = [approach(function, name, point, side, sign is not None, env) for side in sides]
    if answer == "Indeterminate" or is_call(answer, "Interval"):
        return no_limit(seen, answer, env)
    states = [against(behaviour, answer, env) for behaviour in seen]
    text = "; ".join(show_behaviour(behaviour) for behaviour in seen)
    if all(state == "different" for state in states):
        return "different", text
    # One side may be outside the function's real domain.
    return ("same" if "same" in states and "different" not in states else "open"), text


def no_limit(seen, answer, env):
    text = "; ".join(show_behaviour(behaviour) for behaviour in seen)
    kinds = [kind for kind, _ in seen]
    if all(kind == "converges" for kind in kinds):
        values = [value for _, value in seen]
        close = all(abs(values[0] - v) < mpf(10) ** -8 * max(1, abs(v)) for v in values)
        if len(values) == 1 or close:
            return "different", text
        return "same", text
    return ("same" if any(kind in ("wanders", "grows") for kind in kinds) else "open"), text


def show_behaviour(behaviour):
    kind, value = behaviour
    return show(value) if kind == "converges" else kind if kind != "grows" else ("Infinity" if value > 0 else "-Infinity" if value < 0 else "ComplexInfinity")


def approach(function, name, point, side, infinite, env):
    """How f behaves: (converges, value), (grows, sign), (wanders, None) or (unknown, why)."""
    why = ""
    for scales in (SCALES, MIDDLE_SCALES, SMALL_SCALES):
        try:
            return behaviour([at_scale(function, name, point, side, infinite, env, k) for k in scales], scales)
        except (Refused, *numeric.problems()) as problem:
            why = str(problem)
    return "unknown", why


def at_scale(function, name, point, side, infinite, env, k):
    """A mean direction is avoided: 10^k times a number without meaning, so that periodic functions show themselves."""
    values = []
    with mpmath.workdps(int(40 + 6 * k)):
        for mantissa in (mpf("1.234567"), mpf("1.618"), mpf("1.9")):
            distance = mantissa * mpf(10) ** k
            x = side * distance if infinite else number(numeric.evaluate(point, env)) + side / distance
            values.append(number(numeric.evaluate(function, env.having(name, x))))
    return values


def behaviour(samples, scales):
    list(itertools.chain.from_iterable(samples))
    last, before = samples[-1], samples[-2]
    spread = max(abs(a - b) for a in last + before for b in last)
    size = max(abs(v) for v in last)
    growing = all(max(abs(v) for v in b) > 1.5 * max(abs(v) for v in a) for a, b in itertools.pairwise(samples))
    if growing and size > 20:
        signs = {int(mpmath.sign(mpmath.re(v))) if abs(mpmath.im(v)) < mpf(10) ** -10 * abs(v) else 0 for v in last + before}
        return "grows", signs.pop() if len(signs) == 1 else 0
    tight = mpf(10) ** -9 if scales is SCALES else mpf(10) ** -5
    falling = max(abs(v) for v in before) * mpf("0.5") >= size and size < tight
    if spread <= tight * max(size, mpf(1)) or falling:
        return "converges", last[0]
    shrinking = [max(abs(x - y) for x in a for y in last) for a in samples[:-1]]
    if all(b < a for a, b in itertools.pairwise(shrinking)):
        return "unknown", "slow convergence"
    if size < 10**6 and spread > mpf(10) ** -3 * max(size, mpf(1)):
        return "wanders", None
    return "unknown", "no clear behaviour"


def against(seen, answer, env):
    kind, value = seen
    claimed = limits_of(answer)
    if kind == "unknown":
        return "open"
    if kind == "grows":
        if claimed is None:
            return "different" if is_number(answer, env) else "open"
        return "same" if claimed == value or claimed == 0 or answer == "ComplexInfinity" else "open" if value == 0 else "different"
    if kind == "wanders":
        return "different"
    if claimed is not None:
        return "different"
    try:
        with mpmath.workdps(40):
            claimed = number(numeric.evaluate(answer, env))
    except numeric.problems():
        return "open"
    error = abs(claimed - value) / max(1, abs(value), abs(claimed))
    if error > mpf(10) ** -3:
        return "different"
    return "same" if error < mpf(10) ** -4 else "open"


def is_number(answer, env):
    try:
        number(numeric.evaluate(answer, env))
        return True
    except (Refused, *numeric.problems()):
        return False
