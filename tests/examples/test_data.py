"""Every sample exactly once per epoch, whatever the number of ranks."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.examples.jobs import EXAMPLES

CHECK = """
import sys
from pathlib import Path
from common.data import Plan, TokenFile, share

for samples in (1, 2, 7, 64, 625, 1000):
    plan = Plan(samples, global_batch=5, seed=3)
    positions = [plan.sample(position) for position in range(2 * samples)]
    assert sorted(positions[:samples]) == sorted(positions[samples:]) == list(range(samples)), samples
assert Plan(625, 5, 3).batch(7) == Plan(625, 5, 3).batch(7) != Plan(625, 5, 4).batch(7)
epochs = [[Plan(625, 5, 3).sample(epoch * 625 + n) for n in range(625)] for epoch in (0, 1)]
assert epochs[0] != epochs[1] and epochs[0] != list(range(625))

for size in range(1, 13):
    shares = [share(list(range(100, 112)), rank, size) for rank in range(size)]
    assert sorted(sum(shares, [])) == list(range(100, 112)), size

file = TokenFile(Path(sys.argv[1]), context=32, vocabulary=256)
batch = file.read([0, file.samples - 1])
assert batch.shape == (2, 33) and batch[0, 32] == file.read([1])[0, 0]
few_tokens = TokenFile(Path(sys.argv[1]), 32, 4)
for wrong in (lambda: share([1, 2], 0, 3), lambda: few_tokens.read([0]), lambda: TokenFile(Path("none"), 32, 4)):
    try:
        wrong()
    except SystemExit as error:
        print(error)
"""


def test_samples(torch_python: Path, data: Path) -> None:
    result = subprocess.run([torch_python, "-c", CHECK, data], cwd=EXAMPLES, capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 0, result.stderr
    messages = result.stdout.splitlines()
    assert len(messages) == 3
    assert "smaller than the 3 ranks" in messages[0]
    assert "the model knows 4 tokens" in messages[1]
    assert "no such file" in messages[2]
