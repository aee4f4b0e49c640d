"""Names and limits of task governance."""

from __future__ import annotations

import pytest

from hyperpod_constructs.facts import governance


def test_the_service_names_what_a_team_uses() -> None:
    assert governance.namespace("research") == "hyperpod-ns-research"
    assert governance.local_queue("research") == "hyperpod-ns-research-localqueue"
    assert governance.cluster_queue("research") == "hyperpod-ns-research-clusterqueue"
    assert governance.team_group("research") == "hyperpod-ns-research-namespace-level-group"
    assert governance.priority_value("high") == "high-priority"


def test_the_longest_team_fits_into_the_label_of_a_job() -> None:
    team = "t" * 40
    assert governance.TEAM_NAME.mistake("team", team) is None
    assert len(governance.local_queue(team)) == 63
    assert governance.TEAM_NAME.mistake("team", f"{team}t") is not None


@pytest.mark.parametrize(
    ("strategy", "limited", "wrong"), [("Lend", True, True), ("DontLend", False, False), ("LendAndBorrow", True, False)]
)
def test_only_who_borrows_has_a_limit(strategy: str, limited: bool, wrong: bool) -> None:
    assert (governance.borrow_mistake(strategy, limited) is not None) is wrong
