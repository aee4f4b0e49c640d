from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks

OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
INLINE = [{"RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]}, "ServiceAccount": "hp-training-operator-controller-manager"}]


def addon(name: str, *awaited: str, **properties: Any) -> Template:
    return {
        "Type": "AWS::EKS::Addon",
        "DependsOn": list(awaited),
        "Properties": {"AddonName": name, "ClusterName": {"Ref": "Control"}, **properties},
    }


def trust(*actions: str) -> Template:
    statement = {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": list(actions)}
    return {"Version": "2012-10-17", "Statement": [statement]}


WITH_OPERATOR = edited(
    eks(),
    {
        "Certificates": addon("cert-manager", "Cluster"),
        "PodRole": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": trust("sts:AssumeRole", "sts:TagSession")},
        },
        "Identity": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": {
                "ClusterName": {"Ref": "Control"},
                "Namespace": "aws-hyperpod",
                "ServiceAccount": "hp-training-operator-controller-manager",
                "RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]},
            },
        },
        "Operator": addon(OPERATOR, "Cluster", "Certificates", "PodIdentity", "Identity"),
    },
)
NODES = {
    "Type": "AWS::EKS::Nodegroup",
    "Properties": {
        "ClusterName": {"Ref": "Control"},
        "NodeRole": "arn:aws:iam::123456789012:role/nodes",
        "Subnets": [{"Ref": "NodeSubnet"}],
    },
}

CASES = [
    Case(
        "HP-EKS-020",
        eks(),
        {"Governance": addon("amazon-sagemaker-hyperpod-taskgovernance")},
        {"Governance": addon("amazon-sagemaker-hyperpod-taskgovernance"), "Nodes": NODES},
    ),
    Case(
        "HP-EKS-021",
        eks(),
        {"Dns": addon("coredns"), "Cluster/.DependsOn": ["Dns"]},
        {"Dns": addon("coredns"), "Cluster/.DependsOn": ["Cni"]},
    ),
    Case("HP-EKS-021", eks(), {"Certificates": addon("cert-manager"), "Cluster/.DependsOn": ["Certificates"]}, {}),
    Case("HP-EKS-022", WITH_OPERATOR, {"Operator/.DependsOn": ["Cluster", "PodIdentity", "Identity"]}, {}),
    Case("HP-EKS-023", WITH_OPERATOR, {"PodIdentity": REMOVED, "Cluster/.DependsOn": ["Cni"], "Operator/.DependsOn/2": "Cni"}, {}),
    Case("HP-EKS-024", WITH_OPERATOR, {"PodRole/AssumeRolePolicyDocument": trust("sts:AssumeRole")}, {}),
    Case(
        "HP-EKS-025",
        WITH_OPERATOR,
        {"Operator/AddonVersion": "v1.2.1-eksbuild.1", "Operator/PodIdentityAssociations": INLINE},
        {"Operator/AddonVersion": "v1.2.0-eksbuild.1", "Operator/PodIdentityAssociations": INLINE},
    ),
    Case("HP-EKS-026", WITH_OPERATOR, {"Operator/.DependsOn": ["Cluster", "Certificates", "PodIdentity"]}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
