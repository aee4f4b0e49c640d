"""`hyperpod connect`, with given answers, and with programs that stand for the AWS CLI and its plugin."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli import kubectl
from hyperpod_constructs.cli import target as target_module
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate import connect as module
from hyperpod_constructs.cli.operate import forwarding, place
from hyperpod_constructs.cli.operate.connect import IN_TERMINAL
from hyperpod_constructs.cli.operate.forwarding import Forward, relay
from hyperpod_constructs.cli.operate.sessions import SCRIPT_BYTES, Script
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, NODES, looked_up, node, run
from tests.cli.operate.entries import interrupt
from tests.cli.test_kubeconfig import answer_kubernetes
from tests.patience import until

EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/training"}}
START = "aws ssm start-session --target sagemaker-cluster:abcde01234yz_{} --region us-west-2"
CONTROLLER = START.format("controller-i-00000000000000001")
NAMED = [{**found, "PrivateDnsHostname": f"ip-10-1-2-{number}.us-west-2.compute.internal"} for number, found in enumerate(NODES)]


def answer(target: StubbedTarget, nodes: list[dict[str, Any]] = NODES, group: str | None = None, **members: Any) -> None:
    asked = ASKED if group is None else {**ASKED, "InstanceGroupNameContains": group}
    target.answer("sagemaker", "describe_cluster", {**CLUSTER, **members}, ClusterName="trainer")
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **asked)


def connect(*arguments: str) -> Result:
    return run("connect", "--cluster", "trainer", *arguments)


def test_prints_the_command_of_the_controller(account: StubbedTarget) -> None:
    answer(account, group="controller")
    assert connect("--print").stdout == f"{CONTROLLER}\n"


@pytest.mark.parametrize(
    "name", ["i-00000000000000002", "hyperpod-i-00000000000000002", "hyperpod-i-00000000000000002.ec2.internal"]
)
def test_an_id_takes_no_listing(account: StubbedTarget, name: str) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    looked_up(account, NODES[0])
    assert connect(name, "--print").stdout.rstrip() == START.format("workers-i-00000000000000002")


@pytest.mark.parametrize("name", ["ip-10-1-2-0", "IP-10-1-2-0", "ip-10-1-2-0.us-west-2.compute.internal"])
def test_a_node_is_found_by_its_host_name(account: StubbedTarget, name: str) -> None:
    answer(account, NAMED)
    assert connect(name, "--print").stdout.rstrip() == START.format("workers-i-00000000000000002")


@pytest.mark.parametrize("arguments", [["workers"], ["--group", "workers"]])
def test_a_group_stands_for_its_first_running_node(account: StubbedTarget, arguments: list[str]) -> None:
    answer(account, [node(3, status="Failure"), node(2)], group="workers")
    assert connect(*arguments, "--print").stdout.rstrip() == START.format("workers-i-00000000000000002")


@pytest.mark.parametrize(
    ("options", "document", "parameters"),
    [
        (["--user", "ubuntu"], "AWS-StartInteractiveCommand", {"command": ["sudo -iu ubuntu"]}),
        (["--stdio", "22"], "AWS-StartSSHSession", {"portNumber": ["22"]}),
        (["--forward", "8888"], "AWS-StartPortForwardingSession", {"portNumber": ["8888"], "localPortNumber": ["8888"]}),
        (
            ["--forward", "5432:database.internal:3306"],
            "AWS-StartPortForwardingSessionToRemoteHost",
            {"host": ["database.internal"], "portNumber": ["3306"], "localPortNumber": ["5432"]},
        ),
    ],
)
def test_prints_the_document_of_each_session(
    account: StubbedTarget, options: list[str], document: str, parameters: dict[str, list[str]]
) -> None:
    answer(account, group="controller")
    words = shlex.split(connect(*options, "--print").stdout)
    assert words[:-4] == CONTROLLER.split()
    assert words[-4:-1] == ["--document-name", document, "--parameters"]
    assert json.loads(words[-1]) == parameters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--user", "x; reboot"], "is no name of a user"),
        (["--forward", "eight"], "write PORT, LOCAL:PORT or LOCAL:HOST:PORT"),
        (["--forward", "70000"], "70000 is no port"),
        (["--forward", "80", "--user", "ubuntu"], "exclude each other"),
    ],
)
def test_fails_before_anything_is_asked(account: StubbedTarget, arguments: list[str], message: str) -> None:
    result = connect(*arguments)
    assert (result.exit_code, message in result.stderr) == (1, True), result.stderr


def test_fails_for_a_node_that_is_not_there_and_names_the_nearest(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.refuse("sagemaker", "describe_cluster_node", "ResourceNotFound", "not found")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, **ASKED)
    result = connect("i-00000000000000009", "--print")
    assert "has no node 'i-00000000000000009'; the nearest are i-0000000000000000" in result.stderr


def test_fails_for_a_node_that_does_not_run(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    looked_up(account, NODES[1])
    assert "i-00000000000000003 is Failure, not Running" in connect("i-00000000000000003").stderr


def test_fails_when_no_node_of_the_group_runs(account: StubbedTarget) -> None:
    answer(account, [node(3, status="Pending")], group="workers")
    assert "is Running (found: Pending)" in connect("--group", "workers").stderr


def test_fails_when_the_service_names_no_controller(account: StubbedTarget) -> None:
    groups = [{key: value for key, value in entry.items() if key != "SlurmConfig"} for entry in CLUSTER["InstanceGroups"]]
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, "InstanceGroups": groups}, ClusterName="trainer")
    assert "names no controller group in trainer: name a node" in connect().stderr


def test_fails_without_the_aws_cli(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(account, "environment", lambda: {"PATH": str(tmp_path)})
    answer(account, group="controller")
    result = connect()
    assert "aws is not installed" in result.stderr
    assert "https://docs.aws.amazon.com/cli/" in result.stderr


def programs(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, folder: Path, aws: str) -> None:
    """An AWS CLI of this shell code. Its last argument is the document's parameters."""
    for name, code in (("aws", aws), ("session-manager-plugin", "exit 1")):
        (folder / name).write_text(f"#!/bin/bash\n{code}\n")
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setattr(account, "environment", lambda: environment)


