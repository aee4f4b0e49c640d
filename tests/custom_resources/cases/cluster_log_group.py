"""The log group of a cluster, which nodes make too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs.cluster.existing import ExistingCluster
from hyperpod_constructs.custom_resources.cluster_log_group import ClusterLogGroup
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import World

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-0000-4000-8000-1234567890ab"
GONE = "arn:aws:sagemaker:us-west-2:123456789012:cluster/gonegonegone"


class ClusterLogGroupCase(Case):
    failure = "DescribeCluster"

    def prepare(self, world: World) -> None:
        for name in ("one", "two"):
            world.names[name] = world.cluster(name)

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = {Variant.BROKEN: "gone", Variant.RENAMED: "two"}.get(variant, "one")
        ClusterLogGroup(
            scope,
            "LogGroup",
            cluster=ExistingCluster(cluster_arn=world.names.get(name, GONE), cluster_name=name),
            retention_days=60 if variant is Variant.CHANGED else 30,
            encryption_key=kms.Key.from_key_arn(scope, "Key", KEY),
        )

    def read(self, world: World) -> Mapping[str, Any]:
        """The groups alone: no deletion takes retention or key back."""
        groups = world.client("logs").describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/")["logGroups"]
        return {group["logGroupName"]: "there" for group in groups}
