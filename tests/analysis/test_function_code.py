"""Parameters of calls in the code of functions: what is known of them, and what is not believed."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from hyperpod_constructs.analysis.function_code import calls_of
from hyperpod_constructs.templates.values import UNKNOWN
from tests.templates.models import by_id, model_of

FOUND = [
    ("pages = boto3.client('sns').get_paginator('publish')\nfor one in pages.paginate(TopicArn='a'):\n  pass", {"topicarn": "a"}),
    ("boto3.client('sns').publish(TopicArn='a')", {"topicarn": "a"}),
    ("sns, sqs = boto3.client('sns'), boto3.client('sqs')\nsns.publish(TopicArn='a')", {"topicarn": "a"}),
    ("self.sns = boto3.client('sns')\nself.sns.publish(TopicArn='a')", {"topicarn": "a"}),
    ("arn: str = 'a'\nboto3.client('sns').publish(TopicArn=arn)", {"topicarn": "a"}),
    ("if (arn := 'a'):\n  boto3.client('sns').publish(TopicArn=arn)", {"topicarn": "a"}),
    ("boto3.client('sns').publish(TopicArn=os.environ['TOPIC'])", {"topicarn": "of the environment"}),
    ("boto3.client('sns').publish(TopicArn=[{'a': 'b', 'c': 1}])", {"topicarn": ({"a": "b", "c": UNKNOWN},)}),
    ("boto3.client('sns').publish(TopicArn={**given, 'a': 'b'})", {"topicarn": UNKNOWN}),
    ("arn = 'a'\narn = 'b'\nboto3.client('sns').publish(TopicArn=arn)", {"topicarn": "b"}),
    ("arn = 'a'\nfor arn in arns:\n  boto3.client('sns').publish(TopicArn=arn)", {"topicarn": UNKNOWN}),
    ("arn = 'a'\ndef send(arn):\n  boto3.client('sns').publish(TopicArn=arn)", {"topicarn": UNKNOWN}),
    ("data = []\ndata.append('a')\nboto3.client('sns').publish(TopicArn=data)", {"topicarn": ("a",)}),
    ("data = {}\ndata['a'] = 'b'\nboto3.client('sns').publish(TopicArn=data)", {"topicarn": {"a": "b"}}),
    ("boto3.client('sns').publish(TopicArn='a' + f'b{os.environ[\"TOPIC\"]}')", {"topicarn": "abof the environment"}),
    ("boto3.client('sns').publish(TopicArn=f'a{other}')", {"topicarn": UNKNOWN}),
    ("boto3.client('sns').publish(TopicArn={'a': 'b'}['a'])", {"topicarn": "b"}),
    (
        "def handler(event, context):\n  boto3.client('sns').publish(TopicArn=event['ResourceProperties']['Topic'])",
        {"topicarn": UNKNOWN},
    ),
    ("arn = 'a'\narn += 'b'\nboto3.client('sns').publish(TopicArn=arn)", {"topicarn": "ab"}),
]


def parameters(code: str) -> list[Any]:
    variables = "Environment: {Variables: {TOPIC: of the environment}}"
    given = f"Runtime: python3.13, Handler: index.handler, {variables}, Code: {{ZipFile: {json.dumps(code)}}}"
    function = f"Code: {{Type: AWS::Lambda::Function, Properties: {{{given}}}}}"
    return [dict(one.parameters) for one in calls_of(by_id(model_of(f"{{Resources: {{{function}}}}}"), "Code"))]


@pytest.mark.parametrize(("code", "expected"), FOUND)
def test_a_parameter_is_known_where_nothing_else_gives_it_a_value(code: str, expected: dict[str, Any]) -> None:
    assert parameters(f"import boto3, os\n{code}\n") == [expected]


@pytest.mark.parametrize(
    "code",
    [
        "boto3.client('sns').publish(TopicArn=" + "[" * 90 + "]" * 90 + ")",
        "".join(f"a{n} = [a{n + 1}, a{n + 1}]\n" for n in range(60)) + "boto3.client('sns').publish(TopicArn=a0)",
        "a = b\nb = a\nboto3.client('sns').publish(TopicArn=a)",
    ],
)
def test_data_without_an_end_are_not_followed(code: str) -> None:
    (found,) = parameters(f"import boto3\n{code}\n")
    assert len(repr(found)) < 10_000


@pytest.mark.parametrize("depth", [100, 1_000, 20_000])
@pytest.mark.parametrize("limit", [1_000, 10_000])
def test_code_that_is_very_deep_has_no_calls_whatever_python_would_follow(depth: int, limit: int) -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        assert parameters(f"import boto3\nx{'.y' * depth} = boto3.client('sns').publish(TopicArn='a')\n") == []
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("more", "expected"),
    [("", ["a"]), (", Other: {Type: Custom::Other, Properties: {ServiceToken: !GetAtt Code.Arn, Topic: b}}", ["a", "b"])],
)
def test_a_function_knows_the_properties_of_each_custom_resource(more: str, expected: list[str]) -> None:
    taken = "given = event['ResourceProperties']\n  boto3.client('sns').publish(TopicArn=given.get('Topic'))"
    code = f"import boto3\ndef handler(event, _):\n  {taken}\n"
    function = f"Code: {{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Code: {{ZipFile: {json.dumps(code)}}}}}}}"
    custom = "Own: {Type: Custom::Own, Properties: {ServiceToken: !GetAtt Code.Arn, Topic: a}}"
    model = model_of(f"{{Resources: {{{function}, {custom}{more}}}}}")
    assert [one.parameters["topicarn"] for one in calls_of(by_id(model, "Code"))] == expected


PUT = "s3.put_object(Key={})"


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        (["for name, _ in given['Files'].items():", f" {PUT.format('name')}"], ["a.sh", "b.sh"]),
        (["for name in given['Files']:", f" {PUT.format('name')}"], ["a.sh", "b.sh"]),
        (["for text in given['Files'].values():", f" {PUT.format('text')}"], ["1", "2"]),
        (["for name in ['x', 'y']:", " key = f'{name}.sh'", f" {PUT.format('key')}"], ["x.sh", "y.sh"]),
        (["for name in context.names:", f" {PUT.format('name')}"], [UNKNOWN]),
        (["for name in given['Files']:", " name = context.name", f" {PUT.format('name')}"], [UNKNOWN]),
        (["for name in given['Files']:", " pass", PUT.format("name")], ["b.sh"]),
        (["for a in ['x', 'y']:", " for b in given['Files']:", f"  {PUT.format('a + b')}"], ["xa.sh", "xb.sh", "ya.sh", "yb.sh"]),
    ],
)
def test_loops_over_known_values_are_followed(lines: list[str], keys: list[Any]) -> None:
    body = "\n ".join(["given = event['ResourceProperties']", *lines])
    code = f"import boto3\ns3 = boto3.client('s3')\ndef handler(event, context):\n {body}\n"
    function = f"Code: {{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Code: {{ZipFile: {json.dumps(code)}}}}}}}"
    files = "Files: {a.sh: '1', b.sh: '2'}"
    custom = f"Own: {{Type: Custom::Own, Properties: {{ServiceToken: !GetAtt Code.Arn, {files}}}}}"
    model = model_of(f"{{Resources: {{{function}, {custom}}}}}")
    assert [one.parameters["key"] for one in calls_of(by_id(model, "Code"))] == keys
