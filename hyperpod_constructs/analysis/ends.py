"""Ends of ways through properties: values in a resource, or in one that it names.

A way is a path such as `Rules/*/Bucket`: `*` is each item of a list. `[Type=S3]` is each item of which a property has that text, or
the object itself if it has; `Type` stands for any such property, `!Type` for none, and `&` is between several. `>` leads on in the
resource that the value names, as in `FunctionName>Role`. `.` is the resource itself, and `.Arn` its attribute.

    >>> [one.value for one in ends(schedule, "Target/RoleArn")]
    [${Role.Arn}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Absent, Either, Reference, Text, Unknown, Value, as_items, as_str, at

Path = tuple[str | int, ...]

_PROFILE, _VERSIONS = "AWS::IAM::InstanceProfile", ("AWS::Lambda::Alias", "AWS::Lambda::Version")


class End(NamedTuple):
    """A value at the end of a way.

    :param start: the place in the first resource.
    :param resource: where the value is written.
    :param path: its place there.
    """

    start: Path
    resource: Resource
    path: Path
    value: Value

    def goes_with(self, other: End) -> bool:
        """Whether two ends of ways from one resource belong together: they are in the same items of the lists that both pass."""
        for one, two in zip(self.start, other.start, strict=False):
            if one != two:
                return isinstance(one, str) or isinstance(two, str)
        return True


def ends(resource: Resource, way: str) -> Iterator[End]:
    """The ends of a way that lead to something."""
    first, *others = way.split(">")
    found = list(_here(resource, first, None))
    for path in others:
        found = [end for one in found for named in _named(one.value) for end in _here(named, path, one.start)]
    return iter(found)


def _here(resource: Resource, path: str, start: Path | None) -> Iterator[End]:
    if path.startswith("."):
        yield End(start or (), resource, (), Reference(resource, path[1:] or None))
        return
    for place, value in _values(resource.get(), path.split("/") if path else [], ()):
        yield End(place if start is None else start, resource, place, value)


def _values(value: Value, keys: Sequence[str], place: Path) -> Iterator[tuple[Path, Value]]:
    if not keys:
        if value is not ABSENT:
            yield place, value
        return
    first, *rest = keys
    if first.startswith("[") and isinstance(value, Mapping):
        if _is_chosen(value, first[1:-1]):
            yield from _values(value, rest, place)
    elif first == "*" or first.startswith("["):
        for index, item in enumerate(as_items(value) or ()):
            if first == "*" or _is_chosen(item, first[1:-1]):
                yield from _values(item, rest, (*place, index))
    else:
        yield from _values(at(value, first), rest, (*place, first))


def _is_chosen(item: Value, choices: str) -> bool:
    """Whether an item surely fits `Property=one|two&Other&!Third`; points lead to properties below."""
    return all(_fits(item, choice) for choice in choices.split("&"))


def _fits(item: Value, choice: str) -> bool:
    key, chosen, texts = choice.partition("=")
    found = at(item, *key.removeprefix("!").split("."))
    if key.startswith("!"):
        return found is ABSENT
    return as_str(found) in texts.split("|") if chosen else not isinstance(found, Absent | Either | Unknown) and found != ()


def _named(value: Value) -> Iterator[Resource]:
    """The resource that a value names; of an alias or a version the function."""
    found = target_of(value) if isinstance(value, Reference) else None
    if isinstance(value, Text) and len(value.references) == 1:
        found = target_of(value.references[0])
    if found is not None and found.type in _VERSIONS:
        yield from _named(found.get("FunctionName"))
    elif found is not None:
        yield found
