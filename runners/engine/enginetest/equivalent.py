"""Tells whether two expressions are mathematically equal. One JSON line in: [tree, tree]; one line out: true or false.

A tree is a string "s:name" (symbol), "i:digits", "r:digits", "t:text", or a list [head, argument, ...]. Values of mathematics are
compared at points between 0 and 1, by enclosures that agree to 25 digits; structures part by part.
"""
import json
import random
import sys
from fractions import Fraction

from flint import acb, arb, ctx, fmpq, fmpz

ctx.prec = 200
STRUCTURES = ("s:List", "s:Rule", "s:ConditionalExpression", "s:Association", "s:Element", "s:Equal", "s:Or", "s:And")
CONSTANTS = {"Pi": acb.pi(), "E": acb(1).exp(), "I": acb(0, 1), "EulerGamma": acb(arb.const_euler()), "Catalan": acb(arb.const_catalan()),
             "GoldenRatio": (1 + acb(5).sqrt()) / 2, "Degree": acb.pi() / 180}
METHODS = {"Sqrt": "sqrt", "Exp": "exp", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Cot": "cot", "Sec": "sec", "Csc": "csc", "ArcSin": "asin",
           "ArcCos": "acos", "ArcTan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Coth": "coth", "Sech": "sech", "Csch": "csch",
           "ArcSinh": "asinh", "ArcCosh": "acosh", "ArcTanh": "atanh", "Gamma": "gamma", "Erf": "erf", "Erfc": "erfc", "Erfi": "erfi",
           "Zeta": "zeta", "SinIntegral": "si", "CosIntegral": "ci", "ExpIntegralEi": "ei", "LogIntegral": "li", "ProductLog": "lambertw"}


def power(base, exponent):
    if exponent.imag.is_zero() and exponent.real.is_exact() and exponent.real.is_integer():
        return base ** exponent
    return (exponent * base.log()).exp()


def product(factors):
    result = acb(1)
    for factor in factors:
        result *= factor
    return result


CALLS = {"Plus": lambda *a: sum(a, acb(0)), "Times": lambda *a: product(a), "Power": power, "Rational": lambda p, q: p / q,
         "Subtract": lambda a, b: a - b, "Divide": lambda a, b: a / b, "Minus": lambda a: -a,
         "Log": lambda *a: a[-1].log() / (a[0].log() if len(a) == 2 else 1), "Abs": lambda z: acb(abs(z)),
         "Factorial": lambda z: (z + 1).gamma(), "PolyLog": lambda s, z: z.polylog(s), "BesselJ": lambda n, z: z.bessel_j(n),
         "LegendreP": lambda n, z: z.legendre_p(n), "HarmonicNumber": lambda z: (z + 1).digamma() + arb.const_euler()}


def decimal(text):
    return fmpq(*map(fmpz, Fraction(text.replace("*^", "e").split("`")[0]).as_integer_ratio()))


def value(tree, point):
    if isinstance(tree, str):
        kind, text = tree[0], tree[2:]
        if kind == "i":
            return acb(fmpz(text))
        if kind == "r":
            return acb(arb(decimal(text)))
        return CONSTANTS[text] if text in CONSTANTS else acb(arb(point.setdefault(text, fmpq(point[""].randint(11, 97), 101))))
    head = tree[0][2:] if isinstance(tree[0], str) else ""
    if head == "C":
        return value("s:C" + tree[1], point)
    arguments = [value(part, point) for part in tree[1:]]
    return CALLS[head](*arguments) if head in CALLS else getattr(arguments[0], METHODS[head])()


def structure(tree):
    return isinstance(tree, list) and tree[0] in STRUCTURES


def equal(a, b):
    if a == b:
        return True
    if structure(a) or structure(b):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a[0] == b[0] and all(map(equal, a[1:], b[1:]))
    source = random.Random(1)
    for _ in range(8):
        point = {"": source}
        difference = value(a, point) - value(b, point)
        if not difference.contains(0) or not difference.rad() < 1e-25:
            return False
    return True


for line in sys.stdin:
    try:
        answer = equal(*json.loads(line))
    except Exception as problem:  # what cannot be compared is not known to be equal
        print("not comparable: %r" % problem, file=sys.stderr)
        answer = False
    print(json.dumps(bool(answer)), flush=True)
