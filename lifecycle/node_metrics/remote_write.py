"""Writes samples to a Prometheus that takes them, such as Amazon Managed Service for Prometheus.

The body is Prometheus' message of remote write 1.0 in snappy's block format, whose parts may be literal: nothing is compressed.

Sources: https://prometheus.io/docs/specs/prw/remote_write_spec/ and https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

import struct
import urllib.error
import urllib.request
from collections import deque
from typing import Mapping, Sequence

from node_health.bounds import shown
from node_health.system import System
from node_setup.software import RemoteWrite

from node_metrics.catalogue import Sample
from node_metrics.credentials import role_credentials
from node_metrics.identity import Identity
from node_metrics.signing import Credentials, signed

SECONDS = 10.0
MOST_KEPT = 30
SERVICE = "aps"
JOB = "hyperpod"
HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
    "User-Agent": "hyperpod-node-metrics",
}
RENEW_SECONDS = 300
LITERAL = 65536


class Writer:
    """Sends each look's samples. What a Prometheus could not take for the moment is kept and sent with the next, oldest first."""

    def __init__(self, system: System, settings: RemoteWrite, who: Identity) -> None:
        self._system = system
        self._settings = settings
        self._labels = {"job": JOB, "instance": who.name, "instance_group": who.group, "cluster": who.cluster}
        self._kept: deque[bytes] = deque(maxlen=MOST_KEPT)
        self._credentials: tuple[Credentials, float] | None = None

    def write(self, samples: Sequence[Sample]) -> str | None:
        """Send the samples; the reason of a failure, or `None`."""
        self._kept.append(snappy(message(samples, self._labels, self._system.now())))
        while self._kept:
            try:
                self._send(self._kept[0])
            except urllib.error.HTTPError as error:
                with error:
                    said = shown(error.read(300).decode("utf-8", "replace").strip(), 300)
                if error.code < 500 and error.code not in (403, 429):
                    self._kept.popleft()  # the same again would be refused again
                return f"{self._settings.url}: answers {error.code}: {said}"
            except (OSError, ValueError) as error:
                return f"{self._settings.url}: {error}"
            self._kept.popleft()
        return None

    def _send(self, body: bytes) -> None:
        url, headers = self._settings.url, dict(HEADERS)
        if self._settings.region is not None:
            headers.update(signed(url, body, SERVICE, self._settings.region, self._current(), self._system.now()))
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # the settings check the scheme
        with urllib.request.urlopen(request, timeout=SECONDS):
            pass

    def _current(self) -> Credentials:
        if self._credentials is None or self._system.now() > self._credentials[1] - RENEW_SECONDS:
            self._credentials = role_credentials(self._system)
        return self._credentials[0]


def message(samples: Sequence[Sample], labels: Mapping[str, str], now: float) -> bytes:
    """`WriteRequest`: a time series for each sample, its labels in order of their names."""
    return b"".join(_field(1, _series(sample, labels, int(now * 1000))) for sample in samples)


def _series(sample: Sample, labels: Mapping[str, str], milliseconds: int) -> bytes:
    named = {**labels, **sample.labels, "__name__": sample.name}
    pairs = b"".join(_field(1, _field(1, name.encode()) + _field(2, named[name].encode())) for name in sorted(named) if named[name])
    return pairs + _field(2, b"\x09" + struct.pack("<d", sample.value) + b"\x10" + _varint(milliseconds))


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    parts: list[int] = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def snappy(content: bytes) -> bytes:
    """The content in snappy's block format, as literals."""
    parts = [content[start : start + LITERAL] for start in range(0, len(content), LITERAL)]
    return _varint(len(content)) + b"".join(b"\xf4" + struct.pack("<H", len(part) - 1) + part for part in parts)
