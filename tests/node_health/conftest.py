"""Puts the programs of a node on the path: they are not a package of this project."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

LIFECYCLE = Path(__file__).resolve().parents[2] / "lifecycle"
sys.path.insert(0, str(LIFECYCLE))

from .doubles import Cluster  # noqa: E402


@pytest.fixture
def cluster() -> Cluster:
    """Four workers that share a directory and one slurmctld."""
    return Cluster(["w0", "w1", "w2", "w3"])
