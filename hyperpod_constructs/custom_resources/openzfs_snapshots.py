"""Snapshots of an OpenZFS file system by a schedule, of which a number is kept."""

from __future__ import annotations

import jsii
from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces.aws_events import IRuleRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.statements import Statement, document
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import SnapshotCount, SnapshotPrefix
from hyperpod_constructs.custom_resources.openzfs_quotas import OpenZfsVolume, volume_arn, volume_of
from hyperpod_constructs.custom_resources.provider import HandlerFunction, minutes


class OpenZfsSnapshots(Construct):
    """Takes snapshots of an OpenZFS file system by a schedule, and deletes the oldest of its own.

    Users find them in `.zfs/snapshot` of the mount, such as `/home/.zfs/snapshot/daily.2026-11-24T02:00:00Z/alice`, and copy lost
    files back by themselves. A snapshot takes the room of what has changed since. It lies on the file system, so it replaces no
    backup.

    Snapshots that are there stay when this construct goes.

    Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/snapshots-openzfs.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        file_system: OpenZfsVolume,
        schedule: events.Schedule | None = None,
        keep: SnapshotCount = 7,
        prefix: SnapshotPrefix = "daily",
    ) -> None:
        """
        :param file_system: an `OpenZfsStorage`, or an imported file system with its `root_volume_id`.
        :param schedule: each day at 02:00 UTC unless given.
        :param keep: number of snapshots that stay, 1 to 1000; 7 unless given.
        :param prefix: the beginning of their names; `daily` unless given. A second schedule of the file system needs another one.
        :raises ValueError: for a file system without the id of its volume.
        """
        super().__init__(scope, id)
        volume = volume_of(placed(self, scope, id), file_system)
        #: The function that takes them, for alarms on its errors.
        self.function = HandlerFunction(self, "Function", handler="openzfs_snapshots.on_schedule", timeout=minutes(2))
        snapshots = Stack.of(self).format_arn(service="fsx", resource="snapshot", resource_name=f"{volume}/*")
        allowed = [
            Statement(actions=["fsx:CreateSnapshot"], resources=[volume_arn(self, volume), snapshots]),
            Statement(actions=["fsx:DeleteSnapshot"], resources=[snapshots]),
            # DescribeSnapshots knows no resources.
            Statement(actions=["fsx:DescribeSnapshots"], resources=["*"]),
        ]
        policy = iam.Policy(self, "Policy", document=document(allowed), roles=[self.function.role])
        event = events.RuleTargetInput.from_object(
            {"VolumeId": volume, "Prefix": prefix, "Keep": keep, "Time": events.EventField.time}
        )
        #: The schedule.
        self.rule = events.Rule(
            self,
            "Rule",
            schedule=events.Schedule.cron(minute="0", hour="2") if schedule is None else schedule,
            targets=[_Target(self.function.function.function_arn, event)],
        )
        self.rule.node.add_dependency(policy)
        self.function.function.add_permission(
            "Schedule", principal=iam.ServicePrincipal("events.amazonaws.com"), source_arn=self.rule.rule_arn
        )


@jsii.implements(events.IRuleTarget)
class _Target:
    """The function with the event that it gets. The CDK's own module of targets would load those of all services."""

    def __init__(self, function_arn: str, event: events.RuleTargetInput) -> None:
        self._function_arn, self._event = function_arn, event

    def bind(self, rule: IRuleRef, id: str | None = None) -> events.RuleTargetConfig:
        """What the rule needs to know."""
        return events.RuleTargetConfig(arn=self._function_arn, input=self._event)
