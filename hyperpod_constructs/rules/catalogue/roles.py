"""Roles of the cluster: who may assume them, how they are given, and when their policies are attached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.clusters import clusters, quoted
from hyperpod_constructs.analysis.iam import ROLE, Policy, RoleFacts, passes_any_role, written_policies
from hyperpod_constructs.analysis.kubernetes import eks_clusters
from hyperpod_constructs.analysis.needs import needs_of
from hyperpod_constructs.analysis.node_roles import RoleUse, role_uses
from hyperpod_constructs.analysis.policy_document import statements_of
from hyperpod_constructs.analysis.powers import powers, reaches, shells
from hyperpod_constructs.analysis.script_writers import script_writers
from hyperpod_constructs.analysis.trust import Assumption, assumptions
from hyperpod_constructs.rules.finding import Hit, Level, hit
from hyperpod_constructs.rules.rule import ORDER, error, rule, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str, at

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"


@error(
    "HP-ROL-001",
    title="services may assume the roles that they are given",
    why="the request is refused, or what the service does with the role fails: it cannot assume it",
    fix="let the role's AssumeRolePolicyDocument allow the service the missing actions, without a condition that its calls do not "
    "meet, and take away what denies them",
    allowed="sts:AssumeRole for the service, for pods sts:TagSession too",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_create_for-service.html",
    silences=("HP-PERM-001", "HP-PERM-002", "HP-POL-002", "HP-POL-006", "HP-REF-012"),
    aliases=("HP-IAM-001", "HP-ROL-003", "HP-IAM-003", "HP-CTL-001", "HP-ADD-024", "HP-EKS-024", "HP-ADD-033"),
)
def roles_are_assumable(model: Model) -> Iterator[Hit]:
    """One hit for each role, that names its users and what they lack."""
    lacking = ((one, tuple(one.lacking)) for one in assumptions(model))
    for role, found in grouped((one.role, (one, actions)) for one, actions in lacking if actions).items():
        path = "AssumeRolePolicyDocument"
        principals = tuple(at(statement.raw, "Principal") for statement in statements_of(role.get(path)) or ())
        reasons = grouped(((one.asked.service, actions), one) for one, actions in found)
        texts = (_unassumable(role, service, actions, users) for (service, actions), users in reasons.items())
        yield Hit(role, (path,), "; ".join(texts), found=principals)


def _unassumable(role: Resource, service: str, actions: Sequence[str], given: Sequence[Assumption]) -> str:
    users = grouped((one.user, _group(one)) for one in given if one.user is not role)
    named = enumerated(f"{_groups(names)}{user.logical_id}" for user, names in users.items())
    subject = f"the role of {named}" if named else f"the role {role.logical_id} of nodes"
    return f"{subject} cannot be assumed by {service}: its trust does not allow {' and '.join(actions)}"


def _groups(names: Sequence[str | None]) -> str:
    """The groups of a cluster, in words before its name; none for other resources."""
    known = list(dict.fromkeys(name for name in names if name is not None))
    return f"group{'' if len(known) == 1 else 's'} {enumerated(map(repr, known))} of " if known else ""


def _group(one: Assumption) -> str | None:
    """The name of the group of a cluster that gives a role."""
    return as_str(one.user.get(*one.path[:-1], "InstanceGroupName")) if len(one.path) > 1 else None


def _late(model: Model) -> Iterator[tuple[RoleUse, Sequence[Policy]]]:
    """Uses of roles with separate policies that the cluster does not await."""
    for use in role_uses(model):
        late = use.facts.unawaited_by(use.cluster)
        if late:
            yield use, late


def _named(policies: Sequence[Policy]) -> str:
    names = ", ".join(dict.fromkeys(policy.resource.logical_id for policy in policies))
    return f"the policy {names}" if len(policies) == 1 else f"the policies {names}"


_await = partial(
    rule,
    on=_late,
    fix="name the policies in the cluster's DependsOn (in the CDK: cluster.node.add_dependency(policy)), or write them in the role",
    allowed="DependsOn on every policy of the roles",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
    because=ORDER,
)


@_await(
    "HP-ROL-004",
    Level.ERROR,
    title="the cluster awaits the policies that its creation needs",
    why="CloudFormation attaches the policy while it creates the cluster, and AWS refuses the cluster's first calls",
    silences=("HP-ROL-005",),
    aliases=("HP-IAM-004",),
)
def needed_policies_are_awaited(use: RoleUse, separate: Sequence[Policy]) -> Hit | None:
    """Without the late policies, the role lacks permissions that nodes need from the first minute.

    A policy that is made while the cluster still awaits its control plane is not late in practice: only HP-ROL-005 names it.
    """
    late = [policy for policy in separate if not _is_overtaken(use.cluster, policy)]
    early = RoleFacts(use.role, without=frozenset(policy.resource for policy in late))
    lacking = {(one.call.action, one.task.words) for one in needs_of(use) if one.refusal}
    fatal = (one for one in needs_of(use, early) if one.task.fatal and (one.call.action, one.task.words) not in lacking)
    short = dict.fromkeys(one.call.action for one in fatal if one.refusal)
    message = f"the cluster does not await {_named(late)}, with which {quoted(use.groups)} may use {', '.join(short)}"
    return hit(use.cluster, message) if short else None


def _is_overtaken(cluster: Resource, policy: Policy) -> bool:
    """Whether the cluster first awaits a control plane, which takes minutes, and the policy does not."""
    planes = (eks.resource for eks in eks_clusters(cluster.template.model))
    return any(awaits(cluster, plane) and not awaits(policy.resource, plane) for plane in planes)


@_await(
    "HP-ROL-005",
    Level.WARNING,
    title="the cluster awaits all policies of its roles",
    why="nodes can start before the policy is attached, and scripts that rely on it then fail now and then",
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
    for index, statement in enumerate(policy.statements):
        wide = passes_any_role(statement)
        if wide is not None:
            path = (*policy.path, "Statement", index, "Resource")
            yield Hit(policy.resource, path, "iam:PassRole is allowed on every role", found=wide)


@warning(
    "HP-ROL-007",
    title="the roles of services do not administer the account",
    why="whoever runs code there, or works with the service, can change or delete everything in the account",
    fix="allow the single actions that the service or its code takes, on the ARNs of its resources",
    allowed="actions and resources by name; a permissions boundary without IAM",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html#grant-least-privilege",
    silences=("HP-ROL-006",),
)
def programs_are_no_administrators(model: Model) -> Iterator[Hit]:
    for one in powers(model):
        users = enumerated(user.logical_id for user in one.users)
        yield hit(one.resource, f"the role of {users} may administer the account: {one.words}", *one.path)


@warning(
    "HP-ROL-008",
    title="the roles of nodes, pods and people reach single machines, secrets, buckets, keys, roles and clusters",
    why="everybody who has the role, a shell or a job there has it too: the secrets, the data and the machines of all others",
    fix="name the ARNs of what they use, or add a condition on a tag",
    allowed="resources by name or prefix, or a condition",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html#grant-least-privilege",
)
def users_reach_single_resources(model: Model) -> Iterator[Hit]:
    found = {(one.resource, one.path): one for one in (*script_writers(model), *reaches(model))}
    for one in found.values():
        users = enumerated(user.logical_id for user in one.users)
        yield hit(one.resource, f"the role of {users} may {one.words}", *one.path)
    for one in shells(model):
        who = f"the role {one.role.logical_id}" if one.role.type == ROLE else f"users with {one.resource.logical_id}"
        yield hit(one.resource, f"{who} may {one.words}", *one.path)
