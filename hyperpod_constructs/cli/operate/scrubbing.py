"""Secrets taken out of what leaves the account, and counted by class: in texts, in structures, and in logs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hyperpod_constructs.cli.operate.listing import plain_data
from hyperpod_constructs.custom_resources.handlers.redaction import MASK, REACH, redact
from hyperpod_constructs.custom_resources.handlers.redaction.assignments import without_assignments

_NAMES, _VALUES = ("Name", "Key", "ParameterKey", "name", "key"), ("Value", "ParameterValue", "value")
_PROBED = 1000
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_LONG = re.compile(r"[A-Za-z0-9]{40,}")
_STAND_IN = re.compile(r"\(name ([0-9]+)\)")
_LONGEST_KEY = 200
"""The most lines of a private key."""


class Scrubber:
    """Masks secrets, and counts them.

    :ivar counts: the masked secrets by class.
    :ivar shortened: the texts that have lost their middle, because a line of them is very long.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.shortened = 0
        self._names: Collection[str] = ()

    def text(self, text: str) -> str:
        """A text of any length. Only a very long line loses its middle."""
        return "".join(self._redacted(piece) for piece in _pieces(text))

    def data(self, value: object, names: Collection[str] = ()) -> Any:
        """A structure as plain data, with each text scrubbed. A value is masked too if its name says that it is a secret.

        :param names: words that are no secrets, however random they look.
        """
        self._names = names
        try:
            return self._value(plain_data(value))
        finally:
            self._names = ()

    def _redacted(self, text: str) -> str:
        self.shortened += len(text) > 2 * REACH
        known: list[str] = []

        def stand_in(found: re.Match[str]) -> str:
            if found[0] not in self._names:
                return found[0]
            known.append(found[0])
            return f"(name {len(known) - 1})"

        if not self._names:
            return redact(text, self.counts)
        clean = redact(_LONG.sub(stand_in, text), self.counts)
        return _STAND_IN.sub(lambda found: known[int(found[1])] if int(found[1]) < len(known) else found[0], clean)

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            members: dict[str, Any] = {}
            for key, item in self._members(value):
                members[key if key not in members else f"{key} {len(members)}"] = item
            return members
        if isinstance(value, list):
            lines = Lines(self)
            return [lines.scrubbed("", item) if isinstance(item, str) else self._value(item) for item in value]
        return value

    def _members(self, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The members of a structure; its `Name`, if it has one, names its `Value`."""
        named = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")
        for key, item in value.items():
            names = () if key in _NAMES else (key, named) if key in _VALUES else (key,)
            secret = isinstance(item, str) and any(self._masks(name, item) for name in names)
            yield self.text(key), MASK if secret else self._value(item)

    def _masks(self, name: str, value: str) -> bool:
        """Whether a value is a secret by its name; it is then counted."""
        masked = f'"{name}": "{MASK}'
        # A header's value ends with its line, so the probe is one.
        probe = f'"{name}": {json.dumps(" ".join(value[:_PROBED].split()))}'
        counts: dict[str, int] = {}
        if probe.startswith(masked) or not without_assignments(probe, counts).startswith(masked):
            return False
        for kind, number in counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
        return True


class Lines:
    """The lines of several streams, scrubbed. A private key may reach over many of them."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._keys: dict[str, int] = {}

    def scrubbed(self, stream: str, line: str) -> str:
        """The next line of a stream."""
        within = self._keys.pop(stream, None)
        ends = _END.search(line)
        if within is not None and within < _LONGEST_KEY:
            if ends is None:
                self._keys[stream] = within + 1
                return MASK
            line = MASK + line[ends.end() :].lstrip("-")
        begins = list(_BEGIN.finditer(line))
        if begins and _END.search(line, begins[-1].end()) is None:
            self._keys[stream] = 0
        return self._scrubber.text(line)


def _pieces(text: str) -> Iterator[str]:
    """Whole lines together, as long as `redact` takes them without a cut."""
    if len(text) <= 2 * REACH:
        yield text
        return
    piece = ""
    for line in text.splitlines(keepends=True):
        if piece and len(piece) + len(line) > 2 * REACH:
            yield piece
            piece = ""
        piece += line
    yield piece
