"""Fresh processes, timed, in an environment that is the same for every measurement."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from bench.figures import Cost

ROOT = Path(__file__).resolve().parent.parent


class ChildError(RuntimeError):
    """A measured process failed; the text holds the end of what it wrote."""


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment for a child. Compiled Python is written and kept, and Node is the one beside this Python.

    :param base: the variables; this process's own, without settings of AWS and the CDK, when not given.
    """
    if base is None:
        base = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    variables = {name: value for name, value in base.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), variables.get("PATH", os.defpath)])
    return variables


def timed(command: Sequence[str], variables: Mapping[str, str], directory: Path = ROOT) -> Cost:
    """Run a command and return its cost.

    :raises ChildError: for a command that fails.
    """
    return run(command, variables, directory)[0]


def run(
    command: Sequence[str], variables: Mapping[str, str], directory: Path = ROOT, *, allowed: Container[int] = (0,)
) -> tuple[Cost, str]:
    """Run a command; return its cost and its standard output.

    :raises ChildError: for an exit code that is not allowed.
    """
    before, started = _processor_seconds(), time.perf_counter()
    result = subprocess.run(  # noqa: S603
        command, env=dict(variables), cwd=directory, capture_output=True, text=True, check=False
    )
    cost = Cost(time.perf_counter() - started, _processor_seconds() - before)
    if result.returncode not in allowed:
        end = "\n".join((result.stdout + result.stderr).splitlines()[-20:])
        raise ChildError(f"{' '.join(command)} returned {result.returncode}:\n{end}")
    return cost, result.stdout


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
