"""Starts the double: a process of its own that ends with the one that started it."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from pathlib import Path

from hyperpod_constructs.local import private
from hyperpod_constructs.local.kubernetes import certificates, schemas
from hyperpod_constructs.local.kubernetes.client import HttpsApi
from hyperpod_constructs.local.kubernetes.interface import ControlPlaneError

_READY_SECONDS = 30.0
_END_SECONDS = 5.0
_LOG = "double.log"


class Double:
    """The double of a control plane, which runs."""

    kind = "double"

    def __init__(self, process: subprocess.Popen[bytes], endpoint: str, authority: bytes, api: HttpsApi) -> None:
        self._process = process
        self.endpoint = endpoint
        self.certificate_authority = authority
        self.api = api

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def stop(self) -> None:
        """End it; a second call does nothing. It ends by itself when its input does."""
        self.api.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def start_double(*, name: str, version: str, token_webhook: str, directory: Path) -> Double:
    """Start the double and wait until it answers.

    :raises ControlPlaneError: for a version without schemas, and if it does not start.
    """
    if version not in (known := schemas.supported_versions()):
        raise ControlPlaneError(f"kubernetes version {version}: the double has schemas of {', '.join(known)}; take one of them")
    private.make_directory(directory)
    files, administrator = certificates.make(directory, name), secrets.token_urlsafe(32)
    settings = {
        "version": version,
        "webhook": token_webhook,
        "administrator": administrator,
        "certificate": str(files.certificate),
        "key": str(files.key),
    }
    with private.open_file(directory / _LOG) as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hyperpod_constructs.local.kubernetes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    try:
        endpoint = f"https://127.0.0.1:{_port(process, settings)}"
        api = HttpsApi(endpoint, files.authority, administrator)
        _wait(api)
    except (OSError, ValueError, KeyError) as error:
        process.kill()
        process.wait()
        tail = (directory / _LOG).read_text(errors="replace")[-2000:]
        raise ControlPlaneError(f"the double of {name} did not start: {error}\n{tail}") from error
    return Double(process, endpoint, files.authority, api)


def _port(process: subprocess.Popen[bytes], settings: dict[str, str]) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(settings).encode() + b"\n")
    process.stdin.flush()
    return int(json.loads(process.stdout.readline() or b"{}")["port"])


def _wait(api: HttpsApi) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            api.call("GET", "/version")
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
