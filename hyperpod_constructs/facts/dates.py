"""Times from which on, or until which, a resource has an effect (as of 2026-11-29)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Span(NamedTuple):
    """A span of time in the properties of a type.

    :param place: the path of the object with the times; `*` is each item of a list.
    :param start: its property with the first time; empty for none, or for one that another rule compares.
    :param end: that with the last one.
    """

    place: str
    start: str
    end: str


SPANS: Mapping[str, Span] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": Span("ScheduledActions/*", "StartTime", "EndTime"),
    "AWS::AutoScaling::ScheduledAction": Span("", "StartTime", "EndTime"),
    "AWS::Budgets::Budget": Span("Budget/TimePeriod", "", "End"),
    "AWS::EC2::CapacityReservation": Span("", "", "EndDate"),
    "AWS::EC2::EC2Fleet": Span("", "ValidFrom", "ValidUntil"),
    "AWS::EC2::LaunchTemplate": Span("LaunchTemplateData/InstanceMarketOptions/SpotOptions", "", "ValidUntil"),
    "AWS::EC2::SpotFleet": Span("SpotFleetRequestConfigData", "ValidFrom", "ValidUntil"),
    "AWS::SSM::MaintenanceWindow": Span("", "StartDate", "EndDate"),
    "AWS::Scheduler::Schedule": Span("", "", "EndDate"),
}
"""The spans by type.

Sources: https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html,
https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutScheduledUpdateGroupAction.html,
https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateMaintenanceWindow.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html and
https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_TimePeriod.html
"""
