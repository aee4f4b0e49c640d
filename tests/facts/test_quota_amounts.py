"""The arithmetic of quotas: what their entries mean, and whether a cluster has it."""

from __future__ import annotations

import pytest

from hyperpod_constructs.facts import quota_amounts
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS, instance_type
from hyperpod_constructs.facts.quota_amounts import Allocation, Amounts
from tests.local.hyperpod_requests import model

P5 = instance_type("ml.p5.48xlarge")


def amounts(accelerators: float, vcpus: float, memory_gib: float) -> Amounts:
    return Amounts(accelerators=accelerators, vcpus=vcpus, memory_gib=memory_gib)


def allocation(**members: float | str) -> Allocation:
    return Allocation(**{"instance_type": P5.name, **members})  # type: ignore[arg-type]


def test_the_partitions_are_those_of_the_api() -> None:
    known = model("sagemaker").shape_for("MIGProfileType").metadata["enum"]
    assert {part for parts in quota_amounts.PARTITIONS.values() for part in parts} == set(known)
    assert quota_amounts.PARTITIONS.keys() <= INSTANCE_FACTS.keys()


@pytest.mark.parametrize("kind", sorted(quota_amounts.PARTITIONS))
def test_a_gpu_gives_as_many_partitions_as_it_has_slices(kind: str) -> None:
    found = [quota_amounts.partitions_per_accelerator(kind, part) for part in quota_amounts.PARTITIONS[kind]]
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
    assert quota_amounts.guaranteed(wanted, P5) == expected


def test_what_a_type_has_is_unknown_for_a_type_without_facts() -> None:
    unknown = quota_amounts.amounts_of(type(P5)(name="ml.new"))
    assert unknown == Amounts(accelerators=None, vcpus=None, memory_gib=None)
    assert list(quota_amounts.beyond_capacity("ml.new", {"one": amounts(1, 1, 1)}, unknown)) == []


def test_quotas_are_summed_over_teams() -> None:
    capacity = quota_amounts.amounts_of(P5).times(2)
    halves = {team: quota_amounts.guaranteed(allocation(count=1), P5) for team in ("one", "two")}
    assert list(quota_amounts.beyond_capacity(P5.name, halves, capacity)) == []
    (mistake,) = quota_amounts.beyond_capacity(P5.name, {**halves, "three": amounts(0.5, 1, 1)}, capacity)
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
    assert text in str(quota_amounts.amounts_mistake(wanted))


@pytest.mark.parametrize("wanted", [allocation(count=0), allocation(memory_gib=3), allocation(partition="mig-1g.10gb")])
def test_entries_with_one_kind_of_amount_are_right(wanted: Allocation) -> None:
    assert quota_amounts.amounts_mistake(wanted) is None
