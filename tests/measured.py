"""Which tests `make coverage` runs: its tracer doubles the time of Python code, so it looks only where it finds something."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fast import is_within

# They watch programs, nodes and documents, or repeat for thousands of inputs what other tests have shown once.
UNMEASURED = (
    "attacks",
    "bench",
    "custom_resources/test_faults.py",
    "deploy",
    "docs",
    "examples",
    "lifecycle",
    "lint",
    "local/test_sample_deploy.py",
    "node_health",
    "node_metrics",
    "nodes",
    "rules/test_hostile.py",
)
# They start servers of the embedded AWS, and commands.
CHILDREN = ("cli", "local")
# With this variable a Python program begins by measuring itself.
VARIABLE = "COVERAGE_PROCESS_CONFIG"


def measures(path: Path) -> bool:
    """Whether the file or folder is part of `make coverage`."""
    return not is_within(path, UNMEASURED)


def measures_children(path: Path) -> bool:
    """Whether the test measures the programs that it starts."""
    return measures(path) and is_within(path, CHILDREN)


@contextmanager
def measured_children(measured: bool) -> Iterator[None]:
    """Hides the setting from programs that nobody measures."""
    setting = os.environ.get(VARIABLE)
    if measured or setting is None:
        yield
        return
    del os.environ[VARIABLE]
    try:
        yield
    finally:
        os.environ[VARIABLE] = setting
