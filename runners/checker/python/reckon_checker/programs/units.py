"""Quantities: a number and a unit, converted by exact factors (unit_table.py), with the arithmetic of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..tree import Refused
from . import arithmetic
from .data import Done, Number, Str, Unit, Value, exact, has_head, is_list, listed, number, require, truth
from .evaluator import builtin, evaluate, holding
from .unit_table import BASE, SCALES, UNITS, Dimensions

OFFSET_SCALES = ("DegreesCelsius", "DegreesFahrenheit")


@dataclass(frozen=True, slots=True)
class AnyUnit(Unit):
    """A unit of the SI, where the language chooses in which one of its dimension an answer is."""


def unit_of(written: Any) -> Unit:
    """The unit that is written as a name, or as products and powers of names."""
    return Unit(_powers(_product(written)))


def _powers(found: dict[str, Fraction]) -> tuple[tuple[str, Fraction], ...]:
    return tuple(sorted((name, exponent) for name, exponent in found.items() if exponent))


def _product(written: Any) -> dict[str, Fraction]:
    if isinstance(written, Done):
        written = written.value
    if isinstance(written, Str):
        require(written.text in UNITS or written.text in SCALES, "a unit")
        return {written.text: Fraction(1)}
    if written == 1:
        return {}
    found: dict[str, Fraction] = {}
    if has_head(written, "Times"):
        for part in written[1:]:
            for name, exponent in _product(part).items():
                found[name] = found.get(name, Fraction(0)) + exponent
        return found
    require(has_head(written, "Power") and len(written) == 3, "a unit")
    exponent = Fraction(exact(evaluate(written[2]), "a unit"))
    require(abs(exponent) <= 20, "a unit")
    return {name: power * exponent for name, power in _product(written[1]).items()}


def factor_of(unit: Unit) -> tuple[Value, Dimensions]:
    """The number of base units that a unit is, and their powers."""
    factor: Value = 1
    powers: dict[str, Fraction] = {}
    for name, exponent in unit.powers:
        require(name in UNITS, "a scale of temperature in a product")
        one, dimensions = UNITS[name]
        factor = arithmetic.times(factor, arithmetic.power(number(one), number(exponent)))
        for base, power in dimensions:
            powers[base] = powers.get(base, Fraction(0)) + power * exponent
    return factor, _powers(powers)


def parts(value: Value) -> tuple[Number, Unit]:
    """The number and the unit of a quantity."""
    require(has_head(value, "Quantity") and len(value) == 3 and isinstance(value[2], Unit), "a quantity")
    return exact(value[1], "a quantity"), value[2]


@holding("Quantity")
def quantity(*written: Any) -> Value:
    require(len(written) == 2, "Quantity")
    magnitude = evaluate(written[0])
    if isinstance(written[1], Unit):
        return ("Quantity", exact(magnitude, "Quantity"), written[1])
    unit = unit_of(written[1])
    require(len(unit.powers) > 0, "Quantity")
    if is_list(magnitude):
        return listed([("Quantity", exact(one, "Quantity"), unit) for one in magnitude[1:]])
    return ("Quantity", exact(magnitude, "Quantity"), unit)


def in_base(value: Value) -> tuple[Value, Dimensions]:
    """The number of base units of a quantity, and their powers."""
    magnitude, unit = parts(value)
    if len(unit.powers) == 1 and unit.powers[0][1] == 1 and unit.powers[0][0] in SCALES:
        shift, degree = SCALES[unit.powers[0][0]]
        return number((magnitude + shift) * degree), (("Kelvins", Fraction(1)),)
    factor, dimensions = factor_of(unit)
    return arithmetic.times(magnitude, factor), dimensions


def converted(value: Value, unit: Unit) -> Value:
    base, dimensions = in_base(value)
    if len(unit.powers) == 1 and unit.powers[0][1] == 1 and unit.powers[0][0] in SCALES:
        require(dimensions == (("Kelvins", Fraction(1)),), "units of different dimensions")
        shift, degree = SCALES[unit.powers[0][0]]
        return number(Fraction(exact(base, "a unit")) / degree - shift)
    factor, target = factor_of(unit)
    require(target == dimensions, "units of different dimensions")
    return exact(arithmetic.quotient(base, factor), "a unit")


@holding("UnitConvert")
def unit_convert(*written: Any) -> Value:
    require(len(written) in (1, 2), "UnitConvert")
    value = evaluate(written[0])
    if is_list(value):
        return listed([unit_convert(Done(one), *written[1:]) for one in value[1:]])
    if len(written) == 1:
        base, dimensions = in_base(value)
        require(all(name in BASE for name, _ in dimensions), "UnitConvert")
        return ("Quantity", exact(base, "UnitConvert"), Unit(dimensions))
    unit = unit_of(written[1])
    return ("Quantity", converted(value, unit), unit)


@holding("QuantityMagnitude")
def quantity_magnitude(*written: Any) -> Value:
    require(len(written) in (1, 2), "QuantityMagnitude")
    value = evaluate(written[0])
    if is_list(value):
        return listed([quantity_magnitude(Done(one), *written[1:]) for one in value[1:]])
    magnitude, unit = parts(value)
    if len(written) == 2:
        return converted(value, unit_of(written[1]))
    require(not isinstance(unit, AnyUnit), "QuantityMagnitude in a unit that is not known")
    return magnitude


@builtin("QuantityUnit", 1)
def quantity_unit(value: Value) -> Value:
    _, unit = parts(value)
    require(not isinstance(unit, AnyUnit) and len(unit.powers) == 1 and unit.powers[0][1] == 1, "QuantityUnit")
    return Str(unit.powers[0][0])


@builtin("QuantityQ", 1)
def is_quantity(value: Value) -> Value:
    return truth(has_head(value, "Quantity"))


@holding("CompatibleUnitQ")
def compatible(*written: Any) -> Value:
    require(len(written) == 2, "CompatibleUnitQ")

    def dimensions(one: Any) -> Dimensions:
        if has_head(one, "Quantity") or (isinstance(one, Done) and has_head(one.value, "Quantity")):
            return in_base(evaluate(one))[1]
        return in_base(("Quantity", 1, unit_of(one)))[1]

    return truth(dimensions(written[0]) == dimensions(written[1]))


# Arithmetic.


def _scaled(unit: Unit) -> bool:
    return any(name in OFFSET_SCALES for name, _ in unit.powers)


def _made(magnitude: Value, powers: dict[str, Fraction]) -> Value:
    unit = Unit(_powers(powers))
    if not unit.powers:
        return exact(magnitude, "a quantity")
    dimensions = [UNITS[name][1] for name, _ in unit.powers]
    if len({base for one in dimensions for base, _ in one}) == sum(len(one) for one in dimensions):
        return ("Quantity", exact(magnitude, "a quantity"), unit)
    factor, base = factor_of(unit)  # units of one dimension in a product: the language chooses one
    found = exact(arithmetic.times(magnitude, factor), "a quantity")
    return ("Quantity", found, AnyUnit(base)) if base else found


def plus(terms: Sequence[Value]) -> Value:
    found = [parts(term) for term in terms]
    require(not any(_scaled(unit) for _, unit in found), "arithmetic of temperatures")
    if len({unit for _, unit in found}) == 1:
        return ("Quantity", number(sum(magnitude for magnitude, _ in found)), found[0][1])
    bases = [in_base(term) for term in terms]
    require(len({dimensions for _, dimensions in bases}) == 1, "units of different dimensions")
    return ("Quantity", exact(arithmetic.plus(*(base for base, _ in bases)), "a quantity"), AnyUnit(bases[0][1]))


def times(factors: Sequence[Value]) -> Value:
    magnitude: Value = 1
    powers: dict[str, Fraction] = {}
    chosen = False
    for factor in factors:
        if not has_head(factor, "Quantity"):
            magnitude = arithmetic.times(magnitude, exact(factor, "a quantity"))
            continue
        one, unit = parts(factor)
        require(not _scaled(unit), "arithmetic of temperatures")
        chosen = chosen or isinstance(unit, AnyUnit)
        magnitude = arithmetic.times(magnitude, one)
        for name, exponent in unit.powers:
            powers[name] = powers.get(name, Fraction(0)) + exponent
    made = _made(magnitude, powers)
    if chosen and has_head(made, "Quantity"):
        base, dimensions = in_base(made)
        return ("Quantity", exact(base, "a quantity"), AnyUnit(dimensions))
    return made


def power(base: Value, exponent: Value) -> Value:
    magnitude, unit = parts(base)
    by = Fraction(exact(exponent, "a quantity"))
    require(not _scaled(unit) and abs(by) <= 20, "arithmetic of temperatures")
    found = exact(arithmetic.power(magnitude, number(by)), "a quantity")
    if by == 0:
        raise Refused("a quantity to the power 0")
    return ("Quantity", found, type(unit)(_powers({name: one * by for name, one in unit.powers})))


arithmetic.OF_QUANTITIES.update(plus=plus, times=times, power=lambda pair: power(*pair))
