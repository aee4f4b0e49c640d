from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hyperpod_constructs
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, eks, rules_of

SYSTEM = "Cluster/InstanceGroups/0"
WITHOUT_CHART = {"Chart": REMOVED, "Cluster/.DependsOn/0": "Cni"}
ELSEWHERE = "arn:aws:eks:us-west-2:123456789012:cluster/elsewhere"


def _action(name: str, category: str, provider: str, artifacts: str, **configuration: str) -> dict[str, Any]:
    kind = {"Category": category, "Owner": "AWS", "Provider": provider, "Version": "1"}
    action = {"Name": name, "ActionTypeId": kind, artifacts: [{"Name": "charts"}], "Configuration": configuration}
    return {"Name": name, "Actions": [action]}


PIPELINE = {
    "RoleArn": "arn:aws:iam::123456789012:role/pipeline",
    "ArtifactStore": {"Type": "S3", "Location": "charts-123456789012"},
    "Stages": [
        _action("Source", "Source", "S3", "OutputArtifacts", S3Bucket="charts-123456789012", S3ObjectKey="charts.zip"),
        _action("Install", "Build", "CodeBuild", "InputArtifacts", ProjectName="charts"),
    ],
}
WRITTEN = {"AWS::CodePipeline::Pipeline": PIPELINE, "AWS::CloudFormation::WaitCondition": {"Count": 1}}


def installer(type_: str) -> dict[str, Any]:
    properties = WRITTEN.get(type_, {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}})
    return {**WITHOUT_CHART, "Installer": {"Type": type_, "Properties": properties}, "Cluster/.DependsOn": ["Cni", "Installer"]}


CAPABILITY = {
    "Type": "AWS::EKS::Capability",
    "Properties": {
        "CapabilityName": "argo",
        "ClusterName": {"Ref": "Control"},
        "DeletePropagationPolicy": "RETAIN",
        "RoleArn": "arn:aws:iam::123456789012:role/argo",
        "Type": "ARGOCD",
        "Configuration": {"ArgoCd": {"AwsIdc": {"IdcInstanceArn": "arn:aws:sso:::instance/ssoins-1234567890abcdef"}}},
    },
}
LUSTRE = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}

VPC = {"Type": "AWS::EC2::VPC", **KEPT, "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}}
FROM_NODES = {
    "Type": "AWS::EC2::SecurityGroupIngress",
    "Properties": {
        "GroupId": {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]},
        "SourceSecurityGroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]},
        "IpProtocol": "-1",
    },
}
TO_NODES = {
    "Type": "AWS::EC2::SecurityGroupIngress",
    "Properties": {
        "GroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]},
        "SourceSecurityGroupId": {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]},
        "IpProtocol": "-1",
    },
}


def entry(kind: str) -> dict[str, Any]:
    properties = {"ClusterName": {"Ref": "Control"}, "PrincipalArn": {"Fn::GetAtt": ["Role", "Arn"]}, "Type": kind}
    return {"Type": "AWS::EKS::AccessEntry", "Properties": properties}


def nodes(**given: Any) -> dict[str, Any]:
    role = "arn:aws:iam::123456789012:role/nodes"
    properties = {"ClusterName": {"Ref": "Control"}, "NodeRole": role, "Subnets": [{"Ref": "NodeSubnet"}], **given}
    return {"Type": "AWS::EKS::Nodegroup", "Properties": properties}


BUILD = ".4-20251101"
"""The end of the version of an image of Amazon Linux."""
OWN_CHART = installer("Custom::HyperPodChart")

CONTINUOUS = edited(eks(), {"Cluster/NodeProvisioningMode": "Continuous"})


def in_zone(id: Any) -> dict[str, Any]:
    """The second subnet of the control plane is in the zone with this id."""
    return {"ControlSubnet2/AvailabilityZone": REMOVED, "ControlSubnet2/AvailabilityZoneId": id}


