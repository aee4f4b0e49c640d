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
OF_DATA = [{"Fn::GetAtt": ["Data", "Arn"]}, {"Fn::Sub": "${Data.Arn}/*"}, {"Fn::GetAtt": ["Key", "Arn"]}]


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


def lines(group: str) -> dict[str, Any]:
    """The permission to write lines into log groups."""
    names = ("CreateLogGroup", "CreateLogStream", "DescribeLogStreams", "PutLogEvents")
    place = {"Fn::Sub": f"arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{group}/*"}
    return {"Effect": "Allow", "Action": [f"logs:{name}" for name in names], "Resource": place}


def past_endpoint(*actions: str) -> dict[str, Any]:
    """An endpoint of Prometheus with a policy."""
    statement = {"Effect": "Allow", "Principal": "*", "Action": [*actions], "Resource": "*"}
    given = {
        "VpcId": {"Ref": "Vpc"},
        "VpcEndpointType": "Interface",
        "ServiceName": "com.amazonaws.us-west-2.aps-workspaces",
        "PrivateDnsEnabled": True,
        "SubnetIds": [{"Ref": "NodeSubnet"}],
        "SecurityGroupIds": [{"Ref": "NodeGroup"}],
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    return {"Metrics": {"Type": "AWS::EC2::VPCEndpoint", "Properties": given}}


CASES = [
    Case(
        "HP-PERM-002",
        observed(METRICS, logging=False),
        past_endpoint("aps:QueryMetrics"),
        past_endpoint("aps:QueryMetrics", "aps:RemoteWrite"),
    ),
    Case(
        "HP-PERM-002",
        observed(METRICS, lines("/aws/eks/research"), logging=True),
        {},
        {"PodRole/Policies/0/PolicyDocument/Statement/1": lines("/aws/sagemaker/Clusters")},
    ),
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
        mounted({**S3, "Action": [*S3["Action"], "s3:PutObject", "s3:AbortMultipartUpload"], "Resource": OF_DATA}),
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


def tagged(**tags: str) -> dict[str, Any]:
    """What the pods of an add-on may write, by the tags of their sessions."""
    asked = {f"aws:PrincipalTag/{name.replace('_', '-')}": value for name, value in tags.items()}
    return {"Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "*", "Condition": {"StringLike": asked}}


@pytest.mark.parametrize(
    ("tags", "rules"),
    [
        ({"kubernetes_namespace": "kube-system"}, []),
        ({"kubernetes_namespace": "kube-*", "kubernetes_service_account": "s3-csi-driver-sa"}, []),
        ({"kubernetes_namespace": "default"}, ["HP-POL-006"]),
        ({"kubernetes_namespaces": "kube-system"}, ["HP-POL-006"]),
        ({"kubernetes_pod_name": "a"}, []),
        ({"team": "a"}, []),
    ],
)
def test_sessions_of_pods_have_the_tags_of_their_association(tags: dict[str, str], rules: list[str]) -> None:
    template = with_addon("aws-mountpoint-s3-csi-driver", "kube-system", "s3-csi-driver-sa", S3, tagged(**tags))
    assert rules_of(template) == rules
    assert rules_of(edited(template, {"PodRole/RoleName": "of-pods"})) == [one for one in rules if "kubernetes_namespaces" in tags]


@pytest.mark.parametrize(("value", "rules"), [("true", []), ("false", ["HP-PERM-002"])])
def test_volumes_take_grants_for_aws(value: str, rules: list[str]) -> None:
    use = ["kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:DescribeKey"]
    grants = {
        "Effect": "Allow",
        "Action": "kms:CreateGrant",
        "Resource": "*",
        "Condition": {"Bool": {"kms:GrantIsForAWSResource": value}},
    }
    statements = ({"Effect": "Allow", "Action": use, "Resource": "*"}, grants)
    driver = with_addon("aws-ebs-csi-driver", "kube-system", "ebs-csi-controller-sa", *statements)
    managed = ["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"]
    attach = {"Effect": "Allow", "Action": ["sagemaker:*", "eks:DescribeCluster"], "Resource": "*"}
    changes = {"PodRole/ManagedPolicyArns": managed, "PodRole/Policies/0/PolicyDocument/Statement/2": attach}
    assert rules_of(edited(driver, changes), rules="HP-PERM") == rules
