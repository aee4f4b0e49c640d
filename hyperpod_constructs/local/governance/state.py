"""State of task governance: policies and quotas with their versions, and the two kinds of them."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import quota_amounts
from hyperpod_constructs.facts.instance_types import InstanceType, instance_type, is_instance_type
from hyperpod_constructs.local.aws_service import AwsError, Caller

Settings = Mapping[str, Any]

WORKING = {
    "Creating": ("Created", "CreateFailed"),
    "Updating": ("Updated", "UpdateFailed"),
    "Deleting": ("Deleted", "DeleteFailed"),
}
"""The states in which the service is at work, with those after a success and after a failure."""


class Timeline(Protocol):
    """Actions with the second at which they are due."""

    def at(self, second: float, action: Callable[[float], None]) -> None:
        """Run the action at that second."""


class GovernedCluster(Protocol):
    """A HyperPod cluster."""

    @property
    def arn(self) -> str: ...
    @property
    def caller(self) -> Caller: ...
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def timeline(self) -> Timeline: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One of the two kinds of policies.

    :param noun: the part of the names of operations and members.
    :param words: the kind in messages.
    :param resource: the part of its ARN.
    :param members: the members of requests that an update can set.
    :param check: refuses settings, raising AwsError.
    :param complete: the settings with what the service fills in.
    """

    noun: Literal["ClusterSchedulerConfig", "ComputeQuota"]
    words: str
    resource: str
    members: tuple[str, ...]
    check: Callable[[Settings], None]
    complete: Callable[[Settings], dict[str, Any]]

    def named(self, member: str) -> str:
        """A member with the kind's name, such as `ComputeQuotaArn`."""
        return f"{self.noun}{member}"


@dataclass(eq=False)
class Policy:
    """A policy or a quota. `versions` holds the settings of each version; `version` is the one in force, or on its way."""

    kind: Kind
    id: str
    arn: str
    name: str
    cluster: GovernedCluster
    versions: dict[int, dict[str, Any]]
    tags: dict[str, str]
    created: float
    modified: float
    status: str = "Creating"
    failure: str = ""
    version: int = 1
    work: int = field(default=0)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the current version."""
        return self.versions[self.version]

    @property
    def team(self) -> str | None:
        """The team of a quota."""
        target = self.settings.get("ComputeQuotaTarget")
        return None if target is None else str(target["TeamName"])


def new_id() -> str:
    """Twelve lowercase letters and digits."""
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(12))


def _check_scheduler(settings: Settings) -> None:
    names = [item["Name"] for item in settings["SchedulerConfig"].get("PriorityClasses", ())]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise AwsError("ValidationException", str(facts.repeated_class(repeated)))


def _complete_scheduler(settings: Settings) -> dict[str, Any]:
    defaults = {"FairShare": "Enabled", "IdleResourceSharing": "Disabled"}
    return {**settings, "SchedulerConfig": {**defaults, **settings["SchedulerConfig"]}}


def _check_quota(settings: Settings) -> None:
    config = settings["ComputeQuotaConfig"]
    entries = [*config.get("ComputeQuotaResources", ()), *config.get("ResourceSharingConfig", {}).get("AbsoluteBorrowLimits", ())]
    for entry in entries:
        partition = entry.get("AcceleratorPartition")
        mistake = None if partition is None else quota_amounts.unserved_partition(entry["InstanceType"], partition["Type"])
        if mistake is not None:
            raise AwsError("ValidationException", str(mistake))


def _complete_quota(settings: Settings) -> dict[str, Any]:
    config = dict(settings["ComputeQuotaConfig"])
    if "ComputeQuotaResources" in config:
        config["ComputeQuotaResources"] = [_complete_entry(entry) for entry in config["ComputeQuotaResources"]]
    config["ResourceSharingConfig"] = _complete_sharing(config.get("ResourceSharingConfig", facts.DEFAULT_SHARING))
    return {
        "ActivationState": "Enabled",
        **settings,
        "ComputeQuotaConfig": {"PreemptTeamTasks": "LowerPriority", **config},
        "ComputeQuotaTarget": {"FairShareWeight": 0, **settings["ComputeQuotaTarget"]},
    }


def _complete_sharing(sharing: Mapping[str, Any]) -> dict[str, Any]:
    borrows = sharing["Strategy"] == "LendAndBorrow"
    return {**({"BorrowLimit": facts.DEFAULT_BORROW_LIMIT} if borrows else {}), **sharing}


def allocation_of(entry: Mapping[str, Any]) -> quota_amounts.Allocation:
    """An entry of a quota, for its arithmetic."""
    partition = entry.get("AcceleratorPartition", {})
    return quota_amounts.Allocation(
        instance_type=entry["InstanceType"],
        count=entry.get("Count"),
        accelerators=entry.get("Accelerators"),
        vcpus=entry.get("VCpu"),
        memory_gib=entry.get("MemoryInGiB"),
        partition=partition.get("Type"),
        partitions=partition.get("Count", 0),
    )


def facts_of(name: str) -> InstanceType:
    """The facts of a type; none of a newer one."""
    return instance_type(name) if is_instance_type(name) else InstanceType(name=name)


def _complete_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry with the amounts that follow from the given ones. Whole instances stay as they are."""
    if not entry.keys() & {"Accelerators", "VCpu", "MemoryInGiB", "AcceleratorPartition"} or "Count" in entry:
        return dict(entry)
    partition = entry.get("AcceleratorPartition")
    amounts = quota_amounts.guaranteed(allocation_of(entry), facts_of(entry["InstanceType"]))
    filled = {"VCpu": amounts.vcpus, "MemoryInGiB": amounts.memory_gib, **({} if partition else {"Accelerators": 0})}
    return {**{name: value for name, value in filled.items() if value is not None}, **entry}


SCHEDULER_CONFIG = Kind(
    noun="ClusterSchedulerConfig",
    words="scheduling policy",
    resource="cluster-scheduler-config",
    members=("SchedulerConfig", "Description"),
    check=_check_scheduler,
    complete=_complete_scheduler,
)
COMPUTE_QUOTA = Kind(
    noun="ComputeQuota",
    words="quota",
    resource="compute-quota",
    members=("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description"),
    check=_check_quota,
    complete=_complete_quota,
)
KINDS = (SCHEDULER_CONFIG, COMPUTE_QUOTA)
