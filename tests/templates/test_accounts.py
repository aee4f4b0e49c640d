"""The account that templates name as their own."""

from __future__ import annotations

import pytest

from hyperpod_constructs.templates.accounts import claimed_account
from hyperpod_constructs.templates.raw import Raw


@pytest.mark.parametrize(
    ("bucket", "account"),
    [
        ("cdk-hnb659fds-assets-123456789012-us-west-2", "123456789012"),
        ("team-scripts-123456789012-us-gov-west-1", "123456789012"),
        ("team-scripts-123456789012", "123456789012"),
        ("team-scripts-123456789012-two", ""),
        ("team-scripts-us-west-2", ""),
    ],
)
def test_names_of_buckets_have_the_account(bucket: str, account: str) -> None:
    code: Raw = {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"S3Bucket": bucket, "S3Key": "a.zip"}}}
    assert claimed_account([{"Resources": {"Function": code}}]) == account
