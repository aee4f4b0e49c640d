"""The presets against CDK's own validation in strict mode, cfn-lint, cdk-nag and checkov: no finding without a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lint import tools
from tests.lint.acknowledgements import TOOLS, Finding, read, unacknowledged, unused
from tests.presets import PRESETS, ROOT, STACKS

FindingsOf = Callable[[str], list[Finding]]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_finding_is_acknowledged(tool: str, findings_of: FindingsOf) -> None:
    unknown = unacknowledged(findings_of(tool), read())
    assert unknown == [], "\n" + "\n".join(f"{finding.rule}  {finding.resource}  {finding.message}" for finding in unknown)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_acknowledgement_is_used(tool: str, findings_of: FindingsOf) -> None:
    of_tool = [entry for entry in read() if entry.tool == tool]
    stale = unused(findings_of(tool), of_tool)
    assert stale == [], "delete from acknowledged.toml:\n" + "\n".join(f"{entry.rule}  {entry.resource}" for entry in stale)


def test_every_stack_of_every_preset_is_linted(assemblies: list[Path]) -> None:
    linted = {(assembly.name, file.name) for assembly in assemblies for file in assembly.glob("*.template.json")}
    assert linted == {(preset, f"{stack}.template.json") for preset in PRESETS for stack in STACKS}


def test_fails_where_cdk_s_own_validation_finds_something(tmp_path: Path) -> None:
    """The other side of an empty report: strict mode is on."""
    assert json.loads((ROOT / "cdk.json").read_text())["context"]["@aws-cdk/core:validateAgainstDefaultRules"] is True
    process = tools.synthesize(tmp_path / "announcement", "announcement", "override:ClusterName=no_underscores_in_names")
    _, errors = process.communicate(timeout=180)
    assert process.returncode != 0
    assert "ValidationFailed" in errors
    found = tools.cdk([tmp_path / "announcement"])
    assert any("no_underscores_in_names" in finding.message for finding in found), found


def test_fails_without_checkov(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tools, "_CHECKOV", tmp_path / "checkov")
    with pytest.raises(RuntimeError, match=r"checkov is missing .*pip install --requirement tests/lint/checkov-requirements\.txt"):
        tools.checkov([])
