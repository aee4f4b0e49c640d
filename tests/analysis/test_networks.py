"""Subnets, routes, endpoints and security groups."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.networks import ExitKind, Subnet, network_facts
from hyperpod_constructs.analysis.security_groups import ALL_PORTS, SecurityGroup, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic, group_lets
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import ABSENT
from tests.templates.models import by_id, model_of

NETWORK = """
    Vpc: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
    Subnet:
      Type: AWS::EC2::Subnet
      Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.0.0/24, AvailabilityZone: us-west-2a}
    Table: {Type: AWS::EC2::RouteTable, Properties: {VpcId: !Ref Vpc}}
    Link: {Type: AWS::EC2::SubnetRouteTableAssociation, Properties: {SubnetId: !Ref Subnet, RouteTableId: !Ref Table}}
    Gateway: {Type: AWS::EC2::InternetGateway}
    Nat: {Type: AWS::EC2::NatGateway}
"""
LISTS = """Mappings:
    Lists:
        us-west-2: {s3: pl-68a54001, own: pl-0123456789abcdef0}
        us-east-1: {s3: pl-63a5400a, own: pl-63a5400a}
"""


def network(more: str = "", base: str = NETWORK) -> Model:
    return model_of(f"Parameters: {{P: {{Type: String}}}}\nResources:\n{base}\n    {more}")


def subnet(more: str = "", base: str = NETWORK) -> Subnet:
    model = network(more, base)
    return network_facts(model).subnet(by_id(model, "Subnet"))


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("DestinationCidrBlock: 0.0.0.0/0, GatewayId: !Ref Gateway", ExitKind.INTERNET_GATEWAY),
        ("DestinationCidrBlock: 0.0.0.0/0, NatGatewayId: !Ref Nat", ExitKind.NAT),
        ("DestinationCidrBlock: 0.0.0.0/0, TransitGatewayId: tgw-1", ExitKind.UNKNOWN),
        ("DestinationCidrBlock: 0.0.0.0/0, GatewayId: !Ref P", ExitKind.UNKNOWN),
        ("DestinationCidrBlock: 0.0.0.0/0, GatewayId: igw-1", ExitKind.INTERNET_GATEWAY),
        ("DestinationCidrBlock: 10.9.0.0/16, GatewayId: !Ref Gateway", ExitKind.NONE),
        ("DestinationCidrBlock: 52.94.0.0/16, NatGatewayId: !Ref Nat", ExitKind.UNKNOWN),
        ("DestinationPrefixListId: pl-1, NatGatewayId: !Ref Nat", ExitKind.UNKNOWN),
        ("DestinationCidrBlock: !Ref P, NatGatewayId: !Ref Nat", ExitKind.UNKNOWN),
        ("DestinationIpv6CidrBlock: '::/0', GatewayId: !Ref Gateway", ExitKind.UNKNOWN),
    ],
)
def test_where_the_default_route_leads(target: str, kind: ExitKind) -> None:
    facts = subnet(f"Route: {{Type: AWS::EC2::Route, Properties: {{RouteTableId: !Ref Table, {target}}}}}")
    assert facts.exit.kind is kind


def test_a_route_of_ipv6_beside_one_of_ipv4_changes_nothing() -> None:
    routes = "".join(
        f"    R{index}: {{Type: AWS::EC2::Route, Properties: {{RouteTableId: !Ref Table, {target}}}}}\n"
        for index, target in enumerate(
            ("DestinationCidrBlock: 0.0.0.0/0, NatGatewayId: !Ref Nat", "DestinationIpv6CidrBlock: '::/0', GatewayId: !Ref Gateway")
        )
    )
    assert subnet(base=NETWORK + routes).exit.kind is ExitKind.NAT


def test_a_subnet_without_routes() -> None:
    facts = subnet()
    assert (facts.exit.kind, facts.lacks_gateway_endpoint("s3"), facts.complete) == (ExitKind.NONE, True, True)
    assert (str(facts.cidr), facts.usable_addresses, facts.vpc) == ("10.0.0.0/24", 251, by_id(facts.resource.template.model, "Vpc"))


def test_a_subnet_on_the_main_table() -> None:
    facts = subnet(base=NETWORK.replace("SubnetId: !Ref Subnet", "SubnetId: subnet-1"))
    assert (facts.route_table, facts.exit.kind) == (ABSENT, ExitKind.NONE)


@pytest.mark.parametrize(
    "base",
    [
        NETWORK.replace("VpcId: !Ref Vpc, Cidr", "VpcId: vpc-1, Cidr").replace("SubnetId: !Ref Subnet", "SubnetId: subnet-1"),
        NETWORK.replace("RouteTableId: !Ref Table", "RouteTableId: !Ref P"),
        NETWORK.replace("SubnetId: !Ref Subnet", "SubnetId: !Ref P"),
        NETWORK + "    Route: {Type: AWS::EC2::Route, Properties: {RouteTableId: !Ref P}}",
        NETWORK + "    Vpn: {Type: AWS::EC2::VPNGatewayRoutePropagation, Properties: {RouteTableIds: [!Ref Table]}}",
    ],
    ids=["another's VPC", "unknown table", "unknown association", "unknown route", "routes of a VPN"],
)
def test_routes_that_are_not_known(base: str) -> None:
    facts = subnet(base=base)
    assert (facts.exit.kind, facts.complete) == (ExitKind.UNKNOWN, False)


VPN = """
    Vpn: {Type: AWS::EC2::VPNGateway}
    Propagated: {Type: AWS::EC2::VPNGatewayRoutePropagation, Properties: {RouteTableIds: [!Ref Table], VpnGatewayId: !Ref Vpn}}
    Tunnel: {Type: AWS::EC2::VPNConnection, Properties: {VpnGatewayId: !Ref Vpn, StaticRoutesOnly: true}}
    Site: {Type: AWS::EC2::VPNConnectionRoute, Properties: {VpnConnectionId: !Ref Tunnel, DestinationCidrBlock: 192.168.0.0/16}}
