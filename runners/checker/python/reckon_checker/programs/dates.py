"""Dates of the proleptic Gregorian calendar (ISO 8601), as lists {year, month, day}: differences, sums, names of days.

Days are counted by the algorithm for the Gregorian calendar in Reingold and Dershowitz, Calendrical Calculations, 4th edition, section 2.2.
"""

from __future__ import annotations

import re
from fractions import Fraction

from .. import budget
from ..tree import Real
from .data import Str, Unit, Value, elements, has_head, is_list, listed, require, truth, whole
from .evaluator import builtin

MAX_YEAR = 9999
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = "January February March April May June July August September October November December".split()
SECONDS_OF_A_DAY = 86400


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(year: int, month: int) -> int:
    return 28 + is_leap(year) if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def day_number(year: int, month: int, day: int) -> int:
    """Days since the last day of the year 0: 1 is Monday, 1 January of the year 1."""
    before = year - 1
    correction = 0 if month <= 2 else -1 if is_leap(year) else -2
    return 365 * before + before // 4 - before // 100 + before // 400 + (367 * month - 362) // 12 + correction + day


def date_of(number: int) -> tuple[int, int, int]:
    require(1 <= number <= day_number(MAX_YEAR, 12, 31), "a date")
    year = number // 366 + 1
    while day_number(year + 1, 1, 1) <= number:
        budget.step()
        year += 1
    month = 1
    while month < 12 and day_number(year, month + 1, 1) <= number:
        month += 1
    return year, month, number - day_number(year, month, 1) + 1


def date(value: Value, what: str) -> tuple[int, int, int]:
    """A day that is written as one: {y, m, d} of the calendar, or a date object of such a list."""
    if has_head(value, "DateObject") and len(value) == 2:
        value = value[1]
    if isinstance(value, Str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value.text):
        value = ("List", *map(int, value.text.split("-")))
    parts = elements(value, what)
    require(len(parts) == 3, what)
    year, month = whole(parts[0], what, 1, MAX_YEAR), whole(parts[1], what, 1, 12)
    return year, month, whole(parts[2], what, 1, days_in(year, month))


def _number(value: Value, what: str) -> int:
    return day_number(*date(value, what))


def _days_between(a: Value, b: Value, what: str) -> int:
    return _number(b, what) - _number(a, what)


@builtin("DateDifference", 2, 3)
def date_difference(a: Value, b: Value, *unit: Value) -> Value:
    days = _days_between(a, b, "DateDifference")
    chosen = unit[0] if unit else Str("Day")
    if chosen in (Str("Day"), Str("Days")):
        return ("Quantity", days, Unit((("Days", Fraction(1)),)))
    require(chosen in (Str("Week"), Str("Weeks")) and days % 7 == 0, "DateDifference")
    return ("Quantity", days // 7, Unit((("Weeks", Fraction(1)),)))


@builtin("DayCount", 2)
def day_count(a: Value, b: Value) -> Value:
    return _days_between(a, b, "DayCount")


@builtin("DayName", 1)
def day_name(value: Value) -> Value:
    return DAY_NAMES[(_number(value, "DayName") - 1) % 7]


@builtin("DayMatchQ", 2)
def day_match(value: Value, kind: Value) -> Value:
    name = day_name(value)
    if kind in (Str("Weekend"), Str("Weekday")):
        return truth((name in ("Saturday", "Sunday")) == (kind == Str("Weekend")))
    require(kind in DAY_NAMES, "DayMatchQ")
    return truth(name == kind)


@builtin("LeapYearQ", 1)
def leap_year(value: Value) -> Value:
    if has_head(value, "DateObject") and len(value) == 2:
        value = value[1]
    parts = elements(value, "LeapYearQ")
    require(1 <= len(parts) <= 3 and all(isinstance(part, int) for part in parts), "LeapYearQ")
    return truth(is_leap(whole(parts[0], "LeapYearQ", 1, MAX_YEAR)))


@builtin("DatePlus", 2)
def date_plus(value: Value, offset: Value) -> Value:
    """A date some days, weeks, months or years later; months that end before the day are not worked out here."""
    require(is_list(value), "DatePlus")
    year, month, day = date(value, "DatePlus")
    count, unit = (offset, Str("Day")) if isinstance(offset, int) else elements(offset, "DatePlus")
    by = whole(count, "DatePlus", -(10**6), 10**6)
    name = unit.text.removesuffix("s") if isinstance(unit, Str) else ""
    if name in ("Day", "Week"):
        return listed(date_of(day_number(year, month, day) + by * (7 if name == "Week" else 1)))
    require(name in ("Month", "Year"), "DatePlus")
    months = 12 * year + month - 1 + by * (12 if name == "Year" else 1)
    found = date((("List", months // 12, months % 12 + 1, day)), "DatePlus")
    return listed(found)


@builtin("AbsoluteTime", 1)
def absolute_time(value: Value) -> Value:
    require(is_list(value), "AbsoluteTime")
    return (_number(value, "AbsoluteTime") - day_number(1900, 1, 1)) * SECONDS_OF_A_DAY


@builtin("DateList", 1)
def date_list(value: Value) -> Value:
    return listed([*date(value, "DateList"), 0, 0, Real("0.")])


@builtin("DateValue", 2)
def date_value(value: Value, part: Value) -> Value:
    if is_list(part):
        return listed([date_value(value, one) for one in elements(part, "DateValue")])
    parts = dict(zip(("Year", "Month", "Day"), date(value, "DateValue"), strict=True))
    require(isinstance(part, Str) and part.text in parts, "DateValue")
    return parts[part.text]


@builtin("DateString", 2)
def date_string(value: Value, form: Value) -> Value:
    year, month, day = date(value, "DateString")
    require(year >= 1000, "DateString")
    written = {
        "Year": f"{year:04d}",
        "Month": f"{month:02d}",
        "Day": f"{day:02d}",
        "MonthName": MONTHS[month - 1],
        "MonthNameShort": MONTHS[month - 1][:3],
        "DayName": str(day_name(value)),
        "DayNameShort": str(day_name(value))[:3],
    }
    if form == Str("ISODate"):
        form = ("List", Str("Year"), Str("-"), Str("Month"), Str("-"), Str("Day"))
    found = ""
    for part in elements(form, "DateString"):
        require(isinstance(part, Str) and (part.text in written or not any(one.isalpha() for one in part.text)), "DateString")
        found += written.get(part.text, part.text)
    return Str(found)
