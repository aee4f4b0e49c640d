"""What code does is followed statement by statement: on all ways where a condition is not known, on one where it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.answered_values import answered, attributes_of, id_of
from hyperpod_constructs.analysis.code_runs.choices import MOST_WAYS
from hyperpod_constructs.analysis.code_runs.runs import Run
from hyperpod_constructs.analysis.code_runs.things import value_of
from hyperpod_constructs.analysis.function_code import runs_of
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import UNKNOWN, Reference, shown
from tests.templates.models import by_id, model_of
from tests.work import calls

CUSTOM = "Own: {Type: Custom::Own, Properties: {ServiceToken: !GetAtt Code.Arn, Topic: a, Files: {x: '1', y: '2'}, Count: 3}}"


def model(code: str, *custom: str, variables: str = "") -> Model:
    given = f"Runtime: python3.13, Handler: index.handler, Environment: {{Variables: {{{variables}}}}}"
    function = f"Code: {{Type: AWS::Lambda::Function, Properties: {{{given}, Code: {{ZipFile: {code}}}}}}}"
    return model_of(f"{{Resources: {{{', '.join([function, *custom])}}}}}")


def handled(*lines: str, custom: str = CUSTOM) -> Model:
    body = "\n  ".join(lines)
    return model(json.dumps(f"import boto3, cfnresponse, json, os\ndef handler(event, context):\n  {body}\n"), custom)


def run(of: Model, request: str) -> Run:
    (found,) = [one for one in runs_of(by_id(of, "Code")) if one.request == request]
    return found


def returned(of: Model, request: str = "Create") -> list[Any]:
    return [value_of(way.returned) for way in run(of, request).ways]


WHOLE = 'given = event["ResourceProperties"]'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['return "a" if event["RequestType"] == "Create" else "b"'], ["a"]),
        (['return "a" if event["RequestType"] in ("Update", "Delete") else "b"'], ["b"]),
        (['return "a" if "PhysicalResourceId" in event else "b"'], ["b"]),
        (['return event.get("PhysicalResourceId", "new")'], ["new"]),
        (['return "a" if context.x else "b"'], ["a", "b"]),
        (["if context.x:", '  return "a"', 'return "b"'], ["a", "b"]),
        (['x = "a"', 'x += "b"', "return x.upper()"], ["AB"]),
        (['return ", ".join(given["Files"])'], ["x, y"]),
        (['return [name for name in given["Files"] if name != "x"]'], [("y",)]),
        (['return {name: text for name, text in given["Files"].items()}'], [{"x": "1", "y": "2"}]),
        (['return str(int(given["Count"]) + 1)'], ["4"]),
        (['return "a" if int(given["Count"]) > 2 else "b"'], ["a"]),
        (['data = {"a": "b", "c": "d"}', 'del data["a"]', "return data"], [{"c": "d"}]),
        (['data = {"a": "b"}', 'data["c"] = "d"', "return data"], [{"a": "b", "c": "d"}]),
        (['data = {"a": "b"}', "print(data)", "return data"], [{"a": "b"}]),
        (['data = {"a": "b"}', "context.change(data)", "return data"], [UNKNOWN]),
        (['return json.loads("[\\"a\\"]")[0]'], ["a"]),
        (['kept = "a"', "for one in context.names:", "  kept = one", "return kept"], [UNKNOWN, "a"]),
        (["while True:", "  if context.x:", '    return "a"', '  given = "b"'], ["a"]),
        (
            ["try:", '  raise ValueError("no")', "except KeyError:", '  return "a"', "except ValueError:", '  return "b"'],
            ["b", "a", "b"],
        ),
        (["try:", '  return "a"', "finally:", '  given = "b"'], ["a"]),
        (['def inner(x, y="z"):', "  return x + y", 'return inner("a")'], ["az"]),
        (['first, *rest = ["a", "b", "c"]', "return first"], ["a"]),
        (['return (lambda x: x + "b")("a")'], ["ab"]),
        (['yield "a"'], [UNKNOWN]),
    ],
)
def test_the_value_of_each_way_is_known(lines: list[str], expected: list[Any]) -> None:
    assert [shown(one) for one in returned(handled(WHOLE, *lines))] == [shown(one) for one in expected]


def test_a_class_of_the_code_keeps_its_attributes() -> None:
    lines = ["class A:", " def __init__(self, name):", "  self.name = name", " def get(self):", "  return self.name + 'b'"]
    code = "\n".join([*lines, "def handler(event, context):", " return A('a').get()"])
    assert returned(model(json.dumps(code), CUSTOM)) == ["ab"]


def test_parts_of_the_template_in_the_code_are_known() -> None:
    code = "!Sub \"def handler(event, context):\\n return ['${Bucket}', 'a-${Bucket}']\\n\""
    (found,) = returned(model(code, CUSTOM, "Bucket: {Type: AWS::S3::Bucket}"))
    assert isinstance(found[0], Reference)
    assert shown(found[1]) == "a-${Bucket}"


def test_each_custom_resource_of_a_function_has_its_own_answers() -> None:
    lines = [
        "given = event['ResourceProperties']",
        "try:",
        "  data = {'Arn': given['Topic']} if event['ResourceType'] == 'Custom::Own' else {'Name': given['Topic']}",
        "  cfnresponse.send(event, context, cfnresponse.SUCCESS, data, given['Topic'])",
        "except Exception as error:",
        "  cfnresponse.send(event, context, cfnresponse.FAILED, {'Error': str(error)})",
    ]
    other = "Other: {Type: Custom::Other, Properties: {ServiceToken: !GetAtt Code.Arn, Topic: b}}"
    of = handled(*lines, custom=f"{CUSTOM}, {other}")
    own, other_one = by_id(of, "Own"), by_id(of, "Other")
    assert (attributes_of(own), attributes_of(other_one)) == (("Arn",), ("Name",))
    assert (id_of(own), id_of(other_one)) == ("a", "b")
    assert [answered(Reference(one, name)) for one, name in ((own, "Arn"), (other_one, "Name"))] == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    [
        "cfnresponse.send(event, context, 'SUCCESS', context.data)",
        "context.answer(event)",
        "boto3.client('lambda').invoke(FunctionName='f', Payload=json.dumps(event))",
    ],
)
def test_answers_of_others_are_not_believed(line: str) -> None:
    assert attributes_of(by_id(handled(line), "Own")) is None


def test_a_way_without_an_answer_is_found_behind_any_name() -> None:
    lines = ["kind, _ = event['RequestType'], 1", "if kind != 'Delete':", "  cfnresponse.send(event, context, 'SUCCESS', {})"]
    of = handled(*lines)
    assert [bool(run(of, request).ends[0].sent) for request in ("Create", "Update", "Delete")] == [True, True, False]


def test_what_nothing_calls_is_followed_too() -> None:
    code = "import boto3\ndef handler(event, context):\n pass\ndef later(topic):\n boto3.client('sns').publish(TopicArn='a')\n"
    assert [call.operation.name for one in runs_of(by_id(model(json.dumps(code)), "Code")) for call in one.calls] == ["Publish"]


HOSTILE = [
    "\n".join(f"  if context.a{n}: x = {n}" for n in range(200)),
    "  while True:\n    while True:\n      while True:\n        context.x()",
    "  for a in given:\n    for b in given:\n      for c in given:\n        for d in given:\n          context.x(a, b, c, d)",
    "  x = 'a'\n" + "  x = x + x\n" * 100,
    "  x = 2\n" + "  x = x * x\n" * 100,
    "  x = [1]\n" + "  x = x + x\n" * 40,
    "  x = []\n  x.append(x)\n  return x",
    "  x = 'a'.replace('a', 'b' * 1)\n" + "  x = x.replace('b', x)\n" * 60,
    "  return " + "(" * 80 + "1" + ")" * 80,
    "  return " + "-" * 400 + "1",
    "  return " + " + ".join(["x"] * 2000),
]


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_the_work_has_a_bound(body: str) -> None:
    code = f"def handler(event, context):\n  given = [{', '.join('0' * 100)}]\n{body}\n"
    of = model(json.dumps(code), CUSTOM)
    assert calls(lambda: runs_of(by_id(of, "Code"))) < 20_000_000
    assert all(len(one.ways) <= MOST_WAYS for one in runs_of(by_id(of, "Code")))


def test_functions_that_call_each_other_end() -> None:
    code = "def a():\n return b()\ndef b():\n return a()\ndef handler(event, context):\n return a()\n"
    of = model(json.dumps(code), CUSTOM)
    assert [shown(one) for one in returned(of)] == ["${?}"]
    assert not run(of, "Create").is_whole


def test_many_functions_have_one_bound_together() -> None:
    turns = "".join(f"{' ' * depth}for {name} in given:\n" for depth, name in enumerate("abc", 1))
    code = json.dumps(f"given = [{', '.join('0' * 100)}]\ndef handler(event, context):\n{turns}    context.x(a, b, c)\n")
    function = (
        f"{{Type: AWS::Lambda::Function, Properties: {{Runtime: python3.13, Handler: index.handler, Code: {{ZipFile: {code}}}}}}}"
    )
    of = model_of(f"{{Resources: {{{', '.join(f'F{n}: {function}' for n in range(100))}}}}}")
    assert calls(lambda: [runs_of(by_id(of, f"F{n}")) for n in range(20)]) < 10_000_000


def test_what_is_not_followed_is_not_believed() -> None:
    lines = ["kept = 'a'", "def inner():", "  nonlocal kept", "  kept = 'b'", "inner()", "return kept"]
    assert not run(handled(*lines), "Create").is_whole
