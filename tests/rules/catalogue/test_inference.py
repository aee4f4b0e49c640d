"""The add-ons of inference and of Spaces: their configuration, the roles in it, and their accounts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, eks
from tests.rules.catalogue.test_addons import BY_ACCOUNT, addon
from tests.rules.catalogue.test_node_groups import trusting

ISSUER, NAMESPACE = "oidc.eks.us-west-2.amazonaws.com/id/ABC", "hyperpod-inference-system"
INFERENCE, POLICY = "amazon-sagemaker-hyperpod-inference", "AmazonSageMakerHyperPodInferenceAccess"
DRIVERS = ("aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver")
ROLE = "arn:aws:iam::123456789012:role/driver"


def role(account: str, *policies: str, namespace: str = NAMESPACE) -> Template:
    """A role of the pods of a service account."""
    claims = {f"{ISSUER}:aud": "sts.amazonaws.com", f"{ISSUER}:sub": f"system:serviceaccount:{namespace}:{account}"}
    statement = {
        "Principal": {"Federated": {"Ref": "Provider"}},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": claims},
    }
    return trusting(statement, *policies)


def configured(**changes: Any) -> dict[str, Any]:
    """The configuration of the add-on, with other values or without some."""
    values = {
        "executionRoleArn": "${InferenceRole.Arn}",
        "tlsCertificateS3Bucket": "${Certificates}",
        "hyperpodClusterArn": "${Cluster.ClusterArn}",
        "keda": {"auth": {"aws": {"irsa": {"roleArn": "${ScalerRole.Arn}"}}}},
        **changes,
    }
    return {"Fn::Sub": json.dumps({key: value for key, value in values.items() if value is not None})}


WITH_INFERENCE = edited(
    eks(),
    {
        "Provider": BY_ACCOUNT["Provider"],
        "InferenceRole": role("hyperpod-inference-controller-manager", POLICY),
        "ScalerRole": role("keda-operator", "CloudWatchReadOnlyAccess"),
        "Certificates": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"BucketName": "hyperpod-tls-research"}},
        **{name.title().replace("-", ""): addon(name, "Cluster", ServiceAccountRoleArn=ROLE) for name in DRIVERS},
        "CertManager": addon("cert-manager", "Cluster"),
        "Measures": addon("metrics-server", "Cluster"),
        "Inference": addon(
            INFERENCE,
            *("Cluster", "CertManager", "Measures", *(name.title().replace("-", "") for name in DRIVERS)),
            ConfigurationValues=configured(),
        ),
    },
)
VALUES = "Inference/ConfigurationValues"
UNUSED_ROLES = dict.fromkeys(("InferenceRole", "ScalerRole", "Certificates"), REMOVED)
ACCOUNT = {
    "Type": "AWS::EKS::PodIdentityAssociation",
    "Properties": {
        "ClusterName": {"Ref": "Control"},
        "Namespace": "jupyter-k8s-system",
        "ServiceAccount": "jupyter-k8s-controller-manager",
        "RoleArn": ROLE,
    },
}
WITH_SPACES = edited(
    eks(),
    {
        "CertManager": addon("cert-manager", "Cluster"),
        "Identity": ACCOUNT,
        "Spaces": addon("amazon-sagemaker-spaces", "Cluster", "CertManager", "Identity", "PodIdentity"),
    },
)
CASES = [
    Case("HP-ADD-028", WITH_INFERENCE, {VALUES: REMOVED, **UNUSED_ROLES}, {}),
    Case("HP-ADD-028", WITH_INFERENCE, {VALUES: configured(tlsCertificateS3Bucket=None), "Certificates": REMOVED}, {}),
    Case("HP-ADD-028", WITH_INFERENCE, {VALUES: configured(tlsCertificateS3Bucket="arn:aws:s3:::tls")}, {}),
    Case("HP-ADD-028", WITH_INFERENCE, {VALUES: configured(hyperPodClusterARN="x")}, {VALUES: configured(hyperpodClusterArn=None)}),
    Case("HP-REF-012", WITH_INFERENCE, {VALUES: configured(tlsCertificateS3Bucket="${Certificates.Arn}")}, {}),
    Case("HP-REF-012", WITH_INFERENCE, {VALUES: configured(hyperpodClusterArn="${Control.Arn}")}, {}),
    Case("HP-WID-003", WITH_INFERENCE, {"ScalerRole": role("keda-operator", namespace="keda")}, {}),
    Case("HP-WID-003", WITH_INFERENCE, {"InferenceRole": role("keda-operator", POLICY)}, {}),
    Case("HP-PERM-002", WITH_INFERENCE, {"Certificates/BucketName": "research"}, {}),
    Case("HP-PERM-002", WITH_INFERENCE, {"InferenceRole/ManagedPolicyArns/0": "arn:aws:iam::aws:policy/AmazonS3FullAccess"}, {}),
    Case("HP-ADD-022", WITH_SPACES, {"Spaces/.DependsOn": ["Cluster", "Identity", "PodIdentity"]}, {}),
    Case("HP-ADD-026", WITH_SPACES, {"Spaces/.DependsOn": ["Cluster", "CertManager", "PodIdentity"]}, {}),
    Case("HP-ADD-031", WITH_SPACES, {"Identity/Namespace": "spaces"}, {}),
    Case("HP-ADD-023", WITH_SPACES, {"CertManager": REMOVED}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
