"""The hang detector on a cluster of doubles: one rank on each of four nodes, unless a test says otherwise."""

from __future__ import annotations

import json
import signal

import pytest
from node_health import check, hang
from node_health.hang import Place
from node_health.heartbeat import DIRECTORY
from node_health.watch import Watch

from .doubles import SETTINGS, Cluster

STEP = "7.0"
IN_COLLECTIVE_5, BEFORE_COLLECTIVE_5 = 11, 10


class Job:
    """A step with a rank on each node, and the detector of each node."""

    def __init__(self, cluster: Cluster, step: str = STEP) -> None:
        self.cluster = cluster
        self.step = step
        self.watches = {name: Watch(machine, SETTINGS, name) for name, machine in cluster.machines.items()}
        for rank, machine in enumerate(cluster.machines.values()):
            machine.live(step, rank)

    def beat(self, *progress: int, **header: object) -> None:
        machines = list(self.cluster.machines.values())
        for rank, value in enumerate(progress):
            machines[rank].beat(self.step, rank, value, **header)

    def poll(self, times: int = 1) -> None:
        for _ in range(times):
            for watch in self.watches.values():
                watch.poll()
            self.cluster.time += 10

    @property
    def killed(self) -> dict[str, list[tuple[int, int]]]:
        return {name: machine.killed for name, machine in self.cluster.machines.items() if machine.killed}


@pytest.fixture
def job(cluster: Cluster) -> Job:
    return Job(cluster)


def test_the_rank_that_does_not_reach_the_collective_is_the_culprit(job: Job) -> None:
    job.beat(IN_COLLECTIVE_5, BEFORE_COLLECTIVE_5, IN_COLLECTIVE_5, IN_COLLECTIVE_5)
    job.poll(20)
    assert job.cluster.reasons == [("w1", "Action:Replace")]
    assert job.killed == {"w1": [(1001, signal.SIGKILL)]}
    assert "rank 1 on w1 lag after the collective of step 4, the others wait" in job.cluster["w3"].log


def test_every_rank_is_dumped_before_anything_is_marked_or_killed(job: Job) -> None:
    job.beat(IN_COLLECTIVE_5, BEFORE_COLLECTIVE_5, IN_COLLECTIVE_5, IN_COLLECTIVE_5)
    while not job.cluster.reasons:
        job.poll()
        dumps = [name for name in job.cluster.files if name.endswith(".txt") and "rank-" in name]
        assert not job.cluster.reasons or len(dumps) == 4
    assert sorted(dumps) == [f"hang/{STEP}.0/w{rank}/rank-{rank}.txt" for rank in range(4)]
    events = job.cluster["w1"].events
    assert events.index(f"share hang/{STEP}.0/w1/rank-1.txt") < events.index("kill 1001")


def test_a_job_that_moves_is_left_alone(job: Job) -> None:
    for step in range(1, 60):
        job.beat(*[2 * step] * 4)
        job.poll()
    assert (job.cluster.reasons, job.killed) == ([], {})


def test_nothing_is_decided_before_the_time(job: Job) -> None:
    job.beat(11, 10, 11, 11)
    job.poll(9)
    assert job.cluster.reasons == []


@pytest.mark.parametrize("progress", [(11, 11, 11, 11), (10, 10, 10, 10), (10, 10, 11, 11), (0, 0, 0, 0), (10, 11, 11, 10)])
def test_fails_to_tell_a_culprit_and_replaces_nobody(job: Job, progress: tuple[int, ...]) -> None:
    job.beat(*progress)
    job.poll(40)
    assert (job.cluster.reasons, job.killed) == ([], {})
    assert "culprit unknown" in job.cluster["w0"].log
    assert f"hang/{STEP}.0/w0/rank-0.txt" in job.cluster.files


def test_a_rank_without_a_heartbeat_leaves_the_culprit_unknown(job: Job) -> None:
    job.beat(11, 10, 11)
    job.poll(40)
    assert (job.cluster.reasons, job.killed) == ([], {})
    assert "no live heartbeat of rank 3 of 4" in job.cluster["w0"].log


