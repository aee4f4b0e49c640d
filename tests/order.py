"""In which order files of tests run, the longest first: else one is left over while the other processes stand idle."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

TESTS = Path(__file__).parent
# The files that take longest, with their seconds as `make test` measured them.
SECONDS = {
    "nodes/test_training.py": 560,
    "deploy/test_custom_resources.py": 318,
    "custom_resources/test_faults.py": 299,
    "unseen/test_pairs.py": 200,
    "docs/test_commands.py": 195,
    "deploy/test_auth.py": 195,
    "examples/test_checkpoints.py": 193,
    "nodes/test_lifecycle.py": 188,
    "examples/test_jobs.py": 180,
    "lint/test_node_code.py": 168,
    "deploy/test_newcomer.py": 164,
    "examples/test_checkpointless.py": 156,
    "deploy/test_eks_cluster.py": 145,
    "nodes/test_training_memory.py": 330,
    "nodes/test_health.py": 143,
    "local/test_sample_deploy.py": 129,
    "deploy/test_life.py": 126,
    "deploy/test_kubernetes.py": 106,
    "deploy/test_failures.py": 105,
    "nodes/test_scheduling.py": 120,
    "nodes/test_story.py": 117,
    "nodes/test_accounting.py": 60,
    "rules/test_hostile.py": 200,
    "nodes/test_training_gres.py": 75,
    "examples/test_elastic.py": 74,
    "examples/test_tiered.py": 70,
    "examples/test_rl.py": 60,
    "docs/test_code.py": 65,
    "lifecycle/test_set_up.py": 65,
    "local/test_update_contract.py": 62,
    "nodes/test_embedded_aws.py": 60,
    "lint/test_code.py": 56,
    "nodes/test_scale.py": 52,
    "lint/test_presets.py": 51,
    "nodes/test_faults.py": 46,
    "nodes/test_lifecycle_faults.py": 36,
    "local/test_access.py": 30,
    "examples/test_llama.py": 30,
    "cli/operate/test_terminals.py": 25,
    "bench/test_untyped.py": 22,
    "test_wheel.py": 22,
    "bench/test_floor.py": 22,
    "local/test_fake_nodes.py": 21,
}
# Each job starts many processes that import torch, so no more than two of these chains run at once, whatever the machine has.
CHAINS = (
    (
        "nodes/test_training_memory.py",
        "examples/test_jobs.py",
        "examples/test_llama.py",
        "examples/test_checkpointless.py",
        "examples/test_elastic.py",
        "nodes/test_scheduling.py",
    ),
    ("nodes/test_training.py", "nodes/test_training_gres.py", "examples/test_tiered.py", "examples/test_rl.py"),
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
    return cores if fast else min(max(3 * cores, FEWEST), MOST)


class ChainScheduling(LoadFileScheduling):  # type: ignore[misc]
    """Shares out chains of files."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
