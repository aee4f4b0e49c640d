"""Starts, finds, resets and stops the embedded AWS: one detached process that listens on 127.0.0.1 only.

This module imports none of the emulator: the caller's process stays light.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

STATE_FILE = "aws.json"
LOCK_FILE = "lock"
LOG_FILE = "server.log"
READY_SECONDS = 60.0
STOP_SECONDS = 10.0


class LocalAwsError(RuntimeError):
    """The embedded AWS did not start, or is not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class LocalAws:
    """A running embedded AWS: where it listens, whose account it plays, and with which credentials to call it.

    `account` is 12 digits. Without `auth` the access key id is the account and every call is allowed; with `auth` it belongs to an
    IAM user with AdministratorAccess, because the root user may not assume roles. With `nodes` instances are virtual nodes.
    """

    endpoint: str
    account: str
    region: str
    pid: int
    auth: bool = False
    nodes: bool = False
    access_key_id: str = ""
    secret_access_key: str = "local"

    def environment(self) -> dict[str, str]:
        """The environment for a child process (the CDK CLI, a script with boto3) that can reach nothing but this AWS.

        It is this process's environment without any AWS setting, plus the endpoint, dummy credentials, the region, and
        configuration files that do not exist, so that no profile and no metadata service can lead to a real account.
        """
        return {**scrubbed(os.environ), **self._settings()}

    def client(self, service: str) -> Any:
        """A boto3 client of this AWS; `service` is botocore's name, such as `cloudformation`."""
        with _SESSION_LOCK:
            return _session().create_client(
                service,
                region_name=self.region,
                endpoint_url=self.endpoint,
                aws_access_key_id=self.access_key_id or self.account,
                aws_secret_access_key=self.secret_access_key,
            )

    def _settings(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id or self.account,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "CDK_DEFAULT_ACCOUNT": self.account,
            "CDK_DEFAULT_REGION": self.region,
            **isolation(),
        }


@cache
def _session() -> Any:
    """A botocore session that reads neither profiles nor configuration files. Loaded at the first use, since botocore is heavy."""
    import botocore.session

    nowhere = isolation()["AWS_CONFIG_FILE"]
    settings: dict[str, Any] = {"profile": (None, [], None, None), "config_file": (None, None, nowhere, None)}
    return botocore.session.Session(session_vars=settings)


_SESSION_LOCK = threading.Lock()


