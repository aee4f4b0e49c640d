"""VPC endpoints: what EC2 refuses and moto's EC2 lets pass, and what moto leaves undone.

Codes and wording follow the EC2 error reference (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html).
Which zones offer a service is not known here: each does.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import botocore.session

from hyperpod_constructs.facts import addresses
from hyperpod_constructs.facts.connections import GATEWAY_SERVICES
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.ec2.parameters import Parameters, values

INTERFACE, GATEWAY = "Interface", "Gateway"
_OTHER_SERVICES = {
    "ec2messages",
    "ssmmessages",
    "monitoring",
    "elasticfilesystem",
    "states",
    "execute",
    "aps",
    "studio",
    "notebook",
}
_OF_INTERFACES = ("SubnetId", "SecurityGroupId")

KnownGroup = Callable[[Any, str, str], None]
"""Refuses a security group that is unknown or in another VPC."""


def refuse_creation(backend: Any, parameters: Parameters, known_group: KnownGroup) -> None:
    """Raise AwsError if AWS would refuse to make this endpoint."""
    vpc, name = backend.get_vpc(parameters["VpcId"]), _service(backend, parameters["ServiceName"])
    kind = parameters.get("VpcEndpointType") or GATEWAY
    if kind == GATEWAY and name not in GATEWAY_SERVICES:
        raise _invalid(f"Endpoint type ({kind}) does not match available service types ([{INTERFACE}]).")
    tables, subnets = values(parameters, "RouteTableId"), values(parameters, "SubnetId")
    if kind == INTERFACE and tables:
        raise _invalid(f"Route table IDs are only supported for {GATEWAY} type VPC Endpoint.")
    if kind == GATEWAY and any(values(parameters, one) for one in _OF_INTERFACES):
        raise _invalid(f"Subnet IDs and security group IDs are only supported for {INTERFACE} type VPC Endpoint.")
    for group_id in values(parameters, "SecurityGroupId"):
        known_group(backend, group_id, vpc.id)
    _check_policy(parameters.get("PolicyDocument"))
    _check_tables(backend, parameters["ServiceName"], [backend.get_route_table(table).id for table in tables])
    _check_subnets(backend, vpc.id, subnets, ())
    if parameters.get("PrivateDnsEnabled") == "true":
        _check_names(backend, vpc, parameters["ServiceName"])


def refuse_change(backend: Any, parameters: Parameters, known_group: KnownGroup) -> None:
    """Raise AwsError if AWS would refuse this change of an endpoint; moto finds out whether there is one."""
    point = backend.vpc_end_points.get(parameters["VpcEndpointId"])
    if point is None or point.state == "deleted":
        return
    for group_id in values(parameters, "AddSecurityGroupId"):
        known_group(backend, group_id, point.vpc_id)
    _check_policy(parameters.get("PolicyDocument"))
    _check_tables(backend, point.service_name, values(parameters, "AddRouteTableId"))
    gone = values(parameters, "RemoveSubnetId")
    stay = [subnet for subnet in point.subnet_ids or () if subnet not in gone]
    _check_subnets(backend, point.vpc_id, [one for one in values(parameters, "AddSubnetId") if one not in stay], stay)
    if parameters.get("PrivateDnsEnabled") == "true" and not point.private_dns_enabled:
        _check_names(backend, backend.get_vpc(point.vpc_id), point.service_name)


def after_creation(backend: Any, parameters: Parameters) -> None:
    """Give the interfaces of an endpoint its security groups."""
    point = list(backend.vpc_end_points.values())[-1]
    point.vpc_endpoint_type = point.vpc_endpoint_type or GATEWAY
    groups = values(parameters, "SecurityGroupId")
    for interface in point.network_interface_ids or []:
        if groups:
            backend.modify_network_interface_attribute(interface, groups)


def after_change(backend: Any, parameters: Parameters) -> None:
    """Let routes, interfaces and names of an endpoint follow the change; the deletion looks for all of them."""
    point = backend.vpc_end_points[parameters["VpcEndpointId"]]
    if "PrivateDnsEnabled" in parameters:
        point.private_dns_enabled = parameters["PrivateDnsEnabled"] == "true"
    if point.vpc_endpoint_type == GATEWAY:
        _follow_tables(backend, point)
    else:
        _follow_subnets(backend, point)


def _follow_tables(backend: Any, point: Any) -> None:
    prefix_list = point.destination_prefix_list_id
    for table_id, table in backend.route_tables.items():
        there = any(route.destination_prefix_list is not None and route.gateway is point for route in table.routes)
        if table_id in point.route_table_ids and not there:
            backend.create_route(table_id, None, gateway_id=point.id, destination_prefix_list_id=prefix_list)
        elif there and table_id not in point.route_table_ids:
            backend.delete_route(table_id, prefix_list)


def _follow_subnets(backend: Any, point: Any) -> None:
    """One interface in each subnet, with the groups of the endpoint."""
    places = {backend.enis[one].subnet.id: one for one in point.network_interface_ids if one in backend.enis}
    for subnet_id in places.keys() - set(point.subnet_ids or ()):
        backend.enis.pop(places.pop(subnet_id))
    for subnet_id in point.subnet_ids or ():
        if subnet_id not in places:
            places[subnet_id] = backend.create_network_interface(subnet_id, None, group_ids=point.security_group_ids).id
        elif point.security_group_ids:
            backend.modify_network_interface_attribute(places[subnet_id], point.security_group_ids)
    point.network_interface_ids = list(places.values())


def _service(backend: Any, service: str) -> str:
    """The name of a service behind the region."""
    domain, _, name = service.partition(f".{backend.region_name}.")
    if domain not in ("com.amazonaws", "cn.com.amazonaws", "aws.sagemaker") or not _is_service(name):
        raise AwsError("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
    return name


def _is_service(name: str) -> bool:
    """Whether an endpoint service of this name can exist: no list of them is shipped with botocore, service names are."""
    first = name.partition(".")[0].partition("-")[0]
    return first in _OTHER_SERVICES or first in {
        known.partition("-")[0] for known in botocore.session.Session().get_available_services()
    }


def _check_policy(document: str | None) -> None:
    if document is None:
        return
    try:
        policy = json.loads(document)
    except ValueError as error:
        raise AwsError("InvalidPolicyDocument", f"The policy document is not JSON: {error}") from None
    statements = policy.get("Statement") if isinstance(policy, dict) else None
    listed = statements if isinstance(statements, list) else [statements]
    lacking = [one for one in listed if not isinstance(one, dict) or not one.keys() >= {"Effect", "Principal"}]
    if lacking:
        raise AwsError("InvalidPolicyDocument", "The policy document needs statements, each with an Effect and a Principal")


def _check_tables(backend: Any, service: str, tables: Sequence[str]) -> None:
    """A route table has one gateway endpoint of a service."""
    for point in _living(backend):
        for table_id in tables:
            if point.service_name == service and point.vpc_endpoint_type == GATEWAY and table_id in (point.route_table_ids or ()):
                prefix_list = point.destination_prefix_list_id
                raise AwsError(
                    "RouteAlreadyExists",
                    f"route table {table_id} already has a route with destination-prefix-list-id {prefix_list}",
                )


def _check_subnets(backend: Any, vpc_id: str, added: Sequence[str], stay: Sequence[str]) -> None:
    """An endpoint has one address in each of its zones."""
    zones = {backend.get_subnet(one).availability_zone for one in stay}
    for subnet_id in added:
        subnet = backend.get_subnet(subnet_id)
        if subnet.vpc_id != vpc_id:
            raise _invalid(f"The subnet {subnet_id} does not belong to the VPC {vpc_id}.")
        if subnet.availability_zone in zones:
            raise AwsError(
                "DuplicateSubnetsInSameZone",
                f"Found another VPC endpoint subnet in the availability zone of {subnet_id}. VPC endpoint subnets should be in "
                "different availability zones supported by the VPC endpoint service.",
            )
        zones.add(subnet.availability_zone)
        check_room(backend, subnet)


def check_room(backend: Any, subnet: Any) -> None:
    """Raise AwsError if a subnet has no address left for an interface."""
    room = ipaddress.ip_network(subnet.cidr_block).num_addresses - addresses.RESERVED_ADDRESSES
    # Fewer interfaces in all than a subnet has room for: no subnet is full, so the loop is skipped.
    if len(backend.enis) >= room and sum(1 for eni in list(backend.enis.values()) if eni.subnet.id == subnet.id) >= room:
        raise AwsError(
            "InsufficientFreeAddressesInSubnet",
            f"The specified subnet '{subnet.id}' does not have enough free addresses to satisfy the request.",
        )


def _check_names(backend: Any, vpc: Any, service: str) -> None:
    """Private DNS needs the VPC's, and each name has one endpoint in a VPC."""
    if not (vpc.enable_dns_support and vpc.enable_dns_hostnames):
        raise _invalid(
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for " + vpc.id
        )
    for point in _living(backend):
        if point.vpc_id == vpc.id and point.service_name == service and point.private_dns_enabled:
            raise _invalid(
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for "
                f"{service.rpartition('.')[2]}.{backend.region_name}.amazonaws.com in the VPC {vpc.id}"
            )


def _living(backend: Any) -> Iterator[Any]:
    return (point for point in list(backend.vpc_end_points.values()) if point.state != "deleted")


def _invalid(message: str) -> AwsError:
    return AwsError("InvalidParameter", message)
