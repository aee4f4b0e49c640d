"""File systems of which FSx makes no backups, and the selections of AWS Backup that surely take them by their tags.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html and
https://docs.aws.amazon.com/aws-backup/latest/devguide/assigning-resources.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.file_systems import LUSTRE, Lustre
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.facts.backups import OF_TAGS
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_LINK = "AWS::FSx::DataRepositoryAssociation"
_Tag: TypeAlias = tuple[str, str]


class Taken(NamedTuple):
    """A tag by which a selection takes file systems that have no backups.

    :param path: its place in the selection.
    """

    path: tuple[str | int, ...]
    tag: _Tag
    systems: Sequence[Resource]


def why_unsaved(system: Resource) -> str | None:
    """Why FSx makes no backups of a file system, in words; `None` if it does, or may."""
    lustre = Lustre(system) if system.type == FILE_SYSTEM else None
    if lustre is None:
        return None
    if system in _linked(system.template.model) or lustre.has("ImportPath"):
        return "is linked to a bucket"
    scratch = (lustre.deployment or "").startswith("SCRATCH") and lustre.from_backup is False
    return f"is of the type {lustre.deployment}" if scratch and as_str(system.get("FileSystemType")) == LUSTRE else None


def _linked(model: Model) -> frozenset[Resource]:
    """The file systems with a link that surely exists; computed once."""
    links = (one for one in model.resources(_LINK) if one.exists)
    return model.cached(_linked, lambda: frozenset(filter(None, (resource_of(one.get("FileSystemId")) for one in links))))


def taken_by_tags(selection: Resource) -> Iterator[Taken]:
    """The tags by which a selection surely takes file systems without backups: each of a list, or all conditions together."""
    if selection.get("BackupSelection", "NotResources") is not ABSENT or not _is_of_everything(selection):
        return
    listed, conditions = (selection.get("BackupSelection", name) for name in ("ListOfTags", "Conditions"))
    if conditions is ABSENT:
        for index, one in enumerate(as_items(listed) or ()):
            tag = _tag(one) if as_str(at(one, "ConditionType")) == "STRINGEQUALS" else None
            yield from _taken(("ListOfTags", index), selection, [tag])
    elif listed is ABSENT and isinstance(conditions, Mapping) and set(conditions) == {"StringEquals"}:
        found = [_tag(one, OF_TAGS) for one in as_items(conditions["StringEquals"]) or (None,)]
        yield from _taken(("Conditions", "StringEquals"), selection, found)


def _is_of_everything(selection: Resource) -> bool:
    """Whether the ARNs of a selection leave nothing out that its tags take."""
    resources = selection.get("BackupSelection", "Resources")
    return resources in (ABSENT, ()) or "*" in (as_items(resources) or ())


def _tag(condition: Value, begin: str = "") -> _Tag | None:
    """The tag that a condition is for; `None` if it is not known."""
    key, value = as_str(at(condition, "ConditionKey")), as_str(at(condition, "ConditionValue"))
    return (key.removeprefix(begin), value) if key is not None and key.startswith(begin) and value is not None else None


def _taken(path: tuple[str | int, ...], selection: Resource, tags: Sequence[_Tag | None]) -> Iterator[Taken]:
    """What a selection takes that has all of some tags."""
    first, tagged = tags[0], _by_tag(selection.template.model)
    if first is not None and None not in tags:
        others = [set(tagged.get(one, ())) for one in tags[1:] if one is not None]
        place = selection.template.environment
        near = [one for one in tagged.get(first, ()) if one.template.environment.is_beside(place)]
        systems = [one for one in near if all(one in other for other in others)]
        if systems:
            yield Taken(("BackupSelection", *path), first, systems)


def _by_tag(model: Model) -> Mapping[_Tag, Sequence[Resource]]:
    """The file systems without backups, by their tags; computed once."""
    return model.cached(_by_tag, lambda: grouped(_tags(model)))


def _tags(model: Model) -> Iterator[tuple[_Tag, Resource]]:
    for system in model.resources(FILE_SYSTEM):
        for one in as_items(system.get("Tags")) or () if system.exists and why_unsaved(system) else ():
            key, value = as_str(at(one, "Key")), as_str(at(one, "Value"))
            if key is not None and value is not None:
                yield (key, value), system
