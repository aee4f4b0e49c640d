"""Properties by their schemas: one finding for one mistake, in the words of the rule that knows most."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.acknowledgement import Acknowledgement
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, findings, rules_of, slurm

GROUP, LUSTRE = "Cluster/InstanceGroups/2", "FileSystem/LustreConfiguration"

CASES = [
    Case("HP-SCH-001", slurm(), {"Cluster/NodeRecover": "Automatic"}, {}),
    Case("HP-SCH-001", slurm(), {f"{GROUP}/InstanceCounts": 4}, {}),
    Case("HP-SCH-001", slurm(), {"NodeSubnet/SubnetId": "subnet-0123456789abcdef0"}, {}),
    Case("HP-SCH-002", slurm(), {f"{GROUP}/InstanceCount": REMOVED}, {f"{GROUP}/InstanceCount": 1}),
    Case("HP-SCH-002", eks(), {"Control/RoleArn": REMOVED}, {}),
    Case("HP-SCH-003", slurm(), {f"{GROUP}/InstanceCount": "four"}, {f"{GROUP}/InstanceCount": "4"}),
    Case("HP-SCH-003", slurm(), {"FileSystem/SubnetIds": {"Ref": "NodeSubnet"}}, {"FileSystem/SubnetIds": [{"Ref": "NodeSubnet"}]}),
    Case("HP-SCH-004", slurm(), {"Cluster/NodeRecovery": "automatic"}, {"Cluster/NodeRecovery": "Automatic"}),
    Case("HP-SCH-004", slurm(), {"Cluster/ClusterName": "my_cluster"}, {"Cluster/ClusterName": "my-cluster"}),
    Case("HP-SCH-004", slurm(), {f"{GROUP}/ScheduledUpdateConfig": {"ScheduleExpression": "daily"}}, {}),
    Case("HP-REF-012", slurm(), {"NodeSubnet/VpcId": {"Ref": "NodeGroup"}}, {"NodeSubnet/VpcId": {"Ref": "Vpc"}}),
    Case("HP-SCH-006", slurm(), {"NodeSubnet/AvailabilityZoneId": "usw2-az1"}, {}),
    Case("HP-SCH-007", slurm(), {f"{LUSTRE}/DataCompressionType": "lz4"}, {f"{LUSTRE}/DataCompressionType": "LZ4"}),
]


TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:own"


def nat(**more: Any) -> dict[str, Any]:
    """A NAT gateway without an address."""
    return {"Type": "AWS::EC2::NatGateway", "Properties": {"SubnetId": {"Ref": "NodeSubnet"}, **more}}


CASES += [
    Case(
        "HP-SCH-007",
        slurm(),
        {"Own": {"Type": "Custom::Own"}},
        {"Own": {"Type": "Custom::Own", "Properties": {"ServiceToken": TOKEN}}},
    ),
    Case(
        "HP-SCH-007",
        slurm(),
        {"Own": {"Type": "Custom::Own", "Properties": {"ServiceToken": TOKEN, "ServiceTimeout": 7200}}},
        {"Own": {"Type": "Custom::Own", "Properties": {"ServiceToken": TOKEN, "ServiceTimeout": 3600, "Id": 1}}},
    ),
    Case("HP-SCH-007", slurm(), {"Gate": nat()}, {"Gate": nat(ConnectivityType="private")}),
    Case("HP-SCH-007", slurm(), {"Gate": nat()}, {"Gate": nat(AvailabilityMode="regional")}),
    Case("HP-SCH-007", slurm(), {"NodeDefaultRoute/TransitGatewayId": "tgw-0123456789abcdef0"}, {}),
    Case(
        "HP-SCH-004",
        slurm(),
        {"Scripts/BucketName": {"Fn::Sub": "sagemaker-Scripts-${AWS::AccountId}"}},
        {"Scripts/BucketName": {"Fn::Sub": "sagemaker-scripts-${AWS::AccountId}-${AWS::StackName}"}},
    ),
    Case(
        "HP-SCH-007",
        slurm(),
        {"Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": {"PasswordLength": 5000}}}},
        {"Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": {"PasswordLength": 32}}}},
    ),
    Case(
        "HP-SCH-007",
        slurm(),
        {"Scripts/Tags": [{"Key": "team", "Value": "a"}, {"Key": "team", "Value": "b"}]},
        {"Scripts/Tags": [{"Key": "team", "Value": "a"}, {"Key": "Team", "Value": "b"}]},
    ),
    Case(
        "HP-SCH-007",
        slurm(),
        {"Scripts/Tags": [{"Key": "aws:team", "Value": "a"}]},
        {"Scripts/Tags": [{"Key": "awsome", "Value": "a"}]},
    ),
    Case("HP-SCH-009", slurm(), {f"{GROUP}/InstanceType": "ml.p9.48xlarge"}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({f"{GROUP}/ExecutionRole": {"Ref": "Role"}}, "HP-REF-012"),
        ({"NodeSubnet/AvailabilityZone": "usw2-az1"}, "HP-SUB-013"),
        ({"FileSystem/LustreConfiguration/PerUnitStorageThroughput": 5}, "HP-FSX-001"),
        ({f"{GROUP}/LifeCycleConfig": {"OnCreate": "a.sh"}}, "HP-SCR-002"),
    ],
)
def test_a_rule_that_knows_more_speaks_alone(changes: dict[str, Any], rule: str) -> None:
    assert [one.rule for one in findings(edited(slurm(), changes))] == [rule]


def test_a_name_unlike_all_others_may_be_one_of_few_that_are_missing() -> None:
    template = slurm()
    life_cycle = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][-1]["LifeCycleConfig"]
    life_cycle["OnStart"] = life_cycle.pop("OnInitComplete")
    assert rules_of(template) == ["HP-SCH-001"]


def test_another_property_of_the_same_resource_is_another_mistake() -> None:
    wrong = {"NodeSubnet/AvailabilityZone": "usw2-az1", "NodeSubnet/MapPublicIpOnLaunch": "never"}
    assert rules_of(edited(slurm(), wrong)) == ["HP-SUB-013", "HP-SCH-003"]


def test_an_error_of_the_schema_speaks_instead_of_a_warning() -> None:
    first = eks()["Resources"]["Cluster"]["Properties"]["InstanceGroups"][0]
    few, many = ([{**first, "InstanceCount": 0, "InstanceGroupName": f"g{n}"} for n in range(count)] for count in (21, 101))
    assert {one.rule for one in findings(edited(eks(), {"Cluster/InstanceGroups": few}))} == {"HP-LIM-002"}
    assert {one.rule for one in findings(edited(eks(), {"Cluster/InstanceGroups": many}))} == {"HP-SCH-004"}


@pytest.mark.parametrize(("former", "changes"), [("HP-FSX-013", {f"{LUSTRE}/DataCompressionType": "lz4"})])
def test_an_acknowledgement_of_a_former_rule_counts(former: str, changes: dict[str, Any]) -> None:
    model = Model.of({"t": edited(slurm(), changes)})
    assert [one.rule for one in check(model)] == ["HP-SCH-007"]
    assert check(model, [Acknowledgement(rule=former, reason="tried")]) == []


def test_where_cdk_validates_only_the_service_s_own_limits_are_said() -> None:
    wrong = edited(slurm(), {f"{LUSTRE}/DataCompressionType": "lz4", "Cluster/NodeRecovery": "automatic"})
    assert [one.rule for one in check(Model.of({"t": wrong}), validated=True)] == ["HP-SCH-007"]
    assert {one.id for one in load_catalogue().values() if one.validated} == {
        f"HP-SCH-0{number:02}" for number in (1, 2, 3, 4, 5, 6, 8, 9)
    }


def _in(region: str, template: dict[str, Any]) -> list[tuple[str, Level, str]]:
    model = Model([Document(name="t", body=raw_template(template), environment=Environment(region=region))])
    return [(one.rule, one.level, one.message) for one in check(model) if one.rule.startswith("HP-SCH")]


def test_a_type_that_the_region_lacks_is_a_warning_with_the_date() -> None:
    found = _in("eu-west-3", slurm())
    assert [one[:2] for one in found] == [("HP-SCH-008", Level.WARNING)]
    assert found[0][2].startswith("eu-west-3 had no AWS::SageMaker::Cluster on 2026-")
    assert _in("us-west-2", slurm()) == []


def test_an_unknown_type_is_a_warning_with_the_nearest() -> None:
    ((rule, level, message),) = _in("us-west-2", {"Resources": {"A": {"Type": "AWS::SageMaker::Clusters"}}})
    assert (rule, level) == ("HP-SCH-008", Level.WARNING)
    assert message.endswith("; the nearest is AWS::SageMaker::Cluster")
    ((rule, _, message),) = _in("us-west-2", {"Resources": {"A": {"Type": "AWS::Efs::FileSystem"}}})
    assert (rule, message.partition("; ")[2]) == ("HP-SCH-008", "the nearest is AWS::EFS::FileSystem")
    assert (
        _in(
            "us-west-2",
            {"Resources": {"A": {"Type": "AWS::Nowhere::Thing"}, "B": {"Type": "Custom::X", "Properties": {"ServiceToken": "x"}}}},
        )
        == []
    )


def test_an_instance_type_that_the_region_lacks_is_a_warning() -> None:
    template = edited(slurm(), {f"{GROUP}/InstanceType": "ml.trn2.48xlarge"})
    ((rule, level, message),) = _in("us-west-2", template)
    assert (rule, level) == ("HP-SCH-009", Level.WARNING)
    assert message.startswith("us-west-2 had no ml.trn2.48xlarge on 2026-")
    assert _in("us-east-2", template) == []
