"""Lists of numbers and digits: functions whose values are lists, or are counted from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from flint import arb, fmpq, fmpz

from . import budget
from .arithmetic import minus, plus, power, times
from .jumps import floor
from .lists import squared_modulus
from .primes import euler_phi, factorization
from .values import HALF, ONE, Value, is_zero, sign, undefined, whole

MAX_ENTRIES = 3000
MAX_MODULUS = 10**7


def integers(name: str, function: Callable[..., Value], lists: bool = False) -> Callable[..., Value]:
    """A function of whole numbers; where lists is set, of lists of them too."""

    def rule(*args: Value) -> Value:
        if not lists and any(isinstance(arg, tuple) for arg in args):
            return undefined(name + " of a list")
        found = [[whole(part) for part in arg] if isinstance(arg, tuple) else whole(arg) for arg in args]
        flat = [n for one in found for n in (one if isinstance(one, list) else [one])]
        return undefined(name) if any(n is None for n in flat) else function(*found)

    return rule


def listed(numbers: list[int]) -> Value:
    return tuple(fmpq(n) for n in numbers)


def span(*args: Value) -> Value:
    """Range[n], Range[a, b] and Range[a, b, step] of rational numbers."""
    if not 1 <= len(args) <= 3:
        return undefined("Range")
    start: Value = args[0] if len(args) > 1 else fmpq(1)
    end: Value = args[1] if len(args) > 1 else args[0]
    step: Value = args[2] if len(args) > 2 else fmpq(1)
    if not isinstance(start, fmpq) or not isinstance(end, fmpq) or not isinstance(step, fmpq) or step == 0:
        return undefined("Range")
    count = int(((end - start) / step).floor()) + 1
    if count > MAX_ENTRIES:
        return undefined("a long list")
    return tuple(start + k * step for k in range(max(count, 0)))


def accumulate(values: Value) -> Value:
    return tuple(itertools.accumulate(values, plus)) if isinstance(values, tuple) else undefined("Accumulate")


def differences(values: Value, times_over: Value = ONE) -> Value:
    n = whole(times_over)
    if not isinstance(values, tuple) or n is None or not 0 <= n <= MAX_ENTRIES:
        return undefined("Differences")
    for _ in range(n):
        budget.step()
        values = tuple(minus(b, a) for a, b in itertools.pairwise(values))
    return values


def length(values: Value) -> Value:
    return fmpq(len(values)) if isinstance(values, tuple) else undefined("Length")


def reverse(values: Value) -> Value:
    return values[::-1] if isinstance(values, tuple) else undefined("Reverse")


def ordered(values: Value) -> Value:
    """Sort of rational numbers. Others are put in order by their form: Sqrt[2] comes after 2."""
    if not isinstance(values, tuple) or len(values) > MAX_ENTRIES:
        return undefined("Sort")
    numbers = [value for value in values if isinstance(value, fmpq)]
    return tuple(sorted(numbers)) if len(numbers) == len(values) else undefined("Sort")


def union(*lists: Value) -> Value:
    """Union of lists of rational numbers: each of them once, in order."""
    found: set[fmpq] = set()
    for values in lists:
        if not isinstance(values, tuple):
            return undefined("Union")
        numbers = [value for value in values if isinstance(value, fmpq)]
        if len(numbers) < len(values):
            return undefined("Union")
        found.update(numbers)
    return ordered(tuple(found))


def mean(values: Value) -> Value:
    if not isinstance(values, tuple) or not values:
        return undefined("Mean")
    total: Value = fmpq(0)
    for value in values:
        total = plus(total, value)
    return times(total, fmpq(1, len(values)))


def variance(values: Value) -> Value:
    """Of a list of numbers: the sum of |x - mean|^2 over one less than there are."""
    if not isinstance(values, tuple) or len(values) < 2 or any(isinstance(value, tuple) for value in values):
        return undefined("Variance")
    middle = mean(values)
    total: Value = fmpq(0)
    for value in values:
        total = plus(total, squared_modulus(minus(value, middle)))
    return times(total, fmpq(1, len(values) - 1))


def median(values: Value) -> Value:
    """Of a list of rational numbers."""
    numbers = ordered(values)
    if not isinstance(numbers, tuple) or not numbers:
        return undefined("Median")
    half = len(numbers) // 2
    return numbers[half] if len(numbers) % 2 else mean(numbers[half - 1 : half + 1])


def subsets(*args: Value) -> Value:
    values = args[0]
    if len(args) > 2 or not isinstance(values, tuple) or len(values) > 10:
        return undefined("Subsets")
    sizes = range(len(values) + 1)
    if len(args) == 2:
        size = whole(args[1][0]) if isinstance(args[1], tuple) and len(args[1]) == 1 else None
        most = whole(args[1]) if not isinstance(args[1], tuple) else None
        if (size is None and most is None) or (size or 0) < 0 or (most or 0) < 0:
            return undefined("Subsets")
        sizes = range(size, size + 1) if size is not None else range((most or 0) + 1)
    return tuple(chosen for size in sizes for chosen in itertools.combinations(values, size))


def permutations(values: Value) -> Value:
    """Of rational numbers: each order once, in the order of the places."""
    if not isinstance(values, tuple) or len(values) > 6 or not all(isinstance(value, fmpq) for value in values):
        return undefined("Permutations")
    return tuple(dict.fromkeys(itertools.permutations(values)))


def digits(n: int, base: int = 10) -> list[int]:
    n, found = abs(n), []
    while n:
        n, digit = divmod(n, base)
        found.append(digit)
    return found[::-1] or [0]


def integer_digits(n: int, base: int = 10, size: int | None = None) -> Value:
    if base < 2 or abs(n).bit_length() > 20_000:
        return undefined("IntegerDigits")
    found = digits(n, base)
    if size is None:
        return listed(found)
    return listed(([0] * max(size - len(found), 0) + found)[-size:]) if 0 < size <= MAX_ENTRIES else undefined("IntegerDigits")


def from_digits(values: list[int], base: int = 10) -> Value:
    total = 0
    for digit in values:
        total = total * base + digit
    return fmpq(total)


def continued_fraction(value: Value, count: Value | None = None) -> Value:
    """ContinuedFraction[x] of a rational number, ContinuedFraction[x, n] of a real one: the first n terms, or as many as there are."""
    most = MAX_ENTRIES if count is None else whole(count)
    if not isinstance(value, fmpq | arb) or (count is None and isinstance(value, arb)) or most is None or not 0 < most <= MAX_ENTRIES:
        return undefined("ContinuedFraction")
    negative = sign(value) < 0
    x = -value if negative else value
    found: list[int] = []
    while len(found) < most:
        budget.step()
        part = int(floor(x).p)
        found.append(-part if negative else part)
        rest = x - part
        if is_zero(rest):
            return listed(found)
        x = 1 / rest
    return listed(found) if count is not None else undefined("a long list")


def chinese_remainder(residues: list[int], moduli: list[int]) -> Value:
    if len(residues) != len(moduli) or not moduli or min(moduli) < 1:
        return undefined("ChineseRemainder")
    x, modulus = 0, 1
    for r, m in zip(residues, moduli, strict=True):
        common = math.gcd(modulus, m)
        if (r - x) % common:
            return undefined("residues that contradict each other")
        x += modulus * ((r - x) // common * pow(modulus // common, -1, m // common) % (m // common)) if m > common else 0
        modulus = modulus * m // common
        x %= modulus
    return fmpq(x)


def multiplicative_order(a: int, n: int) -> Value:
    if not 1 < n < MAX_MODULUS or math.gcd(a, n) != 1:
        return undefined("MultiplicativeOrder")
    best = euler_phi(n)
    for p, _ in factorization(best):
        while best % p == 0 and pow(a, best // p, n) == 1:
            best //= p
    return fmpq(best)


def jacobi(a: int, n: int) -> Value:
    return fmpq(fmpz(a).jacobi(n)) if n > 0 and n % 2 else undefined("JacobiSymbol")


def carmichael(n: int) -> Value:
    if not 0 < n < 10**30:
        return undefined("CarmichaelLambda")
    parts = [2 ** (e - 2) if p == 2 and e > 2 else (p - 1) * p ** (e - 1) for p, e in factorization(n)]
    return fmpq(math.lcm(*map(int, parts))) if parts else fmpq(1)


def valuation(n: int, base: int = 10) -> Value:
    if n == 0 or base < 2:
        return undefined("IntegerExponent")
    found = 0
    while n % base == 0:
        n, found = n // base, found + 1
    return fmpq(found)


def multinomial(*parts: int) -> Value:
    if any(part < 0 for part in parts) or sum(parts) > 20_000:
        return undefined("Multinomial")
    total, found = 0, 1
    for part in parts:
        total += part
        found *= math.comb(total, part)
    return fmpq(found)


SEQUENCES: dict[str, Callable[..., Value]] = {
    "Range": span,
    "Accumulate": accumulate,
    "Differences": differences,
    "Length": length,
    "Reverse": reverse,
    "Sort": ordered,
    "Union": union,
    "Mean": mean,
    "Variance": variance,
    "StandardDeviation": lambda values: power(variance(values), HALF),
    "Median": median,
    "Subsets": subsets,
    "Permutations": permutations,
    "ContinuedFraction": continued_fraction,
    "IntegerDigits": integers("IntegerDigits", integer_digits),
    "IntegerLength": integers("IntegerLength", lambda n, base=10: fmpq(len(digits(n, base)) if n else 0) if base > 1 else undefined("IntegerLength")),
    "IntegerExponent": integers("IntegerExponent", valuation),
    "FromDigits": integers("FromDigits", from_digits, lists=True),
    "DigitSum": integers("DigitSum", lambda n, base=10: fmpq(sum(digits(n, base))) if base > 1 and n >= 0 else undefined("DigitSum")),
    "ChineseRemainder": integers("ChineseRemainder", chinese_remainder, lists=True),
    "MultiplicativeOrder": integers("MultiplicativeOrder", multiplicative_order),
    "JacobiSymbol": integers("JacobiSymbol", jacobi),
    "CarmichaelLambda": integers("CarmichaelLambda", carmichael),
    "Multinomial": integers("Multinomial", multinomial),
    "BitAnd": integers("BitAnd", lambda a, b: fmpq(a & b)),
    "BitOr": integers("BitOr", lambda a, b: fmpq(a | b)),
    "BitXor": integers("BitXor", lambda a, b: fmpq(a ^ b)),
}
