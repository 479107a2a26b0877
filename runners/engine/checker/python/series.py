"""Task "series": the order at which an expansion leaves its function, measured far inside its domain."""
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

import numeric
import sampling
import tree
from findings import agrees, refuted, undecided
from integrals import limits_of
from numeric import number
from sampling import compare, show
from tree import Refused, is_call, walk

NEAR, NEARER = 24, 36  # digits of the two distances
INDICES = (0, 1, 2, 3, 5)  # at which a coefficient with a symbol for its index is looked at
MARGIN = 0.35  # how far a measured order may lie below a whole one: logarithms in the coefficients


def check(task, seed):
    if "coefficient" in task:
        return coefficient(task, seed)
    function, variables, answer = task["function"], task["variables"], task["answer"]
    names = [v["name"] for v in variables]
    claimed, denominator = claimed_orders(answer)
    wanted = min(v["order"] for v in variables) + 1
    expansion = without_order(answer)
    free = (tree.free_symbols(function) | tree.free_symbols(expansion)).union(*(tree.free_symbols(v["point"]) for v in variables)) - set(names)
    points = sampling.Points(free, sampling.Assumptions(task.get("assumptions", [])), seed)
    if len(variables) == 2 and denominator == 1:
        return several(function, expansion, variables, points, free)
    orders = []
    for _ in range(3 if free else 1):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        for side in (1, -1):
            try:
                orders.append(measured(function, expansion, variables, env, side))
            except (Refused, *numeric.problems()):
                continue
    if not orders:
        return undecided("no value near the point")
    order = max(orders) if len(set(map(bool, orders))) == 1 else min(orders)
    needed = wanted if denominator == 1 else wanted - 1 + Fraction(1, denominator)
    if claimed is not None:
        if order < claimed - MARGIN:
            return refuted("remainder of order %.2f, not %s" % (order, claimed))
        # Fewer terms than asked for: a defect only where a term is really missing.
        if denominator == 1 and claimed < wanted and order < wanted - MARGIN:
            return refuted("remainder of order %.2f, %s was asked for" % (order, wanted))
        return agrees("remainder of order %.2f" % order if order < 1000 else "no remainder")
    if order < needed - MARGIN:
        return refuted("remainder of order %.2f, %s was asked for" % (order, needed))
    return agrees("remainder of order %.2f" % order if order < 1000 else "no remainder")


def several(function, expansion, variables, points, free):
    """In two variables: every coefficient up to the orders asked for, by Cauchy's integral over a torus (values of f - p)."""
    limits = [v["order"] for v in variables]
    count = max(limits) + 6
    if count > 16 or any(limits_of(v["point"]) is not None for v in variables):
        return undecided("the orders are too high")
    radius = mpf(10) ** -6
    states = []
    for _ in range(2 if free else 1):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        with mpmath.workdps(30 + 14 * count):
            turns = [mpmath.expjpi(2 * mpf(j) / count) for j in range(count)]
            centres = [number(numeric.evaluate(v["point"], env)) for v in variables]
            rows = []
            for s in turns:
                at = env.having(variables[0]["name"], centres[0] + radius * s)
                row = []
                for t in turns:
                    there = at.having(variables[1]["name"], centres[1] + radius * t)
                    row.append(number(numeric.evaluate(function, there)) - number(numeric.evaluate(expansion, there)))
                rows.append(row)
            worst = mpf(0)
            for i in range(limits[0] + 1):
                for j in range(limits[1] + 1):
                    total = sum(rows[a][b] * turns[-a * i % count] * turns[-b * j % count] for a in range(count) for b in range(count))
                    worst = max(worst, abs(total / count**2 / radius ** (i + j)))
        states.append(worst)
    if all(worst > mpf(10) ** -8 for worst in states):
        return refuted("a coefficient is off by %s" % show(states[0]))
    return agrees("0.") if all(worst < mpf(10) ** -20 for worst in states) else undecided("no clear coefficients")


def claimed_orders(answer):
    """The exponent of the O term and the denominator of the exponents; None without an O term."""
    orders, denominator = [], 1
    for node in walk(answer):
        if is_call(node, "SeriesData") and len(node) == 7:
            orders.append(Fraction(node[5], node[6]))
            denominator = max(denominator, node[6])
        elif is_call(node, "Power") and is_call(node[1], "O"):
            value = numeric.evaluate(node[2])
            orders.append(Fraction(value))
            denominator = max(denominator, Fraction(value).denominator)
        elif is_call(node, "O"):
            orders.append(Fraction(1))
    # O[x]^4 holds an O[x] of its own: the largest order of one variable is the claim, the smallest of several.
    powers = [order for order in orders if order != 1] or orders
    return (min(powers) if powers else None), denominator


