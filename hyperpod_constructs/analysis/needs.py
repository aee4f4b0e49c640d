"""Needs: the calls that roles of the templates make for the features that use them, and those that are surely refused.

>>> [(one.need.user, one.refusal.call.action) for one in refused(model)]
[("the role of group 'workers' of Cluster", 's3:GetObject')]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.access_points import point_uses
from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.api_calls import api_called
from hyperpod_constructs.analysis.arns import bucket_arn
from hyperpod_constructs.analysis.call_contexts import (
    from_nodes,
    from_outside,
    from_program,
    from_subnets,
    of_caller,
    of_groups,
    of_node_groups,
    through,
)
from hyperpod_constructs.analysis.clusters import Cluster, Group, quoted
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_OWNER, having
from hyperpod_constructs.analysis.encryption_contexts import OF_VOLUMES, encryption_of
from hyperpod_constructs.analysis.grants import grants_of
from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster, cni_has_own_role, eks_clusters, joined
from hyperpod_constructs.analysis.networks import Subnet
from hyperpod_constructs.analysis.node_places import BUCKET, Used, arn_at, keys_of_volumes, used_by, used_by_any
from hyperpod_constructs.analysis.node_roles import RoleUse, cluster_roles, meant_for_nodes, role_uses
from hyperpod_constructs.analysis.policy_document import Call, Statement
from hyperpod_constructs.analysis.refusals import Cause, Refusal, denial_of_resource, refusal
from hyperpod_constructs.analysis.resource_policies import key_of
from hyperpod_constructs.analysis.role_calls import Called, called
from hyperpod_constructs.analysis.session_calls import session_calls
from hyperpod_constructs.analysis.web_identities import PROVIDER, trust_of
from hyperpod_constructs.facts import permissions as facts
from hyperpod_constructs.facts.addons import CERTIFICATES, S3_CSI
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS
from hyperpod_constructs.facts.permissions import Place, Task
from hyperpod_constructs.facts.pod_permissions import CONFIGURED, PODS
from hyperpod_constructs.facts.role_calls import OUTSIDE
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_str, at, shown
from hyperpod_constructs.templates.values import joined as joined_parts

_OTHER_NODES = ("AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance", "AWS::EKS::FargateProfile")
_NODE_GROUP, _WORKSPACE = "AWS::EKS::Nodegroup", "AWS::APS::Workspace"


class Origin(Enum):
    """What asks for a call."""

    FEATURE = "a feature"
    GRANT = "the role's own policies: a mistake then is what denies it, or the policy of another resource"
    POINT = "what the role's own policies allow through an access point: a mistake then is what denies it there"
    ENCRYPTION = "the encryption of what the role's own policies name"


class Need(NamedTuple):
    """A call that a feature takes."""

    user: str
    """The subject of a sentence: who makes the call."""
    facts: RoleFacts
    task: Task
    call: Call
    groups: tuple[Group, ...] = ()
    endpoint: Resource | None = None
    origin: Origin = Origin.FEATURE

    @property
    def refusal(self) -> Refusal | None:
        """The refusal of the call, if it surely is refused."""
        if self.task.on is Place.INSTANCES_ELSEWHERE:
            may = self.facts.may_elsewhere(self.call.action, "instance")
            return None if may else Refusal(self.call, Cause.MISSING, self.facts.role)
        if self.origin is Origin.POINT:
            return denial_of_resource(self.facts, self.call)
        found = refusal(self.facts, self.call, self.endpoint)
        own = found is not None and found.place is self.facts.role and (found.cause is Cause.MISSING or bool(found.path))
        return None if self.origin is Origin.GRANT and own else found


class Refused(NamedTuple):
    """A need that is surely refused."""

    need: Need
    refusal: Refusal


def refused_at(model: Model) -> dict[Resource, list[Refused]]:
    """The refused calls, by the resource with the policy that refuses them; computed once."""
    return model.cached(refused_at, lambda: grouped((one.refusal.place, one) for one in refused(model)))


def mistakes_at(model: Model) -> dict[Resource, list[Refused]]:
    """The same by mistake: roles that have a policy in common and lack the same there are one, at that policy."""
    found: dict[Resource, list[Refused]] = {}
    for place, calls in refused_at(model).items():
        first = next((other for other, known in found.items() if _are_one(known, calls)), place)
        found[first] = [*found.get(first, ()), *calls]
    return {_policy_of(place, calls): calls for place, calls in found.items()}


def _policy_of(place: Resource, calls: Sequence[Refused]) -> Resource:
    """The policy that several roles have in common, if they lack something and it alone is for that service; else the place."""
    if not all(one.refusal.place is one.need.facts.role and not one.refusal.path for one in calls):
        return place
    services = {one.refusal.call.action.partition(":")[0] for one in calls}
    roles = list({one.need.facts.role: one.need.facts for one in calls}.values())
    shared = [one for one in roles[0].policies if all(one.resource in {each.resource for each in role.policies} for role in roles)]
    meant = [one.resource for one in shared if any(_is_for(each, services) for each in one.statements)]
    return meant[0] if len(roles) > 1 and len(meant) == 1 else place


def _is_for(statement: Statement, services: Iterable[str]) -> bool:
    return any((as_str(action) or "").lower().startswith(f"{one}:") for action in statement.actions for one in services)


def _are_one(some: Sequence[Refused], others: Sequence[Refused]) -> bool:
    """Whether roles have a policy in common and lack the same, or one of them more on the same resources."""
    if {one.resource for one in some[0].need.facts.policies}.isdisjoint(one.resource for one in others[0].need.facts.policies):
        return False
    if not all(one.refusal.cause is Cause.MISSING and one.refusal.place is one.need.facts.role for one in (*some, *others)):
        return False
    same = _places_of(some) == _places_of(others) and not _calls_of(some).isdisjoint(_calls_of(others))
    return same or _tasks_of(some) == _tasks_of(others)


def _tasks_of(found: Iterable[Refused]) -> set[tuple[str, str]]:
    return {(one.need.task.words, one.refusal.call.action) for one in found}


def _calls_of(found: Iterable[Refused]) -> set[tuple[str, str]]:
    return {(one.refusal.call.action, str(one.refusal.call.resource)) for one in found}


def _places_of(found: Iterable[Refused]) -> set[str]:
    return {str(one.refusal.call.resource) for one in found}


def refused(model: Model) -> tuple[Refused, ...]:
    """The refused needs of all roles; computed once."""
    return model.cached(refused, lambda: tuple(_refused(needs(model))))


def needs(model: Model) -> Iterator[Need]:
    """The needs of all roles, as far as the templates tell."""
    for use in role_uses(model):
        yield from needs_of(use)
    for role in meant_for_nodes(model):
        yield from _of_nodes_elsewhere(role)
    for role, cluster in cluster_roles(model):
        yield from _of_karpenter(role, cluster)
    yield from _of_control_planes(model)
    yield from _of_node_groups(model)
    for addon in addons(model):
        yield from _of_pods(addon)
    for one in (*called(model), *api_called(model)):
        yield from _of_call(one)
    for session in session_calls(model):
        yield from _simple(session.user, session.role, session.task, session.arn)
    for role in model.resources(ROLE):
        yield from _granted(role)


def needs_of(use: RoleUse, facts_: RoleFacts | None = None) -> Iterator[Need]:
    """The needs of the nodes of a role.

    :param facts_: the role with other policies than it has in the end.
    """
    known = facts_ or use.facts
    for used in used_by(use):
        for task in _tasks(facts.NODES, used.place):
            user = f"the role of {quoted(used.groups or use.groups)} of {use.cluster.logical_id}"
            yield from _calls(user, known, task, used)


def _tasks(tasks: Iterable[Task], place: Place) -> Iterator[Task]:
    return (task for task in tasks if task.on is place)


def _calls(user: str, known: RoleFacts, task: Task, used: Used) -> Iterator[Need]:
    for action in task.actions:
        network, endpoint = (from_outside(), None) if task.by_service else from_nodes(used.groups, action)
        via = through(used.through, known.role) if used.through else {}
        pairs = OF_VOLUMES if task.on is Place.KEYS_OF_VOLUMES else encryption_of(used.through, used.encrypted)
        context = having((of_caller(known.role), task.context, {} if via else network, via, pairs))
        yield Need(user, known, task, Call(action, used.arn, context), used.groups, endpoint)


def _of_nodes_elsewhere(role: Resource) -> Iterator[Need]:
    known, user = role_facts(role), f"the role {role.logical_id} of nodes"
    tasks = (*facts.OBSERVED, *(facts.IN_VPC if _makes_interfaces(known) else ()))
    for used in used_by_any(role):
        for task in _tasks(tasks, used.place):
            yield from _calls(user, known, task, used)


def _makes_interfaces(known: RoleFacts) -> bool:
    """Whether a role is meant for nodes in a VPC: it may do a part of what they do."""
    fatal = [action for task in facts.IN_VPC if task.fatal for action in task.actions]
    return any(one.effect == "Allow" and one.speaks_of(action) for one in known.statements for action in fatal)


def _of_karpenter(role: Resource, cluster: Cluster) -> Iterator[Need]:
    """Karpenter's controller acts as the cluster role."""
    if cluster.get("AutoScaling", "Mode") != "Enable":
        return
    keys = keys_of_volumes(cluster.groups)
    places = {
        Place.SCALED_CLUSTER: [Reference(cluster.resource, "ClusterArn")],
        Place.KEYS_OF_VOLUMES: [Reference(key, "Arn") for key in keys],
    }
    user = f"the cluster role of {cluster.resource.logical_id}"
    for task in facts.KARPENTER:
        via = {**through("sagemaker", role), **OF_VOLUMES} if task.by_service else {}
        for arn in places[task.on]:
            yield from _simple(user, role, replace(task, context={**via, **task.context}), arn)


