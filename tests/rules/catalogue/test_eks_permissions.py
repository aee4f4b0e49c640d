"""What the pods of add-ons, the S3 driver and the control plane may do; `tests/eks/test_every_permission.py` takes each in turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, eks, rules_of
from tests.rules.catalogue.test_addons import OBSERVABILITY, WITH_OPERATOR, addon, policies, trust

MANAGED = "PodRole/ManagedPolicyArns"
NODES = {"Effect": "Allow", "Action": "sagemaker:DescribeClusterNode", "Resource": "*"}
METRICS = {"Effect": "Allow", "Action": "aps:RemoteWrite", "Resource": "*"}
S3 = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket", "kms:Decrypt"], "Resource": "*"}


def with_addon(name: str, namespace: str, account: str, *statements: dict[str, Any], **given: Any) -> dict[str, Any]:
    """An add-on whose pods have a role with these statements."""
    role = {"AssumeRolePolicyDocument": trust("sts:AssumeRole", "sts:TagSession"), "Policies": policies(*statements)}
    identity = {"ClusterName": {"Ref": "Control"}, "Namespace": namespace, "ServiceAccount": account}
    return edited(
        eks(),
        {
            "PodRole": {"Type": "AWS::IAM::Role", "Properties": role},
            "Identity": {
                "Type": "AWS::EKS::PodIdentityAssociation",
                "Properties": {**identity, "RoleArn": {"Fn::GetAtt": ["PodRole", "Arn"]}},
            },
            "Driver": addon(name, "Cluster", "PodIdentity", "Identity", **given),
        },
    )


def observed(*statements: dict[str, Any], logging: bool) -> dict[str, Any]:
    values = json.dumps({"logging": {"enabled": logging}})
    account = "hyperpod-observability-operator-otel-collector"
    return with_addon(OBSERVABILITY, "hyperpod-observability", account, *statements, ConfigurationValues=values)


def mounted(*statements: dict[str, Any]) -> dict[str, Any]:
    """The driver of S3 beside a bucket with a key."""
    statement = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "kms:*", "Resource": "*"}
    encryption = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]}}
    bucket = {"BucketEncryption": {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": encryption}]}}
    return edited(
        with_addon("aws-mountpoint-s3-csi-driver", "kube-system", "s3-csi-driver-sa", *statements),
        {
            "Key": {"Type": "AWS::KMS::Key", **KEPT, "Properties": {"KeyPolicy": {"Statement": [statement]}}},
            "Data": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": bucket},
        },
    )


CASES = [
    Case("HP-PERM-002", WITH_OPERATOR, {MANAGED: REMOVED}, {MANAGED: REMOVED, "PodRole/Policies": policies(NODES)}),
    Case("HP-PERM-002", observed(METRICS, logging=True), {}, {"Driver/ConfigurationValues": REMOVED}),
    Case(
        "HP-PERM-002",
        mounted(S3),
        {"PodRole/Policies/0/PolicyDocument/Statement/0/Action": ["s3:ListBucket"]},
        {},
    ),
    Case("HP-PERM-002", mounted(S3), {"PodRole/Policies/0/PolicyDocument/Statement/0/Action": S3["Action"][:2]}, {}),
    Case(
        "HP-PERM-002",
        mounted({**S3, "Action": [*S3["Action"], "s3:PutObject", "s3:AbortMultipartUpload"]}),
        {},
        {
            "PodRole/Policies/0/PolicyDocument/Statement/0/Action": [
                "s3:Get*",
                "s3:List*",
                "s3:PutObject",
                "s3:Abort*",
                "kms:*crypt",
                "kms:Gen*",
            ]
        },
    ),
    Case(
        "HP-PERM-002",
        eks(),
        {"ControlRole/ManagedPolicyArns": REMOVED},
        {"ControlRole/ManagedPolicyArns": ["arn:aws:iam::123456789012:policy/own"]},
    ),
    Case("HP-EKP-004", WITH_OPERATOR, {"Cluster/Tags": REMOVED}, {}),
    Case("HP-EKP-004", WITH_OPERATOR, {"Cluster/Tags/0/Value": "false"}, {"Cluster/Tags/0/Value": {"Ref": "AWS::StackName"}}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_logs_are_asked_for_where_they_are_written() -> None:
    assert rules_of(observed(METRICS, logging=False)) == []


def test_without_addons_of_sagemaker_no_tag_is_asked_for() -> None:
    assert rules_of(edited(eks(), {"Cluster/Tags": REMOVED})) == []
