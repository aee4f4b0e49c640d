"""Events and metrics of clusters, which the service sends by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud
from tests.local.test_fleet import Fleet

EVENT, STATE, HEALTH = (f"SageMaker HyperPod Cluster {kind}" for kind in ("Event", "State Change", "Node Health Event"))
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}


class Heard:
    """An account that listens: events, and the metrics of nodes."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.events: list[tuple[str, Mapping[str, Any], Sequence[str]]] = []
        self.metrics: list[tuple[str, float]] = []
        self.fleet = Fleet()
        self.service = HyperPod(cloud.faults, self.client, cloud.clock, fleet=self.fleet, send_event=self.hear)
        self.call: Callable[..., dict[str, Any]] = checked(self.service)

    def client(self, service: str, caller: Caller) -> Any:
        return self if service == "cloudwatch" else self.cloud.client(service, caller)

    def hear(self, caller: Caller, kind: str, detail: Mapping[str, Any], resources: Sequence[str]) -> None:
        assert caller == CALLER
        self.events.append((kind, detail, resources))

    def put_metric_data(self, Namespace: str, MetricData: Sequence[Mapping[str, Any]]) -> None:  # noqa: N803
        assert Namespace == "/aws/sagemaker/Clusters"
        for one in MetricData:
            (dimension,) = one["Dimensions"]
            assert (dimension["Name"], len(dimension["Value"])) == ("ClusterId", 12)
            self.metrics.append((one["MetricName"], one["Value"]))

    def tick(self, seconds: float = 1) -> None:
        self.cloud.clock.tick(seconds)
        self.service.tend()

    def in_service(self, **members: Any) -> str:
        arn = str(self.call("CreateCluster", **cluster(self.cloud, **members))["ClusterArn"])
        for _ in range(12):
            self.tick()
            if self.fleet.calls:
                self.fleet.boot()
        return arn

    def failed(self) -> list[float]:
        return [value for name, value in self.metrics if name == "cluster_failed_node_count"]


@pytest.fixture
def heard() -> Iterator[Heard]:
    with moto_cloud() as cloud:
        yield Heard(cloud)


def test_each_event_and_each_status_is_sent_once(heard: Heard) -> None:
    arn = heard.in_service()
    listed = heard.call("ListClusterEvents", ClusterName="demo", SortOrder="Ascending")["Events"]
    sent = [detail["EventDetails"] for kind, detail, _ in heard.events if kind == EVENT]
    assert [event["EventId"] for event in sent] == [event["EventId"] for event in listed]
    assert {event["EventLevel"] for event in sent} == {"Info"}
    assert sent[0]["EventTime"] == int(listed[0]["EventTime"].timestamp() * 1000)
    assert [detail["ClusterStatus"] for kind, detail, _ in heard.events if kind == STATE] == ["Creating", "InService"]
    assert {tuple(resources) for *_, resources in heard.events} == {(arn,)}


def test_a_broken_node_is_an_event_and_counts_as_failed_until_it_is_back(heard: Heard) -> None:
    heard.in_service()
    broken = heard.call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"][-1]["InstanceId"]
    assert set(heard.failed()) == {0}
    heard.events.clear()

    heard.fleet.marked = {broken: "Action:Replace"}
    heard.tick()
    heard.fleet.marked = {}
    assert heard.failed()[-1] == 1
    ((kind, detail, _), *_) = heard.events
    assert (kind, detail["EventDetails"]["EventLevel"]) == (EVENT, "Warn")
    assert detail["EventDetails"]["Description"] == "Automatic node recovery: Action:Replace"

    for _ in range(5):
        heard.tick()
        heard.fleet.boot()
    assert heard.failed()[-1] == 0
    assert HEALTH not in [kind for kind, *_ in heard.events], "Slurm's health agent sends none"


def test_new_nodes_do_not_count_as_failed(heard: Heard) -> None:
    heard.in_service(workers=1)
    heard.call(
        "BatchAddClusterNodes", ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    )
    for _ in range(8):
        heard.tick()
    heard.fleet.boot()
    heard.tick(3)
    assert set(heard.failed()) == {0}
    assert [value for name, value in heard.metrics if name == "cluster_node_count"][-1] == 3


def test_metrics_go_on_each_minute(heard: Heard) -> None:
    heard.in_service()
    before = len(heard.metrics)
    heard.tick(30)
    assert len(heard.metrics) == before
    heard.tick(31)
    assert len(heard.metrics) == before + 2


def test_on_eks_the_health_agent_sends_an_event_and_no_metric_comes(heard: Heard) -> None:
    heard.in_service(Orchestrator=EKS, InstanceGroups=[group(heard.cloud, "workers", None, 2)])
    node = heard.call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"][0]["InstanceId"]
    heard.service.recover({node: "Action:Reboot"})
    (detail,) = [detail for kind, detail, _ in heard.events if kind == HEALTH]
    assert (detail["InstanceId"], detail["HealthSummary"]["HealthStatus"]) == (node, "Unhealthy")
    assert heard.metrics == []


def test_nobody_hears_of_a_cluster_after_a_reset(heard: Heard) -> None:
    heard.in_service()
    heard.service.reset()
    heard.events.clear()
    heard.tick()
    assert heard.events == []
