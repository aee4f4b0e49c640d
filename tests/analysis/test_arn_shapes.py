"""ARNs with fields that AWS does not have."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.arn_shapes import mistaken_region, mistaken_shape
from hyperpod_constructs.templates.values import UNKNOWN, joined


@pytest.mark.parametrize(
    ("arn", "words"),
    [
        ("arn:aws:iam::11112222333:role/a", "has the account 11112222333"),
        ("arn:aws:sqs:us-east-1:ACCOUNT_ID:a", "has the account ACCOUNT_ID"),
        ("arn:aws:sqs:us-eas-1:111122223333:a", "did you mean us-east-1?"),
        ("arn:aws:sqs:useast1:111122223333:a", "is no name of a region"),
        ("arn:aws:sqs:us-east-1:a", "has 5 of the 6 fields"),
        ("arn:aws:s3:runs/*", "has 4 of the 6 fields"),
        ("arn:aws:sagmaker:us-east-1:111122223333:cluster/*", "one of sagemaker has sagemaker"),
        ("arn:aws:S3:::runs/*", "one of s3 has s3"),
    ],
)
def test_fails_fields_that_there_are_not(arn: str, words: str) -> None:
    assert words in (mistaken_shape(arn) or "")


@pytest.mark.parametrize(
    "arn",
    [
        "*",
        "arn:aws:s3:::runs/*",
        "arn:aws:s3:*",
        "arn:aws:iam::aws:policy/ReadOnlyAccess",
        "arn:aws:sqs:*:1111*:a",
        "arn:aws:imagebuilder:us-east-1:aws-marketplace:component/a",
        "arn:aws:ec2:eu-east-1:111122223333:instance/*",
        "arn:aws:unheard:us-east-1:111122223333:a",
        "arn:aws:sqs:${aws:RequestedRegion}:111122223333:a",
    ],
)
def test_fields_that_there_may_be_are_taken(arn: str) -> None:
    assert mistaken_shape(arn) is None


def test_what_is_not_known_may_be_anything() -> None:
    assert mistaken_shape(joined(["arn:aws:sqs:", UNKNOWN, ":", UNKNOWN, ":a"])) is None
    assert mistaken_shape(joined(["arn:aws:", UNKNOWN])) is None


def test_regions_that_there_may_be_once() -> None:
    assert [mistaken_region(one) for one in ("us-west-3", "eu-east-1", "us-west-2", "ap-southeast-9")] == [None] * 4
    assert "did you mean ap-northeast-1?" in (mistaken_region("ap-northest-1") or "")
