"""JSON inside a property, such as the configuration of an add-on or the objects of a manifest.

Parts that only the deployment knows are holes inside strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Text, Value, joined, parts_of

_HOLE = "\ufffc"
_MOST = 500
_MARKS = tuple(map(chr, range(0xE200, 0xE200 + _MOST)))
_MARKED = re.compile(f"([{_MARKS[0]}-{_MARKS[-1]}])")
_LONGEST = 1 << 18
_MOST_VALUES = 20_000
_BETWEEN = re.compile(r"^---[ \t]*(?:#.*)?$", re.MULTILINE)
_SWITCHES = ("true", "false")
_SCALAR = re.compile(r"-?\d+(\.\d+)?|true|false")


def parsed(value: Value, *, yaml: bool = False) -> Any | None:
    """The data in a text; `None` for a value that is unknown as a whole, too long, or no JSON.

    :param yaml: whether YAML counts too.
    """
    parts = value.parts if isinstance(value, Text) else (value,)
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts)
    if isinstance(value, str | Text) and len(text) <= _LONGEST:
        try:
            return read_json(_quoted(text))
        except ValueError:
            return _from_yaml(text) if yaml else None
    return None


def documents_in(value: Value) -> Iterator[Any]:
    """The data of a text with documents in JSON or YAML, or of a value that is no text.

    A custom resource gets numbers and true as texts, so that in a value of the template they are holes.
    """
    if not isinstance(value, str | Text):
        yield _plain(value)
        return
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts_of(value))
    for document in _BETWEEN.split(text) if len(text) <= _LONGEST else ():
        yield parsed(document, yaml=True)


def _plain(value: Value) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not ABSENT}
    if isinstance(value, tuple):
        return [_plain(item) for item in value if item is not ABSENT]
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else _HOLE for part in value.parts)
    return value if isinstance(value, str) and not _SCALAR.fullmatch(value) else _HOLE


def settings_in(value: Value) -> Any | None:
    """The settings in a text of JSON or YAML, or of a value that is no text; `None` if they are unknown as a whole.

    CloudFormation hands true and false to a custom resource as texts: they count as what is written.
    """
    return _meant(value) if isinstance(value, Mapping) else parsed(value, yaml=True)


def _meant(value: Value) -> Any:
    if isinstance(value, Mapping):
        return {key: _meant(item) for key, item in value.items() if item is not ABSENT}
    if isinstance(value, tuple):
        return [_meant(item) for item in value if item is not ABSENT]
    if value in _SWITCHES:
        return value == _SWITCHES[0]
    return value if isinstance(value, bool) else _plain(value)


def values_in(value: Value) -> Value:
    """The data of a text in JSON as values of a template, in which references stay references; `UNKNOWN` for other texts.

    A value that is no text is its own data.
    """
    if not isinstance(value, str | Text):
        return value
    text, others = marked(value)
    try:
        return UNKNOWN if text is None else _restored(read_json(_quoted(text)), others)
    except ValueError:
        return UNKNOWN


def marked(value: str | Text) -> tuple[str | None, Mapping[str, Part]]:
    """A text with a mark for each part that is no characters, and the parts by their marks; none for a very long text."""
    parts = parts_of(value)
    others = [part for part in parts if not isinstance(part, str)]
    if len(others) > _MOST or sum(len(part) for part in parts if isinstance(part, str)) > _LONGEST:
        return None, {}
    marks = iter(_MARKS)
    return "".join(part if isinstance(part, str) else next(marks) for part in parts), dict(zip(_MARKS, others, strict=False))


def unmarked(text: str) -> list[str]:
    """The pieces of a text: characters and single marks."""
    return [one for one in _MARKED.split(text) if one] if _MARKED.search(text) else [text]


def is_mark(text: str) -> bool:
    """Whether a piece of a text is a mark."""
    return len(text) == 1 and _MARKS[0] <= text <= _MARKS[-1]


def _quoted(text: str) -> str:
    """A text in which marks and holes outside quotes, such as a number, have quotes of their own."""
    parts, quote, escaped = [], False, False
    for character in text if _MARKED.search(text) or _HOLE in text else ():
        bare = (_MARKS[0] <= character <= _MARKS[-1] or character == _HOLE) and not quote
        quote = quote ^ (character == '"' and not escaped)
        escaped = quote and character == "\\" and not escaped
        parts.append(f'"{character}"' if bare else character)
    return "".join(parts) or text


def _restored(data: Any, marked: Mapping[str, Part]) -> Value:
    """Parsed JSON as a value, with parts in the place of their marks."""
    if isinstance(data, dict):
        return {key: _restored(item, marked) for key, item in data.items()}
    if isinstance(data, list):
        return tuple(_restored(item, marked) for item in data)
    if isinstance(data, str) and marked:
        return joined(marked.get(piece, piece) for piece in _MARKED.split(data))
    return data if isinstance(data, str | int | float | bool) else None


def _from_yaml(text: str) -> Any | None:
    from hyperpod_constructs.templates.yaml_reading import parsed as parsed_yaml  # kept off the import path: few need it

    try:
        return parsed_yaml(text)
    except TemplateError:
        return None


def is_small(data: object) -> bool:
    """Whether data has few enough values to be walked: aliases of YAML repeat whole branches."""
    waiting, count = [data], 0
    while waiting and count <= _MOST_VALUES:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
    return count <= _MOST_VALUES


def has_hole(value: object) -> bool:
    """Whether only the deployment knows a value, or a part of it."""
    return isinstance(value, str) and _HOLE in value
