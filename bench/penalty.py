"""The cost of the LZ penalty in one step of sampling, beside no penalty and beside the common ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.children import ROOT, ChildError, environment, run
from bench.figures import estimate

PYTHON = ROOT / ".venv-examples" / "bin" / "python"
TURNS = 50
MOST_RATIO = 1.1
_RATIOS = (("lz", "sampling"), ("repetition", "sampling"), ("frequency", "sampling"), ("lz", "repetition"), ("lz", "frequency"))


def measure(turns: int = TURNS, python: Path = PYTHON) -> Mapping[str, Sequence[float]]:
    """Processor seconds of each kind of step, turn by turn.

    :raises ChildError: without the environment of the jobs, or for a program that fails.
    """
    if not python.exists():
        raise ChildError(f"{python}: not there; make it with tools/setup_nodes.sh")
    variables = {**environment(), "PYTHONPATH": str(ROOT / "examples"), "OMP_NUM_THREADS": "1"}
    _, printed = run([str(python), str(Path(__file__).with_name("penalty_program.py")), str(turns)], variables)
    found: Mapping[str, Sequence[float]] = json.loads(printed)
    return found


def table(found: Mapping[str, Sequence[float]]) -> list[str]:
    """Milliseconds of each step, and ratios turn by turn."""
    lines = [f"{name:<18}{estimate(seconds).median * 1000:.2f} ms" for name, seconds in found.items()]
    for name, base in _RATIOS:
        ratio = estimate([ours / theirs for ours, theirs in zip(found[name], found[base], strict=True)])
        lines.append(f"{name} / {base:<20}{ratio.median:.3f}    95 % {ratio.low:.3f} to {ratio.high:.3f}, {ratio.runs} pairs")
    return lines