CASES = [
    Case("HP-EKS-001", eks(), {"Cluster/VpcConfig": REMOVED}, {}),
    Case("HP-EKS-002", eks(), {"Control/Version": "1.30"}, {"Control/Version": "1.31"}),
    Case("HP-EKS-003", eks(), {"Control/Version": "1.36"}, {"Control/Version": "1.35"}),
    Case("HP-EKS-004", eks(), {"Control/AccessConfig": REMOVED}, {"Control/AccessConfig/AuthenticationMode": "API"}),
    Case(
        "HP-EKS-004",
        edited(eks(), {"Cluster/Orchestrator/Eks/ClusterArn": {"Fn::Sub": "${Control.Arn}"}}),
        {"Control/AccessConfig/AuthenticationMode": "CONFIG_MAP"},
        {},
    ),
    Case(
        "HP-EKS-006",
        eks(),
        {f"{SYSTEM}/LifeCycleConfig/OnCreate": REMOVED, f"{SYSTEM}/LifeCycleConfig/OnInitComplete": "on_init_complete.sh"},
        {},
    ),
    Case("HP-EKS-007", eks(), {f"{SYSTEM}/InstanceStorageConfigs/1": {"FsxLustreConfig": LUSTRE}}, {}),
    Case(
        "HP-EKS-010",
        eks(),
        {"Cluster/TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 10}},
        {"Cluster/TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}},
    ),
    Case("HP-EKS-008", eks(), {"Cluster/.DependsOn": ["Cni"]}, {"Cluster/.DependsOn": ["Chart"]}),
    Case("HP-EKS-008", eks(), {**OWN_CHART, "Cluster/.DependsOn": ["Cni"]}, OWN_CHART),
    *(
        Case("HP-EKS-017", eks(), {**WITHOUT_CHART, **beside}, installer(kind))
        for beside, kind in (
            ({}, "Custom::AWSCDK-EKS-HelmChart"),
            ({}, "Custom::AWSCDK-EKS-KubernetesResource"),
            ({}, "Custom::Installer"),
            ({}, "Custom::HyperPodChart"),
            ({}, "AWS::CloudFormation::CustomResource"),
            ({}, "AWS::CloudFormation::WaitCondition"),
            ({}, "AWSQS::Kubernetes::Helm"),
            ({"Other": installer("Custom::S3AutoDeleteObjects")["Installer"]}, "AWS::CodePipeline::Pipeline"),
            ({"Other": installer("Custom::HyperPodReadinessGate")["Installer"]}, "AWS::CodePipeline::Pipeline"),
        )
    ),
    Case("HP-EKS-017", eks(), WITHOUT_CHART, {**WITHOUT_CHART, "Argo": CAPABILITY}),
    Case("HP-EKS-017", eks(), WITHOUT_CHART, {**WITHOUT_CHART, "Cluster/Orchestrator/Eks/ClusterArn": ELSEWHERE}),
    Case("HP-EKS-011", eks(), {"ControlSubnet2/AvailabilityZone": "us-west-2a"}, {}),
    Case("HP-EKS-011", eks(), in_zone("use1-az3"), in_zone({"Ref": "AWS::StackName"})),
    Case("HP-EKS-011", eks(), {"Control/ResourcesVpcConfig/SubnetIds": [{"Ref": "ControlSubnet1"}]}, {}),
    Case(
        "HP-EKS-012",
        edited(eks(), {"Control/ResourcesVpcConfig/SecurityGroupIds": ["sg-0123456789abcdef0"]}),
        {"Elsewhere": VPC, **{f"ControlSubnet{one}/VpcId": {"Ref": "Elsewhere"} for one in (1, 2)}},
        {},
    ),
    Case("HP-REACH-001", eks(), {"Control/ResourcesVpcConfig/SecurityGroupIds": REMOVED}, {}),
    Case(
        "HP-REACH-001",
        eks(),
        {"Control/ResourcesVpcConfig/SecurityGroupIds": REMOVED},
        {"Control/ResourcesVpcConfig/SecurityGroupIds": REMOVED, "FromNodes": FROM_NODES, "ToNodes": TO_NODES},
    ),
    Case("HP-EKS-014", eks(), {"Entry": entry("STANDARD")}, {"Entry": entry("HYPERPOD_LINUX")}),
    Case("HP-EKS-014", eks(), {"Nodes": nodes(NodeRole={"Fn::GetAtt": ["Role", "Arn"]})}, {"Nodes": nodes()}),
    Case("HP-EKS-018", eks(), {"Cluster/Orchestrator/Slurm": {}}, {}),
    Case("HP-EKS-018", CONTINUOUS, {"Cluster/Orchestrator/Slurm": {"SlurmConfigStrategy": "Managed"}}, {}),
    Case(
        "HP-EKS-019",
        eks(),
        {f"{SYSTEM}/KubernetesConfig": {"Labels": {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}}},
        {f"{SYSTEM}/KubernetesConfig": {"Labels": {"example.com/pool": "system"}}},
    ),
    Case("HP-TXT-012", eks(), {"Nodes": nodes(Version="1.34")}, {"Nodes": nodes(Version="1.33")}),
    Case("HP-EKS-016", eks(), {"Nodes": nodes(Version="1.29")}, {"Nodes": nodes(Version="1.30")}),
    Case("HP-EKS-016", eks(), {"Nodes": nodes(ReleaseVersion=f"1.32{BUILD}")}, {"Nodes": nodes(ReleaseVersion=f"1.33{BUILD}")}),
    Case(
        "HP-EKS-016",
        eks(),
        {"Nodes": nodes(ReleaseVersion=f"1.33{BUILD}", Version="1.32")},
        {"Nodes": nodes(ReleaseVersion="1.53.0-5257eb34", AmiType="BOTTLEROCKET_x86_64")},
    ),
]


OWN_TYPES = sorted(
    type_
    for module in (Path(hyperpod_constructs.__file__).parent / "custom_resources").glob("*.py")
    for type_ in re.findall(r"Custom::HyperPod\w+", module.read_text("utf-8"))
)


@pytest.mark.parametrize("type_", OWN_TYPES)
def test_custom_resources_of_this_library_install_no_chart(type_: str) -> None:
    assert "HP-EKS-017" in rules_of(edited(eks(), installer(type_)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_the_custom_resource_of_the_older_construct_library_is_judged_too() -> None:
    config = {"version": "1.33", "roleArn": {"Fn::GetAtt": ["ControlRole", "Arn"]}, "accessConfig": {"authenticationMode": "API"}}
    base = edited(
        eks(),
        {"Control": {"Type": "Custom::AWSCDK-EKS-Cluster", "Properties": {"ServiceToken": "arn", "Config": config}}},
    )
    Case("HP-EKS-004", base, {"Control/Config/accessConfig": {"authenticationMode": "CONFIG_MAP"}}, {}).check()
    Case("HP-EKS-002", base, {"Control/Config/version": "1.28"}, {}).check()
