"""The tree of an expression as the server sends it, and what is refused before anything is computed.

JSON to tree: a symbol is a string, an integer a number, a real {"r": digits}, a text {"t": text}, and a call a list
[head, arguments...]. In Python: str, int, Real, Text and tuple. Nothing is ever parsed from the language's own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias, Union

from flint import fmpq

MAX_NODES = 20000
MAX_DEPTH = 300
MAX_INTEGER_DIGITS = 50000
MAX_INTEGER_BITS = 170000
MAX_REAL_TEXT = 10000
MACHINE_DIGITS = 15.95
MACHINE_BITS, MACHINE_EXPONENT = 53, 1022


class Refused(Exception):
    """Raised for an expression that the checker does not handle: an unknown head, a size over its bounds."""


class Real:
    """A decimal number. text is how it is written, value its digits, exactly; half_unit the radius of the interval that prints so."""

    __slots__ = ("digits", "half_unit", "machine", "text", "value", "written")
    form = re.compile(r"([+-]?)(\d*)\.?(\d*)(`{0,2})([+-]?[\d.]*)(?:\*\^([+-]?\d+))?")

    def __init__(self, text: str) -> None:
        match = self.form.fullmatch(text)
        if not match or len(text) > MAX_REAL_TEXT:
            raise Refused("Real")
        sign, whole, part, tick, precision, exponent = match.groups()
        power = int(exponent or 0) - len(part)
        if abs(power) > MAX_REAL_TEXT:
            raise Refused("Real")
        self.value = Fraction(int(sign + (whole + part or "0"))) * Fraction(10) ** power
        self.text = text
        self.written = written = len((whole + part).lstrip("0"))
        if tick == "`" and precision:
            self.digits, self.machine = float(precision), False
        elif tick == "``" and precision:
            size = len(str(abs(self.value).__trunc__())) if abs(self.value) >= 1 else 0
            self.digits, self.machine = float(precision) + size, False
        elif tick or written <= 17:
            self.digits, self.machine = MACHINE_DIGITS, True
        else:
            self.digits, self.machine = float(written), False
        self.half_unit = self._half_unit(len(part), power, tick)

    def _half_unit(self, decimals: int, power: int, tick: str) -> Fraction:
        if self.value == 0:
            return Fraction(10) ** power / 2 if decimals > 1 else Fraction(1, 2 * 10**6)
        last = power
        if tick and not self.machine:
            last = self._leading() - min(round(self.digits), MAX_REAL_TEXT) + 1
        elif self.written < 3 and decimals < 2:
            # 2. and 0.5 are numbers that print so with six digits: nobody rounds to one.
            last = self._leading() - 5
        elif self.machine and decimals == 0 and self.value % Fraction(10) ** (self._leading() - 5) == 0:
            last = self._leading() - 5  # 1000010. is what 1000012. looks like with six digits
        return Fraction(10) ** last / 2

    def _leading(self) -> int:
        """The exponent of ten of the first digit."""
        value = abs(self.value)
        size = len(str(value.numerator)) - len(str(value.denominator)) if value.numerator.bit_length() < 40000 else 0
        while Fraction(10) ** size > value:
            size -= 1
        while Fraction(10) ** (size + 1) <= value:
            size += 1
        return size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Real) and (self.value, self.half_unit) == (other.value, other.half_unit)

    def __hash__(self) -> int:
        return hash((self.value, self.half_unit))


class Text(str):
    """A string literal."""


Tree: TypeAlias = Union[int, str, Real, Text, "tuple[Tree, ...]"]


def decode(data: Any) -> Tree:
    """Builds a tree from decoded JSON, counting as it goes."""
    left = MAX_NODES

    def build(node: Any, depth: int) -> Tree:
        nonlocal left
        left -= 1
        if left < 0 or depth > MAX_DEPTH:
            raise Refused("size")
        if isinstance(node, str):
            return node
        if isinstance(node, int) and not isinstance(node, bool):
            if node.bit_length() > MAX_INTEGER_BITS:
                raise Refused("Integer")
            return node
        if isinstance(node, list) and node:
            return tuple(build(part, depth + 1) for part in node)
        if isinstance(node, dict):
            return Real(node["r"]) if "r" in node else Text(node["t"])
        raise Refused("node")

    return build(data, 0)


def is_call(node: Tree, *heads: str) -> bool:
    return isinstance(node, tuple) and node[0] in heads


def call(node: Tree, *heads: str) -> tuple[Tree, ...] | None:
    """The node where it is a call of one of the heads."""
    return node if isinstance(node, tuple) and node[0] in heads else None


def arguments(node: Tree) -> tuple[Tree, ...]:
    return node[1:] if isinstance(node, tuple) else ()


def walk(node: Tree) -> Iterator[Tree]:
    """Every node, heads included, the root first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, tuple):
            pending.extend(reversed(node))


def size(node: Tree) -> int:
    return sum(1 for _ in walk(node))


