"""Managed node groups of EKS, their launch templates and images, and identities of service accounts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, eks, rules_of


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
DATA = "Template/LaunchTemplateData"
TRUST = "DriverRole/AssumeRolePolicyDocument/Statement/0"
TOLERANT = '{"nodeSelector": {"workload": "system"}, "tolerations": [{"key": "dedicated", "operator": "Exists"}]}'
TAINT = {"System/Taints": [{"Key": "dedicated", "Value": "system", "Effect": "NO_SCHEDULE"}]}
CASES = [
    Case("HP-NGR-001", BASE, {f"{DATA}/IamInstanceProfile": {"Name": "nodes"}}, {}),
    Case("HP-NGR-001", BASE, {f"{DATA}/InstanceType": "m6i.xlarge"}, {f"{DATA}/EbsOptimized": True}),
    Case("HP-NGR-001", BASE, {f"{DATA}/ImageId": "ami-0123456789abcdef0"}, {}),
    Case("HP-NGR-002", BASE, {"System/InstanceTypes": ["m7g.xlarge"]}, {"System/InstanceTypes": ["m7i.xlarge"]}),
    Case("HP-NGR-002", BASE, {"System/AmiType": "AL2023_ARM_64_STANDARD"}, {}),
    Case("HP-NGR-002", BASE, {"System/AmiType": "AL2023_x86_64_NEURON"}, {}),
    Case("HP-NGR-003", BASE, {"Dns/ConfigurationValues": '{"nodeSelector": {"workload": "core"}}'}, {}),
    Case("HP-NGR-003", BASE, TAINT, {**TAINT, "Dns/ConfigurationValues": TOLERANT}),
    Case("HP-WID-001", BASE, {"Provider/ClientIdList": ["eks.amazonaws.com"]}, {}),
    Case("HP-WID-002", BASE, {f"{TRUST}/Action": "sts:AssumeRole"}, {}),
    Case(
        "HP-WID-003",
        BASE,
        {f"{TRUST}/Condition/StringEquals": {f"{ISSUER}:sub": "system:serviceaccount:default:fsx"}},
        {f"{TRUST}/Condition": {"StringLike": {f"{ISSUER}:sub": "system:serviceaccount:kube-system:*"}}},
    ),
    Case("HP-REF-012", BASE, {"Provider/Url": att("Control", "Endpoint")}, {}),
    Case("HP-SCH-007", BASE, {"System/DiskSize": 100}, {}),
    Case("HP-SCH-007", BASE, {"System/UpdateConfig": {"MaxUnavailable": 1, "MaxUnavailablePercentage": 50}}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_labels_of_kubernetes_itself_are_believed() -> None:
    values = '{"nodeSelector": {"kubernetes.io/arch": "amd64"}}'
    assert rules_of(edited(BASE, {"Dns/ConfigurationValues": values})) == []
