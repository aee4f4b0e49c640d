"""What stands in networks: addresses of IPv6, tunnels, rules that a group has twice, zones beside endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.networks import WHOLES
from tests.rules.catalogue.templates import findings
from tests.templates.models import by_id, model_of
from tests.work import calls

GROUP = "AWS::EC2::SecurityGroup"
THINGS = """
    Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}, Other: {Type: AWS::EC2::VPC},
    Old: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24}},
    New: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.1.0/24, Ipv6CidrBlock: 'fd00::/64'}},
    Late: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.2.0/24}},
    More: {Type: AWS::EC2::SubnetCidrBlock, Properties: {SubnetId: !Ref Late, Ipv6CidrBlock: 'fd00:0:0:1::/64'}},
    Homes: {Type: AWS::RDS::DBSubnetGroup, Properties: {SubnetIds: [!Ref New, !Ref Old]}},
    Nodes: {Type: AWS::EC2::SecurityGroup, Properties: {VpcId: !Ref Vpc}},"""


def said(user: str, *more: str) -> list[str]:
    """What is wrong with a resource."""
    model = model_of(f"{{Resources: {{{THINGS} {' '.join(more)} User: {{{user}}}}}}}")
    resource = by_id(model, "User")
    return [f"{'/'.join(map(str, one.path))}: {one.message}" for one in WHOLES[resource.type](resource)]


def endpoint(kind: str, *subnets: str) -> str:
    return f"Type: AWS::EC2::VPCEndpoint, Properties: {{IpAddressType: {kind}, SubnetIds: [{', '.join(subnets)}]}}"


@pytest.mark.parametrize(
    ("user", "place"),
    [
        (endpoint("dualstack", "!Ref New", "!Ref Old"), "IpAddressType"),
        (endpoint("ipv6", "!Ref Old"), "IpAddressType"),
        ("Type: AWS::RDS::DBInstance, Properties: {NetworkType: DUAL, DBSubnetGroupName: !Ref Homes}", "NetworkType"),
        (
            "Type: AWS::Lambda::Function, Properties: {VpcConfig: {Ipv6AllowedForDualStack: true, SubnetIds: [!Ref Old]}}",
            "VpcConfig/Ipv6AllowedForDualStack",
        ),
    ],
)
def test_fails_family_of_addresses(user: str, place: str) -> None:
    assert said(user) == [f"{place}: it asks for addresses of IPv6, and Old has no block of them"]


@pytest.mark.parametrize(
    "user",
    [
        endpoint("ipv4", "!Ref Old"),
        endpoint("dualstack", "!Ref New", "!Ref Late"),
        endpoint("ipv6", "subnet-0123456789abcdef0"),
        endpoint("!Ref AWS::StackName", "!Ref Old"),
        "Type: AWS::RDS::DBInstance, Properties: {NetworkType: IPV4, DBSubnetGroupName: !Ref Homes}",
        "Type: AWS::Lambda::Function, Properties: {VpcConfig: {Ipv6AllowedForDualStack: false, SubnetIds: [!Ref Old]}}",
    ],
)
def test_who_asks_for_no_other_addresses_than_its_subnets_have(user: str) -> None:
    assert said(user) == []


@pytest.mark.parametrize(
    ("properties", "has_none"),
    [
        ("VpcEndpointType: Interface, SubnetIds: []", True),
        ("VpcEndpointType: Interface, SubnetIds: [], SubnetConfigurations: [{SubnetId: !Ref Old}]", False),
        ("VpcEndpointType: Interface, SubnetConfigurations: [{SubnetId: !Ref Old}]", False),
        ("VpcEndpointType: Interface, SubnetIds: !Ref AWS::NotificationARNs", False),
        ("VpcEndpointType: Gateway, SubnetIds: []", False),
    ],
)
def test_an_interface_endpoint_has_subnets(properties: str, has_none: bool) -> None:
    found = said(f"Type: AWS::EC2::VPCEndpoint, Properties: {{{properties}}}")
    assert found == (["SubnetIds: its list of subnets is empty, and so it has no address"] if has_none else [])


STATIC = "Type: AWS::EC2::VPNConnection, Properties: {StaticRoutesOnly: true, VpnGatewayId: vgw-0123456789abcdef0}"


@pytest.mark.parametrize(
    ("user", "route", "ends"),
    [
        (STATIC, "", True),
        (STATIC, "!Ref User", False),
        (STATIC, "vpn-0123456789abcdef0", True),
        (STATIC, "!Ref AWS::StackName", False),
        (STATIC.replace("true", "false"), "", False),
        (STATIC.replace("VpnGatewayId: vgw", "TransitGatewayId: tgw"), "", False),
    ],
)
def test_a_static_connection_has_a_route(user: str, route: str, ends: bool) -> None:
    more = f"Way: {{Type: AWS::EC2::VPNConnectionRoute, Properties: {{VpnConnectionId: {route}}}}}," if route else ""
    assert said(user, more) == (["StaticRoutesOnly: its routes are static alone, and it has none"] if ends else [])


WEB, AGAIN = "IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: 10.0.0.0/16", "IpProtocol: '6', FromPort: 443, ToPort: 443"
PING = "IpProtocol: icmp, CidrIp: 10.0.0.0/16"
ITSELF = "IpProtocol: '-1', SourceSecurityGroupId: !Ref Nodes"


@pytest.mark.parametrize(
    ("rules", "places"),
    [
        ([f"{{{WEB}}}", f"{{{WEB}, Description: again}}"], ["SecurityGroupIngress/1"]),
        ([f"{{{WEB}}}", f"{{{AGAIN}, CidrIp: 10.0.0.0/16}}"], ["SecurityGroupIngress/1"]),
        ([f"{{{ITSELF}}}", f"{{{WEB}}}", f"{{{ITSELF}, FromPort: 0, ToPort: 65535}}"], ["SecurityGroupIngress/2"]),
        ([f"{{{WEB}}}", f"{{{WEB.replace('443, CidrIp', '444, CidrIp')}}}"], []),
        ([f"{{{WEB}}}", f"{{{WEB.replace('10.0', '10.1')}}}"], []),
        ([f"{{{PING}, FromPort: 8, ToPort: -1}}", f"{{{PING}, FromPort: 11, ToPort: -1}}"], []),
        ([f"{{{PING}, FromPort: 8, ToPort: -1}}", f"{{{PING}, FromPort: 8, ToPort: -1}}"], ["SecurityGroupIngress/1"]),
        ([f"{{{AGAIN}, CidrIp: !Ref AWS::StackName}}", f"{{{AGAIN}, CidrIp: !Ref AWS::StackName}}"], []),
    ],
)
def test_a_group_has_each_rule_once(rules: list[str], places: list[str]) -> None:
    found = said(f"Type: {GROUP}, Properties: {{SecurityGroupIngress: [{', '.join(rules)}]}}")
    assert found == [f"{place}: User has this rule twice" for place in places]


@pytest.mark.parametrize(("direction", "is_there"), [("Ingress", True), ("Egress", False)])
def test_a_separate_rule_is_none_that_the_group_has(direction: str, is_there: bool) -> None:
    own = f"Own: {{Type: {GROUP}, Properties: {{SecurityGroupIngress: [{{{WEB}}}]}}}},"
    found = said(f"Type: {GROUP}{direction}, Properties: {{GroupId: !Ref Own, {WEB}}}", own)
    assert found == ([": Own has this rule twice: it is in Own too"] if is_there else [])


def test_of_two_separate_rules_nobody_knows_which_is_wrong() -> None:
    other = f"Other1: {{Type: {GROUP}Ingress, Properties: {{GroupId: !Ref Nodes, {WEB}}}}},"
    assert said(f"Type: {GROUP}Ingress, Properties: {{GroupId: !Ref Nodes, {WEB}}}", other) == []


def test_twice_as_many_rules_of_one_group_take_twice_the_work() -> None:
    def work(count: int) -> int:
        rules = (
            f"Rule{number}: {{Type: {GROUP}Ingress, Properties: {{GroupId: !Ref Nodes, {AGAIN}, CidrIp: 10.0.{number}.0/24}}}},"
            for number in range(count)
        )
        model = model_of(f"{{Resources: {{{THINGS} {' '.join(rules)}}}}}")
        return calls(lambda: [list(WHOLES[rule.type](rule)) for rule in model.resources(f"{GROUP}Ingress")])

    assert work(80) < 2.2 * work(40)


@pytest.mark.parametrize(
    ("name", "vpc", "private", "meets"),
    [
        ("!Sub 'api.ecr.${AWS::Region}.amazonaws.com'", "Vpc", "true", True),
        ("api.ecr.us-west-2.amazonaws.com.", "Vpc", "true", True),
        ("dkr.ecr.us-west-2.amazonaws.com", "Vpc", "true", False),
        ("api.ecr.us-west-2.amazonaws.com", "Other", "true", False),
        ("api.ecr.us-west-2.amazonaws.com", "Vpc", "false", False),
        ("train.internal", "Vpc", "true", False),
    ],
)
def test_a_zone_has_no_name_of_an_endpoint(name: str, vpc: str, private: str, meets: bool) -> None:
    service = "ServiceName: !Sub 'com.amazonaws.${AWS::Region}.ecr.api', VpcEndpointType: Interface"
    door = f"Door: {{Type: AWS::EC2::VPCEndpoint, Properties: {{VpcId: !Ref Vpc, {service}, PrivateDnsEnabled: {private}}}}},"
    found = said(f"Type: AWS::Route53::HostedZone, Properties: {{Name: {name}, VPCs: [{{VPCId: !Ref {vpc}}}]}}", door)
    assert found == (["Name: Door has this name in the VPC already, by its private DNS"] if meets else [])


@pytest.mark.parametrize(
    "name",
    [
        "com.amazonaws.vpce.us-west-2.vpce-svc-0123456789abcdef0",
        "com.amazonaws.s3-global.accesspoint",
        {"Fn::Sub": "com.amazonaws.${Service}.us-west-2"},
        {"Fn::Sub": "com.amazonaws.${AWS::Region}.ecr.dkr"},
    ],
)
def test_names_of_endpoints_that_may_be_right(name: Any) -> None:
    endpoint = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {"ServiceName": name, "VpcId": "vpc-0123456789abcdef0"}}
    template = {"Parameters": {"Service": {"Type": "String"}}, "Resources": {"E": endpoint}}
    assert findings(template, rules="HP-TXT") == []
