"""Server-side apply: merging, conflicts, and fields that go with their last owner."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes import field_sets, objects, schemas
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import Resources
from hyperpod_constructs.local.kubernetes.status import ApiError
from tests.local.kubernetes.manifests import Object, config_map, deployment


@pytest.fixture
def cluster() -> Objects:
    """An empty cluster in this process."""
    return Objects(Resources(schemas.load("1.34")))


def _request(cluster: Objects, obj: Object, manager: str, **more: Any) -> Request:
    kind = cluster.resources.of_kind(obj["apiVersion"], obj["kind"])
    assert kind is not None
    return Request(kind, namespace="default", name=obj["metadata"]["name"], manager=manager, **more)


def _apply(cluster: Objects, obj: Object, manager: str = "one", **more: Any) -> Object:
    return cluster.patch(_request(cluster, obj, manager, **more), objects.APPLY, obj)


def _owned(obj: Object, manager: str) -> list[str]:
    return sorted(
        field_sets.shown(path)
        for entry in obj["metadata"]["managedFields"]
        if entry["manager"] == manager
        for path in field_sets.from_json(entry["fieldsV1"])
    )


def test_what_is_applied_is_owned(cluster: Objects) -> None:
    """Items of lists by their keys, with their membership."""
    found = _apply(cluster, deployment("web", "default"))
    assert _owned(found, "one") == [
        ".metadata.labels.app",
        ".spec.replicas",
        ".spec.selector",
        ".spec.template.metadata.labels.app",
        '.spec.template.spec.containers[name="main"]',
        '.spec.template.spec.containers[name="main"].image',
        '.spec.template.spec.containers[name="main"].name',
        '.spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="TCP"]',
        '.spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="TCP"].containerPort',
    ]


def test_a_field_that_is_left_out_goes_unless_another_owns_it(cluster: Objects) -> None:
    """Two managers, one shared field."""
    _apply(cluster, config_map("c", "default", a="1", b="2"))
    _apply(cluster, config_map("c", "default", b="2", c="3"), "two")
    found = _apply(cluster, config_map("c", "default"))
    assert found["data"] == {"b": "2", "c": "3"}
    assert _owned(found, "two") == [".data.b", ".data.c"]


def test_an_object_without_fields_can_be_applied_again(cluster: Objects) -> None:
    """Nobody owns anything of it."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "empty"}}
    request = replace(_request(cluster, namespace, "one"), namespace="")
    first, second = (cluster.patch(request, objects.APPLY, namespace) for _ in range(2))
    assert first["metadata"]["uid"] == second["metadata"]["uid"]


def test_a_container_goes_with_its_last_owner(cluster: Objects) -> None:
    """An item of a list with keys."""
    first = deployment("web", "default")
    first["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "s:1"})
    _apply(cluster, first)
    found = _apply(cluster, deployment("web", "default"))
    assert [one["name"] for one in found["spec"]["template"]["spec"]["containers"]] == ["main"]


def test_an_item_that_another_owns_in_part_keeps_its_keys(cluster: Objects) -> None:
    """The rest of it goes."""

    def service(*ports: Object) -> Object:
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": list(ports)}}

    first, second = {"name": "a", "port": 80}, {"name": "b", "port": 81, "appProtocol": "http"}
    made = _apply(cluster, service(first, second))
    changed = [one if one["port"] == 80 else {**one, "targetPort": 8081} for one in made["spec"]["ports"]]
    cluster.update(_request(cluster, made, "editor"), lambda obj: {**obj, "spec": {**obj["spec"], "ports": changed}})
    with pytest.raises(ApiError, match=r"spec.ports\[1\].name: Required value") as caught:
        _apply(cluster, service(first))
    assert len(caught.value.details["causes"]) == 1


def test_defaults_belong_to_nobody_and_stay(cluster: Objects) -> None:
    """A second apply of the same changes nothing."""
    first = _apply(cluster, deployment("web", "default", replicas=None))
    assert first["spec"]["replicas"] == 1
    assert _apply(cluster, deployment("web", "default", replicas=None)) == first


def test_another_value_is_a_conflict_with_its_owner(cluster: Objects) -> None:
    """The same value is shared; force takes over."""
    _apply(cluster, config_map("c", "default", a="1", b="2"))
    _apply(cluster, config_map("c", "default", a="1"), "two")
    with pytest.raises(ApiError) as caught:
        _apply(cluster, config_map("c", "default", a="9", b="9"), "three")
    assert caught.value.code == 409
    fields = sorted((cause["message"], cause["field"]) for cause in caught.value.details["causes"])
    assert fields == [
        ('conflict with "one" using v1', ".data.a"),
        ('conflict with "one" using v1', ".data.b"),
        ('conflict with "two" using v1', ".data.a"),
    ]
    found = _apply(cluster, config_map("c", "default", a="9", b="9"), "three", force=True)
    assert (found["data"], _owned(found, "three")) == ({"a": "9", "b": "9"}, [".data.a", ".data.b"])
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"three"}


