"""A cluster extension: the service installs it on every node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constructs import Construct

from hyperpod_constructs.cluster.cluster import HyperPodCluster
from hyperpod_constructs.custom_resources.cluster_extension import ClusterExtension
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.engine import STACK_ID
from tests.custom_resources.world import World

NAME = "sagemaker-observability"


class ClusterExtensionCase(Case):
    failure = "has no version 9.9.9"
    unneeded: Mapping[str, str] = {
        "cloudformation:DescribeStacks": "only a lower version needs it",
        "sagemaker:DeleteTags": "only a tag that is gone needs it",
        "sagemaker:ListClusterExtensions": "only an extension that an earlier creation has left needs it",
        "sagemaker:ListTags": "only an extension that an earlier creation has left needs it",
    }

    wide = dict.fromkeys(
        (
            "sagemaker:AddTags",
            "sagemaker:DeleteClusterExtension",
            "sagemaker:DescribeClusterExtension",
            "sagemaker:UpdateClusterExtension",
        ),
        "AWS does not document the part of an extension's ARN that stands for the cluster",
    )
    rare = (("cloudformation", "DescribeStacks", {"StackName": STACK_ID}),)

    def prepare(self, world: World) -> None:
        for name in ("extended", "extended-later", "beside-extended"):
            world.names[name] = world.cluster(name)
        world.client("sagemaker").create_cluster_extension(ClusterArn=world.names["beside-extended"], ExtensionName=NAME)

        def active() -> bool | None:
            [found] = world.client("sagemaker").list_cluster_extensions(ClusterArn=world.names["beside-extended"])["Extensions"]
            return True if found["Status"] == "Active" else None

        world.wait(active, "the extension of others")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        level = "ADVANCED" if variant is Variant.CHANGED else "BASIC"
        ClusterExtension(
            scope,
            "Extension",
            cluster=HyperPodCluster.from_cluster_arn(world.names["extended-later" if variant is Variant.RENAMED else "extended"]),
            name=NAME,
            version="9.9.9" if variant is Variant.BROKEN else "1.1.0",
            configuration={"metricsProvider": {"nodeMetrics": {"level": level}}},
            tags={"level": level},
        )

    def read(self, world: World) -> Mapping[str, Any]:
        client, state = world.client("sagemaker"), {}
        for cluster in ("extended", "extended-later", "beside-extended"):
            arn = world.names[cluster]
            for item in client.list_cluster_extensions(ClusterArn=arn)["Extensions"]:
                found = client.describe_cluster_extension(ClusterArn=arn, ExtensionArn=item["ExtensionArn"])["ExtensionDetails"]
                tags = client.list_tags(ResourceArn=item["ExtensionArn"])["Tags"]
                shown = {key: found[key] for key in ("Status", "ExtensionVersion", "ConfigurationValues")}
                state[f"{cluster}/{found['ExtensionName']}"] = shown | {"Tags": sorted((tag["Key"], tag["Value"]) for tag in tags)}
        return state
