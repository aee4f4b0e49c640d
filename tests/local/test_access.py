"""Access: the embedded AWS admits its own credentials, through reset and restart, in the protocols of its services."""

from __future__ import annotations

import asyncio
import io
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.client import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from botocore.session import Session

from hyperpod_constructs.local import server
from hyperpod_constructs.local.access import UNPROVEN, Guard, Owner, Response
from hyperpod_constructs.local.server import LocalAws
from hyperpod_constructs.local.signatures import Received, Refused
from tests.attacks.embedded_aws import BUCKET, FUNCTION, furnish, zipped

UNKNOWN = "InvalidClientTokenId"


def client(aws: LocalAws, service: str, keys: dict[str, str], **config: Any) -> Any:
    """A client with credentials as STS and IAM name them."""
    return Session().create_client(
        service,
        region_name=aws.region,
        endpoint_url=aws.endpoint,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys.get("SessionToken"),
        config=Config(retries={"total_max_attempts": 1}, **config),
    )


def owner(aws: LocalAws) -> dict[str, str]:
    return {"AccessKeyId": aws.access_key_id, "SecretAccessKey": aws.secret_access_key}


def role_session(aws: LocalAws) -> dict[str, str]:
    role = f"arn:aws:iam::{aws.account}:role/marker"
    keys: dict[str, str] = aws.client("sts").assume_role(RoleArn=role, RoleSessionName="session")["Credentials"]
    return keys


def user_key(aws: LocalAws) -> dict[str, str]:
    aws.client("iam").create_user(UserName="user")
    keys: dict[str, str] = aws.client("iam").create_access_key(UserName="user")["AccessKey"]
    return keys


def identity(aws: LocalAws, keys: dict[str, str]) -> str:
    return str(client(aws, "sts", keys).get_caller_identity()["Arn"])


def refusal(aws: LocalAws, keys: dict[str, str], service: str = "sts", operation: str = "get_caller_identity") -> str:
    with pytest.raises(ClientError) as error:
        getattr(client(aws, service, keys), operation)()
    return str(error.value.response["Error"]["Code"])


def variables(aws: LocalAws) -> list[str]:
    """The environment of a function."""
    functions = aws.client("lambda")
    code = {"ZipFile": zipped("import os\n\ndef handler(event, context):\n    return sorted(os.environ)\n")}
    role = f"arn:aws:iam::{aws.account}:role/marker"
    functions.create_function(FunctionName="look", Runtime="python3.12", Handler="index.handler", Role=role, Code=code)
    answer: list[str] = json.loads(functions.invoke(FunctionName="look")["Payload"].read())
    functions.delete_function(FunctionName="look")
    return answer


@pytest.fixture
def furnished(fresh: LocalAws) -> LocalAws:
    furnish(fresh)
    return fresh


def test_roles_users_and_functions_are_let_in_until_a_reset_forgets_them(furnished: LocalAws) -> None:
    session, user = role_session(furnished), user_key(furnished)
    assert identity(furnished, session).endswith(":assumed-role/marker/session")
    assert identity(furnished, user)
    answer = furnished.client("lambda").invoke(FunctionName=FUNCTION)
    assert f":assumed-role/marker/{FUNCTION}" in answer["Payload"].read().decode()
    assert furnished.client("s3").list_objects_v2(Bucket=BUCKET)["KeyCount"] == 1

    server.reset(furnished)
    assert refusal(furnished, session) == refusal(furnished, user) == UNKNOWN
    assert furnished.client("s3").list_buckets()["Buckets"] == []
    furnish(furnished)
    assert f":assumed-role/marker/{FUNCTION}" in furnished.client("lambda").invoke(FunctionName=FUNCTION)["Payload"].read().decode()


def test_a_session_needs_its_token(furnished: LocalAws) -> None:
    session = role_session(furnished)
    without = {name: session[name] for name in ("AccessKeyId", "SecretAccessKey")}
    assert refusal(furnished, without) == UNKNOWN
    assert refusal(furnished, {**session, "SessionToken": "another"}) == UNKNOWN
    assert refusal(furnished, {**owner(furnished), "SessionToken": "another"}) == UNKNOWN


