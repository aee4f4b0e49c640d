"""Exports of file systems of OpenZFS: nodes that have their homes there write to them.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSCreateRootVolumeConfiguration.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterFsxOpenZfsConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.clusters import DEFAULT_OPENZFS_PATH
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, at

_SYSTEM, _CLUSTER = "AWS::FSx::FileSystem", "AWS::SageMaker::Cluster"
_EXPORTS = ("OpenZFSConfiguration", "RootVolumeConfiguration", "NfsExports")
_READ_ONLY = "ro"


def homes(system: Resource) -> Slips:
    """A file system with the homes of nodes is exported to be written."""
    read_only = (*_EXPORTS[:-1], "ReadOnly")
    clients = [(place, _options(one)) for place, one in _clients(system)]
    places = [(*_EXPORTS, *clients[0][0], "Options")] if _only_read(clients) else []
    for path in [read_only] if as_bool(system.get(*read_only)) else places:
        for cluster in system.template.model.resources(_CLUSTER):
            if _has_homes_on(cluster, system):
                message = f"nodes of {cluster.logical_id} have their homes there, and may only read"
                yield Slip(message, "false" if path == read_only else "rw", path, dead=True)
                return


def _only_read(clients: Sequence[tuple[tuple[str | int, ...], Sequence[str | None]]]) -> bool:
    """Whether the exports to all clients are to be read only."""
    return bool(clients) and all(options and _READ_ONLY in options for _, options in clients)


def _clients(system: Resource) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    for index, export in entries(system.get(*_EXPORTS)):
        for number, one in entries(at(export, "ClientConfigurations")):
            yield (index, "ClientConfigurations", number), one


def _options(client: Value) -> list[str | None]:
    """The options of a client; none if one of them is not known."""
    found = [known(one) for _, one in entries(at(client, "Options"))]
    return [] if None in found else found


def _has_homes_on(cluster: Resource, system: Resource) -> bool:
    for _, group in entries(cluster.get("InstanceGroups")):
        for _, storage in entries(at(group, "InstanceStorageConfigs")):
            mount = at(storage, "FsxOpenZfsConfig")
            path = at(mount, "MountPath")
            place = DEFAULT_OPENZFS_PATH if path is ABSENT else known(path) or ""
            if resource_of(at(mount, "DnsName")) is system and place.startswith(DEFAULT_OPENZFS_PATH):
                return True
    return False


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_SYSTEM: homes}
