"""Task "integral": a definite integral by quadrature at two precisions and by two methods, and tests for divergence."""
import itertools

import mpmath
from mpmath import mpf

import numeric
import sampling
import tree
from findings import agrees, refuted, undecided
from numeric import number
from sampling import DIGITS, show
from tree import Refused, is_call, walk

KINKS = {"Abs", "Sign", "UnitStep", "HeavisideTheta", "Floor", "Ceiling", "Round", "Log", "Mod", "Ramp", "Sqrt", "Tan", "Sec", "Cot", "Csc"}
GRID = 120


class Divergent(Exception):
    """The integral does not converge: a pole of order one or more, or too slow a decay."""


class Undetermined(Exception):
    """No trustworthy value was found."""


def check(task, seed):
    ranges, integrand, answer = task["ranges"], task["integrand"], task["answer"]
    names = tree.free_symbols(answer)
    bound = [r[0] for r in ranges]
    free = tree.free_symbols(integrand) - set(bound)
    for i, (_, *limits) in enumerate(ranges):
        for limit in limits:
            free |= tree.free_symbols(limit) - set(bound[:i])
    if names - free - set(bound):
        return undecided("unsupported: symbol " + sorted(names - free - set(bound))[0])
    if names & set(bound):
        return refuted("the answer depends on " + sorted(names & set(bound))[0])
    conditions = list(task.get("assumptions", []))
    conditions += [node[2] for node in walk(answer) if is_call(node, "ConditionalExpression")]
    points = sampling.Points(free, sampling.Assumptions(conditions), seed)
    outcomes = []
    for _ in range(4 if free else 1):
        env = points.draw("positive")
        if env is None:
            return undecided("assumptions cannot be met")
        outcomes.append(compare_at(task, integrand, ranges, answer, env))
        if [state for state, _ in outcomes if state != "open"].count("same") >= 2:
            break
    decided = [(state, text) for state, text in outcomes if state != "open"]
    if not decided:
        return undecided(outcomes[-1][1])
    if all(state == "different" for state, _ in decided) and len(decided) >= (2 if free else 1):
        return refuted(decided[0][1])
    if all(state == "same" for state, _ in decided):
        return agrees(decided[0][1])
    return undecided("holds at some points only")


def limits_of(value):
    """Infinity as an answer or a limit: +1, -1, or 0 for ComplexInfinity and an unknown direction; None for a number."""
    if value == "Infinity" or (is_call(value, "DirectedInfinity") and value[1:] == (1,)):
        return 1
    if value == "ComplexInfinity" or is_call(value, "DirectedInfinity"):
        return -1 if value[1:] == (-1,) and not isinstance(value, str) else 0
    if is_call(value, "Times") and "Infinity" in value[1:]:
        rest = [part for part in value[1:] if part != "Infinity"]
        try:
            return int(mpmath.sign(numeric.real(numeric.evaluate(("Times", *rest)))))
        except (Refused, *numeric.problems()):
            return 0
    if is_call(value, "Minus") and value[1] == "Infinity":
        return -1
    return None


def compare_at(task, integrand, ranges, answer, env):
    claimed_infinite = limits_of(answer)
    try:
        true, size = definite(integrand, ranges, env, task.get("principal_value"))
    except Divergent as divergent:
        if claimed_infinite is not None or answer == "Indeterminate":
            return "same", "divergent"
        try:
            numeric.evaluate(answer, env)
        except (Refused, *numeric.problems()):
            return "open", "divergent, and the answer has no value"
        return "different", "divergent: " + str(divergent)
    except (Undetermined, mpmath.libmp.NoConvergence, *numeric.problems()) as problem:
        return "open", "no trustworthy value: %s" % (problem,)
    if claimed_infinite is not None:
        return "different", show(true)
    try:
        with mpmath.workdps(DIGITS):
            claimed = number(numeric.evaluate(answer, env))
    except numeric.problems():
        return "open", "the answer has no value"
    size = max(abs(true), abs(claimed), size * mpf(10) ** -4, mpf(10) ** -12)
    error = abs(true - claimed) / size
    loose = task.get("approximate") or tree.reals(answer)
    wrong = mpf(10) ** -3 if len(ranges) > 1 else mpf(10) ** -4 if loose else mpf(10) ** -6
    if (task.get("digits") or 0) > 16 and len(ranges) == 1:
        wrong = mpf(10) ** -7
    if error > wrong:
        return "different", show(true)
    return ("same" if error < wrong / 20 else "open"), show(true)


