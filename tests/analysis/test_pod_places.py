"""Groups of nodes without a node, for the pods of CoreDNS."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.pod_places import unplaced
from hyperpod_constructs.templates.model import Model

ROLE = "arn:aws:iam::123456789012:role/nodes"
TAINTS = [{"Key": "nvidia.com/gpu", "Value": "present", "Effect": "NoSchedule"}]


def with_groups(*groups: dict[str, Any], **more: Any) -> Model:
    given = [
        {
            "InstanceGroupName": f"g{index}",
            "InstanceType": "ml.m5.xlarge",
            "ExecutionRole": ROLE,
            **one,
        }
        for index, one in enumerate(groups)
    ]
    cluster = {"Orchestrator": {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}}}, "InstanceGroups": given, **more}
    dns = {"ClusterName": {"Ref": "Control"}, "AddonName": "coredns"}
    resources = {
        "Control": {"Type": "AWS::EKS::Cluster"},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": cluster},
        "Dns": {"Type": "AWS::EKS::Addon", "DependsOn": "Cluster", "Properties": dns},
    }
    return Model.of({"t": {"Resources": resources}})


NONE, SOME = {"InstanceCount": 0}, {"InstanceCount": 2}
TAINTED = {**SOME, "KubernetesConfig": {"Taints": TAINTS}}


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (with_groups(NONE, TAINTED), ["g0"]),
        (with_groups(NONE, NONE), ["g0, g1"]),
        (with_groups(NONE, SOME), []),
        (with_groups(SOME, TAINTED), []),
        (with_groups({"InstanceCount": {"Ref": "Given"}}, TAINTED), []),
        (with_groups(NONE, TAINTED, AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"}), []),
        (with_groups(NONE, TAINTED, AutoScaling={"Mode": "Disable"}), ["g0"]),
    ],
)
def test_coredns_has_a_node(model: Model, found: list[str]) -> None:
    said = list(unplaced(model))
    assert [one.path for one in said] == [("InstanceGroups", 0, "InstanceCount")] * len(found)
    assert all(names in one.message for names, one in zip(found, said, strict=True))


def test_taints_of_all_groups_keep_coredns_out() -> None:
    (said,) = unplaced(with_groups(TAINTED, TAINTED))
    assert said.path == ("InstanceGroups", 0, "KubernetesConfig", "Taints")
