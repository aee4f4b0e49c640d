from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.case_archive import Spool, writing
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, CLUSTER, NODES, node, run
from tests.cli.operate.test_events import NOW, event
from tests.docs.pages import ROOT

GROUP = "/aws/sagemaker/Clusters/trainer/abcde01234yz"
KINDS = {"lifecycle": "LifecycleConfig", "health": "SagemakerHealthMonitoringAgent", "deep-check": "DeepHealthCheckResults"}
SINCE = ("--since", "2026-11-23")
START = int(datetime(2026, 11, 23, tzinfo=UTC).timestamp() * 1000)
TEMPLATE = {
    "Resources": {
        "Database": {"Type": "AWS::RDS::DBInstance", "Properties": {"MasterUserPassword": "hunter2"}},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": {"Fn::ImportValue": "Net:Subnet"}}},
    }
}
OWNER = {
    "StackName": "Trainer",
    "LogicalResourceId": "Cluster",
    "PhysicalResourceId": ARN,
    "ResourceType": "AWS::SageMaker::Cluster",
    "ResourceStatus": "CREATE_COMPLETE",
    "Timestamp": NOW,
}
DENIED = "User: x is not authorized to perform: logs:FilterLogEvents on resource: arn:aws:logs:us-west-2:111122223333:log-group:*"


def log(account: StubbedTarget, kind: str, *messages: str) -> None:
    stream = f"{KINDS[kind]}/workers/i-00000000000000002"
    events = [
        {"eventId": str(number), "logStreamName": stream, "timestamp": START + number, "message": message}
        for number, message in enumerate(messages)
    ]
    asked = {"logGroupName": GROUP, "logStreamNamePrefix": f"{KINDS[kind]}/", "startTime": START}
    account.answer("logs", "filter_log_events", {"events": events}, **asked)


def described(account: StubbedTarget) -> None:
    """The cluster, a node and an event."""
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES[:1]})
    account.answer("sagemaker", "list_cluster_events", {"Events": [event(1)]})


def unowned(account: StubbedTarget) -> None:
    account.refuse("cloudformation", "describe_stack_resources", "ValidationError", f"Stack for {ARN} does not exist")


def export(*arguments: str) -> Result:
    return run("export-logs", "--cluster", "trainer", *SINCE, "--file", "case.tar.gz", *arguments)


def unpacked(path: Path = Path("case.tar.gz")) -> dict[str, str]:
    """The content of each member, by its name in the one folder."""
    with tarfile.open(path) as tar:
        assert {(member.name.split("/")[0], member.mode, member.uid) for member in tar} == {("trainer", 0o600, 0)}
        files = {member.name.partition("/")[2]: tar.extractfile(member) for member in tar}
        return {name: file.read().decode() for name, file in files.items() if file is not None}


def whole(account: StubbedTarget) -> None:
    """A failed node, an error, logs with a secret, and two stacks, one of which imports from the other."""
    failed = node(3, status="Failure", message="lifecycle script failed: password=hunter2")
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": [*NODES[:1], failed]})
    details = {"NodeDetails": {"InstanceId": failed["InstanceId"], "InstanceStatus": failed["InstanceStatus"]}}
    account.answer("sagemaker", "describe_cluster_node", details, ClusterName=ARN, NodeId=failed["InstanceId"])
    asked = {"ClusterName": ARN, "SortBy": "EventTime", "SortOrder": "Descending", "MaxResults": 100}
    error = event(7, "Error", "Scaling failed")
    events = {"Events": [error, event(8)]}
    account.answer("sagemaker", "list_cluster_events", events, **asked, EventTimeAfter=datetime(2026, 11, 23, tzinfo=UTC))
    account.answer("sagemaker", "describe_cluster_event", {"EventDetails": error}, ClusterName=ARN, EventId=error["EventId"])
    log(account, "lifecycle", "one\x1b[2J", "export AWS_SECRET_ACCESS_KEY=hunter2\nsecond line")
    log(account, "health", "healthy")
    log(account, "deep-check")
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [OWNER]}, PhysicalResourceId=ARN)
    account.answer("cloudformation", "get_template", {"TemplateBody": json.dumps(TEMPLATE)})
    export_of_network = {"Name": "Net:Subnet", "ExportingStackId": "arn:aws:cloudformation:us-west-2:111122223333:stack/Net/1"}
    account.answer("cloudformation", "list_exports", {"Exports": [export_of_network]})
    account.answer("cloudformation", "get_template", {"TemplateBody": "{}"})


