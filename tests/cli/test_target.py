from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import botocore.session
import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import AwsAccount, embedded_aws
from hyperpod_constructs.local import server
from hyperpod_constructs.local.nodes import requirements
from hyperpod_constructs.local.server import LocalAws, LocalAwsError

RUNNING = LocalAws("http://127.0.0.1:1", "123456789012", "us-west-2", 4711)
runner = CliRunner()


class FakeSession:
    """A session of a profile without a region, in an account."""

    def __init__(self, profile: str | None = None) -> None:
        self.profile = profile

    def get_config_variable(self, name: str) -> None:
        assert name == "region"

    def create_client(self, service: str, region_name: str, endpoint_url: str | None = None) -> Any:
        assert service == "sts"
        return self

    def get_caller_identity(self) -> dict[str, str]:
        return {"Account": "111122223333"}


class Deployed:
    """CloudFormation with one stack."""

    def describe_stacks(self) -> dict[str, Any]:
        return {"Stacks": [{"StackName": "Cluster"}]}


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of AWS in the environment, and no place where botocore finds credentials."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def started(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Calls to the embedded AWS's server, which does not run at first."""
    calls: list[Any] = []

    def start(directory: Path, **options: Any) -> LocalAws:
        calls.append((directory, options))
        return RUNNING

    monkeypatch.setattr(server, "running", lambda directory: None)
    monkeypatch.setattr(server, "start", start)
    monkeypatch.setattr(server, "stop", lambda directory: calls.append(("stop", directory)))
    monkeypatch.setattr(server, "reset", lambda aws: calls.append(("reset", aws)))
    return calls


