"""The program of the engine of numbers: mpmath behind handle().

A request {"op": "N" | "NSum" | "NIntegrate", "digits": n, "tree": t, "ranges": [[name, from, to] ...]} is answered by {"number": [re, im]}, decimals of so many
digits, or by {"refused": why}. Trees are those of domain/verification's wire form: symbols are strings, whole numbers numbers, calls lists
[head, arguments ...], decimals {"r": digits}. Only the functions of the table FUNCTIONS are called; no text is evaluated.

A value is computed with two precisions, and refused where these do not agree to the digits that are answered: mpmath proves nothing of its
digits. Whether they are right is for the checker.
"""
import mpmath
from mpmath import mp

MAX_DIGITS = 1000
MAX_DEPTH = 200
MAX_FACTORIAL = 10**6


class Refused(Exception):
    """Why there is no number."""


def power(base, exponent):
    if base == 0 and mp.re(exponent) <= 0:
        raise Refused("0 to a power that is not positive")
    return mp.power(base, exponent)


def total(*terms):
    return mp.fsum(terms)


def product(*factors):
    return mp.fprod(factors)


def log(*arguments):
    return mp.log(arguments[0]) if len(arguments) == 1 else mp.log(arguments[1]) / mp.log(arguments[0])


def factorial(n):
    if abs(n) > MAX_FACTORIAL:
        raise Refused("the factorial of so large a number")
    return mp.factorial(n)


# What the language calls each function of numbers: the function, and the numbers of arguments that it is given.
FUNCTIONS = {
    "Plus": (total, range(1, 10**6)), "Times": (product, range(1, 10**6)), "Power": (power, [2]), "Subtract": (lambda a, b: a - b, [2]),
    "Divide": (lambda a, b: a / b, [2]), "Rational": (lambda a, b: a / b, [2]), "Minus": (lambda a: -a, [1]), "Sqrt": (mp.sqrt, [1]), "Exp": (mp.exp, [1]), "Log": (log, [1, 2]),
    "Sin": (mp.sin, [1]), "Cos": (mp.cos, [1]), "Tan": (mp.tan, [1]), "Cot": (mp.cot, [1]), "Sec": (mp.sec, [1]), "Csc": (mp.csc, [1]),
    "ArcSin": (mp.asin, [1]), "ArcCos": (mp.acos, [1]), "ArcTan": (mp.atan, [1]), "Sinh": (mp.sinh, [1]), "Cosh": (mp.cosh, [1]), "Tanh": (mp.tanh, [1]),
    "ArcSinh": (mp.asinh, [1]), "ArcCosh": (mp.acosh, [1]), "ArcTanh": (mp.atanh, [1]), "Abs": (abs, [1]), "Factorial": (factorial, [1]),
    "Gamma": (mp.gamma, [1]), "LogGamma": (mp.loggamma, [1]), "Zeta": (mp.zeta, [1, 2]), "Binomial": (mp.binomial, [2]), "Beta": (mp.beta, [2]),
    "HarmonicNumber": (mp.harmonic, [1]), "Erf": (mp.erf, [1]), "Erfc": (mp.erfc, [1]), "Erfi": (mp.erfi, [1]), "BesselJ": (mp.besselj, [2]),
    "BesselY": (mp.bessely, [2]), "BesselI": (mp.besseli, [2]), "BesselK": (mp.besselk, [2]), "AiryAi": (mp.airyai, [1]), "AiryBi": (mp.airybi, [1]),
    "ExpIntegralEi": (mp.ei, [1]), "SinIntegral": (mp.si, [1]), "CosIntegral": (mp.ci, [1]), "LogIntegral": (mp.li, [1]), "PolyLog": (mp.polylog, [2]),
    "PolyGamma": (lambda *a: mp.psi(0, a[0]) if len(a) == 1 else mp.psi(int(a[0]), a[1]), [1, 2]), "ProductLog": (mp.lambertw, [1]),
    "Hypergeometric2F1": (mp.hyp2f1, [4]), "Hypergeometric1F1": (mp.hyp1f1, [3]), "Fibonacci": (mp.fib, [1]),
}
CONSTANTS = {
    "Pi": lambda: +mp.pi, "E": lambda: +mp.e, "I": lambda: mp.mpc(0, 1), "EulerGamma": lambda: +mp.euler, "GoldenRatio": lambda: +mp.phi,
    "Catalan": lambda: +mp.catalan, "Degree": lambda: +mp.degree, "Infinity": lambda: mp.inf,
}


