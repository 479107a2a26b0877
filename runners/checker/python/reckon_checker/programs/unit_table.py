"""Units of measure with their exact factors to units of the SI.

Sources: SI Brochure, 9th edition (2019), tables 1, 2, 4, 7 and 8, and the defining constants of section 2.2; NIST Special Publication 811
(2008), appendix B.8, of which only exact factors (printed in bold there); IEC 80000-13 for bits, bytes and binary prefixes. Units whose name means
different things (calorie, horsepower, year, acre, ton) are not in it.
"""

from __future__ import annotations

from fractions import Fraction

Dimensions = tuple[tuple[str, Fraction], ...]
BASE = ("Meters", "Kilograms", "Seconds", "Amperes", "Kelvins", "Moles", "Candelas", "Bits", "AngularDegrees")

# name: factor, powers of the base units.
_PLAIN: dict[str, tuple[str, str]] = {
    # SI Brochure, table 2: base units; the kilogram is a prefixed gram in name only.
    "Meters": ("1", "Meters"),
    "Grams": ("1/1000", "Kilograms"),
    "Seconds": ("1", "Seconds"),
    "Amperes": ("1", "Amperes"),
    "Kelvins": ("1", "Kelvins"),
    "Moles": ("1", "Moles"),
    "Candelas": ("1", "Candelas"),
    # SI Brochure, table 4: derived units with names of their own.
    "Hertz": ("1", "Seconds^-1"),
    "Newtons": ("1", "Kilograms Meters Seconds^-2"),
    "Pascals": ("1", "Kilograms Meters^-1 Seconds^-2"),
    "Joules": ("1", "Kilograms Meters^2 Seconds^-2"),
    "Watts": ("1", "Kilograms Meters^2 Seconds^-3"),
    "Coulombs": ("1", "Amperes Seconds"),
    "Volts": ("1", "Kilograms Meters^2 Seconds^-3 Amperes^-1"),
    "Farads": ("1", "Kilograms^-1 Meters^-2 Seconds^4 Amperes^2"),
    "Ohms": ("1", "Kilograms Meters^2 Seconds^-3 Amperes^-2"),
    "Siemens": ("1", "Kilograms^-1 Meters^-2 Seconds^3 Amperes^2"),
    "Webers": ("1", "Kilograms Meters^2 Seconds^-2 Amperes^-1"),
    "Teslas": ("1", "Kilograms Seconds^-2 Amperes^-1"),
    "Henries": ("1", "Kilograms Meters^2 Seconds^-2 Amperes^-2"),
    # SI Brochure, table 8: units accepted for use with the SI.
    "Minutes": ("60", "Seconds"),
    "Hours": ("3600", "Seconds"),
    "Days": ("86400", "Seconds"),
    "Weeks": ("604800", "Seconds"),
    "AstronomicalUnits": ("149597870700", "Meters"),
    "AngularDegrees": ("1", "AngularDegrees"),
    "ArcMinutes": ("1/60", "AngularDegrees"),
    "ArcSeconds": ("1/3600", "AngularDegrees"),
    "Hectares": ("10000", "Meters^2"),
    "Liters": ("1/1000", "Meters^3"),
    "Electronvolts": ("1602176634/10000000000000000000000000000", "Kilograms Meters^2 Seconds^-2"),
    # NIST SP 811, appendix B.8.
    "Inches": ("254/10000", "Meters"),
    "Feet": ("3048/10000", "Meters"),
    "Yards": ("9144/10000", "Meters"),
    "Miles": ("1609344/1000", "Meters"),
    "NauticalMiles": ("1852", "Meters"),
    "Angstroms": ("1/10000000000", "Meters"),
    "Pounds": ("45359237/100000000", "Kilograms"),
    "Ounces": ("45359237/1600000000", "Kilograms"),
    "MetricTons": ("1000", "Kilograms"),
    "Gallons": ("3785411784/1000000000000", "Meters^3"),
    "Quarts": ("946352946/1000000000000", "Meters^3"),
    "Pints": ("473176473/1000000000000", "Meters^3"),
    "Bars": ("100000", "Kilograms Meters^-1 Seconds^-2"),
    "Atmospheres": ("101325", "Kilograms Meters^-1 Seconds^-2"),
    "Dynes": ("1/100000", "Kilograms Meters Seconds^-2"),
    "Ergs": ("1/10000000", "Kilograms Meters^2 Seconds^-2"),
    "Knots": ("1852/3600", "Meters Seconds^-1"),
    "DegreesRankine": ("5/9", "Kelvins"),
    # IEC 80000-13.
    "Bits": ("1", "Bits"),
    "Bytes": ("8", "Bits"),
    "Kibibytes": ("8192", "Bits"),
    "Mebibytes": ("8388608", "Bits"),
    "Gibibytes": ("8589934592", "Bits"),
}
_PREFIXED = (
    "Meters Grams Seconds Amperes Hertz Newtons Pascals Joules Watts Volts Farads Coulombs Teslas Liters Electronvolts Bars Bits Bytes Moles Kelvins".split()
)
# SI Brochure, table 7.
_PREFIXES = {
    "Pico": -12,
    "Nano": -9,
    "Micro": -6,
    "Milli": -3,
    "Centi": -2,
    "Deci": -1,
    "Hecto": 2,
    "Kilo": 3,
    "Mega": 6,
    "Giga": 9,
    "Tera": 12,
}
# Zero and degree of scales of temperature: kelvins are (value + shift) * degree. SI Brochure, section 2.3.1; NIST SP 811, B.8.
SCALES: dict[str, tuple[Fraction, Fraction]] = {
    "Kelvins": (Fraction(0), Fraction(1)),
    "DegreesCelsius": (Fraction(27315, 100), Fraction(1)),
    "DegreesFahrenheit": (Fraction(45967, 100), Fraction(5, 9)),
    "DegreesRankine": (Fraction(0), Fraction(5, 9)),
}


def _dimensions(written: str) -> Dimensions:
    powers = [part.partition("^") for part in written.split()]
    return tuple(sorted((name, Fraction(exponent or 1)) for name, _, exponent in powers))


UNITS: dict[str, tuple[Fraction, Dimensions]] = {name: (Fraction(factor), _dimensions(written)) for name, (factor, written) in _PLAIN.items()}
UNITS |= {prefix + name.lower(): (UNITS[name][0] * Fraction(10) ** power, UNITS[name][1]) for name in _PREFIXED for prefix, power in _PREFIXES.items()}
