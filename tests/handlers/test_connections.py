"""Connections of the functions' clients: kept, bounded, verified. The other side here writes bytes, and may be anyone."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import ProxyConfiguration
from botocore.utils import get_environ_proxies

from hyperpod_constructs.custom_resources.handlers.aws import transient
from hyperpod_constructs.custom_resources.handlers.wire import connections
from hyperpod_constructs.custom_resources.handlers.wire.connections import Connection, SettingError, UnreadableAnswerError
from hyperpod_constructs.custom_resources.handlers.wire.requests import Request
from hyperpod_constructs.local.kubernetes import certificates

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: a\r\n\r\n{}"
CLOSING = OK.replace(b"X-Name: a", b"Connection: close")
CUT = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\n{}",
    b"HTTP/1.1 200 OK\r\nConte",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
]
ENDING = (CLOSING, *CUT)
HELLO = b"\x16"  # of TLS
TUNNEL = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Peer:
    """Listens on this machine. Each request gets the next answer, piece by piece; a connection ends with the answers.

    :param context: how connections are encrypted; of a proxy, what comes after `CONNECT`.
    """

    def __init__(self, answers: list[list[bytes]], context: ssl.SSLContext | None = None) -> None:
        self._answers, self._context = answers, context
        self.heads: list[bytes] = []
        self.accepted = 0
        self.pause = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._answers.clear()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        self._thread.join()  # before its listener goes: it may be about to accept
        self._listener.close()

    def _serve(self) -> None:
        while self._answers:
            kept, _ = self._listener.accept()
            with suppress(OSError), ExitStack() as sockets:
                self.accepted += 1
                kept.settimeout(5)
                self._talk(sockets.enter_context(kept), sockets)

    def _talk(self, kept: socket.socket, sockets: ExitStack) -> None:
        if self._context is not None and kept.recv(1, socket.MSG_PEEK) != b"C":
            kept = sockets.enter_context(self._context.wrap_socket(kept, server_side=True))
        while self._answers and (head := self._head(kept)):
            self.heads.append(head)
            answer = self._answers.pop(0)
            for piece in answer:
                kept.sendall(piece)
                time.sleep(self.pause)
            if answer[0] in ENDING:
                return
            if self._context is not None and head.startswith(b"CONNECT"):
                kept = sockets.enter_context(self._context.wrap_socket(kept, server_side=True))

    def _head(self, kept: socket.socket) -> bytes:
        found = b""
        while b"\r\n\r\n" not in found and not found.startswith(HELLO):
            part = kept.recv(65536)
            if not part:
                return b""
            found += part
        return found


Listen = Callable[..., Peer]


@pytest.fixture
def listen() -> Iterator[Listen]:
    peers: list[Peer] = []

    def start(*answers: bytes | list[bytes], context: ssl.SSLContext | None = None) -> Peer:
        peers.append(Peer([[each] if isinstance(each, bytes) else each for each in answers], context))
        return peers[-1]

    yield start
    for peer in peers:
        peer.close()


def asked(url: str) -> Request:
    return Request("POST", f"{url}/", {"Host": "service"}, b"{}")


def to(peer: Peer) -> tuple[Connection, Request]:
    url = f"http://127.0.0.1:{peer.port}"
    return Connection(url), asked(url)


def test_a_connection_is_kept_for_the_next_request(listen: Listen) -> None:
    peer = listen(OK, OK, OK)
    connection, request = to(peer)
    answers = [connection.send(request) for _ in range(3)]
    assert answers[0] == (200, {"content-length": "2", "x-name": "a"}, b"{}")
    assert (peer.accepted, len(peer.heads)) == (1, 3)
    connection.close()


def test_a_connection_that_the_other_side_closed_is_opened_again(listen: Listen) -> None:
    peer = listen(CLOSING, CLOSING)
    connection, request = to(peer)
    assert [connection.send(request).status for _ in range(2)] == [200, 200]
    assert peer.accepted == 2


def test_a_connection_that_ends_silently_is_opened_again(listen: Listen) -> None:
    """As after a night in which Lambda kept the process: no header had announced the end."""
    first = listen(OK)
    connection, request = to(first)
    assert connection.send(request).status == 200
    first.close()
    with pytest.raises(EndpointConnectionError):
        connection.send(request)


def test_what_nobody_asked_for_is_no_answer(listen: Listen) -> None:
    peer = listen(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", OK)
    connection, request = to(peer)
    assert [connection.send(request).body for _ in range(2)] == [b"{}", b"{}"]
    connection.close()


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary", b"308 Permanent"])
def test_no_redirect_is_followed(status: bytes, listen: Listen) -> None:
    other = listen(OK)
    place = f"http://127.0.0.1:{other.port}/".encode()
    connection, request = to(listen(b"HTTP/1.1 " + status + b"\r\nLocation: " + place + b"\r\nContent-Length: 0\r\n\r\n"))
    assert connection.send(request).status == int(status[:3])
    assert other.accepted == 0
    connection.close()


LONG = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n" + b"x" * 5000,
    b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n" + b"x" * 5000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 2000,
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 90 + b"Y: " + b"y" * 5000,
]


@pytest.mark.parametrize("answer", LONG, ids=["length", "no end", "chunk", "chunks", "headers"])
def test_fails_for_an_answer_that_is_too_long(answer: bytes, listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_BYTES", 4096)
    connection, request = to(listen(answer))
    with pytest.raises(UnreadableAnswerError, match="more than 4096 bytes") as failure:
        connection.send(request)
    assert transient(failure.value)


DRIPPING = [
    [b"HTTP/1.1 200 OK\r\nX: ", *([b"y"] * 100)],
    [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *([b"y"] * 100)],
    [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *([b"1\r\ny\r\n"] * 100)],
    [b"HTTP/1.1 100 Continue\r\n\r\n"] * 100,
]


@pytest.mark.parametrize("answer", DRIPPING, ids=["headers", "body", "chunks", "continue"])
def test_fails_for_an_answer_that_drips(answer: list[bytes], listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause is as long as the time limit, but all of them together are."""
    monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
    peer = listen(answer)
    peer.pause = 0.02
    connection, request = to(peer)
    begun = time.monotonic()
    with pytest.raises(ReadTimeoutError):
        connection.send(request)
    assert time.monotonic() - begun < 1.5