def isolation() -> dict[str, str]:
    """Settings that keep an AWS SDK away from the user's profiles and from the metadata service."""
    return {
        "AWS_CONFIG_FILE": "/nonexistent/aws/config",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/aws/credentials",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false",
    }


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings of AWS SDKs, of the CDK, and of proxies (which would stand between us and 127.0.0.1)."""
    proxies = {"http_proxy", "https_proxy", "all_proxy"}
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(("AWS_", "CDK_DEFAULT_")) and name.lower() not in proxies
    }


def start(
    directory: Path,
    *,
    auth: bool = False,
    nodes: bool = False,
    models: Path | None = None,
    account: str = "123456789012",
    region: str = "us-west-2",
    port: int = 0,
) -> LocalAws:
    """Start the embedded AWS as a detached process and wait until it answers.

    `directory` holds its state file, its log and its temporary files; one directory has one server, and one that runs already with
    the same account, region, `auth` and `nodes` is returned as it is. `nodes` boots a virtual node for every instance, as root.
    `models` is a botocore data folder with newer service models than the installed botocore's, which are used otherwise. `port` 0
    takes a free one.

    Raises ValueError if the account is not 12 digits, LocalAwsError if the server does not start or another kind runs there.
    """
    if len(account) != 12 or not account.isdigit():
        raise ValueError(f"account: found {account!r}; it must be 12 digits, for example '123456789012'")
    existing = running(directory)
    if existing is not None:
        if (existing.account, existing.region, existing.auth, existing.nodes) != (account, region, auth, nodes):
            raise LocalAwsError(
                f"an embedded aws with account={existing.account} region={existing.region} auth={existing.auth} "
                f"nodes={existing.nodes} runs in {directory}; stop it first (hyperpod local stop), or use another directory"
            )
        return existing
    directory.mkdir(parents=True, exist_ok=True)
    (directory / STATE_FILE).unlink(missing_ok=True)
    command = [sys.executable, "-m", "hyperpod_constructs.local", "--directory", str(directory.resolve())]
    command += ["--account", account, "--region", region, "--port", str(port)]
    if auth:
        command.append("--auth")
    if nodes:
        command.append("--nodes")
    if models is not None:
        command += ["--models", str(models.resolve())]
    with (directory / LOG_FILE).open("wb") as log:
        # The process forks once it has its port, so what is awaited here is over at once and leaves nothing to reap.
        launched = subprocess.run(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**scrubbed(os.environ), **isolation()},
            check=False,
        )
    return _wait_until_ready(directory, launched.returncode)


def running(directory: Path) -> LocalAws | None:
    """The embedded AWS that runs in this directory, or None."""
    if not _locked(directory):
        return None
    aws = _read_state(directory)
    if aws is None or not _answers(aws):
        return None
    return aws


def stop(directory: Path) -> None:
    """Stop the embedded AWS of this directory, by its process id, with the Lambda workers that it started; none is a success."""
    aws = _read_state(directory)
    if aws is None or not _locked(directory):
        (directory / STATE_FILE).unlink(missing_ok=True)
        return
    _signal(aws.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while _locked(directory):
        if time.monotonic() > deadline:
            _signal(aws.pid, signal.SIGKILL)
            deadline += STOP_SECONDS
        time.sleep(0.02)
    (directory / STATE_FILE).unlink(missing_ok=True)
    shutil.rmtree(directory / "tmp", ignore_errors=True)


def reset(aws: LocalAws) -> None:
    """Forget every resource of every service, in one call. The server keeps running."""
    request = urllib.request.Request(f"{aws.endpoint}/_hyperpod/reset", method="POST")
    with _open(request, 30.0):
        pass


def virtual_nodes(aws: LocalAws) -> list[dict[str, Any]]:
    """The virtual nodes that run: `InstanceId`, `InstanceGroupName`, `Name`, and the `Command` that starts a program on each."""
    with _open(urllib.request.Request(f"{aws.endpoint}/_hyperpod/nodes"), 30.0) as answer:
        nodes: list[dict[str, Any]] = json.loads(answer.read())["nodes"]
    return nodes


def _wait_until_ready(directory: Path, launched: int) -> LocalAws:
    deadline = time.monotonic() + READY_SECONDS
    while launched == 0 and _locked(directory) and time.monotonic() < deadline:
        aws = _read_state(directory)
        if aws is not None and _answers(aws):
            return aws
        time.sleep(0.02)
    tail = "\n".join((directory / LOG_FILE).read_text(errors="replace").splitlines()[-15:])
    raise LocalAwsError(f"the embedded aws did not start; the end of {directory / LOG_FILE}:\n{tail}")


def _read_state(directory: Path) -> LocalAws | None:
    try:
        return LocalAws(**json.loads((directory / STATE_FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_state(directory: Path, aws: LocalAws) -> None:
    """Write the state file in one step, readable by its owner only: called by the server when it is ready."""
    partial = directory / f"{STATE_FILE}.partial"
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(asdict(aws)))
    partial.replace(directory / STATE_FILE)


def _locked(directory: Path) -> bool:
    """Whether a server holds the directory: it locks a file as long as it lives, so a recycled process id is never taken for it."""
    try:
        with (directory / LOCK_FILE).open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    except FileNotFoundError:
        return False
    return False


def _answers(aws: LocalAws) -> bool:
    try:
        with _open(urllib.request.Request(f"{aws.endpoint}/_hyperpod/health"), 5.0) as response:
            return bool(json.load(response)["pid"] == aws.pid)
    except (OSError, urllib.error.URLError, ValueError, KeyError):
        return False


def _open(request: urllib.request.Request, timeout: float) -> Any:
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=timeout)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
