"""Proof that a residual is zero, by SymPy. Cheap steps only; what they do not show stays a numeric finding."""
import sympy
from sympy import I, Rational, Symbol

import tree
from tree import Real, Refused, Text, is_call

MAX_OPERATIONS = 250
MAX_EXPANDED_POWER = 12

FUNCTIONS = {
    "Exp": sympy.exp, "Sin": sympy.sin, "Cos": sympy.cos, "Tan": sympy.tan, "Cot": sympy.cot, "Sec": sympy.sec, "Csc": sympy.csc,
    "Sinh": sympy.sinh, "Cosh": sympy.cosh, "Tanh": sympy.tanh, "Coth": sympy.coth, "Sech": sympy.sech, "Csch": sympy.csch,
    "ArcSin": sympy.asin, "ArcCos": sympy.acos, "ArcTan": sympy.atan, "ArcCot": sympy.acot, "ArcSec": sympy.asec, "ArcCsc": sympy.acsc,
    "ArcSinh": sympy.asinh, "ArcTanh": sympy.atanh, "ArcCosh": sympy.acosh, "ArcCoth": sympy.acoth, "Sqrt": sympy.sqrt,
    "Erf": sympy.erf, "Erfc": sympy.erfc, "Erfi": sympy.erfi, "Gamma": sympy.gamma, "LogGamma": sympy.loggamma,
    "SinIntegral": sympy.Si, "CosIntegral": sympy.Ci, "ExpIntegralEi": sympy.Ei, "LogIntegral": sympy.li, "Factorial": sympy.factorial,
}
CONSTANTS = {"Pi": sympy.pi, "E": sympy.E, "I": I, "EulerGamma": sympy.EulerGamma, "GoldenRatio": sympy.GoldenRatio, "Degree": sympy.pi / 180}


class NotSupported(Exception):
    """The tree has a part that proofs do not handle."""


class Converter:
    """Trees to SymPy expressions; symbols carry what is assumed of them."""

    def __init__(self, assumptions):
        self.assumptions, self.symbols = assumptions, {}

    def symbol(self, name):
        if name not in self.symbols:
            facts = {}
            if name in self.assumptions.integers:
                facts["integer"] = True
            elif name in self.assumptions.reals:
                facts["real"] = True
            if facts and self.assumptions.low.get(name, -1) >= 0:
                facts["nonnegative" if name in self.assumptions.integers else "positive"] = True
            self.symbols[name] = Symbol(name, **facts)
        return self.symbols[name]

    def convert(self, node):
        if isinstance(node, int):
            return sympy.Integer(node)
        if isinstance(node, (Real, Text)):
            raise NotSupported("decimal")
        if isinstance(node, str):
            if node in CONSTANTS:
                return CONSTANTS[node]
            if node in tree.CONSTANTS:
                raise NotSupported(node)
            return self.symbol(node)
        head = node[0]
        if head == "D":
            return self.convert_d(node)
        if head == "C" and len(node) == 2:
            return Symbol("C_%s" % (node[1],))
        if not isinstance(head, str):
            raise NotSupported("head")
        if head in ("List", "SeriesData", "Root", "Piecewise", "ConditionalExpression"):
            raise NotSupported(head)
        args = [self.convert(arg) for arg in node[1:]]
        if head == "Plus":
            return sympy.Add(*args)
        if head == "Times":
            return sympy.Mul(*args)
        if head == "Subtract":
            return args[0] - args[1]
        if head == "Minus":
            return -args[0]
        if head == "Divide":
            return args[0] / args[1]
        if head == "Rational":
            return Rational(args[0], args[1])
        if head == "Complex":
            return args[0] + I * args[1]
        if head == "Power":
            if args[0].is_number and args[1].is_number and abs(args[1]) > 1000:
                raise NotSupported("power")
            return sympy.Pow(*args)
        if head == "Log":
            return sympy.log(args[0]) if len(args) == 1 else sympy.log(args[1]) / sympy.log(args[0])
        if head in FUNCTIONS and len(args) == 1:
            return FUNCTIONS[head](args[0])
        raise NotSupported(head)

    def convert_d(self, node):
        result = self.convert(node[1])
        for variable in node[2:]:
            order = 1
            if is_call(variable, "List"):
                if len(variable) != 3 or not isinstance(variable[2], int):
                    raise NotSupported("D")
                variable, order = variable[1], variable[2]
            if not isinstance(variable, str) or not 0 <= order <= 5:
                raise NotSupported("D")
            result = sympy.diff(result, self.symbol(variable), order)
        return result


def zero_steps(residual):
    yield lambda: residual
    yield lambda: sympy.expand(residual)
    yield lambda: sympy.expand(sympy.numer(sympy.together(residual)))
    if residual.has(sympy.functions.elementary.trigonometric.TrigonometricFunction, sympy.functions.elementary.hyperbolic.HyperbolicFunction):
        if residual.count_ops() < 60:
            yield lambda: sympy.expand(sympy.numer(sympy.together(residual.rewrite(sympy.exp))))


def large_power(residual):
    return any(p.exp.is_Integer and abs(p.exp) > MAX_EXPANDED_POWER and p.base.is_Add for p in residual.atoms(sympy.Pow))


def proves_zero(pairs, assumptions):
    """Whether every left - right is shown to be identically zero. May take long: the caller bounds the time."""
    converter = Converter(assumptions)
    try:
        for left, right in pairs:
            if not proves_pair(converter, left, right):
                return False
    except (NotSupported, Refused, ValueError, TypeError, ArithmeticError, NotImplementedError, AttributeError, RecursionError):
        return False
    return True


def proves_pair(converter, left, right):
    if is_call(left, "List") and is_call(right, "List"):
        return len(left) == len(right) and all(proves_pair(converter, a, b) for a, b in zip(left[1:], right[1:]))
    residual = converter.convert(left) - converter.convert(right)
    if residual.count_ops() > MAX_OPERATIONS or large_power(residual):
        return False
    return any(step() == 0 for step in zero_steps(residual))
