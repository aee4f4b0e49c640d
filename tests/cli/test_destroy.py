from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli import destroy as module
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.kept import history, service_logs
from hyperpod_constructs.cli.last_deployment import record
from hyperpod_constructs.cli.target import AwsAccount, TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, answer_history, answer_stack, event, refuse_stack, skipped, stack_id, write_assembly

FOUNDATION_NAME = "HyperPod-Foundation"
FOUNDATION = [
    ("Data", "AWS::S3::Bucket", "data-bucket"),
    ("Lustre", "AWS::FSx::FileSystem", "fs-0123456789"),
    ("Route", "AWS::EC2::Route", "route-1"),
    ("Subnet", "AWS::EC2::Subnet", "subnet-1"),
]
CLUSTER_TEMPLATE = '{"Resources": {"Cluster": {"Type": "AWS::SageMaker::Cluster"}}}'
LOG_GROUP = "/aws/sagemaker/Clusters/sagemaker-demo-cluster/abc123def456"


class Cdk:
    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.code = 0

    def run(self, arguments: Sequence[str], target: Any) -> int:
        self.calls.append(list(arguments))
        return self.code


@pytest.fixture
def cdk(workdir: Path, target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> Cdk:
    for name in ("aws", "local"):
        write_assembly(workdir / "build" / name / "cdk.out")
    fake = Cdk()
    monkeypatch.setattr(module, "run", fake.run)
    monkeypatch.setattr(module, "check_cli", lambda: None)
    monkeypatch.setattr(module, "running_embedded_aws", lambda: target)
    monkeypatch.setattr(AwsAccount, "of_caller", lambda: target)
    return fake


def _answer_stacks(target: StubbedTarget, *, protected: bool = False) -> None:
    kept = ("Data", "Lustre", "Route")
    answer_stack(target, "HyperPod-Foundation", FOUNDATION, kept=kept, protected=protected)
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])


def _answer_logs(target: StubbedTarget) -> None:
    """The clusters' log groups, with one of a cluster of someone else."""
    answer = {"logGroups": [{"logGroupName": LOG_GROUP}, {"logGroupName": "/aws/sagemaker/Clusters/other/0123456789ab"}]}
    target.answer("logs", "describe_log_groups", answer, logGroupNamePrefix="/aws/sagemaker/Clusters/")


def _answer_cluster_history(target: StubbedTarget) -> None:
    created = {**event("1", "Cluster", "CREATE_COMPLETE"), "PhysicalResourceId": ARN}
    answer_history(target, (stack_id("HyperPod-Cluster"), [created]))
    _answer_logs(target)


def _answer_marks(target: StubbedTarget, stacks: int = 1) -> None:
    for _ in range(stacks):
        target.answer("cloudformation", "describe_stack_events", {"StackEvents": []})


def _destroy(where: TargetName, stack: str | None = None, *, yes: bool = False) -> None:
    module.destroy(where, App(), stack=stack, yes=yes)


def test_takes_the_cluster_down_and_lists_what_stays(target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]) -> None:
    _answer_stacks(target)
    _answer_marks(target)
    _answer_cluster_history(target)
    _destroy(TargetName.LOCAL)
    assert cdk.calls == [["destroy", "Cluster", "--force", "--app", "build/local/cdk.out"]]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["file", "system", "fs-0123456789", "HyperPod-Foundation"] in lines
    assert ["bucket", "data-bucket", "HyperPod-Foundation"] in lines
    assert ["log", "group", LOG_GROUP, "(none)"] in lines
    assert f"  aws logs delete-log-group --log-group-name {LOG_GROUP} --region us-west-2".split() in lines
    assert ["and", "2", "smaller", "ones", "in", "HyperPod-Foundation"] in lines
    target.assert_all_asked()


