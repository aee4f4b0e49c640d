"""Guests: principals whom the policy of a bucket lets in, and whom the key of the bucket does not let do their part.

The policy of the key names them too, so they are meant; of a principal that it does not name, its account may tell more.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption-update-bucket-policy.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.policy_document import Statement, layer_of
from hyperpod_constructs.analysis.resource_policies import BUCKET_POLICY, key_of
from hyperpod_constructs.facts.permissions import OF_ENCRYPTED
from hyperpod_constructs.facts.policies import COPIES_MAY
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Value, as_str, is_known


class Guest(NamedTuple):
    """A principal, and what it may not do with the key of a bucket.

    :param does: its action on the bucket.
    """

    bucket: Resource
    key: Resource
    principal: Value
    does: str
    lacking: tuple[str, ...]


def guests(model: Model) -> Iterator[Guest]:
    """The principals that a key names, and does not let do what the policy of a bucket lets them."""
    for policy in model.resources(BUCKET_POLICY):
        bucket = resource_of(policy.get("Bucket"))
        key = key_of(bucket)
        if bucket is not None and key is not None and layer_of(key.get("KeyPolicy")).complete:
            for statement in layer_of(policy.get("PolicyDocument")).statements:
                yield from _of_statement(bucket, key, statement)


def _of_statement(bucket: Resource, key: Resource, statement: Statement) -> Iterator[Guest]:
    own = [one for one in layer_of(key.get("KeyPolicy")).statements if one.effect != "Deny"]
    named = {(as_str(action) or "").lower() for action in statement.actions} if statement.effect == "Allow" else set()
    for principal in statement.principals("AWS") or ():
        meant = [one for one in own if principal in (one.principals("AWS") or ()) and is_known(principal)]
        for action, takes in {**OF_ENCRYPTED, **COPIES_MAY}.items() if meant and not statement.excludes_actions else ():
            lacking = tuple(one for one in takes if not any(each.speaks_of(one) is not False for each in meant))
            if action.lower() in named and lacking:
                yield Guest(bucket, key, principal, action, lacking)
