"""The fleet's clusters side by side, with doubles in the place of rigs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.local import virtual_fleet
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.hyperpod.state import Cluster, Node
from hyperpod_constructs.local.nodes import NodeSpec
from hyperpod_constructs.local.nodes.doubles import health_agent
from hyperpod_constructs.local.virtual_fleet import MIB_PER_NODE, VirtualFleet
from tests.patience import until

REPLACING = threading.Event()


class FakeRig:
    """Nodes that boot at once."""

    made: list[FakeRig]

    def __init__(self, directory: Path, cluster: str) -> None:
        self.directory = directory
        self.cluster = cluster
        self.removed: list[str] = []
        self.closed = False

    @classmethod
    def create(cls, directory: Path, *, image: object, cluster: str, **_: object) -> FakeRig:
        cls.made.append(cls(directory, cluster))
        return cls.made[-1]

    def boot(self, specs: Sequence[NodeSpec], **_: object) -> list[Any]:
        return [
            SimpleNamespace(
                instance_id=id,
                node_type=spec.node_type,
                group=spec.group,
                name=id,
                running=True,
                failure=None,
                command=list,
                run=lambda *_, **__: SimpleNamespace(stdout=""),
            )
            for spec in specs
            for id in spec.instance_ids
        ]

    @property
    def controller(self) -> Any:
        return SimpleNamespace(running=True)

    def replace(self, node: Any, instance_id: str, **_: object) -> Any:
        """The node's successor, which takes its time."""
        REPLACING.wait()
        return SimpleNamespace(**{**vars(node), "instance_id": instance_id, "running": True})

    def remove(self, node: Any) -> None:
        self.removed.append(node.instance_id)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualFleet]:
    FakeRig.made = []
    monkeypatch.setattr(virtual_fleet, "Rig", FakeRig)
    monkeypatch.setattr(virtual_fleet, "Image", SimpleNamespace(build=lambda: None))
    monkeypatch.setattr(virtual_fleet, "_memory_mib", lambda: 4 * MIB_PER_NODE)
    found = VirtualFleet(tmp_path, lambda *_: None)
    yield found
    found.close()


def spec(name: str, node_type: str, count: int = 1) -> dict[str, Any]:
    slurm = {"NodeType": node_type}
    return {"InstanceGroupName": name, "InstanceType": "ml.m5.large", "InstanceCount": count, "SlurmConfig": slurm}


def launched(fleet: VirtualFleet, name: str) -> tuple[Cluster, list[Node]]:
    """A cluster of a controller and a worker, booted."""
    caller = Caller(account="123456789012", region="us-west-2", endpoint="")
    cluster = Cluster(
        name, f"arn:aws:sagemaker:us-west-2:123456789012:cluster/{name}", caller, 0.0, {"Orchestrator": {"Slurm": {}}}, {}, {}
    )
    nodes = [Node(spec("controller", "Controller"), None), Node(spec("workers", "Compute"), None)]
    for node in nodes:
        node.instance_id = f"i-{name}-{node.group}"
    fleet.launch(cluster, nodes)
    until(lambda: all(fleet.outcome(node) is not None for node in nodes), "the fleet")
    return cluster, nodes


def ids(fleet: VirtualFleet) -> set[str]:
    return {node["InstanceId"] for node in fleet.running()}


def test_two_clusters_have_a_rig_each(fleet: VirtualFleet, tmp_path: Path) -> None:
    one, two = (launched(fleet, name) for name in ("one", "two"))
    assert ids(fleet) == {node.instance_id for node in (*one[1], *two[1])}
    assert [(rig.cluster, rig.directory) for rig in FakeRig.made] == [("one", tmp_path / "one"), ("two", tmp_path / "two")]


def test_a_cluster_that_ends_leaves_the_other(fleet: VirtualFleet) -> None:
    one, two = (launched(fleet, name) for name in ("one", "two"))
    fleet.terminate(one[1])
    until(lambda: FakeRig.made[0].closed, "the fleet")
    assert ids(fleet) == {node.instance_id for node in two[1]}
    fleet.terminate(two[1][1:])
    until(lambda: FakeRig.made[1].removed == [two[1][1].instance_id], "the fleet")
    assert not FakeRig.made[1].closed


def test_a_second_cluster_must_fit_beside_the_first(fleet: VirtualFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"Orchestrator": {"Slurm": {}}}
    wanted = [spec("controller", "Controller"), spec("workers", "Compute", 3)]
    assert fleet.objection(wanted, settings) is None
    cluster, _ = launched(fleet, "one")
    monkeypatch.setattr(virtual_fleet, "_memory_mib", lambda: 2 * MIB_PER_NODE)
    assert "4 nodes of 400 MiB each are wanted, and this machine has memory for 2" in str(fleet.objection(wanted, settings))
    assert fleet.objection(wanted, cluster.settings) is None


def test_more_clusters_than_slots_are_refused(fleet: VirtualFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_fleet, "SLOTS", 1)
    cluster, _ = launched(fleet, "one")
    assert fleet.objection([], {"Orchestrator": {"Slurm": {}}}) == (
        "1 clusters have virtual nodes, the most for one machine; delete one first"
    )
    assert fleet.objection([], cluster.settings) is None


def test_the_busy_nodes_are_those_that_slurm_names(fleet: VirtualFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    _, nodes = launched(fleet, "one")
    controller, worker = (node.instance_id for node in nodes)
    monkeypatch.setattr(health_agent, "read_busy", lambda _: frozenset({worker}))
    assert fleet.busy() == {worker}
    monkeypatch.setattr(health_agent, "read_busy", lambda _: None)
    assert fleet.busy() == {controller, worker}


def test_a_dead_node_is_marked_until_its_successor_is_asked_for(fleet: VirtualFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[str] = []

    def mark(controller: object, name: str) -> bool:
        marked.append(name)
        return True

    monkeypatch.setattr(health_agent, "read_marks", lambda _: [])
    monkeypatch.setattr(health_agent, "mark_dead", mark)
    monkeypatch.setattr(health_agent, "return_to_slurm", lambda *_: None)
    cluster, (_, worker) = launched(fleet, "one")
    booted: Any = fleet._by_logical_id[worker.logical_id]
    booted.running = False
    fleet.marks()
    assert marked == ["i-one-workers"]
    REPLACING.clear()
    worker.instance_id = "i-one-successor"
    fleet.launch(cluster, [worker])
    assert fleet.marks() == {}
    REPLACING.set()
    until(lambda: fleet.outcome(worker), "the successor")
    assert fleet.marks() == {}
    assert marked == ["i-one-workers"]
