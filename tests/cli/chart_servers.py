"""Doubles on loopback of what publishes charts: a Git repository, a chart repository and an OCI registry."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml

Answer = tuple[int, Mapping[str, str], bytes]
LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


@dataclass
class Server:
    """Answers by path; each can be replaced, and the requests are noted."""

    address: str
    answers: dict[str, Answer | Callable[[Mapping[str, str]], Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def publish(self, repository: str, name: str, version: str, archive: bytes, *, digest: str | None = None) -> None:
        """Publish an archive in a chart repository."""
        stated = hashlib.sha256(archive).hexdigest() if digest is None else digest
        entry = {"name": name, "version": version, "urls": [f"{name}-{version}.tgz"], "digest": stated}
        older = {"name": name, "version": "0.0.1", "urls": [f"{name}-0.0.1.tgz"]}
        index = {"apiVersion": "v1", "entries": {"another": [], name: [older, entry]}}
        self.answers[f"{repository}/index.yaml"] = 200, {}, yaml.safe_dump(index).encode()
        self.answers[f"{repository}/{name}-{version}.tgz"] = 200, {}, archive

    def push(self, folder: str, name: str, version: str, archive: bytes, *, token: str = "", media_type: str = LAYER) -> None:
        """Push an archive to a registry, which asks for a token if one is given."""
        digest = f"sha256:{hashlib.sha256(archive).hexdigest()}"
        layers = [{"mediaType": "other", "digest": "x"}, {"mediaType": media_type, "digest": digest, "size": len(archive)}]
        base = f"/v2{folder}/{name}"
        self.answers[f"{base}/blobs/{digest}"] = self._guarded(token, (200, {}, archive))
        self.answers[f"{base}/manifests/{version}"] = self._guarded(token, (200, {}, json.dumps({"layers": layers}).encode()))
        self.answers["/token"] = 200, {}, json.dumps({"token": token}).encode()

    def _guarded(self, token: str, answer: Answer) -> Callable[[Mapping[str, str]], Answer]:
        asked = {"WWW-Authenticate": f'Bearer realm="{self.address}/token",service="double"'}
        return lambda headers: answer if not token or headers.get("Authorization") == f"Bearer {token}" else (401, asked, b"")


@contextmanager
def serving() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            found = server.answers.get(urlsplit(self.path).path, (404, {}, b""))
            status, headers, body = found(dict(self.headers)) if callable(found) else found
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


class Repository:
    """A Git repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--template=")

    @property
    def address(self) -> str:
        return self.folder.as_uri()

    def git(self, *arguments: str) -> str:
        who = {f"GIT_{role}_{part}": "someone@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **who}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
        return done.stdout.strip()

    def commit(self, files: Mapping[str, bytes]) -> str:
        """Commit these files beside those that are there, and give the commit's id."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--message", "a revision")
        return self.git("rev-parse", "HEAD")
