from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import ANY

from hyperpod_constructs.cli.operate import jobs, remote
from hyperpod_constructs.cli.operate.jobs import Job, Jobs, jobs_on
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster, Group, Node
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, node

Answering = Callable[[str], None]
WORKER = Node.of(node(2, PrivateDnsHostname="ip-10-1-0-4.us-west-2.compute.internal"))
CONTROLLER = node(1, "controller")
SESSION = f"sagemaker-cluster:abcde01234yz_controller-{CONTROLLER['InstanceId']}"
DOCUMENT = "AWS-StartNonInteractiveCommand"
REFUSED = f"User: x is not authorized to perform: ssm:StartSession on resource: {ARN} because"
BANNER = "Starting session with SessionId: someone-0123\r\n"
LINES = "hyperpod-job|17|ada|ip-10-1-0-[4-5]|train|big\r\nhyperpod-end\r\n"


def cluster(**members: Any) -> Cluster:
    whole = {**CLUSTER, **members}
    return Cluster("trainer", ARN, "InService", None, tuple(Group.of(one, whole) for one in CLUSTER["InstanceGroups"]), whole)


@pytest.fixture
def answering(target: StubbedTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Let the controller's virtual node run a program in place of what it is asked."""

    def answer(body: str) -> None:
        program = tmp_path / "node"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        named = {CONTROLLER["InstanceId"]: "ip-10-78-1-1", WORKER.id: "ip-10-78-1-2"}
        found = [{"InstanceId": id, "Name": name, "Command": [str(program)]} for id, name in named.items()]
        monkeypatch.setattr(jobs, "running_virtual_nodes", lambda: found)
        target.answer(
            "sagemaker",
            "list_cluster_nodes",
            {"ClusterNodeSummaries": [CONTROLLER]},
            **ASKED,
            InstanceGroupNameContains="controller",
        )
        target.answer("ssm", "start_session", {"SessionId": "me-0123"}, Target=SESSION, DocumentName=DOCUMENT, Parameters=ANY)

    return answer


def asked(target: StubbedTarget, *nodes: Node, where: TargetName = TargetName.LOCAL, **members: Any) -> Jobs:
    return jobs_on(Place(target, where), cluster(**members), nodes or (WORKER,))


def test_the_controller_names_the_jobs_on_the_nodes(target: StubbedTarget, answering: Answering, tmp_path: Path) -> None:
    answering(f"echo \"$3\" > {tmp_path}/line; printf '%s' '{BANNER}{LINES}'")
    assert asked(target) == Jobs((Job("17", "ada", "train|big", "ip-10-1-0-[4-5]"),))
    line = (tmp_path / "line").read_text()
    assert "squeue --noheader --states=RUNNING," in line
    assert "--nodelist=ip-10-78-1-2 " in line


def test_what_a_job_is_called_does_not_reach_the_terminal_as_it_is(target: StubbedTarget, answering: Answering) -> None:
    answering("printf 'hyperpod-job|1|ada|n1|a\\033[2Jb\\nforged|x\\nhyperpod-end\\n'")
    assert [job.name for job in asked(target).found] == ["ab"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo slurm_load_jobs error; exit 1", "Slurm did not answer on the controller"),
        ("yes hyperpod-job'|1|a|n|j' | head -n 1001; echo hyperpod-end", "the controller named more than 1000 jobs"),
        ("yes hyperpod-job'|1|a|n|j'", "Slurm did not answer on the controller"),
    ],
)
def test_a_strange_answer_is_a_reason(target: StubbedTarget, answering: Answering, body: str, reason: str) -> None:
    answering(body)
    assert asked(target) == Jobs(unknown=reason)


def test_a_controller_that_hangs_is_a_reason(target: StubbedTarget, answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "TIMEOUT_SECONDS", 0.2)
    answering("sleep 60")
    assert asked(target).unknown == "the node did not answer within 0 s"


def test_records_run_no_jobs(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "running_virtual_nodes", list)
    assert asked(target) == Jobs()


def test_without_session_manager_they_are_unknown(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None if program == "session-manager-plugin" else program)
    unknown = asked(target, where=TargetName.AWS).unknown
    assert unknown == "session-manager-plugin is not installed, and without Session Manager nobody can ask the controller"


def test_on_aws_a_session_asks(target: StubbedTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aws = tmp_path / "aws"
    aws.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/arguments; printf '%s' '{BANNER}{LINES}'\n")
    aws.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda program: program)
    monkeypatch.setattr(target, "environment", lambda: {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": [CONTROLLER]})
    assert [job.id for job in asked(target, where=TargetName.AWS).found] == ["17"]
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.startswith(f"ssm start-session --target sagemaker-cluster:abcde01234yz_controller-{CONTROLLER['InstanceId']}")
    assert "--document-name AWS-StartNonInteractiveCommand" in arguments
    assert "--nodelist=ip-10-1-0-4 " in arguments


def test_a_refused_session_is_a_reason(target: StubbedTarget, answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    answering("exit 0")
    other, first = StubbedTarget(), target.client
    monkeypatch.setattr(target, "client", lambda service: other.client(service) if service == "ssm" else first(service))
    other.refuse("ssm", "start_session", "AccessDeniedException", REFUSED)
    assert "cluster.grants.connect(role)" in (asked(target).unknown or "")


def test_a_refused_session_of_the_aws_cli_is_a_reason(
    target: StubbedTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws = tmp_path / "aws"
    aws.write_text(f"#!/bin/sh\necho '{REFUSED}' >&2; exit 254\n")
    aws.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda program: program)
    monkeypatch.setattr(target, "environment", lambda: {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": [CONTROLLER]})
    assert "cluster.grants.connect(role)" in (asked(target, where=TargetName.AWS).unknown or "")


def test_a_missing_permission_is_a_reason(target: StubbedTarget, answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "running_virtual_nodes", lambda: [{"InstanceId": "i-1", "Command": []}])
    target.refuse("sagemaker", "list_cluster_nodes", "AccessDeniedException", "no\x1b[2J")
    assert "AccessDeniedException" in (asked(target).unknown or "")


@pytest.mark.parametrize("name", [None, "x;reboot", "-w.example"])
def test_a_node_with_a_strange_name_is_not_asked_for(
    target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: program)
    found = asked(target, replace(WORKER, host_name=name), where=TargetName.AWS)
    assert found.unknown == "not every node has a name in Slurm"


def test_a_virtual_node_that_is_off_is_not_asked_for(target: StubbedTarget, answering: Answering) -> None:
    answering("exit 1")
    assert asked(target, replace(WORKER, id="i-00000000000000009")).unknown == "not every node has a name in Slurm"


def test_kubernetes_is_asked_by_its_own_tool(target: StubbedTarget) -> None:
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/k"
    assert "kubectl get pods" in (asked(target, Orchestrator={"Eks": {"ClusterArn": arn}}).unknown or "")
