from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Fn, Stack, assertions
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs import (
    ClusterExtension,
    ClusterInstanceType,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    SlurmNodeType,
)

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
EXISTING = HyperPodCluster.from_cluster_arn(ARN)
CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)


@dataclass
class Plain:
    """A cluster of an app that has only the L1."""

    resource: sagemaker.CfnCluster
    cluster_arn: str


def only(stack: Stack) -> Any:
    found = assertions.Template.from_stack(stack).find_resources("Custom::HyperPodClusterExtension")
    [resource] = found.values()
    return resource["Properties"]


def statements(stack: Stack) -> list[Any]:
    found = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    [policy] = [resource for name, resource in found.items() if name.startswith("ExtensionPolicy")]
    return list(policy["Properties"]["PolicyDocument"]["Statement"])


def errors(stack: Stack) -> list[str]:
    found = assertions.Annotations.from_stack(stack).find_error("*", assertions.Match.any_value())
    return [str(item.entry.data) for item in found]


def test_the_properties_of_the_factory(stack: Stack) -> None:
    extension = ClusterExtension.observability(stack, "Extension", cluster=EXISTING, advanced_node_metrics=True, version="1.0.0")
    found = only(stack)
    assert (found["ClusterArn"], found["Name"], found["Version"]) == (ARN, "sagemaker-observability", "1.0.0")
    assert json.loads(found["Configuration"]) == {"metricsProvider": {"nodeMetrics": {"level": "ADVANCED"}}}
    assert [stack.resolve(item)["Fn::GetAtt"][1] for item in (extension.extension_arn, extension.version)] == [
        "ExtensionArn",
        "Version",
    ]
    assert [stack.resolve(item)["Fn::GetAtt"][1] for item in (extension.status, extension.issues)] == ["Status", "Issues"]


def test_without_settings_and_version_the_service_decides(stack: Stack) -> None:
    ClusterExtension.observability(stack, "Extension", cluster=EXISTING)
    assert only(stack)["Configuration"] == "{}"
    assert "Version" not in only(stack)


def test_permissions_are_for_one_cluster_and_extensions_of_one_name(stack: Stack) -> None:
    ClusterExtension(stack, "Extension", cluster=EXISTING, name="one")
    extensions, tags, stacks = statements(stack)
    assert extensions["Resource"][0] == ARN
    assert extensions["Resource"][1]["Fn::Join"][1][-1] == ":sagemaker:us-west-2:123456789012:extension/*/one/*"
    assert {action.removeprefix("sagemaker:") for action in extensions["Action"]} == {
        *(f"{verb}ClusterExtension" for verb in ("Create", "Update", "Describe", "Delete")),
        "ListClusterExtensions",
    }
    assert tags["Resource"] == extensions["Resource"][1]
    assert stacks["Resource"] == {"Ref": "AWS::StackId"}


def test_tokens_keep_their_types_in_the_settings(stack: Stack) -> None:
    text = CfnParameter(stack, "Level").value_as_string
    number = CfnParameter(stack, "Seconds", type="Number").value_as_number
    settings = {"level": text, "every": number, "on": True, "list": [1, text], "gone": None, "inside": {"gone": None}}
    ClusterExtension(stack, "Extension", cluster=EXISTING, name="one", configuration=settings)
    parts = only(stack)["Configuration"]["Fn::Join"][1]
    assert "".join(part if isinstance(part, str) else "7" for part in parts) == (
        '{"every":7,"inside":{},"level":"7","list":[1,"7"],"on":true}'
    )


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"a": "x" * 10240}, "Stack/Extension: configuration has 10248 characters as JSON; allowed: 10240"),
        ({"a": object()}, "cannot be written as JSON: Object of type object"),
        ({"a": float("nan")}, "cannot be written as JSON: Out of range"),
        ({"a": {1: 2}}, "cannot be written as JSON: the key 1 is no text"),
        ({"a": Fn.split(",", Fn.import_value("x"))}, "a list that is a token cannot stand in JSON"),
    ],
)
def test_fails_for_settings_that_json_cannot_hold(stack: Stack, configuration: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClusterExtension(stack, "Extension", cluster=EXISTING, name="one", configuration=configuration)


@pytest.mark.parametrize(("name", "version"), [("One", None), ("one--two", None), ("one", "1.0"), ("one", "v1.0.0")])
def test_fails_for_a_name_or_version_of_another_form(stack: Stack, name: str, version: str | None) -> None:
    with pytest.raises(ValueError, match="allowed: "):
        ClusterExtension(stack, "Extension", cluster=EXISTING, name=name, version=version)


def test_fails_at_synthesis_on_a_cluster_that_cannot_have_it(stack: Stack) -> None:
    scripts = LifecycleScripts.none()
    plain = HyperPodCluster(stack, "A", instance_groups=[CONTROLLER], lifecycle_scripts=scripts, node_provisioning_mode=None)
    ClusterExtension(stack, "First", cluster=plain, name="one")
    good = HyperPodCluster(stack, "B", instance_groups=[CONTROLLER], lifecycle_scripts=scripts)
    ClusterExtension(stack, "Second", cluster=good, name="one")
    assert [text.partition("this one has ")[2].partition(";")[0] for text in errors(stack)] == ["no NodeProvisioningMode"]


def test_fails_at_synthesis_on_a_cluster_of_kubernetes(stack: Stack) -> None:
    kubernetes = sagemaker.CfnCluster(stack, "C", orchestrator={"eks": {"clusterArn": "arn:aws:eks:us-west-2:1:cluster/one"}})
    ClusterExtension(stack, "Third", cluster=Plain(kubernetes, kubernetes.attr_cluster_arn), name="one")
    assert ["this one has EKS" in text for text in errors(stack)] == [True]


def test_the_extension_awaits_the_cluster(app: App, stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.none())
    ClusterExtension(stack, "Extension", cluster=cluster, name="one")
    assert only(stack)["ClusterArn"] == {"Fn::GetAtt": [stack.get_logical_id(cluster.resource), "ClusterArn"]}
