"""Factors and primality of whole numbers by FLINT, which nothing interrupts: each call takes the steps of the budget that its size stands for."""

from __future__ import annotations

import math

from flint import fmpz

from . import budget

DOUBLING_BITS = 10  # by which factoring takes twice the time, as measured to 200 bits


def factorization(n: int | fmpz) -> list[tuple[int, int]]:
    """The primes of |n| and their exponents."""
    budget.step(1 + 2 ** (fmpz(n).bit_length() // DOUBLING_BITS))
    return [(int(p), int(e)) for p, e in abs(fmpz(n)).factor()]


def is_probable_prime(n: int | fmpz) -> bool:
    """By the test of Baillie, Pomerance, Selfridge and Wagstaff: few powers modulo n."""
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
