"""Procedure "primes": what the answer has to fulfil where it is not one value computed again, and rational values; the rest is whole_numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import fmpq

from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..primes import divisor_sigma, euler_phi, factorization
from ..tree import Tree, arguments, is_call, reals
from ..values import Value, whole
from ..wording import show
from .whole_numbers import FACTORED_BITS, MAX_BITS, brief, integer, primes

MAX_INDEX = 50  # of DivisorSigma
MAX_TRIED = 20_000  # a modulus of which every residue is tried


def check(task: dict[str, Any], seed: int) -> Residual:
    """what[args] == answer."""
    rule = RULES.get(task["what"])
    if rule is None or task.get("gaussian") or any(reals(arg) for arg in task["args"]):
        return primes(task, seed)
    values = [evaluate(arg) for arg in task["args"]]
    return rule(values, task["answer"]) or primes(task, seed)


def integers(values: list[Value]) -> list[int] | None:
    found = [n for value in values if (n := whole(value)) is not None and n.bit_length() <= MAX_BITS]
    return found if len(found) == len(values) else None


def rational_value(wanted: fmpq, answer: Tree) -> Residual:
    given = evaluate(answer, Environment(printed=True))
    if not isinstance(given, fmpq):
        return Open("not a rational number")
    return Verified(True, show(wanted)) if given == wanted else Refuted(Statement(f"{show(wanted)} is expected"))


def common_divisor(values: list[Value], answer: Tree) -> Residual | None:
    """GCD of rational numbers: the greatest of which all are multiples by integers."""
    numbers = fractions(values)
    if numbers is None:
        return None
    below = math.lcm(*(int(x.q) for x in numbers))
    return rational_value(fmpq(math.gcd(*(int((x * below).p) for x in numbers)), below), answer)


def common_multiple(values: list[Value], answer: Tree) -> Residual | None:
    """LCM of rational numbers: the least positive one that is a multiple of all by integers, 0 with 0."""
    numbers = fractions(values)
    if numbers is None:
        return None
    below = math.lcm(*(int(x.q) for x in numbers))
    return rational_value(fmpq(math.lcm(*(int((x * below).p) for x in numbers)), below), answer)


def fractions(values: list[Value]) -> list[fmpq] | None:
    """Rational numbers, not all of them integers; None for anything else."""
    found = [value for value in values if isinstance(value, fmpq) and max(value.p.bit_length(), value.q.bit_length()) <= MAX_BITS]
    return found if len(found) == len(values) and any(x.q != 1 for x in found) else None


def divisor_sum(values: list[Value], answer: Tree) -> Residual | None:
    """DivisorSigma[k, n] of a negative k: the sum over the divisors of n, divided by n^-k."""
    numbers = integers(values)
    if numbers is None or len(numbers) != 2 or numbers[0] >= 0:
        return None
    k, n = numbers
    if -k > MAX_INDEX or not 0 < n < 2**FACTORED_BITS:
        return Open("out of bounds")
    return rational_value(fmpq(divisor_sigma(-k, n)) / fmpq(n) ** -k, answer)


def extended_gcd(values: list[Value], answer: Tree) -> Residual:
    """{g, {r, s, ...}}: g is the greatest common divisor and a r + b s + ... == g."""
    numbers, parts = integers(values), arguments(answer)
    if numbers is None or not is_call(answer, "List") or len(parts) != 2 or not is_call(parts[1], "List"):
        return Open("not of that form")
    divisor, factors = integer(parts[0]), [integer(part) for part in arguments(parts[1])]
    known = [r for r in factors if r is not None]
    if divisor is None or len(known) != len(factors) or len(factors) != len(numbers):
        return Open("not of that form")
    wanted, total = math.gcd(*numbers), sum(a * r for a, r in zip(numbers, known, strict=True))
    if divisor != wanted:
        return Refuted(Statement(f"{brief(wanted)} is the greatest common divisor"))
    return Verified(True) if total == wanted else Refuted(Statement(f"the sum of the products is {brief(total)}, not {brief(wanted)}"))


def primitive_root(values: list[Value], answer: Tree) -> Residual:
    """A residue whose powers are all residues prime to n."""
    numbers, given = integers(values), integer(answer)
    if numbers is None or len(numbers) != 1 or given is None or not 1 < numbers[0] < 2**FACTORED_BITS:
        return Open("out of bounds")
    (n,) = numbers
    if math.gcd(given, n) != 1:
        return Refuted(Statement(f"{brief(given)} and {brief(n)} have a common divisor"))
    size = euler_phi(n)
    for p, _ in factorization(size):
        if pow(given, size // int(p), n) == 1:
            return Refuted(Statement(f"{brief(given)}^{size // int(p)} is 1 modulo {brief(n)}"))
    return Verified(True) if 0 < given < n else Open("no least residue")


def modular_root(values: list[Value], answer: Tree) -> Residual | None:
    """PowerMod[a, 1/k, m]: which of several roots is given is a convention."""
    base, exponent, modulus = values
    a, m = whole(base), whole(modulus)
    if not isinstance(exponent, fmpq) or exponent.q == 1 or a is None or m is None:
        return None
    k, x = int(exponent.q), integer(answer)
    if exponent.p != 1 or k > MAX_TRIED or not 1 < m < 2**FACTORED_BITS or x is None:
        return Open("not of that form")
    if pow(x, k, m) != a % m:
        return Refuted(Statement(f"{brief(x)}^{k} is {brief(pow(x, k, m))} modulo {brief(m)}, not {brief(a % m)}"))
    if not 0 <= x < m:
        return Open("no least residue")
    if m > MAX_TRIED or any(pow(other, k, m) == a % m for other in range(m) if other != x):
        return Supported()
    return Verified(True)


RULES: dict[str, Callable[[list[Value], Tree], Residual | None]] = {
    "GCD": common_divisor,
    "LCM": common_multiple,
    "DivisorSigma": divisor_sum,
    "ExtendedGCD": extended_gcd,
    "PrimitiveRoot": primitive_root,
    "PowerMod": modular_root,
}
