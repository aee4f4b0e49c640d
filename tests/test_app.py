"""The reference app as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.presets import PRESETS, build, templates


def test_nothing_is_kept_when_the_data_may_go() -> None:
    app = build("announcement", retain_data="false", confirm_data_loss="true")
    policies = {
        resource.get(policy, "Delete")
        for template in templates(app).values()
        for resource in template["Resources"].values()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
    }
    assert policies == {"Delete"}


def test_the_context_gives_groups_names_threads_checks_and_recovery() -> None:
    app = build(
        "announcement",
        worker_groups="gpus:ml.p5.48xlarge:4,neurons:ml.trn1.32xlarge:8",
        controller_group_name="head",
        login_instance_type="ml.m5.xlarge",
        login_group_name="front",
        threads_per_core="1",
        deep_health_checks="InstanceStress",
        node_recovery="None",
    )
    found = templates(app)["Cluster"]["Resources"].values()
    (cluster,) = (resource["Properties"] for resource in found if resource["Type"] == "AWS::SageMaker::Cluster")
    assert [
        (
            group["InstanceGroupName"],
            group["InstanceType"],
            group["InstanceCount"],
            group["ThreadsPerCore"],
            group.get("OnStartDeepHealthChecks"),
        )
        for group in cluster["InstanceGroups"]
    ] == [
        ("head", "ml.m5.xlarge", 1, 1, None),
        ("front", "ml.m5.xlarge", 1, 1, None),
        ("gpus", "ml.p5.48xlarge", 4, 1, ["InstanceStress"]),
        ("neurons", "ml.trn1.32xlarge", 8, 1, ["InstanceStress"]),
    ]
    assert cluster["NodeRecovery"] == "None"


def _by_type(preset: str, **given: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """The one resource of each type that the stack of the cluster has once: logical id and definition."""
    found = list(templates(build(preset, **given))["Cluster"]["Resources"].items())
    types = [resource["Type"] for _, resource in found]
    return {resource["Type"]: (id, resource) for id, resource in found if types.count(resource["Type"]) == 1}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_cluster_awaits_the_look_at_the_account_and_its_inventory_awaits_the_nodes(preset: str) -> None:
    found = _by_type(preset)
    preflight, look = found["Custom::HyperPodPreflight"]
    _, cluster = found["AWS::SageMaker::Cluster"]
    readiness, gate = found["Custom::HyperPodReadinessGate"]
    _, inventory = found["Custom::HyperPodNodeInventory"]
    assert preflight in cluster["DependsOn"]
    assert readiness in inventory["DependsOn"]
    names = [group["InstanceGroupName"] for group in cluster["Properties"]["InstanceGroups"]]
    assert [group["Name"] for group in look["Properties"]["Groups"]] == names
    assert sorted(group["Name"] for group in inventory["Properties"]["Groups"]) == sorted(names)
    assert {group["Name"] for group in gate["Properties"]["Groups"]} == set(names)


def test_the_look_at_the_account_can_be_left_out() -> None:
    found = _by_type("announcement", preflight="false")
    assert "Custom::HyperPodPreflight" not in found
    assert "Custom::HyperPodNodeInventory" in found
