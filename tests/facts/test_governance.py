"""Names, limits and the arithmetic of task governance."""

from __future__ import annotations

import pytest

from hyperpod_constructs.facts import governance
from hyperpod_constructs.facts.governance import Allocation, Amounts
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, instance_type
from tests.local.hyperpod_requests import model

P5 = instance_type("ml.p5.48xlarge")


def amounts(accelerators: float, vcpus: float, memory_gib: float) -> Amounts:
    return Amounts(accelerators=accelerators, vcpus=vcpus, memory_gib=memory_gib)


def allocation(**members: float | str) -> Allocation:
    return Allocation(**{"instance_type": P5.name, **members})  # type: ignore[arg-type]


def test_the_service_names_what_a_team_uses() -> None:
    assert governance.namespace("research") == "hyperpod-ns-research"
    assert governance.local_queue("research") == "hyperpod-ns-research-localqueue"
    assert governance.cluster_queue("research") == "hyperpod-ns-research-clusterqueue"
    assert governance.team_group("research") == "hyperpod-ns-research-namespace-level-group"
    assert governance.priority_value("high") == "high-priority"


def test_the_longest_team_fits_into_the_label_of_a_job() -> None:
    team = "t" * 40
    assert governance.TEAM_NAME.mistake("team", team) is None
    assert len(governance.local_queue(team)) == 63
    assert governance.TEAM_NAME.mistake("team", f"{team}t") is not None


def test_the_partitions_are_those_of_the_api() -> None:
    known = model("sagemaker").shape_for("MIGProfileType").metadata["enum"]
    assert {part for parts in governance.PARTITIONS.values() for part in parts} == set(known)
    assert governance.PARTITIONS.keys() <= INSTANCE_FACTS.keys()


@pytest.mark.parametrize("kind", sorted(governance.PARTITIONS))
def test_a_gpu_gives_as_many_partitions_as_it_has_slices(kind: str) -> None:
    found = [governance.partitions_per_accelerator(kind, part) for part in governance.PARTITIONS[kind]]
    assert found == [7, 4, 3, 2, 1, 1]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (allocation(count=2), amounts(16, 384, 4096)),
        (allocation(accelerators=4), amounts(4, 96, 1024)),
        (allocation(accelerators=4, vcpus=10), amounts(4, 10, 1024)),
        (allocation(accelerators=4, memory_gib=64), amounts(4, 96, 64)),
        (allocation(vcpus=48), amounts(0, 48, 512)),
        (allocation(memory_gib=512), amounts(0, 48, 512)),
        (allocation(vcpus=48, memory_gib=1), amounts(0, 48, 1)),
        (allocation(partition="mig-3g.40gb", partitions=8), amounts(4, 96, 1024)),
    ],
)
def test_the_service_fills_in_what_a_quota_leaves_out(wanted: Allocation, expected: Amounts) -> None:
    assert governance.guaranteed(wanted, P5) == expected


def test_what_a_type_has_is_unknown_for_a_type_without_facts() -> None:
    unknown = governance.amounts_of(type(P5)(name="ml.new"))
    assert unknown == Amounts(accelerators=None, vcpus=None, memory_gib=None)
    assert list(governance.beyond_capacity("ml.new", {"one": amounts(1, 1, 1)}, unknown)) == []


def test_quotas_are_summed_over_teams() -> None:
    capacity = governance.amounts_of(P5).times(2)
    halves = {team: governance.guaranteed(allocation(count=1), P5) for team in ("one", "two")}
    assert list(governance.beyond_capacity(P5.name, halves, capacity)) == []
    (mistake,) = governance.beyond_capacity(P5.name, {**halves, "three": amounts(0.5, 1, 1)}, capacity)
    assert "guarantee 16.5 accelerators (one 8, two 8, three 0.5); the cluster has 16" in mistake.message


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (allocation(), "has no amount"),
        (allocation(count=1, vcpus=2), "whole instances"),
        (allocation(accelerators=1, partition="mig-1g.10gb"), "an accelerator partition"),
        (allocation(partition="mig-1g.5gb"), "has no accelerator partition mig-1g.5gb; name one of mig-1g.10gb"),
        (Allocation(instance_type="ml.g5.xlarge", partition="mig-1g.5gb"), "has no accelerator partitions"),
    ],
)
def test_entries_that_mean_nothing_are_mistakes(wanted: Allocation, text: str) -> None:
    assert text in str(governance.amounts_mistake(wanted))


@pytest.mark.parametrize("wanted", [allocation(count=0), allocation(memory_gib=3), allocation(partition="mig-1g.10gb")])
def test_entries_with_one_kind_of_amount_are_right(wanted: Allocation) -> None:
    assert governance.amounts_mistake(wanted) is None


@pytest.mark.parametrize(
    ("strategy", "limited", "wrong"), [("Lend", True, True), ("DontLend", False, False), ("LendAndBorrow", True, False)]
)
def test_only_who_borrows_has_a_limit(strategy: str, limited: bool, wrong: bool) -> None:
    assert (governance.borrow_mistake(strategy, limited) is not None) is wrong
