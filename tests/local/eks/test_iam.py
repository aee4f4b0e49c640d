"""The resources that IAM evaluates requests to the embedded EKS against."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.local.eks.conftest import EksCloud
from tests.local.moto_cloud import CALLER

CLUSTER = "arn:aws:eks:us-west-2:123456789012:cluster/demo"


@pytest.fixture
def arns(eks: EksCloud) -> dict[str, str]:
    """What belongs to a cluster, by the member that names it."""
    eks.cluster()
    named: dict[str, Any] = {"clusterName": "demo"}
    addon = eks("CreateAddon", **named, addonName="vpc-cni")["addon"]
    entry = eks("CreateAccessEntry", **named, principalArn=eks.node_role)["accessEntry"]
    return {"addonName": addon["addonArn"], "principalArn": entry["accessEntryArn"]}


def test_a_request_is_about_what_it_names(eks: EksCloud, arns: dict[str, str]) -> None:
    def arn(operation: str, **members: str) -> str | None:
        return eks.eks.arn(operation, members, CALLER)

    assert arn("DescribeCluster", name="demo") == CLUSTER
    assert arn("CreateAddon", clusterName="demo", addonName="vpc-cni") == CLUSTER
    assert arn("ListAccessEntries", clusterName="demo") == CLUSTER
    assert arn("DescribeAddon", clusterName="demo", addonName="vpc-cni") == arns["addonName"]
    assert arn("DeleteAccessEntry", clusterName="demo", principalArn=eks.node_role) == arns["principalArn"]
    assert arn("TagResource", resourceArn=arns["addonName"]) == arns["addonName"]
    assert arn("DescribeCluster", name="other") is None
    assert arn("ListClusters") is None


def test_the_question_waits_for_no_operation(eks: EksCloud) -> None:
    eks.cluster()
    with eks.eks._lock:
        found: list[str | None] = []
        asking = threading.Thread(target=lambda: found.append(eks.eks.arn("DescribeCluster", {"name": "demo"}, CALLER)))
        asking.start()
        asking.join(10)
    assert found == [CLUSTER]