def test_an_inactive_key_is_refused(furnished: LocalAws) -> None:
    user = user_key(furnished)
    furnished.client("iam").update_access_key(UserName="user", AccessKeyId=user["AccessKeyId"], Status="Inactive")
    assert refusal(furnished, user) == UNKNOWN


def test_a_restart_makes_another_key(tmp_path: Path) -> None:
    first = server.start(tmp_path)
    try:
        furnish(first)
        session = role_session(first)
        server.stop(tmp_path)
        second = server.start(tmp_path)
        assert first.access_key_id != second.access_key_id
        assert refusal(second, owner(first)) == refusal(second, session) == UNKNOWN
        assert identity(second, owner(second)) == f"arn:aws:iam::{second.account}:root"
    finally:
        server.stop(tmp_path)


def test_with_auth_the_same_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_THE_USER", "secret")
    aws = server.start(tmp_path, auth=True)
    try:
        furnish(aws)
        seen = variables(aws)
        assert "AWS_SESSION_TOKEN" in seen
        assert "TOKEN_OF_THE_USER" not in seen
        assert identity(aws, role_session(aws)).endswith(":assumed-role/marker/session")
        assert f":assumed-role/marker/{FUNCTION}" in aws.client("lambda").invoke(FunctionName=FUNCTION)["Payload"].read().decode()
        assert refusal(aws, {"AccessKeyId": aws.account, "SecretAccessKey": "test"}) == "SignatureDoesNotMatch"
        s3 = client(aws, "s3", owner(aws), signature_version="s3v4")
        with urllib.request.urlopen(s3.generate_presigned_url("list_objects_v2", Params={"Bucket": BUCKET})) as answer:
            assert answer.status == 200
        server.reset(aws)
        assert identity(aws, owner(aws)) == f"arn:aws:iam::{aws.account}:user/administrator"
    finally:
        server.stop(tmp_path)


@pytest.mark.parametrize(
    ("service", "operation", "unknown", "wrong"),
    [
        ("sts", "get_caller_identity", "InvalidClientTokenId", "SignatureDoesNotMatch"),
        ("s3", "list_buckets", "InvalidAccessKeyId", "SignatureDoesNotMatch"),
        ("sagemaker", "list_clusters", "UnrecognizedClientException", "InvalidSignatureException"),
        ("lambda", "list_functions", "UnrecognizedClientException", "InvalidSignatureException"),
        ("ec2", "describe_vpcs", "AuthFailure", "AuthFailure"),
    ],
)
def test_refuses_in_the_words_of_the_service(aws: LocalAws, service: str, operation: str, unknown: str, wrong: str) -> None:
    stranger = {"AccessKeyId": "AKIASTRANGER", "SecretAccessKey": "secret"}
    assert refusal(aws, stranger, service, operation) == unknown
    assert refusal(aws, {**owner(aws), "SecretAccessKey": "wrong"}, service, operation) == wrong


@pytest.mark.parametrize("version", [None, "s3v4"])
def test_presigned_urls_hold_for_what_they_were_made(fresh: LocalAws, version: str | None) -> None:
    s3 = client(fresh, "s3", owner(fresh), signature_version=version)
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": fresh.region})
    parameters = {"Bucket": BUCKET, "Key": "a b/ü+.txt"}
    put = urllib.request.Request(s3.generate_presigned_url("put_object", Params=parameters), b"hello", method="PUT")
    put.add_unredirected_header("Content-Type", "")
    urllib.request.urlopen(put).close()
    url = s3.generate_presigned_url("get_object", Params=parameters)
    with urllib.request.urlopen(url) as answer:
        assert answer.read() == b"hello"
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(url.replace("txt", "csv"))
    assert b"<Code>SignatureDoesNotMatch</Code>" in refused.value.read()
    refused.value.close()


