"""Permissions that the policies of buckets, secrets and keys give a role, beside its own.

Within one account a policy that names the role is enough; one for the account's root allows a role nothing by itself.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.arns import arn_matches, bucket_arn
from hyperpod_constructs.analysis.iam import covers
from hyperpod_constructs.analysis.policy_document import Statement, statements_of
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, as_items, as_str, at

KEY = "AWS::KMS::Key"
_BUCKET_POLICY = "AWS::S3::BucketPolicy"
_SECRET_POLICY = "AWS::SecretsManager::ResourcePolicy"


def policies_admit(role: Resource, action: str, resource: Value) -> bool | None:
    """Whether the policy of a bucket or of a secret lets a role do something with it.

    :param action: such as `s3:GetObject`.
    :param resource: the ARN, as a value of the model; an unknown end stands for any end.
    :return: `None` if a principal or a policy is not known, or a condition decides it.
    """
    answers = [_policy_admits(policy, role, action, resource) for policy in _policies_on(role, action, resource)]
    return any_of(answers)


def key_of(resource: Resource | None) -> Resource | None:
    """The customer managed key of the model with which a bucket's objects or a secret are encrypted."""
    if resource is None:
        return None
    if resource.type == "AWS::S3::Bucket":
        rules = as_items(resource.get("BucketEncryption", "ServerSideEncryptionConfiguration")) or ()
        default = at(rules[0], "ServerSideEncryptionByDefault") if rules else None
        return resource_of(at(default, "KMSMasterKeyID"), KEY)
    return resource_of(resource.get("KmsKeyId"), KEY)


def key_admits(key: Resource, role: Resource, action: str) -> bool | None:
    """Whether the key's own policy lets a role do something; IAM policies count only where it admits the account.

    `None` if a statement's principal is not known, or it has a condition.

    Source: https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html
    """
    statements = statements_of(key.get("KeyPolicy"))
    return None if statements is None else any_of(admits(statement, role, action) for statement in statements)


def admits(statement: Statement, role: Resource, action: str, resource: Value | None = None) -> bool | None:
    """Whether a statement of a resource's policy allows a role something; `resource` is `None` where it is surely covered."""
    answers = (statement.speaks_of(action), True if resource is None else covers(statement, resource))
    if False in answers or statement.effect == "Deny":
        return False
    principals = statement.principals("AWS")
    admitted = None if principals is None else any_of(_is_role(principal, role) for principal in principals)
    if admitted is False:
        return False
    return True if admitted and None not in answers and statement.effect == "Allow" and not statement.conditional else None


def _policies_on(role: Resource, action: str, resource: Value) -> Iterator[Resource]:
    """The policies of this resource, sure or possible."""
    service = action.partition(":")[0]
    model = role.template.model
    if service == "s3":
        for policy in model.resources(_BUCKET_POLICY):
            name = policy.get("Bucket")
            if any_of(arn_matches(bucket_arn(name, key), resource) for key in (None, "*")) is not False:
                yield policy
    elif service == "secretsmanager":
        for policy in model.resources(_SECRET_POLICY):
            secret = policy.get("SecretId")
            by_name = not (as_str(secret) or "arn:").startswith("arn:")
            if by_name or secret is UNKNOWN or arn_matches(secret, resource) is not False:
                yield policy


def _policy_admits(policy: Resource, role: Resource, action: str, resource: Value) -> bool | None:
    of_secret = policy.type == _SECRET_POLICY
    statements = statements_of(policy.get("ResourcePolicy" if of_secret else "PolicyDocument"))
    if statements is None:
        return None
    answer = any_of(admits(statement, role, action, None if of_secret else resource) for statement in statements)
    sure = not of_secret or arn_matches(policy.get("SecretId"), resource)
    return answer if sure or answer is False else None


def _is_role(principal: Value, role: Resource) -> bool | None:
    if isinstance(principal, Reference):
        return principal.resource is role if principal.resource.type.startswith("AWS::IAM::") else None
    if isinstance(principal, str):
        return _is_named_so(principal, role)
    if isinstance(principal, Text):
        return False if principal.endswith(":root") else None
    return None


def _is_named_so(principal: str, role: Resource) -> bool | None:
    if principal == "*":
        return True
    if principal.endswith(":root") or principal.isdecimal() or ":user/" in principal:
        return False
    name = as_str(role.get("RoleName"))
    return None if name is None or ":role/" not in principal else principal.rpartition("/")[2] == name
