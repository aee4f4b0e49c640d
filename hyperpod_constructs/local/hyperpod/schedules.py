"""Software updates that begin by themselves: at the times of a group's schedule, and on the date of its next automatic patch.

A scheduled update whose time comes while the cluster is busy fails: the guide says that overlapping schedules might. A patch waits
until the cluster is in service again. The date of a patch that has begun is forgotten: AWS sets another one when it detects the
next patch, and the embedded AWS detects none. A date in the past begins nothing.
"""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.facts.software_updates import IDLE_WAIT_SECONDS
from hyperpod_constructs.local.hyperpod import cron
from hyperpod_constructs.local.hyperpod.software import Idle, SoftwareUpdates
from hyperpod_constructs.local.hyperpod.state import Cluster, LiveGroup
from hyperpod_constructs.local.times import second_of

PATCH_RETRY_SECONDS = 60.0


class Schedules:
    """Puts the times of the groups into the timeline of their cluster."""

    def __init__(self, updates: SoftwareUpdates) -> None:
        self._updates = updates

    def arm(self, cluster: Cluster, now: float) -> None:
        """Note the times that are new or have changed; the old ones count no more."""
        for group in cluster.groups.values():
            expression = group.spec.get("ScheduledUpdateConfig", {}).get("ScheduleExpression")
            date = second_of(group.spec.get("AutoPatchConfig", {}).get("PatchSchedule", {}).get("NextPatchDate"))
            if group.schedule != expression:
                group.schedule = expression
                self._await_schedule(cluster, group, expression, now)
            if group.patch_date != date:
                group.patch_date = date
                if date is not None and date > now:
                    self._await_patch(cluster, group, date, date)

    def _await_schedule(self, cluster: Cluster, group: LiveGroup, expression: str | None, now: float) -> None:
        due = None if expression is None else cron.schedule(expression).after(now)
        if due is None:
            group.due = None
            return
        group.due = due

        def begin(second: float) -> None:
            if group.due == due and _present(cluster, group):
                self._await_schedule(cluster, group, group.schedule, second)
                self._begin(cluster, group, second)

        cluster.timeline.at(due, begin)

    def _begin(self, cluster: Cluster, group: LiveGroup, second: float) -> None:
        if cluster.status == "InService":
            config = group.spec["ScheduledUpdateConfig"].get("DeploymentConfig", {})
            self._updates.begin(cluster, {group.name: {}}, config, second)
            return
        cause = f"the scheduled software update of {group.name} overlaps: cluster {cluster.name} is {cluster.status}"
        if group.deployment is None:
            group.software_update = "Failed"
        metadata = {"InstanceGroup": {"FailureMessage": cause}}
        said = f"Scheduled software update of Instance Group {group.name} failed"
        cluster.record(second, "InstanceGroup", said, level="Error", group=group.name, metadata=metadata)

    def _await_patch(self, cluster: Cluster, group: LiveGroup, date: float, second: float) -> None:
        def begin(later: float) -> None:
            if group.patch_date != date or not _present(cluster, group):
                return
            if cluster.status == "InService":
                self._patch(cluster, group, later)
            else:
                self._await_patch(cluster, group, date, later + PATCH_RETRY_SECONDS)

        cluster.timeline.at(second, begin)

    def _patch(self, cluster: Cluster, group: LiveGroup, second: float) -> None:
        config: dict[str, Any] = {key: value for key, value in group.spec["AutoPatchConfig"].items() if key != "PatchSchedule"}
        group.spec = {**group.spec, "AutoPatchConfig": config}
        group.patch_date = None
        if config["PatchingStrategy"] == "DrainFirst":
            self._updates.begin(cluster, {group.name: {}}, config.get("DeploymentConfig", {}), second)
            return
        until = second + config.get("IdleWaitWindowInSeconds", IDLE_WAIT_SECONDS)
        self._updates.begin(cluster, {group.name: {}}, {}, second, Idle(config["PatchingStrategy"] == "WhenAllIdle", until))


def _present(cluster: Cluster, group: LiveGroup) -> bool:
    return cluster.groups.get(group.name) is group and group.status != "Deleting"