def definite(integrand, ranges, env, principal_value=False):
    """The value of an iterated integral with the size of the integrand's absolute value, for judging cancellation."""
    if len(ranges) == 1:
        return single(integrand, ranges[0], env, principal_value)
    if len(ranges) <= 3:
        return product_rule(integrand, ranges, env)
    raise Undetermined("dimension")


def end(limit, env):
    sign = limits_of(limit)
    if sign == 0:
        raise Undetermined("limit")
    if sign is not None:
        return sign * mpf("inf")
    with mpmath.workdps(3 * DIGITS):
        return number(numeric.evaluate(limit, env))


def single(integrand, range_, env, principal_value):
    name, stops = range_[0], [end(limit, env) for limit in range_[1:]]
    if any(isinstance(stop, mpmath.mpc) and stop.imag != 0 for stop in stops):
        return along(integrand, name, stops, env)
    stops = [mpmath.re(stop) for stop in stops]

    def function(x):
        return number(numeric.evaluate(integrand, env.having(name, x)))

    total, size = mpf(0), mpf(0)
    for low, high in itertools.pairwise(stops):
        if low == high:
            continue
        sign = 1
        if low > high:
            low, high, sign = high, low, -1
        value, part = over(function, integrand, name, low, high, env, principal_value)
        total, size = total + sign * value, size + part
    return total, size


def along(integrand, name, stops, env):
    function = lambda x: number(numeric.evaluate(integrand, env.having(name, x)))
    return settled(function, stops), mpf(1)


def quadrature(function, cuts, method="tanh-sinh"):
    """mpmath's quadrature, its own error estimate believed only where it is small."""
    value, error = mpmath.quad(function, cuts, error=True, method=method)
    if error > mpf(10) ** -10 * max(abs(value), mpf(10) ** -3):
        raise Undetermined("the error estimate is %s" % mpmath.nstr(error, 3))
    return value


def settled(function, cuts):
    """A value on which two precisions agree, with other nodes: each interval is cut at another place."""
    values = []
    for digits, share in ((20, mpf("0.4713")), (30, mpf("0.5381"))):
        with mpmath.workdps(digits):
            finer = [cuts[0]]
            for a, b in itertools.pairwise(cuts):
                if mpmath.isfinite(a) and mpmath.isfinite(b):
                    finer.append(a + (b - a) * share)
                elif mpmath.isfinite(a):
                    finer.append(a + 2 * share)
                finer.append(b)
            values.append(quadrature(function, finer))
    if abs(values[0] - values[1]) > mpf(10) ** -9 * max(abs(values[1]), mpf(10) ** -3):
        raise Undetermined("two precisions differ")
    return values[1]


def over(function, integrand, name, low, high, env, principal_value):
    breaks = breakpoints(integrand, name, low, high, env)
    poles = []
    for point in breaks:
        order = blow_up(function, point, 1), blow_up(function, point, -1)
        if max(order) > 0.999:
            if not principal_value:
                raise Divergent("pole at %s" % show(point, 6))
            poles.append(point)
    for point, side in ((low, 1), (high, -1)):
        if mpmath.isfinite(point):
            if blow_up(function, point, side) > 0.999:
                raise Divergent("pole at %s" % show(point, 6))
    pieces = [low] + [b for b in breaks if low < b < high] + [high]
    if poles:
        return symmetric(function, pieces, poles), mpf(1)
    total, size = mpf(0), mpf(0)
    for a, b in itertools.pairwise(pieces):
        value = piece(function, a, b)
        total, size = total + value, size + abs(value)
    return total, size


def symmetric(function, pieces, poles):
    """A principal value: around each simple pole the two sides are added before integrating."""
    if any(not mpmath.isfinite(p) for p in pieces):
        raise Undetermined("principal value on an infinite range")
    total = mpf(0)
    rest = []
    edge = pieces[0]
    for pole in poles:
        neighbours = [abs(p - pole) for p in pieces if p != pole]
        width = min(neighbours) / (1 if len(poles) == 1 else 2)
        total += settled(lambda t: function(pole + t) + function(pole - t), [mpf(0), width])
        rest.append((edge, pole - width))
        edge = pole + width
    rest.append((edge, pieces[-1]))
    for a, b in rest:
        if b - a > mpf(10) ** -15:
            total += settled(function, [a] + [p for p in pieces if a < p < b] + [b])
    return total


