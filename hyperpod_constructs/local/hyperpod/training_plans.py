"""Training plans: offers to search, plans that were made from one, and the groups of clusters that use them.

A search finds an offer in every zone that starts at once, and one that starts a day later; the fee is the on-demand price of
EC2, because no public table lists that of plans. A plan is Pending for one transition, as long as a
payment takes on AWS. There are no UltraServers and no extensions. Nodes of a plan that has ended stay.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.facts import prices, training_plans
from hyperpod_constructs.facts.instance_types import PLANNED_TYPES
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import mapped
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Spec, instance_types
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Parameters
from hyperpod_constructs.local.times import moment, second_of

HOUR = 3600.0
DAY = 24 * HOUR

_MOST_OFFERS = 1000
"""Offers that are remembered; the oldest go."""

Zones = Mapping[str, Set[str]]
"""By group: the ids of the zones that its subnets are in; empty for a group without subnets of its own."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One block of capacity; times are seconds of the clock."""

    owner: tuple[str, str]
    target: str
    instance_type: str
    count: int
    zone: str
    zone_id: str
    start: float
    hours: int

    @property
    def id(self) -> str:
        """The same for the same offer."""
        return f"tpo-{hashlib.sha256(repr(self).encode()).hexdigest()}"

    @property
    def end(self) -> float:
        """The second at which the capacity is gone."""
        return self.start + self.hours * HOUR

    @property
    def fee(self) -> dict[str, str]:
        """The upfront fee; empty for a type without a public price."""
        hourly = prices.INSTANCE_HOUR.get(self.instance_type)
        return {} if hourly is None else {"UpfrontFee": f"{hourly * self.count * self.hours:.2f}", "CurrencyCode": "USD"}

    @property
    def duration(self) -> dict[str, Any]:
        """Its length and its times."""
        return {"DurationHours": self.hours, "DurationMinutes": 0, "StartTime": moment(self.start), "EndTime": moment(self.end)}


@dataclass(slots=True)
class Plan:
    """A plan that was made from an offer."""

    name: str
    arn: str
    offer: Offer
    paid: float
    tags: dict[str, str]

    def status(self, now: float) -> str:
        """The state by the clock."""
        if now < self.paid:
            return "Pending"
        if now < self.offer.start:
            return "Scheduled"
        return "Active" if now < self.offer.end else "Expired"


