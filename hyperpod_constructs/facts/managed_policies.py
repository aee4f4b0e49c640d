"""AWS's managed policies of nodes and of the EBS driver, with their statements (as of 2026-11-21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.node_permissions import CLUSTER_POLICY, LOG_GROUPS, READABLE_BUCKETS, SHELL_CHANNELS

_Statement: TypeAlias = "Mapping[str, Any]"


def _allow(*actions: str, on: str = "*") -> _Statement:
    return {"Effect": "Allow", "Action": actions, "Resource": on}


# https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html
# The condition on aws:ResourceAccount is left out: a cluster's own bucket meets it.
_NODES = (
    _allow(
        "logs:PutLogEvents",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        on=f"arn:aws:logs:*:*:log-group:{LOG_GROUPS}/*:log-stream:*",
    ),
    _allow("logs:CreateLogGroup", on=f"arn:aws:logs:*:*:log-group:{LOG_GROUPS}/*"),
    {
        "Effect": "Allow",
        "Action": "cloudwatch:PutMetricData",
        "Resource": "*",
        "Condition": {"StringEquals": {"cloudwatch:namespace": LOG_GROUPS}},
    },
    _allow("s3:ListBucket", "s3:GetObject", on=f"arn:aws:s3:::{READABLE_BUCKETS}*"),
    _allow(*SHELL_CHANNELS),
)

_ALLOWED = [(name, _allow(*actions.split(), on=resource)) for name, resource, actions in rows("managed_policies.tsv")]

STATEMENTS: Mapping[str, tuple[_Statement, ...]] = {
    **{name: tuple(allowed for policy, allowed in _ALLOWED if policy == name) for name, _ in _ALLOWED},
    CLUSTER_POLICY: _NODES,
}
"""The statements by the policy's name. Another managed policy on a role may allow more, unknown here."""
