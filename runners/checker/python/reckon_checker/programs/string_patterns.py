"""String patterns, as regular expressions: literal texts, single characters and their kinds, repetition, alternatives and names."""

from __future__ import annotations

import re
from typing import TypeAlias

from .. import budget
from ..tree import Refused
from .data import Str, Value, has_head, is_list, require

MAX_SEARCHED = 5000  # characters of a text that is searched for more than texts
KINDS = {
    "LetterCharacter": "[A-Za-z]",
    "DigitCharacter": "[0-9]",
    "WhitespaceCharacter": "[ \\t\\n\\r\\f\\v]",
    "Whitespace": "[ \\t\\n\\r\\f\\v]+",
    "WordCharacter": "[A-Za-z0-9]",
    "StartOfString": "\\A",
    "EndOfString": "\\Z",
}
OF_ANY_LENGTH = ("Repeated", "BlankSequence", "BlankNullSequence")
Found: TypeAlias = "tuple[int, int, dict[str, str]]"  # where it begins, where it ends, the names


class Finder:
    """Searches one text for one pattern."""

    def __init__(self, pattern: re.Pattern[str], searched: str) -> None:
        self._pattern, self._searched = pattern, searched

    def _taken(self, found: re.Match[str] | None) -> Found | None:
        return found and (found.start(), found.end(), {name: value or "" for name, value in found.groupdict().items()})

    def at(self, place: int) -> Found | None:
        return self._taken(self._pattern.match(self._searched, place))

    def first(self) -> Found | None:
        return self._taken(self._pattern.search(self._searched))

    def starts(self) -> bool:
        return self._pattern.match(self._searched) is not None

    def ends(self) -> bool:
        return any(self._pattern.fullmatch(self._searched, start) for start in range(len(self._searched) + 1))

    def whole(self) -> bool:
        return self._pattern.fullmatch(self._searched) is not None

    def without_overlaps(self) -> list[Found]:
        """One after the other from the left; a place where nothing is matched ends the search."""
        found = [place for match in self._pattern.finditer(self._searched) if (place := self._taken(match))]
        require(all(end > begin for begin, end, _ in found), "a pattern that matches nothing")
        return found


def finder_of(form: Value, searched: str) -> Finder:
    literal = isinstance(form, Str) or (has_head(form, "Alternatives", "List") and all(isinstance(part, Str) for part in form[1:]))
    require(literal or (searched.isascii() and len(searched) <= MAX_SEARCHED), "patterns in a long text")
    written = _written(form, set(), 0)
    require(written.count("+") + written.count("*") <= 3, "patterns of any length")
    budget.step(1 + len(searched) * (1 if literal else 8) // 8)
    if written.count("+") + written.count("*") > 1:
        budget.step(len(searched) ** 2 // 8)
        require(len(searched) <= MAX_SEARCHED // 10, "patterns in a long text")
    return Finder(re.compile(written, re.DOTALL), searched)


def _written(form: Value, names: set[str], depth: int) -> str:
    if isinstance(form, Str):
        require(form.text != "", "a search for nothing")
        return re.escape(form.text).replace("+", "[+]").replace("\\[+]", "[+]").replace("\\*", "[*]").replace("[*]", "[\\x2a]").replace("[+]", "[\\x2b]")
    if isinstance(form, str) and form in KINDS:
        return KINDS[form]
    if not isinstance(form, tuple):
        raise Refused("a string pattern")
    head, parts = form[0], form[1:]
    if head in ("Alternatives", "List") and (head == "Alternatives" or is_list(form)):
        require(len(parts) > 0, "a string pattern")
        return "(?:" + "|".join(_written(part, names, depth) for part in parts) + ")"
    if head == "StringExpression":
        return "".join(_written(part, names, depth) for part in parts)
    if head == "Repeated" and len(parts) == 1:
        require(depth == 0 and not has_head(parts[0], *OF_ANY_LENGTH), "repetition in repetition")
        return "(?:" + _written(parts[0], names, depth + 1) + ")+"
    if head in ("Blank", "BlankSequence", "BlankNullSequence") and not parts:
        return {"Blank": ".", "BlankSequence": ".+", "BlankNullSequence": ".*"}[str(head)]
    if head == "Pattern" and depth == 0:
        name = parts[0]
        require(name not in names and name.isidentifier() and name.isascii(), "a name used twice")
        names.add(name)
        return f"(?P<{name}>{_written(parts[1], names, depth)})"
    raise Refused("a string pattern")
