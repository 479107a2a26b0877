"""Tasks "factors" and "primes": whole numbers, exactly."""
import math
from fractions import Fraction

import sympy

import numeric
from findings import proved, refuted, undecided
from numeric import whole
from tree import Refused, is_call

MAX_BITS = 4096
CERTAIN_BITS = 64  # below, sympy.isprime is a proof (a strong BPSW test has no exception there)
MAX_SIEVE = 3_000_000


def factors(task, seed):
    value = numeric.evaluate(task["number"])
    if not numeric.exact(value):
        return undecided("not a rational number")
    value = Fraction(value)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        return undecided("too large")
    pairs = task["pairs"]
    found = []
    for base, exponent in pairs:
        p, e = whole(numeric.evaluate(base)), whole(numeric.evaluate(exponent))
        if p is None or e is None:
            return undecided("a factor is not an integer")
        if abs(e) * max(p.bit_length(), 1) > 2 * MAX_BITS:
            return refuted("the product is larger", exact=True)
        if p == 0 and e < 0:
            return refuted("0 to a negative power", exact=True)
        found.append((p, e))
    product = Fraction(1)
    for p, e in found:
        product *= Fraction(p) ** e
    if product != value:
        small = max(product.numerator.bit_length(), product.denominator.bit_length()) < 500
        return refuted("the product is %s" % product if small else "another product", exact=True)
    for p, e in found:
        if [q for q, _ in found].count(p) > 1:
            return refuted("%d is there twice" % p, exact=True)
        if p in (-1, 0, 1):
            if e != 1:
                return refuted("%d to the power %d" % (p, e), exact=True)
        elif not sympy.isprime(abs(p)):
            return refuted("%d is not prime" % p, exact=True)
        elif p < 0:
            return undecided("a negative prime")
        elif e == 0:
            return refuted("%d to the power 0" % p, exact=True)
    if any(p == 1 for p, _ in found) and len(found) > 1:
        return undecided("1 among the factors")
    return proved(all(p.bit_length() <= CERTAIN_BITS for p, _ in found), "1")


def answer_is(given, wanted, certain=True):
    if given == wanted:
        return proved(certain, str(wanted))
    return refuted(str(wanted), exact=True)


def truth_of(node):
    if node == "True":
        return True
    if node == "False":
        return False
    raise Refused("answer")


def probable_bits(*values):
    return all(abs(v).bit_length() <= CERTAIN_BITS for v in values)


def primes(task, seed):
    what, answer = task["what"], task["answer"]
    args = [numeric.evaluate(arg) for arg in task["args"]]
    args = [whole(arg) if not isinstance(arg, list) else [whole(x) for x in arg] for arg in args]
    flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    if any(x is None for x in flat):
        return undecided("not integers")
    if any(x.bit_length() > MAX_BITS for x in flat):
        return undecided("too large")
    if isinstance(args[0], list) and what in ELEMENTWISE:
        if not is_call(answer, "List") or len(answer) != len(args[0]) + 1:
            return undecided("shape")
        found = [one(what, [x] + args[1:], part) for x, part in zip(args[0], answer[1:])]
        for finding in found:
            if finding["status"] != "proved":
                return finding
        return proved(all(f["exact"] for f in found), "True")
    return one(what, args, answer)


ELEMENTWISE = {"PrimeQ", "CompositeQ", "Prime", "NextPrime", "PrimePi", "PrimePowerQ", "SquareFreeQ", "EulerPhi", "MoebiusMu", "PrimeNu", "PrimeOmega", "LiouvilleLambda"}
FACTORED = {
    "EulerPhi": sympy.totient, "MoebiusMu": sympy.functions.combinatorial.numbers.mobius,
    "PrimeNu": lambda n: len(sympy.factorint(n)), "PrimeOmega": lambda n: sum(sympy.factorint(n).values()),
    "SquareFreeQ": lambda n: all(e == 1 for e in sympy.factorint(abs(n)).values()),
    "Divisors": lambda n: sympy.divisors(abs(n)), "LiouvilleLambda": lambda n: (-1) ** sum(sympy.factorint(n).values()),
}


