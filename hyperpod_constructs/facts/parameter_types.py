"""Types of a template's parameters, and of the values that they take (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.facts.property_schemas import Schema

SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html"

FORMATS: Mapping[str, str | None] = {
    "AWS::EC2::AvailabilityZone::Name": "AWS::EC2::AvailabilityZone.Name",
    "AWS::EC2::Image::Id": "AWS::EC2::Image.Id",
    "AWS::EC2::Instance::Id": "AWS::EC2::Instance.Id",
    "AWS::EC2::KeyPair::KeyName": None,
    "AWS::EC2::SecurityGroup::GroupName": "AWS::EC2::SecurityGroup.Name",
    "AWS::EC2::SecurityGroup::Id": "AWS::EC2::SecurityGroup.Id",
    "AWS::EC2::Subnet::Id": "AWS::EC2::Subnet.Id",
    "AWS::EC2::VPC::Id": "AWS::EC2::VPC.Id",
    "AWS::EC2::Volume::Id": "AWS::EC2::Volume.Id",
    "AWS::Route53::HostedZone::Id": None,
}
"""Types of existing things, each with the format of its values, if it has one."""

_PLAIN = ("CommaDelimitedList", "List<Number>", "List<String>", "Number", "String", "AWS::SSM::Parameter::Name")
TYPES = (*_PLAIN, *FORMATS, *(f"List<{name}>" for name in FORMATS if name != "AWS::EC2::KeyPair::KeyName"))
"""All types but those whose value is read from Systems Manager, `AWS::SSM::Parameter::Value<TYPE>`."""

FROM_SSM = "AWS::SSM::Parameter::Value<"
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.:/-]")
"""What the name of a parameter of Systems Manager does not have, nor the ARN of a shared one.

Source: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
"""

_OF_NUMBERS, _OF_TEXTS = ("MaxValue", "MinValue"), ("AllowedPattern", "MaxLength", "MinLength")
DECLARED: Schema = {
    "properties": {
        "AllowedValues": {"type": "array", "minItems": 1},
        "ConstraintDescription": {"type": "string", "maxLength": 4000},
        "Default": {"type": ["string", "number", "boolean"]},
        "Description": {"type": "string", "maxLength": 4000},
        "MaxLength": {"type": "integer", "minimum": 0},
        "MaxValue": {"type": "number"},
        "MinLength": {"type": "integer", "minimum": 0},
        "MinValue": {"type": "number"},
        "NoEcho": {"type": "boolean"},
    },
    "additionalProperties": True,
    "allOf": [{"ascending": ["MinLength", "MaxLength"]}, {"ascending": ["MinValue", "MaxValue"]}],
}
"""What the keys of a parameter take."""
NOT_OF: Mapping[str, tuple[str, ...]] = {"CommaDelimitedList": _OF_NUMBERS, "Number": _OF_TEXTS, "String": _OF_NUMBERS}
"""Limits that a type does not have.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
"""


def is_list(kind: str) -> bool:
    """Whether a type takes several values, with commas between them."""
    return kind == "CommaDelimitedList" or kind.startswith("List<")


def item(kind: str) -> str:
    """The type of one value of a list."""
    return "String" if kind == "CommaDelimitedList" else kind.removeprefix("List<").removesuffix(">")
