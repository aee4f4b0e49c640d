"""The order of creation: what a resource awaits beside what it refers to; `order.tsv` has date and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import Schema, opened

OPENING = (
    "AWS::EC2::NetworkAclEntry",
    "AWS::EC2::Route",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SubnetNetworkAclAssociation",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPCEndpoint",
)
"""Types that open a way in a network to which users of the network do not refer (as of 2026-11-26).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html
"""

CALLERS = {"AWS::CloudFormation::CustomResource": "ServiceToken", "AWS::SecretsManager::RotationSchedule": "RotationLambdaARN"}
"""Types whose function is called as soon as they are made, with the property that names it (as of 2026-11-26).

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-custom-resources.html and
https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_RotateSecret.html
"""


class Completion(NamedTuple):
    """A resource that completes what another uses.

    :param used: the places of what the user uses; `>` goes on in the named resource, `/` begins a text with properties in braces.
    :param when: a schema of the user's properties; the user awaits the part where they fit it.
    :param part: the type of the part.
    :param named: the places where the part names the same things, one for each.
    :param words: what the part does.
    :param bearer: the property with the resource that bears the mistake, unless the user has `DependsOn`.
    """

    user: str
    used: tuple[str, ...]
    when: Schema | None
    part: str
    named: tuple[str, ...]
    words: str
    bearer: str


@cache
def completions() -> Sequence[Completion]:
    """All completions."""
    return [
        Completion(user, tuple(used.split("&")), _schema(when), part, tuple(named.split("&")), words, bearer)
        for user, used, when, part, named, words, bearer, _ in rows("order.tsv")
    ]


def _schema(text: str) -> Schema | None:
    found: Schema | None = opened(json.loads(text)) if text else None
    return found


ONE_BY_ONE: Mapping[str, tuple[str, str]] = {
    "AWS::EKS::FargateProfile": ("ClusterName", "which its cluster makes at the same time: EKS makes one profile after the other"),
}
"""Types of which a thing makes one at a time, by type: the property that names the thing, and what the other one is, in words.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateFargateProfile.html (ResourceInUse; as of 2026-11-30)
"""
