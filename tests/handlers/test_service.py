"""The functions' own clients beside botocore's: the same requests, answers, endpoints and signatures' scopes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ReadTimeoutError,
)

from hyperpod_constructs.custom_resources.handlers.aws import client, transient
from hyperpod_constructs.custom_resources.handlers.errors import describe
from hyperpod_constructs.custom_resources.handlers.service import Client
from hyperpod_constructs.custom_resources.handlers.wire import connections
from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS
from tests.custom_resources.case import handler_modules

SERVICES = sorted(path.name for path in MODELS.iterdir() if path.is_dir())
_SAME = ("content-type", "x-amz-target", "x-amz-security-token", "x-amz-content-sha256")
_SCOPE = re.compile(r"Credential=AKID/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")


class Asked(NamedTuple):
    """A request, without what differs by time and by client."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    scope: tuple[str, ...]


@dataclass
class Site:
    """A service on this machine: its answers in order, each a status and a body; the last one stays."""

    answers: list[tuple[int, str]] = field(default_factory=lambda: [(200, "{}")])
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    silent: threading.Event | None = None

    def take(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, str]:
        if self.silent is not None:
            self.silent.wait(10)
        found = _SCOPE.search(headers.get("authorization", ""))
        kept = {name: headers[name] for name in _SAME if name in headers}
        self.asked.append(Asked(method, path, kept, body, found.groups() if found else ()))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, text = site.take(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("x-amzn-RequestId", "request")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text.encode())

        do_GET = do_POST = do_HEAD = answer  # noqa: N815  # the names of the standard library

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", site.url)
    yield site
    if site.silent is not None:
        site.silent.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def lambda_function(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The environment of a function, and connections of its own."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    settings = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token"}
    for name, value in {**settings, "AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "us-west-2"}.items():
        monkeypatch.setenv(name, value)
    connections._kept.cache_clear()
    yield
    connections._kept.cache_clear()


def made(name: str) -> Client:
    """A client that does not pause between its attempts."""
    return Client(name, transient, sleep=lambda _: None)


def botocores(name: str, region: str = "us-west-2") -> Any:
    session = botocore.session.get_session()
    session.set_config_variable("data_path", str(MODELS))
    s3: Any = {"addressing_style": "path", "us_east_1_regional_endpoint": "regional"}
    config: Any = Config(retries={"mode": "standard", "total_max_attempts": 2}, s3=s3)
    return session.create_client(name, region_name=region, config=config)


XML = '<R xmlns="https://x"><{0}Result>{1}</{0}Result><ResponseMetadata><RequestId>q</RequestId></ResponseMetadata></R>'
STACKS = "<Stacks><member><StackName>a</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime></member></Stacks>"
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "cloudformation": (
        "describe_stacks",
        {"StackName": "a"},
        XML.format("DescribeStacks", STACKS),
    ),
    "ec2": (
        "describe_subnets",
        {"SubnetIds": ["subnet-1", "subnet-2"], "Filters": [{"Name": "vpc-id", "Values": ["vpc-1"]}]},
        "<R><requestId>q</requestId><subnetSet><item><subnetId>subnet-1</subnetId></item></subnetSet></R>",
    ),
    "events": (
        "put_events",
        {"Entries": [{"Source": "a", "DetailType": "b", "Detail": "{}", "Resources": ["c"], "Time": 1_800_000_000}]},
        '{"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}',
    ),
    "fsx": (
        "update_file_system",
        {"FileSystemId": "fs-0123456789abcdef0", "ClientRequestToken": "t"},
        '{"FileSystem": {"FileSystemId": "fs-0123456789abcdef0", "CreationTime": 1.5}}',
    ),
    "iam": ("get_role", {"RoleName": "r"}, XML.format("GetRole", "<Role><RoleName>r</RoleName><Path>/</Path></Role>")),
    "logs": ("get_log_events", {"logGroupName": "g", "logStreamName": "ü", "limit": 15}, '{"events": [{"timestamp": 1}]}'),
    "s3": ("head_bucket", {"Bucket": "scripts-of-a"}, ""),
    "sagemaker": ("describe_cluster", {"ClusterName": "demo"}, '{"ClusterName": "demo", "CreationTime": 1767225600.25}'),
    "service-quotas": ("list_service_quotas", {"ServiceCode": "sagemaker"}, '{"Quotas": [{"Value": 4.0, "Adjustable": true}]}'),
    "ssm": ("put_parameter", {"Name": "/a", "Value": "b", "Overwrite": True, "Type": "String"}, '{"Version": 2}'),
}


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