def heads(node: Tree) -> set[str]:
    return {part[0] for part in walk(node) if isinstance(part, tuple) and isinstance(part[0], str)}


def reals(node: Tree) -> list[Real]:
    return [part for part in walk(node) if isinstance(part, Real)]


def replace(node: Tree, what: Tree, by: Tree) -> Tree:
    if node == what and type(node) is type(what):
        return by
    if isinstance(node, tuple):
        return tuple(replace(part, what, by) for part in node)
    return node


def replace_each(node: Tree, values: dict[str, Tree]) -> Tree:
    """The tree with each of the symbols replaced, one after the other."""
    for name, value in values.items():
        node = replace(node, name, value)
    return node


CONSTANTS = frozenset(
    "Pi E I Infinity ComplexInfinity Indeterminate EulerGamma GoldenRatio Catalan Degree Khinchin Glaisher True False Null Integers Reals "
    "Rationals Complexes Primes Booleans Automatic None All Algebraics PositiveReals NegativeReals NonNegativeReals NonPositiveReals "
    "PositiveIntegers NonNegativeIntegers NonPositiveIntegers NegativeIntegers PositiveRationals NegativeRationals MachinePrecision GoldenAngle "
    "Undefined Nothing Underflow Overflow Inherited".split()
)

# Functions of integers, and of the form of what they are given: of a decimal they have another value than of the integer it equals
# (IntegerQ[2.0] is False), or none.
OF_EXACT = frozenset(
    "PartitionsP EulerE BellB BernoulliB StirlingS1 StirlingS2 GCD LCM PowerMod EulerPhi MoebiusMu DivisorSigma EvenQ OddQ IntegerQ PrimeQ "
    "Sort Union Subsets Permutations ContinuedFraction IntegerDigits IntegerLength IntegerExponent FromDigits DigitSum ChineseRemainder "
    "MultiplicativeOrder JacobiSymbol CarmichaelLambda Multinomial BitAnd BitOr BitXor SameQ UnsameQ".split()
)
# Those among them that test or order the form: of a symbol they have a value at once (IntegerQ[x] is False), which is not the one at a point.
OF_FORM = frozenset("EvenQ OddQ IntegerQ PrimeQ Sort Union Permutations SameQ UnsameQ".split())

# Heads that bind the propositions in their first argument.
OF_PROPOSITIONS = frozenset(("TautologyQ", "SatisfiableQ"))

# Heads whose iterators {k, ...} bind the variable k in the first argument.
BINDERS = frozenset("Sum Product Integrate NIntegrate NSum NProduct Table".split())


def free_symbols(node: Tree) -> set[str]:
    """Symbols that stand for a value: no constants, no heads, no variables bound by an iterator or a Function."""
    found: set[str] = set()
    _visit(node, frozenset(), found)
    return found


def _visit(node: Tree, bound: frozenset[str], found: set[str]) -> None:
    if isinstance(node, Text):
        return
    if isinstance(node, str):
        if node not in CONSTANTS and node not in bound and not node.startswith("$"):  # $MachineEpsilon is of the system
            found.add(node)
        return
    if not isinstance(node, tuple):
        return
    head = node[0]
    if isinstance(head, tuple) and head[0] != "Derivative" and not is_call(head[0], "Derivative"):
        _visit(head, bound, found)  # in Derivative[1][f][x] the f is a function, not a value
    if head == "C":
        return
    if head == "Inequality":
        for part in node[1::2]:  # the others are the relations
            _visit(part, bound, found)
        return
    if head == "Function" and len(node) > 2:
        names = arguments(node[1]) if is_call(node[1], "List") else (node[1],)
        _visit(node[2], bound | {name for name in names if isinstance(name, str)}, found)
        return
    if head in OF_PROPOSITIONS:
        return
    if head in BINDERS and len(node) > 2:
        _visit_iterators(node, bound, found)
        return
    if head == "Limit" and len(node) > 2 and is_call(node[2], "Rule"):
        name, target = arguments(node[2])
        _visit(target, bound, found)
        _visit(node[1], bound | {name} if isinstance(name, str) else bound, found)
        return
    for part in node[1:]:
        _visit(part, bound, found)


def _visit_iterators(node: tuple[Tree, ...], bound: frozenset[str], found: set[str]) -> None:
    names: frozenset[str] = frozenset()
    for iterator in node[2:]:
        parts = arguments(iterator)
        if is_call(iterator, "List") and len(parts) > 1 and isinstance(parts[0], str):
            for part in parts[1:]:
                _visit(part, bound | names, found)
            names |= {parts[0]}
        else:
            _visit(iterator, bound, found)
    _visit(node[1], bound | names, found)


def constants(node: Tree) -> list[int]:
    """The indices k of the generated constants C[k], in order; arbitrary functions C[k][...] are not among them."""
    called = {part[0] for part in walk(node) if isinstance(part, tuple) and is_call(part[0], "C")}
    found = {part for part in walk(node) if isinstance(part, tuple) and part[0] == "C" and len(part) == 2}
    return sorted(part[1] for part in found - called if isinstance(part[1], int))


