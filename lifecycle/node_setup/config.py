"""`config.json`: the constructs' configuration for the node, schema version 1.

{"version": 1,
 "cluster": {"node_recovery": "Automatic", "orchestrator": "slurm"},
 "groups": {"controller": {"node_type": "Controller"}, "workers": {"node_type": "Compute", "partition": "workers", "gpus": true}},
 "mounts": {"workers": [{"type": "lustre", "path": "/fsx", "dns_name": "fs-…", "mount_name": "…", "efa_enabled": true}]},
 "software": {…},
 "scheduling": {…},
 "steps": […]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from node_setup.errors import NodeSetupError, read_json
from node_setup.own_steps import NODE_TYPES, OwnStep, parse_own_steps
from node_setup.scheduling import NOTHING, Scheduling, parse_scheduling
from node_setup.schema import check_choice, check_flag, check_list, check_object, check_path, check_text, check_word
from node_setup.software import HOST, Software, parse_software

VERSION = 1
NODE_RECOVERIES = ("Automatic", "None")
ORCHESTRATORS = ("slurm", "eks")
MOUNT_KEYS = {
    "lustre": ("type", "path", "dns_name", "mount_name"),
    "openzfs": ("type", "path", "dns_name"),
}
OPTIONAL_MOUNT_KEYS = {"lustre": ("efa_enabled",), "openzfs": ()}
OPENZFS_VOLUME = "fsx"


class Group(NamedTuple):
    """A group; on EKS it has neither node type nor partition."""

    node_type: str | None
    partition: str | None
    gpus: bool = False


class Mount(NamedTuple):
    """A file system that the service mounts.

    :param export: the part of the mount's source after the host.
    :param efa: whether the file system has EFA; false by default.
    """

    type: str
    path: str
    dns_name: str
    export: str
    efa: bool = False


class Config(NamedTuple):
    groups: dict[str, Group]
    mounts_by_group: dict[str, list[Mount]]
    node_recovery: str
    software: Software
    own_steps: list[OwnStep]
    on_eks: bool = False
    scheduling: Scheduling = NOTHING

    def mounts(self, group: str | None) -> list[Mount]:
        """The mounts of a group; for an unknown group, the mounts that all groups share."""
        if group is not None:
            return self.mounts_by_group.get(group, [])
        first, *others = self.groups
        return [mount for mount in self.mounts(first) if all(mount in self.mounts(other) for other in others)]


def read_config(path: Path) -> Config:
    """The configuration in a file.

    :raises NodeSetupError: if the file is missing or does not match the schema.
    """
    document = read_json(path)
    try:
        return parse_config(document)
    except NodeSetupError as error:
        raise NodeSetupError(f"{path}: {error}") from error


def parse_config(document: Any) -> Config:
    optional = ("cluster", "mounts", "software", "scheduling", "steps")
    check_object("the document", document, required=("version", "groups"), optional=optional)
    if document["version"] != VERSION:
        raise NodeSetupError(f"version is {document['version']!r}, these scripts read {VERSION}")
    cluster = check_object("cluster", document.get("cluster", {}), required=(), optional=("node_recovery", "orchestrator"))
    recovery = check_choice("cluster.node_recovery", cluster.get("node_recovery", "Automatic"), NODE_RECOVERIES)
    on_eks = check_choice("cluster.orchestrator", cluster.get("orchestrator", "slurm"), ORCHESTRATORS) == "eks"
    groups = {name: _group(f"groups.{name}", value, on_eks) for name, value in check_object("groups", document["groups"]).items()}
    if not groups:
        raise NodeSetupError("groups is empty, at least one is needed")
    mounts = {name: _mounts(f"mounts.{name}", value) for name, value in check_object("mounts", document.get("mounts", {})).items()}
    for name in mounts:
        if name not in groups:
            raise NodeSetupError(f"mounts.{name} belongs to no group; groups are {', '.join(groups)}")
    software = parse_software(document.get("software", {}))
    _check_shared(software, mounts)
    scheduling = parse_scheduling(document["scheduling"]) if "scheduling" in document else NOTHING
    return Config(groups, mounts, recovery, software, parse_own_steps(document.get("steps", [])), on_eks, scheduling)


def _check_shared(software: Software, mounts: dict[str, list[Mount]]) -> None:
    """Checks that shared folders are on a mounted file system: a local folder would differ from node to node."""
    paths = sorted({mount.path for entries in mounts.values() for mount in entries})
    for key, value in (("shared_directory", software.shared_directory), ("homes", software.homes)):
        if value is not None and not any(value == path or value.startswith(path + "/") for path in paths):
            raise NodeSetupError(
                f"software.{key} is {value!r}, which is outside all mounts; mounts are {', '.join(paths) or 'none'}"
            )


def _group(where: str, value: Any, on_eks: bool) -> Group:
    if on_eks:
        check_object(where, value, required=())
        return Group(None, None)
    check_object(where, value, required=("node_type",), optional=("partition", "gpus"))
    node_type = check_choice(f"{where}.node_type", value["node_type"], NODE_TYPES)
    partition = value.get("partition")
    gpus = check_flag(f"{where}.gpus", value.get("gpus", False))
    return Group(node_type, None if partition is None else check_text(f"{where}.partition", partition), gpus)


def _mounts(where: str, value: Any) -> list[Mount]:
    return [_mount(f"{where}[{index}]", entry) for index, entry in enumerate(check_list(where, value))]


def _mount(where: str, value: Any) -> Mount:
    kind = check_choice(f"{where}.type", value.get("type") if isinstance(value, dict) else None, tuple(MOUNT_KEYS))
    check_object(where, value, required=MOUNT_KEYS[kind], optional=OPTIONAL_MOUNT_KEYS[kind])
    checks = {"path": check_path, "dns_name": _name, "mount_name": _name, "type": check_text}
    texts = {key: checks[key](f"{where}.{key}", value[key]) for key in MOUNT_KEYS[kind]}
    efa = check_flag(f"{where}.efa_enabled", value.get("efa_enabled", False))
    return Mount(kind, texts["path"], texts["dns_name"], texts.get("mount_name", OPENZFS_VOLUME), efa)


def _name(where: str, value: Any) -> str:
    return check_word(where, value, HOST)
