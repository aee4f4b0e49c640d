"""Clusters of virtual nodes, one for each module; a machine that cannot run it skips, a CI machine fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes import Image, NodeSpec, Rig, VirtualNode, missing
from tests.nodes.configuration import GROUPS, WAIT_SECONDS, configuration
from tests.nodes.training import Training, training_cluster

SCRIPTS = Path(__file__).parent / "scripts"
CONFIG = configuration(GROUPS)


def require_nodes() -> None:
    """Skips with the missing part named; on a CI machine it fails."""
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


@pytest.fixture(scope="module")
def training_workers(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    """Four workers for jobs of examples/."""
    with training_cluster(tmp_path_factory.mktemp("rig"), image, NodeSpec("workers", "Compute", 4)) as made:
        yield made


@pytest.fixture
def training(training_workers: Training) -> Iterator[Training]:
    """The same, at rest again after each test."""
    yield training_workers
    training_workers.rest()


@pytest.fixture
def login(rig: Rig) -> VirtualNode:
    return rig.node("login", 0)
