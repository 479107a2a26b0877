"""Values of trees, by mpmath at the working precision in force (mp.dps). Nothing here knows what is being checked.

A value is an int or Fraction (exact), an mpf or mpc, a bool, or a list of values. Heads outside the tables are Refused;
points where an expression has no value raise NoValue. Branches are the principal ones of DLMF chapter 4.
"""
import functools
import hashlib
import itertools
import math
from fractions import Fraction

import mpmath
from mpmath import mp, mpc, mpf

import tree
from tree import Real, Refused, Text, is_call

MAX_EXACT_BITS = 100000
MAX_LOOP = 20000
LARGEST_WHOLE = 10**500  # of a number with a point that is taken for an integer
LARGEST_EXPONENT = 10**200  # of E: the exponent of an mpf is an integer of any size, but towers must not be built


class NoValue(Exception):
    """The expression has no (finite, unique) value at this point."""


class Unequal(NoValue):
    """The condition of a ConditionalExpression does not hold here."""


def number(value):
    """An exact value as an mpf; lists and truth values are no numbers."""
    if isinstance(value, Fraction):
        return mpf(value.numerator) / value.denominator
    if isinstance(value, bool) or isinstance(value, (list, str)):
        raise NoValue("not a number")
    if isinstance(value, int):
        return mpf(value)
    return value


def finite(value):
    if isinstance(value, list):
        for part in value:
            finite(part)
    elif isinstance(value, (mpf, mpc)) and not mpmath.isfinite(value):
        raise NoValue("not finite")
    return value


def exact(value):
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def whole(value):
    """The integer that value is, or None."""
    if isinstance(value, bool) or isinstance(value, list):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else None
    if isinstance(value, mpc):
        if value.imag != 0:
            return None
        value = value.real
    return int(value) if abs(value) < LARGEST_WHOLE and mpmath.isint(value) else None


def real(value):
    """The value as a real number; a rounding error in the imaginary part is dropped, more is NoValue."""
    value = number(value)
    if isinstance(value, mpc):
        if abs(value.imag) > mpf(10) ** (-mp.dps * 3 // 5) * (1 + abs(value.real)):
            raise NoValue("not real")
        return value.real
    return value


def plus(a, b):
    if isinstance(a, list) or isinstance(b, list):
        return threaded(plus, a, b)
    if exact(a) and exact(b):
        return a + b
    return number(a) + number(b)


def times(a, b):
    if isinstance(a, list) or isinstance(b, list):
        return threaded(times, a, b)
    if exact(a) and exact(b):
        return a * b
    return number(a) * number(b)


def threaded(function, *args):
    """Listable functions work element by element; lists must have one length."""
    lengths = {len(arg) for arg in args if isinstance(arg, list)}
    if len(lengths) != 1:
        raise NoValue("shape")
    return [function(*(arg[i] if isinstance(arg, list) else arg for arg in args)) for i in range(lengths.pop())]


def power(base, exponent):
    if isinstance(base, list) or isinstance(exponent, list):
        return threaded(power, base, exponent)
    k = whole(exponent)
    if base == 0:
        if k == 0 or exponent == 0 or mpmath.re(number(exponent)) <= 0:
            raise NoValue("0 to a power without a value")
        return 0
    if k is not None and exact(base):
        size = base.bit_length() if isinstance(base, int) else base.numerator.bit_length() + base.denominator.bit_length()
        if size * abs(k) <= MAX_EXACT_BITS:
            return Fraction(base) ** k if k < 0 or isinstance(base, Fraction) else base**k
    base = number(base)
    if k is not None and abs(k) <= 10**6:
        return base**k
    exponent = number(exponent)
    if abs(exponent) * abs(mpmath.log(abs(base))) > LARGEST_EXPONENT:
        raise NoValue("power too large")
    if exponent == mpf(1) / 2:
        return mpmath.sqrt(base)
    return mpmath.power(base, exponent)


def listable(function):
    """A function of numbers as a function of values: exact arguments become mpf, lists are threaded over."""

    @functools.wraps(function)
    def applied(*args):
        if any(isinstance(arg, list) for arg in args):
            return threaded(applied, *args)
        return finite(function(*map(number, args)))

    return applied


def over_integers(function):
    def applied(*args):
        if any(isinstance(arg, list) for arg in args):
            return threaded(applied, *args)
        values = [whole(arg) for arg in args]
        if None in values:
            raise NoValue("not an integer")
        if any(abs(value) > 10**4000 for value in values):
            raise NoValue("too large")
        return function(*values)

    return applied


def real_function(function):
    """Functions whose value jumps: of real arguments only."""

    def applied(*args):
        if any(isinstance(arg, list) for arg in args):
            return threaded(applied, *args)
        return function(*(arg if exact(arg) else real(arg) for arg in args))

    return applied


def floor(x):
    return x.__floor__() if exact(x) else int(mpmath.floor(x))


def ceiling(x):
    return -floor(-x)


def nearest(x):
    below = floor(x)
    rest = x - below
    half = Fraction(1, 2) if exact(x) else mpf(1) / 2
    if rest == half:
        return below + below % 2
    return below + (1 if rest > half else 0)


def sign(x):
    if isinstance(x, list):
        return [sign(part) for part in x]
    x = number(x)
    return 0 if x == 0 else x / abs(x)


def absolute(x):
    if isinstance(x, list):
        return [absolute(part) for part in x]
    return abs(x) if exact(x) else abs(number(x))


def factorial(x):
    k = whole(x)
    if k is not None:
        if k < 0:
            raise NoValue("pole")
        if k <= 2000:
            return math.factorial(k)
    return finite(mpmath.factorial(number(x)))


def factorial2(x):
    k = whole(x)
    if k is not None and -1 <= k <= 2000:
        return functools.reduce(int.__mul__, range(k, 0, -2), 1)
    return finite(mpmath.fac2(number(x)))


def gamma(*args):
    if len(args) == 1:
        k = whole(args[0])
        return factorial(k - 1) if k is not None else finite(mpmath.gamma(number(args[0])))
    return finite(mpmath.gammainc(*map(number, args)))


def binomial(n, k):
    n, k = (whole(n) if whole(n) is not None else n), (whole(k) if whole(k) is not None else k)
    if isinstance(k, int) and 0 <= k <= 2000 and exact(n):
        value = Fraction(1)
        for i in range(k):
            value = value * (n - i) / (i + 1)
        return value if value.denominator != 1 else value.numerator
    if isinstance(n, int) and isinstance(k, int) and n >= 0 and k < 0:
        return 0
    return finite(mpmath.binomial(number(n), number(k)))


def pochhammer(a, n):
    k = whole(n)
    if k is not None and 0 <= k <= 2000 and exact(a):
        return functools.reduce(lambda p, i: p * (a + i), range(k), 1)
    return finite(mpmath.rf(number(a), number(n)))


def harmonic(n, r=1):
    k = whole(n)
    if k is not None and 0 <= k <= 2000 and exact(r) and whole(r) is not None:
        return sum((Fraction(1, i) ** whole(r) for i in range(1, k + 1)), Fraction(0))
    if r == 1:
        return finite(mpmath.harmonic(number(n)))
    return finite(mpmath.zeta(number(r)) - mpmath.zeta(number(r), number(n) + 1))


def fibonacci(n, x=None):
    k = whole(n)
    if x is None and k is not None and abs(k) <= 20000:
        a, b = 0, 1
        for _ in range(abs(k)):
            a, b = b, a + b
        return a if k >= 0 or k % 2 else -a
    if x is not None:
        raise Refused("Fibonacci")
    n = number(n)
    return (mp.phi**n - mpmath.cos(mp.pi * n) * mp.phi ** (-n)) / mpmath.sqrt(5)


def lucas(n):
    k = whole(n)
    if k is not None and 0 <= k <= 20000:
        return fibonacci(k - 1) + fibonacci(k + 1)
    n = number(n)
    return mp.phi**n + mpmath.cos(mp.pi * n) * mp.phi ** (-n)


def logarithm(*args):
    args = [number(arg) for arg in args]
    if args[-1] == 0:
        raise NoValue("Log[0]")
    return mpmath.log(args[0]) if len(args) == 1 else mpmath.log(args[1]) / mpmath.log(args[0])


def arctan(*args):
    if len(args) == 1:
        return mpmath.atan(args[0])
    x, y = args
    if isinstance(x, mpc) or isinstance(y, mpc):
        return -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y))
    if x == 0 and y == 0:
        raise NoValue("ArcTan[0,0]")
    return mpmath.atan2(y, x)


