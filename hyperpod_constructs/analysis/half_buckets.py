"""Buckets that a statement names by halves beside others: the bucket without its objects, or the objects without their bucket.

A statement that lists and reads some buckets lists none of which it names all objects alone. Objects below a prefix may be meant to
be read by their names.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.arns import bucket_arn
from hyperpod_constructs.analysis.condition_words import holders
from hyperpod_constructs.analysis.documents import Written
from hyperpod_constructs.analysis.fitting_actions import fits, named_actions
from hyperpod_constructs.analysis.iam import role_facts
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.facts.iam_actions import Action
from hyperpod_constructs.facts.policies import Kind
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Reference, Value, parts_of

_BUCKET = "AWS::S3::Bucket"
_LISTING = "s3:ListBucket"
_OF_HALVES = {"s3:GetObject": "any", _LISTING: None, "s3:PutObject": "any"}
"""Actions that a statement has for each of its buckets, with the key of an object for those of objects."""


def half_buckets(one: Written) -> Iterator[str]:
    """The actions of a statement that work on some of its buckets, and that nobody with it may do on another: in words."""
    statement = one.statement
    if one.kind is not Kind.IDENTITY or statement.effect != "Allow" or statement.excludes_actions or statement.excludes_resources:
        return
    named = grouped((bucket, pattern) for pattern in statement.resources if (bucket := _bucket(pattern)) is not None)
    for action in (found for found in named_actions(statement) if found.name in _OF_HALVES and len(named) > 1):
        halves = [bucket for bucket, patterns in named.items() if not any(fits(action, pattern) for pattern in patterns)]
        halves = [one for one in halves if action.name != _LISTING or any(_is_of_all(pattern) for pattern in named[one])]
        for bucket in halves if len(halves) < len(named) else ():
            if _is_lacking(one, action, bucket):
                yield f"{action.name} works on nothing that the statement names of {bucket.logical_id}"


def _bucket(pattern: Value) -> Resource | None:
    """The bucket that a pattern names alone."""
    found = [one for one in references(pattern) if one.type == _BUCKET]
    return found[0] if len(found) == 1 else None


def _is_of_all(pattern: Value) -> bool:
    """Whether a pattern is for all objects of a bucket."""
    last = parts_of(pattern)[-1]
    return isinstance(last, str) and last == "/*"


def _is_lacking(one: Written, action: Action, bucket: Resource) -> bool:
    """Whether no role with a policy may do an action on a bucket, or on its objects, and no other statement is meant for that."""
    call, roles = Call(action.name, bucket_arn(Reference(bucket), _OF_HALVES[action.name])), holders(one.resource) or ()
    policies = [policy for role in roles for policy in role_facts(role).policies]
    others = (each for policy in policies for each in policy.statements if each.raw != one.statement.raw)
    meant = any(each.speaks_of(action.name) and bucket in references(each.resources) for each in others)
    allowed = any_of(policy.layer.allows(call) for policy in policies)
    return bool(roles) and not meant and allowed is False and not any(role_facts(role).identity.allows(call) for role in roles)
