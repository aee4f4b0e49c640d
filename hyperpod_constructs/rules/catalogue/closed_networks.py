"""Closed networks of the nodes: the endpoints that they need, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.addons import addons
from hyperpod_constructs.analysis.clusters import Cluster, given, labels
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups, security_groups_of, users_of_subnets, users_of_vpcs
from hyperpod_constructs.analysis.reach import lets_through
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_items

_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_PRIVATE_CLUSTERS = f"{_EKS_GUIDE}private-clusters.html"
_HTTPS = 443
_CLOSED = "the nodes have no way to the internet"
_ADD_ENDPOINTS = "add an AWS::EC2::VPCEndpoint of type Interface for each, with PrivateDnsEnabled, or a route to a NAT gateway"
# Without images and addresses no pod starts.
_EKS_NEEDS = ("ec2", "ecr.api", "ecr.dkr")
_OPERATION = ("logs", "ssm", "ssmmessages")
_OF_APPLIERS = ("eks", "lambda", "s3")
_INNER = ("Environment", "Variables", "USER_ON_EVENT_FUNCTION_ARN")

_Users = Sequence[NodeGroup]


@error(
    "HP-END-013",
    on=node_groups,
    title="nodes without a way to the internet reach the Kubernetes API inside the VPC",
    why="the public endpoint of the control plane is on the internet: nodes in a closed network never join",
    fix="set ResourcesVpcConfig.EndpointPrivateAccess to true (it is false by default)",
    allowed="true",
    source=_PRIVATE_CLUSTERS,
    aliases=("HP-NET-013",),
)
def nodes_reach_the_control_plane(group: NodeGroup) -> Hit | None:
    control, path = resource_of(group.cluster.eks_arn, "AWS::EKS::Cluster"), ("ResourcesVpcConfig", "EndpointPrivateAccess")
    subnets = group.subnet_facts()
    if control is None or not subnets or any(subnet.reaches_internet is not False for subnet in subnets):
        return None
    private = control.get(*path)
    if given(private) is not False and as_bool(private) is not False:
        return None
    message = f"the nodes of {group.resource.logical_id} have no way to the internet, where the only endpoint is"
    return hit(control, message, *path)


def _closed_vpcs(model: Model) -> Iterable[tuple[Resource, _Users]]:
    """VPCs whose nodes surely have no way to the internet, with those groups."""
    subnets = ((network_facts(model).subnet(subnet), users) for subnet, users in users_of_subnets(model).items())
    closed = ((one.vpc, users) for one, users in subnets if one.reaches_internet is False and not one.is_public)
    return grouped((vpc, user) for vpc, users in closed if vpc is not None for user in users).items()


def _missing(vpc: Resource, services: Sequence[str]) -> str:
    """The services without an interface endpoint, in words."""
    facts = network_facts(vpc.template.model)
    return ", ".join(service for service in services if facts.has_interface_endpoint(vpc, service) is False)


@error(
    "HP-END-020",
    on=_closed_vpcs,
    title="a closed network of EKS has the endpoints without which no pod starts",
    why="images come from ECR and addresses of pods from EC2: nodes that reach neither never become ready, and the creation fails",
    fix=_ADD_ENDPOINTS,
    allowed=f"interface endpoints for {', '.join(_EKS_NEEDS)}, or a default route to a NAT gateway",
    source=_PRIVATE_CLUSTERS,
    aliases=("HP-NET-020",),
)
def closed_network_has_endpoints(vpc: Resource, users: _Users) -> str | None:
    on_eks = [user for user in users if user.cluster.on_eks]
    missing = _missing(vpc, _EKS_NEEDS) if on_eks else ""
    lacks = f"{_CLOSED}, and {vpc.logical_id} lacks interface endpoints for {missing}, which {labels(on_eks)} need"
    return lacks if missing else None


@warning(
    "HP-END-021",
    on=_closed_vpcs,
    title="a closed network has the endpoints that nodes and their features use",
    why="lifecycle logs and sessions go through CloudWatch and Systems Manager, and add-ons and the accounting database take their "
    "identity and secret from services too: without an endpoint a failing node says nothing, and the feature does not come up",
    fix=_ADD_ENDPOINTS,
    allowed="interface endpoints for the services named, or a default route to a NAT gateway",
    source=_PREREQUISITES,
    aliases=("HP-NET-021",),
)
def closed_network_can_be_operated(vpc: Resource, users: _Users) -> str | None:
    missing = _missing(vpc, _wanted(vpc.template.model, users))
    return f"{_CLOSED}, and {vpc.logical_id} lacks interface endpoints for {missing}" if missing else None


def _wanted(model: Model, users: _Users) -> Sequence[str]:
    """The services that nodes and their features use."""
    on_eks = any(user.cluster.on_eks for user in users)
    planes = {EksCluster.of(user.cluster.eks_arn) for user in users if user.cluster.on_eks}
    used = [addon for addon in addons(model) if addon.eks in planes]
    outside = on_eks and model.resources("AWS::EKS::PodIdentityAssociation")
    identities = outside or any(addon.has_inline_identity for addon in used)
    secret = any(given(user.cluster.get("Orchestrator", "Slurm", "AccountingDatabase", "SecretArn")) for user in users)
    features = {"sts": on_eks, "eks-auth": identities, "secretsmanager": secret}
    called = [service for addon in used if addon.facts is not None for service in addon.facts.endpoints]
    return list(dict.fromkeys([*_OPERATION, *(service for service, used in features.items() if used), *called]))


@warning(
    "HP-END-001",
    on=_closed_vpcs,
    title="endpoints of a closed network answer to the names of their services",
    why="nodes ask for the name of the service, which without private DNS leads to the internet, and so nowhere",
    fix="write PrivateDnsEnabled: true",
    allowed="true, or a private hosted zone of your own for the service",
    source="https://docs.aws.amazon.com/vpc/latest/privatelink/privatelink-access-aws-services.html",
)
def endpoints_have_the_names_of_services(vpc: Resource, users: _Users) -> Iterator[Hit]:
    model, facts = vpc.template.model, network_facts(vpc.template.model)
    services = [*(_EKS_NEEDS if any(user.cluster.on_eks for user in users) else ()), *_wanted(model, users)]
    nameless = [one for one in facts.interface_endpoints(vpc) if as_bool(one.get("PrivateDnsEnabled")) is False]
    for endpoint in nameless if not model.resources("AWS::Route53::HostedZone") else ():
        for service in services:
            if facts.serves(endpoint, service) and not facts.has_interface_endpoint(vpc, service, besides=nameless):
                yield hit(endpoint, f"{_CLOSED}, and the endpoint of {service} has no private DNS", "PrivateDnsEnabled")


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
    source=_PRIVATE_CLUSTERS,
)
def functions_reach_their_services(eks: EksCluster) -> Hit | None:
    facts = network_facts(eks.resource.template.model)
    for function in eks.appliers:
        found = [resource_of(one, SUBNET) for one in as_items(function.get("VpcConfig", "SubnetIds")) or ()]
        subnets = [facts.subnet(one) for one in found if one is not None]
        if not subnets or len(subnets) < len(found) or any(one.reaches_internet is not False for one in subnets):
            continue
        missing = [service for service in _OF_APPLIERS if _lacks(subnets, service)]
        if missing:
            text = f"{function.logical_id} has no way to the internet, and its VPC lacks endpoints for {', '.join(missing)}"
            return hit(function, text, "VpcConfig", "SubnetIds")
    return None


def _lacks(subnets: Sequence[Subnet], service: str) -> bool:
    """Whether a VPC surely has no endpoint of a service, or a subnet none of its gateway."""
    facts, vpc = network_facts(subnets[0].resource.template.model), subnets[0].vpc
    by_interface = None if vpc is None else facts.has_interface_endpoint(vpc, service)
    by_gateway = [one.has_gateway_endpoint(service) for one in subnets]
    return by_interface is False and False in by_gateway


@warning(
    "HP-END-022",
    on=lambda model: users_of_vpcs(model).items(),
    title="endpoints admit the nodes",
    why="with private DNS the service's name leads everybody in the VPC to the endpoint: nodes without access time out, even where "
    "a NAT gateway would have taken them there",
    fix="let TCP 443 in from the nodes' security group or from the block of their subnet",
    allowed="TCP 443 in, from the nodes",
    source="https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
    aliases=("HP-NET-022",),
)
def endpoints_admit_nodes(vpc: Resource, users: _Users) -> Iterator[Hit]:
    """One hit for the endpoints that have the same groups, if these surely admit none of the nodes of the VPC."""
    alike: dict[tuple[str, tuple[Resource, ...]], list[Resource]] = {}
    for endpoint in network_facts(vpc.template.model).interface_endpoints(vpc):
        refused = [user for user in users if _admits(endpoint, user) is False]
        if refused and as_bool(endpoint.get("PrivateDnsEnabled")) is not False:
            alike.setdefault((labels(refused), security_groups_of(endpoint) or ()), []).append(endpoint)
    for (names, _), (first, *others) in alike.items():
        more = f"; the same with {', '.join(other.logical_id for other in others)}" if others else ""
        message = f"its security groups do not let TCP 443 in from {names}{more}"
        yield hit(first, message, "SecurityGroupIds", covers=tuple(others))


def _admits(endpoint: Resource, user: NodeGroup) -> bool | None:
    groups = security_groups_of(endpoint)
    if groups is None or user.security_groups is None:
        return None
    own = [security_groups(endpoint.template.model).of(group) for group in groups]
    peers, subnets = user.security_groups, user.subnet_facts()
    return lets_through(own, "ingress", peers=peers, subnets=subnets, protocol="tcp", ports=range(_HTTPS, _HTTPS + 1))
