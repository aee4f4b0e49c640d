"""A text as it is spelled: parts that only the deployment knows are holes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.analysis.embedded import is_small
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.values import Text, Value, frozen

HOLE = "\ufffc"
"""The character that stands for a part which only the deployment knows."""

LONGEST = 1 << 17
"""Longer texts are believed."""
_LINE = re.compile(r"(\d+):")
_DEEPEST = 20


def spelled(value: Value) -> str | None:
    """The characters of a text, with holes; `None` for a value that is no text, or unknown as a whole, or very long."""
    if isinstance(value, Text):
        value = "".join(part if isinstance(part, str) else HOLE for part in value.parts)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return None if len(text) > LONGEST or "{{resolve:" in text else text


def known(value: Value) -> str | None:
    """The characters of a text without holes; `None` for any other value."""
    text = spelled(value)
    return None if text is None or HOLE in text else text


def is_open(value: Value) -> bool:
    """Whether a text has parts that only the deployment knows."""
    return isinstance(value, str) and HOLE in value


def texts_in(value: Value, depth: int = 0) -> Iterator[str]:
    """The texts in data; those that lie very deep are believed."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, Mapping | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item, depth + 1)


def shown_text(text: str) -> str:
    """A text in a sentence, a hole as `${?}`."""
    return quoted(text.replace(HOLE, "${?}"))


def place_of(text: str, position: int) -> str:
    """The place of a character, such as `line 2, column 5`; in a text of one line only the column."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"


def from_json(value: Value) -> Value | Slip:
    """The data of a text in JSON, or the mistake in it; `None` if it is not known."""
    text = spelled(value)
    if text is None or text.strip() == HOLE:
        return None
    try:
        return frozen(read_json(_without_bare_holes(text), object_pairs_hook=_object, parse_constant=_constant))
    except json.JSONDecodeError as error:
        where = place_of(text, min(error.pos, len(text)))
        return None if _may_be_mended(text, error) else Slip(f"the text is not JSON: {error.msg} at {where}", "a text in JSON")
    except TemplateError as error:
        return Slip(f"the text is not JSON: {error}", "a text in JSON")
    except ValueError:
        return None


def from_yaml(value: Value) -> Value | Slip:
    """The data of a text in YAML or JSON, or the mistake in it; `None` if it is not known."""
    text = spelled(value)
    if text is None or text.strip() == HOLE:
        return None
    try:
        from hyperpod_constructs.templates.yaml_reading import parsed  # few templates need it
    except ModuleNotFoundError:
        return None
    try:
        data = parsed(text)
        return frozen(data) if is_small(data) else None
    except TemplateError as error:
        return None if _may_be_filled(text, error) else Slip(f"the text {error}", "a text in YAML")


def _may_be_filled(text: str, error: TemplateError) -> bool:
    """Whether a hole may mend a text in YAML: a whole line of it, or one where the reader stops, or a line above."""
    line = _LINE.match(str(error))
    lines = text.splitlines()[: int(line[1]) if line is not None else None]
    return any(HOLE in one for one in lines[-2:] if line is not None) or any(
        HOLE in one and (line is None or one.strip(f"{HOLE} -") == "") for one in lines
    )


def _may_be_mended(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the holes of a text may make it JSON: those in quotes hold names, and those behind the mistake come too late."""
    before = text if error.msg.startswith("Unterminated") else text[: error.pos + 1]
    return _without_bare_holes(before) != before


def _without_bare_holes(text: str) -> str:
    """A hole outside quotes, such as a number, as a text: `{"a": HOLE}` is data with a hole."""
    if HOLE not in text:
        return text
    parts, quote, escaped = [], False, False
    for character in text:
        bare = character == HOLE and not quote
        quote = quote ^ (character == '"' and not escaped)
        escaped = quote and character == "\\" and not escaped
        parts.append(f'"{HOLE}"' if bare else character)
    return "".join(parts)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    names = [name for name, _ in pairs if HOLE not in name]
    if len({*names}) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise TemplateError(f"key {twice!r} is there twice")
    return found


def _constant(name: str) -> object:
    raise TemplateError(f"{name} is not a number")
