"""``config.json``: what the constructs tell the node, schema version 1.

{"version": 1,
 "groups": {"controller": {"node_type": "Controller"}, "workers": {"node_type": "Compute", "partition": "workers"}},
 "mounts": {"workers": [{"type": "lustre", "path": "/fsx", "dns_name": "fs-…", "mount_name": "…"}]}}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from node_setup.errors import NodeSetupError, read_json

VERSION = 1
NODE_TYPES = ("Controller", "Login", "Compute")
MOUNT_KEYS = {
    "lustre": ("type", "path", "dns_name", "mount_name"),
    "openzfs": ("type", "path", "dns_name"),
}
OPENZFS_VOLUME = "fsx"


class Group(NamedTuple):
    node_type: str
    partition: str | None


class Mount(NamedTuple):
    """A file system that the service mounts: ``export`` is what stands after the host in the mount's source."""

    type: str
    path: str
    dns_name: str
    export: str


class Config(NamedTuple):
    groups: dict[str, Group]
    mounts_by_group: dict[str, list[Mount]]

    def mounts(self, group: str) -> list[Mount]:
        return self.mounts_by_group.get(group, [])


def read_config(path: Path) -> Config:
    """The configuration in that file. Raises :class:`NodeSetupError` when it is missing or not of the schema."""
    document = read_json(path)
    try:
        return _config(document)
    except NodeSetupError as error:
        raise NodeSetupError(f"{path}: {error}") from error


def _config(document: Any) -> Config:
    _object("the document", document, required=("version", "groups"), optional=("mounts",))
    if document["version"] != VERSION:
        raise NodeSetupError(f"version is {document['version']!r}, these scripts read {VERSION}")
    _object("groups", document["groups"])
    _object("mounts", document.get("mounts", {}))
    groups = {name: _group(f"groups.{name}", value) for name, value in document["groups"].items()}
    if not groups:
        raise NodeSetupError("groups is empty, at least one is needed")
    mounts = {name: _mounts(f"mounts.{name}", value) for name, value in document.get("mounts", {}).items()}
    for name in mounts:
        if name not in groups:
            raise NodeSetupError(f"mounts.{name} is of no group; groups are {', '.join(groups)}")
    return Config(groups, mounts)


def _group(where: str, value: Any) -> Group:
    _object(where, value, required=("node_type",), optional=("partition",))
    if value["node_type"] not in NODE_TYPES:
        raise NodeSetupError(f"{where}.node_type is {value['node_type']!r}, allowed are {', '.join(NODE_TYPES)}")
    partition = value.get("partition")
    return Group(value["node_type"], None if partition is None else _text(f"{where}.partition", partition))


def _mounts(where: str, value: Any) -> list[Mount]:
    if not isinstance(value, list):
        raise NodeSetupError(f"{where} is {value!r}, it must be a list")
    return [_mount(f"{where}[{index}]", entry) for index, entry in enumerate(value)]


def _mount(where: str, value: Any) -> Mount:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind not in MOUNT_KEYS:
        raise NodeSetupError(f"{where}.type is {kind!r}, allowed are {', '.join(MOUNT_KEYS)}")
    _object(where, value, required=MOUNT_KEYS[kind])
    texts = {key: _text(f"{where}.{key}", value[key]) for key in MOUNT_KEYS[kind]}
    return Mount(kind, texts["path"], texts["dns_name"], texts.get("mount_name", OPENZFS_VOLUME))


def _object(where: str, value: Any, required: tuple[str, ...] | None = None, optional: tuple[str, ...] = ()) -> None:
    """``value`` must be an object; with ``required``, one with these keys and no others but ``optional``."""
    if not isinstance(value, dict):
        raise NodeSetupError(f"{where} is {value!r}, it must be an object")
    if required is None:
        return
    allowed = required + optional
    for key in value:
        if key not in allowed:
            raise NodeSetupError(f"{where} has the unknown key {key!r}, allowed are {', '.join(allowed)}")
    for key in required:
        if key not in value:
            raise NodeSetupError(f"{where} lacks the key {key!r}")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise NodeSetupError(f"{where} is {value!r}, it must be a text that is not empty")
    return value
