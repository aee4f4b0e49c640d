"""Systems Manager: documents, and those who run them with their parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

CLEAN = {
    "schemaVersion": "2.2",
    "parameters": {"days": {"type": "String", "default": "14", "allowedPattern": "^[0-9]+$"}},
    "mainSteps": [{"action": "aws:runShellScript", "name": "clean", "inputs": {"runCommand": ["find -mtime {{ days }}"]}}],
}
CALL = {"Service": "sagemaker", "Api": "DescribeCluster", "ClusterName": "{{ Name }}"}
HEAL = {
    "schemaVersion": "0.3",
    "assumeRole": "{{ Role }}",
    "parameters": {"Role": {"type": "String"}, "Name": {"type": "String", "allowedValues": ["a", "b"], "default": "a"}},
    "mainSteps": [
        {
            "name": "look",
            "action": "aws:executeAwsApi",
            "inputs": CALL,
            "outputs": [{"Name": "Status", "Selector": "$.ClusterStatus", "Type": "String"}],
            "nextStep": "wait",
            "onFailure": "step:wait",
        },
        {"name": "wait", "action": "aws:sleep", "inputs": {"Duration": "PT5M"}},
        {
            "name": "choose",
            "action": "aws:branch",
            "inputs": {"Choices": [{"NextStep": "wait", "Variable": "{{ look.Status }}", "StringEquals": "{{ global:DATE }}"}]},
        },
    ],
}
RUN = "MaintenanceWindowRunCommandParameters"
BASE = {
    "Resources": {
        "Clean": resource("AWS::SSM::Document", DocumentType="Command", Content=CLEAN),
        "Heal": resource("AWS::SSM::Document", DocumentType="Automation", Content=HEAL),
        "Weekly": resource("AWS::SSM::Association", Name={"Ref": "Clean"}, Parameters={"days": ["7"]}),
        "Window": resource(
            "AWS::SSM::MaintenanceWindow",
            Name="team",
            Schedule="rate(7 days)",
            Duration=3,
            Cutoff=1,
            AllowUnassociatedTargets=False,
        ),
        "Nodes": resource(
            "AWS::SSM::MaintenanceWindowTarget",
            WindowId={"Ref": "Window"},
            ResourceType="INSTANCE",
            Targets=[{"Key": "tag:a", "Values": ["b"]}],
        ),
        "Task": resource(
            "AWS::SSM::MaintenanceWindowTask",
            WindowId={"Ref": "Window"},
            TaskType="RUN_COMMAND",
            TaskArn={"Ref": "Clean"},
            Priority=1,
            Targets=[{"Key": "WindowTargetIds", "Values": [{"Ref": "Nodes"}]}],
            TaskInvocationParameters={RUN: {"Parameters": {"days": ["7"]}}},
        ),
        "Name": resource("AWS::SSM::Parameter", Type="String", Value="a1", AllowedPattern="^[a-z0-9]+$"),
    }
}
STEPS = "Heal/Content/mainSteps"


def test_correct_documents_have_no_finding() -> None:
    assert findings(BASE, rules="HP-TXT") == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Clean/Content/parameters/days/default", "two weeks", "the default of days is 'two weeks'"),
        ("Clean/Content/mainSteps/0/action", "aws:runShell", "no action is named aws:runShell; the nearest is aws:runShellScript"),
        ("Heal/Content/parameters/Name/default", "c", "the default of Name is 'c'"),
        (f"{STEPS}/0/action", "aws:executeApi", "no automation has the action aws:executeApi"),
        (f"{STEPS}/0/nextStep", "waits", "nextStep names the step waits, which is not there; the nearest is wait"),
        (f"{STEPS}/0/onFailure", "step:end", "onFailure names the step end"),
        (f"{STEPS}/2/inputs/Choices/0/NextStep", "look2", "NextStep names the step look2"),
        (f"{STEPS}/0/inputs/Api", "DescribeClusters", "the nearest is DescribeCluster"),
        (f"{STEPS}/0/inputs/Service", "hyperpod", "no service is named hyperpod"),
        (f"{STEPS}/0/inputs/ClusterName", REMOVED, "DescribeCluster is called without ClusterName"),
        (f"{STEPS}/0/inputs/ClusterName", "{{ Cluster }}", "{{ Cluster }} is neither a parameter nor a step"),
        (f"{STEPS}/1/inputs/Duration", "5m", "the duration is '5m'"),
        ("Clean/Content/mainSteps/0/inputs", {"commands": ["ls"]}, "aws:runShellScript has no input runCommand"),
        (f"{STEPS}/2/inputs", {}, "aws:branch has no input Choices"),
        ("Heal/Content/parameters/Name/type", "string", "the type of Name is string; the nearest is String"),
        (f"{STEPS}/0/outputs/0/Type", "Text", "the type of an output is Text"),
        (f"{STEPS}/0/outputs/0/Selector", "ClusterStatus", "the output is selected by 'ClusterStatus'"),
        ("Weekly/ScheduleExpression", "rate(10 minutes)", "each 10 minutes, and 30 are the least"),
        ("Weekly/Parameters", {"day": ["7"]}, "Clean has no parameter day; the nearest is days"),
        ("Weekly/Parameters", {"days": ["7d"]}, "days is '7d', which Clean refuses"),
        ("Task/TaskArn", {"Ref": "Heal"}, "and Heal is of the type Automation"),
        ("Task/Targets/0/Values/0", {"Ref": "Window"}, "no target of a window"),
        (f"Task/TaskInvocationParameters/{RUN}/Parameters", {"keep": ["7"]}, "Clean has no parameter keep"),
        ("Name/Value", "A 1", "Value is 'A 1', and AllowedPattern"),
    ],
)
def test_fails_mistake(path: str, value: Any, message: str) -> None:
    (found,) = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert found.resource == path.partition("/")[0]
    assert message in found.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Weekly/Name", "AWS-RunDockerAction"),
        ("Weekly/ScheduleExpression", "rate(30 minutes)"),
        ("Clean/Content/mainSteps/0/inputs", {"Ref": "AWS::StackName"}),
        ("Weekly/Parameters/days", [{"Ref": "AWS::StackName"}]),
        (f"{STEPS}/0/inputs/Service", "personalize"),
        ("Name/AllowedPattern", "("),
    ],
)
def test_unknown_parts_are_believed(path: str, value: Any) -> None:
    assert findings(edited(BASE, {path: value}), rules="HP-TXT") == []


STARTS = "arn:aws:states:::aws-sdk:ssm:startAutomationExecution"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Role": ["arn"]}, None),
        ({"Role.$": "$.role", "Name": ["b"]}, None),
        ({"Role": ["arn"], "Node.$": "$.node"}, "the state 'Heal': Heal has no parameter Node"),
        ({"Role": ["arn"], "Name": ["c"]}, "the state 'Heal': Name is 'c', which Heal refuses"),
        ({"Name": ["b"]}, "the state 'Heal': Heal is run without Role, which has no default"),
        ("$.given", None),
    ],
)
def test_a_state_runs_a_document_with_its_parameters(given: Any, message: str | None) -> None:
    key = "Parameters.$" if isinstance(given, str) else "Parameters"
    state = {"Type": "Task", "Resource": STARTS, "Parameters": {"DocumentName": "${Run}", key: given}, "End": True}
    machine = resource(
        "AWS::StepFunctions::StateMachine",
        RoleArn="arn:aws:iam::123456789012:role/machine",
        Definition={"StartAt": "Heal", "States": {"Heal": state}},
        DefinitionSubstitutions={"Run": {"Ref": "Heal"}},
    )
    found = [one.message for one in findings(edited(BASE, {".Machine": machine}), rules="HP-TXT")]
    assert [message in one for one in found] == [True] if message else found == []


def test_an_association_gives_what_its_document_needs() -> None:
    changes = {"Clean/Content/parameters/days/default": REMOVED, "Weekly/Parameters": REMOVED}
    window = {f"Task/TaskInvocationParameters/{RUN}/Parameters": {"days": ["7"]}}
    (found,) = findings(edited(BASE, {**changes, **window}), rules="HP-TXT")
    assert (found.resource, found.message) == ("Weekly", "Clean is run without days, which has no default")
