"""Operations of services: how programs, state machines and schedules name them, and the action that each takes.

`sdk_calls.tsv` has the operations, and `sdk_clients.tsv` the names of all clients of boto3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

_OTHER_NAMES: Mapping[str, str] = {"configservice": "config"}
"""Services whose name in AWS's SDK for Java, which state machines and schedules write, is not that of the model."""

_OTHER_ACTIONS: Mapping[str, str] = {
    "bedrock:Converse": "bedrock:InvokeModel",
    "bedrock:ConverseStream": "bedrock:InvokeModelWithResponseStream",
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "s3:CopyObject": "s3:PutObject",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListBuckets": "s3:ListAllMyBuckets",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListObjects": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:UploadPart": "s3:PutObject",
    "s3:UploadPartCopy": "s3:PutObject",
    "sagemaker:InvokeEndpointWithResponseStream": "sagemaker:InvokeEndpointWithResponseStream",
    "sns:PublishBatch": "sns:Publish",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
"""Operations whose action has another name (as of 2026-11-26).

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html and
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""


REQUIRED_CHOICES: Mapping[str, tuple[str, ...]] = {
    "cloudwatch:PutMetricData": ("MetricData", "EntityMetricData"),
    "sns:Publish": ("TopicArn", "TargetArn", "PhoneNumber"),
}
"""Parameters of an action of which one is needed, which the models do not say.

Sources: https://docs.aws.amazon.com/sns/latest/api/API_Publish.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""


class Operation(NamedTuple):
    """An operation of a service.

    :param action: what a policy allows.
    :param required: its parameters that are always there.
    :param client: its client in boto3.
    """

    name: str
    action: str
    required: tuple[str, ...]
    client: str = ""


def by_sdk(service: str) -> Mapping[str, Operation] | None:
    """The operations of a service, by their names in small letters; `None` if it is not known.

    :param service: as state machines and schedules write it, such as `sfn` or `cloudwatchlogs`.
    """
    return next((found for name, found in _operations().items() if _java(name[0]) == service.lower()), None)


def by_client(name: str) -> Mapping[str, Operation] | None:
    """The operations of a client of boto3, such as `stepfunctions`, by their names in small letters."""
    return next((found for names, found in _operations().items() if names[1] == name), None)


def by_package(name: str) -> Mapping[str, Operation] | None:
    """The operations of a package of the SDK for JavaScript, such as `client-sfn`, by their names in small letters."""
    return next((found for names, found in _operations().items() if f"client-{names[0].lower().replace(' ', '-')}" == name), None)


@cache
def clients() -> frozenset[str]:
    """The names of all clients of boto3."""
    return frozenset(name for row in rows("sdk_clients.tsv") for name in row)


def _java(service: str) -> str:
    name = service.lower().replace(" ", "").replace("-", "")
    return _OTHER_NAMES.get(name, name)


@cache
def _operations() -> Mapping[tuple[str, str], Mapping[str, Operation]]:
    return {(service, client): _read(prefix, client, text) for service, client, prefix, text in rows("sdk_calls.tsv")}


def _read(prefix: str, client: str, text: str) -> Mapping[str, Operation]:
    return {one.name.lower(): one for one in (_operation(prefix, client, word) for word in text.split())}


def _operation(prefix: str, client: str, word: str) -> Operation:
    name, _, required = word.partition(":")
    action = f"{prefix}:{name}"
    return Operation(name, _OTHER_ACTIONS.get(action, action), tuple(filter(None, required.split(","))), client)
