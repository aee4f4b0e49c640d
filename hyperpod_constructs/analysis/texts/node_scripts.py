"""Scripts of nodes that stand in the templates, as properties of what uploads them: a shell can read them, and they end well.

Where a group mounts file systems, its scripts look for these, at the paths that the group has.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group, clusters, given
from hyperpod_constructs.analysis.schema.violation import Path, listed, meant
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.texts.shell import is_shell, mistakes_in_script, read_script
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.uploads import key_of, uploads_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str, at, placed_leaves

_CLUSTER, _LIFE_CYCLE, _URI = "AWS::SageMaker::Cluster", "LifeCycleConfig", "SourceS3Uri"
_LONGEST = 1 << 16
_PATHS: Mapping[str, str] = {"EbsVolumeConfig": "/opt/sagemaker", "FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
_OF_IMAGES = ("/", "/boot", "/dev", "/mnt", "/opt", "/proc", "/run", "/sys", "/tmp", "/var")
"""Mounts of the image of nodes, or below which programs mount."""
_MOUNTING = ("mount", "mount.lustre", "/etc/fstab", "systemctl", "ansible-playbook", "bash", "sh", "source", ".", "python3")
"""Commands that may mount something, also by another script."""


class NodeScript(NamedTuple):
    """A script of a group.

    :param path: its place in the properties of the resource that uploads it.
    """

    resource: Resource
    path: Path
    text: str


def scripts(cluster: Resource) -> Slips:
    """The scripts of the groups of a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for one in clusters(cluster.template.model):
        for group in one.groups if one.resource is cluster else ():
            for script in scripts_of(group):
                found = [*mistakes_in_script(script.text), *_mounts(group, script)][:1]
                for says, allowed in found if (script.resource, script.path) not in said else ():
                    said.add((script.resource, script.path))
                    message = f"the script of instance group {group.label!r} in {script.resource.logical_id} {says}"
                    beside = ((script.resource, script.path),)
                    yield Slip(message, allowed, (*group.path, _LIFE_CYCLE), dead=True, beside=beside)


def scripts_of(group: Group) -> Iterator[NodeScript]:
    """The scripts for a shell among what is uploaded for a group."""
    uri = group.get(_LIFE_CYCLE, _URI)
    for upload in uploads_of(group.resource.template.model, uri):
        key = upload.key
        if key is None or key.startswith(f"{key_of(uri).strip('/')}/"):
            for path, leaf in placed_leaves(upload.resource.get()):
                text = spelled(leaf) or ""
                if is_shell(text) and len(text) <= _LONGEST:
                    yield NodeScript(upload.resource, path, text)


def _mounts(group: Group, script: NodeScript) -> Iterator[tuple[str, str]]:
    """A mount that a script asks for, and that no node of the group has."""
    mounts = [*mount_paths(group)]
    commands = read_script(script.text).commands
    mounted_otherwise = any(word in _MOUNTING for _, words in commands for word in words)
    if len(mounts) < 2 or None in mounts or mounted_otherwise:
        return
    known = [one for one in mounts if one is not None]
    for line, words in commands:
        place = words[-1].rstrip("/") or "/"
        asks = "mountpoint" in words[:-1] and words[-1].startswith("/") and HOLE not in place
        if asks and place not in mounts and not _may_have(place):
            yield f"asks in line {line} whether {place} is mounted, which its nodes do not have{meant(place, known)}", listed(known)


def mount_paths(group: Group) -> Iterator[str | None]:
    """Where the nodes of a group have file systems; `None` for a place that is not known."""
    yield _PATHS["EbsVolumeConfig"]
    for kind, usual in _PATHS.items():
        for _, volume in group.storage(kind):
            path = at(volume, "MountPath")
            yield usual if given(path) is False else as_str(path)


def _may_have(place: str) -> bool:
    return any(place == one or (one != "/" and place.startswith(f"{one}/")) for one in _OF_IMAGES)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: scripts}
