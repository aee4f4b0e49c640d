"""Templates inside of stack sets: whole, given their parameters, and allowed to make what they make."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.templates.model import Model

TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
NAME = {"Parameters": {"Name": {"Type": "String"}}}
GIVEN = [{"ParameterKey": "Name", "ParameterValue": "a"}]


def topic(**properties: Any) -> dict[str, Any]:
    return {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": properties}}}


def role(**properties: Any) -> dict[str, Any]:
    return {"Resources": {"Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": TRUST, **properties}}}}


def said(body: object, **more: Any) -> list[str]:
    text = body if isinstance(body, str) else json.dumps(body)
    given = {"StackSetName": "all", "PermissionModel": "SELF_MANAGED", "TemplateBody": text, **more}
    model = Model.of({"t": {"Resources": {"Set": {"Type": "AWS::CloudFormation::StackSet", "Properties": given}}}})
    return [one.slip.message for found in texts_with_mistakes(model).values() for one in found]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (topic(Name="a"), topic(TopicName="a")),
        (topic(TopicName={"Ref": "Nobody"}), topic(TopicName={"Ref": "AWS::StackName"})),
        (topic(TopicName={"Fn::Join": ["-"]}), topic(TopicName={"Fn::Join": ["-", ["a", "b"]]})),
        ({**topic(), "Output": {}}, {**topic(), "Outputs": {"It": {"Value": {"Fn::GetAtt": ["Topic", "TopicName"]}}}}),
        ("Resources: [", "Resources: {Topic: {Type: 'AWS::SNS::Topic', Properties: {TopicName: !Sub '${AWS::Region}-a'}}}"),
        ({"Resource": {}}, topic()),
    ],
)
def test_the_template_is_judged(wrong: object, right: object) -> None:
    assert len(said(wrong)) == 1
    assert said(right) == []


def test_parameters_of_the_template_are_given() -> None:
    body = {**topic(TopicName={"Ref": "Name"}), **NAME}
    assert said(body) == ["Name of its template has no value"]
    assert said(body, Parameters=GIVEN) == []
    targets = {"Regions": ["us-west-2"], "DeploymentTargets": {"Accounts": ["123456789012"]}, "ParameterOverrides": GIVEN}
    assert said(body, StackInstancesGroup=[targets]) == []
    assert said(topic(), Parameters=GIVEN) == ["its template has no parameter Name"]


@pytest.mark.parametrize(
    ("body", "capability"),
    [
        (role(), "CAPABILITY_IAM"),
        (role(RoleName="a"), "CAPABILITY_NAMED_IAM"),
        ({**topic(), "Transform": "AWS::LanguageExtensions"}, "CAPABILITY_AUTO_EXPAND"),
    ],
)
def test_identities_and_macros_are_allowed(body: dict[str, Any], capability: str) -> None:
    assert [capability in one for one in said(body)] == [True]
    assert said(body, Capabilities=[capability]) == []


def test_an_unnamed_role_is_allowed_by_the_stronger_word() -> None:
    assert said(role(), Capabilities=["CAPABILITY_NAMED_IAM"]) == []
    assert len(said(role(RoleName="a"), Capabilities=["CAPABILITY_IAM"])) == 1
