"""Subjects of rules: the function judges one at a time, and its words become hits."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.analysis.clusters import Group, groups
from hyperpod_constructs.facts.mistake import Mistake, Sentence, fixed_by
from hyperpod_constructs.rules import hits
from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.hits import Judge, Subjects, over
from hyperpod_constructs.templates.model import Model, Resource
from tests.rules.wrong_templates.sample import listed
from tests.templates.models import model_of

MODEL = model_of("""
    Resources:
      A: {Type: X, Properties: {p: 1}}
      B: {Type: Y}
      C:
        Type: AWS::SageMaker::Cluster
        Properties: {InstanceGroups: [{InstanceGroupName: a, InstanceCount: 1}, {InstanceGroupName: b, InstanceCount: 2}]}
""")
COUNT = ("InstanceCount",)


def said(on: Subjects, judge: Judge, at: tuple[str | int, ...] = (), *, once: bool = False) -> list[tuple[Any, ...]]:
    found = over(on, at, once, judge)(MODEL)
    return [(one.resource.logical_id, one.path, one.message, one.found) for one in found]


@pytest.mark.parametrize("answer", ["wrong", Mistake("wrong", "so"), ["wrong"], [Mistake("wrong", "so")]])
def test_words_are_a_hit_at_the_place_of_the_rule(answer: Any) -> None:
    assert said("X", lambda _: answer, ("p",)) == [("A", ("p",), "wrong", 1)]


def test_nothing_said_is_no_hit() -> None:
    assert said(("X", "Y"), lambda _: None) == said("Z", lambda _: "wrong") == []


def test_a_type_has_its_resources_as_subjects() -> None:
    assert [one[0] for one in said(("X", "Y"), lambda _: "wrong")] == ["A", "B"]


def test_a_group_is_at_its_place_in_the_cluster() -> None:
    place = ("InstanceGroups", 1, "InstanceCount")
    assert said(groups, lambda group: "two" if group.count == 2 else None, COUNT) == [("C", place, "two", 2)]


def test_the_parts_of_a_tuple_are_arguments_and_the_first_is_the_place() -> None:
    def pairs(model: Model) -> Iterator[tuple[Group, Resource]]:
        return ((group, model.resources("X")[0]) for group in groups(model))

    answers = said(pairs, lambda group, resource: f"{group.label} and {resource.logical_id}")
    assert [(one[1][-1], one[2]) for one in answers] == [(0, "a and A"), (1, "b and A")]


def test_a_hit_stays_as_it_is() -> None:
    own = Hit(MODEL.resources("Y")[0], (), "elsewhere", allowed="this")
    assert list(over("X", ("p",), False, lambda _: own)(MODEL)) == [own]


def test_groups_with_one_mistake_are_one_hit_with_all_names() -> None:
    (only,) = said(groups, lambda group: f"{group.label} is wrong", COUNT, once=True)
    assert only[1:3] == (("InstanceGroups", 0, "InstanceCount"), "a is wrong; the same in 'b'")


def test_a_sentence_has_one_fix_for_all_cases() -> None:
    @fixed_by("do so")
    def wrong(name: str) -> str:
        return f"{name} is wrong"

    assert isinstance(wrong, Sentence)
    assert str(wrong("a")) == "a is wrong; do so"
    assert wrong("b").fix == wrong.fix


def test_a_sentence_of_a_rule_and_a_constructor_has_the_fix_of_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistakes of all wrong templates that a rule took from facts."""
    fixes: dict[str, str] = {}

    def kept(subject: Any, said: Mistake | str, *path: str | int, **more: Any) -> Hit:
        if isinstance(said, Mistake):
            fixes[said.message] = said.fix
        return hit(subject, said, *path, **more)

    monkeypatch.setattr(hits, "hit", kept)
    for module in {rule.check.__module__ for rule in load_catalogue().values()}:
        monkeypatch.setattr(importlib.import_module(module), "hit", kept, raising=False)
    found = [one for sample in listed() for one in check(Model.of(sample.templates()))]

    shared = [one for one in found if one.message in fixes]
    assert len({one.rule for one in shared}) >= 10
    assert [one.rule for one in shared if one.fix != fixes[one.message]] == []
