"""The keys of conditions: their types, and the actions whose calls have them: `condition_keys.tsv` has the source.

>>> [key_of(name).kind for name in ("kms:ViaService", "aws:SecureTransport", "s3:max-keys")]
['String', 'Bool', 'Numeric']
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

_GLOBAL = "aws"
_TAGS = ("aws:requesttag/", "aws:tagkeys")
ACCOUNT = r"\d{12}"
"""The form of an account."""
_ACCOUNT, _SERVICE = (
    (ACCOUNT, "an account of 12 digits"),
    (r"[a-z0-9.-]+\.amazon(aws)?\.com(\.cn)?", "a service such as s3.amazonaws.com"),
)
_ORGANIZATION = (r"o-[a-z0-9]{10,32}", "an organization such as o-a1b2c3d4e5")
_REGION = (r"[a-z]{2}(-[a-z]+)+-\d+", "a region such as us-west-2")
_CANNED = (
    *("private", "public-read", "public-read-write", "authenticated-read", "aws-exec-read"),
    *("bucket-owner-read", "bucket-owner-full-control", "log-delivery-write"),
)
VALUES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("aws:sourceaccount", "aws:principalaccount", "aws:resourceaccount", "kms:calleraccount"), _ACCOUNT),
    **dict.fromkeys(("aws:vpceaccount", "s3:resourceaccount", "aws:sourceowner"), _ACCOUNT),
    **dict.fromkeys(("aws:principalorgid", "aws:resourceorgid", "aws:sourceorgid", "aws:vpceorgid"), _ORGANIZATION),
    **dict.fromkeys(("iam:passedtoservice", "iam:awsservicename", "aws:principalservicename"), _SERVICE),
    **dict.fromkeys(("aws:calledvia", "aws:calledviafirst", "aws:calledvialast"), _SERVICE),
    "aws:requestedregion": _REGION,
    "aws:sourcevpc": (r"vpc-[0-9a-f]+", "the id of a VPC"),
    "aws:sourcevpce": (r"vpce-[0-9a-f]+", "the id of an endpoint"),
    "kms:viaservice": (
        r"[a-z0-9-]+(\.[a-z0-9-]+)?\.[a-z]{2}(-[a-z]+)+-\d+\.amazonaws\.com(\.cn)?",
        "a service such as s3.us-west-2.amazonaws.com",
    ),
    "s3:x-amz-acl": ("|".join(_CANNED), f"one of {', '.join(_CANNED)}"),
    "s3:x-amz-server-side-encryption": ("AES256|aws:kms|aws:kms:dsse|aws:fsx", "AES256, aws:kms or aws:kms:dsse"),
}
"""The forms of the values of keys, and the forms in words (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html,
https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html
"""

OF_SERVICES = ("aws:", "parameter_arn", "secretarn", "secretversionid")
"""The beginnings of keys in encryption contexts of services, in small letters: their values are ARNs and ids without a star.

Source: https://docs.aws.amazon.com/kms/latest/developerguide/encrypt_context.html (as of 2026-11-29)
"""

ALWAYS = frozenset(("aws:currenttime", "aws:epochtime", "aws:requestedregion", "aws:securetransport"))
"""Keys that every request has.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html (as of 2026-11-27)
"""

PAST = "2026-01-01T00:00:00+00:00"
"""A time that is over."""

TYPES: Mapping[str, str] = {
    "aws:sourcevpc": "AWS::EC2::VPC",
    "aws:sourcevpce": "AWS::EC2::VPCEndpoint",
    "ec2:subnet": "AWS::EC2::Subnet",
    "ec2:vpc": "AWS::EC2::VPC",
    "elasticfilesystem:accesspointarn": "AWS::EFS::AccessPoint",
    "lambda:securitygroupids": "AWS::EC2::SecurityGroup",
    "lambda:subnetids": "AWS::EC2::Subnet",
    "lambda:vpcids": "AWS::EC2::VPC",
    "s3:dataaccesspointarn": "AWS::S3::AccessPoint",
    "sagemaker:vpcsecuritygroupids": "AWS::EC2::SecurityGroup",
    "sagemaker:vpcsubnets": "AWS::EC2::Subnet",
}
"""Keys whose value is the id or the ARN of a resource, with its type.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/ (as of 2026-11-27)
"""


class Key(NamedTuple):
    """A key of conditions.

    :param name: as AWS writes it, with `*` for a free part.
    :param kind: its type, such as `String`, `ArrayOfString`, `Bool` or `ARN`.
    """

    name: str
    kind: str


class _Service(NamedTuple):
    keys: tuple[Key, ...]
    actions: Mapping[str, frozenset[str]]


def key_of(name: str) -> Key | None:
    """The key with a name, whatever its case; `None` for one that AWS does not list."""
    lowered = name.lower()
    services = (_GLOBAL, lowered.partition(":")[0])
    return next((key for service in services for key in keys_like(service) if _is_named(key.name, lowered)), None)


def keys_like(service: str) -> tuple[Key, ...]:
    """All keys of a service, or with `aws` the global ones; none for a service that is not listed."""
    return () if service not in _lines() else _service(service).keys


def is_listed(service: str) -> bool:
    """Whether the keys of a service are known."""
    return service in _lines()


def is_of_requests(name: str) -> bool:
    """Whether a key is in some requests only: those of a service, and tags of a request."""
    prefix = name.lower().partition(":")[0]
    session = any(key.name.lower() == name.lower() for key in keys_like(_GLOBAL))
    return name.lower().startswith(_TAGS) or (prefix != _GLOBAL and is_listed(prefix) and not session)


def pseudo_parameters(name: str) -> tuple[str, ...] | None:
    """The pseudo parameters that give a value of a key; `None` for a key that may have any text."""
    if name.lower() in VALUES:
        own = {_ACCOUNT: ("AWS::AccountId",), _REGION: ("AWS::Region",)}
        return own.get(VALUES[name.lower()], ())
    key = key_of(name)
    return ("AWS::StackId",) if key is not None and key.kind == "ARN" else None


@cache
def is_taken(action: str, key: str) -> bool | None:
    """Whether the calls of an action have a key; `None` for an action that is not known, or a key that no action is said to have.

    Calls of `states:InvokeHTTPEndpoint` have such keys.

    Source: https://docs.aws.amazon.com/step-functions/latest/dg/call-https-apis.html (as of 2026-11-28)
    """
    prefix, _, name = action.lower().partition(":")
    if prefix == _GLOBAL or not is_listed(prefix) or key.lower() in _without_actions(prefix):
        return None
    found = _service(prefix).actions.get(name)
    return None if found is None else any(_is_named(one, key.lower()) for one in found)


@cache
def _without_actions(service: str) -> frozenset[str]:
    """The keys that the reference lists for a service, and for none of its actions."""
    found = _service(service)
    taken = {name for names in found.actions.values() for name in names}
    return frozenset(key.name.lower() for key in found.keys if key.name not in taken)


def _is_named(name: str, lowered: str) -> bool:
    """Whether the name of a key is this one; most names have no free part."""
    return _pattern(name).fullmatch(lowered) is not None if "*" in name else name.lower() == lowered


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(".+".join(map(re.escape, name.lower().split("*"))))


@cache
def _lines() -> Mapping[str, tuple[str, str]]:
    return {service: (keys, actions) for service, keys, actions in rows("condition_keys.tsv")}


@cache
def _service(name: str) -> _Service:
    types, actions = _lines()[name]
    keys = tuple(Key(key, kind) for key, _, kind in (one.rpartition("=") for one in types.split()))
    return _Service(
        keys,
        {
            action.lower(): frozenset(keys[int(place)].name for place in places.split(",") if place)
            for action, _, places in (word.partition(":") for word in actions.split())
        },
    )
