"""A virtual node: its disk, its place in the network, what can be run on it and what can be done to it."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import shlex
import signal
import subprocess
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hyperpod_constructs.local.nodes import cgroups
from hyperpod_constructs.local.nodes.commands import host
from hyperpod_constructs.local.nodes.container import Container
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.image import Image
from hyperpod_constructs.local.nodes.ledger import Ledger, undo_directory, undo_mount
from hyperpod_constructs.local.nodes.network import Network, node_name

DISK_MIB = 1024
SHUT_DOWN_SECONDS = 30.0
FILLER = ".filled-by-a-fault"
KILLED_AFTER_SECONDS = 1
TIMEOUT_CODES = (124, 137)
ARRIVING = ".arriving-"
# Unpacks what arrives, then gives each file its name.
PUT = f'tar -x -p -C / && for file; do mv -fT "${{file%/*}}/{ARRIVING}${{file##*/}}" "$file" || exit; done'


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file to put on a node; `owner` is a user of the node, whose group of the same name gets it too."""

    content: str | bytes
    mode: int = 0o644
    owner: str = "root"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hardware:
    """What the node declares to Slurm; the GPUs are device nodes without a device behind."""

    cpus: int = 2
    gpus: int = 0
    disk_mib: int = DISK_MIB
    instance_store: bool = False


