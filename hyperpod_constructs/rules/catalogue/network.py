"""Rules on the routes of the nodes' subnets."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules.facts.clusters import given
from hyperpod_constructs.rules.facts.networks import Subnet, network_facts
from hyperpod_constructs.rules.facts.placement import NodeGroup, named, node_groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import as_bool, resource_of

_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
_NO_PUBLIC_ADDRESS = "nodes have no public addresses, so a route to an internet gateway takes them nowhere"
_PRIVATE = "a subnet whose default route leads to a NAT gateway, or that has none"


def users_of_subnets(model: Model) -> dict[Resource, list[NodeGroup]]:
    """The groups whose nodes can be in a subnet, by subnet."""
    found: dict[Resource, list[NodeGroup]] = {}
    for group in node_groups(model):
        for subnet in group.subnets or ():
            found.setdefault(subnet, []).append(group)
    return found


def reaches_s3(model: Model, subnet: Subnet) -> bool | None:
    """Whether nodes in a subnet reach S3: by a gateway endpoint, an interface endpoint or a NAT gateway."""
    vpc = subnet.vpc
    answers = [
        subnet.has_gateway_endpoint("s3"),
        subnet.reaches_internet,
        None if vpc is None else network_facts(model).has_interface_endpoint(vpc, "s3"),
    ]
    return True if True in answers else None if None in answers else False


@rule(
    "HP-NET-010",
    Level.ERROR,
    title="nodes are in private subnets",
    why=f"{_NO_PUBLIC_ADDRESS}: they reach neither their scripts nor any service, and the creation fails",
    fix="put the nodes into a private subnet, with a default route to a NAT gateway or with endpoints",
    allowed=_PRIVATE,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html",
    silences=("HP-NET-012",),
)
def nodes_are_not_cut_off_in_public(model: Model) -> Iterator[Hit]:
    """The subnet is public, and scripts have no other way from S3; on EKS a public one is not supported at all."""
    for subnet, users in users_of_subnets(model).items():
        facts = network_facts(model).subnet(subnet)
        if facts.is_public and _cuts_off(model, facts, users):
            yield _public(subnet, users)


def _cuts_off(model: Model, subnet: Subnet, users: list[NodeGroup]) -> bool:
    """Whether nodes surely cannot be created in a public subnet; those of Slurm without scripts need nothing but their image."""
    on_eks = any(user.owner.on_eks for user in users)
    return on_eks or (any(user.has_scripts for user in users) and reaches_s3(model, subnet) is False)


@rule(
    "HP-NET-011",
    Level.WARNING,
    title="nodes are not in a public subnet, even where they come up in it",
    why=f"{_NO_PUBLIC_ADDRESS}: package mirrors, registries and every service without an endpoint time out",
    fix="put the nodes into a private subnet, with a default route to a NAT gateway or with endpoints",
    allowed=_PRIVATE,
    source=_PREREQUISITES,
)
def nodes_are_not_in_public(model: Model) -> Iterator[Hit]:
    """The subnet is public, and the nodes come up there, or may."""
    for subnet, users in users_of_subnets(model).items():
        facts = network_facts(model).subnet(subnet)
        if facts.is_public and not _cuts_off(model, facts, users):
            yield _public(subnet, users)


def _public(subnet: Resource, users: list[NodeGroup]) -> Hit:
    message = f"the nodes of {named(users)} are in public subnet {subnet.logical_id}; {_NO_PUBLIC_ADDRESS}"
    path = (*users[0].network_path, "Subnets")
    return Hit(users[0].cluster, path, message, found=users[0].cluster.get(*path), covers=(subnet,))


@rule(
    "HP-NET-012",
    Level.ERROR,
    title="nodes reach S3",
    why="lifecycle scripts come from S3: nodes that cannot fetch them fail, with nothing in the log, and so does the creation",
    fix="add an AWS::EC2::VPCEndpoint of type Gateway for com.amazonaws.<region>.s3 with the subnet's route table in RouteTableIds",
    allowed="a gateway endpoint for S3 on the subnet's route table, or a default route to a NAT gateway",
    source=_PREREQUISITES,
)
def nodes_reach_s3(model: Model) -> Iterator[Hit]:
    """No endpoint and no NAT gateway, for groups with scripts."""
    for subnet, users in users_of_subnets(model).items():
        scripted = [user for user in users if user.has_scripts]
        facts = network_facts(model).subnet(subnet)
        if scripted and reaches_s3(model, facts) is False:
            yield Hit(
                subnet, (), f"the nodes of {named(scripted)} take their scripts from S3, to which {subnet.logical_id} has no route"
            )


@rule(
    "HP-NET-013",
    Level.ERROR,
    title="nodes without a way to the internet reach the Kubernetes API inside the VPC",
    why="the public endpoint of the control plane is on the internet: nodes in a closed network never join",
    fix="set ResourcesVpcConfig.EndpointPrivateAccess to true (it is false unless written)",
    allowed="true",
    source="https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html",
)
def nodes_reach_the_control_plane(model: Model) -> Iterator[Hit]:
    """The control plane of the model has no private endpoint, and no subnet of some nodes reaches the internet."""
    for group in node_groups(model):
        control = resource_of(group.owner.eks_arn, "AWS::EKS::Cluster")
        if control is None or not group.subnet_facts():
            continue
        private = control.get("ResourcesVpcConfig", "EndpointPrivateAccess")
        is_closed = all(facts.reaches_internet is False for facts in group.subnet_facts())
        if is_closed and (given(private) is False or as_bool(private) is False):
            message = f"the nodes of {group.owner.resource.logical_id} have no way to the internet, where the only endpoint is"
            yield Hit(control, ("ResourcesVpcConfig", "EndpointPrivateAccess"), message, found=private)
