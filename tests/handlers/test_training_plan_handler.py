"""The handler of a training plan against stubbed services and a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import boto3
import botocore.session
import pytest
from botocore.stub import Stubber

from hyperpod_constructs.custom_resources.handlers import training_plan
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import RESERVE_SECONDS, is_complete, on_event
from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS
from hyperpod_constructs.facts import training_plans

from .conftest import START, Clock

NAME = "spring"
ARN = f"arn:aws:sagemaker:us-west-2:123456789012:training-plan/{NAME}"
HOUR, DAY = 3600.0, 86400.0
Event = Callable[..., dict[str, Any]]


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(START + seconds, UTC)


def block(**members: Any) -> dict[str, Any]:
    return {
        "ReservedCapacityArn": ARN.replace("training-plan", "reserved-capacity"),
        "InstanceType": "ml.p5.48xlarge",
        "TotalInstanceCount": 4,
        "Status": "Active",
        "AvailabilityZone": "us-west-2c",
        "AvailabilityZoneId": "usw2-az3",
        "StartTime": moment(-DAY),
        "EndTime": moment(20 * DAY),
    } | members


def plan(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    """An answer of DescribeTrainingPlan; a member that is None is left out."""
    found = {
        "TrainingPlanArn": ARN,
        "TrainingPlanName": NAME,
        "Status": "Active",
        "StartTime": moment(-DAY),
        "EndTime": moment(20 * DAY),
        "AvailableInstanceCount": 3,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": list(blocks) or [block()],
    } | members
    return {name: value for name, value in found.items() if value is not None}


class Aws:
    """Stubbed clients: each test lists its expected calls, in order."""

    def __init__(self, clock: Clock) -> None:
        session = botocore.session.get_session()
        session.set_config_variable("data_path", str(MODELS))
        session.set_credentials("AKIDEXAMPLE", "secret")
        boto = boto3.Session(botocore_session=session, region_name="us-west-2")
        clients: dict[str, Any] = {name: boto.client(name) for name in ("sagemaker", "ec2")}
        self.stubs = {name: Stubber(client) for name, client in clients.items()}
        for stub in self.stubs.values():
            stub.activate()
        self.handler = training_plan.TrainingPlan(clients.__getitem__, clock, clock.sleep)
        self.clock = clock

    def answer(self, described: dict[str, Any] | None = None, *, plan_id: str = NAME, zones: str = "") -> None:
        """One look: the plan, and subnets in these zones."""
        self.stubs["sagemaker"].add_response("describe_training_plan", described or plan(), {"TrainingPlanName": plan_id})
        if zones:
            subnets = [{"AvailabilityZoneId": zone, "AvailabilityZone": f"us-west-2{zone[-1]}"} for zone in zones.split()]
            self.stubs["ec2"].add_response("describe_subnets", {"Subnets": subnets}, {"SubnetIds": ["subnet-1"]})

    def refuse(self, code: str, times: int = 1, status: int = 400) -> None:
        for _ in range(times):
            self.stubs["sagemaker"].add_client_error("describe_training_plan", code, f"{code} it is", http_status_code=status)

    def start(self, event: dict[str, Any]) -> dict[str, Any]:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, waiting: dict[str, Any]) -> dict[str, Any]:
        return is_complete(self.handler, waiting)

    def run(self, event: dict[str, Any]) -> dict[str, str]:
        found = self.look(self.start(event))
        assert found["IsComplete"] is True
        return dict(found["Data"])


@pytest.fixture
def aws(clock: Clock) -> Iterator[Aws]:
    found = Aws(clock)
    yield found
    for stub in found.stubs.values():
        stub.assert_no_pending_responses()


@pytest.fixture
def event(event: Event) -> Event:
    def make(kind: str = "Create", *, old: str = NAME, **properties: Any) -> dict[str, Any]:
        wanted = {
            "Plan": NAME,
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": "4",
            "SubnetIds": [],
            "MinimumLeftSeconds": "3600",
            "AlarmDays": "0",
            "TimeoutSeconds": "3600",
        } | properties
        more = {} if kind == "Create" else {"PhysicalResourceId": f"training-plan|{old}"}
        return event(kind, ResourceProperties=wanted, **more)

    return make


def test_gives_place_and_time(aws: Aws, event: Event) -> None:
    aws.answer(zones="usw2-az3")
    assert aws.run(event(SubnetIds=["subnet-1"])) == {
        "Arn": ARN,
        "ZoneId": "usw2-az3",
        "StartTime": "2027-01-14T08:00:00Z",
        "EndTime": "2027-02-04T08:00:00Z",
        "AlarmTime": "never",
        "Message": "training plan spring is Active: 4 x ml.p5.48xlarge in usw2-az3 (us-west-2c), 3 free, 2027-01-14T08:00:00Z"
        " to 2027-02-04T08:00:00Z",
    }


def test_physical_id_is_the_reference_and_the_same_when_sent_again(aws: Aws, event: Event) -> None:
    assert {aws.start(event())["PhysicalResourceId"] for _ in range(2)} == {f"training-plan|{NAME}"}


def test_an_alarm_comes_days_before_the_end(aws: Aws, event: Event) -> None:
    aws.answer()
    assert aws.run(event(AlarmDays="7"))["AlarmTime"] == "2027-01-28T08:00:00"


def test_an_alarm_whose_time_has_passed_comes_soon(aws: Aws, event: Event) -> None:
    aws.answer()
    assert aws.run(event(AlarmDays="30"))["AlarmTime"] == "2027-01-15T08:15:00"


@pytest.mark.parametrize(
    ("described", "properties", "said"),
    [
        (plan(Status="Failed", StatusMessage="card refused"), {}, "its status is Failed (card refused); a cluster needs Active or"),
        (plan(TargetResources=["training-job"]), {}, "it is for training-job; a cluster needs a plan for hyperpod-cluster"),
        (plan(), {"InstanceType": "ml.p4d.24xlarge"}, "it reserves ml.p5.48xlarge; the groups have ml.p4d.24xlarge"),
        (plan(), {"InstanceCount": "5"}, "it reserves 4 instances; the groups have 5"),
        (plan(Status="Expired"), {}, "it ended at 2027-02-04T08:00:00Z; name another plan"),
        (plan(EndTime=moment(-1)), {}, "it ended at 2027-01-15T07:59:59Z"),
        (plan(EndTime=moment(HOUR)), {"MinimumLeftSeconds": "7200"}, "it ends at 2027-01-15T09:00:00Z, in less than 2 h"),
        (
            plan(EndTime=moment(DAY)),
            {"MinimumLeftSeconds": "259200"},
            "it ends at 2027-01-16T08:00:00Z, in less than 3 days; lower minimum",
        ),
        (plan(Status=""), {}, "DescribeTrainingPlan gives no status"),
    ],
)
def test_fails_with_what_speaks_against_the_plan(
    aws: Aws, event: Event, described: dict[str, Any], properties: dict[str, str], said: str
) -> None:
    aws.answer(described)
    with pytest.raises(OperationError) as failure:
        aws.run(event(**properties))
    assert f"training plan {NAME}: {said}" in str(failure.value)


def test_fails_with_all_causes_at_once(aws: Aws, event: Event) -> None:
    aws.answer(plan(TargetResources=["endpoint"]), zones="usw2-az1 usw2-az2")
    with pytest.raises(OperationError) as failure:
        aws.run(event(InstanceCount="9", SubnetIds=["subnet-1"]))
    assert all(
        text in str(failure.value)
        for text in (
            "it is for endpoint",
            "it reserves 4 instances",
            "its capacity is in zone usw2-az3 (us-west-2c); the subnets are in usw2-az1 (us-west-21), usw2-az2 (us-west-22)",
        )
    )


def test_zones_are_compared_by_name_where_an_id_is_missing(aws: Aws, event: Event) -> None:
    one = block(AvailabilityZone="us-west-23")
    del one["AvailabilityZoneId"]
    aws.answer(plan(one), zones="usw2-az3")
    assert aws.run(event(SubnetIds=["subnet-1"]))["ZoneId"] == "unknown"
    aws.answer(plan(one), zones="usw2-az4")
    with pytest.raises(OperationError, match="its capacity is in zone us-west-23; the subnets are in usw2-az4"):
        aws.run(event(SubnetIds=["subnet-1"]))


def test_what_the_answer_leaves_out_is_no_error(aws: Aws, event: Event) -> None:
    bare = {"TrainingPlanArn": ARN, "TrainingPlanName": NAME, "Status": "Scheduled"}
    aws.answer(bare, zones="usw2-az1")
    found = aws.run(event(SubnetIds=["subnet-1"]))
    assert (found["ZoneId"], found["EndTime"]) == ("unknown", "unknown")
    aws.answer(bare)
    with pytest.raises(OperationError, match="DescribeTrainingPlan gives no end for an alarm"):
        aws.run(event(AlarmDays="7"))


def test_blocks_of_one_time_add_up_and_those_after_each_other_do_not(aws: Aws, event: Event) -> None:
    aws.answer(plan(block(), block(TotalInstanceCount=2)))
    assert "6 x ml.p5.48xlarge" in aws.run(event(InstanceCount="6"))["Message"]
    aws.answer(plan(block(EndTime=moment(DAY)), block(StartTime=moment(2 * DAY))))
    with pytest.raises(OperationError, match="it reserves 4 instances; the groups have 6"):
        aws.run(event(InstanceCount="6"))


def test_the_total_counts_where_a_block_does_not_tell(aws: Aws, event: Event) -> None:
    bare = {"TrainingPlanArn": ARN, "TrainingPlanName": NAME, "Status": "Active", "TotalInstanceCount": 3}
    aws.answer(bare)
    with pytest.raises(OperationError, match="it reserves 3 instances; the groups have 4"):
        aws.run(event())


def test_a_block_that_has_ended_counts_no_more(aws: Aws, event: Event) -> None:
    gone = block(EndTime=moment(-1), TotalInstanceCount=9, AvailabilityZoneId="usw2-az1", AvailabilityZone="us-west-2a")
    aws.answer(plan(gone, block(StartTime=moment(DAY))), zones="usw2-az3")
    found = aws.run(event(SubnetIds=["subnet-1"]))
    assert found["ZoneId"] == "usw2-az3"
    assert "4 x" in found["Message"]


def test_awaits_the_payment(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = aws.start(event())
    aws.answer(plan(Status="Pending"))
    assert aws.look(waiting) == {"IsComplete": False}
    aws.answer(plan(Status="Scheduled"))
    assert aws.look(waiting)["IsComplete"] is True
    clock.now = START + 3600 - RESERVE_SECONDS
    aws.answer(plan(Status="Pending"))
    with pytest.raises(OperationError, match="still Pending, so it is not paid"):
        aws.look(waiting)


def test_a_plan_that_does_not_exist_is_said_at_once(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = aws.start(event())
    aws.refuse("ResourceNotFound")
    with pytest.raises(
        OperationError, match=r"training plan spring does not exist in this account and region; .*list-training-plans"
    ):
        aws.look(waiting)
    assert clock.slept == []


def test_waits_while_a_policy_is_new_or_the_service_is_busy(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = aws.start(event())
    aws.refuse("AccessDeniedException", times=2)
    aws.answer()
    assert aws.look(waiting)["IsComplete"] is True
    clock.now = START + 600
    aws.refuse("AccessDeniedException")
    with pytest.raises(OperationError, match="DescribeTrainingPlan: AccessDeniedException"):
        aws.look(waiting)


def test_a_busy_service_ends_only_the_look(aws: Aws, event: Event) -> None:
    waiting = aws.start(event())
    aws.refuse("ThrottlingException", times=7)
    assert aws.look(waiting) == {"IsComplete": False}


def test_an_update_survives_the_end_of_its_plan(aws: Aws, event: Event) -> None:
    aws.answer(plan(Status="Expired", EndTime=moment(-DAY)))
    assert "it ended at 2027-01-14T08:00:00Z; name another plan" in aws.run(event("Update"))["Message"]


def test_an_update_of_the_count_fails(aws: Aws, event: Event) -> None:
    aws.answer()
    with pytest.raises(OperationError, match="it reserves 4 instances; the groups have 8"):
        aws.run(event("Update", InstanceCount="8"))


def test_another_plan_is_judged_before_the_id_changes(aws: Aws, event: Event) -> None:
    aws.answer(plan(Status="Expired"))
    with pytest.raises(OperationError, match="it ended at"):
        aws.start(event("Update", old="winter"))
    aws.answer()
    aws.answer()
    started = aws.start(event("Update", old="winter"))
    assert started["PhysicalResourceId"] == f"training-plan|{NAME}"
    assert aws.look(started)["IsComplete"] is True


def test_a_deletion_asks_nothing(aws: Aws, event: Event) -> None:
    assert aws.look(aws.start(event("Delete"))) == {"IsComplete": True}


def test_the_arn_of_a_reference_by_arn_is_its_own(aws: Aws, event: Event) -> None:
    aws.answer(plan_id=ARN)
    assert aws.run(event(Plan=ARN))["Arn"] == ARN
    service = SimpleNamespace(describe_training_plan=lambda **_: plan(TrainingPlanArn=None))
    handler = training_plan.TrainingPlan(lambda _: service, aws.clock, aws.clock.sleep)
    with pytest.raises(OperationError, match="DescribeTrainingPlan gives no ARN"):
        is_complete(handler, {**event(), **on_event(handler, event(), aws.clock)})


def test_entry_points(monkeypatch: pytest.MonkeyPatch, aws: Aws, event: Event) -> None:
    monkeypatch.setattr(training_plan, "PLAN", aws.handler)
    aws.answer()
    started = training_plan.on_event(event(), None)
    assert training_plan.is_complete({**event(), **started}, None)["IsComplete"] is True


def test_the_facts_are_those_of_the_library() -> None:
    assert (training_plan.TARGET, training_plan.USABLE) == (training_plans.TARGET, training_plans.USABLE)
