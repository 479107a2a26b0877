"""Sentences are true when read back: an integer and a fraction are exact, a decimal is right to one unit of its last digit."""

import random
import re
from fractions import Fraction

import pytest
from flint import acb, arb, fmpq

from reckon_checker.findings import Witness
from reckon_checker.values import Gaussian, Value, gaussian, precision
from reckon_checker.wording import EXACT_CHARACTERS, apart, equation, show

Interval = tuple[Fraction, Fraction]  # middle, radius


def decimal(text: str) -> Interval:
    mantissa, _, power = text.partition("*^")
    whole, point, part = mantissa.partition(".")
    unit = Fraction(10) ** (int(power or 0) - len(part))
    return int(whole + part) * unit, unit if point or power else Fraction(0)


def real(text: str) -> Interval:
    text = text.removeprefix("(").removesuffix(")")
    if text.startswith("between "):
        low, high = (decimal(end)[0] for end in text.removeprefix("between ").split(" and "))
        return (low + high) / 2, (high - low) / 2
    if "/" in text:
        return Fraction(text), Fraction(0)
    return decimal(text)


def read(text: str) -> tuple[Interval, Interval]:
    """The real and the imaginary part of a number as a stranger reads it."""
    found = re.fullmatch(r"(\([^)]*\)|between \S+ and \S+?|[^ ()]+?)(?: ([+-]) (\([^)]*\)|[^ ()]+)\*I|(\*I))?", text)
    assert found, text
    first, sign, second, only = found.groups()
    none = (Fraction(0), Fraction(0))
    if only:
        middle, radius = real(first)
        return (none[0], radius), (middle, radius)
    if second is None:
        middle, radius = real(first)
        return (middle, radius), (Fraction(0), radius)  # a part that is below the digits shown is left out
    middle, radius = real(second)
    return real(first), (-middle if sign == "-" else middle, radius)


def disjoint(a: tuple[Interval, Interval], b: tuple[Interval, Interval]) -> bool:
    return any(abs(p[0] - q[0]) > p[1] + q[1] for p, q in zip(a, b, strict=True))


def ends(value: Value) -> list[Fraction]:
    """The lowest and highest real and imaginary part."""
    if isinstance(value, fmpq):
        return [Fraction(int(value.p), int(value.q))] * 2 + [Fraction(0)] * 2
    if isinstance(value, Gaussian):
        return [*ends(value.re)[:2], *ends(value.im)[:2]]
    parts = (value.real, value.imag) if isinstance(value, acb) else (value, arb(0))
    found = []
    for part in parts:
        middle, radius = (Fraction(int(x.p), int(x.q)) for x in (arb(part.mid()).fmpq(), arb(part.rad()).fmpq()))
        found += [middle - radius, middle + radius]
    return found


def holds(text: str, value: Value) -> bool:
    """Whether a text is true of a value."""
    bounds = ends(value)
    return all(middle - radius <= low and high <= middle + radius for (middle, radius), low, high in zip(read(text), bounds[::2], bounds[1::2], strict=True))


def number(chooser: random.Random) -> fmpq:
    size = chooser.choice((1, 3, 10, 25, 60, 300))
    return fmpq(chooser.randrange(-(10**size), 10**size), chooser.choice((1, 1, 7, 10**size, 4096, 2**90, chooser.randrange(1, 10**size))))


def pair(chooser: random.Random) -> tuple[Value, Value]:
    """Two values that are proved to differ, many of them by little."""
    a = number(chooser)
    b = a + fmpq(chooser.choice((-1, 1)), 10 ** chooser.randrange(120)) * chooser.choice((fmpq(1), fmpq(1, 3), fmpq(7)))
    kind = chooser.randrange(6)
    with precision(1500):
        if kind == 0:
            return a, b
        if kind == 1:
            return arb(a), b
        if kind == 2:
            return a, arb(b, arb(abs(a - b)) / chooser.choice((3, 100, 10**30)))
        if kind == 3:
            return arb(a, arb(abs(a - b)) / 5), arb(b, arb(abs(a - b)) / 7)
        if kind == 4:
            return gaussian(a, fmpq(3, 7)), acb(arb(b), arb(fmpq(3, 7), arb(10) ** -chooser.choice((5, 40))))
        return acb(arb(fmpq(1, 3)), arb(a)), gaussian(fmpq(1, 3), b)


@pytest.mark.parametrize("seed", range(40))
def test_two_values_read_back_are_the_values_and_differ(seed: int) -> None:
    chooser = random.Random(seed)
    for _ in range(50):
        left, right = pair(chooser)
        a, b, off = apart(left, right)
        assert holds(a, left), (a, left)
        assert holds(b, right), (b, right)
        if off:
            zero: tuple[Interval, Interval] = ((Fraction(0), Fraction(0)), (Fraction(0), Fraction(0)))
            assert disjoint(read(off), zero), (a, b, off)
        else:
            assert disjoint(read(a), read(b)), (a, b)


def test_no_exact_number_loses_digits() -> None:
    for value in (fmpq(10**161 + 7, 3), fmpq(7, 10**161 + 3), fmpq(2**600 + 1, 3**300), fmpq(10) ** 200 + 1, fmpq(-(10**150) - 1, 10**149)):
        text = show(value)
        assert len(text) <= EXACT_CHARACTERS
        assert holds(text, value)
        assert decimal(text)[1] > 0  # it does not read as an integer
        assert equation("x", value).startswith("x \u2248 ")
    assert equation("x", fmpq(403, 4096)) == "x = 403/4096"


def test_equal_numbers_are_never_shown_as_different() -> None:
    with precision(2000):
        close = arb(fmpq(403, 4096)) + arb(2) ** -1010
    sentence = Witness(close, fmpq(403, 4096)).sentence()
    expected, _, found = sentence.partition(" is expected, the answer gives ")
    assert expected == "0.098388671875000000000"
    assert found == "403/4096, which is off by -9.1139*^-305"


def test_the_digits_of_a_wrong_last_place_are_shown() -> None:
    with precision(300):
        true = arb(fmpq(1, 3)).acos()
    given = fmpq(123095941734077468213492917818, 10**29)
    for unit in (20, 25, 28):
        wrong = fmpq(int((given * fmpq(10) ** unit).floor()) + 2, 10**unit)
        a, b, off = apart(true, wrong)
        assert not off
        assert disjoint(read(a), read(b))
        assert "/" not in b
