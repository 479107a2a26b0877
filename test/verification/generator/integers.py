"""Integers, Gaussian integers and polynomials over the rationals and modulo primes: all exact."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from flint import fmpq_poly, fmpz, fmpz_poly, nmod_poly

from expression import Expression, I, X, expression, plus
from pair import Case, small

SMALL_PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
CARMICHAEL = [561, 1105, 1729, 2465, 6601, 41041, 825265, 321197185, 3215031751, 3825123056546413051, 318665857834031151167461]


def prime(r: Random, bits: int) -> int:
    n = r.getrandbits(bits) | 1 | 1 << (bits - 1)
    while not fmpz(n).is_prime():  # proved (APR-CL or BPSW below 2^64), FLINT fmpz_is_prime
        n += 2
    return n


def factored(r: Random) -> Case:
    primes = sorted(r.sample(SMALL_PRIMES, r.randint(1, 3)) + ([prime(r, r.choice([20, 40, 64, 80]))] if r.random() < 0.5 else []))
    powers = [(p, r.randint(1, 4) if p < 50 else 1) for p in primes]
    n = 1
    for p, e in powers:
        n *= p**e

    def answer(fs: list[tuple[int, int]]) -> str:
        return "{" + ", ".join(f"{{{p}, {e}}}" for p, e in fs) + "}"

    case = Case("factorinteger", f"FactorInteger[{n}]")
    case.right(answer(powers), "primes multiplied")
    case.wrong(answer([*powers[:-1], (powers[-1][0], powers[-1][1] + 1)]), "off by one", f"the product is {powers[-1][0]} times too large")
    case.wrong(answer([(n, 1)]), "not factored", f"{n} is divisible by {primes[0]}" if len(powers) > 1 or powers[0][1] > 1 else None)
    if len(powers) > 1:
        case.wrong(answer(powers[1:]), "dropped branch", f"the factor {primes[0]} is missing")
        (p, e), (q, f) = powers[0], powers[1]
        if e == f == 1:
            case.wrong(answer([(p * q, 1), *powers[2:]]), "composite factor", f"{p * q} = {p}*{q}")
    if powers[0][1] > 1 and powers[0][1] % 2 == 0:
        case.wrong(answer([(powers[0][0] ** 2, powers[0][1] // 2), *powers[1:]]), "composite factor", f"{powers[0][0] ** 2} is a square")
    case.wrong(answer([(-1, 1), *powers]), "sign", f"the product is {-n}")
    return case


def primality(r: Random) -> Case:
    if r.random() < 0.5:
        n = r.choice([prime(r, r.choice([10, 31, 61, 64, 90, 200])), 2**61 - 1, 2**89 - 1, 2**127 - 1, 2, 97])
        case = Case("primality", f"PrimeQ[{n}]")
        case.right("True", "proved prime")
        case.wrong("False", "sign", f"{n} is prime, by proof")
    else:
        p, q = prime(r, r.choice([8, 20, 40, 70])), prime(r, r.choice([8, 20, 40, 70]))
        n = r.choice([p * q, p * p, r.choice(CARMICHAEL), 2**67 - 1, 1, 0])
        case = Case("primality", f"PrimeQ[{n}]")
        case.right("False", "product")
        why = f"{n} = {p}*{q}" if n == p * q else f"{n} is not prime, by proof" if not fmpz(n).is_prime() else None
        case.wrong("True", "sign", why)
    return case


def arithmetic(r: Random) -> Case:
    g, a, b = (r.randint(2, 10 ** r.choice([1, 3, 12])) for _ in range(3))
    while fmpz(a).gcd(fmpz(b)) != 1:
        b += 1
    huge = 10 ** r.choice([4300, 4500, 5000]) if r.random() < 0.1 else 1
    g *= huge
    head = r.choice(["GCD", "GCD", "LCM", "PowerMod", "ModularInverse", "EulerPhi", "Mod", "Binomial", "DivisorSigma"])
    if head in ("GCD", "LCM"):
        truth = g if head == "GCD" else g * a * b
        case = Case("integers", f"{head}[{g * a}, {g * b}]")
        case.right(str(truth), "multiplied out")
        for wrong, how in ((truth * 2, "constant"), (truth + 1, "off by one"), (-truth, "sign"), (1, "dropped branch"), (g * a, "the question itself")):
            case.wrong(
                str(wrong),
                how,
                f"the exact value differs from it by {'a number of ' + str(len(str(abs(truth - wrong)))) + ' digits' if truth != wrong else ''}"
                if truth != wrong
                else None,
            )
        return case
    g = g if huge == 1 else 7
    m = prime(r, 20)
    if head == "PowerMod":
        text, value = f"PowerMod[{a}, {b}, {m}]", pow(a, b, m)
    elif head == "ModularInverse":
        a = a % m or 2
        text, value = f"ModularInverse[{a}, {m}]", pow(a, -1, m)
    elif head == "EulerPhi":
        p, q = r.sample(SMALL_PRIMES, 2)
        text, value = f"EulerPhi[{p * p * q}]", p * (p - 1) * (q - 1)
    elif head == "Mod":
        text, value = f"Mod[{a * 10**25 + b}, {m}]", (a * 10**25 + b) % m
    elif head == "Binomial":
        n, k = r.randint(10, 60), r.randint(1, 9)
        value = 1
        for j in range(k):
            value = value * (n - j) // (j + 1)
        text = f"Binomial[{n}, {k}]"
    else:
        p, q = r.sample(SMALL_PRIMES, 2)
        text, value = f"DivisorSigma[1, {p * q}]", (p + 1) * (q + 1)
    case = Case("integers", text)
    case.right(str(value), "by definition")
    for wrong, how in ((value + 1, "off by one"), (-value, "sign"), (value * 2, "constant"), (0, "dropped branch")):
        case.wrong(str(wrong), how, f"the value is {value}" if wrong != value else None)
    case.wrong("Infinity", "not finite", f"the value is {value}")
    return case


Gauss = tuple[int, int]


def gauss_product(a: Gauss, b: Gauss) -> Gauss:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def gauss(a: Gauss) -> str:
    return str(expression(a[0]) + plus(expression(0), expression(a[1]) * I)) if a[1] else str(a[0])


def gaussian(r: Random) -> Case:
    """p = u^2 + v^2 = -I (v + u I)(u + v I); a prime 3 mod 4 stays prime."""
    u, v = r.choice([(1, 2), (2, 3), (1, 4), (2, 5), (1, 6), (4, 5), (2, 7), (5, 6), (3, 8)])
    p = u * u + v * v
    inert = r.choice([3, 7, 11, 19, 23, 31])
    choice = r.randrange(5)
    if choice == 0:
        case = Case("gaussian", f"FactorInteger[{p}, GaussianIntegers -> True]")
        case.right(f"{{{{-I, 1}}, {{{u} + {v} I, 1}}, {{{v} + {u} I, 1}}}}", "norm")
        case.right(f"{{{{{u} + {v} I, 1}}, {{{u} - {v} I, 1}}}}", "norm, conjugates")
        case.wrong(f"{{{{{p}, 1}}}}", "not factored", f"{p} = ({u} + {v} I)({u} - {v} I)")
        case.wrong(f"{{{{{u} + {v} I, 1}}, {{{v} + {u} I, 1}}}}", "dropped branch", f"the product is {p} I")
        case.wrong(f"{{{{{u} + {v} I, 2}}}}", "constant", f"the product is {gauss(gauss_product((u, v), (u, v)))}")
    elif choice == 1:
        n, truth = r.choice([(p, "False"), (inert, "True"), (2, "False")])
        case = Case("gaussian", f"PrimeQ[{n}, GaussianIntegers -> True]")
        case.right(truth, "norm")
        case.wrong("False" if truth == "True" else "True", "sign", f"{n} is {'3 modulo 4 and prime' if truth == 'True' else 'a sum of two squares'}")
    elif choice == 2:
        a = gauss_product((u, v), (1, 1))
        b = gauss_product((u, v), (inert, 0))
        case = Case("gaussian", f"GCD[{gauss(a)}, {gauss(b)}]")
        case.right(gauss((u, v)), "multiplied out")
        case.wrong("1", "dropped branch", f"{gauss((u, v))} divides both")
        case.wrong(gauss((u, -v)), "sign", f"{gauss((u, -v))} does not divide {gauss(a)}")
        case.wrong(gauss(gauss_product((u, v), (1, 1))), "constant", f"1 + I does not divide {inert}")
    elif choice == 3:
        case = Case("gaussian", f"Factor[x^2 + {u * u}, GaussianIntegers -> True]")
        case.right(f"(x - {u} I) (x + {u} I)", "difference of squares")
        case.wrong(f"(x - {u} I)^2", "sign", f"at x = {u} I the polynomial is 0, at x = -{u} I the answer is {-4 * u * u}")
        case.wrong(f"(x - {u}) (x + {u})", "constant", f"at x = 0: {u * u} against {-u * u}")
    else:
        a, b = (small(r, 9), small(r, 9)), (small(r, 9), small(r, 9))
        truth_g = gauss_product(a, b)
        case = Case("gaussian", f"Expand[({gauss(a)})*({gauss(b)})]")
        case.right(gauss(truth_g), "multiplied out")
        for wrong, how in (((truth_g[0], -truth_g[1]), "sign"), ((truth_g[0] + 1, truth_g[1]), "off by one"), ((a[0] * b[0], a[1] * b[1]), "entry by entry")):
            case.wrong(gauss(wrong), how, f"the product is {gauss(truth_g)}" if wrong != truth_g else None)
    return case


def poly(r: Random, degree: int) -> fmpz_poly:
    return fmpz_poly([small(r, 5) for _ in range(degree)] + [r.choice([1, 1, 2])])


def said(p: fmpz_poly | fmpq_poly | nmod_poly) -> Expression:
    terms = []
    for j, c in reversed(list(enumerate(p.coeffs()))):
        terms.append(expression(Fraction(str(c))) * X**j)
    return plus(*terms)


def primitive(p: fmpz_poly) -> fmpz_poly:
    content = fmpz(0)
    for c in p.coeffs():
        content = content.gcd(c)
    if p.coeffs()[-1] < 0:
        content = -content
    return fmpz_poly([c // content for c in p.coeffs()])


def polynomials(r: Random) -> Case:
    g, a, b = primitive(poly(r, r.randint(1, 2))), poly(r, 1), poly(r, 2)
    while a.gcd(b) not in (fmpz_poly([1]), fmpz_poly([-1])):
        b = b + 1
    head = r.choice(
        [
            "PolynomialGCD",
            "PolynomialLCM",
            "PolynomialQuotient",
            "PolynomialRemainder",
            "PolynomialQuotientRemainder",
            "Resultant",
            "Discriminant",
            "PolynomialMod",
        ]
    )
    if head in ("PolynomialGCD", "PolynomialLCM"):
        a, b = primitive(a), primitive(b)
        truth = g if head == "PolynomialGCD" else g * a * b
        case = Case("polynomials", f"{head}[{said(g * a)}, {said(g * b)}]")
        case.right(said(truth), "multiplied out")
        if head == "PolynomialGCD":
            case.wrong("1", "dropped branch", f"{said(g)} divides both")
        case.wrong(said(truth * g), "squared", f"the degree is {truth.degree()}")
        case.wrong(said(truth + 1), "off by one", f"{said(truth + 1)} and {said(truth)} are no multiples of each other")
        case.wrong(said(a * g), "the question itself", f"the degree is {truth.degree()}" if truth.degree() != a.degree() + g.degree() else None)
        return case
    f, d = fmpq_poly(poly(r, 4)), fmpq_poly(poly(r, 2))
    q, rest = divmod(f, d)
    arguments = f"[{said(f)}, {said(d)}, x]"
    if head in ("PolynomialQuotient", "PolynomialRemainder"):
        truth_q = q if head == "PolynomialQuotient" else rest
        case = Case("polynomials", head + arguments)
        case.right(said(truth_q), "exact division")
        for wrong, how in (
            (truth_q + 1, "off by one"),
            (-truth_q, "sign"),
            (truth_q * 2, "constant"),
            (rest if head == "PolynomialQuotient" else q, "exchanged"),
        ):
            case.wrong(said(wrong), how, f"exact division gives {said(truth_q)}" if wrong != truth_q else None)
    elif head == "PolynomialQuotientRemainder":
        case = Case("polynomials", head + arguments)
        case.right(f"{{{said(q)}, {said(rest)}}}", "exact division")
        case.wrong(f"{{{said(rest)}, {said(q)}}}", "exchanged", "the remainder has the smaller degree" if q != rest else None)
        case.wrong(f"{{{said(q - 1)}, {said(rest + d)}}}", "off by one", f"the remainder has degree {d.degree()}, no less than the divisor")
        case.wrong(f"{{0, {said(f)}}}", "the question itself", "the remainder has a larger degree than the divisor")
    elif head == "PolynomialMod":
        p = r.choice([2, 3, 5, 7])
        truth_m = nmod_poly([int(c.p) % p for c in f.coeffs()], p)
        case = Case("modulus", f"PolynomialMod[{said(f)}, {p}]")
        case.right(said(truth_m), "coefficients reduced")
        case.wrong(said(truth_m + 1), "off by one", f"the residue is {said(truth_m)}")
        case.wrong("0", "dropped branch", f"the residue is {said(truth_m)}" if said(truth_m) != expression(0) else None)
    else:
        roots = [r.randint(-5, 5) for _ in range(3)]
        p3 = fmpz_poly([1])
        for root in roots:
            p3 *= fmpz_poly([-root, 1])
        if head == "Resultant":
            other = poly(r, 2)
            truth_i = 1
            for root in roots:
                truth_i *= int(other(root))
            case = Case("polynomials", f"Resultant[{said(p3)}, {said(other)}, x]")
        else:
            truth_i = 1
            for i in range(3):
                for j in range(i):
                    truth_i *= (roots[i] - roots[j]) ** 2
            case = Case("polynomials", f"Discriminant[{said(p3)}, x]")
        case.right(str(truth_i), "over the roots")
        for wrong_i, how in ((-truth_i, "sign"), (truth_i + 1, "off by one"), (truth_i * 2, "constant"), (0, "dropped branch")):
            case.wrong(str(wrong_i), how, f"over the roots it is {truth_i}" if wrong_i != truth_i else None)
    return case


def modular_polynomials(r: Random) -> Case:
    p = r.choice([3, 5, 7, 11])
    g = nmod_poly([r.randint(1, p - 1), 1], p)
    a, b = nmod_poly([r.randint(0, p - 1), 1], p), nmod_poly([r.randint(0, p - 1), 1], p)
    if a == b:
        b = nmod_poly([(int(a[0]) + 1) % p, 1], p)
    if r.random() < 0.5:
        case = Case("modulus", f"PolynomialGCD[{said(g * a)}, {said(g * b)}, Modulus -> {p}]")
        case.right(said(g), f"multiplied out modulo {p}")
        case.wrong("1", "dropped branch", f"{said(g)} divides both modulo {p}")
        case.wrong(said(g + 1), "off by one", f"{said(g)} is the only monic one")
    else:
        product = g * a * b
        case = Case("modulus", f"Factor[{said(product)}, Modulus -> {p}]")
        case.right(f"({said(g)})*({said(a)})*({said(b)})", f"multiplied out modulo {p}")
        case.wrong(
            f"({said(g)})*({said(a)})*({said(b + 1)})",
            "off by one",
            f"modulo {p} the root {(-int(b[0])) % p} is another" if product != g * a * (b + 1) else None,
        )
        case.wrong(f"({said(g)})*({said(a)})", "dropped branch", "the degree is 3")
    return case


FAMILIES = [factored, primality, arithmetic, gaussian, polynomials, polynomials, modular_polynomials]
