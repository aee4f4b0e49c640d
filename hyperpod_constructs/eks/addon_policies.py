"""The permissions of add-ons whose pods use resources of this app."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_kms import IKeyRef

from hyperpod_constructs._support.statements import Conditions, Statement, document
from hyperpod_constructs.facts import addons as facts
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS

_WRITE = ("s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject")


def collecting(stack: Stack, workspace_arn: str) -> iam.PolicyDocument:
    """Metrics go to one workspace, logs into the groups of clusters."""
    logs = stack.format_arn(
        service="logs", resource="log-group", resource_name=f"{LOG_GROUPS}/*", arn_format=ArnFormat.COLON_RESOURCE_NAME
    )
    return document([_allow(["aps:RemoteWrite"], [workspace_arn]), _allow(facts.LOG_ACTIONS, [logs, f"{logs}:log-stream:*"])])


def looking_at_file_systems() -> iam.PolicyDocument:
    """File systems are looked at, and none is made. The action has no resource-level permissions."""
    return document([_allow(["fsx:DescribeFileSystems"], ["*"])])


def attaching_volumes(stack: Stack, control_plane_arn: str, keys: Sequence[IKeyRef]) -> iam.PolicyDocument:
    """Volumes of HyperPod's nodes, beside the managed policy for those of EC2."""
    clusters = stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")
    statements = [_allow(facts.VOLUME_ACTIONS, [clusters]), _allow([facts.LOOK_AT_CLUSTER], [control_plane_arn])]
    if arns := [key.key_ref.key_arn for key in keys]:
        for_volumes = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
        statements += [_allow(facts.KEY_ACTIONS, arns), _allow(["kms:CreateGrant"], arns, for_volumes)]
    return document(statements)


def mounting(buckets: Sequence[s3.IBucket], read_only: bool) -> iam.PolicyDocument:
    """Objects of these buckets, with their keys."""
    arns = [bucket.bucket_arn for bucket in buckets]
    keys = [key.key_arn for key in (bucket.encryption_key for bucket in buckets) if key is not None]
    objects = ("s3:GetObject",) if read_only else ("s3:GetObject", *_WRITE)
    statements = [_allow(["s3:ListBucket"], arns), _allow(objects, [f"{arn}/*" for arn in arns])]
    if keys:
        statements.append(_allow(["kms:Decrypt"] if read_only else ["kms:Decrypt", "kms:GenerateDataKey"], keys))
    return document(statements)


def _allow(actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None) -> Statement:
    return Statement(actions=actions, resources=resources, conditions=conditions)
