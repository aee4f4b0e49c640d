"""Looks at a training plan that somebody has bought: whether instance groups can use it. It buys nothing and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from . import answers, resource
from .aws import LOOK_SECONDS, SETTLE_SECONDS, Patient, code, transient, unsettled
from .errors import OperationError, fit
from .redaction import redact
from .resource import Done, Request, Resource, Undo, Waiting

TARGET = "hyperpod-cluster"
USABLE = ("Active", "Scheduled")
"""As in the library's facts, which a function cannot import."""

# Time in which the start of an update repeats calls that were throttled, or refused for a policy that is new.
START_SECONDS = 90.0

# An alarm whose time has passed comes so long after the deployment: EventBridge Scheduler takes times to come.
_LATE_ALARM = timedelta(minutes=15)

_MESSAGE_BYTES = 1200
_SEARCH = "see what is on offer with hyperpod training-plan search"


@dataclass(frozen=True, kw_only=True, slots=True)
class Properties:
    """The plan and its users.

    :param plan: name or ARN.
    :param instance_type: of the groups.
    :param instance_count: of all groups together.
    :param subnet_ids: of the groups; none for groups whose zone nobody checks.
    :param minimum_left_seconds: until the plan's end.
    :param alarm_days: before the plan's end; 0 without an alarm.
    """

    plan: str
    instance_type: str
    instance_count: int
    minimum_left_seconds: int
    alarm_days: int
    subnet_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A zone by its id and its name; either may be unknown."""

    id: str
    name: str

    def __str__(self) -> str:
        return f"{self.id} ({self.name})" if self.id and self.name else self.id or self.name

    def is_one_of(self, others: Iterable[Place]) -> bool:
        """Whether the ids are the same, or the names where an id is unknown."""
        return any(self.id == other.id if self.id and other.id else self.name == other.name for other in others)


@dataclass(frozen=True, slots=True)
class Capacity:
    """One block of a plan."""

    instance_type: str
    count: int | None
    place: Place
    start: datetime | None
    end: datetime | None

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Capacity:
        """The block of a member of ReservedCapacitySummaries."""
        return cls(
            answers.text(summary, "InstanceType"),
            answers.number(summary, "TotalInstanceCount"),
            Place(answers.text(summary, "AvailabilityZoneId"), answers.text(summary, "AvailabilityZone")),
            answers.moment(summary, "StartTime"),
            answers.moment(summary, "EndTime"),
        )

    def covers(self, moment: datetime) -> bool:
        """Whether the block is there at this time."""
        return (self.start is None or self.start <= moment) and (self.end is None or self.end > moment)


class TrainingPlan(Resource[Properties]):
    """A plan that belongs to somebody else.

    What an update does not change, it does not judge again: a plan that has ended meanwhile is reported and fails nothing, because
    CloudFormation also updates to go back, and that must work.
    """

    properties = Properties

    def create(self, request: Request[Properties], undo: Undo) -> str:
        """The physical id; there is nothing to create."""
        return _identity(request.properties)

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        """The physical id. Another plan is judged before the id changes, as for a creation.

        :raises OperationError: if the other plan cannot be used.
        """
        identity = _identity(request.properties)
        if identity != physical_id:
            self._judged(request.properties, self._clock() + START_SECONDS, request.started)
        return identity

    def delete(self, physical_id: str) -> None:
        """Nothing to delete: the plan stays."""

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """Whether the groups can use the plan. A Pending one is awaited: its payment goes on.

        :raises OperationError: with all that speaks against it.
        """
        return self._settled(request, ended_fails=True)

    def updated(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        """As for a creation; a plan that has ended is reported in the message."""
        return self._settled(request, ended_fails=False)

    def _settled(self, request: Request[Properties], *, ended_fails: bool) -> Waiting | Done:
        now = self._clock()
        plan = self._judged(request.properties, now + LOOK_SECONDS, request.started, ended_fails=ended_fails)
        if plan.status != "Pending":
            return Done(plan.attributes())
        if now >= request.deadline:
            raise OperationError(f"{plan.name}: it is still Pending, so it is not paid; deploy again once it is Scheduled")
        return Waiting(f"{plan.name} is Pending")

    def _judged(self, wanted: Properties, until: float, started: float, *, ended_fails: bool = True) -> Found:
        """The plan, as far as nothing speaks against it.

        :raises OperationError: with all that does.
        """
        now = datetime.fromtimestamp(self._clock(), UTC)
        sagemaker, ec2 = (self._patient(service, until, started + SETTLE_SECONDS) for service in ("sagemaker", "ec2"))
        plan = Found(wanted, _described(sagemaker, wanted), now)
        places = _places(ec2, wanted.subnet_ids)
        problems = [*plan.mismatches(places), *(plan.endings() if ended_fails else ())]
        if problems:
            raise OperationError(fit(redact(f"{plan.name}: {'; '.join(problems)}")))
        return plan

    def _patient(self, service: str, until: float, settled: float) -> Patient:
        """A client that also repeats what a new policy may explain, until that is `settled`."""

        def again(error: Exception) -> bool:
            return transient(error) or (unsettled(error) and not _missing(error) and self._clock() < settled)

        return Patient(self._clients(service), until, self._clock, self._sleep, again)


class Found:
    """A plan as DescribeTrainingPlan tells of it, at some time."""

    def __init__(self, wanted: Properties, answer: Mapping[str, Any], now: datetime) -> None:
        self._wanted, self._answer, self._now = wanted, answer, now
        self.name = f"training plan {answers.shown(answer, 'TrainingPlanName', otherwise=wanted.plan)}"
        self.status = answers.shown(answer, "Status", otherwise="")
        blocks = [Capacity.of(summary) for summary in answers.structures(answer, "ReservedCapacitySummaries")]
        blocks.sort(key=lambda block: block.start or datetime.max.replace(tzinfo=UTC))
        fitting = [block for block in blocks if block.instance_type == wanted.instance_type] or blocks
        #: The blocks that the groups can draw on: those that have not ended, or all of a plan that has.
        self.blocks: Sequence[Capacity] = [block for block in fitting if block.end is None or block.end > now] or fitting

    @property
    def end(self) -> datetime | None:
        """The time at which the plan is gone."""
        return answers.moment(self._answer, "EndTime") or max((b.end for b in self.blocks if b.end is not None), default=None)

    @property
    def start(self) -> datetime | None:
        """The time at which it begins."""
        return answers.moment(self._answer, "StartTime") or next((b.start for b in self.blocks if b.start is not None), None)

    def mismatches(self, places: Sequence[Place]) -> list[str]:
        """What no time changes: the plan is for another use, or of another type, size or zone. Only what is certain counts."""
        wanted, found = self._wanted, []
        if not self.status:
            found.append("DescribeTrainingPlan gives no status; deploy again")
        elif self.status not in (*USABLE, "Pending", "Expired"):
            why = answers.shown(self._answer, "StatusMessage", otherwise="without a reason", limit=300)
            found.append(f"its status is {self.status} ({why}); a cluster needs {' or '.join(USABLE)}: name another plan")
        targets = self._answer.get("TargetResources")
        if isinstance(targets, list) and targets and TARGET not in targets:
            found.append(f"it is for {_listed(targets)}; a cluster needs a plan for {TARGET}, so {_SEARCH}")
        types = sorted({block.instance_type for block in self.blocks if block.instance_type})
        if types and wanted.instance_type not in types:
            found.append(f"it reserves {_listed(types)}; the groups have {wanted.instance_type}: give them the plan's type")
        elif (most := self._most()) is not None and most < wanted.instance_count:
            found.append(f"it reserves {most} instances; the groups have {wanted.instance_count}: take nodes out, or {_SEARCH}")
        for place in {block.place: None for block in self.blocks if str(block.place)}:
            if places and not place.is_one_of(places):
                found.append(f"its capacity is in zone {place}; the subnets are in {_listed(places)}: use a subnet of {place}")
        return found

    def endings(self) -> list[str]:
        """What time has done: the plan has ended, or ends too soon."""
        left = timedelta(seconds=self._wanted.minimum_left_seconds)
        if self.status == "Expired" or (self.end is not None and self.end <= self._now):
            return [f"it ended at {_time(self.end)}; name another plan: {_SEARCH}"]
        if self.end is not None and self.end - self._now < left:
            return [
                f"it ends at {_time(self.end)}, in less than {_length(left)}; lower minimum_left, or name another plan: {_SEARCH}"
            ]
        return []

    def attributes(self) -> dict[str, str]:
        """The attributes of the resource.

        :raises OperationError: if an alarm is wanted, and the plan's end is unknown; or for a name without an ARN.
        """
        arn = self._wanted.plan if self._wanted.plan.startswith("arn:") else answers.text(self._answer, "TrainingPlanArn")
        if not arn:
            raise OperationError(f"{self.name}: DescribeTrainingPlan gives no ARN; deploy again, or name the plan by its ARN")
        place = next((block.place for block in self.blocks if block.place.id), Place("unknown", ""))
        return {
            "Arn": arn,
            "ZoneId": place.id,
            "StartTime": _time(self.start),
            "EndTime": _time(self.end),
            "AlarmTime": self._alarm_time(),
            "Message": fit(redact("; ".join([self._summary(), *self.endings()])), _MESSAGE_BYTES),
        }

    def _most(self) -> int | None:
        """The largest number of instances at one time; the plan's total, if a block does not tell its own."""
        moments = [max(block.start or self._now, self._now) for block in self.blocks]
        at_once = [[block.count for block in self.blocks if block.covers(moment)] for moment in moments]
        if any(block.count is None for block in self.blocks) or not any(at_once):
            return answers.number(self._answer, "TotalInstanceCount")
        return max(sum(count or 0 for count in counts) for counts in at_once)

    def _alarm_time(self) -> str:
        if self._wanted.alarm_days == 0:
            return "never"
        if self.end is None:
            raise OperationError(f"{self.name}: DescribeTrainingPlan gives no end for an alarm; leave alarm_topic out")
        alarm = max(self.end - timedelta(days=self._wanted.alarm_days), self._now + _LATE_ALARM)
        return f"{alarm.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"

    def _summary(self) -> str:
        most = self._most()
        size = f"{'?' if most is None else most} x {self._wanted.instance_type}"
        free = "?" if (number := answers.number(self._answer, "AvailableInstanceCount")) is None else number
        where = str(self.blocks[0].place if self.blocks else "") or "an unknown zone"
        return f"{self.name} is {self.status}: {size} in {where}, {free} free, {_time(self.start)} to {_time(self.end)}"


