"""Parts of state machines: fields, words and ranges of states, rules of choices, paths, functions and expressions."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.jsonata import mistakes_in_expression
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

ROLE = "arn:aws:iam::123456789012:role/service"
OWN = "arn:aws:states:::"
MACHINE = "AWS::StepFunctions::StateMachine"
INNER = {"StartAt": "Inner", "States": {"Inner": {"Type": "Pass", "End": True}}}
READER = {
    "Resource": f"{OWN}s3:getObject",
    "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"},
    "Parameters": {"Bucket": "shards", "Key.$": "$.key"},
}
PATHS: dict[str, Any] = {
    "Comment": "a machine",
    "TimeoutSeconds": 3600,
    "StartAt": "Note",
    "States": {
        "Note": {
            "Type": "Pass",
            "Parameters": {"a.$": "States.Format('{} \\{x\\}', $.a)"},
            "Assign": {"name.$": "$.a"},
            "ResultPath": "$.note",
            "Next": "Call",
        },
        "Call": {
            "Type": "Task",
            "Resource": f"{OWN}lambda:invoke",
            "Parameters": {
                "FunctionName": "f",
                "Payload": {"id.$": "$$.Execution.Id", "n.$": "$name", "first.$": "$.list[?(@.a == 'b c')].x"},
            },
            "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 5, "MaxDelaySeconds": 60, "JitterStrategy": "FULL"}],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Each"}],
            "ResultPath": None,
            "Next": "Which",
        },
        "Which": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.at", "TimestampLessThan": "2027-05-01T00:00:00Z", "Next": "Each"},
                {"And": [{"Variable": "$.a", "IsPresent": True}, {"Variable": "$.a", "NumericEquals": 1}], "Next": "Each"},
            ],
            "Default": "Pause",
        },
        "Pause": {"Type": "Wait", "Seconds": 0, "Next": "Each"},
        "Each": {
            "Type": "Map",
            "ItemReader": READER,
            "ItemSelector": {"item.$": "$$.Map.Item.Value"},
            "ItemBatcher": {"MaxItemsPerBatch": 10},
            "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, **INNER},
            "Label": "Shards",
            "ToleratedFailurePercentage": 5,
            "End": True,
        },
    },
}
JSONATA: dict[str, Any] = {
    "QueryLanguage": "JSONata",
    "StartAt": "Call",
    "States": {
        "Call": {
            "Type": "Task",
            "Resource": f"{OWN}lambda:invoke",
            "Arguments": {"FunctionName": "f", "Payload": "{% $states.input.items[size > 3 and kind = 'a'].name %}"},
            "Assign": {"seen": "{% $states.result.Payload %}"},
            "Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% $states.errorOutput %}", "Next": "Done"}],
            "Output": "{% ($twice := function($x) { $x * 2 }; $map($states.result.Payload, $twice)) %}",
            "Next": "Which",
        },
        "Which": {"Type": "Choice", "Choices": [{"Condition": "{% $seen != 'a && b' %}", "Next": "Done"}], "Default": "Done"},
        "Done": {"Type": "Wait", "Seconds": "{% $number($seen) %}", "End": True},
    },
}
BASE = {
    "Resources": {
        "Paths": resource(MACHINE, RoleArn=ROLE, Definition=PATHS),
        "Text": resource(MACHINE, RoleArn=ROLE, DefinitionString=json.dumps(PATHS)),
        "Jsonata": resource(MACHINE, RoleArn=ROLE, Definition=JSONATA),
        "Topic": resource("AWS::SNS::Topic"),
    }
}
WHOLE = "Paths/Definition"
STATES, OTHERS = f"{WHOLE}/States", "Jsonata/Definition/States"
RETRY, EACH, RULE = f"{STATES}/Call/Retry/0", f"{STATES}/Each", f"{STATES}/Which/Choices/0"
REFUSED: list[tuple[str, Any, str]] = [
    (f"{WHOLE}/Timeout", 60, "Timeout is not a property"),
    (f"{WHOLE}/Version", "2.0", "Version is '2.0'"),
    (f"{WHOLE}/QueryLanguage", "JSONPATH", "the nearest is JSONPath"),
    (f"{STATES}/Pause/Seconds", -1, "in the state 'Pause', Seconds is -1"),
    (f"{RETRY}/MaxAttempts", -1, "MaxAttempts is -1"),
    (f"{RETRY}/Attempts", 3, "Attempts is not a property of Retry/0"),
    (f"{RETRY}/ErrorEquals", "States.ALL", "ErrorEquals is 'States.ALL', not a list"),
    (f"{RETRY}/IntervalSeconds", 60, "MaxDelaySeconds is 60, and IntervalSeconds 60"),
    (f"{RETRY}/JitterStrategy", "full", "the nearest is FULL"),
    (f"{STATES}/Call/Catch/0/ResultPath", "error", "ResultPath is 'error'"),
    (f"{STATES}/Call/ResultPath", "$.a[*]", "ResultPath is '$.a[*]'"),
    (f"{STATES}/Call/Resource", "lambda:invoke", "Resource is 'lambda:invoke'"),
    (f"{STATES}/Call/Resource", {"Ref": "Topic"}, "runs Topic, which is AWS::SNS::Topic"),
    (f"{STATES}/Call/TimeoutSecondsPath", "seconds", "has the TimeoutSecondsPath 'seconds'"),
    (f"{STATES}/Call/Assign", {"a.b": 1}, "a variable begins with a letter"),
    (f"{RULE}/TimestampLessThan", "2027-05-01", "TimestampLessThan is '2027-05-01'"),
    (f"{RULE}/TimestampGreaterThan", "2027-05-01T00:00:00Z", "TimestampLessThan and TimestampGreaterThan exclude each other"),
    (f"{RULE}/Variable", REMOVED, "Variable is missing"),
    (f"{STATES}/Which/Choices/1/And/0/Next", "Each", "only the outer rule has the next state"),
    (f"{EACH}/ItemProcessor", REMOVED, "has none of ItemProcessor, Iterator"),
    (f"{EACH}/ItemProcessor/ProcessorConfig/Mode", "Distributed", "the nearest is DISTRIBUTED"),
    (f"{EACH}/ItemProcessor/ProcessorConfig/ExecutionType", REMOVED, "ExecutionType is missing"),
    (f"{EACH}/ItemProcessor/ProcessorConfig", REMOVED, "only a map of the mode DISTRIBUTED has these fields"),
    (f"{EACH}/ItemBatcher", {"BatchInput": {"a": 1}}, "ItemBatcher has none of MaxItemsPerBatch"),
    (f"{EACH}/ItemReader/ReaderConfig/InputType", "csv", "the nearest is CSV"),
    (f"{EACH}/ItemReader/ReaderConfig/CSVHeaderLocation", "GIVEN", "CSVHeaders is missing"),
    (f"{EACH}/ItemReader/Parameters/Key.$", REMOVED, "has none of Key, Key.$"),
    (f"{EACH}/Label", "my shards", "Label is 'my shards'"),
    ("Paths/StateMachineType", "EXPRESS", "an express machine has the distributed map 'Each'"),
    (f"{STATES}/Note/Parameters/a.$", "$.a b", "goes on with 'b'"),
    (f"{STATES}/Note/Parameters/a.$", "$.a[0", "has a bracket without its end"),
    (f"{STATES}/Note/Parameters/a.$", "$.a.", "has a dot without a name"),
    (f"{STATES}/Note/Parameters/a.$", "States.Format('a {}', $.a", "lacks a comma or a parenthesis"),
    (f"{STATES}/Note/Parameters/a.$", 'States.Format("a {}", $.a)', "has a text that is not in single quotes"),
    (f"{OTHERS}/Which/Choices/0/Condition", "$seen = 1", "Condition is '$seen = 1'"),
    (f"{OTHERS}/Which/Choices/0/Condition", "{% $seen == 1 %}", "in which == is no operator"),
    (f"{OTHERS}/Call/Catch/0/ResultPath", "$.a", "errors go to Output"),
    (f"{OTHERS}/Done/QueryLanguage", "JSONPath", "a machine in JSONata has no states in JSONPath"),
]
DEAD: list[tuple[str, Any, str]] = [
    (f"{STATES}/Note/Parameters/a.$", "States.Format('{} {}', $.a)", "with 2 places {} and 1 values"),
    (f"{STATES}/Note/Parameters/a.$", "States.MathAdd($.a)", "calls States.MathAdd with 1 arguments"),
    (f"{STATES}/Note/Parameters/a.$", "States.Hash($.a, 'SHA256')", "the nearest is SHA-256"),
    (f"{STATES}/Note/Parameters/a.$", "States.JsonMerge($.a, $.b, true)", "a deep merge"),
    (f"{STATES}/Note/Parameters/a.$", "$$.Execution.ID", "the nearest is Id"),
    (f"{STATES}/Note/Parameters/a.$", "$$.Map.Item.Value", "is in no map"),
    (f"{STATES}/Call/Parameters/Payload/n.$", "$nam", "reads the variable $nam, which nothing assigns; the nearest is name"),
    (f"{STATES}/Call/Parameters/Payload/n.$", "$$.Task.Token", "hands on a token, and does not wait for it"),
    (f"{OTHERS}/Call/Output", "{% $uppercas($states.result.Payload) %}", "the nearest is $uppercase"),
    (f"{OTHERS}/Call/Output", "{% $eval($states.result.Payload) %}", "the function $eval, which is not there"),
    (f"{OTHERS}/Call/Output", "{% $states.results %}", "the nearest is result"),
    (f"{OTHERS}/Call/Arguments/Payload", "{% $states.result %}", "$states has no result there"),
    (f"{OTHERS}/Call/Output", "{% $.a %}", "and $ is nothing there"),
    (f"{OTHERS}/Call/Output", "{% Payload.a %}", "there is no Payload to read"),
    (f"{OTHERS}/Call/Output", "{% $states.context.Execution.Arn %}", "the context has no Arn"),
    (f"{OTHERS}/Call/Output", "{% $hash($seen, 'SHA256') %}", "the nearest is SHA-256"),
    (f"{OTHERS}/Which/Output", "{% $sen %}", "the nearest is $seen"),
    (f"{OTHERS}/Call/Arguments/Payload", {"a.$": "$.a"}, "which JSONata does not read"),
]


def test_correct_parts_have_no_finding() -> None:
    assert findings(BASE, rules="HP-TXT") == []


@pytest.mark.parametrize(
    ("rule", "path", "value", "message"), [("HP-TXT-007", *one) for one in REFUSED] + [("HP-TXT-011", *one) for one in DEAD]
)
def test_fails_mistake_in_part(rule: str, path: str, value: Any, message: str) -> None:
    (found,) = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert (found.rule, found.resource) == (rule, path.partition("/")[0])
    assert message in found.message


@pytest.mark.parametrize(
    "text",
    [
        *("$", "$$", "$.a.length()", "$..a", "$['a b'][0]", "$.a[(@.length-1)]", "$.a\\@b", "$[0:2]", "States.Array()"),
        *("States.Array('it\\'s', 1, true, States.UUID())", "States.ArrayGetItem($.a, States.MathAdd($.n, -1))", "$name.first"),
    ],
)
def test_paths_and_functions_of_every_form_are_taken(text: str) -> None:
    assert findings(edited(BASE, {f"{STATES}/Call/Parameters/Payload/n.$": text}), rules="HP-TXT") == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{% $states.input.name ~> $uppercase() %}",
            "{% $sort($seen, λ($l, $r) { $l.a > $r.a }) %}",
            "{% /* == */ $count($seen) %}",
        ),
        *(
            "{% $seen@$b.c#$i.{'x': $b.y, 'i': $i} %}",
            "{% $replace($seen, /[!=&]+/, '-') %}",
            "{% $states.context.Map.Item.Index %}",
        ),
        *("{% [1..5].($ * 2) %}", "{% $exists($seen) ? true : false %}", "{% {'a': $seen} %}"),
    ],
)
def test_expressions_of_every_form_are_taken(text: str) -> None:
    assert findings(edited(BASE, {f"{OTHERS}/Which/Output": text}), rules="HP-TXT-007") == []
    dead = findings(edited(BASE, {f"{OTHERS}/Which/Output": text}), rules="HP-TXT-011")
    assert [one.message for one in dead if "Map.Item" not in one.message] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{STATES}/Pause/Seconds", {"Ref": "AWS::StackName"}),
        (f"{STATES}/Call/Resource", {"Fn::Sub": "arn:${AWS::Partition}:states:::lambda:invoke"}),
        (f"{EACH}/Label", {"Fn::Sub": "Shards${AWS::Region}"}),
        (f"{OTHERS}/Call/Output", {"Fn::Sub": "{% $missing${AWS::Region} %}"}),
    ],
)
def test_unknown_parts_are_believed(path: str, value: Any) -> None:
    assert findings(edited(BASE, {path: value}), rules="HP-TXT") == []


@pytest.mark.parametrize("part", ["[/", "function(", "/*", "\\'"])
def test_expressions_are_read_in_little_time(part: str) -> None:
    start = monotonic()
    for length in (4000, 40_000):
        list(mistakes_in_expression(f"{{% {(part * length)[:length]} %}}", ("input",), frozenset()))
    assert monotonic() - start < 2
