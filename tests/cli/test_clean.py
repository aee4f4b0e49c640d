from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.kept import KINDS
from hyperpod_constructs.cli.leftover_kinds import CLEANING, size
from hyperpod_constructs.cli.target import AwsAccount
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, event, skipped, stack_id, write_assembly
from tests.docs.pages import ROOT

GONE = datetime.now(UTC) - timedelta(days=3, hours=4)
FOUNDATION = stack_id("HyperPod-Foundation")
TAGS = [{"Key": "aws:cloudformation:stack-id", "Value": FOUNDATION}]
BUCKET = ("Data", "AWS::S3::Bucket", "data-bucket")
LUSTRE = ("Lustre", "AWS::FSx::FileSystem", "fs-0123456789")
TRAFFIC = ("Traffic", "AWS::Logs::LogGroup", "/rejected")
GROUP = ("Group", "AWS::EC2::SecurityGroup", "sg-1")
KEY = ("Key", "AWS::KMS::Key", "1234abcd-12ab-34cd-56ef-1234567890ab")
LUSTRE_PROPERTIES = {
    "FileSystemType": "LUSTRE",
    "StorageCapacity": 1200,
    "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
}
Thing = tuple[str, str, str]


@pytest.fixture
def account(target: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> StubbedTarget:
    """The caller's account, to which the app was deployed once, and which answers only what a test gives."""
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: target)
    monkeypatch.setattr("hyperpod_constructs.cli.clean.LOOK_SECONDS", 0.0)
    write_assembly(workdir / "build/aws/cdk.out")
    return target


def clean(*arguments: str, answers: str | None = None) -> Result:
    return CliRunner().invoke(app, ["clean", "--target", "aws", *arguments], input=answers)


