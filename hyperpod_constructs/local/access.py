"""Access to the embedded AWS: only programs on this machine that sign with a known key; never a web page.

The guard stands in front of everything, the emulator's own paths and ministack's too, so what is not allowed here is refused.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from hyperpod_constructs.local.claims import claim_in, refusing_nonsense
from hyperpod_constructs.local.signatures import Credential, Received, Refused

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Response = tuple[int, dict[str, str], bytes]

DRAINED = 1 << 20
"""Bytes read from a refused request's body, so that its sender reaches the answer."""

UNPROVEN = 70_167_211
"""Bytes of a body that are kept before its sender is known; AWS takes no larger one where the body's hash is signed (Lambda)."""

_ACCOUNT = re.compile(r"[0-9]{12}")

EMULATOR = re.compile(r"(?!/_aws/|/_alb/)/[_%]")
"""Paths of which AWS has none: resets, settings, everybody's messages. No bucket's name starts so. APIs, function URLs and load
balancers have paths of the first two kinds. They judge who asks; where IAM is evaluated, they do not answer at all."""


class Behind(Protocol):
    """The guard's questions to the application behind it."""

    def credential(self, key_id: str) -> Credential | None:
        """What belongs to a key that IAM or STS gave out.

        :raises Refused: for one that is no longer valid.
        """

    def claimed_key(self, received: Received) -> str:
        """The access key id that the services will take for the caller's."""

    def awaits(self, method: str, path: str) -> bool:
        """Whether the path ends with a secret that was given to somebody to answer with, who has not answered yet."""

    def refusal(self, received: Received, refused: Refused) -> Response:
        """The answer in the protocol of the service that is asked."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The key of who started the embedded AWS. With its secret, a 12-digit access key id is the root user of that account."""

    key_id: str
    secret: str

    def credential(self, key_id: str) -> Credential | None:
        """What belongs to this key; None if it is not the owner's."""
        mine = hmac.compare_digest(key_id.encode(), self.key_id.encode())
        return Credential(self.secret) if mine or _ACCOUNT.fullmatch(key_id) else None


class Guard:
    """Passes requests that a known key has signed; refuses every other, and whatever comes from a web page."""

    def __init__(self, application: App, host: str, owner: Owner, behind: Behind) -> None:
        self._application = application
        self._host = host
        self._owner = owner
        self._behind = behind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        received, incoming, send = received_in(scope), _Incoming(receive), without_cors(send)
        try:
            self._refuse_strangers(received)
            awaited = self._behind.awaits(received.method, scope["path"])
            if not awaited:
                await self._authenticate(received, scope, incoming)
        except Refused as refused:
            await self._refuse(received, refused, scope, incoming, send)
            return
        await self._application(scope, incoming.again, send)

    def _refuse_strangers(self, received: Received) -> None:
        """A page of another origin, and a name that somebody else's DNS gives this machine."""
        if received.values("host") != [self._host]:
            raise Refused("AccessDenied", f"the embedded aws answers to the host {self._host} only")
        if received.values("origin") or received.method == "OPTIONS":
            raise Refused("AccessDenied", "the embedded aws answers to no web page")
        if any(site != "none" for site in received.values("sec-fetch-site")):
            raise Refused("AccessDenied", "the embedded aws answers to no web page")

    async def _authenticate(self, received: Received, scope: Scope, incoming: _Incoming) -> None:
        """Refuse a request that is not signed, before its body is read where its head tells. A websocket has no body."""
        claimed = claim_in(received, datetime.now(UTC))
        credential = self._credential(received, claimed.key_id)
        with refusing_nonsense():
            proven = claimed.verify_head(received, credential)
        body = await incoming.read(None if proven else UNPROVEN) if scope["type"] == "http" else b""
        with refusing_nonsense():
            claimed.verify_body(received, body, credential)

    def _credential(self, received: Received, key_id: str) -> Credential:
        if self._behind.claimed_key(received) != key_id:
            raise Refused("IncompleteSignature", "the request names more than one access key")
        owned = self._owner.credential(key_id)
        if owned is None and EMULATOR.match(received.path):
            raise Refused("AccessDenied", "the emulator's own paths answer to its owner's key only")
        found = owned or self._behind.credential(key_id)
        if found is None:
            raise Refused("UnrecognizedClientException", "The security token included in the request is invalid.")
        return found

    async def _refuse(self, received: Received, refused: Refused, scope: Scope, incoming: _Incoming, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        status, headers, body = self._behind.refusal(received, refused)
        await incoming.drain()
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        await send({"type": "http.response.body", "body": b"" if received.method == "HEAD" else body})


def received_in(scope: Scope) -> Received:
    """The head of the request in a scope; a websocket is opened by a GET."""
    headers = tuple((name.decode("latin-1").lower(), _text(value)) for name, value in scope["headers"])
    query = scope["query_string"].decode("latin-1")
    return Received(scope.get("method", "GET"), scope["raw_path"].decode("latin-1"), query, headers)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def without_cors(send: Send) -> Send:
    """The same answers without the headers by which a server lets web pages of other origins read them."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if "headers" in message:
            kept = [pair for pair in message["headers"] if not bytes(pair[0]).lower().startswith(b"access-control-")]
            message = {**message, "headers": kept}
        await send(message)

    return sending


class _Incoming:
    """The body of a request, to be read here and then by the application once more."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False
        self._read: list[bytes] = []

    async def read(self, limit: int | None) -> bytes:
        """The whole body.

        :raises Refused: if it is longer than the limit, or if its sender has hung up.
        """
        parts, size = list[bytes](), 0
        async for part in self._parts():
            size += len(part)
            if limit is not None and size > limit:
                raise Refused(
                    "RequestEntityTooLarge", f"Request must be smaller than {limit} bytes, unless its head signs its body"
                )
            parts.append(part)
        if not self._ended:
            raise Refused("IncompleteSignature", "the body ended before its end")
        self._read = [b"".join(parts)]
        return self._read[0]

    async def drain(self) -> None:
        """Read the rest of the body up to a limit, and discard it."""
        left = DRAINED
        async for part in self._parts():
            left -= len(part)
            if left < 0:
                return

    async def again(self) -> MutableMapping[str, Any]:
        """The body that was read, as one message, then whatever else comes."""
        if self._read:
            return {"type": "http.request", "body": self._read.pop(), "more_body": False}
        return await self._receive()

    async def _parts(self) -> AsyncIterator[bytes]:
        while not self._ended:
            message = await self._receive()
            if message["type"] != "http.request":
                return
            self._ended = not message.get("more_body")
            yield message.get("body", b"")
