"""Several statements that an answer must all meet: the claims among them checked by identities, the others by sign and rank."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from flint import arb, fmpq

from ..arithmetic import inverse, minus, times
from ..assumptions import Assumptions
from ..deciding import SCHEDULE
from ..evaluation import EMPTY, Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..lists import matrix, rank
from ..normal import proves_zero
from ..points import Points, environment
from ..tree import Refused, Tree, arguments, free_symbols, is_call, reals, replace
from ..values import Gaussian, Undecided, Value, complex_ball, is_exact, is_number, precision, real_ball, sign
from . import identities

Rows = tuple[tuple[Tree, ...], ...]

MAX_SIZE = 20
SAMPLE = 6  # points of symbols at which a rank is looked for


@dataclass
class Case:
    """The assumptions of a check, and the seed by which its points are chosen."""

    assumptions: list[Tree] = field(default_factory=list)
    seed: int = 0

    def claims(self, claims: list[tuple[Tree, Tree]], what: str | Sequence[str]) -> Residual:
        """what: which equation this is, or each of them is, in words that a refutation names it by."""
        named = zip(claims, itertools.repeat(what) if isinstance(what, str) else what, strict=False)
        kept = [(claim, name) for claim, name in named if claim[0] != claim[1]]
        if not kept:
            return Verified(exact=True)
        task = {"claims": [claim for claim, _ in kept], "each": [name for _, name in kept], "assumptions": self.assumptions, "sides": True}
        return identities.check(task, self.seed)

    def equal(self, left: Rows, right: Rows, what: str) -> Residual:
        """Two matrices that are to be equal, entry by entry."""
        places = [f"row {i}, column {j} of {what}" for i, row in enumerate(left, 1) for j, _ in enumerate(row, 1)]
        return self.claims(entrywise(left, right), places)

    def environments(self, trees: list[Tree]) -> list[Environment]:
        names = set().union(*(free_symbols(tree) for tree in trees))
        if not names:
            return [EMPTY]
        points = Points(names, trees, Assumptions(self.assumptions), self.seed).choose()
        return [environment(point) for point in points if not point.special][:SAMPLE]


def all_of(steps: Iterable[Callable[[], Residual]]) -> Residual:
    """The first refutation; verified where every step is, exactly where every step is exact."""
    worst: Residual = Verified(exact=True)
    for step in steps:
        found = step()
        if isinstance(found, Refuted):
            return found
        if isinstance(found, Open) or isinstance(worst, Open):
            worst = worst if isinstance(worst, Open) else found
        elif isinstance(found, Supported) or (isinstance(found, Verified) and isinstance(worst, Verified) and not found.exact):
            worst = found
    return worst


def wrong(text: str) -> Refuted:
    return Refuted(Statement(text))


def rows_of(node: Tree) -> Rows | None:
    """A matrix written out: rows of one length. Transposes, diagonal and identity matrices are written out."""
    if not isinstance(node, tuple):
        return None
    head, parts = node[0], arguments(node)
    if head == "List":
        rows = [arguments(part) if is_call(part, "List") else None for part in parts]
        if not rows or any(not row or any(is_call(entry, "List") for entry in row) for row in rows):
            return None
        whole = tuple(row for row in rows if row)
        return whole if len({len(row) for row in whole}) == 1 and max(len(whole), len(whole[0])) <= MAX_SIZE else None
    if head == "IdentityMatrix" and len(parts) == 1 and isinstance(parts[0], int) and 0 < parts[0] <= MAX_SIZE:
        return unit(parts[0])
    if head == "DiagonalMatrix" and len(parts) == 1 and is_call(parts[0], "List"):
        entries = arguments(parts[0])
        return tuple(tuple(entry if i == j else 0 for j in range(len(entries))) for i, entry in enumerate(entries)) if 0 < len(entries) <= MAX_SIZE else None
    if head in ("Times", "Plus", "Divide") and any(is_call(part, "List") for part in parts):
        return threaded(str(head), parts)
    if head == "Table" and len(parts) == 3:
        return table(parts)
    if (head == "Transpose" and len(parts) == 1) or head == "ConjugateTranspose":
        inner = rows_of(parts[0])
        return None if inner is None else transposed(inner) if head == "Transpose" else starred(inner)
    return None


def threaded(head: str, parts: tuple[Tree, ...]) -> Rows | None:
    """A sum or product of matrices and numbers, entry by entry as the language does it."""
    rows = [rows_of(part) for part in parts]
    shapes = {(len(row), len(row[0])) for row in rows if row is not None}
    if len(shapes) != 1 or any(row is None and is_call(part, "List") for row, part in zip(rows, parts, strict=True)):
        return None
    height, width = shapes.pop()
    return tuple(
        tuple((head, *(part if row is None else row[i][j] for row, part in zip(rows, parts, strict=True))) for j in range(width)) for i in range(height)
    )


def table(parts: tuple[Tree, ...]) -> Rows | None:
    """Table[entry, {i, m}, {j, n}] and with first values."""
    ranges: list[tuple[Tree, range]] = []
    for iterator in parts[1:]:
        ends = arguments(iterator)
        if not is_call(iterator, "List") or not 2 <= len(ends) <= 3 or not isinstance(ends[0], str):
            return None
        low, high = (1, ends[1]) if len(ends) == 2 else (ends[1], ends[2])
        if not isinstance(low, int) or not isinstance(high, int) or not 0 <= high - low < MAX_SIZE:
            return None
        ranges.append((ends[0], range(low, high + 1)))
    (i, first), (j, second) = ranges
    return tuple(tuple(replace(replace(parts[0], i, p), j, q) for q in second) for p in first)


def unit(n: int) -> Rows:
    return tuple(tuple(int(i == j) for j in range(n)) for i in range(n))


def as_tree(rows: Rows) -> Tree:
    return ("List", *(("List", *row) for row in rows))


def transposed(rows: Rows) -> Rows:
    return tuple(zip(*rows, strict=True))


def conjugated(node: Tree) -> Tree:
    return node if isinstance(node, int) or is_call(node, "Rational") else ("Conjugate", node)


def starred(rows: Rows) -> Rows:
    return tuple(tuple(conjugated(entry) for entry in row) for row in transposed(rows))


def dotted(*factors: Rows) -> Rows:
    """The product as trees, sums of products; 0 and 1 are left out."""
    result = factors[0]
    for other in factors[1:]:
        columns = transposed(other)
        result = tuple(tuple(_inner(row, column) for column in columns) for row in result)
    return result


def _inner(row: tuple[Tree, ...], column: tuple[Tree, ...]) -> Tree:
    terms: list[Tree] = []
    for a, b in zip(row, column, strict=True):
        if (isinstance(a, int) and a == 0) or (isinstance(b, int) and b == 0):
            continue
        terms.append(b if isinstance(a, int) and a == 1 else a if isinstance(b, int) and b == 1 else ("Times", a, b))
    return 0 if not terms else terms[0] if len(terms) == 1 else ("Plus", *terms)


def other_shape(right: Tree, answer: Tree) -> bool:
    """Whether a solution of m . x == right is a vector where right is a matrix, or a matrix where right is a vector."""
    if not is_call(right, "List") or not is_call(answer, "List"):
        return False
    vectors = [not any(is_call(entry, "List") for entry in arguments(node)) for node in (right, answer)]
    return vectors[0] != vectors[1] and all(vector or rows_of(node) is not None for vector, node in zip(vectors, (right, answer), strict=True))


def entrywise(left: Rows, right: Rows) -> list[tuple[Tree, Tree]]:
    return [(a, b) for p, q in zip(left, right, strict=True) for a, b in zip(p, q, strict=True)]


def fits(left: Rows, right: Rows) -> bool:
    return len(left) == len(right) and len(left[0]) == len(right[0])


def values_of(rows: Rows, env: Environment = EMPTY) -> Value:
    return tuple(tuple(evaluate(entry, env) for entry in row) for row in rows)


def exact_rows(rows: Rows) -> list[list[fmpq]] | None:
    """The entries where all are rational numbers."""
    if any(reals(entry) or free_symbols(entry) for row in rows for entry in row):
        return None
    try:
        found = [[evaluate(entry) for entry in row] for row in rows]
    except (Undecided, Refused):
        return None
    if not all(isinstance(value, fmpq) for row in found for value in row):
        return None
    return [[value for value in row if isinstance(value, fmpq)] for row in found]


def sign_of(node: Tree) -> int | None:
    """The sign of a constant: 2 where it is not real; None where it is not told."""
    if free_symbols(node):
        return None
    for bits in SCHEDULE:
        with precision(bits):
            try:
                value = evaluate(node)
                if not is_number(value):
                    return None
                if isinstance(value, Gaussian):
                    return 2
                real = value if isinstance(value, fmpq) else real_ball(value)
                return 2 if real is None else sign(real)
            except Undecided:
                continue
            except Refused:
                return None
    return 0 if proves_zero(node) else None


def rank_at_least(rows: Rows, env: Environment) -> tuple[int, bool]:
    """A lower bound of the rank at a point, and whether it is the rank there: pivots are proved not zero."""
    best = 0
    for bits in SCHEDULE:
        with precision(bits):
            try:
                found = values_of(rows, env)
            except Undecided:
                continue
            if matrix(found) is None:
                return best, False
            try:
                value = rank(found)
                if isinstance(value, fmpq):
                    exact = all(is_exact(entry) for entry in entries_of(found))
                    return int(value.p), exact or int(value.p) == min(len(rows), len(rows[0]))
            except Undecided:
                pass
            best = max(best, _certain_pivots(found))
            if best == min(len(rows), len(rows[0])):
                return best, True
    return best, False


def entries_of(found: Value) -> list[Value]:
    return [entry for part in found for entry in entries_of(part)] if isinstance(found, tuple) else [found]


def _certain_pivots(found: Value) -> int:
    """Steps of elimination whose pivots are balls without zero, rows and columns exchanged freely."""
    rows = [list(row) for row in found if isinstance(row, tuple)] if isinstance(found, tuple) else []
    count = 0
    while rows and rows[0]:
        best: tuple[arb, int, int] | None = None
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if is_number(value):
                    low = _lower(value)
                    if low > 0 and (best is None or low > best[0]):
                        best = low, i, j
        if best is None:
            break
        _, i, j = best
        pivot = rows.pop(i)
        scale = inverse(pivot[j])
        try:
            rows = [[minus(row[k], times(times(row[j], scale), pivot[k])) for k in range(len(row)) if k != j] for row in rows]
        except Undecided:
            return count + 1
        count += 1
    return count


def _lower(value: Value) -> arb:
    return arb(complex_ball(value).abs_lower())  # type: ignore[arg-type]


def generic_rank_at_least(rows: Rows, case: Case) -> int:
    """A lower bound of the rank off special values of the symbols: what it is at one point."""
    best = 0
    for env in case.environments([as_tree(rows)]):
        try:
            best = max(best, rank_at_least(rows, env)[0])
        except Refused:
            continue
        if best == min(len(rows), len(rows[0])):
            break
    return best
