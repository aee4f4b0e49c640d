"""The Python of the pages runs, makes templates without findings, and the data is well formed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from hyperpod_constructs.cli.inputs import read_prices
from hyperpod_constructs.cost.prices import Prices
from tests.docs.pages import ROOT, Place, fenced


def _assert_succeeds(command: list[str], directory: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CDK_OUTDIR": str(directory / "out")}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.parametrize("place", fenced("python"), ids=lambda place: place.id)
def test_python_runs_and_makes_nothing_that_the_rules_find(place: Place, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(place.block.text, "utf-8")

    _assert_succeeds([sys.executable, "-W", "error", "example.py"], tmp_path)

    if (tmp_path / "out").exists():
        program = "from hyperpod_constructs.cli.main import main; main()"
        _assert_succeeds([sys.executable, "-c", program, "check", "out", "--fail-on", "warning"], tmp_path)


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
