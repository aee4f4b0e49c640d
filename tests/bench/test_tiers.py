"""The figures of checkpoints in tiers, from handwritten runs."""

from __future__ import annotations

import pytest

from bench.recovery import PHASES, Recovery
from bench.tiers import Run, Runs, again, report, step_seconds


def run(seconds: float, steps_again: int, step: float) -> Run:
    recovery = Recovery(seconds=seconds, phases=dict.fromkeys(PHASES, 1.0), full_strength=0)
    return Run(recovery=recovery, again=steps_again, step_seconds=step)


def test_steps_done_again_and_their_seconds() -> None:
    records = [{"step": step, "time": when} for step, when in [(0, 1.0), (1, 2.0), (2, 5.0), (1, 9.0), (2, 9.5), (3, 10.0)]]
    assert again(records) == 2
    assert step_seconds(records, before=6) == pytest.approx(2)


def test_report_has_both_jobs_and_their_ratios() -> None:
    lines = list(report(Runs(tiered=(run(10, 1, 0.5),), one_tier=(run(40, 9, 0.4),))))
    assert [line.split()[0] for line in lines[1:]] == ["in", "detect", "1", "0.500", "file", "detect", "9", "0.400", "ratio", "of"]
    assert "0.250" in lines[-2]
    assert "1.250" in lines[-1]
