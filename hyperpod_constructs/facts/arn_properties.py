"""The services whose ARNs a property takes, by its name (as of 2026-11-26).

Names of properties mean the same in all types. Source:
https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.facts.zones import ZONE_NAME


class ArnProperty(NamedTuple):
    """What properties of a name take.

    :param ends: the end of the name.
    :param begins: the begin of the resource in the ARN; empty for any.
    :param words: in words.
    """

    ends: str
    services: tuple[str, ...]
    words: str
    begins: str = ""


_DIGITS_OF_AN_ACCOUNT = 12
_KEY_ID = re.compile(r"[a-z][a-z0-9-]*")
_KEY_FORMS = re.compile(r"mrk-[0-9a-f]{32}|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")

PROPERTIES = (
    ArnProperty(r"K[Mm][Ss]\w*Key(Id|ID|Identifier|Arn|ARN)|EncryptionKey(Id|Arn)|K[Mm][Ss]Key", ("kms",), "a key"),
    ArnProperty(r"Role(Arn|ARN)|^((Execution|Job|Node|Service|Task)?Role)", ("iam",), "a role", "role/"),
    ArnProperty(r"LogGroupArn", ("logs",), "a log group"),
    ArnProperty(r"TopicArns?", ("sns",), "a topic"),
    ArnProperty(r"(Function|Lambda)(Arn|ARN)s?", ("lambda", "cloudfront"), "a function"),
    ArnProperty(r"SecretArn", ("secretsmanager",), "a secret", "secret:"),
    ArnProperty(r"(^|S3)BucketArn", ("s3", "s3-outposts", "s3express"), "a bucket"),
    ArnProperty(r"StateMachineArn", ("states",), "a state machine"),
    ArnProperty(r"File[Ss]ystemArn", ("elasticfilesystem", "fsx", "s3files"), "a file system"),
    ArnProperty(r"(SecurityGroup|Subnet|Vpc)Arns?", ("ec2",), "a part of a network"),
)
"""Names with what they take; the first that fits counts."""


REGION = re.compile(r"Region$")
"""Names of properties with the name of a region."""


ZONE = re.compile(r"AvailabilityZone(Name)?s?$")
"""Names of properties with the names of zones."""


ACCOUNT = re.compile(r"(?:^|Bucket|Destination|Owner|Source|Target)Account(Id|ID)?$")
"""Names of properties with the number of an account."""


def is_no_account(text: str) -> bool:
    """Whether a text is a number of another length than an account's."""
    return text.isdecimal() and len(text) != _DIGITS_OF_AN_ACCOUNT


def is_no_region(name: str) -> bool:
    """Whether a text is a zone, or has the form of a region and is none."""
    return re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d[a-z]?", name) is not None and name not in REGIONS


def is_no_zone(text: str) -> bool:
    """Whether a text begins as a region does, and is no zone of one: `us-east-1-b`, or only the region."""
    found = re.match(r"[a-z]{2}(?:-[a-z]+)+-\d", text)
    return found is not None and (ZONE_NAME.fullmatch(text) is None or found[0] not in REGIONS)


@cache
def arn_property(name: str) -> ArnProperty | None:
    """What a property takes, by its name; `None` for any other name."""
    return next((one for one in PROPERTIES if re.search(f"(?:{one.ends})$", name)), None)


def is_no_key(name: str) -> bool:
    """Whether a text is neither the id, the alias nor the ARN of a key: a plain name in small letters."""
    return _KEY_ID.fullmatch(name) is not None and _KEY_FORMS.fullmatch(name) is None
