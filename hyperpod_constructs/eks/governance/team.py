"""A team: its quota, and the people who may run jobs with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_properties import Clusterlike
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.eks.awaiting import await_namespace
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.eks.governance.compute_quota import (
    ComputeQuota,
    ComputeQuotaResource,
    PreemptTeamTasks,
    ResourceSharingStrategy,
)
from hyperpod_constructs.eks.governance.policies import Policies
from hyperpod_constructs.eks.governance.scheduler_config import priority_value
from hyperpod_constructs.eks.governance.values import BorrowLimit, FairShareWeight, PolicyName, TeamName
from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import jobs
from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.rules.plugin import register_rules

_ALL = ("create", "delete", "get", "list", "patch", "update", "watch")
_READ = ("get", "list", "watch")
_RULES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (jobs.GROUP, (jobs.PLURAL,), _ALL),
    ("kubeflow.org", ("mpijobs", "pytorchjobs"), _ALL),
    ("batch", ("jobs",), _ALL),
    ("", ("configmaps",), _ALL),
    ("", ("pods",), ("delete", *_READ)),
    ("", ("pods/log",), ("get",)),
    ("", ("pods/exec", "pods/portforward"), ("create", "get")),
    ("", ("events", "persistentvolumeclaims"), _READ),
    (facts.KUEUE, ("localqueues", "workloads"), _READ),
)
"""What a team's people may do in their namespace: API group, resources, verbs. A pod of their own, or a secret, is not in it."""


class Team(Construct):
    """A team of a cluster on EKS: its quota, its queue, and a role for its people.

    The service makes the namespace `hyperpod-ns-<name>` and the queues from the quota, so this construct does not: it waits for the
    namespace, up to 14 minutes. It adds a Kubernetes role that allows jobs in this namespace and nothing outside it, and an access
    entry that gives it to an IAM role.

    A job that names no queue runs outside the quota: Kueue does not manage it. Jobs carry `job_labels`.

    A change of `name` **replaces** the quota, the namespace's queues and the access of the people.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: TeamName,
        cluster: Clusterlike,
        control_plane: KubernetesControlPlane,
        resources: Sequence[ComputeQuotaResource],
        strategy: ResourceSharingStrategy = ResourceSharingStrategy.LEND_AND_BORROW,
        borrow_limit: BorrowLimit | None = None,
        absolute_borrow_limits: Sequence[ComputeQuotaResource] = (),
        preempt_team_tasks: PreemptTeamTasks = PreemptTeamTasks.LOWER_PRIORITY,
        fair_share_weight: FairShareWeight = 0,
        enabled: bool = True,
        quota_name: PolicyName | None = None,
        description: str | None = None,
        beyond_capacity: bool = False,
        task_governance: Construct | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        """
        :param name: 1 to 40 lowercase letters, digits and hyphens.
        :param cluster: the HyperPod cluster.
        :param control_plane: the EKS cluster that orchestrates it.
        :param resources: see `ComputeQuota`, as for all arguments of a quota.
        :param quota_name: the name of the quota; the team's when not given.
        :param role: the role of the team's people, which may be in several teams; a new role when not given. Everybody in the
            account may assume the new one whose own permissions allow it.
        :raises ValueError: for the role of nodes, or see `ComputeQuota`.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        placed(self, scope, id)
        self._name = name
        self._policies = Policies.of(self, cluster)
        #: The quota.
        self.quota = ComputeQuota(
            self,
            "Quota",
            cluster=cluster,
            team=name,
            resources=resources,
            strategy=strategy,
            borrow_limit=borrow_limit,
            absolute_borrow_limits=absolute_borrow_limits,
            preempt_team_tasks=preempt_team_tasks,
            fair_share_weight=fair_share_weight,
            enabled=enabled,
            name=quota_name,
            description=description,
            beyond_capacity=beyond_capacity,
            task_governance=task_governance,
        )
        #: The role of the team's people.
        self.role = iam.Role(self, "Role", assumed_by=iam.AccountRootPrincipal()) if role is None else role
        self._permit(cluster, control_plane.cluster)
        #: Complete when the namespace is there. Manifests in it wait for this.
        self.namespace_ready: IDependable = await_namespace(
            self, "Namespace", cluster=control_plane.cluster, name=self.namespace, after=self.quota.resource
        )
        self._admit(control_plane)

    @property
    def namespace(self) -> str:
        """The namespace that the service makes: `hyperpod-ns-<name>`."""
        return facts.namespace(self._name)

    @property
    def local_queue(self) -> str:
        """The queue that jobs name."""
        return facts.local_queue(self._name)

    @property
    def cluster_queue(self) -> str:
        """The queue with the quota, for administrators."""
        return facts.cluster_queue(self._name)

    @checked
    def priority_class(self, name: str) -> str:
        """The value by which jobs ask for a priority class: `<name>-priority`.

        :param name: a class of the cluster's `SchedulerConfig`.
        :raises ValueError: for a class that the policy of this app lacks.
        """
        return priority_value(self, name, self._policies.priority_class_names)

    @checked
    def job_labels(self, *, priority_class: str | None = None) -> Mapping[str, str]:
        """The labels of a job: its queue, and its priority.

        :param priority_class: a class of the cluster's `SchedulerConfig`; none unless given, and then the job comes last.
        :raises ValueError: see `priority_class`.
        """
        priority = {} if priority_class is None else {facts.PRIORITY_LABEL: self.priority_class(priority_class)}
        return {facts.QUEUE_LABEL: self.local_queue, **priority}

    def _permit(self, cluster: Clusterlike, kubernetes: eks.ICluster) -> None:
        """Let the people find both clusters: `aws eks update-kubeconfig` and `hyp` read them."""
        ClusterGrants.from_cluster(cluster).read(self.role)
        iam.Grant.add_to_principal(grantee=self.role, actions=["eks:DescribeCluster"], resource_arns=[kubernetes.cluster_arn])

    def _admit(self, control_plane: KubernetesControlPlane) -> None:
        """Give the people the Kubernetes role, in the namespace that the quota brings."""
        group = facts.team_group(self._name)
        control_plane.access.bind_group(self, self.role, group=group)
        manifest = eks.KubernetesManifest(
            self, "Rbac", cluster=control_plane.cluster, manifest=_objects(self.namespace, f"{self.namespace}-jobs", group)
        )
        manifest.node.add_dependency(self.namespace_ready)


def _objects(namespace: str, name: str, group: str) -> list[Mapping[str, Any]]:
    """The Kubernetes role and its binding to the group."""
    metadata = {"name": name, "namespace": namespace}
    role = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [{"apiGroups": [api], "resources": [*resources], "verbs": [*verbs]} for api, resources, verbs in _RULES],
    }
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group}],
    }
    return [role, binding]
