"""Functions in Node, whose client of Lambda is a stand-in of ministack's."""

from __future__ import annotations

import io
import json
import zipfile

from hyperpod_constructs.local.server import LocalAws

TRUST = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
CODE = """
const { Lambda } = require("@aws-sdk/client-lambda");
exports.handler = async (event) => {
  const answer = await new Lambda({}).invoke({ FunctionName: event.name, Payload: '"hello"' });
  return answer.Payload.toString();
};
"""
ECHO = "exports.handler = async (event) => event;"


def make(aws: LocalAws, name: str, code: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.js", code)
    policy = json.dumps({"Version": "2012-10-17", "Statement": [TRUST]})
    role = aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=policy)["Role"]["Arn"]
    content = {"ZipFile": packed.getvalue()}
    aws.client("lambda").create_function(FunctionName=name, Runtime="nodejs22.x", Handler="index.handler", Role=role, Code=content)


def test_a_refused_invocation_is_an_error(fresh: LocalAws) -> None:
    functions = fresh.client("lambda")
    make(fresh, "echo", ECHO)
    make(fresh, "caller", CODE)
    answer = functions.invoke(FunctionName="caller", Payload=json.dumps({"name": "echo"}))
    assert json.loads(answer["Payload"].read()) == '"hello"'
    refused = functions.invoke(FunctionName="caller", Payload=json.dumps({"name": "missing"}))
    assert refused["FunctionError"] == "Unhandled"
    assert "Function not found" in json.loads(refused["Payload"].read())["errorMessage"]
