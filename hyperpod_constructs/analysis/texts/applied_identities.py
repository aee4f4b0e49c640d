"""Access entries and identities of pods beside the manifests for their cluster: each names what the other has.

Charts and others may bring objects that no template has. So only both sides together are a mistake: a group that no binding names,
beside a binding for a group that no entry has; an identity of pods that are not there, beside pods without one.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html and
https://docs.aws.amazon.com/eks/latest/userguide/pod-id-association.html (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.analysis.manifests import KubernetesObject, objects_of
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.slip import Slip, Slips
from hyperpod_constructs.facts.governance import namespace_of_group
from hyperpod_constructs.facts.kubernetes_objects import pods_anywhere
from hyperpod_constructs.facts.raw_parts import items, part
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_items, as_str

_BINDINGS = ("ClusterRoleBinding", "RoleBinding")
_OF_KUBERNETES, _PROVIDER, _USERS = "system:", "AWS::EKS::IdentityProviderConfig", "aws-auth"
_NEAR = 0.6
"""How alike names of accounts are of which one is a slip of the other."""


def of_entry(entry: Resource) -> Slips:
    """A group of an access entry that no binding names, beside one that a binding names and no entry has."""
    eks = EksCluster.of(entry.get("ClusterName"))
    if eks is None:
        return
    objects = objects_of(eks)
    bound = list(_bound(objects))
    if entry.template.model.resources(_PROVIDER) or any(one.name == _USERS for one in objects):
        return
    given = [as_str(one) for each in eks.access_entries for one in as_items(each.get("KubernetesGroups")) or ()]
    if None in given or any(map(has_hole, bound)):
        return
    idle = sorted({one for one in bound if one not in given and not one.startswith(_OF_KUBERNETES)})
    for index, one in enumerate(as_items(entry.get("KubernetesGroups")) or ()):
        name = as_str(one)
        if name is not None and name not in bound and idle and namespace_of_group(name) is None:
            message = f"no binding of the manifests is for the group {name}; no access entry has {listed(idle)}"
            yield Slip(message, listed(idle), ("KubernetesGroups", index), name, dead=True)


def _bound(objects: tuple[KubernetesObject, ...]) -> Iterator[str]:
    """The groups that bindings name."""
    for one in objects:
        for subject in items(one.get("subjects")) if one.kind in _BINDINGS else ():
            if part(subject, "kind") == "Group":
                yield str(part(subject, "name"))


def of_association(association: Resource) -> Slips:
    """An identity for a service account of a namespace, where the manifests have this account in other namespaces alone."""
    eks = EksCluster.of(association.get("ClusterName"))
    space, account = as_str(association.get("Namespace")), as_str(association.get("ServiceAccount"))
    if eks is None or space is None or account is None:
        return
    found = list(_accounts(objects_of(eks)))
    named = {(as_str(one.get("Namespace")), as_str(one.get("ServiceAccount"))) for one in eks.pod_identities}
    if any(part_ is None for one in named for part_ in one) or any(has_hole(part_) for one in found for part_ in one):
        return
    spaces = sorted({own for own, name in found if name == account and (own, name) not in named})
    beside = [name for own, name in found if own == space and (own, name) not in named and name != "default"]
    near = nearest(account, beside, _NEAR)
    if (space, account) in found:
        return
    if spaces and account != "default":
        message = f"the pods with the service account {account} are in {listed(spaces)}, and none is in {space}"
        yield Slip(message, listed(spaces), ("Namespace",), space, dead=True, doubts=(("ServiceAccount",),))
    elif near is not None:
        message = f"the pods in {space} have the service account {near}, and none has {account}"
        yield Slip(message, near, ("ServiceAccount",), account, dead=True, doubts=(("Namespace",),))


def _accounts(objects: tuple[KubernetesObject, ...]) -> Iterator[tuple[str, str]]:
    """The namespaces and names of the service accounts of pods, and of accounts that are made."""
    for one in objects:
        space: Any = one.get("metadata", "namespace") or one.space or "default"
        if one.raw.get("kind") == "ServiceAccount":
            yield str(space), str(one.get("metadata", "name"))
        yield from ((str(space), str(pods.get("serviceAccountName") or "default")) for _, pods in pods_anywhere(one.raw))
