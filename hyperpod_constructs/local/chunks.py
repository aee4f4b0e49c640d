"""Bodies that are signed chunk by chunk while they stream (`aws-chunked`); S3 takes signed and unsigned ones."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

SIGNED_WITH_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
SIGNED = frozenset({"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", SIGNED_WITH_TRAILER})
UNSIGNED_WITH_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

_HEAD = re.compile(rb"([0-9a-fA-F]{1,16});chunk-signature=([0-9a-f]{64})\r\n")
_TRAILER_SIGNATURE = re.compile(rb"x-amz-trailer-signature:([0-9a-f]{64})\r\n", re.IGNORECASE)
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Chain:
    """The chain of signatures: each chunk's covers the one before it, and the first covers the request's."""

    timestamp: str
    scope: str
    seed: str
    sign: Callable[[str], str]

    def matches(self, body: bytes, *, trailer: bool) -> bool:
        """Whether every chunk is signed, and the trailer where there is one, and nothing follows."""
        position, previous = 0, self.seed
        while head := _HEAD.match(body, position):
            size, given = int(head[1], 16), head[2].decode()
            end = head.end() + size
            previous = self._next("PAYLOAD", previous, _EMPTY, body[head.end() : end])
            if not hmac.compare_digest(previous, given):
                return False
            if size == 0:
                rest = body[end:]
                return self._ends(rest, previous) if trailer else rest in (b"", b"\r\n")
            if body[end : end + 2] != b"\r\n":
                return False
            position = end + 2
        return False

    def _ends(self, rest: bytes, previous: str) -> bool:
        """Whether the trailer is signed: `name:value` lines, then their signature."""
        found = _TRAILER_SIGNATURE.search(rest)
        if found is None or rest[found.end() :] not in (b"", b"\r\n"):
            return False
        lines = sorted(line.rstrip(b"\r") for line in rest[: found.start()].split(b"\n") if line.strip())
        canonical = b"".join(_trimmed(line) + b"\n" for line in lines)
        return hmac.compare_digest(self._next("TRAILER", previous, None, canonical), found[1].decode())

    def _next(self, kind: str, previous: str, middle: str | None, data: bytes) -> str:
        parts = [f"AWS4-HMAC-SHA256-{kind}", self.timestamp, self.scope, previous, middle, hashlib.sha256(data).hexdigest()]
        return self.sign("\n".join(part for part in parts if part is not None))


def _trimmed(line: bytes) -> bytes:
    name, _, value = line.partition(b":")
    return name.strip().lower() + b":" + value.strip()
