"""Lambda functions in a VPC, in process: what their network and role must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.function_networks import place
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

ROLE = "arn:aws:iam::123456789012:role/function"


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as found:
        yield found


@pytest.fixture
def config(cloud: Cloud) -> dict[str, Any]:
    return {"SubnetIds": [cloud.subnet], "SecurityGroupIds": [cloud.security_group]}


def test_a_function_is_described_with_its_vpc(cloud: Cloud, config: dict[str, Any]) -> None:
    assert place(config, ROLE, cloud.client, CALLER) == {**config, "VpcId": cloud.vpc, "Ipv6AllowedForDualStack": False}
    assert place({}, ROLE, cloud.client, CALLER)["VpcId"] == ""


@pytest.mark.parametrize(("given", "described"), [("true", True), ("false", False), (True, True)])
def test_a_truth_may_come_from_a_parameter_as_text(cloud: Cloud, config: dict[str, Any], given: object, described: bool) -> None:
    found = place({**config, "Ipv6AllowedForDualStack": given}, ROLE, cloud.client, CALLER)
    assert found["Ipv6AllowedForDualStack"] is described


def test_fails_without_groups_for_an_unknown_subnet_and_for_two_vpcs(cloud: Cloud, config: dict[str, Any]) -> None:
    ec2 = cloud.client("ec2")
    other = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    elsewhere = ec2.create_security_group(GroupName="other", Description="other", VpcId=other)["GroupId"]
    for change, message in (
        ({"SecurityGroupIds": []}, "needs subnets and security groups"),
        ({"SubnetIds": ["subnet-0123456789abcdef0"]}, "subnet-0123456789abcdef0"),
        ({"SecurityGroupIds": [elsewhere]}, f"must be in one VPC; found .* in {other}"),
    ):
        with pytest.raises(AwsError, match=message):
            place({**config, **change}, ROLE, cloud.client, CALLER)


def test_fails_with_a_role_that_makes_no_interfaces(cloud: Cloud, config: dict[str, Any]) -> None:
    cloud.iam.denied.add("ec2:CreateNetworkInterface")
    with pytest.raises(AwsError, match=f"does not have permissions to call CreateNetworkInterface on EC2: {ROLE}"):
        place(config, ROLE, cloud.client, CALLER)