def without_order(node):
    """The expansion without its O terms."""
    if is_call(node, "O") or (is_call(node, "Power") and is_call(node[1], "O")):
        return 0
    if isinstance(node, tuple):
        return tuple(without_order(part) for part in node)
    return node


def measured(function, expansion, variables, env, side):
    """The order of f - p: the slope of its logarithm between two small distances; infinite for no remainder."""
    sizes = []
    with mpmath.workdps(30 + 60 * max(4, max(v["order"] for v in variables) + 4)):
        for digits in (NEAR, NEARER):
            at = env
            for i, variable in enumerate(variables):
                step = side * mpf(10) ** -digits * (1 + mpf(i) / 3)
                sign = limits_of(variable["point"])
                x = (sign or 1) / abs(step) if sign is not None else number(numeric.evaluate(variable["point"], env)) + step
                at = at.having(variable["name"], x)
            exact_value = number(numeric.evaluate(function, at))
            difference = abs(exact_value - number(numeric.evaluate(expansion, at)))
            sizes.append(difference if difference > abs(exact_value) * mpf(10) ** (-mp.dps + 20) else mpf(0))
        if sizes[1] == 0:
            return float("inf")
        if sizes[0] == 0:
            raise numeric.NoValue("no slope")
        return float(mpmath.log(sizes[0] / sizes[1], 10) / (NEARER - NEAR))


def coefficient(task, seed):
    """A coefficient of an expansion in one or two variables, by Cauchy's integral; one with a symbol for its index at several."""
    function, variables, answer = task["function"], task["coefficient"], task["answer"]
    index = task.get("index")
    if not index:
        state, example = coefficient_at(task, function, variables, answer, seed)
        if state == "different":
            return refuted(example)
        return agrees("0.") if state == "equal" else undecided("no value")
    outcomes = []
    for k in INDICES:
        shifted = [{**variables[0], "order": k}]
        outcomes.append(coefficient_at(task, tree.replace(function, index, k), shifted, tree.replace(answer, index, k), seed))
    states = [state for state, _ in outcomes]
    if states.count("different") >= 3:
        return refuted(next(example for state, example in outcomes if state == "different"))
    return agrees("0.") if states.count("equal") >= 3 and "different" not in states else undecided("holds for some indices only")


def coefficient_at(task, function, variables, answer, seed):
    """(state, difference) of one coefficient: equal, different or unknown."""
    free = (tree.free_symbols(function) | tree.free_symbols(answer)).union(*(tree.free_symbols(v["point"]) for v in variables))
    free -= {v["name"] for v in variables}
    points = sampling.Points(free, sampling.Assumptions(task.get("assumptions", [])), seed)
    states, example = [], ""
    for _ in range(3 if free else 1):
        env = points.draw("positive")
        if env is None:
            return "unknown", ""
        result = compare(lambda: by_circle(function, variables, env), lambda: numeric.evaluate(answer, env), tolerance=mpf(10) ** -12)
        states.append(result.state)
        example = example or show(result.difference)
    if all(state == "different" for state in states):
        return "different", example
    return ("equal" if all(state in ("equal", "near") for state in states) else "unknown"), example


def by_circle(function, variables, env):
    """Cauchy's integral over small circles, one within the other, by the trapezoidal rule; the precision is high."""
    if not variables:
        return number(numeric.evaluate(function, env))
    name, point, k = variables[0]["name"], variables[0]["point"], variables[0]["order"]
    count = 2 * abs(k) + (24 if len(variables) == 1 else 14)
    radius = mpf(10) ** -3
    with mpmath.workdps(mp.dps + 4 * count):
        centre = number(numeric.evaluate(point, env))
        total = mpf(0)
        for j in range(count):
            direction = mpmath.expjpi(2 * mpf(j) / count)
            total += by_circle(function, variables[1:], env.having(name, centre + radius * direction)) * direction**-k
        value = total / count / radius**k
    if abs(mpmath.im(value)) < mpf(10) ** -15 * max(1, abs(value)):
        return mpmath.re(value)
    return value
