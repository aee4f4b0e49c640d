"""Closed networks: names in the VPC, endpoints as EC2 takes them, and those that functions with kubectl need.

`reach` judges those of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.networks import ENDPOINT, SUBNET, ExitKind, Subnet, network_facts, service_of
from hyperpod_constructs.facts.connections import GATEWAY_SERVICES
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, as_str

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_ADD_ENDPOINTS = "add an AWS::EC2::VPCEndpoint of type Interface for each, with PrivateDnsEnabled, or a route to a NAT gateway"
_OF_APPLIERS = ("eks", "lambda", "s3")
_INNER = ("Environment", "Variables", "USER_ON_EVENT_FUNCTION_ARN")
_CLOSED = (ExitKind.NONE, ExitKind.INTERNET_GATEWAY)  # a function has no public address


@error(
    "HP-END-002",
    on=joined,
    title="the VPC of a Kubernetes cluster has host names and DNS",
    why="without both, the name of the Kubernetes API inside the VPC and those of endpoints with private DNS lead nowhere, and "
    "nodes never join",
    fix="write EnableDnsHostnames: true (it is false by default) and leave EnableDnsSupport out, or set it to true",
    allowed="EnableDnsHostnames and EnableDnsSupport true",
    source=f"{_EKS_GUIDE}network-reqs.html",
)
def the_vpc_has_names(_: Cluster, eks: EksCluster) -> Iterator[Hit]:
    for vpc in eks.vpcs:
        for key in ("EnableDnsHostnames", "EnableDnsSupport"):
            by_default = key == "EnableDnsHostnames" and given(vpc.get(key)) is False
            if by_default or as_bool(vpc.get(key)) is False:
                yield hit(vpc, f"{key} of {vpc.logical_id} is false{' by default' if by_default else ''}", key)


@error(
    "HP-END-003",
    on=eks_clusters,
    title="functions with kubectl are where the endpoint of the control plane is",
    why="with a private endpoint alone, a function outside the VPC never reaches the Kubernetes API: charts and manifests fail "
    "after their timeout",
    fix="give the functions subnets of the VPC (in the CDK: private_subnets of the provider), or open the public endpoint",
    allowed="VpcConfig in the VPC of the control plane, or EndpointPublicAccess",
    source=f"{_EKS_GUIDE}cluster-endpoint.html",
)
def functions_reach_the_control_plane(eks: EksCluster) -> Hit | None:
    public = as_bool(eks.resource.get(*eks.network_path("EndpointPublicAccess")))
    outside = [one for one in eks.appliers if given(one.get("VpcConfig")) is False and one.get(*_INNER) is ABSENT]
    if public is not False or not outside:
        return None
    text = f"{outside[0].logical_id} is outside the VPC, where the only endpoint of {eks.resource.logical_id} is"
    return hit(outside[0], text, "VpcConfig")


@error(
    "HP-END-004",
    on=eks_clusters,
    title="functions with kubectl in a closed network reach EKS, Lambda and S3",
    why="they ask EKS for the cluster, start each other by Lambda, and take charts from S3: charts and manifests fail after their "
    "timeout",
    fix=_ADD_ENDPOINTS,
    allowed=f"endpoints for {', '.join(_OF_APPLIERS)}, or a default route to a NAT gateway",
    source=f"{_EKS_GUIDE}private-clusters.html",
)
def functions_reach_their_services(eks: EksCluster) -> Hit | None:
    facts = network_facts(eks.resource.template.model)
    for function in eks.appliers:
        found = [resource_of(one, SUBNET) for one in as_items(function.get("VpcConfig", "SubnetIds")) or ()]
        subnets = [facts.subnet(one) for one in found if one is not None]
        if not subnets or len(subnets) < len(found) or any(one.exit.kind not in _CLOSED for one in subnets):
            continue
        missing = [service for service in _OF_APPLIERS if _lacks(subnets, service)]
        if missing:
            text = f"{function.logical_id} has no way to the internet, and its VPC lacks endpoints for {', '.join(missing)}"
            return hit(function, text, "VpcConfig", "SubnetIds")
    return None


def _lacks(subnets: Sequence[Subnet], service: str) -> bool:
    """Whether a VPC surely has no endpoint of a service, or a subnet none of its gateway."""
    facts, vpc = network_facts(subnets[0].resource.template.model), subnets[0].vpc
    no_interface = vpc is not None and facts.interface_endpoint(vpc, service) == (None, False)
    return no_interface and any(one.lacks_gateway_endpoint(service) for one in subnets)


_INTERFACE, _GATEWAY = "Interface", "Gateway"
_PRIVATELINK = "https://docs.aws.amazon.com/vpc/latest/privatelink/"


@error(
    "HP-END-005",
    title="a service has one endpoint with private DNS in a VPC, and one gateway endpoint on a route table",
    why="EC2 refuses the second (InvalidParameter: conflicting DNS domain; RouteAlreadyExists), and the stack rolls back",
    fix="take one of the two endpoints out, or set its PrivateDnsEnabled to false",
    allowed="one endpoint of a service for each name and each route table",
    source=f"{_PRIVATELINK}interface-endpoints.html",
)
def endpoints_do_not_meet(model: Model) -> Iterator[Hit]:
    seen: dict[tuple[Resource | str, str], Resource] = {}
    for endpoint in model.resources(ENDPOINT):
        claims = list(_claims(endpoint)) if endpoint.exists else []
        first = next((seen[claim] for claim in claims if claim in seen), None)
        if first is not None:
            kind, service = _kind(endpoint), service_of(endpoint)
            what = "private DNS in one VPC" if kind == _INTERFACE else "one route table"
            text = f"{first.logical_id} and {endpoint.logical_id} are endpoints of {service} with {what}"
            yield hit(endpoint, text, "PrivateDnsEnabled" if kind == _INTERFACE else "RouteTableIds")
        for claim in claims:
            seen.setdefault(claim, endpoint)


def _claims(endpoint: Resource) -> Iterator[tuple[Resource | str, str]]:
    """What an endpoint takes for itself: the name of its service in a VPC, or the route to it on tables."""
    service, kind = service_of(endpoint), _kind(endpoint)
    places: Sequence[Value] = ()
    if kind == _GATEWAY:
        places = tuple(dict.fromkeys(as_items(endpoint.get("RouteTableIds")) or ()))
    elif kind == _INTERFACE and as_bool(endpoint.get("PrivateDnsEnabled")):
        places = (endpoint.get("VpcId"),)
    for place in places if service is not None else ():
        known = place if isinstance(place, str) else resource_of(place)
        if known is not None:
            yield known, str(service)


def _kind(endpoint: Resource) -> str | None:
    """The type of an endpoint, if it is known; a gateway by default."""
    kind = endpoint.get("VpcEndpointType")
    return _GATEWAY if kind is ABSENT else as_str(kind)


@error(
    "HP-END-006",
    on=ENDPOINT,
    title="an endpoint is of a type that its service has, with what that type takes",
    why="EC2 refuses it (InvalidParameter, DuplicateSubnetsInSameZone), and the stack rolls back",
    fix="write VpcEndpointType: Interface with SubnetIds in different zones, or Gateway with RouteTableIds for S3 and DynamoDB",
    allowed="Interface: SubnetIds, one in each zone, SecurityGroupIds, PrivateDnsEnabled; Gateway (the default): RouteTableIds",
    source=f"{_PRIVATELINK}create-interface-endpoint.html",
)
def endpoints_are_of_their_type(endpoint: Resource) -> Hit | None:
    kind, service = _kind(endpoint), service_of(endpoint)
    if kind == _GATEWAY and service is not None and service not in GATEWAY_SERVICES:
        default = " by default" if endpoint.get("VpcEndpointType") is ABSENT else ""
        return hit(endpoint, f"it is of type {_GATEWAY}{default}, and {service} has interface endpoints only", "VpcEndpointType")
    foreign = {_GATEWAY: ("SubnetIds", "SecurityGroupIds"), _INTERFACE: ("RouteTableIds",)}.get(kind or "", ())
    for key in foreign:
        if as_items(endpoint.get(key)):
            return hit(endpoint, f"it is of type {kind}, which takes no {key}", key)
    if kind == _GATEWAY and as_bool(endpoint.get("PrivateDnsEnabled")):
        return hit(endpoint, f"it is of type {_GATEWAY}, which has no private DNS", "PrivateDnsEnabled")
    pair = next(_in_one_zone(endpoint), None) if kind == _INTERFACE else None
    if pair is None:
        return None
    one, other = pair
    return hit(endpoint, f"its subnets {one.logical_id} and {other.logical_id} are in one zone", "SubnetIds")


def _in_one_zone(endpoint: Resource) -> Iterator[tuple[Resource, Resource]]:
    """Pairs of different subnets that are surely in one zone."""
    facts = network_facts(endpoint.template.model)
    found = dict.fromkeys(resource_of(one, SUBNET) for one in as_items(endpoint.get("SubnetIds")) or ())
    subnets = [facts.subnet(one) for one in found if one is not None]
    for one, other in combinations(subnets, 2):
        if one.zone.is_same(other.zone):
            yield one.resource, other.resource
