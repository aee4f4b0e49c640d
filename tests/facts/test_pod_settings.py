"""Settings of pods anywhere in a configuration, and forms with other keys."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.facts.pod_settings import setting_mistakes
from hyperpod_constructs.facts.shapes import shape_mistakes


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"controller": {"replicaCount": "2"}}, "controller.replicaCount"),
        ({"resources": {"limits": {"memory": "256MB"}}}, "resources.limits.memory"),
        ({"resources": {"requests": {"cpu": "1 core"}}}, "resources.requests.cpu"),
        ({"tolerations": {"key": "a"}}, "tolerations"),
        ({"tolerations": [{"key": "a", "effect": "NO_SCHEDULE"}]}, "tolerations.0.effect"),
        ({"tolerations": [{"key": "a", "operator": "Equals"}]}, "tolerations.0.operator"),
        ({"a": [{"nodeSelector": {"gpu": True}}]}, "a.0.nodeSelector.gpu"),
        ({"nodeSelector": ["gpu"]}, "nodeSelector"),
        ({"podLabels": {"tier": 1}}, "podLabels.tier"),
        ({"a": {"replicas": -1}}, "a.replicas"),
        ({"a": {"minReplicas": 3, "maxReplicas": 2}}, "a.minReplicas"),
        ({"resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "1023Mi"}}}, "resources.requests.memory"),
        ({"resources": {"requests": {"cpu": "1500m"}, "limits": {"cpu": 1}}}, "resources.requests.cpu"),
    ],
)
def test_what_kubernetes_refuses_is_said_with_its_place(value: dict[str, Any], place: str) -> None:
    (found,) = setting_mistakes(value, lambda _: False)
    assert found.startswith(f"{place} is ")


@pytest.mark.parametrize(
    "value",
    [
        {"replicaCount": 2, "tolerations": [{"operator": "Exists"}], "nodeSelector": {}, "affinity": None},
        {"resources": {"limits": {"memory": "1.5Gi", "cpu": 1, "nvidia.com/gpu": "8"}, "requests": {"cpu": "250m"}}},
        {"minReplicas": 2, "maxReplicas": 2, "resources": {"requests": {"cpu": "1000m"}, "limits": {"cpu": 1, "memory": "1Mi"}}},
        {"resources": {"provisioner": {"limits": {"cpu": "100m"}}}, "limits": {"connections": "many"}},
        {"tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 30}]},
    ],
)
def test_what_kubernetes_takes_is_not_said(value: dict[str, Any]) -> None:
    assert list(setting_mistakes(value, lambda _: False)) == []


def test_what_only_the_deployment_knows_is_not_said() -> None:
    assert list(setting_mistakes({"replicaCount": "?"}, lambda value: value == "?")) == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("enableNetworkPolicys", "the nearest is enableNetworkPolicy"), ("EnablenetworkPolicy", "nearest"), ("other", "")],
)
def test_another_key_is_one_that_is_like_none(key: str, wrong: str) -> None:
    schema = {"type": "object", "properties": {"enableNetworkPolicy": {"type": "string"}}, "additionalProperties": "other"}
    found = list(shape_mistakes(schema, {key: "true"}, lambda _: False))
    assert (wrong in found[0]) if wrong else not found


def test_a_key_of_an_inner_object_is_at_its_place() -> None:
    inner = {"type": "object", "properties": {"ENABLE": {"type": "string"}}}
    schema = {"type": "object", "properties": {"env": inner}, "additionalProperties": "other"}
    assert list(shape_mistakes(schema, {"ENABLE": "true"}, lambda _: False)) == ["ENABLE is unknown; it belongs in env"]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"settings": {"WARM_TARGET": "1"}}, ["settings is unknown; WARM_TARGET belongs in env"]),
        ({"settings": {"OTHER": "1", "WARM_TARGET": "1"}}, ["settings is unknown; WARM_TARGET belongs in env"]),
        ({"settings": {"OTHER_TARGET": "1"}}, []),
        ({"settings": {"limits": {}}}, []),
        ({"settings": {"BOTH_TARGET": "1"}}, []),
        ({"settings": ["WARM_TARGET"]}, []),
        ({"env": {"WARM_TARGET": "1"}}, []),
    ],
)
def test_environment_variables_are_at_their_place(values: dict[str, Any], found: list[str]) -> None:
    """Other words, such as `limits`, are of many objects."""
    keys = {"env": ["WARM_TARGET", "BOTH_TARGET"], "init": ["BOTH_TARGET"], "resources": ["limits"]}
    inner = {key: {"type": "object", "properties": {name: {} for name in names}} for key, names in keys.items()}
    schema = {"type": "object", "properties": inner, "additionalProperties": "other"}
    assert list(shape_mistakes(schema, values, lambda _: False)) == found


def test_values_of_other_keys_have_their_form() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": "other", "values": {"type": "string"}}
    assert len(list(shape_mistakes(schema, {"A": True, "B": "true"}, lambda _: False))) == 1


def test_of_many_allowed_keys_the_nearest_is_named() -> None:
    schema = {"type": "object", "properties": {f"{word}Setting": {} for word in "abcdefghijklmnop"}}
    (found,) = shape_mistakes(schema, {"aSettings": 1}, lambda _: False)
    assert found == "aSettings is unknown; the nearest is aSetting"
