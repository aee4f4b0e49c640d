"""Functions of custom resources: each request is answered, and what the code reads and gives is there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.text_bases import att, function, resource

DIRECT = """
import json

import cfnresponse


def remove(properties):
    print(properties)


def handler(event, context):
    print(json.dumps(event))
    properties = event["ResourceProperties"]
    try:
        if event["RequestType"] == "Delete":
            remove(properties["Repository"])
        data = {"Name": properties["Repository"]}
        data["Kind"] = "images"
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data)
    except Exception as error:
        cfnresponse.send(event, context, cfnresponse.FAILED, {"Error": str(error)})
"""
BY_KIND = """
import cfnresponse


def handler(event, context):
    kind = event["RequestType"]
    if kind in ("Create", "Update"):
        cfnresponse.send(event, context, "SUCCESS", {})
    elif kind == "Delete":
        cfnresponse.send(event, context, "SUCCESS", {})
"""
FINALLY = """
import cfnresponse


def handler(event, context):
    status = cfnresponse.FAILED
    try:
        if event["RequestType"] != "Delete":
            print(event["ResourceProperties"]["Repository"])
        status = cfnresponse.SUCCESS
    except Exception:
        print("failed")
    finally:
        cfnresponse.send(event, context, status, {})
"""
BY_HAND = """
import json
import urllib.request


def handler(event, context):
    url = event["ResponseURL"]
    if "Extra" in event["ResourceProperties"]:
        print(event["ResourceProperties"]["Extra"])
    given = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = json.dumps({"Status": "SUCCESS", "PhysicalResourceId": "images", "Data": {"Kind": "a"}, **given}).encode()
    urllib.request.urlopen(urllib.request.Request(url, data=body, method="PUT"))
"""
DISPATCH = """
import cfnresponse


class Repository:
    def __init__(self, event):
        self.name = event["ResourceProperties"]["Repository"]

    @property
    def id(self):
        return f"repository-{self.name}"

    def create(self):
        return {"Name": self.name}

    def delete(self):
        return {}

    update = create


ENDS = {"Create": "made", "Update": "made", "Delete": "gone"}


def handler(event, context):
    repository = Repository(event)
    status, data = cfnresponse.FAILED, {}
    try:
        data = getattr(repository, event["RequestType"].lower())()
        data["State"] = ENDS[event["RequestType"]]
        status = cfnresponse.SUCCESS
    finally:
        cfnresponse.send(event, context, status, data, repository.id)
"""
HANDED_ON = """
import json

import boto3


def handler(event, context):
    boto3.client("stepfunctions").start_execution(stateMachineArn="arn", input=json.dumps(event))
"""
ON_EVENT = """
def handler(event, context):
    name = event["ResourceProperties"]["PlanName"]
    return {"PhysicalResourceId": name, "Data": {"Arn": name}}
"""
IS_COMPLETE = """
def handler(event, context):
    return {"IsComplete": True}
"""


def direct(code: str, attribute: str | None = None) -> Template:
    note = {} if attribute is None else {"Note": resource("AWS::SSM::Parameter", Type="String", Value=att("Purge", attribute))}
    return {
        "Resources": {
            "Purge": resource("Custom::Purge", ServiceToken=att("Purger"), ServiceTimeout=60, Repository="images"),
            "Purger": function(code),
            **note,
        }
    }


def framework(on_event: str = ON_EVENT, is_complete: str = IS_COMPLETE, attribute: str = "Arn", **given: Any) -> Template:
    variables = {"USER_ON_EVENT_FUNCTION_ARN": att("OnEvent"), "USER_IS_COMPLETE_FUNCTION_ARN": att("IsComplete")}
    packed = {"S3Bucket": "code", "S3Key": "framework.zip"}
    return {
        "Resources": {
            "Plan": resource("Custom::Plan", **{"ServiceToken": att("Framework"), "PlanName": "p5", **given}),
            "Framework": function("", Handler="framework.onEvent", Code=packed, Environment={"Variables": variables}),
            "OnEvent": function(on_event),
            "IsComplete": function(is_complete),
            "Note": resource("AWS::SSM::Parameter", Type="String", Value=att("Plan", attribute)),
        }
    }


def found(template: Template) -> list[str]:
    return [f"{one.rule} {one.resource}: {one.message}" for one in findings(template) if one.rule[:6] in ("HP-TXT", "HP-REF")]


BY_NAME = """
import cfnresponse


def handler(event, context):
    kind, given = event["RequestType"], event["ResourceProperties"]
    if kind == "Delete":
        return
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Name": given["Repository"]})
"""
ANSWERED_INSIDE = """
import cfnresponse


