"""Attempts to silence the rules: a failing rule is a finding, and the synthesis fails."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs import ExecutionRole
from hyperpod_constructs.rules import checking as engine
from hyperpod_constructs.rules import rule as registry
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Finding, Hit, Level
from hyperpod_constructs.rules.rule import Check, Rule
from hyperpod_constructs.templates.model import Model
from tests.templates.models import model_of

BROKEN = "HP-TST-001"
APP = """
from aws_cdk import App, Stack
from hyperpod_constructs import ClusterNetwork
app = App()
ClusterNetwork(Stack(app, "Stack"), "Network", availability_zone_id="usw2-az4")
app.synth()
"""
MODEL = model_of("Resources: {A: {Type: X}, B: {Type: X}}")


def a_rule(check: Check, id: str = BROKEN) -> Rule:
    return Rule(id=id, level=Level.WARNING, title="t", why="w", fix="f", source="s", allowed="a", silences=(), check=check)


def every_x(model: Model) -> Iterator[Hit]:
    for resource in model.resources("X"):
        yield Hit(resource, (), f"{resource.logical_id} is an X")


def raises(error: BaseException) -> Check:
    def check(model: Model) -> Iterator[Hit]:
        yield from every_x(model)
        raise error

    return check


def yields(*hits: Any) -> Check:
    return lambda model: iter(hits)


def recurses(model: Model) -> Iterator[Hit]:
    yield from recurses(model)


def never_ends(model: Model) -> Iterator[Hit]:
    while True:
        yield from every_x(model)


class NoTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


A = MODEL.resources()[0]
BROKEN_RULES: dict[str, tuple[Check, str]] = {
    "raises": (raises(KeyError("InstanceGroups")), r"KeyError: 'InstanceGroups' \(at .*test_silenced_rules\.py:\d+, in check\)"),
    "recurses": (recurses, "RecursionError: maximum recursion depth exceeded"),
    "takes all memory": (raises(MemoryError()), "MemoryError: "),
    "ends the program": (raises(SystemExit(0)), "SystemExit: 0"),
    "raises what has no text": (raises(NoTextError()), "NoTextError: its text cannot be shown"),
    "raises a novel": (raises(ValueError("x" * 10_000)), r"ValueError: x{500}…"),
    "returns nothing": (lambda model: None, "TypeError: 'NoneType' object is not iterable"),  # type: ignore[dict-item,return-value]
    "yields a text": (yields("HP-NET-001"), "TypeError: it yielded str, which is not a Hit"),
    "yields no text": (yields(Hit(A, (), None)), "TypeError: it yielded a Hit whose text is no text"),  # type: ignore[arg-type]
    "yields no resource": (yields(Hit(None, (), "x")), "TypeError: it yielded a Hit whose resource"),  # type: ignore[arg-type]
    "covers a list": (yields(Hit(A, (), "x", covers=([],))), "TypeError: it yielded a Hit whose resource"),  # type: ignore[arg-type]
    "yields no path": (yields(Hit(A, 7, "x")), "TypeError: it yielded a Hit whose path"),  # type: ignore[arg-type]
    "never ends": (never_ends, r"OverflowError: it found more than 10,000 mistakes"),
}


@pytest.mark.parametrize("broken", BROKEN_RULES)
def test_a_rule_that_fails_costs_only_itself(broken: str) -> None:
    function, message = BROKEN_RULES[broken]
    failed, *others = check(MODEL, rules=[a_rule(function), a_rule(every_x, "HP-TST-002")])
    assert (failed.rule, failed.level, failed.fatal) == (BROKEN, Level.ERROR, True)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(failed.message)
    assert [finding.resource for finding in others if finding.rule == "HP-TST-002"] == ["A", "B"]


def test_findings_before_the_failure_of_a_rule_are_kept() -> None:
    found = check(MODEL, rules=[a_rule(raises(KeyError()))])
    assert [finding.resource for finding in found] == ["", "A", "B"]


def test_a_failure_is_acknowledged_by_nobody() -> None:
    model = model_of('Resources: {A: {Type: X, Metadata: {HyperPodRules: {Acknowledge: [{Rule: HP-TST-001, Reason: "quiet"}]}}}}')
    (failed,) = check(model, rules=[a_rule(raises(KeyError()))])
    assert failed.fatal


STRANGE = ["text", 7, None, [], [[]], [{"Rule": ["HP-TST-001"], "Reason": {}}], [{"Rule": BROKEN, "Reason": " "}], {"Ref": "A"}]


@pytest.mark.parametrize("metadata", STRANGE, ids=str)
def test_a_strange_acknowledgement_accepts_nothing(metadata: Any) -> None:
    body = {"Resources": {"A": {"Type": "X", "Metadata": {"HyperPodRules": {"Acknowledge": metadata}}}}}
    assert [finding.resource for finding in check(Model.of({"t": body}), rules=[a_rule(every_x)])] == ["A"]


@pytest.fixture
def broken_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One module of the catalogue cannot be imported; the others have registered their rules."""
    load_catalogue()
    imported = importlib.import_module

    def broken(name: str) -> Any:
        if name.endswith(".catalogue.slurm"):
            raise ImportError("half of the file is missing")
        return imported(name)

    monkeypatch.setattr(importlib, "import_module", broken)
    engine.broken_modules.cache_clear()
    yield
    engine.broken_modules.cache_clear()


