"""Roles: who may assume them, how they are named, what is attached to them in time, and to whom they can be passed."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules.facts.clusters import CLUSTER, clusters
from hyperpod_constructs.rules.facts.iam import ROLE, Policy, RoleFacts, role_facts
from hyperpod_constructs.rules.facts.kubernetes import eks_clusters
from hyperpod_constructs.rules.facts.node_roles import RoleUse, missing, named, needs_of, role_uses
from hyperpod_constructs.rules.facts.policy_document import Statement, statements_of
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import Reference, Text, Value, as_items, at, resource_of

_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html"
_RACE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html"
_AWAIT = "name the policies in the cluster's DependsOn (in the CDK: cluster.node.add_dependency(policy)), or write them in the role"
_NODES = "sagemaker.amazonaws.com"
_AUTOSCALING = "hyperpod.sagemaker.amazonaws.com"
_POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy")


@rule(
    "HP-IAM-001",
    Level.ERROR,
    title="SageMaker may assume the role of nodes",
    why="CreateCluster is refused: the service cannot assume the role",
    fix=f"let the role's AssumeRolePolicyDocument allow sts:AssumeRole to the service {_NODES}",
    allowed=f"sts:AssumeRole for {_NODES}",
    source=_PREREQUISITES,
)
def nodes_role_is_assumable(model: Model) -> Iterator[Hit]:
    """The trust of the groups' ``ExecutionRole``."""
    for role, uses in _by_role(model).items():
        if role_facts(role).trusts(_NODES) is False:
            what = "; ".join(f"{named(use.groups)} of {use.cluster.logical_id}" for use in uses)
            yield _untrusting(role, f"the role of {what} cannot be assumed by {_NODES}")


@rule(
    "HP-IAM-002",
    Level.ERROR,
    title="a role is given by its ARN",
    why="CreateCluster is refused: Ref of a role is its name, and the property takes the ARN",
    fix="write Fn::GetAtt: [<the role>, Arn] (in the CDK: role.role_arn)",
    allowed="the ARN of a role",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html",
)
def roles_are_given_by_arn(model: Model) -> Iterator[Hit]:
    """``ExecutionRole`` of the groups and ``ClusterRole``."""
    for cluster in clusters(model):
        places = [("ClusterRole",), *((*group.path, "ExecutionRole") for group in cluster.groups)]
        for place in places:
            value = cluster.get(*place)
            if resource_of(value, ROLE) is not None and isinstance(value, Reference) and value.attribute != "Arn":
                yield Hit(cluster.resource, place, f"the role {value.resource.logical_id} is given by its name", found=value)


@rule(
    "HP-IAM-003",
    Level.ERROR,
    title="HyperPod may assume the cluster role",
    why="the request is refused: the service cannot assume the role that autoscaling acts as",
    fix=f"let the role's AssumeRolePolicyDocument allow sts:AssumeRole to the service {_AUTOSCALING}",
    allowed=f"sts:AssumeRole for {_AUTOSCALING}",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html",
)
def cluster_role_is_assumable(model: Model) -> Iterator[Hit]:
    """The trust of ``ClusterRole``."""
    for cluster in model.resources(CLUSTER):
        role = resource_of(cluster.get("ClusterRole"), ROLE)
        if role is not None and role_facts(role).trusts(_AUTOSCALING) is False:
            yield _untrusting(role, f"the cluster role of {cluster.logical_id} cannot be assumed by {_AUTOSCALING}")


@rule(
    "HP-IAM-004",
    Level.ERROR,
    title="the cluster awaits the policies that its creation needs",
    why="CloudFormation attaches the policy while it creates the cluster, whose first calls are then refused",
    fix=_AWAIT,
    allowed="DependsOn on every policy of the roles",
    source=_RACE,
    silences=("HP-IAM-005",),
)
def needed_policies_are_awaited(model: Model) -> Iterator[Hit]:
    """Without the late policies, the role lacks what nodes need from the first minute.

    A policy that is made while the cluster still awaits its control plane is not late in practice: HP-IAM-005 tells of it.
    """
    for use, separate in _late(model):
        late = tuple(policy for policy in separate if not _is_overtaken(use.cluster, policy))
        early = RoleFacts(use.role, without=frozenset(policy.resource for policy in late))
        needs = needs_of(use)
        short = [need for need in missing(early, needs) if need not in missing(role_facts(use.role), needs)]
        if short:
            actions = ", ".join(dict.fromkeys(need.action for need in short))
            message = f"the cluster does not await {_named(late)}, with which {named(use.groups)} may use {actions}"
            yield Hit(use.cluster, (), message)


