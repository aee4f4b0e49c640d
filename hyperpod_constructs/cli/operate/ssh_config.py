"""`hyperpod ssh-config`: entries for OpenSSH that find a node when they are used."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.operate.choosing import check_user, controller_group, host_label
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, list_nodes, read_cluster
from hyperpod_constructs.cli.target import TargetName
from hyperpod_constructs.facts.session_manager import USERS

app = typer.Typer(add_completion=False)

FIRST_LINE = "# Written by hyperpod ssh-config, which writes it anew."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
# The tunnel ends at the node that the service names, and a node that takes another's place has another key.
_SETTINGS = ("StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "LogLevel ERROR")


@app.command(
    "ssh-config",
    epilog="Examples: `hyperpod ssh-config`, `hyperpod ssh-config --nodes --write ~/.ssh/hyperpod`, then `ssh trainer`. "
    "Your public key must stand in the user's ~/.ssh/authorized_keys on the node.",
)
@placed
def ssh_config(
    place: Place,
    cluster: ClusterName = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The user on the node; unless given, that of the image.")
    ] = None,
    nodes: Annotated[bool, typer.Option("--nodes", help="Add an entry for each node, by its host name.")] = False,
    write: Annotated[Path | None, typer.Option("--write", metavar="FILE", help="Write it to this file instead.")] = None,
) -> None:
    """Print entries for OpenSSH: the cluster's name is the controller, CLUSTER-GROUP a node of the group."""
    found = read_cluster(place, cluster)
    name = user or USERS["slurm" if found.kubernetes is None else "eks"]
    check_user(name)
    lines = [FIRST_LINE, *_entries(place, found, name, nodes=nodes)]
    if write is None:
        for line in lines:
            say(line)
        return
    path = write.expanduser().absolute()
    _write(path, "\n".join([*lines, ""]))
    say(f"Written: {path}. Put this line at the top of ~/.ssh/config once: Include {_quoted(str(path))}")


def _entries(place: Place, cluster: Cluster, user: str, *, nodes: bool) -> Iterator[str]:
    """The lines of all entries.

    :raises CliError: if a name of the service could mean something to a shell.
    """
    controller = controller_group(cluster)
    hosts = {} if controller is None else {cluster.name: controller}
    hosts |= {f"{cluster.name}-{group.name}": group.name for group in cluster.groups}
    if nodes:
        labels = (host_label(node) for node in list_nodes(place, cluster))
        hosts |= {f"{cluster.name}-{label}": label for label in labels if label is not None}
    for host, wanted in hosts.items():
        if not (_NAME.fullmatch(wanted) and _NAME.fullmatch(cluster.name)):
            raise CliError(f"the service names {host!r}, which is no name of a cluster, group or host: nothing is written")
        yield ""
        yield f"Host {host}"
        for setting in (f"User {user}", f"ProxyCommand {proxy_command(place, cluster, wanted)}", *_SETTINGS):
            yield f"    {setting}"


def proxy_command(place: Place, cluster: Cluster, wanted: str) -> str:
    """The command that reaches the node. OpenSSH gives it to a shell, and reads `%` as its own sign."""
    command = [_program(), "connect", wanted, "--cluster", cluster.name, "--stdio", "22", "--target", str(place.where)]
    if place.where is TargetName.LOCAL:
        # An embedded AWS belongs to the directory that it was started in.
        command = ["sh", "-c", f"cd {shlex.quote(str(Path.cwd()))} && exec {shlex.join(command)}"]
    else:
        command += ["--region", place.target.region]
        for option, name in (("--profile", "profile"), ("--endpoint-url", "endpoint_url")):
            if (value := getattr(place.target, name, None)) is not None:
                command += [option, str(value)]
    line = shlex.join(command).replace("%", "%%")
    if "\n" in line:
        raise CliError("the path of this directory or of hyperpod has a line break, which OpenSSH cannot read: use another")
    return line


def _program() -> str:
    """The executable beside this Python, so that it is found outside of its environment too."""
    own = Path(sys.executable).parent / "hyperpod"
    return str(own) if own.exists() else "hyperpod"


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole.

    :raises CliError: if it is another's, or cannot be written.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.read_text("utf-8", "replace").startswith(FIRST_LINE)):
            raise CliError(f"{path} was not written by hyperpod ssh-config: name another file, or remove it")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(draft).replace(path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror or error}") from error
