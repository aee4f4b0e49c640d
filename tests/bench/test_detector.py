"""The load of the hang detector, as the benchmark prints it."""

from __future__ import annotations

import pytest

from bench import detector


@pytest.mark.parametrize("nodes", [5, 25])
def test_a_node_costs_the_same_however_many_there_are(nodes: int) -> None:
    load = detector.measure(nodes)
    assert (load.other, load.leader, load.total) == (2, nodes + 4, 3 * nodes + 2)