def answer(asked, context):
    cfnresponse.send(asked, context, cfnresponse.SUCCESS, {})


def handler(event, context):
    if event["RequestType"] == "Delete":
        return answer(event, context)
    answer(event, context)
"""


ANSWERING = [
    direct(DIRECT, "Kind"),
    framework(),
    *map(direct, (BY_KIND, FINALLY, BY_HAND, HANDED_ON, ANSWERED_INSIDE)),
    direct(BY_HAND, "Kind"),
    direct(DISPATCH, "State"),
]


@pytest.mark.parametrize("template", ANSWERING)
def test_functions_that_answer(template: Template) -> None:
    assert found(template) == []


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (direct(DIRECT.replace("cfnresponse.send(event, context, cfnresponse.SUCCESS, data)", "pass")), "answers no request"),
        (
            direct(DIRECT.replace("        cfnresponse.send(event, context, cfnresponse.FAILED", "        print(event")),
            "catches a failure",
        ),
        (direct(DIRECT.replace("cfnresponse.SUCCESS", "cfnresponse.SUCCESSFUL")), "the nearest is SUCCESS"),
        (direct(DIRECT, "Repository"), "HP-REF-002 Note: the function of Purge gives no Repository"),
        (direct(DIRECT.replace('["Repository"])', '["RepositoryName"])')), "reads the property RepositoryName"),
        (direct(BY_KIND.replace('kind == "Delete"', 'kind == "Remove"')), "compares kind with 'Remove', which it never is"),
        (direct(BY_KIND.replace('"SUCCESS"', '"SUCCES"', 1)), "answers 'SUCCES'; the nearest is SUCCESS"),
        (direct(BY_NAME), "answers no request to delete Purge"),
        (direct(BY_HAND.replace('"SUCCESS"', '"OK"')), "answers with 'OK' as its status"),
        (direct(BY_HAND.replace('"PhysicalResourceId": "images", ', "")), "answers without PhysicalResourceId"),
        (direct(BY_HAND.replace('"RequestId", ', "")), "does not answer with the id of the request"),
        (direct(BY_HAND.replace('"PUT"', '"POST"')), "answers by POST, and the address is signed for PUT"),
        (direct(BY_HAND.replace('"Data"', '"Datas"'), "Kind"), "the function of Purge gives no Kind"),
        (
            direct(DISPATCH.replace('"Delete": "gone"', '"delete": "gone"')),
            "fails with each request to delete Purge: there is no Delete",
        ),
        (direct(DISPATCH.replace("def delete", "def remove")), "fails with each request to delete Purge: Repository has no delete"),
        (
            direct(DISPATCH.replace("= cfnresponse.SUCCESS", "= cfnresponse.FAILED")),
            "answers each request to create Purge with FAILED",
        ),
        (direct(DISPATCH.replace("status, data, rep", "data, status, rep")), "answers with an object as its status"),
        (direct(DISPATCH, "Status"), "the function of Purge gives no Status"),
        (direct(ANSWERED_INSIDE.replace("return answer(event, context)", "return")), "answers no request to delete Purge"),
        (direct(BY_HAND.replace('"Data": {', f'"Data": {{"Text": "{"a" * 4096}", ')), "answers with data of 4,1"),
        (framework(attribute="PlanArn"), "HP-REF-002 Note: the function of Plan gives no PlanArn"),
        (framework(is_complete=IS_COMPLETE.replace("IsComplete", "Complete")), "the framework asks for IsComplete"),
        (framework(on_event=ON_EVENT.replace('["PlanName"]', '["Plan"]')), "reads the property Plan, which Plan does not have"),
        (framework(ServiceToken=att("OnEvent")), "answers no request to create, update, delete Plan"),
    ],
)
def test_fails_function_of_custom_resource(template: Template, message: str) -> None:
    (said,) = found(template)
    assert message in said


def test_all_attributes_that_one_function_does_not_give_are_one_mistake() -> None:
    template = direct(DIRECT, "Repository")
    more = {"Other": resource("AWS::SSM::Parameter", Type="String", Value=att("Purge", "Region"))}
    (said,) = found({"Resources": {**template["Resources"], **more}})
    assert said == "HP-REF-002 Note: the function of Purge gives no Repository, Region; the same in Other"


MAKING = """
import boto3
import cfnresponse
from botocore.exceptions import ClientError

ecr, sqs, ssm = boto3.client("ecr"), boto3.client("sqs"), boto3.client("ssm")


def make(name):
    ecr.create_repository(repositoryName=name)


