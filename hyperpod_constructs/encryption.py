"""One key for all that a cluster stores, and the services that may use it."""

from __future__ import annotations

from aws_cdk import Annotations, ArnFormat, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_token
from hyperpod_constructs._support.tree import path_of, stack_of
from hyperpod_constructs.facts.policies import NOTIFIERS, NOTIFIERS_MAY
from hyperpod_constructs.rules.plugin import register_rules

_LOGS_MAY = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")


@checked
def cluster_key(scope: Construct, id: str) -> kms.Key:
    """A key for all that a cluster stores; give it as `encryption_key`, to file systems as `kms_key`, and to your buckets.

    It rotates each year, and outlives its stack, because what it encrypted cannot be read without it. Its policy lets the account
    give permissions by IAM, as every key's does. Constructs of this library add the services that need a statement there.
    """
    register_rules(scope, scope)
    return kms.Key(
        scope,
        id,
        description=f"HyperPod: {path_of(scope)}/{id}",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    )


def encrypt_logs(scope: IConstruct, key: kms.IKey) -> None:
    """Encrypt the log groups that are in a scope by now, and have no key of their own."""
    groups = [one for one in scope.node.find_all() if isinstance(one, logs.CfnLogGroup)]
    for group in groups:
        if group.kms_key_id is None:
            group.kms_key_id = key.key_arn
    if groups:
        _admit_logs(scope, key)


def _admit_logs(scope: IConstruct, key: kms.IKey) -> None:
    """Let CloudWatch Logs use a key for log groups of a stack, whose names begin with the stack's."""
    stack = stack_of(scope)
    admit_log_groups(scope, key, "*" if is_token(stack.stack_name) else f"{stack.stack_name}-*")


def admit_log_groups(scope: IConstruct, key: kms.IKey, names: str) -> None:
    """Let CloudWatch Logs use a key for log groups of these names.

    Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    stack = stack_of(scope)
    groups = stack.format_arn(service="logs", resource="log-group", resource_name=names, arn_format=ArnFormat.COLON_RESOURCE_NAME)
    statement = iam.PolicyStatement(
        actions=list(_LOGS_MAY),
        principals=[iam.ServicePrincipal(f"logs.{stack.region}.amazonaws.com")],
        resources=["*"],
        conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    )
    if not key.add_to_resource_policy(statement, True).statement_added:
        Annotations.of(scope).add_warning_v2(
            "hyperpod-constructs:key-of-logs",
            "encryption_key is from elsewhere, so its policy is not changed here; it must let logs.REGION.amazonaws.com use it "
            f"for log groups whose names begin with {names.removesuffix('*')}: "
            "cluster_key(...) makes a key that this library completes",
        )


def admit_notifications(scope: IConstruct, key: kms.IKey) -> None:
    """Let alarms, events and notices of budgets go to topics and queues that a key encrypts.

    None of the services is known to name the source of its calls to KMS, so the statement has no condition on it.

    Source: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    """
    statement = iam.PolicyStatement(
        actions=list(NOTIFIERS_MAY),
        principals=[iam.ServicePrincipal(name) for name in NOTIFIERS],
        resources=["*"],
    )
    if not key.add_to_resource_policy(statement, True).statement_added:
        Annotations.of(scope).add_warning_v2(
            "hyperpod-constructs:key-of-notifications",
            f"encryption_key is from elsewhere, so its policy is not changed here; it must allow {' and '.join(NOTIFIERS)} "
            f"{' and '.join(NOTIFIERS_MAY)}: cluster_key(...) makes a key that this library completes",
        )
