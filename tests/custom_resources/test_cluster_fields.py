from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack, assertions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs import (
    ClusterFields,
    ClusterInstanceType,
    ClusterNetwork,
    DrainPatching,
    EbsVolume,
    GroupFields,
    HyperPodCluster,
    IdlePatching,
    InstanceGroup,
    LifecycleScripts,
    OnDrainTimeout,
    RestrictedGroupFields,
    SlurmNodeType,
)

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
KEY = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"
EXISTING = HyperPodCluster.from_cluster_arn(ARN)
M5 = ClusterInstanceType.M5_XLARGE
CONTROLLER = InstanceGroup(name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=M5, count=1)
MULTI = GroupFields(multi_node_training_validation=True)
BATCHES = sagemaker.CfnCluster.DeploymentConfigProperty(
    rolling_update_policy=sagemaker.CfnCluster.RollingUpdatePolicyProperty(
        maximum_batch_size=sagemaker.CfnCluster.CapacitySizeConfigProperty(type="INSTANCE_COUNT", value=2)
    ),
    wait_interval_in_seconds=60,
)


@dataclass
class Plain:
    """A cluster of an app that has only the L1."""

    resource: sagemaker.CfnCluster
    cluster_arn: str


@dataclass
class Schedule:
    """A value object that renders an L1 struct."""

    expression: str

    def render(self) -> sagemaker.CfnCluster.ScheduledUpdateConfigProperty:
        return sagemaker.CfnCluster.ScheduledUpdateConfigProperty(schedule_expression=self.expression)


