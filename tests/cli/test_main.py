from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli import deploy, destroy, switches
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import TargetName

ROOT = Path(__file__).parents[2]
runner = CliRunner()


@pytest.fixture
def calls(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for module, name in ((deploy, "deploy"), (destroy, "destroy")):
        monkeypatch.setattr(module, name, lambda *args, **options: found.append((args, options)))
    return found


def test_importing_the_command_line_starts_neither_jsii_nor_boto3() -> None:
    code = (
        "import sys, hyperpod_constructs.cli.main; "
        "sys.exit(bool({'aws_cdk', 'jsii', 'boto3', 'botocore', 'ministack', 'moto'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_the_collector_searches_rarely() -> None:
    code = "import gc; from hyperpod_constructs.cli.main import main\ntry: main()\nfinally: print(gc.get_threshold()[0])"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines()[-1] == "200000"


def test_version() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"hyperpod {version('hyperpod-constructs')} (made for the CDK CLI 2.1148.1)\n"


def test_deploy_is_local_and_asks_by_default(calls: list[Any]) -> None:
    assert runner.invoke(app, ["deploy"]).exit_code == 0
    assert calls == [((TargetName.LOCAL, App()), {"stacks": ("all",), "yes": False, "auth": None, "nodes": None})]


def test_options_reach_the_deployment(calls: list[Any]) -> None:
    arguments = ["deploy", "--target", "aws", "--yes", "-c", "a=1", "-c", "b=2", "--app", "x", "--auth", "--stack", "S"]
    assert runner.invoke(app, arguments).exit_code == 0
    assert calls == [((TargetName.AWS, App("x", ("a=1", "b=2"))), {"stacks": ["S"], "yes": True, "auth": True, "nodes": None})]


@pytest.mark.parametrize(("value", "yes"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_yes_may_come_from_the_environment(calls: list[Any], value: str, yes: bool) -> None:
    assert runner.invoke(app, ["deploy"], env={"YES": value}).exit_code == 0
    assert calls[0][1]["yes"] is yes


@pytest.mark.parametrize(("value", "auth"), [("true", True), ("false", False), ("", None)])
def test_auth_may_come_from_the_environment(calls: list[Any], value: str, auth: bool | None) -> None:
    assert runner.invoke(app, ["deploy"], env={"AUTH": value}).exit_code == 0
    assert calls[0][1]["auth"] is auth


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("deploy", "YES"),
        ("deploy", "AUTH"),
        ("deploy", "NODES"),
        ("destroy", "YES"),
        ("local start", "AUTH"),
        ("local start", "NODES"),
    ],
)
def test_fails_for_a_word_that_says_neither_yes_nor_no(calls: list[Any], command: str, variable: str) -> None:
    result = runner.invoke(app, command.split(), env={variable: "2"})
    assert result.exit_code == 1
    assert f"{variable}=2 is not known: write one of 1, yes, true, on, 0, no, false, off" in result.output
    assert calls == []


def test_the_command_line_wins_over_the_environment(calls: list[Any]) -> None:
    assert runner.invoke(app, ["deploy", "--no-nodes"], env={"NODES": "1"}).exit_code == 0
    assert calls[0][1]["nodes"] is False


def test_the_makefile_knows_the_same_words() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"YES_WORDS := {' '.join(switches.YES)}\n" in makefile
    assert f"NO_WORDS := {' '.join(switches.NO)}\n" in makefile


def test_the_target_never_comes_from_the_environment(calls: list[Any]) -> None:
    assert runner.invoke(app, ["destroy"], env={"TARGET": "aws", "STACK": "all"}).exit_code == 0
    assert calls == [((TargetName.LOCAL, App()), {"stack": None, "yes": False})]


def test_fails_for_an_unknown_target() -> None:
    result = runner.invoke(app, ["deploy", "--target", "azure"])
    assert result.exit_code == 2
    assert "azure" in result.output


def test_fails_in_one_line_for_a_mistake(workdir: Path) -> None:
    result = runner.invoke(app, ["deploy", "-c", "nonsense"])
    assert result.exit_code == 1
    assert result.stderr == ("hyperpod: context 'nonsense' has no key or no value: write key=value, such as preset=llm\n")


def _raising(error: BaseException) -> Any:
    def command(*args: Any, **options: Any) -> None:
        raise error

    return command


def test_fails_in_one_line_when_aws_refuses(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import ClientError

    refusal = ClientError({"Error": {"Code": "ExpiredToken", "Message": "sign in"}}, "GetCallerIdentity")
    monkeypatch.setattr(deploy, "deploy", _raising(refusal))
    result = runner.invoke(app, ["deploy"])
    assert result.exit_code == 1
    assert result.stderr.startswith("hyperpod: AWS answered: An error occurred (ExpiredToken)")


def test_interruption_has_its_own_exit_code(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy, "deploy", _raising(KeyboardInterrupt()))
    assert runner.invoke(app, ["deploy"]).exit_code == 130


def test_an_error_of_the_program_keeps_its_traceback(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy, "deploy", _raising(KeyError("bug")))
    assert isinstance(runner.invoke(app, ["deploy"]).exception, KeyError)


def test_connect_fails_when_the_embedded_aws_does_not_run(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperpod_constructs.cli.commands.running_embedded_aws", lambda: None)
    result = runner.invoke(app, ["connect", "--print"])
    assert result.exit_code == 1
    assert "deploy one first" in result.stderr


def test_errors_are_a_kind_of_value_error() -> None:
    assert issubclass(CliError, ValueError)
