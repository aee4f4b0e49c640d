"""Reads of a Kubernetes API: the certificate that EKS names, the token, and answers that are none."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hyperpod_constructs.cli import kubernetes_api
from hyperpod_constructs.cli.kubernetes_api import KubernetesApi, KubernetesError
from hyperpod_constructs.local.kubernetes import certificates

PLACES = {
    "/found": (200, b'{"items": []}'),
    "/denied": (403, b'{"kind": "Status", "message": "queues is forbidden"}'),
    "/moved": (302, b"{}"),
    "/list": (200, b"[]"),
    "/words": (200, b"not JSON"),
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, body = PLACES[self.path]
        if self.path == "/found":
            body = json.dumps({"authorization": self.headers["Authorization"]}).encode()
        self.send_response(status)
        self.send_header("Location", "/found")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> certificates.Certificates:
    return certificates.make(tmp_path_factory.mktemp("certificates"), "training")


@pytest.fixture(scope="module")
def endpoint(made: certificates.Certificates) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def _api(endpoint: str, authority: bytes) -> KubernetesApi:
    data = base64.b64encode(authority).decode()
    return KubernetesApi({"endpoint": endpoint, "certificateAuthority": {"data": data}}, "secret")


def test_the_token_goes_to_the_api(endpoint: str, made: certificates.Certificates) -> None:
    assert _api(endpoint, made.authority).get("/found") == {"authorization": "Bearer secret"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/denied", "403 queues is forbidden"),
        ("/moved", "302"),
        ("/list", r"the answer \(status 200\) is no object of Kubernetes"),
        ("/words", r"the answer \(status 200\) is no object of Kubernetes"),
    ],
)
def test_fails_for_any_other_answer(endpoint: str, made: certificates.Certificates, path: str, message: str) -> None:
    with pytest.raises(KubernetesError, match=message):
        _api(endpoint, made.authority).get(path)


def test_fails_for_an_answer_without_end(endpoint: str, made: certificates.Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_api, "_LARGEST", 8)
    with pytest.raises(KubernetesError, match="is no object of Kubernetes"):
        _api(endpoint, made.authority).get("/found")


def test_fails_for_another_certificate_and_without_a_server(endpoint: str, tmp_path: Path) -> None:
    other = certificates.make(tmp_path, "other")
    with pytest.raises(KubernetesError, match=r"does not answer: .*CERTIFICATE_VERIFY_FAILED"):
        _api(endpoint, other.authority).get("/found")
    with pytest.raises(KubernetesError, match="does not answer"):
        _api("https://127.0.0.1:1", other.authority).get("/found")