def test_everything_of_a_case_without_its_secrets(account: StubbedTarget, workdir: Path) -> None:
    whole(account)
    result = export()
    assert result.exit_code == 0, result.output
    account.assert_all_asked()
    assert Path("case.tar.gz").stat().st_mode & 0o777 == 0o600
    files = unpacked()
    assert list(files) == [
        *("cluster.json", "nodes.jsonl", "node-details.jsonl", "events.jsonl", "event-details.jsonl"),
        *("logs/lifecycle.log", "logs/health.log", "logs/deep-check.log", "templates/Trainer.json", "templates/Net.json"),
        "manifest.json",
    ]
    assert not any("hunter2" in content or "\x1b" in content for content in files.values())
    stream = "LifecycleConfig/workers/i-00000000000000002"
    assert files["logs/lifecycle.log"] == (
        f"2026-11-23T00:00:00.000Z {stream} one\n"
        f"2026-11-23T00:00:00.001Z {stream} export AWS_SECRET_ACCESS_KEY=***\n    second line\n"
    )
    assert json.loads(files["templates/Trainer.json"])["Resources"]["Cluster"] == TEMPLATE["Resources"]["Cluster"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["masked"] == {"value with a secret's name": 4}
    assert manifest["missing"] == []
    assert {file["name"]: file["bytes"] for file in manifest["files"]} == {
        name: len(content) for name, content in files.items() if name != "manifest.json"
    }
    assert "Masked: 4 x value with a secret's name." in result.output


def test_the_page_shows_what_is_printed(account: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole(account)
    monkeypatch.setenv("COLUMNS", "100")
    output = export().output
    assert f"```text\n{output}```" in (ROOT / "docs/operate.md").read_text("utf-8"), output


def test_a_part_without_permission_is_named_and_the_others_are_there(account: StubbedTarget, workdir: Path) -> None:
    described(account)
    for _ in KINDS:
        account.refuse("logs", "filter_log_events", "AccessDeniedException", DENIED)
    unowned(account)
    result = export("-o", "json")
    assert result.exit_code == 3
    shown = json.loads(result.stdout)
    missing = {one["what"]: one["why"] for one in shown["missing"] if one["failed"]}
    assert missing.keys() == {f"logs/{kind}.log" for kind in KINDS}
    assert missing["logs/health.log"].startswith("logs:FilterLogEvents is not allowed; this statement grants it")
    assert "cluster.grants.read_logs(role)" in missing["logs/health.log"]
    assert json.loads(unpacked()["manifest.json"])["missing"] == shown["missing"]
    assert "nodes.jsonl" in unpacked()


def test_what_does_not_exist_is_no_failure(account: StubbedTarget, workdir: Path) -> None:
    account.answer("sagemaker", "describe_cluster", {key: CLUSTER[key] for key in CLUSTER if key != "NodeProvisioningMode"})
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": []})
    for kind in KINDS:
        log(account, kind)
    unowned(account)
    result = export()
    assert result.exit_code == 0
    assert "Not in it: events.jsonl: the service records events only for clusters" in result.output
    assert "Not in it: templates: no stack has the cluster" in result.output


def test_of_a_long_log_the_newest_lines_stay(account: StubbedTarget, workdir: Path) -> None:
    described(account)
    log(account, "lifecycle", *(f"{number} {'word ' * 2000}" for number in range(150)))
    log(account, "health")
    log(account, "deep-check")
    unowned(account)
    result = export("--max-mb", "1")
    lines = unpacked()["logs/lifecycle.log"].splitlines()
    assert 800_000 < sum(map(len, lines)) <= 1_000_000
    assert [int(line.split()[2]) for line in lines] == list(range(150 - len(lines), 150))
    assert f"Not in it: logs/lifecycle.log: {150 - len(lines)} older lines than the newest 1 MB (--max-mb)" in result.output


def test_fails_for_a_file_that_exists_before_anything_is_read(account: StubbedTarget, workdir: Path) -> None:
    Path("case.tar.gz").write_text("mine")
    result = export()
    assert result.exit_code == 1
    assert "case.tar.gz exists: name another file with --file, or replace it with --force" in result.output
    assert Path("case.tar.gz").read_text() == "mine"


def test_force_replaces_a_file(account: StubbedTarget, workdir: Path) -> None:
    Path("case.tar.gz").write_text("mine")
    described(account)
    for kind in KINDS:
        log(account, kind)
    unowned(account)
    assert export("--force").exit_code == 0
    assert "cluster.json" in unpacked()


def test_fails_without_the_directory(account: StubbedTarget, workdir: Path) -> None:
    result = run("export-logs", "--file", "missing/case.tar.gz")
    assert "there is no directory" in result.output


def test_an_interruption_leaves_nothing(account: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described(account)

    def interrupt(**request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(account.client("logs"), "filter_log_events", interrupt)
    result = export()
    assert result.exit_code == 130
    assert "interrupted; no archive was written" in result.stderr
    assert list(workdir.iterdir()) == []


def test_fails_for_a_cluster_whose_name_could_be_a_path(account: StubbedTarget, workdir: Path) -> None:
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, "ClusterName": "../../tmp/x"})
    result = run("export-logs", "--cluster", "trainer")
    assert result.exit_code == 1
    assert "which is no name of a cluster: nothing is written" in result.output
    assert list(workdir.iterdir()) == []


def test_a_stack_whose_name_could_be_a_path_gets_a_number(account: StubbedTarget, workdir: Path) -> None:
    described(account)
    for kind in KINDS:
        log(account, kind)
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [{**OWNER, "StackName": "../../x"}]})
    account.answer("cloudformation", "get_template", {"TemplateBody": "{}"})
    assert export().exit_code == 0
    assert "templates/stack-0.json" in unpacked()


