"""Programs that reach a node, and scripts on it, whose output the caller reads. What a node says is a stranger's: bounded."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import NamedTuple

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.denied import said
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster, Node
from hyperpod_constructs.cli.operate.sessions import RefusedError, Script, SessionManager, require_programs
from hyperpod_constructs.cli.target import TargetName, virtual_command
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

TIMEOUT_SECONDS = 30.0
MOST_BYTES = 1_000_000

_SAID_CHARACTERS = 300


class Captured(NamedTuple):
    """What a program printed, cut at the most bytes that are read, and its exit code."""

    output: bytes
    errors: bytes
    code: int


class Done(NamedTuple):
    """The output of a script, with its errors, and its exit code."""

    output: str
    code: int


def captured(place: Place, program: Sequence[str]) -> Captured:
    """Run a program of this machine that reaches a node.

    :raises CliError: if the node takes too long.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603
            program,
            env=place.target.environment(),
            # The Session Manager plugin ends its session when standard input ends, so this pipe stays open.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(TIMEOUT_SECONDS, end)
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout as stream:
                output = stream.read(MOST_BYTES)
            if len(output) == MOST_BYTES:
                _kill(process)
            code = process.wait()
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
        if late.is_set():
            raise CliError(f"the node did not answer within {TIMEOUT_SECONDS:.0f} s")
        errors.seek(0)
        return Captured(output, errors.read(MOST_BYTES), code)


def run(place: Place, cluster: Cluster, node: Node, user: str, text: str) -> Done:
    """Run a script on a node as a user.

    :raises RefusedError: if no session may be started.
    :raises CliError: if the node cannot be reached, or takes too long.
    """
    script = Script(text.encode(), user)
    session = SessionManager.of(place, cluster, node).script(script)
    if place.where is TargetName.LOCAL:
        session.start(place)
        command = [*virtual_command(node.id), "sh", "-c", script.command]
    else:
        command = session.program
        require_programs(command, place.target.environment().get("PATH", os.defpath))
    found = captured(place, command)
    pieces = list(script.output(io.BytesIO(found.output)))
    if not pieces or not isinstance(pieces[-1], int):
        errors = found.errors.decode("utf-8", "replace")
        if (sentence := said(errors)) is not None:
            raise RefusedError(sentence)
        reason = one_line(errors, _SAID_CHARACTERS) or "the session ended before them"
        raise CliError(f"node {node.id} did not run the commands: {reason}")
    output = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return Done(output.decode("utf-8", "replace"), pieces[-1])


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program with its children; one that has ended is fine."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
