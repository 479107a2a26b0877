"""Procedure "polynomial": divisors, quotients, remainders and resultants, by FLINT's exact polynomials.

Coefficients are rational numbers or, of a quotient and a remainder, rational functions of the other symbols; with a prime
modulus they are integers modulo it, of one symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq, fmpq_mpoly, fmpz, nmod_poly

from .. import budget
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..tree import Refused, Tree, arguments, clipped, free_symbols, is_call, rational_tree
from ..univariate import polynomial as univariate
from . import forms, identities
from .quotients import Foreign, Quotient, Ring, leaves


def flat(node: Tree) -> list[Tree]:
    return [leaf for part in arguments(node) for leaf in flat(part)] if is_call(node, "List") else [node]


def check(task: dict[str, Any], seed: int) -> Residual:
    """what[args, variable] == answer; modulus: of the coefficients."""
    what, args, parts = task["what"], list(task["args"]), flat(task["answer"])
    if len(args) < (1 if what in ("Discriminant", "Congruent", "CoefficientList") else 2):
        return Open("two polynomials are wanted")
    related = dependent([*args, *parts])
    if related and (what not in WANTED or task.get("modulus") is not None):
        return Open("constants that are algebraic, or may be dependent")
    if what == "Congruent" and isinstance(task.get("modulus"), int):
        congruent = residues(reduced([*args, task["modulus"]], parts, what), parts, task["modulus"])
        head = str(task.get("form"))
        other = forms.missed_modulo(head, parts[0], task["modulus"]) or (head not in forms.OVER_RATIONALS and forms.missed(head, args[0], parts[0]))
        return Supported() if isinstance(congruent, Verified) and other else congruent
    if what == "PolynomialMod":
        return reduced(args, parts, what) if isinstance(args[1], int) else remainder_by_monic(args, parts)
    if what not in ("PolynomialGCD", "PolynomialLCM") and len(args) > 2:
        return Open("two polynomials are wanted")
    variable: Any = task.get("variable")
    if task.get("modulus") is not None:
        return residues(modular(what, args, parts, variable, task["modulus"]), parts, task["modulus"])
    ring = Ring([*args, *parts, *([variable] if variable is not None else [])])
    try:
        polynomials = [ring.polynomial(arg) for arg in args]
    except Foreign:
        return Open("not polynomials over the rationals")
    if related:
        if not kept_degrees(ring, polynomials, ring.index(variable)):
            return Open("constants in a leading coefficient")
        return by_values(ring, WANTED[what](ring, polynomials, ring.index(variable)), parts, seed)
    try:
        if what in ("PolynomialGCD", "PolynomialLCM"):
            return associate(common(what, polynomials), ring.polynomial(parts[0]), polynomials) if len(parts) == 1 else Open("shape")
        given = [ring.quotient(part) for part in parts]
    except Foreign:
        if what not in WANTED:
            return Open("the answer is no rational function over the rationals")
        return by_values(ring, WANTED[what](ring, polynomials, ring.index(variable)), parts, seed)
    if what == "PolynomialExtendedGCD":
        return extended_gcd(ring, polynomials, given, ring.index(variable))
    wanted = WANTED[what](ring, polynomials, ring.index(variable))
    if what == "CoefficientList" and (index_of := ring.index(variable)) >= 0 and len(given) != len(wanted):
        return Refuted(Statement(f"there are {len(wanted)} coefficients in {ring.names[index_of]}, the answer has {len(given)}"))
    if len(given) != len(wanted):
        return Open("shape")
    found: list[Residual] = [same(a, b) for a, b in zip(wanted, given, strict=True)]
    if not found:
        return Verified(True, "{}")
    return next((part for part in found if isinstance(part, Refuted)), found[0])


def dependent(trees: list[Tree]) -> bool:
    """Whether the constants among the leaves may fulfil a polynomial equation: not so Pi alone, nor E alone, which are transcendental."""
    found = {str(leaf) for tree in trees for leaf in leaves(tree) if not free_symbols(leaf)}
    return bool(found) and found not in ({"Pi"}, {"E"})


def kept_degrees(ring: Ring, polynomials: list[fmpq_mpoly], index: int) -> bool:
    """Whether no leading coefficient can vanish when symbols get values: what was computed with symbols holds for the values then."""
    return index >= 0 and all(p.is_zero() or coefficients(ring, p, index)[-1].is_constant() for p in polynomials)


def by_values(ring: Ring, wanted: list[Quotient], parts: list[Tree], seed: int) -> Residual:
    """An answer that is no rational function over the rationals may be equal to one all the same."""
    if len(parts) != len(wanted):
        return Open("shape")
    return identities.check({"claims": [(as_fraction(ring, true), part) for true, part in zip(wanted, parts, strict=True)]}, seed)


def as_fraction(ring: Ring, value: Quotient) -> Tree:
    top, bottom = (as_tree(p, ring.names) for p in value)
    return ("Times", top, ("Power", bottom, -1))


def as_tree(p: fmpq_mpoly, names: list[str]) -> Tree:
    terms: list[Tree] = []
    for monomial, c in p.to_dict().items():
        factors = [("Power", name, int(e)) for name, e in zip(names, monomial, strict=False) if int(e)]
        terms.append(("Times", rational_tree(c), *factors))
    return ("Plus", *terms)


def reduced(args: list[Tree], parts: list[Tree], what: str) -> Residual:
    """PolynomialMod[p, m] for an integer m: coefficients from 0 to m - 1. Congruent: rewritten with a modulus."""
    m = args[1]
    if len(args) != 2 or len(parts) != 1 or not isinstance(m, int) or m < 2:
        return Open("the modulus is no integer")
    ring = Ring([args[0], parts[0]])
    try:
        p, given = ring.polynomial(args[0]), ring.polynomial(parts[0])
    except Foreign:
        return Open("not polynomials over the rationals")
    if any(c.q != 1 for c in [*p.coeffs(), *given.coeffs()]):
        return Open("coefficients that are not integers")
    if any(int(c.p) % m for c in (p - given).coeffs()):
        return Refuted(Statement(f"the polynomials differ modulo {m}"))
    if what == "Congruent":
        return Verified(True)
    return Verified(True) if all(0 <= c < m for c in given.coeffs()) else Open("coefficients that are not reduced")


def remainder_by_monic(args: list[Tree], parts: list[Tree]) -> Residual:
    """PolynomialMod[p, m] for polynomials in one symbol with integer coefficients, m with the leading coefficient 1 or -1: the remainder."""
    names = {str(leaf) for tree in [*args, *parts] for leaf in leaves(tree)}
    found = [univariate(tree, next(iter(names))) for tree in [*args, *parts]] if len(names) == 1 and len(args) == 2 and len(parts) == 1 else []
    known = [p for p in found if p is not None and all(c.q == 1 for c in p.coeffs())]
    if len(known) < 3 or known[1].degree() < 1 or abs(known[1].leading_coefficient()) != 1:
        return Open("not of that form")
    wanted = known[0] % known[1]
    return Verified(True) if wanted == known[2] else Refuted(Statement(f"{wanted} is expected"))


def content(p: fmpq_mpoly) -> fmpq:
    """The positive greatest common divisor of the coefficients."""
    top, bottom = fmpz(0), fmpz(1)
    for c in p.coeffs():
        top, bottom = top.gcd(c.p), bottom.lcm(c.q)
    return fmpq(top, bottom)


def common(what: str, polynomials: list[fmpq_mpoly]) -> fmpq_mpoly:
    found = polynomials[0]
    for other in polynomials[1:]:
        budget.step()
        divisor = gcd(found, other)
        found = divisor if what == "PolynomialGCD" else found if divisor.is_zero() else found * (other / divisor)
    return found


def gcd(a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
    """With the greatest common divisor of the contents."""
    divisor = a.gcd(b)
    if divisor.is_zero():
        return divisor
    x, y = content(a), content(b)
    size = fmpq(x.p.gcd(y.p), x.q.lcm(y.q)) if x != 0 and y != 0 else x + y
    return divisor / content(divisor) * size


def associate(wanted: fmpq_mpoly, given: fmpq_mpoly, inputs: list[fmpq_mpoly]) -> Residual:
    """Divisors are unique up to units: over the integers up to sign, over the rationals up to a factor."""
    if wanted == given:
        return Verified(True, "1")
    if wanted.is_zero() or given.is_zero() or given / given.leading_coefficient() != wanted / wanted.leading_coefficient():
        return Refuted(Statement(f"{wanted} is expected, up to a constant factor"))
    ratio = given.leading_coefficient() / wanted.leading_coefficient()
    if ratio == -1:
        return Open("the sign is a convention")
    if all(c.q == 1 for p in inputs for c in p.coeffs()):
        return Refuted(Statement(f"{wanted} is expected over the integers, the answer is {ratio} times that"))
    return Open("a rational factor is a convention")


def same(wanted: Quotient, given: Quotient) -> Residual:
    if wanted[0] * given[1] == given[0] * wanted[1]:
        return Verified(True)
    top, bottom = (part / wanted[1].leading_coefficient() for part in wanted)
    shown = str(top) if bottom.is_one() else f"({top})/({bottom})"
    return Refuted(Statement(f"{clipped(shown, 300)} is expected"))


def coefficients(ring: Ring, p: fmpq_mpoly, index: int) -> list[fmpq_mpoly]:
    """Coefficients by powers of a symbol, lowest first."""
    parts: list[dict[tuple[int, ...], fmpq]] = [{} for _ in range(int(p.degrees()[index]) + 1)] if not p.is_zero() else []
    for monomial, c in p.to_dict().items():
        parts[int(monomial[index])][(*monomial[:index], 0, *monomial[index + 1 :])] = c
    return [ring.context.from_dict(part) for part in parts]


def divided(ring: Ring, p: fmpq_mpoly, d: fmpq_mpoly, index: int) -> tuple[Quotient, Quotient]:
    """Quotient and remainder over the field of rational functions of the other symbols, by pseudo-division."""
    x = ring.context.gen(index)
    below = coefficients(ring, d, index)
    if not below:
        raise Refused("division by zero")
    lead, degree = below[-1], len(below) - 1
    quotient, rest, scale = ring.context.constant(0), p, ring.one
    while True:
        budget.step()
        tops = coefficients(ring, rest, index)
        if len(tops) - 1 < degree or not tops:
            return (quotient, scale), (rest, scale)
        term = tops[-1] * x ** (len(tops) - 1 - degree)
        quotient, rest, scale = quotient * lead + term, rest * lead - term * d, scale * lead
        ring.bound(quotient, rest, scale)


def quotient_of(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    return [divided(ring, args[0], args[1], index)[0]]


def remainder_of(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    return [divided(ring, args[0], args[1], index)[1]]


def both_of(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    return list(divided(ring, args[0], args[1], index))


def resultant_of(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    p, q = args
    if p.is_zero() or q.is_zero():
        raise Refused("the resultant with zero")
    m, n = (len(coefficients(ring, part, index)) - 1 for part in args)
    budget.step()
    return [(p**n if m == 0 else q**m if n == 0 else p.resultant(q, ring.names[index]), ring.one)]


def discriminant_of(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    if len(coefficients(ring, args[0], index)) < 2:
        raise Refused("the discriminant of a constant")
    return [(args[0].discriminant(ring.names[index]), ring.one)]


def extended_gcd(ring: Ring, args: list[fmpq_mpoly], given: list[Quotient], index: int) -> Residual:
    """{d, {a, b}}: d is the monic greatest common divisor, a p + b q == d, and the degrees of a and b are the least."""
    if len(given) != 3:
        return Open("shape")
    (d, e), (a, f), (b, g) = given
    p, q = args
    if (a * p * g + b * q * f) * e != d * f * g:
        return Refuted(Statement("a p + b q is not d"))
    degree = [len(coefficients(ring, part, index)) - 1 for part in (p, q, d, a, b, e, f, g, p.gcd(q))]
    if max(degree[5:8]) > 0:
        return Open("a denominator holds the variable")
    if degree[2] != degree[8] or (not d.is_zero() and not divided(ring, p, d, index)[1][0].is_zero()):
        return Refuted(Statement(f"{p.gcd(q)} is the greatest common divisor, up to a factor"))
    if degree[3] > max(degree[1] - degree[2] - 1, 0) or degree[4] > max(degree[0] - degree[2] - 1, 0):
        return Open("the cofactors are not of the least degree")
    lead = coefficients(ring, d, index)[-1:] or [e]
    return Verified(True) if lead[0] == e else Open("the divisor is not monic")


def coefficient_list(ring: Ring, args: list[fmpq_mpoly], index: int) -> list[Quotient]:
    return [(c, ring.one) for c in coefficients(ring, args[0], index)]


# What there is one of only: as many parts as the answer has.
WANTED: dict[str, Callable[[Ring, list[fmpq_mpoly], int], list[Quotient]]] = {
    "PolynomialQuotient": quotient_of,
    "PolynomialRemainder": remainder_of,
    "PolynomialQuotientRemainder": both_of,
    "Resultant": resultant_of,
    "Discriminant": discriminant_of,
    "CoefficientList": coefficient_list,
}


# Modulo a prime.


def residues(found: Residual, parts: list[Tree], modulus: Tree) -> Residual:
    """What is congruent to the right answer is verified where its numbers are least residues."""
    if isinstance(found, Verified) and isinstance(modulus, int) and not all(least(part, modulus) for part in parts):
        return Open("congruent, but not written in least residues")
    return found


def least(node: Tree, modulus: int) -> bool:
    """Whether a tree is made of sums, products and whole powers of symbols and integers from 0 to below the modulus."""
    if isinstance(node, int):
        return 0 <= node < modulus
    if not isinstance(node, tuple):
        return isinstance(node, str)
    if node[0] == "Power":
        return len(node) == 3 and isinstance(node[2], int) and node[2] >= 0 and least(node[1], modulus)
    return node[0] in ("Plus", "Times", "List") and all(least(part, modulus) for part in node[1:])


def modular(what: str, args: list[Tree], parts: list[Tree], variable: Tree, modulus: Tree) -> Residual:
    names = {str(leaf) for tree in [*args, *parts] for leaf in leaves(tree)}
    if not isinstance(modulus, int) or not 1 < modulus < 2**62 or not fmpz(modulus).is_prime() or len(names) > 1:
        return Open("only prime moduli and one symbol")
    name = names.pop() if names else "x"
    found: list[nmod_poly] = []
    for tree in [*args, *parts]:
        p = univariate(tree, name)
        if p is None or any(c.q % modulus == 0 for c in p.coeffs()):
            return Open("not polynomials over the integers modulo the prime")
        found.append(nmod_poly([int(c.p) * pow(int(c.q), -1, modulus) for c in p.coeffs()], modulus))
    inputs, given = found[: len(args)], found[len(args) :]
    if what in ("PolynomialGCD", "PolynomialLCM") and len(given) == 1:
        wanted = inputs[0]
        for other in inputs[1:]:
            divisor = wanted.gcd(other)
            wanted = divisor if what == "PolynomialGCD" or divisor.degree() < 0 else wanted * other // divisor
        return up_to_unit(wanted, given[0])
    if len(inputs) != 2 or (variable is not None and variable != name and names) or inputs[1].degree() < 0:
        return Open("not of that form")
    q, r = divmod(inputs[0], inputs[1])
    wanted_parts = {"PolynomialQuotient": [q], "PolynomialRemainder": [r], "PolynomialQuotientRemainder": [q, r]}.get(what)
    if what == "Resultant" and len(given) == 1 and inputs[0].degree() >= 0:
        value = nmod_poly([int(inputs[0].resultant(inputs[1]))], modulus)
        return Verified(True) if given[0] == value else Refuted(Statement(f"{value} is expected modulo {modulus}"))
    if wanted_parts is None or len(given) != len(wanted_parts):
        return Open("not with a modulus")
    if wanted_parts == given:
        return Verified(True)
    return Refuted(Statement(f"{', '.join(map(str, wanted_parts))} is expected modulo {modulus}"))


def up_to_unit(wanted: nmod_poly, given: nmod_poly) -> Residual:
    if wanted == given and (wanted.degree() < 0 or int(wanted.leading_coefficient()) == 1):
        return Verified(True)
    if (wanted.degree() < 0) != (given.degree() < 0) or (wanted.degree() >= 0 and wanted / wanted.leading_coefficient() != given / given.leading_coefficient()):
        return Refuted(Statement(f"{wanted} is expected, up to a constant factor"))
    return Open("a constant factor is a convention")
