"""Managed node groups of EKS, their launch templates and images, and identities of service accounts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks, findings, rules_of


def att(name: str, attribute: str = "Arn") -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


def trusting(statement: dict[str, Any], *policies: str) -> Template:
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]}
    managed = [f"arn:aws:iam::aws:policy/{name}" for name in policies]
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document, "ManagedPolicyArns": managed}}


WORKER = ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly")
ISSUER = "oidc.eks.us-west-2.amazonaws.com/id/ABC"
SUBJECT = {
    "StringEquals": {
        f"{ISSUER}:aud": "sts.amazonaws.com",
        f"{ISSUER}:sub": "system:serviceaccount:kube-system:fsx-csi-controller-sa",
    }
}
FEDERATED = {
    "Principal": {"Federated": {"Ref": "Provider"}},
    "Action": "sts:AssumeRoleWithWebIdentity",
    "Condition": SUBJECT,
}
MORE: dict[str, Any] = {
    "SystemRole": trusting({"Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}, *WORKER),
    "Template": {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}}},
    },
    "System": {
        "Type": "AWS::EKS::Nodegroup",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "NodeRole": att("SystemRole"),
            "Subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
            "AmiType": "AL2023_x86_64_STANDARD",
            "InstanceTypes": ["m6i.xlarge"],
            "Labels": {"workload": "system"},
            "LaunchTemplate": {"Id": {"Ref": "Template"}, "Version": "1"},
        },
    },
    "Provider": {
        "Type": "AWS::IAM::OIDCProvider",
        "Properties": {"Url": att("Control", "OpenIdConnectIssuerUrl"), "ClientIdList": ["sts.amazonaws.com"]},
    },
    "DriverRole": trusting(FEDERATED, "AmazonFSxFullAccess"),
    "Driver": {
        "Type": "AWS::EKS::Addon",
        "DependsOn": "System",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "AddonName": "aws-fsx-csi-driver",
            "ServiceAccountRoleArn": att("DriverRole"),
        },
    },
    "Dns": {
        "Type": "AWS::EKS::Addon",
        "DependsOn": "System",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "AddonName": "coredns",
            "ConfigurationValues": '{"nodeSelector": {"workload": "system"}}',
        },
    },
}
BASE = edited(eks(), MORE)
TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:charts"
INSTALLED = edited(
    BASE,
    {
        "Control/Name": "research",
        "Chart": {
            "Type": "Custom::HyperPodChart",
            "DependsOn": "Control",
            "Properties": {"ServiceToken": TOKEN, "Chart": "HyperPodHelmChart"},
        },
        "System/.DependsOn": "Control",
    },
)
"""With a chart that does not say its cluster."""
ROOT, SCALES = {"AWS": "arn:aws:iam::123456789012:root"}, "aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
DISKS = {
    "DiskKey": {
        "Type": "AWS::KMS::Key",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "KeyPolicy": {
                "Version": "2012-10-17",
                "Statement": [
                    {"Effect": "Allow", "Principal": ROOT, "Action": "kms:*", "Resource": "*"},
                    {
                        "Effect": "Allow",
                        "Principal": {"AWS": f"arn:aws:iam::123456789012:role/{SCALES}"},
                        "Action": ["kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKey*"],
                        "Resource": "*",
                    },
                ],
            }
        },
    },
    "Template/LaunchTemplateData/BlockDeviceMappings": [
        {"DeviceName": "/dev/xvda", "Ebs": {"Encrypted": True, "KmsKeyId": att("DiskKey")}}
    ],
}
ENCRYPTED = edited(BASE, DISKS)


def entry(kind: str | None) -> Template:
    """An access entry of the nodes' role."""
    given = {} if kind is None else {"Type": kind}
    return {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": {"ClusterName": {"Ref": "Control"}, "PrincipalArn": att("SystemRole"), **given},
    }


ON_FARGATE = edited(
    BASE,
    {
        "PodSubnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.200.0/24", "AvailabilityZone": "us-west-2a"},
        },
        "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Association": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "PodSubnet"}, "RouteTableId": {"Ref": "Table"}},
        },
        "Route": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "Table"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "NatGatewayId": "nat-0123456789abcdef0",
            },
        },
        "Pods": {
            "Type": "AWS::EKS::FargateProfile",
            "Properties": {
                "ClusterName": {"Ref": "Control"},
                "PodExecutionRoleArn": "arn:aws:iam::123456789012:role/pods",
                "Subnets": [{"Ref": "PodSubnet"}],
                "Selectors": [{"Namespace": "batch"}],
            },
        },
    },
)
DATA = "Template/LaunchTemplateData"
TRUST = "DriverRole/AssumeRolePolicyDocument/Statement/0"
TOLERANT = '{"nodeSelector": {"workload": "system"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}]}'
CRITICAL = [{"Key": "CriticalAddonsOnly", "Value": "true", "Effect": "NO_SCHEDULE"}]
TAINT = {"System/Taints": [{"Key": "dedicated", "Value": "system", "Effect": "NO_SCHEDULE"}]}
FARGATE = {
    "ClusterName": {"Ref": "Control"},
    "PodExecutionRoleArn": "arn:aws:iam::123456789012:role/pods",
    "Selectors": [{"Namespace": "kube-system"}],
}
OTHER_NODES = {"Type": "AWS::EKS::FargateProfile", "Properties": FARGATE}