"""


@pytest.mark.parametrize(
    ("base", "kind", "complete"),
    [
        (VPN, ExitKind.NONE, True),
        (VPN.replace("192.168.0.0/16", "0.0.0.0/0"), ExitKind.UNKNOWN, True),
        (VPN.replace("StaticRoutesOnly: true", "StaticRoutesOnly: false"), ExitKind.UNKNOWN, False),
        (VPN.replace("VpnGatewayId: !Ref Vpn, Static", "VpnGatewayId: !Ref P, Static"), ExitKind.UNKNOWN, False),
        (VPN.replace("RouteTableIds: [!Ref Table]", "RouteTableIds: [!Ref P]"), ExitKind.UNKNOWN, False),
    ],
    ids=["static", "to everywhere", "BGP", "unknown gateway", "unknown table"],
)
def test_the_static_routes_of_a_vpn_are_known(base: str, kind: ExitKind, complete: bool) -> None:
    facts = subnet(base=NETWORK + base)
    assert (facts.exit.kind, facts.complete) == (kind, complete)


def test_a_table_without_propagation_has_no_routes_of_a_vpn() -> None:
    facts = subnet(base=NETWORK + VPN)
    assert [one.logical_id for one in facts.routes] == ["Site"]
    assert subnet(base=NETWORK + VPN.replace("[!Ref Table]", "[rtb-1]")).routes == ()


@pytest.mark.parametrize(
    ("properties", "answer"),
    [
        ("ServiceName: !Sub 'com.amazonaws.${AWS::Region}.s3', RouteTableIds: [!Ref Table]", True),
        ("ServiceName: com.amazonaws.us-west-2.s3, VpcEndpointType: Gateway, RouteTableIds: [!Ref Table]", True),
        ("ServiceName: !Join ['', [com.amazonaws., !Ref AWS::Region, .s3]], RouteTableIds: [!Ref Table]", True),
        ("ServiceName: com.amazonaws.us-west-2.dynamodb, RouteTableIds: [!Ref Table]", False),
        ("ServiceName: com.amazonaws.us-west-2.s3, VpcEndpointType: Interface", False),
        ("ServiceName: com.amazonaws.us-west-2.s3, RouteTableIds: [rtb-1]", False),
        ("ServiceName: com.amazonaws.us-west-2.s3, RouteTableIds: [!Ref P]", None),
        ("ServiceName: !Ref P, RouteTableIds: [!Ref Table]", None),
    ],
)
def test_the_gateway_endpoint_of_s3(properties: str, answer: bool | None) -> None:
    facts = subnet(f"E: {{Type: AWS::EC2::VPCEndpoint, Properties: {{VpcId: !Ref Vpc, {properties}}}}}")
    assert (facts.gateway_endpoint("s3") is not None) is (answer is True)
    assert facts.lacks_gateway_endpoint("s3") is (answer is False)


@pytest.mark.parametrize(
    ("properties", "answer"),
    [
        ("VpcId: !Ref Vpc, VpcEndpointType: Interface, ServiceName: !Sub 'com.amazonaws.${AWS::Region}.ecr.dkr'", True),
        ("VpcId: !Ref Vpc, VpcEndpointType: Interface, ServiceName: cn.com.amazonaws.cn-north-1.ecr.dkr", True),
        ("VpcId: !Ref Vpc, VpcEndpointType: Interface, ServiceName: com.amazonaws.us-west-2.dkr", False),
        ("VpcId: !Ref Vpc, VpcEndpointType: Gateway, ServiceName: com.amazonaws.us-west-2.ecr.dkr", False),
        ("VpcId: vpc-1, VpcEndpointType: Interface, ServiceName: com.amazonaws.us-west-2.ecr.dkr", False),
        ("VpcId: !Ref P, VpcEndpointType: Interface, ServiceName: com.amazonaws.us-west-2.ecr.dkr", None),
    ],
)
def test_interface_endpoints(properties: str, answer: bool | None) -> None:
    model = network(f"E: {{Type: AWS::EC2::VPCEndpoint, Properties: {{PrivateDnsEnabled: true, {properties}}}}}")
    facts, vpc = network_facts(model), by_id(model, "Vpc")
    assert facts.interface_endpoint(vpc, "ecr.dkr") == (by_id(model, "E") if answer else None, answer is not False)


@pytest.mark.parametrize(
    ("dns", "perhaps"), [("", False), ("PrivateDnsEnabled: false,", False), ("PrivateDnsEnabled: !Ref AWS::StackName,", True)]
)
def test_an_endpoint_without_private_dns_is_none(dns: str, perhaps: bool) -> None:
    service = "VpcId: !Ref Vpc, VpcEndpointType: Interface, ServiceName: com.amazonaws.us-west-2.sts"
    model = network(f"E: {{Type: AWS::EC2::VPCEndpoint, Properties: {{{dns} {service}}}}}")
    assert network_facts(model).interface_endpoint(by_id(model, "Vpc"), "sts") == (None, perhaps)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("AvailabilityZone: a", "AvailabilityZone: a", True),
        ("AvailabilityZone: a", "AvailabilityZone: b", False),
        ("AvailabilityZoneId: usw2-az1", "AvailabilityZoneId: usw2-az2", False),
        ("AvailabilityZone: a", "AvailabilityZoneId: usw2-az2", None),
        ("AvailabilityZone: !Ref P", "AvailabilityZone: a", None),
        ("AvailabilityZone: a", "AvailabilityZone: !GetAtt One.AvailabilityZone", True),
        ("AvailabilityZone: b", "AvailabilityZone: !GetAtt Third.AvailabilityZone", None),
        ("AvailabilityZone: !Ref P", "AvailabilityZone: !Ref P", True),
        ("AvailabilityZoneId: !Select [1, !Ref P]", "AvailabilityZoneId: !Select [1, !Ref P]", True),
        ("AvailabilityZoneId: !Select [0, !Ref P]", "AvailabilityZoneId: !Select [1, !Ref P]", None),
        ("AvailabilityZone: !Ref P", "AvailabilityZone: !Ref AWS::StackName", None),
        ("AvailabilityZone: !Sub '${AWS::Region}a'", "AvailabilityZone: !Join ['', [!Ref AWS::Region, a]]", True),
        ("AvailabilityZone: !Sub '${AWS::Region}a'", "AvailabilityZone: !Sub '${AWS::Region}b'", False),
        ("AvailabilityZone: !Sub '${AWS::Region}a'", "AvailabilityZone: !Sub '${P}b'", None),
        ("AvailabilityZone: !Sub '${AWS::Region}a'", "AvailabilityZone: !Select [0, !GetAZs '']", None),
    ],
)
def test_zones(one: str, other: str, answer: bool | None) -> None:
    model = network(f"""
    One: {{Type: AWS::EC2::Subnet, Properties: {{{one}}}}}
    Two: {{Type: AWS::EC2::Subnet, Properties: {{{other}}}}}
    Third: {{Type: AWS::EC2::Subnet, Properties: {{AvailabilityZone: !Ref P}}}}""")
    facts = network_facts(model)
    assert facts.subnet(by_id(model, "One")).zone.is_same(facts.subnet(by_id(model, "Two")).zone) is answer


def groups(first: str = "{}", more: str = "") -> tuple[SecurityGroup, SecurityGroup]:
    model = model_of(f"""
