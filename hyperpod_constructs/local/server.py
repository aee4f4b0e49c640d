"""Starts, finds, resets and stops the embedded AWS: one detached process that listens on 127.0.0.1 only.

This module imports none of the emulator: the caller's process stays light.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hyperpod_constructs.local import leftovers, private, process
from hyperpod_constructs.local.leftovers import PARTIAL_STATE_FILE, STATE_FILE

LOG_FILE = "server.log"
READY_SECONDS = 60.0
STOP_SECONDS = 10.0
HELD = 3
"""The exit code of a server that finds another one in its directory."""


class LocalAwsError(RuntimeError):
    """The embedded AWS did not start, or is not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class LocalAws:
    """A running embedded AWS: its endpoint, account, region and credentials.

    Every start makes a random access key. Every request must be signed with it, or with a key that it obtained. Without `auth`
    every such call is allowed. With `auth` the key belongs to an IAM user with AdministratorAccess, because the root user may not
    assume roles. With `nodes` instances are virtual nodes. `seed` gives the order in which stacks work on resources.
    """

    endpoint: str
    account: str
    region: str
    pid: int
    auth: bool = False
    nodes: bool = False
    seed: int = 0
    access_key_id: str = ""
    secret_access_key: str = field(default="", repr=False)

    def environment(self) -> dict[str, str]:
        """The environment for a child process (the CDK CLI, a script with boto3) that can reach nothing but this AWS.

        It is this process's environment without any AWS setting, plus the endpoint, its credentials, the region, and
        configuration files that do not exist, so that no profile and no metadata service can lead to a real account.
        """
        return {**scrubbed(os.environ), **self._settings()}

    def client(self, service: str) -> Any:
        """A boto3 client of this AWS; `service` is botocore's name, such as `cloudformation`."""
        from botocore.config import Config

        with _SESSION_LOCK:
            return _session().create_client(
                service,
                region_name=self.region,
                endpoint_url=self.endpoint,
                aws_access_key_id=self.access_key_id,
                aws_secret_access_key=self.secret_access_key,
                config=Config(proxies={}),  # no user's proxy leads to this machine
            )

    def _settings(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "CDK_DEFAULT_ACCOUNT": self.account,
            "CDK_DEFAULT_REGION": self.region,
            "CDK_DISABLE_CLI_TELEMETRY": "true",  # what stays on this machine is told to nobody
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
    seed: int | None = None,
    models: Path | None = None,
    account: str = "123456789012",
    region: str = "us-west-2",
    port: int = 0,
) -> LocalAws:
    """Start the embedded AWS as a detached process and wait until it answers.

    An embedded AWS that runs in the directory already with the same account, region, `auth` and `nodes` is returned as it is. A
    server that another call is starting is awaited.

    :param directory: holds the state file, the log and temporary files; one directory has one server.
    :param auth: evaluates IAM policies; every signed call is allowed unless given.
    :param nodes: boots a virtual node for every instance, as root; nodes are records unless given.
    :param seed: 0 or more, of the order in which a stack's resources are worked on; a random one unless given. A running server
        keeps its own.
    :param models: a botocore data folder with newer service models; those of the installed botocore unless given.
    :param account: 12 digits.
    :param port: 0 takes a free one.
    :raises ValueError: if the account is not 12 digits, the port is not 0 to 65535, or the seed is negative.
    :raises LocalAwsError: if the server does not start or does not answer, or if another kind runs in the directory.
    """
    if len(account) != 12 or not account.isdigit():
        raise ValueError(f"account: found {account!r}; it must be 12 digits, for example '123456789012'")
    if not 0 <= port <= 65535:
        raise ValueError(f"port: found {port}; it must be 0 (any free one) to 65535")
    if seed is not None and seed < 0:
        raise ValueError(f"seed: found {seed}; it must be 0 or more")
    with _ours():
        private.make_directory(directory)
        pid = process.holder(directory)
    if pid is None:
        command = [sys.executable, "-m", "hyperpod_constructs.local", "--directory", str(directory.resolve())]
        command += ["--account", account, "--region", region, "--port", str(port)]
        if auth:
            command.append("--auth")
        if nodes:
            command.append("--nodes")
        if seed is not None:
            command += ["--seed", str(seed)]
        if models is not None:
            command += ["--models", str(models.resolve())]
        _launch(command)
    existing = _wait_until_ready(directory)
    wanted = (account, region, auth, nodes, existing.seed if seed is None else seed)
    if (existing.account, existing.region, existing.auth, existing.nodes, existing.seed) != wanted:
        raise LocalAwsError(
            f"an embedded aws with account={existing.account} region={existing.region} auth={existing.auth} "
            f"nodes={existing.nodes} seed={existing.seed} runs in {directory}; stop it first (hyperpod local stop),"
            " or use another directory"
        )
    return existing


