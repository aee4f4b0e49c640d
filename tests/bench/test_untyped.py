"""The lowest floor of the synthesis."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import synthesis
from bench.expressions import FloorError
from bench.untyped import write_untyped_floor


def test_the_untyped_floor_emits_the_resources_of_the_app_from_literals(tmp_path: Path) -> None:
    text = synthesis.prepare(tmp_path).untyped.read_text("utf-8")
    assert text.count("cdk.CfnResource(") == synthesis.resource_count(synthesis.prepare(tmp_path))
    assert [line for line in text.splitlines() if line.startswith(("import", "from"))] == ["import aws_cdk as cdk"]


def test_fails_when_the_untyped_floor_emits_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "write_untyped_floor", lambda assembly: write_untyped_floor(assembly).replace("m5.xlarge", "x"))
    with pytest.raises(FloorError, match=r"untyped floor .*Cluster\.template\.json/SlurmCluster"):
        synthesis.prepare(tmp_path)
