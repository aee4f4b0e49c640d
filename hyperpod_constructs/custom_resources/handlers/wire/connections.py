"""Connections to services: encrypted and verified, kept for the next request, bounded in time and size.

An answer is a stranger's. It cannot make this process wait or read without end, and it is never an instruction to ask elsewhere.
"""

from __future__ import annotations

import base64
import http.client
import io
import os
import select
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import botocore
from botocore.exceptions import (
    BotoCoreError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
)

from .requests import Request

CONNECT_SECONDS, READ_SECONDS = 5.0, 10.0

# Most bytes of an answer. The largest is a page of 1,000 network interfaces, a quarter of it.
MOST_BYTES = 16 * 1024**2

_PIECE = 65536


class UnreadableAnswerError(BotoCoreError):
    """An answer that is too long, or not what the model describes."""

    fmt = "{reason}"


class SettingError(BotoCoreError):
    """A setting of the environment that cannot be followed."""

    fmt = "{reason}"


class Answer(NamedTuple):
    """The answer to a request; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def connection(url: str) -> Connection:
    """The connection to the service at a URL, by the environment's proxies and certificates. It is kept for the next caller."""
    bundle = os.environ.get("AWS_CA_BUNDLE") or os.environ.get("REQUESTS_CA_BUNDLE") or ""
    parts = urlsplit(url)
    return _kept(f"{parts.scheme}://{parts.netloc}", _proxy(url), bundle)


class Connection:
    """A connection to one service, directly or through a proxy. It opens with the first request.

    :param origin: scheme, host and port.
    :param proxy: the URL of a proxy; none if empty.
    :param bundle: the path of trusted certificates; botocore's own if empty.
    :raises SettingError: for a proxy with another scheme than `http`.
    """

    def __init__(self, origin: str, proxy: str = "", bundle: str = "") -> None:
        service, through = urlsplit(origin), urlsplit(proxy)
        if through.scheme not in ("", "http"):
            place = f"{through.scheme}://{through.hostname}"
            raise SettingError(reason=f"proxy {place}: only http:// is supported; what goes through it to AWS is encrypted anyway")
        self.bundle, self._service = bundle, service
        self._proxy = f"http://{through.hostname}:{through.port or 80}" if proxy else ""
        self._proxy_headers = _authorization(through.username, through.password)
        self._host, self._port = (through.hostname, through.port or 80) if proxy else (service.hostname, service.port)
        self._made: http.client.HTTPConnection | None = None

    def send(self, request: Request) -> Answer:
        """The answer to a request.

        :raises EndpointConnectionError: if the service cannot be reached; a timeout, a wrong certificate and a proxy have errors
            of their own.
        :raises ConnectionClosedError: for an answer that is cut or no HTTP; `ReadTimeoutError` for one that takes too long.
        :raises UnreadableAnswerError: for an answer that is too long.
        """
        try:
            return self._exchanged(self._opened(request.url), request)
        except BaseException:
            self.close()  # half a request or half an answer may be in it
            raise

    def close(self) -> None:
        """Close it; the next request opens it again."""
        if self._made is not None:
            self._made.close()
            self._made = None

    def _opened(self, url: str) -> http.client.HTTPConnection:
        if self._made is not None and self._made.sock is not None and not _ended(self._made.sock):
            return self._made
        self.close()
        self._made = made = self._new()
        made.response_class = _bounded  # type: ignore[assignment]  # all that is asked of it is to make a response
        try:
            made.connect()
        except TimeoutError as error:
            raise ConnectTimeoutError(endpoint_url=url, error=error) from None
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=url, error=error) from None
        except (OSError, http.client.HTTPException) as error:
            if self._proxy:
                raise ProxyConnectionError(proxy_url=self._proxy, error=error) from None
            raise EndpointConnectionError(endpoint_url=url, error=error) from None
        made.sock.settimeout(READ_SECONDS)
        return made

    def _new(self) -> http.client.HTTPConnection:
        host = self._host or ""
        if self._service.scheme != "https":
            return http.client.HTTPConnection(host, self._port, timeout=CONNECT_SECONDS)
        made = http.client.HTTPSConnection(host, self._port, timeout=CONNECT_SECONDS, context=_trust(self.bundle))
        if self._proxy:
            made.set_tunnel(self._service.hostname or "", self._service.port or 443, headers=self._proxy_headers)
        return made

    def _exchanged(self, made: http.client.HTTPConnection, request: Request) -> Answer:
        asked = urlsplit(request.url)
        forwarded = self._proxy and asked.scheme != "https"
        target = request.url if forwarded else asked._replace(scheme="", netloc="").geturl()
        headers = {**request.headers, **(self._proxy_headers if forwarded else {})}
        try:
            made.request(request.method, target, body=request.body or None, headers=headers)
            with made.getresponse() as got:
                body = b"".join(iter(partial(got.read, _PIECE), b""))
                if got.length != 0 and not got.chunked:  # with neither a length nor chunks, nothing tells that all of it is here
                    raise http.client.IncompleteRead(body)
        except TimeoutError as error:
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from None
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionClosedError(endpoint_url=request.url, error=error) from None
        return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, body)


class _Received(io.RawIOBase):
    """What a socket receives after a request, for a limited time and up to a limited size."""

    def __init__(self, source: socket.socket) -> None:
        self._socket, self._source = source, source.makefile("rb", buffering=0)
        self._until, self._left = time.monotonic() + READ_SECONDS, MOST_BYTES

    def makefile(self, _: str) -> io.BufferedReader:
        """What the standard library asks of a socket."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._socket.settimeout(seconds)
        count = self._source.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise UnreadableAnswerError(reason=f"the answer has more than {MOST_BYTES} bytes")
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def _bounded(source: socket.socket, method: str | None = None) -> http.client.HTTPResponse:
    received: Any = _Received(source)
    return http.client.HTTPResponse(received, method=method)


def _ended(kept: socket.socket) -> bool:
    """Whether the other side has closed the connection, or has sent what nobody asked for."""
    waiting = select.poll()
    waiting.register(kept, select.POLLIN)
    return bool(waiting.poll(0))


@cache
def _kept(origin: str, proxy: str, bundle: str) -> Connection:
    return Connection(origin, proxy, bundle)


@cache
def _trust(bundle: str) -> ssl.SSLContext:
    """Verifies certificates and the names in them.

    :raises SettingError: for a bundle that cannot be read.
    """
    path = bundle or str(Path(botocore.__file__).parent / "cacert.pem")
    try:
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        raise SettingError(reason=f"the trusted certificates in {path} cannot be read: {error}") from None


def _proxy(url: str) -> str:
    """The environment's proxy for a URL; empty without one."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return ""
    from urllib.request import getproxies, proxy_bypass  # late: it takes longer than the rest of this module

    parts = urlsplit(url)
    found = "" if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme, "")
    return found if not found or "://" in found else f"http://{found.removeprefix('//')}"


def _authorization(user: str | None, password: str | None) -> dict[str, str]:
    if not user or not password:
        return {}
    word = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {word}"}
