"""A tree as a polynomial in one symbol with rational coefficients."""

from __future__ import annotations

from flint import fmpq, fmpq_poly

from .tree import Tree, arguments, plus, power, rational_tree, times

MAX_DEGREE = 2000


def coefficients(node: Tree, name: str) -> list[fmpq] | None:
    """Coefficients, lowest first; None where the tree is no such polynomial."""
    found = polynomial(node, name)
    return None if found is None else list(found.coeffs())


def polynomial(node: Tree, name: str) -> fmpq_poly | None:
    if isinstance(node, int):
        return fmpq_poly([node])
    if node == name:
        return fmpq_poly([0, 1])
    if not isinstance(node, tuple):
        return None
    head, parts = node[0], arguments(node)
    if head == "Rational" and isinstance(parts[0], int) and isinstance(parts[1], int) and parts[1] != 0:
        return fmpq_poly([fmpq(parts[0], parts[1])])
    if head in ("Plus", "Times", "Subtract", "Minus"):
        inner = [polynomial(part, name) for part in parts]
        if any(part is None for part in inner):
            return None
        return _combined(str(head), [part for part in inner if part is not None])
    if head == "Divide" and len(parts) == 2:
        top, bottom = (polynomial(part, name) for part in parts)
        return top / bottom[0] if top is not None and bottom is not None and bottom.degree() == 0 else None
    if head == "Power" and len(parts) == 2 and isinstance(parts[1], int):
        base = polynomial(parts[0], name)
        if base is None or abs(parts[1]) * max(base.degree(), 1) > MAX_DEGREE or (parts[1] == 0 and base.degree() < 0):
            return None  # too large, or 0^0
        if parts[1] >= 0:
            return base ** parts[1]
        return fmpq_poly([1 / base[0] ** -parts[1]]) if base.degree() == 0 else None
    return None


def _combined(head: str, parts: list[fmpq_poly]) -> fmpq_poly | None:
    if not parts:
        return fmpq_poly([0 if head == "Plus" else 1])
    result = parts[0]
    for part in parts[1:]:
        if head == "Plus":
            result = result + part
        elif head == "Subtract":
            result = result - part
        else:
            if result.degree() + part.degree() > MAX_DEGREE:
                return None
            result = result * part
    return -result if head == "Minus" else result


def as_tree(p: fmpq_poly, x: Tree) -> Tree:
    """The polynomial written in x."""
    return plus(*(times(rational_tree(c), power(x, n) if n else 1) for n, c in enumerate(p.coeffs()) if c != 0))