def plain(stack: Stack, *groups: dict[str, Any], eks: bool = False, id: str = "Cluster") -> Plain:
    orchestrator = {"eks": {"clusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}} if eks else {"slurm": {}}
    whole = [{"instanceCount": 1, "executionRole": "arn:aws:iam::123456789012:role/r", **group} for group in groups]
    made = sagemaker.CfnCluster(stack, id, orchestrator=orchestrator, instance_groups=whole)
    return Plain(made, made.attr_cluster_arn)


def only(stack: Stack) -> Any:
    [resource] = assertions.Template.from_stack(stack).find_resources("Custom::HyperPodClusterFields").values()
    return resource["Properties"]


def errors(stack: Stack) -> list[str]:
    found = assertions.Annotations.from_stack(stack).find_error("*", assertions.Match.any_value())
    return [str(item.entry.data) for item in found]


def policy(stack: Stack) -> list[Any]:
    found = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    [made] = [resource for name, resource in found.items() if name.startswith("FieldsPolicy")]
    return list(made["Properties"]["PolicyDocument"]["Statement"])


def test_the_fields_have_the_names_of_the_api(stack: Stack) -> None:
    date = datetime(2026, 12, 1, 6, tzinfo=timezone(timedelta(hours=1)))
    drain = DrainPatching(
        deployment_config=BATCHES, drain_timeout_in_seconds=60, on_drain_timeout=OnDrainTimeout.FORCE, next_patch_date=date
    )
    cluster = plain(
        stack, {"instanceGroupName": "a"}, {"instanceGroupName": "b", "autoPatchConfig": {"patchingStrategy": "WhenIdle"}}, eks=True
    )
    idle = GroupFields(auto_patch=IdlePatching(idle_wait_window_in_seconds=3600), multi_node_training_validation=True)
    ClusterFields(stack, "Fields", cluster=cluster, groups={"a": GroupFields(auto_patch=drain), "b": idle})
    first, second = only(stack)["Groups"]
    assert first == {
        "Name": "a",
        "Kind": "InstanceGroups",
        "Fields": {
            "AutoPatchConfig": {
                "PatchingStrategy": "DrainFirst",
                "DeploymentConfig": {
                    "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}},
                    "WaitIntervalInSeconds": 60,
                },
                "DrainPolicy": {"DrainTimeoutInSeconds": 60, "OnDrainTimeout": "Force"},
                "PatchSchedule": {"NextPatchDate": "2026-12-01T05:00:00Z"},
            }
        },
    }
    assert second["Fields"] == {
        "AutoPatchConfig": {"IdleWaitWindowInSeconds": 3600},
        "OnStartDeepHealthChecks": ["MultiNodeTrainingValidation"],
    }
    assert errors(stack) == []


def test_restricted_groups_take_a_schedule(stack: Stack) -> None:
    fields = RestrictedGroupFields(scheduled_update_config=Schedule("cron(0 0 ? * SUN *)"))
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/r")
    ClusterFields(stack, "Fields", cluster=EXISTING, restricted_groups={"nova": fields}, execution_roles=[role])
    [group] = only(stack)["Groups"]
    assert group["Kind"] == "RestrictedInstanceGroups"
    assert group["Fields"] == {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 ? * SUN *)"}}
    assert only(stack)["Follows"] == only(stack)["Stated"] == []


def test_permissions_are_for_one_cluster_and_the_roles_of_its_groups(stack: Stack) -> None:
    late = iam.Role(stack, "Late", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    cluster = HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.none())
    fields = ClusterFields(stack, "Fields", cluster=cluster, groups={"workers": MULTI})
    cluster.add_instance_group(
        InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=1, execution_role=late)
    )
    update, passes = policy(stack)
    assert update == {
        "Action": ["sagemaker:DescribeCluster", "sagemaker:UpdateCluster"],
        "Effect": "Allow",
        "Resource": stack.resolve(cluster.cluster_arn),
    }
    assert passes["Action"] == "iam:PassRole"
    assert {json.dumps(role) for role in passes["Resource"]} == {
        json.dumps(stack.resolve(role.role_arn)) for role in (late, cluster.execution_role)
    }
    assert passes["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    assert [stack.resolve(item)["Fn::GetAtt"][1] for item in (fields.drift, fields.left_out)] == ["Drift", "LeftOut"]


def test_permits_the_keys_of_volumes_and_the_entries_of_eks_only_where_they_are() -> None:
    def statements(*, eks: bool = False, **members: Any) -> list[Any]:
        stack = Stack(App(), "Stack")
        cluster = plain(stack, {"instanceGroupName": "a", **members}, eks=eks)
        ClusterFields(stack, "Fields", cluster=cluster, groups={"a": MULTI})
        return policy(stack)[2:]

    volumes = [{"ebsVolumeConfig": {"volumeSizeInGb": 500}}, {"ebsVolumeConfig": {"volumeKmsKeyId": KEY}}]
    assert statements(instanceStorageConfigs=volumes[:1]) == []
    [keys] = statements(instanceStorageConfigs=volumes * 2)
    assert (keys["Action"], keys["Resource"]) == (["kms:CreateGrant", "kms:DescribeKey"], KEY)
    [by_id] = statements(instanceStorageConfigs=[{"ebsVolumeConfig": {"volumeKmsKeyId": KEY.rpartition("/")[2]}}])
    assert json.dumps(by_id["Resource"]).count(f":key/{KEY.rpartition('/')[2]}") == 1
    assert set(keys["Condition"]["StringEquals"]) == {"kms:ViaService"}
    cluster, entries = statements(eks=True)
    assert (cluster["Action"], cluster["Resource"]) == (
        ["eks:CreateAccessEntry", "eks:DescribeCluster"],
        "arn:aws:eks:us-west-2:123456789012:cluster/k",
    )
    assert entries["Action"] == ["eks:AssociateAccessPolicy", "eks:DeleteAccessEntry", "eks:DescribeAccessEntry"]
    assert json.dumps(entries["Resource"]).endswith(':access-entry/k/*"]]}')


def follows(count: Any, **members: Any) -> list[Any]:
    stack = Stack(App(), "Stack")
    if count is None:
        count = CfnParameter(stack, "Count", type="Number").value_as_number
    cluster = plain(stack, {"instanceGroupName": "a", "instanceCount": count, **members})
    ClusterFields(stack, "Fields", cluster=cluster, groups={"a": MULTI})
    found: list[Any] = only(stack)["Follows"]
    return found


def test_runs_again_after_each_change_of_the_cluster_and_only_then() -> None:
    assert follows(1) == follows(1)
    assert follows(1) != follows(2)
    assert follows(1) != follows(1, threadsPerCore=1)
    assert follows(None)[1:] == [{"Ref": "Count"}]


def test_values_of_another_stack_are_imported() -> None:
    app = App()
    other = Stack(app, "Other")
    network = ClusterNetwork(other, "Network", availability_zone_id="usw2-az4")
    group = replace(CONTROLLER, ebs_volumes=(EbsVolume(size_gb=500, kms_key=kms.Key(other, "Key")),))
    role = iam.Role(other, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    stack = Stack(app, "Stack")
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        instance_groups=[group],
        execution_role=role.without_policy_updates(),
        lifecycle_scripts=LifecycleScripts.none(),
    )
    ClusterFields(stack, "Fields", cluster=cluster, groups={"controller": MULTI})
    imported = [value for value in only(stack)["Follows"] if "Fn::ImportValue" in value]
    assert len(imported) == 4, "the subnet, the security group, the key and the role"
    assert ["Fn::ImportValue" in json.dumps(statement["Resource"]) for statement in policy(stack)] == [False, True, True]


def test_says_what_the_template_states(stack: Stack) -> None:
    cluster = plain(stack, {"instanceGroupName": "a", "imageId": "ami-0123456789abcdef0"})
    ClusterFields(stack, "Fields", cluster=cluster, groups={"a": MULTI})
    assert only(stack)["Stated"] == ["a/ExecutionRole", "a/ImageId", "a/InstanceCount", "a/InstanceGroupName"]


@pytest.mark.parametrize(
    ("fields", "config", "eks", "message"),
    [
        ({"b": MULTI}, None, False, "group 'b' has fields; the cluster has 'a'; write one of these names"),
        ({"a": GroupFields(auto_patch=DrainPatching(deployment_config=BATCHES))}, None, False, "on clusters that EKS orchestrates"),
        (
            {"a": GroupFields(auto_patch=DrainPatching(deployment_config=BATCHES))},
            "WhenIdle",
            True,
            "has the strategy WhenIdle in the",
        ),
        (
            {"a": GroupFields(auto_patch=IdlePatching(idle_wait_window_in_seconds=3600))},
            None,
            True,
            "has no AutoPatchConfig in the",
        ),
    ],
)
def test_fails_at_synthesis_for_fields_beside_the_cluster(
    stack: Stack, fields: dict[str, GroupFields], config: str | None, eks: bool, message: str
) -> None:
    patch = {} if config is None else {"autoPatchConfig": {"patchingStrategy": config}}
    ClusterFields(stack, "Fields", cluster=plain(stack, {"instanceGroupName": "a", **patch}, eks=eks), groups=fields)
    [error] = errors(stack)
    assert message in error


@pytest.mark.parametrize("seconds", [3599, 2_160_001])
def test_fails_for_a_window_beyond_the_limits(seconds: int) -> None:
    with pytest.raises(ValueError, match=r"idle_wait_window_in_seconds is .*; allowed: 3600 to 2160000"):
        IdlePatching(idle_wait_window_in_seconds=seconds)


@pytest.mark.parametrize("seconds", [-1, 5401])
def test_fails_for_a_timeout_beyond_the_limits(seconds: int) -> None:
    with pytest.raises(ValueError, match=r"drain_timeout_in_seconds is .*; allowed: 0 to 5400"):
        DrainPatching(deployment_config=BATCHES, drain_timeout_in_seconds=seconds)


def test_fails_without_a_field_a_time_zone_or_a_role(stack: Stack) -> None:
    for kind in (IdlePatching, GroupFields, RestrictedGroupFields):
        with pytest.raises(ValueError, match="has no field"):
            kind()
    with pytest.raises(ValueError, match="2026-12-01T00:00:00, without a time zone"):
        IdlePatching(next_patch_date=datetime(2026, 12, 1))
    assert IdlePatching(next_patch_date=datetime(2026, 12, 1, tzinfo=UTC)).render()
    with pytest.raises(ValueError, match="Stack/A: no group has fields"):
        ClusterFields(stack, "A", cluster=EXISTING)
    with pytest.raises(ValueError, match="Stack/B: the roles of an existing cluster are unknown"):
        ClusterFields(stack, "B", cluster=EXISTING, groups={"a": MULTI})


def test_tokens_pass(stack: Stack) -> None:
    number = CfnParameter(stack, "Seconds", type="Number").value_as_number
    patch = IdlePatching(idle_wait_window_in_seconds=number)  # type: ignore[arg-type]  # an encoded token is a float
    cluster = plain(stack, {"instanceGroupName": "a", "autoPatchConfig": {"patchingStrategy": "WhenIdle"}})
    ClusterFields(stack, "Fields", cluster=cluster, groups={"a": GroupFields(auto_patch=patch)})
    assert only(stack)["Groups"][0]["Fields"] == {"AutoPatchConfig": {"IdleWaitWindowInSeconds": {"Ref": "Seconds"}}}
