"""Types of a template's parameters, and of the values that they take (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html
"""

from __future__ import annotations

from collections.abc import Mapping

SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html"

FORMATS: Mapping[str, str | None] = {
    "AWS::EC2::AvailabilityZone::Name": None,
    "AWS::EC2::Image::Id": "AWS::EC2::Image.Id",
    "AWS::EC2::Instance::Id": None,
    "AWS::EC2::KeyPair::KeyName": None,
    "AWS::EC2::SecurityGroup::GroupName": "AWS::EC2::SecurityGroup.Name",
    "AWS::EC2::SecurityGroup::Id": "AWS::EC2::SecurityGroup.Id",
    "AWS::EC2::Subnet::Id": "AWS::EC2::Subnet.Id",
    "AWS::EC2::VPC::Id": "AWS::EC2::VPC.Id",
    "AWS::EC2::Volume::Id": None,
    "AWS::Route53::HostedZone::Id": None,
}
"""Types of existing things, each with the format of its values, if it has one."""

_PLAIN = ("CommaDelimitedList", "List<Number>", "List<String>", "Number", "String", "AWS::SSM::Parameter::Name")
TYPES = (*_PLAIN, *FORMATS, *(f"List<{name}>" for name in FORMATS if name != "AWS::EC2::KeyPair::KeyName"))
"""All types but those whose value is read from Systems Manager, `AWS::SSM::Parameter::Value<TYPE>`."""

FROM_SSM = "AWS::SSM::Parameter::Value<"


def is_list(kind: str) -> bool:
    """Whether a type takes several values, with commas between them."""
    return kind == "CommaDelimitedList" or kind.startswith("List<")


def item(kind: str) -> str:
    """The type of one value of a list."""
    return "String" if kind == "CommaDelimitedList" else kind.removeprefix("List<").removesuffix(">")