def test_a_lost_shared_directory_leaves_the_culprit_unknown(job: Job) -> None:
    job.beat(11, 10, 11, 11)
    job.cluster.shared_lost = True
    job.poll(40)
    assert (job.cluster.reasons, job.killed) == ([], {})
    assert any("/var/log/hyperpod/hang/" in path for path in job.cluster["w1"].files), "the dumps stay on the node"


def test_a_step_within_one_node_needs_no_shared_directory(cluster: Cluster) -> None:
    machine = cluster["w0"]
    machine.live(STEP, 0, 1)
    machine.beat(STEP, 0, 11, world=2)
    machine.beat(STEP, 1, 10, world=2)
    check.run(machine, SETTINGS, "w0")
    cluster.shared_lost = True
    watch = Watch(machine, SETTINGS, "w0")
    for _ in range(20):
        watch.poll()
        cluster.time += 10
    assert cluster.reasons == [("w0", "Action:Replace")]
    assert machine.killed == [(1000, signal.SIGKILL), (1001, signal.SIGKILL)]


def test_a_refused_mark_kills_nothing(job: Job) -> None:
    for name in ("w2", "w3"):
        job.cluster.nodes[name].update(state="FAIL", reason="Action:Replace")
    job.beat(11, 10, 11, 11)
    job.poll(40)
    assert job.killed == {}
    assert "nothing killed: the cluster has 2 marks" in job.cluster["w1"].log


def test_a_refused_mark_is_asked_for_again(job: Job) -> None:
    job.cluster.down = True
    job.beat(11, 10, 11, 11)
    job.poll(15)
    assert "nothing killed: slurmctld does not answer" in job.cluster["w1"].log
    job.cluster.down = False
    job.poll(10)
    assert job.cluster.reasons == [("w1", "Action:Replace")]
    assert job.killed == {"w1": [(1001, signal.SIGKILL)]}


def test_a_culprit_that_is_marked_already_is_killed(job: Job) -> None:
    """The detector was killed between mark and kill, or a check marked the node for the cause of the hang."""
    job.cluster.nodes["w1"].update(state="FAIL", reason="Action:Replace")
    job.beat(11, 10, 11, 11)
    job.poll(20)
    assert job.cluster.reasons == []
    assert job.killed == {"w1": [(1001, signal.SIGKILL)]}


def test_a_node_that_takes_dumps_for_long_is_still_believed(job: Job) -> None:
    job.beat(11, 10, 11, 11)
    job.poll(5)
    for _ in range(8):  # every node except the culprit's is busy with its dumps
        job.watches["w1"].poll()
        job.cluster.time += 10
    job.poll(10)
    assert job.cluster.reasons == [("w1", "Action:Replace")]


def test_node_recovery_none_kills_nothing(cluster: Cluster) -> None:
    job = Job(cluster)
    job.watches = {name: Watch(machine, SETTINGS._replace(recovers=False), name) for name, machine in cluster.machines.items()}
    job.beat(11, 10, 11, 11)
    job.poll(40)
    assert (cluster.reasons, job.killed) == ([], {})


def test_ranks_that_wait_rightly_do_not_hang(job: Job) -> None:
    job.beat(11, 10, 11, 11, paused=True)
    job.poll(40)
    assert (job.cluster.reasons, job.killed) == ([], {})


def test_a_replaced_node_is_not_replaced_for_its_predecessors_beats(job: Job) -> None:
    """An endless loop: heartbeats from before the replacement made each new node the culprit again."""
    cluster = job.cluster
    job.beat(11, 10, 11, 11)
    job.poll(20)
    assert len(cluster.reasons) == 1
    stale = dict(cluster.files)
    unlimited = SETTINGS._replace(max_marks_per_node_per_day=99, max_marks_per_cluster_per_hour=99)
    for attempt in range(1, 6):
        machine = cluster.replace("w1")
        cluster.files.update(stale)
        machine.beat(STEP, 1, 10)  # the worst case: even the file on the node is back
        step = f"7.{attempt}"
        for rank, other in enumerate(cluster.machines.values()):
            other.pids.clear()
            other.live(step, rank)
        retried = Job(cluster, step)
        retried.watches = {name: Watch(found, unlimited, name) for name, found in cluster.machines.items()}
        for moved in range(1, 40):
            retried.beat(*[2 * moved] * 4)
            retried.poll()
    assert len(cluster.reasons) == 1