def piece(function, a, b):
    """One interval without singularities inside."""
    if mpmath.isfinite(a) and mpmath.isfinite(b):
        return finite_piece(function, a, b)
    if not mpmath.isfinite(a) and not mpmath.isfinite(b):
        return piece(function, a, mpf(0)) + piece(function, mpf(0), b)
    if not mpmath.isfinite(a):
        return piece(lambda x: function(-x), -b, mpf("inf"))
    return infinite_piece(function, a)


def finite_piece(function, a, b):
    tanh_sinh = settled(function, [a, b])
    with mpmath.workdps(15):
        nodes = [a + (b - a) * k / 4 for k in range(5)]
        try:
            gauss, error = mpmath.quad(function, nodes, method="gauss-legendre", maxdegree=5, error=True)
        except numeric.problems():
            return tanh_sinh
    # Gauss and Legendre's rule is poor where the integrand ends in a singularity: it then says so itself.
    if error < mpf(10) ** -6 and abs(gauss - tanh_sinh) > mpf(10) ** -4 * max(abs(tanh_sinh), abs(gauss), mpf(10) ** -6):
        raise Undetermined("two methods differ")
    return tanh_sinh


def infinite_piece(function, a):
    start = max(a, mpf(0)) + 40
    with mpmath.workdps(15):
        samples = []
        for i in range(GRID):
            x = start + mpf(i) * 40 / GRID
            try:
                samples.append((x, numeric.real(function(x))))
            except numeric.NoValue:
                raise Undetermined("complex tail")
        crossings = [(x, y) for (x, p), (y, q) in itertools.pairwise(samples) if p * q < 0]
        largest = max(abs(value) for _, value in samples)
    if largest == 0 or largest < mpf(10) ** -14:
        return decaying(function, a)
    if len(crossings) >= 4:
        return oscillating(function, a, crossings)
    tail_order(function)
    return decaying(function, a)


def tail_order(function):
    """Divergent where |f| falls no faster than 1/x, measured far out."""
    with mpmath.workdps(DIGITS):
        try:
            near, far = abs(function(mpf(10) ** 20)), abs(function(mpf(10) ** 40))
        except (Refused, *numeric.problems()):
            return
        if far == 0 or near == 0:
            return
        order = mpmath.log(near / far, 10) / 20
        if order < mpf("1.001") and order > -50:
            if order > mpf("0.999") and not constant_ratio(function):
                raise Undetermined("slow decay")
            raise Divergent("the integrand decays like x^-%s" % mpmath.nstr(order, 4))


def constant_ratio(function):
    """Whether x f(x) tends to a constant other than zero, so that a logarithm does not save the integral."""
    values = [mpf(10) ** k * function(mpf(10) ** k) for k in (10, 20, 40)]
    return abs(values[2] - values[1]) < mpf(10) ** -6 * abs(values[2]) and abs(values[1] - values[0]) < mpf(10) ** -3 * abs(values[2])


def decaying(function, a):
    cuts = [a] + [a + k for k in (1, 3, 8, 20)] + [mpf("inf")]
    return settled(function, cuts)


def oscillating(function, a, crossings):
    """Integrals between zeros, their alternating series accelerated; two lengths must agree."""
    with mpmath.workdps(20):
        regular = regular_zeros(function, crossings)
        zeros = regular or scanned_zeros(function, a)
        terms = [quadrature(function, [p, q]) for p, q in itertools.pairwise(zeros)]
        if regular and all(abs(t) >= abs(s) * (1 - mpf(10) ** -9) > mpf(10) ** -6 for s, t in itertools.pairwise(terms)):
            raise Divergent("the integral swings and does not settle")
        if any(s * t >= 0 for s, t in itertools.pairwise(terms)):
            raise Undetermined("no alternating tail")
        if abs(terms[-1]) > abs(terms[0]) * mpf("0.98"):
            raise Undetermined("no decay")
        head = quadrature(function, [a + (zeros[0] - a) * k / 16 for k in range(17)]) if zeros[0] > a else mpf(0)
        values = [averaged(terms[:count]) for count in (len(terms) - 3, len(terms))]
        if abs(values[0] - values[1]) > mpf(10) ** -8 * max(abs(values[1]), mpf(10) ** -3):
            raise Undetermined("the tail did not settle")
        return head + values[1]


