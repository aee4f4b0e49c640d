"""The start of ranks without one root, measured once with few of them."""

from __future__ import annotations

from bench import start
from bench.start import Start, Starts
from tests.examples.jobs import find_python


def test_both_stores_start_and_outlive_a_loss() -> None:
    find_python()
    found = start.compare(4, 1)
    assert all(run.start > 0 and run.replaced > 0 for run in (*found.owners, *found.tcp))
    assert [line.split("  ")[1] for line in start.report(found) if line.startswith("  k") or line.startswith("  T")] == [
        "keys by owner",
        "TCPStore",
    ]


def test_ratios_are_of_pairs() -> None:
    found = Starts(
        size=4,
        owners=(Start(start=1, replaced=3), Start(start=4, replaced=3)),
        tcp=(Start(start=2, replaced=1), Start(start=8, replaced=1)),
    )
    assert (found.ratio.median, found.replaced_ratio.median) == (0.5, 3)
