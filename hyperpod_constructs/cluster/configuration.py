"""`config.json`, the cluster's message to the programs on its nodes: schema version 1, read by `lifecycle/node_setup/config.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperpod_constructs.cluster.accounting_database import AccountingDatabase
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.scheduling import Scheduling
from hyperpod_constructs.cluster.storage_configs import OpenZfsMount
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.node_software.own_step import OwnStep
from hyperpod_constructs.node_software.software import NodeSoftware


def render(
    groups: Sequence[InstanceGroup],
    software: NodeSoftware | None,
    node_recovery: str,
    steps: Sequence[OwnStep] = (),
    scheduling: Scheduling | None = None,
    *,
    database: AccountingDatabase | None = None,
    on_eks: bool = False,
) -> dict[str, Any]:
    """The document.

    :param database: that of the orchestrator, whose password the scripts follow.
    """
    if on_eks:
        return _on_eks(groups, software, node_recovery, steps)
    document: dict[str, Any] = {
        "version": 1,
        "cluster": {"node_recovery": node_recovery},
        "groups": {group.name: _group(group) for group in groups},
        "mounts": {group.name: [mount.describe() for mount in group.file_systems] for group in groups if group.file_systems},
    }
    if software is not None:
        document["software"] = software.render(_shared_directory(groups, software), _homes(groups, software))
        if database is not None:
            document["software"]["accounting"] = database.describe()
    if scheduling is not None and scheduling.given:
        document["scheduling"] = scheduling.render()
    if steps:
        document["steps"] = [step.render() for step in steps]
    return document


def _on_eks(
    groups: Sequence[InstanceGroup], software: NodeSoftware | None, node_recovery: str, steps: Sequence[OwnStep]
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "version": 1,
        "cluster": {"node_recovery": node_recovery, "orchestrator": "eks"},
        "groups": {group.name: {} for group in groups},
    }
    if software is not None:
        document["software"] = {"containers": software.containers}
    if steps:
        document["steps"] = [step.render() for step in steps]
    return document


def mistakes(groups: Sequence[InstanceGroup], software: NodeSoftware | None) -> list[str]:
    """Needs of the software that the groups do not meet."""
    if software is None:
        return []
    common = _common_mounts(groups)
    found = []
    if software.shared_directory is not None and software.shared_directory not in common:
        found.append(
            f"NodeSoftware's shared_directory is {software.shared_directory!r}, but not every group mounts it; all groups mount "
            f"{', '.join(common) or 'nothing'}; give file_systems=[LustreMount(...)] to all groups, or name another path"
        )
    if software.homes is not None and not any(software.homes == path or software.homes.startswith(f"{path}/") for path in common):
        found.append(
            f"NodeSoftware's homes are in {software.homes!r}, but not on a file system of every group; all groups mount "
            f"{', '.join(common) or 'nothing'}; name a directory there"
        )
    if software.users and not common:
        found.append("NodeSoftware has users, but the groups share no file system for their homes; give each group the same one")
    return found


def _group(group: InstanceGroup) -> dict[str, Any]:
    rendered: dict[str, Any] = {"node_type": group.node_type.value}
    if group.node_type is SlurmNodeType.COMPUTE:
        rendered["partition"] = group.partition_name
    if any(kind.accelerator is not None and kind.accelerator.kind == "gpu" for kind in group.instance_types):
        rendered["gpus"] = True
    return rendered


def _shared_directory(groups: Sequence[InstanceGroup], software: NodeSoftware) -> str | None:
    return next(iter(_common_mounts(groups)), None) if software.shared_directory is None else software.shared_directory


def _homes(groups: Sequence[InstanceGroup], software: NodeSoftware) -> str | None:
    return next(iter(_common_mounts(groups, OpenZfsMount)), None) if software.homes is None else software.homes


def _common_mounts(groups: Sequence[InstanceGroup], kind: type = object) -> list[str]:
    """The mount paths common to all groups, in the order of the first group; of one kind of file system if it is given."""
    paths = [[mount.mount_path for mount in group.file_systems if isinstance(mount, kind)] for group in groups]
    return [path for path in paths[0] if all(path in others for others in paths)] if paths else []
