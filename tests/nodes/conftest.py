"""One cluster of virtual nodes for the whole run; a machine that cannot run it skips, a CI machine fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import Image, NodeSpec, Rig, VirtualNode, missing

# Other runs on this machine may hold every slot.
WAIT_SECONDS = 600.0
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "scripts"
LUSTRE = {
    "type": "lustre",
    "path": "/fsx",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcd1234",
}
GROUPS = {
    "controller": {"node_type": "Controller"},
    "login": {"node_type": "Login"},
    "workers": {"node_type": "Compute", "partition": "training"},
    "gpus": {"node_type": "Compute"},
}
CONFIG: dict[str, Any] = {"version": 1, "groups": GROUPS, "mounts": {group: [LUSTRE] for group in GROUPS}}


def require_nodes() -> None:
    """Skips with the sentence that says what is missing; on a CI machine that is a failure."""
    if (sentence := missing()) is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)


@pytest.fixture(scope="session")
def image() -> Image:
    require_nodes()
    return Image.build()


@pytest.fixture(scope="session")
def make_rig(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Rig]:
    return lambda: Rig.create(tmp_path_factory.mktemp("rig"), image=image, wait_seconds=WAIT_SECONDS)


@pytest.fixture(scope="module")
def rig(make_rig: Callable[[], Rig]) -> Iterator[Rig]:
    """A controller, a login node and two workers, one of a group with GPUs more."""
    specs = [
        NodeSpec("controller", "Controller", 1),
        NodeSpec("login", "Login", 1),
        NodeSpec("workers", "Compute", 2),
        NodeSpec("gpus", "Compute", 1, cpus=192, gpus=8),
    ]
    with make_rig() as made:
        nodes = made.boot(specs, scripts=SCRIPTS, config=CONFIG)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        made.await_idle()
        yield made


@pytest.fixture
def login(rig: Rig) -> VirtualNode:
    return rig.node("login", 0)


def await_true(condition: Callable[[], bool], *, seconds: float = 60) -> float:
    """The seconds until the condition holds."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"not within {seconds:.0f} s"
        time.sleep(0.2)
    return time.monotonic() - started
