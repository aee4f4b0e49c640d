"""Workspaces of Prometheus and Grafana in the embedded AWS: this library's own deploy, and what the services refuse is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, RemovalPolicy
from aws_cdk import Stack as CdkStack
from aws_cdk import aws_sns as sns

from hyperpod_constructs import ManagedGrafana, ManagedPrometheus, SamlLogin
from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import delete, deploy

WORKSPACE, RULES, GRAFANA = "AWS::APS::Workspace", "AWS::APS::RuleGroupsNamespace", "AWS::Grafana::Workspace"


@pytest.fixture(scope="module")
def wanted() -> dict[str, Any]:
    """Resources by the constructs, with everything set that they take."""
    app = App()
    stack = CdkStack(app, "Metrics")
    topic = sns.Topic(stack, "Topic")
    prometheus = ManagedPrometheus(
        stack, "Prometheus", alias="training", alerts_topic=topic, retention_days=90, removal_policy=RemovalPolicy.DESTROY
    )
    saml = SamlLogin(metadata_url="https://idp.example.com/metadata", admin_roles=["admin"])
    ManagedGrafana(stack, "Grafana", prometheus=prometheus, saml=saml, removal_policy=RemovalPolicy.DESTROY)
    resources: dict[str, Any] = app.synth().get_stack_by_name("Metrics").template["Resources"]
    return {name: found for name, found in resources.items() if found["Type"] != "AWS::CDK::Metadata"}


def changed(resources: dict[str, Any], kind: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """A copy in which the one resource of a type has other properties."""
    copied: dict[str, Any] = json.loads(json.dumps(resources))
    (found,) = [one for one in copied.values() if one["Type"] == kind]
    change(found["Properties"])
    return copied


def test_the_constructs_deploy_change_and_go(fresh: LocalAws, wanted: dict[str, Any]) -> None:
    made = deploy(fresh, wanted)
    assert made.status == "CREATE_COMPLETE", made.reasons
    arns = [place for place in made.resources.values() if ":aps:" in place]
    assert sorted(arn.split(":")[5].partition("/")[0] for arn in arns) == ["rulegroupsnamespace", "workspace"]
    later = changed(wanted, WORKSPACE, lambda properties: properties.update(Alias="other"))
    later = changed(later, RULES, lambda properties: properties.update(Data="groups: [{name: a, rules: [{record: b, expr: c}]}]"))
    later = changed(later, GRAFANA, lambda properties: properties.update(DataSources=["PROMETHEUS"]))
    updated = deploy(fresh, later)
    assert updated.status == "UPDATE_COMPLETE", updated.reasons
    assert updated.resources == made.resources
    assert delete(fresh).status == "DELETE_COMPLETE"


REFUSED = [
    (RULES, {"Data": "groups: [{name: a, rules: [{alert: b}]}]"}, "neither an alert nor a record with an expr"),
    (RULES, {"Data": "rules: []"}, "Data has no list groups"),
    (RULES, {"Data": "groups: ["}, "Data is no YAML"),
    (WORKSPACE, {"AlertManagerDefinition": "route: {}"}, "has no text alertmanager_config"),
    (
        WORKSPACE,
        {"LoggingConfiguration": {"LogGroupArn": "arn:aws:logs:us-west-2:000000000000:log-group:none:*"}},
        "must be the ARN",
    ),
    (GRAFANA, {"RoleArn": "arn:aws:iam::000000000000:role/none"}, "does not let grafana.amazonaws.com assume it"),
    (GRAFANA, {"AuthenticationProviders": ["AWS_SSO"]}, "SamlConfiguration needs SAML"),
]


@pytest.mark.parametrize(("kind", "properties", "cause"), REFUSED)
def test_what_the_services_refuse_fails_the_stack(
    fresh: LocalAws, wanted: dict[str, Any], kind: str, properties: dict[str, Any], cause: str
) -> None:
    made = deploy(fresh, changed(wanted, kind, lambda found: found.update(properties)))
    assert made.status == "ROLLBACK_COMPLETE"
    assert any(cause in reason for reason in made.reasons), made.reasons


def test_an_unknown_data_source_is_refused_before_anything_is_made(fresh: LocalAws, wanted: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="DataSources"):
        deploy(fresh, changed(wanted, GRAFANA, lambda found: found.update(DataSources=["AMP"])))