def step(x):
    x = real(x)
    return 1 if x >= 0 else 0


def heaviside(x):
    x = real(x)
    if x == 0:
        raise NoValue("jump")
    return 1 if x > 0 else 0


def modulo(m, n, d=0):
    if n == 0:
        raise NoValue("Mod by 0")
    return m - n * floor(Fraction(m - d, n) if exact(m) and exact(n) else (m - d) / n)


def zeta(*args):
    if args[0] == 1:
        raise NoValue("pole")
    return mpmath.zeta(*args)


def polygamma(*args):
    return mpmath.digamma(args[0]) if len(args) == 1 else mpmath.polygamma(int(args[0]), args[1])


def erf(*args):
    return mpmath.erf(args[0]) if len(args) == 1 else mpmath.erf(args[1]) - mpmath.erf(args[0])


def beta(*args):
    if len(args) == 2:
        return mpmath.beta(*args)
    return mpmath.betainc(args[1], args[2], 0, args[0])


def cube_root(x):
    x = real(x)
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def surd(x, n):
    x, n = real(x), whole(n)
    if n is None or n == 0 or (x < 0 and n % 2 == 0):
        raise NoValue("Surd")
    return mpmath.sign(x) * mpmath.root(abs(x), n)


def laguerre(*args):
    return mpmath.laguerre(args[0], 0 if len(args) == 2 else args[1], args[-1])


def elliptic_e(*args):
    return mpmath.ellipe(*args)


def lambert(*args):
    return mpmath.lambertw(args[0]) if len(args) == 1 else mpmath.lambertw(args[1], int(args[0].real))


def lerch(z, s, a):
    return mpmath.lerchphi(z, s, a)


def reciprocal(function):
    def applied(x):
        value = function(x)
        if value == 0:
            raise NoValue("pole")
        return 1 / value

    return applied


def inverse_of(function):
    """ArcSec and its kin: the function at 1/x."""

    def applied(x):
        if x == 0:
            raise NoValue("pole")
        return function(1 / x)

    return applied


def arccot(x):
    return mp.pi / 2 if x == 0 else mpmath.atan(1 / x)


def arccoth(x):
    return 1j * mp.pi / 2 if x == 0 else mpmath.atanh(1 / x)


def sinc(x):
    return mpmath.sinc(x)


def gudermann(x):
    return 2 * mpmath.atan(mpmath.tanh(x / 2))


