"""What EC2 refuses and moto's EC2 lets pass: checks before a request reaches moto, and what moto forgets to clean up after it.

Codes and wording follow the EC2 error reference (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from hyperpod_constructs.facts import cidr_blocks
from hyperpod_constructs.facts.property_schemas import FORMATS
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.ec2 import endpoint_rules
from hyperpod_constructs.local.ec2.parameters import Parameters, values


def refuse(backend: Any, parameters: Parameters) -> None:
    """Raise AwsError if AWS would refuse this request; `backend` is moto's EC2 of the account and region."""
    rule = _RULES.get(parameters.get("Action", ""))
    if rule is not None:
        rule(backend, parameters)


def complete(backend: Any, parameters: Parameters) -> None:
    """Finish what moto leaves undone after it answered a request with success."""
    follow_up = _FOLLOW_UPS.get(parameters.get("Action", ""))
    if follow_up is not None:
        follow_up(backend, parameters)


def unknown(backend: Any, parameters: Parameters) -> AwsError | None:
    """The refusal of a request for a missing resource; None if every named resource exists.

    To be asked when moto fails: it does not look everywhere before it takes a resource for granted.
    """
    for name, value in parameters.items():
        kind = name.rstrip(".0123456789").rpartition(".")[2]
        if kind.endswith(("Id", "Ids")) and value and not any(value in known for known in _collections(backend)):
            return AwsError(f"Invalid{kind.removesuffix('s')[:-2]}ID.NotFound", f"The {kind} '{value[:200]}' does not exist")
    return None


def _collections(backend: Any) -> Iterator[Any]:
    """Every mapping of the backend that is keyed by id, those by VPC and then by id too."""
    for found in list(vars(backend).values()):
        if isinstance(found, dict):
            yield found
            yield from (inner for inner in list(found.values()) if isinstance(inner, dict))


def _groups(backend: Any) -> Iterator[Any]:
    for groups in list(backend.groups.values()):
        yield from list(groups.values())


def _subnets(backend: Any) -> Iterator[Any]:
    for subnets in list(backend.subnets.values()):
        yield from list(subnets.values())


def _in_use(what: str) -> AwsError:
    return AwsError("DependencyViolation", what)


def _known_group(backend: Any, group_id: str, vpc_id: str | None = None) -> None:
    for group in _groups(backend):
        if group.id == group_id:
            if vpc_id is not None and group.vpc_id != vpc_id:
                raise AwsError(
                    "InvalidGroup.NotFound",
                    f"You have specified two resources that belong to different networks: {group_id} is not in {vpc_id}",
                )
            return
    raise AwsError("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")


def _create_vpc(backend: Any, parameters: Parameters) -> None:
    _vpc_block(parameters)


def _associate_vpc_cidr_block(backend: Any, parameters: Parameters) -> None:
    block = _vpc_block(parameters)
    vpc = backend.get_vpc(parameters["VpcId"])
    known = [ipaddress.IPv4Network(one["cidr_block"]) for one in vpc.get_cidr_block_association_set()]
    for other in known:
        if block.overlaps(other):
            raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' conflicts with {other} of {vpc.id}")
    mistake = cidr_blocks.addition_mistake(block, known)
    if mistake is not None:
        raise AwsError(
            "InvalidVpc.Range",
            f"The CIDR '{block}' is restricted. Use a CIDR from the same private address range as the current VPC CIDR, or use a "
            f"publicly-routable CIDR. The CIDR {mistake}",
        )


def _vpc_block(parameters: Parameters) -> ipaddress.IPv4Network:
    """The block of a request, in its canonical form."""
    try:
        block = ipaddress.IPv4Network(parameters["CidrBlock"], strict=False)
    except ValueError:
        raise AwsError("InvalidParameterValue", f"Value ({parameters['CidrBlock'][:200]}) for cidrBlock is invalid") from None
    mistake = cidr_blocks.mistake(block)
    if mistake is not None:
        raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' is invalid: it {mistake}")
    return block


def _disassociate_vpc_cidr_block(backend: Any, parameters: Parameters) -> None:
    association = parameters["AssociationId"]
    for vpc in list(backend.vpcs.values()):
        for known in vpc.get_cidr_block_association_set():
            if known["association_id"] != association:
                continue
            block = ipaddress.ip_network(known["cidr_block"])
            users = [s.id for s in _subnets(backend) if s.vpc_id == vpc.id and block.overlaps(ipaddress.ip_network(s.cidr_block))]
            if users:
                raise _in_use(f"The vpc CIDR block with association ID {association} has dependencies: {', '.join(users)}")


def _create_subnet(backend: Any, parameters: Parameters) -> None:
    name, zone_id = parameters.get("AvailabilityZone"), parameters.get("AvailabilityZoneId")
    zones = {zone.zone_id: zone.name for zone in backend.describe_availability_zones()}
    if name is not None and zones.get(zone_id, name) != name:
        raise AwsError("InvalidParameterCombination", f"{name} is not the zone {zone_id}, which is {zones[zone_id]}")


