"""The cluster on EKS in one construct: what it installs, in which order, and its teams."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_

from hyperpod_constructs import (
    Addon,
    ClusterInstanceType,
    ClusterNetwork,
    ComputeQuotaResource,
    DeepHealthCheck,
    EksCluster,
    EksControlPlane,
    ExistingControlPlane,
    FSxLustreConfig,
    HyperPodChart,
    InstanceGroup,
    LustreStorage,
    PriorityClass,
    RestrictedInstanceGroup,
    SharedEnvironmentConfig,
)
from tests.cluster.test_cluster import errors_of
from tests.conftest import only, resources, synthesize
from tests.eks import LAYER
from tests.eks.conftest import STAND_IN

P5, G5 = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.G5_48XLARGE
ADDON, CLUSTER = "AWS::EKS::Addon", "AWS::SageMaker::Cluster"
FIRST = {"eks-pod-identity-agent", "kube-proxy", "vpc-cni"}
BEHIND = {
    "amazon-sagemaker-hyperpod-taskgovernance",
    "amazon-sagemaker-hyperpod-training-operator",
    "cert-manager",
    "coredns",
}


@pytest.fixture
def stack(make_stack: Any) -> Stack:
    made: Stack = make_stack("us-west-2")
    return made


@pytest.fixture
def make(stack: Stack, network: ClusterNetwork) -> Any:
    subnets: list[ec2.ISubnet] = [
        network.add_control_plane_subnet(f"ControlPlane{zone}", cidr=f"10.0.{zone}.0/28", availability_zone_id=f"usw2-az{zone}")
        for zone in (1, 2)
    ]

    def made(*, default_capacity: int = 0, **given: Any) -> EksCluster:
        control_plane = EksControlPlane(stack, "ControlPlane", network=network, subnets=subnets, default_capacity=default_capacity)
        chart = HyperPodChart.from_directory(STAND_IN)
        return EksCluster(stack, "Kubernetes", network=network, control_plane=control_plane, chart=chart, **given)

    return made


def awaited(template: Mapping[str, Any], id: str) -> set[str]:
    """Everything that a resource waits for, also by detours."""
    found, new = set[str](), {id}
    while new:
        one = template["Resources"][new.pop()]
        text = json.dumps(one)
        others = {other for other in template["Resources"] if f'"Ref": "{other}"' in text or f'["{other}", ' in text}
        new |= (others | set(one.get("DependsOn", []))) - found
        found |= new
    return found


def addons(template: Mapping[str, Any]) -> dict[str, str]:
    return {one["Properties"]["AddonName"]: id for id, one in template["Resources"].items() if one["Type"] == ADDON}


def one(template: Mapping[str, Any], kind: str) -> str:
    (id,) = [id for id, found in template["Resources"].items() if found["Type"] == kind]
    return str(id)


def test_the_order_is_chart_nodes_addons_policy(make: Any, stack: Stack) -> None:
    make(worker_type=P5, worker_count=8)
    template = synthesize(stack)
    by_name, cluster = addons(template), one(template, CLUSTER)
    gate = one(template, "Custom::HyperPodReadinessGate")
    assert set(by_name) == FIRST | BEHIND
    before = awaited(template, cluster)
    assert {by_name[name] for name in FIRST} | {one(template, "Custom::AWSCDK-EKS-HelmChart")} <= before
    assert not {by_name[name] for name in BEHIND} & before
    assert all(gate in awaited(template, by_name[name]) for name in BEHIND)
    assert not any(gate in awaited(template, by_name[name]) for name in FIRST)
    policy = awaited(template, one(template, "AWS::SageMaker::ClusterSchedulerConfig"))
    assert by_name["amazon-sagemaker-hyperpod-taskgovernance"] in policy


def test_the_short_form_is_one_group_and_its_first_node_is_awaited(make: Any, stack: Stack) -> None:
    make(worker_type=P5, worker_count=8)
    (group,) = only(stack, CLUSTER)["Properties"]["InstanceGroups"]
    assert (group["InstanceGroupName"], group["InstanceType"], group["InstanceCount"]) == ("workers", P5.name, 8)
    assert group["InstanceStorageConfigs"] == [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    gate = only(stack, "Custom::HyperPodReadinessGate")["Properties"]
    assert [(one["Name"], str(one["Minimum"])) for one in gate["Groups"]] == [("workers", "1")]


@pytest.mark.parametrize(
    ("given", "minimum"),
    [
        ({"worker_count": 0, "default_capacity": 1}, "0"),
        ({"worker_count": 8, "default_capacity": 1}, "1"),
        ({"worker_count": 8, "min_running": {"workers": 3}}, "3"),
        ({"worker_count": 8, "deep_health_checks": [DeepHealthCheck.INSTANCE_STRESS], "min_running": {"workers": 0}}, "0"),
    ],
)
def test_a_node_is_awaited_only_where_there_is_one_to_come(make: Any, stack: Stack, given: dict[str, Any], minimum: str) -> None:
    make(worker_type=P5, **given)
    (group,) = only(stack, "Custom::HyperPodReadinessGate")["Properties"]["Groups"]
    assert str(group["Minimum"]) == minimum


def test_the_first_group_with_nodes_and_without_checks_is_awaited(make: Any, stack: Stack) -> None:
    elastic = InstanceGroup(name="elastic", instance_type=P5, count=0)
    checked = InstanceGroup(name="checked", instance_type=P5, count=2, deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS])
    plain = InstanceGroup(name="plain", instance_type=G5, count=1)
    make(instance_groups=[elastic, checked, plain])
    gate = only(stack, "Custom::HyperPodReadinessGate")["Properties"]
    assert {one["Name"]: str(one["Minimum"]) for one in gate["Groups"]} == {"elastic": "0", "checked": "0", "plain": "1"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"worker_count": 0}, "no group has a node"),
        (
            {"worker_count": 8, "deep_health_checks": [DeepHealthCheck.INSTANCE_STRESS]},
            "every group with nodes has deep_health_checks, which take about two hours",
        ),
    ],
)
def test_fails_if_no_node_can_come_in_time(make: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"Stack/Kubernetes: {message}, .*default_capacity=1"):
        make(worker_type=P5, **given)


def test_groups_take_the_place_of_the_short_form(make: Any, stack: Stack) -> None:
    groups = [InstanceGroup(name="large", instance_type=P5, count=2), InstanceGroup(name="small", instance_type=G5, count=1)]
    make(instance_groups=groups)
    found = only(stack, CLUSTER)["Properties"]["InstanceGroups"]
    assert [group["InstanceGroupName"] for group in found] == ["large", "small"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"workers are worker_type with worker_count, or instance_groups; write worker_type="),
        ({"worker_type": P5}, r"worker_type alone; workers are"),
        (
            {"worker_type": P5, "instance_groups": [InstanceGroup(name="a", instance_type=P5, count=1)]},
            r"worker_type beside instance_groups; .* write them as InstanceGroup\(name=\"workers\"",
        ),
    ],
)
def test_exactly_one_form_is_given(make: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"Stack/Kubernetes: {message}"):
        make(**given)


def test_restricted_groups_are_beside_the_others(make: Any, stack: Stack) -> None:
    files = FSxLustreConfig(size_in_gib=1200, per_unit_storage_throughput=250)
    make(
        worker_type=P5,
        worker_count=1,
        restricted_instance_groups=[RestrictedInstanceGroup(name="nova", instance_type=P5, count=2)],
        shared_environment_config=SharedEnvironmentConfig(fsx_lustre_config=files),
    )
    found = only(stack, CLUSTER)["Properties"]
    assert [group["InstanceGroupName"] for group in found["InstanceGroups"]] == ["workers"]
    assert [group["InstanceGroupName"] for group in found["RestrictedInstanceGroups"]] == ["nova"]
    shared = found["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert shared["FSxLustreConfig"] == {"SizeInGiB": 1200, "PerUnitStorageThroughput": 250}


def test_a_team_has_its_quota_behind_the_policy_and_may_use_its_priorities(make: Any, stack: Stack) -> None:
    made = make(worker_type=P5, worker_count=8, priority_classes=[PriorityClass(name="urgent", weight=100)])
    quota = [ComputeQuotaResource(instance_type=P5, count=4)]
    team = made.add_team("Research", name="research", resources=quota, fair_share_weight=50)
    template = synthesize(stack)
    assert one(template, "AWS::SageMaker::ClusterSchedulerConfig") in awaited(
        template, one(template, "AWS::SageMaker::ComputeQuota")
    )
    assert team.job_labels(priority_class="urgent")["kueue.x-k8s.io/queue-name"] == "hyperpod-ns-research-localqueue"
    with pytest.raises(ValueError, match="low"):
        team.priority_class("low")


def test_teams_cannot_have_more_than_the_cluster(make: Any) -> None:
    made = make(worker_type=P5, worker_count=8)
    made.add_team("A", name="a", resources=[ComputeQuotaResource(instance_type=P5, count=6)])
    made.add_team("B", name="b", resources=[ComputeQuotaResource(instance_type=P5, count=6)])
    (error,) = errors_of(Stack.of(made))
    assert error.startswith("the quotas of ml.p5.48xlarge guarantee 96 accelerators (a 48, b 48); the cluster has 64;")


def test_the_file_system_is_a_volume_of_the_default_namespace_and_of_each_team(
    make: Any, stack: Stack, lustre: LustreStorage
) -> None:
    made = make(worker_type=P5, worker_count=8, file_system=lustre)
    made.add_team("Research", name="research", resources=[ComputeQuotaResource(instance_type=P5, count=4)])
    template = synthesize(stack)
    assert "aws-fsx-csi-driver" in addons(template)
    manifests = {
        id: json.dumps(found["Properties"]["Manifest"])
        for id, found in template["Resources"].items()
        if found["Type"] == "Custom::AWSCDK-EKS-KubernetesResource"
    }
    claims = {
        space: id for space in ("default", "hyperpod-ns-research") for id, text in manifests.items() if f"fsx-{space}" in text
    }
    assert set(claims) == {"default", "hyperpod-ns-research"}
    namespace = one(template, "Custom::AWSCDK-EKS-KubernetesObjectValue")
    assert namespace in awaited(template, claims["hyperpod-ns-research"])
    assert one(template, "AWS::SageMaker::ComputeQuota") in awaited(template, namespace)
    assert namespace not in awaited(template, claims["default"])


@pytest.fixture
def layer(stack: Stack) -> lambda_.ILayerVersion:
    return lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", LAYER)


@pytest.fixture
def make_on_existing(stack: Stack, network: ClusterNetwork, layer: lambda_.ILayerVersion) -> Any:
    """The pattern on a control plane that has some add-ons; `before` gets that control plane first."""

    def made(addons: Sequence[str] | None, before: Callable[[ExistingControlPlane], Any] = id, **given: Any) -> EksCluster:
        control_plane = ExistingControlPlane(stack, "There", cluster_name="there", addons=addons, kubectl_layer=layer)
        before(control_plane)
        arguments = {"worker_type": P5, "worker_count": 8, "chart": HyperPodChart.from_directory(STAND_IN), **given}
        return EksCluster(stack, "Kubernetes", network=network, control_plane=control_plane, **arguments)

    return made


@pytest.mark.parametrize(
    ("there", "made"),
    [
        (None, FIRST | BEHIND),
        ([], FIRST | BEHIND),
        (sorted(FIRST), BEHIND),
        (sorted(FIRST | BEHIND), set()),
    ],
)
def test_addons_of_the_control_plane_are_not_made_again(
    make_on_existing: Any, stack: Stack, there: list[str] | None, made: set[str]
) -> None:
    cluster = make_on_existing(there)
    assert set(addons(synthesize(stack))) == made
    assert (cluster.training_operator is None) is (made == set())
    assert cluster.scheduler_config is not None, "the policy is of the HyperPod cluster, which is new"


def test_an_addon_of_the_user_s_own_is_not_made_again(make_on_existing: Any, stack: Stack) -> None:
    def write(control_plane: ExistingControlPlane) -> None:
        Addon(stack, "Own", control_plane=control_plane, name="vpc-cni", version="v1.20.1-eksbuild.3")
        control_plane.add_provided("cert-manager", control_plane)

    make_on_existing(None, write)
    template = synthesize(stack)
    assert set(addons(template)) == (FIRST | BEHIND) - {"cert-manager"}
    assert template["Resources"][addons(template)["vpc-cni"]]["Properties"]["AddonVersion"] == "v1.20.1-eksbuild.3"


def test_a_driver_that_is_there_mounts_the_file_system(make_on_existing: Any, stack: Stack, lustre: LustreStorage) -> None:
    make_on_existing(["aws-fsx-csi-driver"], file_system=lustre)
    template = synthesize(stack)
    assert "aws-fsx-csi-driver" not in addons(template)
    assert "PersistentVolumeClaim" in json.dumps(template)


def test_a_cluster_without_task_governance_has_no_policy(make: Any, stack: Stack) -> None:
    made = make(worker_type=P5, worker_count=8, task_governance=False)
    assert set(addons(synthesize(stack))) == (FIRST | BEHIND) - {"amazon-sagemaker-hyperpod-taskgovernance"}
    assert resources(stack, "AWS::SageMaker::ClusterSchedulerConfig") == {}
    assert made.task_governance is None
    with pytest.raises(ValueError, match="Kubernetes: the team 'a' without task governance; leave task_governance=False out"):
        made.add_team("A", name="a", resources=[ComputeQuotaResource(instance_type=P5, count=1)])


@pytest.mark.parametrize("given", [{"priority_classes": [PriorityClass(name="high", weight=90)]}, {"idle_resource_sharing": True}])
def test_fails_for_a_policy_without_task_governance(make: Any, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ValueError, match=f"Stack/Kubernetes: {name} without task governance; leave task_governance=False out, or"):
        make(worker_type=P5, worker_count=8, task_governance=False, **given)


def test_another_file_system_has_a_claim_of_another_name(make: Any, stack: Stack, lustre: LustreStorage) -> None:
    made = make(worker_type=P5, worker_count=8, file_system=lustre, claim_name="data")
    made.add_team("Research", name="research", resources=[ComputeQuotaResource(instance_type=P5, count=4)])
    text = json.dumps(synthesize(stack))
    assert "data-default" in text
    assert "data-hyperpod-ns-research" in text
    assert "fsx-default" not in text


def test_outputs_tell_how_kubectl_finds_the_cluster(make: Any, stack: Stack) -> None:
    make(worker_type=P5, worker_count=8)
    outputs = json.dumps(synthesize(stack)["Outputs"])
    assert "aws eks update-kubeconfig --name " in outputs
    assert " --region us-west-2" in outputs
    assert len(resources(stack, CLUSTER)) == 1


def test_tokens_are_taken(make: Any, stack: Stack, lustre: LustreStorage) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    made = make(
        worker_type=ClusterInstanceType.of(text),
        worker_count=number,
        cluster_name=text,
        training_plan_arn=text,
        file_system=lustre,
        claim_name=text,
        priority_classes=[PriorityClass(name=text, weight=number)],
        min_running={"workers": number},
    )
    made.add_team("Team", name=text, resources=[ComputeQuotaResource(instance_type=P5, count=number)], fair_share_weight=number)
    (group,) = only(stack, CLUSTER)["Properties"]["InstanceGroups"]
    assert (group["InstanceType"], group["InstanceCount"], group["TrainingPlanArn"]) == (
        {"Ref": "Text"},
        {"Ref": "Number"},
        {"Ref": "Text"},
    )
    (gated,) = only(stack, "Custom::HyperPodReadinessGate")["Properties"]["Groups"]
    assert gated["Minimum"] == {"Ref": "Number"}