NUMERIC = {
    "Sqrt": mpmath.sqrt, "Exp": mpmath.exp, "Log": logarithm,
    "Log2": lambda x: logarithm(2, x), "Log10": lambda x: logarithm(10, x),
    "Sin": mpmath.sin, "Cos": mpmath.cos, "Tan": mpmath.tan,
    "Cot": reciprocal(mpmath.tan), "Sec": reciprocal(mpmath.cos), "Csc": reciprocal(mpmath.sin),
    "Sinh": mpmath.sinh, "Cosh": mpmath.cosh, "Tanh": mpmath.tanh,
    "Coth": reciprocal(mpmath.tanh), "Sech": reciprocal(mpmath.cosh), "Csch": reciprocal(mpmath.sinh),
    "ArcSin": mpmath.asin, "ArcCos": mpmath.acos, "ArcTan": arctan,
    "ArcCot": arccot, "ArcSec": inverse_of(mpmath.acos), "ArcCsc": inverse_of(mpmath.asin),
    "ArcSinh": mpmath.asinh, "ArcCosh": mpmath.acosh, "ArcTanh": mpmath.atanh,
    "ArcCoth": arccoth, "ArcSech": inverse_of(mpmath.acosh), "ArcCsch": inverse_of(mpmath.asinh),
    "Sinc": sinc, "Haversine": lambda x: (1 - mpmath.cos(x)) / 2, "Gudermannian": gudermann,
    "LogGamma": mpmath.loggamma, "PolyGamma": polygamma, "Beta": beta,
    "Erf": erf, "Erfc": mpmath.erfc, "Erfi": mpmath.erfi, "InverseErf": mpmath.erfinv,
    "FresnelS": mpmath.fresnels, "FresnelC": mpmath.fresnelc, "DawsonF": lambda x: mpmath.sqrt(mp.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
    "ExpIntegralE": mpmath.expint, "ExpIntegralEi": mpmath.ei, "LogIntegral": mpmath.li,
    "SinIntegral": mpmath.si, "CosIntegral": mpmath.ci, "SinhIntegral": mpmath.shi, "CoshIntegral": mpmath.chi,
    "Zeta": zeta, "HurwitzZeta": zeta, "DirichletEta": mpmath.altzeta, "PolyLog": mpmath.polylog, "LerchPhi": lerch,
    "ProductLog": lambert, "BesselJ": mpmath.besselj, "BesselY": mpmath.bessely, "BesselI": mpmath.besseli, "BesselK": mpmath.besselk,
    "HankelH1": mpmath.hankel1, "HankelH2": mpmath.hankel2, "StruveH": mpmath.struveh, "StruveL": mpmath.struvel,
    "AiryAi": mpmath.airyai, "AiryBi": mpmath.airybi,
    "AiryAiPrime": lambda x: mpmath.airyai(x, derivative=1), "AiryBiPrime": lambda x: mpmath.airybi(x, derivative=1),
    "SphericalBesselJ": lambda n, x: mpmath.sqrt(mp.pi / (2 * x)) * mpmath.besselj(n + mpf(1) / 2, x),
    "SphericalBesselY": lambda n, x: mpmath.sqrt(mp.pi / (2 * x)) * mpmath.bessely(n + mpf(1) / 2, x),
    "EllipticK": mpmath.ellipk, "EllipticE": elliptic_e, "EllipticF": mpmath.ellipf, "EllipticPi": mpmath.ellippi,
    "LegendreP": mpmath.legendre, "ChebyshevT": mpmath.chebyt, "ChebyshevU": mpmath.chebyu,
    "HermiteH": mpmath.hermite, "LaguerreL": laguerre, "GegenbauerC": mpmath.gegenbauer, "JacobiP": mpmath.jacobi,
    "Hypergeometric0F1": mpmath.hyp0f1, "Hypergeometric1F1": mpmath.hyp1f1, "Hypergeometric2F1": mpmath.hyp2f1, "HypergeometricU": mpmath.hyperu,
    "GammaRegularized": lambda a, z: mpmath.gammainc(a, z, regularized=True), "CubeRoot": cube_root, "Conjugate": mpmath.conj, "Re": mpmath.re, "Im": mpmath.im, "Arg": mpmath.arg,
    "FactorialPower": mpmath.ff, "CatalanNumber": lambda n: mpmath.binomial(2 * n, n) / (n + 1),
}

# How many arguments the functions above take; mpmath itself accepts some more that mean something else.
ARITY = {
    "Log": (1, 2), "ArcTan": (1, 2), "PolyGamma": (1, 2), "Beta": (2, 3), "Erf": (1, 2), "Zeta": (1, 2), "ProductLog": (1, 2),
    "ExpIntegralE": (2, 2), "HurwitzZeta": (2, 2), "PolyLog": (2, 2), "LerchPhi": (3, 3), "BesselJ": (2, 2), "BesselY": (2, 2),
    "BesselI": (2, 2), "BesselK": (2, 2), "HankelH1": (2, 2), "HankelH2": (2, 2), "StruveH": (2, 2), "StruveL": (2, 2),
    "SphericalBesselJ": (2, 2), "SphericalBesselY": (2, 2), "EllipticE": (1, 2), "EllipticF": (2, 2), "EllipticPi": (2, 3),
    "LegendreP": (2, 2), "GammaRegularized": (2, 2), "ChebyshevT": (2, 2), "ChebyshevU": (2, 2), "HermiteH": (2, 2), "LaguerreL": (2, 3),
    "GegenbauerC": (3, 3), "JacobiP": (4, 4), "Hypergeometric0F1": (2, 2), "Hypergeometric1F1": (3, 3), "Hypergeometric2F1": (4, 4),
    "HypergeometricU": (3, 3), "FactorialPower": (2, 2),
}


# The others reduce their argument, at a cost that grows with its exponent.
OF_ANY_SIZE = {"Sqrt", "Log", "Log2", "Log10", "ArcTan", "Tanh", "Erf", "Erfc", "Re", "Im", "Arg", "Conjugate", "CubeRoot"}


def shaped(name, function):
    low, high = ARITY.get(name, (1, 1))
    inner = listable(function)

    def applied(*args):
        if not low <= len(args) <= high:
            raise Refused(name)
        if name not in OF_ANY_SIZE and any(not isinstance(arg, list) and abs(number(arg)) > LARGEST_WHOLE for arg in args):
            raise NoValue("the argument is too large")
        return inner(*args)

    return applied


def ordered(*values):
    return [value if exact(value) else real(value) for part in values for value in (part if isinstance(part, list) else [part])]


def smallest(*values):
    return min(ordered(*values))


def largest(*values):
    return max(ordered(*values))


def kronecker_delta(*values):
    return int(all(value == (values[0] if len(values) > 1 else 0) for value in values))


def gcd(*values):
    values = [Fraction(value) for value in values]
    top = 1
    for value in values:
        top = math.lcm(top, value.denominator)
    return Fraction(math.gcd(*(int(value * top) for value in values)), top)


def lcm(*values):
    return math.lcm(*values)


FUNCTIONS = {name: shaped(name, function) for name, function in NUMERIC.items()}
FUNCTIONS.update({
    "Power": power, "Abs": absolute, "Sign": sign, "Factorial": factorial, "Factorial2": factorial2, "Gamma": gamma, "Binomial": binomial,
    "Pochhammer": pochhammer, "HarmonicNumber": harmonic, "Fibonacci": fibonacci, "LucasL": lucas, "Surd": surd,
    "Floor": real_function(floor), "Ceiling": real_function(ceiling), "Round": real_function(nearest),
    "IntegerPart": real_function(lambda x: floor(x) if x >= 0 else ceiling(x)),
    "FractionalPart": real_function(lambda x: x - (floor(x) if x >= 0 else ceiling(x))),
    "Mod": real_function(modulo), "Quotient": real_function(lambda m, n: floor(Fraction(m, n) if exact(m) and exact(n) else m / n)),
    "UnitStep": step, "HeavisideTheta": heaviside, "Ramp": real_function(lambda x: max(x, 0)),
    "Min": smallest, "Max": largest, "KroneckerDelta": kronecker_delta, "DiscreteDelta": lambda *v: int(all(x == 0 for x in v)),
    "GCD": over_integers(lambda *v: int(gcd(*v))), "LCM": over_integers(lcm),
    "BernoulliB": over_integers(lambda n: Fraction(*map(int, mpmath.bernfrac(n))) if n <= 2000 else number(mpmath.bernoulli(n))),
    "EulerE": over_integers(lambda n: int(mpmath.eulernum(n, exact=True)) if n <= 2000 else 0),
    "ReIm": lambda z: [mpmath.re(number(z)), mpmath.im(number(z))],
})


def determinant(matrix):
    rows = [list(row) for row in matrix]
    size = len(rows)
    if any(len(row) != size for row in rows):
        raise NoValue("shape")
    value = 1
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(number(rows[i][column])))
        if rows[pivot][column] == 0:
            return 0
        if pivot != column:
            rows[pivot], rows[column] = rows[column], rows[pivot]
            value = times(-1, value)
        value = times(value, rows[column][column])
        inverse = power(rows[column][column], -1)
        for i in range(column + 1, size):
            factor = times(-1, times(rows[i][column], inverse))
            rows[i] = [plus(a, times(factor, b)) for a, b in zip(rows[i], rows[column])]
    return value


