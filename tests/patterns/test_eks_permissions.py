"""The role of the nodes of an EksCluster: whoever takes a permission from it is told by name what the nodes miss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack

from hyperpod_constructs import ClusterInstanceType, ClusterNetwork, EksCluster, EksControlPlane, HyperPodChart
from tests.conftest import synthesize
from tests.rules.catalogue.templates import findings

HARMLESS = {"ecr:BatchCheckLayerAvailability"}  # asked by who pushes; the guide lists it
"""Permissions that no rule misses."""


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    stack = Stack(App(), "Stack", env=Environment(account="123456789012", region="us-west-2"))
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    subnets = [
        network.add_control_plane_subnet(f"Zone{zone}", cidr=f"10.0.{zone}.0/28", availability_zone_id=f"usw2-az{zone}")
        for zone in (1, 2)
    ]
    EksCluster(
        stack,
        "Kubernetes",
        network=network,
        control_plane=EksControlPlane(stack, "ControlPlane", network=network, subnets=subnets),
        chart=HyperPodChart.stand_in(),
        worker_type=ClusterInstanceType.P5_48XLARGE,
        worker_count=2,
    )
    return synthesize(stack)


def statements(template: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Those of the role of the nodes, in its own policies and in those of the grants."""
    for id, one in template["Resources"].items():
        if "ExecutionRole" in id:
            documents = [item["PolicyDocument"] for item in one["Properties"].get("Policies", [one["Properties"]])]
            yield from (statement for document in documents for statement in document["Statement"])


def test_every_permission_of_the_nodes_is_missed_by_name(template: dict[str, Any]) -> None:
    assert findings(template) == []
    missed, silent = set[str](), set[str]()
    for statement in statements(template):
        given = statement["Action"]
        actions = [given] if isinstance(given, str) else given
        for action in actions:
            statement["Action"] = [one for one in actions if one != action] or ["sts:GetCallerIdentity"]
            named = any(action in finding.message for finding in findings(template))
            (missed if named else silent).add(action)
        statement["Action"] = given
    assert len(missed) > 25
    assert silent == HARMLESS
