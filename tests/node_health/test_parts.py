"""Parsers of others' texts: settings, notes, Slurm's output, aggregates, marks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from node_health import aggregate, beats, note
from node_health.errors import NodeHealthError
from node_health.marks import Mark, gather, record
from node_health.settings import read_settings, settings
from node_health.shared import SharedDirectory
from node_health.slurm import Slurm, parse_nodes, parse_pids

from .doubles import Cluster

LINE = (
    "NodeName=ip-10-77-0-4 Arch=x86_64 CoresPerSocket=1 CPUTot=2 AvailableFeatures=(null) Gres=gpu:h100:8(S:0-1),neuron:16 "
    "OS=Linux 6.1.0 #1 SMP PREEMPT State=FAIL+DRAIN ThreadsPerCore=1 MCS_label=N/A Partitions=workers,dev "
    "Comment=rack = 7 Reason=Action:Replace [root@2026-11-21T15:00:00] Extra=node_health:faults=xid:79;marks=5"
)


def test_a_node_is_read_from_slurms_line() -> None:
    (node,) = parse_nodes(LINE + "\n")
    assert (node.name, node.state, node.action) == ("ip-10-77-0-4", "FAIL+DRAIN", "Action:Replace")
    assert note.parse(node.extra) == note.Note(("xid:79",), (5,))
    assert (node.amount("gpu"), node.amount("neuron"), node.amount("tpu")) == (8, 16, 0)


@pytest.mark.parametrize(
    ("gres", "amount"), [("gpu:8", 8), ("gpu:a100:4,gpu:h100:4", 8), ("gpu:3090:2(S:0,1)", 2), ("shard:9,gpu:1", 1), ("", 0)]
)
def test_declared_amounts(gres: str, amount: int) -> None:
    (node,) = parse_nodes(f"NodeName=a Gres={gres} State=IDLE")
    assert node.amount("gpu") == amount


@pytest.mark.parametrize(
    ("state", "lives"),
    [
        ("IDLE", True),
        ("ALLOCATED+DRAIN", True),
        ("DOWN", False),
        ("DOWN+DRAIN", False),
        ("IDLE*", False),
        ("IDLE+POWERED_DOWN", False),
    ],
)
def test_living_nodes(state: str, lives: bool) -> None:
    (node,) = parse_nodes(f"NodeName=a State={state}")
    assert node.lives == lives


@pytest.mark.parametrize("reason", ["action:replace", "Action:Replace now", "Action: Replace", ""])
def test_only_the_exact_reason_is_a_mark(reason: str) -> None:
    (node,) = parse_nodes(f"NodeName=a State=FAIL Reason={reason} [root@2026-11-21T15:00:00]")
    assert node.action is None


def test_fails_to_mark_with_any_other_word() -> None:
    with pytest.raises(ValueError, match="allowed are Action:Replace, Action:Reboot"):
        Slurm(Cluster(["w0"])["w0"], "w0").mark("Action:Repair", "")


def test_tasks_are_those_of_that_very_step() -> None:
    text = "PID JOBID STEPID LOCALID GLOBALID\n11 7 0 0 0\n12 7 0 - -\n13 7 1 0 0\n14 71 0 0 0\n15 7 batch 0 0\n-1 7 extern 0 0\n"
    assert parse_pids(text) == {"7.0": {11, 12}, "7.1": {13}, "71.0": {14}, "7.batch": {15}}


def test_notes_come_back_whatever_the_fault_is_called() -> None:
    chance = random.Random(3)
    for _ in range(500):
        faults = tuple(sorted({"".join(chance.choice("a:/ ;,=%é\n") for _ in range(chance.randrange(1, 9))) for _ in range(3)}))
        made = note.Note(faults, tuple(range(chance.randrange(5))), chance.choice(["", "Action:Reboot"]), chance.randrange(3))
        text = str(made)
        assert note.parse(text) == made
        assert not any(character.isspace() for character in text)
        (node,) = parse_nodes(f"NodeName=a Extra={text} State=IDLE")
        assert note.parse(node.extra) == made


@pytest.mark.parametrize("text", ["", "rack 7", "node_health", "node_health:", "node_health:marks=x,;claim=-1;;=", "{}"])
def test_any_other_text_is_an_empty_note(text: str) -> None:
    assert note.parse(text) == note.Note()


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '{"node": "a"}', '{"node":"a","ranks":{"0":[1]},"restart":0,"number":1,"world":1}']
)
def test_an_aggregate_of_another_form_is_none(text: str) -> None:
    assert aggregate.parse(text) is None


def test_a_heartbeat_of_another_form_is_none() -> None:
    machine = Cluster(["w0"])["w0"]
    machine.beat("7.0", 0, 11)
    (text,) = [text for path, text in machine.files.items() if path.endswith("/7.0/0")]
    assert beats.parse(text) is not None
    for end in range(0, len(text), 7):
        assert beats.parse(text[:end]) is None
    assert beats.parse("null".ljust(len(text))) is None


def test_marks_are_counted_once_though_three_places_know_them() -> None:
    cluster = Cluster(["w0"])
    machine, slurm = cluster["w0"], Slurm(cluster["w0"], "w0")
    shared = SharedDirectory(machine, "/fsx")
    mark = Mark(int(cluster.time), "Action:Reboot")
    record(machine, "w0", shared, mark, gather(machine, "w0", shared, []))
    slurm.mark(mark.action, str(note.Note((), (mark.time,), mark.action)))
    nodes = slurm.nodes()
    assert nodes is not None
    assert gather(machine, "w0", shared, nodes).since("w0", 60, cluster.time) == [mark]


CONFIG: dict[str, Any] = {
    "version": 1,
    "cluster": {"node_recovery": "None"},
    "groups": {"controller": {}, "workers": {}},
    "mounts": {"workers": [{"path": "/fsx"}, {"path": "/home"}], "controller": [{"path": "/fsx"}]},
    "software": {"shared_directory": "/fsx", "health": {"interval_seconds": 5}},
}


def test_settings_of_the_constructs() -> None:
    found = settings(CONFIG)
    assert (found.enabled, found.recovers, found.interval_seconds, found.hang_seconds) == (True, False, 5, 600)
    assert (found.shared_directory, found.mounts, found.group_mounts) == ("/fsx", ("/fsx",), ("/home",))


@pytest.mark.parametrize("document", [{"version": 1}, {"version": 1, "software": {}}, {"software": {"health": None}}])
def test_without_the_key_health_is_off(document: dict[str, Any]) -> None:
    assert not settings(document).enabled


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({**CONFIG, "software": {"health": {"intervall": 5}}}, "unknown key 'intervall', allowed are interval_seconds"),
        ({**CONFIG, "software": {"health": {"hang_seconds": 0}}}, "hang_seconds is 0, it must be a whole number of 1 or more"),
        ({**CONFIG, "software": {"health": {"checks_directory": "d"}}}, "checks_directory is 'd', it must be an absolute path"),
        ({**CONFIG, "cluster": {"node_recovery": "Maybe"}}, "node_recovery is 'Maybe', allowed are Automatic, None"),
        ({**CONFIG, "mounts": {"workers": [7]}}, "must hold a list of objects with a path"),
        ([], "the document is .*, it must be an object"),
    ],
)
def test_fails_for_settings_of_another_form(document: Any, message: str) -> None:
    with pytest.raises(NodeHealthError, match=message):
        settings(document)


@pytest.mark.parametrize(("text", "message"), [(None, "cannot be read"), ("{", "is not JSON"), ("[]", "config.json: the document")])
def test_fails_for_a_file_without_settings(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "config.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(NodeHealthError, match=message):
        read_settings(path)
