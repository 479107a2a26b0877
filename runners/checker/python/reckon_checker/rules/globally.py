"""That a function of one real unknown stays away from a value everywhere: by enclosures on a bounded part, cut finer and finer,
and by expansions beyond it. And that no extremum lies near a point: by enclosures of derivatives."""

from __future__ import annotations

from flint import arb, fmpq

from .. import budget
from ..calculus import differentiate
from ..critical import JUMPING
from ..evaluation import Environment, evaluate
from ..expanding import eventual_sign, expand, towards
from ..expansion import Expander
from ..growth import order
from ..parameters import Known
from ..stops import period
from ..tree import Refused, Tree, is_call, minus, rational_tree, times, walk
from ..values import Undecided, complex_ball, is_number, real_ball
from ..wording import show

STARTS = (2, 4, 7, 12)
MAX_BOXES = 3000
NARROWEST = fmpq(1, 2**60)
TERMS = 4
NEWTON = 6
NEARBY, STEEP = fmpq(1, 10**4), fmpq(1, 10**3)  # relative to 1 + the size of the point, and of the value


def stays_above(objective: Tree, name: str, target: fmpq) -> bool:
    """Whether the infimum of the objective over all real values of the name is proved to be above the target."""
    if kinked(objective):
        return False
    try:
        trees = [objective, differentiate(objective, name), differentiate(objective, name, 2)]
    except Refused:
        return False
    turn = period(objective, name)
    if turn is not None:
        value = evaluate(turn)
        real = real_ball(value) if is_number(value) else None
        return real is not None and _above(trees, name, target, fmpq(0), arb(real.upper()).fmpq())
    for start in STARTS:
        budget.step()
        if all(_tail(objective, name, target, way, start) for way in ("Infinity", times(-1, "Infinity"))):
            return _above(trees, name, target, fmpq(-(2**start)), fmpq(2**start))
    return False


def kinked(objective: Tree) -> bool:
    """Whether derivatives do not tell all."""
    return any(is_call(part, *JUMPING) for part in walk(objective))


def _tail(objective: Tree, name: str, target: fmpq, way: Tree, start: int) -> bool:
    """Above the target by a part of something that does not vanish, from 2^start on."""
    try:
        on = Expander(arb(2) ** start, TERMS)
        germ = expand(towards(minus(objective, rational_tree(target)), name, way, 1), on)
        return eventual_sign(germ, on) > 0 and order(on.lead(germ)[0]) >= 0
    except (Undecided, Refused, ValueError, ZeroDivisionError, OverflowError):
        return False


def _above(trees: list[Tree], name: str, target: fmpq, low: fmpq, high: fmpq) -> bool:
    boxes, looked = [(low, high)], 0
    while boxes:
        a, b = boxes.pop()
        looked += 1
        budget.step()
        if looked > MAX_BOXES:
            return False
        if _box_above(trees, name, target, a, b):
            continue
        if b - a < NARROWEST:
            return False
        middle = (a + b) / 2
        boxes += [(a, middle), (middle, b)]
    return True


def _box_above(trees: list[Tree], name: str, target: fmpq, a: fmpq, b: fmpq) -> bool:
    box, middle = arb((a + b) / 2, (b - a) / 2), (a + b) / 2
    value = real_at(trees[0], name, box)
    if value is None:
        return False
    if value > arb(target):
        return True
    slope, at_middle, curvature = real_at(trees[1], name, box), real_at(trees[0], name, middle), real_at(trees[2], name, box)
    if slope is None or at_middle is None:
        return False
    if at_middle + slope * (box - arb(middle)) > arb(target):
        return True
    if curvature is None or not curvature > 0:
        return False
    # Convex: above its tangent parabola of the least curvature at any place, best where the slope is 0.
    place = middle
    for _ in range(NEWTON):
        first, second = real_at(trees[1], name, place), real_at(trees[2], name, place)
        if first is None or second is None or not second > 0:
            break
        place = min(max(place - arb((first / second).mid()).fmpq(), a), b)
    there, first = real_at(trees[0], name, place), real_at(trees[1], name, place)
    return there is not None and first is not None and bool(there - first * first / (2 * arb(curvature.lower())) > arb(target))


def real_at(tree: Tree, name: str, at: fmpq | arb) -> arb | None:
    try:
        value = evaluate(tree, Environment({name: at}))
        return real_ball(value) if is_number(value) else None
    except (Undecided, Refused):
        return None


def no_extremum_near(objective: Tree, point: dict[str, arb], sense: int) -> str | None:
    """Why no minimum of sense times a function without constraints lies near a point; None where that is not proved."""
    if kinked(objective):
        return None
    boxes: Known = {name: arb(x.mid(), (arb(x.rad()) + arb(NEARBY) * (1 + abs(x))).upper()) for name, x in point.items()}
    env = Environment(boxes)
    try:
        size = evaluate(objective, env)
        if not is_number(size):
            return None
        steep = arb(STEEP) * (1 + arb(complex_ball(size).abs_upper()))
        for name in sorted(point):
            slope = evaluate(differentiate(objective, name), env)
            real = real_ball(slope) if is_number(slope) else None
            if real is not None and abs(real) > steep:
                return f"the derivative by {name} is {show(real, 10)} around the point, never 0"
            bend = evaluate(differentiate(objective, name, 2), env)
            real = real_ball(bend) if is_number(bend) else None
            if real is not None and real * sense < -steep:
                return f"the second derivative by {name} is {show(real, 10)} around the point, of the wrong sign"
    except (Undecided, Refused):
        return None
    return None
