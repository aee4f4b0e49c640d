"""One request of a client and its answer, as ASGI carries them: bounded in size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from hyperpod_constructs.local.kubernetes import status, wire
from hyperpod_constructs.local.kubernetes.authorization import User
from hyperpod_constructs.local.kubernetes.wire import Format, Query

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Scope = MutableMapping[str, Any]

BODY_SECONDS = 3.0
SEND_SECONDS = 30.0
CLOSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
"""The refusals after which the server reads no more of a client."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request with its parts read."""

    method: str
    path: str
    parts: list[str]
    query: Query
    headers: list[tuple[bytes, bytes]]
    user: User
    form: Format
    receive: Receive
    send: Send


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    body: Any
    code: int = HTTPStatus.OK
    warnings: Iterable[str] = ()


class Incoming:
    """The messages of one request as they come, with what is left of its body."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._more = True

    async def __call__(self) -> MutableMapping[str, Any]:
        """The next message."""
        message = await self._receive()
        self._more = message["type"] == "http.request" and bool(message.get("more_body"))
        return message

    async def drain(self) -> None:
        """Take the rest of the body, bounded in size and time.

        The server closes a connection whose request was answered before its end, and a client that still sends then never reads the
        answer.
        """
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while self._more and size <= wire.MOST_BYTES:
                    size += len((await self()).get("body", b""))
        except TimeoutError:
            pass


async def body_of(call: Call) -> bytes:
    """The whole body, bounded in size and time.

    :raises ApiError: 413 or 408.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await call.receive()
                if message["type"] != "http.request":
                    raise status.timed_out()
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > wire.MOST_BYTES:
                    raise status.too_large(wire.MOST_BYTES)
                if not message.get("more_body"):
                    return b"".join(chunks)
    except TimeoutError:
        raise status.timed_out() from None


async def disconnected(receive: Receive) -> None:
    """Returns when the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def start(code: int, content_type: str, extra: Iterable[tuple[bytes, bytes]] = ()) -> MutableMapping[str, Any]:
    """The message that begins an answer."""
    headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-cache, private"), *extra]
    return {"type": "http.response.start", "status": code, "headers": headers}


async def chunk(send: Send, body: bytes) -> None:
    """Send a part of an answer that goes on."""
    async with asyncio.timeout(SEND_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": True})


async def send_answer(send: Send, answer: Answer, form: Format) -> None:
    """Send a whole answer."""
    text = form.text
    if isinstance(answer.body, bytes):
        body, text = answer.body, "text/plain; charset=utf-8" if answer.body == b"ok" else wire.JSON_TYPE
    else:
        body = wire.written(answer.body, form)
    extra = [(b"content-length", str(len(body)).encode()), *wire.warning_headers(answer.warnings)]
    if answer.code == HTTPStatus.TOO_MANY_REQUESTS:
        extra.append((b"retry-after", b"1"))
    if answer.code in CLOSING:
        extra.append((b"connection", b"close"))
    async with asyncio.timeout(SEND_SECONDS):
        await send(start(answer.code, text, extra))
        await send({"type": "http.response.body", "body": body})


async def lifespan(receive: Receive, send: Send) -> None:
    """Agree to the start and the end of the server."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
