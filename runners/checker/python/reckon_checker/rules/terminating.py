"""Sums over k from 0 to n of hypergeometric terms that depend on n: by the binomial theorem and the sum of Chu and Vandermonde (DLMF 15.4.6, 15.4.24).

The term ratio is z prod(k + a)/prod(k + b) with numbers b > 0, and one a is -n, so that the sum is the terminating series. The Gamma functions in the
term have positive arguments wherever 0 <= k <= n, so that the ratio holds from each term to the next.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_poly

from ..assumptions import Assumptions
from ..field import TooLarge
from ..findings import Verified
from ..hypergeometric import by_gamma, gamma, related
from ..normal import Normalizer, proves_zero
from ..tree import Refused, Tree, arguments, free_symbols, is_call, minus, plus, power, rational_tree, replace, times, walk
from ..univariate import as_tree, polynomial
from . import identities
from .recurrences import has_values

MAX_DEGREE = 4  # of a polynomial factor
Line = tuple[fmpq, fmpq]  # a n + b


def proof(task: dict[str, Any], k: str, n: str) -> Verified | None:
    """Of a sum from 0 to n, for every whole n that is not negative."""
    term, answer = by_gamma(task["term"], {k, n}), task["answer"]
    if free_symbols(term) != {k, n} or free_symbols(answer) - {n} or not stays_positive(term, k, n) or not has_values(answer, n, 0):
        return None
    parts = [total(one, k, n, first) for first, one in by_falling_powers(term, k)]
    if not parts or any(part is None for part in parts):
        return None
    difference = with_factorials(related(minus(plus(*(part for part in parts if part is not None)), answer), {n}))
    if not identities.proves([(difference, 0)], Assumptions([("Element", n, "Integers")])):
        return None
    small = [(plus(*(replace(replace(task["term"], n, i), k, j) for j in range(i + 1))), replace(answer, n, i)) for i in range(MAX_DEGREE + 1)]
    return Verified(exact=True) if identities.equal_numbers(small) else None


def by_falling_powers(term: Tree, k: str) -> list[tuple[int, Tree]]:
    """A term with a polynomial in k as terms with c k (k - 1) ... (k - j + 1), each of which starts at j."""
    factors = arguments(term) if is_call(term, "Times") else (term,)
    found = [(factor, polynomial(factor, k)) for factor in factors]
    p = fmpq_poly([1])
    for _, one in found:
        p = p if one is None else p * one
    rest = times(*(factor for factor, one in found if one is None))
    terms: list[tuple[int, Tree]] = []
    falling = fmpq_poly([1])
    for j in range(p.degree() + 1):
        c = p(j) / falling(j)
        p -= c * falling
        if c != 0:
            terms.append((j, times(rational_tree(c), as_tree(falling, k), rest)))
        falling *= fmpq_poly([-j, 1])
    return terms if len(terms) <= MAX_DEGREE and p.degree() < 0 else []


def with_factorials(node: Tree) -> Tree:
    """The tree with Gamma of whole numbers as such."""
    if not isinstance(node, tuple):
        return node
    parts = tuple(with_factorials(part) for part in node[1:])
    return gamma(parts[0]) if node[0] == "Gamma" and len(parts) == 1 and not free_symbols(parts[0]) else (node[0], *parts)


def stays_positive(term: Tree, k: str, n: str) -> bool:
    """Whether every Gamma function has a positive argument for 0 <= k <= n, which has other parts free of k only as a polynomial or a power z^k."""
    for part in walk(term):
        if not isinstance(part, tuple) or not free_symbols(part) & {k, n}:
            continue
        if is_call(part, "Gamma") and len(part) == 2:
            line = linear(part[1], k, n)
            if line is None or any(c.q != 1 for c in line):
                return False
            start, in_k, in_n = line
            if not (start > 0 and in_n >= 0 and in_k + in_n >= 0):
                return False
        elif not is_call(part, "Plus", "Times", "Power", "Rational"):
            return False
    return True


def linear(node: Tree, k: str, n: str) -> tuple[fmpq, fmpq, fmpq] | None:
    """a, b and c of a + b k + c n; None of what is not written so."""
    values = [polynomial(replace(replace(node, k, i), n, j), "") for i, j in ((0, 0), (1, 0), (0, 1))]
    known = [one[0] for one in values if one is not None]
    if len(known) < len(values):
        return None
    a, b, c = known[0], known[1] - known[0], known[2] - known[0]
    line = plus(rational_tree(a), times(rational_tree(b), k), times(rational_tree(c), n))
    return (a, b, c) if proves_zero(minus(node, line)) else None


def total(term: Tree, k: str, n: str, first: int) -> Tree | None:
    """The sum from the first index on, for n >= first."""
    found = ratio(term, k, n)
    if found is None:
        return None
    z, upper, lower = found
    upper, lower = [(a, b + first) for a, b in upper], [(a, b + first) for a, b in lower]
    end = (fmpq(-1), fmpq(first))
    if end not in upper or any(a != 0 or b <= 0 for a, b in lower):
        return None
    upper.remove(end)
    unit = (fmpq(0), fmpq(1))
    if unit in lower:
        lower.remove(unit)
    else:
        upper.append(unit)
    for one in list(lower):
        if one in upper:
            lower.remove(one)
            upper.remove(one)
    length, start = plus(n, -first), replace(term, k, first)
    if not upper and not lower and z != 1:
        return times(start, power(rational_tree(1 - z), length))
    if len(upper) == len(lower) == 1 and z == 1:  # (c - b)_m/(c)_m
        b, c = tree_of(upper[0], n), tree_of(lower[0], n)
        return times(start, ("Pochhammer", minus(c, b), length), power(("Pochhammer", c, length), -1))
    return None


def tree_of(line: Line, n: str) -> Tree:
    return plus(times(rational_tree(line[0]), n), rational_tree(line[1])) if line[0] != 0 else rational_tree(line[1])


def ratio(term: Tree, k: str, n: str) -> tuple[fmpq, list[Line], list[Line]] | None:
    """z, a and b of the term ratio; the parts that n stands in are of first degree in k and n."""
    quotient = related(times(replace(term, k, plus(k, 1)), power(term, -1)), {k, n})
    normal = Normalizer(integers=(k, n))
    try:
        value = normal.normal(quotient)
    except (TooLarge, Refused, ArithmeticError, ValueError, RecursionError):
        return None
    keys = {index: key for key, index in normal.field.keys.items()}
    z, sides = fmpq(1), []
    for side, way in ((value.top, 1), (value.bottom, -1)):
        lines: list[Line] = []
        constant, factors = side.factor()
        z *= fmpq(constant) ** way
        for factor, times_over in factors:
            found: dict[str, fmpq] = {"": fmpq(0), k: fmpq(0), n: fmpq(0)}
            for monomial, coefficient in factor.to_dict().items():
                names = [str(keys[i]) for i, d in enumerate(monomial) for _ in range(int(d))]
                if len(names) > 1 or (names and names[0] not in (k, n)):
                    return None
                found[names[0] if names else ""] = coefficient
            if found[k] == 0:
                return None  # a factor of the whole sum is no part of a ratio
            z *= found[k] ** (way * int(times_over))
            lines += [(found[n] / found[k], found[""] / found[k])] * int(times_over)
        sides.append(lines)
    return z, sides[0], sides[1]