def _delete_subnet(backend: Any, parameters: Parameters) -> None:
    subnet_id = parameters["SubnetId"]
    users = [eni.id for eni in list(backend.enis.values()) if eni.subnet.id == subnet_id]
    if users:
        raise _in_use(f"The subnet '{subnet_id}' has dependencies and cannot be deleted: {', '.join(users)}")


def _create_security_group(backend: Any, parameters: Parameters) -> None:
    _describe(backend, parameters)
    if "VpcId" in parameters:
        backend.get_vpc(parameters["VpcId"])


def _delete_security_group(backend: Any, parameters: Parameters) -> None:
    group_id = parameters.get("GroupId", "")
    if any(group.id == group_id and group.is_default for group in _groups(backend)):
        raise AwsError("CannotDelete", f'the specified group: "{group_id}" name: "default" cannot be deleted by a user')
    users = [eni.id for eni in list(backend.enis.values()) if any(group.id == group_id for group in eni.group_set)]
    for group in _groups(backend):
        rules = [*group.ingress_rules, *group.egress_rules]
        if group.id != group_id and any(_names_group(rule, group_id) for rule in rules):
            users.append(group.id)
    if users:
        raise _in_use(f"resource {group_id} has a dependent object: {', '.join(users)}")


def _names_group(rule: Any, group_id: str) -> bool:
    return bool(rule.source_group) and group_id in (rule.source_group.get("GroupId"), rule.source_group.get("group_id"))


def _create_network_interface(backend: Any, parameters: Parameters) -> None:
    subnet = backend.get_subnet(parameters["SubnetId"])
    for group_id in values(parameters, "SecurityGroupId"):
        _known_group(backend, group_id, subnet.vpc_id)
    endpoint_rules.check_room(backend, subnet)


def _delete_vpc(backend: Any, parameters: Parameters) -> None:
    vpc_id = parameters["VpcId"]
    users = [group.id for group in _groups(backend) if group.vpc_id == vpc_id and not group.is_default]
    users += [gateway.id for gateway in backend.internet_gateways.values() if gateway.vpc and gateway.vpc.id == vpc_id]
    users += [point.id for point in backend.vpc_end_points.values() if point.vpc_id == vpc_id and point.state != "deleted"]
    if users:
        raise _in_use(f"The vpc '{vpc_id}' has dependencies and cannot be deleted: {', '.join(users)}")


def _live_nat_gateways(backend: Any) -> list[Any]:
    return [gateway for gateway in backend.nat_gateways.values() if gateway.state != "deleted"]


def _nat_gateway_of(backend: Any, allocation: str | None) -> Any:
    for gateway in _live_nat_gateways(backend):
        if any(address.get("allocationId") == allocation for address in gateway.address_set):
            return gateway
    return None


def _create_nat_gateway(backend: Any, parameters: Parameters) -> None:
    backend.get_subnet(parameters["SubnetId"])
    allocation = parameters.get("AllocationId")
    if allocation is not None and (user := _nat_gateway_of(backend, allocation)) is not None:
        raise AwsError("Resource.AlreadyAssociated", f"elastic ip address [{allocation}] is already associated with {user.id}")


def _release_address(backend: Any, parameters: Parameters) -> None:
    allocation = parameters.get("AllocationId")
    if allocation is not None and (user := _nat_gateway_of(backend, allocation)) is not None:
        raise AwsError("InvalidIPAddress.InUse", f"Address {allocation} is in use by {user.id}")


def _detach_internet_gateway(backend: Any, parameters: Parameters) -> None:
    vpc_id = parameters["VpcId"]
    if any(gateway.vpc_id == vpc_id and gateway.connectivity_type != "private" for gateway in _live_nat_gateways(backend)):
        raise _in_use(
            f"Network {vpc_id} has some mapped public address(es). "
            "Please unmap those public address(es) before detaching the gateway."
        )


def _associate_route_table(backend: Any, parameters: Parameters) -> None:
    subnet_id, table_id = parameters.get("SubnetId"), parameters["RouteTableId"]
    for table in backend.route_tables.values():
        if table.id != table_id and any(one.get("SubnetId") == subnet_id for one in table.associations):
            raise AwsError("Resource.AlreadyAssociated", f"the subnet {subnet_id} is associated with {table.id} already")


def _authorize(backend: Any, parameters: Parameters, *, egress: bool) -> None:
    """A rule is told from others by protocol, ports and peer; its description does not count."""
    _describe(backend, parameters)
    group = next((known for known in _groups(backend) if known.id == parameters.get("GroupId")), None)
    if group is None:
        return
    wanted = list(_permissions(parameters))
    if len(set(wanted)) < len(wanted):
        raise AwsError("InvalidParameterValue", "The same permission must not appear multiple times")
    for rule in group.egress_rules if egress else group.ingress_rules:
        peer = rule.cidr_ipv4 or rule.cidr_ipv6 or rule.prefix_list_id or (rule.source_group or {}).get("GroupId", "")
        known = Permission(str(rule.ip_protocol), *_ports(rule.ip_protocol, rule.from_port, rule.to_port), str(peer))
        if known in wanted:
            raise AwsError("InvalidPermission.Duplicate", f'the specified rule "{known}" already exists')


