"""A stranger's malformed request to the embedded AWS: the answer is a client error in AWS's shape, and the service continues.

The requests are the same in every run. They are signed, so that they reach the parsers.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws
from tests.attacks.strangers import SERVICES, Request, model, requests

SEED = 9
OF_EACH = 90
SECONDS = 300.0


class Wire:
    """A connection that stays open."""

    def __init__(self, aws: LocalAws) -> None:
        settings = aws.environment()
        self._credentials = Credentials(
            settings["AWS_ACCESS_KEY_ID"], settings["AWS_SECRET_ACCESS_KEY"], settings.get("AWS_SESSION_TOKEN")
        )
        self._aws = aws
        self._connection = http.client.HTTPConnection(aws.endpoint.removeprefix("http://"), timeout=SECONDS)

    def ask(self, request: Request) -> tuple[int, str, bytes]:
        """Status, content type and body of the answer."""
        sent = AWSRequest(request.method, self._aws.endpoint + request.path, dict(request.headers), request.body)
        signer = S3SigV4Auth if request.service == "s3" else SigV4Auth
        signer(self._credentials, model(request.service).signing_name, self._aws.region).add_auth(sent)
        self._connection.request(request.method, request.path, body=request.body, headers=dict(sent.headers))
        with self._connection.getresponse() as answer:
            return answer.status, answer.headers.get("Content-Type", ""), answer.read()

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    directory = tmp_path_factory.mktemp("aws")
    yield server.start(directory)
    server.stop(directory)


@pytest.fixture(scope="module")
def wire(aws: LocalAws) -> Iterator[Wire]:
    made = Wire(aws)
    yield made
    made.close()


@pytest.mark.parametrize("service", SERVICES)
def test_malformed_requests_are_the_callers_mistake(wire: Wire, service: str) -> None:
    failed, refused = [], 0
    asked = list(requests(service, SEED, OF_EACH))
    for request in asked:
        status, content_type, body = wire.ask(request)
        if status >= 500:
            failed.append(f"{status} {request.attack}: {body[:200]!r}")
        refused += 400 <= status < 500
        if status in (400, 403) and request.method != "HEAD":
            assert _code(content_type, body), (request.attack, content_type, body[:300])
    assert failed == []
    assert len(asked) == OF_EACH
    assert refused >= OF_EACH // 3


def test_there_are_as_many_requests_as_were_promised() -> None:
    assert len(SERVICES) * OF_EACH >= 1400


def _code(content_type: str, body: bytes) -> str | None:
    """The error code at the place where botocore reads it."""
    if "json" in content_type:
        found = json.loads(body)
        return next((str(found[name]) for name in ("__type", "code", "Code") if found.get(name)), None)
    said = re.search(rb"<Code>([^<]+)</Code>", body)
    return None if said is None else said[1].decode()


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n12345",
        b"POST / HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"NONSENSE\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /%ff%00%zz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nX-Amz-Target: \xff.\xfe\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_a_request_that_is_no_http_ends_in_a_refusal(aws: LocalAws, head: bytes) -> None:
    address, _, port = aws.endpoint.removeprefix("http://").partition(":")
    with socket.create_connection((address, int(port)), timeout=SECONDS) as connection:
        connection.sendall(head.replace(b"{host}", f"{address}:{port}".encode()))
        connection.shutdown(socket.SHUT_WR)
        said = b""
        while chunk := connection.recv(65536):
            said += chunk
    assert not re.match(rb"HTTP/1\.1 5", said), said
    assert aws.client("sts").get_caller_identity()["Account"] == aws.account
