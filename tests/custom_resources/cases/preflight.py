"""The preflight: it makes nothing, and looks at an account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnCondition, Fn
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.custom_resources.preflight import Preflight
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.l1_cluster import l1_cluster, l1_file_system, l1_group
from tests.custom_resources.world import SCRIPTS, World

_WARNED = "what it may not look at is a warning, which names the action"


class PreflightCase(Case):
    failure = "addresses are free, and this deployment takes"
    not_renamed = "a preflight is its place in the stack, and it looks at whatever its properties name"
    blind = "a preflight stops a deployment for what is proven only"
    wide: Mapping[str, str] = {"sagemaker:DescribeCluster": "the template does not know the id of the stack's own cluster"}
    unneeded = dict.fromkeys(
        (
            "cloudformation:DescribeStackResource",
            "cloudformation:DescribeStacks",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSubnets",
            "fsx:DescribeFileSystems",
            "iam:GetRole",
            "s3:ListBucket",
            "sagemaker:DescribeCluster",
            "sagemaker:ListClusters",
            "servicequotas:ListAWSDefaultServiceQuotas",
            "servicequotas:ListServiceQuotas",
        ),
        _WARNED,
    )

    def prepare(self, world: World) -> None:
        world.names["cluster"] = world.cluster("beside-planned")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        counts = {Variant.WORKING: 4, Variant.CHANGED: 5, Variant.BROKEN: 1000}
        scripts = sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(source_s3_uri=f"s3://{SCRIPTS}/v1/", on_create="on_create.sh")
        group = l1_group("workers", counts[variant], kind="ml.m5.xlarge", role=world.role, life_cycle_config=scripts)
        cluster = l1_cluster(scope, group, subnet=world.subnet, security_group=world.security_group, name="planned")
        file_system = l1_file_system(scope, subnet=world.subnet)
        never = CfnCondition(scope, "Never", expression=Fn.condition_equals("looked at", "made"))
        cluster.resource.cfn_options.condition = file_system.resource.cfn_options.condition = never
        Preflight(scope, "Preflight", cluster=cluster, file_systems=[file_system])

    def read(self, world: World) -> Mapping[str, Any]:
        clusters = world.client("sagemaker").list_clusters()["ClusterSummaries"]
        return {found["ClusterName"]: found["ClusterStatus"] for found in clusters}
