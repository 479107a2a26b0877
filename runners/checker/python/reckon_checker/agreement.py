"""Claims left == right that must hold for all values of their symbols under assumptions: the comparison at chosen points.

survey looks at every point and tallies by region; what follows from a survey is for the rule to say. A difference at one
admissible point is a proof that the claim is false there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from . import budget
from .assumptions import Assumptions
from .critical import DISCONTINUOUS, STEPPED
from .deciding import ENOUGH_DIGITS, constant_parts, decide, height, hidden
from .evaluation import EMPTY as NOWHERE
from .evaluation import Environment, evaluate
from .findings import Refuted, Witness
from .machine import rounding, widened
from .points import Point, Points, environment
from .stand_ins import told, undefined_functions
from .tree import Refused, Tree, arguments, constants, free_symbols, is_call, reals, walk
from .values import WITHHELD, Comparison, Kind, NonValue, Relation, Undecided, Value, compare, is_number, precision, whole

Claim = tuple[Tree, Tree]

# Bits with which two points are looked at once more, at most with so much of the budget; of that many a step is counted.
CLOSER_BITS, CLOSER_POINTS, CLOSER_SHARE, STEP_BITS = (4096, 40_000), 2, 0.4, 16

# Heads by which an expression says where it has which value.
CHOOSING = ("ConditionalExpression", "Piecewise", "If", "Boole", "KroneckerDelta", "DiscreteDelta", "UnitBox")


@dataclass
class Region:
    """The comparisons at the points of one region."""

    agree: int = 0  # equal, or to enough digits
    close: int = 0  # to fewer
    differ: int = 0
    outside: int = 0  # the question itself has no value there
    unknown: int = 0
    unseen_places: int = 0  # of special places those at which nothing was decided
    digits: int = 10**6


@dataclass(frozen=True)
class Words:
    """How differences are told. each: of what each claim speaks; sides: the claims are equations that the answer is to fulfil, so that
    neither side is its value."""

    each: Sequence[str] = ()
    sides: bool = False
    note: str = ""
    turned: frozenset[int] = frozenset()  # claims whose sides stand the other way round than in the equation


@dataclass
class Survey:
    regions: dict[str, Region] = field(default_factory=dict)
    differences: list[tuple[Point, Comparison]] = field(default_factory=list)
    exact: bool = True  # every comparison was of exact values
    certain: bool = True  # no region was missed, and no function is a stand-in
    undecided: bool = False  # of all points of a region it is not known whether they are admissible
    thin: bool = False  # assumptions may leave values beside which nothing is admitted, and which no point is
    stepped: bool = False  # a function may jump where no point was taken
    placed: bool = False  # a value at a place may be none of those beside it, so that every place counts
    words: Words = field(default_factory=Words)
    sample: tuple[Point, Value] | None = None  # a point where the left side is a number

    @property
    def agreed(self) -> int:
        return sum(region.agree for region in self.regions.values())

    @property
    def places_seen(self) -> bool:
        """Whether the sides were compared at every special place."""
        return not any(region.unseen_places for region in self.regions.values())

    @property
    def covered(self) -> bool:
        """Every region has a point with enough digits or lies outside the domain, and some point has."""
        if self.placed and not self.places_seen:
            return False
        return self.agreed > 0 and all(region.agree > 0 or (region.outside > 0 and region.close == region.unknown == 0) for region in self.regions.values())

    @property
    def digits(self) -> int:
        return min((region.digits for region in self.regions.values()), default=0)

    def refutation(self, note: str = "") -> Refuted | None:
        """The proof of the clearest difference: off special places and on the reals first."""
        if not self.differences:
            return None
        point, found = min(self.differences, key=lambda pair: (pair[0].special, not pair[0].real))
        what = self.words.each[found.claim] if found.claim < len(self.words.each) else ""
        notes = "; ".join(part for part in (self.words.note, note) if part)
        left, right = (found.right, found.left) if self.words.sides and found.claim in self.words.turned else (found.left, found.right)
        return Refuted(Witness(left, right, point.values, found.exact, notes, self.words.sides, what, found.place))

    @property
    def holds_for_reals(self) -> bool:
        """Whether the claim fails at complex points only."""
        return (
            bool(self.differences)
            and not any(point.real for point, _ in self.differences)
            and any(region.agree > 0 for name, region in self.regions.items() if not name.startswith("complex"))
        )


def names_of(claims: Sequence[Claim]) -> set[str | tuple[Tree, ...]]:
    """The symbols and generated constants of claims."""
    found: set[str | tuple[Tree, ...]] = set()
    for claim in claims:
        for side in claim:
            found |= free_symbols(side)
            found |= {("C", k) for k in constants(side)}
    return found


def survey(
    claims: Sequence[Claim],
    assumptions: Assumptions,
    seed: int,
    *,
    real: bool = False,
    printed: bool = False,
    enough_differences: int = 1,
    keep: Callable[[Point], bool | None] | None = None,
    partial: bool = False,
    words: Words | None = None,
) -> Survey:
    """Compares the claims at chosen points until enough_differences are found. real: symbols are real; printed: decimals of
    the right sides are read as what they print; keep: which points count, None where that is not known; partial: the right sides may have
    no value at special and complex points."""
    unknown = sorted(set().union(*(undefined_functions(side) for claim in claims for side in claim))) if claims else []
    seen = Survey(words=replace(words or Words(), note="; ".join(told(name, arity) for name, arity in unknown)))
    points = Points(names_of(claims), [side for claim in claims for side in claim], assumptions, seed, real)
    chosen = points.choose()
    seen.certain = points.certain and not unknown
    seen.undecided = points.undecided_regions
    seen.thin = not points.spread
    seen.stepped = not points.no_step_missed and any(is_call(part, *STEPPED) for claim in claims for side in claim for part in walk(side))
    seen.placed = any(is_call(part, *DISCONTINUOUS) for claim in claims for side in claim for part in walk(side))
    refused: Refused | None = None
    looked = 0
    chosen_values = any(is_call(part, *CHOOSING) for _, right in claims for part in walk(right))
    everywhere = infinite_everywhere(claims)
    unseen: list[Point] = []
    lossy = printed and any(reals(side) for claim in claims for side in claim)
    for point in chosen:
        kept = True if keep is None else keep(point)
        if kept is False:
            continue
        if kept is None:
            seen.regions.setdefault(point.region, Region()).unknown += 1
            continue
        budget.step()
        left, right = environment(point), environment(point, printed=printed)
        try:
            found = at_point(claims, left, right, lossy)
        except Refused as problem:
            refused = refused or problem
            _unseen(seen, point)
            continue
        looked += 1
        if found.relation is Relation.OVERLAP and found.digits < ENOUGH_DIGITS and not point.special and len(unseen) < CLOSER_POINTS:
            unseen.append(point)
        if seen.sample is None and is_number(found.left):
            seen.sample = point, found.left
        _add(seen, point, found, partial=partial, chosen_values=chosen_values, everywhere=everywhere)
        if len(seen.differences) >= enough_differences:
            break
    if refused is not None and not looked:
        raise refused
    if not seen.differences and unseen and not lossy:
        closer(seen, claims, unseen, printed)
    return seen


def closer(seen: Survey, claims: Sequence[Claim], points: Sequence[Point], printed: bool) -> None:
    """Looks with many more bits at points where the sides agree, though not to all that the numbers in them call for: Zeta[2000] is not 1."""

    def look() -> bool:
        for bits in CLOSER_BITS:
            for point in points:
                left, right = environment(point), environment(point, printed=printed)
                for i, (a, b) in enumerate(claims):
                    budget.step(bits // STEP_BITS)
                    with suppress(Undecided, Refused), precision(bits):
                        found = compare(evaluate(a, left), evaluate(b, right))
                        if found.relation is Relation.DIFFERENT and is_number(found.left) and is_number(found.right):
                            seen.differences.append((point, replace(found, claim=i)))
                            return True
        return False

    budget.attempted(look, CLOSER_SHARE)


def at_point(claims: Sequence[Claim], left: Environment, right: Environment, lossy: bool = False) -> Comparison:
    """The first difference among the claims at a point, else the worst comparison. lossy: decimals are in play, so that
    values may be off by what machine arithmetic loses."""
    worst = Comparison(Relation.EQUAL)
    sides = [side for claim in claims for side in claim]
    extra = max(height(*sides), *(hidden(side) for side in sides), 0)
    for i, (a, b) in enumerate(claims):
        if lossy:
            lost = rounding(a, left), rounding(b, left)
            found = decide(lambda a=a, lost=lost: widened(evaluate(a, left), lost[0]), lambda b=b, lost=lost: widened(evaluate(b, right), lost[1]))  # type: ignore[misc]
        else:
            found = decide(lambda a=a: evaluate(a, left), lambda b=b: evaluate(b, right), extra=extra)  # type: ignore[misc]
        if found.relation is Relation.DIFFERENT:
            return replace(found, claim=i)
        if (
            found.relation is Relation.INCOMPARABLE
            or worst.relation is Relation.EQUAL
            or (worst.relation is Relation.OVERLAP and found.relation is Relation.OVERLAP and found.digits < worst.digits)
        ):
            worst = found
    return worst


def infinite_everywhere(claims: Sequence[Claim]) -> tuple[bool, bool]:
    """Whether a left and a right side hold an infinity that depends on no symbol: no pole that might be removable."""

    def holds(side: Tree) -> bool:
        for part in (side, *constant_parts(side)) if isinstance(side, tuple) else (side,):
            if not free_symbols(part) and not any(is_call(inner, "C", "Slot") for inner in walk(part)):
                with suppress(Undecided, Refused):
                    if _infinite(evaluate(part, NOWHERE)):
                        return True
        return any(part in ("Infinity", "ComplexInfinity") for part in arguments(side))

    left, right = (any(holds(claim[i]) for claim in claims) for i in (0, 1))
    return left, right


def _add(seen: Survey, point: Point, found: Comparison, *, partial: bool, chosen_values: bool, everywhere: tuple[bool, bool]) -> None:
    """chosen_values: the right sides say themselves where they have which value, so that none is missing because a pole is removable;
    everywhere: the sides that hold an infinity whatever the symbols are."""
    region = seen.regions.setdefault(point.region, Region())
    if found.relation is Relation.DIFFERENT:
        if (
            point.values
            and (_infinite(found.left) or _infinite(found.right))
            and not (_infinite(found.left) and everywhere[0])
            and not (_infinite(found.right) and everywhere[1])
        ):
            # A pole of one side: where it is removable the other side has its limit, so nothing follows. Poles lie at special
            # places and at whole numbers; elsewhere a side may be infinite all over the region.
            if (point.special or any(whole(value) is not None for value in point.values.values())) and not (chosen_values and _infinite(found.right)):
                region.outside += 1
            else:
                region.unknown += 1
            return
        region.differ += 1
        seen.differences.append((point, found))
    elif found.relation is Relation.EQUAL:
        if point.values and _infinite(found.left):
            region.outside += 1
        else:
            region.agree += 1
    elif found.relation is Relation.OVERLAP:
        seen.exact = False
        if point.special and found.digits < ENOUGH_DIGITS:
            region.outside += 1
            return
        region.digits = min(region.digits, found.digits)
        if found.digits >= ENOUGH_DIGITS:
            region.agree += 1
        else:
            region.close += 1
    elif isinstance(found.left, NonValue) or (
        isinstance(found.right, NonValue) and ((point.special and found.right.why != WITHHELD.why) or (partial and not point.real))
    ):
        region.outside += 1
    else:
        _unseen(seen, point)


def _unseen(seen: Survey, point: Point) -> None:
    region = seen.regions.setdefault(point.region, Region())
    region.unknown += 1
    region.unseen_places += point.special


def _infinite(value: Value) -> bool:
    return isinstance(value, NonValue) and value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY)
