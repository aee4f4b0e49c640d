"""Rules on the interface endpoints of a closed network: one whose nodes have no way to the internet."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules.catalogue.network import users_of_subnets
from hyperpod_constructs.rules.facts.clusters import given
from hyperpod_constructs.rules.facts.networks import NetworkFacts, network_facts
from hyperpod_constructs.rules.facts.placement import NodeGroup, groups_of, named, node_groups
from hyperpod_constructs.rules.facts.reach import lets_through
from hyperpod_constructs.rules.facts.security_groups import security_groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import as_bool

_EKS_DOCS = "https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html"
_CLOSED = "the nodes have no way to the internet"
_HTTPS = range(443, 444)

# Without images and addresses no pod starts.
_EKS_NEEDS = ("ec2", "ecr.api", "ecr.dkr")
_OPERATION = ("logs", "ssm", "ssmmessages")


def _closed(model: Model) -> dict[Resource, list[NodeGroup]]:
    """VPCs with nodes that surely have no way to the internet, each with those groups."""
    found: dict[Resource, list[NodeGroup]] = {}
    facts = network_facts(model)
    for subnet, users in users_of_subnets(model).items():
        described = facts.subnet(subnet)
        if described.vpc is not None and described.reaches_internet is False and not described.is_public:
            found.setdefault(described.vpc, []).extend(users)
    return found


def _missing(facts: NetworkFacts, vpc: Resource, services: tuple[str, ...]) -> list[str]:
    return [service for service in services if facts.has_interface_endpoint(vpc, service) is False]


def _wanted(model: Model, users: list[NodeGroup]) -> tuple[str, ...]:
    """The services that nodes and their features use."""
    found = dict.fromkeys(_OPERATION)
    if any(user.owner.on_eks for user in users):
        found["sts"] = None
        if model.resources("AWS::EKS::PodIdentityAssociation"):
            found["eks-auth"] = None
    if any(given(user.owner.get("Orchestrator", "Slurm", "AccountingDatabase", "SecretArn")) for user in users):
        found["secretsmanager"] = None
    return tuple(found)


@rule(
    "HP-NET-020",
    Level.ERROR,
    title="a closed network of EKS has the endpoints without which no pod starts",
    why="images come from ECR and addresses of pods from EC2: nodes that reach neither never become ready, and the creation fails",
    fix="add an AWS::EC2::VPCEndpoint of type Interface for each, with PrivateDnsEnabled, or a route to a NAT gateway",
    allowed=f"interface endpoints for {', '.join(_EKS_NEEDS)}, or a default route to a NAT gateway",
    source=_EKS_DOCS,
)
def closed_network_has_endpoints(model: Model) -> Iterator[Hit]:
    """One hit for a VPC, with all that is missing."""
    facts = network_facts(model)
    for vpc, users in _closed(model).items():
        on_eks = [user for user in users if user.owner.on_eks]
        missing = _missing(facts, vpc, _EKS_NEEDS) if on_eks else []
        if missing:
            message = (
                f"{_CLOSED}, and {vpc.logical_id} lacks interface endpoints for {', '.join(missing)}, which {named(on_eks)} need"
            )
            yield Hit(vpc, (), message)


@rule(
    "HP-NET-021",
    Level.WARNING,
    title="a closed network has the endpoints that nodes and their features use",
    why="lifecycle logs and sessions go through CloudWatch and Systems Manager, and add-ons and the accounting database take their "
    "identity and secret from services too: without an endpoint a node that fails says nothing, and the feature does not come up",
    fix="add an AWS::EC2::VPCEndpoint of type Interface for each, with PrivateDnsEnabled, or a route to a NAT gateway",
    allowed="interface endpoints for the services named, or a default route to a NAT gateway",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html",
)
def closed_network_can_be_operated(model: Model) -> Iterator[Hit]:
    """One hit for a VPC, with all that is missing."""
    facts = network_facts(model)
    for vpc, users in _closed(model).items():
        missing = _missing(facts, vpc, _wanted(model, users))
        if missing:
            yield Hit(vpc, (), f"{_CLOSED}, and {vpc.logical_id} lacks interface endpoints for {', '.join(missing)}")


@rule(
    "HP-NET-022",
    Level.WARNING,
    title="endpoints admit the nodes",
    why="with private DNS the service's name leads to the endpoint for everybody in the VPC: nodes that it does not admit time "
    "out, even where a NAT gateway would have taken them there",
    fix="let TCP 443 in from the nodes' security group or from the block of their subnet",
    allowed="TCP 443 in, from the nodes",
    source="https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html",
)
def endpoints_admit_nodes(model: Model) -> Iterator[Hit]:
    """One hit for the endpoints that have the same groups, if these surely admit none of the nodes of the VPC."""
    facts = network_facts(model)
    for vpc, users in _by_vpc(model).items():
        alike: dict[tuple[str, tuple[Resource, ...]], list[Resource]] = {}
        for endpoint in facts.interface_endpoints(vpc):
            refused = [user for user in users if _admits(model, endpoint, user) is False]
            if refused and as_bool(endpoint.get("PrivateDnsEnabled")) is not False:
                alike.setdefault((named(refused), tuple(groups_of(endpoint) or ())), []).append(endpoint)
        for (names, _), (first, *others) in alike.items():
            more = "" if not others else f"; the same with {', '.join(other.logical_id for other in others)}"
            message = f"its security groups do not let TCP 443 in from {names}{more}"
            yield Hit(first, ("SecurityGroupIds",), message, found=first.get("SecurityGroupIds"), covers=tuple(others))


def _by_vpc(model: Model) -> dict[Resource, list[NodeGroup]]:
    found: dict[Resource, list[NodeGroup]] = {}
    for group in node_groups(model):
        for vpc in {subnet.vpc for subnet in group.subnet_facts()}:
            if vpc is not None:
                found.setdefault(vpc, []).append(group)
    return found


def _admits(model: Model, endpoint: Resource, user: NodeGroup) -> bool | None:
    groups = groups_of(endpoint)
    if groups is None or user.security_groups is None:
        return None
    own = [security_groups(model).of(group) for group in groups]
    peers, subnets = user.security_groups, user.subnet_facts()
    return lets_through(own, "ingress", peers=peers, subnets=subnets, protocol="tcp", ports=_HTTPS)
