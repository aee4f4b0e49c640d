"""The forms of a template's sections and their entries."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.outlines import unformed
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import rules_of, slurm

TOPIC: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "a"}}
TEXT = {"Type": "String"}


def said(**sections: Any) -> list[tuple[str, str]]:
    (only,) = Model.of({"t": {**sections, "Resources": {"Topic": TOPIC, **sections.get("Resources", {})}}}).templates
    return [(one.owner.logical_id, one.message) for one in unformed(only)]


@pytest.mark.parametrize(
    ("sections", "place", "message"),
    [
        ({"Parameters": {"Size": 5}}, "Size", "Parameters/Size is 5"),
        ({"Parameters": {"Size": {**TEXT, "Default": {"Ref": "AWS::NoValue"}}}}, "Size", "Parameters/Size/Default has an object"),
        ({"Parameters": {"Size": {**TEXT, "AllowedValues": ["a", ["b"]]}}}, "Size", "Parameters/Size/AllowedValues has a list"),
        ({"Outputs": {"Name": "a"}}, "Name", "Outputs/Name is 'a'"),
        ({"Outputs": {"Name": {"Value": "a", "Export": "b"}}}, "Name", "Outputs/Name/Export is 'b' without a Name alone"),
        ({"Outputs": {"Name": {"Value": "a", "Condition": ["b"]}}}, "Name", "Outputs/Name/Condition is a list"),
        ({"Outputs": {"Name": {"Value": "a", "Description": {"Ref": "b"}}}}, "Name", "Outputs/Name/Description is an object"),
        ({"Mappings": {"Sizes": "a"}}, "Topic", "Mappings/Sizes is 'a'"),
        ({"Mappings": {"Sizes": {"small": 5}}}, "Topic", "Mappings/Sizes/small is 5"),
        ({"Mappings": {"Sizes": {"small": {"nodes": {"Ref": "a"}}}}}, "Topic", "Mappings/Sizes/small/nodes has an object"),
        ({"Rules": {"Sizes": ["a"]}}, "Sizes", "Rules/Sizes is a list"),
        ({"Resources": {"Queue": "a"}}, "Queue", "Resources/Queue is 'a'"),
        ({"Description": ["a"]}, "Topic", "the description of the template is a list"),
    ],
)
def test_what_has_another_form_is_named(sections: dict[str, Any], place: str, message: str) -> None:
    assert said(**sections) == [(place, message)]


@pytest.mark.parametrize(
    "sections",
    [
        {"Parameters": {"Size": {**TEXT, "Default": "a", "AllowedValues": ["a", 5]}}},
        {"Outputs": {"Name": {"Value": {"Ref": "Topic"}, "Description": "b", "Export": {"Name": {"Fn::Sub": "c"}}}}},
        {"Mappings": {"Sizes": {"small": {"nodes": 5, "zones": ["a", "b"]}}}},
        {"Outputs": {"Name": None}, "Description": "a"},
    ],
)
def test_what_has_its_form_is_not(sections: dict[str, Any]) -> None:
    assert said(**sections) == []


def test_names_of_what_has_another_form_are_there() -> None:
    tagged = edited(slurm(), {"Vpc/Tags": [{"Key": "size", "Value": {"Ref": "Size"}}]})
    assert rules_of({**tagged, "Parameters": {"Size": "8"}}) == ["HP-REF-010"]


def test_a_wrong_value_of_a_mapping_is_said_where_it_is_looked_up() -> None:
    named = {name: {"Fn::FindInMap": ["Names", {"Ref": "Stage"}, name]} for name in ("One", "Two")}
    topics = {name: {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": value}} for name, value in named.items()}
    names = {"live": {"One": "one", "Two": {"Ref": "Stage"}}}
    sections = {"Parameters": {"Stage": TEXT}, "Mappings": {"Names": names, "Unread": {"live": {"One": {"Ref": "Stage"}}}}}
    assert said(**sections, Resources=topics) == [
        ("Two", "Mappings/Names/live/Two has an object"),
        ("Topic", "Mappings/Unread/live/One has an object"),
    ]
