"""Equations with decimals in them or in their solutions."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from ..agreement import Survey
from ..findings import Open, Residual, Supported
from ..points import Point
from ..values import Comparison, complex_ball, is_number


def decimals(seen: Survey, differences: list[tuple[Point, Comparison]], agree: int) -> Residual:
    """Decimals are off by what they do not print: only a difference far beyond that says anything."""
    if not seen.differences:
        return Supported() if agree or any(r.agree or r.close for r in seen.regions.values()) else Open("no value to compare")
    if agree == 0:
        for point, found in differences:
            if is_number(found.left) and is_number(found.right):
                a, b = complex_ball(found.left), complex_ball(found.right)
                refutation = replace(seen, differences=[(point, found)]).refutation()
                if abs(a - b) > fmpq(1, 10**4) * (abs(a) + abs(b)) and refutation is not None:
                    return refutation
    return Open("decimals differ a little")
