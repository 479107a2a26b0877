"""Derivatives of the functions of the language, as tables: f'(g) of one argument, partial derivatives of several."""

from __future__ import annotations

from collections.abc import Callable

from .tree import Tree, arguments, minus, plus, power, rational, times

HALF = rational(1, 2)


def _times(*factors: Tree) -> Tree:
    return times(*(factor for factor in factors if not (isinstance(factor, int) and factor == 1)))


def _inverse_root(sign: int, g: Tree, shift: int) -> Tree:
    """1/Sqrt[shift + sign g^2]."""
    return power(plus(shift, _times(sign, power(g, 2))), rational(-1, 2))


# f'(g) of functions of one argument (DLMF 4.2-4.38, 5, 6, 7).
CHAIN: dict[str, Callable[[Tree], Tree]] = {
    "Exp": lambda g: ("Exp", g),
    "Sqrt": lambda g: times(HALF, power(g, rational(-1, 2))),
    "Log2": lambda g: power(times(g, ("Log", 2)), -1),
    "Log10": lambda g: power(times(g, ("Log", 10)), -1),
    "Sin": lambda g: ("Cos", g),
    "Cos": lambda g: times(-1, ("Sin", g)),
    "Tan": lambda g: power(("Cos", g), -2),
    "Cot": lambda g: times(-1, power(("Sin", g), -2)),
    "Sec": lambda g: times(("Sec", g), ("Tan", g)),
    "Csc": lambda g: times(-1, ("Csc", g), ("Cot", g)),
    "Sinh": lambda g: ("Cosh", g),
    "Cosh": lambda g: ("Sinh", g),
    "Tanh": lambda g: power(("Cosh", g), -2),
    "Coth": lambda g: times(-1, power(("Sinh", g), -2)),
    "Sech": lambda g: times(-1, ("Sech", g), ("Tanh", g)),
    "Csch": lambda g: times(-1, ("Csch", g), ("Coth", g)),
    "ArcSin": lambda g: _inverse_root(-1, g, 1),
    "ArcCos": lambda g: times(-1, _inverse_root(-1, g, 1)),
    "ArcTan": lambda g: power(plus(1, power(g, 2)), -1),
    "ArcCot": lambda g: times(-1, power(plus(1, power(g, 2)), -1)),
    "ArcSinh": lambda g: _inverse_root(1, g, 1),
    "ArcCosh": lambda g: times(power(plus(g, -1), rational(-1, 2)), power(plus(g, 1), rational(-1, 2))),
    "ArcTanh": lambda g: power(plus(1, times(-1, power(g, 2))), -1),
    "ArcCoth": lambda g: power(plus(1, times(-1, power(g, 2))), -1),
    "ArcSec": lambda g: times(power(g, -2), power(plus(1, times(-1, power(g, -2))), rational(-1, 2))),
    "ArcCsc": lambda g: times(-1, power(g, -2), power(plus(1, times(-1, power(g, -2))), rational(-1, 2))),
    "ArcSech": lambda g: times(-1, power(g, -2), power(plus(power(g, -1), -1), rational(-1, 2)), power(plus(power(g, -1), 1), rational(-1, 2))),
    "ArcCsch": lambda g: times(-1, power(g, -2), power(plus(1, power(g, -2)), rational(-1, 2))),
    "Sinc": lambda g: minus(times(("Cos", g), power(g, -1)), times(("Sin", g), power(g, -2))),
    "Haversine": lambda g: times(HALF, ("Sin", g)),
    "Gudermannian": lambda g: ("Sech", g),
    "Erf": lambda g: times(2, power("Pi", rational(-1, 2)), power("E", times(-1, power(g, 2)))),
    "Erfc": lambda g: times(-2, power("Pi", rational(-1, 2)), power("E", times(-1, power(g, 2)))),
    "Erfi": lambda g: times(2, power("Pi", rational(-1, 2)), power("E", power(g, 2))),
    "InverseErf": lambda g: times(HALF, power("Pi", HALF), power("E", power(("InverseErf", g), 2))),
    "DawsonF": lambda g: plus(1, times(-2, g, ("DawsonF", g))),
    "FresnelS": lambda g: ("Sin", times(HALF, "Pi", power(g, 2))),
    "FresnelC": lambda g: ("Cos", times(HALF, "Pi", power(g, 2))),
    "ExpIntegralEi": lambda g: times(power("E", g), power(g, -1)),
    "LogIntegral": lambda g: power(("Log", g), -1),
    "SinIntegral": lambda g: ("Sinc", g),
    "CosIntegral": lambda g: times(("Cos", g), power(g, -1)),
    "SinhIntegral": lambda g: times(("Sinh", g), power(g, -1)),
    "CoshIntegral": lambda g: times(("Cosh", g), power(g, -1)),
    "Gamma": lambda g: times(("Gamma", g), ("PolyGamma", 0, g)),
    "Factorial": lambda g: times(("Gamma", plus(g, 1)), ("PolyGamma", 0, plus(g, 1))),
    "LogGamma": lambda g: ("PolyGamma", 0, g),
    "PolyGamma": lambda g: ("PolyGamma", 1, g),
    "HarmonicNumber": lambda g: ("PolyGamma", 1, plus(g, 1)),
    "AiryAi": lambda g: ("AiryAiPrime", g),
    "AiryBi": lambda g: ("AiryBiPrime", g),
    "AiryAiPrime": lambda g: times(g, ("AiryAi", g)),
    "AiryBiPrime": lambda g: times(g, ("AiryBi", g)),
    "ProductLog": lambda g: times(("ProductLog", g), power(times(g, plus(1, ("ProductLog", g))), -1)),
    "EllipticK": lambda m: times(minus(("EllipticE", m), times(plus(1, times(-1, m)), ("EllipticK", m))), power(times(2, m, plus(1, times(-1, m))), -1)),
    "EllipticE": lambda m: times(minus(("EllipticE", m), ("EllipticK", m)), power(times(2, m), -1)),
    "CubeRoot": lambda g: times(rational(1, 3), power(("CubeRoot", g), -2)),
}


