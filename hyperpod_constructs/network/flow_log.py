"""The log of a network's rejected traffic, which shows a missing rule."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import CfnTag, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs.encryption import encrypt_logs


def create_flow_log(scope: Construct, vpc_id: str, tags: Sequence[CfnTag], key: kms.IKey | None) -> None:
    """Log what the VPC's rules reject, for a month.

    :param key: encrypts the log; a key of CloudWatch Logs for `None`.
    """
    group = logs.LogGroup(
        scope,
        "RejectedTraffic",
        retention=logs.RetentionDays.ONE_MONTH,
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )
    if key is not None:
        encrypt_logs(group, key)
    role = iam.Role(scope, "FlowLogRole", assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com"))
    granted = group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams")
    flow_log = ec2.CfnFlowLog(
        scope,
        "FlowLog",
        resource_type="VPC",
        resource_id=vpc_id,
        traffic_type="REJECT",
        log_destination_type="cloud-watch-logs",
        log_group_name=group.log_group_name,
        deliver_logs_permission_arn=role.role_arn,
        tags=list(tags),
    )
    granted.apply_before(flow_log)
