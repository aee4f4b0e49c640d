"""Data repository tasks, root squash and logs of the embedded FSx."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import lustre, lustre_group
from tests.local.hyperpod_requests import checked
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
IMPORT, EXPORT, RELEASE = "IMPORT_METADATA_FROM_REPOSITORY", "EXPORT_TO_REPOSITORY", "RELEASE_DATA_FROM_FILESYSTEM"
DATA = "s3://sagemaker-scripts/v1"
NONE = {"Enabled": False}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(Fsx(cloud.faults, cloud.client, cloud.clock))


@pytest.fixture
def plain(cloud: Cloud, call: Call) -> str:
    """A file system."""
    identifier = str(call("CreateFileSystem", **lustre(cloud, lustre_group(cloud)))["FileSystem"]["FileSystemId"])
    cloud.clock.tick()
    return identifier


@pytest.fixture
def linked(cloud: Cloud, call: Call, plain: str) -> str:
    """A file system with a link that does not export."""
    call("CreateDataRepositoryAssociation", FileSystemId=plain, FileSystemPath="/data", DataRepositoryPath=DATA)
    cloud.clock.tick()
    return plain


def task(call: Call, identifier: str) -> dict[str, Any]:
    (found,) = call("DescribeDataRepositoryTasks", TaskIds=[identifier])["DataRepositoryTasks"]
    return dict(found)


def started(call: Call, file_system: str, kind: str = IMPORT, **more: Any) -> str:
    answer = call("CreateDataRepositoryTask", Type=kind, FileSystemId=file_system, Report=NONE, **more)
    return str(answer["DataRepositoryTask"]["TaskId"])


def test_a_task_waits_runs_and_succeeds_with_its_counts(cloud: Cloud, call: Call, linked: str) -> None:
    for name in "abc":
        cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key=f"v1/{name}", Body=b"")
    identifier = started(call, linked, Paths=[DATA], Tags=[{"Key": "a", "Value": "b"}])
    waiting = task(call, identifier)
    assert (waiting["Lifecycle"], waiting["Status"]["TotalCount"], waiting["Status"]["SucceededCount"]) == ("PENDING", 4, 0)
    assert waiting["Tags"] == [{"Key": "a", "Value": "b"}]
    assert waiting["ResourceARN"] == f"arn:aws:fsx:us-west-2:123456789012:task/{identifier}"
    cloud.clock.tick(1.5)
    running = task(call, identifier)
    assert (running["Lifecycle"], running["Status"]["SucceededCount"]) == ("EXECUTING", 2)
    cloud.clock.tick()
    ended = task(call, identifier)
    assert (ended["Lifecycle"], ended["Status"]["SucceededCount"]) == ("SUCCEEDED", 4)
    assert ended["StartTime"] < ended["EndTime"]


def test_a_path_outside_the_links_fails_the_task(cloud: Cloud, call: Call, linked: str) -> None:
    identifier = started(call, linked, Paths=["s3://sagemaker-scripts/v10"])
    cloud.clock.tick(1)
    cloud.clock.tick(1)
    found = task(call, identifier)
    assert (found["Lifecycle"], found["Status"]["FailedCount"]) == ("FAILED", 1)
    assert "is in no linked data repository: s3://sagemaker-scripts/v1/" in found["FailureDetails"]["Message"]


def test_a_token_makes_one_task(call: Call, linked: str) -> None:
    assert started(call, linked, ClientRequestToken="once") == started(call, linked, ClientRequestToken="once")
    with pytest.raises(AwsError, match="IncompatibleParameterError"):
        started(call, linked, ClientRequestToken="once", Paths=[DATA])


def test_a_canceled_task_lets_the_next_begin(cloud: Cloud, call: Call, linked: str) -> None:
    identifier = started(call, linked)
    with pytest.raises(AwsError, match=f"DataRepositoryTaskExecuting: {identifier}"):
        started(call, linked, RELEASE)
    with pytest.raises(AwsError, match=f"has the running data repository task {identifier}"):
        call("DeleteFileSystem", FileSystemId=linked)
    assert call("CancelDataRepositoryTask", TaskId=identifier)["Lifecycle"] == "CANCELING"
    cloud.clock.tick()
    assert task(call, identifier)["Lifecycle"] == "CANCELED"
    with pytest.raises(AwsError, match="DataRepositoryTaskEnded"):
        call("CancelDataRepositoryTask", TaskId=identifier)
    release = {"DurationSinceLastAccess": {"Unit": "DAYS", "Value": 3}}
    other = started(call, linked, RELEASE, Paths=["/data"], ReleaseConfiguration=release)
    wanted = [{"Name": "file-system-id", "Values": [linked]}, {"Name": "task-lifecycle", "Values": ["PENDING"]}]
    (found,) = call("DescribeDataRepositoryTasks", Filters=wanted)["DataRepositoryTasks"]
    assert (found["TaskId"], found["ReleaseConfiguration"]) == (other, release)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"Type": "AUTO_RELEASE_DATA"}, "UnsupportedOperation: AUTO_RELEASE_DATA is for Amazon File Cache"),
        ({"Paths": ["/data"]}, "Paths holds '/data'; an import reads paths in S3; write s3://"),
        ({"Type": RELEASE, "Paths": [DATA]}, "this task reads paths in the file system"),
        ({"Type": EXPORT, "Paths": ["/data"]}, 'takes paths relative to the mount point; write "data"'),
        ({"ReleaseConfiguration": {}}, "ReleaseConfiguration is for RELEASE_DATA_FROM_FILESYSTEM"),
        ({"Report": {"Enabled": True, "Path": DATA}}, "Report needs Format, Scope when it is Enabled"),
        (
            {"Report": {"Enabled": True, "Path": "s3://x/y", "Format": "REPORT_CSV_20191124", "Scope": "FAILED_FILES_ONLY"}},
            "Path s3://x/y of Report is not below a linked data repository",
        ),
        ({"FileSystemId": "fs-01234567"}, "FileSystemNotFound"),
    ],
)
def test_fails_to_start_a_task(call: Call, linked: str, members: dict[str, Any], message: str) -> None:
    with pytest.raises(AwsError) as caught:
        call("CreateDataRepositoryTask", **{"Type": IMPORT, "FileSystemId": linked, "Report": NONE} | members)
    assert message in str(caught.value)
    assert call("DescribeDataRepositoryTasks") == {"DataRepositoryTasks": []}


def test_fails_without_a_link_and_beside_automatic_export(cloud: Cloud, call: Call, plain: str) -> None:
    with pytest.raises(AwsError, match=r"UnsupportedOperation: .* is not linked to a data repository"):
        started(call, plain)
    export = {"AutoExportPolicy": {"Events": ["NEW"]}}
    call("CreateDataRepositoryAssociation", FileSystemId=plain, FileSystemPath="/d", DataRepositoryPath=DATA, S3=export)
    cloud.clock.tick()
    with pytest.raises(AwsError, match="exports changes automatically, and FSx runs no export task beside that"):
        started(call, plain, EXPORT)


def test_tasks_have_tags_of_their_own(call: Call, linked: str) -> None:
    arn = task(call, started(call, linked))["ResourceARN"]
    call("TagResource", ResourceARN=arn, Tags=[{"Key": "a", "Value": "1"}])
    assert call("ListTagsForResource", ResourceARN=arn)["Tags"] == [{"Key": "a", "Value": "1"}]


def described(call: Call, identifier: str) -> dict[str, Any]:
    found: dict[str, Any] = call("DescribeFileSystems", FileSystemIds=[identifier])["FileSystems"][0]
    return found


def test_a_root_squash_holds_when_its_update_ends(cloud: Cloud, call: Call, plain: str) -> None:
    squash = {"RootSquash": "65534:65534", "NoSquashNids": ["10.0.1.6@tcp"]}
    call("UpdateFileSystem", FileSystemId=plain, LustreConfiguration={"RootSquashConfiguration": squash})
    during = described(call, plain)
    assert during["Lifecycle"] == "UPDATING"
    assert "RootSquashConfiguration" not in during["LustreConfiguration"]
    (action,) = during["AdministrativeActions"]
    assert (action["AdministrativeActionType"], action["Status"]) == ("FILE_SYSTEM_UPDATE", "IN_PROGRESS")
    assert action["TargetFileSystemValues"] == {"LustreConfiguration": {"RootSquashConfiguration": squash}}
    cloud.clock.tick()
    after = described(call, plain)
    assert after["LustreConfiguration"]["RootSquashConfiguration"] == squash
    assert [action["Status"] for action in after["AdministrativeActions"]] == ["COMPLETED"]


@pytest.mark.parametrize("ids", ["65534", "0:1", "1:0", "4294967295:1", "a:b", "-1:-1"])
def test_fails_on_ids_that_are_none(call: Call, plain: str, ids: str) -> None:
    with pytest.raises(AwsError, match="BadRequest: RootSquash is "):
        call("UpdateFileSystem", FileSystemId=plain, LustreConfiguration={"RootSquashConfiguration": {"RootSquash": ids}})
    assert described(call, plain)["Lifecycle"] == "AVAILABLE"


HOME = "arn:aws:logs:us-west-2:123456789012:log-group:"


@pytest.mark.parametrize(
    ("group", "level", "message"),
    [
        ("/aws/fsx/none", "WARN_ERROR", "the log group /aws/fsx/none does not exist"),
        ("/aws/fsx", "WARN_ERROR", "the log group /aws/fsx does not exist"),
        ("/other", "WARN_ERROR", "whose name does not begin with /aws/fsx"),
        ("/aws/fsx/there", "DISABLED", "Destination is beside the level DISABLED, which takes none"),
    ],
)
def test_fails_on_logs_that_lead_nowhere(cloud: Cloud, call: Call, plain: str, group: str, level: str, message: str) -> None:
    cloud.client("logs").create_log_group(logGroupName="/aws/fsx/there")
    configuration = {"LogConfiguration": {"Level": level, "Destination": f"{HOME}{group}"}}
    with pytest.raises(AwsError, match="BadRequest") as caught:
        call("UpdateFileSystem", FileSystemId=plain, LustreConfiguration=configuration)
    assert message in str(caught.value)


def test_logs_of_another_account_are_refused_and_own_ones_taken(cloud: Cloud, call: Call, plain: str) -> None:
    cloud.client("logs").create_log_group(logGroupName="/aws/fsx/there")

    def log_to(arn: str) -> None:
        configuration = {"LogConfiguration": {"Level": "WARN_ONLY", "Destination": arn}}
        call("UpdateFileSystem", FileSystemId=plain, LustreConfiguration=configuration)

    with pytest.raises(AwsError, match="allowed are log groups of this account and region"):
        log_to(f"{HOME}/aws/fsx/there".replace("123456789012", "210987654321"))
    log_to(f"{HOME}/aws/fsx/there:*")
    assert described(call, plain)["LustreConfiguration"]["LogConfiguration"]["Level"] == "WARN_ONLY"
