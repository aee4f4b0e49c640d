"""ARNs and references of another service than the name of their property says, and regions and zones that are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.analysis.arn_kinds import other_kind
from hyperpod_constructs.analysis.schema.violation import Kind, Path, Violation, quoted
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.arn_forms import kinds_of
from hyperpod_constructs.facts.arn_properties import (
    ACCOUNT,
    REGION,
    ZONE,
    ArnProperty,
    arn_property,
    is_no_account,
    is_no_key,
    is_no_region,
    is_no_zone,
)
from hyperpod_constructs.facts.property_schemas import Schema
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference, Text, Value

_HOLE = "\ufffc"
_KIND = re.compile(r"arn:[^:]*:([a-z0-9-]+):[^:]*:[^:]*:([A-Za-z_-]+)([/:])")
_ACCOUNT = re.compile(rf"\d{{12}}|aws|\*|.*{_HOLE}.*|")

_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], bool], str], ...] = (
    (REGION, is_no_region, "a region such as us-west-2"),
    (ZONE, is_no_zone, "a zone such as us-west-2a"),
    (ACCOUNT, is_no_account, "an account of 12 digits"),
)
"""Names of properties, when a text is none of theirs, and what they take."""


def arn_violations(schema: Schema, value: Value) -> Iterator[Violation]:
    """The values of a type's properties that surely are of another service than their names say; free data is not searched."""
    waiting: list[tuple[Mapping[str, Any], Value, Path, ArnProperty | None]] = [(schema, value, (), None)]
    definitions = schema.get("definitions", {})
    while waiting:
        node, current, path, wanted = waiting.pop()
        node = definitions.get(node["$ref"], {}) if "$ref" in node else node
        if isinstance(current, Mapping):
            known = node.get("properties", {})
            waiting += [
                (known[key], one, (*path, key), arn_property(key)) for key, one in current.items() if _is_node(known.get(key))
            ]
            yield from _of_numbers_and_places({key: one for key, one in current.items() if key in known}, path)
        elif isinstance(current, tuple) and isinstance(node.get("items"), Mapping):
            waiting += [(node["items"], one, (*path, index), wanted) for index, one in enumerate(current)]
        else:
            found = [*_of_kind(current, path)]
            yield from _of(wanted, current, path) if wanted is not None and not found else found


def _of_numbers_and_places(value: Mapping[str, Value], path: Path) -> Iterator[Violation]:
    """Regions, zones and numbers of accounts that are none."""
    for key, given in value.items():
        for name, is_none, allowed in _FORMS:
            places = list(enumerate(given)) if isinstance(given, tuple) else [(None, given)]
            for index, one in places if name.search(key) else ():
                if isinstance(one, str) and is_none(one):
                    place = (*path, key) if index is None else (*path, key, index)
                    yield Violation(Kind.VALUE, place, f"{key} is {quoted(one)}", one, allowed)


def _of_kind(value: Value, path: Path) -> Iterator[Violation]:
    """ARNs with nearly the word of their service before the name, such as `filesystem/`, and with that of another kind."""
    text = _spelled(value) if isinstance(value, str | Text) else ""
    found = _KIND.match(text)
    near = typo_of(found[2], kinds_of(found[1])) if found else None
    if found and near is not None:
        message = f"{found[1]} has no {found[2]}; the nearest is {near}"
        yield Violation(Kind.VALUE, path, message, value, f"an ARN with {near}{found[3]}")
    other = other_kind(value) if text else None
    if other is not None:
        yield Violation(Kind.REFERENCE, path, other[0], value, f"an ARN of {other[1]}")


def _spelled(value: str | Text) -> str:
    """The characters of a text, with holes."""
    return "".join(part if isinstance(part, str) else _HOLE for part in (value.parts if isinstance(value, Text) else (value,)))


def _is_node(node: object) -> bool:
    return isinstance(node, Mapping) and not node.get("readOnly")


def _of(wanted: ArnProperty, value: Value, path: Path) -> Iterator[Violation]:
    name = next(str(one) for one in reversed(path) if isinstance(one, str))
    allowed = f"{wanted.words} of {' or '.join(wanted.services)}"
    if isinstance(value, Reference):
        target = target_of(value)
        service, given = ARN_SOURCES.get(target.type, ("", ()))
        if (value.attribute or "Ref") in given and service not in wanted.services:
            message = f"{name} is the ARN of {target.logical_id}, an {target.type}"
            yield Violation(Kind.REFERENCE, path, message, value, allowed)
    elif isinstance(value, str | Text) and _is_other(wanted, value):
        yield Violation(Kind.VALUE, path, f"{name} is {quoted(value)}", value, allowed)


def _is_other(wanted: ArnProperty, value: str | Text) -> bool:
    """Whether a text is an ARN of another service, or of another kind, or with an account that is none, or no key."""
    text = _spelled(value)
    fields = text.split(":", 5)
    if "{{resolve:" in text or fields[0] != "arn" or len(fields) < 6:
        return "kms" in wanted.services and is_no_key(text)
    _, _, service, _, account, resource = fields
    known = _HOLE not in service and _HOLE not in resource[: len(wanted.begins)]
    wrong = service not in wanted.services or not resource.startswith(wanted.begins)
    return (known and wrong) or _ACCOUNT.fullmatch(account) is None
