"""The list of single mistakes: each is found, by one finding, and the templates that they are made in are clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.templates.model import load
from tests.rules.wrong_templates.bases import BASES, base
from tests.rules.wrong_templates.sample import WrongTemplate, listed, written


@pytest.mark.parametrize("name", BASES)
def test_a_correct_template_has_no_findings(name: str, tmp_path: Path) -> None:
    found = check(load(written(base(name), tmp_path)))

    assert [f"{finding.rule} {finding.resource}: {finding.message}" for finding in found] == []


@pytest.mark.parametrize("mistake", listed(), ids=lambda mistake: mistake.name)
def test_a_mistake_is_one_finding(mistake: WrongTemplate, tmp_path: Path) -> None:
    found = check(load(written(mistake.templates(), tmp_path)))

    levels = [(finding.rule, str(finding.level)) for finding in found]
    assert levels == [(mistake.rule, "error" if mistake.warning is None else "warning")], [finding.message for finding in found]


@pytest.mark.parametrize("mistake", listed(), ids=lambda mistake: mistake.name)
def test_a_mistake_changes_its_template(mistake: WrongTemplate) -> None:
    assert mistake.templates() != base(mistake.base)


def test_the_list_is_long_and_mostly_of_mistakes_that_somebody_made() -> None:
    mistakes = listed()
    fatal = [mistake for mistake in mistakes if mistake.warning is None]

    assert len({mistake.name for mistake in mistakes}) == len(mistakes)
    assert len(fatal) >= 60
    assert sum(mistake.reported for mistake in fatal) * 2 >= len(fatal)
    assert {mistake.base for mistake in mistakes} == set(BASES)
    assert {mistake.rule for mistake in mistakes} <= set(load_catalogue())
    assert all(mistake.source.startswith("https://") for mistake in mistakes)