def test_each_wait_is_for_the_rest_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(b"xy")
        monkeypatch.setattr(connections, "READ_SECONDS", 100.0)
        with connections._Received(here) as received:
            assert received.read(1) == b"x"
            assert 50 < (here.gettimeout() or 0) < 100
        monkeypatch.setattr(connections, "READ_SECONDS", 0.0)
        with connections._Received(here) as received, pytest.raises(TimeoutError):
            received.read(1)


@pytest.mark.parametrize("answer", CUT, ids=["body", "chunk", "head", "no HTTP", "status", "too many headers", "long header"])
def test_fails_for_an_answer_that_is_cut_or_no_http(answer: bytes, listen: Listen) -> None:
    peer = listen(answer)
    connection, request = to(peer)
    with pytest.raises(ConnectionClosedError) as failure:
        connection.send(request)
    assert isinstance(failure.value, HTTPClientError)
    assert transient(failure.value)


def test_the_connection_works_after_a_broken_answer(listen: Listen) -> None:
    connection, request = to(listen(CUT[4], OK))
    with pytest.raises(ConnectionClosedError):
        connection.send(request)
    assert connection.send(request).status == 200
    connection.close()


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1"])
def test_a_header_cannot_hold_another_one(value: str, listen: Listen) -> None:
    peer = listen(OK)
    connection, request = to(peer)
    with pytest.raises(ValueError, match="Invalid header value"):
        connection.send(request._replace(headers={"Token": value}))
    assert peer.heads == []
    assert connection.send(request).status == 200
    connection.close()


class Files(NamedTuple):
    """Of an authority, and of a server's certificate for 127.0.0.1."""

    bundle: str
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    directory = tmp_path_factory.mktemp("tls")
    made = certificates.make(directory, "service")
    (directory / "bundle").write_bytes(made.authority)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    return Files(str(directory / "bundle"), context)


def test_a_service_with_a_trusted_certificate_answers(listen: Listen, files: Files) -> None:
    peer = listen(OK, OK, context=files.context)
    url = f"https://127.0.0.1:{peer.port}"
    connection = Connection(url, bundle=files.bundle)
    assert [connection.send(asked(url)).status for _ in range(2)] == [200, 200]
    assert peer.accepted == 1
    connection.close()


