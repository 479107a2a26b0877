"""Comparison is by proof: equal only exactly, different only when disjoint."""

from fractions import Fraction

import pytest
from flint import acb, arb, fmpq

from reckon_checker.arithmetic import divide, minus, plus, power, times
from reckon_checker.tree import Real
from reckon_checker.values import (
    COMPLEX_INFINITY,
    INDETERMINATE,
    INFINITY,
    MINUS_INFINITY,
    ONE,
    ZERO,
    Gaussian,
    Relation,
    compare,
    precision,
    undefined,
)

HUGE = fmpq(10) ** 400


def relation(a: object, b: object) -> Relation:
    return compare(a, b).relation  # type: ignore[arg-type]


def test_infinity_equals_no_number() -> None:
    for finite in (ZERO, HUGE, -HUGE, arb(10) ** 400, acb(1, 2), Gaussian(ONE, ONE)):
        for infinity in (INFINITY, MINUS_INFINITY, COMPLEX_INFINITY):
            assert relation(infinity, finite) is Relation.DIFFERENT
            assert relation(finite, infinity) is Relation.DIFFERENT
    assert relation(INFINITY, INFINITY) is Relation.EQUAL
    assert relation(INFINITY, MINUS_INFINITY) is Relation.DIFFERENT


def test_non_values_say_nothing() -> None:
    for nothing in (INDETERMINATE, undefined("here")):
        for other in (ONE, INFINITY, nothing, True):
            assert relation(nothing, other) is Relation.INCOMPARABLE


def test_exact_numbers_are_compared_exactly() -> None:
    assert relation(fmpq(10) ** 30 - 1, fmpq(10) ** 30) is Relation.DIFFERENT
    assert relation(fmpq(1, 3), fmpq(2, 6)) is Relation.EQUAL
    assert relation(fmpq(1, 10**40), ZERO) is Relation.DIFFERENT


def test_overlapping_balls_are_never_equal() -> None:
    with precision(128):
        root = arb(2).sqrt()
        assert relation(root, root) is Relation.OVERLAP
        assert relation(root * root, fmpq(2)) is Relation.OVERLAP
        assert relation(root, root + arb(10) ** -30) is Relation.DIFFERENT


def test_lists_and_numbers() -> None:
    assert relation((ONE, ZERO), (ONE, ZERO)) is Relation.EQUAL
    assert relation((ONE, ZERO), (ONE, ONE)) is Relation.DIFFERENT
    assert relation((ONE, ZERO), ONE) is Relation.DIFFERENT
    assert relation((ONE,), ONE) is Relation.DIFFERENT
    assert relation((ONE, ZERO), ((ONE,), (ZERO,))) is Relation.DIFFERENT
    assert relation((ONE, ZERO), (ONE,)) is Relation.INCOMPARABLE


def test_arithmetic_of_infinities() -> None:
    assert plus(INFINITY, HUGE) == INFINITY
    assert minus(INFINITY, INFINITY) == INDETERMINATE
    assert times(ZERO, INFINITY) == INDETERMINATE
    assert times(fmpq(-2), INFINITY) == MINUS_INFINITY
    assert divide(ONE, ZERO) == COMPLEX_INFINITY
    assert divide(ONE, INFINITY) == ZERO
    assert power(ZERO, ZERO) == INDETERMINATE
    assert power(fmpq(1, 2), INFINITY) == ZERO
    assert power(ONE, INFINITY) == INDETERMINATE


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("2.0871", Fraction(5, 10**5)),
        ("3.141592653589793", Fraction(5, 10**16)),
        ("2.", Fraction(5, 10**6)),
        ("0.5", Fraction(5, 10**7)),
        ("1.23`50", Fraction(5, 10**50)),
        ("1000010.", Fraction(5)),
        ("1000012.", Fraction(1, 2)),
        ("1.5*^10", Fraction(5 * 10**4)),
    ],
)
def test_a_decimal_is_what_prints_so(text: str, half: Fraction) -> None:
    assert Real(text).half_unit == half
