"""Demands on networks, names and file systems that neither a schema nor a model of a request has."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.facts.property_schemas import request_limits

LIST, TUNNEL, CONTROL = "AWS::EC2::PrefixList", "AWS::EC2::VPNConnection", "AWS::EKS::Cluster"
OFFICE = {"AddressFamily": "IPv4", "MaxEntries": 1, "Entries": ({"Cidr": "192.168.64.0/18"},)}


def tunnel(block: str) -> dict[str, Any]:
    return {"VpnTunnelOptionsSpecifications": ({"TunnelInsideCidr": block},)}


def remote(block: str) -> dict[str, Any]:
    return {"RemoteNetworkConfig": {"RemoteNodeNetworks": ({"Cidrs": (block,)},)}}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (LIST, {**OFFICE, "AddressFamily": "IPv6"}, OFFICE),
        (LIST, {**OFFICE, "Entries": ({"Cidr": "10.1.0.0/16"}, {"Cidr": "10.2.0.0/16"})}, OFFICE),
        (TUNNEL, tunnel("10.0.0.0/30"), tunnel("169.254.10.0/30")),
        (TUNNEL, tunnel("169.254.0.0/30"), tunnel("169.254.6.0/30")),
        (CONTROL, remote("203.0.113.0/24"), remote("10.200.0.0/16")),
        ("AWS::EFS::FileSystem", {"ThroughputMode": "elastic", "PerformanceMode": "maxIO"}, {"ThroughputMode": "elastic"}),
        (
            "AWS::DynamoDB::Table",
            {"BillingMode": "PAY_PER_REQUEST", "TableName": "a/b"},
            {"BillingMode": "PAY_PER_REQUEST", "TableName": "a.b"},
        ),
        ("AWS::EC2::SecurityGroup", {"GroupName": "sg-home"}, {"GroupName": "home-sg-a"}),
        ("AWS::SecretsManager::Secret", {"Name": "the password"}, {"Name": "slurm/accounting"}),
        ("AWS::StepFunctions::StateMachine", {"StateMachineName": "all checks"}, {"StateMachineName": "all-checks"}),
        ("AWS::SSM::Parameter", {"Name": "/the cluster"}, {"Name": "/lab/cluster"}),
    ],
)
def test_a_demand_refuses_one_thing_and_takes_the_nearest_right_one(
    kind: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    schema = request_limits(kind)
    assert schema is not None
    assert len(list(violations(schema, wrong))) == 1
    assert list(violations(schema, right)) == []