def test_fails_for_a_certificate_of_an_unknown_authority(listen: Listen, files: Files) -> None:
    peer = listen(OK, context=files.context)
    url = f"https://127.0.0.1:{peer.port}"
    with pytest.raises(SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        Connection(url).send(asked(url))
    assert peer.heads == []


def test_fails_for_a_certificate_of_another_name(listen: Listen, files: Files) -> None:
    proxy = listen(TUNNEL, OK, context=files.context)
    url = "https://sagemaker.example"
    with pytest.raises(SSLError, match=r"sagemaker\.example"):
        Connection(url, f"http://127.0.0.1:{proxy.port}", files.bundle).send(asked(url))
    assert len(proxy.heads) == 1


def test_fails_for_a_service_without_encryption(listen: Listen, files: Files) -> None:
    peer = listen(OK)
    url = f"https://127.0.0.1:{peer.port}"
    with pytest.raises(SSLError):
        Connection(url, bundle=files.bundle).send(asked(url))
    assert b"POST" not in peer.heads[0]


def test_a_proxy_makes_a_tunnel_and_sees_nothing_of_it(listen: Listen, files: Files) -> None:
    proxy = listen(TUNNEL, OK, OK, context=files.context)
    url = "https://127.0.0.1:9"
    connection = Connection(url, f"http://user:p%40ss@127.0.0.1:{proxy.port}", files.bundle)
    assert [connection.send(asked(url)).status for _ in range(2)] == [200, 200]
    asked_of_it, within, _ = proxy.heads
    assert asked_of_it.startswith(b"CONNECT 127.0.0.1:9 HTTP/1.")
    assert b"Proxy-Authorization: Basic dXNlcjpwQHNz\r\n" in asked_of_it
    assert within.startswith(b"POST / HTTP/1.1\r\n")
    assert b"Proxy-Authorization" not in within
    connection.close()


def test_a_proxy_forwards_what_is_not_encrypted(listen: Listen) -> None:
    proxy = listen(OK)
    connection = Connection("http://service.example", f"http://user:pass@127.0.0.1:{proxy.port}")
    assert connection.send(asked("http://service.example")).status == 200
    assert proxy.heads[0].startswith(b"POST http://service.example/ HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz\r\n" in proxy.heads[0]
    connection.close()


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", CUT[3], b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000]
)
def test_fails_for_a_proxy_that_makes_no_tunnel(answer: bytes, listen: Listen) -> None:
    proxy = listen(answer)
    connection = Connection("https://service.example", f"http://user:secret@127.0.0.1:{proxy.port}")
    with pytest.raises(ProxyConnectionError) as failure:
        connection.send(asked("https://service.example"))
    assert "secret" not in str(failure.value)
    assert transient(failure.value)


def test_fails_for_a_proxy_that_drips(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS", 0.1)
    proxy = listen([b"HTTP/1.1 200 OK\r\n", *([b"X"] * 100)])
    proxy.pause = 0.02
    with pytest.raises(ConnectTimeoutError):
        Connection("https://service.example", f"http://127.0.0.1:{proxy.port}").send(asked("https://service.example"))


@pytest.mark.parametrize("scheme", ["https", "socks5"])
def test_fails_for_a_proxy_of_another_kind(scheme: str) -> None:
    with pytest.raises(SettingError, match=f"proxy {scheme}://proxy.example: only http:// is supported"):
        Connection("https://service.example", f"{scheme}://user:secret@proxy.example:1")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_fails_for_a_bundle_that_cannot_be_read(content: str | None, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    if content is not None:
        bundle.write_text(content)
    with pytest.raises(SettingError, match=r"the trusted certificates in .*bundle cannot be read") as failure:
        Connection("https://127.0.0.1:9", bundle=str(bundle)).send(asked("https://127.0.0.1:9"))
    assert not transient(failure.value)


PROXIES = [
    ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
    ({"https_proxy": "p:1"}, "http://p:1"),
    ({"HTTPS_PROXY": "//p:1"}, "http://p:1"),
    ({"HTTP_PROXY": "http://p:1"}, ""),
    ({"ALL_PROXY": "http://p:1"}, ""),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "service.example"}, ""),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example"}, ""),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.example"}, "http://p:1"),
    ({}, ""),
]


@pytest.mark.parametrize(("settings", "proxy"), PROXIES)
def test_the_proxy_is_that_of_botocore(settings: dict[str, str], proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    theirs = ProxyConfiguration(get_environ_proxies("https://service.example")).proxy_url_for("https://service.example")
    assert connections._proxy("https://service.example") == proxy == (theirs or "")
