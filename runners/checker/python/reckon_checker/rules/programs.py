"""Programs over exact values: the value is computed a second time, by the documented meaning of the functions, and compared with the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..findings import Open, Refuted, Residual, Statement, Verified
from ..programs import associations, control, dates, definitions, functional, lists, numbers, ordering, patterns, strings, units
from ..programs.data import ARITHMETIC, FALSE, STAY, TRUE, Str, Unit, Value, from_tree, has_head, is_association, is_list, is_number, require, to_tree
from ..programs.evaluator import evaluate
from ..tree import CONSTANTS, Real, Refused, Text, Tree, brief, show, undefined, walk

FAMILIES = (associations, control, dates, definitions, functional, lists, numbers, ordering, patterns, strings, units)  # each registers its functions
SHOWN = 120  # characters of a value in a residual
# What an answer may hold: values, and arithmetic that was left.
OF_ANSWERS = frozenset(("List", "Association", "Rule", "Rational", "Plus", "Times", "Power", "Sqrt", "Quantity", "Missing", "DateObject", *STAY))
Place = tuple[str, ...]


@dataclass(frozen=True)
class Differs:
    """A difference that is certain."""

    place: Place
    expected: str
    found: str

    def sentence(self) -> str:
        where = f"entry {'.'.join(self.place)}: " if self.place else ""
        return f"{where}{self.expected} is expected, the answer gives {self.found}"


@dataclass(frozen=True)
class Claim:
    """Two expressions that are to be equal as an identity."""

    expected: Value
    found: Value


@dataclass(frozen=True)
class Unknown:
    """Two values of which it is not known whether they are the same."""

    why: str


Comparison = Differs | Claim | Unknown


def check(task: dict[str, Any], seed: int) -> Residual | list[list[Tree]]:
    """The finding; or the claims that are left to prove as identities, where all else is the same."""
    expected = value_of(task["program"])
    require_answer(task["answer"])
    found = list(compared(expected, evaluate(from_tree(task["answer"])), ()))
    certain = next((one for one in found if isinstance(one, Differs)), None)
    if certain is not None:
        return Refuted(Statement(certain.sentence()))
    unknown = next((one for one in found if isinstance(one, Unknown)), None)
    if unknown is not None:
        return Open(unknown.why)
    if found:
        return [[to_tree(one.expected), to_tree(one.found)] for one in found if isinstance(one, Claim)]
    return Verified(True, "True")


def value_of(program: Tree) -> Value:
    """What a program comes to. Where that is not worked out, Refused names a function of it: the form of the call is not known, not the answer."""
    definitions.begin()
    try:
        found = evaluate(from_tree(program))
        require(not definitions.has_local(found), "a local variable")
        return found
    except Refused as refused:
        names = [part for part in walk(program) if isinstance(part, str) and not isinstance(part, Text)]
        raise Refused(next((name for name in names if name == str(refused)), names[0] if names else "")) from refused
    finally:
        definitions.begin()


def require_answer(node: Tree) -> None:
    """Raises Refused where an answer holds a function that is left to be evaluated."""
    if isinstance(node, tuple):
        if not isinstance(node[0], str) or not (node[0] in OF_ANSWERS or undefined(node[0])):
            raise Refused("an answer that is not evaluated")
        for part in node[1:]:
            require_answer(part)


def text_of(value: Value) -> str:
    return brief(to_tree(value), SHOWN)


def compared(expected: Value, found: Value, place: Place) -> Iterator[Comparison]:
    """What stands between two values and being the same."""
    if isinstance(expected, Real) or isinstance(found, Real):
        yield from _decimals(expected, found, place)
    elif type(expected) is type(found) and expected == found:
        return
    elif _is_arithmetic(expected) or _is_arithmetic(found):
        yield from _identity(expected, found)
    elif is_list(expected) and is_list(found):
        yield from _entries(expected, found, place)
    elif is_association(expected) and is_association(found):
        yield from _associations(expected, found, place)
    elif has_head(expected, "Quantity") and has_head(found, "Quantity"):
        yield from _quantities(expected, found, place)
    elif isinstance(expected, tuple) and isinstance(found, tuple) and expected[0] == found[0] and len(expected) == len(found) and _is_structure(expected[0]):
        for i, (one, other) in enumerate(zip(expected[1:], found[1:], strict=True)):
            yield from compared(one, other, (*place, str(i + 1)))
    elif _is_data(expected) and _is_data(found) and not _looks_alike(expected, found):
        yield Differs(place, text_of(expected), text_of(found))
    else:
        yield Unknown(f"{text_of(expected)} and {text_of(found)} are values of different kinds")


def _is_structure(head: Any) -> bool:
    return isinstance(head, str) and (head in ("Rule", "Missing") or undefined(head))


def _is_arithmetic(value: Value) -> bool:
    """Whether a value is a number that is not written as one, or arithmetic of symbols."""
    if isinstance(value, tuple):
        return isinstance(value[0], str) and (value[0] in ARITHMETIC or value[0] in STAY)
    return isinstance(value, str) and value in CONSTANTS and value not in (TRUE, FALSE, "Null")


def _is_data(value: Value) -> bool:
    """Whether a value is of a kind whose members are told apart by their form."""
    if isinstance(value, tuple):
        return is_list(value) or _is_structure(value[0])
    return isinstance(value, int | Fraction | Str) or (isinstance(value, str) and (value in (TRUE, FALSE) or value in dates.DAY_NAMES or undefined(value)))


def _looks_alike(expected: Value, found: Value) -> bool:
    """A text whose quotes were lost, and a text or a list that the other one shows like."""
    if isinstance(expected, Str) == isinstance(found, Str):
        return False
    text, other = (expected, found) if isinstance(expected, Str) else (found, expected)
    assert isinstance(text, Str)
    return "".join(text.text.split()) == "".join(show(to_tree(other)).replace('"', "").split())


def _decimals(expected: Value, found: Value, place: Place) -> Iterator[Comparison]:
    if isinstance(expected, Real) and isinstance(found, Real) and expected.value == found.value:
        return
    sides = [side.value if isinstance(side, Real) else side for side in (expected, found)]
    if all(isinstance(side, int | Fraction) for side in sides):
        gap, room = abs(sides[0] - sides[1]), [16 * side.half_unit for side in (expected, found) if isinstance(side, Real)]
        if gap > max(room) and gap > abs(sides[0]) / 10**4:
            yield Differs(place, text_of(expected), text_of(found))
            return
    yield Unknown("a decimal")


def _identity(expected: Value, found: Value) -> Iterator[Comparison]:
    if all(_is_arithmetic(side) or is_number(side) or (isinstance(side, str) and undefined(side)) for side in (expected, found)):
        yield Claim(expected, found)
    else:
        yield Unknown("arithmetic against another kind of value")


def _entries(expected: Any, found: Any, place: Place) -> Iterator[Comparison]:
    if len(expected) != len(found):
        yield Differs(place, f"a list of length {len(expected) - 1}", f"one of length {len(found) - 1}")
        return
    for i, (one, other) in enumerate(zip(expected[1:], found[1:], strict=True)):
        yield from compared(one, other, (*place, str(i + 1)))


def _associations(expected: Any, found: Any, place: Place) -> Iterator[Comparison]:
    ours, theirs = ({rule[1]: rule[2] for rule in one[1:]} for one in (expected, found))
    if len(found) - 1 != len(theirs):
        yield Unknown("a key that stands twice")
        return
    if any(isinstance(key, Real) or _is_arithmetic(key) for key in (*ours, *theirs)):
        yield Unknown("keys that are expressions")
        return
    if ours.keys() != theirs.keys():
        less, more = [key for key in ours if key not in theirs], [key for key in theirs if key not in ours]
        if less and not any(_looks_alike(key, other) for key in less for other in more):
            yield Differs(place, f"the key {text_of(less[0])}", "none")
        elif more and not less:
            yield Differs(place, f"no key {text_of(more[0])}", "one")
        else:
            yield Unknown("keys of different kinds")
        return
    for key in ours:
        yield from compared(ours[key], theirs[key], (*place, text_of(key)))
    if list(ours) != list(theirs):
        yield Unknown("another order of the keys")


def _quantities(expected: Value, found: Value, place: Place) -> Iterator[Comparison]:
    (ours, dimensions), (theirs, others) = units.in_base(expected), units.in_base(found)
    unit, other = expected[2], found[2]
    assert isinstance(unit, Unit) and isinstance(other, Unit)
    if dimensions != others:
        yield Differs(place, text_of(expected), text_of(found))
    elif not (is_number(ours) and is_number(theirs)):
        yield Unknown("a unit")
    elif ours != theirs:
        yield Differs(place, text_of(expected), text_of(found))
    elif not isinstance(unit, units.AnyUnit) and unit != other:
        yield Unknown("another unit")
