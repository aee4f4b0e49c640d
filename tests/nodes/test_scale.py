"""Many nodes: each a systemd and a slurmd of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from hyperpod_constructs.local.nodes import NodeSpec, Rig
from tests.nodes.conftest import CONFIG, SCRIPTS


@pytest.mark.parametrize("count", [16, 64])
def test_boots(make_rig: Callable[[], Rig], count: int, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    with make_rig() as rig:
        specs = [NodeSpec("controller", "Controller", 1), NodeSpec("workers", "Compute", count - 1)]
        nodes = rig.boot(specs, scripts=SCRIPTS, config=CONFIG)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        rig.await_idle()
        seconds = time.monotonic() - started
        with capsys.disabled():
            print(f"\n{count} nodes: {seconds:.1f} s until all are idle")  # noqa: T201
        done = rig.controller.run(["srun", f"--nodes={count - 1}", "hostname"])
        assert len(set(done.stdout.split())) == count - 1
