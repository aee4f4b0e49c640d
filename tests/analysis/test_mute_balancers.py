"""Load balancers whose groups let nothing out to their targets."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.listeners import mute_balancers
from tests.templates.models import model_of

THINGS = """
    Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}},
    Nodes: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: nodes, VpcId: !Ref Vpc}},
    Balancer: {Type: AWS::ElasticLoadBalancingV2::LoadBalancer, Properties: {Type: network, SecurityGroups: [!Ref Group]}},
    Listener: {Type: AWS::ElasticLoadBalancingV2::Listener, Properties: {LoadBalancerArn: !Ref Balancer, Port: 80, Protocol: TCP,
      DefaultActions: [{Type: forward, %s}]}},
    Targets: {Type: AWS::ElasticLoadBalancingV2::TargetGroup, Properties: {Port: 8080, Protocol: HTTP}},
    Group: {Type: AWS::EC2::SecurityGroup, Properties: {GroupDescription: balancer, VpcId: !Ref Vpc %s}}"""
FORWARD = "TargetGroupArn: !Ref Targets"


def mute(egress: str, forward: str = FORWARD, more: str = "") -> list[tuple[str, str, str]]:
    model = model_of(f"{{Resources: {{{THINGS % (forward, egress)} {more}}}}}")
    return [(one.balancer.logical_id, one.targets.logical_id, str(one.traffic)) for one in mute_balancers(model)]


def out(ports: str, peer: str = "DestinationSecurityGroupId: !Ref Nodes") -> str:
    return f", SecurityGroupEgress: [{{IpProtocol: tcp, FromPort: {ports}, ToPort: {ports}, {peer}}}]"


@pytest.mark.parametrize("forward", [FORWARD, "ForwardConfig: {TargetGroups: [{TargetGroupArn: !Ref Targets}]}"])
def test_a_balancer_without_a_rule_for_its_targets(forward: str) -> None:
    assert mute(out("80"), forward) == [("Balancer", "Targets", "TCP 8080")]


@pytest.mark.parametrize("egress", ["", out("8080"), out("8080", "CidrIp: 10.0.0.0/16")])
def test_balancers_with_a_rule_for_their_targets(egress: str) -> None:
    assert mute(egress) == []


def test_a_rule_beside_the_group_counts() -> None:
    rule = "{GroupId: !Ref Group, IpProtocol: tcp, FromPort: 8000, ToPort: 9000, DestinationSecurityGroupId: !Ref Nodes}"
    assert mute(out("80"), more=f", Out: {{Type: AWS::EC2::SecurityGroupEgress, Properties: {rule}}}") == []
