"""Start of ranks that meet by a store whose keys are spread over them, beside `TCPStore`; and the loss of one of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import children
from bench.figures import Estimate, estimate

SIZES = (4, 16, 64)
_ROOT = Path(__file__).parents[1]
_PYTHON = _ROOT / ".venv-examples" / "bin" / "python"
_PROGRAM = Path(__file__).parent / "start_ranks.py"


class StartError(RuntimeError):
    """There is no Python with the packages of the jobs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Seconds until the first sum over all ranks: after the start, and after a loss."""

    start: float
    replaced: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Starts:
    """Both stores in turns, with as many ranks."""

    size: int
    owners: tuple[Start, ...]
    tcp: tuple[Start, ...]

    @property
    def ratio(self) -> Estimate:
        return estimate([ours.start / theirs.start for ours, theirs in zip(self.owners, self.tcp, strict=True)])

    @property
    def replaced_ratio(self) -> Estimate:
        return estimate([ours.replaced / theirs.replaced for ours, theirs in zip(self.owners, self.tcp, strict=True)])


def compare(size: int, pairs: int) -> Starts:
    """Starts of `size` ranks on this machine, which share its processors.

    :raises StartError: without the environment of the jobs.
    :raises ChildError: for a start that fails.
    """
    if not _PYTHON.exists():
        raise StartError(f"{_PYTHON}: not there; make it with tools/setup_nodes.sh")
    found: dict[str, list[Start]] = {"owners": [], "tcp": []}
    for number in range(pairs):
        for kind in ("owners", "tcp") if number % 2 == 0 else ("tcp", "owners"):
            found[kind].append(measure(kind, size))
    return Starts(size=size, owners=tuple(found["owners"]), tcp=tuple(found["tcp"]))


def measure(kind: str, size: int) -> Start:
    """One start, and one loss."""
    variables = {**os.environ, "PYTHONPATH": str(_ROOT / "examples"), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    # TCPStore asks for the names of its clients, and a name server that does not answer would count as its time.
    variables["RES_OPTIONS"] = "attempts:0"
    _, printed = children.run([str(_PYTHON), str(_PROGRAM), kind, str(size)], variables)
    return Start(**json.loads(printed))


def report(found: Starts) -> Iterator[str]:
    """The lines of the benchmark."""
    yield f"Start of {found.size} ranks on one machine, until the first sum over all of them; imports are not counted"
    for name, runs in (("keys by owner", found.owners), ("TCPStore", found.tcp)):
        start, replaced = estimate([run.start for run in runs]), estimate([run.replaced for run in runs])
        yield f"  {name:<18}{start.median:.3f} s   95 % {start.low:.3f} to {start.high:.3f} s, {start.runs} runs"
        yield "  " + " " * 18 + f"{replaced.median:.3f} s after a loss"
    for name, ratio in (("ratio", found.ratio), ("after a loss", found.replaced_ratio)):
        yield f"  {name:<18}{ratio.median:.3f}    95 % {ratio.low:.3f} to {ratio.high:.3f}, {ratio.runs} pairs"
    yield "  the lost rank is replaced in its slot; TCPStore's is the one that holds the store, so all ranks start again"