def _of_control_planes(model: Model) -> Iterator[Need]:
    for eks in eks_clusters(model):
        role = resource_of(eks.resource.get("RoleArn"), ROLE)
        if role is not None and facts.CONTROL_PLANE_POLICY not in role_facts(role).managed_policies:
            for task in facts.CONTROL_PLANE:
                yield from _simple(f"the role of {eks.resource.logical_id}", role, task, UNKNOWN)


def _of_node_groups(model: Model) -> Iterator[Need]:
    """The VPC CNI acts as the role of nodes, unless it has one of its own."""
    for group in model.resources(_NODE_GROUP) if not cni_has_own_role(model) else ():
        role, eks = resource_of(group.get("NodeRole"), ROLE), EksCluster.of(group.get("ClusterName"))
        family = ABSENT if eks is None else eks.resource.get("KubernetesNetworkConfig", "IpFamily")
        if role is not None and family in (ABSENT, "ipv4"):
            yield from _simple(f"the role of {group.logical_id}", role, facts.ADDRESSES, UNKNOWN)


def _of_pods(addon: Addon) -> Iterator[Need]:
    """What the pods of an add-on need; a role that they cannot have is another mistake."""
    by_token = resource_of(addon.resource.get("ServiceAccountRoleArn"), ROLE)
    for role in addon.roles:
        if role is not by_token and role_facts(role).trusts(PODS_PRINCIPAL) is False:
            continue
        for task in PODS.get(addon.name, ()):
            if not task.setting or at(addon.configuration or {}, *task.setting) is True:
                for arn in _of_addon(addon, task.on):
                    yield from _of_pod(addon, f"the pods of {addon.name}", role, replace(task, hint=_hint(addon)), arn)
        if addon.name == S3_CSI:
            yield from _of_buckets(addon, role)
    for one, role in addon.configured_roles:
        for task in CONFIGURED.get(one.service_account, ()):
            for arn in _of_addon(addon, task.on):
                yield from _of_pod(addon, f"{one.service_account} of {addon.name}", role, task, arn)