def test_beats_go_with_their_step_once_their_processes_are_gone(job: Job) -> None:
    machine, path = job.cluster["w1"], f"{DIRECTORY}/{STEP}/1"
    job.beat(10, 10, 10, 10)
    machine.pids[STEP] = set()  # a task that Slurm does not list yet has written its first beat
    job.poll()
    assert path in machine.files
    del machine.files["/proc/1001/stat"]
    job.poll()
    assert path not in machine.files


def test_a_requeued_job_does_not_believe_what_it_wrote_before(job: Job) -> None:
    """The same job and step number again: the shared directory has files of the earlier incarnation."""
    job.beat(11, 10, 11, 11)
    job.poll(5)
    left = dict(job.cluster.files)
    again = Job(Cluster(["w0", "w1", "w2", "w3"]))
    again.cluster.files.update(left)
    again.watches = {"w1": again.watches["w1"]}  # only this node has come up so far
    again.beat(0, 4, 0, 0, restart=1)
    again.poll(40)
    assert again.cluster.reasons == []
    assert "no live heartbeat of ranks 0, 2, 3 of 4" in again.cluster["w1"].log


@pytest.mark.parametrize("header", [{"pid": 999}, {"start": 76}, {"world": "4"}, {"signal": -1}])
def test_a_beat_of_no_live_task_is_nobodys(job: Job, header: dict[str, object]) -> None:
    job.beat(11, 10, 11, 11, **header)
    job.poll(40)
    assert (job.cluster.reasons, job.killed) == ([], {})
    assert "/var/lib/hyperpod/health/hang.json" not in job.cluster["w1"].files


def test_a_beat_of_another_user_is_nobodys(job: Job) -> None:
    job.beat(11, 10, 11, 11)
    job.cluster["w1"].owners[f"{DIRECTORY}/{STEP}/1"] = 1001
    job.poll(40)
    assert job.killed == {}


def test_a_straggler_is_reported_and_not_replaced(job: Job) -> None:
    for step in range(1, 40):
        for rank, machine in enumerate(job.cluster.machines.values()):
            machine.beat(STEP, rank, 2 * step, busy=2.0 if rank == 2 else 1.0)
        job.poll()
    report = json.loads(job.cluster["w0"].files["/var/lib/hyperpod/health/hang.json"])
    assert report[STEP]["stragglers"] == [2]
    assert "stragglers: rank 2 on w2 2.000 s" in job.cluster["w0"].log
    assert job.cluster.reasons == []


def test_an_ended_step_takes_its_aggregate_along(job: Job) -> None:
    job.beat(10, 10, 10, 10)
    job.poll()
    assert f"heartbeat/{STEP}/w1.json" in job.cluster.files
    for machine in job.cluster.machines.values():
        machine.pids.clear()
    job.poll()
    assert not any(name.startswith(("heartbeat/", "summary/")) for name in job.cluster.files)


def test_when_slurm_does_not_tell_its_tasks_beats_are_kept_and_nothing_is_done(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.beat(11, 10, 11, 11)
    for watch in job.watches.values():
        monkeypatch.setattr(watch._slurm, "steps", lambda: None)
    job.poll(40)
    assert job.cluster.reasons == []
    assert f"{DIRECTORY}/{STEP}/1" in job.cluster["w1"].files


def test_the_culprit_is_told_by_node_not_by_rank() -> None:
    places = {rank: Place("a" if rank < 4 else "b", 10 if rank < 4 else 11) for rank in range(8)}
    verdict = hang.culprit(places, 8)
    assert (verdict.node, verdict.ranks) == ("a", (0, 1, 2, 3))


def test_two_ranks_have_no_straggler() -> None:
    assert hang.stragglers({0: Place("a", 2, 1.0), 1: Place("b", 2, 9.0)}) == []
