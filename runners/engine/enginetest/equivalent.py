"""Tells whether two expressions are mathematically equal. One JSON line in: [tree, tree]; one line out: true or false.

A tree is a string "s:name" (symbol), "i:digits", "r:digits", "t:text", or a list [head, argument, ...].
Functions sympy does not know stay as they are: their arguments are compared.
"""
import json
import random
import sys

import sympy

ATOMS = {"Pi": sympy.pi, "E": sympy.E, "I": sympy.I, "Infinity": sympy.oo, "ComplexInfinity": sympy.zoo, "Indeterminate": sympy.nan,
         "EulerGamma": sympy.EulerGamma, "Catalan": sympy.Catalan, "GoldenRatio": sympy.GoldenRatio, "Degree": sympy.pi / 180}
CALLS = {"Plus": sympy.Add, "Times": sympy.Mul, "Power": sympy.Pow, "Rational": sympy.Rational, "Sqrt": sympy.sqrt,
         "Subtract": lambda a, b: a - b, "Divide": lambda a, b: a / b, "Minus": lambda a: -a,
         "Sin": sympy.sin, "Cos": sympy.cos, "Tan": sympy.tan, "Cot": sympy.cot, "Sec": sympy.sec, "Csc": sympy.csc,
         "ArcSin": sympy.asin, "ArcCos": sympy.acos, "ArcCot": sympy.acot, "ArcSec": sympy.asec, "ArcCsc": sympy.acsc,
         "ArcTan": lambda *a: sympy.atan(a[0]) if len(a) == 1 else sympy.atan2(a[1], a[0]),
         "Sinh": sympy.sinh, "Cosh": sympy.cosh, "Tanh": sympy.tanh, "Coth": sympy.coth, "Sech": sympy.sech, "Csch": sympy.csch,
         "ArcSinh": sympy.asinh, "ArcCosh": sympy.acosh, "ArcTanh": sympy.atanh, "ArcCoth": sympy.acoth,
         "Exp": sympy.exp, "Log": lambda *a: sympy.log(a[-1]) / (sympy.log(a[0]) if len(a) == 2 else 1), "Abs": sympy.Abs,
         "Gamma": lambda *a: sympy.gamma(*a) if len(a) == 1 else sympy.uppergamma(*a), "Erf": sympy.erf, "Erfc": sympy.erfc, "Erfi": sympy.erfi,
         "Zeta": sympy.zeta, "PolyLog": sympy.polylog, "Factorial": sympy.factorial, "Binomial": sympy.binomial, "BesselJ": sympy.besselj,
         "BesselY": sympy.bessely, "BesselI": sympy.besseli, "BesselK": sympy.besselk, "PolyGamma": sympy.polygamma,
         "Beta": sympy.beta, "HarmonicNumber": sympy.harmonic, "Sign": sympy.sign, "Re": sympy.re, "Im": sympy.im,
         "Conjugate": sympy.conjugate, "Floor": sympy.floor, "Ceiling": sympy.ceiling, "Max": sympy.Max, "Min": sympy.Min,
         "SinIntegral": sympy.Si, "CosIntegral": sympy.Ci, "ExpIntegralEi": sympy.Ei, "LogIntegral": sympy.li,
         "ProductLog": lambda *a: sympy.LambertW(a[-1]), "LegendreP": sympy.legendre, "HermiteH": sympy.hermite, "ChebyshevT": sympy.chebyshevt}


def to_sympy(tree):
    if isinstance(tree, str):
        kind, text = tree[0], tree[2:]
        if kind == "i":
            return sympy.Integer(text)
        if kind == "r":
            return sympy.Float(text.replace("*^", "e").split("`")[0])
        if kind == "t":
            return sympy.Symbol('"' + text + '"')
        return ATOMS.get(text, sympy.Symbol(text))
    head = tree[0][2:] if isinstance(tree[0], str) else json.dumps(tree[0])
    arguments = [to_sympy(t) for t in tree[1:]]
    call = CALLS.get(head)
    return call(*arguments) if call else sympy.Function(head)(*arguments)


def comparable(tree):
    """Trees that are values of mathematics, not structures, are compared as such."""
    return not (isinstance(tree, list) and tree[0] in ("s:List", "s:Rule", "s:ConditionalExpression", "s:Association", "s:Element", "s:Equal", "s:Or", "s:And"))


def equal(a, b):
    if a == b:
        return True
    if not comparable(a) or not comparable(b):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and a[0] == b[0] and all(map(equal, a[1:], b[1:]))
    difference = to_sympy(a) - to_sympy(b)
    if difference == 0 or sympy.simplify(difference) == 0:
        return True
    return small(difference)


def small(difference):
    """Zero to 25 digits at eight points, of which none may have failed."""
    symbols = sorted(difference.free_symbols, key=str)
    source = random.Random(1)
    for _ in range(8 if symbols else 1):
        point = {s: sympy.Rational(source.randint(11, 97), 101) for s in symbols}
        value = difference.subs(point).evalf(30)
        if not value.is_number or abs(value) > sympy.Float("1e-25"):
            return False
    return True


for line in sys.stdin:
    try:
        answer = equal(*json.loads(line))
    except Exception as problem:  # what cannot be compared is not known to be equal
        print("not comparable: %r" % problem, file=sys.stderr)
        answer = False
    print(json.dumps(bool(answer)), flush=True)
