"""An embedded AWS as the victim: a bucket, and a function that leaves a mark in it when it runs."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws

BUCKET, MARK, FUNCTION = "precious", "the-function-ran", "mark"
CODE = f"""
import boto3

def handler(event, context):
    boto3.client("s3").put_object(Bucket={BUCKET!r}, Key={MARK!r}, Body=b"")
    return boto3.client("sts").get_caller_identity()["Arn"]
"""
PRINCIPALS = {"Service": "lambda.amazonaws.com", "AWS": "arn:aws:iam::123456789012:root"}
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": PRINCIPALS, "Action": "sts:AssumeRole"}],
}


@dataclass(frozen=True, slots=True)
class Target:
    """The attacked embedded AWS and its files."""

    aws: LocalAws
    directory: Path

    def things(self) -> dict[str, Any]:
        """The state of the embedded AWS; any successful attack changes it."""
        s3 = self.aws.client("s3")
        return {
            "buckets": [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]],
            "objects": [item["Key"] for item in s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())],
            "functions": [found["FunctionName"] for found in self.aws.client("lambda").list_functions()["Functions"]],
            "roles": [role["RoleName"] for role in self.aws.client("iam").list_roles()["Roles"]],
            "stacks": self.aws.client("cloudformation").list_stacks()["StackSummaries"],
            "pid": self.aws.pid if server.running(self.directory) == self.aws else None,
        }

    def invoke(self) -> str:
        """Run the function and return its identity."""
        answer = self.aws.client("lambda").invoke(FunctionName=FUNCTION)
        return str(json.loads(answer["Payload"].read()))


def furnish(aws: LocalAws) -> None:
    """Make the bucket, the role and the function."""
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": aws.region})
    role = aws.client("iam").create_role(RoleName="marker", AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
    allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
    aws.client("iam").put_role_policy(RoleName="marker", PolicyName="mark", PolicyDocument=json.dumps(allowed))
    code = {"ZipFile": zipped(CODE)}
    aws.client("lambda").create_function(
        FunctionName=FUNCTION, Runtime="python3.12", Handler="index.handler", Role=role, Code=code, Timeout=60
    )


def zipped(code: str) -> bytes:
    """A function's code as Lambda takes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", code)
    return buffer.getvalue()


@contextmanager
def running_target(directory: Path) -> Iterator[Target]:
    """The embedded AWS, furnished."""
    aws = server.start(directory)
    try:
        furnish(aws)
        yield Target(aws, directory)
    finally:
        server.stop(directory)


def require(condition: bool, what: str) -> None:
    """Skip if this machine lacks a requirement of the attack; on a CI machine, nothing may be missing."""
    if not condition and os.environ.get("CI") == "true":
        pytest.fail(f"CI needs {what}")
    if not condition:
        pytest.skip(f"needs {what}")
