"""The reference to a training plan: it makes nothing, and looks at a plan and at subnets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.custom_resources.training_plan import TrainingPlan
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import World

PLANS = ("spring", "summer")


class TrainingPlanCase(Case):
    failure = "training plan spring: it reserves 2 instances; the groups have 3"

    def prepare(self, world: World) -> None:
        sagemaker = world.client("sagemaker")
        [subnet] = world.client("ec2").describe_subnets(SubnetIds=[world.subnet])["Subnets"]
        searched = sagemaker.search_training_plan_offerings(InstanceType="ml.p4d.24xlarge", InstanceCount=2, DurationHours=182 * 24)
        offer = next(
            found["TrainingPlanOfferingId"]
            for found in searched["TrainingPlanOfferings"]
            if found["ReservedCapacityOfferings"][0]["AvailabilityZone"] == subnet["AvailabilityZone"]
        )
        for name in PLANS:
            sagemaker.create_training_plan(TrainingPlanName=name, TrainingPlanOfferingId=offer)

        def active() -> bool | None:
            return all(plan["Status"] == "Active" for plan in sagemaker.list_training_plans()["TrainingPlanSummaries"]) or None

        world.wait(active, "plans")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        TrainingPlan(
            scope,
            "Plan",
            plan="summer" if variant is Variant.RENAMED else "spring",
            instance_type=ClusterInstanceType.P4D_24XLARGE,
            instance_count={Variant.CHANGED: 1, Variant.BROKEN: 3}.get(variant, 2),
            subnets=[ec2.Subnet.from_subnet_id(scope, "Subnet", world.subnet)],
        )

    def read(self, world: World) -> Mapping[str, Any]:
        plans = world.client("sagemaker").list_training_plans()["TrainingPlanSummaries"]
        return {plan["TrainingPlanName"]: (plan["Status"], plan["InUseInstanceCount"], plan["EndTime"]) for plan in plans}