def undefined(name: str) -> bool:
    """Whether a head may be the user's own function: nothing of the language starts with a lower-case letter, and few
    single capitals mean something."""
    return name[:1].islower() or (len(name) == 1 and name.isalpha() and name not in "CDEIKNO")


BINDING = ("Derivative", "Function", "ReplaceAll", "Sum", "Product", "Integrate", "Table", "Limit", "Series", "Solve")


def stands_as_head(name: str, node: Tree) -> bool:
    """Whether a symbol stands as a function, or where names are bound, in a tree."""
    if not isinstance(node, tuple):
        return False
    if not isinstance(node[0], str) or node[0] in BINDING:
        return any(part == name for part in walk(node)) or any(stands_as_head(name, part) for part in node)
    return node[0] == name or any(stands_as_head(name, part) for part in node[1:])


# What builds trees, in the language's own forms.


def plus(*terms: Tree) -> Tree:
    return 0 if not terms else terms[0] if len(terms) == 1 else ("Plus", *terms)


def times(*factors: Tree) -> Tree:
    return 1 if not factors else factors[0] if len(factors) == 1 else ("Times", *factors)


def minus(left: Tree, right: Tree) -> Tree:
    return ("Plus", left, ("Times", -1, right))


def power(base: Tree, exponent: Tree) -> Tree:
    return ("Power", base, exponent)


def rational(numerator: int, denominator: int = 1) -> Tree:
    value = Fraction(numerator, denominator)
    return value.numerator if value.denominator == 1 else ("Rational", value.numerator, value.denominator)


def rational_tree(value: fmpq) -> Tree:
    return rational(int(value.p), int(value.q))


def rational_of(node: Tree) -> fmpq | None:
    """The rational number that is written as an integer or a fraction; None where another expression is."""
    if isinstance(node, int):
        return fmpq(node)
    if is_call(node, "Rational"):
        p, q = arguments(node)
        return fmpq(p, q) if isinstance(p, int) and isinstance(q, int) and q else None
    return None


def terms_of(node: Tree) -> list[Tree]:
    """The terms of a sum, of sums in it too; the expression itself where it is none."""
    return [term for part in arguments(node) for term in terms_of(part)] if is_call(node, "Plus") else [node]


def kept_by_machines(*nodes: Tree) -> bool:
    """Whether every decimal is a number that 53 bits hold as it is written: 1.5 is, 0.1 is not."""
    return all(kept_by_a_machine(real.value) for node in nodes for real in reals(node))


def kept_by_a_machine(value: Fraction) -> bool:
    below, above = value.denominator, abs(value.numerator)
    size = above.bit_length() - (above & -above).bit_length() if above else 0
    return below & (below - 1) == 0 and size < MACHINE_BITS and below.bit_length() < MACHINE_EXPONENT and above.bit_length() < MACHINE_EXPONENT


def refuse_by_form(node: tuple[Tree, ...], counted: frozenset[str]) -> None:
    """Raises Refused where a function of OF_EXACT is given a decimal, or one of OF_FORM a symbol that no iterator of counted gives a number."""
    if reals(node):
        raise Refused(f"{node[0]} of a decimal")
    if node[0] in OF_FORM and (free_symbols(node) - counted or any(is_call(part, "Slot", "C") for part in walk(node))):
        raise Refused(f"{node[0]} of a symbol")


def exactly(node: Tree) -> Tree:
    """The tree with decimals as the fractions that they are, but where it matters that they are decimals."""
    if isinstance(node, Real):
        return rational(node.value.numerator, node.value.denominator)
    if is_call(node, *OF_EXACT):
        return node
    return tuple(exactly(part) for part in node) if isinstance(node, tuple) else node


def show(node: Tree) -> str:
    """A tree as text of the language, in full form but for the commonest operators."""
    if isinstance(node, Real):
        return node.text
    if isinstance(node, Text):
        return '"' + node + '"'
    if not isinstance(node, tuple):
        return str(node)
    parts = [show(part) for part in node[1:]]
    if node[0] == "List":
        return "{" + ", ".join(parts) + "}"
    if node[0] == "Rational" and len(parts) == 2:
        return parts[0] + "/" + parts[1]
    symbol = {"Plus": " + ", "Times": "*", "Power": "^", "Rule": " -> ", "Equal": " == "}.get(node[0]) if isinstance(node[0], str) else None
    if symbol and len(parts) > 1:
        return symbol.join(
            f"({part})" if isinstance(arg, tuple) and arg[0] in ("Plus", "Times", "Power", "Rational", "Complex") else part
            for part, arg in zip(parts, node[1:], strict=True)
        )
    return show(node[0]) + "[" + ", ".join(parts) + "]"


def brief(node: Tree, limit: int) -> str:
    """The text of a tree; of a long one its beginning, visibly."""
    return clipped(show(node), limit)


def clipped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "\u2026"
