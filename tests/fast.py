"""Which tests `make test-fast` runs: those that a contributor runs while typing.

A new file is fast unless it is named here. A fast test neither starts a program that only `tools/setup_nodes.sh` installs, nor uses
an environment of its own, nor gives files to other users; a guard fails the test that does.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
ROOT = TESTS.parent
# They need root, Debian packages, the environment of the jobs, a server of the embedded AWS, or many seconds for one idea.
SLOW = (
    "analysis/test_evaluation.py",
    "attacks",
    "bench",
    "cli/operate/test_every_command.py",
    "cli/test_chart.py",
    "custom_resources/test_faults.py",
    "deploy",
    "docs",
    "eks/test_every_permission.py",
    "examples",
    "facts/test_property_schemas.py",
    "handlers/test_wire.py",
    "lifecycle/test_own_steps.py",
    "lifecycle/test_scripts.py",
    "lifecycle/test_set_up.py",
    "lint",
    "local",
    "node_software/test_node_metrics.py",
    "nodes",
    "observability/test_cloudwatch.py",
    "observability/test_prometheus.py",
    "patterns",
    "plan/test_rows.py",
    "rules/test_hits.py",
    "rules/test_hostile.py",
    "rules/test_plugin.py",
    "rules/wrong_templates",
    "snapshot",
    "test_app.py",
    "test_closed_network.py",
    "test_logical_ids.py",
    "test_lookup.py",
    "test_measured.py",
    "test_public_api.py",
    "test_wheel.py",
    "unseen",
)
_SETUP = (ROOT / "tools" / "setup_nodes.sh").read_text("utf-8")
_PACKAGED = re.search(r'^PROGRAMS="(.*)"$', _SETUP, re.MULTILINE)
PROGRAMS = frozenset(_PACKAGED[1].split()) if _PACKAGED else frozenset()
UNCHANGED = (-1, 2**32 - 1)
ENVIRONMENTS = (".venv-examples", ".venv-node-", ".venv-checkov", ".venv-aws")


def is_fast(path: Path) -> bool:
    """Whether the file or folder is part of `make test-fast`."""
    return not is_within(path, SLOW)


def is_within(path: Path, places: tuple[str, ...]) -> bool:
    """Whether a test file or folder is one of these, or in one of them."""
    place = path.relative_to(TESTS).as_posix()
    return any(place == named or place.startswith(f"{named}/") for named in places)


class Guard:
    """Notes what a fast test may not do, while it is watched. There is one in a process: no audit hook can be removed."""

    def __init__(self) -> None:
        self._found: list[str] | None = None
        sys.addaudithook(self._audit)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """What is found meanwhile."""
        outer, found = self._found, list[str]()
        self._found = found
        try:
            yield found
        finally:
            self._found = outer

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._found is None or event not in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.chown"):
            return
        if (sentence := _complaint(event, arguments)) is not None:
            self._found.append(sentence)


def _complaint(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event == "os.chown":
        path, user, group, _ = arguments
        mine = user in (*UNCHANGED, os.geteuid()) and group in (*UNCHANGED, os.getegid(), *os.getgroups())
        return None if mine else f"gives {path} to another user or group, which only root may"
    program = os.fsdecode(arguments[0] or "")
    if Path(program).name in PROGRAMS or any(name in program for name in ENVIRONMENTS):
        return f"starts {program}, which tools/setup_nodes.sh installs"
    return None
