from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import eks, rules_of

TYPE = "Cluster/InstanceGroups/1/InstanceType"


def values(**given: Any) -> dict[str, Any]:
    return {"Chart/Values": json.dumps({key.replace("_", "-"): value for key, value in given.items()})}


OPERATOR = values(gpu_operator={"enabled": True})
MIG = values(gpu_operator={"enabled": True}, nvidia_device_plugin={"devicePlugin": {"enabled": False}})
LISTED = values(nvidia_device_plugin={"affinity": {"values": ["ml.g4dn.xlarge"]}})
GOVERNANCE = {"AddonName": "amazon-sagemaker-hyperpod-taskgovernance", "ClusterName": {"Ref": "Control"}}
ENTRY = {"InstanceType": "ml.p5.48xlarge", "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 7}}
ARN = {"Fn::GetAtt": ["Cluster", "ClusterArn"]}
DIVIDED = edited(
    eks(),
    {
        **MIG,
        "Governance": {"Type": "AWS::EKS::Addon", "DependsOn": "Cluster", "Properties": GOVERNANCE},
        "Policy": {
            "Type": "AWS::SageMaker::ClusterSchedulerConfig",
            "DependsOn": "Governance",
            "Properties": {"Name": "policy", "ClusterArn": ARN, "SchedulerConfig": {"FairShare": "Enabled"}},
        },
        "Quota": {
            "Type": "AWS::SageMaker::ComputeQuota",
            "DependsOn": "Governance",
            "Properties": {
                "Name": "research",
                "ClusterArn": ARN,
                "ComputeQuotaTarget": {"TeamName": "research"},
                "ComputeQuotaConfig": {"ComputeQuotaResources": [ENTRY]},
            },
        },
    },
)
NO_GPUS = values(nvidia_device_plugin={"devicePlugin": {"enabled": False}})
NO_NEURON = values(neuron_device_plugin={"devicePlugin": {"enabled": False}})
NO_EFA = values(aws_efa_k8s_device_plugin={"devicePlugin": {"enabled": False}})
NO_AGENT = values(health_monitoring_agent={"enabled": False})
CERTIFICATES = {
    "Type": "AWS::EKS::Addon",
    "DependsOn": "Cluster",
    "Properties": {"AddonName": "cert-manager", "ClusterName": {"Ref": "Control"}},
}
OWN: dict[str, Any] = {
    "Type": "Custom::AWSCDK-EKS-HelmChart",
    "Properties": {
        **eks()["Resources"]["Chart"]["Properties"],
        "Release": "nvidia",
        "Chart": "nvidia-device-plugin",
        "Values": "{}",
    },
}
AGENT = {**OWN, "Properties": {**OWN["Properties"], "Release": "health-monitoring-agent", "Chart": "agent"}}
CASES = [
    Case("HP-CHT-002", eks(), OPERATOR, MIG),
    Case("HP-CHT-006", eks(), values(deep_health_check={"enabled": False}), values(deep_health_check={"enabled": True})),
    Case("HP-CHT-007", eks(), {"Chart/Namespace": "Kube-System"}, {"Chart/Namespace": "team-a"}),
    Case("HP-CHT-003", eks(), {TYPE: "ml.g4dn.xlarge"}, {TYPE: "ml.g4dn.xlarge", **LISTED}),
    Case("HP-CHT-003", eks(), {**LISTED, TYPE: "ml.g5.xlarge"}, {TYPE: "ml.g5.xlarge"}),
    Case("HP-CHT-003", eks(), NO_GPUS, MIG),
    Case("HP-CHT-003", eks(), {TYPE: "ml.trn2.48xlarge", **NO_NEURON}, NO_NEURON),
    Case("HP-CHT-003", eks(), NO_GPUS, {**NO_GPUS, "Plugin": OWN}),
    Case("HP-CHT-003", eks(), NO_EFA, {**NO_EFA, TYPE: "ml.m5.xlarge"}),
    Case("HP-CHT-008", eks(), NO_AGENT, {**NO_AGENT, "Cluster/NodeRecovery": "None"}),
    Case("HP-CHT-008", eks(), NO_AGENT, {**NO_AGENT, "Agent": AGENT}),
    Case(
        "HP-CHT-002",
        eks(),
        {**values(cert_manager={"enabled": True}), "Certificates": CERTIFICATES},
        {"Certificates": CERTIFICATES},
    ),
    Case("HP-CHT-004", DIVIDED, values(), {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("region", "given", "found"),
    [
        ("us-west-2", {"Chart/Values": '{"global": {"region": "us-east-1"}}'}, ["HP-CHT-001"]),
        ("us-west-2", {"Chart/Values": '{"global": {"region": "us-west-2"}}'}, []),
        ("us-west-2", {}, []),
        ("us-west-2", {"Chart/Values": {"Fn::Sub": '{"global": {"region": "${AWS::Region}"}}'}}, []),
        ("ap-northeast-2", {}, ["HP-CHT-005"]),
        ("ap-northeast-2", values(health_monitoring_agent={"enabled": False}), []),
    ],
)
def test_the_chart_is_for_the_region_of_its_stack(region: str, given: dict[str, Any], found: list[str]) -> None:
    document = Document(name="t", body=edited(eks(), given), environment=Environment(region=region))
    assert [one.rule for one in check(Model([document])) if one.rule.startswith("HP-CHT")] == found


@pytest.mark.parametrize("text", ["[]", "{", {"Ref": "AWS::StackName"}])
def test_unknown_values_are_not_judged(text: Any) -> None:
    assert rules_of(edited(eks(), {"Chart/Values": text, TYPE: "ml.g4dn.xlarge"}), rules="HP-CHT") == []


OFF = {"health-monitoring-agent": {"enabled": True}, "deep-health-check": {"enabled": False}}
TWICE = {"gpu-operator": {"enabled": "true"}, "nvidia-device-plugin": {"devicePlugin": {"enabled": True}}}


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"Values": OFF}, "HP-CHT-006"),
        ({"ChartValues": json.dumps(OFF)}, "HP-CHT-006"),
        ({"HelmValues": "deep-health-check: {enabled: false}"}, "HP-CHT-006"),
        ({"Values": TWICE}, "HP-CHT-002"),
        ({"Values": {**OFF, "deep-health-check": {"enabled": "true"}}}, None),
        ({"Values": {**OFF, "deep-health-check": {"enabled": {"Fn::GetAtt": ["Function", "Arn"]}}}}, None),
        ({"Values": {"Fn::GetAtt": ["Function", "Arn"]}}, None),
        ({"OtherSettings": OFF}, None),
    ],
)
def test_the_values_are_known_that_a_custom_resource_of_the_user_has(given: dict[str, Any], rule: str | None) -> None:
    token = {"Fn::GetAtt": ["Function", "Arn"]}
    made = {"ServiceToken": token, "ClusterName": {"Ref": "Control"}, "Chart": "hyperpod.tgz", **given}
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": "arn:aws:iam::123456789012:role/installer",
        "Code": {"S3Bucket": "artifacts", "S3Key": "installer.zip"},
    }
    changes = {
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Chart": {"Type": "Custom::HelmChart", "Properties": made},
    }
    found = [one for one in rules_of(edited(eks(), changes)) if one in ("HP-CHT-002", "HP-CHT-006")]
    assert found == ([] if rule is None else [rule])


