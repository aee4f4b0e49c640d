"""Access to a Kubernetes cluster: an access entry of EKS for each principal."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.values import KubernetesGroup, Namespace
from hyperpod_constructs.eks.access_entries import AccessEntries, AccessEntry, Principal
from hyperpod_constructs.facts.eks import STANDARD
from hyperpod_constructs.facts.kubernetes import CLUSTER_ADMIN, EDITOR, NODE_ENTRY, VIEWER


class ClusterAccess:
    """Gives people and nodes access to a control plane; reached as `control_plane.access`.

    A principal has one entry, however many grants and teams it has. A grant without namespaces holds for the whole cluster, also
    where another one of the same kind names some.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html

    :param scope: the parent of the entries.
    :param cluster_name: the name of the EKS cluster.
    """

    @checked
    def __init__(self, scope: Construct, cluster_name: str) -> None:
        self._scope = Construct(scope, "Access")
        self._entries = AccessEntries.of(scope, cluster_name)

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

    @checked
    def bind_group(self, scope: Construct, principal: Principal, *, group: KubernetesGroup) -> eks.CfnAccessEntry:
        """Make a principal a member of a group of Kubernetes, which role bindings of the cluster name.

        :param scope: the parent of the entry if the principal is of another stack than the control plane, or was made in `scope`.
        :param principal: a role, or a user. Take a role that people assume.
        :param group: such as `hyperpod-ns-research-namespace-level-group`.
        :raises ValueError: for a role of nodes.
        """
        own = scope in principal.node.scopes or Stack.of(principal) is not Stack.of(self._scope)
        entry = self._entries.entry(scope, "AccessEntry", principal=principal) if own else self._entry(principal)
        entry.join([group])
        return entry.resource

    def _entry(self, principal: Principal, kind: str = STANDARD) -> AccessEntry:
        return self._entries.entry(self._scope, f"Entry{principal.node.addr[-8:]}", principal=principal, kind=kind)