class TrainingPlans:
    """The offers and plans of every account.

    :param nodes_of: the number of nodes that the groups with a plan ask for, by its ARN.
    """

    def __init__(self, faults: Faults, clients: Clients, nodes_of: Callable[[str], int]) -> None:
        self._faults, self._clients, self._nodes_of = faults, clients, nodes_of
        self._offers: dict[str, Offer] = {}
        self._plans: dict[str, Plan] = {}

    def search(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """SearchTrainingPlanOfferings."""
        if parameters.keys() & {"UltraServerType", "UltraServerCount"}:
            raise refusal("the embedded AWS offers no UltraServers; search with InstanceType and InstanceCount")
        if "TrainingPlanArn" in parameters:
            raise refusal("the embedded AWS offers no extensions; search without TrainingPlanArn")
        if "InstanceType" not in parameters:
            raise refusal("InstanceType is missing; name the type to reserve")
        found = list(self._offered(parameters, caller, now))
        for offer in found:
            self._offers.pop(offer.id, None)
            self._offers[offer.id] = offer
        for old in list(self._offers)[:-_MOST_OFFERS]:
            del self._offers[old]
        return {"TrainingPlanOfferings": [_offering(offer, parameters) for offer in found]}

    def create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """CreateTrainingPlan."""
        name = parameters["TrainingPlanName"]
        arn = f"{_prefix(caller)}:training-plan/{name}"
        if arn in self._plans:
            raise AwsError("ResourceInUse", f"Training plan {name} already exists; choose another name")
        offer = self._offers.get(parameters["TrainingPlanOfferingId"])
        if offer is None or offer.owner != _owner(caller) or offer.end <= now:
            raise AwsError(
                "ResourceNotFound",
                f"Training plan offering {parameters['TrainingPlanOfferingId']} does not exist or has ended; take one that"
                " SearchTrainingPlanOfferings shows",
            )
        tags = mapped(parameters.get("Tags", ()))
        self._plans[arn] = Plan(name, arn, offer, now + self._faults.slow_creation, tags)
        return {"TrainingPlanArn": arn}

    def describe(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """DescribeTrainingPlan, by name or ARN."""
        wanted = parameters["TrainingPlanName"]
        plan = next((plan for plan in self._mine(caller) if wanted in (plan.name, plan.arn)), None)
        if plan is None:
            raise AwsError("ResourceNotFound", f"Training plan {wanted} does not exist.")
        return {**self._summary(plan, now), "UnhealthyInstanceCount": 0, "AvailableSpareInstanceCount": 0}

    def list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """ListTrainingPlans."""
        after, before = second_of(parameters.get("StartTimeAfter")), second_of(parameters.get("StartTimeBefore"))
        states = [item["Value"] for item in parameters.get("Filters", ())]
        found = [
            plan
            for plan in self._mine(caller)
            if (after is None or plan.offer.start > after)
            and (before is None or plan.offer.start < before)
            and all(plan.status(now) == state for state in states)
        ]
        keys: dict[str, Callable[[Plan], Any]] = {
            "TrainingPlanName": lambda plan: plan.name,
            "StartTime": lambda plan: plan.offer.start,
            "Status": lambda plan: plan.status(now),
        }
        found.sort(key=keys[parameters.get("SortBy", "StartTime")], reverse=parameters.get("SortOrder") == "Descending")
        chosen, following = page(found, parameters, 10, "ValidationException")
        return {"TrainingPlanSummaries": [self._summary(plan, now) for plan in chosen], **following}

    def find(self, arn: str) -> Plan | None:
        """The plan with this ARN."""
        return self._plans.get(arn)

    def check(self, specs: Iterable[Spec], before: Mapping[str, Spec], zones: Zones, caller: Caller, now: float) -> None:
        """Refuse groups that their plan cannot serve. A group that an update leaves as it was is not looked at.

        :param before: the groups as they are, by name; empty for a new cluster.
        :raises AwsError: with the plan.
        """
        specs = list(specs)
        for spec in specs:
            arn, name = spec.get("TrainingPlanArn"), spec["InstanceGroupName"]
            if arn is None or _unchanged(before.get(name), spec):
                continue
            plan = self.find(arn)
            if plan is None or plan.offer.owner != _owner(caller):
                raise refusal(
                    f"TrainingPlanArn {arn} of instance group {name} does not exist;"
                    " name the ARN of a plan that CreateTrainingPlan made"
                )
            others = self._nodes_of(arn) - sum(old["InstanceCount"] for old in before.values() if old.get("TrainingPlanArn") == arn)
            wanted = sum(item["InstanceCount"] for item in specs if item.get("TrainingPlanArn") == arn)
            problem = _problem(plan, spec, zones.get(name, frozenset()), now) or _shortage(plan, wanted, others)
            if problem is not None:
                raise refusal(f"TrainingPlanArn of instance group {name}: {problem}")

    def waits(self, spec: Spec, now: float) -> str | None:
        """Why the nodes of a group are not there yet: its plan has not started, or has ended; None if nothing speaks against."""
        plan = self._plans.get(spec.get("TrainingPlanArn", ""))
        if plan is None or (state := plan.status(now)) == "Active":
            return None
        return f"training plan {plan.name} is {state}: it runs from {_shown(plan.offer.start)} to {_shown(plan.offer.end)}"

    def forget(self) -> None:
        """Forget every offer and plan."""
        self._offers.clear()
        self._plans.clear()

    def _mine(self, caller: Caller) -> Iterator[Plan]:
        return (plan for plan in self._plans.values() if plan.offer.owner == _owner(caller))

    def _offered(self, parameters: Parameters, caller: Caller, now: float) -> Iterator[Offer]:
        kind, count = parameters["InstanceType"], parameters.get("InstanceCount", 1)
        days = -(-parameters.get("DurationHours", 24) // 24)
        if kind not in PLANNED_TYPES or count not in training_plans.COUNTS or days > training_plans.MOST_DAYS:
            return
        earliest = max(now, second_of(parameters.get("StartTimeAfter")) or now)
        latest = second_of(parameters.get("EndTimeBefore"))
        zones = self._zones(caller)
        for target in parameters.get("TargetResources", (training_plans.TARGET,)):
            for zone, wait in [*((zone, 0.0) for zone in zones), (zones[0], DAY)]:
                start = float(int(earliest + wait))
                offer = Offer(_owner(caller), target, kind, count, zone["ZoneName"], zone["ZoneId"], start, days * 24)
                if latest is None or offer.end <= latest:
                    yield offer

    def _zones(self, caller: Caller) -> Sequence[Mapping[str, str]]:
        found = self._clients("ec2", caller).describe_availability_zones()["AvailabilityZones"]
        return sorted(found, key=lambda zone: str(zone["ZoneId"]))

    def _summary(self, plan: Plan, now: float) -> dict[str, Any]:
        offer, used = plan.offer, self._nodes_of(plan.arn)
        owner = plan.arn.rpartition(":training-plan/")[0]
        capacity = {
            "ReservedCapacityArn": f"{owner}:reserved-capacity/{plan.name}",
            "ReservedCapacityType": "Instance",
            "InstanceType": offer.instance_type,
            "TotalInstanceCount": offer.count,
            "Status": plan.status(now),
            "AvailabilityZone": offer.zone,
            "AvailabilityZoneId": offer.zone_id,
            **offer.duration,
        }
        return {
            "TrainingPlanArn": plan.arn,
            "TrainingPlanName": plan.name,
            "Status": plan.status(now),
            **offer.duration,
            **offer.fee,
            "TotalInstanceCount": offer.count,
            "AvailableInstanceCount": max(0, offer.count - used),
            "InUseInstanceCount": min(offer.count, used),
            "TargetResources": [offer.target],
            "ReservedCapacitySummaries": [capacity],
        }


def _unchanged(old: Spec | None, new: Spec) -> bool:
    return (
        old is not None
        and old.get("TrainingPlanArn") == new["TrainingPlanArn"]
        and old["InstanceCount"] >= new["InstanceCount"]
        and instance_types(old) == instance_types(new)
    )


def _problem(plan: Plan, spec: Spec, zones: Set[str], now: float) -> str | None:
    """Why the plan cannot serve the group, whatever others use."""
    offer, state = plan.offer, plan.status(now)
    if state not in training_plans.USABLE:
        return f"plan {plan.name} is {state}; a plan must be {' or '.join(training_plans.USABLE)}"
    if offer.target != training_plans.TARGET:
        return f"plan {plan.name} is for {offer.target}; name one for {training_plans.TARGET}"
    if offer.instance_type not in instance_types(spec):
        return f"plan {plan.name} reserves {offer.instance_type}, the group has {', '.join(instance_types(spec))}"
    if zones and offer.zone_id not in zones:
        return f"plan {plan.name} is in zone {offer.zone_id}, the group's subnets are in {', '.join(sorted(zones))}"
    return None


def _shortage(plan: Plan, wanted: int, others: int) -> str | None:
    if wanted + others <= plan.offer.count:
        return None
    used = f", and other clusters use {others} of them" if others else ""
    return f"plan {plan.name} has {plan.offer.count} instances, its groups ask for {wanted}{used}"


def _offering(offer: Offer, parameters: Parameters) -> dict[str, Any]:
    asked = {"StartTimeAfter": "RequestedStartTimeAfter", "EndTimeBefore": "RequestedEndTimeBefore"}
    capacity = {
        "ReservedCapacityType": "Instance",
        "InstanceType": offer.instance_type,
        "InstanceCount": offer.count,
        "AvailabilityZone": offer.zone,
        **offer.duration,
    }
    return {
        "TrainingPlanOfferingId": offer.id,
        "TargetResources": [offer.target],
        **{answered: parameters[name] for name, answered in asked.items() if name in parameters},
        "DurationHours": offer.hours,
        "DurationMinutes": 0,
        **offer.fee,
        "ReservedCapacityOfferings": [capacity],
    }


def _owner(caller: Caller) -> tuple[str, str]:
    return caller.account, caller.region


def _prefix(caller: Caller) -> str:
    return f"arn:{partition(caller.region)}:sagemaker:{caller.region}:{caller.account}"


def _shown(second: float) -> str:
    return f"{moment(second):%Y-%m-%d %H:%M} UTC"