def pods(account: str) -> list[dict[str, Any]]:
    return [{"ServiceAccount": account, "RoleArn": "arn:aws:iam::123456789012:role/driver"}]


def tolerating(value: str) -> str:
    """The configuration of CoreDNS with a toleration for one value of the taint."""
    toleration = f'{{"key": "dedicated", "operator": "Equal", "value": "{value}"}}'
    return f'{{"nodeSelector": {{"workload": "system"}}, "tolerations": [{toleration}]}}'


def claims(aud: str = "sts.amazonaws.com", sub: str = "system:serviceaccount:kube-system:fsx-csi-controller-sa") -> Template:
    """The condition on a token of a pod."""
    return {"StringEquals": {f"{ISSUER}:aud": aud, f"{ISSUER}:sub": sub}}


EFS = {
    "Driver/AddonName": "aws-efs-csi-driver",
    "DriverRole/ManagedPolicyArns": ["arn:aws:iam::aws:policy/service-role/AmazonEFSCSIDriverPolicy"],
}


def disk(name: str) -> list[Template]:
    return [{"DeviceName": name, "Ebs": {"VolumeSize": 100, "Encrypted": True}}]


OWN_GROUP = {
    "Others": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "others", "VpcId": {"Ref": "Vpc"}}},
    "System/Subnets": [{"Ref": "NodeSubnet"}],
}


OF_CONTROL = att("Control", "ClusterSecurityGroupId")


def in_groups(*groups: Any) -> Template:
    return {**OWN_GROUP, f"{DATA}/SecurityGroupIds": list(groups)}


BLOB = (
    "Z2xvYmFsOgogIHNjcmFwZV9pbnRlcnZhbDogMzBzCnNjcmFwZV9jb25maWdzOgogIC0gam9iX25hbWU6IHBvZHMKICAgIGt1YmVybmV0ZXNfc2RfY29uZmlnczoK"
    "ICAgICAgLSByb2xlOiBwb2QK"
)
"""A configuration that scrapes pods."""


def scraped(*groups: Any) -> Template:
    """A scraper with groups of its own."""
    source = {
        "ClusterArn": att("Control"),
        "SubnetIds": [{"Ref": "ControlSubnet1"}, {"Ref": "ControlSubnet2"}],
        "SecurityGroupIds": list(groups),
    }
    given = {
        "ScrapeConfiguration": {"ConfigurationBlob": BLOB},
        "Source": {"EksConfiguration": source},
        "Destination": {"AmpConfiguration": {"WorkspaceArn": "arn:aws:aps:us-west-2:123456789012:workspace/ws-0"}},
    }
    return {"Others": OWN_GROUP["Others"], "Scraper": {"Type": "AWS::APS::Scraper", "Properties": given}}


TEXT = "DriverRole/AssumeRolePolicyDocument"


