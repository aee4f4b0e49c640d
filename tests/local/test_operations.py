"""A request has one reading: what IAM judges is what a handler does, in every protocol and service that ministack dispatches."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

import ministack.app  # type: ignore[import-untyped]
import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import UnknownServiceError

from hyperpod_constructs.local import server
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.ministack_operations import NAMES
from hyperpod_constructs.local.models import ServiceModels
from hyperpod_constructs.local.operations import Operations, Wire
from hyperpod_constructs.local.server import LocalAws
from tests.patience import PATIENCE

MODELS = ServiceModels()
OPERATIONS = Operations(MODELS.service, NAMES)
FORM = {"content-type": "application/x-www-form-urlencoded"}
WITHOUT_MODEL = {"appsync-events", "ecs-metadata", "imds"}
"""Parts of ministack that are no service of AWS's."""


@pytest.mark.parametrize("service", sorted({*ministack.app.SERVICE_HANDLERS} - WITHOUT_MODEL))
def test_every_operation_has_one_reading(service: str) -> None:
    """As a client sends it, in each protocol of its service. S3's permissions have names of their own, so it is left out there."""
    wire = NAMES.get(service, Wire(service))
    model = MODELS.service(wire.model)
    protocols = {model.metadata["protocol"], *model.metadata.get("protocols", ())}
    wrong = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        path, _, query = http["requestUri"].partition("?")
        path = re.sub(r"\{[^{}]+\}", "1", path)
        asked: list[tuple[str, str, dict[str, str], bytes, str]] = []
        if protocols & {"query", "ec2"}:
            asked += [("POST", "/", FORM, f"Action={name}&Version=1".encode(), ""), ("GET", "/", {}, b"", f"Action={name}")]
        if "json" in protocols:
            asked.append(("POST", "/", {"x-amz-target": f"{model.metadata['targetPrefix']}.{name}"}, b"{}", ""))
        if "smithy-rpc-v2-cbor" in protocols:
            asked.append(("POST", f"/service/S/operation/{name}", {"content-type": "application/cbor"}, b"\xa0", ""))
        if protocols & {"rest-json", "rest-xml"}:
            asked.append((http["method"], path, {}, b"", query))
        for method, path, headers, body, address in asked:
            found = parse_qs(address, keep_blank_values=True)
            OPERATIONS.refuse_ambiguous(service, method, path, headers, body, found)
            merged = found | (parse_qs(body.decode()) if headers == FORM else {})
            named = OPERATIONS.named(service, method, path, headers, merged)
            if named is None or (service != "s3" and named != name and not _same_route(service, named, name)):
                wrong.append((name, named))
    assert wrong == []


def _same_route(service: str, first: str, second: str) -> bool:
    """Whether two operations have the same method and path, up to the names of labels: the service tells them by the body."""
    model = MODELS.service(NAMES.get(service, Wire(service)).model)
    one, other = (model.operation_model(name).http for name in (first, second))
    return [one["method"], re.sub(r"\{[^{}]+\}", "", one["requestUri"]).partition("?")[0]] == [
        other["method"],
        re.sub(r"\{[^{}]+\}", "", other["requestUri"]).partition("?")[0],
    ]


@pytest.mark.parametrize(("service", "below"), [(name, wire.below) for name, wire in NAMES.items() if wire.below is not None])
def test_every_operation_below_a_prefix_is_named(service: str, below: tuple[str, str]) -> None:
    model = MODELS.service(below[1])
    for name in model.operation_names:
        http = model.operation_model(name).http
        path, _, query = http["requestUri"].partition("?")
        path = re.sub(r"\{[^{}]+\}", "1", path)
        if path.startswith(below[0]):
            assert OPERATIONS.named(service, http["method"], path, {}, parse_qs(query, keep_blank_values=True)) == name


def test_the_others_have_no_model() -> None:
    for service in WITHOUT_MODEL:
        with pytest.raises(UnknownServiceError):
            MODELS.service(service)


