"""In which order files of tests run, the longest first: else one is left over while the other processes stand idle."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).parent
# The files that take longest, with their seconds as `make test` measured them.
SECONDS = {
    "nodes/test_training.py": 463,
    "deploy/test_auth.py": 189,
    "nodes/test_training_checkpointless.py": 187,
    "examples/test_jobs.py": 181,
    "examples/test_checkpointless.py": 157,
    "nodes/test_lifecycle.py": 140,
    "deploy/test_failures.py": 130,
    "deploy/test_life.py": 128,
    "local/test_sample_deploy.py": 127,
    "nodes/test_health.py": 113,
    "lint/test_node_code.py": 102,
    "docs/test_commands.py": 96,
    "lint/test_code.py": 87,
    "examples/test_elastic.py": 76,
    "nodes/test_training_gres.py": 73,
    "nodes/test_scale.py": 54,
    "nodes/test_faults.py": 41,
    "local/test_hyperpod_checks.py": 36,
    "test_wheel.py": 36,
    "lifecycle/test_set_up.py": 35,
    "nodes/test_embedded_aws.py": 34,
    "nodes/test_lifecycle_faults.py": 32,
    "nodes/test_rig.py": 32,
    "rules/test_hostile.py": 24,
    "lint/test_presets.py": 24,
    "local/test_retention.py": 21,
    "local/test_fsx.py": 21,
    "local/test_access.py": 20,
    "local/test_hyperpod.py": 20,
}
# Each job starts many processes that import torch, so no more than two of these chains run at once, whatever the machine has.
CHAINS = (
    (
        "nodes/test_training_checkpointless.py",
        "examples/test_jobs.py",
        "examples/test_checkpointless.py",
        "examples/test_elastic.py",
    ),
    ("nodes/test_training.py", "nodes/test_training_gres.py"),
)
FEWEST, MOST = 4, 8


def chain(file: str) -> tuple[str, ...]:
    """The files that one process runs one after the other, the file among them."""
    return next((files for files in CHAINS if file in files), (file,))


@cache
def turn(path: Path) -> int:
    """Files of lower turns come first; in one turn they keep their order."""
    return -sum(SECONDS.get(file, 0) for file in chain(path.relative_to(TESTS).as_posix()))


def unit(nodeid: str) -> str:
    """The name of the chain that a test is in."""
    return chain(nodeid.partition("::")[0].removeprefix(f"{TESTS.name}/"))[0]


def workers(cores: int, *, fast: bool) -> int:
    """How many processes run the tests: one for each core, but most tests of whole clusters wait, so more than that for all."""
    return cores if fast else min(max(2 * cores, FEWEST), MOST)


class ChainScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Shares out chains of files."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
