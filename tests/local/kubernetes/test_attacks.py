"""What strangers send: paths, bodies and slowness that must neither stop the server nor get around its checks."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from hyperpod_constructs.local.kubernetes.control_plane import ControlPlane
from tests.local.kubernetes.manifests import Object, config_map


class Raw:
    """Bytes over TLS."""

    def __init__(self, control_plane: ControlPlane, token: str) -> None:
        address = urlsplit(control_plane.endpoint)
        context = ssl.create_default_context(cadata=control_plane.certificate_authority.decode())
        plain = socket.create_connection((address.hostname, address.port), timeout=30)
        self.socket = context.wrap_socket(plain, server_hostname=address.hostname)
        self.head = f"Host: x\r\nAuthorization: Bearer {token}\r\n"

    def answer(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body."""
        self.socket.sendall(request)
        answer = http.client.HTTPResponse(self.socket)
        answer.begin()
        body = answer.read()
        self.socket.close()
        return answer.status, body


@pytest.fixture
def raw(control_plane: ControlPlane, api: HttpsApi) -> Callable[[], Raw]:
    """A new connection of the administrator."""
    return lambda: Raw(control_plane, api.token)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/../../../version",
        "/api/v1/namespaces/default/%2e%2e/secrets",
        "/api/v1/namespaces/..%2fkube-system/secrets",
        "/api/v1//namespaces",
        "/api/v1/namespaces/default/configmaps/a%2Fb",
        "/apis/%2e/v1/pods",
        "/api/v1/namespaces/default/secrets/a/b/c",
        "/openapi/v3/../v2",
        "/api/v1/nodes/x/proxy/metrics",
    ],
)
def test_paths_with_tricks_lead_nowhere(raw: Callable[[], Raw], path: str) -> None:
    """Not found, also for the administrator."""
    connection = raw()
    status, body = connection.answer(f"GET {path} HTTP/1.1\r\n{connection.head}\r\n".encode())
    assert (status, json.loads(body)["reason"]) == (404, "NotFound")


def test_a_role_for_one_namespace_is_not_widened_by_a_path(
    as_user: Callable[[str], HttpsApi], api: HttpsApi, namespace: str
) -> None:
    """An encoded slash stays part of the name."""
    with pytest.raises(KubernetesError) as caught:
        as_user("token-of-bob").call("GET", f"/api/v1/namespaces/{namespace}%2F..%2Fkube-system/secrets")
    assert caught.value.code == 404


def test_a_huge_body_is_refused_before_it_is_read(raw: Callable[[], Raw]) -> None:
    """413, and the next client is served."""
    connection = raw()
    head = f"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n{connection.head}Content-Type: application/json\r\n"
    connection.socket.sendall(f"{head}Content-Length: 1000000000\r\n\r\n".encode())
    status, body = connection.answer(b"x" * (4 * 1024 * 1024))
    assert (status, json.loads(body)["reason"]) == (413, "RequestEntityTooLarge")


def test_a_refused_client_sends_its_body_and_keeps_its_connection(control_plane: ControlPlane, api: HttpsApi) -> None:
    """It sends the head first, as kubectl does; a busy machine is slow to send the rest."""
    raw = Raw(control_plane, "nobody")
    for _ in range(2):
        raw.socket.sendall(f"POST /api/v1/namespaces HTTP/1.1\r\n{raw.head}Content-Length: 100\r\n\r\n".encode())
        time.sleep(0.3)
        raw.socket.sendall(b"x" * 100)
        answer = http.client.HTTPResponse(raw.socket)
        answer.begin()
        assert (answer.status, b"Unauthorized" in answer.read()) == (401, True)
    raw.socket.close()


@pytest.mark.parametrize(
    "body", [b'{"a":' * 100_000, b'{"a":' * 250 + b"1" + b"}" * 250, b"[" * 1_000_000, b'{"a": NaN}', b"\xff\xfe"]
)
def test_bodies_that_cannot_be_read_are_400(raw: Callable[[], Raw], body: bytes) -> None:
    """Deep, broken, or not text."""
    connection = raw()
    head = f"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n{connection.head}Content-Type: application/json\r\n"
    status, answer = connection.answer(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert (status, json.loads(answer)["reason"]) == (400, "BadRequest")


def test_yaml_that_grows_is_refused(raw: Callable[[], Raw]) -> None:
    """Aliases of aliases."""
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    body = "\n".join(lines).encode()
    connection = raw()
    head = f"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n{connection.head}Content-Type: application/yaml\r\n"
    status, answer = connection.answer(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    assert status == 400
    assert "aliases" in json.loads(answer)["message"]


def test_a_patch_that_doubles_a_value_is_refused(api: HttpsApi, namespace: str) -> None:
    """Copies of copies stop at the size of a body."""
    api.create(config_map("c", namespace, a="x" * 1000))
    copies = [{"op": "copy", "from": "/data", "path": f"/data/{number}"} for number in range(40)]
    with pytest.raises(KubernetesError) as caught:
        api.call("PATCH", f"/api/v1/namespaces/{namespace}/configmaps/c", body=copies, content_type="application/json-patch+json")  # type: ignore[arg-type]
    assert caught.value.code == 413


def test_a_slow_client_keeps_nobody_from_an_answer(raw: Callable[[], Raw], api: HttpsApi) -> None:
    """Half a request waits; others are answered meanwhile, and its own body is awaited for a bounded time."""
    connections = [raw() for _ in range(20)]
    for connection in connections:
        connection.socket.sendall(f"POST /api/v1/namespaces HTTP/1.1\r\n{connection.head}Content-Length: 100\r\n\r\n{{".encode())
    assert api.get("v1", "Namespace", "default")["metadata"]["name"] == "default"
    answer = http.client.HTTPResponse(connections[0].socket)
    answer.begin()
    assert answer.status == 408
    for connection in connections:
        connection.socket.close()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": "-1"}, "invalid limit"),
        ({"continue": "x"}, "continue key is not valid"),
        ({"labelSelector": "a in ("}, "unable to parse requirement"),
        ({"fieldSelector": "spec.secret=1"}, "field label not supported: spec.secret"),
        ({f"p{number}": "1" for number in range(60)}, "more than 50 parameters"),
    ],
)
def test_queries_that_cannot_be_read_are_400(api: HttpsApi, query: dict[str, str], message: str) -> None:
    """Each says what it found."""
    with pytest.raises(KubernetesError, match=message) as caught:
        api.call("GET", "/api/v1/configmaps", query)
    assert caught.value.code == 400


def test_a_warning_carries_no_headers_of_its_own(api: HttpsApi, namespace: str) -> None:
    """The name of an unknown field is a stranger's text."""
    wrong: Object = {**config_map("c", namespace), 'x"\r\nSet-Cookie: a=b\r\n\u00e9': 1}
    made = api.create(wrong)
    assert made["metadata"]["name"] == "c"
