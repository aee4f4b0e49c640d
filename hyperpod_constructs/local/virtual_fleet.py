"""The fleet of the embedded HyperPod that boots a virtual node for every instance, and runs the uploaded scripts on it."""

from __future__ import annotations

import json
import logging
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, cast

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.facts.instance_types import instance_type
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.fleet import Recovery
from hyperpod_constructs.local.hyperpod.state import Cluster, Node, Outcome, Spec, instance_types
from hyperpod_constructs.local.nodes import Image, NodesError, NodeSpec, Rig, VirtualNode
from hyperpod_constructs.local.nodes.boot import LOG, Mode
from hyperpod_constructs.local.nodes.doubles import health_agent
from hyperpod_constructs.local.nodes.slots import SLOTS
from hyperpod_constructs.local.virtual_databases import Databases, accounting_database

MIB_PER_NODE = 400
"""Memory that one node takes at most while it boots: its disk is in memory. Measured with accounting on the controller."""

NO_CONFIGURATION: Mapping[str, Any] = {"groups": {}, "mounts": {}}


class Source(NamedTuple):
    """Where a node's scripts are, the entry point's name, and the mode; empty texts without scripts."""

    uri: str
    entry: str
    mode: Mode


class VirtualFleet:
    """Nodes of clusters, each with a rig of its own. Changes are made one after another, in the order in which they were asked for.

    Their shared file system ends with their cluster, unlike FSx.
    """

    def __init__(self, directory: Path, clients: Clients) -> None:
        self._directory = directory
        self._clients = clients
        self._changes = ThreadPoolExecutor(max_workers=1, thread_name_prefix="virtual-fleet")
        self._lock = threading.Lock()
        self._rigs: dict[str, Rig] = {}
        self._clusters: dict[str, Cluster] = {}
        self._closed = False
        self._homes: dict[str, str] = {}
        self._by_logical_id: dict[str, VirtualNode] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._databases = Databases(directory / "databases", clients)

    def objection(self, specs: Sequence[Spec], settings: Spec) -> str | None:
        """More nodes than memory holds beside the nodes of other clusters, more clusters than slots, and clusters without Slurm.

        Nodes that were asked for and have not booted yet count, although they take no memory so far. An update comes with the
        settings of its cluster.
        """
        if "Slurm" not in settings.get("Orchestrator", {}):
            return "virtual nodes run Slurm; a cluster with another orchestrator needs the embedded AWS without nodes (NODES=0)"
        wanted = sum(spec["InstanceCount"] for spec in specs) + (accounting_database(settings) is not None)
        with self._lock:
            arn = next((arn for arn, cluster in self._clusters.items() if cluster.settings is settings), None)
            own = sum(home == arn for home in self._homes.values())
            pending = len(self._homes) - len(self._by_logical_id)
        if arn is None and len(self._clusters) >= SLOTS:
            return f"{len(self._clusters)} clusters have virtual nodes, the most for one machine; delete one first"
        most = max(0, _memory_mib() // MIB_PER_NODE - pending + own)
        if wanted > most:
            return (
                f"{wanted} nodes of {MIB_PER_NODE} MiB each are wanted, and this machine has memory for {most}; "
                "lower the counts, or use the embedded AWS without nodes (NODES=0)"
            )
        return None

    def launch(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        """Boot the nodes; one that had the same logical id is replaced under its name and address."""
        with self._lock:
            self._clusters[cluster.arn] = cluster
            self._homes |= dict.fromkeys((node.logical_id for node in nodes), cluster.arn)
        self._begin(nodes, lambda: self._launch(cluster, nodes))

    def outcome(self, node: Node) -> Outcome | None:
        """How the latest boot ended."""
        with self._lock:
            return self._outcomes.get(node.instance_id)

    def marks(self) -> dict[str, Recovery]:
        """What Slurm says of its nodes, and that those which are off are to be replaced."""
        with self._lock:
            settled: dict[str, list[VirtualNode]] = {}
            for logical_id, node in self._by_logical_id.items():
                if node.instance_id in self._outcomes:
                    settled.setdefault(self._homes[logical_id], []).append(node)
        return {id: mark for nodes in settled.values() for id, mark in self._marks_of(nodes).items()}

    def busy(self) -> frozenset[str]:
        """The nodes to which Slurm gave jobs; all nodes of a cluster while its Slurm does not answer."""
        with self._lock:
            clusters = grouped((self._homes[logical_id], node) for logical_id, node in self._by_logical_id.items())
        return frozenset(name for nodes in clusters.values() for name in _busy(nodes))

    def _marks_of(self, settled: Sequence[VirtualNode]) -> dict[str, Recovery]:
        controller = next((node for node in settled if node.node_type == "Controller" and node.running), None)
        if controller is None:
            return {}
        marks = {mark.node: mark for mark in health_agent.read_marks(controller)}
        found = {node.instance_id: cast(Recovery, marks[node.name].action) for node in settled if _free(marks.get(node.name))}
        dead = [node for node in settled if not node.running and node.name not in marks]
        return found | {node.instance_id: "Action:Replace" for node in dead if not _noted_as_dead(controller, node)}

    def reboot(self, nodes: Sequence[Node]) -> None:
        """Reboot the nodes with their disks."""
        self._begin(nodes, lambda: self._reboot(nodes))

    def terminate(self, nodes: Sequence[Node]) -> None:
        """Take the nodes away; without its controller the whole cluster goes."""
        ended = [node for node in nodes if node.logical_id in self._homes]
        if ended:
            self._changes.submit(self._remove, ended)

    def running(self) -> list[dict[str, Any]]:
        """The nodes that run, with the command of the host that starts a program on each."""
        return [
            {"InstanceId": node.instance_id, "InstanceGroupName": node.group, "Name": node.name, "Command": node.command()}
            for node in list(self._by_logical_id.values())
            if node.running
        ]

    def close(self) -> None:
        """Kill the nodes and leave the machine as it was."""
        self._closed = True
        self._changes.shutdown(wait=False, cancel_futures=True)
        for arn in list(self._rigs):
            self._end_rig(arn)

    def _begin(self, nodes: Sequence[Node], change: Callable[[], None]) -> None:
        """Forget how the nodes booted, and those whose places they take: one of them that is off must not be marked as dead later,
        because the mark would then meet its successor.
        """
        if not nodes:
            return
        with self._lock:
            for node in nodes:
                self._outcomes.pop(node.instance_id, None)
                if (old := self._by_logical_id.get(node.logical_id)) is not None:
                    self._outcomes.pop(old.instance_id, None)

        def run() -> None:
            try:
                change()
            except Exception as error:  # whatever it is, the service reports it as the failure of the nodes
                logging.getLogger(__name__).exception("virtual nodes")
                self._end({node.instance_id: Outcome(str(error), (f"failed: {error}",)) for node in nodes})

        self._changes.submit(run)

    def _end(self, outcomes: Mapping[str, Outcome]) -> None:
        with self._lock:
            self._outcomes.update(outcomes)

    def _launch(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        rig = self._rig_of(cluster)
        heads_first = sorted(nodes, key=lambda node: node.node_type != "Controller")
        for source in dict.fromkeys(map(_source, heads_first)):
            scripts, config = self._scripts(cluster, source)
            same = [node for node in heads_first if _source(node) == source]
            new = [node for node in same if not self._replaced(rig, node, scripts, config)]
            if new:
                accounting = self._databases.provide(rig, cluster, config)
                made = rig.boot(_specs(new), scripts=scripts, config=config, mode=source.mode, accounting=accounting)
                by_id = {node.instance_id: node for node in made}
                for node in new:
                    self._booted(node, by_id[node.instance_id])

    def _replaced(self, rig: Rig, node: Node, scripts: Path, config: Mapping[str, Any]) -> bool:
        """Whether the node took the place of another."""
        old = self._by_logical_id.get(node.logical_id)
        if old is None:
            return False
        mode = _source(node).mode
        virtual = rig.replace(old, instance_id=node.instance_id, scripts=scripts, config=config, mode=mode)
        self._return_to_slurm(rig, virtual)
        self._booted(node, virtual)
        return True

    def _reboot(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            virtual = self._by_logical_id[node.logical_id]
            virtual.reboot()
            self._return_to_slurm(self._rigs[self._homes[node.logical_id]], virtual)
            self._booted(node, virtual)

    def _return_to_slurm(self, rig: Rig, node: VirtualNode) -> None:
        if node is not rig.controller:
            health_agent.return_to_slurm(rig.controller, node)

    def _booted(self, node: Node, virtual: VirtualNode) -> None:
        with self._lock:
            self._by_logical_id[node.logical_id] = virtual
        self._end({node.instance_id: Outcome(virtual.failure, _log(virtual))})

    def _remove(self, nodes: Sequence[Node]) -> None:
        with self._lock:
            homes = {node: self._homes.pop(node.logical_id) for node in nodes if node.logical_id in self._homes}
        for arn in dict.fromkeys(homes.values()):
            own = [node for node, home in homes.items() if home == arn]
            virtual = [found for node in own if (found := self._by_logical_id.pop(node.logical_id, None)) is not None]
            if any(node.node_type == "Controller" for node in own) or arn not in self._homes.values():
                self._end_rig(arn)
            elif arn in self._rigs:
                for found in virtual:
                    self._rigs[arn].remove(found)

    def _end_rig(self, arn: str) -> None:
        with self._lock:
            for logical_id in [id for id, home in self._homes.items() if home == arn]:
                self._by_logical_id.pop(logical_id, None)
                del self._homes[logical_id]
            self._clusters.pop(arn, None)
            rig = self._rigs.pop(arn, None)
        if rig is not None:
            rig.close()
            self._databases.leave(arn)

    def _rig_of(self, cluster: Cluster) -> Rig:
        if self._closed:
            raise NodesError("the embedded AWS stops")
        if cluster.arn not in self._rigs:
            directory = self._directory / cluster.arn.rpartition("/")[2]
            aws = partial(self._databases.answer, cluster)
            self._rigs[cluster.arn] = Rig.create(directory, image=Image.build(), cluster=cluster.name, aws=aws)
        return self._rigs[cluster.arn]

    def _scripts(self, cluster: Cluster, source: Source) -> tuple[Path, dict[str, Any]]:
        """The scripts of a prefix in S3, with the entry point under the name of the mode, and their configuration."""
        # The prefix holds what only the deployment knew, and can be longer than the name of a file.
        target = self._directory / "scripts" / sha256(source.uri.encode()).hexdigest()
        target.mkdir(parents=True, exist_ok=True)
        entry = f"{source.mode}.sh"
        if not source.uri:
            _write(target / entry, b"#!/bin/sh\n")
            return target, dict(NO_CONFIGURATION)
        bucket, _, prefix = source.uri.removeprefix("s3://").partition("/")
        s3 = self._clients("s3", cluster.caller)
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            for item in page.get("Contents", ()):
                name = PurePosixPath(item["Key"].removeprefix(prefix).lstrip("/"))
                if ".." in name.parts:
                    raise NodesError(f"s3://{bucket}/{item['Key']} has .. in its key, which names a file outside the scripts")
                _write(target / name, s3.get_object(Bucket=bucket, Key=item["Key"])["Body"].read())
        if source.entry != entry:
            _write(target / entry, f"#!/bin/sh\nexec ./{shlex.quote(source.entry)}\n".encode())
        configuration = target / "config.json"
        return target, json.loads(configuration.read_text()) if configuration.exists() else dict(NO_CONFIGURATION)


def _free(mark: health_agent.Mark | None) -> bool:
    return mark is not None and mark.free


def _noted_as_dead(controller: VirtualNode, node: VirtualNode) -> bool:
    """Whether Slurm marks the node now. It is replaced once its jobs have left: a successor under its name would hide the death
    from them. A node that Slurm does not know has no jobs.
    """
    return node.node_type == "Compute" and health_agent.mark_dead(controller, node.name)


def _busy(nodes: Sequence[VirtualNode]) -> list[str]:
    controller = next((node for node in nodes if node.node_type == "Controller" and node.running), None)
    names = None if controller is None else health_agent.read_busy(controller)
    return [node.instance_id for node in nodes if names is None or node.name in names]


def _source(node: Node) -> Source:
    scripts = node.spec.get("LifeCycleConfig", {})
    mode: Mode = "on_create" if "OnCreate" in scripts else "on_init_complete"
    return Source(str(scripts.get("SourceS3Uri", "")), str(scripts.get("OnCreate", scripts.get("OnInitComplete", ""))), mode)


def _specs(nodes: Sequence[Node]) -> list[NodeSpec]:
    """One for each group; GPUs as many as its instance type has."""
    return [
        NodeSpec(
            group=name,
            node_type=str(members[0].node_type),
            count=len(members),
            gpus=_gpus(members[0]),
            instance_ids=tuple(node.instance_id for node in members),
        )
        for name, members in grouped((node.group, node) for node in nodes).items()
    ]


def _gpus(node: Node) -> int:
    accelerator = instance_type(instance_types(node.spec)[0]).accelerator
    return accelerator.count if accelerator is not None and accelerator.kind == "gpu" else 0


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if content.startswith(b"#!"):
        path.chmod(0o755)


def _log(node: VirtualNode) -> tuple[str, ...]:
    if not node.running:
        return ()
    return tuple(node.run(["tail", "-n", "1000", LOG], check=False).stdout.splitlines())


def _memory_mib() -> int:
    lines: Iterable[str] = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kibibytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return int(kibibytes) // 1024
