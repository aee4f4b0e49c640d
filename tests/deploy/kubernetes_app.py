"""An app with the whole pattern for Kubernetes: a foundation, and a cluster with two teams on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jsii
from aws_cdk import App, Environment, Resource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces.aws_aps import IWorkspaceRef, WorkspaceReference
from constructs import Construct

from hyperpod_constructs import (
    Addon,
    CapacityRequirements,
    ClusterInstanceType,
    ClusterNetwork,
    ComputeQuotaResource,
    DeepHealthCheck,
    EbsVolume,
    EksCluster,
    EksControlPlane,
    EnvironmentConfig,
    FSxLustreConfig,
    HyperPodChart,
    InstanceGroup,
    KubernetesVersion,
    LifecycleScripts,
    LustreStorage,
    PriorityClass,
    RestrictedInstanceGroup,
    Team,
    scripts_bucket,
)
from tests.deploy.conftest import CLUSTER, CLUSTER_NAME, FOUNDATION

NAME = "training"
"""The name of the EKS cluster."""
ADMINS = "admins"
"""The name of the role of its administrators."""
TEAMS = ("product", "research")
PRIORITIES = {"high": 90, "middle": 50, "low": 10}
P5, G5 = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.G5_12XLARGE
WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-0"
"""Of Prometheus, made elsewhere: the embedded AWS has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the deployments of the story change."""

    version: KubernetesVersion = KubernetesVersion.V1_34
    workers: int = 2
    nova: int = 1
    nova_gib: int = 1200
    metrics_replicas: int = 1
    top_priority: int = PRIORITIES["high"]


class Foundation(Stack):
    """Network, file system and scripts, which outlive a cluster."""

    def __init__(self, scope: Construct, *, env: Environment) -> None:
        super().__init__(scope, "Foundation", env=env, stack_name=FOUNDATION)
        self.network = ClusterNetwork(self, "Network", availability_zone_id="usw2-az4")
        self.subnets: list[ec2.ISubnet] = [
            self.network.add_control_plane_subnet(
                f"ControlPlane{zone}", cidr=f"10.0.{zone}.0/28", availability_zone_id=f"usw2-az{zone}"
            )
            for zone in (1, 2)
        ]
        self.file_system = LustreStorage(self, "Lustre", network=self.network)
        self.scripts = scripts_bucket(self, "Scripts")


@jsii.implements(IWorkspaceRef)
class Workspace(Resource):
    """A workspace from outside the app."""

    @property
    def workspace_ref(self) -> WorkspaceReference:
        """Its ARN."""
        return WorkspaceReference(workspace_arn=WORKSPACE)


class Cluster(Stack):
    """Control plane, nodes and teams."""

    def __init__(self, scope: Construct, choices: Choices, *, foundation: Foundation, env: Environment) -> None:
        super().__init__(scope, "Cluster", env=env, stack_name=CLUSTER)
        self.control_plane = EksControlPlane(
            self,
            "ControlPlane",
            network=foundation.network,
            subnets=foundation.subnets,
            version=choices.version,
            cluster_name=NAME,
        )
        self.control_plane.access.grant_admin(iam.Role(self, "Admins", role_name=ADMINS, assumed_by=iam.AccountRootPrincipal()))
        self.whole = EksCluster(
            self,
            "Kubernetes",
            network=foundation.network,
            control_plane=self.control_plane,
            chart=HyperPodChart.stand_in(),
            file_system=foundation.file_system,
            instance_groups=_groups(choices),
            restricted_instance_groups=[_nova(choices)],
            cluster_name=CLUSTER_NAME,
            priority_classes=[
                PriorityClass(name=name, weight=weight) for name, weight in {**PRIORITIES, "high": choices.top_priority}.items()
            ],
            lifecycle_scripts=LifecycleScripts.from_asset(bucket=foundation.scripts),
        )
        self.metrics = Addon(
            self,
            "Metrics",
            control_plane=self.control_plane,
            name="metrics-server",
            configuration={"replicas": choices.metrics_replicas},
            after=[self.whole.readiness],
        )
        self._add_drivers(foundation)
        share = [ComputeQuotaResource(instance_type=P5, count=1)]
        self.teams: dict[str, Team] = {name: self.whole.add_team(name.title(), name=name, resources=share) for name in TEAMS}

    def _add_drivers(self, foundation: Foundation) -> None:
        """Add-ons whose pods have roles for resources of the app."""
        control_plane, after = self.control_plane, [self.whole.readiness]
        Addon.observability(self, "Observability", control_plane=control_plane, workspace=Workspace(self, "Workspace"), after=after)
        Addon.ebs_csi(self, "Volumes", control_plane=control_plane)
        Addon.s3_csi(self, "Buckets", control_plane=control_plane, buckets=[foundation.scripts], read_only=True)


def _groups(choices: Choices) -> list[InstanceGroup]:
    """One group of each kind that only Kubernetes has, behind the workers."""
    return [
        InstanceGroup(name="workers", instance_type=P5, count=choices.workers, ebs_volumes=(EbsVolume(size_gb=500),)),
        InstanceGroup(name="spare", instance_type=G5, count=1, capacity_requirements=CapacityRequirements.SPOT),
        InstanceGroup(name="checked", instance_type=G5, count=1, deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS]),
    ]


def _nova(choices: Choices) -> RestrictedInstanceGroup:
    files = FSxLustreConfig(size_in_gib=choices.nova_gib, per_unit_storage_throughput=250)
    return RestrictedInstanceGroup(
        name="nova", instance_type=P5, count=choices.nova, environment_config=EnvironmentConfig(fsx_lustre_config=files)
    )


Edit = Callable[[Foundation, Cluster], None]


def synthesize(directory: Path, choices: Choices, edit: Edit | None = None) -> Path:
    """The assembly of both stacks, changed through the L1s by `edit`; returns its folder."""
    app = App(outdir=str(directory))
    env = Environment(account="123456789012", region="us-west-2")
    foundation = Foundation(app, env=env)
    cluster = Cluster(app, choices, foundation=foundation, env=env)
    if edit is not None:
        edit(foundation, cluster)
    app.synth()
    return directory
