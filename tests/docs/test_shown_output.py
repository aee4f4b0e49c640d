"""What the pages show of `hyperpod` is what it prints. After a change: python -m tests.docs.refresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.operate.entries import ON_CLUSTERS
from tests.docs.pages import PAGES, README, ROOT
from tests.docs.shown import commands, refreshed, write_templates
from tests.docs.terminal_pictures import PICTURES

SHOWING = [page for page in PAGES if commands(page.read_text("utf-8"))]


SHOWN = {page.name: [command.split()[1] for command in commands(page.read_text("utf-8"))] for page in SHOWING}


def test_the_readme_shows_a_check_and_a_plan_and_a_page_all_of_them() -> None:
    assert {name: SHOWN[name] for name in SHOWN if name != "operate.md"} == {
        "README.md": ["check", "plan"],
        "check-plan-cost.md": ["check", "reach", "check", "check", "plan", "cost"],
    }


def test_each_command_on_running_clusters_has_an_example() -> None:
    drawn = {arguments[0] for arguments in PICTURES.values()}
    compared = {"export-logs"}  # by a test of its own, with secrets to mask
    assert {*SHOWN["operate.md"], *drawn, *compared} == {"clusters", *ON_CLUSTERS}


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_docs_show_the_printed_output(page: Path, tmp_path: Path) -> None:
    write_templates(tmp_path)
    text = page.read_text("utf-8")

    assert text == refreshed(text, tmp_path)


def test_the_readme_is_read_in_five_minutes() -> None:
    lines = README.read_text("utf-8").splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 100] == []
