"""Workspaces of Prometheus and Grafana: what they render, what may reach them, and what stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from hyperpod_constructs import ManagedGrafana, ManagedPrometheus, SamlLogin, node_dashboards
from hyperpod_constructs.observability.prometheus import NODE_RULES
from tests.conftest import only, resources, synthesize

WORKSPACE, RULES, GRAFANA = "AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::Grafana::Workspace"


def properties(stack: Stack, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, kind)["Properties"]
    return found


def test_a_workspace_is_logged_kept_and_has_the_rules_for_nodes(stack: Stack) -> None:
    prometheus = ManagedPrometheus(stack, "Prometheus")
    synthesize(stack)
    assert prometheus.node.default_child is prometheus.resource
    workspace = only(stack, WORKSPACE)
    assert (workspace["DeletionPolicy"], workspace["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert set(workspace["Properties"]) == {"LoggingConfiguration"}
    assert properties(stack, RULES)["Data"] == NODE_RULES.read_text("utf-8")
    assert properties(stack, RULES)["Name"] == "NodeRules"


def test_a_key_encrypts_metrics_and_log(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    ManagedPrometheus(stack, "Prometheus", encryption_key=key, retention_days=365, alias="training")
    workspace = properties(stack, WORKSPACE)
    assert workspace["KmsKeyArn"] == properties(stack, "AWS::Logs::LogGroup")["KmsKeyId"]
    assert workspace["WorkspaceConfiguration"] == {"RetentionPeriodInDays": 365}
    assert workspace["Alias"] == "training"


def test_alerts_go_to_a_topic_that_lets_prometheus_publish(stack: Stack) -> None:
    topic = sns.Topic(stack, "Topic")
    ManagedPrometheus(stack, "Prometheus", alerts_topic=topic)
    definition = stack.resolve(properties(stack, WORKSPACE)["AlertManagerDefinition"])
    text = "".join(part if isinstance(part, str) else "PLACE" for part in definition["Fn::Join"][1])
    manager = json.loads(json.loads(text)["alertmanager_config"])
    assert manager["route"] == {"receiver": "topic", "group_by": ["alertname", "instance_group"]}
    sent = {"topic_arn": "PLACE", "sigv4": {"region": "PLACE"}, "send_resolved": True}
    assert manager["receivers"] == [{"name": "topic", "sns_configs": [sent]}]
    (statement,) = properties(stack, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    assert statement["Action"] == ["sns:GetTopicAttributes", "sns:Publish"]
    assert statement["Principal"] == {"Service": "aps.amazonaws.com"}
    assert set(statement["Condition"]) == {"StringEquals", "ArnLike"}


def test_rules_of_a_user_stand_beside_ours(stack: Stack, tmp_path: Path) -> None:
    (file := tmp_path / "mine.yaml").write_text("groups:\n  - name: mine\n    rules: []\n")
    ManagedPrometheus(stack, "Prometheus").add_rules("Mine", path=file)
    assert {found["Properties"]["Name"] for found in resources(stack, RULES).values()} == {"NodeRules", "Mine"}


@pytest.mark.parametrize(("text", "message"), [(None, "is not there"), ("rules: []\n", "has no groups")])
def test_fails_for_a_file_without_rules(stack: Stack, tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ValueError, match=f"Prometheus: .*mine.yaml {message}; write"):
        ManagedPrometheus(stack, "Prometheus").add_rules("Mine", path=file)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alias": "a" * 101}, "alias is .*; allowed: 1 to 100 characters"),
        ({"retention_days": 0}, "retention_days is 0; allowed: 1 to 1095"),
    ],
)
def test_fails_beyond_the_limits_of_a_workspace(stack: Stack, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ManagedPrometheus(stack, "Prometheus", **given)


def test_tokens_are_taken(stack: Stack) -> None:
    days: Any = CfnParameter(stack, "Days", type="Number").value_as_number
    alias = CfnParameter(stack, "Alias").value_as_string
    ManagedPrometheus(stack, "Prometheus", alias=alias, retention_days=days, removal_policy=RemovalPolicy.DESTROY)
    workspace = only(stack, WORKSPACE)
    assert workspace["Properties"]["Alias"] == {"Ref": "Alias"}
    assert workspace["DeletionPolicy"] == "Delete"


def test_grafana_reads_one_workspace_and_cloudwatch(stack: Stack) -> None:
    prometheus = ManagedPrometheus(stack, "Prometheus")
    grafana = ManagedGrafana(stack, "Grafana", prometheus=prometheus)
    synthesize(stack)
    workspace = only(stack, GRAFANA)
    assert workspace["DeletionPolicy"] == "RetainExceptOnCreate"
    assert workspace["Properties"] == {
        "AccountAccessType": "CURRENT_ACCOUNT",
        "AuthenticationProviders": ["AWS_SSO"],
        "DataSources": ["PROMETHEUS", "CLOUDWATCH"],
        "Name": "Default-Grafana" if stack.node.id == "Default" else f"{stack.node.id}-Grafana",
        "PermissionType": "SERVICE_MANAGED",
        "RoleArn": stack.resolve(grafana.role.role_arn),
    }
    role = properties(stack, "AWS::IAM::Role")
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "grafana.amazonaws.com"}
    first, second = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert first["Resource"] == stack.resolve(prometheus.workspace_arn)
    assert all(action.startswith("cloudwatch:") for action in second["Action"])
    assert grafana.workspace.name == workspace["Properties"]["Name"]


def test_people_may_log_in_by_saml(stack: Stack) -> None:
    saml = SamlLogin(metadata_url="https://idp.example.com/metadata", admin_roles=["admin"], editor_roles=["lead"])
    ManagedGrafana(stack, "Grafana", prometheus=ManagedPrometheus(stack, "Prometheus"), saml=saml, cloudwatch=False)
    workspace = properties(stack, GRAFANA)
    assert workspace["AuthenticationProviders"] == ["SAML"]
    assert workspace["DataSources"] == ["PROMETHEUS"]
    assert workspace["SamlConfiguration"] == {
        "AssertionAttributes": {"Role": "role"},
        "IdpMetadata": {"Url": "https://idp.example.com/metadata"},
        "RoleValues": {"Admin": ["admin"], "Editor": ["lead"]},
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"metadata_url": "http://idp", "admin_roles": ["admin"]},
            "metadata_url is 'http://idp'; allowed: an address with https",
        ),
        ({"metadata_url": "https://idp", "admin_roles": []}, "SamlLogin: admin_roles is empty"),
    ],
)
def test_fails_for_a_login_that_nobody_can_use(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SamlLogin(**given)


def test_dashboards_are_files_that_ask_for_their_prometheus() -> None:
    boards = {name: json.loads(path.read_text("utf-8")) for name, path in node_dashboards().items()}
    assert set(boards) == {"accelerators", "efa", "nodes"}
    asked = {"name": "prometheus", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    for board in boards.values():
        assert {panel["datasource"]["uid"] for panel in board["panels"]} == {"${prometheus}"}
        assert board["templating"]["list"][0] == asked
    assert len({board["uid"] for board in boards.values()}) == len(boards)
