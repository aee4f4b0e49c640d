"""`hyperpod copy`: a file or directory to or from a node, and so the shared file system, over SSH within a session.

A key that is made for this one copy opens the connection: it may run commands but forward nothing, a new connection takes it for
ten minutes, and it is removed at the end. The node's own key comes from the same session that adds it. A copy has another name
until it is whole.
"""

from __future__ import annotations

import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from hyperpod_constructs.cli.console import CliError, Interrupted, if_interrupted, say
from hyperpod_constructs.cli.operate import remote
from hyperpod_constructs.cli.operate.choosing import check_user, running_node
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Node, read_cluster
from hyperpod_constructs.cli.operate.sessions import RefusedError
from hyperpod_constructs.cli.operate.ssh_config import proxy_command
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts.session_manager import USERS

app = typer.Typer(add_completion=False)

_REMOTE = re.compile(r"(?P<node>[A-Za-z0-9-]*):(?P<path>/[^\x00-\x1f\x7f]{0,4000})")
_SAYS = "hyperpod-copy|"
_HOST_KEY = re.compile(r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3}) [A-Za-z0-9+/]{40,2000}={0,3}")
_PROGRAMS = ("scp", "ssh", "ssh-keygen")
_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Remote:
    """A path on a node: its id, host name or group, or nothing for the controller."""

    node: str
    path: PurePosixPath
    is_directory: bool

    @classmethod
    def parse(cls, text: str) -> Remote | None:
        """`None` for a path of this machine."""
        found = _REMOTE.fullmatch(text)
        return None if found is None else cls(found["node"], PurePosixPath(found["path"]), found["path"].endswith("/"))


@app.command(
    epilog="Examples: `hyperpod copy train.py :/fsx/code/`, `hyperpod copy workers:/var/log/dmesg .`. Before the colon stands a "
    "node: its id, host name or group; nothing is the controller."
)
@placed
def copy(
    place: Place,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file or directory; NODE:/path on a node.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="Its new name, or a directory; NODE:/path on a node.")],
    cluster: ClusterName = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The user on the node; unless given, that of the image.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file of the same name; never a directory.")] = False,
) -> None:
    """Copy a file or directory to or from a node and the shared file system."""
    there, back = Remote.parse(destination), Remote.parse(source)
    side = there or back
    if side is None or (there is not None and back is not None):
        raise CliError("one of SOURCE and DESTINATION is on a node, written as NODE:/path, or :/path for the controller")
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        raise CliError(f"{', '.join(missing)} is not installed: install OpenSSH's client")
    local = _local(source) if there is not None else Path(destination).absolute()
    target = None if there is not None else _target(destination, side, force=force)
    found = read_cluster(place, cluster)
    name = user or USERS["slurm" if found.kubernetes is None else "eks"]
    check_user(name)
    node = running_node(place, found, name=side.node or None)
    arrived = None
    try:
        with Connection.opened(place, found, node, name) as connection:
            arrived = connection.send(local, side, force=force) if target is None else connection.fetch(side, target)
    except KeyboardInterrupt:
        raise Interrupted("nothing of the copy is left" if arrived is None else f"copied: {arrived}") from None
    say(f"Copied: {arrived}")


def _local(source: str) -> Path:
    path = Path(source).absolute()
    if not path.exists():
        raise CliError(f"{source} does not exist on this machine; a path on a node is written as NODE:/path, or :/path")
    return path


def _target(destination: str, source: Remote, *, force: bool) -> Path:
    """Where a copy is to be on this machine.

    :raises CliError: if something is there that must not be replaced.
    """
    path = Path(destination).absolute()
    if destination.endswith("/") or path.is_dir():
        path /= source.path.name
    if not path.parent.is_dir():
        raise CliError(f"{path.parent} is no directory on this machine")
    if path.is_symlink() or (path.exists() and not (force and path.is_file())):
        raise CliError(f"{path} exists: name another, or replace a file with --force")
    return path