AMBIGUOUS = [
    ("iam", "POST", "/", FORM, b"Action=CreateUser", "Action=ListUsers"),
    ("iam", "POST", "/", FORM, b"Action=CreateUser", "UserName=mine"),
    ("iam", "POST", "/", FORM, b"Action=ListUsers&Action=CreateUser", ""),
    ("iam", "GET", "/", {}, b"", "Action=ListUsers&Action=CreateUser"),
    ("iam", "POST", "/", FORM, b"Action=DeleteUser&UserName=a&UserName=b", ""),
    ("iam", "POST", "/", {"content-type": "text/plain"}, b"Action=CreateUser", ""),
    ("iam", "GET", "/", FORM, b"Action=CreateUser", ""),
    ("iam", "POST", "/", FORM | {"x-amz-target": "IAM.ListUsers"}, b"Action=CreateUser", ""),
    ("sts", "POST", "/", {"x-amz-target": "AWSSecurityTokenServiceV20110615.AssumeRole"}, b"{}", "Action=GetCallerIdentity"),
    ("ssm", "POST", "/", {"x-amz-target": "AmazonSSM.PutParameter"}, b"{}", "Action=GetParameter"),
    ("ssm", "POST", "/", {"x-amz-target": "AmazonSSM.GetParameter, AmazonSSM.PutParameter"}, b"{}", ""),
    ("ssm", "POST", "/parameters", {"x-amz-target": "AmazonSSM.GetParameter"}, b"{}", ""),
    ("sqs", "POST", "/", FORM | {"x-amz-target": "AmazonSQSx.ListQueues"}, b"Action=CreateQueue", ""),
    ("monitoring", "POST", "/service/S/operation/PutMetricData", {}, b"", "Action=ListMetrics"),
    ("monitoring", "POST", "/service/S/operation/PutMetricData", {"x-amz-target": "S.ListMetrics"}, b"", ""),
    ("monitoring", "POST", "/x/operation/DeleteAlarms", FORM, b"Action=ListMetrics&AlarmNames.member.1=a", ""),
    ("monitoring", "POST", "/service/S/operation/DeleteAlarms/", FORM, b"Action=ListMetrics", ""),
    ("lambda", "DELETE", "/2015-03-31/functions/mine", {"x-amz-target": "Lambda.GetFunction"}, b"", ""),
    ("lambda", "GET", "/2015-03-31/functions/mine%2Fcode", {}, b"", ""),
    ("s3", "PUT", "/bucket/key", {}, b"", "acl=&tagging="),
    ("s3", "PUT", "/bucket/key", {}, b"", "tagging=&uploadId=1&partNumber=1"),
    ("s3", "PUT", "/bucket/key", {}, b"", "Action=ListBucket"),
    ("s3", "GET", "//bucket/key", {}, b"", ""),
    ("sagemaker", "POST", "/", {"x-amz-target": "SageMaker.DeleteCluster"}, b"{}", "Action=ListClusters"),
    ("ec2", "POST", "/", FORM, b"Action=DeleteVpc&VpcId=a", "VpcId=b"),
    ("imds", "GET", "/latest/meta-data", {"x-amz-target": "IMDS.Nothing"}, b"", ""),
]


@pytest.mark.parametrize(("service", "method", "path", "headers", "body", "query"), AMBIGUOUS)
def test_refuses_two_readings(service: str, method: str, path: str, headers: dict[str, str], body: bytes, query: str) -> None:
    with pytest.raises(AwsError, match=f"a request to {service} must have one reading: found .*; "):
        OPERATIONS.refuse_ambiguous(service, method, path, headers, body, parse_qs(query, keep_blank_values=True))


ALLOWED = ("iam:ListUsers", "sns:ListTopics", "ssm:GetParameter", "s3:ListBucket", "s3:PutObjectTagging", "lambda:ListAliases")


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    directory: Path = tmp_path_factory.mktemp("readings")
    yield server.start(directory, auth=True)
    server.stop(directory)


@pytest.fixture(scope="module")
def weak(aws: LocalAws) -> Credentials:
    """The key of somebody who may do little."""
    iam = aws.client("iam")
    statement = {"Effect": "Allow", "Action": [*ALLOWED, "cloudwatch:ListMetrics"], "Resource": "*"}
    iam.create_user(UserName="weak")
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName="weak", PolicyName="little", PolicyDocument=document)
    aws.client("s3").create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": aws.region})
    made = iam.create_access_key(UserName="weak")["AccessKey"]
    return Credentials(made["AccessKeyId"], made["SecretAccessKey"])


