"""Guests: principals whom the policy of a bucket lets in, and whom the key of the bucket does not let do their part.

The policy of the key names them too, so they are meant, or they are of another account, which the key's account does not stand for.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption-update-bucket-policy.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.policy_document import Statement, layer_of
from hyperpod_constructs.analysis.resource_policies import BUCKET_POLICY, key_of
from hyperpod_constructs.facts.permissions import OF_ENCRYPTED
from hyperpod_constructs.facts.policies import COPIES_MAY
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Account, Reference, Value, as_str, is_known, parts_of

_OF_ACCOUNT = re.compile(r"(?:arn:[a-z-]+:iam::)?(\d{12})(?::.*)?")


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
        strange = _is_stranger(principal, key, own)
        for action, takes in (
            {**OF_ENCRYPTED, **COPIES_MAY}.items() if (meant or strange) and not statement.excludes_actions else ()
        ):
            lacking = tuple(one for one in takes if not any(each.speaks_of(one) is not False for each in meant))
            if action.lower() in named and lacking:
                yield Guest(bucket, key, principal, action, lacking)


def _is_stranger(principal: Value, key: Resource, own: Sequence[Statement]) -> bool:
    """Whether a principal is surely of another account, and the policy of a key lets nobody of that account in."""
    found = _OF_ACCOUNT.fullmatch(principal) if isinstance(principal, str) else None
    if found is None or matches(parts_of(key.template.owner), (found[1],)) is not False:
        return False
    others = [one.principals("AWS") for one in own]
    return all(people is not None and not any(_may_be_of(one, found[1]) for one in people) for people in others)


def _may_be_of(principal: Value, account: str) -> bool:
    """Whether a principal may be of an account other than that of the key."""
    if isinstance(principal, Reference):
        return False
    written = [part for part in parts_of(principal) if isinstance(part, str)]
    own = any(isinstance(part, Account) for part in parts_of(principal))
    return not own and (len(written) != len(parts_of(principal)) or principal == "*" or account in written[0])
