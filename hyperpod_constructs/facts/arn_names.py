"""The names and ids at the end of ARNs, by the service and the word before them (as of 2026-11-29; read, not measured).

Sources: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/auth-and-access_iam-policies.html,
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-APIReference.html,
https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#key-id-key-id,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.IAMPolicy.html,
https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html and
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class NameForm(NamedTuple):
    """What stands behind a word in ARNs.

    :param form: the form of all that is behind the word.
    :param begin: the characters with which it surely begins.
    :param words: it, in words.
    """

    form: re.Pattern[str]
    begin: str
    words: str


_HEX = r"[0-9a-f-]{8,}"


def _of(form: str, words: str, begin: str = "") -> NameForm:
    return NameForm(re.compile(form), begin, words)


def _id(begin: str) -> NameForm:
    """An id of EC2 and its like."""
    return _of(rf"{begin}[0-9a-f]+", f"an id that begins with {begin}", begin)


_OF_EC2 = {
    **{"elastic-ip": "eipalloc-", "image": "ami-", "instance": "i-", "internet-gateway": "igw-", "launch-template": "lt-"},
    **{"natgateway": "nat-", "network-acl": "acl-", "network-interface": "eni-", "route-table": "rtb-", "security-group": "sg-"},
    **{
        "snapshot": "snap-",
        "subnet": "subnet-",
        "transit-gateway": "tgw-",
        "volume": "vol-",
        "vpc": "vpc-",
        "vpc-endpoint": "vpce-",
    },
}
NAMES: Mapping[tuple[str, str], NameForm] = {
    **{("ec2", f"{word}/"): _id(begin) for word, begin in _OF_EC2.items()},
    ("acm", "certificate/"): _of(_HEX, "an id"),
    ("aps", "workspace/"): _of(rf"ws-{_HEX}", "an id that begins with ws-", "ws-"),
    ("backup", "backup-plan:"): _of(_HEX, "an id"),
    ("dynamodb", "table/"): _of(
        r"[\w.-]{3,255}(/(index|stream|backup|export|import)/.+)?", "a name, and behind it perhaps /index/ and another"
    ),
    ("ecr", "repository/"): _of(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*", "the name of a repository in small letters, without a tag"),
    ("elasticfilesystem", "access-point/"): _id("fsap-"),
    ("elasticfilesystem", "file-system/"): _id("fs-"),
    ("fsx", "file-system/"): _id("fs-"),
    ("grafana", "/workspaces/"): _of(r"g-[0-9a-f]+", "an id that begins with g-", "g-"),
    ("kms", "key/"): _of(rf"(mrk-)?{_HEX}", "an id"),
    ("rds-db", "dbuser:"): _of(
        r"(db-[A-Z0-9]+|cluster-[A-Z0-9]+|prx-[0-9a-z]+)/.+", "the id of a resource, such as db-ABC, and a user"
    ),
    ("route53", "hostedzone/"): _of(r"Z[A-Z0-9]+", "an id that begins with Z", "Z"),
    ("secretsmanager", "secret:"): _of(
        r".+-[A-Za-z0-9]{6}", "a name and six characters that the service adds, for which -?????? stands"
    ),
    ("sns", ""): _of(r"[\w-]+(\.fifo)?(:.+)?", "the name of a topic"),
    ("sqs", ""): _of(r"[\w-]+(\.fifo)?", "the name of a queue"),
    ("ssm", "parameter/"): _of(r"[^/]+(/[^/]+)*", "a name with single slashes"),
}
