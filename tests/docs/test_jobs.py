"""The jobs of the pages are objects that Kubernetes takes, and name what the constructs and the service make."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest
import yaml

from hyperpod_constructs.facts import governance, jobs
from hyperpod_constructs.facts.instance_types import instance_type
from hyperpod_constructs.facts.kubernetes import NEWEST
from hyperpod_constructs.facts.kubernetes_nodes import INSTANCE_TYPE, resources
from tests.docs.pages import Place, fenced

JOBS = fenced("yaml")


def job(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(place.block.text)
    return found


def pods(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The specifications of its pods."""
    spec = found["spec"]
    return [one["template"]["spec"] for one in spec.get("replicaSpecs", [spec])]


def test_a_plain_job_and_one_of_the_training_operator_are_shown() -> None:
    assert [job(place)["kind"] for place in JOBS] == ["Job", jobs.KIND]


@pytest.mark.parametrize("place", JOBS, ids=lambda place: place.id)
def test_built_in_parts_are_those_of_kubernetes(place: Place) -> None:
    found = job(place)
    if found["kind"] != jobs.KIND:
        kubernetes_validate.validate(found, NEWEST, strict=True)
    for spec in pods(found):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": spec}
        kubernetes_validate.validate(pod, NEWEST, strict=True)


def test_a_job_of_the_training_operator_has_known_keys() -> None:
    (found,) = (one for one in map(job, JOBS) if one["kind"] == jobs.KIND)
    assert found["apiVersion"] == f"{jobs.GROUP}/{jobs.VERSION}"
    assert set(found["spec"]) <= set(jobs.KEYS)
    assert set(found["spec"]["runPolicy"]) <= set(jobs.RUN_KEYS)
    for replicas in found["spec"]["replicaSpecs"]:
        assert set(replicas) <= set(jobs.REPLICA_KEYS)
    (container,) = pods(found)[0]["containers"]
    assert container["ports"] == [{"containerPort": jobs.AGENT_PORT}]


@pytest.mark.parametrize("place", JOBS, ids=lambda place: place.id)
def test_a_job_names_its_team_s_namespace_queue_and_priority(place: Place) -> None:
    metadata = job(place)["metadata"]
    assert metadata["namespace"] == governance.namespace("research")
    assert metadata["labels"] == {
        governance.QUEUE_LABEL: governance.local_queue("research"),
        governance.PRIORITY_LABEL: governance.priority_value("high"),
    }


@pytest.mark.parametrize("place", JOBS, ids=lambda place: place.id)
def test_a_job_asks_for_what_a_node_has(place: Place) -> None:
    for spec in pods(job(place)):
        has = resources(instance_type(spec["nodeSelector"][INSTANCE_TYPE]))
        (container,) = spec["containers"]
        assert {name: str(amount) for name, amount in container["resources"]["limits"].items()} == {
            name: amount for name, amount in has.items() if name not in ("cpu", "memory")
        }
