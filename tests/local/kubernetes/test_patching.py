"""Patches of the three older forms."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes import patching, schemas
from hyperpod_constructs.local.kubernetes.patching import StrategicMerge, json_patch, merge_patch
from hyperpod_constructs.local.kubernetes.status import ApiError, Named

SCHEMAS = schemas.load("1.34")
NAMED = Named("", "pods", "Pod", "p")
POD = SCHEMAS.get("", "v1", "Pod")


def _containers(patch: list[dict[str, Any]], **directives: Any) -> list[dict[str, Any]]:
    assert POD is not None
    before = {"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}}
    after = StrategicMerge(SCHEMAS).apply(POD, before, {"spec": {"containers": patch, **directives}})
    found: list[dict[str, Any]] = after["spec"]["containers"]
    return found


@pytest.mark.parametrize(
    ("patch", "directives", "expected"),
    [
        ([{"name": "a", "image": "a:2"}], {}, ["a a:2", "b b:1"]),
        ([{"name": "c", "image": "c:1"}], {}, ["a a:1", "b b:1", "c c:1"]),
        ([{"name": "a", "$patch": "delete"}], {}, ["b b:1"]),
        ([{"name": "c", "image": "c:1"}, {"$patch": "replace"}], {}, ["c c:1"]),
        ([{"name": "a", "image": "a:2"}], {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}, ["b b:1", "a a:2"]),
        ([{"name": "a", "image": None}], {}, ["a None", "b b:1"]),
    ],
)
def test_lists_with_keys_merge_by_them(patch: list[dict[str, Any]], directives: dict[str, Any], expected: list[str]) -> None:
    """Containers by their names."""
    assert [f"{one['name']} {one.get('image')}" for one in _containers(patch, **directives)] == expected


def test_an_item_without_its_key_is_refused() -> None:
    """As it could be any."""
    with pytest.raises(ApiError, match="does not contain declared merge key: name"):
        _containers([{"image": "x"}])


def test_maps_replace_delete_and_retain() -> None:
    """The directives of maps and of lists of scalars."""
    assert POD is not None
    merge = StrategicMerge(SCHEMAS)
    before = {"metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x/a", "x/b"]}, "spec": {"nodeSelector": {"a": "1"}}}
    patch = {"metadata": {"labels": {"$patch": "replace", "c": "3"}, "$deleteFromPrimitiveList/finalizers": ["x/a"]}}
    after = merge.apply(POD, before, {**patch, "spec": {"nodeSelector": None}})
    assert after == {"metadata": {"labels": {"c": "3"}, "finalizers": ["x/b"]}, "spec": {}}
    kept = merge.apply(POD, {"spec": {"volumes": [], "hostname": "h"}}, {"spec": {"$retainKeys": ["hostname"]}})
    assert kept == {"spec": {"hostname": "h"}}


def _seconds(value: Any, patch: Any) -> float:
    """The processor time of a patch."""
    assert POD is not None
    start = time.process_time()
    StrategicMerge(SCHEMAS).apply(POD, value, patch)
    return time.process_time() - start


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"labels": {"$retainKeys": [f"kept-{number}" for number in range(40_000)]}}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": [f"gone-{number}" for number in range(40_000)]}},
        {"metadata": {"$setElementOrder/finalizers": [f"next-{number}" for number in range(40_000)]}},
    ],
    ids=["retain", "delete", "order"],
)
def test_directives_take_time_by_their_length(patch: Any) -> None:
    """Not by the product of the lengths of both lists."""
    named = [f"name-{number}" for number in range(40_000)]
    assert _seconds({"metadata": {"labels": dict.fromkeys(named, ""), "finalizers": named}}, patch) < 3


def test_an_item_that_is_patched_again_and_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these patches copies what those before it added."""
    monkeypatch.setattr(patching, "MOST_ITEMS", 20_000)
    with pytest.raises(ApiError, match=r"copies more than 20000 fields and items; patch each item once") as caught:
        _containers([{"name": "a", f"field-{number}": 1} for number in range(500)])
    assert caught.value.code == 413
    environment = [{"name": f"v{number}", "value": ""} for number in range(500)]
    with pytest.raises(ApiError, match="patch each item once"):
        _containers([{"name": "a", "env": environment}, *({"name": "a", "env": [{"name": "v"}]} for _ in range(100))])


def test_lists_without_keys_are_replaced() -> None:
    """Tolerations are atomic."""
    assert POD is not None
    after = StrategicMerge(SCHEMAS).apply(POD, {"spec": {"tolerations": [{"key": "a"}]}}, {"spec": {"tolerations": [{"key": "b"}]}})
    assert after["spec"]["tolerations"] == [{"key": "b"}]


@pytest.mark.parametrize(
    ("value", "patch", "expected"),
    [
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": {"b": 1}}, {"a": None}, {}),
        ({"a": [1]}, {"a": [2]}, {"a": [2]}),
        ({"a": 1}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
    ],
)
def test_merge_patches_follow_rfc_7386(value: Any, patch: Any, expected: Any) -> None:
    """Null removes, all else replaces or merges."""
    assert merge_patch(value, patch) == expected


def test_json_patches_apply_in_order_and_leave_the_original() -> None:
    """A failing test refuses the whole."""
    before = {"a": [1], "b": {}}
    operations = [
        {"op": "add", "path": "/a/-", "value": 2},
        {"op": "copy", "from": "/a", "path": "/b/c"},
        {"op": "remove", "path": "/a/0"},
    ]
    assert json_patch(NAMED, before, operations) == {"a": [2], "b": {"c": [1, 2]}}
    assert before == {"a": [1], "b": {}}
    with pytest.raises(ApiError) as caught:
        json_patch(NAMED, before, [{"op": "test", "path": "/a", "value": 3}])
    assert caught.value.code == 422
    with pytest.raises(ApiError) as caught:
        json_patch(NAMED, before, {"op": "test"})
    assert caught.value.code == 400