def rows(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def destroyed(account: StubbedTarget, *things: Thing, events: list[dict[str, Any]] | None = None) -> None:
    """The foundation is gone, and has kept these; a stack of somebody else is gone too."""
    summaries = [
        {"StackId": id, "StackName": id.split("/")[1], "StackStatus": status, "CreationTime": GONE, "DeletionTime": GONE}
        for id, status in (
            (FOUNDATION, "DELETE_COMPLETE"),
            (stack_id("Theirs"), "DELETE_COMPLETE"),
            (stack_id("HyperPod-Cluster"), "CREATE_COMPLETE"),
        )
    ]
    account.answer("cloudformation", "list_stacks", {"StackSummaries": summaries})
    told = [*(skipped(*thing) for thing in things), *(events or ())]
    account.answer("cloudformation", "describe_stack_events", {"StackEvents": told}, StackName=FOUNDATION)


def template(account: StubbedTarget, *things: Thing) -> None:
    properties = {LUSTRE[0]: LUSTRE_PROPERTIES}
    resources = {
        name: {"Type": type, "DeletionPolicy": "Retain", "Properties": properties.get(name, {})} for name, type, _ in things
    }
    body = json.dumps({"Resources": resources})
    account.answer("cloudformation", "get_template", {"TemplateBody": body}, StackName=FOUNDATION, TemplateStage="Original")


def unowned(account: StubbedTarget, id: str) -> None:
    account.refuse("cloudformation", "describe_stack_resources", "ValidationError", f"Stack for {id} does not exist")


def free(account: StubbedTarget, *things: Thing) -> None:
    """Neither a stack nor a cluster has them. The template is asked for once, after the first."""
    no_cluster(account)
    for number, thing in enumerate(things):
        unowned(account, thing[2])
        if number == 0:
            template(account, *things)


def no_cluster(account: StubbedTarget) -> None:
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": []})


def bucket(account: StubbedTarget, versions: int = 0, tags: list[dict[str, str]] = TAGS) -> None:
    account.answer("s3", "head_bucket", {}, Bucket="data-bucket")
    account.answer("s3", "get_bucket_tagging", {"TagSet": tags}, Bucket="data-bucket")
    contents(account, versions)


def contents(account: StubbedTarget, versions: int, *, first: int = 0) -> None:
    listed = [{"Key": f"step/{number}", "VersionId": "one"} for number in range(first, first + versions)]
    account.answer("s3", "list_object_versions", {"Versions": listed}, Bucket="data-bucket", MaxKeys=1000)


def lustre(account: StubbedTarget, used: float | None = 312e9) -> None:
    described = {"FileSystemId": LUSTRE[2], "FileSystemType": "LUSTRE", "StorageCapacity": 1200, "Tags": TAGS}
    account.answer("fsx", "describe_file_systems", {"FileSystems": [described]}, FileSystemIds=[LUSTRE[2]])
    points = [] if used is None else [{"Timestamp": GONE, "Sum": 1.0}, {"Timestamp": datetime.now(UTC), "Sum": used}]
    account.answer("cloudwatch", "get_metric_statistics", {"Datapoints": points})


def log_group(account: StubbedTarget) -> None:
    group = {"logGroupName": "/rejected", "arn": "arn:aws:logs:us-west-2:111122223333:log-group:/rejected:*", "storedBytes": 16_000}
    longer = {"logGroupName": "/rejected-by-others"}
    account.answer("logs", "describe_log_groups", {"logGroups": [longer, group]}, logGroupNamePrefix="/rejected")
    tags = {"tags": {"aws:cloudformation:stack-id": FOUNDATION}}
    arn = "arn:aws:logs:us-west-2:111122223333:log-group:/rejected"
    account.answer("logs", "list_tags_for_resource", tags, resourceArn=arn)


def security_group(account: StubbedTarget, interfaces: int = 0) -> None:
    account.answer("ec2", "describe_security_groups", {"SecurityGroups": [{"GroupId": "sg-1", "Tags": TAGS}]}, GroupIds=["sg-1"])
    faces = [{"NetworkInterfaceId": f"eni-{number}", "Description": "FSx\x1b[2J"} for number in range(interfaces)]
    asked = {"Filters": [{"Name": "group-id", "Values": ["sg-1"]}]}
    account.answer("ec2", "describe_network_interfaces", {"NetworkInterfaces": faces}, **asked)


def all_of_it(account: StubbedTarget) -> None:
    """A file system with data, a bucket with an object, a log group and a security group, each as it is listed."""
    things = (LUSTRE, BUCKET, TRAFFIC, GROUP)
    destroyed(account, *things)
    lustre(account)
    bucket(account, 1)
    log_group(account)
    security_group(account, 1)
    free(account, *things)


def test_the_list_says_what_it_is_why_it_stayed_and_what_it_costs(account: StubbedTarget) -> None:
    all_of_it(account)
    result = clean("-o", "json")
    account.assert_all_asked()
    assert result.exit_code == 0
    found = rows(result)
    assert [(row["kind"], row["id"], row["holds"], row["usd_per_month"]) for row in found] == [
        ("file system", "fs-0123456789", "312.0 GB in 1200 GiB", 174.0),
        ("bucket", "data-bucket", "1 version of objects", None),
        ("log group", "/rejected", "16.0 KB of logs", None),
        ("security group", "sg-1", None, 0),
    ]
    assert {row["reason"] for row in found} == {
        f"DeletionPolicy Retain of {name}" for name in ("Lustre", "Data", "Traffic", "Group")
    }
    assert found[0]["age_seconds"] // 3600 == 76
    assert [row["note"] for row in found] == [
        "holds 312.0 GB in 1200 GiB: add --with-data",
        "holds 1 version of objects: add --with-data",
        None,
        "in use by 1 network interface (FSx)",
    ]


def test_a_table_ends_with_what_it_costs_together(account: StubbedTarget) -> None:
    all_of_it(account)
    output = clean().output
    assert "Together 174.00 USD a month, and what has no known price (-)." in output
    assert "fs-0123456789: holds 312.0 GB in 1200 GiB: add --with-data" in output


def test_the_page_shows_what_is_printed(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of_it(account)
    monkeypatch.setenv("COLUMNS", "100")
    output = clean().stdout
    assert f"```text\n{output}```" in (ROOT / "docs/operate.md").read_text("utf-8"), output


def test_a_pipe_deletes_nothing(account: StubbedTarget) -> None:
    all_of_it(account)
    result = clean(answers="y\ny\ny\ny\n")
    assert result.exit_code == 0
    assert "Nobody is there to ask, so nothing was deleted" in result.stderr
    account.assert_all_asked()


def test_a_named_kind_without_yes_deletes_nothing_in_a_pipe(account: StubbedTarget) -> None:
    all_of_it(account)
    result = clean("--delete", "log-groups", answers="y\n")
    assert result.exit_code == 1
    assert "nobody is there to ask: add --yes" in result.output


def test_yes_needs_the_kinds(account: StubbedTarget) -> None:
    result = clean("--yes")
    assert result.exit_code == 1
    assert "--yes needs the kinds to delete: add --delete, with one of file-systems, databases, buckets" in result.output


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperpod_constructs.cli.clean.somebody_is_there", lambda: True)


@pytest.mark.usefixtures("somebody")
def test_each_kind_is_asked_for(account: StubbedTarget) -> None:
    all_of_it(account)
    log_group(account)
    account.answer("logs", "delete_log_group", {}, logGroupName="/rejected")
    result = clean("--with-data", answers="n\nn\ny\nn\n")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert "Delete 1 of file systems for good, with the data, 174.00 USD a month? [y/N]: n" in result.output
    assert "Delete 1 of buckets for good, with the data? [y/N]: n" in result.output
    assert "Delete 1 of log groups for good? [y/N]: y" in result.output
    assert "Delete 1 of networks for good? [y/N]: n" in result.output
    assert "log group  /rejected  deleted  -" in result.output


@pytest.mark.usefixtures("somebody")
def test_data_is_not_asked_for_without_the_option(account: StubbedTarget) -> None:
    all_of_it(account)
    result = clean(answers="n\nn\n")
    assert result.exit_code == 1
    assert "Delete 1 of file systems" not in result.output
    assert "Delete 1 of buckets" not in result.output
    assert "nothing was deleted" in result.output


def test_what_holds_data_is_refused_without_the_option(account: StubbedTarget) -> None:
    things = (LUSTRE, BUCKET, TRAFFIC)
    destroyed(account, *things)
    for _ in range(2):
        lustre(account)
        bucket(account, 1)
        log_group(account)
    free(account, *things)
    account.answer("logs", "delete_log_group", {})
    result = clean("--delete", "file-systems", "--delete", "buckets", "--delete", "log-groups", "--yes", "-o", "json")
    account.assert_all_asked()
    assert result.exit_code == 3
    assert [row["result"] for row in rows(result)] == ["refused", "refused", "deleted"]


def test_a_bucket_is_emptied_page_by_page(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    bucket(account, 3)
    free(account, BUCKET)
    bucket(account, 3)
    for first in (0, 2):
        contents(account, 2, first=first)
        objects = [{"Key": f"step/{number}", "VersionId": "one"} for number in range(first, first + 2)]
        account.answer("s3", "delete_objects", {}, Bucket="data-bucket", Delete={"Objects": objects, "Quiet": True})
    contents(account, 0)
    account.answer("s3", "delete_bucket", {}, Bucket="data-bucket")
    result = clean("--delete", "buckets", "--yes", "--with-data", "-o", "json")
    account.assert_all_asked()
    assert (result.exit_code, rows(result)[0]["result"]) == (0, "deleted")


def test_a_bucket_whose_objects_stay_is_not_deleted(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    bucket(account, 1)
    free(account, BUCKET)
    bucket(account, 1)
    contents(account, 1)
    account.answer("s3", "delete_objects", {"Errors": [{"Key": "step/0", "Code": "AccessDenied", "Message": "locked"}]})
    result = clean("--delete", "buckets", "--yes", "--with-data", "-o", "json")
    assert result.exit_code == 1
    assert rows(result)[0]["note"] == "AccessDenied: locked: step/0"


def test_a_network_waits_for_its_file_system(account: StubbedTarget) -> None:
    things = (LUSTRE, GROUP)
    destroyed(account, *things)
    lustre(account)
    security_group(account, 1)
    free(account, *things)
    lustre(account)
    account.answer("fsx", "delete_file_system", {}, FileSystemId=LUSTRE[2])
    account.answer("fsx", "describe_file_systems", {"FileSystems": [{"Lifecycle": "DELETING"}]}, FileSystemIds=[LUSTRE[2]])
    account.refuse("fsx", "describe_file_systems", "FileSystemNotFound", "gone")
    security_group(account)
    account.answer("ec2", "delete_security_group", {}, GroupId="sg-1")
    result = clean("--delete", "networks", "--delete", "file-systems", "--with-data", "--yes", "-o", "json")
    account.assert_all_asked()
    assert [row["result"] for row in rows(result)] == ["deleted", "deleted"]


def test_a_network_in_use_is_refused(account: StubbedTarget) -> None:
    destroyed(account, GROUP)
    security_group(account, 2)
    free(account, GROUP)
    security_group(account, 2)
    result = clean("--delete", "networks", "--yes", "-o", "json")
    account.assert_all_asked()
    assert result.exit_code == 1
    assert rows(result)[0]["note"] == "in use by 2 network interfaces (FSx)"


def test_what_has_no_tag_of_the_stack_is_never_deleted(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    account.answer("s3", "head_bucket", {})
    account.refuse("s3", "get_bucket_tagging", "NoSuchTagSet", "none")
    contents(account, 0)
    free(account, BUCKET)
    result = clean("--delete", "buckets", "--yes", "--with-data", "-o", "json")
    assert result.exit_code == 1
    assert (rows(result)[0]["result"], rows(result)[0]["note"]) == (
        "refused",
        "it has no tag of that stack, so it may be somebody else's",
    )


def test_what_another_stack_tagged_is_not_left_behind(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    bucket(account, tags=[{"Key": "aws:cloudformation:stack-id", "Value": stack_id("Theirs")}])
    result = clean("--delete", "buckets", "--yes", "--with-data")
    account.assert_all_asked()
    assert (result.exit_code, result.output) == (0, "Nothing is left behind.\n")


def test_what_a_living_stack_has_is_not_left_behind(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    bucket(account)
    resource = {"StackName": "New", "LogicalResourceId": "Data", "PhysicalResourceId": "data-bucket"}
    kind = {"ResourceType": "AWS::S3::Bucket", "ResourceStatus": "IMPORT_COMPLETE", "Timestamp": GONE}
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [resource | kind]})
    result = clean("--delete", "buckets", "--yes")
    account.assert_all_asked()
    assert (result.exit_code, result.output) == (0, "Nothing is left behind.\n")


def test_the_log_of_a_living_function_is_not_left_behind(account: StubbedTarget) -> None:
    made = {**event("1", "Code", "DELETE_COMPLETE"), "PhysicalResourceId": "code", "ResourceType": "AWS::Lambda::Function"}
    destroyed(account, events=[made])
    group = {"logGroupName": "/aws/lambda/code", "creationTime": 0}
    account.answer("logs", "describe_log_groups", {"logGroups": [group]}, logGroupNamePrefix="/aws/lambda/code")
    resource = {"StackName": "New", "LogicalResourceId": "Code", "PhysicalResourceId": "code"}
    kind = {"ResourceType": "AWS::Lambda::Function", "ResourceStatus": "CREATE_COMPLETE", "Timestamp": GONE}
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [resource | kind]})
    assert clean().output == "Nothing is left behind.\n"


def test_what_a_living_cluster_uses_is_never_deleted(account: StubbedTarget) -> None:
    destroyed(account, LUSTRE)
    lustre(account, 0.0)
    unowned(account, LUSTRE[2])
    template(account, LUSTRE)
    summary = {"ClusterArn": ARN, "ClusterName": "later", "ClusterStatus": "InService", "CreationTime": GONE}
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary]})
    mounted = {"FsxLustreConfig": {"DnsName": "fs-0123456789.fsx.us-west-2.amazonaws.com", "MountName": "abcd"}}
    group = {"InstanceGroupName": "workers", "InstanceStorageConfigs": [mounted]}
    account.answer("sagemaker", "describe_cluster", {"ClusterArn": ARN, "ClusterStatus": "InService", "InstanceGroups": [group]})
    result = clean("--delete", "file-systems", "--yes", "-o", "json")
    assert (rows(result)[0]["result"], rows(result)[0]["note"]) == ("refused", "the cluster later uses it")