def test_account_and_region_of_the_caller(no_aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(botocore.session, "Session", FakeSession)
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    account = AwsAccount.of_caller()
    assert account == AwsAccount("111122223333", "eu-north-1")
    assert account.environment()["AWS_DEFAULT_REGION"] == "eu-north-1"


def test_given_profile_region_and_endpoint_win_and_reach_child_processes(no_aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(botocore.session, "Session", FakeSession)
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    account = AwsAccount.of_caller(profile="research", region="us-west-2", endpoint_url="http://127.0.0.1:9")
    child = account.environment()
    assert [child[name] for name in ("AWS_PROFILE", "AWS_REGION", "AWS_ENDPOINT_URL")] == [
        "research",
        "us-west-2",
        "http://127.0.0.1:9",
    ]


def test_fails_for_an_endpoint_that_is_no_url(no_aws: None) -> None:
    with pytest.raises(CliError, match="--endpoint-url sagemaker: write a URL"):
        AwsAccount.of_caller(region="us-west-2", endpoint_url="sagemaker")


def test_the_caller_keeps_an_endpoint_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert AwsAccount("111122223333", "us-west-2").environment()["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9"


def test_fails_without_a_region(no_aws: None) -> None:
    with pytest.raises(CliError, match="name one with AWS_REGION"):
        AwsAccount.of_caller()


def test_fails_without_credentials(no_aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    with pytest.raises(CliError, match="no AWS credentials were found: sign in"):
        AwsAccount.of_caller()


def test_fails_for_an_unknown_profile(no_aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(CliError, match="nobody"):
        AwsAccount.of_caller()


def test_the_embedded_aws_is_started_where_it_belongs(started: list[Any]) -> None:
    assert embedded_aws() is RUNNING
    directory, options = started[0]
    assert directory == Path("build/local")
    assert options["auth"] is False


def test_the_one_that_runs_is_taken(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "running", lambda directory: RUNNING)
    assert embedded_aws() is RUNNING
    assert started == []


def test_newer_models_are_passed_when_they_are_there(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    (Path("models") / "botocore/data").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", ".")
    embedded_aws(auth=True, nodes=False)
    assert started[0][1] == {"auth": True, "nodes": False, "seed": None, "models": Path("models/botocore/data")}


def test_fails_when_it_does_not_start(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: Path, **options: Any) -> LocalAws:
        raise LocalAwsError("the embedded aws did not start")

    monkeypatch.setattr(server, "start", refuse)
    with pytest.raises(CliError, match="did not start"):
        embedded_aws()


def test_local_start_says_where(started: list[Any]) -> None:
    result = runner.invoke(app, ["local", "start"], env={"AUTH": "true"})
    assert result.exit_code == 0
    assert started[0][1]["auth"] is True
    assert "http://127.0.0.1:1" in result.stdout


def test_the_seed_of_an_order_is_passed_and_told(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    result = runner.invoke(app, ["local", "start", "--seed", "42"])
    assert started[0][1]["seed"] == 42
    assert f"seed {RUNNING.seed})" in result.stdout
    monkeypatch.setattr(server, "running", lambda directory: RUNNING)
    monkeypatch.setattr(LocalAws, "client", lambda aws, service: Deployed())
    assert embedded_aws() is embedded_aws(seed=RUNNING.seed) is RUNNING
    with pytest.raises(CliError, match=r"--seed 0, and has the stacks Cluster; .* local start --no-auth --no-nodes --seed 43"):
        embedded_aws(seed=43)
    assert runner.invoke(app, ["local", "start", "--seed", "-1"]).exit_code == 2


def test_local_commands_without_a_server(started: list[Any]) -> None:
    assert [runner.invoke(app, ["local", name]).exit_code for name in ("status", "env", "reset", "stop")] == [
        1,
        1,
        0,
        0,
    ]
    assert started == [("stop", Path("build/local"))]


def test_local_commands_with_a_server(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "look", lambda directory: RUNNING)
    assert "running at http://127.0.0.1:1" in runner.invoke(app, ["local", "status"]).stdout
    assert "export AWS_ENDPOINT_URL=http://127.0.0.1:1\n" in runner.invoke(app, ["local", "env"]).stdout
    assert runner.invoke(app, ["local", "reset"]).exit_code == 0
    assert started == [("reset", RUNNING)]


@pytest.mark.parametrize("command", ["status", "env", "reset", "stop", "start"])
def test_local_commands_in_another_users_directory_say_whose_it_is(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: Path) -> None:
        raise LocalAwsError("build/local belongs to user 1234, not to you (0)")

    monkeypatch.setattr(server, "look", refuse)
    monkeypatch.setattr(server, "running", refuse)
    result = runner.invoke(app, ["local", command])
    assert result.exit_code == 1
    assert "belongs to user 1234" in result.output


def test_local_commands_with_a_server_that_does_not_answer(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "look", lambda directory: server.Silent(4321))
    for name in ("status", "env", "reset"):
        result = runner.invoke(app, ["local", name])
        assert result.exit_code == 1
        assert "the embedded AWS (process 4321) starts, or is busy: it does not answer yet" in result.output
    assert started == []
    assert runner.invoke(app, ["local", "stop"]).exit_code == 0
    assert started == [("stop", Path("build/local"))]


def test_a_server_that_lives_on_is_a_failure_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(directory: Path) -> int:
        raise LocalAwsError("process 4321 holds build/local, and lives")

    monkeypatch.setattr(server, "stop", fail)
    result = runner.invoke(app, ["local", "stop"])
    assert result.exit_code == 1
    assert "process 4321 holds build/local" in result.output


def test_nodes_are_booted_when_asked_for(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "missing", lambda: None)
    embedded_aws(nodes=True)
    assert started[0][1]["nodes"] is True


def test_fails_by_name_where_no_node_can_boot(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "missing", lambda: "virtual nodes need root, for namespaces and mounts: run with sudo.")
    with pytest.raises(CliError, match="virtual nodes need root"):
        embedded_aws(nodes=True)
    assert started == []


class Emptied(LocalAws):
    """A running embedded AWS with these stacks."""

    stacks: tuple[str, ...] = ()

    def client(self, service: str) -> Any:
        answer = {"Stacks": [{"StackName": name} for name in self.stacks]}
        return SimpleNamespace(describe_stacks=lambda: answer)


def test_an_empty_one_is_started_anew_with_other_options(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Emptied, "stacks", ("CDKToolkit",))
    found = Emptied("http://127.0.0.1:1", "123456789012", "us-west-2", 4711, auth=True)
    monkeypatch.setattr(server, "running", lambda directory: found)
    monkeypatch.setattr(requirements, "missing", lambda: None)
    embedded_aws(nodes=True)
    assert started[0] == ("stop", Path("build/local"))
    assert (started[1][1]["auth"], started[1][1]["nodes"]) == (True, True)


def test_fails_for_other_options_beside_deployments_with_the_command(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Emptied, "stacks", ("CDKToolkit", "Training"))
    found = Emptied("http://127.0.0.1:1", "123456789012", "us-west-2", 4711)
    monkeypatch.setattr(server, "running", lambda directory: found)
    monkeypatch.setattr(requirements, "missing", lambda: None)
    with pytest.raises(
        CliError, match=r"has the stacks Training; .*: hyperpod local stop && hyperpod local start --no-auth --nodes"
    ):
        embedded_aws(nodes=True)
    assert started == []
