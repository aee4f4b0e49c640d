"""Every command on running clusters where the answer is none, is refused or is interrupted; and tables in narrow terminals."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hyperpod_constructs.cli.console import make_encodable
from hyperpod_constructs.cli.lazy import LazyCommands
from hyperpod_constructs.cli.main import app
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ASKED, CLUSTER, SUBNETS, node, run

GROUP: Any = typer.main.get_command(app)
COMMANDS = {
    name: command
    for name in LazyCommands.list_commands(GROUP, None)
    if getattr(command := GROUP.get_command(None, name), "rich_help_panel", None) == "Running clusters"
}
HOSTILE = "lifecycle script failed on a node with a long story\x1b[2J\x9b1m " * 3


def arguments(name: str) -> list[str]:
    """What the command needs to begin its work."""
    parameters = {parameter.name: parameter for parameter in COMMANDS[name].params}
    given = ["--yes"] if "yes" in parameters else []
    required = [p for p in parameters.values() if p.param_type_name == "argument" and (p.required or p.name == "nodes")]
    values = {"count": "2", "source": ":/fsx/data", "destination": "data"}
    return [*given, *(values.get(parameter.name, "i-00000000000000002") for parameter in required)]


def test_the_commands_are_found() -> None:
    assert {"clusters", "status", "nodes", "events", "logs", "reboot", "replace", "remove"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_without_a_cluster_a_sentence_says_so(account: StubbedTarget, workdir: Path, name: str) -> None:
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": []})
    result = run(name, *arguments(name))
    assert "there is no cluster in account 111122223333" in result.output.lower()
    assert "Traceback" not in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_a_throttled_call_is_named(account: StubbedTarget, workdir: Path, name: str) -> None:
    account.refuse("sagemaker", "list_clusters", "ThrottlingException", "Rate exceeded")
    result = run(name, *arguments(name))
    assert result.exit_code == 1
    assert "AWS throttles ListClusters" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interruption_ends_with_130(account: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def interrupt(**request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(account.client("sagemaker"), "list_clusters", interrupt)
    result = run(name, *arguments(name))
    assert result.exit_code == 130
    assert "interrupted" in result.output


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, *command: str, columns: int, encoding: str = "utf-8") -> list[str]:
    """What a terminal shows of a command, without colours."""
    raw = io.BytesIO()
    terminal = Terminal(raw, encoding=encoding, write_through=True)
    make_encodable(terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(SystemExit) as ended:
        app([*command, "--target", "aws"])
    assert ended.value.code == 0
    return raw.getvalue().decode(encoding).splitlines()


def listed(account: StubbedTarget, nodes: list[dict[str, Any]]) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **ASKED)
    account.answer("ec2", "describe_subnets", SUBNETS)


@pytest.mark.parametrize("wide", [(), ("--wide",)])
@pytest.mark.parametrize("command", ["nodes", "status"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_sixty_columns_hold_everything_essential(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, command: str, encoding: str, wide: tuple[str, ...]
) -> None:
    listed(account, [node(2), node(3, status="Failure", message=HOSTILE)])
    lines = shown(monkeypatch, command, "--cluster", "trainer", *wide, columns=60, encoding=encoding)
    assert max(map(len, lines)) <= 60
    text = " ".join(" ".join(lines).split())
    assert "i-00000000000000003" in text
    assert text.count("lifecycle script failed on a node with a long story") == 3
    assert not any(control in text for control in "\x1b\x9b")
    assert ("Left out, because the terminal is too narrow" in text) == bool(wide)


def test_ten_thousand_nodes_take_a_hundred_calls(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    for page in range(100):
        token = {"NextToken": str(page)} if page else {}
        following = {"NextToken": str(page + 1)} if page < 99 else {}
        answer = {"ClusterNodeSummaries": [node(page * 100 + one) for one in range(100)], **following}
        account.answer("sagemaker", "list_cluster_nodes", answer, **ASKED, **token)
    account.answer("ec2", "describe_subnets", SUBNETS)
    result = run("nodes", "--cluster", "trainer")
    account.assert_all_asked()
    assert len(result.output.splitlines()) == 10_001


def test_a_message_names_twenty_of_a_hundred_clusters(account: StubbedTarget, workdir: Path) -> None:
    found = [
        {"ClusterArn": f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{n:012}", "ClusterName": f"c{n}"}
        | {"CreationTime": 0, "ClusterStatus": "InService"}
        for n in range(21)
    ]
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": found, "NextToken": "more"})
    output = run("status").output
    assert "c0, c1" in output
    assert "c19 and more (hyperpod clusters)" in output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_sixty_columns_of_ascii(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    result = CliRunner(charset="ascii").invoke(app, [name, "--help"])
    assert result.exit_code == 0, result.output