@pytest.mark.parametrize(("late", "note"), [(False, None), (True, "it was made when the stack was gone")])
def test_logs_that_services_made_are_left_behind(account: StubbedTarget, late: bool, note: str | None) -> None:
    cluster = {**event("1", "Cluster", "DELETE_COMPLETE"), "PhysicalResourceId": ARN}
    destroyed(account, events=[cluster])
    created = int((GONE + timedelta(hours=2 if late else -2)).timestamp() * 1000)
    name = "/aws/sagemaker/Clusters/demo/abc123def456"
    group = {"logGroupName": name, "arn": f"arn:aws:logs:us-west-2:111122223333:log-group:{name}:*", "creationTime": created}
    account.answer("logs", "describe_log_groups", {"logGroups": [group]}, logGroupNamePrefix="/aws/sagemaker/Clusters/")
    no_cluster(account)
    (found,) = rows(clean("-o", "json"))
    assert (found["id"], found["stack"], found["reason"]) == (name, "HyperPod-Foundation", "a service made it, and no stack has it")
    assert (found["note"] or "").startswith(note or "")
    assert (found["note"] is None) == (note is None)


def test_a_missing_permission_is_named_and_hides_nothing_else(account: StubbedTarget) -> None:
    destroyed(account, BUCKET, GROUP)
    denied = "User: x is not authorized to perform: s3:GetBucketTagging on resource: arn:aws:s3:::data-bucket"
    account.answer("s3", "head_bucket", {})
    account.refuse("s3", "get_bucket_tagging", "AccessDenied", denied)
    security_group(account)
    template(account, BUCKET, GROUP)
    unowned(account, GROUP[2])
    no_cluster(account)
    first, second = rows(clean("-o", "json"))
    assert first["note"].startswith("it cannot be looked at: s3:GetBucketTagging is not allowed; this statement grants it: {")
    assert second["note"] is None


