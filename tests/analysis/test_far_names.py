"""ARNs and addresses of resources of the templates, with a region or an account that is not theirs."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.far_names import WHOLES
from hyperpod_constructs.templates.model import Model

OWN, FAR = "eu-west-2", "us-east-1"
RESOURCES: dict[str, Any] = {
    "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZone": f"{OWN}a"}},
    "Metrics": {"Type": "AWS::APS::Workspace"},
    "Boards": {"Type": "AWS::Grafana::Workspace"},
    "Home": {"Type": "AWS::EFS::FileSystem"},
    "Door": {"Type": "AWS::ApiGatewayV2::Api"},
    "Jobs": {"Type": "AWS::SQS::Queue"},
    "Results": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "results"}},
    "Alerts": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "alerts"}},
    "Bus": {"Type": "AWS::Events::EventBus", "Properties": {"Name": "jobs"}},
    "Key": {"Type": "AWS::KMS::Key"},
    "Everywhere": {"Type": "AWS::KMS::Key", "Properties": {"MultiRegion": True}},
    "Role": {"Type": "AWS::IAM::Role"},
}


def said(user: dict[str, Any], **others: Any) -> list[str]:
    model = Model.of({"t": {"Resources": {**RESOURCES, **others, "User": user}}})
    (resource,) = (one for one in model.resources(user["Type"]) if one.logical_id == "User")
    return [slip.message for slip in WHOLES[user["Type"]](resource)]


def function(text: str) -> dict[str, Any]:
    return {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {"AT": {"Fn::Sub": text}}}}}


def alerts(text: str) -> dict[str, Any]:
    definition = f"alertmanager_config: |\n  receivers:\n  - sns_configs:\n    - topic_arn: {text}\n"
    return {"Type": "AWS::APS::AlertManagerDefinition", "Properties": {"Definition": {"Fn::Sub": definition}}}


def rule(text: str) -> dict[str, Any]:
    return {"Type": "AWS::Events::Rule", "Properties": {"Targets": [{"Id": "a", "Arn": {"Fn::Sub": text}}]}}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("https://aps-workspaces.{}.amazonaws.com/workspaces/${{Metrics.WorkspaceId}}/api/v1/query", "Metrics"),
        ('{{"a": "https://aps-workspaces.{}.amazonaws.com/workspaces/${{Metrics.WorkspaceId}}"}}', "Metrics"),
        ("https://${{Boards}}.grafana-workspace.{}.amazonaws.com", "Boards"),
        ("${{Home}}.efs.{}.amazonaws.com:/", "Home"),
        ("https://${{Door}}.execute-api.{}.amazonaws.com/prod", "Door"),
        ("https://sqs.{}.amazonaws.com/${{AWS::AccountId}}/${{Jobs.QueueName}}", "Jobs"),
        ("arn:aws:sqs:{}:${{AWS::AccountId}}:${{Jobs.QueueName}}", "Jobs"),
        ("arn:aws:aps:{}:${{AWS::AccountId}}:workspace/${{Metrics.WorkspaceId}}", "Metrics"),
        ("arn:${{AWS::Partition}}:kms:{}:${{AWS::AccountId}}:key/${{Key}}", "Key"),
    ],
)
def test_ids_are_in_the_region_of_their_resource(text: str, named: str) -> None:
    assert said(function(text.format(FAR))) == [
        f"{'an ARN' if text.startswith('arn') else 'an address'} is of {FAR}, and {named} is in {OWN}"
    ]
    assert said(function(text.format(OWN))) == []
    assert said(function(text.format("${AWS::Region}"))) == []


@pytest.mark.parametrize(
    "text",
    [
        f"https://sqs.{FAR}.amazonaws.com/123456789012/${{Results.QueueName}}",  # a queue of the same name there
        f"arn:aws:sns:{FAR}:${{AWS::AccountId}}:alerts",
        f"arn:aws:kms:{FAR}:${{AWS::AccountId}}:key/${{Everywhere}}",
        f"https://sts.{FAR}.amazonaws.com/?role=${{Role}}&workspace=${{Metrics.WorkspaceId}}",
        f"https://aps-workspaces.{FAR}.amazonaws.com/workspaces/ws-12345678-1234-1234-1234-123456789012",
        f"https://aps-workspaces.{OWN}.amazonaws.com/workspaces/${{Metrics.WorkspaceId}} https://sqs.{FAR}.amazonaws.com/1/a",
    ],
)
def test_what_may_be_in_another_region(text: str) -> None:
    assert said(function(text)) == []


def test_a_region_that_nothing_tells() -> None:
    template = {"Resources": {"Jobs": {"Type": "AWS::SQS::Queue"}, "User": function(f"arn:aws:sqs:{FAR}:1:${{Jobs.QueueName}}")}}
    (user,) = Model.of({"t": template}).resources("AWS::Lambda::Function")
    assert not [*WHOLES[user.type](user)]


@pytest.mark.parametrize(
    ("user", "wrong"),
    [
        (alerts(f"arn:aws:sns:{FAR}:${{AWS::AccountId}}:alerts"), FAR),
        (alerts(f"arn:aws:sns:{OWN}:${{AWS::AccountId}}:alerts"), None),
        (alerts("arn:aws:sns:${AWS::Region}:${AWS::AccountId}:alerts"), None),
        (alerts("${Alerts}"), None),
        (alerts(f"arn:aws:sns:{FAR}:${{AWS::AccountId}}:pages"), None),
        (rule(f"arn:aws:sqs:{FAR}:${{AWS::AccountId}}:results"), FAR),
        (rule(f"arn:aws:sqs:{FAR}:999999999999:results"), None),
        (rule(f"arn:aws:events:{FAR}:${{AWS::AccountId}}:event-bus/jobs"), None),
    ],
)
def test_receivers_with_a_chosen_name(user: dict[str, Any], wrong: str | None) -> None:
    assert [wrong in one for one in said(user) if wrong] == [True] * (wrong is not None)
    assert bool(said(user)) == (wrong is not None)


@pytest.mark.parametrize(("account", "wrong"), [("123456789012", False), ("999999999999", True), ("${Given}", False)])
def test_the_account_of_a_topic_for_alerts(account: str, wrong: bool) -> None:
    own = {"Type": "AWS::EKS::AccessEntry", "Properties": {"PrincipalArn": "arn:aws:iam::123456789012:role/people"}}
    found = said(alerts(f"arn:aws:sns:{OWN}:{account}:alerts"), Own=own)
    assert bool(found) == wrong
    assert not said(rule(f"arn:aws:sqs:{OWN}:{account}:results"), Own=own)


def test_what_is_told_of_its_place_already() -> None:
    alarm = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmActions": [f"arn:aws:sns:{FAR}:123456789012:alerts"]}}
    assert said(alarm) == []
