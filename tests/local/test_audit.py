"""An unread property fails the deployment by name."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from hyperpod_constructs.local.audit import RecordingDict, UnreadPropertyError, audited
from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import deploy

NESTED = {"A": 1, "B": {"C": 2, "D": 3}, "E": [{"F": 4, "G": 5}], "H": {"I": 6}}


def unread(record: RecordingDict) -> list[str]:
    return sorted(record.unread())


def test_unread_keys_by_path() -> None:
    record = RecordingDict(NESTED)
    assert unread(record) == ["A", "B", "E", "H"]
    assert record["A"] + record.get("B")["C"] + record["E"][0]["F"] == 7
    assert record["H"]
    assert unread(record) == ["B.D", "E.G"]


@pytest.mark.parametrize(
    "take",
    [
        json.dumps,
        copy.deepcopy,
        dict,
        lambda record: {**record},
        lambda record: record | {},
        lambda record: {} | record,
        lambda record: list(record.items()),
        lambda record: list(record.values()),
        lambda record: record.copy(),
        lambda record: [record[key] for key in record],
    ],
)
def test_taking_everything_reads_everything(take: Any) -> None:
    record = RecordingDict({"A": 1, "B": {"C": 2}})
    take(record)
    assert unread(record) == []


def test_looking_at_keys_is_not_reading() -> None:
    record = RecordingDict({"A": 1})
    assert "A" in record
    assert list(record) == ["A"]
    assert record.keys() == {"A"}
    assert len(record) == 1
    assert unread(record) == ["A"]
    assert record == {"A": 1}


class Handler:
    """A handler that reads `Name` only."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        self.log.append(("create", properties["Name"]))
        return "id", {}

    def update(self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        self.log.append(("update", new["Name"]))
        return physical_id, {}

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:
        self.log.append(("delete", physical_id))

    def audited(self, *, during_update: bool = False) -> dict[str, Any]:
        parts = {"create": self.create, "update": self.update, "delete": self.delete}
        return audited("Some::Type", parts, lambda: during_update)


def test_create_with_an_unread_property_is_undone() -> None:
    handler = Handler()
    with pytest.raises(UnreadPropertyError, match=r"Size, Tags of Thing \(Some::Type\)"):
        handler.audited()["create"]("Thing", {"Name": "n", "Size": 1, "Tags": []}, "Stack")
    assert handler.log == [("create", "n"), ("delete", "id")]


def test_create_within_an_update_is_not_undone() -> None:
    handler = Handler()
    with pytest.raises(UnreadPropertyError, match="Size"):
        handler.audited(during_update=True)["create"]("Thing", {"Name": "n", "Size": 1}, "Stack")
    assert handler.log == [("create", "n")]


def test_update_complains_of_changes_only() -> None:
    handler = Handler()
    update = handler.audited()["update"]
    assert update("id", {"Name": "a", "Size": 1}, {"Name": "b", "Size": 1}, "Stack", "Thing") == ("id", {})
    handler.log.clear()
    with pytest.raises(UnreadPropertyError, match="Size of Thing"):
        update("id", {"Name": "a", "Size": 1}, {"Name": "b", "Size": 2}, "Stack", "Thing")
    assert handler.log == [("update", "b"), ("update", "a")]
    with pytest.raises(UnreadPropertyError, match="Size of Thing"):
        update("id", {"Name": "a", "Size": 1}, {"Name": "a"}, "Stack", "Thing")


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        ({"Type": "AWS::S3::Bucket", "Properties": {"AccelerateConfiguration": {"AccelerationStatus": "Enabled"}}}, "Accelerate"),
        ({"Type": "AWS::SNS::Topic", "Properties": {"ArchivePolicy": {"MessageRetentionPeriod": 1}}}, "ArchivePolicy"),
    ],
)
def test_fails_the_stack_by_name(fresh: LocalAws, resource: dict[str, Any], path: str) -> None:
    stack = deploy(fresh, {"Thing": resource})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert any(path in reason and "Thing" in reason for reason in stack.reasons), stack.reasons
    assert fresh.client("s3").list_buckets()["Buckets"] == []
    assert fresh.client("sns").list_topics()["Topics"] == []


def test_a_schedule_keeps_its_target(fresh: LocalAws) -> None:
    arn = "arn:aws:sns:us-west-2:123456789012:topic"
    target = {"Arn": arn, "RoleArn": "arn:aws:iam::123456789012:role/alarm", "Input": "the text"}
    properties = {"ScheduleExpression": "at(2099-01-31T11:30:00)", "FlexibleTimeWindow": {"Mode": "OFF"}, "Target": target}
    stack = deploy(fresh, {"Alarm": {"Type": "AWS::Scheduler::Schedule", "Properties": {**properties, "Name": "alarm"}}})
    assert stack.status == "CREATE_COMPLETE", stack.reasons
    assert fresh.client("scheduler").get_schedule(Name="alarm")["Target"] == target