class Permission(NamedTuple):
    """What tells one rule of a security group from another."""

    protocol: str
    first: str
    last: str
    peer: str

    def __str__(self) -> str:
        """As EC2 writes it."""
        ports = "ALL" if self.protocol == "-1" else f"{self.protocol.upper()}, from port: {self.first}, to port: {self.last}"
        return f"peer: {self.peer}, {ports}, ALLOW"


_PEERS = {"IpRanges": "CidrIp", "Ipv6Ranges": "CidrIpv6", "PrefixListIds": "PrefixListId", "Groups": "GroupId"}
_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp", "all": "-1"}


def _permissions(parameters: Parameters) -> Iterator[Permission]:
    for key, peer in parameters.items():
        kind = _PEERS.keys() & set(key.split("."))
        if key.startswith("IpPermissions.") and kind and key.endswith(f".{_PEERS[min(kind)]}"):
            rule = key.partition(f".{min(kind)}.")[0]
            protocol = parameters.get(f"{rule}.IpProtocol", "").lower()
            protocol = _PROTOCOLS.get(protocol, protocol)
            ports = _ports(protocol, parameters.get(f"{rule}.FromPort"), parameters.get(f"{rule}.ToPort"))
            yield Permission(protocol, *ports, peer)


def _ports(protocol: str, first: object, last: object) -> tuple[str, str]:
    return ("", "") if protocol == "-1" else (str(first), str(last))


def _describe(backend: Any, parameters: Parameters) -> None:
    """Names and descriptions of groups and rules have the same signs; a rule may have none."""
    for key, value in parameters.items():
        name = key.rpartition(".")[2]
        if name in ("GroupName", "GroupDescription", "Description") and value and _TEXT.fullmatch(value) is None:
            raise AwsError(
                "InvalidParameterValue", f"Value ({value}) for parameter {name} is invalid: it does not match {_TEXT.pattern}"
            )


_TEXT = re.compile(FORMATS["AWS::EC2::SecurityGroup.Name"][0], re.ASCII)


def _create_route(backend: Any, parameters: Parameters) -> None:
    gateway = parameters.get("NatGatewayId")
    if gateway is not None and gateway not in [known.id for known in _live_nat_gateways(backend)]:
        raise AwsError("InvalidNatGatewayID.NotFound", f"The natGateway ID '{gateway}' does not exist")


def _create_vpc_endpoint(backend: Any, parameters: Parameters) -> None:
    endpoint_rules.refuse_creation(backend, parameters, _known_group)


def _modify_vpc_endpoint(backend: Any, parameters: Parameters) -> None:
    endpoint_rules.refuse_change(backend, parameters, _known_group)


def _after_delete_nat_gateway(backend: Any, parameters: Parameters) -> None:
    gateway = backend.nat_gateways[parameters["NatGatewayId"]]
    for address in gateway.address_set:
        backend.enis.pop(address.get("networkInterfaceId"), None)


_RULES: dict[str, Callable[[Any, Parameters], None]] = {
    "AssociateRouteTable": _associate_route_table,
    "AuthorizeSecurityGroupEgress": partial(_authorize, egress=True),
    "AuthorizeSecurityGroupIngress": partial(_authorize, egress=False),
    "AssociateVpcCidrBlock": _associate_vpc_cidr_block,
    "CreateVpc": _create_vpc,
    "CreateNatGateway": _create_nat_gateway,
    "CreateNetworkInterface": _create_network_interface,
    "CreateRoute": _create_route,
    "CreateSecurityGroup": _create_security_group,
    "CreateSubnet": _create_subnet,
    "CreateVpcEndpoint": _create_vpc_endpoint,
    "DeleteSecurityGroup": _delete_security_group,
    "DeleteSubnet": _delete_subnet,
    "DeleteVpc": _delete_vpc,
    "DetachInternetGateway": _detach_internet_gateway,
    "DisassociateVpcCidrBlock": _disassociate_vpc_cidr_block,
    "ModifyVpcEndpoint": _modify_vpc_endpoint,
    "ReleaseAddress": _release_address,
    "UpdateSecurityGroupRuleDescriptionsEgress": _describe,
    "UpdateSecurityGroupRuleDescriptionsIngress": _describe,
}

_FOLLOW_UPS: dict[str, Callable[[Any, Parameters], None]] = {
    "CreateVpcEndpoint": endpoint_rules.after_creation,
    "DeleteNatGateway": _after_delete_nat_gateway,
    "ModifyVpcEndpoint": endpoint_rules.after_change,
}
