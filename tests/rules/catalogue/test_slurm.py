from __future__ import annotations

from dataclasses import replace

import pytest
from aws_cdk import App, Stack

from hyperpod_constructs import ClusterInstanceType, HyperPodCluster, InstanceGroup, SlurmNodeType
from tests.conftest import synthesize
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, findings, slurm

CONTROLLER, LOGIN, WORKERS = (f"Cluster/InstanceGroups/{index}" for index in range(3))
WITHOUT_SLURM_CONFIG = {f"Cluster/InstanceGroups/{index}/SlurmConfig": REMOVED for index in range(3)}
RESTRICTED = {
    "InstanceGroupName": "nova",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 1,
    "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
    "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}},
}

CASES = [
    Case(
        "HP-SLM-001",
        slurm(),
        {f"{CONTROLLER}/SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["other"]}},
        {f"{CONTROLLER}/SlurmConfig/NodeType": "Controller"},
    ),
    Case("HP-SLM-002", slurm(), {f"{LOGIN}/SlurmConfig/NodeType": "Controller"}, {f"{LOGIN}/SlurmConfig/NodeType": "Login"}),
    Case(
        "HP-SLM-002",
        slurm(),
        {f"{WORKERS}/SlurmConfig": {"NodeType": "Login"}},
        {f"{LOGIN}/SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]}},
    ),
    Case("HP-SLM-001", slurm(), {f"{CONTROLLER}/SlurmConfig/NodeType": "Compute"}, {}),
    Case("HP-SLM-002", slurm(), {f"{WORKERS}/SlurmConfig/NodeType": "Controller"}, {}),
    Case("HP-SLM-003", slurm(), {f"{CONTROLLER}/InstanceCount": 2}, {f"{LOGIN}/InstanceCount": 2}),
    Case("HP-SLM-003", slurm(), {f"{CONTROLLER}/InstanceCount": 0}, {f"{WORKERS}/InstanceCount": 0}),
    Case(
        "HP-SLM-004",
        slurm(),
        {f"{LOGIN}/SlurmConfig/PartitionNames": ["train"]},
        {f"{LOGIN}/SlurmConfig/PartitionNames": []},
    ),
    Case(
        "HP-SLM-004",
        slurm(),
        {f"{WORKERS}/SlurmConfig/PartitionNames": REMOVED},
        {f"{WORKERS}/SlurmConfig/PartitionNames": {"Ref": "AWS::Partition"}},
    ),
    Case("HP-SLM-005", slurm(), {f"{LOGIN}/SlurmConfig": REMOVED}, {LOGIN: REMOVED}),
    Case("HP-SLM-005", slurm(), {f"{CONTROLLER}/SlurmConfig": REMOVED}, {LOGIN: REMOVED}),
    Case(
        "HP-SLM-001",
        slurm(),
        WITHOUT_SLURM_CONFIG,
        {**WITHOUT_SLURM_CONFIG, "Cluster/Orchestrator": REMOVED, "Cluster/NodeProvisioningMode": REMOVED},
    ),
    Case(
        "HP-SLM-007",
        slurm(),
        {"Cluster/TieredStorageConfig": {"Mode": "Enable"}},
        {"Cluster/TieredStorageConfig": {"Mode": "Disable"}},
    ),
    Case(
        "HP-SLM-007",
        slurm(),
        {"Cluster/AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}},
        {"Cluster/AutoScaling": {"Mode": "Disable"}},
    ),
    Case("HP-SLM-007", slurm(), {"Cluster/RestrictedInstanceGroups": [RESTRICTED]}, {}),
    Case("HP-SLM-008", slurm(), {f"{WORKERS}/KubernetesConfig": {"Labels": {"team": "a"}}}, {}),
    Case("HP-SLM-008", slurm(), {f"{WORKERS}/ImageReleaseVersion": "1.2.3"}, {f"{WORKERS}/ImageId": "default"}),
    Case(
        "HP-SLM-009",
        slurm(),
        {
            f"{WORKERS}/ScheduledUpdateConfig": {
                "ScheduleExpression": "cron(0 3 ? * SUN *)",
                "DeploymentConfig": {"WaitIntervalInSeconds": 60},
            }
        },
        {f"{WORKERS}/ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 ? * SUN *)"}},
    ),
    Case(
        "HP-SLM-009",
        slurm(),
        {f"{WORKERS}/AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DeploymentConfig": {"WaitIntervalInSeconds": 60}}},
        {f"{WORKERS}/AutoPatchConfig": {"PatchingStrategy": "WhenIdle"}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_groups_that_are_written_alike_are_one_mistake() -> None:
    settings = {f"Cluster/InstanceGroups/{index}/KubernetesConfig": {"Labels": {"a": "b"}} for index in range(3)}
    (found,) = findings(edited(slurm(), settings))
    assert found.message.startswith("KubernetesConfig on instance group 'controller' of a Slurm cluster; ")
    assert found.message.endswith("; the same in 'login', 'workers'")


def test_a_partition_whose_name_is_not_known_is_misplaced_too() -> None:
    names = {"PartitionNames": [{"Ref": "AWS::StackName"}]}
    (found,) = findings(edited(slurm(), {f"{LOGIN}/SlurmConfig": {"NodeType": "Login", **names}}))
    assert (found.rule, found.message) == ("HP-SLM-004", "a partition on a Login group")


def test_settings_of_eks_are_right_on_eks() -> None:
    Case(
        "HP-EKS-005",
        eks(),
        {f"{LOGIN}/SlurmConfig": {"NodeType": "Login"}},
        {
            "Cluster/TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
            f"{LOGIN}/KubernetesConfig": {"Labels": {"team": "a"}},
            f"{LOGIN}/ImageReleaseVersion": "1.2.3",
        },
    ).check()


CONTROLLERS = InstanceGroup(
    name="controller", instance_type=ClusterInstanceType.M5_XLARGE, count=1, node_type=SlurmNodeType.CONTROLLER
)


@pytest.mark.parametrize(
    ("group", "rules"), [(CONTROLLERS, []), (replace(CONTROLLERS, node_type=SlurmNodeType.COMPUTE), ["HP-SLM-001"])]
)
def test_a_cluster_of_this_library_without_a_controller(group: InstanceGroup, rules: list[str]) -> None:
    stack = Stack(App(context={"hyperpod:rules": False}), "Stack")
    HyperPodCluster(stack, "Cluster", instance_groups=[group])
    found = findings(synthesize(stack), rules="HP-SLM")
    assert [finding.rule for finding in found] == rules
    assert all("no Controller group (groups: 'controller')" in finding.message for finding in found)


def test_a_cluster_made_for_kubernetes_has_one_wrong_orchestrator() -> None:
    """Its groups have labels of Kubernetes, and none is configured for Slurm: what follows from that is not said again."""
    group = "Cluster/InstanceGroups/0"
    batches = {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": {"WaitIntervalInSeconds": 60}}
    policy = {"Name": "p", "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]}, "SchedulerConfig": {"FairShare": "Enabled"}}
    for_kubernetes = {
        f"{group}/KubernetesConfig": {"Labels": {"team": "a"}},
        f"{group}/ScheduledUpdateConfig": batches,
        "Policy": {"Type": "AWS::SageMaker::ClusterSchedulerConfig", "Properties": policy},
        "Cluster/Orchestrator": {"Slurm": {}},
    }
    rules = ("HP-SLM-001", "HP-SLM-008", "HP-SLM-009", "HP-GOV-001")
    found = [one.rule for one in findings(edited(eks(), for_kubernetes)) if one.rule in rules]
    assert found == ["HP-SLM-008"]
    del for_kubernetes[f"{group}/KubernetesConfig"]
    found = [one.rule for one in findings(edited(eks(), for_kubernetes))]
    assert set(rules) - {"HP-SLM-008"} <= set(found)
