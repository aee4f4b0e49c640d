"""Messages between the processes of a job: a port that answers only to holders of the job's token. Frames are bounded.

A frame is a JSON object and bytes, each with its length first; there is no pickle. Before the first frame, both ends prove that
they have the token; the token itself is never sent.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import socket
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import BoundedSemaphore, Thread
from typing import Any, Self

LENGTHS = struct.Struct("!IQ")
MOST_HEAD = 1 << 20
NONCE_BYTES = 32
PROOF_BYTES = hashlib.sha256().digest_size
GREETING_SECONDS = 10.0
# Strangers that connect and say nothing take these places for GREETING_SECONDS, and no more.
GREETINGS = 64

Address = tuple[str, int]


class WireError(ConnectionError):
    """The other end has no token, or does not keep to the frames."""


def token() -> bytes:
    """The job's token, which the batch script has made."""
    text = os.environ.get("JOB_TOKEN", "")
    if len(text) < 32:
        raise SystemExit("JOB_TOKEN: shorter than 32 characters; the batch script sets it with job_token of common/slurm.sh")
    return text.encode()


class Peer:
    """One end of a connection. `seconds` is the silence after which the other end counts as lost; `None` waits for ever."""

    def __init__(self, connection: socket.socket, seconds: float | None) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        self.connection = connection

    def send(self, head: Mapping[str, Any], body: bytes | bytearray | memoryview = b"") -> None:
        text = json.dumps(head).encode()
        if len(text) > MOST_HEAD:
            raise WireError(f"a head of {len(text)} bytes, at most {MOST_HEAD} can be sent")
        self.connection.sendall(LENGTHS.pack(len(text), len(body)) + text)
        if body:
            self.connection.sendall(body)

    def receive(self, most: int) -> tuple[dict[str, Any], bytearray]:
        """The next frame, with at most `most` bytes."""
        head_bytes, body_bytes = LENGTHS.unpack(self.exactly(LENGTHS.size))
        if head_bytes > MOST_HEAD or body_bytes > most:
            raise WireError(f"a frame of {head_bytes} and {body_bytes} bytes, allowed are {MOST_HEAD} and {most}")
        try:
            head = json.loads(self.exactly(head_bytes))
        except ValueError as error:
            raise WireError(f"the head of a frame is not JSON: {error}") from None
        if not isinstance(head, dict):
            raise WireError(f"the head of a frame is a {type(head).__name__}, not an object")
        return head, self.exactly(body_bytes)

    def exactly(self, count: int) -> bytearray:
        data = bytearray(count)
        view, filled = memoryview(data), 0
        while filled < count:
            received = self.connection.recv_into(view[filled:])
            if not received:
                raise WireError("the other end has closed the connection")
            filled += received
        return data

    def close(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def dial(address: Address, key: bytes, seconds: float) -> Peer:
    """A connection to a port whose owner has the token too."""
    peer = Peer(socket.create_connection(address, timeout=seconds), seconds)
    try:
        theirs, ours = bytes(peer.exactly(NONCE_BYTES)), secrets.token_bytes(NONCE_BYTES)
        peer.connection.sendall(ours + prove(key, b"client", theirs, ours))
        if not hmac.compare_digest(peer.exactly(PROOF_BYTES), prove(key, b"server", theirs, ours)):
            raise WireError(f"{address[0]}:{address[1]} has another token")
    except BaseException:
        peer.close()
        raise
    return peer


def greet(peer: Peer, key: bytes) -> None:
    """The server's part of the same."""
    ours = secrets.token_bytes(NONCE_BYTES)
    peer.connection.sendall(ours)
    theirs = bytes(peer.exactly(NONCE_BYTES))
    if not hmac.compare_digest(peer.exactly(PROOF_BYTES), prove(key, b"client", ours, theirs)):
        raise WireError("a peer with another token")
    peer.connection.sendall(prove(key, b"server", ours, theirs))


def prove(key: bytes, side: bytes, server_nonce: bytes, client_nonce: bytes) -> bytes:
    return hmac.new(key, side + server_nonce + client_nonce, hashlib.sha256).digest()


class Port:
    """A port on one address. `answer` gets each connection, in a thread of its own, and returns to close it."""

    def __init__(self, host: str, key: bytes, answer: Callable[[Peer], None], *, port: int = 0) -> None:
        self.key = key
        self.answer = answer
        self.places = BoundedSemaphore(GREETINGS)
        self.listener = socket.create_server((host, port), backlog=512)
        self.address: Address = self.listener.getsockname()[:2]
        Thread(target=self.accept, name="port", daemon=True).start()

    def accept(self) -> None:
        while True:
            self.places.acquire()
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            Thread(target=self.serve, args=(connection,), name="peer", daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with Peer(connection, GREETING_SECONDS) as peer:
            try:
                greet(peer, self.key)
            except OSError as error:
                logging.warning("a connection was refused: %s", error)
                return
            finally:
                self.places.release()
            keep_alive(connection)
            with suppress(OSError):
                self.answer(peer)

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def keep_alive(connection: socket.socket) -> None:
    """Wait for the peer's next frame as long as its machine answers; a node without power is noticed after half a minute."""
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 4)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
