"""Karpenter's objects: what they say, what they wait for, and the groups that they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match

from hyperpod_constructs import (
    AutoScaling,
    CapacityRequirements,
    ClusterInstanceType,
    ClusterNetwork,
    ConsolidationPolicy,
    DeepHealthCheck,
    HyperPodCluster,
    InstanceGroup,
    KarpenterNodeClass,
    KarpenterNodePool,
    LifecycleScripts,
    Orchestrator,
    OverrideVpcConfig,
)
from tests.cluster.test_on_eks import ControlPlane
from tests.conftest import resources
from tests.eks.test_dependencies import Host

P5, P5EN = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.P5EN_48XLARGE
WORKERS = InstanceGroup(name="workers", instance_type=(P5, P5EN), count=0)


class Scaled:
    """A cluster with autoscaling on a control plane that takes manifests."""

    def __init__(self, auto_scaling: AutoScaling | None = AutoScaling()) -> None:  # noqa: B008  # it is frozen
        self.host = Host()
        self.stack = self.host.stack
        self.cluster = HyperPodCluster(
            self.stack,
            "HyperPod",
            network=ClusterNetwork(self.stack, "Network", availability_zone_id="usw2-az4"),
            orchestrator=Orchestrator.eks(ControlPlane()),
            lifecycle_scripts=LifecycleScripts.none(),
            instance_groups=[WORKERS],
            auto_scaling=auto_scaling,
        )

    def node_class(self, *groups: InstanceGroup) -> KarpenterNodeClass:
        return KarpenterNodeClass(
            self.stack, "Class", control_plane=self.host.control_plane, cluster=self.cluster, instance_groups=groups, name="gpu"
        )

    def objects(self) -> dict[str, tuple[str, dict[str, Any], list[str]]]:
        """By kind: the logical id, the object and what it waits for."""
        found = {}
        for id, resource in resources(self.stack, "Custom::AWSCDK-EKS-KubernetesResource").items():
            (text,) = json.loads(resource["Properties"]["Manifest"])
            found[text["kind"]] = (id, text, resource.get("DependsOn", []))
        return found


def test_a_class_names_its_groups_and_waits_for_the_cluster() -> None:
    scaled = Scaled()
    scaled.node_class(WORKERS)
    _, found, awaited = scaled.objects()["HyperpodNodeClass"]
    assert found["apiVersion"] == "karpenter.sagemaker.amazonaws.com/v1"
    assert (found["metadata"]["name"], found["spec"]) == ("gpu", {"instanceGroups": ["workers"]})
    assert set(resources(scaled.stack, "AWS::SageMaker::Cluster")) <= set(awaited)


def test_objects_wait_until_the_service_has_installed_their_kinds() -> None:
    scaled = Scaled()
    KarpenterNodePool(scaled.stack, "Pool", node_class=scaled.node_class(WORKERS), name="gpu")
    waits = resources(scaled.stack, "Custom::AWSCDK-EKS-KubernetesObjectValue")
    by_name = {one["Properties"]["ObjectName"]: (id, one["DependsOn"]) for id, one in waits.items()}
    kinds = {
        "HyperpodNodeClass": "hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com",
        "NodePool": "nodepools.karpenter.sh",
    }
    assert set(by_name) == set(kinds.values())
    assert all(by_name[definition][0] in scaled.objects()[kind][2] for kind, definition in kinds.items())
    (cluster,) = resources(scaled.stack, "AWS::SageMaker::Cluster")
    assert cluster in by_name["hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com"][1]
    assert {one["Properties"]["ObjectType"] for one in waits.values()} == {"customresourcedefinition"}


def test_a_pool_takes_all_types_of_its_class_and_moves_no_pod() -> None:
    scaled = Scaled()
    KarpenterNodePool(scaled.stack, "Pool", node_class=scaled.node_class(WORKERS), name="gpu")
    _, found, awaited = scaled.objects()["NodePool"]
    assert found["apiVersion"] == "karpenter.sh/v1"
    assert found["spec"] == {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.sagemaker.amazonaws.com", "kind": "HyperpodNodeClass", "name": "gpu"},
                "expireAfter": "Never",
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "Exists"},
                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                ],
            }
        },
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "300s"},
    }
    assert scaled.objects()["HyperpodNodeClass"][0] in awaited


def test_a_pool_of_some_types_and_zones() -> None:
    scaled = Scaled()
    KarpenterNodePool(
        scaled.stack,
        "Pool",
        node_class=scaled.node_class(WORKERS),
        name="gpu",
        instance_types=[P5EN],
        availability_zones=["us-west-2a"],
        consolidation_policy=ConsolidationPolicy.WHEN_EMPTY_OR_UNDERUTILIZED,
        consolidate_after_seconds=0,
    )
    spec = scaled.objects()["NodePool"][1]["spec"]
    assert spec["disruption"] == {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"}
    assert [one.get("values") for one in spec["template"]["spec"]["requirements"]] == [
        ["ml.p5en.48xlarge"],
        ["us-west-2a"],
        ["amd64"],
    ]


def subnets(*zones: str) -> OverrideVpcConfig:
    stack = Stack(App(), "Elsewhere")
    found = [
        ec2.Subnet.from_subnet_attributes(stack, f"Subnet{number}", subnet_id=f"subnet-{number}", availability_zone=zone)
        for number, zone in enumerate(zones)
    ]
    return OverrideVpcConfig(subnets=found, security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 2}, "instance group 'workers' of the node class has a count of 2; write a count of 0"),
        (
            {"training_plan_arn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"},
            "instance group 'workers' of the node class has a training plan; leave it out",
        ),
        ({"deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,)}, "of the node class has deep health checks"),
    ],
)
def test_fails_on_a_group_that_karpenter_does_not_scale(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^Kubernetes/Class: .*{message}"):
        Scaled().node_class(replace(WORKERS, **changes))


def test_takes_a_group_of_spot_capacity() -> None:
    spot = replace(WORKERS, capacity_requirements=CapacityRequirements.SPOT)
    assert Scaled().node_class(spot).instance_groups == (spot,)


def test_fails_on_a_group_in_two_zones_and_takes_one_in_two_subnets_of_one() -> None:
    with pytest.raises(ValueError, match="has subnets in us-west-2a, us-west-2b; name subnets of one zone"):
        Scaled().node_class(replace(WORKERS, override_vpc_config=subnets("us-west-2a", "us-west-2b")))
    Scaled().node_class(replace(WORKERS, override_vpc_config=subnets("us-west-2a", "us-west-2a")))


@pytest.mark.parametrize("count", [0, 11])
def test_fails_on_too_many_groups_and_on_none(count: int) -> None:
    groups = [replace(WORKERS, name=f"g{number}") for number in range(count)]
    with pytest.raises(ValueError, match=f"the node class has {count} instance groups; give each node class 1 to 10"):
        Scaled().node_class(*groups)


def test_fails_on_a_cluster_without_autoscaling() -> None:
    with pytest.raises(ValueError, match="the cluster has no autoscaling, so the service does not install Karpenter"):
        Scaled(auto_scaling=None).node_class(WORKERS)


def test_fails_on_a_group_that_the_cluster_does_not_have() -> None:
    scaled = Scaled()
    scaled.node_class(replace(WORKERS, name="others"))
    found = Annotations.from_stack(scaled.stack).find_error("*", Match.any_value())
    (error,) = (str(one.entry.data) for one in found)
    assert "instance group 'others' of the node class is not in the cluster, which has workers" in error


def test_fails_on_a_type_that_no_group_has() -> None:
    scaled = Scaled()
    with pytest.raises(ValueError, match=r"names ml.m5.xlarge; its node class has ml.p5.48xlarge, ml.p5en.48xlarge"):
        KarpenterNodePool(
            scaled.stack,
            "Pool",
            node_class=scaled.node_class(WORKERS),
            name="gpu",
            instance_types=[ClusterInstanceType.M5_XLARGE],
        )


def test_tokens_are_taken() -> None:
    scaled = Scaled()
    text = CfnParameter(scaled.stack, "Text").value_as_string
    number: Any = CfnParameter(scaled.stack, "Number", type="Number").value_as_number
    node_class = KarpenterNodeClass(
        scaled.stack,
        "Class",
        control_plane=scaled.host.control_plane,
        cluster=scaled.cluster,
        instance_groups=[WORKERS],
        name=text,
    )
    KarpenterNodePool(
        scaled.stack,
        "Pool",
        node_class=node_class,
        name=text,
        instance_types=[ClusterInstanceType.of(text)],
        availability_zones=[text],
        consolidate_after_seconds=number,
    )
    manifests = resources(scaled.stack, "Custom::AWSCDK-EKS-KubernetesResource").values()
    parts = [json.dumps(one["Properties"]["Manifest"]) for one in manifests]
    assert [part.count('{"Ref": "Text"}') for part in parts] == [1, 4]
    assert [part.count('{"Ref": "Number"}') for part in parts] == [0, 1]
