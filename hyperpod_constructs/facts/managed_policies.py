"""AWS's managed policies: their names, and of some their statements.

`managed_policies.tsv` has those that were read at AWS, `aws_policies.tsv` all names and more statements; each carries its date.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.node_permissions import CLUSTER_POLICY, LOG_GROUPS, READABLE_BUCKETS, SHELL_CHANNELS

_Statement: TypeAlias = "Mapping[str, Any]"


def _allow(*actions: str, on: str | Sequence[str] = "*") -> _Statement:
    return {"Effect": "Allow", "Action": actions, "Resource": on if isinstance(on, str) else tuple(on)}


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
    return _OWN.get(name) or _read().get(name) or _statements(_written().get(name, ())) or None


def policy_names() -> Collection[str]:
    """The names of all known policies."""
    return {*_OWN, *_read(), *_written()}


def _statements(cells: Sequence[str]) -> tuple[_Statement, ...]:
    """The statements of a policy, from pairs of cells: resources and actions."""
    return tuple(_allow(*actions.split(), on=resources.split()) for resources, actions in zip(cells[::2], cells[1::2], strict=True))


@cache
def _read() -> Mapping[str, tuple[_Statement, ...]]:
    """The policies that were read at AWS."""
    found: dict[str, list[str]] = {}
    for name, *cells in rows("managed_policies.tsv"):
        found.setdefault(name, []).extend(cells)
    return {name: _statements(cells) for name, cells in found.items()}


@cache
def _written() -> Mapping[str, Sequence[str]]:
    """The cells of all policies by their name; none for one with its name alone."""
    return {name: cells for name, *cells in rows("aws_policies.tsv")}
