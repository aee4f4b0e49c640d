"""The readiness gate: it makes nothing, and looks at a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import CfnResource
from constructs import Construct

from hyperpod_constructs.custom_resources.handlers.resource import RESERVE_SECONDS
from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import World


@dataclass
class Group:
    name: str
    node_type: str | None
    count: int
    deep_health_checks: Sequence[object] = ()


@dataclass
class Cluster:
    cluster_name: str | None
    cluster_arn: str
    instance_groups: list[Group]


class ReadinessGateCase(Case):
    failure = "faulty: 0 of 1 Running"
    survives: Mapping[str, str] = {"Update": "a rollback would take nodes away; the attributes tell"}

    def prepare(self, world: World) -> None:
        world.names |= {"gated": world.cluster("gated", failing="faulty"), "beside-gated": world.cluster("beside-gated")}

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        name = "beside-gated" if variant is Variant.RENAMED else "gated"
        groups = [Group("controller", "Controller", 1), Group("workers", "Compute", 2)]
        faulty = [Group("faulty", "Compute", 1)] if variant is Variant.BROKEN else []
        gate = ReadinessGate(
            scope,
            "Gate",
            cluster=Cluster(name, world.names[name], groups + faulty),
            min_running={"workers": 2} if variant is Variant.CHANGED else {group.name: 1 for group in faulty},
        )
        resource = gate.resource.node.default_child
        if faulty and isinstance(resource, CfnResource):
            resource.add_property_override("TimeoutSeconds", int(RESERVE_SECONDS))

    def read(self, world: World) -> Mapping[str, Any]:
        sagemaker = world.client("sagemaker")
        clusters = [sagemaker.describe_cluster(ClusterName=world.names[name]) for name in ("gated", "beside-gated")]
        return {
            found["ClusterName"]: [(item["InstanceGroupName"], item["TargetCount"]) for item in found["InstanceGroups"]]
            for found in clusters
        }
