"""Faults as JSON, and as one object that services share."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.local.faults import DEFAULT_TRANSITION_SECONDS, Faults

EVERYTHING: dict[str, Any] = {
    "no_capacity": ["ml.p5.48xlarge", "workers"],
    "failing_scripts": {"controller": "mount: timed out"},
    "faulty": {"workers": 1},
    "throttle": {"CreateCluster": 2},
    "unhealthy": {"controller": 1},
    "extension_issues": {"sagemaker-observability/workers": "AccessDenied: no role"},
    "quotas": {"ml.p5.48xlarge for cluster usage": 0},
    "slow_creation": 3.0,
}


def test_json_there_and_back() -> None:
    assert Faults.from_json(EVERYTHING).to_json() == EVERYTHING


def test_an_empty_object_heals_everything() -> None:
    faults = Faults.from_json(EVERYTHING)
    faults.assign(Faults.from_json({}))
    assert faults == Faults()
    assert faults.slow_creation == DEFAULT_TRANSITION_SECONDS


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"no_capactiy": []}, "found the key 'no_capactiy'; allowed are no_capacity, failing_scripts, throttle, unhealthy"),
        ({"_lock": 1}, "found the key '_lock'"),
        ({"no_capacity": "workers"}, "write a list of instance groups"),
        ({"faulty": {"workers": "one"}}, "write an object that maps instance group to a number of nodes"),
        ({"failing_scripts": ["workers"]}, "write an object that maps instance group to a log line"),
        ({"throttle": {"CreateCluster": True}}, "write an object that maps operation to a number of calls"),
        ({"unhealthy": {"workers": "1"}}, "write an object that maps instance group to a number of launches"),
        ({"extension_issues": {"name": 1}}, "write an object that maps extension to a code and a message"),
        ({"slow_creation": -1}, "write a number of seconds, 0 or more"),
    ],
)
def test_fails_on_anything_else(mapping: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Faults.from_json(mapping)


def test_a_throttle_counts_down() -> None:
    faults = Faults(throttle={"CreateCluster": 1})
    assert [faults.take_throttle("CreateCluster") for _ in range(3)] == [True, False, False]
    assert not faults.take_throttle("DeleteCluster")


def test_unhealthy_launches_count_down() -> None:
    faults = Faults(unhealthy={"workers": 1})
    assert [faults.take_unhealthy("workers") for _ in range(2)] == [True, False]
    assert not faults.take_unhealthy("controller")
