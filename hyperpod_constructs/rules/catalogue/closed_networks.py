"""Closed networks: names in the VPC, and the endpoints that functions with kubectl need; `reach` judges those of the nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, Subnet, network_facts
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_items

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
