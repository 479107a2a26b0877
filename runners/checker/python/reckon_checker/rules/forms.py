"""Whether an answer is visibly not in the form that its function gives: x^4 - 1 is no answer of Factor, though it is the same value.

Only what is certain counts: polynomials and quotients with rational coefficients are looked at by FLINT's factors, sums, products
and functions by how they are written. What none of this covers is not missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from flint import fmpq_mpoly, fmpz, nmod_poly

from ..field import content
from ..tree import Refused, Tree, arguments, free_symbols, is_call, walk
from ..univariate import polynomial
from .quotients import Foreign, Ring

CIRCULAR = ("Sin", "Cos", "Tan", "Cot", "Sec", "Csc", "Sinh", "Cosh", "Tanh", "Coth", "Sech", "Csch")
MAX_TERMS, MAX_DEGREE = 400, 120  # of polynomials that are factored
WAVES = ("Sin", "Cos", "Sinh", "Cosh")


def missed(head: str, question: Tree, answer: Tree) -> bool:
    """Whether the answer of a function of this name is proved not to have its form. False: it has it, or that is not known."""
    if is_call(answer, "List"):
        questions = (
            arguments(question) if is_call(question, "List") and len(arguments(question)) == len(arguments(answer)) else (answer,) * len(arguments(answer))
        )
        return any(missed(head, one, part) for one, part in zip(questions, arguments(answer), strict=False))
    look = FORMS.get(head)
    if head in OVER_RATIONALS and is_rational(question) is True and is_rational(answer) is False:
        return True
    try:
        return look is not None and look(answer)
    except (Foreign, Refused):
        return False


def doubtful(head: str, question: Tree, answer: Tree, options: bool) -> bool:
    """Whether an answer may not have the form of its function; options may choose another field for factors."""
    return unknown(head, answer) if options and head in OVER_RATIONALS else missed(head, question, answer)


def unknown(head: str, answer: Tree) -> bool:
    """Whether factors over another field than the rationals may not be irreducible: those of higher degree."""
    if is_call(answer, "List"):
        return any(unknown(head, part) for part in arguments(answer))
    return head in OVER_RATIONALS and any(not of_first_degree(base) for base, _ in factors(answer) if free_symbols(base))


def of_first_degree(node: Tree) -> bool:
    """A sum of a symbol, or a multiple of one, and numbers."""
    return sum(1 for term in terms(node) if free_symbols(term)) == 1 and all(
        isinstance(base, str) and n == 1 for term in terms(node) for base, n in factors(term) if free_symbols(base)
    )


def missed_modulo(head: str, answer: Tree, p: int) -> bool:
    """Whether the factors of an answer are not known to be irreducible, or square-free, modulo p."""
    if head not in OVER_RATIONALS:
        return False
    if is_call(answer, "List") or not fmpz(p).is_prime():
        return True
    names = free_symbols(answer)
    if len(names) > 1:
        return any(not of_first_degree(base) for base, _ in factors(answer) if free_symbols(base))
    for base, _ in factors(answer):
        if not names & free_symbols(base):
            continue
        q = polynomial(base, next(iter(names)))
        if q is None or q.degree() > MAX_DEGREE or any(c.q != 1 for c in q.coeffs()):
            return True
        residues = nmod_poly([int(c.p) % p for c in q.coeffs()], p)
        if residues.degree() < 1:
            return True
        found = residues.factor()[1]
        if (head == "Factor" and sum(n for _, n in found) != 1) or any(n > 1 for _, n in found):
            return True
    return False


def factors(node: Tree) -> Iterator[tuple[Tree, int]]:
    """The factors of a product with their exponents, as they are written."""
    if is_call(node, "Times"):
        for part in arguments(node):
            yield from factors(part)
    elif is_call(node, "Power") and len(arguments(node)) == 2 and isinstance(arguments(node)[1], int):
        n = int(arguments(node)[1])  # type: ignore[arg-type]
        yield from ((base, n * m) for base, m in factors(arguments(node)[0]))
    else:
        yield node, 1


def terms(node: Tree) -> tuple[Tree, ...]:
    return arguments(node) if is_call(node, "Plus") else (node,)


def is_sum(node: Tree) -> bool:
    return is_call(node, "Plus") and bool(free_symbols(node))


def not_expanded(node: Tree) -> bool:
    """A sum times something, or a positive power of one, outside functions and denominators."""
    for term in terms(node):
        parts = list(factors(term))
        if any(n > 0 and is_sum(base) and (n > 1 or len(parts) > 1) for base, n in parts):
            return True
    return False


def not_expanded_anywhere(node: Tree) -> bool:
    return any(isinstance(part, tuple) and not_expanded(part) for part in walk(node))


def not_factored(node: Tree) -> bool:
    """A factor that is no irreducible polynomial with integer coefficients without a common divisor."""
    ring = Ring([node])
    for base, _ in factors(node):
        if free_symbols(base):
            p = ring.polynomial(base)
            if count(p) > 1 or abs(content(p)) != 1:
                return True
    return False


def is_rational(node: Tree) -> bool | None:
    """Whether an expression is written as a quotient of polynomials with rational coefficients; None where it is too large to tell."""
    ring = Ring([node])
    try:
        ring.quotient(node)
    except Foreign:
        return False
    except Refused:
        return None
    return set(ring.names) <= free_symbols(node)


def not_square_free(node: Tree) -> bool:
    """A factor with a multiple one of its own, or two with a common divisor."""
    ring = Ring([node])
    bases = [ring.polynomial(base) for base, _ in factors(node) if free_symbols(base)]
    return any(any(n > 1 for _, n in p.factor()[1]) for p in bases if small(p)) or any(not p.gcd(q).is_constant() for p, q in combinations(bases, 2))


def small(p: fmpq_mpoly) -> bool:
    if len(p) > MAX_TERMS or int(p.total_degree()) > MAX_DEGREE:
        raise Refused("size")
    return True


def count(p: fmpq_mpoly) -> int:
    """The irreducible factors, multiple ones as often as they are there."""
    small(p)
    return sum(int(n) for _, n in p.factor()[1])


def not_together(node: Tree) -> bool:
    """A term of a sum has a symbol below a fraction line."""
    return any(is_sum(base) and any(n < 0 and free_symbols(inner) for term in terms(base) for inner, n in factors(term)) for base, _ in factors(node))


def not_cancelled(node: Tree) -> bool:
    """A term has a common divisor above and below its fraction line."""
    ring = Ring([node])
    for term in terms(node):
        top, bottom = ring.one, ring.one
        for base, n in factors(term):
            above, below = ring.raised(ring.polynomial(base), ring.one, n)
            ring.bound(top, above, bottom, below)
            top, bottom = top * above, bottom * below
            ring.bound(top, bottom)
        if not top.gcd(bottom).is_constant():
            return True
    return False


def not_apart(node: Tree) -> bool:
    """A term in one symbol has two different factors below its fraction line."""
    if len(free_symbols(node)) != 1:
        return False
    ring = Ring([node])
    for term in terms(node):
        below = [ring.polynomial(base) for base, n in factors(term) if n < 0]
        if sum(count(p) for p in below) > 1 and len({str(factor) for p in below for factor, _ in p.factor()[1]}) > 1:
            return True
    return False


def of_sums(node: Tree) -> bool:
    """A sine or its kin of a sum or of a multiple."""
    for part in walk(node):
        if is_call(part, *CIRCULAR) and free_symbols(part):
            inner = arguments(part)[0]
            if is_sum(inner) or any(isinstance(base, int) and abs(base) > 1 and n == 1 for base, n in factors(inner)):
                return True
    return False


def products_of_waves(node: Tree) -> bool:
    """A product of two sines or cosines, or a power of one."""
    return any(
        is_call(part, "Times", "Power") and sum(n for base, n in factors(part) if n > 0 and is_call(base, *WAVES) and free_symbols(base)) > 1
        for part in walk(node)
    )


def circular(node: Tree) -> bool:
    return any(is_call(part, *CIRCULAR) and bool(free_symbols(part)) for part in walk(node))


def exponential(node: Tree) -> bool:
    return any(is_call(part, "Exp") or (is_call(part, "Power") and arguments(part)[0] == "E") for part in walk(node) if free_symbols(part))


OVER_RATIONALS = ("Factor", "FactorSquareFree")  # whose factors of a polynomial over the rationals are over these
FORMS: dict[str, Callable[[Tree], bool]] = {
    "Expand": not_expanded,
    "ExpandAll": not_expanded_anywhere,
    "Factor": not_factored,
    "FactorSquareFree": not_square_free,
    "Together": not_together,
    "Cancel": not_cancelled,
    "Apart": not_apart,
    "TrigExpand": of_sums,
    "TrigReduce": products_of_waves,
    "TrigToExp": circular,
    "ExpToTrig": exponential,
}
