"""The REST-JSON protocol: what botocore sends is read as it was meant, and judged by the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote

import pytest
from botocore.model import ServiceModel
from botocore.serialize import create_serializer

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.rest_protocol import RestService
from tests.local.hyperpod_requests import model

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")
ROLE = "arn:aws:iam::123456789012:role/team/one"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


class Echo:
    """A service that answers what the test says."""

    name = "eks"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[Any] = []

    def call(self, operation: str, parameters: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        self.calls.append((operation, dict(parameters)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return dict(self.answer)

    def reset(self) -> None:
        self.calls.clear()


def shapes() -> ServiceModel:
    return model("eks")


def send(service: Echo, method: str, path: str, body: bytes = b"", query: str = "") -> tuple[int, dict[str, str], dict[str, Any]]:
    wire = RestService(service, shapes(), lambda: CALLER)
    status, headers, answer = wire.answer((method, path, {}, body, parse_qs(query)))
    return status, headers, json.loads(answer)


def call(service: Echo, operation: str, **members: Any) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The request that botocore makes of the members, as ministack hands it over: the path is decoded."""
    sent = create_serializer("rest-json").serialize_to_request(members, shapes().operation_model(operation))
    pairs = [(key, one) for key, value in sent["query_string"].items() for one in (value if isinstance(value, list) else [value])]
    query = "&".join(f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in pairs)
    return send(service, sent["method"], unquote(sent["url_path"]), sent["body"] or b"", query)


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("ListClusters", {"maxResults": 3, "include": ["all", "other"]}),
        ("DescribeCluster", {"name": "demo"}),
        ("UpdateClusterVersion", {"name": "demo", "version": "1.34", "force": True}),
        ("DeleteAddon", {"clusterName": "demo", "addonName": "coredns", "preserve": True}),
        ("UpdateAddon", {"clusterName": "demo", "addonName": "coredns", "resolveConflicts": "NONE"}),
        ("CreateAccessEntry", {"clusterName": "demo", "principalArn": ROLE, "kubernetesGroups": ["a"]}),
        ("DescribeAccessEntry", {"clusterName": "demo", "principalArn": ROLE}),
        ("ListAssociatedAccessPolicies", {"clusterName": "demo", "principalArn": ROLE}),
        (
            "AssociateAccessPolicy",
            {"clusterName": "demo", "principalArn": ROLE, "policyArn": POLICY, "accessScope": {"type": "cluster"}},
        ),
        ("DisassociateAccessPolicy", {"clusterName": "demo", "principalArn": ROLE, "policyArn": POLICY}),
        ("TagResource", {"resourceArn": "arn:aws:eks:us-west-2:1:cluster/demo", "tags": {"a": "1"}}),
        ("UntagResource", {"resourceArn": "arn:aws:eks:us-west-2:1:cluster/demo", "tagKeys": ["a", "b"]}),
        ("DescribeAddonVersions", {"addonName": "coredns"}),
    ],
)
def test_what_botocore_sends_is_read(operation: str, members: dict[str, Any]) -> None:
    service = Echo({})
    call(service, operation, **members)
    (found,) = service.calls
    assert found[0] == operation
    assert {key: value for key, value in found[1].items() if key != "clientRequestToken"} == members


def test_times_are_numbers() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    status, _, answer = call(Echo({"cluster": {"name": "demo", "createdAt": moment}}), "DescribeCluster", name="demo")
    assert (status, answer["cluster"]["createdAt"]) == (200, moment.timestamp())


def test_an_error_has_the_status_of_the_model() -> None:
    status, headers, answer = call(Echo(AwsError("ResourceInUseException", "taken")), "DescribeCluster", name="demo")
    assert (status, headers["x-amzn-ErrorType"], answer["message"]) == (409, "ResourceInUseException", "taken")


@pytest.mark.parametrize(
    ("method", "path", "body", "query", "code"),
    [
        ("PUT", "/clusters", b"", "", "UnknownOperationException"),
        ("GET", "/nothing", b"", "", "UnknownOperationException"),
        ("POST", "/clusters", b"{", "", "SerializationException"),
        ("POST", "/clusters", b"{}", "", "InvalidParameterException"),
        ("POST", "/clusters", b'{"name": 1, "roleArn": "a", "resourcesVpcConfig": {}}', "", "InvalidParameterException"),
        ("POST", "/clusters", b'{"name": "-", "roleArn": "a", "resourcesVpcConfig": {}}', "", "InvalidParameterException"),
        ("GET", "/clusters", b"", "maxResults=many", "InvalidParameterException"),
        ("GET", "/clusters", b"", "maxResults=101", "InvalidParameterException"),
    ],
)
def test_a_wrong_request_never_reaches_the_service(method: str, path: str, body: bytes, query: str, code: str) -> None:
    service = Echo({})
    status, headers, _ = send(service, method, path, body, query)
    assert (headers["x-amzn-ErrorType"], service.calls) == (code, [])
    assert 400 <= status < 500


def test_an_answer_that_the_model_does_not_allow_is_our_error() -> None:
    status, _, _ = call(Echo({"cluster": {"status": "HAPPY"}}), "DescribeCluster", name="demo")
    assert status == 500