@pytest.mark.parametrize("name", SERVICES)
def test_request_and_answer_are_those_of_botocores_client(name: str, site: Site) -> None:
    method, parameters, text = CALLS[name]
    site.answers = [(200, text)]
    own = getattr(made(name), method)(**parameters)
    other = getattr(botocores(name), method)(**parameters)
    mine, theirs = site.asked
    assert mine == theirs
    assert mine.scope
    assert mine.headers["x-amz-security-token"] == "token"
    if name == "iam":
        other["Role"].pop("AssumeRolePolicyDocument", None)
    assert plain(own) == plain(other)
    assert own["ResponseMetadata"]["HTTPStatusCode"] == 200


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])
def test_endpoint_and_scope_are_those_of_botocores_client(name: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    method, parameters, _ = CALLS[name]
    sent: list[Any] = []

    def catch(request: Any, **_: Any) -> AWSResponse:
        sent.append(request)
        raise KeyboardInterrupt

    other = botocores(name, region)
    other.meta.events.register("before-send", catch)
    own = made(name)
    monkeypatch.setattr(own._connection, "send", catch)
    for each in (own, other):
        with pytest.raises(KeyboardInterrupt):
            getattr(each, method)(**parameters)
    mine, theirs = ((request.url, _scope(request)) for request in sent)
    assert mine == theirs


def _scope(request: Any) -> tuple[str, ...]:
    value = request.headers["Authorization"]
    found = _SCOPE.search(value if isinstance(value, str) else value.decode())
    assert found is not None
    return found.groups()


REFUSED = json.dumps({"__type": "ValidationException", "message": "no such cluster"})
THROTTLED = json.dumps({"__type": "com.amazon#ThrottlingException", "Message": "slower"})
ERRORS = [
    ("sagemaker", 400, REFUSED),
    ("logs", 400, THROTTLED),
    ("ec2", 403, "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors></Response>"),
    ("iam", 404, "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>none</Message></Error></ErrorResponse>"),
    ("s3", 404, ""),
    ("sagemaker", 500, ""),
]


@pytest.mark.parametrize(("name", "status", "text"), ERRORS)
def test_an_error_reads_as_that_of_botocores_client(name: str, status: int, text: str, site: Site) -> None:
    site.answers = [(status, text)]
    method, parameters, _ = CALLS[name]
    said = []
    for each in (made(name), botocores(name)):
        with pytest.raises(ClientError) as failure:
            getattr(each, method)(**parameters)
        metadata = failure.value.response["ResponseMetadata"]
        said.append((describe(failure.value), failure.value.response["Error"]["Code"], metadata["HTTPStatusCode"]))
    assert said[0] == said[1]


@pytest.mark.parametrize("first", [(500, ""), (503, "{}"), (400, THROTTLED)])
def test_a_passing_fault_is_tried_once_more(first: tuple[int, str], site: Site) -> None:
    slept: list[float] = []
    site.answers = [first, (200, "{}")]
    assert plain(Client("sagemaker", transient, slept.append).list_clusters()) == {}
    assert len(site.asked) == 2
    assert len(slept) == 1
    assert 0 <= slept[0] <= 1


def test_an_answer_that_cannot_be_read_is_asked_for_once_more(site: Site) -> None:
    site.answers = [(200, "<cut"), (200, CALLS["iam"][2])]
    assert made("iam").get_role(RoleName="r")["Role"]["RoleName"] == "r"


def test_the_second_fault_is_raised(site: Site) -> None:
    site.answers = [(400, THROTTLED)]
    with pytest.raises(ClientError, match="slower"):
        made("sagemaker").list_clusters()
    assert len(site.asked) == 2


def test_a_refusal_is_not_tried_again(site: Site) -> None:
    site.answers = [(400, REFUSED)]
    with pytest.raises(ClientError, match="no such cluster"):
        made("sagemaker").list_clusters()
    assert len(site.asked) == 1


def test_both_attempts_send_the_same_token(site: Site) -> None:
    site.answers = [(500, ""), (200, "{}")]
    fsx = made("fsx")
    fsx.update_file_system(FileSystemId="fs-0123456789abcdef0")
    fsx.update_file_system(FileSystemId="fs-0123456789abcdef0")
    tokens = [json.loads(asked.body)["ClientRequestToken"] for asked in site.asked]
    assert tokens[0] == tokens[1] != tokens[2]


def test_a_wrong_request_is_not_sent(site: Site) -> None:
    with pytest.raises(ParamValidationError, match="Unknown parameter"):
        made("sagemaker").describe_cluster(ClusterName="demo", Colour="red")
    assert site.asked == []


def test_a_service_that_cannot_be_reached_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(EndpointConnectionError) as failure:
        made("sagemaker").describe_cluster(ClusterName="demo")
    assert describe(failure.value).startswith("DescribeCluster: EndpointConnectionError: Could not connect")


def test_a_service_that_does_not_answer_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.silent = threading.Event()
    monkeypatch.setattr(connections, "READ_SECONDS", 0.05)
    with pytest.raises(ReadTimeoutError) as failure:
        made("sagemaker").describe_cluster(ClusterName="demo")
    assert describe(failure.value).startswith("DescribeCluster: ReadTimeoutError")


def test_the_endpoint_of_one_service_wins(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", site.url)
    site.answers = [(200, "{}")]
    made("logs").get_log_events(logGroupName="g", logStreamName="s")
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("excepted", "path"), [("", "http://sagemaker.example/"), ("127.0.0.1,example.org", "http://sagemaker.example/")]
)
def test_a_proxy_of_the_environment_is_used(excepted: str, path: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", site.url)
    monkeypatch.setenv("NO_PROXY", excepted)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://sagemaker.example")
    made("sagemaker").list_clusters()
    assert [asked.path for asked in site.asked] == [path]


@pytest.mark.parametrize(("bundles", "trusted"), [((), ""), (("REQUESTS",), "/REQUESTS"), (("REQUESTS", "AWS"), "/AWS")])
def test_certificates_are_those_of_the_environment(bundles: tuple[str, ...], trusted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for bundle in bundles:
        monkeypatch.setenv(f"{bundle}_CA_BUNDLE", f"/{bundle}")
    assert made("sagemaker")._connection.bundle == trusted


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_fails_without_credentials(missing: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(missing)
    with pytest.raises(NoCredentialsError):
        made("sagemaker").list_clusters()
    assert site.asked == []


def test_fails_without_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    made("sagemaker")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(NoRegionError):
        made("sagemaker")


def test_a_client_has_the_operations_of_its_vendored_model_only() -> None:
    sagemaker = client("sagemaker")
    assert callable(sagemaker.list_cluster_events)
    for name in ("create_cluster", "_call_other"):
        with pytest.raises(AttributeError, match=f"sagemaker has no operation {name}"):
            getattr(sagemaker, name)


def loaded_by(program: str) -> set[str]:
    """The modules of botocore that a program loads."""
    settings = {"PYTHONPATH": str(MODELS.parent.parent), "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    code = f"import sys; {program}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True, check=True)  # noqa: S603
    return {name for name in done.stdout.split() if name.startswith("botocore") and "vendored" not in name}


@pytest.mark.parametrize("module", handler_modules())
def test_of_botocore_only_the_errors_are_loaded(module: str) -> None:
    program = f"from handlers import {module}, aws; [aws.client(name) for name in {SERVICES}]"
    assert loaded_by(program) == {"botocore", "botocore.exceptions"}


def test_a_call_loads_nothing_more_of_botocore() -> None:
    calls = {name: method for name, (method, _, _) in CALLS.items()}
    failing = f"""
from contextlib import suppress
from handlers.aws import transient
from handlers.service import Client
from botocore.exceptions import EndpointConnectionError, ParamValidationError
for name, method in {calls}.items():
    with suppress(EndpointConnectionError, ParamValidationError):
        getattr(Client(name, transient, sleep=lambda _: None), method)()
"""
    assert loaded_by(f"exec({failing!r})") == {"botocore", "botocore.exceptions"}
