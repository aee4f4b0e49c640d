"""Customer managed keys: the resources that they encrypt, and the permissions in their own policies.

https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.policy_document import statements_of
from hyperpod_constructs.analysis.resource_policies import admits
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import as_items, at

KEY = "AWS::KMS::Key"


def key_of(resource: Resource | None) -> Resource | None:
    """The key of the model with which a bucket's objects or a secret are encrypted."""
    if resource is None:
        return None
    if resource.type == "AWS::S3::Bucket":
        rules = as_items(resource.get("BucketEncryption", "ServerSideEncryptionConfiguration")) or ()
        default = at(rules[0], "ServerSideEncryptionByDefault") if rules else None
        return resource_of(at(default, "KMSMasterKeyID"), KEY)
    return resource_of(resource.get("KmsKeyId"), KEY)


def policy_admits(key: Resource, role: Resource, action: str) -> bool | None:
    """Whether the key's own policy lets a role do something; IAM policies count only where it admits the account.

    `None` if a statement's principal is not known, or it has a condition.
    """
    statements = statements_of(key.get("KeyPolicy"))
    if statements is None:
        return None
    return any_of(admits(statement, role, action) for statement in statements)
