from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match

from hyperpod_constructs import ClusterNetwork, DataRepositoryTask, DataRepositoryTaskType, LustreStorage
from hyperpod_constructs.facts.limits import property_limit
from tests.conftest import ZONE, only, resources

TASK = "Custom::HyperPodDataRepositoryTask"
IMPORT = DataRepositoryTaskType.IMPORT_METADATA_FROM_REPOSITORY
RELEASE = DataRepositoryTaskType.RELEASE_DATA_FROM_FILESYSTEM
EXPORT = DataRepositoryTaskType.EXPORT_TO_REPOSITORY
EXISTING = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")


@pytest.fixture
def lustre(stack: Stack) -> LustreStorage:
    return LustreStorage(stack, "Lustre", network=ClusterNetwork(stack, "Network", availability_zone_id=ZONE))


def test_an_import_names_places_in_s3_and_awaits_every_association(stack: Stack, lustre: LustreStorage) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    link = lustre.add_data_repository("Data", bucket=bucket, file_system_path="/data", prefix="sets/")
    DataRepositoryTask(stack, "Preload", file_system=lustre, type=IMPORT, paths=[link.data_repository_path])
    lustre.add_data_repository("Later", bucket=bucket, file_system_path="/later", prefix="later/")
    task = only(stack, TASK)
    assert task["Properties"]["Type"] == "IMPORT_METADATA_FROM_REPOSITORY"
    assert task["Properties"]["Paths"] == [stack.resolve(link.data_repository_path)]
    assert set(task["DependsOn"]) >= set(resources(stack, "AWS::FSx::DataRepositoryAssociation"))


def test_a_release_names_directories_days_and_a_report(stack: Stack) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")
    link = existing.add_data_repository(stack, "Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data")
    DataRepositoryTask(
        stack,
        "Release",
        file_system=existing,
        type=RELEASE,
        paths=["/data/old"],
        duration_since_last_access_days=30,
        report_path="s3://bucket/reports",
    )
    task = only(stack, TASK)
    expected = {"Paths": ["/data/old"], "DurationSinceLastAccessDays": 30, "ReportPath": "s3://bucket/reports"}
    assert task["Properties"].items() >= expected.items()
    assert stack.get_logical_id(link.resource) in task["DependsOn"]


def test_it_may_cancel_tasks_and_create_them_on_its_file_system(stack: Stack) -> None:
    task = DataRepositoryTask(stack, "Task", file_system=EXISTING, type=EXPORT)
    (policy,) = (policy for id, policy in resources(stack, "AWS::IAM::Policy").items() if id.startswith("TaskPolicy"))
    look, create, cancel = policy["Properties"]["PolicyDocument"]["Statement"]
    assert (look["Action"], look["Resource"]) == ("fsx:DescribeDataRepositoryTasks", "*")
    arn = ["arn:", {"Ref": "AWS::Partition"}, ":fsx:us-west-2:123456789012:"]
    places = [["", [*arn[:2], f"{arn[2]}{place}"]] for place in ("file-system/fs-01234567", "task/*")]
    assert [place["Fn::Join"] for place in create["Resource"]] == places
    assert (cancel["Action"], cancel["Resource"]["Fn::Join"]) == (["fsx:CancelDataRepositoryTask", "fsx:TagResource"], places[1])
    attributes = [stack.resolve(each)["Fn::GetAtt"][1] for each in (task.finished, task.task_id, task.message)]
    assert attributes == ["Finished", "TaskId", "Message"]
    assert "Paths" not in only(stack, TASK)["Properties"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"type": IMPORT, "paths": ["/data"]}, "paths holds '/data'; an import reads paths in S3; write s3://BUCKET/PREFIX"),
        ({"type": RELEASE, "paths": ["s3://bucket"]}, "paths holds 's3://bucket'; this task reads paths in the file system"),
        ({"type": EXPORT, "paths": ["/data"]}, 'an export takes paths relative to the mount point; write "data"'),
        ({"type": EXPORT, "paths": ["/"]}, "leave the paths out: then all is exported"),
        ({"type": EXPORT, "paths": ["a"] * 101}, "paths has 101 items; allowed: at most 100"),
        ({"type": EXPORT, "paths": [""]}, "paths is ''; allowed: 1 to 4096 characters without line ends"),
        ({"type": IMPORT, "duration_since_last_access_days": 3}, "is 3; it is for RELEASE_DATA_FROM_FILESYSTEM only, leave it out"),
        ({"type": RELEASE, "duration_since_last_access_days": -1}, "duration_since_last_access_days is -1; allowed: 0 or more"),
    ],
)
def test_fails_on_what_the_task_does_not_take(stack: Stack, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Task: ") as caught:
        DataRepositoryTask(stack, "Task", file_system=EXISTING, **parameters)
    assert message in str(caught.value)


def test_takes_tokens(stack: Stack) -> None:
    path = CfnParameter(stack, "Path").value_as_string
    DataRepositoryTask(stack, "Task", file_system=EXISTING, type=IMPORT, paths=[path])
    assert only(stack, TASK)["Properties"]["Paths"] == [{"Ref": "Path"}]


@pytest.mark.parametrize(("events", "errors"), [(None, 1), ((), 0)])
def test_fails_to_export_beside_automatic_export(
    app: App, stack: Stack, lustre: LustreStorage, events: tuple[()] | None, errors: int
) -> None:
    DataRepositoryTask(stack, "Export", file_system=lustre, type=EXPORT)
    more: dict[str, Any] = {} if events is None else {"auto_export_events": events}
    lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data", **more)
    found = Annotations.from_stack(stack).find_error("/Stack/Export", Match.any_value())
    assert len(found) == errors
    text = "Stack/Lustre/Data exports changes automatically, and FSx runs no export task beside that"
    assert all(text in str(each.entry.data) for each in found)


def test_types_are_those_of_the_service_for_file_systems() -> None:
    allowed = property_limit("fsx:CreateDataRepositoryTask/Type").choices
    assert {*map(str, DataRepositoryTaskType), "AUTO_RELEASE_DATA"} == set(allowed)