def _delta(m: Tree, phi: Tree) -> Tree:
    return plus(1, times(-1, m, power(("Sin", phi), 2)))


def _bessel_like(head: str, minus_next: int) -> Callable[[Tree, Tree], tuple[Tree | None, ...]]:
    return lambda n, z: (None, times(HALF, plus((head, plus(n, -1), z), times(minus_next, (head, plus(n, 1), z)))))


def _binomial(n: Tree, k: Tree) -> tuple[Tree | None, ...]:
    def psi(x: Tree) -> Tree:
        return ("PolyGamma", 0, x)

    whole, rest = ("Binomial", n, k), psi(plus(1, n, times(-1, k)))
    return (times(whole, minus(psi(plus(n, 1)), rest)), times(whole, minus(rest, psi(plus(k, 1)))))


# Partial derivatives of functions of several arguments; None where there is no formula.
PARTIALS: dict[tuple[str, int], Callable[..., tuple[Tree | None, ...]]] = {
    ("ArcTan", 2): lambda x, y: (times(-1, y, power(plus(power(x, 2), power(y, 2)), -1)), times(x, power(plus(power(x, 2), power(y, 2)), -1))),
    ("Erf", 2): lambda a, b: (times(-1, CHAIN["Erf"](a)), CHAIN["Erf"](b)),
    ("Gamma", 2): lambda a, z: (None, times(-1, power("E", times(-1, z)), power(z, plus(a, -1)))),
    ("PolyGamma", 2): lambda n, z: (None, ("PolyGamma", n + 1 if isinstance(n, int) else plus(n, 1), z)),
    ("PolyLog", 2): lambda s, z: (None, times(("PolyLog", s - 1 if isinstance(s, int) else plus(s, -1), z), power(z, -1))),
    ("ExpIntegralE", 2): lambda n, z: (None, times(-1, ("ExpIntegralE", n - 1 if isinstance(n, int) else plus(n, -1), z))),
    ("HarmonicNumber", 2): lambda n, r: (times(r, ("Zeta", plus(r, 1), plus(n, 1))), None),
    ("HurwitzZeta", 2): lambda s, a: (None, times(-1, s, ("HurwitzZeta", plus(s, 1), a))),
    ("Zeta", 2): lambda s, a: (None, times(-1, s, ("Zeta", plus(s, 1), a))),
    ("Beta", 2): lambda a, b: (
        times(("Beta", a, b), minus(("PolyGamma", 0, a), ("PolyGamma", 0, plus(a, b)))),
        times(("Beta", a, b), minus(("PolyGamma", 0, b), ("PolyGamma", 0, plus(a, b)))),
    ),
    ("Beta", 3): lambda z, a, b: (times(power(z, plus(a, -1)), power(plus(1, times(-1, z)), plus(b, -1))), None, None),
    ("Binomial", 2): _binomial,
    ("BesselJ", 2): _bessel_like("BesselJ", -1),
    ("BesselY", 2): _bessel_like("BesselY", -1),
    ("HankelH1", 2): _bessel_like("HankelH1", -1),
    ("HankelH2", 2): _bessel_like("HankelH2", -1),
    ("BesselI", 2): _bessel_like("BesselI", 1),
    ("BesselK", 2): lambda n, z: (None, times(-1, HALF, plus(("BesselK", plus(n, -1), z), ("BesselK", plus(n, 1), z)))),
    ("ProductLog", 2): lambda k, z: (None, times(("ProductLog", k, z), power(times(z, plus(1, ("ProductLog", k, z))), -1))),
    ("EllipticF", 2): lambda phi, m: (power(_delta(m, phi), rational(-1, 2)), None),
    ("EllipticE", 2): lambda phi, m: (power(_delta(m, phi), HALF), None),
    ("EllipticPi", 3): lambda n, phi, m: (None, power(times(plus(1, times(-1, n, power(("Sin", phi), 2))), power(_delta(m, phi), HALF)), -1), None),
    ("Hypergeometric0F1", 2): lambda a, z: (None, times(power(a, -1), ("Hypergeometric0F1", plus(a, 1), z))),
    ("Hypergeometric1F1", 3): lambda a, b, z: (None, None, times(a, power(b, -1), ("Hypergeometric1F1", plus(a, 1), plus(b, 1), z))),
    ("Hypergeometric2F1", 4): lambda a, b, c, z: (None, None, None, times(a, b, power(c, -1), ("Hypergeometric2F1", plus(a, 1), plus(b, 1), plus(c, 1), z))),
    ("HypergeometricU", 3): lambda a, b, z: (None, None, times(-1, a, ("HypergeometricU", plus(a, 1), plus(b, 1), z))),
    ("HypergeometricPFQ", 3): lambda a, b, z: (
        None,
        None,
        times(
            *arguments(a),
            *(power(part, -1) for part in arguments(b)),
            ("HypergeometricPFQ", ("List", *(plus(p, 1) for p in arguments(a))), ("List", *(plus(p, 1) for p in arguments(b))), z),
        ),
    ),
    ("ChebyshevT", 2): lambda n, x: (None, times(n, ("ChebyshevU", plus(n, -1), x))),
    ("HermiteH", 2): lambda n, x: (None, times(2, n, ("HermiteH", plus(n, -1), x))),
    ("LaguerreL", 2): lambda n, x: (None, times(-1, ("LaguerreL", plus(n, -1), 1, x))),
    ("LegendreP", 2): lambda n, x: (None, times(n, minus(times(x, ("LegendreP", n, x)), ("LegendreP", plus(n, -1), x)), power(plus(power(x, 2), -1), -1))),
    ("Surd", 2): lambda x, n: (times(power(n, -1), ("Surd", x, n), power(x, -1)), None),
    ("Pochhammer", 2): lambda a, n: (
        times(("Pochhammer", a, n), minus(("PolyGamma", 0, plus(a, n)), ("PolyGamma", 0, a))),
        times(("Pochhammer", a, n), ("PolyGamma", 0, plus(a, n))),
    ),
}
