"""State machines that look at what they started."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.restarts import WHOLES
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import REMOVED, edited
from tests.templates.models import by_id

SDK = "arn:aws:states:::aws-sdk:fsx:"
STATUS = "$.look.DataRepositoryTasks[0].Lifecycle"
STATES: dict[str, Any] = {
    "Export": {
        "Type": "Task",
        "Resource": f"{SDK}createDataRepositoryTask",
        "Parameters": {"Type": "EXPORT_TO_REPOSITORY", "FileSystemId": "fs-0123456789abcdef0", "Report": {"Enabled": False}},
        "ResultPath": "$.export",
        "Next": "Wait",
    },
    "Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
    "Look": {
        "Type": "Task",
        "Resource": f"{SDK}describeDataRepositoryTasks",
        "Parameters": {"TaskIds.$": "States.Array($.export.DataRepositoryTask.TaskId)"},
        "ResultPath": "$.look",
        "Next": "Decide",
    },
    "Decide": {
        "Type": "Choice",
        "Choices": [
            {"Variable": STATUS, "StringEquals": "SUCCEEDED", "Next": "Done"},
            {"Or": [{"Variable": STATUS, "StringEquals": one} for one in ("FAILED", "CANCELED")], "Next": "Failed"},
        ],
        "Default": "Wait",
    },
    "Failed": {"Type": "Fail"},
    "Done": {"Type": "Succeed"},
}
BASE = {
    "Resources": {
        "Machine": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {"Definition": {"StartAt": "Export", "States": STATES}},
        }
    }
}
RUNNING = {"Or": [{"Variable": STATUS, "StringEquals": one} for one in ("PENDING", "EXECUTING", "CANCELING")], "Next": "Wait"}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, None),
        ({"Decide/Default": "Export"}, "PENDING"),
        ({"Decide/Default": "Pause", "Pause": {"Type": "Wait", "Seconds": 5, "Next": "Export"}}, "PENDING"),
        ({"Decide/Choices/1/Or/1/StringEquals": "EXECUTING", "Decide/Choices/1/Next": "Export"}, "EXECUTING"),
        ({"Decide/Default": "Export", "Decide/Choices/1": RUNNING}, None),
        ({"Decide/Choices/1/Next": "Export"}, None),
        ({"Decide/Default": "Export", "Export/Parameters/ClientRequestToken.$": "$$.Execution.Name"}, None),
        ({"Decide/Default": "Export", "Decide/Choices/0": {"Variable": STATUS, "IsPresent": True, "Next": "Done"}}, None),
        ({"Decide/Default": "Export", "Look/Parameters": {"TaskIds": ["task-0123456789abcdef0"]}}, None),
        ({"Decide/Default": "Look"}, None),
        ({"Decide/Default": REMOVED}, None),
    ],
)
def test_a_look_at_what_still_runs_starts_nothing(changes: dict[str, Any], word: str | None) -> None:
    template = edited(BASE, {f"Machine/Definition/States/{path}": value for path, value in changes.items()})
    machine = by_id(Model.of({"t": template}), "Machine")
    found = [one.message for one in WHOLES[machine.type](machine)]
    assert [f"on {word!r}, which starts another one" in one for one in found] == ([] if word is None else [True])
