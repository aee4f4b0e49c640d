"""Choices without a default: each value that may come has a rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import att, function, resource

ROLE = "arn:aws:iam::123456789012:role/service"
CODE = """
def handler(event, context):
    status = event.get("Status", "SUBMITTED")
    if event.get("Silent"):
        status = "STALLED"
    return {"Status": status, "Since": 1}
"""
NEXT = {"Next": "Done"}


def equals(word: str, **more: str) -> dict[str, str]:
    return {"Variable": "$.Status", "StringEquals": word, **more}


def rules(*words: str) -> list[Any]:
    return [equals(word, **NEXT) for word in words]


def said(task: dict[str, Any], choice: dict[str, Any], code: str = CODE, **states: Any) -> list[str]:
    every = {
        "Ask": {"Type": "Task", "Next": "Decide", **task},
        "Decide": {"Type": "Choice", **choice},
        "Done": {"Type": "Succeed"},
        **states,
    }
    machine = resource("AWS::StepFunctions::StateMachine", RoleArn=ROLE, Definition={"StartAt": "Ask", "States": every})
    found = findings({"Resources": {"Machine": machine, "Status": function(code)}}, rules="HP-TXT-011")
    return [one.message for one in found if "no Default" in one.message]


INVOKE = {
    "Resource": "arn:aws:states:::lambda:invoke",
    "Parameters": {"FunctionName": att("Status"), "Payload": {}},
    "ResultSelector": {"Status.$": "$.Payload.Status"},
}
DESCRIBE = {
    "Resource": "arn:aws:states:::aws-sdk:sagemaker:describeTrainingJob",
    "Parameters": {"TrainingJobName": "a"},
    "ResultSelector": {"Status.$": "$.TrainingJobStatus"},
}
JOB = ("InProgress", "Completed", "Failed", "Stopping", "Stopped")


@pytest.mark.parametrize(
    ("task", "choices", "missing"),
    [
        (INVOKE, rules("SUCCEEDED", "FAILED"), "SUBMITTED, STALLED"),
        (INVOKE, [{"Or": [equals("STALLED"), equals("FAILED")], **NEXT}], "SUBMITTED"),
        (DESCRIBE, rules("InProgress", "Completed", "Failed"), "Stopping, Stopped"),
    ],
)
def test_fails_choice_that_leaves_out(task: dict[str, Any], choices: list[Any], missing: str) -> None:
    says = f"the choice 'Decide' has no Default, and no rule for {missing}, which $.Status may be"
    assert said(task, {"Choices": choices}) == [says]


@pytest.mark.parametrize(
    ("task", "choice"),
    [
        (INVOKE, {"Choices": rules("SUCCEEDED"), "Default": "Done"}),
        (INVOKE, {"Choices": rules("SUCCEEDED", "SUBMITTED", "STALLED")}),
        (INVOKE, {"Choices": [*rules("SUCCEEDED"), {"Variable": "$.Status", "StringMatches": "S*", **NEXT}]}),
        (INVOKE, {"Choices": [*rules("SUCCEEDED"), {"Not": equals("SUCCEEDED"), **NEXT}]}),
        (INVOKE, {"Choices": [*rules("SUBMITTED"), {"Variable": "$.Since", "NumericEquals": 1, **NEXT}]}),
        (DESCRIBE, {"Choices": rules(*JOB)}),
    ],
)
def test_choices_that_take_all(task: dict[str, Any], choice: dict[str, Any]) -> None:
    assert said(task, choice) == []


def test_a_choice_before_it_may_have_taken_a_value() -> None:
    before = {"Type": "Choice", "Choices": rules("SUBMITTED", "STALLED"), "Default": "Decide"}
    assert said({**INVOKE, "Next": "Sort"}, {"Choices": rules("SUCCEEDED")}, Sort=before) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('    return {"Status"', '    status = event["Other"]\n    return {"Status"'),
        ('    return {"Status"', '    if status == "SUBMITTED":\n        status = read()\n    return {"Status"'),
        ('    return {"Status"', '    if status in WAITING:\n        status = read()\n    return {"Status"'),
        ('    return {"Status"', '    for status in read():\n        pass\n    return {"Status"'),
        ('event.get("Status", "SUBMITTED")', 'event["Status"]'),
    ],
)
def test_a_text_that_may_be_turned_into_another_one(old: str, new: str) -> None:
    assert old in CODE
    code = CODE.replace(old, new)
    assert not any("SUBMITTED" in one for one in said(INVOKE, {"Choices": rules("SUCCEEDED", "STALLED")}, code))
