from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template
from constructs import Construct

from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate

from .conftest import MakeCluster

HANDLERS = Path(sys.modules["hyperpod_constructs.custom_resources.provider"].__file__ or "").parent / "handlers"


def asset(app: App) -> Path:
    """The folder that becomes the handlers' code."""
    [found] = {path.parent.parent for path in Path(app.synth().directory).glob("asset.*/handlers/readiness_gate.py")}
    return found


def test_waits_at_most_as_long_as_cloudformation(stack: Stack, make_cluster: MakeCluster) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    [machine] = Template.from_stack(stack).find_resources("AWS::StepFunctions::StateMachine").values()
    definition = json.dumps(machine["Properties"]["DefinitionString"])
    assert r"\"IntervalSeconds\":10,\"MaxAttempts\":360,\"BackoffRate\":1" in definition


def test_every_function_writes_to_the_same_log_group(stack: Stack, make_cluster: MakeCluster) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    template = Template.from_stack(stack)
    [(name, group)] = template.find_resources("AWS::Logs::LogGroup").items()
    assert group["Properties"]["RetentionInDays"] == 30
    assert group["DeletionPolicy"] == "Delete"
    functions = template.find_resources("AWS::Lambda::Function").values()
    assert {function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for function in functions} == {name}
    assert "ManagedPolicyArns" not in json.dumps(template.to_json())


def test_without_waiting_there_is_no_state_machine(stack: Stack) -> None:
    HandlerProvider.of(stack, "Provider", module="readiness_gate", waits=False)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::StepFunctions::StateMachine", 0)
    template.resource_count_is("AWS::Lambda::Function", 2)


def test_fails_when_the_id_is_taken(stack: Stack) -> None:
    Construct(stack, "Taken")
    with pytest.raises(ValueError, match="the stack has a construct 'Taken' of another kind"):
        HandlerProvider.of(stack, "Taken", module="readiness_gate")


def test_asset_holds_the_handlers_only_and_runs_by_itself(app: App, stack: Stack, make_cluster: MakeCluster) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    folder = asset(app)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files == {
        f"handlers/{path.relative_to(HANDLERS).as_posix()}"
        for path in HANDLERS.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    program = (
        "import handlers.readiness_gate as gate, handlers.aws as aws, sys\n"
        "assert gate.on_event({'RequestType': 'Delete', 'PhysicalResourceId': 'x'}, None)\n"
        "assert not any(name.startswith(('hyperpod_constructs', 'aws_cdk')) for name in sys.modules)\n"
        "assert hasattr(aws.client('sagemaker'), 'list_cluster_events')\n"
    )
    environment = {**os.environ, "AWS_DEFAULT_REGION": "us-west-2", "PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # fixed text
    assert done.returncode == 0, done.stderr


def test_asset_does_not_change_when_python_has_compiled_the_handlers(make_cluster: MakeCluster, tmp_path: Path) -> None:
    names = []
    for folder in (HANDLERS / "__pycache__", HANDLERS / "models" / "__pycache__"):
        app = App()
        stack = Stack(app, "Stack")
        ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
        names.append(asset(app).name)
        made = not folder.exists()
        folder.mkdir(exist_ok=True)
        stray = folder / "stray.cpython-311.pyc"
        stray.write_bytes(os.urandom(8))
        try:
            app = App()
            stack = Stack(app, "Stack")
            ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
            names.append(asset(app).name)
        finally:
            stray.unlink()
            if made:
                folder.rmdir()
    assert len(set(names)) == 1