def value(tree, names, depth=0):
    if depth > MAX_DEPTH:
        raise Refused("it is nested too deep")
    if isinstance(tree, int):
        return mp.mpf(tree)
    if isinstance(tree, str):
        if tree in names:
            return names[tree]
        if tree in CONSTANTS:
            return CONSTANTS[tree]()
        raise Refused(tree)
    if isinstance(tree, dict):
        return decimal(tree)
    head, arguments = tree[0], tree[1:]
    if not isinstance(head, str) or head not in FUNCTIONS or len(arguments) not in FUNCTIONS[head][1]:
        raise Refused(str(head)[:40])
    return FUNCTIONS[head][0](*(value(argument, names, depth + 1) for argument in arguments))


def decimal(tree):
    text = tree.get("r", "")
    if not text or "`" in text:
        raise Refused("a number with a precision of its own")
    return mp.mpf(text.replace("*^", "e"))


def computed(request):
    names, tree = {}, request["tree"]
    if request["op"] == "N":
        return value(tree, names)
    ranges = [(name, value(low, names), value(high, names)) for name, low, high in request["ranges"]]
    if any(mp.isnan(end) or mp.im(end) != 0 for _, low, high in ranges for end in (low, high)):
        raise Refused("an end that is no real number")
    if request["op"] == "NSum":
        (name, low, high), = ranges
        return mp.nsum(lambda k: value(tree, {name: k}), [low, high], method=request["method"])
    (name, low, high), = ranges
    integrand = lambda x: value(tree, {name: x})  # noqa: E731
    speed = request.get("waves")
    if speed is not None and mp.isinf(high) and not mp.isinf(low):
        return mp.quadosc(integrand, [low, high], omega=abs(value(speed, names)))
    return mp.quad(integrand, [low, high])


def at(request, digits):
    with mp.workdps(digits):
        found = mp.mpmathify(computed(request))
        return mp.re(found), mp.im(found)


def handle(request):
    digits = request["digits"]
    if not 1 <= digits <= MAX_DIGITS:
        return {"refused": "so many digits"}
    reply = {}
    for method in METHODS if request["op"] == "NSum" else METHODS[:1]:
        reply = number({**request, "method": method}, digits)
        if "number" in reply:
            break
    return reply


# Of sums: extrapolation of partial sums (Richardson, Shanks), and Euler-Maclaurin.
METHODS = ("r+s", "e")


def number(request, digits):
    try:
        first, second = at(request, digits + 10), at(request, digits + 30)
    except Refused as refused:
        return {"refused": str(refused)}
    except (ArithmeticError, ValueError, TypeError, NotImplementedError, mpmath.libmp.libhyper.NoConvergence) as problem:
        return {"refused": type(problem).__name__}
    size = max(abs(second[0]), abs(second[1]))
    if not (size < mp.inf):
        return {"refused": "no finite value"}
    with mp.workdps(digits + 30):
        for one, other in zip(first, second):
            if abs(one - other) > size * mp.mpf(10) ** (-digits - 1):
                return {"refused": "two precisions do not agree"}
        parts = [part if abs(part) > size * mp.mpf(10) ** (-digits) else mp.mpf(0) for part in second]
        return {"number": [mp.nstr(part, digits, strip_zeros=False, min_fixed=-5, max_fixed=digits) if part != 0 else "0" for part in parts]}


def warm():
    for op, tree, ranges in (("N", ["Zeta", 3], []), ("NSum", ["Power", "k", -2], [["k", 1, "Infinity"]]), ("NIntegrate", ["Exp", ["Times", -1, "x"]], [["x", 0, "Infinity"]])):
        handle({"op": op, "tree": tree, "ranges": ranges, "digits": 16})


def info():
    return {"name": "mpmath", "revision": mpmath.__version__}
