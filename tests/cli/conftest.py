"""A target without an AWS behind it: real boto3 clients whose answers are given, checked against the service models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber


class StubbedTarget:
    """A Target whose clients answer only what a test gave them, in order."""

    account = "111122223333"
    region = "us-west-2"
    nodes = False

    def __init__(self) -> None:
        session = boto3.session.Session(aws_access_key_id="none", aws_secret_access_key="none")
        self._session = session
        self._clients: dict[str, tuple[Any, Stubber]] = {}

    def _pair(self, service: str) -> tuple[Any, Stubber]:
        if service not in self._clients:
            client = self._session.client(service, region_name=self.region)  # type: ignore[call-overload]
            stubber = Stubber(client)
            stubber.activate()
            self._clients[service] = client, stubber
        return self._clients[service]

    def client(self, service: str) -> Any:
        return self._pair(service)[0]

    def answer(self, service: str, operation: str, response: dict[str, Any], **expected: Any) -> None:
        self._pair(service)[1].add_response(operation, response, expected or None)

    def refuse(self, service: str, operation: str, code: str, message: str) -> None:
        self._pair(service)[1].add_client_error(operation, code, message)

    def environment(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "MARK": "stubbed"}

    def assert_all_asked(self) -> None:
        for _, stubber in self._clients.values():
            stubber.assert_no_pending_responses()


@pytest.fixture
def target() -> StubbedTarget:
    return StubbedTarget()


@pytest.fixture(autouse=True)
def unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output in a pipe is as wide as it is, wherever the tests run."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, and none of the variables that the command line reads."""
    monkeypatch.chdir(tmp_path)
    for name in ("YES", "AUTH", "NODES", "TARGET", "STACK"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
