"""Calls through access points of S3: the policy of the point is asked, and that of its bucket too, with the keys of the point.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-points-policies.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.arns import Arn, bucket_arn
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.iam import RoleFacts
from hyperpod_constructs.analysis.node_places import BUCKET
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.resource_policies import ACCESS_POINT
from hyperpod_constructs.facts.permissions import OBJECTS
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_str, joined, parts_of, shown

_LIST = "s3:ListBucket"


class PointUse(NamedTuple):
    """An action that a statement allows through an access point of the model."""

    point: Resource
    bucket: Resource
    action: str

    @property
    def arns(self) -> tuple[Value, Value]:
        """What the policy of the point is asked for, and what that of the bucket."""
        point, bucket = Reference(self.point, "Arn"), bucket_arn(Reference(self.bucket))
        if self.action == _LIST:
            return point, bucket
        return joined([point, "/object/", UNKNOWN]), joined([*parts_of(bucket), "/", UNKNOWN])

    @property
    def context(self) -> Context:
        """The keys of the call that tell of the point."""
        return {
            "s3:accesspointnetworkorigin": "Internet" if self.point.get("VpcConfiguration") is ABSENT else "VPC",
            "s3:dataaccesspointaccount": self.point.template.owner,
            "s3:dataaccesspointarn": Reference(self.point, "Arn"),
        }


def point_uses(facts: RoleFacts) -> Iterator[PointUse]:
    """What the statements of a role allow by name through access points."""
    for point in facts.role.template.model.resources(ACCESS_POINT):
        bucket = resource_of(point.get("Bucket"), BUCKET)
        uses = [PointUse(point, bucket, action) for action in (_LIST, *OBJECTS)] if bucket is not None else []
        yield from (use for use in uses if any(_allows(statement, use) for statement in facts.statements))


def _allows(statement: Statement, use: PointUse) -> bool:
    """Whether a statement surely allows a use under no condition, by a pattern that names access points."""
    plain = statement.effect == "Allow" and not statement.conditional and not statement.excludes_resources
    named = any(_names(pattern, use) for pattern in statement.resources) if plain else False
    return named and statement.speaks_of(use.action) is True


def _names(pattern: Value, use: PointUse) -> bool:
    """Whether a pattern surely is for a use; the region and the account of a point are those of the stack."""
    if isinstance(parts_of(pattern)[0], Reference):
        return Arn(pattern).covers(Arn(use.arns[0])) is True
    name, field = as_str(use.point.get("Name")), str(shown(pattern)).partition(":accesspoint/")[2]
    return name is not None and glob(field, name if use.action == _LIST else f"{name}/object/any")
