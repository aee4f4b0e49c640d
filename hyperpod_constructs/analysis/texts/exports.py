"""Exports of file systems of OpenZFS: nodes that have their homes there write to them.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSCreateRootVolumeConfiguration.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterFsxOpenZfsConfig.html and
https://github.com/awslabs/awsome-distributed-ai, whose lifecycle scripts mount the homes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.clusters import groups as all_groups
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.clusters import DEFAULT_OPENZFS_PATH
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, at

_SYSTEM, _CLUSTER = "AWS::FSx::FileSystem", "AWS::SageMaker::Cluster"
_EXPORTS = ("OpenZFSConfiguration", "RootVolumeConfiguration", "NfsExports")
_READ_ONLY, _SQUASHED = "ro", ("all_squash", "root_squash")
_FILE, _HOST = "provisioning_parameters.json", "fsx_openzfs_dns_name"
"""The file of the scripts of AWS, and its key with the file system for homes."""
_MAKES = re.compile(r"\buseradd\b[^\n]{0,300}\s(?:-m|--create-home)\b|\bmkhomedir_helper\b")
"""A command that makes the home of a user."""


def homes(system: Resource) -> Slips:
    """A file system with the homes of nodes is exported to be written, and to root where root makes them."""
    clusters = [one for one in system.template.model.resources(_CLUSTER) if _has_homes_on(one, system)]
    if not clusters:
        return
    read_only = (*_EXPORTS[:-1], "ReadOnly")
    clients = [(place, _options(one)) for place, one in _clients(system)]
    options = (*_EXPORTS, *clients[0][0], "Options") if clients else _EXPORTS
    if as_bool(system.get(*read_only)) or _all_have(clients, _READ_ONLY):
        path = read_only if as_bool(system.get(*read_only)) else options
        message = f"nodes of {clusters[0].logical_id} have their homes there, and may only read"
        yield Slip(message, "false" if path == read_only else "rw", path, dead=True)
    elif _all_have(clients, *_SQUASHED):
        for name in islice(_making_homes(clusters), 1):
            message = f"{name} makes homes there as root, and root of a node is nobody to the file system"
            yield Slip(message, "no_root_squash", options, dead=True)


def _all_have(clients: Sequence[tuple[tuple[str | int, ...], Sequence[str | None]]], *wanted: str) -> bool:
    """Whether the exports to all clients have one of some options."""
    return bool(clients) and all(not {*wanted}.isdisjoint(options) for _, options in clients)


def _making_homes(clusters: Sequence[Resource]) -> Iterator[str]:
    """The scripts of clusters that make homes of users."""
    found = (file for group in _groups(clusters) for file in programs_of(group).files.items())
    return (name for name, file in found if _MAKES.search(spelled(file.text) or ""))


def _groups(clusters: Sequence[Resource]) -> Iterator[Group]:
    return (group for one in clusters for group in all_groups(one.template.model) if group.cluster.resource is one)


def _clients(system: Resource) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    for index, export in entries(system.get(*_EXPORTS)):
        for number, one in entries(at(export, "ClientConfigurations")):
            yield (index, "ClientConfigurations", number), one


def _options(client: Value) -> list[str | None]:
    """The options of a client; none if one of them is not known."""
    found = [known(one) for _, one in entries(at(client, "Options"))]
    return [] if None in found else found


def _has_homes_on(cluster: Resource, system: Resource) -> bool:
    groups = list(_groups([cluster]))
    return any(_is_mounted(group, system) or _is_given(group, system) for group in groups)


def _is_mounted(group: Group, system: Resource) -> bool:
    """Whether the service mounts a file system for homes."""
    mounts = [at(storage, "FsxOpenZfsConfig") for _, storage in entries(group.get("InstanceStorageConfigs"))]
    places = [at(one, "MountPath") for one in mounts if resource_of(at(one, "DnsName")) is system]
    names = (DEFAULT_OPENZFS_PATH if path is ABSENT else known(path) or "" for path in places)
    return any(name.startswith(DEFAULT_OPENZFS_PATH) for name in names)


def _is_given(group: Group, system: Resource) -> bool:
    """Whether the scripts of a group get a file system for homes."""
    file = programs_of(group).files.get(_FILE)
    return file is not None and resource_of(at(values_in(file.text), _HOST)) is system


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_SYSTEM: homes}
