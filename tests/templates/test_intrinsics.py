"""CloudFormation's functions, as far as they can be known."""

from __future__ import annotations

import pytest

from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Either, Reference, Text, Value, shown
from tests.templates.models import by_id, model_of, resolved

SECTIONS = """
Parameters:
  Plain: {Type: String, Default: plain}
  Count: {Type: Number, Default: 3}
  List: {Type: CommaDelimitedList, Default: "a, b,c"}
  Empty: {Type: CommaDelimitedList, Default: ""}
  Open: {Type: String}
  Choice: {Type: String, AllowedValues: [x, y]}
  Subnets: {Type: "List<AWS::EC2::Subnet::Id>"}
  Ami: {Type: "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", Default: /path}
  Odd: [1]
Mappings:
  M: {one: {k: v, list: [1, 2]}}
  Regions: {us-east-1: {k: v, same: s, half: h}, us-west-2: {k: w, same: s}}
  Images: {AMI: {k: name}, us-east-1: {k: v}, us-west-2: {k: w}}
  Many: {1: {k: 1}, 2: {k: 2}, 3: {k: 3}, 4: {k: 4}, 5: {k: 5}, 6: {k: 6}, 7: {k: 7}, 8: {k: 8}, 9: {k: 9}}
Conditions:
  Sure: !Equals [!Ref Plain, plain]
  Never: !Not [!Condition Sure]
  Maybe: !Equals [!Ref Open, x]
  Chosen: !Equals [!Ref Choice, z]
  Both: !And [!Condition Sure, !Condition Maybe]
  Neither: !And [!Condition Never, !Condition Maybe]
  OneOf: !Or [!Condition Sure, !Condition Maybe]
  Self: !Condition Self
  Fork: !And [!Condition Fork, !Condition Fork, !Condition Fork]
  Round: !Not [!Condition Trip]
  Trip: !Not [!Condition Round]
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("!Ref Plain", "plain"),
        ("!Ref Count", 3),
        ("!Ref List", ("a", "b", "c")),
        ("!Ref Empty", ()),
        ("!Ref Choice", Either(("x", "y"))),
        ("!Ref AWS::NoValue", ABSENT),
        ("[1, !Ref AWS::NoValue, 2]", (1, 2)),
        ("{a: !Ref AWS::NoValue, b: 1}", {"b": 1}),
        ("!Join ['-', [a, !Ref Count, !Ref Plain]]", "a-3-plain"),
        ("!Join [',', !Ref List]", "a,b,c"),
        ("!Join ['-', [a, !Ref Choice]]", Either(("a-x", "a-y"))),
        ("!Join ['-', [a, !Ref AWS::NoValue, b]]", "a-b"),
        ("!Join ['-', [a, '', b]]", "a--b"),
        ("!Sub '${Plain}-${Count}-${!Kept}'", "plain-3-${Kept}"),
        ("!Sub ['${X}/${Plain}', {X: !Select [1, !Ref List]}]", "b/plain"),
        ("!Select [1, [a, b]]", "b"),
        ("!Select ['1', !Split [',', 'a,b']]", "b"),
        ("!Split ['-', !Ref Choice]", Either((("x",), ("y",)))),
        ("!Select [0, !Split [' ', !Sub '${Plain} ${A}']]", "plain"),
        ("!Select [1, !Split [',', !Sub '${A},b-${Plain},${A.Arn}']]", "b-plain"),
        ("!FindInMap [M, one, k]", "v"),
        ("!FindInMap [M, one, list]", (1, 2)),
        ("!FindInMap [M, two, k, {DefaultValue: d}]", "d"),
        ("!FindInMap [Regions, !Ref AWS::Region, k]", Either(("v", "w"))),
        ("!FindInMap [Regions, !Ref AWS::Region, same]", "s"),
        ("!FindInMap [Regions, !Sub '${AWS::Region}', k]", Either(("v", "w"))),
        ("!FindInMap [Regions, !Ref AWS::Region, k, {DefaultValue: d}]", Either(("v", "w", "d"))),
        ("!FindInMap [Regions, !Ref AWS::Region, half, {DefaultValue: d}]", Either(("h", "d"))),
        ("!FindInMap [Images, !Ref AWS::Region, k]", Either(("v", "w"))),
        ("!FindInMap [Images, !Ref Open, k]", Either(("name", "v", "w"))),
        ("!FindInMap [M, one, !Ref Open]", Either(("v", (1, 2)))),
        ("!Cidr [10.0.0.0/16, 2, 8]", ("10.0.0.0/24", "10.0.1.0/24")),
        ("!Select [1, !Cidr ['2001:db8::/56', 2, 64]]", "2001:db8:0:1::/64"),
        ("!Base64 abc", "YWJj"),
        ("!If [Sure, 1, 2]", 1),
        ("!If [Never, 1, 2]", 2),
        ("!If [Maybe, 1, 2]", Either((1, 2))),
        ("!If [Maybe, same, same]", "same"),
        ("!If [Chosen, 1, 2]", 2),
        ("!If [Both, 1, 2]", Either((1, 2))),
        ("!If [Neither, 1, 2]", 2),
        ("!If [OneOf, 1, 2]", 1),
        ("!If [Maybe, 1, !Ref AWS::NoValue]", Either((1, ABSENT))),
        ("{Fn::Length: !Ref List}", 3),
        ("{Fn::ToJsonString: {a: [1, !Ref Plain]}}", '{"a":[1,"plain"]}'),
        ("{Condition: Sure}", {"Condition": "Sure"}),
    ],
)
def test_known_values(expression: str, value: Value) -> None:
    assert resolved(expression, SECTIONS) == value


@pytest.mark.parametrize(
    "expression",
    [
        "!Ref Open",
        "!Ref Subnets",
        "!Ref Ami",
        "!Ref Odd",
        "!Ref Nothing",
        "!Ref AWS::Region",
        "!Ref AWS::StackId",
        "!Ref AWS::Unheard",
        "!Ref [A]",
        "!GetAtt Nothing.Arn",
        "!GetAtt A",
        "!GetAZs us-east-1",
        "!Select [0, !GetAZs '']",
        "!Select [9, [a]]",
        "!Select [0, [!If [Maybe, 1, !Ref AWS::NoValue], 2]]",
        "!Split ['/', !Ref A]",
        "!Split ['-', !Sub '${A}-b']",
        "!Split [',', !Sub '${A},${Open}']",
        "!FindInMap [M, two, k]",
        "!FindInMap [Many, !Ref Open, k]",
        "!FindInMap [M, !Ref Open, none]",
        "!FindInMap [Regions, !Ref AWS::Region, half]",
        "!FindInMap [Nowhere, !Ref AWS::Region, k]",
        "!FindInMap [M, !GetAtt A.Arn, k]",
        "!FindInMap [N, one, k]",
        "!Cidr [10.0.0.0/16, 300]",
        "!Cidr [10.0.0.0/24, 2, 16]",
        "!Cidr [nonsense, 2]",
        "!ImportValue nowhere",
        "{Fn::GetStackOutput: {StackName: s, OutputName: o}}",
        "'{{resolve:ssm:/x}}'",
        "{Fn::Transform: {Name: AWS::Include}}",
        "{Fn::ForEach::x: [y, [a], {}], other: 1}",
        "{Fn::Future: 1}",
        "!Base64 [1]",
        "!If [Sure]",
        "!Join [a]",
        "!Sub [1, 2, 3]",
        "{Fn::ToJsonString: {a: !Ref A}}",
        "{Fn::Length: {Ref: Open}}",
    ],
)
def test_unknown_values(expression: str) -> None:
    assert resolved(expression, SECTIONS) is UNKNOWN


@pytest.mark.parametrize("condition", ["Self", "Fork", "Round", "Nothing"])
def test_conditions_that_go_in_circles_are_unknown(condition: str) -> None:
    assert resolved(f"!If [{condition}, 1, 2]", SECTIONS) == Either((1, 2))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("!Ref A", "${A}"),
        ("!GetAtt A.Arn", "${A.Arn}"),
        ("!GetAtt [A, Nested.Name]", "${A.Nested.Name}"),
        ("!Sub '${A}'", "${A}"),
        ("!Sub '${A.Arn}/*'", "${A.Arn}/*"),
        ("!Sub 'arn:${AWS::Partition}:s3:::${A}/x'", "arn:${?}:s3:::${A}/x"),
        ("!Join ['', [a, !Ref Open, b]]", "a${?}b"),
        ("'pw-{{resolve:secretsmanager:x}}-end'", "pw-${?}-end"),
        ("!Sub '{{resolve:ssm:${A}}}'", "${?}"),
        ("!Sub 'x{{resolve:ssm:p}}${A}'", "x${?}${A}"),
    ],
)
def test_partly_known_values(expression: str, text: str) -> None:
    assert shown(resolved(expression, SECTIONS)) == text


def test_a_reference_is_its_resource() -> None:
    value = resolved("!GetAtt A.Arn")
    assert isinstance(value, Reference)
    assert (value.resource.type, value.attribute) == ("T::A", "Arn")
    assert isinstance(resolved("!Sub 'x${A}'"), Text)


def test_many_alternatives_are_unknown() -> None:
    sections = "".join(f"  C{index}: {{Type: String, AllowedValues: [a, b]}}\n" for index in range(4))
    expression = "!Sub '" + "".join(f"${{C{index}}}" for index in range(4)) + "'"
    assert resolved(expression, f"Parameters:\n{sections}") is UNKNOWN


def test_macros_make_their_part_unknown() -> None:
    include = model_of("Resources: {A: {Type: T, Properties: {a: 1, 'Fn::Transform': {Name: AWS::Include}}}}")
    assert by_id(include, "A").get("a") is UNKNOWN
    assert include.complete
    looped = model_of(
        "{Transform: AWS::LanguageExtensions, Resources: {A: {Type: T, Properties: {a: 1}}, 'Fn::ForEach::X': [x, [y], {}]}}"
    )
    assert by_id(looped, "A").get("a") == 1
    assert not looped.complete
    serverless = model_of("{Transform: [AWS::Serverless-2016-10-31], Resources: {A: {Type: T, Properties: {a: 1}}}}")
    assert (by_id(serverless, "A").get("a"), serverless.complete) == (1, True)
    for connector in ("B: {Type: AWS::Serverless::Connector}", "B: {Type: AWS::Serverless::Function, Connectors: {}}"):
        connected = model_of(f"{{Transform: AWS::Serverless-2016-10-31, Resources: {{A: {{Type: T}}, {connector}}}}}")
        assert not connected.complete
    own = model_of("{Transform: {Name: Mine}, Resources: {A: {Type: T, Properties: {a: 1}}}}")
    assert by_id(own, "A").get("a") is UNKNOWN
    assert by_id(own, "A").properties == {}


@pytest.mark.parametrize(("kind", "count"), [("AWS::EC2::VPC", 1), ("Custom::Finder", None), ("AWS::SSM::Parameter", None)])
def test_an_attribute_of_a_program_may_be_a_list_in_a_text(kind: str, count: int | None) -> None:
    text = f"""
    Resources:
      A: {{Type: "{kind}"}}
      B: {{Type: "T::B", Properties: {{V: !Split [",", !GetAtt A.Value]}}}}
    """
    found = by_id(model_of(text), "B").get("V")
    assert (len(found) if isinstance(found, tuple) else None) == count


@pytest.mark.parametrize(
    ("split", "shown_as"),
    [
        ("!Select [0, !Split [':*', !GetAtt Lines.Arn]]", "arn:${?}:logs:${?}:${?}:log-group:${Lines}"),
        ("!Select [1, !Split [':*', !GetAtt Lines.Arn]]", ""),
        ("!Select [0, !Split [':*', !GetAtt Files.Arn]]", None),
        ("!Select [0, !Split [':', !GetAtt Lines.Arn]]", None),
    ],
)
def test_an_arn_is_known_before_its_constant_end(split: str, shown_as: str | None) -> None:
    model = model_of(f"""{{Resources: {{
        Lines: {{Type: AWS::Logs::LogGroup}}, Files: {{Type: AWS::S3::Bucket}}, A: {{Type: T, Properties: {{A: {split}}}}}}}}}""")
    value = by_id(model, "A").get("A")
    assert (None if value is UNKNOWN else str(value)) == shown_as