def handler(event, context):
    kind, name = event["RequestType"], event["ResourceProperties"]["Repository"]
    if kind == "Delete":
        ecr.delete_repository(repositoryName=name)
    else:
        make(name)
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, name)
"""
CAUGHT = """    try:
        ecr.create_repository(repositoryName=name)
    except {}:
        print("there")
"""


@pytest.mark.parametrize(
    ("old", "new", "fails"),
    [
        ("", "", True),
        ("else:", 'elif kind == "Create":', False),
        (
            "    ecr.create_repository(repositoryName=name)\n",
            CAUGHT.format("ecr.exceptions.RepositoryAlreadyExistsException"),
            False,
        ),
        ("    ecr.create_repository(repositoryName=name)\n", CAUGHT.format("ClientError as error"), False),
        ("    ecr.create", "    ecr.delete_repository(repositoryName=name)\n    ecr.create", False),
        ("repositoryName=name)\n\n", "repositoryName=unknown(name))\n\n", False),
        ("ecr.create_repository(repositoryName=name)", 'ssm.put_parameter(Name=name, Value="a", Type="String")', True),
        ("ecr.create_repository(repositoryName=name)", 'ssm.put_parameter(Name=name, Value="a", Overwrite=True)', False),
        ("ecr.create_repository(repositoryName=name)", "sqs.create_queue(QueueName=name)", False),
    ],
)
def test_an_update_does_not_make_again_what_is_there(old: str, new: str, fails: bool) -> None:
    assert old in MAKING
    code = MAKING.replace(old, new)
    said = [one for one in found(direct(code)) if "fails with each request to update Purge: " in one]
    assert len(said) == fails


DELETING = """
import uuid

import boto3
import cfnresponse


def handler(event, context):
    name = event["ResourceProperties"]["Repository"]
    if event["RequestType"] == "Delete":
        boto3.client("ecr").delete_repository(repositoryName=name)
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, ID)
"""
BY_REQUEST = DELETING.replace(
    "    cfnresponse.send",
    """    if event["RequestType"] == "Create":
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, str(uuid.uuid4()))
        return
    cfnresponse.send""",
)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        (DELETING.replace("ID", "name"), False),
        (DELETING.replace("ID", "context.aws_request_id"), True),
        (DELETING.replace("ID", "str(uuid.uuid4())"), True),
        (DELETING.replace("ID", 'f"{name}-{uuid.uuid4().hex}"'), True),
        (DELETING.replace("ID", 'event.get("PhysicalResourceId", str(uuid.uuid4()))'), False),
        (DELETING.replace("ID", "physicalResourceId=context.aws_request_id"), True),
        (
            DELETING.replace("ID", "context.aws_request_id").replace(
                "delete_repository(repositoryName=name)", "get_authorization_token()"
            ),
            False,
        ),
        (DELETING.replace("ID", "context.aws_request_id if name else name"), True),
        (DELETING.replace("ID", "context.aws_request_id if context.x else name"), False),
        (BY_REQUEST.replace("ID", "name"), False),
    ],
)
def test_an_update_keeps_the_id_of_what_a_later_request_deletes(code: str, wrong: bool) -> None:
    messages = [one for one in found(direct(code)) if "HP-TXT" in one]
    assert ["answers each update with a new physical id" in one for one in messages] == [True] * wrong


FILES = """
import boto3
import cfnresponse

s3 = boto3.client("s3")


def handler(event, context):
    if event["RequestType"] != "Delete":
        s3.put_object(Bucket="files", Key="a", Body="a")
    else:
        s3.delete_object(Bucket="files", Key="a")
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, "a")
"""


@pytest.mark.parametrize(
    ("old", "new", "type_", "turned"),
    [
        ("", "", "Custom::Files", False),
        ("!=", "==", "Custom::Files", True),
        ("!=", "==", "Custom::NoFiles", True),
        ("!=", "==", "Custom::WithoutFiles", False),
        ("s3.delete_object", "print", "Custom::Files", False),
        ("s3.put_object", "s3.delete_object", "Custom::Files", False),
    ],
)
def test_a_request_to_create_makes_and_one_to_delete_deletes(old: str, new: str, type_: str, *, turned: bool) -> None:
    code = FILES.replace(old, new) if old else FILES
    own = resource(type_, ServiceToken=att("F"), ServiceTimeout=60)
    said = [one.message for one in findings({"Resources": {"F": function(code), "Own": own}}, rules="HP-TXT-011")]
    assert (
        any("calls DeleteObject with the request to create Own, and PutObject with the one to delete it" in one for one in said)
        is turned
    )
