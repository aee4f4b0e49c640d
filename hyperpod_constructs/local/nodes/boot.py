"""The way of one node from power to the end of its scripts, the same for a new node and for a replacement."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hyperpod_constructs.local.nodes import aws_command
from hyperpod_constructs.local.nodes.database import AccountingDatabase, Database
from hyperpod_constructs.local.nodes.doubles import host_agent, image_setup
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.node import File, VirtualNode

Mode = Literal["on_init_complete", "on_create"]
LOG = "/var/log/provision/provisioning.log"
STAGE = "/tmp/lifecycle"
SCRIPT_SECONDS = 600.0
CONTROLLER_SECONDS = 120.0
# Nothing uploads the log, so a failed script need not wait for that.
ENVIRONMENT = {"NODE_SETUP_UPLOAD_SECONDS": "0", "SAGEMAKER_RESOURCE_CONFIG_PATH": host_agent.RESOURCE_CONFIG}


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Directories of the host that every node sees: what backs the file systems of Lustre and OpenZFS, their faults, and the way
    of the `aws` command.
    """

    shared: Path
    openzfs: Path
    control: Path
    aws: Path

    @property
    def binds(self) -> list[str]:
        """The options of systemd-nspawn that show them to a node."""
        shown = ((self.shared, "/mnt/.lustre"), (self.openzfs, "/mnt/.openzfs"))
        read = ((self.control, "/mnt/.lustre-control"), (self.aws, aws_command.PLACE))
        return [
            *(f"--bind={place}:{path}" for place, path in shown),
            *(f"--bind-ro={place}:{path}" for place, path in read),
        ]


@dataclass(frozen=True, kw_only=True)
class Boot:
    """What nodes are booted with; the rig keeps it for their replacements."""

    scripts: Path
    config: Mapping[str, Any]
    mode: Mode
    environment: Mapping[str, str]
    agent_seconds: float
    cluster: str
    munge_key: bytes
    places: Places
    databases: Sequence[Database] = ()
    accounting: AccountingDatabase | None = None
    controller_done: threading.Event = field(default_factory=threading.Event)

    def bring_up(self, node: VirtualNode, nodes: Sequence[VirtualNode], delay: float) -> None:
        """Boots the node and sets it up; an error becomes the node's `failure`."""
        try:
            time.sleep(delay)
            with _timed(node, "disk"):
                node.create(self.places.binds, self._hosts(nodes))
            with _timed(node, "boot"):
                node.start()
            with _timed(node, "agent"):
                node.put(self._machines(nodes) if self.agent_seconds else self._machines(nodes) | self._slurm(node, nodes))
            with self._late_agent(node, nodes):
                if self.mode == "on_init_complete":
                    with _timed(node, "image"):
                        self._image_setup(node, nodes)
                with _timed(node, "scripts"):
                    self._run_scripts(node)
        except NodesError as error:
            node.failure = str(error)
        finally:
            if node.node_type == "Controller":
                self.controller_done.set()

    def announce(self, node: VirtualNode, nodes: Sequence[VirtualNode]) -> None:
        """What the host agent keeps up to date on a node."""
        node.put(self._machines(nodes) | self._slurm(node, nodes))

    @contextlib.contextmanager
    def _late_agent(self, node: VirtualNode, nodes: Sequence[VirtualNode]) -> Iterator[None]:
        """Lets the agent write Slurm's files `agent_seconds` later, beside what is done here; this ends when both have ended."""
        files = self._slurm(node, nodes) if self.agent_seconds else {}
        if not files:
            yield
            return
        with ThreadPoolExecutor(max_workers=1) as agent:
            written = agent.submit(self._put_late, node, files)
            yield
            written.result()

    def _put_late(self, node: VirtualNode, files: Mapping[str, File]) -> None:
        time.sleep(self.agent_seconds)
        node.put(files)

    def _machines(self, nodes: Sequence[VirtualNode]) -> dict[str, File]:
        return {
            "/etc/hosts": File(content=self._hosts(nodes)),
            "/etc/munge/munge.key": File(content=self.munge_key, mode=0o400, owner="munge"),
            host_agent.RESOURCE_CONFIG: File(content=host_agent.resource_config(nodes, self.cluster), mode=0o600),
        }

    def _slurm(self, node: VirtualNode, nodes: Sequence[VirtualNode]) -> dict[str, File]:
        if node.node_type != "Controller":
            return {}
        groups = self.config.get("groups", {})
        partitions = {name: group["partition"] for name, group in groups.items() if "partition" in group}
        return host_agent.slurm_files(nodes, self.cluster, partitions)

    def _hosts(self, nodes: Sequence[VirtualNode]) -> str:
        return hosts([*nodes, *self.databases])

    def _image_setup(self, node: VirtualNode, nodes: Sequence[VirtualNode]) -> None:
        image_setup.mount(node, self.config.get("mounts", {}).get(node.group, []))
        if node.node_type == "Controller":
            image_setup.controller(node, self.accounting)
            self.controller_done.set()
            return
        self.controller_done.wait(CONTROLLER_SECONDS)
        controller = next(other for other in nodes if other.node_type == "Controller")
        if controller.failure is not None:
            raise NodesError(f"{node.name}: not set up, the controller has failed: {controller.failure}")
        image_setup.daemon(node, controller)

    def _run_scripts(self, node: VirtualNode) -> None:
        staged = {f"{STAGE}/{path.relative_to(self.scripts)}": _file(path) for path in _files(self.scripts)}
        staged[f"{STAGE}/config.json"] = File(content=json.dumps(self.config))
        node.put(staged)
        entry = f"{STAGE}/{self.mode}.sh"
        environment = {**ENVIRONMENT, **self.environment}
        done = node.run([entry], directory=STAGE, environment=environment, timeout=SCRIPT_SECONDS, check=False)
        if done.returncode != 0:
            lines = node.run(["tail", "-n", "1", LOG], check=False).stdout.strip() or done.stderr.strip()
            node.failure = lines or f"{entry} ended with exit code {done.returncode} and logged nothing"


def hosts(nodes: Sequence[VirtualNode | Database]) -> str:
    """`/etc/hosts` in place of the network's DNS."""
    return "127.0.0.1 localhost\n" + "".join(f"{node.address} {node.name}\n" for node in nodes)


def _files(scripts: Path) -> Iterator[Path]:
    return (path for path in sorted(scripts.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def _file(path: Path) -> File:
    return File(content=path.read_bytes(), mode=path.stat().st_mode & 0o755)


@contextlib.contextmanager
def _timed(node: VirtualNode, phase: str) -> Iterator[None]:
    started = time.monotonic()
    try:
        yield
    finally:
        node.seconds[phase] = time.monotonic() - started
