"""Rules that start a build for a new object: it is the source of the build."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import KEPT, att, resource

ROLE = "arn:aws:iam::123456789012:role/service"
SOURCE = {"Type": "S3", "Location": {"Fn::Sub": "${Sources}/trainer.zip"}}
START = {
    "Type": "Task",
    "Resource": "arn:aws:states:::codebuild:startBuild.sync",
    "Parameters": {"ProjectName": {"Ref": "Build"}},
    "End": True,
}
PATTERN = {
    "source": ["aws.s3"],
    "detail-type": ["Object Created"],
    "detail": {"bucket": {"name": [{"Ref": "Sources"}]}, "object": {"key": ["trainer.zip"]}},
}
SENT = {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
BASE: dict[str, Any] = {
    "Resources": {
        "Sources": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"NotificationConfiguration": SENT}},
        "Others": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"NotificationConfiguration": SENT}},
        "Build": resource("AWS::CodeBuild::Project", ServiceRole=ROLE, Source=SOURCE),
        "Machine": resource(
            "AWS::StepFunctions::StateMachine", RoleArn=ROLE, Definition={"StartAt": "Start", "States": {"Start": START}}
        ),
        "Rule": resource(
            "AWS::Events::Rule",
            EventPattern=PATTERN,
            Targets=[{"Id": "machine", "Arn": {"Ref": "Machine"}, "RoleArn": ROLE}],
        ),
    }
}
KEY, BUCKET = (f"Rule/EventPattern/detail/{one}" for one in ("object/key", "bucket/name"))


def said(changes: dict[str, Any]) -> list[str]:
    return [one.message for one in findings(edited(BASE, changes), rules="HP-TXT-011") if "awaits" in one.message]


@pytest.mark.parametrize("target", [{}, {"Rule/Targets/0/Arn": att("Build")}])
@pytest.mark.parametrize("changes", [{KEY: ["new/trainer-source.zip"]}, {"Build/Source/Location": {"Fn::Sub": "${Sources}/a.zip"}}])
def test_fails_rule_for_another_object(target: dict[str, Any], changes: dict[str, Any]) -> None:
    (found,) = said({**target, **changes})
    assert "in Sources, and Build takes " in found


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {KEY: ["other.zip", "trainer.zip"]},
        {KEY: ["trainer.done"]},
        {KEY: [{"prefix": "new/"}]},
        {KEY: ["other.zip", {"prefix": "trainer"}]},
        {KEY: ["other.zip"], BUCKET: [{"Ref": "Others"}]},
        {KEY: ["other.zip"], "Build/Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"}},
        {KEY: ["other.zip"], "Build/Source/Location": {"Fn::Sub": "${Sources}/${AWS::StackName}.zip"}},
    ],
)
def test_a_rule_for_the_source_or_for_a_sign_of_it(changes: dict[str, Any]) -> None:
    assert said(changes) == []
