"""The process: start, find, reset, stop, and what it exposes."""

from __future__ import annotations

import asyncio
import gc
import http.client
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypercorn.asyncio import serve

from hyperpod_constructs.local import leftovers, server
from hyperpod_constructs.local.__main__ import serving
from hyperpod_constructs.local.application import warm_up
from hyperpod_constructs.local.server import LocalAws, LocalAwsError


def test_starts_once_and_stops(tmp_path: Path) -> None:
    aws = server.start(tmp_path, account="210987654321", region="us-east-2", seed=42)
    try:
        assert (server.running(tmp_path), aws.seed) == (aws, 42)
        assert "its seed: 42\n" in (tmp_path / server.LOG_FILE).read_text()
        assert server.start(tmp_path, account="210987654321", region="us-east-2") == aws
        with pytest.raises(LocalAwsError, match="stop it first"):
            server.start(tmp_path)
        with pytest.raises(LocalAwsError, match="seed=42 runs in"):
            server.start(tmp_path, account="210987654321", region="us-east-2", seed=43)
        assert aws.client("sts").get_caller_identity()["Account"] == "210987654321"
        assert aws.client("s3").meta.region_name == "us-east-2"
        assert (tmp_path / leftovers.STATE_FILE).stat().st_mode & 0o777 == 0o600
    finally:
        server.stop(tmp_path)
    assert server.running(tmp_path) is None
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(aws.endpoint)
    assert not (tmp_path / "tmp").exists()
    server.stop(tmp_path)


def test_fails_to_start_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(LocalAwsError, match="no such folder"):
        server.start(tmp_path, models=tmp_path / "nowhere")


def test_fails_with_a_negative_seed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seed: found -1; it must be 0 or more"):
        server.start(tmp_path, seed=-1)


def test_fails_with_a_malformed_account(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="12 digits"):
        server.start(tmp_path, account="me")


def test_does_not_take_another_process_for_its_own(tmp_path: Path) -> None:
    stale = LocalAws("http://127.0.0.1:1", "123456789012", "us-west-2", os.getpid())
    server.write_state(tmp_path, stale)
    assert server.running(tmp_path) is None
    server.stop(tmp_path)  # a signal would end this test


def test_environment_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "real")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://elsewhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy")
    aws = LocalAws("http://127.0.0.1:1", "123456789012", "us-west-2", 1, access_key_id="AKIDLOCAL", secret_access_key="secret")
    environment = aws.environment()
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert environment["AWS_ACCESS_KEY_ID"] == "AKIDLOCAL"
    assert environment["AWS_SECRET_ACCESS_KEY"] == "secret"
    assert environment["CDK_DEFAULT_ACCOUNT"] == "123456789012"
    assert environment["AWS_DEFAULT_REGION"] == environment["AWS_REGION"] == "us-west-2"
    assert environment["AWS_EC2_METADATA_DISABLED"] == environment["CDK_DISABLE_CLI_TELEMETRY"] == "true"
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "HTTPS_PROXY"} & environment.keys()
    assert not Path(environment["AWS_CONFIG_FILE"]).exists()


def test_listens_on_loopback_only(aws: LocalAws) -> None:
    tcp = Path("/proc/net/tcp")
    if not tcp.exists():
        pytest.skip("needs /proc")
    own = {os.readlink(fd) for fd in Path(f"/proc/{aws.pid}/fd").iterdir() if os.path.islink(fd)}  # noqa: PTH114, PTH115
    listening = [
        line.split()[1]
        for table in (tcp, Path("/proc/net/tcp6"))
        if table.exists()
        for line in table.read_text().splitlines()[1:]
        if line.split()[3] == "0A" and f"socket:[{line.split()[9]}]" in own
    ]
    assert [address.partition(":")[0] for address in listening] == ["0100007F"]


def test_reset_forgets_every_service(aws: LocalAws) -> None:
    aws.client("s3").create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": aws.region})
    aws.client("ec2").create_vpc(CidrBlock="10.9.0.0/16")
    aws.client("logs").create_log_group(logGroupName="group")
    server.reset(aws)
    assert aws.client("s3").list_buckets()["Buckets"] == []
    assert [vpc["CidrBlock"] for vpc in aws.client("ec2").describe_vpcs()["Vpcs"] if not vpc["IsDefault"]] == []
    assert aws.client("logs").describe_log_groups()["logGroups"] == []
    assert aws.client("sagemaker").list_clusters()["ClusterSummaries"] == []
    assert server.running(Path("/nonexistent")) is None


def test_control_refuses_unknown_requests(aws: LocalAws) -> None:
    def post(path: str, body: bytes) -> int:
        request = server.control_request(aws, "POST", path, body)
        try:
            with urllib.request.urlopen(request) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    assert post("faults", b'{"slow_creation": 0}') == 200
    assert post("reset", b"") == 200
    assert post("faults", b'{"no_such_fault": 1}') == 400
    assert post("faults", b"[]") == 400
    assert post("faults", b"not json") == 400
    assert post("elsewhere", b"") == 404
    assert post("faults", b"{}") == 200


def test_an_idle_connection_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that closes one may do so while a request is on its way, which the client then sends twice."""
    later = 0.0

    async def application(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def a_week_passes_between_two_requests() -> list[int]:
        nonlocal later
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        clock = loop.time
        monkeypatch.setattr(loop, "time", lambda: clock() + later)
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server_task = asyncio.create_task(serve(application, serving(listener), shutdown_trigger=stopped.wait))
        client = http.client.HTTPConnection("127.0.0.1", port)
        first = await asyncio.to_thread(_status, client)
        ours = client.sock
        later += 7 * 24 * 3600
        await asyncio.sleep(0.2)
        second = await asyncio.to_thread(_status, client)
        assert client.sock is ours, "the connection was closed, and the client opened another one"
        client.close()
        stopped.set()
        await server_task
        return [first, second]

    assert asyncio.run(a_week_passes_between_two_requests()) == [200, 200]


def _status(client: http.client.HTTPConnection) -> int:
    client.request("GET", "/")
    answer = client.getresponse()
    answer.read()
    return answer.status


def test_the_collector_stands_still_until_everything_is_loaded() -> None:
    running = list[bool]()
    gc.disable()
    try:
        warm_up(lambda: running.append(gc.isenabled()))
    finally:
        running.append(gc.isenabled())
        gc.enable()
    assert running == [False, True]
