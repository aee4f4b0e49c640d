"""Forwarding of a port: what is asked for, and on a virtual node its doing."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_constructs.cli.console import CliError, say

_FORM = re.compile(r"(?P<local>\d{1,5})(?::(?:(?P<host>[A-Za-z0-9][A-Za-z0-9._-]{0,252}):)?(?P<port>\d{1,5}))?")
_LAST_PORT = 65_535
_CONNECTIONS = 64
RELAY = """
import os, socket, sys, threading
to = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def send():
    while piece := os.read(0, 65536):
        to.sendall(piece)
    to.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while piece := to.recv(65536):
    while piece:
        piece = piece[os.write(1, piece):]
"""
"""A program of a virtual node, which joins standard input and output to a port."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A port of this machine and one of the node, or of a host that the node reaches."""

    local: int
    host: str | None
    port: int

    @classmethod
    def parse(cls, text: str) -> Forward:
        """PORT, LOCAL:PORT or LOCAL:HOST:PORT.

        :raises CliError: for another form, and for a number that is no port.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise CliError(
                f"--forward {text}: write PORT, LOCAL:PORT or LOCAL:HOST:PORT, such as 8888 or 5432:database.internal:5432"
            )
        ports = [int(found["local"]), int(found["port"] or found["local"])]
        if wrong := [port for port in ports if not 0 < port <= _LAST_PORT]:
            raise CliError(f"--forward {text}: {wrong[0]} is no port; ports go from 1 to {_LAST_PORT}")
        return cls(ports[0], found["host"], ports[1])


def relay(node: Sequence[str], host: str, port: int) -> list[str]:
    """The command that joins standard input and output to a port, seen from a virtual node.

    :param node: the command that starts a program on the node.
    """
    return [*node, "python3", "-c", RELAY, host, str(port)]


def serve(node: Sequence[str], forward: Forward) -> None:
    """Forward the port through a virtual node until Ctrl-C.

    :param node: the command that starts a program on the node.
    :raises CliError: if the port of this machine is taken.
    """
    command, running = relay(node, forward.host or "127.0.0.1", forward.port), list[subprocess.Popen[bytes]]()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", forward.local))
        except OSError as error:
            raise CliError(f"port {forward.local} of this machine cannot be taken: {error.strerror}; name another") from None
        listener.listen()
        say(f"127.0.0.1:{forward.local} leads to {forward.host or 'the node'}, port {forward.port}, until Ctrl-C")
        try:
            while True:
                connection, _ = listener.accept()
                running = [process for process in running if process.poll() is None]
                with connection:
                    if len(running) < _CONNECTIONS:
                        running.append(subprocess.Popen(command, stdin=connection.fileno(), stdout=connection.fileno()))  # noqa: S603
        finally:
            for process in running:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                process.wait()
