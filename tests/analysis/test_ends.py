"""Ends of ways through properties."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.ends import End, ends
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import shown
from tests.templates.models import by_id, model_of

MODEL = """{
    Parameters: {P: {Type: String}},
    Resources: {
      Pipe: {Type: AWS::CodePipeline::Pipeline, Properties: {
        Kind: network, RoleArn: !GetAtt Role.Arn, Empty: [], Call: !Sub '${Alias}', Path: !Sub '${Function.Arn}:1',
        Both: !Sub '${Role}-${Function}',
        Actions: [
          {Type: {Provider: Build}, Name: a, Input: x},
          {Type: {Provider: Build}, Name: b, RoleArn: r},
          {Type: {Provider: Lambda}, Name: c, Input: z},
          {Type: {Provider: !Ref P}, Name: d},
          {Name: e}]}},
      Role: {Type: AWS::IAM::Role, Properties: {RoleName: who}},
      Alias: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref Version}},
      Version: {Type: AWS::Lambda::Version, Properties: {FunctionName: !Ref Function}},
      Function: {Type: AWS::Lambda::Function, Properties: {Role: !GetAtt Role.Arn}}}}"""


@pytest.fixture(scope="module")
def model() -> Model:
    return model_of(MODEL)


def of(model: Model, way: str) -> list[End]:
    return list(ends(by_id(model, "Pipe"), way))


@pytest.mark.parametrize(
    ("way", "values"),
    [
        ("Kind", ["network"]),
        ("Other", []),
        ("Empty/*", []),
        ("Kind/*", []),
        ("Actions/*/Name", ["a", "b", "c", "d", "e"]),
        ("Actions/*/Input", ["x", "z"]),
        ("Actions/[Type.Provider=Build]/Name", ["a", "b"]),
        ("Actions/[Type.Provider=Lambda|Other]/Name", ["c"]),
        ("Actions/[Type.Provider=Build&!RoleArn]/Name", ["a"]),
        ("Actions/[!Input]/Name", ["b", "d", "e"]),
        ("Actions/[RoleArn]/Name", ["b"]),
        ("Actions/[Type.Provider]/Name", ["a", "b", "c"]),
        ("Actions/[!Type.Provider]/Name", ["e"]),
        ("[Kind=network]/Actions/[Name=b]/Name", ["b"]),
        ("[Kind=application]/Actions/*/Name", []),
        ("[!Kind]/Kind", []),
        ("[!Other]/Kind", ["network"]),
        (".", ["${Pipe}"]),
        (".Arn", ["${Pipe.Arn}"]),
        ("RoleArn>RoleName", ["who"]),
        ("RoleArn>.Arn", ["${Role.Arn}"]),
        ("Call>Role>RoleName", ["who"]),
        ("Path>Role", ["${Role.Arn}"]),
        ("Both>RoleName", []),
        ("Kind>RoleName", []),
    ],
)
def test_a_way_leads_to_values(model: Model, way: str, values: list[str]) -> None:
    assert [shown(one.value) for one in of(model, way)] == values


def test_an_end_knows_where_its_value_is_written(model: Model) -> None:
    (end,) = of(model, "Actions/[Name=c]/Input")
    assert (end.start, end.resource.logical_id, end.path) == (("Actions", 2, "Input"), "Pipe", ("Actions", 2, "Input"))
    (far,) = of(model, "RoleArn>RoleName")
    assert (far.start, far.resource.logical_id, far.path) == (("RoleArn",), "Role", ("RoleName",))
    (whole,) = of(model, ".Arn")
    assert (whole.start, whole.path) == ((), ())
    (chosen,) = of(model, "[Kind=network]/Kind")
    assert chosen.path == ("Kind",)


def test_ends_go_with_those_in_the_same_items(model: Model) -> None:
    first, last = of(model, "Actions/*/Input")
    names = of(model, "Actions/*/Name")
    assert [name.value for name in names if first.goes_with(name)] == ["a"]
    assert [name.value for name in names if last.goes_with(name)] == ["c"]
    (kind,) = of(model, "Kind")
    assert kind.goes_with(first)
    assert first.goes_with(kind)
