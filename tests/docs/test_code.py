"""The Python of the pages runs, makes templates without findings, and the data is well formed."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from functools import partial
from pathlib import Path

import aws_cdk
import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.inputs import read_prices
from hyperpod_constructs.cost.prices import Prices
from tests.docs.pages import ROOT, Place, fenced


@pytest.mark.parametrize("place", fenced("python"), ids=lambda place: place.id)
def test_python_runs_and_makes_nothing_that_the_rules_find(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(aws_cdk, "App", partial(aws_cdk.App, outdir=str(out)))
    monkeypatch.chdir(tmp_path)

    exec(compile(place.block.text, place.id, "exec"), {"__name__": "__main__"})

    if "synth()" in place.block.text:
        done = CliRunner().invoke(app, ["check", str(out), "--fail-on", "warning"])
        assert done.exit_code == 0, done.output


def test_every_price_is_documented() -> None:
    page = (ROOT / "docs" / "check-plan-cost.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    in_a_file = {field.name for field in fields(Prices)} - {"day"}
    assert in_a_file <= {key for row in rows for key in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize("place", fenced("json"), ids=lambda place: place.id)
def test_prices_can_be_used(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(json.loads(place.block.text)), "utf-8")
    assert read_prices(file).label.startswith("our contract")
