"""A template as written: JSON data of bounded size, from any source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs.templates.errors import TemplateError

Raw: TypeAlias = "str | int | float | bool | list[Raw] | dict[str, Raw] | None"

DEEPEST = 90
"""Most levels of nesting; no sensible template within CloudFormation's size limit comes near it."""

LARGEST = 300_000
"""Most values in a template. CloudFormation accepts 1 MB.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
"""


_SECTIONS = ("Conditions", "Mappings", "Outputs", "Parameters", "Rules")
"""What a template has beside its resources, entry by entry.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html
"""


def raw_template(document: object) -> dict[str, Raw]:
    """A template from parsed data; keys become strings.

    :raises TemplateError: if the data is not a mapping, nests too deeply, is too large (as with a self-containing alias), or
        contains a value outside JSON or half of a surrogate pair.
    """
    if not isinstance(document, Mapping):
        raise TemplateError(f"a template is a mapping with Resources, but this is {_kind(document)}")
    budget = Budget()
    template = {_key(key): _copied(item, 1, budget) for key, item in document.items()}
    resources = template.get("Resources")
    if not isinstance(resources, dict):
        found = "has none" if resources is None else f"has {_kind(resources)} there"
        raise TemplateError(f"a template is a mapping with a mapping Resources, but this one {found}")
    for name in _SECTIONS:
        if not isinstance(template.get(name), dict | None):
            raise TemplateError(f"{name} of a template is a mapping of names, but this is {_kind(template[name])}")
    return template


def walk(raw: Raw) -> Iterator[Raw]:
    """A value and everything inside it, in document order."""
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting.extend(reversed(value.values()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))


class Budget:
    """A limit on the number of values, counted down."""

    __slots__ = ("left",)

    def __init__(self, left: int = LARGEST) -> None:
        self.left = left

    def spend(self, values: int = 1) -> None:
        """Count values.

        :raises TemplateError: if the budget is exceeded.
        """
        self.left -= values
        if self.left < 0:
            raise TemplateError(f"has more than {LARGEST:,} values; CloudFormation accepts templates of up to 1 MB")


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
    raise TemplateError(f"contains {_kind(value)}, which a template cannot contain")


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return _text(key) if isinstance(key, str) else str(key)


def _text(value: str) -> str:
    """A string, once it is sure to be printable and writable."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TemplateError(f"contains half of a surrogate pair, which is not a character: {value[error.start]!a}") from error
    return value


def _kind(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean"}
    return "empty" if value is None else names.get(type(value), f"a {type(value).__name__}")


def has_function(raw: Mapping[str, Raw]) -> bool:
    """Whether a mapping holds a function, such as `Fn::ForEach`, which may add names."""
    return any(name.startswith("Fn::") for name in raw)
