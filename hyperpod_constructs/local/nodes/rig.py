"""The rig: boots virtual nodes as the service boots a cluster, replaces them, and leaves the host as it was."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from hyperpod_constructs.local.nodes.aws_command import Aws, AwsCommand, nobody
from hyperpod_constructs.local.nodes.boot import Boot, Mode, Places, hosts
from hyperpod_constructs.local.nodes.commands import host
from hyperpod_constructs.local.nodes.database import PORT, AccountingDatabase, Database
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.image import Image
from hyperpod_constructs.local.nodes.network import Network
from hyperpod_constructs.local.nodes.node import Hardware, VirtualNode
from hyperpod_constructs.local.nodes.requirements import missing
from hyperpod_constructs.local.nodes.slots import Slot

NODE_TYPES = ("Controller", "Login", "Compute")
SHARED_MIB = 4096
BOOT_THREADS = 8
CLOSE_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """`count` nodes of one instance group. `delay_seconds` makes their machines come late; their `instance_ids` are made up
    unless given.
    """

    group: str
    node_type: str
    count: int
    gpus: int = 0
    cpus: int = 2
    delay_seconds: float = 0
    instance_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.node_type not in NODE_TYPES:
            raise NodesError(f"group {self.group}: node_type is {self.node_type!r}, allowed are {', '.join(NODE_TYPES)}")

    @property
    def hardware(self) -> Hardware:
        return Hardware(cpus=self.cpus, gpus=self.gpus, instance_store=self.node_type == "Compute")


class Rig:
    """Virtual nodes on this machine. Make it with `create`, use it in a `with` statement."""

    def __init__(self, directory: Path, image: Image, cluster: str, binds: Mapping[Path, str], slot: Slot, aws: Aws) -> None:
        self.nodes: list[VirtualNode] = []
        self.databases: list[Database] = []
        self.cluster = cluster
        self.shared = directory / "shared"
        self.openzfs = directory / "openzfs"
        self._directory = directory
        self._image = image
        self._binds = dict(binds)
        self.slot = slot
        self._ledger = slot.ledger
        self._network = Network(slot.number, slot.ledger)
        self._places = Places(shared=self.shared, openzfs=self.openzfs, control=directory / "control", aws=slot.directory / "aws")
        self._aws = aws
        self._aws_command: AwsCommand | None = None
        self._munge_key = secrets.token_bytes(128)
        self._numbers = 0
        self._boots: dict[VirtualNode, Boot] = {}
        self._changes = threading.RLock()
        self._closed = False

    @classmethod
    def create(
        cls,
        directory: Path,
        *,
        image: Image,
        cluster: str = "virtual",
        binds: Mapping[Path, str] | None = None,
        wait_seconds: float = 0,
        aws: Aws = nobody,
    ) -> Rig:
        """Takes one of the machine's slots, undoes what rigs that crashed have left, and makes the nodes' network.

        :param binds: by directory of the host, the path under which every node sees it, read-only; none unless given.
        :param aws: answers the nodes' `aws` command; without one, it has no credentials.
        :raises NodesError: if the machine lacks something, or no slot is free after `wait_seconds`.
        """
        if (sentence := missing()) is not None:
            raise NodesError(sentence)
        rig = cls(directory, image, cluster, binds or {}, Slot.take(wait_seconds), aws)
        try:
            rig._prepare()
        except BaseException:
            rig.close()
            raise
        return rig

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kills the nodes and undoes everything that the rig has made on the host; a boot on the way fails."""
        self._closed = True
        while not self._changes.acquire(timeout=CLOSE_PAUSE_SECONDS):
            self._kill_all()
        try:
            self._kill_all()
            if self._aws_command is not None:
                self._aws_command.close()
            self.slot.leave()
        finally:
            self._changes.release()

    def boot(
        self,
        specs: Sequence[NodeSpec],
        *,
        scripts: Path,
        config: Mapping[str, Any],
        mode: Mode = "on_init_complete",
        environment: Mapping[str, str] | None = None,
        agent_seconds: float = 0,
        accounting: AccountingDatabase | None = None,
    ) -> list[VirtualNode]:
        """Boots the nodes of a cluster side by side and runs the scripts on each; more calls add nodes.

        A node that fails does not stop the others: its `failure` says why. `scripts` is the tree of the entry points,
        `config` becomes its `config.json`, `environment` is added to the scripts' own. `agent_seconds` is how
        long after the boot the host agent writes `slurm.conf` on the controller. `accounting` is the database that the service
        gives to the image's set-up; it is on the controller unless given.
        """
        if mode not in get_args(Mode):
            raise NodesError(f"mode is {mode!r}, allowed are {', '.join(get_args(Mode))}")
        with self._changes:
            boot = Boot(
                scripts=scripts,
                config=config,
                mode=mode,
                environment=dict(environment or {}),
                agent_seconds=agent_seconds,
                cluster=self.cluster,
                munge_key=self._munge_key,
                places=self._places,
                databases=self.databases,
                accounting=accounting,
            )
            old = list(self.nodes)
            delays = {node: spec.delay_seconds for spec in specs for node in self._new_nodes(spec)}
            made = list(delays)
            if sum(node.node_type == "Controller" for node in self.nodes) != 1:
                raise NodesError("a cluster has one node of the type Controller: its first boot makes it, and no other does")
            self._boots.update(dict.fromkeys(made, boot))
            if old:
                boot.controller_done.set()
                self._tell(old)
                self._reconfigure()
            self._bring_up({node: delays[node] for node in sorted(made, key=lambda node: node.node_type != "Controller")})
        return made

    def add_database(self, name: str, *, data: Path, port: int = PORT) -> Database:
        """A host with a MariaDB of its own, which nodes that boot later know by this name; it is none of `nodes`.

        :param data: the directory of its files, which stay after the rig.
        """
        with self._changes:
            node = self._node("database", "Database", len(self.databases), self._numbers, Hardware(), None)
            self._numbers += 1
            database = Database(name, node)
            self.databases.append(database)
            database.start(data, hosts([*self.nodes, *self.databases]), port)
        return database

    def replace(
        self,
        node: VirtualNode,
        *,
        instance_id: str | None = None,
        scripts: Path | None = None,
        config: Mapping[str, Any] | None = None,
        mode: Mode | None = None,
    ) -> VirtualNode:
        """Replaces a node as the service does: same name and address, new instance id, empty disk; the scripts run again,
        those of its boot unless others are given.
        """
        with self._changes:
            node.destroy()
            new = self._node(node.group, node.node_type, node.index, node.number, node.hardware, instance_id)
            self.nodes[self.nodes.index(node)] = new
            boot = self._boots.pop(node)
            self._boots[new] = replace(boot, scripts=scripts or boot.scripts, config=config or boot.config, mode=mode or boot.mode)
            self._bring_up({new: 0})
            self._tell([other for other in self.nodes if other is not new])
        return new

    def remove(self, node: VirtualNode) -> None:
        """Scales the node away: its machine is gone, and Slurm and the other nodes hear of it."""
        with self._changes:
            node.destroy()
            self.nodes.remove(node)
            del self._boots[node]
            self._tell(self.nodes)
            self._reconfigure()

    def group(self, name: str) -> list[VirtualNode]:
        return [node for node in self.nodes if node.group == name]

    def node(self, group: str, index: int) -> VirtualNode:
        for node in self.nodes:
            if (node.group, node.index) == (group, index):
                return node
        raise NodesError(f"no node {index} in group {group!r}; nodes are {self.nodes}")

    @property
    def controller(self) -> VirtualNode:
        return next(node for node in self.nodes if node.node_type == "Controller")

    def fail_mount(self, fault: Literal["fail", "hang"] | None) -> None:
        """From now on mounts of Lustre and NFS fail, or do not come back, on every node; `None` heals it."""
        (self._places.control / "fault").write_text(fault or "", encoding="ascii")

    def states(self) -> dict[str, str]:
        """Slurm's state of each of its nodes, without the marks for flags: `idle`, `down`, `failing` …"""
        lines = self.controller.run(["sinfo", "--noheader", "--Node", "--format=%N %T"]).stdout.split("\n")
        return {name: state.rstrip("*$~#!%@^-+") for name, state in (line.split() for line in lines if line)}

    def await_idle(self, nodes: Sequence[VirtualNode] | None = None, *, seconds: float = 600) -> None:
        """Returns when Slurm calls the nodes idle; by default every node with jobs to take."""
        chosen = [node for node in self.nodes if node.node_type == "Compute"] if nodes is None else nodes
        wanted = [node.name for node in chosen]
        deadline = time.monotonic() + seconds
        while True:
            states = self.states()
            waiting = {name: states.get(name, "unknown") for name in wanted if states.get(name) != "idle"}
            if not waiting:
                return
            if time.monotonic() > deadline:
                raise NodesError(f"after {seconds:.0f} s Slurm does not call idle: {waiting}")
            time.sleep(0.2)

    def _prepare(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        for place in (self.shared, self.openzfs, self._places.control, self._places.aws, self._directory / "nodes"):
            self._ledger.directory(place)
        for place in (self.shared, self.openzfs):
            host("mount", "-t", "tmpfs", "-o", f"size={SHARED_MIB}m,mode=0755", "hyperpod-shared", str(self._ledger.mount(place)))
        self._aws_command = AwsCommand(self._places.aws, self._aws)
        self._network.make()

    def _new_nodes(self, spec: NodeSpec) -> list[VirtualNode]:
        made = []
        for instance_id in spec.instance_ids or [None] * spec.count:
            index = len(self.group(spec.group))
            node = self._node(spec.group, spec.node_type, index, self._numbers, spec.hardware, instance_id)
            self._numbers += 1
            self.nodes.append(node)
            made.append(node)
        return made

    def _node(
        self, group: str, node_type: str, index: int, number: int, hardware: Hardware, instance_id: str | None
    ) -> VirtualNode:
        return VirtualNode(
            group=group,
            node_type=node_type,
            index=index,
            number=number,
            hardware=hardware,
            directory=self._directory / "nodes",
            ledger=self._ledger,
            network=self._network,
            image=self._image,
            binds=self._binds,
            instance_id=instance_id,
        )

    def _bring_up(self, delays: Mapping[VirtualNode, float]) -> None:
        """Boots nodes side by side, those first that come first."""
        with ThreadPoolExecutor(max_workers=BOOT_THREADS) as pool:
            list(pool.map(lambda node: self._bring_up_one(node, delays[node]), delays))

    def _bring_up_one(self, node: VirtualNode, delay: float) -> None:
        if self._closed:
            node.failure = "the rig was closed before the node booted"
            return
        self._boots[node].bring_up(node, self.nodes, delay)

    def _kill_all(self) -> None:
        with ThreadPoolExecutor(max_workers=BOOT_THREADS) as pool:
            list(pool.map(VirtualNode.forget, [*self.nodes, *(database.node for database in self.databases)]))

    def _reconfigure(self) -> None:
        """Makes a running controller read the agent's files again; one that does not run reads them when it starts."""
        self.controller.run(["sh", "-c", "systemctl is-active --quiet slurmctld || exit 0; scontrol reconfigure"])

    def _tell(self, nodes: Sequence[VirtualNode]) -> None:
        """Brings the host agent's files up to date; one that does not answer keeps its stale copy, as in the service."""
        for node in nodes:
            if node.running:
                with contextlib.suppress(NodesError):
                    self._boots[node].announce(node, self.nodes)
