"""Another account of the machine attacks the embedded AWS: its files, its process and its port, without a key."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import HmacV1QueryAuth, S3SigV4QueryAuth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.local import leftovers, private, server
from tests.attacks.embedded_aws import BUCKET, FUNCTION, MARK, Target, require, running_target

STRANGER = 64_999


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """An embedded AWS in a directory that everybody can reach."""
    parent = Path(tempfile.mkdtemp(prefix="attacked-"))
    parent.chmod(0o755)
    with running_target(parent / "local") as made:
        yield made
    shutil.rmtree(parent)


def stranger(attack: str, **arguments: Any) -> Any:
    """The loot of another account."""
    require(os.geteuid() == 0, "root, to become another account")
    command = [sys.executable, str(Path(__file__).parent / "stranger.py"), str(STRANGER), attack, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_reads_no_file(target: Target) -> None:
    assert (target.directory / leftovers.STATE_FILE).exists()
    assert stranger("readable", directory=str(target.directory)) == []


def test_files_are_their_owners_alone_even_without_the_directory_above(target: Target) -> None:
    modes = {name: (target.directory / name).stat().st_mode & 0o777 for name in (leftovers.STATE_FILE, server.LOG_FILE, "tmp")}
    assert modes == {leftovers.STATE_FILE: 0o600, server.LOG_FILE: 0o600, "tmp": 0o700}
    assert target.directory.stat().st_mode & 0o777 == 0o700


def test_plants_and_removes_no_file(target: Target) -> None:
    assert stranger("write", directory=str(target.directory)) == []


def test_a_directory_of_another_account_is_not_used(tmp_path: Path) -> None:
    require(os.geteuid() == 0, "root, to give a directory away")
    os.chown(tmp_path, STRANGER, STRANGER)
    with pytest.raises(server.LocalAwsError, match=f"belongs to user {STRANGER}"):
        server.start(tmp_path)


LOCKED = """
import fcntl, sys, time
lock = open(sys.argv[1], "r+b")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("locked", flush=True)
time.sleep(600)
"""


@pytest.fixture
def unrelated(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A program of ours without relation to the embedded AWS, and its locked file."""
    file = tmp_path / "database"
    file.touch()
    started = subprocess.Popen([sys.executable, "-c", LOCKED, str(file)], stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert started.stdout is not None
    assert started.stdout.readline() == "locked\n"
    yield started, file
    started.kill()
    started.communicate()


OPERATIONS = {"stop": server.stop, "look": server.look, "running": server.running, "start": server.start}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_lock_that_leads_to_another_programs_names_it_to_nobody(
    tmp_path: Path, unrelated: tuple[subprocess.Popen[str], Path], operation: Callable[[Path], object]
) -> None:
    program, file = unrelated
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "lock").symlink_to(file)
    with pytest.raises(server.LocalAwsError, match="is no file but a link"):
        operation(trap)
    assert program.poll() is None


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_directory_of_another_account_stops_and_tells_nothing(
    tmp_path: Path, unrelated: tuple[subprocess.Popen[str], Path], operation: Callable[[Path], object]
) -> None:
    require(os.geteuid() == 0, "root, to give a directory away")
    program, file = unrelated
    trap = tmp_path / "trap"
    trap.mkdir()
    os.link(file, trap / "lock")
    os.chown(trap, STRANGER, STRANGER)
    with pytest.raises(server.LocalAwsError, match=f"trap belongs to user {STRANGER}, not to you"):
        operation(trap)
    assert program.poll() is None


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_link_of_another_account_leads_to_none_of_our_directories(tmp_path: Path, operation: Callable[[Path], object]) -> None:
    require(os.geteuid() == 0, "root, to give a link away")
    mine, trap = tmp_path / "mine", tmp_path / "trap"
    (mine / "tmp").mkdir(parents=True)
    (mine / leftovers.STATE_FILE).write_text("mine")
    trap.symlink_to(mine)
    os.lchown(trap, STRANGER, STRANGER)
    with pytest.raises(server.LocalAwsError, match=f"trap belongs to user {STRANGER}"):
        operation(trap)
    assert (mine / "tmp").is_dir()
    assert (mine / leftovers.STATE_FILE).read_text() == "mine"


