"""Functions of whole numbers, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb, fmpq, fmpz

from .arithmetic import divide, minus, plus, power, threaded, times
from .functions import numeric
from .primes import divisor_sigma, euler_phi, is_prime, moebius
from .values import ONE, NonValue, Value, is_exact, undefined, whole

LARGEST = 10**4000
MAX_INDEX = 20000


def over_integers(name: str, function: Callable[..., Value]) -> Callable[..., Value]:
    def applied(*args: Value) -> Value:
        if any(isinstance(arg, tuple) for arg in args):
            return threaded(applied, *args)
        numbers = [whole(arg) for arg in args]
        if any(number is None or abs(number) > LARGEST for number in numbers):
            return undefined(name + " of something that is no integer")
        return function(*numbers)

    return applied


def fibonacci(n: Value) -> Value:
    k = whole(n)
    if k is not None and abs(k) <= MAX_INDEX:
        value = fmpq(fmpz.fib_ui(fmpz(abs(k))))
        return value if k >= 0 or k % 2 else -value
    golden = (1 + arb(5).sqrt()) / 2
    cosine = numeric("Cos", "cos")(times(arb.pi(), n))
    return divide(minus(power(golden, n), times(cosine, power(golden, times(fmpq(-1), n)))), arb(5).sqrt())


def lucas(n: Value) -> Value:
    return plus(fibonacci(minus(n, ONE)), fibonacci(plus(n, ONE)))


def gcd(*args: Value) -> Value:
    found = fmpq(0)
    for arg in args:
        if not isinstance(arg, fmpq):
            return undefined("GCD of something not rational")
        found = _gcd(found, arg)
    return found


def _gcd(a: fmpq, b: fmpq) -> fmpq:
    return fmpq(math.gcd(int(a.p * b.q), int(b.p * a.q)), int(a.q * b.q))


def bernoulli(*args: Value) -> Value:
    n = whole(args[0])
    if n is None or not 0 <= n <= 2000:
        return undefined("BernoulliB")
    if len(args) == 1:
        return fmpq.bernoulli(n)
    total: Value = fmpq(0)
    for k in range(n + 1):
        coefficient = fmpq(math.comb(n, k)) * fmpq.bernoulli(n - k)
        total = plus(total, times(coefficient, power(args[1], fmpq(k)) if k else ONE))
    return total


def parity(name: str, remainder: int) -> Callable[[Value], Value]:
    """EvenQ and OddQ of exact rational numbers."""

    def applied(value: Value) -> Value:
        if isinstance(value, tuple):
            return threaded(applied, value)
        if not isinstance(value, fmpq):
            return undefined(name)
        number = whole(value)
        return number is not None and number % 2 == remainder

    return applied


def _stirling(n: int, k: int, function: Callable[[int, int], fmpz]) -> Value:
    return fmpq(function(n, k)) if 0 <= n <= 1000 and 0 <= k <= 1000 else undefined("Stirling")


def _power_mod(a: int, b: int, m: int) -> Value | NonValue:
    if m <= 0:
        return undefined("PowerMod of a modulus that is not positive")
    try:
        return fmpq(pow(a, b, m))
    except ValueError:
        return undefined("PowerMod")


WHOLE: dict[str, Callable[..., Value]] = {
    "Fibonacci": fibonacci,
    "LucasL": lucas,
    "GCD": gcd,
    "LCM": over_integers("LCM", lambda *v: fmpq(math.lcm(*v))),
    "BernoulliB": bernoulli,
    "EulerE": over_integers("EulerE", lambda n: fmpq(fmpz.euler_number(n)) if 0 <= n <= 2000 else undefined("EulerE")),
    "BellB": over_integers("BellB", lambda n: fmpq(fmpz.bell_number(n)) if 0 <= n <= 2000 else undefined("BellB")),
    "PartitionsP": over_integers("PartitionsP", lambda n: fmpq(fmpz(n).partitions_p()) if 0 <= n <= 10**6 else undefined("PartitionsP")),
    "StirlingS1": over_integers("StirlingS1", lambda n, k: _stirling(n, k, fmpz.stirling_s1)),
    "StirlingS2": over_integers("StirlingS2", lambda n, k: _stirling(n, k, fmpz.stirling_s2)),
    "EvenQ": parity("EvenQ", 0),
    "OddQ": parity("OddQ", 1),
    "IntegerQ": lambda n: False if isinstance(n, tuple) else whole(n) is not None if is_exact(n) else undefined("IntegerQ"),
    "PrimeQ": over_integers("PrimeQ", lambda n: is_prime(abs(n))),
    "PowerMod": over_integers("PowerMod", _power_mod),
    "EulerPhi": over_integers("EulerPhi", lambda n: fmpq(euler_phi(n)) if 0 < n < 10**30 else undefined("EulerPhi")),
    "MoebiusMu": over_integers("MoebiusMu", lambda n: fmpq(moebius(n)) if 0 < n < 10**30 else undefined("MoebiusMu")),
    "DivisorSigma": over_integers("DivisorSigma", lambda k, n: fmpq(divisor_sigma(k, n)) if 0 < n < 10**30 and 0 <= k < 100 else undefined("DivisorSigma")),
}
