"""The limit of marks per node and day, with overlapping programs of a node and with an unknown history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from node_health import check, note
from node_health.marks import LOCAL
from node_health.system import LocalSystem, Result
from node_health.watch import Watch

from .doubles import SETTINGS, Cluster, Machine
from .test_check import break_gpu, run

REPLACED_ONCE = [("w0", "Action:Replace")]


def meanwhile(machine: Machine, happens: Callable[[], object]) -> None:
    """It happens once, while the node waits between its claim's decision and the claim."""
    sleep = machine.sleep

    def interrupted(seconds: float) -> None:
        machine.sleep = sleep  # type: ignore[method-assign]
        happens()
        sleep(seconds)

    machine.sleep = interrupted  # type: ignore[method-assign]


def marks_told(cluster: Cluster) -> int:
    return len(note.parse(cluster.nodes["w0"]["extra"]).marks)


def test_a_check_that_begins_before_the_last_one_has_ended_leaves_the_mark_in_slurmctld(cluster: Cluster) -> None:
    machine = cluster["w0"]
    break_gpu(machine)
    run(machine)
    meanwhile(machine, lambda: check.run(machine, SETTINGS, "w0"))
    run(machine)
    assert cluster.reasons == REPLACED_ONCE
    assert marks_told(cluster) == 1


def test_a_check_that_begins_before_the_last_one_has_ended_says_so_and_runs_the_chained_program(cluster: Cluster) -> None:
    machine = cluster["w0"]
    machine.programs["/opt/nhc"] = lambda command, text: Result(7)
    machine.held.add(check.LOCK)
    outcome = check.run(machine, SETTINGS, "w0", ["/opt/nhc"])
    assert (outcome.code, outcome.verdict.why) == (7, "another check of this node is running")
    assert check.REPORT not in machine.files


def test_a_hang_and_a_check_of_one_node_do_not_forget_each_others_mark(cluster: Cluster) -> None:
    machine = cluster["w0"]
    settings = SETTINGS._replace(hang_seconds=10)
    watch = Watch(machine, settings, "w0")
    machine.live("7.0", 0)
    machine.beat("7.0", 0, 5, world=2)
    cluster["w1"].live("7.0", 1)
    cluster["w1"].beat("7.0", 1, 6, world=2, pid=1001)
    other = Watch(cluster["w1"], settings, "w1")
    break_gpu(machine)
    run(machine)

    def hang() -> None:
        for _ in range(20):
            watch.poll()
            other.poll()
            cluster.time += 5

    meanwhile(machine, hang)
    run(machine)
    assert len(cluster.reasons) == 1
    assert marks_told(cluster) == 1


def test_a_mark_that_slurmctld_took_without_an_answer_counts(cluster: Cluster) -> None:
    machine = cluster["w0"]
    answer = cluster.scontrol

    def silent(machine: Machine, arguments: Sequence[str]) -> Result:
        result = answer(machine, arguments)
        return Result(None) if "reason=Action:Replace" in arguments else result

    break_gpu(machine)
    run(machine)
    cluster.scontrol = silent  # type: ignore[method-assign]
    run(machine)
    cluster.scontrol = answer  # type: ignore[method-assign]
    cluster.files.clear()
    break_gpu(cluster.replace("w0"))
    outcome = run(cluster["w0"], times=60)
    assert cluster.reasons == REPLACED_ONCE
    assert "1 marks in a day" in outcome.verdict.why


def test_a_new_node_whose_history_nobody_tells_is_not_marked(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    break_gpu(cluster.replace("w0"))
    cluster.nodes["w0"]["extra"] = ""
    cluster.shared_lost = True
    outcome = run(cluster["w0"], times=60)
    assert cluster.reasons == REPLACED_ONCE
    assert "/fsx does not tell the earlier marks of a node with this name" in outcome.verdict.why


def test_a_node_keeps_its_predecessors_marks_while_somebody_knows_them(cluster: Cluster) -> None:
    break_gpu(cluster["w0"])
    run(cluster["w0"], times=2)
    run(cluster.replace("w0"))
    break_gpu(cluster["w0"])
    cluster.nodes["w0"]["extra"] = ""
    cluster.shared_lost = True
    outcome = run(cluster["w0"], times=60)
    assert cluster.reasons == REPLACED_ONCE
    assert "1 marks in a day" in outcome.verdict.why


def test_a_node_asks_the_shared_directory_for_its_history_once(cluster: Cluster) -> None:
    run(cluster["w0"], times=9)
    assert cluster["w0"].files[LOCAL] == ""
    assert len([command for command in cluster["w0"].commands if command[-1].endswith("shared_child.py")]) == 1


def test_without_a_shared_directory_slurmctld_alone_tells_the_history(cluster: Cluster) -> None:
    settings = SETTINGS._replace(shared_directory=None)
    break_gpu(cluster["w0"])
    run(cluster["w0"], settings, times=2)
    break_gpu(cluster.replace("w0"))
    run(cluster["w0"], settings, times=60)
    assert cluster.reasons == REPLACED_ONCE


def test_a_full_disk_does_not_end_the_check_that_marks(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, text: str) -> None:
        raise OSError(28, "No space left on device")

    break_gpu(cluster["w0"])
    run(cluster["w0"])
    monkeypatch.setattr(cluster["w0"], "append", full)
    monkeypatch.setattr(cluster["w0"], "write", full)
    assert run(cluster["w0"]).code == 0
    assert cluster.reasons == REPLACED_ONCE


class TestLock:
    """On this machine."""

    def test_one_holds_it_and_the_next_gets_it_afterwards(self, tmp_path: Path) -> None:
        path = str(tmp_path / "below" / "lock")
        with LocalSystem().alone(path, 0) as first, LocalSystem().alone(path, 0) as second:
            assert (first, second) == (True, False)
        with LocalSystem().alone(path, 0) as third:
            assert third
        assert Path(path).stat().st_mode & 0o777 == 0o600

    def test_where_no_lock_can_be_made_nobody_is_alone(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with LocalSystem().alone(str(tmp_path / "file" / "lock"), 0) as alone:
            assert not alone
