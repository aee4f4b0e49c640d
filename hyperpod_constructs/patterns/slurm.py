"""A Slurm cluster in one construct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jsii
from aws_cdk import CfnOutput
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import ClusterName, GroupName, NodeCount, PartitionName, ThreadsPerCore, TrainingPlanArn
from hyperpod_constructs.cluster.accounting_database import AccountingSource
from hyperpod_constructs.cluster.cluster import HyperPodCluster, NodeRecovery
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.cluster.instance_group import DeepHealthCheck, InstanceGroup, PlanSource
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.cluster.orchestrator import Orchestrator
from hyperpod_constructs.cluster.scheduling import Account, Partition, Priority, Qos
from hyperpod_constructs.cluster.storage_configs import EbsVolume, FileSystemMount, LustreMount, OpenZfsMount
from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.network import NodeNetwork
from hyperpod_constructs.node_software.lifecycle_mode import LifecycleMode
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_metrics import NodeMetrics
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.patterns.encryption import encrypted, encrypted_parts
from hyperpod_constructs.patterns.metrics import with_metrics
from hyperpod_constructs.patterns.short_form import groups_of_workers
from hyperpod_constructs.storage.existing_lustre import LustreSource
from hyperpod_constructs.storage.existing_openzfs import OpenZfsSource

if TYPE_CHECKING:
    from hyperpod_constructs.observability.monitoring import ClusterMonitoring

_VOLUME_GB = 500


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerGroup:
    """Workers of one kind in a `SlurmCluster`, which adds the secondary volume and the shared file system.

    :param name: the group's name, and its partition unless `partition` is given. A change removes the group with its nodes and
        makes another.
    :param instance_type: one type, or several in order of preference (up to 20). Do not change it later: see `InstanceGroup`.
    :param count: number of nodes, 0 to 6758.
    :param partition: Slurm's partition of the group; its name unless given.
    :param threads_per_core: 1 switches simultaneous multithreading off; the cluster's value when not given.
    :param training_plan_arn: reserved capacity of the group: an ARN or a `TrainingPlan`; on-demand capacity when not given.
    :param deep_health_checks: checks before a node takes work; none unless given. They need accelerators, and
        `INSTANCE_CONNECTIVITY` needs two nodes or more.
    :raises ValueError: for a mistake within the group; see `InstanceGroup`.
    """

    name: GroupName
    instance_type: ClusterInstanceType | Sequence[ClusterInstanceType]
    count: NodeCount
    partition: PartitionName | None = None
    threads_per_core: ThreadsPerCore | None = None
    training_plan_arn: TrainingPlanArn | PlanSource | None = None
    deep_health_checks: Sequence[DeepHealthCheck] = ()

    def __post_init__(self) -> None:
        self.render()

    @checked
    def render(
        self,
        *,
        threads_per_core: int | None = None,
        file_systems: Sequence[FileSystemMount] = (),
        lifecycle_mode: LifecycleMode | None = None,
    ) -> InstanceGroup:
        """The instance group.

        :param threads_per_core: the value of a group without one of its own.
        :param file_systems: the file systems to mount.
        :param lifecycle_mode: time of the scripts.
        """
        return InstanceGroup(
            name=self.name,
            instance_type=self.instance_type,
            count=self.count,
            partition=self.partition,
            threads_per_core=threads_per_core if self.threads_per_core is None else self.threads_per_core,
            training_plan_arn=self.training_plan_arn,
            deep_health_checks=self.deep_health_checks,
            ebs_volumes=(EbsVolume(size_gb=_VOLUME_GB),),
            file_systems=file_systems,
            lifecycle_mode=lifecycle_mode,
        )


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class SlurmCluster(Construct):
    """A controller, an optional login node and groups of workers that share one Lustre file system at `/fsx`.

    With `home_file_system`, homes are on an OpenZFS file system at `/home`.

    Every node has a secondary volume of 500 GB at `/opt/sagemaker` for container images. The deployment waits until the controller
    and the login node are Running, and for the workers in `min_running`.

    Workers of one kind are `worker_type` and `worker_count`; workers of several kinds, or with a name or a partition of their own,
    are `worker_groups`.

    The attribute `cluster` is the `HyperPodCluster` inside, for more groups and everything else.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        file_system: LustreSource,
        home_file_system: OpenZfsSource | None = None,
        worker_type: ClusterInstanceType | None = None,
        worker_count: NodeCount | None = None,
        worker_groups: Sequence[WorkerGroup] = (),
        controller_type: ClusterInstanceType = ClusterInstanceType.M5_XLARGE,
        controller_group_name: GroupName = "controller",
        login_type: ClusterInstanceType | None = None,
        login_group_name: GroupName = "login",
        cluster_name: ClusterName | None = None,
        training_plan_arn: TrainingPlanArn | PlanSource | None = None,
        threads_per_core: ThreadsPerCore | None = None,
        deep_health_checks: Sequence[DeepHealthCheck] = (),
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        accounting_database: AccountingSource | None = None,
        partitions: Sequence[Partition] = (),
        qos: Sequence[Qos] = (),
        accounts: Sequence[Account] = (),
        priority: Priority | None = None,
        alarms_topic: sns.ITopic | None = None,
        encryption_key: kms.IKey | None = None,
        execution_role: iam.IRole | ExecutionRole | None = None,
        lifecycle_scripts: LifecycleScripts | None = None,
        lifecycle_mode: LifecycleMode | None = None,
        node_metrics: NodeMetrics | None = None,
        min_running: Mapping[str, int] | None = None,
    ) -> None:
        """
        :param network: the nodes' network. A change **replaces** the cluster.
        :param file_system: the shared file system, mounted at `/fsx` on every node.
        :param home_file_system: a file system for homes, mounted at `/home` on every node; homes are in `/fsx/home` when not given.
            Nodes take a change when they are replaced, and existing homes stay where they are: copy them first.
        :param worker_type: type of the group `workers`, partition `workers`. Do not change it later: see `InstanceGroup`.
        :param worker_count: number of workers.
        :param worker_groups: groups of workers, in place of `worker_type`, `worker_count`, `training_plan_arn` and
            `deep_health_checks`, which are for one group.
        :param controller_type: type of the controller's group, one node; ml.m5.xlarge unless given.
        :param controller_group_name: name of the controller's group. A change removes the controller, with Slurm's queue.
        :param login_type: type of the login group, one node; no login node when not given.
        :param login_group_name: name of the login group. A change removes the login node and makes another.
        :param cluster_name: name of the cluster; CloudFormation makes one when not given. A change **replaces** the cluster.
        :param training_plan_arn: reserved capacity for the workers: an ARN or a `TrainingPlan`; on-demand capacity when not given.
        :param threads_per_core: 1 switches simultaneous multithreading off on every node; each type's default when not given. The
            service refuses a change for an existing group.
        :param deep_health_checks: checks of the workers before they take work; none unless given. They need accelerators, and
            `INSTANCE_CONNECTIVITY` needs two workers or more.
        :param node_recovery: automatic unless given: the service reboots or replaces faulty nodes.
        :param accounting_database: a database for Slurm's accounting: a `SlurmAccountingDatabase`, or an `AccountingDatabase` of
            your own; MariaDB on the controller when not given. Once given it can be changed, but never left out.
        :param partitions: partitions over several groups; none unless given. For this and the
            following three see `Orchestrator.slurm`.
        :param qos: qualities of service; Slurm's own unless given.
        :param accounts: accounts with shares and limits; one for all users unless given.
        :param priority: the weights of a waiting job's priority.
        :param alarms_topic: receives alarms and events of the cluster and its file systems: see `ClusterMonitoring`, and
            `alarms_topic`, which makes a topic. Neither alarms nor a dashboard unless given.
        :param encryption_key: encrypts the volumes of all nodes, the bucket with the scripts that is made here, the logs of the
            stack's custom resources, and with `alarms_topic` those of the nodes; keys of AWS unless given. `cluster_key` makes one:
            give it to the network and the file system too. Only new nodes see a change.
        :param execution_role: role of all nodes; a new role with the least permissions when not given.
        :param lifecycle_scripts: the nodes' scripts; the scripts of this library when not given.
        :param lifecycle_mode: time of the scripts on every node; after the image's own set-up when not given. `ON_CREATE` runs them
            instead of it, as the first clusters of the service did.
        :param node_metrics: the figures that the nodes tell to CloudWatch and Prometheus; none unless given. Beside
            `lifecycle_scripts` they stand in their software: `NodeSoftware(metrics=...)`.
        :param min_running: workers to wait for, by group, such as `{"workers": 4}`; none unless given.
        :raises ValueError: for `worker_groups` beside the parameters of one group, for neither of them, or for `node_metrics`
            beside `lifecycle_scripts`; see also `HyperPodCluster` and `InstanceGroup`.
        """
        super().__init__(scope, id)
        path = placed(self, scope, id)
        scripts = with_metrics(path, lifecycle_scripts, node_metrics, encryption_key)
        workers = groups_of_workers(
            path,
            worker_groups,
            worker_type=worker_type,
            worker_count=worker_count,
            training_plan_arn=training_plan_arn,
            deep_health_checks=deep_health_checks,
            of=("worker_groups", "WorkerGroup"),
            make=WorkerGroup,
        )
        mounts: list[FileSystemMount] = [LustreMount(file_system=file_system)]
        if home_file_system is not None:
            mounts.append(OpenZfsMount(file_system=home_file_system))
        self.cluster = HyperPodCluster(
            self,
            "Cluster",
            network=network,
            orchestrator=Orchestrator.slurm(
                accounting_database=None if accounting_database is None else accounting_database.for_cluster(),
                partitions=partitions,
                qos=qos,
                accounts=accounts,
                priority=priority,
            ),
            cluster_name=cluster_name,
            execution_role=execution_role,
            lifecycle_scripts=encrypted_parts(self, encryption_key, scripts),
            node_recovery=node_recovery,
        )
        for name, node_type, instance_type in (
            (controller_group_name, SlurmNodeType.CONTROLLER, controller_type),
            (login_group_name, SlurmNodeType.LOGIN, login_type),
        ):
            if instance_type is not None:
                group = InstanceGroup(
                    name=name,
                    node_type=node_type,
                    instance_type=instance_type,
                    count=1,
                    threads_per_core=threads_per_core,
                    ebs_volumes=(EbsVolume(size_gb=_VOLUME_GB),),
                    file_systems=mounts,
                    lifecycle_mode=lifecycle_mode,
                )
                self.cluster.add_instance_group(encrypted(group, encryption_key))
        for worker_group in workers:
            group = worker_group.render(threads_per_core=threads_per_core, file_systems=mounts, lifecycle_mode=lifecycle_mode)
            self.cluster.add_instance_group(encrypted(group, encryption_key))
        self.readiness = ReadinessGate(self, "Readiness", cluster=self.cluster, min_running=min_running)
        #: The alarms, events and the dashboard; `None` without `alarms_topic`.
        self.monitoring: ClusterMonitoring | None = None
        if alarms_topic is not None:
            # Alarms and dashboards load modules of the CDK that a cluster without them never needs.
            from hyperpod_constructs.observability.monitoring import ClusterMonitoring

            homes = {} if home_file_system is None else {"Homes": home_file_system}
            self.monitoring = ClusterMonitoring(
                self,
                "Monitoring",
                cluster=self.cluster,
                topic=alarms_topic,
                file_systems={"Lustre": file_system, **homes},
                encryption_key=encryption_key,
            )
        CfnOutput(self, "ReadinessMessage", value=self.readiness.message, description="what runs, and what is missing")

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role of all nodes: `bucket.grant_read_write(cluster)` lets them use a bucket.

        A group added with a role of its own needs a grant to that role.
        """
        return self.cluster.grant_principal

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster: connect, read, manage nodes."""
        return self.cluster.grants

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes."""
        return self.cluster.connections
