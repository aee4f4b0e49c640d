"""Scripts of nodes in the properties of a custom resource whose code alone says where it puts them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.entry_points import lacking
from hyperpod_constructs.analysis.needs import refused
from hyperpod_constructs.analysis.object_writes import writes
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.node_scripts import WHOLES
from hyperpod_constructs.analysis.uploads import uploads_of
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import shown

CODE = """
import os
import boto3
import cfnresponse

s3 = boto3.client("s3")
bucket = os.environ["BUCKET"]

def handler(event, context):
    properties = event["ResourceProperties"]
    prefix = properties["Prefix"]
    for name, text in properties["Files"].items():
        key = f"{prefix}/{name}"
        s3.put_object(Bucket=bucket, Key=key, Body=text.encode())
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Uri": f"s3://{bucket}/{prefix}"}, prefix)
"""
SCRIPT = """#!/bin/bash
set -euo pipefail
aws s3 cp s3://${Tools}/agent.tar.gz /opt/
URL=$(aws ssm get-parameter --name /nodes/metrics/remote-write --query Parameter.Value --output text)
echo "$URL" > /opt/url
"""
READ = [
    {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Sub": "${Tools.Arn}/*"}},
    {"Effect": "Allow", "Action": "ssm:GetParameter", "Resource": "*"},
]
URI: dict[str, Any] = {"Fn::GetAtt": ["Scripts", "Uri"]}
ARN = {"Fn::GetAtt": ["Role", "Arn"]}


def model(script: str = SCRIPT, uri: Any = URI, name: str = "start.sh", code: str = CODE) -> Model:
    group = {
        "InstanceGroupName": "a",
        "ExecutionRole": ARN,
        "LifeCycleConfig": {"SourceS3Uri": uri, "OnCreate": name},
    }
    policy = {"PolicyName": "read", "PolicyDocument": {"Statement": READ}}
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Environment": {"Variables": {"BUCKET": {"Ref": "Bucket"}}},
        "Code": {"ZipFile": code},
    }
    files = {"start.sh": {"Fn::Sub": script}, "later.sh": "#!/bin/bash\ntrue\n"}
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Tools": {"Type": "AWS::S3::Bucket"},
        "Url": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Name": "/nodes/metrics/remote-write", "Value": "a", "Type": "String"},
        },
        "Uploader": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Scripts": {
            "Type": "Custom::Scripts",
            "Properties": {"ServiceToken": {"Fn::GetAtt": ["Uploader", "Arn"]}, "Prefix": "head", "Files": files},
        },
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}, "Policies": [policy]}},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}},
    }
    return Model.of({"t": json.loads(json.dumps({"Resources": resources}))})


def test_the_code_says_what_is_uploaded_and_where() -> None:
    found = model()
    (cluster,) = clusters(found)
    given = cluster.groups[0].get("LifeCycleConfig", "SourceS3Uri")
    assert [one.resource.logical_id for one in uploads_of(found, given)] == ["Scripts"]
    uri = answered(given)
    assert str(shown(uri)) == "s3://${Bucket}/head"
    assert [one.key for one in writes(found)] == ["head/start.sh", "head/later.sh"]
    assert {one.path[-1]: one.entry for one in scripts_for(cluster.groups[0])} == {"start.sh": True, "later.sh": False}


@pytest.mark.parametrize(
    ("uri", "name", "message"),
    [
        (URI, "start.sh", None),
        ({"Fn::Sub": "s3://${Bucket}/head"}, "start.sh", None),
        (URI, "start-sh", "is 'start-sh', which Scripts does not upload"),
        ({"Fn::Sub": "s3://${Bucket}/tail"}, "start.sh", "starts with tail/start.sh, and Scripts writes head/start.sh"),
        ({"Fn::Sub": "s3://${Tools}/head"}, "start.sh", "in Tools, and Scripts writes it into ${Bucket}"),
        ({"Fn::Sub": "s3://${Tools}/mine"}, "start.sh", None),
        ("s3://of-others/head", "start.sh", None),
    ],
)
def test_nodes_look_where_the_code_puts_their_scripts(uri: Any, name: str, message: str | None) -> None:
    (cluster,) = clusters(model(uri=uri, name=name))
    found = [one.message for group in cluster.groups for one in lacking(group)]
    assert [message in one for one in found] == [True] if message else found == []


BY_RESOURCE = 'boto3.resource("s3").Bucket(bucket).copy({}, "start-sh")\n    for _ in ():\n        pass'
COPYING = 'for one in s3.list_objects_v2(Bucket="releases")["Contents"]:\n        s3.{}\n    for name,'


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('head_object(Bucket=bucket, Key=one["Key"])', ["start-sh"]),
        ('copy_object(Bucket=bucket, Key=one["Key"], CopySource=f"releases/{one}")', []),
        ('copy({"Bucket": "releases", "Key": one["Key"]}, bucket, one["Key"])', []),
        ('upload_fileobj(open("/tmp/a"), bucket, one["Key"])', []),
        (
            f'head_object(Bucket=bucket, Key="a")\\n    {BY_RESOURCE}',
            [],
        ),
        ('head_object(Bucket=bucket, Key="a")\n    s3.put_object(Bucket=bucket, Key=f"{prefix}/start-sh", Body="a")', []),
    ],
)
def test_code_that_copies_objects_may_bring_any_file(call: str, found: list[str]) -> None:
    (cluster,) = clusters(model(name="start-sh", code=CODE.replace("for name,", COPYING.format(call))))
    lines = [one.message for group in cluster.groups for one in lacking(group)]
    assert [name in line for line, name in zip(lines, found, strict=True)] == [True] * len(found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("$URL", "$ADDRESS", "takes the variable ADDRESS, which it does not set"),
        ("metrics/remote-write", "metrics/url", "with name as /nodes/metrics/url; no AWS::SSM::Parameter is called so"),
        ("metrics/remote-write", "metrics/remote-wirte", "no AWS::SSM::Parameter is called so, but /nodes/metrics/remote-write"),
        ("metrics/remote-write", "metrics/token --with-decryption", None),
        ("/nodes/metrics/remote-write", "/team/token", None),
    ],
)
def test_what_the_scripts_name(old: str, new: str, message: str | None) -> None:
    (cluster,) = clusters(model(SCRIPT.replace(old, new) if old else SCRIPT))
    found = [slip.message for slip in WHOLES[cluster.resource.type](cluster.resource)]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(("old", "new", "actions"), [("", "", []), ("${Tools}", "${Bucket}", ["s3:GetObject"])])
def test_the_scripts_call_as_the_role_of_the_nodes(old: str, new: str, actions: list[str]) -> None:
    found = [one for one in refused(model(SCRIPT.replace(old, new) if old else SCRIPT)) if "its script" in one.need.task.words]
    assert [one.refusal.call.action for one in found] == actions
