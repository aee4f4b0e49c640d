"""AWS's managed policies: their names, and of some their statements.

`managed_policies.tsv` has those that were read at AWS, `aws_policies.tsv` all names and more statements; each carries its date.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
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

_OWN: Mapping[str, tuple[_Statement, ...]] = {CLUSTER_POLICY: _NODES}


def managed_policy(name: str) -> tuple[_Statement, ...] | None:
    """The statements of a policy; `None` if they are not known.

    :param name: with its path, such as `service-role/AmazonEBSCSIDriverPolicy`.
    """
    return _OWN.get(name) or _table("managed_policies.tsv").get(name) or _table("aws_policies.tsv").get(name) or None


def policy_names() -> Collection[str]:
    """The names of all known policies."""
    return {*_OWN, *_table("managed_policies.tsv"), *_table("aws_policies.tsv")}


@cache
def _table(file: str) -> Mapping[str, tuple[_Statement, ...]]:
    """The statements of a table by their policy; none for a policy with its name alone."""
    found: dict[str, list[_Statement]] = {}
    for name, *given in rows(file):
        found.setdefault(name, []).extend([_allow(*given[1].split(), on=given[0])] if given else [])
    return {name: tuple(statements) for name, statements in found.items()}