def test_foundation_takes_the_cluster_with_it_and_keeps_the_data(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    _answer_stacks(target)
    _answer_marks(target, 2)
    first = [skipped("Data", "AWS::S3::Bucket", "old-bucket"), skipped("Lustre", "AWS::FSx::FileSystem", "fs-9876543210")]
    second = [
        skipped("Lustre", "AWS::FSx::FileSystem", "fs-0123456789"),
        skipped("Rule", "AWS::EC2::SecurityGroupIngress", "sgr-1"),
    ]
    answer_history(
        target,
        (stack_id("HyperPod-Foundation", 1), first),
        (stack_id("HyperPod-Foundation", 2), second),
        (stack_id("Other"), []),
    )
    target.refuse("fsx", "describe_file_systems", "FileSystemNotFound", "gone")
    target.answer("fsx", "describe_file_systems", {"FileSystems": []}, FileSystemIds=["fs-0123456789"])
    target.answer("s3", "head_bucket", {}, Bucket="old-bucket")
    for id in (1, 2):
        asked = {"StackName": stack_id(FOUNDATION_NAME, id), "TemplateStage": "Original"}
        target.answer("cloudformation", "get_template", {"TemplateBody": '{"Resources": {}}'}, **asked)
    _destroy(TargetName.AWS, "Foundation", yes=True)
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/aws/cdk.out"]]
    out = capsys.readouterr().out
    assert "stacks   HyperPod-Foundation, HyperPod-Cluster" in out
    shown = [line.split() for line in out.splitlines()]
    assert ["file", "system", "fs-0123456789", "kept", "from", "HyperPod-Foundation"] in shown
    assert ["bucket", "old-bucket", "kept", "from", "HyperPod-Foundation"] in shown
    commands = [line for line in out.splitlines() if "--region" in line or "AWS_REGION" in line]
    assert commands[0] == "  aws fsx delete-file-system --file-system-id fs-0123456789 --region us-west-2"
    assert "Bucket('old-bucket')" in commands[1]
    assert len(commands) == 2
    assert ["route", "route-1", "kept", "from", "HyperPod-Foundation"] in shown
    assert "subnet-1" not in out
    assert "cost of that  about" in out
    target.assert_all_asked()


def test_the_kept_file_system_of_an_earlier_deployment_is_counted(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
    answer_history(target, (stack_id("HyperPod-Foundation"), [skipped("Key", "AWS::KMS::Key", "key-1")]))
    target.answer("kms", "describe_key", {"KeyMetadata": {"KeyId": "key-1"}}, KeyId="key-1")
    written = json.dumps({"Resources": {"Key": {"Type": "AWS::KMS::Key"}, "Nat": {"Type": "AWS::EC2::NatGateway"}}})
    target.answer("cloudformation", "get_template", {"TemplateBody": written})
    _destroy(TargetName.AWS)
    out = capsys.readouterr().out
    assert "(1 USD a month)" in out
    assert "aws kms schedule-key-deletion --key-id key-1" in out


def test_logs_that_services_made_are_left_behind(target: StubbedTarget) -> None:
    """Those of what a stack has now, and those that are not there, are not."""
    ids = {"Manifests": "AWS::Lambda::Function", "Quiet": "AWS::Lambda::Function", "Mine": "AWS::Lambda::Function"}
    made = [{**event("1", id, "CREATE_COMPLETE"), "PhysicalResourceId": id, "ResourceType": type} for id, type in ids.items()]
    plane = {**event("1", "Plane", "CREATE_COMPLETE"), "PhysicalResourceId": "training", "ResourceType": "AWS::EKS::Cluster"}
    answer_history(target, (stack_id("HyperPod-Foundation"), [*made, plane]))
    for name, found in (
        ("/aws/eks/training/cluster", ["/aws/eks/training/cluster"]),
        ("/aws/lambda/Manifests", ["/aws/lambda/Manifests", "/aws/lambda/ManifestsOfOthers"]),
        ("/aws/lambda/Quiet", []),
    ):
        answer = {"logGroups": [{"logGroupName": one} for one in found]}
        target.answer("logs", "describe_log_groups", answer, logGroupNamePrefix=name)
    past = history(target, {"HyperPod-Foundation"}, {"Mine"})
    assert [log.name for log in service_logs(target, past)] == ["/aws/eks/training/cluster", "/aws/lambda/Manifests"]


def test_a_log_group_of_a_function_that_the_stack_kept_is_listed_once(target: StubbedTarget) -> None:
    function = {**event("1", "Code", "CREATE_COMPLETE"), "PhysicalResourceId": "code", "ResourceType": "AWS::Lambda::Function"}
    kept = skipped("Logs", "AWS::Logs::LogGroup", "/aws/lambda/code")
    answer_history(target, (stack_id("HyperPod-Foundation"), [function, kept]))
    answer = {"logGroups": [{"logGroupName": "/aws/lambda/code"}]}
    target.answer("logs", "describe_log_groups", answer, logGroupNamePrefix="/aws/lambda/code")
    past = history(target, {"HyperPod-Foundation"}, set())
    assert [one.physical_id for one in past.kept] == ["/aws/lambda/code"]
    assert service_logs(target, past) == []


def test_a_resource_that_a_stack_has_now_is_not_left_behind(target: StubbedTarget) -> None:
    answer_history(target, (stack_id("HyperPod-Foundation"), [skipped("Data", "AWS::S3::Bucket", "imported")]))
    assert history(target, {"HyperPod-Foundation"}, {"imported"}).kept == ()


def test_a_resource_that_may_not_be_seen_counts_as_left_behind(target: StubbedTarget) -> None:
    answer_history(target, (stack_id("HyperPod-Foundation"), [skipped("Data", "AWS::S3::Bucket", "theirs")]))
    target.refuse("s3", "head_bucket", "403", "Forbidden")
    assert [one.physical_id for one in history(target, {"HyperPod-Foundation"}, ()).kept] == ["theirs"]


def test_aws_asks_and_changes_nothing_on_no(
    target: StubbedTarget, cdk: Cdk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("typer.confirm", lambda text, default: default)
    _answer_stacks(target)
    with pytest.raises(CliError, match="nothing was changed"):
        _destroy(TargetName.AWS, "all")
    assert cdk.calls == []
    assert "stay     no other stack" in capsys.readouterr().out


def test_fails_for_a_protected_stack_before_anything_is_changed(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_stacks(target, protected=True)
    with pytest.raises(CliError, match=r"--no-enable-termination-protection --stack-name HyperPod-Foundation"):
        _destroy(TargetName.AWS, "all", yes=True)
    assert cdk.calls == []


def test_fails_for_an_unknown_stack(target: StubbedTarget, cdk: Cdk) -> None:
    with pytest.raises(CliError, match="no stack 'cluster': name one of Foundation, Cluster, or all"):
        _destroy(TargetName.LOCAL, "cluster")


def test_fails_with_the_leaf_cause(target: StubbedTarget, cdk: Cdk) -> None:
    cdk.code = 1
    refuse_stack(target, "HyperPod-Foundation")
    answer_stack(target, "HyperPod-Cluster", [], template=CLUSTER_TEMPLATE)
    _answer_marks(target)
    events = [event("1", "Cluster", "DELETE_FAILED", "still in use")]
    target.answer("cloudformation", "describe_stack_events", {"StackEvents": events})
    with pytest.raises(CliError, match=r"HyperPod-Cluster is not destroyed.*still in use"):
        _destroy(TargetName.LOCAL)


def test_says_when_nothing_stays(target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]) -> None:
    refuse_stack(target, "HyperPod-Foundation")
    answer_stack(target, "HyperPod-Cluster", [], template=CLUSTER_TEMPLATE)
    _answer_marks(target)
    answer_history(target)
    _destroy(TargetName.LOCAL)
    assert "nothing stays" in capsys.readouterr().out


def test_says_when_nothing_is_deployed(target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]) -> None:
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
    answer_history(target)
    _destroy(TargetName.LOCAL)
    assert "no such stack is deployed: HyperPod-Foundation, HyperPod-Cluster" in capsys.readouterr().out
    assert cdk.calls == []


def test_says_when_the_embedded_aws_does_not_run(
    workdir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "check_cli", lambda: None)
    monkeypatch.setattr(module, "running_embedded_aws", lambda: None)
    _destroy(TargetName.LOCAL)
    assert "does not run" in capsys.readouterr().out


def test_takes_a_named_stack_down_although_it_has_no_cluster(target: StubbedTarget, cdk: Cdk) -> None:
    answer_stack(target, "HyperPod-Foundation", [("Data", "AWS::S3::Bucket", "data-bucket")])
    refuse_stack(target, "HyperPod-Cluster")
    _answer_marks(target)
    answer_history(target)
    _destroy(TargetName.LOCAL, "Foundation")
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/local/cdk.out"]]


def test_finds_the_stack_of_the_cluster_whatever_its_name(target: StubbedTarget, cdk: Cdk) -> None:
    answer_stack(target, "HyperPod-Foundation", [], template=CLUSTER_TEMPLATE)
    refuse_stack(target, "HyperPod-Cluster")
    _answer_marks(target)
    answer_history(target)
    _destroy(TargetName.LOCAL)
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/local/cdk.out"]]


def test_names_the_other_stacks_when_none_has_a_cluster(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_stack(target, "HyperPod-Foundation", FOUNDATION)
    refuse_stack(target, "HyperPod-Cluster")
    answer_history(target)
    _destroy(TargetName.LOCAL)
    assert "nothing is taken down; name another with --stack: Foundation, or all" in capsys.readouterr().out
    assert cdk.calls == []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[App]:
    """The apps whose synthesis was asked for; it ends the command."""
    found: list[App] = []

    def synthesize(app: App, target: Any, directory: Path) -> Any:
        found.append(app)
        raise CliError("stop here")

    monkeypatch.setattr(module, "synthesize", synthesize)
    return found


def test_synthesizes_anew_for_another_app_or_context(target: StubbedTarget, cdk: Cdk, asked: list[App]) -> None:
    record(App("python own.py"), TargetName.AWS)
    apps = [App("python own.py", ("a=b",)), App("python other.py")]
    for app in apps:
        with pytest.raises(CliError, match="stop here"):
            module.destroy(TargetName.AWS, app, stack=None, yes=True)
    assert asked == apps


def test_the_app_of_the_last_deployment_is_not_synthesized_again(target: StubbedTarget, cdk: Cdk, asked: list[App]) -> None:
    app = App("python own.py", ("a=b",))
    record(app, TargetName.AWS)
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
    answer_history(target)
    module.destroy(TargetName.AWS, app, stack=None, yes=True)
    assert asked == []
    target.assert_all_asked()


def test_fails_without_an_app_and_without_a_last_deployment(target: StubbedTarget, cdk: Cdk, asked: list[App]) -> None:
    shutil.rmtree("build")
    with pytest.raises(CliError, match="name the app with --app"):
        _destroy(TargetName.AWS)
    assert asked == []
