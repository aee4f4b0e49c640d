"""The settings of an extension, which the API takes as a JSON text and merges into those it has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import OperationError

_MOST_CHARACTERS = 10_240


def parsed(text: str) -> dict[str, Any]:
    """The settings in a JSON text.

    :raises OperationError: for a text that is no JSON object.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise OperationError(f"property Configuration is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise OperationError("property Configuration is no JSON object")
    return found


def rendered(settings: Mapping[str, Any]) -> dict[str, str]:
    """The settings as the API takes them; none for the defaults.

    :raises OperationError: for a text beyond the service's limit.
    """
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    if len(text) > _MOST_CHARACTERS:
        raise OperationError(f"the settings have {len(text)} characters as JSON; allowed: {_MOST_CHARACTERS}")
    return {"ConfigurationValues": text} if settings else {}


def removed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are gone, each with null: a setting that an update omits would keep its value."""
    gone: dict[str, Any] = {}
    for name, value in before.items():
        if name not in after:
            gone[name] = None
        elif isinstance(value, Mapping) and isinstance(after[name], Mapping):
            inside = removed(value, after[name])
            if inside:
                gone[name] = inside
    return gone


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both, and where they meet, the second."""
    both = {**under, **over}
    for name in under.keys() & over.keys():
        if isinstance(under[name], Mapping) and isinstance(over[name], Mapping):
            both[name] = merged(under[name], over[name])
    return both
