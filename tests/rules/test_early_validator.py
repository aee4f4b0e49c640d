"""The validator that an app starts while Python imports modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.rules import early_validator
from hyperpod_constructs.rules.early_validator import EarlyValidator

PROGRAM = """
import sys
from aws_cdk import App, CfnResource, Stack, Validations
from hyperpod_constructs import EarlyValidator

plugins = EarlyValidator().plugins() if sys.argv[1] == "early" else []
app = App(outdir=sys.argv[2])
Validations.of(app).add_plugins(*plugins)
CfnResource(Stack(app, "Stack"), "Bucket", type="AWS::S3::Bucket", properties={"Naem": "data"})
app.synth()
print(len(plugins))
"""


def report(directory: Path, validator: str, started: int) -> list[dict[str, Any]]:
    """What the CDK's validator reports of a bucket with a property that no bucket has."""
    variables = {key: value for key, value in os.environ.items() if key != "CDK_VALIDATION"}
    command = [sys.executable, "-c", PROGRAM, validator, str(directory)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == f"{started}\n"
    reports: list[dict[str, Any]] = json.loads((directory / "validation-report.json").read_text("utf-8"))["pluginReports"]
    return reports


def test_the_validator_finds_the_same_as_the_one_that_the_cdk_starts(tmp_path: Path) -> None:
    [found] = report(tmp_path / "early", "early", 1)
    assert [found] == report(tmp_path / "own", "own", 0)
    assert any("Naem" in violation["description"] for violation in found["violations"])


def test_no_validator_starts_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDK_VALIDATION", "false")
    assert EarlyValidator().plugins() == []


def test_a_validator_that_cannot_start_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("no engine")

    monkeypatch.delenv("CDK_VALIDATION", raising=False)
    monkeypatch.setattr(early_validator, "CloudFormationValidatePlugin", fail)
    assert EarlyValidator().plugins() == []