def _of_pod(addon: Addon, user: str, role: Resource, task: Task, arn: Value) -> Iterator[Need]:
    """The needs of pods, past the endpoint of the nodes on which they run, if all of these have one."""
    subnets = _subnets_for(addon.eks)
    for action in task.actions:
        network, endpoint = from_subnets(subnets, action)
        context = having((of_caller(role), network, task.context))
        yield Need(user, role_facts(role), task, Call(action, arn, context), endpoint=endpoint)


def _subnets_for(eks: EksCluster | None) -> tuple[Subnet | None, ...]:
    """The subnets of nodes on which the pods of a Kubernetes cluster run; none where EKS may have other nodes for them."""
    model = None if eks is None else eks.resource.template.model
    if eks is None or model is None or eks.is_automatic or model.resources(*_OTHER_NODES):
        return ()
    if {*model.resources(_NODE_GROUP)} != {*eks.node_groups}:
        return ()
    groups = [group for cluster, joined_to in joined(model) if joined_to == eks for group in cluster.groups]
    return (*of_groups(groups), *of_node_groups(eks.node_groups)) if groups else ()


def _subnets_of_pods(role: Resource) -> tuple[Subnet | None, ...]:
    """The subnets of nodes on which pods run that alone can have a role."""
    found = {_pods_of(one, role) for one in trust_of(role) if one.effect == "Allow"}
    return _subnets_for(next(iter(found))) if len(found) == 1 else ()


