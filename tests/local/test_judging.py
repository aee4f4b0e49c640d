"""The judge of requests: it admits every request of botocore, and refuses in the protocol's shape."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.model import ListShape, MapShape, Shape, StructureShape
from botocore.serialize import create_serializer

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.judging import Judge, Request, Response, read_json
from hyperpod_constructs.local.models import ServiceModels

SERVICES = (
    "cloudformation",
    "cloudwatch",
    "ec2",
    "events",
    "iam",
    "kms",
    "logs",
    "secretsmanager",
    "sns",
    "ssm",
    "stepfunctions",
    "sts",
)
PROTOCOLS = {"cloudwatch": "query"}
MODELS = ServiceModels()


def judge(service: str) -> Judge:
    return Judge(MODELS.service(service), PROTOCOLS.get(service))


def sample(shape: Shape | None, depth: int = 0) -> Any:
    """A value with every member of every structure, down to some depth, and from there the required ones."""
    if isinstance(shape, StructureShape):
        members = shape.members if depth < 3 else {}
        wanted = {**members, **{name: shape.members[name] for name in shape.required_members}}
        if shape.is_tagged_union or (not wanted and depth < 8):
            # A structure without a member leaves no trace on the wire.
            wanted = dict(list(shape.members.items())[:1])
        return {name: sample(member, depth + 1) for name, member in wanted.items()}
    if isinstance(shape, ListShape):
        return [sample(shape.member, depth + 1)] * max(2, shape.metadata.get("min", 0))
    if isinstance(shape, MapShape):
        return {"key": sample(shape.value, depth + 1)}
    if shape is None:
        return {}
    least = shape.metadata.get("min", 7)
    kinds: dict[str, Any] = {"boolean": True, "timestamp": 1_700_000_000, "blob": b"bytes"}
    kinds |= dict.fromkeys(("integer", "long"), least) | dict.fromkeys(("float", "double"), least + 0.5)
    return kinds.get(shape.type_name, "t" * max(4, int(least)))


@pytest.mark.parametrize("service", SERVICES)
def test_requests_of_botocore_are_allowed(service: str) -> None:
    model, protocol = MODELS.service(service), judge(service).protocol
    serializer = create_serializer(protocol, include_validation=False)
    refused = {}
    for name in model.operation_names:
        operation = model.operation_model(name)
        sent = serializer.serialize_to_request(sample(operation.input_shape), operation)
        headers = {key.lower(): value for key, value in sent["headers"].items()}
        request: Request = ("POST", "/", headers, _body(sent["body"]), {})
        assert judge(service).reads(request)
        if (answer := judge(service).refusal(request)) is not None:
            refused[name] = answer[2][:300]
    assert refused == {}


def _body(body: Any) -> bytes:
    return urlencode(body).encode() if isinstance(body, dict) else bytes(body)


def _query(body: bytes) -> Request:
    return ("POST", "/", {"content-type": "application/x-www-form-urlencoded"}, body, {})


def _json(target: str, body: bytes) -> Request:
    return ("POST", "/", {"x-amz-target": target}, body, {})


@pytest.mark.parametrize(
    ("service", "request_", "code"),
    [
        ("iam", _query(b"Action=CreateRole&RoleName=r"), b"<Code>ValidationError</Code>"),
        ("iam", _query(b"Action=CreateRoles"), b"<Code>InvalidAction</Code>"),
        ("iam", _query(b"Action=ListRoles&MaxItems=many"), b"MaxItems: found 'many'"),
        ("iam", _query(b"Action=DeleteRole&RoleName.member.1=r"), b"RoleName: found members"),
        ("iam", _query(b"\xff\xfe"), b"<Code>MalformedQueryString</Code>"),
        ("ec2", _query(b"Action=CreateSubnet&CidrBlock=10.0.0.0/24"), b"<Code>InvalidParameterValue</Code>"),
        ("ec2", _query(b"Action=DescribeVpcs&VpcId.x=1"), b"it must be a list"),
        ("kms", _json("TrentService.DescribeKey", b'{"KeyId": 1e308}'), b"ValidationException"),
        ("kms", _json("TrentService.DescribeKey", b'{"KeyId": null}'), b"Missing required parameter"),
        ("kms", _json("TrentService.Nothing", b"{}"), b"UnknownOperationException"),
        ("kms", _json("TrentService.DescribeKey", b'{"KeyId": "\\ud800"}'), b"SerializationException"),
    ],
)
def test_forbidden_requests_are_refused_in_the_shape_of_the_protocol(service: str, request_: Request, code: bytes) -> None:
    answer = judge(service).refusal(request_)
    assert answer is not None
    assert answer[0] == 400
    assert code in answer[2]


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"NaN", b'{"a": NaN}', b'{"a": ' * 100_000, b'{"a": "\\udfff"}'])
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(AwsError, match="SerializationException"):
        read_json(body)


def test_an_error_behind_an_allowed_request_stays_an_error_of_ours() -> None:
    """A mistake of ours is never called the caller's."""
    from hyperpod_constructs.local.ministack import _judged

    async def fail(*request: Any) -> Response:
        raise KeyError("a bug")

    allowed = asyncio.run(_judged(judge("kms"), fail)(*_json("TrentService.ListKeys", b"{}")))
    assert (allowed[0], json.loads(allowed[2])["__type"]) == (500, "InternalFailure")
    forbidden = asyncio.run(_judged(judge("kms"), fail)(*_json("TrentService.DescribeKey", b"{}")))
    assert forbidden[0] == 400
    broken: Request = ("POST", "/2015-03-31/functions", {}, b"{", {})
    assert asyncio.run(_judged(judge("lambda"), fail)(*broken))[0] == 400
    assert asyncio.run(_judged(judge("lambda"), fail)(*broken[:3], b"{}", {}))[0] == 500
