"""Runs a program of the host; a failure carries what the program said."""

from __future__ import annotations

import os
import subprocess

from hyperpod_constructs.local.nodes.errors import NodesError


def host(*command: str, input: str | None = None, timeout: float = 600) -> str:
    """The program's standard output.

    :raises NodesError: if the program is missing or fails.
    """
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    try:
        done = subprocess.run(  # noqa: S603
            command, input=input, env=environment, capture_output=True, text=True, check=True, timeout=timeout
        )
    except FileNotFoundError as error:
        raise NodesError(f"{command[0]}: not found on this machine") from error
    except subprocess.CalledProcessError as error:
        raise NodesError(f"{' '.join(command)}: exit code {error.returncode}: {error.stderr.strip()[-2000:]}") from error
    return done.stdout


def attempt(*command: str) -> bool:
    """Whether the program succeeded; for undoing what may be gone already."""
    try:
        host(*command)
    except NodesError:
        return False
    return True
