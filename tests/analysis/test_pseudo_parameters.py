"""Pseudo parameters stand where their value belongs: in ARNs, hosts, options, variables and mappings."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Finding
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import function, resource

MAPPINGS = {"Zones": {"us-west-2": {"A": "usw2-az1"}, "eu-west-1": {"A": "euw1-az1"}}, "Stages": {"dev": {"A": "b"}}}


def said(value: Any, key: str = "Description", **more: Any) -> list[str]:
    template = {
        "Resources": {"F": function("def handler(event, context):\n    pass\n", **{key: value}, **more)},
        "Mappings": MAPPINGS,
    }
    return [one.message for one in findings(template, rules="HP-REF-012")]


@pytest.mark.parametrize(
    ("text", "wrong", "words"),
    [
        ("arn:${AWS::Partition}:sqs:us-west-2:123456789012:a", "Region", "the partition of an ARN, which is AWS::Partition"),
        ("arn:aws:sqs:${AWS::Region}:123456789012:a", "AccountId", "the region of an ARN, which is AWS::Region"),
        ("arn:${P}:sqs:${R}:${AWS::AccountId}:a", "StackName", "the account of an ARN, which is AWS::AccountId"),
        ("com.amazonaws.${AWS::Region}.logs", "AccountId", "the region of a service's name"),
        ("${AWS::AccountId}.dkr.ecr.us-west-2.amazonaws.com/a:1", "StackName", "the account of a registry"),
        ("123456789012.dkr.ecr.${AWS::Region}.amazonaws.com/a", "AccountId", "the region of a registry"),
        ("1.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/a", "StackName", "the region of a registry"),
        ("https://logs.${AWS::Region}.amazonaws.com", "StackName", "the region of a host"),
        ("https://a.s3.${AWS::Region}.${AWS::URLSuffix}/b", "AccountId", "the region of a host"),
        ("a/AWSLogs/${AWS::AccountId}/*", "Region", "the account of logs of AWS"),
        ("aws s3 ls --region ${AWS::Region} | cat", "AccountId", "a region"),
        ("export AWS_DEFAULT_REGION='${AWS::Region}'", "StackName", "a region"),
        ('{"region": "${AWS::Region}"}', "StackName", "a region"),
        ("cfn-signal -e $? --stack ${AWS::StackName} --resource A", "Region", "a stack, which is AWS::StackName"),
        ("arn:aws:s3:::amazon-ssm-${AWS::Region}/*", "AccountId", "the region of a bucket of AWS"),
        ("arn:aws:s3:::prod-${AWS::Region}-starport-layer-bucket/*", "StackName", "the region of a bucket of AWS"),
        ("cdk-hnb659fds-assets-${AWS::AccountId}-us-west-2", "Region", "the account of CDK's assets"),
    ],
)
def test_texts_have_the_pseudo_parameter_of_the_place(text: str, wrong: str, words: str) -> None:
    assert said({"Fn::Sub": [text, {"P": "aws", "R": "us-west-2"}]}) == []
    place = text.replace("${AWS::", "${AWS::" + wrong + "|", 1)
    (found,) = said(
        {"Fn::Sub": [place.replace(place[place.index("|") : place.index("}", place.index("|"))], ""), {"P": "a", "R": "b"}]}
    )
    assert found.startswith(f"AWS::{wrong} stands for {words}")


def test_a_join_is_a_text() -> None:
    def joined(region: str) -> Any:
        return {
            "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":sqs:", {"Ref": region}, ":", {"Ref": "AWS::AccountId"}, ":a"]]
        }

    assert said(joined("AWS::Region")) == []
    assert len(said(joined("AWS::StackName"))) == 1


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("AWS_REGION_OF_DATA", "AccountId", ""),
        ("DATA_REGION", "Region", "AccountId"),
        ("region", "Region", "StackName"),
        ("ACCOUNT_ID", "AccountId", "Region"),
        ("STACK_NAME", "StackId", "AccountId"),
        ("SERVICE_ACCOUNT", "StackName", ""),
        ("NAME", "Region", ""),
    ],
)
def test_variables_have_the_value_that_they_are_called(name: str, right: str, wrong: str) -> None:
    def given(pseudo: str) -> list[str]:
        return said({"Variables": {name: {"Ref": f"AWS::{pseudo}"}}}, "Environment")

    assert given(right) == []
    assert len(given(wrong) if wrong else [""]) == 1


@pytest.mark.parametrize(
    ("mapping", "pseudo", "wrong"), [("Zones", "Region", False), ("Zones", "AccountId", True), ("Stages", "StackName", False)]
)
def test_a_mapping_has_the_keys_that_choose_from_it(mapping: str, pseudo: str, wrong: bool) -> None:
    assert bool(said({"Fn::FindInMap": [mapping, {"Ref": f"AWS::{pseudo}"}, "A"]})) is wrong


def test_a_principal_is_an_account() -> None:
    def template(pseudo: str) -> Any:
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": {"Ref": f"AWS::{pseudo}"}},
            "Action": "sqs:SendMessage",
            "Resource": "*",
        }
        document = {"Version": "2012-10-17", "Statement": [statement]}
        queue = resource("AWS::SQS::Queue", QueueName="a")
        return {"Resources": {"Q": queue, "P": resource("AWS::SQS::QueuePolicy", Queues=[{"Ref": "Q"}], PolicyDocument=document)}}

    assert findings(template("AccountId"), rules="HP-REF-012") == []
    assert len(findings(template("Region"), rules="HP-REF-012")) == 1


@pytest.mark.parametrize(
    ("kind", "key", "wrong", "allowed", "right"),
    [
        ("EC2::Subnet", "AvailabilityZone", "Region", "a zone such as us-west-2a", {"Fn::Sub": "${AWS::Region}a"}),
        ("EC2::Subnet", "VpcId", "AccountId", "the id of a VPC", "vpc-0123456789abcdef0"),
        ("EC2::Subnet", "CidrBlock", "Partition", "a block such as", {"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/16", 8, 8]}]}),
        ("EFS::FileSystem", "AvailabilityZoneName", "Region", "a zone such as us-west-2a", {"Fn::Sub": "${AWS::Region}a"}),
        ("SNS::Topic", "KmsMasterKeyId", "URLSuffix", "the ARN of a key", "alias/own"),
        ("SNS::Topic", "TopicName", "", "", {"Ref": "AWS::Region"}),
        ("EC2::Subnet", "VpcId", "", "", {"Ref": "AWS::StackName"}),
    ],
)
def test_a_property_takes_what_a_pseudo_parameter_gives(kind: str, key: str, wrong: str, allowed: str, right: Any) -> None:
    def found(value: Any) -> list[Finding]:
        template = {"Resources": {"R": resource(f"AWS::{kind}", **{key: value})}}
        return [one for one in findings(template) if one.path.endswith(key)]

    assert found(right) == []
    if wrong:
        (finding,) = found({"Ref": f"AWS::{wrong}"})
        assert finding.message.startswith(f"{key} is AWS::{wrong}, which gives a text such as")
        assert allowed in finding.allowed


def test_a_reserved_name_is_the_mistake_and_not_its_value() -> None:
    function = resource("AWS::Lambda::Function", Environment={"Variables": {"AWS_REGION": {"Ref": "AWS::Region"}}})
    rules = [one.rule for one in findings({"Resources": {"R": function}}) if "AWS_REGION" in one.path]
    assert rules == ["HP-SCH-004"]


@pytest.mark.parametrize(
    "text",
    [
        "${AWS::StackName}-${AWS::Region}",
        "arn:aws:s3:::${AWS::StackName}/*",
        "name:${AWS::StackName}:x",
        "my-region-${AWS::StackName}",
    ],
)
def test_names_are_free(text: str) -> None:
    assert said({"Fn::Sub": text}) == []
