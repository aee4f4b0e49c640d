"""A cluster as a custom resource sees it, over the L1 with what a test gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

ROLE = "arn:aws:iam::123456789012:role/nodes"
GROUP = sagemaker.CfnCluster.ClusterInstanceGroupProperty


@dataclass
class Listed:
    """A group, as an inventory reads it."""

    name: str
    node_type: str | None
    count: int
    deep_health_checks: Sequence[object] = ()


@dataclass
class L1Cluster:
    """A cluster; its ARN is the L1's unless given."""

    resource: sagemaker.CfnCluster
    cluster_name: str | None = "demo"
    given_arn: str = ""
    instance_groups: list[Listed] = field(default_factory=list)

    @property
    def cluster_arn(self) -> str:
        return self.given_arn or self.resource.attr_cluster_arn


@dataclass
class L1FileSystem:
    resource: fsx.CfnFileSystem


def l1_group(
    name: str, count: Any, kind: str = "ml.p5.48xlarge", role: str = ROLE, **more: Any
) -> sagemaker.CfnCluster.ClusterInstanceGroupProperty:
    """An instance group of the L1."""
    types: dict[str, Any] = {} if "instance_requirements" in more else {"instance_type": kind}
    return GROUP(instance_group_name=name, instance_count=count, execution_role=role, **types, **more)


def l1_cluster(
    scope: Construct,
    *groups: Any,
    subnet: str = "subnet-1",
    security_group: str = "sg-1",
    name: str | None = "demo",
    **more: Any,
) -> L1Cluster:
    """A cluster in `scope` with these groups."""
    place = sagemaker.CfnCluster.VpcConfigProperty(subnets=[subnet], security_group_ids=[security_group])
    properties: dict[str, Any] = {"cluster_name": name, "vpc_config": place, **more}
    return L1Cluster(sagemaker.CfnCluster(scope, "Cluster", instance_groups=list(groups), **properties), name)


def l1_file_system(scope: Construct, id: str = "Lustre", subnet: str = "subnet-1", **more: Any) -> L1FileSystem:
    """A Lustre file system of 4,800 GiB in `scope`."""
    lustre: dict[str, Any] = {"deployment_type": "PERSISTENT_2", "per_unit_storage_throughput": 250, **more}
    configuration = fsx.CfnFileSystem.LustreConfigurationProperty(**lustre)
    made = fsx.CfnFileSystem(
        scope,
        id,
        file_system_type="LUSTRE",
        storage_capacity=4800,
        subnet_ids=[subnet],
        lustre_configuration=configuration,
    )
    return L1FileSystem(made)
