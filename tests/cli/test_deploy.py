from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli import deploy as module
from hyperpod_constructs.cli.assembly import ALL, Assembly
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import AwsAccount, TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, answer_cluster, answer_stack, event, refuse_stack, write_assembly

PARAMETER = "/cdk-bootstrap/hnb659fds/version"
GIVEN = ("availability_zone=us-west-2a", "termination_protection=true")


class Cdk:
    """The calls of the CDK CLI, which always exits with `code`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.calls: list[list[str]] = []
        self.apps: list[App] = []
        self.code = 0
        self.servers = 0

    def started(self, target: StubbedTarget) -> StubbedTarget:
        self.servers += 1
        return target

    def run(self, arguments: Sequence[str], target: Any) -> int:
        self.calls.append(list(arguments))
        return self.code

    def synthesize(self, app: App, target: Any, directory: Path) -> Assembly:
        self.apps.append(app)
        return Assembly.read(self.directory)

    def bootstrap(self, target: Any, directory: Path) -> None:
        self.calls.append(["bootstrap"])


@pytest.fixture
def cdk(workdir: Path, target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> Cdk:
    write_assembly(workdir / "out")
    (workdir / "cdk.json").write_text('{"app": "python app.py"}')
    fake = Cdk(workdir / "out")
    monkeypatch.setattr(module, "run", fake.run)
    monkeypatch.setattr(module, "synthesize", fake.synthesize)
    monkeypatch.setattr(module, "bootstrap", fake.bootstrap)
    monkeypatch.setattr(module, "check_cli", lambda: None)
    monkeypatch.setattr(module, "embedded_aws", lambda **_: fake.started(target))
    monkeypatch.setattr(AwsAccount, "of_caller", lambda: target)
    return fake


def _answer_bootstrapped(target: StubbedTarget) -> None:
    target.answer("ssm", "get_parameter", {"Parameter": {"Value": "30"}}, Name=PARAMETER)


def _answer_deployment(target: StubbedTarget) -> None:
    """No stack before, one cluster after."""
    refuse_stack(target, "HyperPod-Foundation", "describe_stack_events")
    refuse_stack(target, "HyperPod-Cluster", "describe_stack_events")
    answer_stack(target, "HyperPod-Foundation", [])
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])
    answer_cluster(target)


def _deploy(where: TargetName, app: App, *, stacks: Sequence[str] = (ALL,), yes: bool = False) -> None:
    module.deploy(where, app, stacks=stacks, yes=yes, auth=None, nodes=None)


def _answer_zones(target: StubbedTarget) -> None:
    target.answer("ec2", "describe_availability_zones", {"AvailabilityZones": [{"ZoneId": "usw2-az1"}]})


def test_local_bootstraps_once_and_deploys_the_assembly(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str]
) -> None:
    zones = {"AvailabilityZones": [{"ZoneId": "usw2-az2"}, {"ZoneId": "usw2-az1"}]}
    target.answer("ec2", "describe_availability_zones", zones)
    target.refuse("ssm", "get_parameter", "ParameterNotFound", "none")
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App(context=("preset=llm",)))
    assert cdk.apps == [App(context=("preset=llm", "availability_zone_id=usw2-az1", "termination_protection=false"))]
    assert cdk.calls == [
        ["bootstrap"],
        ["deploy", "--all", "--require-approval", "never", "--app", str(cdk.directory)],
    ]
    assert "sagemaker-demo-cluster" in capsys.readouterr().out
    target.assert_all_asked()


def test_local_does_not_bootstrap_twice_nor_replace_given_context(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_bootstrapped(target)
    _answer_deployment(target)
    app = App(context=GIVEN)
    _deploy(TargetName.LOCAL, app)
    assert cdk.apps == [app]
    assert [call[0] for call in cdk.calls] == ["deploy"]


@pytest.mark.parametrize(("nodes", "command"), [(True, "hyperpod connect"), (False, "aws ssm start-session")])
def test_the_shell_is_one_that_can_be_opened(
    target: StubbedTarget, cdk: Cdk, capsys: pytest.CaptureFixture[str], nodes: bool, command: str
) -> None:
    target.nodes = nodes
    _answer_bootstrapped(target)
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App(context=GIVEN))
    assert f"a shell on the controller:\n  {command}" in capsys.readouterr().out


def test_fails_with_the_leaf_cause(target: StubbedTarget, cdk: Cdk) -> None:
    cdk.code = 1
    _answer_bootstrapped(target)
    refuse_stack(target, "HyperPod-Foundation", "describe_stack_events")
    refuse_stack(target, "HyperPod-Cluster", "describe_stack_events")
    target.answer("cloudformation", "describe_stack_events", {"StackEvents": []})
    events = [event("2", "Gate", "CREATE_FAILED", "later"), event("1", "Cluster", "CREATE_FAILED", "no capacity")]
    target.answer("cloudformation", "describe_stack_events", {"StackEvents": events})
    answer_stack(target, "HyperPod-Foundation", [], protected=True)
    answer_stack(target, "HyperPod-Cluster", [], status="ROLLBACK_COMPLETE")
    with pytest.raises(CliError, match=r"HyperPod-Cluster is ROLLBACK_COMPLETE\. The cause: Cluster .*: no capacity$"):
        _deploy(TargetName.LOCAL, App(context=GIVEN))


def test_a_protected_stack_that_was_rolled_back_comes_with_the_way_out(target: StubbedTarget, cdk: Cdk) -> None:
    cdk.code = 1
    _answer_bootstrapped(target)
    for _ in range(2):
        refuse_stack(target, "HyperPod-Foundation", "describe_stack_events")
        refuse_stack(target, "HyperPod-Cluster", "describe_stack_events")
    answer_stack(target, "HyperPod-Foundation", [], protected=True, status="ROLLBACK_COMPLETE")
    refuse_stack(target, "HyperPod-Cluster")
    with pytest.raises(CliError, match=r"--no-enable-termination-protection --stack-name HyperPod-Foundation --region us-west-2$"):
        _deploy(TargetName.LOCAL, App(context=GIVEN))


def test_fails_without_an_event_and_points_at_the_cdk(target: StubbedTarget, cdk: Cdk) -> None:
    cdk.code = 1
    _answer_bootstrapped(target)
    for _ in range(2):
        refuse_stack(target, "HyperPod-Foundation", "describe_stack_events")
        refuse_stack(target, "HyperPod-Cluster", "describe_stack_events")
    refuse_stack(target, "HyperPod-Foundation")
    refuse_stack(target, "HyperPod-Cluster")
    with pytest.raises(CliError, match="no resource names a cause: see the message of the CDK CLI"):
        _deploy(TargetName.LOCAL, App(context=GIVEN))


def test_aws_never_bootstraps(target: StubbedTarget, cdk: Cdk) -> None:
    target.refuse("ssm", "get_parameter", "ParameterNotFound", "none")
    with pytest.raises(CliError, match="cdk bootstrap aws://111122223333/us-west-2"):
        _deploy(TargetName.AWS, App("app"), yes=True)
    assert cdk.calls == []


def test_aws_asks_and_changes_nothing_on_no(
    target: StubbedTarget, cdk: Cdk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("typer.confirm", lambda text, default: default)
    _answer_bootstrapped(target)
    with pytest.raises(CliError, match="nothing was changed"):
        _deploy(TargetName.AWS, App("app"))
    assert cdk.calls == []
    out = capsys.readouterr().out
    assert "111122223333" in out
    assert "us-west-2" in out
    assert "USD an hour" in out


def test_aws_deploys_without_asking_on_yes(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_bootstrapped(target)
    _answer_deployment(target)
    app = App()
    _deploy(TargetName.AWS, app, yes=True)
    assert cdk.apps == [app]
    assert [call[0] for call in cdk.calls] == ["deploy"]


def test_an_app_named_by_its_command_gets_the_local_defaults_too(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_zones(target)
    _answer_bootstrapped(target)
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App("python own.py"))
    assert cdk.apps == [App("python own.py", ("availability_zone_id=usw2-az1", "termination_protection=false"))]


@pytest.mark.parametrize("given", ["orchestrator=eks", "preset=kubernetes"])
def test_kubernetes_has_local_defaults_of_its_own(target: StubbedTarget, cdk: Cdk, given: str) -> None:
    zones = [{"ZoneId": f"usw2-az{number}"} for number in (3, 1, 2)]
    target.answer("ec2", "describe_availability_zones", {"AvailabilityZones": zones})
    _answer_bootstrapped(target)
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App(context=(*GIVEN, given)))
    assert cdk.apps == [App(context=(*GIVEN, given, "control_plane_zone_ids=usw2-az1,usw2-az2", "chart=stand-in"))]


@pytest.mark.parametrize(
    ("given", "zone"),
    [
        (("termination_protection=false",), "usw2-az2"),
        (("termination_protection=false", "availability_zone_id=usw2-az2"), "usw2-az1"),
        (("termination_protection=false", "availability_zone=us-west-2b"), "usw2-az1"),
    ],
)
def test_a_database_lies_in_another_zone_too(target: StubbedTarget, cdk: Cdk, given: tuple[str, ...], zone: str) -> None:
    names = {3: "c", 1: "a", 2: "b"}
    zones = [{"ZoneId": f"usw2-az{number}", "ZoneName": f"us-west-2{name}"} for number, name in names.items()]
    asked = 1 if any("availability_zone" in one for one in given) else 2
    for _ in range(asked):
        target.answer("ec2", "describe_availability_zones", {"AvailabilityZones": zones})
    _answer_bootstrapped(target)
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App(context=(*given, "accounting=true")))
    added = ("availability_zone_id=usw2-az1",) if asked == 2 else ()
    assert cdk.apps == [App(context=(*given, "accounting=true", *added, f"accounting_zone_id={zone}"))]


def test_zones_and_chart_of_kubernetes_that_are_given_stay(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_bootstrapped(target)
    _answer_deployment(target)
    own = (*GIVEN, "orchestrator=eks", "control_plane_zone_ids=usw2-az2,usw2-az3", "chart=cache")
    _deploy(TargetName.LOCAL, App(context=own))
    assert cdk.apps == [App(context=own)]


def test_data_may_go_on_the_embedded_aws(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_bootstrapped(target)
    _answer_deployment(target)
    _deploy(TargetName.LOCAL, App(context=(*GIVEN, "retain_data=false")))
    assert cdk.apps == [App(context=(*GIVEN, "retain_data=false", "confirm_data_loss=true"))]


def test_a_stack_is_deployed_with_those_that_it_needs(target: StubbedTarget, cdk: Cdk) -> None:
    _answer_bootstrapped(target)
    refuse_stack(target, "HyperPod-Foundation", "describe_stack_events")
    answer_stack(target, "HyperPod-Foundation", [])
    _deploy(TargetName.LOCAL, App(context=GIVEN), stacks=("Foundation",))
    assert cdk.calls[0][:2] == ["deploy", "Foundation"]
    assert "--all" not in cdk.calls[0]
    target.assert_all_asked()


def test_fails_for_an_unknown_stack_before_anything_is_deployed(target: StubbedTarget, cdk: Cdk) -> None:
    with pytest.raises(CliError, match="no stack 'Data': name one of Foundation, Cluster, or all"):
        _deploy(TargetName.LOCAL, App(context=GIVEN), stacks=("Data",))
    assert cdk.calls == []


def test_fails_without_an_app_before_the_embedded_aws_is_started(workdir: Path, target: StubbedTarget, cdk: Cdk) -> None:
    (workdir / "cdk.json").unlink()
    with pytest.raises(CliError, match="name the app with --app"):
        _deploy(TargetName.LOCAL, App())
    assert cdk.servers == 0


def test_fails_without_a_cdk_cli_before_the_embedded_aws_is_started(
    target: StubbedTarget, cdk: Cdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise CliError("no CDK CLI")

    monkeypatch.setattr(module, "check_cli", refuse)
    with pytest.raises(CliError, match="no CDK CLI"):
        _deploy(TargetName.LOCAL, App())
    assert cdk.servers == 0
