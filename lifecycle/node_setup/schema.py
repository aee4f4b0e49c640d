"""Checks of JSON values: each returns the value, or raises with its place, the finding and the allowed values."""

from __future__ import annotations

import re
from typing import Any, Pattern

from node_setup.errors import NodeSetupError

PATH = re.compile(r"(/[A-Za-z0-9_.@+-]+)+")


def check_object(where: str, value: Any, required: tuple[str, ...] | None = None, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object.

    :param required: the keys that it must have; by default any key is allowed.
    :param optional: the keys that it may have beside the required ones; none by default.
    """
    if not isinstance(value, dict):
        raise NodeSetupError(f"{where} is {value!r}, it must be an object")
    if required is None:
        return value
    allowed = required + optional
    for key in value:
        if key not in allowed:
            raise NodeSetupError(f"{where} has the unknown key {key!r}, allowed are {', '.join(allowed)}")
    for key in required:
        if key not in value:
            raise NodeSetupError(f"{where} lacks the key {key!r}")
    return value


def check_list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise NodeSetupError(f"{where} is {value!r}, it must be a list")
    return value


def check_text(where: str, value: Any) -> str:
    """A text of one line without control characters: most texts go into files of root."""
    if not isinstance(value, str) or not value:
        raise NodeSetupError(f"{where} is {value!r}, it must be a text, not empty")
    if not value.isprintable():
        raise NodeSetupError(f"{where} is {value!r}, it must be one line without control characters")
    return value


def check_lines(where: str, value: Any) -> str:
    if isinstance(value, str):
        check_text(where, re.sub(r"[\n\t]", " ", value))
        return value
    return check_text(where, value)


def check_word(where: str, value: Any, pattern: Pattern[str]) -> str:
    """A text without special characters, for files of root and for arguments of programs."""
    text = check_text(where, value)
    if not pattern.fullmatch(text):
        raise NodeSetupError(f"{where} is {text!r}, it must match {pattern.pattern}")
    return text


def check_path(where: str, value: Any) -> str:
    text = check_text(where, value)
    if not PATH.fullmatch(text) or {".", ".."} & {*text.split("/")}:
        raise NodeSetupError(
            f"{where} is {text!r}, it must be an absolute path without '..' and without '/' at its end, of letters, digits, _.@+-"
        )
    return text


def check_choice(where: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise NodeSetupError(f"{where} is {value!r}, allowed are {', '.join(allowed)}")
    return str(value)


def check_number(where: str, value: Any, minimum: int = 1, maximum: int | None = None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum or (maximum is not None and value > maximum):
        allowed = f"of at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
        raise NodeSetupError(f"{where} is {value!r}, it must be a whole number {allowed}")
    return value


def check_flag(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise NodeSetupError(f"{where} is {value!r}, it must be true or false")
    return value
