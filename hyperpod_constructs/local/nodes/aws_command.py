"""The `aws` command of virtual nodes: a program on each node asks the rig's process by a socket that all nodes see.

Nodes have no way out of their network, so this is the only one: what the process does not answer, they cannot ask.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socketserver
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

PLACE = "/mnt/.aws"
SOCKET = "socket"
MOST_BYTES = 1 << 16
SECONDS = 30.0


class Answer(NamedTuple):
    """How a command ends: exit code, output and errors."""

    code: int
    output: str = ""
    error: str = ""


Aws = Callable[[Sequence[str]], Answer]
"""Answers the arguments of one `aws` command."""


def nobody(arguments: Sequence[str]) -> Answer:
    """The answer without an AWS."""
    return Answer(255, error="Unable to locate credentials: this rig has no AWS\n")


class AwsCommand:
    """Serves the command while the rig lives."""

    def __init__(self, directory: Path, aws: Aws) -> None:
        self._path = directory / SOCKET
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        self._server = _Server(str(self._path), _Handler)
        self._server.aws = aws
        self._path.chmod(0o600)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, name="aws-command", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    aws: Aws = staticmethod(nobody)


class _Handler(socketserver.StreamRequestHandler):
    timeout = SECONDS

    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        try:
            asked = json.loads(self.rfile.readline(MOST_BYTES))
            if not isinstance(asked, list) or not all(isinstance(word, str) for word in asked):
                raise ValueError("a list of words is expected")
            answer = self.server.aws(asked)
        except Exception as error:  # whatever it is, the node's command fails with it
            logging.getLogger(__name__).exception("the aws command of a node")
            answer = Answer(255, error=f"{type(error).__name__}: {error}\n")
        self.wfile.write(json.dumps(answer).encode() + b"\n")