def _launch(command: list[str]) -> None:
    """Start the process, which goes to the background once it holds its directory and its port, and leaves nothing to reap."""
    launched = subprocess.run(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**scrubbed(os.environ), **isolation()},
        check=False,
    )
    if launched.returncode not in (0, HELD):
        raise LocalAwsError(f"the embedded aws did not start: {launched.stdout.strip()}")


class Silent(NamedTuple):
    """A server that holds its directory and does not answer: it starts, or is busy."""

    pid: int


def look(directory: Path) -> LocalAws | Silent | None:
    """What runs in this directory: an embedded AWS that answers, one that does not, or none.

    :raises LocalAwsError: for a directory of another user, who could name any process and any address there.
    """
    with _ours():
        pid = process.holder(directory)
    if pid is None:
        return None
    aws = _read_state(directory)
    return aws if aws is not None and aws.pid == pid and _answers(aws) else Silent(pid)


def running(directory: Path) -> LocalAws | None:
    """The embedded AWS that runs in this directory and answers, or None.

    :raises LocalAwsError: for another user's directory.
    """
    found = look(directory)
    return found if isinstance(found, LocalAws) else None


def stop(directory: Path) -> int:
    """Stop the embedded AWS of this directory with the Lambda workers that it started; none is a success.

    Whatever process holds the directory is ended, by SIGKILL if it must be, and what it or one that crashed has left is undone.
    Answers how many crashed rigs of virtual nodes that were.

    :raises LocalAwsError: if the process lives on, and for a directory of another user.
    """
    from hyperpod_constructs.local.nodes.errors import NodesError

    try:
        with _ours():
            if not directory.is_dir():
                return 0
            process.end(directory, STOP_SECONDS)
            with process.held(directory) as held:
                # Otherwise the next one has started already, and has cleared up.
                return leftovers.clear(directory) if held else 0
    except (process.StillAliveError, NodesError) as error:
        raise LocalAwsError(str(error)) from error


@contextmanager
def _ours() -> Iterator[None]:
    """Turn another user's files into an error that names the owner; they are never used, stopped or believed."""
    try:
        yield
    except PermissionError as error:
        raise LocalAwsError(str(error)) from error


def reset(aws: LocalAws) -> None:
    """Forget every resource of every service, in one call. The server keeps running."""
    with _open(control_request(aws, "POST", "reset"), 30.0):
        pass


def virtual_nodes(aws: LocalAws) -> list[dict[str, Any]]:
    """The virtual nodes that run: `InstanceId`, `InstanceGroupName`, `Name`, and the `Command` that starts a program on each."""
    with _open(control_request(aws, "GET", "nodes"), 30.0) as answer:
        nodes: list[dict[str, Any]] = json.loads(answer.read())["nodes"]
    return nodes


def control_request(aws: LocalAws, method: str, name: str, body: bytes = b"") -> urllib.request.Request:
    """A signed request to the emulator itself: `name` is `health`, `nodes`, `reset` or `faults`."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    url = f"{aws.endpoint}/_hyperpod/{name}"
    request = AWSRequest(method, url, data=body)
    SigV4Auth(Credentials(aws.access_key_id, aws.secret_access_key), "hyperpod", aws.region).add_auth(request)
    return urllib.request.Request(url, body or None, dict(request.headers), method=method)


def _wait_until_ready(directory: Path) -> LocalAws:
    """The server of the directory as soon as it answers."""
    deadline = time.monotonic() + READY_SECONDS
    while (found := look(directory)) is not None:
        if isinstance(found, LocalAws):
            return found
        if time.monotonic() > deadline:
            raise LocalAwsError(
                f"an embedded aws (process {found.pid}) holds {directory} and has not answered for {READY_SECONDS:.0f} s; "
                "wait until its work is done, or end it: hyperpod local stop"
            )
        time.sleep(process.PAUSE_SECONDS)
    log = directory / LOG_FILE
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log.exists() else ""
    raise LocalAwsError(f"the embedded aws did not start; the end of {log}:\n{tail}")


def _read_state(directory: Path) -> LocalAws | None:
    try:
        with os.fdopen(private.open_existing(directory, STATE_FILE), "rb") as state:
            return LocalAws(**json.loads(state.read()))
    except (OSError, ValueError, TypeError):
        return None


def write_state(directory: Path, aws: LocalAws) -> None:
    """Write the state file in one step, readable by its owner only: called by the server when it is ready."""
    partial = directory / PARTIAL_STATE_FILE
    with private.open_file(partial) as state:
        state.write(json.dumps(asdict(aws)).encode())
    partial.replace(directory / STATE_FILE)


def _answers(aws: LocalAws) -> bool:
    try:
        with _open(control_request(aws, "GET", "health"), 5.0) as response:
            return bool(json.load(response)["pid"] == aws.pid)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return False


def _open(request: urllib.request.Request, timeout: float) -> Any:
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=timeout)
