"""The table of settings is current, and says everything of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from app_settings import PRESETS
from tools import generate_settings_table
from tools.generate_settings_table import PAGE, main, table


def test_the_page_is_current() -> None:
    assert main(["--check"]) == 0


def test_a_page_that_is_not_current_is_named_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "settings.md"
    page.write_text(PAGE.read_text("utf-8").replace("| `worker_count` | `4` |", "| `worker_count` | `5` |"), "utf-8")
    monkeypatch.setattr(generate_settings_table, "PAGE", page)
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert page.read_text("utf-8") == PAGE.read_text("utf-8")


def test_every_setting_has_its_value_in_each_preset_and_its_meaning() -> None:
    rows = [line.strip("| ").split(" | ") for line in table().splitlines()[2:]]
    assert all(len(row) == len(PRESETS) + 2 and all(row) for row in rows)
    assert ["`worker_count`", "`4`", "`4`", "`32`", "`8`", "`8`", "Number of workers."] in rows
    assert ["`cluster_name`", *["`sagemaker-demo-cluster`"] * 2, "`llm-training-cluster`", "not given"] in [row[:5] for row in rows]
    assert ["`teams`", *["-"] * 4, "`research:5,product:3`"] in [row[:6] for row in rows]
    assert ["`login_group_name`", *["`login`"] * 4, "-"] in [row[:6] for row in rows]
