"""In which order files of tests run, the longest first: else one is left over while the other processes stand idle."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).parent
# The files that take longest, with their seconds as `make test` measured them.
SECONDS = {
    "nodes/test_training.py": 621,
    "lint/test_node_code.py": 490,
    "local/test_sample_deploy.py": 466,
    "nodes/test_lifecycle.py": 352,
    "deploy/test_custom_resources.py": 290,
    "deploy/test_newcomer.py": 270,
    "examples/test_jobs.py": 265,
    "examples/test_checkpointless.py": 240,
    "deploy/test_auth.py": 239,
    "deploy/test_life.py": 221,
    "deploy/test_failures.py": 213,
    "deploy/test_eks_cluster.py": 210,
    "docs/test_commands.py": 197,
    "nodes/test_training_checkpointless.py": 193,
    "nodes/test_health.py": 192,
    "deploy/test_kubernetes.py": 191,
    "custom_resources/test_faults.py": 150,
    "rules/test_hostile.py": 137,
    "lifecycle/test_set_up.py": 136,
    "nodes/test_scale.py": 131,
    "nodes/test_training_gres.py": 97,
    "examples/test_elastic.py": 95,
    "lint/test_code.py": 87,
    "lint/test_presets.py": 64,
    "nodes/test_faults.py": 58,
    "nodes/test_lifecycle_faults.py": 57,
    "nodes/test_embedded_aws.py": 56,
    "local/test_access.py": 48,
    "docs/test_code.py": 45,
    "test_wheel.py": 44,
    "local/test_hyperpod_checks.py": 36,
    "local/test_retention.py": 34,
    "nodes/test_rig.py": 32,
    "bench/test_untyped.py": 31,
    "bench/test_floor.py": 29,
    "examples/test_eager.py": 29,
    "local/test_fsx.py": 21,
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
