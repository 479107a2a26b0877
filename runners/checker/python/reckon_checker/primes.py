"""Factors and primality of whole numbers by FLINT, which nothing interrupts: each call takes the steps of the budget that its size stands for."""

from __future__ import annotations

import math

from flint import fmpz

from . import budget
from .tree import Refused

LARGEST_TRIED = 1000
PRIMORIAL = fmpz.primorial_ui(fmpz(LARGEST_TRIED))
EASY_BITS = 60  # of a factor that elliptic curves find in a quarter of a second


def factorization(n: int | fmpz) -> list[tuple[int, int]]:
    """The primes of |n| and their exponents, by elliptic curves: FLINT's quadratic sieve writes files, which a check may not."""
    bits = fmpz(n).bit_length()
    budget.step(1 + 2 ** (min(bits, 2 * EASY_BITS) // 8))
    found = abs(fmpz(n)).factor_smooth(min(bits // 2 + 1, EASY_BITS))
    if not all(is_prime(p) for p, _ in found):
        raise Refused("a number that is hard to factor")
    return sorted((int(p), int(e)) for p, e in found)


def is_probable_prime(n: int | fmpz) -> bool:
    """By small divisors, then by the test of Baillie, Pomerance, Selfridge and Wagstaff: few powers modulo n."""
    if abs(int(n)) > LARGEST_TRIED and fmpz(n).gcd(PRIMORIAL) != 1:
        return False
    budget.step(1 + fmpz(n).bit_length() ** 3 // 3_500_000)
    return bool(fmpz(n).is_probable_prime())


def is_prime(n: int | fmpz) -> bool:
    """Proved."""
    if not is_probable_prime(n):
        return False
    bits = fmpz(n).bit_length()
    budget.step(bits**2 * max(bits // 320, 1) ** 3 // 10)
    return bool(fmpz(n).is_prime())


def euler_phi(n: int | fmpz) -> int:
    return math.prod((p - 1) * p ** (e - 1) for p, e in factorization(n))


def moebius(n: int | fmpz) -> int:
    pairs = factorization(n)
    return 0 if any(e > 1 for _, e in pairs) else (-1) ** len(pairs)


def divisor_sigma(k: int, n: int | fmpz) -> int:
    """The sum of the k-th powers of the divisors, k from 0."""
    return math.prod(sum(p ** (k * i) for i in range(e + 1)) for p, e in factorization(n))
