"""The results of procedures. A refutation carries its proof; Verified exists for residual rules only, so that a sampled rule
cannot say it: its functions are typed Sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union

from .tree import Tree
from .tree import show as show_tree
from .values import Value
from .wording import apart, equation

NO_DIFFERENCE = "no difference was found"


@dataclass(frozen=True)
class Witness:
    """Why an answer is wrong: where, what the question comes to there and what the answer does. sides: the two are the sides of
    an equation that the answer is to fulfil; what: of what they are the values; place: of the entries in two lists;
    digits: that are shown at least."""

    expected: Value
    found: Value
    point: Mapping[str | tuple[Tree, ...], Value] = field(default_factory=dict)
    exact: bool = False
    note: str = ""
    sides: bool = False
    what: str = ""
    place: tuple[int, ...] = ()
    digits: int = 20

    def sentence(self) -> str:
        where = ", ".join(equation(name if isinstance(name, str) else show_tree(name), value) for name, value in sorted(self.point.items(), key=str))
        expected, found, off = apart(self.expected, self.found, self.digits)
        text = f"the sides are {expected} and {found}" if self.sides else f"{expected} is expected, the answer gives {found}"
        text += f", apart by {off}" if off and self.sides else f", which is off by {off}" if off else ""
        if self.place:
            text = f"entry {'.'.join(map(str, self.place))}: {text}"
        heads = [*([f"at {where}"] if where else []), *([self.what] if self.what else [])]
        return ", ".join(heads) + (": " if heads else "") + text + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class Statement:
    """Why an answer is wrong where no two numbers say it: a sentence that a reader can check, true by exact arithmetic or
    proved by enclosures as exact says."""

    text: str
    exact: bool = True

    def sentence(self) -> str:
        return self.text


@dataclass(frozen=True)
class Verified:
    """The statement that the rule shows is true: by exact algebra, or numerically as the rule states."""

    exact: bool
    residual: str = "0"


@dataclass(frozen=True)
class Supported:
    """An independent route agrees: support, not proof."""

    residual: str = NO_DIFFERENCE


@dataclass(frozen=True)
class Refuted:
    proof: Witness | Statement


@dataclass(frozen=True)
class Open:
    """Nothing was decided; why is for people."""

    why: str


Residual: TypeAlias = Union[Verified, Supported, Refuted, Open]
Sampled: TypeAlias = Union[Supported, Refuted, Open]


def as_reply(found: Residual) -> dict[str, Any]:
    """The finding as domain/verification reads it."""
    if isinstance(found, Verified):
        return {"status": "proved", "residual": found.residual, "exact": found.exact}
    if isinstance(found, Supported):
        return {"status": "agrees", "residual": found.residual, "exact": False}
    if isinstance(found, Refuted):
        return {"status": "refuted", "residual": found.proof.sentence(), "exact": found.proof.exact}
    return {"status": "open", "residual": "", "exact": False, "why": found.why}
