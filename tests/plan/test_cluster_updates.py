"""The effect of each change of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.effect import Effect
from tests.plan.templates import change, cluster, group, row, rows, template

CONTROLLER = group("controller", node_type="Controller", count=1)
OWN, LARGER = ({"FSxLustreConfig": {"SizeInGiB": size, "PerUnitStorageThroughput": 250}} for size in (1200, 2400))
VPC: dict[str, Any] = {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}


DATABASE: dict[str, Any] = {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": "x"}}}}
WITHOUT: list[dict[str, Any]] = [{"Orchestrator": {"Slurm": {}}}, {"Orchestrator": {}}, {}]
TAKEN_BACK = [(DATABASE, after, "Orchestrator/Slurm/AccountingDatabase", Effect.REFUSED) for after in WITHOUT]


@pytest.mark.parametrize(
    ("before", "after", "name", "effect"),
    [
        ({"VpcConfig": VPC}, {"VpcConfig": {**VPC, "Subnets": ["subnet-2"]}}, "VpcConfig", Effect.REPLACE),
        ({"VpcConfig": VPC}, {}, "VpcConfig", Effect.REPLACE),
        ({"ClusterName": "a"}, {"ClusterName": "b"}, "ClusterName", Effect.REPLACE),
        ({"NodeProvisioningMode": "Continuous"}, {}, "NodeProvisioningMode", Effect.REFUSED),
        ({}, {"NodeProvisioningMode": "Continuous"}, "NodeProvisioningMode", Effect.ROLLING),
        ({"NodeRecovery": "None"}, {"NodeRecovery": "Automatic"}, "NodeRecovery", Effect.NO_INTERRUPTION),
        ({"ClusterRole": "a"}, {"ClusterRole": "b"}, "ClusterRole", Effect.NO_INTERRUPTION),
        ({"AutoScaling": {"Mode": "Disable"}}, {"AutoScaling": {"Mode": "Enable"}}, "AutoScaling", Effect.NO_INTERRUPTION),
        (
            {"Orchestrator": {"Eks": {"ClusterArn": "a"}}},
            {"Orchestrator": {"Eks": {"ClusterArn": "b"}}},
            "Orchestrator/Eks",
            Effect.REPLACE,
        ),
        ({}, {"Orchestrator": {"Eks": {"ClusterArn": "b"}}}, "Orchestrator/Eks", Effect.REPLACE),
        (
            {"Orchestrator": {"Slurm": {}}},
            {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": "x"}}}},
            "Orchestrator/Slurm/AccountingDatabase",
            Effect.ROLLING,
        ),
        (
            DATABASE,
            {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": "y"}}}},
            "Orchestrator/Slurm/AccountingDatabase",
            Effect.ROLLING,
        ),
        *TAKEN_BACK,
    ],
)
def test_the_cluster(before: dict[str, Any], after: dict[str, Any], name: str, effect: Effect) -> None:
    found = row(cluster(CONTROLLER, **before), cluster(CONTROLLER, **after))
    assert (found.property, found.effect) == (name, effect)


def test_whether_a_cluster_can_become_continuous_is_not_known() -> None:
    found = row(cluster(CONTROLLER), cluster(CONTROLLER, NodeProvisioningMode="Continuous"))
    assert found.why.startswith("whether the service takes this is not known: older documentation says")


def test_the_role_of_an_autoscaling_cluster_is_frozen() -> None:
    found = row(*(cluster(CONTROLLER, ClusterRole=role, AutoScaling={"Mode": "Enable"}) for role in ("a", "b")))
    assert found.effect is Effect.REFUSED


def test_a_named_cluster_cannot_be_replaced() -> None:
    one, other = (cluster(CONTROLLER, ClusterName="a", VpcConfig={"Subnets": [subnet]}) for subnet in ("subnet-1", "subnet-2"))
    found = row(one, other)
    assert found.effect is Effect.REFUSED
    assert "the old one still holds the name" in found.why


def test_a_change_of_name_makes_room_for_the_replacement() -> None:
    one = cluster(CONTROLLER, ClusterName="a", VpcConfig={"Subnets": ["subnet-1"]})
    other = cluster(CONTROLLER, ClusterName="b", VpcConfig={"Subnets": ["subnet-2"]})
    assert {found.effect for found in rows(one, other)} == {Effect.REPLACE}


@pytest.mark.parametrize(
    ("before", "after", "name", "effect"),
    [
        ({"count": 4}, {"count": 6}, "InstanceCount", Effect.NO_INTERRUPTION),
        ({"count": 4}, {"count": 3}, "InstanceCount", Effect.ROLLING),
        ({"count": 4}, {"count": {"Ref": "Count"}}, "InstanceCount", Effect.ROLLING),
        ({}, {"InstanceType": "ml.p5.48xlarge"}, "InstanceType", Effect.REFUSED),
        ({}, {"OverrideVpcConfig": VPC}, "OverrideVpcConfig", Effect.REFUSED),
        ({}, {"CapacityRequirements": {"Spot": {}}}, "CapacityRequirements", Effect.REFUSED),
        ({}, {"node_type": "Login"}, "SlurmConfig/NodeType", Effect.REFUSED),
        ({}, {"MinInstanceCount": 2}, "MinInstanceCount", Effect.NO_INTERRUPTION),
        ({}, {"LifeCycleConfig": {"SourceS3Uri": "s3://a/b"}}, "LifeCycleConfig", Effect.NO_INTERRUPTION),
        (
            {},
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 1}}]},
            "InstanceStorageConfigs",
            Effect.NO_INTERRUPTION,
        ),
        ({}, {"ExecutionRole": "arn"}, "ExecutionRole", Effect.REFUSED),
        ({}, {"ThreadsPerCore": 1}, "ThreadsPerCore", Effect.REFUSED),
        ({}, {"ImageReleaseVersion": "1.2.3"}, "ImageReleaseVersion", Effect.ROLLING),
        ({}, {"ImageId": "ami-1"}, "ImageId", Effect.ROLLING),
        (
            {},
            {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 * * ? *)"}},
            "ScheduledUpdateConfig",
            Effect.NO_INTERRUPTION,
        ),
        ({}, {"KubernetesConfig": {"Labels": {"a": "b"}}}, "KubernetesConfig", Effect.NO_INTERRUPTION),
        ({"SlurmConfig": None}, {"SlurmConfig": {"NodeType": "Login"}}, "SlurmConfig/NodeType", Effect.NO_INTERRUPTION),
        (
            {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["a"]}},
            {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["b"]}},
            "SlurmConfig/PartitionNames",
            Effect.NO_INTERRUPTION,
        ),
        (
            {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["a"]}},
            {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["a", "b"]}},
            "InstanceRequirements",
            Effect.NO_INTERRUPTION,
        ),
    ],
)
def test_a_group(before: dict[str, Any], after: dict[str, Any], name: str, effect: Effect) -> None:
    found = [
        item
        for item in rows(cluster(group(**before)), cluster(group(**after)))
        if item.property == f"InstanceGroups/workers/{name}"
    ]
    assert [item.effect for item in found] == [effect]


def test_a_type_and_a_list_of_types_do_not_take_each_others_place() -> None:
    listing = group(InstanceType=None, InstanceRequirements={"InstanceTypes": ["a"]})
    assert {found.effect for found in rows(cluster(group()), cluster(listing))} == {Effect.REFUSED}


def test_fewer_nodes_says_how_many_leave_and_who_chooses() -> None:
    found = row(cluster(group(count=8)), cluster(group(count=5)))
    assert "3 of 8 nodes of group workers are terminated" in found.why
    assert "the service chooses" in found.why
    assert "hyperpod remove" in found.avoid


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (None, "all at a time"),
        ({"Type": "INSTANCE_COUNT", "Value": 2}, "2 at a time"),
        ({"Type": "CAPACITY_PERCENTAGE", "Value": 25}, "25 % at a time"),
    ],
)
def test_new_software_says_how_many_nodes_at_a_time(size: dict[str, Any] | None, said: str) -> None:
    policy = {} if size is None else {"RollingUpdatePolicy": {"MaximumBatchSize": size}}
    schedule: dict[str, Any] = {"ScheduledUpdateConfig": {"ScheduleExpression": "x", "DeploymentConfig": policy}}
    one, other = (cluster(group(ImageReleaseVersion=version, **schedule)) for version in ("1.0.0", "1.0.1"))
    found = row(one, other)
    assert "all 4 nodes (ml.trn1.32xlarge) of group workers" in found.why
    assert said in found.why


def test_a_new_group_interrupts_nothing() -> None:
    found = row(cluster(CONTROLLER), cluster(group("more", count=2), CONTROLLER))
    assert (found.property, found.effect) == ("InstanceGroups/more", Effect.NO_INTERRUPTION)
    assert found.why == "2 nodes (ml.trn1.32xlarge) are requested"


def test_a_single_node_is_written_in_the_singular() -> None:
    gone = row(cluster(CONTROLLER, group(count=1)), cluster(CONTROLLER))
    assert gone.why.startswith("all nodes (1 x ml.trn1.32xlarge) of group workers are terminated")
    come = row(cluster(CONTROLLER), cluster(CONTROLLER, group(count=1)))
    assert come.why == "1 node (ml.trn1.32xlarge) is requested"
    grown = row(cluster(CONTROLLER, group(count=1)), cluster(CONTROLLER, group(count=2)))
    assert grown.why == "1 more node is requested; 1 keeps running"
    shrunk = row(cluster(CONTROLLER, group(count=4)), cluster(CONTROLLER, group(count=3)))
    assert shrunk.why.startswith("1 of 4 nodes of group workers is terminated at once, with its volumes")


def test_a_removed_group_takes_its_nodes() -> None:
    found = row(cluster(CONTROLLER, group()), cluster(CONTROLLER))
    assert (found.property, found.effect) == ("InstanceGroups/workers", Effect.DATA_LOSS)
    assert "all 4 nodes" in found.why


def test_the_controllers_group_takes_the_queue_with_it() -> None:
    renamed = {**CONTROLLER, "InstanceGroupName": "head"}
    gone = [found for found in rows(cluster(CONTROLLER), cluster(renamed)) if found.property == "InstanceGroups/controller"]
    assert [found.effect for found in gone] == [Effect.DATA_LOSS]
    assert "Slurm's queue" in gone[0].why


def test_a_restricted_group_takes_its_file_system_with_it() -> None:
    one = cluster(RestrictedInstanceGroups=[group(EnvironmentConfig=OWN)])
    found = row(one, cluster(RestrictedInstanceGroups=[]))
    assert found.effect is Effect.DATA_LOSS
    assert "file system" in found.why


def test_a_restricted_group_loses_its_file_system_without_its_environment() -> None:
    one, other = (cluster(RestrictedInstanceGroups=[group(EnvironmentConfig=environment)]) for environment in (OWN, None))
    found = row(one, other)
    assert (found.property, found.effect) == ("RestrictedInstanceGroups/workers/EnvironmentConfig", Effect.DATA_LOSS)
    assert row(one, cluster(RestrictedInstanceGroups=[group(EnvironmentConfig=LARGER)])).effect is Effect.NO_INTERRUPTION


@pytest.mark.parametrize(
    ("policy", "left", "goes"),
    [
        ("Keep", (), False),
        ("DeleteIfNotUsed", (), True),
        ("DeleteIfNotUsed", ("others",), False),
    ],
)
def test_a_shared_file_system_goes_with_the_last_group_unless_it_is_kept(policy: str, left: tuple[str, ...], goes: bool) -> None:
    kept = [group(name) for name in left]
    shared = {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": policy}}
    one, other = (
        cluster(RestrictedInstanceGroups=groups, RestrictedInstanceGroupsConfig=shared) for groups in ([*kept, group()], kept)
    )
    found = row(one, other)
    assert found.effect is Effect.DATA_LOSS
    assert ("the shared file system is deleted" in found.why) is goes


@pytest.mark.parametrize(("policy", "effect"), [("Keep", Effect.NO_INTERRUPTION), ("DeleteIfNotUsed", Effect.DATA_LOSS)])
def test_a_shared_environment_is_left(policy: str, effect: Effect) -> None:
    shared = {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": policy}}
    found = rows(cluster(RestrictedInstanceGroupsConfig=shared), cluster())
    assert effect in {one.effect for one in found}
    assert all(one.effect is Effect.NO_INTERRUPTION for one in found) is (effect is Effect.NO_INTERRUPTION)


def test_a_group_is_no_replacement_of_the_cluster() -> None:
    """References to the cluster stay the same."""
    gate = {"Type": "Custom::HyperPodReadinessGate", "Properties": {"ClusterArn": {"Ref": "Thing"}}}
    one, other = (template(Thing=cluster(*groups), Gate=gate) for groups in ((CONTROLLER, group()), (CONTROLLER,)))
    assert [found.resource for found in change(one, other).rows] == ["Thing"]


def test_the_order_of_groups_is_no_change() -> None:
    assert rows(cluster(CONTROLLER, group()), cluster(group(), CONTROLLER)) == ()


def test_unknown_groups_may_do_anything() -> None:
    unknown = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": {"Ref": "Groups"}}}
    found = row(cluster(CONTROLLER), unknown)
    assert (found.property, found.effect) == ("InstanceGroups", Effect.REPLACE)


def test_a_controller_group_without_its_node_is_a_removed_controller() -> None:
    found = row(
        cluster(group("controller", node_type="Controller", count=1)), cluster(group("controller", node_type="Controller", count=0))
    )
    assert (found.property, found.effect) == ("InstanceGroups/controller/InstanceCount", Effect.DATA_LOSS)
    assert "Slurm's queue" in found.why


@pytest.mark.parametrize(
    ("counts", "effect"),
    [((4, 8), Effect.NO_INTERRUPTION), ((4, 2), Effect.ROLLING), ((6, 2), Effect.ROLLING)],
)
def test_a_count_of_which_the_stage_decides(counts: tuple[int, int], effect: Effect) -> None:
    def of(*sizes: int) -> dict[str, Any]:
        count = {"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "Nodes"]}
        sections: dict[str, Any] = {
            "Parameters": {"Stage": {"Type": "String"}},
            "Mappings": {"Sizes": {stage: {"Nodes": size} for stage, size in zip(("dev", "prod"), sizes, strict=True)}},
        }
        return {**template(Cluster=cluster(CONTROLLER, group("gpu", count=count))), **sections}

    (found,) = change(of(4, 4), of(*counts)).rows
    assert found.effect is effect


def volume(key: str | None, *, root: bool = False) -> dict[str, Any]:
    given = {"RootVolume": True} if root else {"VolumeSizeInGB": 500}
    return {"EbsVolumeConfig": {**given, **({} if key is None else {"VolumeKmsKeyId": key})}}


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ([volume("a")], [volume("b")], Effect.REFUSED),
        ([volume("a", root=True), volume("a")], [volume("a"), volume("b", root=True)], Effect.REFUSED),
        ([volume("a")], [volume(None)], Effect.REFUSED),
        ([volume("a")], [volume("a"), volume("a", root=True)], Effect.NO_INTERRUPTION),
        ([volume("a", root=True), volume("a")], [volume("a"), volume("a", root=True)], Effect.NO_INTERRUPTION),
    ],
)
def test_a_group_keeps_the_keys_of_its_volumes(before: list[Any], after: list[Any], effect: Effect) -> None:
    found = row(cluster(group(InstanceStorageConfigs=before)), cluster(group(InstanceStorageConfigs=after)))
    assert found.effect is effect
