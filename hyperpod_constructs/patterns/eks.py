"""A cluster that Kubernetes orchestrates, in one construct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jsii
from aws_cdk import CfnOutput
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed, region_of
from hyperpod_constructs._support.values import ClusterName, Namespace, NodeCount, TrainingPlanArn
from hyperpod_constructs.cluster.cluster import HyperPodCluster, NodeRecovery
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.cluster.instance_group import DeepHealthCheck, InstanceGroup, PlanSource
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.cluster.orchestrator import Orchestrator
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup, SharedEnvironmentConfig
from hyperpod_constructs.cluster.storage_configs import EbsVolume
from hyperpod_constructs.cluster.tiered_storage import TieredStorage
from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate, first_node, without_node
from hyperpod_constructs.eks.addon import Addon
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_values import HyperPodChartValues
from hyperpod_constructs.eks.dependencies import HyperPodDependencies
from hyperpod_constructs.eks.governance.compute_quota import ComputeQuotaResource
from hyperpod_constructs.eks.governance.scheduler_config import PriorityClass, SchedulerConfig
from hyperpod_constructs.eks.governance.team import Team
from hyperpod_constructs.eks.governance.values import FairShareWeight, TeamName
from hyperpod_constructs.eks.lustre_volume import LustreVolume
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.facts import addons as facts
from hyperpod_constructs.network import NodeNetwork
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.patterns.encryption import encrypted, encrypted_parts
from hyperpod_constructs.patterns.short_form import groups_of_workers
from hyperpod_constructs.rules.plugin import register_rules
from hyperpod_constructs.storage.existing_lustre import LustreSource

if TYPE_CHECKING:
    from hyperpod_constructs.observability.monitoring import ClusterMonitoring

_VOLUME_GB = 500
_BEFORE_NODES = (facts.VPC_CNI, facts.KUBE_PROXY, facts.POD_IDENTITY_AGENT)


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class EksCluster(Construct):
    """HyperPod's nodes in an EKS cluster: the service's chart, the add-ons that training needs, and teams with quotas.

    It installs the add-ons of the network, of pod identities and of DNS; behind the nodes cert-manager, the training operator and
    task governance. The order is the one that the service needs: chart, nodes, the add-ons that run on them, policies, quotas.
    Add-ons that the control plane has already are left alone: those of `ExistingControlPlane(addons=...)`, an `Addon` that you
    wrote before, and what `control_plane.add_provided` tells.

    Workers of one kind are `worker_type` and `worker_count`, with a secondary volume of 500 GB for containers; workers of several
    kinds, or with labels and taints, are `instance_groups`.

    The attribute `cluster` is the `HyperPodCluster` inside, for more groups and everything else.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        control_plane: KubernetesControlPlane,
        chart: HyperPodChart,
        chart_values: HyperPodChartValues | None = None,
        file_system: LustreSource | None = None,
        claim_name: Namespace = "fsx",
        worker_type: ClusterInstanceType | None = None,
        worker_count: NodeCount | None = None,
        instance_groups: Sequence[InstanceGroup] = (),
        restricted_instance_groups: Sequence[RestrictedInstanceGroup] = (),
        shared_environment_config: SharedEnvironmentConfig | None = None,
        cluster_name: ClusterName | None = None,
        training_plan_arn: TrainingPlanArn | PlanSource | None = None,
        deep_health_checks: Sequence[DeepHealthCheck] = (),
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        tiered_storage: TieredStorage | None = None,
        priority_classes: Sequence[PriorityClass] = (),
        idle_resource_sharing: bool = False,
        task_governance: bool = True,
        alarms_topic: sns.ITopic | None = None,
        encryption_key: kms.IKey | None = None,
        execution_role: iam.IRole | ExecutionRole | None = None,
        lifecycle_scripts: LifecycleScripts | None = None,
        min_running: Mapping[str, int] | None = None,
    ) -> None:
        """
        :param network: the nodes' network, in the VPC of the control plane. A change **replaces** the HyperPod cluster.
        :param control_plane: the EKS cluster, such as an `EksControlPlane` or an `ExistingControlPlane`. A change **replaces** the
            HyperPod cluster.
        :param chart: the service's chart: `HyperPodChart.from_cache()` after `hyperpod chart fetch`.
        :param chart_values: what the installation changes; the chart's own defaults unless given.
        :param file_system: a file system in the nodes' subnet. Pods of the namespace `default` mount it by the claim `claim_name`;
            `add_team` makes the same claim for its team. None unless given. Another file system needs another `claim_name`.
        :param claim_name: the claim of the file system; `fsx` unless given. See `LustreVolume`.
        :param worker_type: type of the group `workers`. Do not change it later: see `InstanceGroup`.
        :param worker_count: number of workers.
        :param instance_groups: the groups, in place of `worker_type`, `worker_count`, `training_plan_arn` and `deep_health_checks`,
            which are for one group.
        :param restricted_instance_groups: groups for Amazon Nova, beside the others; none unless given.
        :param shared_environment_config: the file system that restricted groups share; none unless given.
        :param cluster_name: name of the HyperPod cluster; CloudFormation makes one when not given. A change **replaces** it.
        :param training_plan_arn: reserved capacity for the workers: an ARN or a `TrainingPlan`; on-demand capacity when not given.
        :param deep_health_checks: checks of the workers before they take work; none unless given.
        :param node_recovery: automatic unless given: the service reboots or replaces faulty nodes.
        :param tiered_storage: memory of the nodes for checkpoints; none unless given.
        :param priority_classes: of the scheduling policy, at most ten; none unless given.
        :param idle_resource_sharing: whether teams may borrow what no quota holds; no unless given.
        :param task_governance: whether teams share the cluster by quotas; yes unless given. Without it there is no add-on, no
            policy and no team, and jobs run in the order in which Kubernetes places them.
        :param alarms_topic: receives alarms and events of the cluster and its file system: see `ClusterMonitoring`, and
            `alarms_topic`, which makes a topic. Neither alarms nor a dashboard unless given.
        :param encryption_key: encrypts the volumes of all nodes, the bucket with the scripts that is made here, the logs of the
            stack's custom resources, and with `alarms_topic` those of the nodes; keys of AWS unless given. `cluster_key` makes one:
            give it to the network and the file system too. Only new nodes see a change.
        :param execution_role: role of all nodes; a new role with the least permissions when not given.
        :param lifecycle_scripts: the nodes' scripts; the scripts of this library when not given.
        :param min_running: nodes to wait for, by group, for an hour at most. The add-ons that need a node come after them. Unless
            given, one node of the first group that has nodes and no deep health checks, which take about two hours.
        :raises ValueError: for `instance_groups` beside the parameters of one group, for neither of them, for priorities without
            task governance, or if no group can bring a node in time and the control plane has none of its own; see also
            `HyperPodCluster`, `InstanceGroup`, `HyperPodDependencies` and `Addon`.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        path = placed(self, scope, id)
        if not task_governance and (priority_classes or idle_resource_sharing):
            given = "priority_classes" if priority_classes else "idle_resource_sharing"
            raise ValueError(f"{path}: {given} without task governance; leave task_governance=False out, or {given}")
        groups = groups_of_workers(
            path,
            instance_groups,
            worker_type=worker_type,
            worker_count=worker_count,
            training_plan_arn=training_plan_arn,
            deep_health_checks=deep_health_checks,
            of=("instance_groups", "InstanceGroup"),
            make=partial(InstanceGroup, ebs_volumes=(EbsVolume(size_gb=_VOLUME_GB),)),
        )
        #: The EKS cluster.
        self.control_plane = control_plane
        self._add_missing(_BEFORE_NODES, after=())
        #: The service's chart.
        self.dependencies = HyperPodDependencies(
            self,
            "Dependencies",
            control_plane=control_plane,
            chart=chart,
            values=chart_values,
            instance_types=list(dict.fromkeys(one for group in groups for one in group.instance_types)),
        )
        #: The HyperPod cluster.
        self.cluster = HyperPodCluster(
            self,
            "Cluster",
            network=network,
            orchestrator=Orchestrator.eks(control_plane),
            instance_groups=[encrypted(group, encryption_key) for group in groups],
            restricted_instance_groups=[encrypted(group, encryption_key) for group in restricted_instance_groups],
            shared_environment_config=shared_environment_config,
            cluster_name=cluster_name,
            execution_role=execution_role,
            lifecycle_scripts=encrypted_parts(self, encryption_key, lifecycle_scripts),
            node_recovery=node_recovery,
            tiered_storage=tiered_storage,
        )
        #: The gate behind the nodes.
        self.readiness = ReadinessGate(
            self, "Readiness", cluster=self.cluster, min_running=self._awaited_nodes(groups, min_running)
        )
        after = [self.readiness]
        self._add_missing((facts.COREDNS, facts.CERT_MANAGER), after=after)
        has = control_plane.prerequisites.has
        #: The add-on that runs HyperPodPyTorchJob; `None` if the control plane has it already.
        self.training_operator: Addon | None = None
        if not has(facts.TRAINING_OPERATOR):
            self.training_operator = Addon.training_operator(self, "TrainingOperator", control_plane=control_plane, after=after)
        #: The add-on with the queues; `None` without task governance, or if the control plane has it already.
        self.task_governance: Addon | None = None
        if task_governance and not has(facts.TASK_GOVERNANCE):
            self.task_governance = Addon.task_governance(self, "TaskGovernance", control_plane=control_plane, after=after)
        self._file_system, self._claim_name = file_system, claim_name
        if file_system is not None:
            self._mount(file_system)
        #: The scheduling policy; `None` without task governance.
        self.scheduler_config: SchedulerConfig | None = None
        if task_governance:
            self.scheduler_config = SchedulerConfig(
                self,
                "SchedulerConfig",
                cluster=self.cluster,
                priority_classes=priority_classes,
                idle_resource_sharing=idle_resource_sharing,
                task_governance=self.task_governance,
            )
        #: The alarms, events and the dashboard; `None` without `alarms_topic`.
        self.monitoring: ClusterMonitoring | None = None
        if alarms_topic is not None:
            # Alarms and dashboards load modules of the CDK that a cluster without them never needs.
            from hyperpod_constructs.observability.monitoring import ClusterMonitoring

            self.monitoring = ClusterMonitoring(
                self,
                "Monitoring",
                cluster=self.cluster,
                topic=alarms_topic,
                slurm=False,
                file_systems={} if file_system is None else {"Lustre": file_system},
                encryption_key=encryption_key,
            )
        self._create_outputs()

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role of all nodes. Pods have roles of their own, by pod identities."""
        return self.cluster.grant_principal

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the HyperPod cluster: connect, read, manage nodes."""
        return self.cluster.grants

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes."""
        return self.cluster.connections

    @checked
    def add_team(
        self,
        id: str,
        *,
        name: TeamName,
        resources: Sequence[ComputeQuotaResource],
        fair_share_weight: FairShareWeight = 0,
        role: iam.IRole | None = None,
    ) -> Team:
        """Add a team with a quota; `Team` takes everything that a quota can have.

        :param name: 1 to 40 lowercase letters, digits and hyphens. A change **replaces** the quota.
        :param resources: what the team has at least.
        :param fair_share_weight: the team's part of what is free, 0 to 100; 0 unless given.
        :param role: the role of the team's people; a new role when not given.
        :raises ValueError: without task governance; see also `Team`.
        """
        if self.scheduler_config is None:
            raise ValueError(f"{self.node.path}: the team {name!r} without task governance; leave task_governance=False out")
        team = Team(
            self,
            id,
            name=name,
            cluster=self.cluster,
            control_plane=self.control_plane,
            resources=resources,
            fair_share_weight=fair_share_weight,
            task_governance=self.task_governance,
            role=role,
        )
        if self._file_system is not None:
            LustreVolume(
                team,
                "Volume",
                control_plane=self.control_plane,
                file_system=self._file_system,
                namespace=team.namespace,
                claim_name=self._claim_name,
                after=[team.namespace_ready],
            )
        return team

    def _add_missing(self, names: Sequence[str], *, after: Sequence[IDependable]) -> None:
        """Make add-ons, but for those that are there."""
        for name in names:
            if not self.control_plane.prerequisites.has(name):
                Addon(self, name, control_plane=self.control_plane, name=name, after=after)

    def _mount(self, file_system: LustreSource) -> None:
        """Make the file system a volume of the namespace `default`, with the driver unless it is there."""
        control_plane, claim = self.control_plane, self._claim_name
        if control_plane.prerequisites.has(facts.FSX_CSI):
            LustreVolume(self, "Volume", control_plane=control_plane, file_system=file_system, claim_name=claim)
        else:
            Addon.fsx_csi(self, "LustreDriver", control_plane=control_plane, file_system=file_system, claim_name=claim)

    def _awaited_nodes(self, groups: Sequence[InstanceGroup], given: Mapping[str, int] | None) -> Mapping[str, int] | None:
        """What the user says; else the gate waits for the first node, or for none if only the control plane's own come in time."""
        if given is not None or first_node(groups) is not None:
            return given
        if self.control_plane.has_nodes is False:
            raise ValueError(
                f"{self.node.path}: {without_node(groups)}, and the add-ons need a node within the hour; add a group of one node "
                "without checks, or give the control plane a node of its own: EksControlPlane(..., default_capacity=1)"
            )
        return {}

    def _create_outputs(self) -> None:
        name, region = self.control_plane.cluster_name, region_of(self)
        outputs: Mapping[str, tuple[Any, str]] = {
            "ReadinessMessage": (self.readiness.message, "what runs, and what is missing"),
            "UpdateKubeconfig": (f"aws eks update-kubeconfig --name {name} --region {region}", "lets kubectl find the cluster"),
        }
        for id, (value, description) in outputs.items():
            CfnOutput(self, id, value=value, description=description)
