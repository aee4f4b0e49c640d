"""State machines: each mistake of Amazon's language is one finding at the definition, and correct machines have none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

ROLE = "arn:aws:iam::123456789012:role/service"
SDK, OWN = "arn:aws:states:::aws-sdk:", "arn:aws:states:::"
PATHS: dict[str, Any] = {
    "StartAt": "Look",
    "TimeoutSeconds": 900,
    "States": {
        "Look": {
            "Type": "Task",
            "Resource": f"{SDK}sagemaker:describeCluster",
            "Parameters": {"ClusterName.$": "$.name"},
            "TimeoutSeconds": 60,
            "HeartbeatSeconds": 30,
            "Retry": [
                {"ErrorEquals": ["States.Timeout", "States.Http.StatusCode.429"]},
                {"ErrorEquals": ["States.ALL"], "BackoffRate": 1},
            ],
            "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Broken"}],
            "Next": "Fine",
        },
        "Fine": {
            "Type": "Choice",
            "Choices": [{"And": [{"Variable": "$.ClusterStatus", "StringEquals": "InService"}], "Next": "Done"}],
            "Default": "Pause",
        },
        "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Both"},
        "Both": {
            "Type": "Parallel",
            "Branches": [{"StartAt": "Note", "States": {"Note": {"Type": "Pass", "Result": {"a": 1}, "End": True}}}],
            "Next": "Ask",
        },
        "Ask": {
            "Type": "Task",
            "Resource": f"{OWN}sqs:sendMessage.waitForTaskToken",
            "Parameters": {"QueueUrl": "${Queue}", "MessageBody": {"Token.$": "$$.Task.Token", "Cost": "$5 a node"}},
            "Next": "Tell",
        },
        "Tell": {
            "Type": "Task",
            "Resource": f"{OWN}sns:publish",
            "Parameters": {"TopicArn": "arn:aws:sns:us-west-2:123456789012:alerts", "Message.$": "States.Format('{}', $.name)"},
            "ResultPath": None,
            "Next": "Look",
        },
        "Broken": {"Type": "Fail", "Error": "Cluster"},
        "Done": {"Type": "Succeed"},
    },
}
JSONATA: dict[str, Any] = {
    "QueryLanguage": "JSONata",
    "StartAt": "Look",
    "States": {
        "Look": {
            "Type": "Task",
            "Resource": f"{SDK}sagemaker:describeCluster",
            "Arguments": {"ClusterName": "{% $states.input.name %}"},
            "Assign": {"status": "{% $states.result.ClusterStatus %}"},
            "Next": "Fine",
        },
        "Fine": {"Type": "Choice", "Choices": [{"Condition": "{% $status = 'In (Service' %}", "Next": "Done"}]},
        "Done": {"Type": "Succeed", "Output": "{% $match('a(b', /a\\(/) %}"},
    },
}
MACHINE = "AWS::StepFunctions::StateMachine"
BASE = {
    "Resources": {
        "Paths": resource(MACHINE, RoleArn=ROLE, Definition=PATHS, DefinitionSubstitutions={"Queue": "https://q"}),
        "Text": resource(MACHINE, RoleArn=ROLE, DefinitionString=json.dumps(PATHS), DefinitionSubstitutions={"Queue": "https://q"}),
        "Jsonata": resource(MACHINE, RoleArn=ROLE, Definition=JSONATA),
        "Express": resource(MACHINE, RoleArn=ROLE, StateMachineType="EXPRESS", Definition=JSONATA),
    }
}
STATES, OTHERS = "Paths/Definition/States", "Jsonata/Definition/States"
REFUSED: list[tuple[str, Any, str]] = [
    (f"{STATES}/Fine/Default", "Ask", "no way leads to the state 'Pause'"),
    (f"{STATES}/Look/Next", "Finee", "the nearest is 'Fine'"),
    (f"{STATES}/Both/Branches/0/States/Note/Next", "Note", "has Next and End"),
    (f"{STATES}/Fine/Choices/0/Next", "Pause", "no way leads to the state 'Done'"),
    (f"{STATES}/Pause/Second", 5, "has the field Second, which no Wait has; the nearest is Seconds"),
    (f"{STATES}/Pause/Timestamp", "2027-01-01T00:00:00Z", "waits for Seconds and Timestamp"),
    (f"{STATES}/Look/HeartbeatSeconds", 60, "has HeartbeatSeconds 60, and ends after 60 seconds"),
    (f"{STATES}/Look/Retry/0/ErrorEquals", ["States.TimeOut"], "the nearest is States.Timeout"),
    (f"{STATES}/Look/Retry/0/ErrorEquals", ["States.ALL"], "beside or before other errors"),
    (f"{STATES}/Look/TimeoutSeconds", 0, "has TimeoutSeconds 0"),
    (f"{STATES}/Look/Retry/0/BackoffRate", 0.5, "has the BackoffRate 0.5"),
    (f"{STATES}/Look/Retry/0/IntervalSeconds", 0, "has IntervalSeconds 0"),
    (f"{STATES}/Look/Resource", f"{SDK}sagemaker:describeClusters", "the nearest is describeCluster"),
    (f"{STATES}/Look/Resource", f"{SDK}sagemaker:DescribeCluster", "Step Functions writes it describeCluster"),
    (f"{STATES}/Look/Resource", f"{SDK}sagemaker:describeCluster.sync", "calls of the SDK do not take"),
    (f"{STATES}/Tell/Resource", f"{OWN}sns:send", "has the integration sns:send"),
    (f"{STATES}/Tell/Resource", f"{OWN}sns:publish.sync", "the integration does not take"),
    (f"{STATES}/Tell/Parameters/Message.$", "States.Formt('{}', $.a)", "the nearest is States.Format"),
    (f"{STATES}/Tell/Parameters/Message.$", "name", "which is no path"),
    (f"{STATES}/Fine/Choices/0/And/0", {"Variable": "$.a", "StringEqual": "b"}, "the nearest is StringEquals"),
    (f"{STATES}/Fine/Choices/0", {"Variable": "$.a", "Next": "Done"}, "has no comparison in choice 1"),
    (f"{STATES}/Fine/Choices/0/And/0", {"Variable": "$.a", "NumericEquals": "b"}, "compares by NumericEquals with 'b'"),
    (f"{STATES}/Fine/Choices/0/And/0", {"Variable": "$.a", "IsPresent": "yes"}, "compares by IsPresent with 'yes'"),
    (f"{STATES}/Fine/Choices/0/And/0/Variable", "a.b", "has the Variable 'a.b'"),
    (f"{STATES}/Look/ResultPath", "cluster", "has the ResultPath 'cluster'"),
    (f"{STATES}/Both/Branches/0", {"StartAt": "Tell", "States": {"Tell": {"Type": "Succeed"}}}, "two states are named 'Tell'"),
    (f"{OTHERS}/Look/ResultPath", "$.a", "which no Task in JSONata has"),
    (f"{OTHERS}/Fine/Choices/0", {"Variable": "$.a", "Next": "Done"}, "a choice without Condition"),
    (f"{OTHERS}/Fine/Choices/0/Condition", "{% $status = 'a' }", "does not end with %}"),
    (f"{OTHERS}/Fine/Choices/0/Condition", "{% ($status = 'a' %}", "do not match"),
    ("Express/Definition/States/Look/Resource", f"{SDK}sagemaker:describeCluster.waitForTaskToken", "an express machine waits"),
    ("Paths/LoggingConfiguration", {"Level": "ERROR"}, "logs ERROR to nowhere"),
]
DEAD: list[tuple[str, Any, str]] = [
    ("Paths/Definition/TimeoutSeconds", 45, "ends after 45 seconds, and its state 'Pause' has waited only after 60"),
    (f"{STATES}/Both/Branches/0/States/Note", {"Type": "Wait", "Seconds": 900, "End": True}, "'Note' has waited only after 900"),
    (f"{STATES}/Tell/Parameters/Message.$", REMOVED, "calls Publish without Message"),
    (f"{STATES}/Tell/Parameters", {"Message": "a"}, "calls Publish without TopicArn, TargetArn, PhoneNumber"),
    (f"{STATES}/Look/Parameters", {"Name.$": "$.name"}, "calls DescribeCluster without ClusterName"),
    (f"{STATES}/Ask/Parameters/MessageBody", {"Name.$": "$.name"}, "gives to nobody"),
    (f"{STATES}/Ask/Parameters/QueueUrl", "${Jobs}", "nothing fills the place ${Jobs}"),
    (f"{STATES}/Tell/Parameters", {"TopicArn": "a", "Message": "$.name"}, "has the text '$.name' as Message"),
    (f"{OTHERS}/Look/Arguments/ClusterName", "$states.input.name %}", "does not begin with {%"),
]


def test_correct_machines_have_no_finding() -> None:
    assert findings(BASE, rules="HP-TXT") == []


@pytest.mark.parametrize(
    ("rule", "path", "value", "message"), [("HP-TXT-007", *one) for one in REFUSED] + [("HP-TXT-011", *one) for one in DEAD]
)
def test_fails_mistake_in_machine(rule: str, path: str, value: Any, message: str) -> None:
    (found,) = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert (found.rule, found.resource) == (rule, path.partition("/")[0])
    assert message in found.message


@pytest.mark.parametrize(
    ("text", "count"), [("$.a", 1), ("$", 1), ("$.a[?(@.b == 1)].c", 1), ("$['a b']", 1), ("$.a + 1", 0), ("$5", 0)]
)
def test_a_text_is_taken_for_a_path_where_it_is_one(text: str, count: int) -> None:
    task = {"Type": "Task", "Resource": "arn:aws:lambda:us-west-2:111122223333:function:a", "Parameters": {"a": text}, "End": True}
    machine = resource(MACHINE, RoleArn=ROLE, Definition={"StartAt": "A", "States": {"A": task}})
    assert [one.rule for one in findings({"Resources": {"M": machine}}, rules="HP-TXT")] == ["HP-TXT-011"] * count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("bedrock:invokeModel.waitForTaskToken", 0),
        ("bedrock:invokeModel.sync", 1),
        ("eks:runJob.waitForTaskToken", 0),
        ("eks:call.waitForTaskToken", 0),
        ("eks:call.sync", 1),
    ],
)
def test_tasks_wait_as_their_service_does(call: str, count: int) -> None:
    task = {"Type": "Task", "Resource": f"{OWN}{call}", "Parameters": {"Input": {"Token.$": "$$.Task.Token"}}, "End": True}
    machine = resource(MACHINE, RoleArn=ROLE, Definition={"StartAt": "A", "States": {"A": task}})
    found = [one.message for one in findings({"Resources": {"M": machine}}, rules="HP-TXT-007")]
    assert ["which the integration does not take" in message for message in found] == [True] * count


@pytest.mark.parametrize(
    ("limit", "late"), [(130, None), (120, "'Again' has waited only after 120"), (60, "'First' has waited only after 60")]
)
def test_waits_behind_each_other_end_before_the_machine(limit: int, late: str | None) -> None:
    """A way around the first wait would count."""
    states: dict[str, Any] = {
        "First": {"Type": "Wait", "Seconds": 60, "Next": "Again"},
        "Again": {"Type": "Wait", "Seconds": 60, "Next": "Last"},
        "Last": {"Type": "Succeed"},
    }
    for start, words in (("First", late), ("Look", late if limit == 60 else None)):
        look = {"Look": {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": True, "Next": "First"}], "Default": "Again"}}
        definition = {"StartAt": start, "TimeoutSeconds": limit, "States": {**states, **(look if start == "Look" else {})}}
        found = findings({"Resources": {"M": resource(MACHINE, RoleArn=ROLE, Definition=definition)}}, rules="HP-TXT")
        assert [one.rule for one in found] == ([] if words is None else ["HP-TXT-011"])
        assert words is None or words in found[0].message


def test_fails_machine_that_never_ends() -> None:
    loop = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "A"}}}
    (found,) = findings({"Resources": {"M": resource(MACHINE, RoleArn=ROLE, Definition=loop)}}, rules="HP-TXT")
    assert "never ends" in found.message


def test_fails_text_that_is_no_json_in_spite_of_references() -> None:
    text = {"Fn::Sub": json.dumps({**PATHS, "Comment": "${AWS::Region}"})[:-1].replace("${Queue}", "${!Queue}")}
    (found,) = findings(edited(BASE, {"Text/DefinitionString": text}), rules="HP-TXT")
    assert "the text is not JSON" in found.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{STATES}/Look/Resource", {"Fn::Sub": "arn:${AWS::Partition}:states:::aws-sdk:sagemaker:describeCluster"}),
        (f"{STATES}/Look/Resource", {"Ref": "AWS::StackName"}),
        (f"{STATES}/Look/Resource", f"{SDK}neptunedata:listGremlinQueries"),
        (f"{STATES}/Tell/Parameters/Subject", {"Fn::Sub": "$.${AWS::Region}"}),
        ("Text/DefinitionString", {"Fn::Sub": '{"StartAt": "A", "States": ${AWS::StackName} }'}),
    ],
)
def test_unknown_parts_are_believed(path: str, value: Any) -> None:
    assert findings(edited(BASE, {path: value}), rules="HP-TXT") == []


GROUP = "arn:aws:logs:us-west-2:123456789012:log-group:/aws/vendedlogs/states/m"


@pytest.mark.parametrize(("arn", "count"), [(GROUP, 1), (f"{GROUP}:*", 0), ({"Fn::Sub": f"{GROUP}${{AWS::Region}}"}, 0)])
def test_lines_go_to_the_streams_of_a_group(arn: Any, count: int) -> None:
    logging = {"Level": "ALL", "Destinations": [{"CloudWatchLogsLogGroup": {"LogGroupArn": arn}}]}
    found = findings(edited(BASE, {"Paths/LoggingConfiguration": logging}), rules="HP-TXT")
    assert ["has no streams" in one.message for one in found] == [True] * count


@pytest.mark.parametrize(("end", "count"), [("${Lines}", 1), ("${Lines}:*", 0), ("${Other}", 0)])
def test_the_name_of_a_group_has_no_streams(end: str, count: int) -> None:
    made = {"Lines": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 7}}}
    made["Other"] = {"Type": "Custom::Name", "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:f"}}
    arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{end}"}
    logging = {"Level": "ALL", "Destinations": [{"CloudWatchLogsLogGroup": {"LogGroupArn": arn}}]}
    found = findings(edited(BASE, {**made, "Paths/LoggingConfiguration": logging}), rules="HP-TXT")
    assert ["has no streams" in one.message for one in found] == [True] * count


@pytest.mark.parametrize(("seconds", "expected"), [(60, []), (600, ["Express"])])
def test_an_express_machine_does_not_wait_for_long(seconds: int, expected: list[str]) -> None:
    waiting = {"StartAt": "Later", "States": {"Later": {"Type": "Wait", "Seconds": seconds, "End": True}}}
    found = findings(edited(BASE, {"Express/Definition": waiting}), rules="HP-TXT")
    assert [one.resource for one in found if "express machine ends" in one.message] == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"NodeIds": ["i-1"]}, []),
        ({"NodeIds.$": "$.nodes"}, []),
        ({"NodeIds": "i-1"}, ["the state 'A' calls BatchRebootClusterNodes with NodeIds, which is a text"]),
    ],
)
def test_parameters_are_of_the_kinds_that_an_operation_takes(given: dict[str, Any], expected: list[str]) -> None:
    task = {"Type": "Task", "Resource": f"{SDK}sagemaker:batchRebootClusterNodes", "Parameters": {"ClusterName": "a", **given}}
    machine = {"QueryLanguage": "JSONPath", "StartAt": "A", "States": {"A": {**task, "End": True}}}
    found = [one.message for one in findings(edited(BASE, {"Express/Definition": machine}), rules="HP-TXT")]
    assert [one for one in found if "NodeIds" in one] == expected


WAITING = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 60, "Next": "B"}, "B": {"Type": "Succeed"}}}
LOOK = {"Type": "Task", "Resource": f"{SDK}sagemaker:listClusters", "End": True, "Catch": [{"ErrorEquals": ["States.ALL"]}]}


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (WAITING, []),
        ({**WAITING, "States": {**WAITING["States"], "A": {"Type": "Wait", "Seconds": "60", "Next": "B"}}}, ["has Seconds '60'"]),  # type: ignore[dict-item]
        ({"StartAt": "A", "States": {"A": LOOK}}, ["has a Catch without Next"]),
        (
            {"StartAt": "A", "States": {"A": {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": True}]}}},
            ["has a choice without Next"],
        ),
    ],
)
def test_states_go_on_and_wait_for_numbers(machine: dict[str, Any], expected: list[str]) -> None:
    steps = resource(MACHINE, RoleArn=ROLE, DefinitionString=json.dumps(machine))
    found = [one.message for one in findings({"Resources": {"Steps": steps}}, rules="HP-TXT")]
    assert len(found) == len(expected)
    assert all(words in one for words, one in zip(expected, found, strict=True))
