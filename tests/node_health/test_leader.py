"""The leader of a step: the cost of a poll, and the leadership when the leader dies, hangs or returns."""

from __future__ import annotations

import pytest
from node_health import summary
from node_health.hang import Verdict
from node_health.picture import Picture
from node_health.summary import Leadership, Summary

from .doubles import Cluster
from .test_hang import STEP, Job

PATIENCE = 12
"""Polls for which a node may be silent, at ten seconds each."""


def job_of(nodes: int, *progress: int) -> Job:
    job = Job(Cluster([f"w{index:04d}" for index in range(nodes)]))
    job.beat(*(progress or [10] * nodes), world=nodes)
    return job


def leaders(job: Job) -> list[str]:
    """The leading nodes."""
    return [name for name, watch in job.watches.items() for step in watch._steps.values() if step.leadership.publishes]


def pictures(job: Job) -> set[str]:
    """The nodes' pictures of the step, by the digest of its ranks' places."""
    return {step.seen[0] for watch in job.watches.values() for step in watch._steps.values() if step.seen is not None}


@pytest.mark.parametrize("nodes", [3, 10, 40])
def test_a_poll_costs_two_operations_wherever_the_node_does_not_lead(nodes: int) -> None:
    job = job_of(nodes)
    job.poll(4)
    first, *others = job.watches
    before = dict(job.cluster.operations)
    job.poll(5)
    cost = {name: job.cluster.operations[name] - before[name] for name in job.watches}
    assert {cost[name] for name in others} == {5 * 2}, "the node's file is written, the leader's is read"
    assert cost[first] == 5 * (nodes + 4), "the leader reads all files, lists them once, and writes its own"


def test_all_nodes_come_to_one_picture() -> None:
    job = job_of(20)
    job.poll(6)
    assert (leaders(job), len(pictures(job))) == (["w0000"], 1)


def test_one_node_leads_at_a_time_after_the_detector_of_the_leader_is_gone() -> None:
    job = job_of(60)
    job.poll(6)
    gone = job.watches.pop("w0000")
    led = []
    for _ in range(3 * PATIENCE):
        job.poll()
        led.append(leaders(job))
    assert max(len(names) for names in led) == 1
    assert led[-1] == ["w0001"]
    job.watches = {"w0000": gone, **job.watches}
    job.poll(6)
    assert leaders(job) == ["w0000"], "the lowest rank leads again once its node is back"


def test_many_lost_leaders_are_followed_one_by_one() -> None:
    job = job_of(30)
    job.poll(4)
    for name in [f"w{index:04d}" for index in range(5)]:
        del job.watches[name]
    led = []
    for _ in range(3 * PATIENCE):
        job.poll()
        led.append(leaders(job))
    assert max(len(names) for names in led) == 1
    assert led[-1] == ["w0005"]


def test_a_hang_is_found_under_a_new_leader() -> None:
    job = job_of(4)
    job.poll(4)
    lost = job.watches.pop("w0000")
    job.poll(2 * PATIENCE)
    job.watches["w0000"] = type(lost)(lost._system, lost._settings, "w0000")  # the unit is started again
    job.beat(11, 11, 10, 11)
    job.poll(30)
    assert job.cluster.reasons == [("w0002", "Action:Replace")]


def test_the_leader_finds_that_its_own_rank_hangs() -> None:
    job = job_of(4, 10, 11, 11, 11)
    job.poll(20)
    assert job.cluster.reasons == [("w0000", "Action:Replace")]
    assert list(job.killed) == ["w0000"]


@pytest.mark.parametrize("text", ["", "{", "null", "[" * 5000])
def test_where_the_summary_stays_damaged_the_next_node_looks_for_itself(text: str) -> None:
    job = job_of(4, 11, 10, 11, 11)
    for _ in range(30):
        for watch in job.watches.values():
            watch.poll()
            job.cluster.files[f"{summary.FOLDER}/{STEP}.json"] = text
        job.cluster.time += 10
    assert "culprit unknown: no live heartbeat of ranks 0, 1, 2 of 4" in job.cluster["w0003"].log
    assert job.cluster.reasons == [("w0001", "Action:Replace")]


class TestLeadership:
    def told(self, number: int, leader: str = "w0", rank: int = 0) -> Summary:
        return Summary(leader, rank, 0, number, 8, Picture("0", False, Verdict(None, (), ""), True, ()))

    def test_a_summary_is_believed_only_while_it_changes(self) -> None:
        leadership = Leadership("w5", 3)
        believed = [leadership.follow(self.told(number), 5, 5) is not None for number in (1, 1, 2, 2, 2, 2, 2, 3)]
        assert believed == [False, False, True, True, True, False, False, True]

    def test_the_lowest_rank_leads_at_once(self) -> None:
        leadership = Leadership("w0", 3)
        assert leadership.follow(None, 0, 0) is None
        assert leadership.publishes

    def test_who_succeeds_reads_before_it_tells(self) -> None:
        """A node's own summary from before a restart counts as a leader's too."""
        leadership = Leadership("w0", 3)
        told = []
        for _ in range(4):
            leadership.follow(self.told(7), 0, 0)
            told.append(leadership.publishes)
        assert told == [False, False, True, True]

    def test_of_two_leaders_the_one_of_the_higher_rank_yields(self) -> None:
        leadership = Leadership("w5", 3)
        for _ in range(9):
            leadership.follow(None, 5, 5)
        assert leadership.publishes
        for number in (1, 2):
            leadership.follow(self.told(number), 5, 5)
        assert leadership.led == 0

    def test_each_node_waits_for_those_before_it(self) -> None:
        for turn in (1, 4, 100):
            leadership = Leadership("w", 3)
            polls = 0
            while not leadership.led:
                leadership.follow(None, turn, turn)
                polls += 1
            assert polls == 3 + turn
