"""Expressions of the language: just enough to write a pair, differentiate it and enclose it.

This shares nothing with the checker on purpose: two hands that make the same mistake would hide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Expression:
    """A number (head "number"), a symbol (head "symbol"), or a head applied to arguments."""

    head: str
    args: tuple[Expression, ...] = ()
    number: Fraction = Fraction(0)
    name: str = ""

    def __add__(self, other: Expression | int | Fraction) -> Expression:
        return plus(self, expression(other))

    def __radd__(self, other: int | Fraction) -> Expression:
        return plus(expression(other), self)

    def __sub__(self, other: Expression | int | Fraction) -> Expression:
        return plus(self, -expression(other))

    def __rsub__(self, other: int | Fraction) -> Expression:
        return plus(expression(other), -self)

    def __neg__(self) -> Expression:
        return times(expression(-1), self)

    def __mul__(self, other: Expression | int | Fraction) -> Expression:
        return times(self, expression(other))

    def __rmul__(self, other: int | Fraction) -> Expression:
        return times(expression(other), self)

    def __truediv__(self, other: Expression | int | Fraction) -> Expression:
        return times(self, power(expression(other), expression(-1)))

    def __rtruediv__(self, other: int | Fraction) -> Expression:
        return times(expression(other), power(self, expression(-1)))

    def __pow__(self, other: Expression | int | Fraction) -> Expression:
        return power(self, expression(other))

    def __str__(self) -> str:
        return written(self, 0)


def expression(value: Expression | int | Fraction) -> Expression:
    return value if isinstance(value, Expression) else Expression("number", number=Fraction(value))


def symbol(name: str) -> Expression:
    return Expression("symbol", name=name)


def apply(head: str, *args: Expression | int | Fraction) -> Expression:
    return Expression(head, tuple(expression(a) for a in args))


def function(head: str) -> Callable[..., Expression]:
    def build(*args: Expression | int | Fraction) -> Expression:
        return apply(head, *args)

    return build


X, Y, N, K, T = symbol("x"), symbol("y"), symbol("n"), symbol("k"), symbol("t")
PI, E = symbol("Pi"), symbol("E")
I = symbol("I")  # noqa: E741 (the imaginary unit)
ZERO, ONE = expression(0), expression(1)
Sin, Cos, Tan, Log, Sqrt, Abs = (function(h) for h in ("Sin", "Cos", "Tan", "Log", "Sqrt", "Abs"))
ArcTan, ArcSin, Sinh, Cosh, Erf, Zeta = (function(h) for h in ("ArcTan", "ArcSin", "Sinh", "Cosh", "Erf", "Zeta"))
UnitStep, Sign, Floor, ArcSinh = (function(h) for h in ("UnitStep", "Sign", "Floor", "ArcSinh"))


def Exp(argument: Expression) -> Expression:
    return power(E, argument)


def plus(*terms: Expression) -> Expression:
    flat: list[Expression] = []
    constant = Fraction(0)
    for term in terms:
        for part in term.args if term.head == "Plus" else (term,):
            if part.head == "number":
                constant += part.number
            else:
                flat.append(part)
    if constant or not flat:
        flat.append(expression(constant))
    return flat[0] if len(flat) == 1 else Expression("Plus", tuple(flat))


def times(*factors: Expression) -> Expression:
    flat: list[Expression] = []
    constant = Fraction(1)
    for factor in factors:
        for part in factor.args if factor.head == "Times" else (factor,):
            if part.head == "number":
                constant *= part.number
            else:
                flat.append(part)
    if constant == 0:
        return ZERO
    if constant != 1 or not flat:
        flat.insert(0, expression(constant))
    return flat[0] if len(flat) == 1 else Expression("Times", tuple(flat))


def power(base: Expression, exponent: Expression) -> Expression:
    if exponent == ONE:
        return base
    if exponent == ZERO:
        return ONE
    if base.head == "number" and exponent.head == "number" and exponent.number.denominator == 1 and base.number and abs(exponent.number) < 200:
        return expression(base.number**exponent.number.numerator)
    return Expression("Power", (base, exponent))


SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


def written(e: Expression, context: int) -> str:
    """The text of e; parentheses where the surrounding operator binds at least as tightly."""
    if e.head == "number":
        text = str(e.number)
        level = SUM if e.number < 0 else (PRODUCT if e.number.denominator > 1 else ATOM)
    elif e.head == "symbol":
        return e.name
    elif e.head == "Plus":
        text = written(e.args[0], SUM)
        for term in e.args[1:]:
            part = written(term, PRODUCT) if term.head == "Plus" else written(term, SUM - 1)
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
        level = SUM
    elif e.head == "Times":
        if e.args[0].head == "number" and e.args[0].number == -1:
            text, level = "-" + "*".join(written(a, PRODUCT) for a in e.args[1:]), SUM
        else:
            text, level = "*".join(written(a, PRODUCT if i or a.head != "number" else 0) for i, a in enumerate(e.args)), PRODUCT
            if e.args[0].head == "number" and e.args[0].number.denominator > 1:
                text = f"({e.args[0].number})*" + "*".join(written(a, PRODUCT) for a in e.args[1:])
            if text.startswith("-"):
                level = SUM
    elif e.head == "Power":
        text, level = f"{written(e.args[0], POWER)}^{written(e.args[1], POWER)}", POWER
    elif e.head == "List":
        return "{" + ", ".join(written(a, 0) for a in e.args) + "}"
    elif e.head in RELATIONS:
        text, level = f" {RELATIONS[e.head]} ".join(written(a, SUM - 1) for a in e.args), 0
    else:
        return f"{e.head}[{', '.join(written(a, 0) for a in e.args)}]"
    return f"({text})" if level <= context and level < ATOM and context else text


RELATIONS = {"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">=", "Equal": "=="}


def listed(items: Iterable[Expression | int | Fraction]) -> Expression:
    return apply("List", *items)


def matrix(rows: Iterable[Iterable[Expression | int | Fraction]]) -> Expression:
    return listed(listed(row) for row in rows)


def rules(solutions: Iterable[Mapping[str, Expression | int | Fraction | str]]) -> str:
    """A list of solutions: {{x -> 1}, {x -> 2}}."""
    return "{" + ", ".join("{" + ", ".join(f"{name} -> {value}" for name, value in s.items()) + "}" for s in solutions) + "}"


def substitute(e: Expression, name: str, value: Expression | int | Fraction) -> Expression:
    if e.head == "symbol":
        return expression(value) if e.name == name else e
    if e.head == "number":
        return e
    args = [substitute(a, name, value) for a in e.args]
    if e.head == "Power":
        return power(*args)
    if e.head == "Plus":
        return plus(*args)
    return times(*args) if e.head == "Times" else apply(e.head, *args)


def free_of(e: Expression, name: str) -> bool:
    return e.name != name and all(free_of(a, name) for a in e.args)


# The derivative of a function at its argument.
DERIVATIVES: dict[str, Callable[[Expression], Expression]] = {
    "Sin": Cos,
    "Cos": lambda u: -Sin(u),
    "Tan": lambda u: 1 / Cos(u) ** 2,
    "Log": lambda u: 1 / u,
    "Sqrt": lambda u: 1 / (2 * Sqrt(u)),
    "ArcTan": lambda u: 1 / (1 + u**2),
    "ArcSin": lambda u: 1 / Sqrt(1 - u**2),
    "ArcSinh": lambda u: 1 / Sqrt(1 + u**2),
    "Sinh": Cosh,
    "Cosh": Sinh,
    "Erf": lambda u: 2 * Exp(-(u**2)) / Sqrt(PI),
    "Abs": Sign,  # on the real line, off the kink
    "UnitStep": lambda u: ZERO,  # off the jump
    "Sign": lambda u: ZERO,
    "Floor": lambda u: ZERO,
}


def derivative(e: Expression, name: str) -> Expression:
    """d e / d name, as calculus writes it: not simplified beyond zeros, ones and numbers."""
    if e.head == "symbol":
        return ONE if e.name == name else ZERO
    if free_of(e, name):
        return ZERO
    if e.head == "Plus":
        return plus(*(derivative(a, name) for a in e.args))
    if e.head == "Times":
        return plus(*(times(*e.args[:i], derivative(a, name), *e.args[i + 1 :]) for i, a in enumerate(e.args)))
    if e.head == "Power":
        base, exponent = e.args
        if free_of(exponent, name):
            return exponent * base ** (exponent - 1) * derivative(base, name)
        if base == E:
            return e * derivative(exponent, name)
        return e * (derivative(exponent, name) * Log(base) + exponent * derivative(base, name) / base)
    return times(DERIVATIVES[e.head](e.args[0]), derivative(e.args[0], name))
