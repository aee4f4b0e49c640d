"""Training plans, as far as clusters name them: a plan exists once CreateTrainingPlan has made it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import partition
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Spec
from hyperpod_constructs.local.timed_service import Parameters


class TrainingPlans:
    """The plans of every account. A plan takes any offering id, is Active at once and never ends: capacity is not modelled."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """CreateTrainingPlan."""
        name = parameters["TrainingPlanName"]
        arn = f"arn:{partition(caller.region)}:sagemaker:{caller.region}:{caller.account}:training-plan/{name}"
        if arn in self._names:
            raise AwsError("ResourceInUse", f"Training plan {name} already exists; choose another name")
        self._names[arn] = name
        return {"TrainingPlanArn": arn}

    def describe(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """DescribeTrainingPlan."""
        arn = parameters["TrainingPlanName"]
        found = next((known for known, name in self._names.items() if arn in (name, known) and _owned(known, caller)), None)
        if found is None:
            raise AwsError("ResourceNotFound", f"Training plan {arn} does not exist.")
        return {"TrainingPlanArn": found, "TrainingPlanName": self._names[found], "Status": "Active"}

    def check(self, groups: Iterable[Spec]) -> None:
        """Refuse groups with a plan that does not exist.

        :raises AwsError: with the plan.
        """
        for spec in groups:
            arn = spec.get("TrainingPlanArn")
            if arn is not None and arn not in self._names:
                raise refusal(
                    f"TrainingPlanArn {arn} of instance group {spec['InstanceGroupName']} does not exist;"
                    " name the ARN of a plan that CreateTrainingPlan made"
                )

    def forget(self) -> None:
        """Forget every plan."""
        self._names.clear()


def _owned(arn: str, caller: Caller) -> bool:
    return arn.split(":")[3:5] == [caller.region, caller.account]
