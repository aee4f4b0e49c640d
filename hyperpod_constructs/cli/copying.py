"""`hyperpod local copy`: files of this machine onto the virtual nodes' file systems, such as `/fsx`."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import read_cluster, read_nodes
from hyperpod_constructs.cli.target import Target, TargetName, running_virtual_nodes

_UNPACK = 'mkdir -p -- "$1" && exec tar --extract --no-same-owner --directory "$1"'
_SHOWN = 2000


def copy(target: Target, sources: Sequence[Path], destination: str, *, cluster: str | None) -> None:
    """Copy files and directories to a directory of a virtual node; what lies on a shared file system, all nodes see.

    :param target: the embedded AWS.
    :param sources: files and directories of this machine, each copied under its own name.
    :param destination: an absolute path on the node; made unless it exists.
    :param cluster: name or ARN; the deployed one unless given.
    :raises CliError: if a source is missing, the path is relative, no virtual node runs, or the copy fails.
    """
    if not PurePosixPath(destination).is_absolute():
        raise CliError(f"{destination} is not an absolute path on a node: write one such as /fsx/{destination}")
    for source in sources:
        if not source.exists():
            raise CliError(f"there is no {source}")
    command = _node_of(Place(target, TargetName.LOCAL), cluster)
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen([*command, "sh", "-c", _UNPACK, "sh", destination], stdin=subprocess.PIPE, stderr=errors) as unpack:  # noqa: S603
            _pack(sources, unpack)
        if unpack.returncode != 0:
            errors.seek(0)
            raise CliError(f"the copy to {destination} failed: {errors.read(_SHOWN).decode('utf-8', 'replace').strip()}")
    say(f"copied to {destination}: {', '.join(source.resolve().name for source in sources)}")


def _pack(sources: Sequence[Path], unpack: subprocess.Popen[bytes]) -> None:
    try:
        with tarfile.open(fileobj=unpack.stdin, mode="w|") as archive:
            for source in sources:
                archive.add(source, arcname=source.resolve().name)
    except BrokenPipeError:
        pass  # the other end says why


def _node_of(place: Place, name: str | None) -> list[str]:
    """The command that starts a program on a running node of the cluster."""
    cluster = read_cluster(place, name)
    ids = {node.id for node in read_nodes(place, cluster)}
    for node in running_virtual_nodes():
        if node["InstanceId"] in ids:
            return list(node["Command"])
    raise CliError(f"no virtual node of {cluster.name} runs: deploy it with nodes (hyperpod deploy --nodes)")
