"""Access to a Kubernetes cluster: an access entry of EKS for each principal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from aws_cdk import Aws
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.values import KubernetesGroup, Namespace
from hyperpod_constructs.facts.kubernetes import CLUSTER_ADMIN, EDITOR, NODE_ENTRY, VIEWER

Principal = iam.IRole | iam.IUser


class ClusterAccess:
    """Gives people and nodes access to a control plane; reached as `control_plane.access`.

    A principal has one entry, however many grants it gets. A grant without namespaces holds for the whole cluster, also where
    another one of the same kind names some.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html

    :param scope: the parent of the entries.
    :param cluster_name: the name of the EKS cluster.
    """

    @checked
    def __init__(self, scope: Construct, cluster_name: str) -> None:
        self._scope = Construct(scope, "Access")
        self._cluster_name = cluster_name
        self._entries: dict[str, _Entry] = {}

    @checked
    def grant_admin(self, principal: Principal) -> eks.CfnAccessEntry:
        """Allow everything in the cluster.

        :param principal: a role, or a user. Take a role that people assume.
        """
        return self._entry(principal).admit(CLUSTER_ADMIN)

    @checked
    def grant_team(
        self, principal: Principal, *, namespaces: Sequence[Namespace], kubernetes_groups: Sequence[KubernetesGroup] = ()
    ) -> eks.CfnAccessEntry:
        """Allow a team to work in its namespaces: jobs, pods, volumes, secrets. It changes neither roles nor quotas.

        :param principal: a role, or a user. Take a role that people assume.
        :param namespaces: the team's, one or more; those of task governance are named `hyperpod-ns-<team>`.
        :param kubernetes_groups: groups that role bindings of the cluster name, for custom resources such as HyperPodPyTorchJob,
            which the access policy of EKS does not know; none unless given.
        :raises ValueError: without a namespace.
        """
        if not namespaces:
            raise ValueError(f'{self._scope.node.path}: a team without namespaces; write namespaces=["hyperpod-ns-research"]')
        entry = self._entry(principal)
        entry.join(kubernetes_groups)
        return entry.admit(EDITOR, namespaces)

    @checked
    def grant_viewer(self, principal: Principal, *, namespaces: Sequence[Namespace] = ()) -> eks.CfnAccessEntry:
        """Allow looking at objects, without secrets.

        :param principal: a role, or a user. Take a role that people assume.
        :param namespaces: the whole cluster unless given.
        """
        return self._entry(principal).admit(VIEWER, namespaces)

    @checked
    def grant_nodes(self, execution_role: iam.IRole) -> eks.CfnAccessEntry:
        """Let HyperPod's nodes join, before the service would. The service makes this entry by itself if there is none.

        Give the entry to `control_plane.add_awaited(...)`, so that the HyperPod cluster waits for it.

        :param execution_role: the role of the nodes; it has no other entry.
        :raises ValueError: for a role with an entry.
        """
        return self._entry(execution_role, NODE_ENTRY).resource

    def _entry(self, principal: Principal, kind: str = "STANDARD") -> _Entry:
        arn = _arn(principal)
        found = self._entries.get(arn)
        if found is None:
            found = self._entries[arn] = _Entry(self._scope, self._cluster_name, principal, arn, kind)
        elif NODE_ENTRY in (kind, found.kind):
            raise ValueError(
                f"{self._scope.node.path}: {principal.node.path} has an access entry already, of the type {found.kind}; "
                "a principal has one entry: take a role of its own for the nodes, and another for people"
            )
        return found


class _Entry:
    """The entry of one principal, which grows with its grants."""

    def __init__(self, scope: Construct, cluster_name: str, principal: Principal, arn: str, kind: str) -> None:
        self.kind = kind
        self.resource = eks.CfnAccessEntry(
            scope, f"Entry{principal.node.addr[-8:]}", cluster_name=cluster_name, principal_arn=arn, type=kind
        )
        self._scopes: dict[str, tuple[str, ...]] = {}
        self._groups: tuple[str, ...] = ()

    def admit(self, policy: str, namespaces: Sequence[str] = ()) -> eks.CfnAccessEntry:
        """Add an access policy, or more namespaces of one."""
        known = self._scopes.get(policy)
        whole = not namespaces or known == ()
        self._scopes[policy] = () if whole else tuple(dict.fromkeys((*(known or ()), *namespaces)))
        self.resource.access_policies = [access_policy(name, scope) for name, scope in self._scopes.items()]
        return self.resource

    def join(self, groups: Sequence[str]) -> None:
        """Add groups."""
        self._groups = tuple(dict.fromkeys((*self._groups, *groups)))
        if self._groups:
            self.resource.kubernetes_groups = list(self._groups)


def access_policy(name: str, namespaces: Sequence[str] = ()) -> eks.CfnAccessEntry.AccessPolicyProperty:
    """An access policy of EKS, for some namespaces or for the whole cluster."""
    return eks.CfnAccessEntry.AccessPolicyProperty(
        policy_arn=f"arn:{Aws.PARTITION}:eks::aws:cluster-access-policy/{name}",
        access_scope=eks.CfnAccessEntry.AccessScopeProperty(
            type="namespace" if namespaces else "cluster", namespaces=list(namespaces) or None
        ),
    )


def _arn(principal: Principal) -> str:
    """The ARN of a role or user; jsii gives an imported one a class of its own."""
    return str(getattr(principal, "user_arn", None) or cast(iam.IRole, principal).role_arn)
