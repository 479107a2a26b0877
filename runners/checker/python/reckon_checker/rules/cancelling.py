"""Products with equal factors collected, as the language does it before it solves: x^2/x is x, 1/(1/x) is x, 1/Tan[x] is Cot[x].

An equation says something else at the zeros of what is cancelled, so that a verdict must not depend on it.
"""

from __future__ import annotations

from ..tree import Tree, arguments, free_symbols, is_call

Factors = dict[Tree, list[int]]  # exponents by base

RATIOS: dict[str, dict[str, int]] = {
    "Tan": {"Sin": 1, "Cos": -1},
    "Cot": {"Sin": -1, "Cos": 1},
    "Sec": {"Cos": -1},
    "Csc": {"Sin": -1},
    "Tanh": {"Sinh": 1, "Cosh": -1},
    "Coth": {"Sinh": -1, "Cosh": 1},
    "Sech": {"Cosh": -1},
    "Csch": {"Sinh": -1},
}


def collected(node: Tree) -> tuple[Tree, bool]:
    """The tree with every product collected, and whether anything that may be zero or infinite was cancelled."""
    if not isinstance(node, tuple):
        return node, False
    if not is_call(node, "Times", "Power", "Divide"):
        found = [(part, False) if i == 0 else collected(part) for i, part in enumerate(node)]
        return tuple(part for part, _ in found), any(changed for _, changed in found)
    factors: Factors = {}
    changed = _add(node, 1, factors)
    changed = changed or any(min(exponents) < 0 < max(exponents) for base, exponents in factors.items() if free_symbols(base))
    if not changed:
        return node, False
    return ("Times", *(base if sum(exponents) == 1 else ("Power", base, sum(exponents)) for base, exponents in factors.items() if sum(exponents))), True


def _add(node: Tree, exponent: int, factors: Factors) -> bool:
    """Adds node^exponent to the factors; whether a reciprocal of a reciprocal was taken."""
    parts = arguments(node)
    if is_call(node, "Times"):
        found = [_add(part, exponent, factors) for part in parts]
        return any(found)
    if is_call(node, "Divide") and len(parts) == 2:
        top, bottom = _add(parts[0], exponent, factors), _add(parts[1], -exponent, factors)
        return top or bottom
    if is_call(node, "Power") and len(parts) == 2 and isinstance(parts[1], int):
        twice = exponent < 0 and parts[1] < 0 and bool(free_symbols(parts[0]))
        return _add(parts[0], exponent * parts[1], factors) or twice
    ratio = RATIOS.get(str(node[0])) if isinstance(node, tuple) and len(node) == 2 and isinstance(node[0], str) else None
    if ratio is not None:
        for head, power in ratio.items():
            factors.setdefault((head, parts[0]), []).append(power * exponent)
        return exponent < 0
    if not isinstance(node, tuple):
        factors.setdefault(node, []).append(exponent)
        return False
    inner = [(part, False) if i == 0 else collected(part) for i, part in enumerate(node)]
    factors.setdefault(tuple(part for part, _ in inner), []).append(exponent)
    return any(changed for _, changed in inner)
