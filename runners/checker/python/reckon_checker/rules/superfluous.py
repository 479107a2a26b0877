"""Terms of an antiderivative that add nothing but jumps: ArcTan[Tan[x]] - x."""

from __future__ import annotations

import itertools

from flint import fmpq

from ..calculus import differentiate
from ..evaluation import Environment, evaluate
from ..normal import proves_zero
from ..sought import Absent, Found, Sought, Unseen
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, times
from ..values import Undecided, complex_ball, is_number, precision
from .breaks import single_valued

MAX_TERMS, MAX_COMBINED = 12, 8
TRIED = (fmpq(37, 64), fmpq(-83, 64), fmpq(201, 64), fmpq(5, 7))


def superfluous(answer: Tree, name: str) -> Sought[Tree]:
    """Terms of a sum, but not all that depend on the symbol, whose derivative is 0, or two whose derivatives are proportional: Absent
    where the derivative of every such part is proved not to be."""
    terms = [term for term in spread_out(answer) if name in free_symbols(term)]
    if len(terms) > MAX_TERMS or sum(not single_valued(term, name) for term in terms) > MAX_COMBINED:
        return Unseen("many terms")
    try:
        slopes = [differentiate(term, name) for term in terms]
    except Refused:
        return Unseen("a derivative")
    broken = [i for i, term in enumerate(terms) if not single_valued(term, name)]
    for count in range(1, len(terms)):
        for chosen in itertools.combinations(range(len(terms)), count):
            if not set(chosen) & set(broken):
                continue
            part = plus(*(slopes[i] for i in chosen))
            if not not_zero_somewhere(part):
                return Found(plus(*(terms[i] for i in chosen))) if proves_zero(part) else Unseen("whether a term has a derivative")
    for i, j in itertools.combinations(range(len(terms)), 2):
        if {i, j} & set(broken):
            apart = minus(times(slopes[i], differentiate(slopes[j], name)), times(slopes[j], differentiate(slopes[i], name)))
            if not not_zero_somewhere(apart):
                proportional = proves_zero(apart)
                return Found(plus(terms[i], terms[j])) if proportional else Unseen("whether two terms have proportional derivatives")
    return Absent()


def spread_out(node: Tree) -> list[Tree]:
    """The terms of a sum, also of one that is multiplied by something."""
    parts = arguments(node)
    if is_call(node, "Plus"):
        return [term for part in parts for term in spread_out(part)]
    if is_call(node, "Subtract") and len(parts) == 2:
        return [*spread_out(parts[0]), *(times(-1, term) for term in spread_out(parts[1]))]
    if is_call(node, "Minus", "Times"):
        found: list[Tree] = [-1 if is_call(node, "Minus") else 1]
        for part in parts:
            found = [b if a == 1 else times(a, b) for a in found for b in spread_out(part)]
            if len(found) > MAX_TERMS:
                return [node]
        return found
    if is_call(node, "Divide") and len(parts) == 2:
        return [times(term, power(parts[1], -1)) for term in spread_out(parts[0])]
    return [node]


def not_zero_somewhere(node: Tree) -> bool:
    """Whether an expression is proved not to be zero at some real values of its symbols."""
    names = sorted(free_symbols(node))
    for shift in range(len(TRIED)):
        env = Environment.of({name: TRIED[(i + shift) % len(TRIED)] + i // len(TRIED) for i, name in enumerate(names)})
        try:
            with precision(128):
                value = evaluate(node, env)
        except Undecided:
            continue
        except Refused:
            return False
        if is_number(value) and not complex_ball(value).contains(0):
            return True
    return False