Parameters: {{P: {{Type: String}}}}
Conditions: {{Maybe: !Equals [!Ref P, x]}}
{LISTS}
Resources:
    First: {{Type: AWS::EC2::SecurityGroup, Properties: {first}}}
    Second: {{Type: AWS::EC2::SecurityGroup, Properties: {{}}}}
    {more}""")
    found = security_groups(model)
    return found.of(by_id(model, "First")), found.of(by_id(model, "Second"))


INGRESS = "{Type: AWS::EC2::SecurityGroupIngress, Properties: {GroupId: !GetAtt First.GroupId, %s}}"


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("IpProtocol: tcp, FromPort: 988, ToPort: '988', SourceSecurityGroupId: !Ref Second", True),
        ("IpProtocol: 6, FromPort: 0, ToPort: 65535, SourceSecurityGroupId: !GetAtt Second.GroupId", True),
        ("IpProtocol: '-1', SourceSecurityGroupId: !Ref Second", True),
        ("IpProtocol: -1, CidrIp: 0.0.0.0/0", True),
        ("IpProtocol: -1, CidrIp: 10.0.0.0/8", False),
        ("IpProtocol: -1, CidrIp: !Ref P", None),
        ("IpProtocol: udp, FromPort: 988, ToPort: 988, SourceSecurityGroupId: !Ref Second", False),
        ("IpProtocol: tcp, FromPort: 989, ToPort: 1023, SourceSecurityGroupId: !Ref Second", False),
        ("IpProtocol: tcp, FromPort: !Ref P, ToPort: 1023, SourceSecurityGroupId: !Ref Second", None),
        ("IpProtocol: -1, SourceSecurityGroupId: !Ref First", False),
        ("IpProtocol: -1, SourceSecurityGroupId: sg-1", False),
        ("IpProtocol: -1, SourceSecurityGroupId: !Ref P", None),
        ("IpProtocol: -1, SourcePrefixListId: pl-1", None),
        ("IpProtocol: -1, SourcePrefixListId: !FindInMap [Lists, !Ref AWS::Region, s3]", False),
        ("IpProtocol: -1, SourcePrefixListId: !FindInMap [Lists, !Ref AWS::Region, own]", None),
        ("IpProtocol: !Ref P, SourceSecurityGroupId: !Ref Second", None),
    ],
)
def test_traffic_into_a_group(rule: str, answer: bool | None) -> None:
    for first, second in (groups(more=f"R: {INGRESS % rule}"), groups(f"{{SecurityGroupIngress: [{{{rule}}}]}}")):
        assert first.allows("ingress", peer=second.resource, protocol="tcp", port=988) is answer


@pytest.mark.parametrize(
    ("properties", "more", "answer"),
    [
        ("{}", "", True),
        ("{SecurityGroupEgress: []}", "", True),
        ("{SecurityGroupEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: 0.0.0.0/0}]}", "", False),
        ("{SecurityGroupEgress: !Ref P}", "", None),
        ("{SecurityGroupEgress: [!Ref P]}", "", None),
        (
            "{}",
            "R: {Type: AWS::EC2::SecurityGroupEgress, Properties: {GroupId: !Ref First, IpProtocol: tcp, CidrIp: 10.9.0.0/16}}",
            True,
        ),
    ],
)
def test_traffic_out_of_a_group(properties: str, more: str, answer: bool | None) -> None:
    first, _ = groups(properties, more)
    assert first.allows("egress", peer="10.1.0.0/16", protocol="tcp", port=range(1018, 1024)) is answer


def test_a_rule_of_a_group_that_is_not_known_can_be_this_ones() -> None:
    rule = (
        "{Type: AWS::EC2::SecurityGroupIngress, Properties: {GroupId: !Ref P, IpProtocol: -1, SourceSecurityGroupId: !Ref Second}}"
    )
    first, second = groups(more=f"R: {rule}")
    assert first.allows("ingress", peer=second.resource, protocol="tcp", port=988) is None
    assert first.allows("ingress", peer=first.resource, protocol="tcp", port=988) is False


def test_a_rule_under_a_condition_is_possible() -> None:
    rule = INGRESS % "IpProtocol: -1, SourceSecurityGroupId: !Ref Second"
    first, second = groups(more=f"R: {rule[:-1]}, Condition: Maybe}}")
    assert first.allows("ingress", peer=second.resource, protocol="tcp", port=988) is None


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("IpProtocol: -1, SourceSecurityGroupId: !Ref First", True),
        ("IpProtocol: -1, SourceSecurityGroupId: !GetAtt First.GroupId", True),
        ("IpProtocol: -1, CidrIp: 0.0.0.0/0", False),
        ("IpProtocol: tcp, FromPort: 0, ToPort: 65535, SourceSecurityGroupId: !Ref First", False),
        ("IpProtocol: -1, SourceSecurityGroupId: !Ref P", None),
    ],
)
def test_efa_needs_a_rule_by_group(rule: str, answer: bool | None) -> None:
    first, _ = groups(more=f"R: {INGRESS % rule}")
    assert first.allows_itself("ingress") is answer


def test_both_sides_have_to_allow() -> None:
    closed = "{SecurityGroupEgress: [{IpProtocol: -1, DestinationSecurityGroupId: !Ref Second}]}"
    rule = "GroupId: !Ref Second, IpProtocol: tcp, FromPort: 2049, ToPort: 2049, SourceSecurityGroupId: !Ref First"
    first, second = groups(closed, f"R: {{Type: AWS::EC2::SecurityGroupIngress, Properties: {{{rule}}}}}")
    one, other = Side("one", (first,)), Side("other", (second,))
    nfs, lnet = Traffic("tcp", range(2049, 2050)), Traffic("tcp", range(988, 989))

    def both(source: Side, target: Side, traffic: Traffic) -> tuple[bool | None, bool | None]:
        return group_lets(source, "egress", target, traffic), group_lets(target, "ingress", source, traffic)

    assert both(one, other, nfs) == (True, True)
    assert both(one, other, lnet) == (True, False)
    assert both(other, one, nfs) == (True, False)
    assert both(Side("both", (second, first)), other, nfs) == (True, True)
    assert first.in_direction("egress")[0].ports == ALL_PORTS
