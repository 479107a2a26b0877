"""The values of the constants of the language, at the precision in force."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from .values import COMPLEX_INFINITY, INDETERMINATE, INFINITY, ONE, ZERO, Gaussian, Value

CONSTANTS: dict[str, Callable[[], Value]] = {
    "Pi": arb.pi,
    "E": arb.const_e,
    "I": lambda: Gaussian(ZERO, ONE),
    "EulerGamma": arb.const_euler,
    "GoldenRatio": lambda: (1 + arb(5).sqrt()) / 2,
    "GoldenAngle": lambda: (3 - arb(5).sqrt()) * arb.pi(),
    "Catalan": arb.const_catalan,
    "Degree": lambda: arb.pi() / 180,
    "Khinchin": arb.const_khinchin,
    "Glaisher": arb.const_glaisher,
    "True": lambda: True,
    "False": lambda: False,
    "Infinity": lambda: INFINITY,
    "ComplexInfinity": lambda: COMPLEX_INFINITY,
    "Indeterminate": lambda: INDETERMINATE,
}