def test_a_lock_of_another_account_is_not_believed(tmp_path: Path) -> None:
    require(os.geteuid() == 0, "root, to give a file away")
    (tmp_path / "lock").touch()
    os.chown(tmp_path / "lock", STRANGER, STRANGER)
    for operation in OPERATIONS.values():
        with pytest.raises(server.LocalAwsError, match=f"lock belongs to user {STRANGER}"):
            operation(tmp_path)


def test_a_state_of_another_account_is_not_believed(target: Target, tmp_path: Path) -> None:
    require(os.geteuid() == 0, "root, to give a file away")
    state = tmp_path / leftovers.STATE_FILE
    state.write_bytes((target.directory / leftovers.STATE_FILE).read_bytes())
    assert server._read_state(tmp_path) == target.aws
    os.chown(state, STRANGER, STRANGER)
    assert server._read_state(tmp_path) is None


def test_a_directory_that_was_open_is_closed(tmp_path: Path) -> None:
    directory = tmp_path / "local"
    directory.mkdir()
    directory.chmod(0o777)
    private.make_directory(directory)
    assert directory.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "local").mkdir()
    for name in (server.LOG_FILE, f"{leftovers.STATE_FILE}.partial"):
        (tmp_path / "local" / name).symlink_to(precious)
    server.start(tmp_path / "local")
    server.stop(tmp_path / "local")
    assert precious.read_text() == "precious"


def test_reads_nothing_of_the_process(target: Target) -> None:
    target.invoke()
    family = [target.aws.pid, *children(target.aws.pid)]
    assert len(family) > 1, "the worker of the function is a process of its own"
    assert [stranger("process", pid=pid) for pid in family] == [[]] * len(family)


def children(pid: int) -> list[int]:
    text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for child in text.split()]


def test_no_command_line_tells_the_key(target: Target) -> None:
    for pid in (target.aws.pid, *children(target.aws.pid)):
        line = stranger("command_line", pid=pid)
        assert target.aws.secret_access_key not in line
        assert target.aws.access_key_id not in line


def test_the_log_does_not_tell_the_key(target: Target) -> None:
    target.things()
    assert target.aws.secret_access_key not in (target.directory / server.LOG_FILE).read_text()
    assert target.aws.secret_access_key not in repr(target.aws)


def test_does_not_stop_the_server(target: Target) -> None:
    assert stranger("kill", pid=target.aws.pid) == ""
    assert server.running(target.directory) == target.aws


ANONYMOUS = {
    "reset": ("POST", "/_hyperpod/reset"),
    "faults": ("POST", "/_hyperpod/faults"),
    "nodes": ("GET", "/_hyperpod/nodes"),
    "health": ("GET", "/_hyperpod/health"),
    "reset by an encoded path": ("POST", "/%5Fhyperpod/reset"),
    "reset of ministack": ("POST", "/_ministack/reset"),
    "configuration of ministack": ("POST", "/_ministack/config"),
    "health of ministack": ("GET", "/_ministack/health"),
    "health of localstack": ("GET", "/_localstack/health"),
    "layers of ministack": ("GET", "/_ministack/lambda-layers/x/1/content"),
    "code of a function": ("GET", f"/_ministack/lambda-code/{FUNCTION}"),
    "credentials of the database": ("POST", "/_ministack/rds/iam-auth"),
    "answer of a custom resource": ("PUT", "/_ministack/cfn-response/00000000-0000-0000-0000-000000000000"),
    "answers of custom resources": ("PUT", "/_ministack/cfn-response/"),
    "signal of a wait condition": ("PUT", "/_ministack/cfn-signal/00000000-0000-0000-0000-000000000000"),
    "buckets": ("GET", "/"),
    "objects": ("GET", "/precious"),
    "a new object": ("PUT", "/precious/planted"),
    "a new bucket": ("PUT", "/planted"),
    "functions": ("GET", "/2015-03-31/functions/"),
    "a function's run": ("POST", f"/2015-03-31/functions/{FUNCTION}/invocations"),
    "an api": ("GET", "/_aws/execute-api/abc/prod/"),
    "a function's address": ("GET", "/_aws/lambda-url/abc/"),
    "a load balancer": ("GET", "/_alb/abc/"),
    "a catalog of tables": ("GET", "/iceberg/v1/config"),
    "a graph": ("POST", "/v1/apis/abc/graphql"),
    "messages": ("GET", "/_aws/ses"),
    "keys of a user pool": ("GET", "/us-west-2_abc/.well-known/jwks.json"),
    "a token of a user pool": ("POST", "/oauth2/token"),
    "a registry": ("GET", "/v2/"),
    "a preflight": ("OPTIONS", "/precious"),
    "a strange method": ("PROPFIND", "/precious"),
    "a role by web identity": (
        "POST",
        "/?Action=AssumeRoleWithWebIdentity&RoleArn=arn:aws:iam::123456789012:role/marker&RoleSessionName=s&WebIdentityToken=t",
    ),
    "a caller without key": ("POST", "/?Action=GetCallerIdentity&Version=2011-06-15"),
    "stacks": ("POST", "/?Action=DescribeStacks&Version=2010-05-15"),
}


