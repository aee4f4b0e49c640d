"""Exports of volumes of OpenZFS that scripts of nodes mount: root makes folders there, and gives them to users.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSClientConfiguration.html and
https://man7.org/linux/man-pages/man5/exports.5.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import groups
from hyperpod_constructs.analysis.node_mounts import Change, NodeMount, changes, mounts_by_scripts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.file_system_mounts import ROOT_OF_OPENZFS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Reference, as_str, at, parts_of

_VOLUME = "AWS::FSx::Volume"
_EXPORTS = ("OpenZFSConfiguration", "NfsExports")
_SQUASHED = {"all_squash", "root_squash"}
_DEEPEST = 10


def volume(resource: Resource) -> Slips:
    """A volume that takes root of all nodes for nobody, and in which a program of root makes something."""
    squashed = [place for place, options in _clients(resource) if not _SQUASHED.isdisjoint(options)]
    path, system = _place(resource)
    if path is None or system is None or not squashed or len(squashed) < len(list(_clients(resource))):
        return
    for mount, change in _changed(resource, system, path):
        says = f"{change.by} makes {change.path} there as root, where {mount.script.path[-1]} mounts it"
        message = f"{says}, and root of a node is nobody to the volume"
        beside = ((mount.script.resource, mount.script.path),)
        yield Slip(message, "no_root_squash", (*_EXPORTS, *squashed[0], "Options"), dead=True, beside=beside)
        return


def _clients(resource: Resource) -> Iterator[tuple[tuple[str | int, ...], list[str | None]]]:
    """The clients of the exports of a volume, each with its options."""
    for index, export in entries(resource.get(*_EXPORTS)):
        for number, one in entries(at(export, "ClientConfigurations")):
            yield (index, "ClientConfigurations", number), [known(option) for _, option in entries(at(one, "Options"))]


def _place(resource: Resource, depth: int = 0) -> tuple[str | None, Resource | None]:
    """The path by which a volume is exported, and its file system."""
    parent, name = resource.get("OpenZFSConfiguration", "ParentVolumeId"), as_str(resource.get("Name"))
    system = resource_of(parent, FILE_SYSTEM)
    if system is not None:
        return f"/{ROOT_OF_OPENZFS}/{name}" if name else None, system
    above = resource_of(parent, _VOLUME)
    if above is None or depth > _DEEPEST:
        return None, None
    path, system = _place(above, depth + 1)
    return f"{path}/{name}" if path and name else None, system


def _changed(resource: Resource, system: Resource, path: str) -> Iterator[tuple[NodeMount, Change]]:
    """What programs of nodes change below a mount of a volume."""
    for group in groups(resource.template.model):
        for mount in mounts_by_scripts(group):
            first, *rest = parts_of(mount.source)
            is_system = isinstance(first, Reference) and first.resource is system
            is_here = is_system and "".join(map(str, rest)).rstrip("/") == f":{path}"
            below = [one for one in changes(group) if is_here and mount.place and one.path.startswith(f"{mount.place}/")]
            yield from ((mount, one) for one in below)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_VOLUME: volume}
