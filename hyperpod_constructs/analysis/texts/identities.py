"""Identities of pods: where there is an agent that gives them, and the tags of their sessions in the policies of their roles.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html and
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html (as of 2026-11-28)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.addons import addons_of
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.analysis.schema.violation import Path, listed
from hyperpod_constructs.analysis.texts.applied_identities import of_association, of_entry
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.addons import misspelled_account
from hyperpod_constructs.facts.governance import namespace, namespace_of_group
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL, SESSION_TAGS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_bool, as_items, as_str, at, is_known

_ASSOCIATION, _PROFILE, _POLICY = "AWS::EKS::PodIdentityAssociation", "AWS::EKS::FargateProfile", "AWS::IAM::Policy"
_TAG = re.compile(r"aws:PrincipalTag/([^}\s]+)", re.IGNORECASE)
_JUDGED_WITH_VALUES = ("eks-", "kubernetes-")
"""Keys of conditions that are judged together with their values, elsewhere."""


def association(resource: Resource) -> Slips:
    """Pods of Fargate have no agent of identities, and sessions without tags have none in policies."""
    space, control = as_str(resource.get("Namespace")), resource_of(resource.get("ClusterName"))
    for profile in resource.template.model.resources(_PROFILE) if space is not None and control is not None else ():
        if resource_of(profile.get("ClusterName")) is control and _takes_all(profile, space or ""):
            message = f"the pods of {space} run on Fargate by {profile.logical_id}, where no agent gives identities"
            yield Slip(
                message, "a namespace of pods on nodes, or a role by a token of the service account", ("Namespace",), dead=True
            )
    yield from _misspelled(resource, space) if not (elsewhere := list(of_association(resource))) else elsewhere
    role = resource_of(resource.get("RoleArn"), ROLE)
    if role is not None and as_bool(resource.get("DisableSessionTags")) is True:
        used = next((key for _, key in _tags_in(role.get("Policies")) if key.lower() in SESSION_TAGS), None)
        if used is not None:
            message = f"{role.logical_id} asks for the session tag {used}, and the session has no tags"
            yield Slip(message, "false", ("DisableSessionTags",), dead=True)


def _misspelled(resource: Resource, space: str | None) -> Slips:
    """An account that is nearly one which an add-on has in the namespace, and which no add-on needs."""
    account, eks = as_str(resource.get("ServiceAccount")), EksCluster.of(resource.get("ClusterName"))
    known = [] if eks is None else [one.facts for one in addons_of(eks) if one.facts is not None]
    if account is None or any(account in one.service_accounts for one in known):
        return
    for facts in (one for one in known if one.namespace == space and one.accounts):
        near = misspelled_account(facts.name, account)
        if near in facts.accounts:
            message = f"{facts.name} has no service account {account}; the nearest is {near}"
            yield Slip(message, listed(facts.accounts), ("ServiceAccount",), dead=True)
            return


def _takes_all(profile: Resource, space: str) -> bool:
    """Whether a profile takes each pod of a namespace."""
    for _, one in entries(profile.get("Selectors")):
        pattern = as_str(at(one, "Namespace"))
        if pattern is not None and at(one, "Labels") in (ABSENT, ()) and matches(pattern, space):
            return True
    return False


_OF_EKS = ("kubernetes", "eks")
"""How the names of the tags that EKS gives to sessions begin."""


def _is_like_those_of_eks(name: str) -> bool:
    """Whether a tag is meant to be one of the session; another one may be a tag of the whole stack, which its roles have too."""
    return name.startswith(_OF_EKS) or any(f"-{name}-" in f"{one}-" for one in SESSION_TAGS)


def role(resource: Resource) -> Slips:
    """The tags in the policies of a role of pods are those of their sessions, or its own."""
    yield from _strange_tags([resource], "Policies", resource)


def policy(resource: Resource) -> Slips:
    """The tags in a policy of roles of pods."""
    roles = [resource_of(one, ROLE) for one in as_items(resource.get("Roles")) or ()]
    known = [one for one in roles if one is not None]
    if known and len(known) == len(roles):
        yield from _strange_tags(known, "PolicyDocument", resource)


def _strange_tags(roles: list[Resource], key: str, resource: Resource) -> Slips:
    own: set[str] = set(SESSION_TAGS)
    for one in roles:
        tags = one.get("Tags")
        if not _is_of_pods(one) or not (tags is ABSENT or is_known(tags)):
            return
        own |= {(as_str(at(tag, "Key")) or "").lower() for tag in as_items(tags) or ()}
    for path, name in _tags_in(resource.get(key)):
        if name.lower() not in own and _is_like_those_of_eks(name.lower()):
            message = f"the sessions of pods have no tag {name}"
            yield Slip(message, listed(sorted(own)), (key, *path), dead=True)
            return


def _is_of_pods(one: Resource) -> bool:
    """Whether a role is for pods alone."""
    statements = as_items(one.get("AssumeRolePolicyDocument", "Statement")) or ()
    return bool(statements) and all(at(each, "Principal", "Service") in (PODS_PRINCIPAL, (PODS_PRINCIPAL,)) for each in statements)


def _tags_in(value: Value, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The tags of callers that a policy speaks of, in keys of conditions and in texts."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from ((path, name) for name in _TAG.findall(key) if not name.startswith(_JUDGED_WITH_VALUES))
            yield from _tags_in(part, (*path, key))
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _tags_in(part, (*path, index))
    else:
        parts = value.parts if isinstance(value, Text) else (value,)
        yield from ((path, name) for part in parts if isinstance(part, str) for name in _TAG.findall(part))


def entry(resource: Resource) -> Slips:
    """The group of a team and the scopes of policies in one access entry are for the same namespace."""
    groups = [as_str(one) for one in as_items(resource.get("KubernetesGroups")) or ()]
    own = {space for one in groups if one is not None and (space := namespace_of_group(one)) is not None}
    for index, policy_ in entries(resource.get("AccessPolicies")) if own and None not in groups else ():
        spaces = [as_str(one) for one in as_items(at(policy_, "AccessScope", "Namespaces")) or ()]
        given = {one for one in spaces if one is not None and one.startswith(namespace("")) and "*" not in one}
        if given and len(given) == len(spaces) and own.isdisjoint(given):
            message = f"the group is that of {listed(sorted(own))}, and the policy is for {listed(sorted(given))}"
            place: Path = ("AccessPolicies", index, "AccessScope", "Namespaces")
            yield Slip(message, listed(sorted(own)), place, resource.get(*place), dead=True, doubts=(("KubernetesGroups",),))
            return
    yield from of_entry(resource)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_ASSOCIATION: association, "AWS::EKS::AccessEntry": entry, ROLE: role, _POLICY: policy}
