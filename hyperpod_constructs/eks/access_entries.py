"""The access entries of one EKS cluster: EKS refuses a second entry of a principal, so every grant meets the first one."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import cast

from aws_cdk import Aws
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from hyperpod_constructs._support.tree import app_of, region_of, stack_of
from hyperpod_constructs.facts.eks import STANDARD
from hyperpod_constructs.facts.kubernetes import NODE_ENTRY

Principal = iam.IRole | iam.IUser

_known: weakref.WeakKeyDictionary[IConstruct, dict[tuple[str, ...], AccessEntries]] = weakref.WeakKeyDictionary()
"""By app; then by account, region and name of the EKS cluster, which several constructs may stand for."""


class AccessEntries:
    """The entries of one EKS cluster in one app, by principal."""

    def __init__(self, cluster_name: str) -> None:
        self._cluster_name = cluster_name
        self._entries: dict[str, AccessEntry] = {}

    @classmethod
    def of(cls, control_plane: Construct, cluster_name: str) -> AccessEntries:
        """The entries of a cluster.

        :param control_plane: in the cluster's account and region.
        """
        stack, found = stack_of(control_plane), _known.setdefault(app_of(control_plane), {})
        return found.setdefault((stack.account, region_of(stack), cluster_name), cls(cluster_name))

    def entry(self, scope: Construct, id: str, *, principal: Principal, kind: str = STANDARD) -> AccessEntry:
        """The entry of a principal; a new one if there is none.

        :param scope: the parent of a new entry.
        :raises ValueError: for nodes and people of one role: an entry has one type.
        """
        arn = _arn(principal)
        found = self._entries.get(arn)
        if found is None:
            found = self._entries[arn] = AccessEntry(scope, id, cluster_name=self._cluster_name, principal_arn=arn, kind=kind)
        elif NODE_ENTRY in (kind, found.kind):
            raise ValueError(
                f"{scope.node.path}: {principal.node.path} has an access entry already, of the type {found.kind}; "
                "a principal has one entry: take a role of its own for the nodes, and another for people"
            )
        return found


class AccessEntry:
    """The entry of one principal, which grows with its grants."""

    def __init__(self, scope: Construct, id: str, *, cluster_name: str, principal_arn: str, kind: str) -> None:
        self.kind = kind
        self.resource = eks.CfnAccessEntry(scope, id, cluster_name=cluster_name, principal_arn=principal_arn, type=kind)
        self._scopes: dict[str, tuple[str, ...]] = {}
        self._groups: tuple[str, ...] = ()

    def admit(self, policy: str, namespaces: Sequence[str] = ()) -> eks.CfnAccessEntry:
        """Add an access policy, or more namespaces of one; without namespaces it holds for the whole cluster."""
        known = self._scopes.get(policy)
        whole = not namespaces or known == ()
        self._scopes[policy] = () if whole else tuple(dict.fromkeys((*(known or ()), *namespaces)))
        self.resource.access_policies = [_access_policy(name, scope) for name, scope in self._scopes.items()]
        return self.resource

    def join(self, groups: Sequence[str]) -> None:
        """Add groups of Kubernetes."""
        self._groups = tuple(dict.fromkeys((*self._groups, *groups)))
        if self._groups:
            self.resource.kubernetes_groups = list(self._groups)


def _access_policy(name: str, namespaces: Sequence[str]) -> eks.CfnAccessEntry.AccessPolicyProperty:
    return eks.CfnAccessEntry.AccessPolicyProperty(
        policy_arn=f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{name}",
        access_scope=eks.CfnAccessEntry.AccessScopeProperty(
            type="namespace" if namespaces else "cluster", namespaces=list(namespaces) or None
        ),
    )


def _arn(principal: Principal) -> str:
    """The ARN of a role or user; jsii gives an imported one a class of its own."""
    return str(getattr(principal, "user_arn", None) or cast(iam.IRole, principal).role_arn)
