"""Every command on clusters with the permissions of its grant alone, and without each single one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_constructs.cli.operate import denied
from hyperpod_constructs.facts import session_manager
from hyperpod_constructs.facts.cluster_actions import MANAGE_NODES, READ, READ_LOGS
from tests.cli.operate.conftest import ARN
from tests.cli.operate.entries import ENTRIES, Stage, invoke, once
from tests.cli.operate.fleet import DENIED, Call, Fleet, RefusalError
from tests.sleeping import replace_sleep

_READ = frozenset(f"sagemaker:{name}" for name in READ)
GIVEN = {
    None: frozenset(),
    "read": _READ,
    "manage_nodes": _READ | {f"sagemaker:{name}" for name in MANAGE_NODES},
    "read_logs": _READ | {READ_LOGS},
    "connect": _READ | {"ssm:StartSession", *session_manager.OWN_SESSIONS},
}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    replace_sleep(monkeypatch, lambda seconds: None)
    return Stage(tmp_path, monkeypatch)


def peopled(stage: Stage, name: str) -> Fleet:
    """A fleet in which a node has failed."""
    fleet = stage.fleet(name)
    fleet.fail()
    return fleet


def only(fleet: Fleet, allowed: frozenset[str]) -> None:
    """Let a fleet refuse every other action."""

    def before(earlier: int, call: Call) -> None:
        if call.action not in allowed:
            raise RefusalError(DENIED, f"User: x is not authorized to perform: {call.action} on resource: {ARN} because no policy")

    fleet.before = before


def asked(stage: Stage, name: str) -> frozenset[str]:
    """The actions of a run."""
    fleet = peopled(stage, name)
    assert invoke(once(name)).exit_code == 0
    return frozenset(call.action for call in fleet.calls)


@pytest.mark.parametrize("name", ENTRIES)
def test_the_grant_gives_all_that_a_command_asks_for_but_what_is_written_down(stage: Stage, name: str) -> None:
    entry = ENTRIES[name]
    assert asked(stage, name) - GIVEN[entry.grant] == entry.beyond | ((entry.spared | entry.named) - GIVEN[entry.grant])


@pytest.mark.parametrize("name", ENTRIES)
def test_a_command_works_with_its_grant_and_what_is_written_down(stage: Stage, name: str) -> None:
    entry = ENTRIES[name]
    only(peopled(stage, name), GIVEN[entry.grant] | entry.beyond)
    result = invoke(once(name))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", ENTRIES)
def test_without_each_single_action_the_statement_that_grants_it_is_printed(stage: Stage, name: str) -> None:
    entry, actions = ENTRIES[name], asked(stage, name)
    for action in actions:
        only(peopled(stage, name), actions - {action})
        result = invoke(once(name))
        if action in entry.named:
            assert (result.exit_code, f"{action} is not allowed" in result.output) == (3, True), (action, result.output)
            continue
        if action in entry.spared:
            assert result.exit_code == 0, (action, result.output)
            assert name != "preflight" or f"{action} is not allowed" in result.output
            continue
        assert (result.exit_code, f"{action} is not allowed" in result.output) == (1, True), (action, result.output)
        statement = json.JSONDecoder().raw_decode(result.output, result.output.index("{"))[0]
        assert statement == {"Effect": "Allow", "Action": action, "Resource": ARN}
        given = f"cluster.grants.{entry.grant}(role)" in result.output or (entry.grant is not None and action in _READ)
        assert given == (action in GIVEN[entry.grant])


def test_each_action_of_the_grants_is_explained_with_its_grant() -> None:
    for grant, actions in GIVEN.items():
        for action in actions - (_READ if grant != "read" else frozenset()):
            sentence = denied.said(f"User: x is not authorized to perform: {action} on resource: {ARN}")
            assert f"cluster.grants.{grant}(role)" in str(sentence)
