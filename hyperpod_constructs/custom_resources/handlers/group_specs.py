"""Instance groups as `UpdateCluster` takes them, from the answer of `DescribeCluster`.

The service's model tells the members: of a request's shape, those that the answer has, under their own name or with `Desired` or
`Current` before it. So members that only the answer has are left out, and a member of a newer model needs no change here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from . import answers
from .errors import OperationError
from .wire.models import Shape
from .wire.times import moment

Path = tuple[str, ...]

KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
"""The members of a cluster with groups."""

DATE: Path = ("AutoPatchConfig", "PatchSchedule")
"""The service writes the date of the next patch by itself; one that has passed cannot be asked for."""

OTHER_NAMES: Mapping[str, str] = {"InstanceCount": "TargetCount", "MinInstanceCount": "MinCount"}
"""Members of a request that the answer calls otherwise."""

IMAGES = ("ImageId", "ImageReleaseVersion")
"""Members that the service fills in: sent back, they would tie a group to the image that it has now."""


def group_requests(shape: Shape, cluster: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The groups of an answer by kind, as requests; those that the service deletes are left out.

    :param shape: what `UpdateCluster` takes; botocore's shape will do too.
    :raises OperationError: if the answer has no groups, or a group lacks what a request needs.
    """
    if not isinstance(cluster.get(KINDS[0]), list):
        raise OperationError(f"DescribeCluster: the answer has no {KINDS[0]}; nothing was changed")
    found: dict[str, list[dict[str, Any]]] = {}
    for kind in KINDS:
        groups = [group for group in answers.structures(cluster, kind) if answers.text(group, "Status") != "Deleting"]
        found[kind] = as_request(shape.members[kind], groups, kind)
    return found


def as_request(shape: Shape, answer: Any, where: str) -> Any:
    """A part of an answer as a request of the shape has it.

    :param where: the part, for a message.
    :raises OperationError: if a member is missing that the request needs.
    """
    if shape.type_name == "structure" and isinstance(answer, Mapping):
        found = {}
        for name, member in shape.members.items():
            value = _source(name, answer)
            if value is not None and not _empty(member, value):
                found[name] = as_request(member, value, f"{where}.{name}")
        missing = [name for name in shape.required_members if name not in found]
        if missing:
            raise OperationError(f"DescribeCluster: {where} has no {missing[0]} in the answer; nothing was changed")
        return found
    if shape.type_name == "list" and isinstance(answer, list):
        return [as_request(shape.member, item, where) for item in answer]
    return answer


def converted(shape: Shape, value: Any, where: str) -> Any:
    """A property with the types of the shape: CloudFormation sends numbers and booleans as texts.

    :raises OperationError: for a value or a member that the shape does not have.
    """
    if shape.type_name == "structure" and isinstance(value, Mapping):
        unknown = [name for name in value if name not in shape.members]
        if unknown:
            raise OperationError(f"property {where} has {unknown[0]}; allowed: {', '.join(shape.members)}")
        return {name: converted(shape.members[name], item, f"{where}.{name}") for name, item in value.items()}
    if shape.type_name == "list" and isinstance(value, list):
        return [converted(shape.member, item, where) for item in value]
    try:
        if shape.type_name in ("integer", "long"):
            return int(str(value))
        if shape.type_name == "timestamp":
            return moment(value)
        if shape.type_name == "boolean":
            return {"true": True, "false": False}[str(value).lower()]
        if shape.type_name == "string" and isinstance(value, str):
            return value
    except (ValueError, KeyError, TypeError):
        pass
    raise OperationError(f"property {where} is {value!r}; allowed: a value of the type {shape.type_name}")


def with_fields(spec: Mapping[str, Any], fields: Mapping[str, Any], now: float) -> dict[str, Any]:
    """A group with fields of ours: members of structures are set, and items of lists are added; the rest stays."""
    return _dated(_merged(spec, fields), now)


def without_fields(
    spec: Mapping[str, Any], fields: Mapping[str, Any], wanted: Mapping[str, Any], defaults: Mapping[Path, Any]
) -> dict[str, Any]:
    """A group in which fields of ours are as if nobody had set them, where they still have our values.

    :param wanted: the fields that stay ours.
    :param defaults: the service's defaults of fields; a field without one is left out.
    """
    kept: dict[str, Any] = _plain(spec)
    stays = leaves(wanted)
    for path, value in leaves(fields).items():
        if path not in stays and at(kept, path) == value:
            _reset(kept, path, defaults)
        elif isinstance(value, list):
            others = [item for item in at(kept, path) or [] if item not in value or item in (stays.get(path) or [])]
            _put(kept, path, others or None)
    return kept


def differences(spec: Mapping[str, Any], fields: Mapping[str, Any]) -> list[str]:
    """The fields that are not as we have set them, each as a sentence's part."""
    found = []
    for path, value in leaves(fields).items():
        now = at(spec, path)
        if path[:2] == DATE or now == value or (isinstance(value, list) and set(value) <= set(now or [])):
            continue
        found.append(f"{'.'.join(path)} was {value} and is {'not set' if now is None else now}")
    return found


def leaves(fields: Mapping[str, Any], above: Path = ()) -> dict[Path, Any]:
    """Every value by its path; a list is one value."""
    found: dict[Path, Any] = {}
    for name, value in fields.items():
        found |= leaves(value, (*above, name)) if isinstance(value, Mapping) and value else {(*above, name): value}
    return found


def at(spec: Any, path: Path) -> Any:
    """The value at a path; `None` without one."""
    for name in path:
        spec = spec.get(name) if isinstance(spec, Mapping) else None
    return spec


def _source(name: str, answer: Mapping[str, Any]) -> Any:
    names = (name, f"Desired{name}", f"Current{name}", OTHER_NAMES.get(name, name))
    return next((answer[each] for each in names if answer.get(each) is not None), None)


def _empty(shape: Shape, value: Any) -> bool:
    """Whether a value is empty where the request takes none."""
    sized = shape.type_name in ("list", "map", "string")
    return sized and not value and int(shape.metadata.get("min", 0)) > 0


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    both = {**under, **over}
    for name, value in over.items():
        before = under.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            both[name] = _merged(before, value)
        elif isinstance(value, list) and isinstance(before, list) and not any(isinstance(item, Mapping) for item in value):
            both[name] = [*before, *(item for item in value if item not in before)]
    return both


def _dated(spec: Mapping[str, Any], now: float) -> dict[str, Any]:
    """The group without a date of the next patch that has passed."""
    date = at(spec, (*DATE, "NextPatchDate"))
    dated: dict[str, Any] = _plain(spec)
    if isinstance(date, datetime) and date.timestamp() <= now:
        del dated[DATE[0]][DATE[1]]
    return dated


def _reset(kept: dict[str, Any], path: Path, defaults: Mapping[Path, Any]) -> None:
    if path[:2] == DATE:
        return
    above = next((path[:length] for length in range(1, len(path)) if defaults.get(path[:length], ...) is None), None)
    _put(kept, above or path, None if above else defaults.get(path))


def _put(kept: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        kept = kept.get(name, {})
    if value is None:
        kept.pop(path[-1], None)
    else:
        kept[path[-1]] = value


def _plain(value: Any) -> Any:
    """A copy of structures and lists."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
