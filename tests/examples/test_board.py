"""The board of rollouts: every prompt is used once, and what is stale, late or lost is generated again."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from board import Board, Limits, Sample

PROMPTS = 4
LIMITS = Limits(prompts=PROMPTS, chunk=2, staleness=2, lease_seconds=30)


@dataclass
class Clock:
    seconds: float = 0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(lambda position: 100 + position, LIMITS, [], now=clock)


def generate(board: Board, version: int | None = None, worker: str = "a") -> list[int]:
    """One worker's turn; its prompts."""
    given = board.hand_out(worker)
    assert given is not None
    ticket, ids = given
    board.hand_in(ticket, board.version if version is None else version, [f"answer to {id}" for id in ids])
    return ids


def test_prompts_are_used_in_the_order_of_their_answers(board: Board) -> None:
    first, second = board.hand_out("slow"), board.hand_out("fast")
    assert first is not None
    assert second is not None
    board.hand_in(second[0], 0, ["c", "d"])
    assert not board.ready()
    board.hand_in(first[0], 0, ["a", "b"])
    assert board.batch(0) == [102, 103, 100, 101]
    assert board.taken[0] == Sample(id=102, version=0, worker="fast", answers="c")


def test_no_more_is_handed_out_than_may_be_used_in_time(board: Board) -> None:
    handed = []
    while (given := board.hand_out("a")) is not None:
        handed += given[1]
    assert len(handed) == PROMPTS * (1 + LIMITS.staleness)


@pytest.mark.parametrize(("behind", "dropped"), [(2, 0), (3, 2)])
def test_answers_beyond_the_limit_are_dropped_and_their_prompts_given_again(board: Board, behind: int, dropped: int) -> None:
    board.publish(7, b"")
    generate(board, version=7 - behind)
    assert board.counted().stale == dropped
    assert generate(board) == ([100, 101] if dropped else [102, 103])


def test_answers_get_stale_while_they_wait(board: Board) -> None:
    generate(board)
    board.publish(3, b"")
    generate(board)
    assert not board.ready()
    assert board.counted().stale == 2


def test_a_lost_worker_costs_what_it_has_not_finished(board: Board) -> None:
    generate(board)
    given = board.hand_out("lost")
    assert given is not None
    board.give_back(given[0])
    board.give_back(given[0])
    assert generate(board) == given[1]
    assert board.batch(0) == [100, 101, 102, 103]
    assert board.counted().lost == 2


def test_a_worker_that_takes_too_long_comes_late(board: Board, clock: Clock) -> None:
    given = board.hand_out("frozen")
    assert given is not None
    clock.seconds = LIMITS.lease_seconds + 1
    assert generate(board) == given[1]
    board.hand_in(given[0], 0, ["x", "y"])
    while not board.ready():
        generate(board)
    ids = board.batch(0)
    assert len(ids) == len(set(ids))
    counts = board.counted()
    assert (counts.lost, counts.late) == (2, 2)


def test_a_trainer_that_starts_again_does_not_use_a_prompt_twice() -> None:
    """The log says which prompts the updates before its checkpoint have used. In a second epoch they come again."""
    board = Board(lambda position: position % 6, LIMITS, [1, 3, 3])
    handed = [id for _ in range(3) for id in generate(board)]
    assert handed == [0, 2, 4, 5, 0, 1]
