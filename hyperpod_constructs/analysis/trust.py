"""Trust: whether the services that are given a role may assume it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.call_contexts import of_caller
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.ends import End, ends
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.node_roles import meant_for_nodes
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL, SESSION_TAGS
from hyperpod_constructs.facts.node_permissions import CLUSTER_PRINCIPAL, NODES_PRINCIPAL
from hyperpod_constructs.facts.role_users import BY_EXTERNAL_ID, RoleUser, role_users
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Reference, Value, as_bool, joined, parts_of

_PIECE = re.compile(r"(\{\w+(?:\|\w+)?\}|\*)")
_TAG = "aws:requesttag/{}"
_PROFILE = "AWS::IAM::InstanceProfile"
_NODES = RoleUser("", "", NODES_PRINCIPAL, ("sts:AssumeRole",))


class Assumption(NamedTuple):
    """A role that a resource gives to a service."""

    role: Resource
    user: Resource
    """The resource that gives it; the role itself, where that is not in the model."""
    path: tuple[str | int, ...]
    asked: RoleUser

    @property
    def lacking(self) -> list[str]:
        """The actions that the trust of the role surely does not allow the service."""
        facts, context = role_facts(self.role), _context(self)
        return [action for action in self.asked.actions if facts.trusts(self.asked.service, action, context) is False]


def assumptions(model: Model) -> Iterator[Assumption]:
    """The roles that resources of the model give to services, as far as they are in it."""
    for asked in role_users():
        for user in model.resources(asked.type):
            for end in ends(user, asked.path):
                role = resource_of(end.value, ROLE)
                if role is not None and not _is_idle(user, role):
                    yield Assumption(role, user, end.path, asked)
    for role in meant_for_nodes(model):
        yield Assumption(role, role, (), _NODES)


def _is_idle(profile: Resource, role: Resource) -> bool:
    """Whether a profile for instances surely has none, and its role works for something else."""
    if (
        profile.type != _PROFILE
        or types_of_users(profile)
        or is_handed_on(profile)
        or profile.get("InstanceProfileName") is not ABSENT
    ):
        return False
    return bool(types_of_users(role) & {one.type for one in role_users() if one.type != _PROFILE})


def is_assumed_by(role: Resource, service: str) -> bool:
    """Whether a resource of the model gives a role to a service."""
    model = role.template.model
    given = model.cached(is_assumed_by, lambda: {(one.role, one.asked.service) for one in assumptions(model)})
    return (role, service) in given


def given_to(place: End) -> str | None:
    """The service that takes the role at a place of a resource."""
    users = (one for one in role_users() if one.type == place.resource.type)
    return next((one.service for one in users for end in ends(place.resource, one.path) if end.path == place.path), None)


def _context(one: Assumption) -> Context:
    """The keys of the service's call: it acts for the user, in the account and the region of that."""
    region, account = (of_caller(one.user).get(key, UNKNOWN) for key in ("aws:requestedregion", "aws:principalaccount"))
    external = {"sts:externalid": account} if one.asked.service in BY_EXTERNAL_ID else {}
    known = {"aws:requestedregion": region, "aws:sourceaccount": account, "aws:sourcearn": _source(one)}
    return {**OF_SERVICE, **external, **known, **(_tags(one) if one.asked.service == PODS_PRINCIPAL else {})}


def _tags(one: Assumption) -> Context:
    """The tags of a session of pods: their cluster, their namespace and their service account."""
    if as_bool(one.user.get("DisableSessionTags")) is True:
        return dict.fromkeys(map(_TAG.format, SESSION_TAGS), ABSENT)
    eks = EksCluster.of(one.user.get("ClusterName"))
    own = one.user.type == "AWS::EKS::PodIdentityAssociation"
    known = {
        "eks-cluster-arn": UNKNOWN if eks is None else Reference(eks.resource, "Arn"),
        "kubernetes-namespace": one.user.get("Namespace") if own else UNKNOWN,
        "kubernetes-service-account": one.user.get(*one.path[:-1], "ServiceAccount"),
    }
    return {_TAG.format(name): UNKNOWN if value is ABSENT else value for name, value in known.items()}


def _source(one: Assumption) -> Value:
    """The ARN for which the service acts, as far as it is known."""
    if one.asked.service in (NODES_PRINCIPAL, CLUSTER_PRINCIPAL) and one.user.type == "AWS::SageMaker::Cluster":
        return arn_at(one.user, "sagemaker", joined(["cluster/", UNKNOWN]))
    if one.asked.service == PODS_PRINCIPAL:
        eks = EksCluster.of(one.user.get("ClusterName"))
        return UNKNOWN if eks is None else Reference(eks.resource, "Arn")
    return _formed(one) if one.asked.source else UNKNOWN


def _formed(one: Assumption) -> Value:
    """The form of an ARN with the place and the properties of the user in it."""
    user = one.user
    parts: list[Part] = []
    for piece in _PIECE.split(one.asked.source):
        if piece == "{place}":
            parts += [region_of(user) or UNKNOWN, ":", *parts_of(user.template.owner)]
        elif piece.startswith("{"):
            name, _, default = piece[1:-1].partition("|")
            given = user.get(name)
            parts += parts_of((default or Reference(user)) if given is ABSENT else given)
        else:
            parts.append(UNKNOWN if piece == "*" else piece)
    return joined(parts)
