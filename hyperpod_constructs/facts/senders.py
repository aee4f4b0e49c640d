"""Services that send to a topic, a queue, a function or a bucket as themselves: `senders.tsv` has date and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Receiver:
    """A kind of receiver.

    :param type: its type.
    :param action: what a sender does there.
    :param policies: the types of its policies, each with the property that names the receiver; none if statements do.
    :param key: the property with the key of its messages.
    :param managed_key: the alias of AWS's key, which no other service can use.
    """

    type: str
    action: str
    policies: Mapping[str, str]
    key: str = ""
    managed_key: str = ""


_BUCKET_POLICY = {"AWS::S3::BucketPolicy": "Bucket"}

RECEIVERS: Mapping[str, Receiver] = {
    "acl": Receiver(type="AWS::S3::Bucket", action="s3:GetBucketAcl", policies=_BUCKET_POLICY),
    "lambda": Receiver(
        type="AWS::Lambda::Function", action="lambda:InvokeFunction", policies={"AWS::Lambda::Permission": "FunctionName"}
    ),
    "logs": Receiver(type="AWS::Logs::LogGroup", action="logs:PutLogEvents", policies={"AWS::Logs::ResourcePolicy": ""}),
    "s3": Receiver(type="AWS::S3::Bucket", action="s3:PutObject", policies=_BUCKET_POLICY),
    "sns": Receiver(
        type="AWS::SNS::Topic",
        action="sns:Publish",
        policies={"AWS::SNS::TopicPolicy": "Topics", "AWS::SNS::TopicInlinePolicy": "TopicArn"},
        key="KmsMasterKeyId",
        managed_key="alias/aws/sns",
    ),
    "sqs": Receiver(
        type="AWS::SQS::Queue",
        action="sqs:SendMessage",
        policies={"AWS::SQS::QueuePolicy": "Queues", "AWS::SQS::QueueInlinePolicy": "Queue"},
        key="KmsMasterKeyId",
        managed_key="alias/aws/sqs",
    ),
}
"""Kinds of receivers, by the service of their ARN; `acl` is a bucket whose ACL is read first (as of 2026-11-24).

Sources: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
"""


LOGGING, LOGGING_ACL = "logging.s3.amazonaws.com", "LogDeliveryWrite"
"""The service that writes down the requests to a bucket, and the ACL of a bucket that lets it in beside a policy.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html
"""

NEVER_ACCOUNTS = ("events.amazonaws.com", "s3.amazonaws.com", "sns.amazonaws.com")
"""Services for which no account stands among the principals of a policy (as of 2026-11-28).

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/grant-destinations-permissions-to-s3.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html and
https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html
"""

SOURCES = ("aws:sourceaccount", "aws:sourcearn", "aws:sourceorgid", "aws:sourceorgpaths")
WITHOUT_SOURCE = frozenset({("events.amazonaws.com", "AWS::SNS::Topic")})
"""Keys with the source of a service's call, and services that use the key of such a receiver without them (as of 2026-11-30).

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html#compatibility-with-aws-services
"""

OWNED = ("cloudtrail.amazonaws.com", "config.amazonaws.com", "delivery.logs.amazonaws.com", "s3.amazonaws.com")
"""Services that give what they write into a bucket to its owner: they ask for the ACL bucket-owner-full-control.

Sources: https://docs.aws.amazon.com/awscloudtrail/latest/userguide/create-s3-bucket-policy-for-cloudtrail.html,
https://docs.aws.amazon.com/config/latest/developerguide/s3-bucket-policy.html,
https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-s3-permissions.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/configure-inventory.html (as of 2026-11-27)
"""


class Sender(NamedTuple):
    """A property of a type that names the receiver of a service.

    :param path: the way to the receiver.
    :param to: the kind of the receiver.
    :param source: the property with the source, unless it is the resource itself.
    :param role: the place of a role that the service takes instead.
    :param tested: whether AWS tries the receiver when the resource is made.
    :param by_default: whether the policy that a topic has from the start is enough.
    :param meant: whether only a policy for the service counts, because it may have a role instead.
    :param auto: whether only a policy for the service counts, because it writes a missing one itself.
    :param key: the form of the keys in a bucket.
    """

    type: str
    path: str
    to: str
    service: str
    source: str
    role: str
    tested: bool
    by_default: bool
    meant: bool
    auto: bool
    key: str


@cache
def senders() -> Mapping[str, tuple[Sender, ...]]:
    """The senders by their type."""
    found: dict[str, tuple[Sender, ...]] = {}
    for type_, path, to, service, source, role, words, key, _ in rows("senders.tsv"):
        tested, by_default, meant, auto = (mark in words for mark in ("tested", "default", "meant", "auto"))
        one = Sender(type_, path, to, service, source, role, tested, by_default, meant, auto, key)
        found[type_] = (*found.get(type_, ()), one)
    return found
