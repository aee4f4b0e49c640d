"""Whether a VPC can have its blocks."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.templates import Template, findings, rules_of, slurm


def with_block(block: Any, **more: Any) -> Template:
    """A VPC of 10.0.0.0/16 with one more block."""
    template = slurm()
    vpc = next(id for id, resource in template["Resources"].items() if resource["Type"] == "AWS::EC2::VPC")
    assert template["Resources"][vpc]["Properties"]["CidrBlock"] == "10.0.0.0/16"
    added = {"VpcId": {"Ref": vpc}, "CidrBlock": block, **more}
    template["Resources"]["Added"] = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": added}
    return template


def test_a_block_of_another_private_range_is_refused() -> None:
    (found,) = findings(with_block("172.16.0.0/16"))
    assert (found.rule, found.level, found.resource) == ("HP-BLK-001", Level.ERROR, "Added")
    assert found.path == "Properties/CidrBlock"
    assert found.message.startswith("172.16.0.0/16 cannot be added to a VPC with 10.0.0.0/16: beside a block of 10.0.0.0/8")


@pytest.mark.parametrize("block", ["10.1.0.0/16", "100.64.0.0/16", {"Ref": "AWS::StackName"}, "a block"])
def test_a_block_that_goes_with_it_or_is_not_known_is_right(block: Any) -> None:
    assert "HP-BLK-001" not in rules_of(with_block(block))


def test_a_vpc_of_elsewhere_has_blocks_that_nobody_here_knows() -> None:
    assert "HP-BLK-001" not in rules_of(with_block("172.16.0.0/16", VpcId="vpc-0123456789abcdef0"))


@pytest.mark.parametrize(("after", "rules"), [("Added", ["HP-BLK-001"]), (None, [])])
def test_the_order_of_two_blocks_decides(after: str | None, rules: list[str]) -> None:
    template = with_block("10.1.0.0/16")
    vpc = template["Resources"]["Added"]["Properties"]["VpcId"]["Ref"]
    template["Resources"][vpc]["Properties"]["CidrBlock"] = "10.2.0.0/16"
    second = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": vpc}, "CidrBlock": "10.0.0.0/16"}}
    template["Resources"]["Second"] = second if after is None else {**second, "DependsOn": [after]}
    assert [rule for rule in rules_of(template) if rule == "HP-BLK-001"] == rules


def test_a_primary_block_is_judged_alone() -> None:
    template = slurm()
    vpc = next(resource for resource in template["Resources"].values() if resource["Type"] == "AWS::EC2::VPC")
    vpc["Properties"]["CidrBlock"] = "169.254.0.0/16"
    assert "HP-BLK-001" in rules_of(template)
