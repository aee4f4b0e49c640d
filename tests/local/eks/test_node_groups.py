"""Node groups of the embedded EKS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.local.eks.conftest import EksCloud
from tests.local.eks.test_clusters import refused

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
