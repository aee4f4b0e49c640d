"""Load balancers before pods: their groups, their targets, and the addresses that lead to them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, eks


def of(type_: str, **given: Any) -> Template:
    return {"Type": f"AWS::{type_}", "Properties": given}


def rule(port: int, **peer: Any) -> Template:
    return {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, **peer}


NODES = {"DestinationSecurityGroupId": {"Ref": "NodeGroup"}}
BALANCED = edited(
    eks(),
    {
        "BalancerGroup": of(
            "EC2::SecurityGroup",
            GroupDescription="balancer",
            VpcId={"Ref": "Vpc"},
            SecurityGroupIngress=[rule(80, CidrIp="10.0.0.0/16")],
            SecurityGroupEgress=[rule(8080, **NODES)],
        ),
        "FromBalancer": of(
            "EC2::SecurityGroupIngress",
            GroupId={"Fn::GetAtt": ["NodeGroup", "GroupId"]},
            SourceSecurityGroupId={"Ref": "BalancerGroup"},
            **rule(8080),
        ),
        "Balancer": of(
            "ElasticLoadBalancingV2::LoadBalancer",
            Type="network",
            Scheme="internal",
            Subnets=[{"Ref": "NodeSubnet"}],
            SecurityGroups=[{"Ref": "BalancerGroup"}],
        ),
        "Targets": of("ElasticLoadBalancingV2::TargetGroup", VpcId={"Ref": "Vpc"}, TargetType="ip", Protocol="TCP", Port=8080),
        "Listener": of(
            "ElasticLoadBalancingV2::Listener",
            LoadBalancerArn={"Ref": "Balancer"},
            Protocol="TCP",
            Port=80,
            DefaultActions=[{"Type": "forward", "TargetGroupArn": {"Ref": "Targets"}}],
        ),
        "Address": of("SSM::Parameter", Type="String", Value={"Fn::Sub": "http://${Balancer.DNSName}/v1"}),
    },
)
CASES = [
    Case("HP-REACH-011", BALANCED, {"Targets/Port": 8000}, {"Targets/HealthCheckProtocol": "HTTP"}),
    Case("HP-REACH-011", BALANCED, {"BalancerGroup/SecurityGroupEgress/0": rule(9090, **NODES)}, {}),
    Case("HP-SCH-007", BALANCED, {"Targets/HealthCheckProtocol": "UDP"}, {}),
    Case("HP-TXT-011", BALANCED, {"Address/Value": {"Fn::Sub": "http://${Balancer.DNSName}:8080/v1"}}, {}),
    Case("HP-TXT-011", BALANCED, {"Address/Value": {"Fn::Sub": "http://${Balancer}/v1"}}, {}),
    Case("HP-REACH-007", BALANCED, {"Listener/Port": 81}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
