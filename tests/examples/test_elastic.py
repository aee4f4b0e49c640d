"""The elastic job goes on with fewer nodes, takes them back, and shares out the same global batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.examples.conftest import Job
from tests.examples.jobs import Pace, assert_undisturbed


def test_four_three_four_nodes(make_job: Callable[..., Job], undisturbed: list[dict[str, Any]], tmp_path: Path) -> None:
    pace = Pace(tmp_path / "pace")
    # A busy machine starts the four launchers far apart, and three are enough to begin.
    settings = {"MIN_NODES": "3", "LAST_CALL_SECONDS": "20", "KEEP_ALIVE_SECONDS": "5", "MAX_FAILURES": "200", **pace.settings}
    job = make_job("elastic/elastic.sbatch", 4, ARGUMENTS=pace.argument, **settings)
    down = job.directory / "double" / "down" / "node-3"
    job.start()
    job.until_step(7)
    down.touch()
    job.until(lambda: sizes(job)[-1] == 3 and job.records()[-1]["step"] >= 8, "the shrink")
    pace.set(5)
    down.unlink()
    job.until(lambda: sizes(job)[-1] == 4, "the growth")
    pace.set(0)
    assert job.wait() == 0, job.text()
    assert sizes(job) == [4, 3, 4]
    assert_undisturbed(job.records(), undisturbed)


def sizes(job: Job) -> list[int]:
    """The numbers of ranks, one after the other, without repetitions."""
    found = [0]
    for record in job.records():
        if record["ranks"] != found[-1]:
            found.append(record["ranks"])
    return found[1:] or found
