"""Where functions with branch cuts are not analytic: whether a ball of the argument meets the cut (DLMF 4.2, 4.23, 4.37)."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb


def not_positive(z: acb) -> bool:
    return z.imag.contains(0) and not z.real > 0


def _beyond_one(z: acb) -> bool:
    return z.imag.contains(0) and not abs(z.real) < 1


def _imaginary(z: acb) -> bool:
    return z.real.contains(0) and not abs(z.imag) < 1


# Of functions of one argument. Those of special.py raise Undecided themselves where a ball straddles their cut.
CUTS: dict[str, Callable[[acb], bool]] = {
    **dict.fromkeys(("Log", "Log2", "Log10"), not_positive),
    **dict.fromkeys(("ArcSin", "ArcCos", "ArcTanh"), _beyond_one),
    "ArcCosh": lambda z: z.imag.contains(0) and not z.real > 1,
    **dict.fromkeys(("ArcTan", "ArcSinh"), _imaginary),
}
