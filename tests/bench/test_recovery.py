"""The phases of a recovery, from handwritten logs and sample logs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.recovery import PHASES, new_steps, recovery_of
from tests.nodes.training import TrainingJob

FELL = 1_795_280_709.2  # 2026-11-21 17:05:09.2 UTC
RESTART = """\
2026-11-21 17:05:01,000 rank 0 started
E1121 17:05:09.700000 361 torch/distributed/api.py:1002] failed (exitcode: -9) local_rank: 0 (pid: 373) of binary: python
2026-11-21 17:05:12,200 rank 1 started
2026-11-21 17:05:13,200 rank 0 started
2026-11-21 17:05:13,700 rank 0 joined 2 ranks
2026-11-21 17:05:15,700 rank 0 ready for step 6
"""
MEMORY = """\
2026-11-21 17:05:09,450 group 0 rank 0 step 9 was not committed
2026-11-21 17:05:10,200 group 0 rank 0 step 9 is done again by 2 groups
"""


def job(text: str, steps: dict[float, int]) -> TrainingJob:
    records: list[dict[str, Any]] = [{"step": step, "time": FELL + when} for when, step in steps.items()]
    return cast("TrainingJob", SimpleNamespace(text=text, records=lambda pattern: records))


def test_restart_is_split_and_steps_done_again_are_not_new() -> None:
    restarted = job(RESTART, {-2: 7, -1: 8, 7.5: 6, 8.5: 7, 9.5: 8, 10.5: 9, 11.5: 10, 12.5: 11})

    assert [step for step, _ in new_steps(restarted)] == [7, 8, 9, 10, 11]
    found = recovery_of(restarted, FELL, full=None)
    assert found.seconds == pytest.approx(11.5 - 1)
    assert dict(found.phases) == pytest.approx({"detect": 0.5, "start": 3.5, "connect": 0.5, "restore": 2, "redo": 4}, abs=1e-3)
    assert found.full_strength == pytest.approx(10.5)


def test_recovery_from_memory_neither_starts_nor_restores() -> None:
    found = recovery_of(job(MEMORY, {-2: 7, -1: 8, 2: 9, 3: 10, 4: 11}), FELL, full=FELL + 8)

    assert found.seconds == pytest.approx(3 - 1)
    assert [found.phases[phase] for phase in PHASES] == pytest.approx([0.25, 0, 0.75, 0, 1], abs=1e-3)
    assert found.full_strength == pytest.approx(8)
