"""CloudFormation's strings take the API's types; keys unknown to the API are not read."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.model import Shape

from hyperpod_constructs.local.audit import RecordingDict
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.conversion import parameters
from tests.local.hyperpod_requests import model


def shape(service: str, operation: str) -> Shape:
    found = model(service).operation_model(operation).input_shape
    assert found is not None
    return found


def test_values_take_the_types_of_the_model() -> None:
    properties = {
        "ClusterName": "demo",
        "InstanceGroups": [
            {
                "InstanceGroupName": "a",
                "InstanceCount": "4",
                "KubernetesConfig": {"Labels": {"n": 1}},
                "InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": "true", "VolumeSizeInGB": 500.0}}],
            }
        ],
    }
    spec: dict[str, Any] = parameters(shape("sagemaker", "CreateCluster"), properties)["InstanceGroups"][0]
    assert spec["InstanceCount"] == 4
    assert spec["KubernetesConfig"] == {"Labels": {"n": "1"}}
    assert spec["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 500}}]


def test_numbers_with_a_fraction_come_as_text_too() -> None:
    entries = [{"InstanceType": "ml.p5.48xlarge", "VCpu": "1.5", "MemoryInGiB": 3}]
    quota = parameters(shape("sagemaker", "CreateComputeQuota"), {"ComputeQuotaConfig": {"ComputeQuotaResources": entries}})
    (found,) = quota["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert (found["VCpu"], found["MemoryInGiB"]) == (1.5, 3.0)
    entries[0]["VCpu"] = True
    with pytest.raises(AwsError, match="it must be a float"):
        parameters(shape("sagemaker", "CreateComputeQuota"), {"ComputeQuotaConfig": {"ComputeQuotaResources": entries}})


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"InstanceGroups": [{"InstanceCount": "four"}]}, r"InstanceGroups\[0\].InstanceCount: found 'four'; it must be a integer"),
        ({"InstanceGroups": [{"InstanceCount": True}]}, "it must be a integer"),
        ({"InstanceGroups": "a"}, "InstanceGroups: found 'a'; it must be a list"),
        ({"ClusterName": {"a": "b"}}, "ClusterName: found {'a': 'b'}; it must be a string"),
    ],
)
def test_fails_on_values_of_another_kind(properties: dict[str, Any], message: str) -> None:
    with pytest.raises(AwsError, match=message):
        parameters(shape("sagemaker", "CreateCluster"), properties)


def test_only_members_of_the_api_count_as_read() -> None:
    group = {
        "InstanceGroupName": "a",
        "InstanceCount": 1,
        "CurrentCount": 1,
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "New": 1},
    }
    properties = RecordingDict({"ClusterName": "demo", "ClusterStatus": "InService", "InstanceGroups": [group]})
    parameters(shape("sagemaker", "CreateCluster"), properties)
    assert sorted(properties.unread()) == ["ClusterStatus", "InstanceGroups.AutoPatchConfig.New", "InstanceGroups.CurrentCount"]