def test_large_and_streamed_uploads_arrive(fresh: LocalAws) -> None:
    s3 = fresh.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": fresh.region})
    large = bytes(3 << 20)
    s3.put_object(Bucket=BUCKET, Key="large", Body=large)
    s3.put_object(Bucket=BUCKET, Key="stream", Body=io.BytesIO(large), ChecksumAlgorithm="SHA256")
    assert [item["Size"] for item in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == [len(large)] * 2


def test_the_answer_of_a_custom_resource_needs_the_token_of_its_url(aws: LocalAws) -> None:
    request = urllib.request.Request(f"{aws.endpoint}/_ministack/cfn-response/guessed", json.dumps({}).encode(), method="PUT")
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(request)
    refused.value.close()


def test_no_answer_lets_another_origin_read_it(fresh: LocalAws) -> None:
    s3 = fresh.client("s3")
    for answer in (s3.list_buckets(), fresh.client("sagemaker").list_clusters()):
        assert [name for name in answer["ResponseMetadata"]["HTTPHeaders"] if name.startswith("access-control")] == []


class Nobody:
    """The application behind the guard: it knows no key, and keeps every request that passes."""

    def __init__(self) -> None:
        self.passed: list[int] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.passed.append(len((await receive())["body"]))

    def credential(self, key_id: str) -> None:
        return None

    def claimed_key(self, received: Received) -> str:
        return ACCOUNT

    def awaits(self, method: str, path: str) -> bool:
        return False

    def refusal(self, received: Received, refused: Refused) -> Response:
        return 403, {}, refused.code.encode()


ACCOUNT, PIECE = "123456789012", bytes(1 << 20)


class Flood:
    """A body of so many MiB, and how many were asked for; then the sender listens to the answer."""

    def __init__(self, pieces: int) -> None:
        self._left = pieces
        self.asked = 0
        self.sent: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        self._left -= 1
        return {"type": "http.request", "body": PIECE, "more_body": self._left > 0}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


def flooded(secret: str, pieces: int, declared: str | None) -> tuple[Flood, Nobody]:
    """A request of the account's root with such a secret, and such a body."""
    url = "http://127.0.0.1:1/bucket/key"
    request = AWSRequest("PUT", url, {} if declared is None else {"X-Amz-Content-SHA256": declared}, b"another body")
    SigV4Auth(Credentials(ACCOUNT, secret), "s3", "us-west-2").add_auth(request)
    headers = [(name.lower().encode(), str(value).encode()) for name, value in request.headers.items()]
    head = {"method": "PUT", "path": "/bucket/key", "raw_path": b"/bucket/key", "query_string": b""}
    scope = {"type": "http", **head, "headers": [(b"host", b"127.0.0.1:1"), *headers]}
    flood, behind = Flood(pieces), Nobody()
    guard = Guard(behind, "127.0.0.1:1", Owner("AKIAOWNER", "secret"), behind)
    asyncio.run(guard(scope, flood.receive, flood.send))
    return flood, behind


@pytest.mark.parametrize("declared", ["UNSIGNED-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "0" * 64])
def test_the_body_of_who_has_no_key_is_not_kept_where_the_head_tells(declared: str) -> None:
    flood, behind = flooded("wrong", 300, declared)
    assert flood.asked <= 2, "no more than is drained for the sender to read the answer"
    assert flood.sent[-1]["body"] == b"SignatureDoesNotMatch"
    assert behind.passed == []


def test_a_body_of_which_the_hash_is_signed_is_kept_up_to_what_aws_takes() -> None:
    flood, behind = flooded("wrong", 300, None)
    assert flood.asked <= UNPROVEN // len(PIECE) + 3
    assert flood.sent[-1]["body"] == b"RequestEntityTooLarge"
    assert behind.passed == []


def test_the_body_of_who_has_the_key_is_as_long_as_it_is() -> None:
    flood, behind = flooded("secret", 80, "UNSIGNED-PAYLOAD")
    assert (flood.asked, behind.passed) == (80, [80 << 20])