@rule(
    "HP-IAM-005",
    Level.WARNING,
    title="the cluster awaits all policies of its roles",
    why="nodes can start before the policy is attached, and scripts that rely on it then fail now and then",
    fix=_AWAIT,
    allowed="DependsOn on every policy of the roles",
    source=_RACE,
)
def policies_are_awaited(model: Model) -> Iterator[Hit]:
    """Policies in resources of their own, which nothing orders before the cluster."""
    for use, late in _late(model):
        yield Hit(use.cluster, (), f"the cluster does not await {_named(late)} of the role of {named(use.groups)}")


@rule(
    "HP-IAM-006",
    Level.WARNING,
    title="iam:PassRole names the roles",
    why="whoever holds it can hand any role of the account to a service that runs their code, and so has all its permissions",
    fix="name the ARNs of the cluster's roles, or limit the services with a condition on iam:PassedToService",
    allowed="ARNs of roles, or a condition",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html",
)
def passed_roles_are_named(model: Model) -> Iterator[Hit]:
    """In templates with a cluster: statements that allow to pass every role."""
    for policy in _documents(model) if model.resources(CLUSTER) else ():
        for index, statement in enumerate(policy.statements or ()):
            wide = [pattern for pattern in statement.resources if _is_any_role(pattern)]
            if wide and _passes_roles(statement):
                message = "iam:PassRole is allowed on every role"
                yield Hit(policy.resource, (*policy.path, "Statement", index, "Resource"), message, found=wide[0])


def _by_role(model: Model) -> dict[Resource, list[RoleUse]]:
    found: dict[Resource, list[RoleUse]] = {}
    for use in role_uses(model):
        found.setdefault(use.role, []).append(use)
    return found


def _untrusting(role: Resource, message: str) -> Hit:
    return Hit(role, ("AssumeRolePolicyDocument",), message, found=_principals(role))


def _principals(role: Resource) -> Value:
    statements = statements_of(role.get("AssumeRolePolicyDocument")) or ()
    return tuple(at(statement.raw, "Principal") for statement in statements)


def _late(model: Model) -> Iterator[tuple[RoleUse, tuple[Policy, ...]]]:
    for use in role_uses(model):
        late = role_facts(use.role).unawaited_by(use.cluster)
        if late:
            yield use, late


def _is_overtaken(cluster: Resource, policy: Policy) -> bool:
    """Whether the cluster first awaits a control plane, which takes minutes, and the policy does not."""
    planes = (eks.resource for eks in eks_clusters(cluster.template.model))
    return any(cluster.awaits(plane) and not policy.resource.awaits(plane) for plane in planes)


def _named(policies: tuple[Policy, ...]) -> str:
    names = ", ".join(dict.fromkeys(policy.resource.logical_id for policy in policies))
    return f"the policy {names}" if len(policies) == 1 else f"the policies {names}"


def _documents(model: Model) -> Iterator[Policy]:
    for resource in model.resources(ROLE, *_POLICIES):
        if resource.type == ROLE:
            for index, item in enumerate(as_items(resource.get("Policies")) or ()):
                document = at(item, "PolicyDocument")
                yield Policy(resource, ("Policies", index, "PolicyDocument"), statements_of(document))
        else:
            yield Policy(resource, ("PolicyDocument",), statements_of(resource.get("PolicyDocument")))


def _passes_roles(statement: Statement) -> bool:
    """By name, or as all of IAM; a statement that allows everything is another matter."""
    named_so = any(isinstance(action, str) and action.lower().startswith("iam:") for action in statement.actions)
    allows = statement.effect == "Allow" and not statement.conditional and not statement.excludes_actions
    return allows and named_so and statement.speaks_of("iam:PassRole") is True


def _is_any_role(pattern: Value) -> bool:
    end = pattern if isinstance(pattern, str) else pattern.suffix if isinstance(pattern, Text) else ""
    return pattern == "*" or end.endswith((":role/*", ":*", ":role*"))
