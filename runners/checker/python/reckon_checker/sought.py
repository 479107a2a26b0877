"""What a search says: that it found something, that there is proved to be nothing, or that not everything was seen.

A search that could not look everywhere has not found nothing. Only Found and Absent carry a verdict; what rests on Unseen is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, Union

T = TypeVar("T")


@dataclass(frozen=True)
class Found(Generic[T]):
    what: T


@dataclass(frozen=True)
class Absent:
    """There is proved to be nothing: by algebra, or by enclosures as the rule states."""

    exact: bool = True


@dataclass(frozen=True)
class Unseen:
    """Somewhere nothing was seen; why is for people."""

    why: str


Sought: TypeAlias = Union[Found[T], Absent, Unseen]