Ask = tuple[str, str, dict[str, str]]


def ask(target: Target, *requests: Ask) -> list[dict[str, Any]]:
    """The answers to another account's requests."""
    host = urlsplit(target.aws.endpoint).netloc
    asked = [{"method": method, "path": path, "headers": headers} for method, path, headers in requests]
    answers: list[dict[str, Any]] = stranger("ask", host=host, requests=asked)
    return answers


def assert_refused(answer: dict[str, Any]) -> None:
    assert 400 <= answer["status"] < 404, answer
    assert [name for name in answer["headers"] if name.startswith("access-control-")] == []


@pytest.fixture(scope="module")
def anonymous(target: Target) -> dict[str, dict[str, Any]]:
    """The answers to requests without a key."""
    return dict(zip(ANONYMOUS, ask(target, *((method, path, {}) for method, path in ANONYMOUS.values())), strict=True))


@pytest.mark.parametrize("name", ANONYMOUS)
def test_gets_nothing_without_a_key(anonymous: dict[str, dict[str, Any]], name: str) -> None:
    assert_refused(anonymous[name])


def signed(target: Target, key: Credentials, service: str = "s3") -> dict[str, str]:
    request = AWSRequest("GET", f"{target.aws.endpoint}/", {"x-amz-content-sha256": hashlib.sha256(b"").hexdigest()})
    SigV4Auth(key, service, target.aws.region).add_auth(request)
    return {name: str(value) for name, value in request.headers.items()}


def guessed_keys(aws: server.LocalAws) -> dict[str, Credentials]:
    """Keys that anybody can know: defaults, and keys computed from names."""
    function = f"arn:aws:lambda:{aws.region}:{aws.account}:function:{FUNCTION}"
    digest = hashlib.sha256(f"{function}:arn:aws:iam::{aws.account}:role/marker".encode()).hexdigest()
    secret, token = (hashlib.sha256(f"{kind}:{digest}".encode()).hexdigest() for kind in ("secret", "token"))
    return {
        "the account's root": Credentials(aws.account, "local"),
        "the account's root, as ministack": Credentials(aws.account, "test"),
        "another account's root": Credentials("000000000000", "test"),
        "ministack's root": Credentials("test", "test"),
        "no secret": Credentials(aws.access_key_id, ""),
        "the id as secret": Credentials(aws.access_key_id, aws.access_key_id),
        "a function's, computed": Credentials(f"ASIA{digest[:16].upper()}", secret, token),
    }


@pytest.fixture(scope="module")
def guessed(target: Target) -> dict[str, dict[str, Any]]:
    """The answers to requests with guessed keys, while the function has a session."""
    target.invoke()
    keys = guessed_keys(target.aws)
    return dict(zip(keys, ask(target, *(("GET", "/", signed(target, key)) for key in keys.values())), strict=True))


GUESSED = tuple(guessed_keys(server.LocalAws("", "123456789012", "us-west-2", 0, access_key_id="x")))


@pytest.mark.parametrize("name", GUESSED)
def test_gets_nothing_with_a_guessed_key(guessed: dict[str, dict[str, Any]], name: str) -> None:
    assert_refused(guessed[name])