class VirtualNode:
    """Made by a rig.

    `failure` is the last line of the log of scripts that failed, `None` when they did not; `seconds` is how long
    each phase of its boot took.
    """

    def __init__(
        self,
        *,
        group: str,
        node_type: str,
        index: int,
        number: int,
        hardware: Hardware,
        directory: Path,
        ledger: Ledger,
        network: Network,
        image: Image,
        binds: Mapping[Path, str],
        instance_id: str | None = None,
    ) -> None:
        self.group = group
        self.node_type = node_type
        self.index = index
        self.number = number
        self.hardware = hardware
        self.seconds: dict[str, float] = {}
        self.address = network.address(number)
        self.name = node_name(self.address)
        self.instance_id = new_instance_id() if instance_id is None else instance_id
        self.failure: str | None = None
        self._directory = directory / self.name
        self._ledger = ledger
        self._network = network
        self._image = image
        self._binds = dict(binds)
        self._container: Container | None = None

    def __repr__(self) -> str:
        return f"VirtualNode({self.group}[{self.index}], {self.name}, {self.instance_id})"

    # --- life ---------------------------------------------------------------------------------------------------------

    def create(self, shared: Sequence[str], hosts: str) -> None:
        """Makes the disk, the network and the devices; does not start the node.

        :param shared: the options of systemd-nspawn for the directories that all nodes share.
        """
        self._shared = list(shared)
        self._ledger.directory(self._directory)
        disk = self._ledger.mount(self._make("disk"))
        host("mount", "-t", "tmpfs", "-o", f"size={self.hardware.disk_mib}m,mode=0755", "hyperpod-node", str(disk))
        for name in ("upper", "work"):
            (disk / name).mkdir()
        root = self._ledger.mount(self._make("root"))
        lower = ":".join(str(layer) for layer in self._image.layers)
        options = f"lowerdir={lower},upperdir={disk / 'upper'},workdir={disk / 'work'}"
        host("mount", "-t", "overlay", "-o", options, "hyperpod-node", str(root))
        (root / "etc/hosts").write_text(hosts, encoding="ascii")
        (root / "etc/hostname").write_text(self.name + "\n", encoding="ascii")
        (root / "etc/machine-id").write_text(secrets.token_hex(16) + "\n", encoding="ascii")
        if self.hardware.instance_store:
            (root / "etc/instance-store").touch()
        for number in range(self.hardware.gpus):
            host("mknod", "-m", "0666", str(disk / f"nvidia{number}"), "c", "1", "3")
        self._namespace = self._network.attach(self.address)

    def start(self) -> None:
        """Powers the node on and waits until its systemd has started everything."""
        disk = self._directory / "disk"
        binds = list(self._shared)
        binds += [f"--bind={disk}/nvidia{number}:/dev/nvidia{number}" for number in range(self.hardware.gpus)]
        binds += [f"--bind-ro={source}:{target}" for source, target in self._binds.items()]
        self._ledger.cgroup(self.name)
        root, console = self._directory / "root", self._directory / "console.log"
        self._container = Container.boot(self.name, root=root, namespace=self._namespace, binds=binds, console=console)

    def forget(self) -> None:
        """Kills the node, also one that boots, without removing what it has on the host."""
        if self._container is not None:
            self._container.kill()
        cgroups.kill(self.name)

    def destroy(self) -> None:
        """Kills the node and removes everything of it from the host."""
        self.forget()
        cgroups.remove(self.name)
        for name in ("root", "disk"):
            undo_mount(str(self._directory / name))
        self._network.detach(self.address)
        undo_directory(str(self._directory))

    # --- use ----------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._container is not None and self._container.running

    def run(
        self,
        command: Sequence[str],
        *,
        user: str = "root",
        timeout: float = 60,
        check: bool = True,
        input: str | None = None,
        environment: Mapping[str, str] | None = None,
        directory: str = "/",
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on the node; for another user than root in a login shell of theirs, in their home.

        :raises NodesError: with the program's output, if it fails and `check` is true, or has not ended after `timeout` seconds.
        """
        given = [f"{name}={value}" for name, value in (environment or {}).items()]
        line = ["/usr/bin/env", "-C", directory, *given, *command]
        if user != "root":
            line = ["su", "-", user, "-c", shlex.join(["/usr/bin/env", *given, *command])]
        code, output, errors = self._enter(line, timeout, None if input is None else input.encode())
        done = subprocess.CompletedProcess(list(command), code, output.decode(errors="replace"), errors.decode(errors="replace"))
        if check and code != 0:
            said = (done.stdout + done.stderr).strip()[-4000:]
            raise NodesError(f"{self.name}: {shlex.join(command)}: exit code {code}: {said}")
        return done

    def put(self, files: Mapping[str, File]) -> None:
        """Writes files, by their absolute paths, with the directories above them. No reader meets half a file."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for path, file in files.items():
                content = file.content.encode() if isinstance(file.content, str) else file.content
                entry = tarfile.TarInfo(str(PurePosixPath(path.lstrip("/")).with_name(ARRIVING + PurePosixPath(path).name)))
                entry.size, entry.mode, entry.mtime = len(content), file.mode, time.time()
                entry.uname = entry.gname = file.owner
                tar.addfile(entry, io.BytesIO(content))
        code, _, errors = self._enter(["sh", "-c", PUT, "put", *files], 60, archive.getvalue())
        if code != 0:
            raise NodesError(f"{self.name}: {', '.join(files)} cannot be written: {errors.decode(errors='replace')}")

    def read(self, path: str) -> str:
        return self.run(["cat", path]).stdout

    def command(self, *command: str) -> list[str]:
        """The host's command that runs `command` in the node, to be started by the caller: a shell, a stream."""
        return self._running().enter(list(command))

    # --- faults -------------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """Process death: every process ends at once; the network stays, so peers are reset."""
        self._running().kill()

    def power_off(self) -> None:
        """Loss of power: the link is cut first, so peers hear nothing more and must time out."""
        self._network.set_link(self.address, up=False)
        self._running().kill()

    def freeze(self) -> None:
        """Stops every process; the kernel still answers for the node."""
        cgroups.freeze(self.name, True)

    def thaw(self) -> None:
        cgroups.freeze(self.name, False)

    def cut(self) -> None:
        """Cuts the network; the node runs on."""
        self._network.set_link(self.address, up=False)

    def restore(self) -> None:
        """Restores the network."""
        self._network.set_link(self.address, up=True)

    def fill_disk(self, path: str = "/") -> None:
        """Leaves not a byte free where `path` is (`/` or a mount of the node), until `empty_disk`."""
        file = str(Path(path, FILLER))
        self.run(["dd", "if=/dev/zero", f"of={file}", "bs=1M"], check=False)
        self.run(["dd", "if=/dev/zero", f"of={file}", "bs=4096", "oflag=append", "conv=notrunc"], check=False)

    def empty_disk(self, path: str = "/") -> None:
        self.run(["rm", "-f", str(Path(path, FILLER))])

    def reboot(self) -> None:
        """Shuts the node down, cleanly if it can within half a minute, and starts it again with its disk."""
        container = self._running()
        if not container.shut_down(SHUT_DOWN_SECONDS):
            container.kill()
        cgroups.kill(self.name)
        self.power_on()

    def power_on(self) -> None:
        """Starts a node that is off, with its disk and network."""
        if self.running:
            raise NodesError(f"{self.name} runs already")
        self._network.set_link(self.address, up=True)
        self.start()

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _make(self, name: str) -> Path:
        path = self._directory / name
        path.mkdir()
        return path

    def _running(self) -> Container:
        if self._container is None or not self._container.running:
            raise NodesError(f"{self.name} is off; power_on() starts it")
        return self._container

    def _enter(self, command: Sequence[str], timeout: float, input: bytes | None) -> tuple[int, bytes, bytes]:
        """Exit code, output and errors. The limit is kept in the node, and by the host should the node be frozen."""
        limited = ["timeout", f"--kill-after={KILLED_AFTER_SECONDS}", str(timeout), *command]
        # Before the start, because a busy host may come back here after the command has begun.
        started = time.monotonic()
        process = subprocess.Popen(  # noqa: S603
            self._running().enter(limited),
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(input, timeout=timeout + 3 * KILLED_AFTER_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            raise NodesError(f"{self.name}: {shlex.join(command)}: no answer after {timeout} s") from None
        if process.returncode in TIMEOUT_CODES and time.monotonic() - started >= timeout:
            said = (output + errors).decode(errors="replace").strip()[-4000:]
            raise NodesError(f"{self.name}: {shlex.join(command)}: not done after {timeout} s: {said}")
        return process.returncode, output, errors


def new_instance_id() -> str:
    return f"i-{secrets.token_hex(9)[:17]}"
