"""Updates of a group's image: on a schedule, in batches, with rollback by alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces.aws_cloudwatch import IAlarmRef

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import ROLLBACK_ALARMS, BatchSize, ScheduleExpression, WaitInterval
from hyperpod_constructs.facts import software_updates


class CapacitySizeType(StrEnum):
    """The unit of a batch."""

    INSTANCE_COUNT = "INSTANCE_COUNT"
    """Nodes."""
    CAPACITY_PERCENTAGE = "CAPACITY_PERCENTAGE"
    """Percent of the group's nodes."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class CapacitySizeConfig:
    """The size of a batch; made by `instance_count` or `capacity_percentage`.

    :param type: the unit.
    :param value: nodes, or percent of the group's nodes; 1 or more.
    :raises ValueError: for more than 100 percent.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CapacitySizeConfig.html
    """

    type: CapacitySizeType
    value: BatchSize

    def __post_init__(self) -> None:
        percent = self.type is CapacitySizeType.CAPACITY_PERCENTAGE and not is_unknown(self.value)
        if percent and self.value > software_updates.MOST_PERCENT:
            raise ValueError(f"CapacitySizeConfig: {software_updates.percentage_above_all(self.value)}")

    @staticmethod
    @checked
    def instance_count(value: BatchSize) -> CapacitySizeConfig:
        """A batch of so many nodes, 1 or more."""
        return CapacitySizeConfig(type=CapacitySizeType.INSTANCE_COUNT, value=value)

    @staticmethod
    @checked
    def capacity_percentage(value: BatchSize) -> CapacitySizeConfig:
        """A batch of so many percent of the group's nodes, 1 to 100."""
        return CapacitySizeConfig(type=CapacitySizeType.CAPACITY_PERCENTAGE, value=value)

    def render(self) -> sagemaker.CfnCluster.CapacitySizeConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.CapacitySizeConfigProperty(type=self.type.value, value=self.value)


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class RollingUpdatePolicy:
    """An update of some nodes at a time.

    :param maximum_batch_size: the most nodes that are updated at a time.
    :param rollback_maximum_batch_size: the most nodes that are rolled back at a time; the service decides when not given.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_RollingDeploymentPolicy.html
    """

    maximum_batch_size: CapacitySizeConfig
    rollback_maximum_batch_size: CapacitySizeConfig | None = None

    def render(self) -> sagemaker.CfnCluster.RollingUpdatePolicyProperty:
        """The L1 struct."""
        rollback = self.rollback_maximum_batch_size
        return sagemaker.CfnCluster.RollingUpdatePolicyProperty(
            maximum_batch_size=self.maximum_batch_size.render(),
            rollback_maximum_batch_size=None if rollback is None else rollback.render(),
        )


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class DeploymentConfiguration:
    """The course of an update. The guide offers batches, waits and rollback by alarms on EKS only.

    :param rolling_update_policy: the batches; all nodes at a time when not given.
    :param wait_interval_in_seconds: seconds between two batches, 0 to 3600; the service decides when not given.
    :param auto_rollback_configuration: 1 to 10 alarms; an update is rolled back when one goes off in the wait after a batch. The
        cluster lets the nodes' role look at alarms. None unless given.
    :raises ValueError: for no alarm or too many.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ami-update.html
    """

    rolling_update_policy: RollingUpdatePolicy | None = None
    wait_interval_in_seconds: WaitInterval | None = None
    auto_rollback_configuration: Annotated[Sequence[IAlarmRef], ROLLBACK_ALARMS] | None = None

    def render(self) -> sagemaker.CfnCluster.DeploymentConfigProperty:
        """The L1 struct."""
        policy, alarms = self.rolling_update_policy, self.auto_rollback_configuration
        return sagemaker.CfnCluster.DeploymentConfigProperty(
            rolling_update_policy=None if policy is None else policy.render(),
            wait_interval_in_seconds=self.wait_interval_in_seconds,
            auto_rollback_configuration=None if alarms is None else [_alarm(alarm) for alarm in alarms],
        )


def _alarm(alarm: IAlarmRef) -> sagemaker.CfnCluster.AlarmDetailsProperty:
    return sagemaker.CfnCluster.AlarmDetailsProperty(alarm_name=alarm.alarm_ref.alarm_name)


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledUpdateConfig:
    """Regular updates to the latest image. An update gives nodes new root volumes, and jobs on them end.

    Leave time between the schedules of several groups: the guide says that updates whose schedules overlap might fail.

    :param schedule_expression: UTC, such as `cron(0 3 ? * SUN *)` for each Sunday at 3:00. Minute and hour are numbers, and one of
        the two days is `?`.
    :param deployment_config: batches, waits and rollback; all nodes at a time when not given.
    :raises ValueError: for a malformed schedule, or one with two days or with none.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ScheduledUpdateConfig.html
    """

    schedule_expression: ScheduleExpression
    deployment_config: DeploymentConfiguration | None = None

    def __post_init__(self) -> None:
        mistake = None if is_unknown(self.schedule_expression) else software_updates.schedule_mistake(self.schedule_expression)
        if mistake is not None:
            raise ValueError(f"ScheduledUpdateConfig: {mistake}")

    def render(self) -> sagemaker.CfnCluster.ScheduledUpdateConfigProperty:
        """The L1 struct."""
        deployment = self.deployment_config
        return sagemaker.CfnCluster.ScheduledUpdateConfigProperty(
            schedule_expression=self.schedule_expression, deployment_config=None if deployment is None else deployment.render()
        )
