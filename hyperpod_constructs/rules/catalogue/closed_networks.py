"""Closed networks: names in the VPC, endpoints as EC2 takes them, and where functions with kubectl are.

`reach` judges those of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.networks import ENDPOINT, service_of
from hyperpod_constructs.facts.connections import GATEWAY_SERVICES
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, as_str

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_INNER = ("Environment", "Variables", "USER_ON_EVENT_FUNCTION_ARN")


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
            names = ((one, ("ServiceName",)) for one in (first, endpoint))
            yield hit(endpoint, text, "PrivateDnsEnabled" if kind == _INTERFACE else "RouteTableIds", doubts=names)
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
    title="an endpoint is of a type that its service has",
    why="EC2 refuses it (InvalidParameter), and the stack rolls back",
    fix="write VpcEndpointType: Interface; Gateway, the default, is for S3 and DynamoDB",
    allowed="Interface; Gateway for S3 and DynamoDB",
    source=f"{_PRIVATELINK}create-interface-endpoint.html",
)
def endpoints_are_of_their_type(endpoint: Resource) -> Hit | None:
    kind, service = _kind(endpoint), service_of(endpoint)
    if kind == _GATEWAY and service is not None and service not in GATEWAY_SERVICES:
        default = " by default" if endpoint.get("VpcEndpointType") is ABSENT else ""
        return hit(endpoint, f"it is of type {_GATEWAY}{default}, and {service} has interface endpoints only", "VpcEndpointType")
    return None
