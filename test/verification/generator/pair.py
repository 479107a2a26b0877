"""A case: one input, answers that are right by construction, and answers that are proved wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from enclosure import different
from expression import Expression


@dataclass(frozen=True)
class Pair:
    family: str
    input: str
    answer: str
    right: bool
    origin: str  # how a right answer was made, how a wrong one was
    why: str  # the proof that a wrong answer is wrong; "" for a right one


class UnsoundError(Exception):
    """The generator contradicts itself: what it made right by construction is proved wrong."""


Where = Mapping[str, Fraction | int | tuple[Fraction, Fraction]]


@dataclass
class Case:
    family: str
    input: str
    pairs: list[Pair] = field(default_factory=list)

    def right(self, answer: Expression | str, origin: str) -> None:
        self.pairs.append(Pair(self.family, self.input, str(answer), True, origin, ""))

    def wrong(self, answer: Expression | str, origin: str, why: str | None) -> None:
        """Keep a wrong answer only with its proof."""
        if why is not None:
            self.pairs.append(Pair(self.family, self.input, str(answer), False, origin, why))

    def same(self, truth: Expression, answer: Expression, points: list[Where], origin: str) -> None:
        """A right answer that equals the truth by construction; the enclosures guard the generator."""
        against = different(truth, answer, points)
        if against:
            raise UnsoundError(f"{self.input}: {answer} is not {truth}: {against}")
        self.right(answer, origin)

    def unlike(self, truth: Expression, answer: Expression, points: list[Where], origin: str) -> None:
        self.wrong(answer, origin, different(truth, answer, points))


def held(case: Case, answer: Expression | str) -> None:
    """The answer inside Hold: no longer the value it holds."""
    case.wrong(f"Hold[{answer}]", "held", "Hold[…] is a held expression, and the answer is the value itself")


def small(r: Random, bound: int = 6) -> int:
    """A nonzero integer up to the bound."""
    return r.choice([-1, 1]) * r.randint(1, bound)


def rational(r: Random, bound: int = 6) -> Fraction:
    return Fraction(small(r, bound), r.choice([1, 1, 1, 2, 3, 5]))


# Points where a difference shows: near and far, of either sign, and off the real line where exponentials wrap.
REAL: list[Fraction] = [Fraction(v) for v in ("1/2", "7/3", "13/5", "11", "107/2", "1000003/3", "-3/5", "-7/2", "-41/3", "-2000001/7")]
COMPLEX: list[tuple[Fraction, Fraction]] = [(Fraction(a), Fraction(b)) for a, b in (("1/3", "5"), ("-2", "4"), ("3/7", "-9"), ("0", "16/5"), ("-5/2", "-1/3"))]
POSITIVE: list[Fraction] = [Fraction(v) for v in ("1/100", "1/2", "7/3", "13/5", "11", "107/2", "1000003/3")]


def line(name: str, values: list[Fraction] | None = None) -> list[Where]:
    return [{name: v} for v in (REAL if values is None else values)]


def plane(name: str) -> list[Where]:
    """Real points and points off the real line."""
    return line(name) + [{name: v} for v in COMPLEX]


def grid(names: list[str], r: Random, count: int = 12, values: list[Fraction] | None = None) -> list[Where]:
    pool = values or REAL
    return [{name: r.choice(pool) + Fraction(r.randint(0, 9), 7) for name in names} for _ in range(count)]
