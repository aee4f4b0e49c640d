"""The training plan of a group: its state, target, type, zone and size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from .. import answers
from ..aws import Patient, code
from .findings import Finding, error, warning
from .network import Subnet
from .wanted import Group

_TARGET = "hyperpod-cluster"
_OVER = frozenset({"Expired", "Failed"})


def check_plan(sagemaker: Patient, group: Group, more: int, found: Mapping[str, Subnet], now: float) -> Iterator[Finding]:
    """What speaks against the plan of a group that adds nodes."""
    arn = group.training_plan
    try:
        plan = sagemaker.call("describe_training_plan", TrainingPlanName=arn.rpartition("/")[2])
    except ClientError as failure:
        if code(failure) not in ("ResourceNotFound", "ResourceNotFoundException"):
            raise
        yield error(f"group {group.name!r}: training plan {arn} does not exist in this account and region; name another")
        return
    head = f"group {group.name!r}: training plan {answers.shown(plan, 'TrainingPlanName', otherwise=arn)}"
    yield from _state(head, plan, now)
    yield from _capacity(head, plan, group, found)
    available = answers.number(plan, "AvailableInstanceCount")
    if available is not None and available < more:
        yield warning(f"{head} has {available} instances available, and this deployment adds {more}")


def _state(head: str, plan: Mapping[str, Any], now: float) -> Iterator[Finding]:
    status, end = answers.shown(plan, "Status"), answers.moment(plan, "EndTime")
    targets = plan.get("TargetResources")
    if status in _OVER or (end is not None and end.timestamp() <= now):
        yield error(f"{head} is {status} and ended {end or 'at an unknown time'}; name a plan that still runs")
    elif status != "Active":
        start = answers.moment(plan, "StartTime")
        yield warning(f"{head} is {status} and starts {start or 'at an unknown time'}; its nodes come then")
    if isinstance(targets, list) and targets and _TARGET not in targets:
        yield error(f"{head} is for {', '.join(map(str, targets))}; clusters need a plan for {_TARGET}")


def _capacity(head: str, plan: Mapping[str, Any], group: Group, found: Mapping[str, Subnet]) -> Iterator[Finding]:
    parts = answers.structures(plan, "ReservedCapacitySummaries")
    fitting = [part for part in parts if answers.text(part, "InstanceType") in group.instance_types]
    if parts and not fitting:
        kinds = ", ".join(sorted({answers.shown(part, "InstanceType") for part in parts}))
        yield error(f"{head} holds {kinds}, and the group wants {', '.join(group.instance_types)}; give the group the plan's type")
        return
    zones = {answers.text(part, "AvailabilityZoneId") for part in fitting} - {""}
    mine = {found[id].zone for id in group.subnets if id in found} - {""}
    if zones and mine and not zones & mine:
        yield error(
            f"{head} lies in zone {', '.join(sorted(zones))}, and the subnets of the group in {', '.join(sorted(mine))}; "
            "use a network in the plan's zone (availability_zone_id)"
        )
    total = answers.number(plan, "TotalInstanceCount")
    if total is not None and 0 < total < group.count:
        yield error(f"{head} has {total} instances, and the group wants {group.count}; lower the count, or extend the plan")
