"""Every command on clusters: without a cluster, with 100, with 10,000 nodes, interrupted at each call, throttled at each call."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.operate import asking_again, completion
from hyperpod_constructs.cli.operate.batches import SOME_FAILED
from hyperpod_constructs.facts.clusters import MOST_DELETED, MOST_RESTARTED
from tests.cli.operate.entries import (
    CHANGING,
    ENTRIES,
    GOING_ON,
    NODE,
    ON_CLUSTERS,
    Stage,
    interrupt,
    invoke,
    once,
    table_of_commands,
)
from tests.cli.operate.fleet import Call, Fleet, RefusalError
from tests.sleeping import replace_sleep

MANY = 10_000
PAGES = MANY // 100
BATCHES = {"reboot": MOST_RESTARTED, "replace": MOST_RESTARTED, "remove": MOST_DELETED}
THROTTLED = RefusalError("ThrottlingException", "Rate exceeded")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def at(number: int, then: Callable[[], None]) -> Callable[[int, Call], None]:
    """Something that happens at one call of a fleet."""

    def before(earlier: int, call: Call) -> None:
        if earlier == number:
            then()

    return before


def from_then_on(number: int, then: Callable[[], None]) -> Callable[[int, Call], None]:
    """Something that happens at one call of a fleet, and at all that follow."""

    def before(earlier: int, call: Call) -> None:
        if earlier >= number:
            then()

    return before


def modified() -> dict[str, int]:
    """The files of the current directory, with the times of their last changes."""
    return {path.name: path.stat().st_mtime_ns for path in Path.cwd().iterdir()}


def throttle() -> None:
    raise THROTTLED


def said(result: object) -> str:
    return " ".join(getattr(result, "output", "").split())


def calls_of(stage: Stage, name: str) -> list[Call]:
    """The calls of a run without faults."""
    fleet = stage.fleet(name)
    result = invoke(once(name))
    assert result.exit_code == 0, result.output
    return fleet.calls


def test_every_command_of_the_table_has_an_entry() -> None:
    assert set(ENTRIES) == table_of_commands()


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_without_a_cluster_a_sentence_says_so(stage: Stage, name: str) -> None:
    fleet = stage.fleet(name, clusters=0)
    result = invoke(ENTRIES[name].arguments(name, cluster=None))
    assert (result.exit_code, fleet.counted()) == (1, {"ListClusters": 1})
    assert "there is no cluster in account 111122223333, us-west-2: deploy one (hyperpod deploy)" in said(result)


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_of_100_clusters_a_message_names_20(stage: Stage, name: str) -> None:
    fleet = stage.fleet(name, clusters=100)
    result = invoke(ENTRIES[name].arguments(name, cluster=None))
    assert (result.exit_code, fleet.counted()) == (1, {"ListClusters": 1})
    assert result.output.count("cluster-") == 20


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_beside_99_clusters_a_named_one_takes_the_same_calls(stage: Stage, name: str) -> None:
    expected = [call.operation for call in calls_of(stage, name)]
    fleet = stage.fleet(name, clusters=100)
    assert invoke(once(name)).exit_code == 0
    assert [call.operation for call in fleet.calls] == expected


def test_100_clusters_are_listed_by_one_call(stage: Stage) -> None:
    fleet = stage.fleet(clusters=100)
    assert len(json.loads(invoke([*once("clusters"), "-o", "json"]).stdout)) == 100
    assert fleet.counted() == {"ListClusters": 1}


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_10_000_nodes_take_a_call_for_each_100_at_most(stage: Stage, name: str) -> None:
    fleet = stage.fleet(name, workers=MANY - 1)
    arguments = ENTRIES[name].arguments(name, all=True)
    result = invoke([*arguments, *(["--no-watch"] if name == "update-software" else [])])
    batches = sum(fleet.counted()[call] for call in ENTRIES[name].changes)
    assert result.exit_code == 0, result.output[-2000:]
    assert len(fleet.calls) - batches <= PAGES + ENTRIES[name].most_calls
    assert fleet.counted()["ListClusterNodes"] <= PAGES + 1
    assert batches <= -(-MANY // BATCHES.get(name, MANY))
    sent = [call.parameters["NodeIds"] for call in fleet.calls if "NodeIds" in call.parameters]
    assert all(len(ids) == BATCHES[name] for ids in sent[:-1])
    assert len(result.output.splitlines()) <= 7 * MANY + 100


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if NODE in " ".join(entry.one)])
def test_one_of_10_000_nodes_takes_no_listing(stage: Stage, name: str) -> None:
    fleet = stage.fleet(name, workers=MANY - 1)
    assert invoke(once(name)).exit_code == 0
    assert fleet.counted()["ListClusterNodes"] == 0
    assert len(fleet.calls) <= ENTRIES[name].most_calls


def test_10_000_nodes_take_little_memory(stage: Stage) -> None:
    stage.fleet(workers=MANY - 1)
    tracemalloc.start()
    try:
        result = invoke([*once("nodes"), "-o", "json"])
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(json.loads(result.stdout)) == MANY
    assert most < 100_000_000


def test_a_host_name_ends_the_listing(stage: Stage) -> None:
    fleet = stage.fleet(workers=MANY - 1)
    name = fleet.listed[150]["PrivateDnsHostname"].partition(".")[0]
    assert invoke(["reboot", name, "--yes", "--cluster", "trainer", "--target", "aws"]).exit_code == 0
    assert fleet.counted()["ListClusterNodes"] == 2


def test_many_ids_are_listed_and_few_are_looked_up(stage: Stage) -> None:
    fleet = stage.fleet(workers=300)
    ids = [one["InstanceId"] for one in fleet.listed]
    for count, calls in ((3, {"DescribeClusterNode": 3}), (40, {"ListClusterNodes": 1})):
        fleet.calls.clear()
        assert invoke(["reboot", *ids[:count], "--yes", "--cluster", "trainer", "--target", "aws"]).exit_code == 0
        found = {operation: number for operation, number in fleet.counted().items() if operation.endswith(("Node", "Nodes"))}
        found.pop("BatchRebootClusterNodes")
        assert found == calls


def test_a_group_is_listed_until_one_of_its_nodes_runs(stage: Stage) -> None:
    fleet = stage.fleet(workers=MANY - 1)
    assert invoke(["connect", "workers", "--cluster", "trainer", "--target", "aws"]).exit_code == 0
    assert fleet.counted()["ListClusterNodes"] == 1


def test_completion_of_nodes_is_bounded(stage: Stage) -> None:
    fleet = stage.fleet(workers=MANY - 1)
    context = type("Context", (), {"params": {"where": "aws", "cluster": "trainer"}})()
    assert len(completion.node_ids(context, "i-")) == completion.MOST
    assert fleet.counted()["ListClusterNodes"] == completion.MOST // 100


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_names_of_clusters_groups_and_nodes_are_completed(stage: Stage, name: str) -> None:
    """With 10,000 nodes, and with nothing where there is no answer."""
    command: Any = typer.main.get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    parameters = {parameter.name: parameter for parameter in command.params}
    fleet = stage.fleet(clusters=3, workers=MANY - 1)

    def offered(parameter: Any) -> list[str]:
        context = command.context_class(command)
        context.params = {"where": "aws", "cluster": "trainer"}
        return [item.value for item in parameter.shell_complete(context, "")]

    assert offered(parameters["cluster"]) == ["cluster-0", "cluster-1", "trainer"]
    for kind, first in (("group", "controller"), ("groups", "controller"), ("node", NODE), ("nodes", NODE), ("names", NODE)):
        if kind in parameters and getattr(parameters[kind], "is_flag", False) is False:
            found = offered(parameters[kind])
            assert (found[0], len(found) <= completion.MOST) == (first, True), kind
    fleet.before = at(len(fleet.calls), throttle)
    assert offered(parameters["cluster"]) == []


@pytest.mark.parametrize("name", ENTRIES)
def test_an_interruption_at_each_call_says_what_was_done(stage: Stage, name: str) -> None:
    entry, calls = ENTRIES[name], calls_of(stage, name)
    assert calls
    for number, call in enumerate(calls):
        fleet = stage.fleet(name)
        fleet.before = at(number, interrupt)
        files = modified()
        result = invoke(once(name))
        assert result.exit_code == 130, (call, result.output)
        assert modified() == files
        assert "Traceback" not in result.output
        assert result.stderr.count("interrupted") == 1
        changed = entry.changes & {earlier.operation for earlier in calls[: number + 1]}
        assert (entry.undone in result.stderr) == (not changed)
        if call.operation in entry.changes:
            assert "perhaps" in result.output


@pytest.mark.parametrize("name", CHANGING)
def test_an_interrupted_question_changes_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def asked(*_: object, **__: object) -> bool:
        raise typer.Abort

    for module in ("clean", "operate.batches", "operate.scale", "operate.update_software"):
        monkeypatch.setattr(f"hyperpod_constructs.cli.{module}.somebody_is_there", lambda: True)
    monkeypatch.setattr("typer.confirm", asked)
    fleet = stage.fleet(name, workers=9)
    arguments = [argument for argument in once(name) if argument != "--yes"]
    result = invoke(arguments)
    assert (result.exit_code, "interrupted; nothing was done" in said(result)) == (130, True), result.output
    assert not ENTRIES[name].changes & set(fleet.counted())


@pytest.mark.parametrize("name", ENTRIES)
def test_throttling_at_each_call_is_one_sentence_or_passed_over(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    replace_sleep(monkeypatch, lambda seconds: None)
    calls = calls_of(stage, name)
    named = 0
    for number, call in enumerate(calls):
        fleet = stage.fleet(name)
        fleet.before = at(number, throttle)
        result = invoke(once(name))
        assert "Traceback" not in result.output
        sentence = (
            f"AWS throttles {call.operation}: the account sends too many requests (ThrottlingException); try again in a minute"
        )
        assert (result.exit_code, sentence in said(result)) in ((1, True), (0, False)), result.output
        named += sentence in said(result)
    assert (named == 0) == (name == "preflight" or ENTRIES[name].asks_again)


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.asks_again])
def test_throttling_that_lasts_is_named_wherever_it_begins(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pauses: list[float] = []
    replace_sleep(monkeypatch, pauses.append)
    for number, call in enumerate(calls_of(stage, name)):
        pauses.clear()
        fleet = stage.fleet(name)
        fleet.before = from_then_on(number, throttle)
        result = invoke(once(name))
        assert "Traceback" not in result.output
        assert "(ThrottlingException); try again in a minute" in said(result)
        assert result.exit_code in (1, SOME_FAILED), (call, result.output)
        assert 0 < sum(pauses) <= 2 * asking_again.MOST_SECONDS


def test_a_part_of_a_case_is_in_the_archive_or_named_as_missing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_sleep(monkeypatch, lambda seconds: None)
    calls = calls_of(stage, "export-logs")
    arguments = [*once("export-logs"), "-o", "json"]
    stage.fleet("export-logs")
    whole = {file["name"] for file in json.loads(invoke(arguments).stdout)["files"]}
    for number, call in list(enumerate(calls))[1:]:
        fleet = stage.fleet("export-logs")
        fleet.before = from_then_on(number, throttle)
        manifest = json.loads(invoke(arguments).stdout)
        missing = {one["what"].removesuffix(" of imported stacks") for one in manifest["missing"] if one["failed"]}
        lost = whole - {file["name"] for file in manifest["files"]}
        assert missing, call
        assert all(file in missing or (file.startswith("templates/") and "templates" in str(missing)) for file in lost), call


@pytest.mark.parametrize("name", GOING_ON)
def test_going_on_passes_throttling_and_faults_with_longer_pauses(stage: Stage, name: str) -> None:
    fleet = going(stage, name)
    stage.sleep_until(9, interrupt)
    first = first_of_a_look(fleet, name)
    faults = iter([THROTTLED, THROTTLED, RefusalError("InternalFailure", "try later"), THROTTLED])

    def before(earlier: int, call: Call) -> None:
        if len(stage.sleeps) >= 2 and call.operation == first and (fault := next(faults, None)) is not None:
            raise fault

    fleet.before = before
    result = invoke([*ENTRIES[name].arguments(name), *(ENTRIES[name].goes_on or ())])
    assert result.exit_code == 130, result.output
    every = stage.sleeps[0]
    pauses = [min(every * factor, max(every, 60)) for factor in (1, 1, 2, 4, 8, 16, 1)]
    assert stage.sleeps[: len(pauses)] == pauses
    assert f"AWS throttles {first}" in result.stderr
    assert f"AWS fails at {first} (InternalFailure); the next look is in {pauses[4]:.0f} s" in result.stderr


@pytest.mark.parametrize("name", GOING_ON)
@pytest.mark.parametrize("cause", ["denied", "gone"])
def test_going_on_ends_at_once_where_nobody_may_look_or_nothing_is_left(stage: Stage, name: str, cause: str) -> None:
    fleet = going(stage, name)
    first = first_of_a_look(fleet, name)
    denied = RefusalError("AccessDeniedException", f"User: x is not authorized to perform: sagemaker:{first} on resource: *")
    gone = {"FilterLogEvents": RefusalError("ResourceNotFoundException", "gone")}.get(
        first, RefusalError("ResourceNotFound", "gone")
    )

    def before(earlier: int, call: Call) -> None:
        if len(stage.sleeps) >= 2 and call.operation == first:
            raise denied if cause == "denied" else gone

    fleet.before = before
    stage.sleep_until(9, interrupt)
    if name == "clusters" and cause == "gone":
        pytest.skip("a list of clusters is empty then")
    result = invoke([*ENTRIES[name].arguments(name), *(ENTRIES[name].goes_on or ())])
    assert (result.exit_code, len(stage.sleeps)) == (1, 2), result.output
    assert ("is not allowed; this statement grants it" if cause == "denied" else "there is no") in said(result)


def going(stage: Stage, name: str) -> Fleet:
    """A fleet in which work does not end."""
    busy = {"ClusterStatus": "SystemUpdating"} if name == "update-software" else {}
    fleet = stage.fleet(name)
    answer = fleet.answer

    def answered(call: Call) -> dict[str, object]:
        found = answer(call)
        begun = bool(ENTRIES[name].changes & set(fleet.counted()))
        return {**found, **busy} if call.operation == "DescribeCluster" and begun else found

    fleet.answer = answered  # type: ignore[method-assign]
    return fleet


def first_of_a_look(fleet: Fleet, name: str) -> str:
    return {"clusters": "ListClusters", "logs": "FilterLogEvents"}.get(name, "DescribeCluster")
