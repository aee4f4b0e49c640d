"""Checks of values read from JSON: each returns the value, or raises with its place, what was found and what is allowed."""

from __future__ import annotations

from typing import Any

from node_setup.errors import NodeSetupError


def check_object(where: str, value: Any, required: tuple[str, ...] | None = None, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object; with ``required``, one with these keys and no others but ``optional``."""
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
    if not isinstance(value, str) or not value:
        raise NodeSetupError(f"{where} is {value!r}, it must be a text that is not empty")
    return value


def check_path(where: str, value: Any) -> str:
    text = check_text(where, value)
    if not text.startswith("/") or text.endswith("/") or ".." in text.split("/"):
        raise NodeSetupError(f"{where} is {text!r}, it must be an absolute path without '..' and without '/' at its end")
    return text


def check_choice(where: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise NodeSetupError(f"{where} is {value!r}, allowed are {', '.join(allowed)}")
    return str(value)


def check_number(where: str, value: Any, minimum: int = 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise NodeSetupError(f"{where} is {value!r}, it must be a whole number of at least {minimum}")
    return value


def check_flag(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise NodeSetupError(f"{where} is {value!r}, it must be true or false")
    return value