# What the plugin does: it announces the session on standard output, runs the command, and ends with 0.
PLUGIN = """
printf '\\nStarting session with SessionId: me-0123\\n'
command=$({python} -c 'import json, sys; print(json.loads(sys.argv[1])["command"][0])' "${{@: -1}}")
eval "$command"
printf '\\n\\nExiting session with sessionId: me-0123.\\n'
"""


def test_commands_from_a_pipe_end_with_their_exit_code(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs(account, monkeypatch, tmp_path, PLUGIN.format(python=sys.executable))
    answer(account, group="controller")
    commands = "echo \"it's here\"; printf 'no newline' >&2; exit 7\n"
    result = CliRunner().invoke(app, ["connect", "--cluster", "trainer", "--target", "aws"], input=commands)
    assert (result.stdout, result.exit_code) == ("it's here\nno newline", 7)


def test_an_interruption_of_commands_says_that_they_may_go_on(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    programs(account, monkeypatch, tmp_path, f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 60")
    answer(account, group="controller")

    def output(*_: object) -> None:
        until(pid.exists, "the session")
        interrupt()

    monkeypatch.setattr(Script, "output", output)
    result = CliRunner().invoke(app, ["connect", "--cluster", "trainer", "--target", "aws"], input="sleep 0\n")
    assert (result.exit_code, "interrupted; perhaps the commands go on on the node" in result.stderr) == (130, True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_missing_permission_is_explained(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    message = f"User: arn:aws:iam::111122223333:user/me is not authorized to perform: ssm:StartSession on resource: {ARN} because"
    programs(account, monkeypatch, tmp_path, f"echo 'An error occurred (AccessDeniedException): {message}' >&2; exit 254")
    answer(account, group="controller")
    result = connect("--stdio", "22")
    assert result.exit_code == 1
    assert "ssm:StartSession is not allowed; this statement grants it, or cluster.grants.connect(role)" in result.stderr
    assert f'"Resource": "{ARN}"' in result.stderr


def test_fails_for_commands_that_no_session_takes() -> None:
    assert len(Script(b"x" * SCRIPT_BYTES, "ubuntu").command) <= 65_535
    with pytest.raises(CliError, match="put them into a file on the shared file system"):
        Script(b"x" * (SCRIPT_BYTES + 1), None)


def test_a_relay_joins_its_streams_to_a_port() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        command = relay([], "127.0.0.1", server.getsockname()[1])
        with subprocess.Popen([sys.executable, *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
            other, _ = server.accept()
            with other:
                assert process.stdin is not None
                process.stdin.write(b"\x00\xffquestion")
                process.stdin.close()
                assert b"".join(iter(lambda: other.recv(100), b"")) == b"\x00\xffquestion"
                other.sendall(b"answer\x00")
            assert process.stdout is not None
            assert process.stdout.read() == b"answer\x00"


def test_ports_may_differ() -> None:
    assert Forward.parse("9000:8888") == Forward(9000, None, 8888)


@pytest.fixture
def local(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> StubbedTarget:
    """The same cluster on the embedded AWS."""
    monkeypatch.setattr(place, "running_embedded_aws", lambda: account)
    answer(account, group="controller")
    return account


TARGET = "sagemaker-cluster:abcde01234yz_controller-i-00000000000000001"
STARTED = {"SessionId": "me-0123"}
VIRTUAL = [{"InstanceId": "i-00000000000000001", "Name": "ip-10-77-1-1", "Command": ["nsenter"]}]
LOCAL = ["connect", "--cluster", "trainer", "--target", "local"]


def test_fails_to_open_a_shell_where_nothing_boots(local: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "running_virtual_nodes", list)
    local.answer("ssm", "start_session", STARTED)
    assert "this embedded AWS boots no nodes" in CliRunner().invoke(app, LOCAL).stderr


def of_command(document: str, line: str) -> dict[str, Any]:
    return {"DocumentName": document, "Parameters": {"command": [line]}}


@pytest.mark.parametrize(
    ("terminal", "options", "shell", "document"),
    [
        (True, [], [*IN_TERMINAL, "bash -l"], {}),
        (
            True,
            ["--user", "ubuntu"],
            [*IN_TERMINAL, "sudo -iu ubuntu"],
            of_command("AWS-StartInteractiveCommand", "sudo -iu ubuntu"),
        ),
        (False, [], ["bash", "-s"], of_command("AWS-StartNonInteractiveCommand", "bash -s")),
        (
            False,
            ["--user", "ubuntu"],
            ["sudo", "-iu", "ubuntu", "bash", "-s"],
            of_command("AWS-StartNonInteractiveCommand", "bash -s"),
        ),
    ],
)
def test_becomes_a_shell_on_the_virtual_controller_where_a_session_may_start(
    local: StubbedTarget,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    options: list[str],
    shell: list[str],
    document: dict[str, Any],
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(target_module, "running_virtual_nodes", lambda: VIRTUAL)
    monkeypatch.setattr(module, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: terminal)))
    monkeypatch.setattr(os, "execvp", lambda _, command: ran.append(command))
    local.answer("ssm", "start_session", STARTED, Target=TARGET, **document)
    assert CliRunner().invoke(app, [*LOCAL, *options]).exit_code == 0
    assert ran == [["nsenter", *shell]]
    local.assert_all_asked()


@pytest.mark.parametrize("options", [[], ["--stdio", "22"], ["--forward", "8888"]])
def test_fails_to_enter_a_virtual_node_where_no_session_may_start(
    local: StubbedTarget, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(target_module, "running_virtual_nodes", lambda: VIRTUAL)
    for entrance in ((os, "execvp"), (forwarding, "serve")):
        monkeypatch.setattr(*entrance, lambda *_: pytest.fail("the node was entered"))
    message = f"User: x is not authorized to perform: ssm:StartSession on resource: {ARN} because"
    local.refuse("ssm", "start_session", "AccessDeniedException", message)
    result = CliRunner().invoke(app, [*LOCAL, *options])
    assert (result.exit_code, "cluster.grants.connect(role) in the app" in result.stderr) == (1, True), result.stderr


def test_a_cluster_on_kubernetes_gives_a_shell_with_kubectl(
    account: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[Any] = []
    monkeypatch.setattr(kubectl, "enter", lambda *given, only_print: entered.append((*given, only_print)))
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, "Orchestrator": EKS}, ClusterName="trainer")
    answer_kubernetes(account)
    result = connect()
    assert result.exit_code == 0, result.stderr
    assert entered == [(workdir / "build/aws/kubeconfig", account.environment(), Path("build/aws"), False)]


def test_a_node_on_kubernetes_gives_a_shell_on_it(account: StubbedTarget) -> None:
    answer(account, group="workers", Orchestrator=EKS)
    assert "workers-i-00000000000000002" in connect("workers", "--print").stdout