def test_events_before_an_error_are_kept(account: StubbedTarget, workdir: Path) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": []})
    account.answer("sagemaker", "list_cluster_events", {"Events": [event(1)], "NextToken": "two"})
    account.refuse("sagemaker", "list_cluster_events", "ValidationException", "the token is too old")
    for kind in KINDS:
        log(account, kind)
    unowned(account)
    result = export()
    assert result.exit_code == 3
    assert "Could not be read: event-details.jsonl: the list is not complete" in result.output
    assert len(unpacked()["events.jsonl"].splitlines()) == 1
    assert "Could not be read: events.jsonl: An error occurred (ValidationException)" in result.output


def packed(path: Path, content: Mapping[str, str]) -> bytes:
    with writing(path, folder="trainer", seconds=1_700_000_000, replace=True) as archive:
        for name, text in content.items():
            with Spool(path.parent) as spool:
                spool.add(text)
                archive.add(name, spool)
    return path.read_bytes()


def test_the_same_content_is_the_same_archive(tmp_path: Path) -> None:
    content = {"cluster.json": "{}", "logs/health.log": "fine"}
    assert packed(tmp_path / "one.tar.gz", content) == packed(tmp_path / "two.tar.gz", content)


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "logs/../x.json", "logs/a/b.log", "x", "x.json/", "a\n.json", ""])
def test_fails_for_a_member_that_could_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a member"):
        packed(tmp_path / "case.tar.gz", {name: ""})
    assert list(tmp_path.iterdir()) == []


def _no_links(*arguments: Any) -> None:
    raise OSError(1, "Operation not permitted")


def test_a_file_system_without_links_takes_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "hardlink_to", _no_links)
    with writing(tmp_path / "case.tar.gz", folder="trainer", seconds=0, replace=False):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["case.tar.gz"]


def test_fails_for_a_file_that_another_made_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "case.tar.gz"
    with (
        pytest.raises(CliError, match="exists since a moment ago"),
        writing(path, folder="trainer", seconds=0, replace=False),
    ):
        path.write_text("theirs")
    assert path.read_text() == "theirs"
