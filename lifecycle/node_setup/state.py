"""The controller's state on the shared file system: the accounting database and slurmctld's own files, in one archive.

They belong together: slurmctld does not start if the cluster id in its `clustername` file differs from the database.
"""

from __future__ import annotations

import json
import tarfile
import zlib
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from node_trust.errors import Untrusted

from node_setup import database, files, shared, slurm_conf
from node_setup.errors import NodeSetupError
from node_setup.node import MAX_FILE, STATE, Node

ARCHIVES = ("state.tar.gz", "state.previous.tar.gz")
DUMP = "accounting.sql"
FILES = "slurmctld"
MANIFEST = "manifest.json"
READY = f"{STATE}/state_ready.json"
BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, RecursionError)


def is_ready(node: Node) -> bool:
    """Whether this root volume has the cluster's state, restored or fresh. Only then is the state kept."""
    return node.exists(READY)


def archives(node: Node) -> list[str]:
    folder = f"{shared.cluster_folder(node)}/state"
    return [f"{folder}/{name}" for name in ARCHIVES if node.exists(f"{folder}/{name}")]


def keep(node: Node) -> bool:
    """Copy the state, and return whether there was one: slurmctld may not have written it yet. The previous copy stays."""
    conf = slurm_conf.read(node)
    place = conf.value("StateSaveLocation", "/var/spool")
    if not node.exists(f"{place}/clustername"):
        return False
    folder = shared.make_private_folder(node, "state")
    access = database.read_access(node)
    members: list[tuple[str, files.Member]] = [
        (f"{FILES}/{name}", partial(node.open, f"{place}/{name}", MAX_FILE)) for name in node.tree(place)
    ]
    dump = f"{folder}/.{DUMP}.{node.name}"
    if access is not None and access.host in database.LOCAL:
        found = access
        node.fill(dump, lambda file: database.dump(node, found, file))
        members.append((DUMP, partial(node.open, dump)))
    manifest = f"{folder}/.{MANIFEST}.{node.name}"
    content = {"cluster": conf.value("ClusterName"), "slurm": version(node), "time": int(node.clock.time())}
    node.write(manifest, json.dumps(content, sort_keys=True) + "\n", 0o600)
    members.append((MANIFEST, partial(node.open, manifest)))
    current, previous = (f"{folder}/{name}" for name in ARCHIVES)
    node.fill(f"{current}.new", lambda file: files.pack(file, members))
    if node.exists(current):
        node.move(current, previous)
    node.move(f"{current}.new", current)
    for path in (dump, manifest):
        node.remove(path)
    return True


def open_latest(node: Node, folder: str) -> dict[str, Any]:
    """Unpack the latest complete copy into a folder, and return its manifest."""
    found = archives(node)
    for archive in found:
        try:
            node.unpack(archive, folder)
            manifest = json.loads(node.read(f"{folder}/{MANIFEST}") or "")
            if not isinstance(manifest, dict):
                raise ValueError(f"{MANIFEST} is not an object")
        except Untrusted:
            raise
        except BROKEN as error:
            node.log.line(f"{archive}: cannot be read: {error}")
            continue
        _check(node, archive, manifest)
        return manifest
    raise NodeSetupError(f"{', '.join(found)}: no copy can be read; to start without it, move it away and replace the node")


def put_files(node: Node, folder: str) -> None:
    """Replace slurmctld's folder with that of the copy."""
    conf = slurm_conf.read(node)
    place, user = conf.value("StateSaveLocation", "/var/spool"), slurm_conf.slurm_user(conf)
    source = f"{folder}/{FILES}"
    wanted = node.tree(source)
    if not node.is_folder(place):
        node.folder(place, 0o755, user)
    for name in node.tree(place):
        if name not in wanted:
            node.remove(f"{place}/{name}")
    for name in wanted:
        for parent in reversed(list(PurePosixPath(name).parents)[:-1]):
            node.folder(f"{place}/{parent}", 0o700, user)
        content, mode = node.load(f"{source}/{name}")
        node.write(f"{place}/{name}", content, mode, user)


def version(node: Node) -> list[int]:
    """Slurm's version, such as [24, 11]; empty if unknown."""
    said = node.query(["scontrol", "--version"]).output.split()
    parts = said[-1].split(".")[:2] if said else []
    return [int(part) for part in parts if part.isdigit()]


def _check(node: Node, archive: str, manifest: dict[str, Any]) -> None:
    cluster = slurm_conf.read(node).value("ClusterName")
    if manifest.get("cluster") != cluster:
        raise NodeSetupError(f"{archive}: is of the cluster {manifest.get('cluster')!r}, and slurm.conf names {cluster!r}")
    kept, here = manifest.get("slurm") or [], version(node)
    if kept and here and kept > here:
        raise NodeSetupError(f"{archive}: is of Slurm {kept}, and this image has the older {here}, which cannot read it")
