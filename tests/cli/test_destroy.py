from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli import destroy as module
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.last_deployment import record
from hyperpod_constructs.cli.target import AwsAccount, TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, CLUSTER, answer_stack, event, refuse_stack, write_assembly

FOUNDATION = [
    ("Data", "AWS::S3::Bucket", "data-bucket"),
    ("Lustre", "AWS::FSx::FileSystem", "fs-0123"),
    ("Route", "AWS::EC2::Route", "route-1"),
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
    answer_stack(target, "HyperPod-Foundation", FOUNDATION, kept=("Data", "Lustre"), protected=protected)
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])


def _answer_logs(target: StubbedTarget) -> None:
    target.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName=ARN)
    answer = {"logGroups": [{"logGroupName": LOG_GROUP}]}
    target.answer("logs", "describe_log_groups", answer, logGroupNamePrefix=LOG_GROUP)


def _answer_marks(target: StubbedTarget, stacks: int = 1) -> None:
    for _ in range(stacks):
        target.answer("cloudformation", "describe_stack_events", {"StackEvents": []})


def _destroy(where: TargetName, stack: str | None = None, *, yes: bool = False) -> None:
    module.destroy(where, App(), stack=stack, yes=yes)


def test_takes_the_cluster_down_and_lists_what_stays(target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]) -> None:
    _answer_stacks(target)
    _answer_logs(target)
    _answer_marks(target)
    _destroy(TargetName.LOCAL)
    assert cdk.calls == [["destroy", "Cluster", "--force", "--app", "build/local/cdk.out"]]
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["file", "system", "fs-0123", "HyperPod-Foundation"] in lines
    assert ["bucket", "data-bucket", "HyperPod-Foundation"] in lines
    assert ["log", "group", LOG_GROUP, "(none)"] in lines
    assert ["and", "1", "smaller", "ones", "in", "HyperPod-Foundation"] in lines
    target.assert_all_asked()


def test_foundation_takes_the_cluster_with_it_and_keeps_the_data(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    _answer_stacks(target)
    _answer_logs(target)
    _answer_marks(target, 2)
    _destroy(TargetName.AWS, "Foundation", yes=True)
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/aws/cdk.out"]]
    out = capsys.readouterr().out
    assert "stacks   HyperPod-Foundation, HyperPod-Cluster" in out
    assert "fs-0123" in out
    assert "route-1" not in out
    assert "cost of that  about" in out


def test_aws_asks_and_changes_nothing_on_no(
    target: StubbedTarget, cdk: Cdk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("typer.confirm", lambda text, default: default)
    _answer_stacks(target)
    _answer_logs(target)
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
    _destroy(TargetName.LOCAL)
    assert "nothing stays" in capsys.readouterr().out


def test_says_when_nothing_is_deployed(target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]) -> None:
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
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
    _destroy(TargetName.LOCAL, "Foundation")
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/local/cdk.out"]]


def test_finds_the_stack_of_the_cluster_whatever_its_name(target: StubbedTarget, cdk: Cdk) -> None:
    answer_stack(target, "HyperPod-Foundation", [], template=CLUSTER_TEMPLATE)
    refuse_stack(target, "HyperPod-Cluster")
    _answer_marks(target)
    _destroy(TargetName.LOCAL)
    assert cdk.calls == [["destroy", "Foundation", "--force", "--app", "build/local/cdk.out"]]


def test_names_the_other_stacks_when_none_has_a_cluster(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_stack(target, "HyperPod-Foundation", FOUNDATION)
    refuse_stack(target, "HyperPod-Cluster")
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
    module.destroy(TargetName.AWS, app, stack=None, yes=True)
    assert asked == []
    target.assert_all_asked()


def test_fails_without_an_app_and_without_a_last_deployment(target: StubbedTarget, cdk: Cdk, asked: list[App]) -> None:
    shutil.rmtree("build")
    with pytest.raises(CliError, match="name the app with --app"):
        _destroy(TargetName.AWS)
    assert asked == []