def one(what, args, answer):
    n = args[0]
    if what in ARITHMETIC:
        return arithmetic(what, args, answer)
    if what == "RandomPrime":
        low, high = n if isinstance(n, list) else (2, n)
        given = whole(numeric.evaluate(answer))
        return answer_is(given is not None and low <= given <= high and sympy.isprime(given), True)
    if what == "PrimeQ":
        return answer_is(truth_of(answer), bool(sympy.isprime(abs(n))), probable_bits(n) or not sympy.isprime(abs(n)))
    if what == "CompositeQ":
        prime = sympy.isprime(abs(n))
        return answer_is(truth_of(answer), bool(abs(n) > 1 and not prime), probable_bits(n) or not prime)
    if what == "PrimePowerQ":
        return prime_power(abs(n), answer)
    if what == "CoprimeQ":
        return answer_is(truth_of(answer), all(numeric.gcd(a, b) == 1 for i, a in enumerate(args) for b in args[i + 1 :]))
    if what in ("Prime", "PrimePi"):
        if what == "Prime" and not 1 <= n <= 200_000 or n > MAX_SIEVE:
            return large_index(what, n, answer)
        wanted = sympy.prime(n) if what == "Prime" else int(sympy.primepi(n))
        return answer_is(whole(numeric.evaluate(answer)), wanted)
    if what == "NextPrime":
        return next_prime(n, args[1] if len(args) > 1 else 1, answer)
    if what in FACTORED:
        if abs(n).bit_length() > CERTAIN_BITS:
            return undecided("too large to factor here")
        wanted = FACTORED[what](n)
        if isinstance(wanted, bool):
            return answer_is(truth_of(answer), wanted)
        given = numeric.evaluate(answer)
        if isinstance(wanted, list):
            return answer_is(given, [int(d) for d in wanted])
        return answer_is(whole(given), int(wanted))
    raise Refused(what)


ARITHMETIC = {
    "GCD": lambda *numbers: math.gcd(*numbers), "LCM": lambda *numbers: math.lcm(*numbers), "PowerMod": pow,
    "ModularInverse": lambda k, n: pow(k, -1, n), "DivisorSigma": lambda k, n: int(sympy.divisor_sigma(n, k)),
}


def arithmetic(what, args, answer):
    given = whole(numeric.evaluate(answer))
    if given is None or any(isinstance(arg, list) for arg in args):
        return undecided("not integers")
    if what == "DivisorSigma" and (len(args) != 2 or not 0 <= args[0] <= 50 or not 0 < args[1] < 2**CERTAIN_BITS):
        return undecided("out of bounds")
    if (what, len(args)) in (("ModularInverse", 2), ("PowerMod", 3)) and args[-1] > 0:
        if math.gcd(args[0], args[-1]) != 1 and (what == "ModularInverse" or args[1] < 0):
            return undecided("there is no inverse")
    elif what in ("ModularInverse", "PowerMod"):
        return undecided("out of bounds")
    return answer_is(given, ARITHMETIC[what](*args))


def large_index(what, n, answer):
    """Beyond the sieve only the type of the answer can be looked at."""
    given = whole(numeric.evaluate(answer))
    if what == "Prime" and n > 0 and given is not None:
        if not sympy.isprime(given):
            return refuted("%d is not prime" % given, exact=True)
        # Rosser and Schoenfeld (1962): n (ln n + ln ln n - 1) < p(n) < n (ln n + ln ln n) for n >= 6.
        import mpmath

        low, high = n * (mpmath.log(n) + mpmath.log(mpmath.log(n)) - 1), n * (mpmath.log(n) + mpmath.log(mpmath.log(n)))
        if not low < given < high:
            return refuted("out of the bounds of Rosser and Schoenfeld", exact=True)
    return undecided("beyond the sieve")


def prime_power(n, answer):
    power = sympy.perfect_power(n) if n > 1 else False
    wanted = n > 1 and bool(sympy.isprime(n) or (power and power_of_prime(n)))
    return answer_is(truth_of(answer), wanted, probable_bits(n))


def power_of_prime(n):
    base = n
    while True:
        power = sympy.perfect_power(base)
        if not power:
            return sympy.isprime(base)
        base = int(power[0])


def next_prime(n, k, answer):
    given = whole(numeric.evaluate(answer))
    if given is None or not 0 < abs(k) <= 200 or n.bit_length() > 512:
        return undecided("out of bounds")
    value = n
    for _ in range(abs(k)):
        if k > 0:
            value = following(value)
        elif value <= 2:
            value = -following(-value)
        else:
            value = sympy.prevprime(value)
    return answer_is(given, int(value), probable_bits(value))


def following(n):
    """The smallest prime above n, where the negatives of primes count as primes too."""
    if n >= 1:
        return int(sympy.nextprime(n))
    if n >= -2:
        return 2
    return -int(sympy.prevprime(-n))
