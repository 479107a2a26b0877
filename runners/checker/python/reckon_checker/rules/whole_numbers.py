"""Procedures "factors" and "primes": whole and Gaussian numbers, exactly.

Primality is proved up to PROVED_BITS (FLINT: Baillie-PSW below 2^64, then n - 1 tests and APR-CL); above, a prime passes the
Baillie-PSW test, to which no exception is known: such findings are not exact. A composite is always proved to be one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import arb, fmpq, fmpz

from .. import budget
from ..evaluation import Environment, evaluate
from ..findings import Open, Refuted, Residual, Statement, Supported, Verified
from ..primes import divisor_sigma, factorization, is_probable_prime
from ..primes import is_prime as is_proved_prime
from ..tree import Refused, Tree, arguments, is_call, reals
from ..values import Gaussian, Kind, NonValue, Value, precision, whole
from ..wording import show

MAX_BITS = 60_000
PROVED_BITS = 320
FACTORED_BITS = 160
MAX_SIEVE = 20_000_000
MAX_STEPS = 200  # of NextPrime

Z = tuple[int, int]  # a Gaussian integer


def integer(node: Tree) -> int | None:
    return whole(evaluate(node, Environment(printed=True)))


def gaussian_integer(value: Value) -> Z | None:
    if isinstance(value, fmpq):
        return (int(value.p), 0) if value.q == 1 else None
    if isinstance(value, Gaussian) and value.re.q == 1 and value.im.q == 1:
        return int(value.re.p), int(value.im.p)
    return None


def is_prime(n: int) -> bool:
    """Whether |n| is prime: proved, but for primes above PROVED_BITS."""
    n = abs(n)
    if n < 2:
        return False
    return is_probable_prime(n) if n.bit_length() > PROVED_BITS else is_proved_prime(n)


def proved_prime(n: int) -> bool:
    return abs(n).bit_length() <= PROVED_BITS


def is_gaussian_prime(z: Z) -> bool:
    a, b = abs(z[0]), abs(z[1])
    if a == 0 or b == 0:
        return is_prime(a + b) and (a + b) % 4 == 3
    return is_prime(a * a + b * b)


def brief(n: object) -> str:
    return show(fmpq(n)) if isinstance(n, int) else str(n)


# Factorizations.


def factors(task: dict[str, Any], seed: int) -> Residual:
    """FactorInteger[number] == pairs; gaussian: over the Gaussian integers."""
    value = evaluate(task["number"])
    pairs = [(evaluate(p), evaluate(e)) for p, e in task["pairs"]]
    if task.get("gaussian") or isinstance(value, Gaussian):
        return gaussian_factors(value, pairs)
    if not isinstance(value, fmpq):
        return Open("not a rational number")
    if max(value.p.bit_length(), value.q.bit_length()) > MAX_BITS:
        return Open("too large")
    found: list[tuple[int, int]] = []
    for base, exponent in pairs:
        p, e = whole(base), whole(exponent)
        if p is None or e is None:
            return Open("a factor is not an integer")
        found.append((p, e))
    judged = whole_factors(value, found)
    if isinstance(judged, Verified) and [p for p, _ in found] != sorted(p for p, _ in found):
        return Open("the primes are not in order")
    return judged


def whole_factors(value: fmpq, found: list[tuple[int, int]]) -> Residual:
    for p, e in found:
        if abs(e) * max(p.bit_length() - 1, 0) > 2 * MAX_BITS:
            return Refuted(Statement("the product of the factors is larger than the number"))
        if p == 0 and e < 0:
            return Refuted(Statement("0 to a negative power is no factor"))
    product = fmpq(1)
    for p, e in found:
        product *= fmpq(p) ** e
    if product != value:
        return Refuted(Statement(f"the factors multiply to {show(product)}, not to {show(value)}"))
    for p, e in found:
        if [q for q, _ in found].count(p) > 1:
            return Refuted(Statement(f"the factor {brief(p)} is there twice"))
        if p in (-1, 0, 1):
            if e != 1:
                return Refuted(Statement(f"{p} to the power {e} is no factor"))
        elif not is_prime(p):
            return Refuted(Statement(f"{brief(p)} is not prime"))
        elif p < 0:
            return Open("a negative prime")
        elif e == 0:
            return Refuted(Statement(f"{brief(p)} to the power 0 is no factor"))
    if any(p == 1 for p, _ in found) and len(found) > 1:
        return Open("1 among the factors")
    return Verified(all(proved_prime(p) for p, _ in found), "1")


def gaussian_factors(value: Value, pairs: list[tuple[Value, Value]]) -> Residual:
    number = gaussian_integer(value)
    if number is None:
        return Open("not a Gaussian integer")
    found: list[tuple[Z, int]] = []
    for base, exponent in pairs:
        z, e = gaussian_integer(base), whole(exponent)
        if z is None or e is None or not 0 < e <= MAX_BITS or e * max(norm(z).bit_length() - 1, 0) > 4 * MAX_BITS:
            return Open("a factor is not a Gaussian integer to a positive power")
        found.append((z, e))
    product: Z = (1, 0)
    for z, e in found:
        for _ in range(e):
            budget.step()
            product = multiplied(product, z)
    if product != number:
        return Refuted(Statement(f"the factors multiply to {written(product)}, not to {written(number)}"))
    primes = [z for z, _ in found if norm(z) != 1]
    for z in primes:
        if not is_gaussian_prime(z):
            return Refuted(Statement(f"{written(z)} is not a Gaussian prime"))
    if len({canonical(z) for z in primes}) < len(primes) or len(found) - len(primes) > 1:
        return Open("associated factors apart from each other")
    return Verified(all(proved_prime(norm(z)) for z in primes), "1")


def norm(z: Z) -> int:
    return z[0] * z[0] + z[1] * z[1]


def multiplied(a: Z, b: Z) -> Z:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def canonical(z: Z) -> Z:
    """The associate with a positive real part and an imaginary part that is not negative."""
    for _ in range(4):
        if z == (0, 0) or (z[0] > 0 and z[1] >= 0):
            return z
        z = (-z[1], z[0])
    return z


def written(z: Z) -> str:
    return show(fmpq(z[0])) if z[1] == 0 else show(Gaussian(fmpq(z[0]), fmpq(z[1])))


def gaussian_gcd(a: Z, b: Z) -> Z:
    while b != (0, 0):
        budget.step()
        n = norm(b)
        top = multiplied(a, (b[0], -b[1]))
        q = ((2 * top[0] + n) // (2 * n), (2 * top[1] + n) // (2 * n))
        turned = multiplied(q, b)
        a, b = b, (a[0] - turned[0], a[1] - turned[1])
    return canonical(a)


# Statements about primes and divisors.


def primes(task: dict[str, Any], seed: int) -> Residual:
    """what[args] == answer; gaussian: the option GaussianIntegers."""
    what, answer = task["what"], task["answer"]
    if what not in ("Mod", "Quotient") and any(reals(arg) for arg in task["args"]):
        return Open("a decimal")  # 7.0 is no prime
    values = [evaluate(arg) for arg in task["args"]]
    flat = [x for value in values for x in (value if isinstance(value, tuple) else (value,))]
    if any(isinstance(x, Gaussian) for x in flat) or task.get("gaussian"):
        return gaussian_statement(what, values, answer)
    args = [[whole(x) for x in value] if isinstance(value, tuple) else whole(value) for value in values]
    numbers = [whole(x) for x in flat]
    if any(x is None for x in numbers):
        return divided(what, values, answer)
    if any(x is not None and x.bit_length() > MAX_BITS for x in numbers):
        return Open("too large")
    first: Any = args[0]
    if isinstance(first, list) and what in ELEMENTWISE:
        if not is_call(answer, "List") or len(arguments(answer)) != len(first):
            return Open("shape")
        parts = [one(what, [x, *args[1:]], part) for x, part in zip(first, arguments(answer), strict=True)]
        for part in parts:
            if isinstance(part, Refuted):
                return part
        for part in parts:
            if not isinstance(part, Verified):
                return part
        return Verified(all(isinstance(part, Verified) and part.exact for part in parts))
    return one(what, args, answer)


def divided(what: str, values: list[Value], answer: Tree) -> Residual:
    """Mod and Quotient of real numbers: m - n q with q = floor(m/n)."""
    if what not in ("Mod", "Quotient") or len(values) != 2 or not all(isinstance(x, fmpq) for x in values):
        return Open("not integers")
    m, n = values
    assert isinstance(m, fmpq)
    assert isinstance(n, fmpq)
    if n == 0:
        return Open("division by zero")
    quotient = fmpq((m / n).floor())
    wanted = quotient if what == "Quotient" else m - n * quotient
    given = evaluate(answer)
    if not isinstance(given, fmpq):
        return Open("not a rational number")
    return Verified(True, show(wanted)) if given == wanted else Refuted(Statement(f"{show(wanted)} is expected"))


ELEMENTWISE = frozenset("PrimeQ CompositeQ Prime NextPrime PrimePi PrimePowerQ SquareFreeQ EulerPhi MoebiusMu PrimeNu PrimeOmega LiouvilleLambda".split())


def agrees(given: object, wanted: object, certain: bool = True) -> Residual:
    if given is None:
        return Open("the answer is not of the kind that is asked for")
    if given == wanted:
        return Verified(certain, spelled(wanted))
    expected = f"{spelled(wanted)} is expected"
    return Refuted(Statement(expected if certain else f"{expected}, by a strong pseudoprime test", certain))


def spelled(wanted: object) -> str:
    if isinstance(wanted, list | tuple):
        return "{" + ", ".join(map(spelled, wanted)) + "}"
    return brief(wanted) if type(wanted) is int else str(wanted)


def truth_of(node: Tree) -> bool | None:
    return {"True": True, "False": False}.get(node) if isinstance(node, str) else None


STATEMENTS = frozenset("PrimeQ CompositeQ PrimePowerQ SquareFreeQ CoprimeQ Divisors".split())


def no_integer(answer: Tree) -> bool:
    """Whether an answer is certainly something else than an integer."""
    value = evaluate(answer, Environment(printed=True))
    if isinstance(value, NonValue):
        return value.kind in (Kind.INFINITY, Kind.COMPLEX_INFINITY)
    return isinstance(value, bool | tuple) or (isinstance(value, fmpq) and value.q != 1)


def one(what: str, args: list[Any], answer: Tree) -> Residual:
    n = args[0]
    if what in ("Quotient", "Mod") and args[-1] == 0:
        return Open("division by zero")
    if what not in STATEMENTS and no_integer(answer):
        return Refuted(Statement("the answer is no integer"))
    if what == "RandomPrime":
        return random_prime(n, answer)
    if what in ("GCD", "LCM", "PowerMod", "ModularInverse", "DivisorSigma", "CoprimeQ", "Mod", "Quotient"):
        return arithmetic(what, args, answer)
    if isinstance(n, list):
        return Open("a list")
    if what == "PrimeQ":
        return agrees(truth_of(answer), is_prime(n), proved_prime(n) or not is_prime(n))
    if what == "CompositeQ":
        prime = is_prime(n)
        return agrees(truth_of(answer), abs(n) > 1 and not prime, proved_prime(n) or not prime)
    if what == "PrimePowerQ":
        base = root_base(abs(n))
        prime = is_prime(base)
        return agrees(truth_of(answer), prime, proved_prime(base) or not prime)
    if what in ("Prime", "PrimePi"):
        return counted(what, n, answer)
    if what == "NextPrime":
        return next_prime(n, args[1] if len(args) > 1 else 1, answer)
    if what in FACTORED:
        return factored(what, n, answer)
    raise Refused(what)


def random_prime(bounds: Any, answer: Tree) -> Residual:
    low, high = bounds if isinstance(bounds, list) and len(bounds) == 2 else (2, bounds)
    given = integer(answer)
    if given is None or isinstance(high, list):
        return Open("not an integer")
    if not low <= given <= high:
        return Refuted(Statement(f"{brief(given)} lies outside the range"))
    return Verified(proved_prime(given)) if given > 0 and is_prime(given) else Refuted(Statement(f"{brief(given)} is not prime"))


def arithmetic(what: str, args: list[Any], answer: Tree) -> Residual:
    if any(isinstance(arg, list) for arg in args):
        return Open("lists")
    if what == "CoprimeQ":
        return agrees(truth_of(answer), all(math.gcd(a, b) == 1 for i, a in enumerate(args) for b in args[i + 1 :]))
    given = integer(answer)
    if what in ("Mod", "Quotient"):
        if len(args) not in (2, 3) or args[1] == 0:
            return Open("out of bounds")
        offset = args[2] if len(args) == 3 else 0
        quotient = (args[0] - offset) // args[1]
        return agrees(given, args[0] - args[1] * quotient if what == "Mod" else quotient)
    if what == "GCD":
        return agrees(given, math.gcd(*args))
    if what == "LCM":
        return agrees(given, math.lcm(*args))
    if what == "DivisorSigma":
        if len(args) != 2 or not 0 <= args[0] <= 50 or not 0 < args[1] < 2**FACTORED_BITS:
            return Open("out of bounds")
        return agrees(given, divisor_sigma(args[0], args[1]))
    if (what, len(args)) not in (("ModularInverse", 2), ("PowerMod", 3)) or args[-1] <= 0:
        return Open("out of bounds")
    exponent = -1 if what == "ModularInverse" else args[1]
    if exponent < 0 and math.gcd(args[0], args[-1]) != 1:
        return Open("there is no inverse")
    budget.step(1 + args[-1].bit_length() ** 2 * max(abs(exponent).bit_length(), 1) // 3_500_000)
    return agrees(given, pow(args[0], exponent, args[-1]))


def root_base(n: int) -> int:
    """The smallest b with b^k = n."""
    if n < 2:
        return 0
    if n.bit_length() > 8192:
        raise Refused("Integer")
    k = 2
    while k <= n.bit_length():
        root = fmpz(n).root(k)
        if root**k == n:
            n = int(root)
        else:
            k += 1
    return n


FACTORED: dict[str, Callable[[int, list[tuple[int, int]]], object]] = {
    "EulerPhi": lambda n, pairs: math.prod((p - 1) * p ** (e - 1) for p, e in pairs),
    "MoebiusMu": lambda n, pairs: 0 if any(e > 1 for _, e in pairs) else (-1) ** len(pairs),
    "PrimeNu": lambda n, pairs: len(pairs),
    "PrimeOmega": lambda n, pairs: sum(e for _, e in pairs),
    "LiouvilleLambda": lambda n, pairs: (-1) ** sum(e for _, e in pairs),
    "SquareFreeQ": lambda n, pairs: all(e == 1 for _, e in pairs),
}


def factored(what: str, n: int, answer: Tree) -> Residual:
    if n == 0:
        return Open("of zero")
    if abs(n).bit_length() > FACTORED_BITS:
        return Open("too large to factor here")
    pairs = factorization(n)
    if what == "Divisors":
        count = math.prod(e + 1 for _, e in pairs)
        if count > 5000:
            return Open("too many divisors")
        wanted = [1]
        for p, e in pairs:
            wanted = [d * p**k for d in wanted for k in range(e + 1)]
        given = evaluate(answer)
        if not isinstance(given, tuple):
            return Open("shape")
        return agrees([whole(part) for part in given], sorted(wanted))
    found = FACTORED[what](n, pairs)
    return agrees(truth_of(answer) if isinstance(found, bool) else integer(answer), found)


FACTORED["Divisors"] = lambda n, pairs: None


def sieve(limit: int) -> bytearray:
    """A byte for every number up to the limit: 1 where it is prime."""
    flags = bytearray([1]) * (limit + 1)
    flags[:2] = b"\0\0"[: limit + 1]
    for p in range(2, math.isqrt(limit) + 1):
        if flags[p]:
            budget.step()
            flags[p * p :: p] = bytes(len(range(p * p, limit + 1, p)))
    return flags


def counted(what: str, n: int, answer: Tree) -> Residual:
    """Prime[n] and PrimePi[n]: counted, or for large indices held against the bounds of Rosser and Schoenfeld (1962)."""
    given = integer(answer)
    if given is None:
        return Open("not an integer")
    if what == "PrimePi":
        if n < 2:
            return agrees(given, 0)
        if n > MAX_SIEVE:
            return Open("beyond the sieve")
        return agrees(given, sieve(n).count(1))
    if n < 1:
        return Open("out of bounds")
    if given < 2 or not is_prime(given):
        return Refuted(Statement(f"{brief(given)} is not prime"))
    if given <= MAX_SIEVE:
        position = sieve(given).count(1)
        if position == n:
            return Verified(True, brief(given))
        return Refuted(Statement(f"{given} is prime number {position}, not {brief(n)}"))
    if n < 6:
        return Refuted(Statement(f"{brief(given)} is too large"))
    with precision(256):
        size = arb(n).log() + arb(n).log().log()  # n (ln n + ln ln n - 3/2) < p(n) < n (ln n + ln ln n), n >= 20 and n >= 6
        if arb(given) > n * size or (n >= 20 and arb(given) < n * (size - arb(3) / 2)):
            return Refuted(Statement(f"prime number {brief(n)} lies elsewhere by the bounds of Rosser and Schoenfeld"))
    return Open("beyond the sieve")


def next_prime(n: int, k: int, answer: Tree) -> Residual:
    given = integer(answer)
    if given is None or not 0 < abs(k) <= MAX_STEPS or n.bit_length() > 512:
        return Open("out of bounds")
    value, step = n, 1 if k > 0 else -1
    for _ in range(abs(k)):
        value += step
        while not is_prime(value):  # the negatives of primes count as primes too
            budget.step()
            value += step
    return agrees(given, value, proved_prime(value))


def gaussian_statement(what: str, values: list[Value], answer: Tree) -> Residual:
    numbers = [gaussian_integer(value) for value in values]
    known = [z for z in numbers if z is not None]
    if len(known) < len(numbers):
        return Open("not Gaussian integers")
    if any(norm(z).bit_length() > MAX_BITS for z in known):
        return Open("too large")
    if what == "PrimeQ" and len(known) == 1:
        prime = is_gaussian_prime(known[0])
        return agrees(truth_of(answer), prime, proved_prime(norm(known[0])) or not prime)
    if what in ("GCD", "CoprimeQ"):
        common = known[0]
        for z in known[1:]:
            common = gaussian_gcd(common, z)
        if what == "CoprimeQ":
            return agrees(truth_of(answer), norm(common) == 1) if len(known) == 2 else Open("more than two")
        given = gaussian_integer(evaluate(answer))
        if given is None or canonical(given) != canonical(common):
            return Refuted(Statement(f"{written(canonical(common))} is expected, up to a unit"))
        return Verified(True) if given == canonical(common) else Open("the unit is a convention")
    if what in ("Mod", "Quotient") and len(known) == 2 and known[1] != (0, 0):
        return gaussian_division(what, known[0], known[1], answer)
    return Open("over the Gaussian integers")


def gaussian_division(what: str, m: Z, n: Z, answer: Tree) -> Residual:
    """Which of the remainders that are smaller than n is taken is a convention."""
    value = evaluate(answer, Environment(printed=True))
    given = gaussian_integer(value)
    if given is None:
        return Refuted(Statement(f"{show(value)} is no Gaussian integer")) if isinstance(value, fmpq | Gaussian) else Open("not a Gaussian integer")
    if what == "Quotient":
        product = multiplied(given, n)
        rest = (m[0] - product[0], m[1] - product[1])
    else:
        rest = given
        top = multiplied((m[0] - rest[0], m[1] - rest[1]), (n[0], -n[1]))
        if top[0] % norm(n) or top[1] % norm(n):
            return Refuted(Statement(f"{written(m)} less {written(rest)} is no multiple of {written(n)}"))
    if norm(rest) >= 2 * norm(n):
        return Refuted(Statement(f"the remainder {written(rest)} is larger than any convention allows after division by {written(n)}"))
    return Supported() if 2 * norm(rest) <= norm(n) else Open("which remainder is taken is a convention")
