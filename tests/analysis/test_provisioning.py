"""`provisioning_parameters.json` in a parameter, against the groups of the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.templates.model import Model

RIGHT: dict[str, Any] = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "head",
    "worker_groups": [{"instance_group_name": "gpu", "partition_name": "train"}],
}


def said(text: object, *groups: str) -> list[str]:
    cluster = {"InstanceGroups": [{"InstanceGroupName": name} for name in groups or ("head", "gpu")]}
    resources = {
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": cluster},
        "Stored": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": text}},
    }
    found = texts_with_mistakes(Model.of({"t": {"Resources": resources}}))
    return [one.slip.message for slips in found.values() for one in slips if one.resource.logical_id == "Stored"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"controller_group": "heads"}, "Cluster has no group heads; the nearest is head"),
        ({"login_group": "door"}, "Cluster has no group door"),
        ({"worker_groups": [{"instance_group_name": "cpu", "partition_name": "a"}]}, "Cluster has no group cpu"),
        ({"worker_groups": [{"instance_group_name": "gpu"}]}, "a group of workers has no partition_name"),
        ({"workload_manager": "slurmd"}, "the workload manager is 'slurmd'"),
        ({"own": "a"}, None),
    ],
)
def test_groups_are_those_of_the_cluster(changes: dict[str, Any], message: str | None) -> None:
    found = said(json.dumps({**RIGHT, **changes}))
    assert [one.startswith(message) for one in found] == [True] if message else found == []


def test_keys_are_those_that_scripts_read() -> None:
    given = {("controler_group" if key == "controller_group" else key): value for key, value in RIGHT.items()}
    assert said(json.dumps(given)) == ["the scripts read no controler_group; the nearest is controller_group"]


def test_the_text_is_json_and_others_are_believed() -> None:
    assert len(said(json.dumps(RIGHT)[:-1])) == 1
    assert said("a text") == []
    assert said({"Ref": "Given"}) == []
