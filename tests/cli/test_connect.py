from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.cli import connect as module
from hyperpod_constructs.cli import kubectl
from hyperpod_constructs.cli.connect import IN_TERMINAL, command, connect
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, CLUSTER, NODES, SESSION, answer_cluster, answer_stack, refuse_stack, write_assembly
from tests.cli.test_kubeconfig import ON_EKS, answer_kubernetes


def _connect(target: StubbedTarget, where: TargetName = TargetName.AWS, **options: Any) -> None:
    connect(target, where, **{"cluster": ARN, "group": None, "only_print": True, **options})


def test_prints_the_command_of_the_controller(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    answer_cluster(target)
    _connect(target)
    assert capsys.readouterr().out == f"{SESSION}\n"


def test_finds_the_cluster_in_the_deployed_stacks(target: StubbedTarget, workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_assembly(workdir / "build/aws/cdk.out")
    refuse_stack(target, "HyperPod-Foundation")
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])
    answer_cluster(target)
    _connect(target, cluster=None)
    assert capsys.readouterr().out == f"{SESSION}\n"


def test_fails_without_a_deployment(target: StubbedTarget, workdir: Path) -> None:
    with pytest.raises(CliError, match="name the cluster with --cluster"):
        _connect(target, cluster=None)


def test_fails_when_no_cluster_is_deployed(target: StubbedTarget, workdir: Path) -> None:
    write_assembly(workdir / "build/aws/cdk.out")
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
    with pytest.raises(CliError, match="no cluster is deployed"):
        _connect(target, cluster=None)


def test_fails_for_an_unknown_group(target: StubbedTarget) -> None:
    answer_cluster(target)
    with pytest.raises(CliError, match=r"no instance group 'gpu' .*: name one with --group \(controller, workers\)"):
        _connect(target, group="gpu")


def test_fails_when_the_service_names_no_controller(target: StubbedTarget) -> None:
    groups = [{key: value for key, value in entry.items() if key != "SlurmConfig"} for entry in CLUSTER["InstanceGroups"]]
    target.answer("sagemaker", "describe_cluster", {**CLUSTER, "InstanceGroups": groups}, ClusterName=ARN)
    with pytest.raises(CliError, match="names no controller group"):
        _connect(target)


def test_fails_when_no_node_runs() -> None:
    with pytest.raises(CliError, match=r"is Running \(found: Pending\)"):
        command(ARN, "workers", NODES[2:], "us-west-2")


def test_fails_to_open_a_shell_where_nothing_boots(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "running_virtual_nodes", list)
    answer_cluster(target)
    with pytest.raises(CliError, match="this embedded AWS boots no nodes"):
        _connect(target, TargetName.LOCAL, only_print=False)


@pytest.mark.parametrize(("terminal", "shell"), [(True, [*IN_TERMINAL]), (False, ["bash", "-s"])])
def test_opens_a_shell_on_the_virtual_controller(
    target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, terminal: bool, shell: list[str]
) -> None:
    ran: list[list[str]] = []
    nodes = [{"InstanceId": node["InstanceId"], "Command": ["nsenter", node["InstanceGroupName"]]} for node in NODES]
    monkeypatch.setattr(module, "running_virtual_nodes", lambda: nodes)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr(os, "execvp", lambda _, command: ran.append(command))
    answer_cluster(target)
    monkeypatch.setattr(module, "_replace_process", lambda *_: None)
    _connect(target, TargetName.LOCAL, only_print=False)
    assert ran == [["nsenter", "controller", *shell]]


def test_fails_without_the_aws_cli(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer_cluster(target)
    with pytest.raises(CliError, match="aws is not installed"):
        _connect(target, only_print=False)


def test_becomes_the_session(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("aws", "session-manager-plugin"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    executed: list[list[str]] = []
    monkeypatch.setattr(os, "execvpe", lambda file, arguments, environment: executed.append(arguments))
    answer_cluster(target)
    _connect(target, only_print=False)
    assert executed == [SESSION.split(" ")]


@pytest.mark.parametrize("where", TargetName)
def test_a_cluster_on_kubernetes_gives_a_shell_with_kubectl(
    target: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch, where: TargetName
) -> None:
    entered: list[Any] = []
    monkeypatch.setattr(kubectl, "enter", lambda *given, only_print: entered.append((*given, only_print)))
    target.answer("sagemaker", "describe_cluster", ON_EKS, ClusterName=ARN)
    answer_kubernetes(target)
    _connect(target, where, only_print=False)
    state = Path("build") / where.value
    assert entered == [(workdir / state / "kubeconfig", target.environment(), state, False)]
    assert (workdir / state / "kubeconfig").is_file()


def test_a_group_on_kubernetes_gives_a_shell_on_a_node(target: StubbedTarget, capsys: pytest.CaptureFixture[str]) -> None:
    target.answer("sagemaker", "describe_cluster", ON_EKS, ClusterName=ARN)
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, ClusterName=ARN)
    _connect(target, group="workers")
    assert "sagemaker-cluster:abc123def456_workers-i-0000000000000000a" in capsys.readouterr().out