@dataclass(frozen=True, slots=True)
class Connection:
    """A node that takes one key for a while."""

    place: Place
    cluster: Cluster
    node: Node
    user: str
    folder: Path
    mark: str

    @classmethod
    @contextmanager
    def opened(cls, place: Place, cluster: Cluster, node: Node, user: str) -> Iterator[Connection]:
        """Let the node take a new key, and no longer at the end.

        :raises CliError: if the node does not.
        """
        with tempfile.TemporaryDirectory(prefix="hyperpod-copy-") as folder:
            connection = cls(place, cluster, node, user, Path(folder), f"hyperpod-copy-{secrets.token_hex(8)}")
            try:
                connection._open()
            except RefusedError:
                raise
            except BaseException:
                connection._close()
                raise
            try:
                yield connection
            finally:
                connection._close()

    def send(self, source: Path, to: Remote, *, force: bool) -> str:
        """Copy from this machine; answers the place on the node."""
        replace = '[ -f "$to" ] || ' if force else ""
        (target,) = self._ask(f"""
            to={shlex.quote(str(to.path))}
            {"" if to.is_directory else '[ -d "$to" ] && '}to=$to/{shlex.quote(source.name)}
            folder=$(dirname "$to")
            [ -d "$folder" ] || {{ echo "$folder is no directory on the node"; exit 1; }}
            [ -w "$folder" ] || {{ echo "$(id -un) may not write into $folder on the node: name a user with --user"; exit 1; }}
            [ ! -e "$to" ] || {replace}{{ echo "$to exists on the node: name another, or replace a file with --force"; exit 1; }}
            echo "{_SAYS}$to"
        """)
        draft = PurePosixPath(target).parent / f".{self.mark}"
        quoted = shlex.quote(str(draft))
        try:
            self._scp(str(source), f"{self.node.id}:{draft}")
        except BaseException:
            with if_interrupted(f"perhaps a part of the copy is left on the node: {draft}"):
                self._ask(f"rm -rf {quoted}")
            raise
        with if_interrupted(f"perhaps the copy has arrived: {self.node.id}:{target}"):
            self._ask(f"""
                to={shlex.quote(target)}
                [ ! -d "$to" ] && mv {"-fT" if force else "-nT"} {quoted} "$to" && [ ! -e {quoted} ] && exit 0
                rm -rf {quoted}
                echo "$to appeared on the node meanwhile"
                exit 1
            """)
        return f"{self.node.id}:{target}"

    def fetch(self, source: Remote, target: Path) -> str:
        """Copy from the node; answers the place on this machine."""
        self._ask(f"""
            from={shlex.quote(str(source.path))}
            [ -e "$from" ] || {{ echo "$from does not exist on the node"; exit 1; }}
            [ -r "$from" ] || {{ echo "$(id -un) may not read $from on the node: name a user with --user"; exit 1; }}
        """)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{self.mark}-") as folder:
            draft = Path(folder) / "whole"
            self._scp(f"{self.node.id}:{source.path}", str(draft))
            if draft.is_dir() and target.exists():
                raise CliError(f"{target} is a file, and {source.path} a directory: name another")
            draft.rename(target)
        return str(target)

    def _open(self) -> None:
        key = self.folder / "key"
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self.mark, "-f", str(key)]
        subprocess.run(made, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
        public = key.with_suffix(".pub").read_text("utf-8").strip()
        keys = self._ask(f"""
            umask 077
            mkdir -p ~/.ssh
            file=~/.ssh/authorized_keys
            [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >> "$file"
            echo "restrict,expiry-time=\\"$(date -d '+10 minutes' +%Y%m%d%H%M)\\" "{shlex.quote(public)} >> "$file"
            for key in /etc/ssh/ssh_host_*_key.pub; do echo "{_SAYS}$(cut -d ' ' -f 1,2 "$key")"; done
        """)
        known = [key for key in keys if _HOST_KEY.fullmatch(key)]
        if not known:
            raise CliError(f"node {self.node.id} has no key of an SSH server, so nothing can be copied to or from it")
        (self.folder / "known").write_text("".join(f"{self.node.id} {key}\n" for key in known), encoding="utf-8")
        settings = {
            "User": self.user,
            "ProxyCommand": proxy_command(self.place, self.cluster, self.node.id),
            "IdentityFile": f'"{key}"',
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": f'"{self.folder / "known"}"',
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "LogLevel": "ERROR",
        }
        lines = [f"Host {self.node.id}", *(f"    {name} {value}" for name, value in settings.items())]
        (self.folder / "config").write_text("\n".join([*lines, ""]), encoding="utf-8")

    def _close(self) -> None:
        try:
            self._ask(f"[ ! -f ~/.ssh/authorized_keys ] || sed -i --follow-symlinks '/ {self.mark}$/d' ~/.ssh/authorized_keys")
        except CliError as error:
            self._say_key_stays(str(error))
        except KeyboardInterrupt:
            self._say_key_stays("interrupted")
            raise

    def _say_key_stays(self, why: str) -> None:
        typer.echo(f"the key of this copy stays on node {self.node.id} until it expires in ten minutes: {why}", err=True)

    def _ask(self, script: str) -> list[str]:
        """What a script says for this program.

        :raises CliError: with the script's last line, if it fails.
        """
        done = remote.run(self.place, self.cluster, self.node, self.user, f"set -u\n{script}")
        lines = [line.rstrip("\r") for line in done.output.splitlines()]
        if done.code:
            last = next((line for line in reversed(lines) if line.strip()), f"exit code {done.code}")
            raise CliError(one_line(last, _CHARACTERS))
        return [line.removeprefix(_SAYS) for line in lines if line.startswith(_SAYS)]

    def _scp(self, source: str, destination: str) -> None:
        quiet = () if sys.stdout.isatty() else ("-q",)
        command = ["scp", *quiet, "-r", "-p", "-F", str(self.folder / "config"), source, destination]
        done = subprocess.run(command, env=self.place.target.environment(), check=False)  # noqa: S603
        if done.returncode:
            raise CliError("the copy failed, and nothing of it is left; OpenSSH says why above")