def test_what_is_gone_is_not_left_behind(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    account.refuse("s3", "head_bucket", "404", "Not Found")
    assert clean().output == "Nothing is left behind.\n"


def test_a_log_group_is_gone_although_another_begins_with_its_name(account: StubbedTarget) -> None:
    destroyed(account, TRAFFIC)
    longer = {"logGroupName": "/rejected-by-others"}
    account.answer("logs", "describe_log_groups", {"logGroups": [longer]}, logGroupNamePrefix="/rejected")
    assert clean().output == "Nothing is left behind.\n"


def interrupted(*arguments: Any, **request: Any) -> None:
    raise KeyboardInterrupt


def test_an_interruption_says_what_was_deleted(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    things = (BUCKET, TRAFFIC, GROUP)
    destroyed(account, *things)
    for _ in range(2):
        bucket(account)
        log_group(account)
    security_group(account)
    free(account, *things)
    account.answer("s3", "delete_bucket", {})
    monkeypatch.setattr(account.client("logs"), "delete_log_group", interrupted)
    result = clean("--delete", "buckets", "--delete", "log-groups", "--delete", "networks", "--yes", "-o", "json")
    assert result.exit_code == 130
    assert "interrupted: 1 of 3 were deleted" in result.stderr
    assert [row["result"] for row in rows(result)] == ["deleted", "perhaps deleted", "not asked for"]


def test_an_interrupted_table_does_not_say_that_nothing_was_changed(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    destroyed(account, GROUP)
    for _ in range(2):
        security_group(account)
    free(account, GROUP)
    account.answer("ec2", "delete_security_group", {})
    monkeypatch.setattr("hyperpod_constructs.cli.clean.show", interrupted)
    result = clean("--delete", "networks", "--yes", "-o", "json")
    assert result.exit_code == 130
    assert "interrupted; what was asked for goes on: hyperpod clean lists what is left" in result.stderr


def test_after_a_lost_answer_a_thing_is_perhaps_deleted(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    destroyed(account, TRAFFIC, GROUP)
    for _ in range(2):
        log_group(account)
        security_group(account)
    free(account, TRAFFIC, GROUP)
    asked = []

    def lost(**request: Any) -> None:
        asked.append(request)
        raise ReadTimeoutError(endpoint_url="https://logs.us-west-2.amazonaws.com/")

    monkeypatch.setattr(account.client("logs"), "delete_log_group", lost)
    account.answer("ec2", "delete_security_group", {})
    result = clean("--delete", "log-groups", "--delete", "networks", "--yes", "-o", "json")
    assert (result.exit_code, len(asked)) == (3, 1)
    assert [row["result"] for row in rows(result)] == ["perhaps deleted", "deleted"]
    assert "timeout" in rows(result)[0]["note"]


def test_a_bucket_that_was_emptied_and_stays_says_so(account: StubbedTarget) -> None:
    destroyed(account, BUCKET)
    bucket(account, 1)
    free(account, BUCKET)
    bucket(account, 1)
    contents(account, 1)
    account.answer("s3", "delete_objects", {})
    contents(account, 0)
    account.refuse("s3", "delete_bucket", "BucketNotEmpty", "somebody writes to it")
    result = clean("--delete", "buckets", "--yes", "--with-data", "-o", "json")
    assert (result.exit_code, rows(result)[0]["result"]) == (1, "refused")
    assert rows(result)[0]["note"].startswith("its data is deleted, and then: An error occurred (BucketNotEmpty)")


def test_a_wait_that_fails_hides_no_result(account: StubbedTarget) -> None:
    destroyed(account, LUSTRE, GROUP)
    lustre(account)
    security_group(account)
    free(account, LUSTRE, GROUP)
    lustre(account)
    account.answer("fsx", "delete_file_system", {})
    account.refuse("fsx", "describe_file_systems", "AccessDeniedException", "no more")
    security_group(account, 1)
    result = clean("--delete", "networks", "--delete", "file-systems", "--with-data", "--yes", "-o", "json")
    assert result.exit_code == 3
    assert [row["result"] for row in rows(result)] == ["deleting", "refused"]


def test_fails_for_a_stack_that_was_not_destroyed(account: StubbedTarget) -> None:
    summary = {"StackId": stack_id("Theirs"), "StackName": "Theirs", "StackStatus": "DELETE_COMPLETE", "CreationTime": GONE}
    account.answer("cloudformation", "list_stacks", {"StackSummaries": [summary]})
    result = clean("--stack", "Ours")
    assert result.exit_code == 1
    assert "no stack named Ours was destroyed in the last 90 days; destroyed were Theirs (name one with --stack)" in result.output


def test_fails_without_a_deployment_and_without_a_name(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert "name the destroyed stacks with --stack" in clean().output


def test_every_type_that_destroy_lists_can_be_cleaned() -> None:
    assert list(CLEANING) == list(KINDS)


def _key(account: StubbedTarget) -> None:
    account.answer("kms", "describe_key", {"KeyMetadata": {"KeyId": KEY[2], "KeyState": "Enabled"}}, KeyId=KEY[2])
    account.answer("kms", "list_resource_tags", {"Tags": [], "Truncated": False}, KeyId=KEY[2])


def _secret(account: StubbedTarget) -> None:
    account.answer("secretsmanager", "describe_secret", {"Name": "db", "Tags": TAGS}, SecretId="db")


def _instance(account: StubbedTarget) -> None:
    described = {"DBInstanceIdentifier": "db", "AllocatedStorage": 100, "TagList": TAGS}
    account.answer("rds", "describe_db_instances", {"DBInstances": [described]}, DBInstanceIdentifier="db")


def _cluster(account: StubbedTarget) -> None:
    described = {"DBClusterIdentifier": "db", "AllocatedStorage": 1, "TagList": TAGS}
    account.answer("rds", "describe_db_clusters", {"DBClusters": [described]}, DBClusterIdentifier="db")


def _subnet(account: StubbedTarget) -> None:
    account.answer("ec2", "describe_subnets", {"Subnets": [{"Tags": TAGS}]}, SubnetIds=["subnet-1"])
    account.answer("ec2", "describe_network_interfaces", {"NetworkInterfaces": []})


def _vpc(account: StubbedTarget) -> None:
    account.answer("ec2", "describe_vpcs", {"Vpcs": [{"Tags": TAGS}]}, VpcIds=["vpc-1"])
    account.answer("ec2", "describe_network_interfaces", {"NetworkInterfaces": []})


@pytest.mark.parametrize(
    ("thing", "look", "call", "asked", "done"),
    [
        (KEY, _key, ("kms", "schedule_key_deletion"), {"KeyId": KEY[2], "PendingWindowInDays": 30}, "deleted in 30 days"),
        (
            ("Secret", "AWS::SecretsManager::Secret", "db"),
            _secret,
            ("secretsmanager", "delete_secret"),
            {"SecretId": "db", "RecoveryWindowInDays": 30},
            "deleted in 30 days",
        ),
        (
            ("Db", "AWS::RDS::DBInstance", "db"),
            _instance,
            ("rds", "delete_db_instance"),
            {"DBInstanceIdentifier": "db", "SkipFinalSnapshot": True},
            "deleting",
        ),
        (
            ("Db", "AWS::RDS::DBCluster", "db"),
            _cluster,
            ("rds", "delete_db_cluster"),
            {"DBClusterIdentifier": "db", "SkipFinalSnapshot": True},
            "deleting",
        ),
        (("Net", "AWS::EC2::Subnet", "subnet-1"), _subnet, ("ec2", "delete_subnet"), {"SubnetId": "subnet-1"}, "deleted"),
        (("Vpc", "AWS::EC2::VPC", "vpc-1"), _vpc, ("ec2", "delete_vpc"), {"VpcId": "vpc-1"}, "deleted"),
    ],
)
def test_each_type_is_deleted_by_its_call(
    account: StubbedTarget,
    thing: Thing,
    look: Callable[[StubbedTarget], None],
    call: tuple[str, str],
    asked: dict[str, Any],
    done: str,
) -> None:
    destroyed(account, thing)
    look(account)
    free(account, thing)
    look(account)
    account.answer(*call, {}, **asked)
    family = CLEANING[thing[1]].family.value
    result = clean("--delete", family, "--with-data", "--yes", "-o", "json")
    account.assert_all_asked()
    assert (result.exit_code, rows(result)[0]["result"]) == (0, done)


def test_sizes() -> None:
    assert [size(count) for count in (0, 999, 16_000, 312e9, 5e15)] == ["0 bytes", "999 bytes", "16.0 KB", "312.0 GB", "5000.0 TB"]