def regular_zeros(function, crossings):
    """Zeros at an even spacing, from far out; None where the spacing is not even."""
    real = lambda x: numeric.real(function(x))
    middles = [(x + y) / 2 for x, y in crossings]
    spacing = [y - x for x, y in itertools.pairwise(middles)]
    mean = sum(spacing) / len(spacing)
    if max(abs(s - mean) for s in spacing) > mean / 4:
        return None
    zeros = [mpmath.findroot(real, crossings[0], solver="anderson", verify=False)]
    while len(zeros) <= 22:
        guess = zeros[-1] + mean
        zeros.append(mpmath.findroot(real, (guess - mean / 8, guess + mean / 8), solver="secant", verify=False))
    return zeros


def scanned_zeros(function, a):
    """Zeros by a fine scan near the lower end, for frequencies that grow."""
    real = lambda x: numeric.real(function(x))
    start, found = a + mpf(1) / 7, []
    with mpmath.workdps(15):
        samples = [(start + mpf(i) / 64, real(start + mpf(i) / 64)) for i in range(64 * 10)]
    for (x, p), (y, q) in itertools.pairwise(samples):
        if p * q < 0:
            found.append(mpmath.findroot(real, (x, y), solver="anderson", verify=False))
    if len(found) < 14 or any(later - earlier < mpf(3) / 64 for earlier, later in itertools.pairwise(found)):
        found = [z for z, following in itertools.pairwise(found) if following - z >= mpf(3) / 64]
    if len(found) < 14:
        raise Undetermined("irregular oscillation")
    return found[-26:]


def averaged(terms):
    """Euler's transformation of an alternating series: repeated means of the partial sums."""
    sums = list(itertools.accumulate(terms))
    while len(sums) > 1:
        sums = [(p + q) / 2 for p, q in itertools.pairwise(sums)]
    return sums[0]


def blow_up(function, point, side):
    """The order p of |f| ~ |x - point|^-p from one side; 0 where f stays bounded."""
    with mpmath.workdps(3 * DIGITS):
        try:
            near = abs(function(point + side * mpf(10) ** -20))
            nearer = abs(function(point + side * mpf(10) ** -40))
        except (Refused, *numeric.problems()):
            return 0
        if near == 0 or nearer == 0 or nearer < 1000:
            return 0
        return float(mpmath.log(nearer / near, 10) / 20)


def breakpoints(integrand, name, low, high, env):
    """Points inside the interval where a part of the integrand vanishes or jumps."""

    a, b = max(low, mpf(-60)), min(high, mpf(60))
    if a >= b:
        return []
    found = []
    seen = set()
    for part in walk(integrand):
        inner = singular_part(part, name)
        if inner is None or inner in seen or len(seen) > 12:
            continue
        seen.add(inner)
        found += zeros(inner, name, a, b, env)
    distinct = []
    for point in sorted(found):
        if low < point < high and (not distinct or point - distinct[-1] > mpf(10) ** -12):
            distinct.append(point)
    if len(distinct) > 40:
        raise Undetermined("too many break points")
    return distinct


def singular_part(part, name):
    """The subexpression whose zeros are poles or kinks of part; None where there is none."""
    inner = None
    if is_call(part, "Power") and not isinstance(part[2], int):
        exponent = part[2]
        if isinstance(exponent, tuple) and name not in tree.free_symbols(exponent):
            inner = part[1]
    elif is_call(part, "Power") and part[2] < 0:
        inner = part[1]
    elif is_call(part, "Divide"):
        inner = part[2]
    elif is_call(part, "Tan", "Sec"):
        inner = ("Cos", part[1])
    elif is_call(part, "Cot", "Csc"):
        inner = ("Sin", part[1])
    elif is_call(part, "Floor", "Ceiling", "Mod", "Round"):
        inner = ("Sin", ("Times", "Pi", part[1]))
    elif is_call(part, "Max", "Min") and len(part) == 3:
        inner = ("Subtract", part[1], part[2])
    elif isinstance(part, tuple) and part[0] in KINKS and len(part) == 2:
        inner = part[1]
    elif is_call(part, "Less", "LessEqual", "Greater", "GreaterEqual", "Equal") and len(part) == 3:
        inner = ("Subtract", part[1], part[2])
    if isinstance(inner, tuple) or isinstance(inner, str):
        return inner if name in tree.free_symbols(inner) else None
    return None


