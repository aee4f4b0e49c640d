"""Texts and references against named formats and patterns of schemas."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.schema.formats import format_words, has_format
from hyperpod_constructs.analysis.schema.patterns import matches, other_words
from hyperpod_constructs.templates.values import UNKNOWN, Part, Reference, Text
from tests.templates.models import by_id, model_of

THINGS = model_of("""{Resources: {
    Vpc: {Type: AWS::EC2::VPC}, Group: {Type: AWS::EC2::SecurityGroup}, Key: {Type: AWS::KMS::Key}, Role: {Type: AWS::IAM::Role},
    Topic: {Type: AWS::SNS::Topic}, Own: {Type: Custom::Thing}}}""")
ARN_OF_ROLE, ARN_OF_USER, PLACE = r"arn:aws:iam::\d{12}:role/.+", r"arn:aws:iam::\d{12}:user/.+", r"s3://.+"
MAIL = r"[^@\s]+@[^@\s]+"


def reference(name: str, attribute: str | None = None) -> Reference:
    return Reference(by_id(THINGS, name), attribute)


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("json", "{}", True),
        ("json", "[]", False),
        ("json", "{", False),
        ("ipv4-network", "10.0.0.0/16", True),
        ("ipv4-network", "2001:db8::/56", False),
        ("ipv6-network", "2001:db8::/56", True),
        ("ipv4-network", "10.0.0.0", False),
        ("AWS::EC2::VPC.Id", "vpc-0123456789abcdef0", True),
        ("AWS::EC2::VPC.Id", "subnet-0123456789abcdef0", False),
        ("AWS::EC2::Image.Id", "ami-0123456789abcdef0", True),
        ("AWS::EC2::Image.Id", "resolve:ssm:/images/golden:3", True),
        ("AWS::EC2::Image.Id", "ssm:/images/golden", False),
        ("of-somebody", "anything", None),
    ],
)
def test_a_text_has_a_format(name: str, text: str, answer: bool | None) -> None:
    assert has_format(name, text) is answer


@pytest.mark.parametrize(
    ("name", "target", "attribute", "answer"),
    [
        ("AWS::EC2::VPC.Id", "Vpc", None, True),
        ("AWS::EC2::VPC.Id", "Group", None, False),
        ("AWS::EC2::VPC.Id", "Topic", None, False),
        ("AWS::EC2::VPC.Id", "Own", None, None),
        ("AWS::EC2::VPC.Id", "Group", "VpcId", True),
        ("AWS::KMS::Key.Id", "Key", "Arn", True),
        ("of-somebody", "Vpc", None, None),
    ],
)
def test_a_reference_gives_a_format(name: str, target: str, attribute: str | None, answer: bool | None) -> None:
    assert has_format(name, reference(target, attribute)) is answer


def test_a_reference_to_another_kind_of_arn_has_not_the_form() -> None:
    role = reference("Role", "Arn")
    assert matches(ARN_OF_ROLE, role) is None
    assert matches(ARN_OF_USER, role) is False
    assert matches(PLACE, role) is False
    assert matches(ARN_OF_ROLE, reference("Topic")) is False
    assert matches(MAIL, role) is False
    assert matches(f"({MAIL})|(arn:aws:sns:.+)", reference("Topic")) is None
    assert matches(".*", role) is None
    assert matches(ARN_OF_ROLE, reference("Role")) is False


def test_what_is_allowed_instead_is_said_in_words() -> None:
    assert other_words(PLACE, reference("Role")) == ("which is no address", "an address that begins with s3://")
    assert other_words(MAIL, reference("Topic")) == ("which is no address of mail", "an address such as team@example.com")
    assert other_words(ARN_OF_ROLE, reference("Topic")) == ("which is another ARN", "an ARN of iam")
    assert other_words(ARN_OF_ROLE, reference("Role")) == ("which is not an ARN", "an ARN")
    assert format_words("ipv6-network") == "a block such as 2001:db8::/56"
    assert format_words("json") == "an object of JSON"
    assert format_words("of-somebody") == "of-somebody"


OF_A_CLUSTER = r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:[0-9]{12}:cluster/[a-z0-9]{12}"


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        (("arn:", UNKNOWN, ":sagemaker:", UNKNOWN, ":", UNKNOWN, ":cluster/abcdefghijkl"), None),
        (("arn:aws:sagemaker:us-west-2:", UNKNOWN, ":cluster/research"), False),
        (("arn:aws:sagemaker:us-west-2:", UNKNOWN, ":cluster/", UNKNOWN), None),
        (("arn:aws:sagemaker:", UNKNOWN, ":cluster/research"), None),
    ],
)
def test_an_arn_has_a_likely_region_and_account(parts: tuple[Part, ...], answer: bool | None) -> None:
    assert matches(OF_A_CLUSTER, Text(parts)) is answer