def _pods_of(statement: Statement, role: Resource) -> EksCluster | None:
    """The Kubernetes cluster whose pods may take a role by a statement of its trust, if nobody else may by that."""
    principal = at(statement.raw, "Principal")
    provider = resource_of(at(principal, "Federated"), PROVIDER)
    if as_str(at(principal, "Service")) == PODS_PRINCIPAL:
        named = [one for one in eks_clusters(role.template.model) if any(role in references(part.get()) for part in one.parts)]
        return named[0] if len(named) == 1 else None
    return None if provider is None else EksCluster.of(provider.get("Url"))


def _hint(addon: Addon) -> str:
    """The managed policies for an add-on, in words."""
    names = [one.managed_policy.rpartition("/")[2] for one, _ in addon.identities if one.managed_policy]
    return f"the managed policy for it is {', '.join(names)}" if names else ""


def _of_buckets(addon: Addon, role: Resource) -> Iterator[Need]:
    """The keys of the buckets that the driver of S3 may use."""
    known = role_facts(role)
    for bucket in role.template.model.resources(BUCKET):
        key, objects = key_of(bucket), bucket_arn(Reference(bucket), "any")
        for use in facts.OBJECTS if key is not None else ():
            if key is not None and known.may(use, objects) is True:
                yield from _of_keys(f"the pods of {addon.name}", known, use, key, bucket)


def _of_addon(addon: Addon, place: Place) -> Sequence[Value]:
    if place is Place.WORKSPACE:
        return (_workspace(addon),)
    if place is Place.LOGS:
        return (arn_at(addon.resource, "logs", joined_parts([f"log-group:{LOG_GROUPS}/", UNKNOWN])),)
    if place is Place.CERTIFICATES:
        bucket = at(addon.values, *CERTIFICATES)
        return () if bucket is ABSENT or "://" in str(shown(bucket)) else (bucket_arn(bucket, "any"),)
    pairs = [pair for pair in joined(addon.resource.template.model) if pair[1] == addon.eks]
    if place is Place.KUBERNETES_CLUSTER:
        return [Reference(eks.resource, "Arn") for _, eks in pairs]
    clusters = [Reference(cluster.resource, "ClusterArn") for cluster, _ in pairs]
    return clusters if place is Place.HYPERPOD_CLUSTER or (clusters and place is Place.CLUSTER_OF_JOBS) else (UNKNOWN,)


def _workspace(addon: Addon) -> Value:
    """The ARN of the workspace to which an add-on writes, by its configuration."""
    value = addon.resource.get("ConfigurationValues")
    named = {one.resource for one in value.references} if isinstance(value, Text) else set()
    spaces = [found for one in named if (found := resource_of(Reference(one), _WORKSPACE)) is not None]
    written = at(addon.configuration or {}, "ampWorkspace", "arn")
    return Reference(spaces[0], "Arn") if len(spaces) == 1 else written if _is_arn(written) else UNKNOWN


def _is_arn(value: Value) -> bool:
    return isinstance(value, str) and value.isascii() and value.startswith("arn:")


