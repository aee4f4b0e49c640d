"""Texts that something waits for: code that answers, definitions of a known version, documents of AWS that are run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.places import texts_with_mistakes
from hyperpod_constructs.facts.updates import naming
from hyperpod_constructs.facts.zones import absent_mistake, id_mistake, is_beyond, name_mistake
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.text_bases import TARGET

SILENT = "import cfnresponse\ndef handler(event, context):\n    print(event)\n"
ANSWERING = "import cfnresponse\ndef handler(event, context):\n    cfnresponse.send(event, context, 'SUCCESS', {})\n"
OTHER = "import os\ndef handler(event, context):\n    return hand_on(event['ResponseURL'])\ndef hand_on(place):\n    return place\n"
ROLE = "arn:aws:iam::123456789012:role/events"


def said(**resources: Any) -> list[str]:
    model = Model.of({"t": {"Resources": resources}})
    return [one.slip.message for found in texts_with_mistakes(model).values() for one in found]


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties}


def function(code: str, runtime: str = "python3.13") -> dict[str, Any]:
    role = "arn:aws:iam::123456789012:role/one"
    code_of = {"ZipFile": code}
    return resource("AWS::Lambda::Function", Runtime=runtime, Handler="index.handler", Role=role, Code=code_of)


@pytest.mark.parametrize(("code", "count"), [(SILENT, 1), (ANSWERING, 0), (OTHER, 0)])
def test_a_function_answers_the_custom_resource_that_waits(code: str, count: int) -> None:
    custom = resource("Custom::Check", ServiceToken={"Fn::GetAtt": ["Check", "Arn"]})
    assert len(said(Check=function(code), Wait=custom)) == count
    assert said(Check=function(code)) == []


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("exports.handler = async (event) => console.log(event);", 1),
        ("const r = require('cfn-response');\nexports.handler = async (event) => console.log(event);", 1),
        ("exports.handler = async (event) => { await fetch(event.ResponseURL, {method: 'PUT'}); };", 0),
    ],
)
def test_a_function_in_javascript_answers_too(code: str, count: int) -> None:
    custom = resource("Custom::Check", ServiceToken={"Fn::GetAtt": ["Check", "Arn"]})
    assert len(said(Check=function(code, "nodejs22.x"), Wait=custom)) == count


@pytest.mark.parametrize(("version", "count"), [("2020-12-01", 0), ("2021-12-01", 1)])
def test_a_pipeline_has_the_version_of_its_schema(version: str, count: int) -> None:
    body = {"Version": version, "Steps": [{"Name": "End", "Type": "Fail", "Arguments": {"ErrorMessage": "a"}}]}
    given = {"PipelineName": "a", "PipelineDefinition": {"PipelineDefinitionBody": json.dumps(body)}}
    assert len(said(Flow=resource("AWS::SageMaker::Pipeline", **given))) == count


@pytest.mark.parametrize(
    ("name", "parameters", "count"),
    [
        ("AWS-RunShellScript", {"commands": ["sinfo"]}, 0),
        ("AWS-RunShellScript", {"command": ["sinfo"]}, 1),
        ("AWS-RunShellScript", {"workingDirectory": ["/tmp"]}, 1),
        ("AWS-RunShellScript", {"commands": ["sinfo"], "another": ["a"]}, 0),
        ("AWS-RunPatchBaseline", {"operation": ["Scan"]}, 1),
        ("AWS-RunPatchBaseline", {"Operation": ["Scan"]}, 0),
        ("own-document", {"command": ["sinfo"]}, 0),
    ],
)
def test_documents_of_aws_are_run_with_their_parameters(name: str, parameters: dict[str, Any], count: int) -> None:
    targets = [{"Key": "tag:a", "Values": ["b"]}]
    assert len(said(Run=resource("AWS::SSM::Association", Name=name, Targets=targets, Parameters=parameters))) == count


@pytest.mark.parametrize(
    ("service", "count"), [("imagebuilder", 0), ("redshift-serverless", 0), ("ssm-incidents", 0), ("image-builder", 1), ("efs", 1)]
)
def test_events_go_to_services_that_take_them(service: str, count: int) -> None:
    targets = [{"Id": "one", "Arn": f"arn:aws:{service}:us-west-2:123456789012:thing/one", "RoleArn": ROLE}]
    assert len(said(Rule=resource("AWS::Events::Rule", ScheduleExpression="rate(1 day)", Targets=targets))) == count


@pytest.mark.parametrize(
    ("job", "status", "count"),
    [("Training", "Deleting", 0), ("Training", "Deleted", 1), ("Processing", "Deleting", 1), ("Transform", "Stopped", 0)],
)
def test_events_of_jobs_have_the_words_of_the_service(job: str, status: str, count: int) -> None:
    detail = {f"{job}JobStatus": [status]}
    pattern = {"source": ["aws.sagemaker"], "detail-type": [f"SageMaker {job} Job State Change"], "detail": detail}
    assert len(said(Rule=resource("AWS::Events::Rule", EventPattern=pattern, Targets=[TARGET]))) == count


@pytest.mark.parametrize(
    ("zone", "beyond"),
    [
        ("usw2-az4", False),
        ("usw2-az5", True),
        ("us-west-2d", False),
        ("us-west-2e", True),
        ("use1-az7", False),
        ("use1-az8", True),
        ("eu-west-1d", True),
        ("eu-west-2d", False),
        ("euw2-az4", False),
        ("euw2-az5", True),
        ("ape1-az4", True),
        ("mxc1-az4", True),
        ("usgw1-az9", False),
        ("usw2-lax1-az1", False),
        ("elsewhere", False),
    ],
)
def test_a_region_has_the_zone(zone: str, beyond: bool) -> None:
    assert is_beyond(zone) is beyond


@pytest.mark.parametrize(("commands", "count"), [(["sinfo"], 0), ("sinfo", 1), ("{{ commands }}", 0)])
def test_commands_of_a_document_are_a_list(commands: object, count: int) -> None:
    step = {"action": "aws:runShellScript", "name": "look", "inputs": {"runCommand": commands}}
    content = {"schemaVersion": "2.2", "parameters": {"commands": {"type": "StringList"}}, "mainSteps": [step]}
    assert len(said(Look=resource("AWS::SSM::Document", DocumentType="Command", Content=content))) == count


@pytest.mark.parametrize(
    ("kind", "name"),
    [("ModelPackageGroup", "ModelPackageGroupName"), ("CodeRepository", "CodeRepositoryName"), ("Endpoint", "EndpointName")],
)
def test_two_resources_have_two_names(kind: str, name: str) -> None:
    assert naming(f"AWS::SageMaker::{kind}") == (name,)


@pytest.mark.parametrize(("name", "zone_id"), [("us-west-2e", "usw2-az5")])
def test_constructors_take_a_zone_that_a_region_may_have_got(name: str, zone_id: str) -> None:
    assert name_mistake("AvailabilityZone", name, "AvailabilityZoneId") is None
    assert id_mistake("AvailabilityZoneId", zone_id, "us-west-2", "AvailabilityZone") is None
    assert absent_mistake("AvailabilityZone", name) is not None