def test_gets_nothing_with_a_signature_of_another_request(target: Target) -> None:
    headers = signed(target, owner(target))
    good, *bad = ask(
        target,
        ("GET", "/", headers),
        ("GET", "/precious", headers),
        ("DELETE", "/", headers),
        ("POST", "/_hyperpod/reset", headers),
        ("GET", "/?Action=DeleteStack", headers),
        ("GET", "/", {**headers, "X-Amz-Target": "SageMaker.ListClusters"}),
    )
    assert good["status"] == 200, "the signature itself is good"
    for answer in bad:
        assert_refused(answer)


def owner(target: Target) -> Credentials:
    return Credentials(target.aws.access_key_id, target.aws.secret_access_key)


def test_gets_one_object_with_a_presigned_url_and_no_more(target: Target) -> None:
    target.aws.client("s3").put_object(Bucket=BUCKET, Key="shared", Body=b"shared")
    request = AWSRequest("GET", f"{target.aws.endpoint}/{BUCKET}/shared")
    S3SigV4QueryAuth(owner(target), "s3", target.aws.region, expires=60).add_auth(request)
    url = urlsplit(str(request.url))
    good, *bad = ask(
        target,
        ("GET", f"{url.path}?{url.query}", {}),
        ("GET", f"/{BUCKET}?{url.query}", {}),
        ("PUT", f"{url.path}?{url.query}", {}),
        ("GET", f"{url.path}?{url.query.replace('Expires=60', 'Expires=6000')}", {}),
    )
    assert good["body"] == "shared"
    for answer in bad:
        assert_refused(answer)
    target.aws.client("s3").delete_object(Bucket=BUCKET, Key="shared")


FORM = "application/x-www-form-urlencoded"


def presigned(target: Target, method: str) -> str:
    """A URL of Signature Version 4 for one object."""
    request = AWSRequest(method, f"{target.aws.endpoint}/{BUCKET}/shared")
    S3SigV4QueryAuth(owner(target), "s3", target.aws.region, expires=60).add_auth(request)
    return "?".join(urlsplit(str(request.url))[2:4])


def old_presigned(target: Target, method: str) -> str:
    """A URL of Signature Version 2 for one object."""
    request = AWSRequest(method, f"{target.aws.endpoint}/{BUCKET}/shared")
    HmacV1QueryAuth(owner(target), 60).add_auth(request)
    return "?".join(urlsplit(str(request.url))[2:4])


def told(target: Target, *requests: bytes) -> list[int]:
    """The status of the answer to each request; target, headers and body are sent unchanged."""
    host = urlsplit(target.aws.endpoint).netloc.encode()
    sent = [request.replace(b"HOST", host).decode("latin-1") for request in requests]
    statuses: list[int] = stranger("tell", host=host.decode(), requests=sent)
    return statuses


