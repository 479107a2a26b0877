"""Whether the constant parts of an answer are numbers: what differentiation removes says nothing about itself.

The derivative of Sin[x] + Log[0] is Cos[x], and so is that of Sin[x] + "a". Before a proof counts, every part of an answer that
stands where a value is wanted and does not depend on the variables must have a finite value by enclosures, be a generated
constant C[k], or be a symbol that may be a parameter; and the answer itself must have a finite value somewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import fmpq

from .. import budget
from ..constants import CONSTANTS
from ..evaluation import Environment, evaluate
from ..extrema import OF_NUMBERS
from ..findings import Open, Refuted, Statement
from ..tree import Real, Refused, Text, Tree, arguments, brief, free_symbols, is_call, replace, walk
from ..tree import undefined as may_be_users
from ..values import Kind, NonValue, Undecided, Value, is_number, precision

BITS = (64, 320)
NEVER_NUMBERS = frozenset("True False Null $Failed $Aborted Undefined None Automatic All".split())
# Of functions of numbers each argument is judged by itself; not of others, First or Dot, nor of those that take lists too.
OF_LISTS = frozenset("Max Min Clip HypergeometricPFQ".split())
JUDGED = OF_NUMBERS - OF_LISTS
CHOICES = frozenset(("Piecewise", "If", "ConditionalExpression"))
RANDOM = frozenset("Random RandomReal RandomInteger RandomComplex RandomChoice RandomPrime RandomVariate RandomSample".split())
# What parameters and variables are tried at: a constant part is to have a value for some of these.
TRIED = (
    (fmpq(3, 7), fmpq(5, 11), fmpq(2, 3), fmpq(7, 13)),
    (fmpq(17, 7), fmpq(31, 11), fmpq(13, 3), fmpq(73, 13)),
    (fmpq(2), fmpq(5), fmpq(3), fmpq(7)),
    (fmpq(-9, 7), fmpq(-5, 4), fmpq(-7, 3), fmpq(-11, 6)),
)


def objection(answers: list[Tree], variables: list[str], question: list[Tree]) -> Refuted | Open | None:
    """Why answers that hold once differentiated are not verified; None where nothing speaks against it. variables: those that
    the answers are functions of. question: what was asked, whose symbols are parameters."""
    asked = set().union(*(free_symbols(node) for node in question)) if question else set()
    lists = any(is_call(part, "List") for node in question for part in walk(node))
    doubt: Open | None = None
    for answer in answers:
        found: Refuted | Open | None = _constants_of_integration(answer, set(variables)) or _symbols(answer, asked | set(variables))
        for part, optional in _values(answer, set(variables), lists):
            budget.step()
            one = _part(part, set(variables), optional)
            if isinstance(one, Refuted):
                return one
            found = found or one
        if isinstance(found, Refuted):
            return found
        doubt = doubt or found
        if doubt is None and not is_call(answer, "List") and not finite_somewhere(answer):
            doubt = Open("the answer has no finite value at the points tried")
    return doubt


def _symbols(answer: Tree, known: set[str]) -> Open | None:
    """Symbols that stand for nothing the question knows and that are no names of constants of a user."""
    for part in walk(answer):
        if isinstance(part, Text):
            return Open(f"{brief(part, 100)} is a text")
        if isinstance(part, tuple) and isinstance(part[0], str) and part[0] in RANDOM:
            return Open(f"{part[0]} is no constant")
    for name in sorted(free_symbols(answer) - known):
        if not (may_be_users(name) or name in ("C", "D", "K", "N", "O")) and name not in CONSTANTS:
            return Open(f"{name} is not known to be a number")
    return None


def _constants_of_integration(answer: Tree, variables: set[str]) -> Open | None:
    """C stands for constants as C[k] with k = 1, 2, ... only, and for arbitrary functions as C[k][u] that do not depend on every variable."""
    for part in walk(answer):
        if not isinstance(part, tuple):
            continue
        if part[0] == "C" and not (len(part) == 2 and isinstance(part[1], int) and part[1] > 0):
            inside = set().union(*(free_symbols(node) for node in part[1:])) if len(part) > 1 else set()
            if inside & variables:
                return Open(f"{brief(part, 100)} depends on {', '.join(sorted(inside & variables))}: it may be no constant")
            return Open(f"{brief(part, 100)} is no constant C[k]")
        if isinstance(part[0], tuple) and is_call(part[0][0], "Derivative") and part[0][1:] == ("C",):
            return Open(f"{brief(part, 100)} is not known to be constant")
        if is_call(part[0], "C") and len(variables) < 2:
            return Open(f"{brief(part, 100)} is an arbitrary function")
    return None


def _values(node: Tree, variables: set[str], lists: bool, optional: bool = False) -> Iterator[tuple[Tree, bool]]:
    """The parts that stand where a number is wanted, the root first; optional: that may say that there is no value. Of what is free
    of the variables only terms and factors are parts: those of a finite sum or product are finite, E^-Infinity is 0."""
    if is_call(node, "List") and lists:
        for part in arguments(node):
            yield from _values(part, variables, lists, optional)
        return
    yield node, optional
    if not isinstance(node, tuple) or not (node[0] in JUDGED or node[0] in CHOICES):
        return
    parts = node[1:]
    if not free_symbols(node) & variables and node[0] not in ("Plus", "Times"):
        return
    if node[0] == "Piecewise":
        values = [value for case in arguments(parts[0]) for value in arguments(case)[:1]] if parts else []
        parts, optional = (*values, *parts[1:]), True
    elif node[0] == "If":
        parts, optional = parts[1:], True
    else:
        parts, optional = parts[:1] if node[0] == "ConditionalExpression" else parts, False
    for part in parts:
        yield from _values(part, variables, lists, optional)


def _part(node: Tree, variables: set[str], optional: bool) -> Refuted | Open | None:
    """What speaks against one part that stands for a number."""
    if optional and node in ("Indeterminate", "Undefined", "Null"):
        return None
    if isinstance(node, Text) or (isinstance(node, str) and node in NEVER_NUMBERS) or is_call(node, "List", "Function"):
        why = f"{brief(node, 100)} is not a number, and the answer has it as one"
        return Open(why) if optional else Refuted(Statement(why))
    if isinstance(node, int | Real) or free_symbols(node) & variables:
        return None
    if isinstance(node, str) and node not in CONSTANTS and node not in ("Infinity", "ComplexInfinity", "Indeterminate"):
        return None  # a parameter, or named by _symbols
    if is_call(node, "C"):
        return None  # judged by _constants_of_integration
    value = _value(node)
    if value is not None and is_number(value):
        return None
    if isinstance(value, bool | tuple) or (isinstance(value, NonValue) and value.kind is not Kind.UNDEFINED and not optional and not _parameters(node)):
        return Refuted(Statement(f"{brief(node, 100)} is not a finite number, and the answer has it as one"))
    return Open(f"{brief(node, 100)} is not known to be a finite number")


def _parameters(node: Tree) -> bool:
    return bool(free_symbols(node)) or any(is_call(part, "C") for part in walk(node))


def _value(node: Tree) -> Value | None:
    """A value of a part for some values of its symbols: a finite one where one is found."""
    found: Value | None = None
    for env, body in _environments(node):
        for bits in BITS:
            with precision(bits):
                try:
                    value = evaluate(body, env)
                except Undecided:
                    continue
                except Refused:
                    return None
            if is_number(value):
                return value
            found = value
            break
    return found


def finite_somewhere(answer: Tree) -> bool:
    """Whether an expression has a finite value at a point."""
    value = _value(answer)
    return value is not None and is_number(value)


def _environments(node: Tree) -> Iterator[tuple[Environment, Tree]]:
    generated = sorted({part for part in walk(node) if isinstance(part, tuple) and part[0] == "C" and len(part) == 2 and isinstance(part[1], int)}, key=str)
    called = {part[0] for part in walk(node) if isinstance(part, tuple) and is_call(part[0], "C")}
    body = node
    for constant in generated:
        if constant not in called:
            body = replace(body, constant, f"C[{constant[1]}]")
    names = sorted(free_symbols(body))
    for values in TRIED if names else TRIED[:1]:
        chosen: dict[str, Value] = {name: values[i % len(values)] + i // len(values) for i, name in enumerate(names)}
        yield Environment.of(chosen), body
