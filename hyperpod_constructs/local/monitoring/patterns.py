"""Patterns of metric filters and subscription filters: which log events match, and with which values.

Three forms: words, `{ $.field = value }` for JSON, and `[a, b = x, ...]` for words between spaces.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple


class Match(NamedTuple):
    """A matching event: its JSON, or its words by name."""

    record: Any
    words: Mapping[str, str]

    def value(self, reference: str) -> str | None:
        """The value of `$.field` or `$name`; any other text stands for itself."""
        if reference.startswith("$."):
            found = next(iter(_found(self.record, _path(reference))), None)
            return None if found is None or isinstance(found, dict | list) else str(found)
        return self.words.get(reference[1:]) if reference.startswith("$") else reference


class PatternError(ValueError):
    """A pattern of no form that CloudWatch Logs knows."""


Matcher = Callable[[str], Match | None]


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Matcher:
    """The matcher of a pattern.

    :raises PatternError: for a pattern that cannot be read.
    """
    text = pattern.strip()
    if text.startswith("{"):
        return partial(_match_json, _Reader(text).whole())
    if text.startswith("["):
        return partial(_match_fields, _fields(text))
    return partial(_match_words, *_words(text))


_WORD = re.compile(r'\s*([?-]?)(?:"((?:[^"\\]|\\.)*)"|%([^%]*)%|([^\s"]+))')


def _words(text: str) -> tuple[list[Any], list[Any], list[Any]]:
    """The words that must be there, those of which one must be there, and those that must not."""
    kinds: dict[str, list[Any]] = {"": [], "?": [], "-": []}
    position = 0
    while position < len(text):
        found = _WORD.match(text, position)
        if found is None:
            raise PatternError(f"{text!r} cannot be read from character {position}")
        position = found.end()
        kind, quoted, regular, bare = found.groups()
        plain = bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        kinds[kind].append(re.compile(regular) if regular is not None else plain)
    return kinds[""], kinds["?"], kinds["-"]


def _match_words(required: list[Any], optional: list[Any], excluded: list[Any], message: str) -> Match | None:
    def has(word: Any) -> bool:
        return word in message if isinstance(word, str) else word.search(message) is not None

    wanted = all(has(word) for word in required)
    if optional and not required and not excluded:  # beside others, the words with ? do not count
        wanted = any(has(word) for word in optional)
    return Match(None, {}) if wanted and not any(has(word) for word in excluded) else None


_CONDITION = re.compile(r"\s*(?:(?P<name>[\w.-]+|\.\.\.)\s*(?:(?P<operator>!=|>=|<=|=|<|>)\s*(?P<value>\"[^\"]*\"|\S+))?)\s*$")
_FIELD = re.compile(r'\[[^\]]*\]|"[^"]*"|\S+')


def _fields(text: str) -> list[Mapping[str, str | None]]:
    if not text.endswith("]"):
        raise PatternError(f"{text!r} has no ] at its end")
    found = [_CONDITION.match(part) for part in text[1:-1].split(",")]
    if not all(found):
        raise PatternError(f"{text!r}: each field is a name, or a name with one condition")
    return [one.groupdict() for one in found if one is not None]


def _match_fields(fields: list[Mapping[str, str | None]], message: str) -> Match | None:
    words = [word.strip('[]"') for word in _FIELD.findall(message)]
    names = [field["name"] for field in fields]
    if "..." in names:
        place = names.index("...")
        extra = len(words) - len(fields) + 1
        if extra < 0:
            return None
        words[place : place + extra] = ["..."]
    if len(words) != len(fields):
        return None
    fits = all(
        field["operator"] is None or _compared(word, field["operator"], str(field["value"]))
        for field, word in zip(fields, words, strict=True)
    )
    return Match(None, dict(zip(map(str, names), words, strict=True))) if fits else None


Condition = Callable[[Any], bool]
_TOKEN = re.compile(
    r"""\s*(?:(?P<field>\$(?:\.[\w-]+|\[(?:\d+|\*|'[^']*'|"[^"]*")\])*)|(?P<sign>&&|\|\||!=|>=|<=|[=<>(){}])"""
    r"""|(?P<regular>%[^%]*%)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[^\s(){}"&|=<>!]+))"""
)


class _Reader:
    """Reads a condition on JSON: `||` of `&&` of comparisons, with parentheses."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if found is None:
                raise PatternError(f"{text!r} cannot be read from character {position}")
            position = found.end()
            self._tokens.append((str(found.lastgroup), str(found[str(found.lastgroup)])))
        self._tokens.reverse()

    def whole(self) -> Condition:
        """The condition between the braces."""
        self._take("{")
        condition = self._either()
        self._take("}")
        if self._tokens:
            raise PatternError(f"{self._text!r} goes on after its }}")
        return condition

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._next() == "||":
            self._tokens.pop()
            parts.append(self._both())
        return lambda record: any(part(record) for part in parts)

    def _both(self) -> Condition:
        parts = [self._one()]
        while self._next() == "&&":
            self._tokens.pop()
            parts.append(self._one())
        return lambda record: all(part(record) for part in parts)

    def _one(self) -> Condition:
        if self._next() == "(":
            self._tokens.pop()
            condition = self._either()
            self._take(")")
            return condition
        kind, field = self._pop()
        if kind != "field":
            raise PatternError(f"{self._text!r} has {field!r} where $.FIELD belongs")
        path = _path(field)
        _, sign = self._pop()
        if sign in ("IS", "NOT"):
            return self._kind(path, sign)
        _, value = self._pop()
        return lambda record: any(_compared(found, sign, value) for found in _found(record, path))

    def _kind(self, path: list[str | int], sign: str) -> Condition:
        _, word = self._pop()
        if (sign, word) == ("NOT", "EXISTS"):
            return lambda record: not _found(record, path)
        if sign == "IS" and word in ("TRUE", "FALSE", "NULL"):
            wanted = {"TRUE": True, "FALSE": False, "NULL": None}[word]
            return lambda record: any(found is wanted for found in _found(record, path))
        raise PatternError(f"{self._text!r} has {sign} {word}; IS TRUE, IS FALSE, IS NULL and NOT EXISTS are known")

    def _next(self) -> str:
        return self._tokens[-1][1] if self._tokens else ""

    def _pop(self) -> tuple[str, str]:
        if not self._tokens:
            raise PatternError(f"{self._text!r} ends too early")
        return self._tokens.pop()

    def _take(self, wanted: str) -> None:
        _, found = self._pop()
        if found != wanted:
            raise PatternError(f"{self._text!r} has {found!r} where {wanted} belongs")


def _match_json(condition: Condition, message: str) -> Match | None:
    try:
        record = json.loads(message)
    except ValueError:
        return None
    return Match(record, {}) if isinstance(record, dict | list) and condition(record) else None


def _path(field: str) -> list[str | int]:
    parts = re.findall(r"""\.([\w-]+)|\[(\d+|\*)\]|\['([^']*)'\]|\["([^"]*)"\]""", field)
    return [int(index) if index.isdigit() else index or name or single or double for name, index, single, double in parts]


def _found(record: Any, path: list[str | int]) -> list[Any]:
    """The values at a path: several where it has `[*]`."""
    found = [record]
    for part in path:
        found = [value for one in found for value in _below(one, part)]
    return found


def _below(record: Any, part: str | int) -> list[Any]:
    if isinstance(record, dict):
        return [record[part]] if part in record else []
    if not isinstance(record, list):
        return []
    if part == "*":
        return record
    return [record[part]] if isinstance(part, int) and part < len(record) else []


_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
}


def _compared(found: Any, sign: str, value: str) -> bool:
    """Compare by number where both are one, else by text, in which `*` stands for any part."""
    wanted = value[1:-1] if value.startswith(('"', "%")) else value
    if value.startswith("%"):
        same = re.search(wanted, str(found)) is not None
        return same if sign == "=" else not same
    numbers = _number(found), _number(wanted)
    if sign in _NUMBERS:
        return None not in numbers and _NUMBERS[sign](*numbers)  # type: ignore[arg-type]
    same = numbers[0] == numbers[1] if None not in numbers else _like(str(found), wanted)
    return same if sign == "=" else not same


def _like(found: str, wanted: str) -> bool:
    return fnmatch.fnmatchcase(found, re.sub(r"([\[?])", r"[\1]", wanted))


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
