"""Roles of the cluster: who may assume them, how they are given, and when their policies are attached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Cluster, clusters, quoted
from hyperpod_constructs.analysis.iam import ROLE, Policy, RoleFacts, passes_any_role, role_facts, written_policies
from hyperpod_constructs.analysis.kubernetes import eks_clusters
from hyperpod_constructs.analysis.node_roles import RoleUse, cluster_roles, missing, needs_of, role_uses
from hyperpod_constructs.analysis.policy_document import statements_of
from hyperpod_constructs.facts.autoscaling import ROLE_GUIDE
from hyperpod_constructs.facts.node_permissions import CLUSTER_PRINCIPAL, NODES_PRINCIPAL
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Reference, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites-iam.html"
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_RACE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html"
_AWAIT = "name the policies in the cluster's DependsOn (in the CDK: cluster.node.add_dependency(policy)), or write them in the role"


def _trust(service: str) -> str:
    return f"let the role's AssumeRolePolicyDocument allow sts:AssumeRole to the service {service}"


def _untrusting(role: Resource, what: str, service: str) -> Hit | None:
    if role_facts(role).trusts(service) is not False:
        return None
    path = "AssumeRolePolicyDocument"
    principals = tuple(at(statement.raw, "Principal") for statement in statements_of(role.get(path)) or ())
    return Hit(role, (path,), f"{what} cannot be assumed by {service}", found=principals)


def _by_role(model: Model) -> Iterable[list[RoleUse]]:
    return grouped((use.role, use) for use in role_uses(model)).values()


@error(
    "HP-ROL-001",
    on=_by_role,
    title="SageMaker may assume the role of nodes",
    why="CreateCluster is refused: the service cannot assume the role",
    fix=_trust(NODES_PRINCIPAL),
    allowed=f"sts:AssumeRole for {NODES_PRINCIPAL}",
    source=_PREREQUISITES,
    aliases=("HP-IAM-001",),
)
def nodes_role_is_assumable(uses: Sequence[RoleUse]) -> Hit | None:
    users = "; ".join(f"{quoted(use.groups)} of {use.cluster.logical_id}" for use in uses)
    return _untrusting(uses[0].role, f"the role of {users}", NODES_PRINCIPAL)


@error(
    "HP-ROL-002",
    on=clusters,
    title="a role is given by its ARN",
    why="CreateCluster is refused: Ref of a role is its name, and the property takes the ARN",
    fix="write Fn::GetAtt: [<the role>, Arn] (in the CDK: role.role_arn)",
    allowed="the ARN of a role",
    source=f"{_API}API_ClusterInstanceGroupSpecification.html",
    aliases=("HP-IAM-002",),
)
def roles_are_given_by_arn(cluster: Cluster) -> Iterator[Hit]:
    for path in [("ClusterRole",), *((*group.path, "ExecutionRole") for group in cluster.groups)]:
        value = cluster.get(*path)
        if resource_of(value, ROLE) is not None and isinstance(value, Reference) and value.attribute != "Arn":
            yield hit(cluster, f"the role {value.resource.logical_id} is given by its name", *path)


@error(
    "HP-ROL-003",
    on=cluster_roles,
    title="HyperPod may assume the cluster role",
    why="the request is refused: the service cannot assume the role of autoscaling",
    fix=_trust(CLUSTER_PRINCIPAL),
    allowed=f"sts:AssumeRole for {CLUSTER_PRINCIPAL}",
    source=ROLE_GUIDE,
    aliases=("HP-IAM-003",),
)
def cluster_role_is_assumable(role: Resource, cluster: Cluster) -> Hit | None:
    return _untrusting(role, f"the cluster role of {cluster.resource.logical_id}", CLUSTER_PRINCIPAL)


def _late(model: Model) -> Iterator[tuple[RoleUse, Sequence[Policy]]]:
    """Uses of roles with separate policies that the cluster does not await."""
    for use in role_uses(model):
        late = use.facts.unawaited_by(use.cluster)
        if late:
            yield use, late


def _named(policies: Sequence[Policy]) -> str:
    names = ", ".join(dict.fromkeys(policy.resource.logical_id for policy in policies))
    return f"the policy {names}" if len(policies) == 1 else f"the policies {names}"


@error(
    "HP-ROL-004",
    on=_late,
    title="the cluster awaits the policies that its creation needs",
    why="CloudFormation attaches the policy while it creates the cluster, and AWS refuses the cluster's first calls",
    fix=_AWAIT,
    allowed="DependsOn on every policy of the roles",
    source=_RACE,
    silences=("HP-ROL-005",),
    aliases=("HP-IAM-004",),
)
def needed_policies_are_awaited(use: RoleUse, separate: Sequence[Policy]) -> Hit | None:
    """Without the late policies, the role lacks permissions that nodes need from the first minute.

    A policy that is made while the cluster still awaits its control plane is not late in practice: only HP-ROL-005 names it.
    """
    late = [policy for policy in separate if not _is_overtaken(use.cluster, policy)]
    early = RoleFacts(use.role, without=frozenset(policy.resource for policy in late))
    needs = needs_of(use)
    lacking = missing(use.facts, needs)
    short = dict.fromkeys(need.action for need in missing(early, needs) if need not in lacking)
    message = f"the cluster does not await {_named(late)}, with which {quoted(use.groups)} may use {', '.join(short)}"
    return hit(use.cluster, message) if short else None


def _is_overtaken(cluster: Resource, policy: Policy) -> bool:
    """Whether the cluster first awaits a control plane, which takes minutes, and the policy does not."""
    planes = (eks.resource for eks in eks_clusters(cluster.template.model))
    return any(awaits(cluster, plane) and not awaits(policy.resource, plane) for plane in planes)


@warning(
    "HP-ROL-005",
    on=_late,
    title="the cluster awaits all policies of its roles",
    why="nodes can start before the policy is attached, and scripts that rely on it then fail now and then",
    fix=_AWAIT,
    allowed="DependsOn on every policy of the roles",
    source=_RACE,
    aliases=("HP-IAM-005",),
)
def policies_are_awaited(use: RoleUse, late: Sequence[Policy]) -> Hit:
    return hit(use.cluster, f"the cluster does not await {_named(late)} of the role of {quoted(use.groups)}")


@warning(
    "HP-ROL-006",
    on=lambda model: written_policies(model) if clusters(model) else (),
    title="iam:PassRole names the roles",
    why="its holder can pass any role of the account to a service that runs the holder's code, and so has all its permissions",
    fix="name the ARNs of the cluster's roles, or limit the services with a condition on iam:PassedToService",
    allowed="ARNs of roles, or a condition",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html",
    aliases=("HP-IAM-006",),
)
def passed_roles_are_named(policy: Policy) -> Iterator[Hit]:
    """In templates with a cluster: statements that allow to pass every role."""
    for index, statement in enumerate(policy.statements or ()):
        wide = passes_any_role(statement)
        if wide is not None:
            path = (*policy.path, "Statement", index, "Resource")
            yield Hit(policy.resource, path, "iam:PassRole is allowed on every role", found=wide)