def _described(sagemaker: Patient, wanted: Properties) -> Mapping[str, Any]:
    try:
        return sagemaker.call("describe_training_plan", TrainingPlanName=wanted.plan)
    except ClientError as error:
        if not _missing(error):
            raise
        raise OperationError(
            f"training plan {wanted.plan} does not exist in this account and region; name one that aws sagemaker"
            f" list-training-plans shows, or {_SEARCH}"
        ) from error


def _places(ec2: Patient, subnet_ids: Sequence[str]) -> list[Place]:
    if not subnet_ids:
        return []
    answer = ec2.call("describe_subnets", SubnetIds=list(subnet_ids))
    found = answers.structures(answer, "Subnets")
    places = [Place(answers.text(one, "AvailabilityZoneId"), answers.text(one, "AvailabilityZone")) for one in found]
    return [place for place in dict.fromkeys(places) if str(place)]


def _missing(error: Exception) -> bool:
    return code(error) == "ResourceNotFound"


def _identity(wanted: Properties) -> str:
    return f"training-plan|{wanted.plan}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def _time(moment: datetime | None) -> str:
    return "unknown" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _length(span: timedelta) -> str:
    hours = span.total_seconds() / 3600
    return f"{hours:g} h" if hours < 48 else f"{hours / 24:g} days"


PLAN = TrainingPlan()


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Lambda entry: start an operation."""
    return resource.on_event(PLAN, event, context=context)


def is_complete(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: look whether an operation is complete."""
    return resource.is_complete(PLAN, event)