def zeros(node, name, low, high, env):
    import polynomials

    with mpmath.workdps(3 * DIGITS):
        try:
            top, _ = polynomials.quotient(node, name, env)
            return [mpmath.re(z) for z in map(number, polynomials.roots(top)) if abs(mpmath.im(z)) < mpf(10) ** (-DIGITS)]
        except (polynomials.NotPolynomial, Refused, mpmath.libmp.NoConvergence, *numeric.problems()):
            pass

        def value(x):
            try:
                return numeric.real(numeric.evaluate(node, env.having(name, x)))
            except (Refused, *numeric.problems()):
                return None

        with mpmath.workdps(15):
            grid = [low + (high - low) * (i + mpf("0.37")) / GRID for i in range(GRID)]
            values = [value(x) for x in grid]
        found = []
        for (x, p), (y, q) in itertools.pairwise(zip(grid, values)):
            if p is not None and q is not None and p * q < 0:
                try:
                    root = mpmath.findroot(lambda t: numeric.real(numeric.evaluate(node, env.having(name, t))), (x, y), solver="anderson", verify=False, maxsteps=80)
                except (Refused, *numeric.problems()):
                    continue
                found.append(mpmath.re(root))
        return found


def product_rule(integrand, ranges, env):
    """Gauss-Legendre in two and three dimensions, infinite ranges mapped to finite ones; two orders must agree."""
    if any(len(r) != 3 for r in ranges):
        raise Undetermined("stops in several dimensions")
    infinite = any(limits_of(limit) is not None for _, *limits in ranges for limit in limits)
    orders = ((32, 44) if infinite else (18, 26)) if len(ranges) == 2 else (9, 12)
    with mpmath.workdps(18):
        coarse, fine = (nested(integrand, ranges, env, legendre(n)) for n in orders)
    if abs(coarse - fine) > mpf(10) ** -5 * max(abs(fine), mpf(10) ** -3):
        raise Undetermined("the product rule did not settle")
    return fine, abs(fine)


_legendre = {}


def legendre(n):
    if n not in _legendre:
        points = mpmath.polyroots(mpmath.taylor(lambda x: mpmath.legendre(n, x), 0, n)[::-1], maxsteps=200, extraprec=200)
        rule = []
        for x in points:
            x = mpmath.re(x)
            slope = n * (x * mpmath.legendre(n, x) - mpmath.legendre(n - 1, x)) / (x * x - 1)
            rule.append(((x + 1) / 2, 1 / ((1 - x * x) * slope * slope)))
        _legendre[n] = rule
    return _legendre[n]


def nested(integrand, ranges, env, rule):
    if not ranges:
        return number(numeric.evaluate(integrand, env))
    (name, low, high), rest = ranges[0], ranges[1:]
    a, b = end(low, env), end(high, env)
    total = mpf(0)
    for u, weight in rule:
        t = u
        if mpmath.isfinite(a) and mpmath.isfinite(b):
            # A smooth step flattens what happens at the ends.
            t, weight = u**3 * (10 - 15 * u + 6 * u * u), weight * 30 * (u * (1 - u)) ** 2
        x, slope = mapped(t, mpmath.re(a), mpmath.re(b))
        total += weight * slope * nested(integrand, rest, env.having(name, x), rule)
    return total


def mapped(t, a, b):
    """[0, 1] onto the range, with the derivative of the map."""
    if mpmath.isfinite(a) and mpmath.isfinite(b):
        return a + (b - a) * t, b - a
    if mpmath.isfinite(a):
        return a + t / (1 - t), 1 / (1 - t) ** 2
    if mpmath.isfinite(b):
        return b - t / (1 - t), 1 / (1 - t) ** 2
    s = 2 * t - 1
    return s / (1 - s * s), 2 * (1 + s * s) / (1 - s * s) ** 2
