"""Code that waits, against the time of its function and the patience of a custom resource."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.waits import WHOLES
from tests.templates.models import by_id, model_of

CODE = """
Resources:
  F:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: {runtime}
      {settings}
      Environment: {{Variables: {{PROJECT: !Ref Build}}}}
      Code:
        ZipFile: |
          {body}
  Build:
    Type: AWS::CodeBuild::Project
    Properties: {{TimeoutInMinutes: 5}}
  Made:
    Type: Custom::Made
    Properties: {{ServiceToken: !GetAtt F.Arn, ServiceTimeout: 300, Project: !Ref Build}}
"""
POLL = "while True:\n    time.sleep(5)"
BUILD = f"import boto3, os\nboto3.client('codebuild').start_build(projectName=os.environ['PROJECT'])\n{POLL}"
UNTIL = BUILD.replace("True", "context.get_remaining_time_in_millis() > 30000")
AGAIN = f"{UNTIL}\nboto3.client('lambda').invoke(FunctionName='f')"
HANDED = BUILD.replace("os.environ['PROJECT']", "event['ResourceProperties']['Project']")
CONNECT = "try:\n    socket.create_connection(('a', 1), timeout=10)\nexcept {}:\n    lost = 1"
WAITER = "boto3.client('eks').get_waiter('cluster_active').wait(name='a', WaiterConfig={'Delay': 30, 'MaxAttempts': 11})"


def said(body: str, settings: str, runtime: str = "python3.13") -> list[str]:
    text = CODE.format(body=body.replace("\n", "\n          "), settings=settings, runtime=runtime)
    function = by_id(model_of(text), "F")
    return [slip.message for slip in WHOLES[function.type](function)]


@pytest.mark.parametrize(
    ("body", "settings", "message"),
    [
        ("time.sleep(5)", "MemorySize: 128", "sleeps 5 seconds, and the function runs for 3"),
        ("PAUSE = 60\ndef f():\n    time.sleep(PAUSE)", "Timeout: 60", "sleeps 60 seconds"),
        ("for _ in range(30):\n    print()\n    time.sleep(10)", "Timeout: 120", "waits 30 times 10 seconds: 300 seconds"),
        (CONNECT.format("OSError"), "Timeout: 10", "waits for an answer 10 seconds"),
        (CONNECT.format("(ValueError, socket.timeout)"), "Timeout: 5", "waits for an answer 10 seconds"),
        (WAITER, "Timeout: 60", "waits up to 300 seconds, and the function runs for 60"),
        (BUILD, "Timeout: 60", "waits for a build of up to 300 seconds, and runs for 60"),
        (UNTIL, "Timeout: 60", "waits for a build of up to 300 seconds, and runs for 60"),
        (HANDED, "Timeout: 60", "waits for a build of up to 300 seconds, and runs for 60"),
        (POLL, "Timeout: 600", "waits for up to 600 seconds, and CloudFormation for 300 of them at Made"),
        ("time.sleep(5)", "Timeout: 6", None),
        ("for _ in range(30):\n    print()\n    time.sleep(10)", "Timeout: 300", None),
        ("for _ in range(30):\n    if failed:\n        time.sleep(10)", "Timeout: 60", None),
        ("while context.get_remaining_time_in_millis() > 9:\n    time.sleep(5)", "Timeout: 4", None),
        (CONNECT.format("KeyError"), "Timeout: 5", None),
        (WAITER, "Timeout: 300", None),
        (BUILD, "Timeout: 300", None),
        (UNTIL, "Timeout: 330", None),
        (AGAIN, "Timeout: 60", None),
        (HANDED, "Timeout: 300", None),
        (BUILD, "Timeout: !Ref Given", None),
        ("print()", "Timeout: 600", None),
    ],
)
def test_waits_of_python(body: str, settings: str, message: str | None) -> None:
    found = said(body, settings)
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(("timeout", "count"), [(5, 1), (10, 1), (11, 0)])
def test_waits_of_javascript(timeout: int, count: int) -> None:
    code = "await new Promise((done) => setTimeout(done, 10000));"
    assert len(said(code, f"Timeout: {timeout}", "nodejs22.x")) == count


ANSWERING = """
Resources:
  F:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Environment: {Variables: {PROJECT: !Ref Build}}
      Code:
        ZipFile: |
          import boto3, os
          def handler(event, context):
              given = [{"name": "URL", "value": event["ResponseURL"]}]
              boto3.client("codebuild").start_build(projectName=os.environ["PROJECT"], environmentVariablesOverride=given)
  Build:
    Type: AWS::CodeBuild::Project
    Properties: {TimeoutInMinutes: 30}
  Made:
    Type: Custom::Made
    Properties: {ServiceToken: !GetAtt F.Arn, ServiceTimeout: 1800}
"""


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        ("", "", 0),
        ("ServiceTimeout: 1800", "ServiceTimeout: 60", 1),
        ("TimeoutInMinutes: 30", "TimeoutInMinutes: 45", 1),
        (", ServiceTimeout: 1800", "", 0),
        (", ServiceTimeout: 1800", ", ServiceTimeout: !Ref Given", 0),
        ("TimeoutInMinutes: 30", "Name: build", 0),
        ('event["ResponseURL"]', '"none"', 0),
    ],
)
def test_builds_that_answer_have_the_time_that_cloudformation_waits(before: str, after: str, count: int) -> None:
    text = ANSWERING.replace(before, after) if before else ANSWERING
    build = by_id(model_of(text), "Build")
    assert len(list(WHOLES[build.type](build))) == count


def test_a_build_that_answers_for_more_than_an_hour() -> None:
    text = ANSWERING.replace(", ServiceTimeout: 1800", "").replace("TimeoutInMinutes: 30", "TimeoutInMinutes: 90")
    build = by_id(model_of(text), "Build")
    (slip,) = WHOLES[build.type](build)
    assert "may take 5,400 seconds, and CloudFormation waits for 3,600 of them at Made" in slip.message
