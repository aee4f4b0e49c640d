"""Parses CloudFormation's YAML: short forms of functions, dates and odd numbers as strings, no duplicate keys.

It works on parser events. The constructors of pyyaml turn `2012-10-17` into a date, expand aliases without a limit, and let the
second of two equal keys win.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.raw import DEEPEST, LARGEST, Budget, Raw

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_BOOLEANS = {
    spelling: value
    for word, value in (("true", True), ("yes", True), ("on", True), ("false", False), ("no", False), ("off", False))
    for spelling in (word, word.capitalize(), word.upper())
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_MERGE = "<<"
_EVENTS = 3
"""Most parser events of one value: key, start and end."""


def parsed(text: str) -> Raw:
    """The single document of a YAML text, with functions in their long form.

    :raises TemplateError: if the text is not YAML, has several documents, nests too deeply, repeats a key, uses a collection as a
        key, or uses an undefined alias (such as an alias inside its own anchor).
    """
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise TemplateError(f"is not YAML: {error.problem or error.context}", line=line) from error
    except yaml.YAMLError as error:
        raise TemplateError(f"is not YAML: {str(error).splitlines()[0]}") from error
    return builder.result()


@dataclass(slots=True)
class _Frame:
    """A collection whose end is still to come."""

    tag: str | None
    anchor: str | None
    items: list[Raw] | None = None
    entries: dict[str, Raw] = field(default_factory=dict)
    merged: dict[str, Raw] = field(default_factory=dict)
    key: str | None = None


class _Builder:
    """Builds the document from events, with a stack of its own, so that no input overflows Python's."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._anchors: dict[str, Raw] = {}
        self._documents: list[Raw] = []
        self._budget = Budget(_EVENTS * LARGEST)

    def result(self) -> Raw:
        return self._documents[0] if self._documents else None

    def take(self, event: Any) -> None:
        self._budget.spend()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(line)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise TemplateError(f"alias *{event.anchor} is not defined here", line=line)
            self._place(self._anchors[event.anchor], line)
        elif isinstance(event, yaml.DocumentStartEvent) and self._documents:
            raise TemplateError("has a second YAML document; a template is a single one", line=line)

    def _scalar(self, event: Any, line: int) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.items is None and frame.key is None:
            self._open_key(frame, event.value, line)
            return
        value = event.value if event.tag or not event.implicit[0] else _plain(event.value)
        self._finish(_long_form(event.tag, value), event.anchor, line)

    def _open_key(self, frame: _Frame, key: str, line: int) -> None:
        if key in frame.entries:
            raise TemplateError(f"key {key!r} appears twice; one of the two would be lost", line=line)
        frame.key = key

    def _begin(self, event: Any, line: int) -> None:
        if len(self._frames) >= DEEPEST:
            raise TemplateError(f"nests more than {DEEPEST} levels deep", line=line)
        if self._frames and self._frames[-1].items is None and self._frames[-1].key is None:
            raise TemplateError("a key must be a string, but this one is a collection", line=line)
        self._frames.append(_Frame(event.tag, event.anchor, [] if isinstance(event, yaml.SequenceStartEvent) else None))

    def _end(self, line: int) -> None:
        frame = self._frames.pop()
        value: Raw = {**frame.merged, **frame.entries} if frame.items is None else frame.items
        self._finish(_long_form(frame.tag, value), frame.anchor, line)

    def _finish(self, value: Raw, anchor: str | None, line: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = value
        self._place(value, line)

    def _place(self, value: Raw, line: int) -> None:
        if not self._frames:
            self._documents.append(value)
            return
        frame = self._frames[-1]
        if frame.items is not None:
            frame.items.append(value)
        elif frame.key is None:
            self._open_key(frame, value if isinstance(value, str) else str(value), line)
        else:
            self._set(frame, frame.key, value, line)

    def _set(self, frame: _Frame, key: str, value: Raw, line: int) -> None:
        frame.key = None
        if key != _MERGE:
            frame.entries[key] = value
            return
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise TemplateError("<< merges mappings, but this value is not a mapping", line=line)
            self._budget.spend(len(source))
            for name, item in source.items():
                frame.merged.setdefault(name, item)


def _long_form(tag: str | None, value: Raw) -> Raw:
    if tag is None or not tag.startswith("!") or tag == "!":
        return value
    name = tag[1:]
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": value}


def _plain(text: str) -> Raw:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