def dot(a, b):
    if not isinstance(a, list) or not isinstance(b, list):
        raise NoValue("shape")
    if isinstance(a[0], list):
        return [dot(row, b) for row in a]
    if len(a) != len(b):
        raise NoValue("shape")
    return functools.reduce(plus, (times(x, y) for x, y in zip(a, b)))


def transpose(matrix):
    if not matrix or not all(isinstance(row, list) and len(row) == len(matrix[0]) for row in matrix):
        raise NoValue("shape")
    return [list(column) for column in zip(*matrix)]


def conjugate(value):
    if isinstance(value, list):
        return [conjugate(part) for part in value]
    return value if exact(value) else mpmath.conj(number(value))


def identity(n):
    return [[int(i == j) for j in range(n)] for i in range(n)]


def check_size(n):
    if n is None or not 0 < n <= 50:
        raise Refused("matrix size")
    return n


def as_matrix(value):
    return mpmath.matrix([[number(entry) for entry in row] for row in value])


def matrix_power(matrix, n, *rest):
    k = whole(n)
    if rest or k is None or abs(k) > 10000:
        raise Refused("MatrixPower")
    if k < 0:
        matrix, k = inverse_matrix(matrix), -k
    result = identity(check_size(len(matrix)))
    while k:
        if k & 1:
            result = dot(result, matrix)
        matrix, k = dot(matrix, matrix), k >> 1
    return result


def inverse_matrix(matrix):
    size = check_size(len(matrix))
    rows = [list(row) + unit for row, unit in zip(matrix, identity(size))]
    reduced = row_reduce(rows, size)
    if any(reduced[i][i] != 1 for i in range(size)):
        raise NoValue("singular")
    return [row[size:] for row in reduced]


