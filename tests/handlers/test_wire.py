"""Each part of the functions' clients beside botocore's: every vendored operation, every partition, every kind of endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock
from xml.sax.saxutils import escape

import botocore
import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest, create_request_object, prepare_request_dict
from botocore.credentials import Credentials as BotocoreCredentials
from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import EndpointProviderError, ParamValidationError
from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel
from botocore.parsers import ResponseParserError, create_parser
from botocore.serialize import create_serializer
from botocore.utils import parse_to_aware_datetime
from botocore.validate import ParamValidator

from hyperpod_constructs.custom_resources.handlers.wire import endpoints, times
from hyperpod_constructs.custom_resources.handlers.wire.connections import Answer, UnreadableAnswerError
from hyperpod_constructs.custom_resources.handlers.wire.models import MODELS, model
from hyperpod_constructs.custom_resources.handlers.wire.replies import reply
from hyperpod_constructs.custom_resources.handlers.wire.requests import Request, request
from hyperpod_constructs.custom_resources.handlers.wire.signatures import Credentials, signed
from hyperpod_constructs.custom_resources.handlers.wire.validation import problems
from tools.generate_service_models import KINDS, OPERATIONS

ALL = [(service, name) for service, names in OPERATIONS.items() for name in names]
by_operation = pytest.mark.parametrize(("service", "name"), ALL, ids=map("-".join, ALL))
MOMENT = datetime(2026, 2, 28, 23, 59, 59, 123457, timezone(timedelta(hours=5, minutes=30)))
TEXT = 'ü&<é> "x" +/=%~.\n😀' * 20
DEPTH = 9
NOT_TAKEN = (
    "flattened",
    "payload",
    "xmlAttribute",
    "streaming",
    "eventstream",
    "document",
    "jsonvalue",
    "timestampFormat",
    "queryMap",
)


@cache
def botocores(service: str) -> ServiceModel:
    loader = Loader(extra_search_paths=[str(MODELS)], include_default_search_paths=False)
    return ServiceModel(loader.load_service_model(service, "service-2"), service)


def operation(service: str, name: str) -> OperationModel:
    return botocores(service).operation_model(name)


def sample(shape: Any, *, whole: bool, depth: int = DEPTH) -> Any:
    """A value that fits a shape of botocore: with all members, or with those alone that it must have."""
    kind = shape.type_name
    if kind == "structure":
        names = list(shape.members) if whole and depth else shape.required_members
        names = names[:1] if shape.is_tagged_union else names
        names = names or list(shape.members)[: shape.is_tagged_union]
        return {name: sample(shape.members[name], whole=whole, depth=max(depth - 1, 0)) for name in names}
    if kind == "list":
        count = max(2 * whole, shape.metadata.get("min", 0))
        return [sample(shape.member, whole=whole, depth=depth) for _ in range(count)]
    if kind == "map":
        return {f"key {n}": sample(shape.value, whole=whole, depth=depth) for n in range(2 * whole)}
    least = int(shape.metadata.get("min", 1))
    scalars: Mapping[str, Any] = {"string": TEXT[: max(least, 12)], "boolean": whole, "timestamp": MOMENT, "blob": b"\0\xffblob"}
    return scalars.get(kind, least + whole)


@by_operation
@pytest.mark.parametrize("whole", [True, False], ids=["all members", "required members"])
@pytest.mark.parametrize("endpoint", ["https://service.example", "http://127.0.0.1:4566"])
def test_request_and_signature_are_those_of_botocore(service: str, name: str, whole: bool, endpoint: str) -> None:
    parameters = sample(operation(service, name).input_shape, whole=whole)
    own = model(service)
    mine = request(own, own.operations[name], parameters, endpoint)
    prepared = create_serializer(own.protocol).serialize_to_request(parameters, operation(service, name))
    prepare_request_dict(prepared, endpoint, user_agent="x")
    theirs = create_request_object(prepared)
    now, signature = mine_and_now(mine, service)
    with mock.patch.object(auth, "get_current_datetime", return_value=now.replace(tzinfo=None)):
        signer = auth.S3SigV4Auth if service == "s3" else auth.SigV4Auth
        signer(BotocoreCredentials("AKID", "secret", "token"), own.signing_name, "us-west-2").add_auth(theirs)
    ready = theirs.prepare()
    body = ready.body.encode() if isinstance(ready.body, str) else ready.body or b""
    assert (mine.method, mine.url, mine.body) == (ready.method, ready.url, body)
    sent = {key.lower(): value if isinstance(value, str) else value.decode() for key, value in ready.headers.items()}
    assert sent.keys() - signature.keys() <= {"content-length"}
    assert {key: signature[key] for key in sent.keys() & signature.keys() if key != "user-agent"} == {
        key: value for key, value in sent.items() if key not in ("user-agent", "content-length")
    }


def mine_and_now(unsigned: Request, service: str) -> tuple[datetime, dict[str, str]]:
    now = datetime(2026, 11, 24, 1, 2, 3, tzinfo=UTC)
    ready = signed(unsigned, Credentials("AKID", "secret", "token"), model(service).signing_name, "us-west-2", now)
    return now, {name.lower(): value for name, value in ready.headers.items()}


@pytest.mark.parametrize("token", ["", "token"])
@pytest.mark.parametrize("path", ["/", "/bucket", "/a%2Fb", "/ü~", "/a//b"])
def test_signature_of_a_path(token: str, path: str) -> None:
    """Of S3: other services have no path."""
    now = datetime(2026, 1, 2, tzinfo=UTC)
    headers = {"Host": "s3.example", "User-Agent": "x", "Spaces": "  a   b "}
    mine = signed(Request("HEAD", f"https://s3.example{path}", headers, b""), Credentials("A", "s", token), "s3", "eu-west-1", now)
    theirs: Any = AWSRequest("HEAD", f"https://s3.example{path}", headers)
    theirs.context["payload_signing_enabled"] = True
    with mock.patch.object(auth, "get_current_datetime", return_value=now.replace(tzinfo=None)):
        signer: Any = auth.S3SigV4Auth(BotocoreCredentials("A", "s", token or None), "s3", "eu-west-1")
        signer.add_auth(theirs)
    assert mine.headers["Authorization"] == theirs.headers["Authorization"]


@pytest.mark.parametrize("token", ["", "a\r\nX-Evil: 1"])
def test_a_bucket_cannot_change_the_request(token: str) -> None:
    own = model("s3")
    asked = request(own, own.operations["HeadBucket"], {"Bucket": f"a/../b?x=1#{token}"}, "https://s3.example")
    assert re.fullmatch(r"https://s3\.example/a%2F\.\.%2Fb%3Fx%3D1%23[A-Za-z0-9%-]*", asked.url)


WRONG: list[Any] = [None, 1, -1, 10**10, 1.5, True, "", "x", b"x", [], [None], ["x"], {}, {"x": 1}, MOMENT, "2026-01-01", object()]


@by_operation
def test_a_wrong_value_is_refused_where_botocore_refuses_it(service: str, name: str) -> None:
    theirs: Any = operation(service, name).input_shape
    mine = model(service).operations[name].input_shape
    for parameters in spoiled(sample(theirs, whole=True)):
        report = ParamValidator().validate(parameters, theirs)
        assert bool(list(problems(mine, parameters, "input"))) == report.has_errors(), (parameters, report.generate_report())


def spoiled(value: Any) -> Iterator[Any]:
    """The value, with each part of it in turn replaced by each wrong value, left out, or with one beside it."""
    if isinstance(value, dict):
        yield {**value, "Unknown": 1}
        for name, inner in value.items():
            rest = {each: item for each, item in value.items() if each != name}
            yield rest
            yield from ({**rest, name: other} for other in WRONG)
            yield from ({**value, name: other} for other in spoiled(inner))
    if isinstance(value, list):
        yield from ([*value[1:], other] for other in (*WRONG, *spoiled(value[0])))


def test_all_that_is_wrong_is_told() -> None:
    own = model("ssm")
    with pytest.raises(ParamValidationError) as failure:
        request(own, own.operations["PutParameter"], {"Name": "", "Value": 1, "Colour": "red"}, "https://x")
    report = str(failure.value)
    for part in ("least is 1", "Invalid type for parameter input.Value: 1; allowed: string", "Unknown parameter in input: Colour"):
        assert part in report


def as_json(shape: Any, value: Any) -> Any:
    """A value as a service writes it."""
    if shape.type_name == "structure":
        members = {name: as_json(shape.members[name], item) for name, item in value.items()}
        return members if shape.is_tagged_union else {**members, "UnknownMember": {"a": [1]}, "AnotherOne": None}
    if shape.type_name == "list":
        return [as_json(shape.member, item) for item in value]
    if shape.type_name == "map":
        return {name: as_json(shape.value, item) for name, item in value.items()}
    return value.timestamp() if shape.type_name == "timestamp" else value


def as_xml(shape: Any, value: Any, name: str) -> str:
    place = shape.serialization.get("name", name)
    if shape.type_name == "structure":
        inner = "".join(as_xml(shape.members[each], item, each) for each, item in value.items()) + "<unknown><a>1</a></unknown>"
    elif shape.type_name == "list":
        inner = "".join(as_xml(shape.member, item, "member") for item in value)
    else:
        inner = escape(value.isoformat() if shape.type_name == "timestamp" else str(value).lower() if value is True else str(value))
    return f"<{place}>\n{inner}</{place}>" if shape.type_name in ("structure", "list") else f"<{place}>{inner}</{place}>"


def written(service: str, name: str, value: Mapping[str, Any]) -> bytes:
    """The body of an answer."""
    shape: Any = operation(service, name).output_shape
    if model(service).protocol == "json":
        return json.dumps(as_json(shape, value)).encode()
    inner = as_xml(shape, value, "Answer")
    wrapper = shape.serialization.get("resultWrapper")
    if not wrapper:
        return inner.replace("<Answer>", "<Answer><requestId>q</requestId>", 1).encode()
    body = f"<{wrapper}>{inner}</{wrapper}><ResponseMetadata><RequestId>q</RequestId></ResponseMetadata>"
    return f'<Response xmlns="https://x.example/">{body}</Response>'.replace("<Answer>", "").replace("</Answer>", "").encode()


def both(service: str, name: str, answer: Answer) -> tuple[Any, Any]:
    """What the two make of an answer; an error is told by its meaning."""
    own = model(service)
    parser: Any = create_parser(own.protocol)
    raw = {"status_code": answer.status, "headers": dict(answer.headers), "body": answer.body}
    found = []
    for read in (
        lambda: reply(own, own.operations[name], answer),
        lambda: parser.parse(raw, operation(service, name).output_shape),
    ):
        try:
            found.append(read())
        except (UnreadableAnswerError, ResponseParserError):
            found.append("cannot be read")
    return found[0], found[1]


@by_operation
@pytest.mark.parametrize("whole", [True, False], ids=["all members", "required members"])
def test_reply_is_that_of_botocore(service: str, name: str, whole: bool) -> None:
    shape = operation(service, name).output_shape
    headers = {"x-amzn-requestid": "r"} if model(service).protocol == "json" else {}
    if service == "s3":
        headers = {"x-amz-bucket-region": "eu-west-1", "x-amz-access-point-alias": "true", "x-amz-request-id": "r"}
    body = b"" if service == "s3" or shape is None else written(service, name, sample(shape, whole=whole))
    mine, theirs = both(service, name, Answer(200, headers, body))
    theirs["ResponseMetadata"].pop("HostId", None)
    assert mine == theirs
    assert mine["ResponseMetadata"]["RequestId"] in ("r", "q")
    assert len(mine) > 1 or shape is None or not shape.members or not whole


ERRORS = [
    b'{"__type":"ValidationException","message":"m"}',
    b'{"__type":"com.amazon#ThrottlingException","Message":"M"}',
    b'{"__type":"aws.x#Code:http://internal/","message":"m"}',
    b'{"message":"no type"}',
    b"{}",
    b"",
    b"no json",
    "ü".encode(),
]
EC2_ERRORS = [
    b"<Response><Errors><Error><Code>C</Code><Message>m</Message></Error></Errors><RequestID>q</RequestID></Response>",
    b"<cut",
    b"no xml",
]
QUERY_ERRORS = [
    b'<ErrorResponse xmlns="https://x"><Error><Type>Sender</Type><Code>C</Code><Message>m</Message></Error><RequestId>q</RequestId></ErrorResponse>',
    b"<ErrorResponse><Error><Code>C</Code><Message/></Error></ErrorResponse>",
    b"<cut",
    b"no xml",
]
FAILED = [*(("sagemaker", "ListClusters", body) for body in ERRORS), *(("iam", "GetRole", body) for body in QUERY_ERRORS)]
FAILED += [("ec2", "DescribeSubnets", body) for body in EC2_ERRORS] + [("s3", "HeadBucket", b"")]


@pytest.mark.parametrize("status", [301, 400, 403, 404, 429, 500, 503, 599])
@pytest.mark.parametrize(("service", "name", "body"), [*FAILED, ("logs", "GetLogEvents", b" <html>down</html>")])
def test_error_is_that_of_botocore(service: str, name: str, body: bytes, status: int) -> None:
    mine, theirs = both(service, name, Answer(status, {}, body))
    if isinstance(theirs, dict):
        theirs["Error"].pop("Type", None)
        theirs["Error"]["Message"] = theirs["Error"]["Message"] or ""
        theirs["ResponseMetadata"] = {
            key: value for key, value in theirs["ResponseMetadata"].items() if value or key == "HTTPHeaders"
        }
    assert mine == theirs


def test_an_error_without_a_code_has_the_status() -> None:
    own = model("ec2")
    found = reply(own, own.operations["DescribeSubnets"], Answer(400, {}, b"<Response/>"))
    assert found["Error"] == {"Code": "400", "Message": ""}


UNREADABLE = [
    ("sagemaker", "ListClusters", b"<html>a proxy</html>"),
    ("sagemaker", "ListClusters", b"[1]"),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": {}}'),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": ["x"]}'),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": [{"CreationTime": "soon"}]}'),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": [{"CreationTime": 1e300}]}'),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": [{"CreationTime": NaN}]}'),
    ("sagemaker", "ListClusters", b"[" * 200_000),
    ("sagemaker", "ListClusters", b'{"ClusterSummaries": "\xff"}'),
    ("iam", "GetRole", b""),
    ("iam", "GetRole", b"<Other/>"),
    ("ec2", "DescribeSubnets", b"<a>" * 10),
    (
        "ec2",
        "DescribeSubnets",
        b"<R><subnetSet><item><availableIpAddressCount>x</availableIpAddressCount></item></subnetSet></R>",
    ),
    ("ec2", "DescribeSubnets", b'<!DOCTYPE R [<!ENTITY a "b">]><R><nextToken>&a;</nextToken></R>'),
    ("ec2", "DescribeSubnets", '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE R []><R/>'.encode("utf-16")),
]


@pytest.mark.parametrize(("service", "name", "body"), UNREADABLE)
def test_fails_for_an_answer_that_does_not_fit_the_model(service: str, name: str, body: bytes) -> None:
    own = model(service)
    with pytest.raises(UnreadableAnswerError, match="the answer with status 200 cannot be read: ") as failure:
        reply(own, own.operations[name], Answer(200, {}, body))
    assert len(str(failure.value)) < 300


def test_the_message_of_an_error_is_cut() -> None:
    own = model("sagemaker")
    found = reply(own, own.operations["ListClusters"], Answer(400, {}, b"x" * 10**6))
    assert found["Error"] == {"Code": "400", "Message": "x" * 20_000}


def test_the_client_knows_all_that_the_vendored_models_have() -> None:
    for service, names in OPERATIONS.items():
        text = next((MODELS / service).glob("*/service-2.json")).read_text("utf-8")
        assert [trait for trait in NOT_TAKEN if f'"{trait}"' in text] == [], service
        own = model(service)
        assert own.protocol in ("json", "query", "ec2", "rest-xml")
        assert tuple(sorted(own.operations)) == names
        for name in names:
            theirs: Any = operation(service, name)
            assert own.operations[name].tokens == theirs.idempotent_members
            assert own.signing_name == botocores(service).signing_name
            assert theirs.endpoint is None
            places = {shape.serialization.get("location") for shape in theirs.input_shape.members.values()}
            assert places <= {None, *(("uri", "header") if service == "s3" else ())}


INSTALLED = Path(botocore.__file__).parent / "data"


@pytest.mark.parametrize("service", OPERATIONS)
def test_endpoints_are_those_of_botocores_rules(service: str) -> None:
    loader = Loader()
    partitions = loader.load_data("partitions")
    rules = EndpointProvider(loader.load_data(f"{service}/{botocores(service).api_version}/endpoint-rule-set-1"), partitions)
    regions = [region for partition in partitions["partitions"] for region in partition["regions"]]
    new = [re.sub(r"\d+$", "42", region) for region in regions]
    compared = 0
    for region in {*regions, *new, "no-region"}:
        for kind, flags in KINDS.items():
            try:
                found = rules.resolve_endpoint(Region=region, **flags)
            except EndpointProviderError:
                with pytest.raises(EndpointProviderError, match=f"{service} has no {kind} endpoint in {region}"):
                    endpoints.listed(service, region, kind)
                continue
            [scheme] = found.properties.get("authSchemes") or [{}]
            assert endpoints.listed(service, region, kind) == (found.url, scheme.get("signingRegion", region))
            assert scheme.get("signingName", model(service).signing_name) == model(service).signing_name
            compared += 1
    assert compared > 200


@pytest.mark.parametrize("kind", ["FIPS", "DUALSTACK"])
def test_the_kind_of_endpoint_is_that_of_the_environment(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv(f"AWS_USE_{kind}_ENDPOINT", "True")
    assert endpoints.endpoint(model("logs")) == endpoints.listed("logs", "us-west-2", kind)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(EndpointProviderError, match=f"AWS_USE_{kind}_ENDPOINT"):
        endpoints.endpoint(model("logs"))


@pytest.mark.parametrize("value", [0, 1.5, "1767225600", MOMENT, MOMENT.replace(tzinfo=None), "2026-01-01T00:00:00Z", "2026-01-01"])
def test_a_time_is_that_of_botocore(value: Any) -> None:
    assert times.moment(value) == parse_to_aware_datetime(value)


@pytest.mark.parametrize("value", ["", "soon", None, [], "1e300", float("nan"), float("inf")])
def test_fails_for_what_is_no_time(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the sentence is the caller's
        times.moment(value)
