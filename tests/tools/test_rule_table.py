"""The page of rules is current, and says of each what a reader needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_constructs.rules.checking import load_catalogue
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.rules.rule import Rule
from tools import generate_rule_table
from tools.generate_rule_table import main, page


@pytest.fixture
def rule() -> Rule:
    known = load_catalogue()["HP-GRP-001"]
    return replace(known, title="a|b * c", why="it fails", fix="write\nd", source="https://example.com/rule")


def test_the_page_is_current() -> None:
    assert main(["--check"]) == 0


def test_a_page_that_is_not_current_is_named_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_rule_table, "PAGE", tmp_path / "docs" / "rules.md")
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_a_row_links_the_source_and_escapes_markdown(rule: Rule) -> None:
    row = "| [HP-GRP-001](https://example.com/rule)<br>**error** | a\\|b \\* c | it fails | write d |"
    assert row in page([rule]).splitlines()
    assert "<br>warning |" in page([replace(rule, level=Level.WARNING)])
    assert "<br>**error**<br>formerly HP-OLD-001, HP-OLD-002 |" in page([replace(rule, aliases=("HP-OLD-001", "HP-OLD-002"))])


def test_the_rules_of_a_module_stand_under_its_topic(rule: Rule) -> None:
    text = page([rule])
    assert "## Instance groups: names, counts, volumes, mounts and hardware settings\n\n| Rule |" in text
    assert "There are 1, and 1 of them are errors." in text


def test_every_rule_has_a_demand_a_reason_and_a_fix() -> None:
    for rule in load_catalogue().values():
        assert all((rule.title, rule.why, rule.fix, rule.allowed)), rule.id
        assert rule.source.startswith("https://"), rule.id
        assert not any(text.endswith(".") for text in (rule.title, rule.fix)), rule.id