def in_text(issuer: str, principal: str = "${Provider}") -> Template:
    """The trust of the driver in JSON, with a name of the issuer."""
    subject = "system:serviceaccount:kube-system:fsx-csi-controller-sa"
    condition = {"StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subject}}
    statement = {"Effect": "Allow", **FEDERATED, "Principal": {"Federated": principal}, "Condition": condition}
    url = att("Control", "OpenIdConnectIssuerUrl")
    names = {"Issuer": url, "Name": {"Fn::Select": [1, {"Fn::Split": ["//", url]}]}}
    used = {name: value for name, value in names.items() if f"${{{name}}}" == issuer}
    return {"Fn::Sub": [json.dumps({"Version": "2012-10-17", "Statement": [statement]}), used]}


CASES = [
    Case("HP-REACH-006", BASE, scraped({"Ref": "Others"}), scraped({"Ref": "Others"}, OF_CONTROL)),
    Case(
        "HP-NGR-006", BASE, {f"{DATA}/BlockDeviceMappings": disk("/dev/sda1")}, {f"{DATA}/BlockDeviceMappings": disk("/dev/xvda")}
    ),
    Case(
        "HP-NGR-006",
        edited(BASE, {"System/AmiType": "WINDOWS_FULL_2022_x86_64"}),
        {f"{DATA}/BlockDeviceMappings": disk("/dev/xvda")},
        {f"{DATA}/BlockDeviceMappings": disk("/dev/sda1")},
    ),
    Case("HP-REACH-006", BASE, in_groups({"Ref": "Others"}), in_groups({"Ref": "Others"}, OF_CONTROL)),
    Case("HP-NGR-001", BASE, {f"{DATA}/IamInstanceProfile": {"Name": "nodes"}}, {}),
    Case("HP-NGR-001", BASE, {f"{DATA}/InstanceType": "m6i.xlarge"}, {f"{DATA}/EbsOptimized": True}),
    Case("HP-NGR-001", BASE, {f"{DATA}/ImageId": "ami-0123456789abcdef0"}, {}),
    Case("HP-NGR-001", BASE, {f"{DATA}/InstanceMarketOptions": {"MarketType": "spot"}}, {}),
    Case(
        "HP-NGR-001",
        BASE,
        {f"{DATA}/NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-0123456789abcdef0"}]},
        {f"{DATA}/NetworkInterfaces": [{"DeviceIndex": 0, "DeleteOnTermination": True}]},
    ),
    Case(
        "HP-NGR-001",
        BASE,
        {f"{DATA}/ImageId": "ami-0123456789abcdef0", "System/AmiType": REMOVED, "System/Version": "1.33"},
        {f"{DATA}/ImageId": "ami-0123456789abcdef0", "System/AmiType": "CUSTOM"},
    ),
    Case(
        "HP-NGR-002",
        BASE,
        {"System/AmiType": REMOVED, "System/InstanceTypes": ["m6i.xlarge", "m7g.xlarge"]},
        {"System/AmiType": REMOVED, "System/InstanceTypes": ["m6i.xlarge", "m7i.xlarge"]},
    ),
    Case(
        "HP-NGR-002",
        BASE,
        {"System/AmiType": "AL2023_x86_64_NVIDIA"},
        {"System/AmiType": "AL2023_x86_64_NVIDIA", "System/InstanceTypes": ["g6.xlarge"]},
    ),
    Case("HP-NGR-002", BASE, {"System/InstanceTypes": REMOVED, f"{DATA}/InstanceType": "c8g.large"}, {}),
    Case("HP-NGR-002", BASE, {"System/InstanceTypes": ["m7g.xlarge"]}, {"System/InstanceTypes": ["m7i.xlarge"]}),
    Case("HP-NGR-002", BASE, {"System/AmiType": "AL2023_ARM_64_STANDARD"}, {}),
    Case("HP-NGR-002", BASE, {"System/AmiType": "AL2023_x86_64_NEURON"}, {}),
    Case("HP-WID-005", BASE, {TEXT: in_text("${Issuer}")}, {TEXT: in_text("${Name}")}),
    Case("HP-WID-005", BASE, {TEXT: in_text("${Name}", principal="${Name}")}, {TEXT: in_text("${Name}")}),
    Case("HP-NGR-003", BASE, {"Dns/ConfigurationValues": '{"nodeSelector": {"workload": "core"}}'}, {}),
    Case("HP-NGR-003", BASE, TAINT, {**TAINT, "Dns/ConfigurationValues": TOLERANT}),
    Case(
        "HP-NGR-003",
        BASE,
        {"System/Taints": [{"Key": "dedicated", "Value": "system", "Effect": "NO_EXECUTE"}]},
        {"System/Taints": [{"Key": "dedicated", "Value": "system", "Effect": "PREFER_NO_SCHEDULE"}]},
    ),
    Case(
        "HP-NGR-003",
        BASE,
        {"System/Taints": CRITICAL, "Dns/ConfigurationValues": tolerating("system")},
        {"System/Taints": CRITICAL},
    ),
    Case(
        "HP-NGR-003",
        BASE,
        {**TAINT, "Dns/ConfigurationValues": tolerating("jobs")},
        {**TAINT, "Dns/ConfigurationValues": tolerating("system")},
    ),
    Case("HP-EKS-050", INSTALLED, {"System/ClusterName": "other"}, {"System/ClusterName": "research"}),
    Case("HP-NGR-003", BASE, {"System/Labels": REMOVED}, {"System/Labels": REMOVED, "Other": OTHER_NODES}),
    Case(
        "HP-WID-004",
        BASE,
        {f"{TRUST}/Condition": {"StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com"}}},
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:serviceaccount:kube-system:fsx*"}}},
    ),
    Case(
        "HP-WID-004",
        BASE,
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:serviceaccount:*:*"}}},
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:serviceaccount:*:fsx-csi-controller-sa"}}},
    ),
    Case(
        "HP-WID-004",
        BASE,
        {f"{TRUST}/Condition": REMOVED},
        {f"{TRUST}/Condition": {"StringEquals": {"Fn::GetAtt": ["Control", "Arn"]}}},
    ),
    Case("HP-WID-005", BASE, {f"{TRUST}/Condition": claims(aud="sts.us-west-2.amazonaws.com")}, {f"{TRUST}/Condition": claims()}),
    Case("HP-WID-005", BASE, {f"{TRUST}/Condition": claims(sub="kube-system:fsx-csi-controller-sa")}, {}),
    Case(
        "HP-WID-005",
        BASE,
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "serviceaccount:kube-system:*"}}},
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:*:kube-system:fsx-csi-controller-sa"}}},
    ),
    Case(
        "HP-WID-003",
        BASE,
        {**EFS, f"{TRUST}/Condition": claims(sub="system:serviceaccount:kube-system:ebs-csi-controller-sa")},
        {**EFS, f"{TRUST}/Condition": claims(sub="system:serviceaccount:kube-system:efs-csi-node-sa")},
    ),
    Case("HP-WID-001", BASE, {"Provider/ClientIdList": ["eks.amazonaws.com"]}, {}),
    Case("HP-WID-002", BASE, {f"{TRUST}/Action": "sts:AssumeRole"}, {}),
    Case(
        "HP-WID-003",
        BASE,
        {"Driver/ServiceAccountRoleArn": REMOVED, "Driver/PodIdentityAssociations": pods("fsx-csi")},
        {"Driver/ServiceAccountRoleArn": REMOVED, "Driver/PodIdentityAssociations": pods("fsx-csi-controller-sa")},
    ),
    Case(
        "HP-WID-003",
        BASE,
        {f"{TRUST}/Condition/StringEquals": {f"{ISSUER}:sub": "system:serviceaccount:default:fsx"}},
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:serviceaccount:kube-system:*"}}},
    ),
    Case(
        "HP-WID-003",
        BASE,
        {
            f"{TRUST}": {
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
            }
        },
        {},
    ),
    Case(
        "HP-KEY-002",
        ENCRYPTED,
        {"DiskKey/KeyPolicy/Statement/1": REMOVED},
        {
            "DiskKey/KeyPolicy/Statement/1/Principal": "*",
            "DiskKey/KeyPolicy/Statement/1/Condition": {"StringEquals": {"kms:CallerAccount": "123456789012"}},
        },
    ),
    Case("HP-KEY-002", ENCRYPTED, {"DiskKey/KeyPolicy/Statement/1/Action/0": REMOVED}, {}),
    Case("HP-PERM-002", BASE, {"SystemRole/ManagedPolicyArns/0": REMOVED}, {}),
    Case("HP-REF-012", BASE, {"Provider/Url": att("Control", "Endpoint")}, {}),
    Case("HP-SCH-007", BASE, {"System/DiskSize": 100}, {}),
    Case("HP-SCH-007", BASE, {"System/Labels/team": "system pods"}, {"System/Labels/team": ""}),
    Case("HP-SCH-007", BASE, {"System/Labels": {"workload": "system", "node-role.kubernetes.io/worker": ""}}, {}),
    Case("HP-SCH-007", BASE, {"System/Taints": [{"Key": "a b", "Value": "c", "Effect": "NO_SCHEDULE"}]}, {}),
    Case("HP-NGR-004", BASE, {"System/InstanceTypes": ["m6i.3xlarge"]}, {"System/InstanceTypes": ["m99i.3xlarge"]}),
    Case(
        "HP-NGR-004",
        edited(BASE, {"System/InstanceTypes": REMOVED}),
        {"Template/LaunchTemplateData/InstanceType": "m6ixlarge"},
        {"Template/LaunchTemplateData/InstanceType": "m6i.xlarge"},
    ),
    Case("HP-EKS-015", BASE, {"Entry": entry("STANDARD")}, {"Entry": entry("EC2_LINUX")}),
    Case("HP-EKS-015", BASE, {"Entry": entry(None)}, {}),
    Case("HP-NGR-005", ON_FARGATE, {"Route/GatewayId": "igw-0123456789abcdef0", "Route/NatGatewayId": REMOVED}, {}),
    Case("HP-SCH-007", BASE, {"System/UpdateConfig": {"MaxUnavailable": 1, "MaxUnavailablePercentage": 50}}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_shared_role_is_said_where_it_cannot_be_assumed() -> None:
    shared = edited(BASE, {"Cluster/InstanceGroups/0/ExecutionRole": att("SystemRole")})
    assert [(one.rule, one.resource) for one in findings(shared)] == [("HP-EKS-014", "Cluster")]


def test_labels_of_kubernetes_itself_are_believed() -> None:
    values = '{"nodeSelector": {"kubernetes.io/arch": "amd64"}}'
    assert rules_of(edited(BASE, {"Dns/ConfigurationValues": values})) == []
