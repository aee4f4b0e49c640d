"""Refusals of EC2, over boto3."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import delete, deploy


@dataclass
class Network:
    """A small network with a NAT gateway and one interface."""

    ec2: Any
    vpc: str
    subnet: str
    group: str
    peer: str
    interface: str
    gateway: str
    allocation: str
    nat: str
    table: str
    association: str


@pytest.fixture
def network(fresh: LocalAws) -> Network:
    ec2 = fresh.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    block = ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock="10.1.0.0/16")["CidrBlockAssociation"]["AssociationId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/28", AvailabilityZoneId="usw2-az1")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="group", Description="d", VpcId=vpc)["GroupId"]
    peer = ec2.create_security_group(GroupName="peer", Description="d", VpcId=vpc)["GroupId"]
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]["NetworkInterfaceId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    allocation = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=allocation)["NatGateway"]["NatGatewayId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    return Network(ec2, vpc, subnet, group, peer, interface, gateway, allocation, nat, table, block)


Call = Callable[[Network], Any]


def twice(network: Network, *, first: str, second: str) -> Any:
    """Two rules that differ in their descriptions only."""

    def rule(text: str) -> dict[str, Any]:
        return {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": text}]}

    network.ec2.authorize_security_group_egress(GroupId=network.group, IpPermissions=[rule(first)])
    return network.ec2.authorize_security_group_egress(GroupId=network.group, IpPermissions=[rule(second)])


def both_at_once(network: Network) -> Any:
    peers = [{"GroupId": network.group, "Description": text} for text in ("a", "b")]
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": peers}
    return network.ec2.authorize_security_group_ingress(GroupId=network.group, IpPermissions=[rule])


def endpoint(network: Network, service: str, **more: Any) -> str:
    """The id of an endpoint, of an interface unless said otherwise."""
    given = {"VpcEndpointType": "Interface", **more}
    made = network.ec2.create_vpc_endpoint(VpcId=network.vpc, ServiceName=f"com.amazonaws.us-west-2.{service}", **given)
    return str(made["VpcEndpoint"]["VpcEndpointId"])


def named(network: Network, service: str) -> str:
    """An endpoint with private DNS, in a VPC that has host names."""
    network.ec2.modify_vpc_attribute(VpcId=network.vpc, EnableDnsHostnames={"Value": True})
    return endpoint(network, service, SubnetIds=[network.subnet], PrivateDnsEnabled=True)


def subnet(network: Network, block: str, zone: str, vpc: str | None = None) -> str:
    made = network.ec2.create_subnet(VpcId=vpc or network.vpc, CidrBlock=block, AvailabilityZoneId=zone)
    return str(made["Subnet"]["SubnetId"])


def in_another_vpc(network: Network) -> str:
    vpc = network.ec2.create_vpc(CidrBlock="10.5.0.0/16")["Vpc"]["VpcId"]
    return subnet(network, "10.5.0.0/24", "usw2-az1", vpc)


def moved_to_a_table_that_has_one(network: Network) -> Any:
    endpoint(network, "s3", VpcEndpointType="Gateway", RouteTableIds=[network.table])
    other = endpoint(network, "s3", VpcEndpointType="Gateway")
    return network.ec2.modify_vpc_endpoint(VpcEndpointId=other, AddRouteTableIds=[network.table])


def extended_in_its_zone(network: Network) -> Any:
    made = endpoint(network, "logs", SubnetIds=[network.subnet])
    return network.ec2.modify_vpc_endpoint(VpcEndpointId=made, AddSubnetIds=[subnet(network, "10.1.1.0/28", "usw2-az1")])


def in_a_full_subnet(network: Network) -> Any:
    return [endpoint(network, service, SubnetIds=[network.subnet]) for service in ("logs", "ssm", "sts", "kms", "ec2") * 2]


def described(network: Network, text: str) -> Any:
    """A rule with a description."""
    rule = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": text}]}
    return network.ec2.authorize_security_group_ingress(GroupId=network.group, IpPermissions=[rule])


def described_anew(network: Network, text: str) -> Any:
    described(network, "")
    rule = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": text}]}
    return network.ec2.update_security_group_rule_descriptions_ingress(GroupId=network.group, IpPermissions=[rule])


REFUSED: Mapping[str, tuple[str, Call]] = {
    "rule with another description": ("InvalidPermission.Duplicate", lambda n: twice(n, first="a", second="b")),
    "rule twice in a request": ("InvalidParameterValue", both_at_once),
    "rule with a sign that descriptions lack": ("InvalidParameterValue", lambda n: described(n, "the nodes' door")),
    "rule with a new description of such a sign": ("InvalidParameterValue", lambda n: described_anew(n, "the nodes' door")),
    "group with a sign that descriptions lack": (
        "InvalidParameterValue",
        lambda n: n.ec2.create_security_group(GroupName="x", Description="the nodes' door", VpcId=n.vpc),
    ),
    "rule with a long description": ("InvalidParameterValue", lambda n: described(n, "d" * 256)),
    "subnet in use": ("DependencyViolation", lambda n: n.ec2.delete_subnet(SubnetId=n.subnet)),
    "group in use by an interface": ("DependencyViolation", lambda n: n.ec2.delete_security_group(GroupId=n.group)),
    "group in use by a rule": ("DependencyViolation", lambda n: n.ec2.delete_security_group(GroupId=n.peer)),
    "vpc in use": ("DependencyViolation", lambda n: n.ec2.delete_vpc(VpcId=n.vpc)),
    "cidr block in use": ("DependencyViolation", lambda n: n.ec2.disassociate_vpc_cidr_block(AssociationId=n.association)),
    "overlapping cidr block": ("InvalidVpc.Range", lambda n: n.ec2.associate_vpc_cidr_block(VpcId=n.vpc, CidrBlock="10.1.0.0/20")),
    "restricted cidr block": ("InvalidVpc.Range", lambda n: n.ec2.associate_vpc_cidr_block(VpcId=n.vpc, CidrBlock="172.16.0.0/16")),
    "link-local cidr block": ("InvalidVpc.Range", lambda n: n.ec2.create_vpc(CidrBlock="169.254.0.0/16")),
    "large cidr block": ("InvalidVpc.Range", lambda n: n.ec2.associate_vpc_cidr_block(VpcId=n.vpc, CidrBlock="10.4.0.0/15")),
    "no cidr block": ("InvalidParameterValue", lambda n: n.ec2.associate_vpc_cidr_block(VpcId=n.vpc, CidrBlock="10.4.0/16")),
    "overlapping subnet": ("InvalidSubnet.Conflict", lambda n: n.ec2.create_subnet(VpcId=n.vpc, CidrBlock="10.1.0.0/24")),
    "subnet outside": ("InvalidSubnet.Range", lambda n: n.ec2.create_subnet(VpcId=n.vpc, CidrBlock="10.7.0.0/24")),
    "unknown zone id": (
        "InvalidParameterValue",
        lambda n: n.ec2.create_subnet(VpcId=n.vpc, CidrBlock="10.0.0.0/24", AvailabilityZoneId="usw2-az9"),
    ),
    "unknown zone": (
        "InvalidParameterValue",
        lambda n: n.ec2.create_subnet(VpcId=n.vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-west-2x"),
    ),
    "zone and zone id that differ": (
        "InvalidParameterCombination",
        lambda n: n.ec2.create_subnet(
            VpcId=n.vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-west-2a", AvailabilityZoneId="usw2-az1"
        ),
    ),
    "group in an unknown vpc": (
        "InvalidVpcID.NotFound",
        lambda n: n.ec2.create_security_group(GroupName="x", Description="d", VpcId="vpc-0123456789abcdef0"),
    ),
    "interface with an unknown group": (
        "InvalidGroup.NotFound",
        lambda n: n.ec2.create_network_interface(SubnetId=n.subnet, Groups=["sg-0123456789abcdef0"]),
    ),
    "rule with an unknown group": (
        "InvalidGroup.NotFound",
        lambda n: n.ec2.authorize_security_group_ingress(
            GroupId=n.group, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-0123456789abcdef0"}]}]
        ),
    ),
    "attached gateway": ("DependencyViolation", lambda n: n.ec2.delete_internet_gateway(InternetGatewayId=n.gateway)),
    "gateway with mapped addresses": (
        "DependencyViolation",
        lambda n: n.ec2.detach_internet_gateway(InternetGatewayId=n.gateway, VpcId=n.vpc),
    ),
    "address in use": ("InvalidIPAddress.InUse", lambda n: n.ec2.release_address(AllocationId=n.allocation)),
    "address used twice": (
        "Resource.AlreadyAssociated",
        lambda n: n.ec2.create_nat_gateway(SubnetId=n.subnet, AllocationId=n.allocation),
    ),
    "route table in use": ("DependencyViolation", lambda n: n.ec2.delete_route_table(RouteTableId=n.table)),
    "second route table": (
        "Resource.AlreadyAssociated",
        lambda n: n.ec2.associate_route_table(
            RouteTableId=n.ec2.create_route_table(VpcId=n.vpc)["RouteTable"]["RouteTableId"], SubnetId=n.subnet
        ),
    ),
    "route to nowhere": (
        "InvalidNatGatewayID.NotFound",
        lambda n: n.ec2.create_route(RouteTableId=n.table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId="nat-0123456789abcdef0"),
    ),
    "endpoint of an unknown service": (
        "InvalidServiceName",
        lambda n: n.ec2.create_vpc_endpoint(VpcId=n.vpc, ServiceName="com.amazonaws.us-west-2.nothing"),
    ),
    "endpoint of another region": (
        "InvalidServiceName",
        lambda n: n.ec2.create_vpc_endpoint(VpcId=n.vpc, ServiceName="com.amazonaws.eu-west-1.s3"),
    ),
    "gateway endpoint of a service without one": ("InvalidParameter", lambda n: endpoint(n, "logs", VpcEndpointType="Gateway")),
    "gateway endpoint in a subnet": (
        "InvalidParameter",
        lambda n: endpoint(n, "s3", VpcEndpointType="Gateway", SubnetIds=[n.subnet]),
    ),
    "interface endpoint on a route table": ("InvalidParameter", lambda n: endpoint(n, "logs", RouteTableIds=[n.table])),
    "two gateway endpoints on a route table": (
        "RouteAlreadyExists",
        lambda n: [endpoint(n, "s3", VpcEndpointType="Gateway", RouteTableIds=[n.table]) for _ in range(2)],
    ),
    "gateway endpoint moved to a route table that has one": ("RouteAlreadyExists", moved_to_a_table_that_has_one),
    "endpoint in an unknown subnet": (
        "InvalidSubnetID.NotFound",
        lambda n: endpoint(n, "logs", SubnetIds=["subnet-0123456789abcdef0"]),
    ),
    "endpoint in a subnet of another vpc": ("InvalidParameter", lambda n: endpoint(n, "logs", SubnetIds=[in_another_vpc(n)])),
    "endpoint twice in a zone": (
        "DuplicateSubnetsInSameZone",
        lambda n: endpoint(n, "logs", SubnetIds=[n.subnet, subnet(n, "10.1.1.0/28", "usw2-az1")]),
    ),
    "endpoint extended in its zone": ("DuplicateSubnetsInSameZone", extended_in_its_zone),
    "endpoint in a full subnet": ("InsufficientFreeAddressesInSubnet", in_a_full_subnet),
    "private dns in a vpc without host names": ("InvalidParameter", lambda n: endpoint(n, "logs", PrivateDnsEnabled=True)),
    "private dns of a service twice": ("InvalidParameter", lambda n: [named(n, "logs"), named(n, "logs")]),
    "policy of an endpoint without a principal": (
        "InvalidPolicyDocument",
        lambda n: endpoint(
            n, "logs", PolicyDocument=json.dumps({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}})
        ),
    ),
    "policy of an endpoint that is no json": ("InvalidPolicyDocument", lambda n: endpoint(n, "logs", PolicyDocument="all")),
    "default group": (
        "CannotDelete",
        lambda n: n.ec2.delete_security_group(
            GroupId=n.ec2.describe_security_groups(
                Filters=[{"Name": "vpc-id", "Values": [n.vpc]}, {"Name": "group-name", "Values": ["default"]}]
            )["SecurityGroups"][0]["GroupId"]
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_fails_as_on_aws(network: Network, case: str) -> None:
    code, call = REFUSED[case]
    with pytest.raises(ClientError) as refused:
        call(network)
    assert refused.value.response["Error"]["Code"] == code, refused.value


def test_fails_when_a_subnet_is_full(network: Network) -> None:
    for _ in range(9):  # 16 addresses less 5 reserved, one interface and one NAT gateway
        network.ec2.create_network_interface(SubnetId=network.subnet)
    with pytest.raises(ClientError, match="enough free addresses"):
        network.ec2.create_network_interface(SubnetId=network.subnet)


def test_the_routes_of_a_gateway_endpoint_follow_its_tables(network: Network) -> None:
    ec2 = network.ec2
    other = ec2.create_route_table(VpcId=network.vpc)["RouteTable"]["RouteTableId"]
    endpoint = ec2.create_vpc_endpoint(
        VpcId=network.vpc, ServiceName="com.amazonaws.us-west-2.s3", VpcEndpointType="Gateway", RouteTableIds=[network.table]
    )["VpcEndpoint"]["VpcEndpointId"]

    def tables() -> list[str]:
        found = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [network.vpc]}])["RouteTables"]
        return [one["RouteTableId"] for one in found if any(route.get("GatewayId") == endpoint for route in one["Routes"])]

    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, AddRouteTableIds=[other])
    assert sorted(tables()) == sorted([network.table, other])
    ec2.modify_vpc_endpoint(VpcEndpointId=endpoint, RemoveRouteTableIds=[network.table])
    assert tables() == [other]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    assert tables() == []


def test_an_interface_endpoint_has_an_address_in_each_of_its_subnets(network: Network) -> None:
    ec2, other = network.ec2, subnet(network, "10.1.1.0/28", "usw2-az2")
    made = named(network, "logs")

    def interfaces() -> dict[str, list[str]]:
        ids = ec2.describe_vpc_endpoints(VpcEndpointIds=[made])["VpcEndpoints"][0]["NetworkInterfaceIds"]
        found = ec2.describe_network_interfaces(NetworkInterfaceIds=ids)["NetworkInterfaces"] if ids else []
        return {one["SubnetId"]: [group["GroupId"] for group in one["Groups"]] for one in found}

    ec2.modify_vpc_endpoint(VpcEndpointId=made, AddSubnetIds=[other], AddSecurityGroupIds=[network.group])
    assert interfaces() == {network.subnet: [network.group], other: [network.group]}
    ec2.modify_vpc_endpoint(VpcEndpointId=made, RemoveSubnetIds=[network.subnet])
    assert interfaces() == {other: [network.group]}
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_subnet(SubnetId=other)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[made])
    ec2.delete_subnet(SubnetId=other)
    assert named(network, "logs") != made, "the name is free again"


def test_private_dns_is_switched_off_and_on(network: Network) -> None:
    ec2, made = network.ec2, named(network, "logs")

    def state() -> bool:
        return bool(ec2.describe_vpc_endpoints(VpcEndpointIds=[made])["VpcEndpoints"][0]["PrivateDnsEnabled"])

    ec2.modify_vpc_endpoint(VpcEndpointId=made, PrivateDnsEnabled=False)
    assert not state()
    other = named(network, "logs")
    with pytest.raises(ClientError, match=r"conflicting DNS domain for logs\.us-west-2"):
        ec2.modify_vpc_endpoint(VpcEndpointId=made, PrivateDnsEnabled=True)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[other])
    ec2.modify_vpc_endpoint(VpcEndpointId=made, PrivateDnsEnabled=True)
    assert state()


def test_everything_goes_in_the_right_order(network: Network) -> None:
    ec2 = network.ec2
    endpoint = ec2.create_vpc_endpoint(
        VpcId=network.vpc,
        ServiceName="com.amazonaws.us-west-2.logs",
        VpcEndpointType="Interface",
        SubnetIds=[network.subnet],
        SecurityGroupIds=[network.group],
    )["VpcEndpoint"]["VpcEndpointId"]
    with pytest.raises(ClientError, match="DependencyViolation"):
        ec2.delete_vpc(VpcId=network.vpc)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    ec2.delete_network_interface(NetworkInterfaceId=network.interface)
    ec2.delete_nat_gateway(NatGatewayId=network.nat)
    assert ec2.describe_network_interfaces(Filters=[{"Name": "vpc-id", "Values": [network.vpc]}])["NetworkInterfaces"] == []
    ec2.release_address(AllocationId=network.allocation)
    ec2.detach_internet_gateway(InternetGatewayId=network.gateway, VpcId=network.vpc)
    ec2.delete_internet_gateway(InternetGatewayId=network.gateway)
    table = ec2.describe_route_tables(RouteTableIds=[network.table])["RouteTables"][0]
    for association in table["Associations"]:
        ec2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
    ec2.delete_route_table(RouteTableId=network.table)
    ec2.delete_subnet(SubnetId=network.subnet)
    ec2.delete_security_group(GroupId=network.group)
    ec2.delete_security_group(GroupId=network.peer)
    ec2.delete_vpc(VpcId=network.vpc)


def security_group(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "d", "VpcId": {"Ref": "Vpc"}, **properties}}


def test_rules_of_a_security_group_follow_the_template(fresh: LocalAws) -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0", "Description": "out"}
    http = {**https, "FromPort": 80, "ToPort": 80}
    stack = deploy(fresh, {"Vpc": vpc, "Group": security_group(SecurityGroupEgress=[https])})
    assert stack.status == "CREATE_COMPLETE", stack.reasons

    def ports() -> list[int]:
        found = fresh.client("ec2").describe_security_groups(GroupIds=[stack.resources["Group"]])["SecurityGroups"][0]
        return sorted(rule.get("FromPort", -1) for rule in found["IpPermissionsEgress"])

    assert ports() == [443]
    assert deploy(fresh, {"Vpc": vpc, "Group": security_group(SecurityGroupEgress=[http])}).status == "UPDATE_COMPLETE"
    assert ports() == [80]
    assert deploy(fresh, {"Vpc": vpc, "Group": security_group()}).status == "UPDATE_COMPLETE"
    assert ports() == [-1]


def test_stack_keeps_a_subnet_whose_interface_is_in_use(fresh: LocalAws) -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"}}
    stack = deploy(fresh, {"Vpc": vpc, "Subnet": subnet})
    ec2 = fresh.client("ec2")
    interface = ec2.create_network_interface(SubnetId=stack.resources["Subnet"])["NetworkInterface"]["NetworkInterfaceId"]
    failed = delete(fresh)
    assert failed.status == "DELETE_FAILED"
    assert any(interface in reason for reason in failed.reasons)
    ec2.delete_network_interface(NetworkInterfaceId=interface)
    assert delete(fresh).status == "DELETE_COMPLETE"