@pytest.mark.parametrize(
    ("kind", "properties", "variables", "wrong"),
    [
        ("Custom::HelmChart", {}, {"TARGET_NAMESPACE": "team_a"}, True),
        ("Custom::HelmChart", {"ReleaseName": "a" * 54}, {}, True),
        ("Custom::Install", {"HelmRelease": "x", "ServiceAccount": "Installer"}, {}, True),
        ("AWS::CloudFormation::CustomResource", {"HelmRepository": "x", "Namespace": {"Fn::Sub": "${AWS::Region}_a"}}, {}, True),
        ("Custom::HelmChart", {"Namespace": "team-a", "ReleaseName": "a.b"}, {"SERVICE_ACCOUNT": "a.b"}, False),
        ("Custom::HelmChart", {"Namespace": {"Ref": "AWS::StackName"}}, {"RELEASE_NAME": ""}, False),
        ("Custom::HelmChart", {}, {"METRIC_NAMESPACE": "Team/Charts", "METRICS_NAMESPACE": "Team", "NAMES": "A_b"}, False),
        ("Custom::Metrics", {"Namespace": "Team/Charts"}, {"NAMESPACE": "Team/Charts"}, False),
    ],
)
def test_names_of_kubernetes_are_known_where_a_function_installs_a_chart(
    kind: str, properties: dict[str, Any], variables: dict[str, Any], wrong: bool
) -> None:
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": "arn:aws:iam::123456789012:role/installer",
        "Code": {"S3Bucket": "artifacts", "S3Key": "installer.zip"},
        "Environment": {"Variables": variables},
    }
    made = {"Type": kind, "Properties": {"ServiceToken": {"Fn::GetAtt": ["Installer", "Arn"]}, **properties}}
    template = edited(eks(), {"Installer": {"Type": "AWS::Lambda::Function", "Properties": function}, "Made": made})
    assert ("HP-CHT-007" in rules_of(template)) is wrong
