"""Load balancers reach the instances that are their targets."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.ended_ways import ended_ways
from hyperpod_constructs.templates.model import Model

Resources = dict[str, Any]


def made(kind: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def subnet(block: str, zone: str) -> Resources:
    return made("EC2::Subnet", VpcId=ref("Vpc"), CidrBlock=block, AvailabilityZone=zone)


def group(ingress: Resources, port: int = 8080) -> Resources:
    rule = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port}
    return made("EC2::SecurityGroup", GroupDescription="x", VpcId=ref("Vpc"), SecurityGroupIngress=[{**rule, **ingress}])


FROM_BALANCER = {"SourceSecurityGroupId": ref("Outer")}


def balancer(kind: str, **more: Any) -> Resources:
    own = {"Type": kind, "Scheme": "internal", "Subnets": [ref("A"), ref("B")]}
    return made("ElasticLoadBalancingV2::LoadBalancer", **own, **more)


def target(**more: Any) -> Resources:
    own = {"VpcId": ref("Vpc"), "TargetType": "instance", "Protocol": "HTTP", "Port": 8080, "Targets": [{"Id": ref("App")}]}
    return made("ElasticLoadBalancingV2::TargetGroup", **{**own, **more})


def ended(**changes: Any) -> list[tuple[str, str]]:
    """The users and the ends of the ways."""
    resources = {
        "Vpc": made("EC2::VPC", CidrBlock="10.0.0.0/16"),
        "A": subnet("10.0.0.0/24", "us-west-2a"),
        "B": subnet("10.0.1.0/24", "us-west-2b"),
        "C": subnet("10.0.2.0/24", "us-west-2c"),
        "Outer": group({"CidrIp": "10.0.0.0/16"}, 80),
        "Inner": group(FROM_BALANCER),
        "App": made("EC2::Instance", SubnetId=ref("A"), SecurityGroupIds=[ref("Inner")]),
        "Balancer": balancer("application", SecurityGroups=[ref("Outer")]),
        "Targets": target(),
        "Listener": made(
            "ElasticLoadBalancingV2::Listener",
            LoadBalancerArn=ref("Balancer"),
            Port=80,
            Protocol="HTTP",
            DefaultActions=[{"Type": "forward", "TargetGroupArn": ref("Targets")}],
        ),
        **changes,
    }
    found = ended_ways(Model.of({"web": {"Resources": resources}}))
    return [(one.user.logical_id, one.way.end.resource.logical_id) for one in found if one.way.end is not None]


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({}, []),
        ({"Inner": group({"CidrIp": "10.0.0.0/23"})}, []),
        ({"Inner": group({"CidrIp": "10.0.9.0/24"})}, [("Balancer", "Inner")]),
        ({"Inner": group(FROM_BALANCER, 9090)}, [("Balancer", "Inner")]),
        ({"Targets": target(Targets=[{"Id": ref("App"), "Port": 9090}])}, [("Balancer", "Inner")]),
        ({"App": made("EC2::Instance", SubnetId=ref("C"), SecurityGroupIds=[ref("Inner")])}, [("Balancer", "App")]),
        ({"App": made("EC2::Instance", SubnetId=ref("A"), SecurityGroupIds=["sg-0123456789abcdef0"])}, []),
        ({"Balancer": balancer("network"), "Inner": group({"CidrIp": "10.0.9.0/24"})}, []),
    ],
)
def test_targets_are_in_a_zone_and_a_group_of_their_balancer(changes: Resources, ends: list[tuple[str, str]]) -> None:
    assert ended(**changes) == ends