def ask(aws: LocalAws, credentials: Credentials, service: str, method: str, path: str, headers: dict[str, str], body: bytes) -> int:
    """The status of an answer."""
    return answer(aws, credentials, service, method, path, headers, body)[0]


def answer(
    aws: LocalAws, credentials: Credentials, service: str, method: str, path: str, headers: dict[str, str], body: bytes
) -> tuple[int, str]:
    """The status of an answer, and its text."""
    request = AWSRequest(method, aws.endpoint + path, headers=headers, data=body)
    (S3SigV4Auth if service == "s3" else SigV4Auth)(credentials, service, aws.region).add_auth(request)
    plain = urllib.request.Request(aws.endpoint + path, body or None, dict(request.headers), method=method)
    try:
        with urllib.request.urlopen(plain) as found:
            return int(found.status), found.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode("utf-8", "replace")


JSON = {"Content-Type": "application/x-amz-json-1.1"}
CBOR = {"Content-Type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}
METRICS = "/service/GraniteServiceVersion20100801/operation/"


@pytest.mark.parametrize(
    ("status", "service", "method", "path", "headers", "body"),
    [
        (200, "iam", "POST", "/", FORM, b"Action=ListUsers"),
        (403, "iam", "POST", "/", FORM, b"Action=CreateUser&UserName=a"),
        (400, "iam", "POST", "/?Action=ListUsers", FORM, b"Action=CreateUser&UserName=b"),
        (400, "iam", "POST", "/", {"Content-Type": "text/plain"}, b"Action=CreateUser&UserName=c"),
        (400, "iam", "POST", "/?Action=ListUsers", JSON | {"X-Amz-Target": "IAM.CreateUser"}, b'{"UserName": "d"}'),
        (400, "iam", "POST", "/", JSON | {"X-Amz-Target": "I.ListUsers"}, b'{"Action": ["CreateUser"], "UserName": "e"}'),
        (400, "sns", "POST", "/?Action=ListTopics", FORM, b"Action=CreateTopic&Name=a"),
        (400, "ssm", "POST", "/?Action=GetParameter", JSON | {"X-Amz-Target": "AmazonSSM.PutParameter"}, b'{"Name":"a"}'),
        (200, "s3", "GET", "/bucket?list-type=2", {}, b""),
        (403, "s3", "PUT", "/bucket/a", FORM, b"Action=ListBucket"),
        (403, "s3", "PUT", "/bucket/a", FORM, b"tagging="),
        (400, "s3", "PUT", "/bucket/a", {"X-Amz-Target": "S3.ListBucket"}, b""),
        (403, "lambda", "DELETE", "/2015-03-31/functions/one/aliases/a", {}, b""),
        (403, "lambda", "DELETE", "/2015-03-31/event-source-mappings/a", {}, b""),
        (200, "monitoring", "POST", f"{METRICS}ListMetrics", CBOR, b"\xa0"),
        (403, "monitoring", "POST", f"{METRICS}PutMetricData", CBOR, b"\xa0"),
        (403, "sqs", "GET", "/_ministack/sqs/messages", {}, b""),
        (403, "sqs", "POST", "/_ministack/reset", {}, b""),
        (403, "sqs", "POST", "/_hyperpod/reset", {}, b""),
    ],
)
def test_does_what_was_judged(
    aws: LocalAws, weak: Credentials, status: int, service: str, method: str, path: str, headers: dict[str, str], body: bytes
) -> None:
    """Over the wire, for somebody who may do little."""
    assert ask(aws, weak, service, method, path, headers, body) == status


NAMELESS = [
    ("glue", "GET", "/iceberg/v1/config"),
    ("s3tables", "POST", "/iceberg/v1/bucket/namespaces"),
    ("ecr", "GET", "/v2/"),
    ("ecr", "PUT", "/v2/repository/manifests/latest"),
    ("execute-api", "GET", "/_aws/execute-api/abc/prod/"),
    ("execute-api", "POST", "/restapis/abc/prod/_user_request_/orders"),
    ("lambda", "GET", "/_aws/lambda-url/abc/"),
    ("elasticloadbalancing", "GET", "/_alb/balancer/"),
    ("cognito-idp", "GET", "/oauth2/authorize"),
    ("cognito-idp", "POST", "/oauth2/token"),
    ("cognito-idp", "GET", "/us-west-2_abc/.well-known/jwks.json"),
    ("appsync", "POST", "/v1/apis/abc/graphql"),
    ("rds-data", "POST", "/Unknown"),
    ("ses", "GET", "/v2/email/unknown/"),
]
"""What ministack answers beside operations, by kind of address, and operations that no model has."""


@pytest.mark.parametrize(("service", "method", "path"), NAMELESS)
def test_what_no_operation_names_is_refused_to_everybody(aws: LocalAws, service: str, method: str, path: str) -> None:
    owner = Credentials(aws.access_key_id, aws.secret_access_key)
    body = b"{}" if method == "POST" else b""
    status, said = answer(aws, owner, service, method, path, {}, body)
    assert status == 403
    assert re.search(
        rf"{method} .* is no operation of the API [a-z0-9-]+, for which it is signed: with auth, the embedded", said
    ), said


@pytest.mark.parametrize(
    ("service", "method", "path", "action"),
    [
        ("rds-data", "POST", "/Execute", "rds-data:ExecuteStatement"),
        ("ses", "GET", "/v2/email/account", "ses:GetAccount"),
        ("s3", "GET", "/v20180820/tags/arn%3Aaws%3As3%3A%3A%3Abucket", "s3:"),
        ("apigateway", "GET", "/v2/apis", "apigateway:GET"),
    ],
)
def test_what_has_an_address_of_its_own_is_judged(
    aws: LocalAws, weak: Credentials, service: str, method: str, path: str, action: str
) -> None:
    body = b'{"resourceArn": "a", "secretArn": "b", "sql": "c"}' if method == "POST" else b""
    status, said = answer(aws, weak, service, method, path, {}, body)
    assert status == 403
    assert action in said, said


def test_what_is_signed_for_s3_is_an_object(aws: LocalAws, weak: Credentials) -> None:
    """As on AWS, where each service has an endpoint of its own."""
    status, said = answer(aws, weak, "s3", "GET", "/iceberg/v1/config", {}, b"")
    assert (status, "NoSuchBucket" in said) == (404, True)


def test_with_auth_there_is_no_websocket(aws: LocalAws) -> None:
    """It is signed, so the guard lets it in, and the API exists."""
    apis = aws.client("apigatewayv2")
    api = apis.create_api(Name="talk", ProtocolType="WEBSOCKET", RouteSelectionExpression="$request.body.action")["ApiId"]
    apis.create_stage(ApiId=api, StageName="prod")
    asked = AWSRequest("GET", f"{aws.endpoint}/_aws/execute-api/{api}/prod")
    SigV4Auth(Credentials(aws.access_key_id, aws.secret_access_key), "execute-api", aws.region).add_auth(asked)
    key = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="}
    connection = http.client.HTTPConnection(aws.endpoint.partition("://")[2], timeout=PATIENCE)
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", **key}
    connection.request("GET", f"/_aws/execute-api/{api}/prod", headers={**asked.headers, **upgrade})
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "gzip;q=1"])
def test_a_packed_body_is_bounded(aws: LocalAws, weak: Credentials, encoding: str) -> None:
    """One megabyte unpacks to a thousand."""
    packed = _zeros(1000 << 20)
    headers = CBOR | {"Content-Encoding": encoding}
    assert len(packed) < 2 << 20
    assert ask(aws, weak, "monitoring", "POST", f"{METRICS}ListMetrics", headers, packed) == 413


@cache
def _zeros(size: int) -> bytes:
    packing = zlib.compressobj(wbits=31)
    part = bytes(1 << 20)
    return b"".join([*(packing.compress(part) for _ in range(size >> 20)), packing.flush()])