def _of_call(one: Called) -> Iterator[Need]:
    """What a service does as the role of a resource, also with the key of what that names."""
    user = f"the role of {one.user or one.resource.logical_id}"
    for action in one.task.actions:
        network, endpoint = _place_of(one, action)
        context = having((of_caller(one.role), one.task.context, network))
        yield Need(user, role_facts(one.role), one.task, Call(action, one.arn, context), endpoint=endpoint)
    key = None if one.named is None else key_of(one.named)
    for action in one.task.actions if key is not None and one.named is not None else ():
        if key is not None and one.named is not None:
            yield from _of_keys(user, role_facts(one.role), action, key, one.named, tested=one.tested)


def _place_of(one: Called, action: str) -> tuple[Context, Resource | None]:
    """The keys of a call that tell from where it comes, and the endpoint past which it goes, as far as they are known."""
    if one.inside:
        return from_program(one.resource, action)
    if one.groups:
        return from_nodes(one.groups, action)
    return from_outside() if one.resource.type in OUTSIDE and not one.user else {}, None


def _simple(user: str, role: Resource, task: Task, arn: Value) -> Iterator[Need]:
    """The needs of a caller whose place in the network is not known."""
    context = having((of_caller(role), task.context))
    return (Need(user, role_facts(role), task, Call(action, arn, context)) for action in task.actions)


def _granted(role: Resource) -> Iterator[Need]:
    """What the policies of a role allow by name on resources of the model, and on their keys."""
    known, user = role_facts(role), f"the role {role.logical_id}"
    nodes = tuple(group for use in role_uses(role.template.model) if use.role is role for group in use.groups)
    subnets = tuple(of_groups(nodes)) or _subnets_of_pods(role)
    for grant in grants_of(known):
        task = _task(f"use {grant.target.logical_id} as its policies say")
        network, endpoint = from_subnets(subnets, grant.action)
        owner = dict.fromkeys(OF_OWNER, grant.target.template.owner)
        call = Call(grant.action, grant.arn, having((of_caller(role), network, owner)))
        yield Need(user, known, task, call, nodes, endpoint, Origin.GRANT)
        key = grant.key
        if key is not None:
            yield from _of_keys(user, known, grant.action, key, grant.target)
    yield from _through_points(user, known, subnets)


def _through_points(user: str, known: RoleFacts, subnets: Sequence[Subnet | None]) -> Iterator[Need]:
    """What the policies of a role allow through access points, and on the keys of their buckets."""
    for use in point_uses(known):
        task, (network, _) = _task(f"use {use.bucket.logical_id} through {use.point.logical_id}"), from_subnets(subnets, use.action)
        owner = dict.fromkeys(OF_OWNER, use.bucket.template.owner)
        context = having((of_caller(known.role), network, owner, use.context))
        yield from (Need(user, known, task, Call(use.action, arn, context), origin=Origin.POINT) for arn in use.arns)
        key = key_of(use.bucket)
        if key is not None:
            yield from _of_keys(user, known, use.action, key, use.bucket)


def _of_keys(user: str, known: RoleFacts, use: str, key: Resource, target: Resource, *, tested: bool = False) -> Iterator[Need]:
    """The needs of the key of a resource, which its service uses for the caller."""
    service = use.partition(":")[0]
    context = having((of_caller(known.role), through(service, known.role), encryption_of(service, target)))
    task = replace(_task(f"use {key.logical_id}, the key of {target.logical_id}"), fatal=tested)
    for action in facts.OF_ENCRYPTED.get(use, ()):
        yield Need(user, known, task, Call(action, Reference(key, "Arn"), context), origin=Origin.ENCRYPTION)


def _task(words: str) -> Task:
    return Task(words=words, actions=(), on=Place.ANYWHERE, source="")


def _refused(found: Iterable[Need]) -> Iterator[Refused]:
    """The refused needs. A role that may do no part of a task has not chosen it; what a feature lacks is said of no grant again."""
    seen: set[tuple[Resource, str, str]] = set()
    for needs_ in grouped(((one.user, one.task.words, one.facts.role), one) for one in found).values():
        lacking = [Refused(one, refusal_) for one in needs_ if (refusal_ := one.refusal) is not None]
        chosen = not (lacking and lacking[0].need.task.chosen and len(lacking) == len(needs_))
        for one in lacking if chosen else ():
            key = (one.need.facts.role, one.need.call.action, str(one.need.call.resource))
            if one.need.origin is Origin.FEATURE or key not in seen:
                yield one
            seen.add(key)
