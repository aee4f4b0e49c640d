"""Keys of a template without a value."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.anatomy import wrong_parts
from hyperpod_constructs.templates.doubts import Doubts
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import findings, slurm

TOPIC: dict[str, Any] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "a"}}


def said(**sections: Any) -> list[tuple[str, str]]:
    template = {"Resources": {"Topic": TOPIC}, **sections}
    return [(one.owner.logical_id, one.message) for one in wrong_parts(Model.of({"t": template}))]


@pytest.mark.parametrize(
    ("sections", "place", "shown"),
    [
        ({"Resources": {"Topic": {**TOPIC, "Properties": {"TopicName": None}}}}, "Topic", "Topic/Properties/TopicName"),
        ({"Resources": {"Topic": {**TOPIC, "Properties": {"Tags": [None]}}}}, "Topic", "Topic/Properties/Tags/0"),
        ({"Resources": {"Topic": {**TOPIC, "Properties": None}}}, "Topic", "Topic/Properties"),
        ({"Resources": {"Topic": {**TOPIC, "DependsOn": None}}}, "Topic", "Topic/DependsOn"),
        ({"Parameters": {"Name": {"Type": "String", "Default": None}}}, "Name", "Parameters/Name/Default"),
        ({"Outputs": {"Name": None}}, "Name", "Outputs/Name"),
        ({"Outputs": None}, "Topic", "Outputs"),
        ({"Mappings": {"Sizes": {"small": {"nodes": None}}}}, "Topic", "Mappings/Sizes/small/nodes"),
    ],
)
def test_a_key_without_a_value_is_named_with_its_path(sections: dict[str, Any], place: str, shown: str) -> None:
    assert said(**sections) == [(place, f"{shown} has no value")]


@pytest.mark.parametrize(
    "sections",
    [
        {"Resources": {"Topic": {**TOPIC, "Metadata": {"Owner": None}}}},
        {"Metadata": {"Owner": None}},
        {"Resources": {"Topic": {**TOPIC, "Properties": {"TopicName": ""}}}},
        {"Transform": "Own", "Resources": {"Topic": {**TOPIC, "Properties": {"TopicName": None}}}},
    ],
    ids=["metadata of a resource", "metadata", "an empty text", "a macro"],
)
def test_others_are_not(sections: dict[str, Any]) -> None:
    assert said(**sections) == []


def test_a_value_in_doubt_is_none_that_lacks() -> None:
    model = Model.of({"t": {"Resources": {"Topic": {**TOPIC, "Properties": {"TopicName": None}}}}})
    (topic,) = model.resources()
    assert [*wrong_parts(model.doubting(Doubts(values={topic.key: [("TopicName",)]})))] == []


def test_what_follows_is_not_said_beside_it() -> None:
    for place in ("Cluster/.DependsOn", "Cluster/InstanceGroups/0/InstanceType"):
        assert [one.rule for one in findings(edited(slurm(), {place: None}), settle=False)] == ["HP-REF-010"]
