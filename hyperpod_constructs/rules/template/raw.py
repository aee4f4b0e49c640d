"""A template as it was written: JSON data of bounded size, whatever it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs.rules.template.errors import TemplateError

Raw: TypeAlias = "str | int | float | bool | list[Raw] | dict[str, Raw] | None"

DEEPEST = 90
"""Levels of nesting that a template can have; CloudFormation's own limit on size allows no sensible template near it."""

LARGEST = 300_000
"""Values that a template can hold. CloudFormation takes 1 MB (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html)."""


def raw_template(document: object) -> dict[str, Raw]:
    """A template from parsed data; keys become strings.

    :raises TemplateError: if it is no mapping, nests too deeply, is too large (an alias that is used in itself is), or holds
        something that JSON cannot, or a string that is no text.
    """
    if not isinstance(document, Mapping):
        raise TemplateError(f"a template is a mapping with Resources, but this is {_kind(document)}")
    budget = Budget()
    template = {_key(key): _copied(item, 1, budget) for key, item in document.items()}
    resources = template.get("Resources")
    if not isinstance(resources, dict):
        found = "has none" if resources is None else f"has {_kind(resources)} there"
        raise TemplateError(f"a template is a mapping with a mapping Resources, but this one {found}")
    return template


def walk(raw: Raw) -> Iterator[Raw]:
    """This value and all in it, in document order."""
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


class Budget:
    """Counts values down."""

    __slots__ = ("left",)

    def __init__(self, left: int = LARGEST) -> None:
        self.left = left

    def spend(self, values: int = 1) -> None:
        """Take some off.

        :raises TemplateError: if there are none left.
        """
        self.left -= values
        if self.left < 0:
            raise TemplateError(f"holds more than {LARGEST:,} values; CloudFormation takes templates of up to 1 MB")


def _copied(value: object, depth: int, budget: Budget) -> Raw:
    budget.spend()
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, int | float | bool):
        return value
    if depth > DEEPEST:
        raise TemplateError(f"nests more than {DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return {_key(key): _copied(item, depth + 1, budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(item, depth + 1, budget) for item in value]
    raise TemplateError(f"holds {_kind(value)}, which no template can")


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return _text(key) if isinstance(key, str) else str(key)


def _text(value: str) -> str:
    """A string that can be printed and written to a file."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TemplateError(f"holds half of a surrogate pair, which is no character: {value[error.start]!a}") from error
    return value


def _kind(value: object) -> str:
    names = {
        dict: "a mapping",
        list: "a list",
        str: "a string",
        int: "a number",
        float: "a number",
        bool: "a boolean",
        type(None): "empty",
    }
    return names.get(type(value), f"a {type(value).__name__}")
