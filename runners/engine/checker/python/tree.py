"""The tree of an expression as the server sends it, and what is refused before anything is computed.

JSON to tree: a symbol is a string, an integer a number, a real {"r": digits}, a text {"t": text}, and a call a list
[head, arguments...]. In Python: str, int, Real, Text and tuple. Nothing is ever parsed from the language's own text.
"""
import re
from fractions import Fraction

MAX_NODES = 20000
MAX_DEPTH = 300
MAX_INTEGER_BITS = 20000
MACHINE_DIGITS = 15.95


class Refused(Exception):
    """What the checker does not handle: an unknown head, a size over its bounds."""


class Real:
    """A decimal number with the precision it claims. The value is exact: the digits as written."""

    __slots__ = ("value", "digits", "machine", "written")
    form = re.compile(r"([+-]?)(\d*)\.?(\d*)(`{0,2})([+-]?[\d.]*)(?:\*\^([+-]?\d+))?")

    def __init__(self, text):
        match = self.form.fullmatch(text)
        if not match or len(text) > 10000:
            raise Refused("Real")
        sign, whole, part, tick, precision, exponent = match.groups()
        power = int(exponent or 0) - len(part)
        if abs(power) > 10000:
            raise Refused("Real")
        self.value = Fraction(int(sign + (whole + part or "0"))) * Fraction(10) ** power
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


class Text(str):
    """A string literal."""


def decode(data):
    """Builds a tree from decoded JSON, counting as it goes."""
    budget = [MAX_NODES]

    def walk(node, depth):
        budget[0] -= 1
        if budget[0] < 0 or depth > MAX_DEPTH:
            raise Refused("size")
        if isinstance(node, str):
            return node
        if isinstance(node, int) and not isinstance(node, bool):
            if node.bit_length() > MAX_INTEGER_BITS:
                raise Refused("Integer")
            return node
        if isinstance(node, list) and node:
            return tuple(walk(part, depth + 1) for part in node)
        if isinstance(node, dict):
            return Real(node["r"]) if "r" in node else Text(node["t"])
        raise Refused("node")

    return walk(data, 0)


def is_call(node, *heads):
    return isinstance(node, tuple) and node[0] in heads


def walk(node):
    """Every node, heads included, the root first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, tuple):
            pending.extend(reversed(node))


def heads(node):
    return {part[0] for part in walk(node) if isinstance(part, tuple) and isinstance(part[0], str)}


def reals(node):
    return [part for part in walk(node) if isinstance(part, Real)]


def rounded_for_show(*nodes):
    """Whether the decimal numbers look like a display of six digits, as people copy them: they claim no more than that."""
    found = [part for node in nodes for part in reals(node)]
    return bool(found) and all(part.machine and part.written <= 7 for part in found)


def replace(node, what, by):
    if node == what:
        return by
    if isinstance(node, tuple):
        return tuple(replace(part, what, by) for part in node)
    return node


CONSTANTS = {
    "Pi", "E", "I", "Infinity", "ComplexInfinity", "Indeterminate", "EulerGamma", "GoldenRatio", "Catalan", "Degree",
    "Khinchin", "Glaisher", "True", "False", "Null", "Integers", "Reals", "Rationals", "Complexes", "Primes", "Booleans",
    "Automatic", "None", "All", "Algebraics", "PositiveReals", "NegativeReals", "NonNegativeReals", "PositiveIntegers", "NonNegativeIntegers",
    "NegativeIntegers", "MachinePrecision",
}


def free_symbols(node, bound=frozenset()):
    """Symbols that stand for a value: no constants, no heads, no variables bound by an iterator or a Function."""
    found = set()

    def visit(node, bound):
        if isinstance(node, Text):
            return
        if isinstance(node, str):
            if node not in CONSTANTS and node not in bound:
                found.add(node)
            return
        if not isinstance(node, tuple):
            return
        head = node[0]
        if isinstance(head, tuple):
            # Derivative[1][f][x]: f is a function, not a value.
            if not (isinstance(head[0], tuple) and head[0][0] == "Derivative"):
                visit(head, bound)
        if head == "Function" and len(node) > 2:
            names = node[1][1:] if is_call(node[1], "List") else (node[1],)
            bound = bound | {name for name in names if isinstance(name, str)}
            visit(node[2], bound)
            return
        if head == "C":
            return
        if head in ("Sum", "Product", "Integrate", "NIntegrate", "Limit", "Table") and len(node) > 2:
            names = set()
            for iterator in node[2:]:
                if is_call(iterator, "List") and len(iterator) > 2 and isinstance(iterator[1], str):
                    names.add(iterator[1])
                    for part in iterator[2:]:
                        visit(part, bound | names)
                elif is_call(iterator, "Rule"):
                    names.add(iterator[1])
                    visit(iterator[2], bound)
            visit(node[1], bound | names)
            return
        for part in node[1:]:
            visit(part, bound)

    visit(node, bound)
    return found


def constants(node):
    """The indices k of the generated constants C[k], in order; arbitrary functions C[k][...] are not among them."""
    called = {part[0] for part in walk(node) if isinstance(part, tuple) and is_call(part[0], "C")}
    found = {part for part in walk(node) if is_call(part, "C") and len(part) == 2 and isinstance(part[1], int)}
    return sorted(part[1] for part in found - called)
