"""Change sets with an output as their only change: an app makes one for a first reference from another stack."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import WaiterError

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import deploy, wait

QUEUE: dict[str, Any] = {"Queue": {"Type": "AWS::SQS::Queue"}}
EXPORT = {"Arn": {"Value": {"Fn::GetAtt": ["Queue", "Arn"]}, "Export": {"Name": "queue"}}}


def change(aws: LocalAws, outputs: dict[str, Any]) -> Any:
    cloudformation = aws.client("cloudformation")
    body = json.dumps({"Resources": QUEUE, "Outputs": outputs})
    cloudformation.create_change_set(StackName="Stack", ChangeSetName="outputs", ChangeSetType="UPDATE", TemplateBody=body)
    waiter = cloudformation.get_waiter("change_set_create_complete")
    waiter.wait(StackName="Stack", ChangeSetName="outputs", WaiterConfig={"Delay": 0.1, "MaxAttempts": 50})
    return cloudformation


def test_a_new_export_is_a_change_and_is_made(fresh: LocalAws) -> None:
    deploy(fresh, QUEUE)
    cloudformation = change(fresh, EXPORT)
    assert cloudformation.describe_change_set(StackName="Stack", ChangeSetName="outputs")["Changes"] == []
    cloudformation.execute_change_set(StackName="Stack", ChangeSetName="outputs")
    assert wait(fresh, "Stack").status == "UPDATE_COMPLETE"
    assert [export["Name"] for export in cloudformation.list_exports()["Exports"]] == ["queue"]


def test_fails_when_nothing_changes(fresh: LocalAws) -> None:
    deploy(fresh, QUEUE)
    with pytest.raises(WaiterError):
        change(fresh, {})
