"""Encryption contexts: the pair that a service gives KMS when it uses the key of a resource for a role."""

from __future__ import annotations

from hyperpod_constructs.analysis.arns import bucket_arn
from hyperpod_constructs.analysis.conditions import ENCRYPTION_CONTEXT, Context
from hyperpod_constructs.facts.permissions import CONTEXTS
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_bool, as_items, at, joined, parts_of

OF_VOLUMES: Context = {ENCRYPTION_CONTEXT: ABSENT}
"""What HyperPod passes with the keys of volumes: no pairs.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (as of 2026-11-29)
"""

BUCKET_RULES = ("BucketEncryption", "ServerSideEncryptionConfiguration")
"""The place of the rules by which a bucket encrypts."""


def encryption_of(service: str, target: Resource | None) -> Context:
    """The key with the pair of a service, where it is known; a caller may add others."""
    name = CONTEXTS.get(service)
    if name is None or target is None:
        return {}
    return {f"{ENCRYPTION_CONTEXT}{name}": _encrypted(service, target)}


def _encrypted(service: str, target: Resource) -> Value:
    """What the context names: of a bucket with a key of its own the bucket, else an object."""
    if service != "s3":
        return Reference(target, "Arn") if service in ("kinesis", "sqs") else Reference(target)
    arn = bucket_arn(Reference(target))
    return arn if has_bucket_key(target) else joined([*parts_of(arn), "/", UNKNOWN])


def has_bucket_key(bucket: Resource) -> bool:
    """Whether S3 encrypts the objects of a bucket with a key of the bucket, whose context has the bucket's ARN."""
    return as_bool(at((as_items(bucket.get(*BUCKET_RULES)) or (ABSENT,))[0], "BucketKeyEnabled")) is True
