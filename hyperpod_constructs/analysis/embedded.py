"""JSON inside a property, such as the configuration of an add-on or the objects of a manifest.

Parts that only the deployment knows are holes inside strings.
"""

from __future__ import annotations

import json
from typing import Any

from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.values import Text, Value

_HOLE = "\ufffc"
_LONGEST = 1 << 18


def parsed(value: Value, *, yaml: bool = False) -> Any | None:
    """The data in a text; `None` for a value that is unknown as a whole, too long, or no JSON.

    :param yaml: whether YAML counts too.
    """
    parts = value.parts if isinstance(value, Text) else (value,)
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts)
    if isinstance(value, str | Text) and len(text) <= _LONGEST:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return _from_yaml(text) if yaml else None
    return None


def _from_yaml(text: str) -> Any | None:
    from hyperpod_constructs.templates.yaml_reading import parsed as parsed_yaml  # kept off the import path: few need it

    try:
        return parsed_yaml(text)
    except TemplateError:
        return None


def has_hole(value: object) -> bool:
    """Whether only the deployment knows a value, or a part of it."""
    return isinstance(value, str) and _HOLE in value
