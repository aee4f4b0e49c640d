"""A topic that alarms and events reach, and the people who hear of it."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import stack_of
from hyperpod_constructs._support.values import Email
from hyperpod_constructs.encryption import admit_notifications, cluster_key


@checked
def alarms_topic(scope: Construct, id: str, *, emails: Sequence[Email] = (), encryption_key: kms.IKey | None = None) -> sns.Topic:
    """An encrypted topic for alarms and events; give it as `alarms_topic`.

    Alarms cannot use the key that AWS manages for SNS, so that they would be lost without a sign.

    :param emails: addresses that receive the messages, once each has confirmed the first one; none unless given.
    :param encryption_key: the key; a new one, for $1 a month, when not given. Its policy lets alarms and events use it.
    """
    key = cluster_key(scope, f"{id}Key") if encryption_key is None else encryption_key
    admit_notifications(scope, key)
    topic = sns.Topic(scope, id, master_key=key, enforce_ssl=True)
    for address in emails:
        sns.Subscription(topic, address, topic=topic, protocol=sns.SubscriptionProtocol.EMAIL, endpoint=address)
    return topic


def let_publish(topic: sns.ITopic, scope: Construct, service: str, resource: str) -> None:
    """Let a service of the account send messages of such a resource to the topic. The policy of an imported one is not changed.

    :param resource: ARN, which may hold `*`.
    """
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            actions=["sns:Publish"],
            principals=[iam.ServicePrincipal(service)],
            resources=[topic.topic_arn],
            conditions={
                "StringEquals": {"aws:SourceAccount": stack_of(scope).account},
                "ArnLike": {"aws:SourceArn": resource},
            },
        )
    )
