"""Access points of S3: their policies, and the policies of their buckets, let roles do what the roles' own policies allow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import Template, findings, slurm
from tests.rules.catalogue.test_refused_calls import OBJECTS, ROOT, STATEMENTS, allow, deny, of_everybody, on_bucket, when

POINT_ARN = "arn:${AWS::Partition}:s3:${AWS::Region}:${AWS::AccountId}:accesspoint/scripts"
BUCKET = {"Fn::GetAtt": ["Scripts", "Arn"]}


def through_point(*statements: Template, resources: Any = None, policy: Any = None) -> Template:
    """Nodes that read scripts through an access point too, whose bucket has a policy."""
    own = resources or [{"Fn::Sub": POINT_ARN}, {"Fn::Sub": f"{POINT_ARN}/object/*"}]
    point = {"Name": "scripts", "Bucket": {"Ref": "Scripts"}, **({} if policy is None else {"Policy": {"Statement": [policy]}})}
    return edited(
        slurm(),
        {
            f"{STATEMENTS}/4": allow(["s3:GetObject", "s3:ListBucket"], own),
            "Point": {"Type": "AWS::S3::AccessPoint", "Properties": point},
            **({"Access": on_bucket(*statements)} if statements else {}),
        },
    )


def _found(template: Template) -> list[tuple[str, str]]:
    return [(one.rule, one.resource or "") for one in findings(template) if "Point" in one.message or one.rule == "HP-POL-002"]


DELEGATED = when("StringEquals", "s3:DataAccessPointAccount", {"Ref": "AWS::AccountId"})


@pytest.mark.parametrize(
    "statement",
    [
        {**deny(["s3:GetObject", "s3:ListBucket"], [BUCKET, OBJECTS], **DELEGATED), "Principal": ROOT},
        of_everybody(deny("s3:GetObject", OBJECTS, **when("StringEquals", "s3:AccessPointNetworkOrigin", "Internet"))),
        of_everybody(deny("s3:GetObject", OBJECTS, **when("Null", "s3:DataAccessPointArn", "false"))),
    ],
)
def test_fails_when_a_bucket_denies_what_comes_through_its_point(statement: Template) -> None:
    assert _found(through_point(statement)) == [("HP-PERM-002", "Access")]


@pytest.mark.parametrize(
    "statement",
    [
        {**allow(["s3:GetObject", "s3:ListBucket"], [BUCKET, OBJECTS], **DELEGATED), "Principal": ROOT},
        of_everybody(deny("s3:GetObject", OBJECTS, **when("StringEquals", "s3:AccessPointNetworkOrigin", "VPC"))),
        of_everybody(deny("s3:PutObject", OBJECTS)),
    ],
)
def test_passes_when_a_bucket_leaves_it_to_the_point(statement: Template) -> None:
    assert _found(through_point(statement)) == []


def test_fails_when_a_point_denies_what_a_role_may() -> None:
    arn = {"Fn::GetAtt": ["Point", "Arn"]}
    denied = of_everybody(deny("s3:ListBucket", "arn:aws:s3:*:*:accesspoint/scripts"))
    assert _found(through_point(resources=[arn, {"Fn::Sub": "${Point.Arn}/object/*"}], policy=denied)) == [("HP-PERM-002", "Point")]


@pytest.mark.parametrize(
    ("end", "rules"),
    [("object/*", []), ("*", []), ("obj*", []), ("object/a/*", []), ("a/*", ["HP-POL-002"]), ("objects/*", ["HP-POL-002"])],
)
def test_objects_of_a_point_lie_below_a_folder_of_their_own(end: str, rules: list[str]) -> None:
    template = through_point(resources=[{"Fn::Sub": POINT_ARN}, {"Fn::Sub": f"{POINT_ARN}/{end}"}])
    assert [rule for rule, _ in _found(template)] == rules
