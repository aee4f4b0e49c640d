"""Fields of a cluster's groups that CloudFormation does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs.cluster.cluster import HyperPodCluster
from hyperpod_constructs.custom_resources.cluster_fields import ClusterFields, DrainPatching, GroupFields, IdlePatching
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import World
from tests.local.hyperpod_requests import group

CLUSTERS = ("fielded", "fielded-later", "beside-fielded")
DEFAULT = ("IdleWaitWindowInSeconds", 86_400)


class ClusterFieldsCase(Case):
    failure = "PatchingStrategy DrainFirst is only supported for clusters that EKS orchestrates"
    unneeded: Mapping[str, str] = {"iam:PassRole": "the service asks for it; these tests evaluate the action of a call alone"}

    unnoticed: Mapping[str, str] = {
        "DescribeCluster.InstanceGroups.": "a group without the member is described so; tests/handlers takes required ones away",
    }

    def prepare(self, world: World) -> None:
        groups = [group(world, "controller", "Controller"), group(world, "workers", "Compute", 2)]
        patched = groups[1] | {"AutoPatchConfig": {"PatchingStrategy": "WhenIdle"}, "OnStartDeepHealthChecks": ["InstanceStress"]}
        world.names |= {name: world.cluster(name, InstanceGroups=[groups[0], patched]) for name in CLUSTERS}

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = "fielded-later" if variant is Variant.RENAMED else "fielded"
        batches = sagemaker.CfnCluster.DeploymentConfigProperty(
            rolling_update_policy=sagemaker.CfnCluster.RollingUpdatePolicyProperty(
                maximum_batch_size=sagemaker.CfnCluster.CapacitySizeConfigProperty(type="INSTANCE_COUNT", value=1)
            )
        )
        idle = IdlePatching(idle_wait_window_in_seconds=7200 if variant is Variant.CHANGED else 3600)
        ClusterFields(
            scope,
            "Fields",
            cluster=HyperPodCluster.from_cluster_arn(world.names[name]),
            groups={
                "workers": GroupFields(
                    auto_patch=DrainPatching(deployment_config=batches) if variant is Variant.BROKEN else idle,
                    multi_node_training_validation=variant is not Variant.CHANGED,
                )
            },
            execution_roles=[iam.Role.from_role_arn(scope, "Role", world.role)],
        )

    def read(self, world: World) -> Mapping[str, Any]:
        """Each field by a name of its own, if it has not the service's default."""
        state: dict[str, Any] = {}
        for name in CLUSTERS:
            for each in world.client("sagemaker").describe_cluster(ClusterName=name)["InstanceGroups"]:
                place = f"{name}/{each['InstanceGroupName']}"
                kept = ("TargetCount", "ExecutionRole", "SlurmConfig", "LifeCycleConfig")
                state[place] = {key: each[key] for key in kept if key in each}
                state |= {f"{place}/{check}": True for check in each.get("OnStartDeepHealthChecks", ())}
                patch = each.get("AutoPatchConfig", {})
                state |= {f"{place}/{key}": value for key, value in patch.items() if (key, value) != DEFAULT}
        return state