def test_an_update_takes_what_it_changes(cluster: Objects) -> None:
    """The next apply with the old value is a conflict with who updated."""
    made = _apply(cluster, config_map("c", "default", a="1", b="2"))
    found = cluster.update(_request(cluster, made, "editor"), lambda obj: {**obj, "data": {"a": "5", "b": "2"}})
    assert _owned(found, "editor") == [".data.a"]
    assert _owned(found, "one") == [".data.b"]
    with pytest.raises(ApiError, match=r'conflict with "editor" using v1: .data.a'):
        _apply(cluster, config_map("c", "default", a="1", b="2"))


def test_status_is_owned_apart(cluster: Objects) -> None:
    """An apply of the whole object owns no status."""
    obj = {**deployment("web", "default"), "status": {"replicas": 3}}
    found = _apply(cluster, obj)
    assert "status" not in found
    found = _apply(cluster, {**obj, "spec": {}}, "controller", subresource="status")
    assert (found["status"], found["spec"]["replicas"]) == ({"replicas": 3}, 2)
    assert _owned(found, "controller") == [".status.replicas"]


def test_apply_says_who_applies_and_leaves_the_system_its_own(cluster: Objects) -> None:
    """Without a manager it is refused, and so is a body with managed fields."""
    obj = config_map("c", "default", a="1")
    with pytest.raises(ApiError, match="fieldManager: Required value"):
        _apply(cluster, obj, "unknown")
    obj["metadata"]["managedFields"] = [{}]
    with pytest.raises(ApiError, match=r"metadata.managedFields must be nil"):
        _apply(cluster, obj)


def _calls(act: Callable[[], object]) -> int:
    """How many functions an act calls."""
    profile = cProfile.Profile()
    profile.runcall(act)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("step", ["create", "update", "patch", "take", "drop"])
def test_work_grows_with_the_object_alone(step: str) -> None:
    """Four times the variables are about four times the calls: no list is searched anew for each of its items."""
    loaded = Resources(schemas.load("1.34"))

    def work(count: int) -> int:
        cluster = Objects(loaded)
        whole = _web(count)
        if step == "create":
            return _calls(lambda: cluster.create(_request(cluster, whole, "one"), whole))
        _apply(cluster, whole)
        if step == "update":
            return _calls(lambda: cluster.update(_request(cluster, whole, "two"), lambda obj: {**obj, **_web(count, "2")}))
        if step == "patch":
            change = {"spec": {"template": _web(count, "2")["spec"]["template"]}}
            return _calls(lambda: cluster.patch(_request(cluster, whole, "two"), objects.STRATEGIC, change))
        if step == "take":
            return _calls(lambda: _apply(cluster, _web(count, "2"), "two", force=True))
        return _calls(lambda: _apply(cluster, _web(1)))

    work(2)
    assert work(400) < 5 * work(100)


def _web(count: int, value: str = "1") -> Object:
    container = {"name": "main", "image": "app:1", "env": [{"name": f"V{one}", "value": value} for one in range(count)]}
    labels = {"app": "web"}
    found = deployment("web", "default")
    found["spec"]["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return found


def test_members_of_a_set_are_merged_once(cluster: Objects) -> None:
    """Those of others stay before the new ones."""
    first, second = config_map("c", "default", a="1"), config_map("c", "default", a="1")
    first["metadata"]["finalizers"], second["metadata"]["finalizers"] = ["x.io/a", "x.io/b"], ["x.io/b", "x.io/c"]
    _apply(cluster, first)
    assert _apply(cluster, second, "two")["metadata"]["finalizers"] == ["x.io/a", "x.io/b", "x.io/c"]
    del first["metadata"]["finalizers"]
    assert _apply(cluster, first)["metadata"]["finalizers"] == ["x.io/b", "x.io/c"]


def test_sets_survive_their_written_form() -> None:
    """Also members that have members."""
    fields = {("f:a",), ("f:a", 'k:{"x":1}'), ("f:a", 'k:{"x":1}', "f:y"), ("f:b", "v:1")}
    assert field_sets.from_json(field_sets.to_json(fields)) == fields
