"""Whole numbers and fractions: divisibility, digits and number forms, and the statistics of lists of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpz

from .. import budget
from ..primes import factorization
from .arithmetic import plus, power, quotient, times
from .data import MAX_LENGTH, MAX_WIDE, Str, Value, elements, exact, has_head, is_list, listed, number, require, settled, string, text, truth, whole
from .evaluator import builtin

MAX_PRIME_BITS = 64  # of numbers whose primality is proved at once
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def listable(name: str, least: int, most: int | None = -1) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Registers a function that goes through lists element by element."""

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        def through(*arguments: Value) -> Value:
            lists = [argument for argument in arguments if is_list(argument)]
            if not lists:
                return function(*arguments)
            require(len({len(part) for part in lists}) == 1, "lists of unequal length")
            size = len(lists[0])
            return listed([through(*(a[i] if is_list(a) else a for a in arguments)) for i in range(1, size)])

        builtin(name, least, most)(through)
        return function

    return register


def _integers(values: Sequence[Value], what: str) -> list[int]:
    return [whole(value, what) for value in values]


@listable("Mod", 2, 3)
def mod(value: Value, modulus: Value, *offset: Value) -> Value:
    a, m, start = exact(value, "Mod"), exact(modulus, "Mod"), exact(offset[0], "Mod") if offset else 0
    require(m != 0, "Mod")
    return number(start + (a - start) - m * ((a - start) // m))


@listable("Quotient", 2)
def quotient_(value: Value, divisor: Value) -> Value:
    a, m = exact(value, "Quotient"), exact(divisor, "Quotient")
    require(m != 0, "Quotient")
    return a // m


@builtin("QuotientRemainder", 2)
def quotient_remainder(value: Value, divisor: Value) -> Value:
    a, m = _integers((value, divisor), "QuotientRemainder")
    require(m != 0, "QuotientRemainder")
    return listed([a // m, a - m * (a // m)])


listable("GCD", 1, None)(lambda *values: math.gcd(*_integers(values, "GCD")))
listable("LCM", 1, None)(lambda *values: math.lcm(*_integers(values, "LCM")))


@listable("Divisible", 2)
def divisible(value: Value, divisor: Value) -> Value:
    a, m = _integers((value, divisor), "Divisible")
    require(m != 0, "Divisible")
    return truth(a % m == 0)


@builtin("CoprimeQ", 2)
def coprime(a: Value, b: Value) -> Value:
    return truth(math.gcd(*_integers((a, b), "CoprimeQ")) == 1)


listable("EvenQ", 1)(lambda value: truth(isinstance(settled(value, "EvenQ"), int) and value % 2 == 0))
listable("OddQ", 1)(lambda value: truth(isinstance(settled(value, "OddQ"), int) and value % 2 == 1))


def is_prime(value: int) -> bool:
    require(abs(value).bit_length() <= MAX_PRIME_BITS, "a large number")
    budget.step(5)
    return bool(fmpz(abs(value)).is_prime())


listable("PrimeQ", 1)(lambda value: truth(is_prime(whole(value, "PrimeQ"))))
listable("CompositeQ", 1)(lambda value: truth(whole(value, "CompositeQ", 1) > 3 and not is_prime(value)))


@listable("Prime", 1)
def prime(index: Value) -> Value:
    found, left = 1, whole(index, "Prime", 1, 2000)
    while left:
        found += 1
        left -= is_prime(found)
    return found


@listable("PrimePi", 1)
def prime_pi(value: Value) -> Value:
    return sum(is_prime(one) for one in range(2, whole(value, "PrimePi", 0, 20_000) + 1))


@listable("NextPrime", 1)
def next_prime(value: Value) -> Value:
    found = whole(value, "NextPrime", 0) + 1
    while not is_prime(found):
        found += 1
    return found


def factors(value: int) -> list[tuple[int, int]]:
    require(value >= 1 and value.bit_length() <= MAX_PRIME_BITS, "a large number")
    return factorization(value)


@listable("FactorInteger", 1)
def factor_integer(value: Value) -> Value:
    return listed([("List", p, k) for p, k in factors(whole(value, "FactorInteger", 2))])


@listable("Divisors", 1)
def divisors(value: Value) -> Value:
    found = [1]
    for p, k in factors(abs(whole(value, "Divisors")) or 0):
        found = [d * p**i for d in found for i in range(k + 1)]
        require(len(found) <= MAX_LENGTH, "a long list")
    return listed(sorted(found))


listable("EulerPhi", 1)(lambda value: math.prod((p - 1) * p ** (k - 1) for p, k in factors(whole(value, "EulerPhi", 1))))
listable("PrimeNu", 1)(lambda value: len(factors(whole(value, "PrimeNu", 1))))
listable("PrimeOmega", 1)(lambda value: sum(k for _, k in factors(whole(value, "PrimeOmega", 1))))
listable("SquareFreeQ", 1)(lambda value: truth(all(k == 1 for _, k in factors(whole(value, "SquareFreeQ", 1)))))
listable("DivisorSigma", 2)(lambda k, n: sum(d ** whole(k, "DivisorSigma", 0, 50) for d in elements(divisors(whole(n, "DivisorSigma", 1)), "DivisorSigma")))
listable("PowerMod", 3)(lambda a, b, m: pow(whole(a, "PowerMod"), whole(b, "PowerMod", 0), whole(m, "PowerMod", 1)))

# Sizes.

listable("Abs", 1)(lambda value: abs(exact(value, "Abs")))
listable("Sign", 1)(lambda value: (exact(value, "Sign") > 0) - (exact(value, "Sign") < 0))
listable("Floor", 1)(lambda value: math.floor(exact(value, "Floor")))
listable("Ceiling", 1)(lambda value: math.ceil(exact(value, "Ceiling")))
listable("Round", 1)(lambda value: round(exact(value, "Round")))
listable("IntegerPart", 1)(lambda value: math.trunc(exact(value, "IntegerPart")))
listable("FractionalPart", 1)(lambda value: number(exact(value, "FractionalPart") - math.trunc(value)))
listable("Numerator", 1)(lambda value: exact(value, "Numerator").numerator)
listable("Denominator", 1)(lambda value: exact(value, "Denominator").denominator)
listable("UnitStep", 1)(lambda value: int(exact(value, "UnitStep") >= 0))
listable("Positive", 1)(lambda value: truth(exact(value, "Positive") > 0))
listable("Negative", 1)(lambda value: truth(exact(value, "Negative") < 0))
listable("NonNegative", 1)(lambda value: truth(exact(value, "NonNegative") >= 0))
listable("NonPositive", 1)(lambda value: truth(exact(value, "NonPositive") <= 0))

# Counting.


listable("Factorial", 1)(lambda value: number(math.factorial(whole(value, "Factorial", 0, 5000))))
listable("Fibonacci", 1)(lambda value: int(fmpz.fib_ui(fmpz(whole(value, "Fibonacci", 0, 20_000)))))


@listable("Binomial", 2)
def binomial(n: Value, k: Value) -> Value:
    return math.comb(whole(n, "Binomial", 0, 5000), whole(k, "Binomial", 0, 5000))


@builtin("Multinomial", 1, None)
def multinomial(*values: Value) -> Value:
    counts = [whole(value, "Multinomial", 0, 500) for value in values]
    return math.prod(math.comb(total, count) for total, count in zip(itertools.accumulate(counts), counts, strict=True))


# Digits.


def digits_of(value: int, base: int) -> list[int]:
    require(value.bit_length() <= MAX_WIDE, "a large number")
    budget.step(1 + value.bit_length() // 4)
    found: list[int] = []
    while value:
        value, digit = divmod(value, base)
        found.append(digit)
    return found[::-1] or [0]


def _base(values: Sequence[Value], most: int = 10**9) -> int:
    return whole(values[0], "a base", 2, most) if values else 10


@listable("IntegerDigits", 1, 3)
def integer_digits(value: Value, *rest: Value) -> Value:
    found = digits_of(abs(whole(value, "IntegerDigits")), _base(rest))
    if len(rest) == 2:
        size = whole(rest[1], "IntegerDigits", 0, MAX_LENGTH)
        found = ([0] * (size - len(found)) + found)[-size:] if size else []
    return listed(found)


@listable("IntegerLength", 1, 2)
def integer_length(value: Value, *base: Value) -> Value:
    found = abs(whole(value, "IntegerLength"))
    return len(digits_of(found, _base(base))) if found else 0


@listable("IntegerReverse", 1, 2)
def integer_reverse(value: Value, *base: Value) -> Value:
    return _from_digits(digits_of(whole(value, "IntegerReverse", 0), _base(base))[::-1], _base(base))


@listable("DigitSum", 1, 2)
def digit_sum(value: Value, *base: Value) -> Value:
    return sum(digits_of(whole(value, "DigitSum", 0), _base(base)))


@builtin("DigitCount", 1, 3)
def digit_count(value: Value, *rest: Value) -> Value:
    base = _base(rest, 36)
    found = digits_of(whole(value, "DigitCount", 1), base)
    if len(rest) == 2:
        return found.count(whole(rest[1], "DigitCount", 0, base - 1))
    return listed([found.count(digit) for digit in [*range(1, base), 0]])


def _from_digits(found: Sequence[Value], base: Value) -> Value:
    value: Value = 0
    for digit in found:
        value = plus(times(value, base), digit)
    return value


@builtin("FromDigits", 1, 2)
def from_digits(value: Value, *base: Value) -> Value:
    if isinstance(value, Str):
        radix, name = _base(base, 36), string(value, "FromDigits").lower()
        require(name != "" and all(one in DIGITS[:radix] for one in name) and name.isascii(), "FromDigits")
        return int(name, radix)
    parts = elements(value, "FromDigits")
    require(not any(map(is_list, parts)) and len(parts) <= 2000, "FromDigits")
    return _from_digits(parts, base[0] if base else 10)


@listable("IntegerString", 1, 3)
def integer_string(value: Value, *rest: Value) -> Value:
    found = "".join(DIGITS[digit] for digit in digits_of(abs(whole(value, "IntegerString")), _base(rest, 36)))
    if len(rest) == 2:
        size = whole(rest[1], "IntegerString", 0, MAX_LENGTH)
        found = found.rjust(size, "0")[-size:] if size else ""
    return text(found)


@listable("RomanNumeral", 1)
def roman_numeral(value: Value) -> Value:
    left, found = whole(value, "RomanNumeral", 1, 3999), ""
    for size, letters in ROMAN:
        while left >= size:
            left, found = left - size, found + letters
    return Str(found)


@listable("FromRomanNumeral", 1)
def from_roman_numeral(value: Value) -> Value:
    found = next((n for n in range(1, 4000) if roman_numeral(n) == value), None) if isinstance(value, Str) else None
    require(found is not None, "FromRomanNumeral")
    return found or 0


@listable("IntegerExponent", 1, 2)
def integer_exponent(value: Value, *base: Value) -> Value:
    left, by, found = whole(value, "IntegerExponent"), _base(base), 0
    require(left != 0 and left.bit_length() <= MAX_WIDE // 10, "IntegerExponent")
    while left % by == 0:
        left, found = left // by, found + 1
    return found


for _name, _bits in {"BitAnd": int.__and__, "BitOr": int.__or__, "BitXor": int.__xor__}.items():

    def _combined(*values: Value, bits: Any = _bits) -> Value:
        found = _integers(values, "bits")
        first = found[0]
        for one in found[1:]:
            first = bits(first, one)
        return first

    listable(_name, 1, None)(_combined)

listable("BitNot", 1)(lambda value: ~whole(value, "BitNot"))
listable("BitShiftLeft", 1, 2)(lambda value, by=1: number(whole(value, "BitShiftLeft") << whole(by, "BitShiftLeft", 0, 10_000)))
listable("BitShiftRight", 1, 2)(lambda value, by=1: whole(value, "BitShiftRight", 0) >> whole(by, "BitShiftRight", 0, 10_000))

# Statistics.


def _data(value: Value, what: str, least: int = 1) -> list[Any]:
    found = list(elements(value, what))
    require(len(found) >= least and not any(map(is_list, found)), what)
    return found


def mean_of(parts: Sequence[Value]) -> Value:
    return quotient(plus(*parts), len(parts))


builtin("Mean", 1)(lambda value: mean_of(_data(value, "Mean")))
builtin("RootMeanSquare", 1)(lambda value: power(mean_of([power(exact(one, "RootMeanSquare"), 2) for one in _data(value, "RootMeanSquare")]), Fraction(1, 2)))
builtin("GeometricMean", 1)(
    lambda value: power(math.prod(exact(one, "GeometricMean") for one in _data(value, "GeometricMean")), quotient(1, len(elements(value, "GeometricMean"))))
)
builtin("HarmonicMean", 1)(lambda value: quotient(1, mean_of([quotient(1, exact(one, "HarmonicMean")) for one in _data(value, "HarmonicMean")])))


def _numbers(value: Value, what: str, least: int = 1) -> list[Any]:
    return [exact(one, what) for one in _data(value, what, least)]


@builtin("Median", 1)
def median(value: Value) -> Value:
    parts = sorted(_numbers(value, "Median"))
    middle = len(parts) // 2
    return parts[middle] if len(parts) % 2 else number(Fraction(parts[middle - 1] + parts[middle], 2))


def _middle(parts: Sequence[Any]) -> Fraction:
    return Fraction(sum(parts)) / len(parts)


def _covariance(first: Sequence[Any], second: Sequence[Any]) -> Value:
    a, b = _middle(first), _middle(second)
    return number(sum(((x - a) * (y - b) for x, y in zip(first, second, strict=True)), Fraction(0)) / (len(first) - 1))


@builtin("Variance", 1)
def variance(value: Value) -> Value:
    parts = _numbers(value, "Variance", 2)
    return _covariance(parts, parts)


builtin("StandardDeviation", 1)(lambda value: power(variance(value), Fraction(1, 2)) if variance(value) != 0 else 0)


@builtin("Covariance", 2)
def covariance(a: Value, b: Value) -> Value:
    first, second = _numbers(a, "Covariance", 2), _numbers(b, "Covariance", 2)
    require(len(first) == len(second), "Covariance")
    return _covariance(first, second)


@builtin("Correlation", 2)
def correlation(a: Value, b: Value) -> Value:
    spread = exact(variance(a), "Correlation") * exact(variance(b), "Correlation")
    require(spread != 0, "Correlation")
    return quotient(covariance(a, b), power(number(Fraction(spread)), Fraction(1, 2)))


@builtin("MeanDeviation", 1)
def mean_deviation(value: Value) -> Value:
    parts = _numbers(value, "MeanDeviation")
    middle = _middle(parts)
    return mean_of([number(abs(one - middle)) for one in parts])


@builtin("MedianDeviation", 1)
def median_deviation(value: Value) -> Value:
    middle = exact(median(value), "MedianDeviation")
    return median(listed([number(Fraction(abs(one - middle))) for one in _numbers(value, "MedianDeviation")]))


@builtin("Quantile", 2, 3)
def quantile(value: Value, share: Value, *parameters: Value) -> Value:
    """With parameters {{a, b}, {c, d}} the value at x = a + (n + b) q of the sorted list, between two of them by c + d times the part of x behind the point."""
    if is_list(share):
        return listed([quantile(value, one, *parameters) for one in elements(share, "Quantile")])
    parts, q = sorted(_numbers(value, "Quantile")), exact(share, "Quantile")
    require(0 <= q <= 1, "Quantile")
    shape = parameters[0] if parameters else ("List", ("List", 0, 0), ("List", 1, 0))
    [[a, b], [c, d]] = [[exact(one, "Quantile") for one in elements(row, "Quantile")] for row in elements(shape, "Quantile")]
    x = a + (len(parts) + b) * Fraction(q)

    def at(place: int) -> Any:
        return parts[min(max(place, 1), len(parts)) - 1]

    low, high = at(math.floor(x)), at(math.ceil(x))
    return number(low + (high - low) * (c + d * (x - math.floor(x))))


@builtin("Quartiles", 1)
def quartiles(value: Value) -> Value:
    shape: Value = ("List", ("List", Fraction(1, 2), 0), ("List", 0, 1))
    return listed([quantile(value, Fraction(k, 4), shape) for k in (1, 2, 3)])


@builtin("InterquartileRange", 1)
def interquartile_range(value: Value) -> Value:
    parts = elements(quartiles(value), "InterquartileRange")
    return number(parts[2] - parts[0])


@builtin("MovingAverage", 2)
def moving_average(value: Value, width: Value) -> Value:
    parts, size = _data(value, "MovingAverage"), whole(width, "MovingAverage", 1)
    require(size <= len(parts), "MovingAverage")
    return listed([mean_of(parts[i : i + size]) for i in range(len(parts) - size + 1)])


@builtin("Rescale", 1, 3)
def rescale(value: Value, *ranges: Value) -> Value:
    if not ranges:
        parts = _numbers(value, "Rescale")
        return rescale(value, listed([min(parts), max(parts)]))
    if is_list(value):
        return listed([rescale(one, *ranges) for one in elements(value, "Rescale")])
    low, high = _numbers(ranges[0], "Rescale", 2)
    first, last = _numbers(ranges[1], "Rescale", 2) if len(ranges) == 2 else (0, 1)
    require(low != high, "Rescale")
    return number(first + (last - first) * Fraction(exact(value, "Rescale") - low) / (high - low))


@builtin("Clip", 1, 2)
def clip(value: Value, *bounds: Value) -> Value:
    low, high = [exact(one, "Clip") for one in elements(bounds[0], "Clip")] if bounds else (-1, 1)
    require(low <= high, "Clip")
    if is_list(value):
        return listed([clip(one, *bounds) for one in elements(value, "Clip")])
    return min(max(exact(value, "Clip"), low), high)


@builtin("IntegerPartitions", 1, 2)
def integer_partitions(value: Value, *count: Value) -> Value:
    def parts(left: int, most: int) -> list[list[int]]:
        budget.step()
        return [[]] if left == 0 else [[one, *more] for one in range(min(left, most), 0, -1) for more in parts(left - one, one)]

    n = whole(value, "IntegerPartitions", 0, 25)
    found = parts(n, n)
    if count and is_list(count[0]):
        [size] = [whole(one, "IntegerPartitions", 0) for one in _data(count[0], "IntegerPartitions")[:1]]
        require(len(count[0]) == 2, "IntegerPartitions")
        found = [one for one in found if len(one) == size]
    elif count:
        found = [one for one in found if len(one) <= whole(count[0], "IntegerPartitions", 0)]
    return listed([listed(one) for one in found])


@builtin("KroneckerDelta", 1, None)
def kronecker_delta(*values: Value) -> Value:
    return int(len({exact(value, "KroneckerDelta") for value in (values if len(values) > 1 else (*values, 0))}) == 1)


@builtin("NumericQ", 1)
def numeric(value: Value) -> Value:
    require(isinstance(value, int | Fraction | Str) or has_head(value, "List"), "NumericQ")
    return truth(isinstance(value, int | Fraction))
