"""Node groups of the embedded EKS."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes_nodes import KubernetesNodes
from tests.local.eks.conftest import EksCloud
from tests.local.eks.test_clusters import refused
from tests.local.kubernetes.memory_api import MemoryApi

NAMED = {"clusterName": "demo", "nodegroupName": "system"}


def asked(eks: EksCloud, **members: Any) -> dict[str, Any]:
    return {**NAMED, "subnets": eks.subnets, "nodeRole": eks.node_role} | members


def group(eks: EksCloud) -> dict[str, Any]:
    found: dict[str, Any] = eks("DescribeNodegroup", **NAMED)["nodegroup"]
    return found


def test_a_node_group_is_created_updated_and_deleted(eks: EksCloud) -> None:
    eks.cluster()
    made = eks("CreateNodegroup", **asked(eks, labels={"a": "1"}, tags={"t": "1"}))["nodegroup"]
    assert (made["status"], made["version"]) == ("CREATING", "1.33")
    eks.tick()
    assert group(eks)["status"] == "ACTIVE"
    taint = {"key": "k", "value": "v", "effect": "NO_SCHEDULE"}
    eks(
        "UpdateNodegroupConfig",
        **NAMED,
        scalingConfig={"desiredSize": 1},
        labels={"addOrUpdateLabels": {"b": "2"}, "removeLabels": ["a"]},
        taints={"addOrUpdateTaints": [taint]},
    )
    assert group(eks)["status"] == "UPDATING"
    eks.tick()
    found = group(eks)
    assert (found["labels"], found["taints"], found["scalingConfig"]["desiredSize"]) == ({"b": "2"}, [taint], 1)
    eks("UpdateClusterVersion", name="demo", version="1.34")
    eks.tick()
    assert group(eks)["version"] == "1.33"
    eks("UpdateNodegroupVersion", **NAMED)
    eks.tick()
    assert group(eks)["version"] == "1.34"
    assert "system" in refused(eks, "DeleteCluster", "ResourceInUseException", name="demo")
    eks("DeleteNodegroup", **NAMED)
    eks.tick()
    assert eks("ListNodegroups", clusterName="demo")["nodegroups"] == []
    eks("DeleteCluster", name="demo")


@pytest.mark.parametrize(
    "members",
    [
        {"scalingConfig": {"minSize": 3, "desiredSize": 2, "maxSize": 5}},
        {"scalingConfig": {"minSize": 1, "desiredSize": 1_000_000_000, "maxSize": 1_000_000_000}},
        {"version": "1.34"},
        {"nodeRole": "arn:aws:iam::123456789012:role/control"},
    ],
)
def test_a_wrong_node_group_is_refused(eks: EksCloud, members: dict[str, Any]) -> None:
    eks.cluster()
    refused(eks, "CreateNodegroup", **asked(eks, **members))
    assert eks("ListNodegroups", clusterName="demo")["nodegroups"] == []


def test_its_subnets_are_in_the_vpc_of_the_cluster(eks: EksCloud) -> None:
    eks.cluster()
    ec2 = eks.cloud.client("ec2")
    other = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    away = ec2.create_subnet(VpcId=other, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    assert "not in the VPC" in refused(eks, "CreateNodegroup", **asked(eks, subnets=[away]))


def test_every_instance_of_a_group_is_a_node_of_its_cluster(eks: EksCloud) -> None:
    eks.cluster()
    api = MemoryApi()
    nodes = KubernetesNodes(lambda arn, caller: api, [lambda _: eks.eks.nodes()], eks.cloud.clock)

    def found() -> list[dict[str, Any]]:
        eks.tick()
        nodes.tend()
        return api.list("v1", "Node")

    taint = {"key": "k", "value": "v", "effect": "PREFER_NO_SCHEDULE"}
    sizes = {"minSize": 1, "maxSize": 5, "desiredSize": 3}
    taints = [taint, {"key": "of no effect"}]
    made = asked(eks, scalingConfig=sizes, instanceTypes=["m7g.large"], labels={"a": "1"}, taints=taints)
    eks("CreateNodegroup", **made)
    nodes.tend()
    assert api.list("v1", "Node") == []
    group = found()
    assert {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in group} == {"us-west-2a", "us-west-2b"}
    labels = group[0]["metadata"]["labels"]
    assert (labels["eks.amazonaws.com/nodegroup"], labels["eks.amazonaws.com/capacityType"], labels["a"]) == (
        "system",
        "ON_DEMAND",
        "1",
    )
    assert (labels["node.kubernetes.io/instance-type"], labels["kubernetes.io/arch"]) == ("m7g.large", "arm64")
    assert group[0]["spec"]["taints"] == [{**taint, "effect": "PreferNoSchedule"}]
    eks("UpdateNodegroupConfig", **NAMED, scalingConfig={"desiredSize": 1})
    assert [node["metadata"]["name"] for node in found()] == [group[0]["metadata"]["name"]]
    eks("DeleteNodegroup", **NAMED)
    assert found() == []


def test_a_new_version_of_a_group_brings_other_instances(eks: EksCloud) -> None:
    eks.cluster()
    eks("CreateNodegroup", **asked(eks))
    eks("UpdateClusterVersion", name="demo", version="1.34")
    eks.tick()
    (before,) = eks.eks.nodes().values()
    eks("UpdateNodegroupVersion", **NAMED)
    eks.tick()
    (after,) = eks.eks.nodes().values()
    assert (len(before), len(after), {one.node for one in before} & {one.node for one in after}) == (2, 2, set())


def test_the_type_of_a_launch_template_is_unknown(eks: EksCloud) -> None:
    eks.cluster()
    eks("CreateNodegroup", **asked(eks, launchTemplate={"id": "lt-0123456789abcdef0"}))
    eks.tick()
    (found,) = eks.eks.nodes().values()
    assert {one.instance_type for one in found} == {"unknown"}