def written(method: str, url: str, headers: str = "", body: str = "") -> bytes:
    """The bytes of a request."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} {url} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{headers}{length}\r\n{body}".encode("latin-1")


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_a_presigned_url_makes_no_other_call(target: Target, method: str) -> None:
    """The service is found by the `Action` of a form, or by the scope of an Authorization header."""
    calls = ("Action=CreateUser&UserName=planted&Version=2010-05-08", "Action=CreateVpc&CidrBlock=10.66.0.0/16&Version=2016-11-15")
    scope = f"Credential={target.aws.access_key_id}/20260101/us-west-2/iam/aws4_request"
    form = f"Content-Type: {FORM}\r\n"
    beside = f"Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\n"
    new, old = presigned(target, method), old_presigned(target, method)
    tries = [written(method, url, header, call) for url in (new, old) for header in (form, beside, form + beside) for call in calls]
    assert {status // 100 for status in told(target, *tries)} == {4}
    assert target.aws.client("iam").list_users()["Users"] == []
    assert [vpc["CidrBlock"] for vpc in target.aws.client("ec2").describe_vpcs()["Vpcs"] if not vpc["IsDefault"]] == []


@pytest.mark.parametrize("more", ["&%61cl", "&%74agging", "#x", "&acl#"])
def test_an_old_presigned_url_opens_nothing_else_of_its_object(target: Target, more: str) -> None:
    path, _, query = old_presigned(target, "GET").partition("?")
    statuses = told(target, written("GET", f"{path}?{query}{more}"), written("GET", f"{path}{more}?{query}"))
    assert set(statuses) <= {400, 403}


def nonsense(target: Target) -> dict[str, bytes]:
    """Requests with nonsensical signatures."""
    path, _, query = old_presigned(target, "GET").partition("?")
    day = datetime.now(UTC).strftime("%Y%m%d")
    scope = f"Credential={target.aws.access_key_id}/{day}/us-west-2/s3/aws4_request, SignedHeaders=date;host"
    authorization = f"Authorization: AWS4-HMAC-SHA256 {scope}, Signature="
    now = f"Date: {formatdate(usegmt=True)}\r\n"
    return {
        "a signature of other letters": written("GET", "/", f"{now}{authorization}\xfc\r\n"),
        "a presigned signature of other letters": written("GET", f"{presigned(target, 'GET')[:-1]}%C3%BC"),
        "an old signature of other letters": written("GET", f"{path}?{query.replace('Signature=', 'Signature=%C3%BC')}"),
        "a query of other letters": written("GET", f"{path}?{query}\xfc"),
        "a header of other letters": written("GET", f"{path}?{query}", "x-amz-meta-a: \xfc\r\nx-\xfc: \xfc\r\n"),
        "the last day in another zone": written("GET", "/", f"Date: Fri, 31 Dec 9999 23:59:59 -2300\r\n{authorization}0\r\n"),
        "a year beyond all": written("GET", "/", f"Date: Fri, 31 Dec 99999999999 23:59:59 GMT\r\n{authorization}0\r\n"),
        "a bracket": written("GET", f"[x?{query}"),
        "an address": written("GET", f"http://[x/?{query}"),
    }


NONSENSE = (
    "a signature of other letters",
    "a presigned signature of other letters",
    "an old signature of other letters",
    "a query of other letters",
    "a header of other letters",
    "the last day in another zone",
    "a year beyond all",
    "a bracket",
    "an address",
)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_for_a_signature_is_refused(target: Target, name: str) -> None:
    (status,) = told(target, nonsense(target)[name])
    assert 400 <= status < 404


def test_opens_no_websocket(target: Target) -> None:
    key = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", **key}
    for answer in ask(target, ("GET", "/_aws/execute-api/abc/prod", upgrade), ("GET", "/", upgrade)):
        assert_refused(answer)


HOSTS = ("evil.test", "localhost", "127.0.0.1", "", "127.0.0.1:1", "precious.s3.amazonaws.com")


@pytest.fixture(scope="module")
def renamed(target: Target) -> dict[str, dict[str, Any]]:
    """The answers to requests under other names of the host, signed with the right key."""
    return dict(zip(HOSTS, ask(target, *(("GET", "/", as_host(target, host)) for host in HOSTS)), strict=True))


def as_host(target: Target, host: str) -> dict[str, str]:
    request = AWSRequest("GET", f"{target.aws.endpoint}/", {"Host": host})
    SigV4Auth(owner(target), "s3", target.aws.region).add_auth(request)
    return {name: str(value) for name, value in request.headers.items()}


@pytest.mark.parametrize("host", HOSTS)
def test_gets_nothing_under_another_name(renamed: dict[str, dict[str, Any]], host: str) -> None:
    assert_refused(renamed[host])


def test_no_port_is_open_but_the_endpoint(target: Target) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(target.aws.endpoint).port or 0)):
        pass
    assert listening(target.aws.pid) == [target.aws.endpoint.removeprefix("http://")]


def listening(pid: int) -> list[str]:
    own = {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}  # noqa: PTH115
    rows = [line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    found = [row[1].split(":") for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]
    return [f"{'.'.join(str(byte) for byte in reversed(bytes.fromhex(address)))}:{int(port, 16)}" for address, port in found]


def test_nothing_was_changed_by_all_of_this(target: Target) -> None:
    target.aws.client("s3").delete_object(Bucket=BUCKET, Key=MARK)
    assert target.things() == {
        "buckets": [BUCKET],
        "objects": [],
        "functions": [FUNCTION],
        "roles": ["marker"],
        "stacks": [],
        "pid": target.aws.pid,
    }
