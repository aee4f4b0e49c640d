"""Refers to a training plan that was bought, and checks that a cluster can use it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Protocol

from aws_cdk import CustomResource, Duration, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import NodeCount
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.training_plans import MINUTES_OF_ENDING, MOST_DAYS

#: Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingPlan.html
_ARN = r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:training-plan/"
PlanReference = Annotated[
    str,
    Limit(
        shortest=1,
        longest=2048,
        pattern=rf"^({_ARN})?[a-zA-Z0-9](-*[a-zA-Z0-9]){{0,63}}$",
        words="the name or the ARN of a training plan (aws sagemaker list-training-plans prints both)",
        example="my-plan",
    ),
]
AlarmDays = Annotated[int, Limit(least=1, most=MOST_DAYS)]


class PlannedType(Protocol):
    """An instance type, such as `ClusterInstanceType.P5_48XLARGE`."""

    @property
    def name(self) -> str:
        """Its name, such as ml.p5.48xlarge."""
        ...


class TrainingPlan(Construct):
    """A training plan that exists, by name or ARN. Nothing here buys one: `hyperpod training-plan search` shows offers.

    A creation fails unless the plan is Active or Scheduled, is for clusters, reserves this type in this number, lies in a zone of
    these subnets, and lasts long enough. A Pending plan is awaited within `timeout`, because its payment goes on.

    An update fails for the same causes. Only the end of the plan that was there before fails nothing, so that a stack whose plan is
    over can still be updated: `message` tells of it. A deletion leaves the plan as it is.

    The plan is looked at when a parameter changes, and only then. After an extension of the plan (ExtendTrainingPlan), change one,
    such as `alarm_days`, so that `end_time` and the alarm follow.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        plan: PlanReference,
        instance_type: PlannedType,
        instance_count: NodeCount,
        subnets: Sequence[ec2.ISubnet] = (),
        minimum_left: Duration | None = None,
        alarm_topic: sns.ITopic | None = None,
        alarm_days: AlarmDays = 7,
        timeout: Duration | None = None,
    ) -> None:
        """Refer to a plan.

        :param plan: name or ARN, in the stack's region. A change **replaces** the resource; the plans stay.
        :param instance_type: type of the groups that use the plan, a `ClusterInstanceType`.
        :param instance_count: nodes of all these groups together.
        :param subnets: subnets of these groups; the zone is not checked unless given.
        :param minimum_left: time until the plan's end, from 30 minutes; 1 hour unless given. The service begins to end nodes 30
            minutes before.
        :param alarm_topic: topic that hears of the end, by a schedule of EventBridge with a role of its own; no alarm unless given.
        :param alarm_days: days between alarm and end, 1 to 182; 7 unless given. An alarm whose time has passed comes 15 minutes
            after the deployment.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given.
        :raises ValueError: for a plan of another region, or a time out of these limits.
        """
        super().__init__(scope, id)
        left = Duration.hours(1) if minimum_left is None else minimum_left
        self._check_region(plan)
        self._check_left(left)
        provider = HandlerProvider.of(self, "HyperPodTrainingPlanProvider", module="training_plan")
        #: The custom resource, to make other resources wait for the check.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodTrainingPlan",
            properties={
                "Plan": plan,
                "InstanceType": instance_type.name,
                "InstanceCount": instance_count,
                "SubnetIds": [subnet.subnet_id for subnet in subnets],
                "MinimumLeftSeconds": left.to_seconds(),
                "AlarmDays": 0 if alarm_topic is None else alarm_days,
                # The handler does not read it. A new topic changes the schedule, whose time must then be one that is still to come.
                **({} if alarm_topic is None else {"AlarmTopic": alarm_topic.topic_arn}),
            },
            statements=self._statements(plan, bool(subnets)),
            timeout=timeout,
        )
        #: The schedule of the alarm; none without a topic.
        self.alarm: scheduler.CfnSchedule | None = None if alarm_topic is None else self._create_alarm(alarm_topic)

    @property
    def training_plan_arn(self) -> str:
        """The plan's ARN, for `InstanceGroup(training_plan_arn=…)`: the cluster then waits for the check."""
        return self.resource.get_att_string("Arn")

    @property
    def zone_id(self) -> str:
        """The zone id of its capacity, such as usw2-az4: of the block that starts first, if there are several."""
        return self.resource.get_att_string("ZoneId")

    @property
    def start_time(self) -> str:
        """Its start, such as 2027-01-31T11:30:00Z."""
        return self.resource.get_att_string("StartTime")

    @property
    def end_time(self) -> str:
        """Its end, such as 2027-01-31T11:30:00Z, as of the last look."""
        return self.resource.get_att_string("EndTime")

    @property
    def message(self) -> str:
        """State, size, zone and time in one line; and the end, if an update met a plan that is over."""
        return self.resource.get_att_string("Message")

    def _create_alarm(self, topic: sns.ITopic) -> scheduler.CfnSchedule:
        own = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        role = iam.Role(self, "AlarmRole", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com").with_conditions(own))
        publishing = topic.grant_publish(role)
        schedule = scheduler.CfnSchedule(
            self,
            "Alarm",
            description="Tells of the end of a training plan, once",
            schedule_expression=f"at({self.resource.get_att_string('AlarmTime')})",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(arn=topic.topic_arn, role_arn=role.role_arn, input=self._notice()),
        )
        publishing.apply_before(schedule)
        return schedule

    def _notice(self) -> str:
        return (
            f"Training plan {self.training_plan_arn} ends at {self.end_time}, as of the last deployment. Its nodes are ended from "
            f"{MINUTES_OF_ENDING} minutes before: save checkpoints, extend the plan, or move the instance group to another plan."
        )

    def _statements(self, plan: str, with_subnets: bool) -> list[Statement]:
        """The permissions. DescribeSubnets knows no resources.

        Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
        """
        looking = Statement(actions=["sagemaker:DescribeTrainingPlan"], resources=[self._arn_of(plan)])
        finding = Statement(actions=["ec2:DescribeSubnets"], resources=["*"])
        return [looking, finding] if with_subnets else [looking]

    def _arn_of(self, plan: str) -> str:
        """The plan's ARN; of a token, which may be a name or an ARN, every plan of the account in this region."""
        if plan.startswith("arn:"):
            return plan
        return Stack.of(self).format_arn(
            service="sagemaker", resource="training-plan", resource_name="*" if is_unknown(plan) else plan
        )

    def _check_region(self, plan: str) -> None:
        region, found = Stack.of(self).region, re.match(r"arn:[^:]*:sagemaker:([^:]*):", plan)
        if found and not is_unknown(plan) and not is_unknown(region) and found[1] != region:
            raise ValueError(
                f"{self.node.path}: plan is in {found[1]}, the stack in {region}; allowed: a plan of the stack's region, because "
                f"capacity lies in one zone; deploy to {found[1]}, or name a plan of {region}"
            )

    def _check_left(self, left: Duration) -> None:
        seconds = left.to_seconds()
        if not is_unknown(seconds) and seconds < MINUTES_OF_ENDING * 60:
            raise ValueError(
                f"{self.node.path}: minimum_left is {seconds:g} seconds; allowed: {MINUTES_OF_ENDING * 60} or more, because the "
                f"service begins to end nodes {MINUTES_OF_ENDING} minutes before; write Duration.hours(1)"
            )
