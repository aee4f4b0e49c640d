"""The reference app: a foundation that keeps the data, and a cluster on Slurm or Kubernetes that comes and goes."""

from __future__ import annotations

import gc
import os
import sys
from itertools import islice
from typing import TYPE_CHECKING

from hyperpod_constructs import load_rules_early

if __name__ == "__main__":
    gc.disable()  # in one short run the collector would search the CDK's classes again and again, and free nothing
    load_rules_early()  # while Python waits for Node

from hyperpod_constructs import EarlyValidator

if __name__ == "__main__":
    validator = EarlyValidator()  # while Node waits for Python

from aws_cdk import App, CfnOutput, Duration, Environment, RemovalPolicies, RemovalPolicy, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from app_network import blocks_behind_the_public_subnet
from app_settings import OrchestratorName, Settings, read_settings
from hyperpod_constructs import (
    ClusterNetwork,
    LifecycleScripts,
    LustreStorage,
    NodeInventory,
    NodeMetrics,
    NodeSoftware,
    OpenZfsStorage,
    Preflight,
    SlurmCluster,
    cluster_key,
    scripts_bucket,
)

if TYPE_CHECKING:
    from app_kubernetes import KubernetesCluster
    from hyperpod_constructs import ManagedPrometheus, SlurmAccountingDatabase

_DATABASE_PREFIX = 28


class Foundation(Stack):
    """The parts that outlive a cluster: network, file system and buckets."""

    def __init__(self, scope: Construct, id: str, *, settings: Settings, env: Environment) -> None:
        super().__init__(
            scope,
            id,
            env=env,
            stack_name=f"HyperPod-{id}",
            description="HyperPod: network, file system and buckets",
            termination_protection=settings.termination_protection,
        )
        self.key = cluster_key(self, "Key") if settings.customer_managed_key else None
        self.network = ClusterNetwork(
            self,
            "Network",
            availability_zone_id=settings.availability_zone_id,
            availability_zone=settings.availability_zone,
            cidr=settings.cidr,
            node_cidr=settings.node_cidr,
            internet=settings.internet,
            encryption_key=self.key,
        )
        self.control_plane_subnets = _control_plane_subnets(self.network, settings)
        self.file_system = LustreStorage(
            self,
            "Lustre",
            network=self.network,
            storage_capacity_gib=settings.storage_capacity_gib,
            per_unit_storage_throughput=settings.per_unit_storage_throughput,
            kms_key=self.key,
        )
        self.homes = _homes(self, settings)
        self.accounting = _accounting(self, settings)
        self.prometheus = _prometheus(self, settings)
        self.scripts = scripts_bucket(self, "Scripts", encryption_key=self.key)
        self.data = s3.Bucket(
            self,
            "Data",
            encryption=s3.BucketEncryption.S3_MANAGED if self.key is None else s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_key_enabled=None if self.key is None else True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(7))],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        if (policy := self.data.policy) is not None:
            policy.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        self.alarms = _alarms(self, settings)
        self.file_system.add_data_repository("DataRepository", bucket=self.data, file_system_path="/data")
        CfnOutput(self, "DataBucket", value=self.data.bucket_name, description="appears as /fsx/data on every node")
        CfnOutput(self, "FileSystemId", value=self.file_system.file_system_id, description="mounted at /fsx")


class Cluster(Stack):
    """The cluster with its scripts and permissions, between a look at the account and an inventory of the nodes."""

    def __init__(self, scope: Construct, id: str, *, settings: Settings, foundation: Foundation, env: Environment) -> None:
        super().__init__(scope, id, env=env, stack_name=f"HyperPod-{id}", description="HyperPod: Slurm cluster")
        self.slurm = SlurmCluster(
            self,
            "Slurm",
            network=foundation.network,
            file_system=foundation.file_system,
            home_file_system=foundation.homes,
            accounting_database=foundation.accounting,
            cluster_name=settings.cluster_name,
            controller_type=settings.controller_instance_type,
            controller_group_name=settings.controller_group_name,
            login_type=settings.login_instance_type,
            login_group_name=settings.login_group_name,
            worker_groups=settings.workers,
            threads_per_core=settings.threads_per_core,
            node_recovery=settings.node_recovery,
            alarms_topic=foundation.alarms,
            encryption_key=foundation.key,
            lifecycle_scripts=LifecycleScripts.from_asset(bucket=foundation.scripts, software=_software(foundation, settings)),
            lifecycle_mode=settings.lifecycle_mode,
            min_running=settings.min_running,
        )
        if settings.preflight:
            Preflight(self, "Preflight", cluster=self.slurm.cluster)
        NodeInventory(self, "Inventory", cluster=self.slurm.cluster, awaits=[self.slurm.readiness])
        # Nodes delete through the file system, so the versions that protect the data are out of their reach.
        nodes = self.slurm.grant_principal
        foundation.data.grant_read(nodes)
        foundation.data.grant_put(nodes)