def negligible(value):
    return value == 0 or (not exact(value) and abs(number(value)) < mpf(10) ** (-mp.dps * 3 // 5))


def row_reduce(matrix, columns=None):
    rows = [list(row) for row in matrix]
    lead = 0
    for column in range(columns or len(rows[0])):
        if lead == len(rows):
            break
        pivot = max(range(lead, len(rows)), key=lambda i: abs(number(rows[i][column])))
        if negligible(rows[pivot][column]):
            continue
        rows[lead], rows[pivot] = rows[pivot], rows[lead]
        inverse = power(rows[lead][column], -1)
        rows[lead] = [times(entry, inverse) for entry in rows[lead]]
        rows[lead][column] = 1
        for i in range(len(rows)):
            if i != lead and rows[i][column] != 0:
                factor = times(-1, rows[i][column])
                rows[i] = [plus(a, times(factor, b)) for a, b in zip(rows[i], rows[lead])]
                rows[i][column] = 0
        lead += 1
    return rows


def rank(matrix):
    return sum(any(not negligible(entry) for entry in row) for row in row_reduce(matrix))


def matrix_exponential(matrix):
    return mpmath.expm(as_matrix(matrix)).tolist()


def norm(vector, p=2):
    if not isinstance(vector, list):
        return absolute(vector)
    if vector and isinstance(vector[0], list):
        raise Refused("Norm")
    sizes = [absolute(entry) for entry in vector]
    if isinstance(p, mpf) and mpmath.isinf(p):
        return largest(*sizes)
    return power(functools.reduce(plus, (power(size, p) for size in sizes)), power(p, -1))


def cross(a, b):
    (a1, a2, a3), (b1, b2, b3) = a, b
    minus = lambda x, y: plus(x, times(-1, y))
    return [minus(times(a2, b3), times(a3, b2)), minus(times(a3, b1), times(a1, b3)), minus(times(a1, b2), times(a2, b1))]


def kronecker_product(a, b):
    return [[times(x, y) for x in row for y in other] for row in a for other in b]


def total(value, *rest):
    if rest or not isinstance(value, list):
        raise Refused("Total")
    return functools.reduce(plus, value, 0)


def diagonal_matrix(values):
    check_size(len(values))
    return [[value if i == j else 0 for j in range(len(values))] for i, value in enumerate(values)]


FUNCTIONS.update({
    "List": lambda *values: list(values), "Det": determinant, "Transpose": transpose, "ConjugateTranspose": lambda m: conjugate(transpose(m)),
    "IdentityMatrix": lambda n: identity(check_size(whole(n))), "MatrixPower": matrix_power, "Inverse": inverse_matrix, "MatrixExp": matrix_exponential,
    "RowReduce": row_reduce, "MatrixRank": rank, "Tr": lambda m: functools.reduce(plus, (row[i] for i, row in enumerate(m) if i < len(row))),
    "Norm": norm, "Cross": cross, "KroneckerProduct": kronecker_product, "Total": total, "DiagonalMatrix": diagonal_matrix, "Conjugate": conjugate,
    "Normalize": lambda v: times(v, power(norm(v), -1)), "First": lambda v: v[0], "Last": lambda v: v[-1],
})


def close(a, b):
    """Whether two numbers are equal as far as the working precision tells; in between, NoValue."""
    if exact(a) and exact(b):
        return a == b
    a, b = number(a), number(b)
    difference, scale = abs(a - b), max(abs(a), abs(b), mpf(1))
    if difference <= scale * mpf(10) ** (-mp.dps * 3 // 5):
        return True
    if difference > scale * mpf(10) ** (-mp.dps // 4):
        return False
    raise NoValue("too close to tell")


def less(a, b):
    if exact(a) and exact(b):
        return a < b
    if any(isinstance(x, mpf) and mpmath.isinf(x) for x in (a, b)):
        return number(a) < number(b)
    a, b = real(a), real(b)
    return not close(a, b) and a < b


def equal(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) or isinstance(b, list):
        return False
    return close(a, b)


COMPARISONS = {
    "Equal": equal, "SameQ": equal, "Unequal": lambda a, b: not equal(a, b), "UnsameQ": lambda a, b: not equal(a, b),
    "Less": less, "Greater": lambda a, b: less(b, a), "LessEqual": lambda a, b: not less(b, a), "GreaterEqual": lambda a, b: not less(a, b),
}

CONSTANTS = {
    "Pi": lambda: +mp.pi, "E": lambda: +mp.e, "I": lambda: mpc(0, 1), "EulerGamma": lambda: +mp.euler, "GoldenRatio": lambda: +mp.phi,
    "Catalan": lambda: +mp.catalan, "Degree": lambda: mp.pi / 180, "Khinchin": lambda: +mp.khinchin, "Glaisher": lambda: +mp.glaisher,
    "True": lambda: True, "False": lambda: False, "Infinity": lambda: mpf("inf"),
}


def member(value, domain):
    if isinstance(value, list):
        return all(member(part, domain) for part in value)
    if domain == "Complexes":
        return True
    if domain == "Booleans":
        return isinstance(value, bool)
    if exact(value):
        imaginary, size = 0, value
    else:
        value = number(value)
        imaginary, size = mpmath.im(value), mpmath.re(value)
    if not close(imaginary, 0):
        return False
    positive = {"PositiveReals": lambda x: less(0, x), "NegativeReals": lambda x: less(x, 0), "NonNegativeReals": lambda x: not less(x, 0)}
    if domain in positive:
        return positive[domain](size)
    if domain in ("Reals", "Algebraics", "Rationals"):
        if domain != "Reals" and not exact(size):
            raise Refused("domain " + domain)
        return True
    if domain in ("Integers", "PositiveIntegers", "NonNegativeIntegers", "NegativeIntegers", "Primes"):
        nearest_integer = size if exact(size) else int(mpmath.nint(size))
        if not close(size, nearest_integer) or (isinstance(size, Fraction) and size.denominator != 1):
            return False
        if domain == "Primes":
            import sympy

            return bool(sympy.isprime(int(nearest_integer)))
        return {"Integers": True, "PositiveIntegers": nearest_integer > 0, "NonNegativeIntegers": nearest_integer >= 0, "NegativeIntegers": nearest_integer < 0}[domain]
    raise Refused("domain " + str(domain))


def wave(name):
    """A fixed smooth function that stands for the undefined function of that name; its derivatives are generic."""
    seed = hashlib.sha256(name.encode()).digest()

    def value(*args):
        result = mpf(0)
        for i, x in enumerate(args):
            a, b, c = (Fraction(seed[(3 * i + j) % 32] + 40, 256) for j in range(3))
            x = number(x)
            result += mpmath.sin(number(a) * x + number(b)) * (1 + i) + mpmath.exp(number(c) * x / 3)
            if i:
                result *= 1 + number(b) * x
        return result

    return value


class Environment:
    """What symbols stand for: values of variables, functions for undefined heads, values of C[k]."""

    def __init__(self, values=None, functions=None, constants=None):
        self.values, self.functions, self.constants = values or {}, functions or {}, constants or {}

    def having(self, name, value):
        return Environment({**self.values, name: value}, self.functions, self.constants)

    def function(self, name):
        return self.functions.get(name) or wave(name)


EMPTY = Environment()


def evaluate(node, env=EMPTY):
    """The value of a tree in an environment, at the working precision."""
    if isinstance(node, int):
        return node
    if isinstance(node, Text):
        raise Refused("String")
    if isinstance(node, str):
        if node in env.values:
            return env.values[node]
        if node in CONSTANTS:
            return CONSTANTS[node]()
        if node in ("ComplexInfinity", "Indeterminate"):
            raise NoValue(node)
        raise Refused("symbol " + node)
    if isinstance(node, Real):
        return number(node.value)
    head = node[0]
    if isinstance(head, str):
        special = SPECIAL.get(head)
        if special:
            return special(node, env)
        function = FUNCTIONS.get(head)
        if function:
            args = [evaluate(arg, env) for arg in node[1:]]
            try:
                return function(*args)
            except TypeError as problem:
                raise Refused(head) from problem
        if head in env.functions or (len(node) > 1 and undefined(head)):
            return env.function(head)(*(evaluate(arg, env) for arg in node[1:]))
        raise Refused(head)
    return apply_head(head, node[1:], env)


def undefined(name):
    """Whether a head may be the user's own function: nothing of the language starts with a lower-case letter, and few
    single capitals mean something."""
    return name[:1].islower() or (len(name) == 1 and name.isalpha() and name not in "CDEIKNO")


def apply_head(head, args, env):
    if is_call(head, "Function"):
        return call_function(head, [evaluate(arg, env) for arg in args], env)
    if is_call(head, "C") and len(head) == 2:
        return wave("C%s" % (head[1],))(*(evaluate(arg, env) for arg in args))
    if isinstance(head[0], tuple) and is_call(head[0], "Derivative") and len(head) == 2:
        orders = head[0][1:]
        if len(orders) != len(args) or not all(isinstance(n, int) and 0 <= n <= 10 for n in orders):
            raise Refused("Derivative")
        return derivative(callable_of(head[1], env), [evaluate(arg, env) for arg in args], orders)
    raise Refused("head")


def callable_of(node, env):
    if isinstance(node, str):
        if node in FUNCTIONS:
            return FUNCTIONS[node]
        if node in env.functions or undefined(node):
            return env.function(node)
        raise Refused(node)
    if is_call(node, "Function"):
        return lambda *args: call_function(node, args, env)
    if is_call(node, "C"):
        return wave("C%s" % (node[1],))
    if isinstance(node[0], tuple) and is_call(node[0], "Derivative"):
        inner = callable_of(node[1], env)
        return lambda *args: derivative(inner, list(args), node[0][1:])
    raise Refused("function")


def call_function(function, args, env):
    if len(function) == 2:
        for i, value in enumerate(args, 1):
            env = env.having(("Slot", i), value)
        return evaluate(function[1], env)
    names = function[1][1:] if is_call(function[1], "List") else (function[1],)
    if len(names) > len(args):
        raise Refused("Function")
    for name, value in zip(names, args):
        env = env.having(name, value)
    return evaluate(function[2], env)


def derivative(function, point, orders):
    """A partial derivative by differences at a raised working precision (mpmath.diff)."""
    orders = tuple(orders)
    if not any(orders):
        return function(*point)
    point = [number(x) for x in point]
    probe = function(*point)
    if isinstance(probe, list):
        return [derivative(lambda *args, i=i: function(*args)[i], point, orders) for i in range(len(probe))]
    smooth = lambda *args: number(function(*args))
    if len(point) == 1:
        return finite(mpmath.diff(smooth, point[0], orders[0]))
    return finite(mpmath.diff(smooth, tuple(point), orders))


def evaluate_d(node, env):
    """D[f, x], D[f, {x, n}], D[f, x, y, ...], D[f, {{x, y}}]."""
    names, orders = [], []
    for variable in node[2:]:
        order = 1
        if is_call(variable, "List"):
            if is_call(variable[1], "List"):
                return gradient(node, variable, env)
            order = whole(evaluate(variable[2], env))
            variable = variable[1]
        if order is None or not 0 <= order <= 10 or not (isinstance(variable, str) and variable in env.values):
            raise Refused("D")
        if variable in names:
            orders[names.index(variable)] += order
        else:
            names.append(variable)
            orders.append(order)

    if orders == [1] and is_call(node[1], "Integrate") and len(node[1]) == 3 and is_call(node[1][2], "List") and len(node[1][2]) == 4:
        return leibniz(node[1], names[0], env)

    def function(*args):
        inner = env
        for name, value in zip(names, args):
            inner = inner.having(name, value)
        return evaluate(node[1], inner)

    return derivative(function, [env.values[name] for name in names], orders)


def gradient(node, variables, env):
    """D[f, {{x, y}}] and D[f, {{x, y}, n}]: one level of lists for each order."""
    times_over = variables[2] if len(variables) > 2 else 1
    if not isinstance(times_over, int) or not 1 <= times_over <= 3 or len(variables[1]) > 6:
        raise Refused("D")
    at = node.index(variables)
    again = (("List", variables[1], times_over - 1),) if times_over > 1 else ()
    return [evaluate_d(node[:at] + (x,) + again + node[at + 1 :], env) for x in variables[1][1:]]


def leibniz(integral, name, env):
    """The derivative of an integral with respect to a limit or a parameter (A&S 3.3.7)."""
    (_, integrand, (_, t, low, high)) = integral
    total = 0
    for limit, sign in ((high, 1), (low, -1)):
        if name in tree.free_symbols(limit):
            speed = evaluate(("D", limit, name), env)
            total = plus(total, times(sign, times(speed, evaluate(integrand, env.having(t, evaluate(limit, env))))))
    if name != t and name in tree.free_symbols(integrand):
        total = plus(total, evaluate(("Integrate", ("D", integrand, name), integral[2]), env))
    return total


def evaluate_plus(node, env):
    value = evaluate(node[1], env) if len(node) > 1 else 0
    for arg in node[2:]:
        value = plus(value, evaluate(arg, env))
    return finite(value)


def evaluate_times(node, env):
    value = evaluate(node[1], env) if len(node) > 1 else 1
    for arg in node[2:]:
        value = times(value, evaluate(arg, env))
    return finite(value)


def evaluate_comparison(node, env):
    args = [evaluate(arg, env) for arg in node[1:]]
    compare = COMPARISONS[node[0]]
    if node[0] in ("Unequal", "UnsameQ"):
        return all(compare(a, b) for a, b in itertools.combinations(args, 2))
    return all(compare(a, b) for a, b in zip(args, args[1:]))


def evaluate_inequality(node, env):
    args = [evaluate(arg, env) for arg in node[1::2]]
    return all(COMPARISONS[op](args[i], args[i + 1]) for i, op in enumerate(node[2::2]))


def evaluate_and(node, env):
    """An operand without a value does not matter where another one decides."""
    problem = None
    for arg in node[1:]:
        try:
            if not truth(arg, env):
                return False
        except NoValue as no_value:
            problem = no_value
    if problem:
        raise problem
    return True


def evaluate_or(node, env):
    problem = None
    for arg in node[1:]:
        try:
            if truth(arg, env):
                return True
        except NoValue as no_value:
            problem = no_value
    if problem:
        raise problem
    return False


def truth(node, env):
    value = evaluate(node, env)
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return all(part is True for part in value)
    raise NoValue("no truth value")


def evaluate_piecewise(node, env):
    for case in node[1][1:]:
        if truth(case[2], env):
            return evaluate(case[1], env)
    return evaluate(node[2], env) if len(node) > 2 else 0


def evaluate_conditional(node, env):
    if not truth(node[2], env):
        raise Unequal("condition")
    return evaluate(node[1], env)


def evaluate_element(node, env):
    parts = node[1][1:] if is_call(node[1], "Alternatives", "List") else (node[1],)
    return all(member(evaluate(part, env), node[2]) for part in parts)


def evaluate_constant(node, env):
    if len(node) == 2 and node[1] in env.constants:
        return env.constants[node[1]]
    raise Refused("C")


def evaluate_power(node, env):
    if len(node) != 3:
        raise Refused("Power")
    if node[1] == "E":
        exponent = evaluate(node[2], env)
        if isinstance(exponent, list):
            return threaded(lambda x: mpmath.exp(number(x)), exponent)
        if exponent == 0:
            return 1
        exponent = number(exponent)
        if abs(exponent) > LARGEST_EXPONENT:
            raise NoValue("too large")
        return mpmath.exp(exponent)
    return power(evaluate(node[1], env), evaluate(node[2], env))


def polynomial_of(function, env):
    """Coefficients, highest first, of a polynomial given as a pure function."""
    import polynomials

    body = function[1] if len(function) == 2 else function[2]
    variable = ("Slot", 1) if len(function) == 2 else (function[1][1] if is_call(function[1], "List") else function[1])
    return polynomials.coefficients(body, variable, env)


def evaluate_root(node, env):
    """Root[f, k] in the language's order: real roots by size, then pairs of complex ones by real part, then by |Im|."""
    if len(node) == 2 and is_call(node[1], "List") and len(node[1]) == 3:
        return root_near(node[1][1], node[1][2], env)
    k = node[2] if len(node) > 2 else None
    if not is_call(node[1], "Function") or not isinstance(k, int):
        raise Refused("Root")
    import polynomials

    roots = polynomials.ordered_roots(polynomial_of(node[1], env))
    if not 1 <= k <= len(roots):
        raise NoValue("Root")
    return roots[k - 1]


def root_near(function, start, env):
    """Root[{f, x0}]: the root of a transcendental function near x0."""
    if not is_call(function, "Function"):
        raise Refused("Root")
    near = number(evaluate(start, env))
    root = mpmath.findroot(lambda x: number(call_function(function, [x], env)), near)
    if abs(root - near) > mpf(10) ** -3 * max(1, abs(near)):
        raise NoValue("no root near the point given")
    return root


def all_roots(function, env):
    import polynomials

    return polynomials.ordered_roots(polynomial_of(function, env))


@functools.lru_cache(maxsize=64)
def roots_of(function, precision):
    """The roots of a polynomial without parameters at the working precision: a derivative asks for them many times."""
    return all_roots(function, EMPTY)


def evaluate_root_sum(node, env):
    """RootSum[f, form]: form summed over the roots of the polynomial f, multiple ones as often as they are there."""
    if len(node) != 3 or not is_call(node[1], "Function") or not is_call(node[2], "Function"):
        raise Refused("RootSum")
    total = 0
    for root in roots_of(node[1], mp.prec) if not tree.free_symbols(node[1]) else all_roots(node[1], env):
        total = plus(total, call_function(node[2], [root], env))
    return total


def ranges(iterator, env):
    """The values of a finite iterator {k, a, b, step}."""
    if not is_call(iterator, "List") or not 2 < len(iterator) <= 5:
        raise Refused("iterator")
    if len(iterator) == 3 and is_call(iterator[2], "List"):
        return iterator[1], [evaluate(part, env) for part in iterator[2][1:]]
    bounds = [evaluate(part, env) for part in iterator[2:]]
    low, high = (1, bounds[0]) if len(bounds) == 1 else bounds[:2]
    increment = bounds[2] if len(bounds) == 3 else 1
    for bound in (low, high, increment):
        if not exact(bound) and not mpmath.isfinite(number(bound)):
            raise NoValue("infinite range")
    low, increment = (low if exact(low) else real(low)), (increment if exact(increment) else real(increment))
    if increment == 0:
        raise NoValue("step 0")
    span = (high if exact(high) else real(high)) - low
    count = floor(Fraction(span, increment) if exact(span) and exact(increment) else span / increment) + 1
    if count > MAX_LOOP:
        raise Refused("iterator too long")
    return iterator[1], [low + i * increment for i in range(max(count, 0))]


def fold(node, env, combine, start):
    if len(node) < 3:
        raise Refused(node[0])
    name, values = ranges(node[2], env)
    inner = (node[0], node[1]) + node[3:]
    result = start
    for value in values:
        at = env.having(name, value)
        result = combine(result, fold(inner, at, combine, start) if len(inner) > 2 else evaluate(node[1], at))
    return result


def infinite(bound):
    return bound in ("Infinity",) or (is_call(bound, "DirectedInfinity"))


def evaluate_sum(node, env):
    if len(node) == 3 and is_call(node[2], "List") and len(node[2]) == 4 and infinite(node[2][3]):
        start = whole(evaluate(node[2][2], env))
        if start is None:
            raise Refused("Sum")
        name = node[2][1]
        return finite(mpmath.nsum(lambda k: number(evaluate(node[1], env.having(name, int(k)))), [start, mpmath.inf]))
    return fold(node, env, plus, 0)


def evaluate_product(node, env):
    return fold(node, env, times, 1)


def evaluate_integral(node, env):
    if len(node) != 3 or not is_call(node[2], "List") or len(node[2]) != 4:
        raise Refused("Integrate")
    name, low, high = node[2][1], number(evaluate(node[2][2], env)), number(evaluate(node[2][3], env))
    value, error = mpmath.quad(lambda x: number(evaluate(node[1], env.having(name, x))), [low, high], error=True)
    if error > mpf(10) ** (-mp.dps // 2):
        raise NoValue("quadrature")
    return value


def evaluate_slot(node, env):
    if node in env.values:
        return env.values[node]
    raise Refused("Slot")


def evaluate_series(node, env):
    """SeriesData[x, x0, {a...}, nmin, nmax, den] as the polynomial it shows, without its O term."""
    variable, point, coefficients, low, _, denominator = node[1:7]
    x = evaluate(variable, env)
    step_size = power(x, -1) if infinite(point) else plus(x, times(-1, evaluate(point, env)))
    value = 0
    for i, coefficient in enumerate(coefficients[1:]):
        exponent = Fraction(low + i, denominator)
        factor = 1 if exponent == 0 else power(step_size, exponent)
        value = plus(value, times(evaluate(coefficient, env), factor))
    return value


def evaluate_rational(node, env):
    if len(node) != 3 or not all(isinstance(part, int) for part in node[1:]) or node[2] == 0:
        raise Refused("Rational")
    return Fraction(node[1], node[2])


def evaluate_complex(node, env):
    return plus(evaluate(node[1], env), times(evaluate(node[2], env), mpc(0, 1)))


def evaluate_dot(node, env):
    return functools.reduce(dot, (evaluate(arg, env) for arg in node[1:]))


def evaluate_boole(node, env):
    return int(truth(node[1], env))


def evaluate_if(node, env):
    if len(node) != 4:
        raise Refused("If")
    return evaluate(node[2] if truth(node[1], env) else node[3], env)


def evaluate_replace(node, env):
    """expr /. symbol -> value."""
    rules = node[2][1:] if is_call(node[2], "List") else (node[2],)
    for rule in rules:
        if not is_call(rule, "Rule") or not isinstance(rule[1], str):
            raise Refused("ReplaceAll")
        env = env.having(rule[1], evaluate(rule[2], env))
    return evaluate(node[1], env)


def evaluate_pfq(node, env):
    return finite(mpmath.hyper([number(evaluate(a, env)) for a in node[1][1:]], [number(evaluate(b, env)) for b in node[2][1:]], number(evaluate(node[3], env))))


def evaluate_meijer(node, env):
    groups = [[[number(evaluate(a, env)) for a in half[1:]] for half in side[1:]] for side in node[1:3]]
    return finite(mpmath.meijerg(groups[0], groups[1], number(evaluate(node[3], env))))


def evaluate_wrapped(node, env):
    """Wrappers that change no value."""
    return evaluate(node[1], env)


SPECIAL = {
    "Plus": evaluate_plus, "Times": evaluate_times, "Power": evaluate_power, "Rational": evaluate_rational, "Complex": evaluate_complex,
    "Subtract": lambda n, e: plus(evaluate(n[1], e), times(-1, evaluate(n[2], e))), "Minus": lambda n, e: times(-1, evaluate(n[1], e)),
    "Divide": lambda n, e: times(evaluate(n[1], e), power(evaluate(n[2], e), -1)),
    "Sqrt": lambda n, e: power(evaluate(n[1], e), Fraction(1, 2)), "D": evaluate_d, "Piecewise": evaluate_piecewise,
    "ConditionalExpression": evaluate_conditional, "Element": evaluate_element, "C": evaluate_constant, "Root": evaluate_root, "RootSum": evaluate_root_sum,
    "Inequality": evaluate_inequality, "And": evaluate_and, "Or": evaluate_or, "Not": lambda n, e: not truth(n[1], e),
    "Implies": lambda n, e: not truth(n[1], e) or truth(n[2], e), "Xor": lambda n, e: sum(truth(a, e) for a in n[1:]) % 2 == 1,
    "Nand": lambda n, e: not evaluate_and(n, e), "Nor": lambda n, e: not evaluate_or(n, e),
    "Equivalent": lambda n, e: len({truth(a, e) for a in n[1:]}) == 1,
    "Sum": evaluate_sum, "Product": evaluate_product, "Integrate": evaluate_integral, "Slot": evaluate_slot, "SeriesData": evaluate_series,
    "Dot": evaluate_dot, "Boole": evaluate_boole, "If": evaluate_if, "ReplaceAll": evaluate_replace, "HypergeometricPFQ": evaluate_pfq,
    "MeijerG": evaluate_meijer, "Hold": evaluate_wrapped, "HoldForm": evaluate_wrapped, "Inactive": evaluate_wrapped, "N": evaluate_wrapped,
}
SPECIAL.update({name: evaluate_comparison for name in COMPARISONS})

# Not analytic, or analytic only piece by piece: over the complex numbers these say nothing about derivatives.
NOT_ANALYTIC = {
    "Abs", "Sign", "UnitStep", "HeavisideTheta", "Re", "Im", "Arg", "Conjugate", "Floor", "Ceiling", "Round", "Mod", "Min", "Max", "Piecewise",
    "Boole", "If", "Ramp", "IntegerPart", "FractionalPart", "CubeRoot", "Surd", "Quotient",
}


def problems():
    """The exceptions that mean: no value here."""
    return (NoValue, ZeroDivisionError, OverflowError, ValueError, ArithmeticError, mpmath.libmp.libhyper.NoConvergence, mpmath.libmp.ComplexResult)