@pytest.mark.usefixtures("broken_module")
def test_a_module_that_cannot_be_imported_is_a_finding() -> None:
    (failed,) = check(MODEL)
    assert (failed.rule, failed.fatal) == ("HP-RULES-002", True)
    assert "ImportError: half of the file is missing" in failed.message


def untrusted(context: dict[str, Any] | None = None) -> App:
    """An app with one error: a role that SageMaker cannot assume."""
    app = App(context=context)
    stack = Stack(app, "Stack")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    ExecutionRole(stack, "Own")
    from aws_cdk import aws_sagemaker as sagemaker

    group = sagemaker.CfnCluster.ClusterInstanceGroupProperty(
        instance_group_name="a", instance_type="ml.m5.xlarge", instance_count=1, execution_role=role.role_arn
    )
    sagemaker.CfnCluster(stack, "Bare", instance_groups=[group])
    return app


def violations(app: App) -> dict[str, dict[str, Any]]:
    """The report of a failed synthesis, by rule."""
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    content = json.loads(Path(app.outdir, "validation-report.json").read_text())
    (plugin,) = [plugin for plugin in content["pluginReports"] if plugin["pluginName"] == "hyperpod"]
    return {violation["ruleName"]: violation for violation in plugin["violations"]}


@pytest.mark.parametrize("given", ["nowhere.json", "", " ", "/dev/zero", "\0", 7, ["a"]], ids=repr)
def test_a_wrong_previous_template_switches_no_rule_off(given: Any) -> None:
    found = violations(untrusted({"hyperpod:previous-template": given}))
    assert found["HP-RULES-004"]["severity"] == "fatal"
    assert "HP-ROL-001" in found


def test_a_rule_that_fails_fails_the_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    load_catalogue()
    monkeypatch.setitem(registry._RULES, BROKEN, a_rule(raises(KeyError("x"))))
    found = violations(untrusted())
    assert found[BROKEN]["severity"] == "fatal"
    assert "HP-ROL-001" in found


def finding(**parts: Any) -> Finding:
    texts = dict.fromkeys(("template", "resource", "path", "allowed", "message", "why", "fix", "source"), "x")
    return Finding(**{"rule": BROKEN, "level": Level.ERROR, "construct": None, "found": None, **texts, **parts})


@pytest.mark.parametrize("parts", [{"message": None}, {"fix": 7}, {"source": b"x"}, {"resource": ["x"]}, {"rule": None}], ids=str)
def test_a_finding_that_cdk_does_not_take_is_replaced(monkeypatch: pytest.MonkeyPatch, parts: dict[str, Any]) -> None:
    from hyperpod_constructs.rules import plugin

    found = plugin._findings
    monkeypatch.setattr(plugin, "_findings", lambda model: [finding(**parts), *found(model)])
    reported = violations(untrusted())
    assert reported["HP-RULES-005"]["severity"] == "fatal"
    assert "HP-ROL-001" in reported


def test_a_surrogate_in_a_finding_reaches_the_report_as_its_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperpod_constructs.rules import plugin

    monkeypatch.setattr(plugin, "_findings", lambda model: [finding(message="half \ud800")])
    assert "half \\ud800" in violations(untrusted())[BROKEN]["description"]


@pytest.mark.parametrize("part", ["_model", "_assembly", "_findings", "_losses", "_files"])
def test_no_stage_of_the_plugin_fails_in_silence(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    from hyperpod_constructs.rules import plugin

    def failing(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr(plugin, part, failing)
    assert any(violation["severity"] == "fatal" for violation in violations(untrusted()).values())


def outside_pytest(**more: str) -> dict[str, str]:
    """The environment of a user's program: CDK behaves differently under pytest."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return kept | {"CDK_VALIDATION": "false", "PYTHONPATH": str(Path(__file__).parents[2])} | more


@pytest.mark.parametrize("command", ["app", "cdk"])
def test_a_synthesis_with_a_wrong_previous_template_exits_with_an_error(tmp_path: Path, command: str) -> None:
    """CDK's command line treats a plug-in that raises like one without findings."""
    app = tmp_path / "app.py"
    app.write_text(APP)
    context = json.dumps({"hyperpod:previous-template": "nowhere.json"})
    (tmp_path / "cdk.json").write_text(f'{{"app": "{sys.executable} app.py", "context": {context}}}')
    commands = {"app": [sys.executable, str(app)], "cdk": ["cdk", "synth", "--quiet"]}
    ended = subprocess.run(  # noqa: S603
        commands[command], cwd=tmp_path, env=outside_pytest(CDK_CONTEXT_JSON=context), capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0
    assert "HP-RULES-004" in ended.stdout + ended.stderr