def _homes(foundation: Foundation, settings: Settings) -> OpenZfsStorage | None:
    """The file system of homes, if the settings give it a capacity."""
    if not settings.home_capacity_gib:
        return None
    return OpenZfsStorage(
        foundation, "Homes", network=foundation.network, storage_capacity_gib=settings.home_capacity_gib, kms_key=foundation.key
    )


def _accounting(foundation: Foundation, settings: Settings) -> SlurmAccountingDatabase | None:
    """The database of Slurm's accounting, if the settings ask for it, in the nodes' zone and another one."""
    if not settings.accounting:
        return None
    from hyperpod_constructs import SlurmAccountingDatabase

    network = foundation.network
    first, second = islice(blocks_behind_the_public_subnet(settings.cidr, _DATABASE_PREFIX, "the database's subnets"), 2)
    nodes = {"availability_zone_id": settings.availability_zone_id, "availability_zone": settings.availability_zone}
    return SlurmAccountingDatabase(
        foundation,
        "Accounting",
        network=network,
        subnets=[
            network.add_database_subnet("DatabaseA", cidr=first, **nodes),
            network.add_database_subnet("DatabaseB", cidr=second, availability_zone_id=settings.accounting_zone_id),
        ],
        encryption_key=foundation.key,
        deletion_protection=settings.retain_data,
    )


def _prometheus(foundation: Foundation, settings: Settings) -> ManagedPrometheus | None:
    """The workspace of the nodes' metrics, if the settings ask for it."""
    if not settings.prometheus:
        return None
    from hyperpod_constructs import ManagedPrometheus

    return ManagedPrometheus(foundation, "Prometheus", encryption_key=foundation.key)


def _alarms(foundation: Foundation, settings: Settings) -> sns.Topic | None:
    """The topic of alarms, and the budget, if the settings ask for them."""
    if not (settings.alarms or settings.alarms_email):
        return None
    from hyperpod_constructs import alarms_topic

    topic = alarms_topic(foundation, "Alarms", emails=settings.alarms_email, encryption_key=foundation.key)
    if settings.monthly_budget_usd:
        from hyperpod_constructs import ClusterBudget, cost_tags

        name = settings.cluster_name or "hyperpod"
        cost_tags(foundation.node.root, cluster=name)
        ClusterBudget(foundation, "Budget", monthly_usd=settings.monthly_budget_usd, tag_values=[name], topic=topic)
    return topic


def _software(foundation: Foundation, settings: Settings) -> NodeSoftware:
    """The software of the nodes: people, and figures if the settings ask for them."""
    if not settings.node_metrics and foundation.prometheus is None:
        return NodeSoftware(users=settings.users)
    metrics = NodeMetrics(
        interval_seconds=settings.metrics_interval_seconds,
        cloudwatch=settings.node_metrics,
        remote_write=foundation.prometheus,
    )
    return NodeSoftware(users=settings.users, metrics=metrics)


def _control_plane_subnets(network: ClusterNetwork, settings: Settings) -> list[ec2.ISubnet]:
    """The subnets of a control plane of Kubernetes; none for Slurm."""
    if settings.orchestrator is OrchestratorName.SLURM:
        return []
    from app_kubernetes import control_plane_subnets

    return control_plane_subnets(network, settings)


def _cluster(app: App, settings: Settings, foundation: Foundation, env: Environment) -> Cluster | KubernetesCluster:
    if settings.orchestrator is OrchestratorName.SLURM:
        return Cluster(app, "Cluster", settings=settings, foundation=foundation, env=env)
    from app_kubernetes import KubernetesCluster

    return KubernetesCluster(app, "Cluster", settings=settings, foundation=foundation, env=env)


def build(app: App) -> tuple[Foundation, Cluster | KubernetesCluster]:
    """Both stacks, from the app's context and the CDK CLI's account and region."""
    settings = read_settings(app.node.get_all_context())
    env = Environment(account=os.environ.get("CDK_DEFAULT_ACCOUNT"), region=os.environ.get("CDK_DEFAULT_REGION"))
    foundation = Foundation(app, "Foundation", settings=settings, env=env)
    cluster = _cluster(app, settings, foundation, env)
    if not settings.retain_data:
        RemovalPolicies.of(app).destroy()
    return foundation, cluster


if __name__ == "__main__":
    plugins = validator.plugins()  # nothing may call the CDK before
    app = App()
    Validations.of(app).add_plugins(*plugins)
    try:
        build(app)
    except ValueError as error:
        sys.exit(f"error: {error}")
    app.synth()
    gc.freeze()  # the collector does not search them at the end either
