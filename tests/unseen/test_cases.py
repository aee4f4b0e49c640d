"""The mistakes and updates are what they say: each edit fits its base, changes it, and names what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hyperpod_constructs.templates.raw import walk
from tests.unseen.cases import SETS, CaseError, Edit, Templates, bases, edited, mistakes, templates_of, updates, variants

VERDICTS = {"quiet", "effect", "replaces", "loss", "refused", "collides", "deployment"}


def _names(templates: Templates) -> Iterator[str]:
    for template in templates.values():
        for section in ("Resources", "Parameters", "Outputs", "Rules"):
            found: Any = template.get(section, {})
            assert isinstance(found, Mapping)
            yield from found


def test_there_are_enough_of_every_kind() -> None:
    kinds = Counter(mistake.kind for mistake in mistakes())
    assert min(kinds[kind] for kind in ("schema", "address", "reach", "permission", "kubernetes")) >= 25
    assert sum(kinds[kind] for kind in ("storage", "encryption", "name", "other")) >= 40
    assert len(updates()) >= 60
    assert len(bases()) >= 12


def test_there_are_enough_of_every_kind_in_the_second_set() -> None:
    kinds = Counter(mistake.kind for mistake in mistakes("second"))
    assert min(kinds.values()) >= 15
    assert kinds["other"] >= 40
    assert kinds.total() - kinds["other"] >= 220
    assert len(updates("second")) >= 80
    assert len(variants("second")) >= 30
    assert len(bases("second")) >= 4


@pytest.mark.parametrize(
    ("of", "least", "least_updates"),
    [("third", 300, 60), ("fourth", 450, 70), ("sixth", 300, 60), ("seventh", 420, 90), ("eighth", 300, 40), ("ninth", 300, 50)],
)
def test_there_are_enough_of_every_kind_in_the_later_sets(of: str, least: int, least_updates: int) -> None:
    kinds = Counter(mistake.kind for mistake in mistakes(of))
    assert min(kinds.values()) >= 15
    assert kinds.total() >= least
    assert len(updates(of)) >= least_updates
    assert len(variants(of)) >= 40
    assert len(bases(of)) >= 3


def test_bases_of_the_sets_differ() -> None:
    assert not [base for base, count in Counter(base for of in SETS for base in bases(of)).items() if count > 1]


@pytest.mark.parametrize("of", SETS)
def test_ids_differ(of: str) -> None:
    for ids in ([one.id for one in [*mistakes(of), *variants(of)]], [one.id for one in updates(of)]):
        assert not [id for id, count in Counter(ids).items() if count > 1]


@pytest.mark.parametrize("of", SETS)
def test_every_base_has_a_mistake(of: str) -> None:
    assert {mistake.base for mistake in mistakes(of)} >= {*bases(of)}


@pytest.mark.parametrize("of", SETS)
def test_every_mistake_and_variant_changes_its_base_and_names_what_is_there(of: str) -> None:
    for mistake in [*mistakes(of), *variants(of)]:
        templates = edited(mistake.base, mistake.edits)
        assert templates != templates_of(mistake.base), mistake.id
        assert mistake.names <= set(_names(templates)), mistake.id


@pytest.mark.parametrize("of", SETS)
def test_every_mistake_names_a_resource_and_no_variant_does(of: str) -> None:
    assert not [mistake.id for mistake in mistakes(of) if not mistake.names]
    assert not [variant.id for variant in variants(of) if variant.names]


@pytest.mark.parametrize("of", SETS)
def test_every_update_changes_a_resource_that_is_there(of: str) -> None:
    for update in updates(of):
        templates = edited(update.base, update.edits)
        assert templates != edited(update.base, update.before), update.id
        assert update.resource in set(_names(templates)), update.id
        assert VERDICTS.issuperset(update.verdicts), update.id


@pytest.mark.parametrize("of", SETS)
def test_values_are_those_of_templates(of: str) -> None:
    for id, edits in [
        *((one.id, one.edits) for one in [*mistakes(of), *variants(of)]),
        *((one.id, one.edits) for one in updates(of)),
    ]:
        for edit in edits:
            assert all(isinstance(value, str | int | float | list | dict | None) for value in walk(edit.set)), id


def test_an_edit_leaves_the_base_alone() -> None:
    edited("slurm", [Edit(at="Vpc/Properties/CidrBlock", set="10.9.0.0/16")])
    assert templates_of("slurm") == edited("slurm", [])


@pytest.mark.parametrize("at", ["Nothing/Properties/A", "Vpc/Attributes/A", "Cluster/Properties/InstanceGroups/9", "/Outputs/A/B"])
def test_fails_for_a_place_that_is_not_there(at: str) -> None:
    with pytest.raises(CaseError, match="does not fit the base"):
        edited("slurm", [Edit(at=at, remove=True)])


def test_fails_for_a_resource_of_two_files() -> None:
    with pytest.raises(CaseError, match=r"name one of beta\.template\.json, prod\.template\.json"):
        edited("stages", [Edit(at="Cluster/Properties/ClusterName", set="a")])


@pytest.mark.parametrize(("part", "message"), [("10.9", "stands 0 times"), (".", "stands 3 times")])
def test_fails_for_a_part_that_does_not_stand_there_once(part: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        edited("slurm", [Edit(at="Vpc/Properties/CidrBlock", part=part, set="10.8")])
