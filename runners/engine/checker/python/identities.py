"""Task "identities": claims left == right that must hold for all values of their symbols (under assumptions)."""
import numeric
import sampling
import tree
from findings import agrees, proved_by_numbers, refuted, undecided
from numeric import Environment
from sampling import compare, show

# How many points of each region are looked at. Positive points come first: there almost every formula is meant to hold.
COUNTS = {"positive": 12, "natural": 8, "real": 8, "complex": 6}


def check(task, seed):
    claims = [(left, right) for left, right in task["claims"]]
    assumptions = sampling.Assumptions(task.get("assumptions", []))
    if task.get("integers"):
        assumptions.integers.update(task["integers"])
    names = set().union(*(tree.free_symbols(side) for claim in claims for side in claim)) if claims else set()
    constants = sorted({k for claim in claims for side in claim for k in tree.constants(side)})
    answer = task.get("answer")
    tolerance = sampling.tolerance_of(*([answer] if answer is not None else [side for claim in claims for side in claim]))
    if not claims:
        return undecided("nothing to compare")
    everything_named = bool(names) and names <= assumptions.named
    count_from_one(claims, assumptions)
    points = sampling.Points(names, assumptions, seed)
    # The natural domain of a formula in given variables: parameters positive, the variables of either sign.
    points.natural = set(task.get("natural") or [])
    regions = {}
    for region in task.get("regions") or ["positive", "real", "complex"]:
        regions[region] = look(claims, points, region, constants, tolerance, names, task.get("real_valued"), task.get("functions", []))
        if not names and not constants:
            break
    everywhere = everything_named and not task.get("natural")
    if (everywhere or all(single_valued(side) for claim in claims for side in claim)) and broken(regions, everywhere):
        return refuted(show(next(r.example for r in regions.values() if r.different)))
    return conclude(claims, regions, assumptions, bool(names or constants or task.get("functions")))


def count_from_one(claims, assumptions):
    """Symbols in the ends of sums and products are whole numbers from 1."""
    for claim in claims:
        for node in (part for side in claim for part in tree.walk(side) if tree.is_call(part, "Sum", "Product")):
            for iterator in node[2:]:
                for name in tree.free_symbols(("List", *iterator[2:])) if tree.is_call(iterator, "List") else ():
                    assumptions.integers.add(name)
                    assumptions.low.setdefault(name, 1)


# Functions that have one value for every real argument, whatever one's conventions.
SINGLE_VALUED = numeric.NOT_ANALYTIC | {
    "List", "Plus", "Times", "Subtract", "Minus", "Divide", "Rational", "D", "Exp", "Sin", "Cos", "Sinh", "Cosh", "RealAbs", "RealSign",
    "Equal", "Unequal", "Less", "LessEqual", "Greater", "GreaterEqual", "Inequality", "And", "Or", "Not",
}


def single_valued(node):
    """Whether no choice of a branch plays a part, so that a claim cannot be meant for positive values only."""
    if not isinstance(node, tuple):
        return True
    if tree.is_call(node, "Power"):
        return len(node) == 3 and (isinstance(node[2], int) or node[1] == "E") and all(single_valued(part) for part in node[1:])
    return node[0] in SINGLE_VALUED and all(single_valued(part) for part in node[1:])


def broken(regions, everywhere):
    """Whether a claim about all real values, or everything that is assumed, fails at a fair share of the points of some region."""
    looked = [seen for name, seen in regions.items() if everywhere or name != "complex"]
    return any(r.different >= 2 and r.different * 4 >= r.decided for r in looked)


class Seen:
    """The comparisons of one region."""

    def __init__(self):
        self.equal = self.different = self.near = self.unknown = 0
        self.example = None

    def add(self, comparison):
        if comparison.state in ("different", "shape"):
            self.different += 1
            if self.example is None:
                self.example = comparison.difference
        elif comparison.state == "equal":
            self.equal += 1
        elif comparison.state == "near":
            self.near += 1
        else:
            self.unknown += 1

    @property
    def decided(self):
        return self.equal + self.near + self.different


def look(claims, points, region, constants, tolerance, names, real_valued, functions):
    seen = Seen()
    count = COUNTS[region] if names or constants or functions else 1
    spare = []
    tries = 0
    while seen.decided < count and tries < 2 * count:
        tries += 1
        env = points.draw(region)
        if env is None:
            break
        env = Environment(env.values, {}, {k: points.value(("C", k), "positive") for k in constants})
        result = at_point(claims, env, tolerance)
        if real_valued is not None and region in ("positive", "natural") and not is_real(real_valued, env):
            spare.append(result)
            continue
        seen.add(result)
        if seen.different >= 6 and seen.equal == 0:
            break
    if seen.decided < 3:
        for result in spare:
            seen.add(result)
    return seen


def is_real(node, env):
    try:
        numeric.real(numeric.evaluate(node, env))
        return True
    except (tree.Refused, *numeric.problems()):
        return False


def at_point(claims, env, tolerance):
    worst = sampling.Comparison("equal", 0)
    for left, right in claims:
        result = compare(lambda: numeric.evaluate(left, env), lambda: numeric.evaluate(right, env), tolerance=tolerance)
        if result.state in ("different", "shape"):
            return result
        if result.state != "equal" and worst.state != "unknown":
            worst = result
    return worst


def conclude(claims, regions, assumptions, varying):
    first = next(iter(regions.values()))
    equal, different = sum(r.equal for r in regions.values()), sum(r.different for r in regions.values())
    near = sum(r.near for r in regions.values())
    example = next((r.example for r in regions.values() if r.example is not None), None)
    if not varying:
        if different:
            return refuted(show(example) if example is not None else "shape")
        if near:
            return agrees("0.")
        if equal:
            return proved_by_numbers(claims, assumptions)
        return undecided("no value")
    if different == 0:
        if near:
            return agrees("0.")
        if equal >= 12 and first.equal >= min(6, equal):
            return proved_by_numbers(claims, assumptions)
        return undecided("too few points")
    natural = regions.get("natural")
    if natural is not None and first.equal + natural.equal >= 12 and natural.equal >= 4 and not (first.different + natural.different + near):
        # It holds wherever the original is real, and differs beyond by the choice of a branch.
        return proved_by_numbers(claims, assumptions)
    others = [r for r in regions.values() if r is not first and r.decided]
    if first.decided >= 3:
        elsewhere = sum(r.decided for r in others)
        if first.different == first.decided and sum(r.different for r in others) * 2 >= elsewhere:
            return refuted(show(example) if example is not None else "shape")
    elif different * 10 >= 9 * (equal + near + different) and different >= 3:
        return refuted(show(example) if example is not None else "shape")
    return undecided("holds at some points only")
