"""Objects over the API: versions, deletion, custom resources, lists and watches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from tests.local.kubernetes.manifests import GROUP, Object, config_map, custom, definition, deployment


@pytest.fixture
def queues(api: HttpsApi) -> Iterator[None]:
    """The kind Queue."""
    api.apply(
        definition(subresources={"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}})
    )
    yield
    api.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"queues.{GROUP}")


def _put(api: HttpsApi, obj: Object) -> Object:
    metadata = obj["metadata"]
    return api.call("PUT", f"/api/v1/namespaces/{metadata['namespace']}/configmaps/{metadata['name']}", body=obj)


def test_an_older_version_is_a_conflict(api: HttpsApi, namespace: str) -> None:
    """Two writers: the second must read again."""
    first = api.create(config_map("c", namespace, a="1"))
    _put(api, {**first, "data": {"a": "2"}})
    with pytest.raises(
        KubernetesError, match="the object has been modified; please apply your changes to the latest version"
    ) as caught:
        _put(api, {**first, "data": {"a": "3"}})
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")


def test_a_write_without_change_keeps_the_version(api: HttpsApi, namespace: str) -> None:
    """Nothing is stored, nobody is told."""
    first = api.apply(config_map("c", namespace, a="1"))
    assert api.apply(config_map("c", namespace, a="1"))["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_name_is_taken_once_and_generated_on_request(api: HttpsApi, namespace: str) -> None:
    """409 in the API server's words; `generateName` adds five letters."""
    api.create(config_map("c", namespace))
    with pytest.raises(KubernetesError, match='configmaps "c" already exists') as caught:
        api.create(config_map("c", namespace))
    assert (caught.value.code, caught.value.reason) == (409, "AlreadyExists")
    made = api.create({**config_map("", namespace), "metadata": {"generateName": "x-", "namespace": namespace}})
    assert made["metadata"]["name"].startswith("x-")
    assert len(made["metadata"]["name"]) == 7


def test_fields_that_may_not_change_are_named(api: HttpsApi, namespace: str) -> None:
    """The selector of a deployment."""
    api.create(deployment("web", namespace))
    labels = {"app": "other"}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    with pytest.raises(KubernetesError, match=r"spec.selector: Invalid value: .*: field is immutable") as caught:
        api.patch("apps/v1", "Deployment", "web", {"spec": spec}, namespace)
    [cause] = caught.value.status["details"]["causes"]
    assert (caught.value.code, cause["field"], cause["reason"]) == (422, "spec.selector", "FieldValueInvalid")


def test_preconditions_of_a_deletion_hold(api: HttpsApi, namespace: str) -> None:
    """Another uid is another object."""
    made = api.create(config_map("c", namespace))
    path = f"/api/v1/namespaces/{namespace}/configmaps/c"
    with pytest.raises(KubernetesError, match="Precondition failed: UID in precondition: other, UID in object meta"):
        api.call("DELETE", path, body={"preconditions": {"uid": "other"}})
    api.call("DELETE", path, body={"preconditions": {"uid": made["metadata"]["uid"]}})


def test_finalizers_hold_an_object_and_its_namespace(api: HttpsApi, namespace: str) -> None:
    """Both go with the last finalizer; until then nothing new comes in."""
    held = config_map("c", namespace)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    api.create(held)
    api.delete("v1", "Namespace", namespace)
    assert api.get("v1", "Namespace", namespace)["status"]["phase"] == "Terminating"
    assert api.get("v1", "ConfigMap", "c", namespace)["metadata"]["deletionTimestamp"]
    with pytest.raises(
        KubernetesError, match=r"unable to create new content in namespace .* because it is being terminated"
    ) as caught:
        api.create(config_map("late", namespace))
    assert caught.value.code == 403
    api.patch("v1", "ConfigMap", "c", {"metadata": {"finalizers": None}}, namespace)
    with pytest.raises(KubernetesError, match="not found"):
        api.get("v1", "Namespace", namespace)


def _owned(name: str, owner: Object) -> Object:
    found = config_map(name, owner["metadata"]["namespace"])
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    found["metadata"]["ownerReferences"] = [reference]
    return found


@pytest.mark.parametrize(("policy", "left"), [("Background", []), ("Foreground", []), ("Orphan", ["child", "grandchild"])])
def test_what_an_object_owns_follows_it(api: HttpsApi, namespace: str, policy: str, left: list[str]) -> None:
    """Children and their children go, unless they are to be orphans."""
    owner = api.create(config_map("owner", namespace))
    api.create(_owned("grandchild", api.create(_owned("child", owner))))
    api.call("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/owner", {"propagationPolicy": policy})
    names = [one["metadata"]["name"] for one in api.list("v1", "ConfigMap", namespace)]
    assert [name for name in names if name != "kube-root-ca.crt"] == left


def test_custom_objects_get_defaults_and_lose_unknown_fields(api: HttpsApi, namespace: str, queues: None) -> None:
    """By their definition's schema."""
    made = api.create(custom("q", namespace, size=3, unknown=1))
    assert made["spec"] == {"size": 3, "mode": "fair"}
    assert made["metadata"]["generation"] == 1


def test_status_and_scale_are_apart(api: HttpsApi, namespace: str, queues: None) -> None:
    """Each is written by its own address alone; the generation counts what is wanted."""
    api.create({**custom("q", namespace, size=3), "status": {"size": 9}})
    found = api.patch(f"{GROUP}/v1", "Queue", "q", {"status": {"size": 3}, "spec": {"size": 50}}, namespace, "status")
    assert (found["spec"]["size"], found["status"], found["metadata"]["generation"]) == (3, {"size": 3}, 1)
    scale = api.call("GET", f"/apis/{GROUP}/v1/namespaces/{namespace}/queues/q/scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 3}, {"replicas": 3})
    api.patch(f"{GROUP}/v1", "Queue", "q", {"spec": {"replicas": 4}}, namespace, "scale")
    found = api.get(f"{GROUP}/v1", "Queue", "q", namespace)
    assert (found["spec"]["size"], found["metadata"]["generation"]) == (4, 2)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({}, "spec.size", "Required value"),
        ({"size": "1"}, "spec.size", 'spec.size in body must be of type integer: "string"'),
        ({"size": 0}, "spec.size", "spec.size in body should be greater than or equal to 1"),
        ({"size": 1, "mode": "x"}, "spec.mode", 'Unsupported value: "x": supported values: "fair", "strict"'),
        ({"size": 1, "name": "A"}, "spec.name", "spec.name in body should match '^[a-z]+$'"),
        ({"size": 1, "name": "abcdef"}, "spec.name", "Too long: may not be more than 5 bytes"),
        ({"size": 1, "limit": True}, "spec.limit", 'spec.limit in body must be of type integer,string: "boolean"'),
        ({"size": 1, "items": [{"key": "a"}, {"key": "a"}]}, "spec.items[1]", 'Duplicate value: {"key": "a"}'),
        ({"size": 1, "items": [{}]}, "spec.items[0].key", "Required value"),
        ({"size": 1, "name": "a", "mode": "strict"}, "spec", 'Invalid value: "object": name needs mode fair'),
    ],
)
def test_wrong_custom_objects_are_refused(
    api: HttpsApi, namespace: str, queues: None, spec: Object, field: str, message: str
) -> None:
    """Each by its field."""
    with pytest.raises(KubernetesError) as caught:
        api.create(custom("q", namespace, **spec))
    [cause] = caught.value.status["details"]["causes"]
    assert (caught.value.code, cause["field"]) == (422, field)
    assert message.replace(" ", "") in cause["message"].replace(" ", "")


def test_a_rule_compares_with_the_object_before(api: HttpsApi, namespace: str, queues: None) -> None:
    """`oldSelf` is there in an update alone."""
    api.create(custom("q", namespace, size=3))
    api.apply(custom("q", namespace, size=4))
    with pytest.raises(KubernetesError, match="size cannot shrink"):
        api.apply(custom("q", namespace, size=3))


def test_a_definition_that_is_not_structural_is_refused(api: HttpsApi) -> None:
    """Nothing of it is served."""
    wrong = definition("bents", "Bent", {"type": "object", "properties": {"a": {}}})
    with pytest.raises(
        KubernetesError, match=r"properties\[a\].type: Required value: must not be empty for specified object fields"
    ):
        api.create(wrong)
    with pytest.raises(KubernetesError, match="could not find the requested resource"):
        api.call("GET", f"/apis/{GROUP}/v1/bents")


def test_a_definition_goes_with_its_objects(api: HttpsApi, namespace: str) -> None:
    """And waits for their finalizers."""
    api.create(definition("ends", "End"))
    held = custom("e", namespace, "End", size=1)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    api.create(held)
    api.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"ends.{GROUP}")
    assert api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"ends.{GROUP}")["metadata"]["deletionTimestamp"]
    api.patch(f"{GROUP}/v1", "End", "e", {"metadata": {"finalizers": []}}, namespace)
    with pytest.raises(KubernetesError, match="not found"):
        api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"ends.{GROUP}")


def test_lists_come_in_pages(api: HttpsApi, namespace: str) -> None:
    """Each page says where the next begins."""
    for number in range(5):
        api.create(
            {
                **config_map(f"page-{number}", namespace),
                "metadata": {"name": f"page-{number}", "namespace": namespace, "labels": {"x": "y"}},
            }
        )
    path, query = f"/api/v1/namespaces/{namespace}/configmaps", {"limit": "2", "labelSelector": "x=y"}
    names: list[str] = []
    sizes = []
    while True:
        answer = api.call("GET", path, query)
        names += [item["metadata"]["name"] for item in answer["items"]]
        sizes.append(len(answer["items"]))
        if not (token := answer["metadata"].get("continue")):
            break
        query = {**query, "continue": token}
    assert (names, sizes) == ([f"page-{number}" for number in range(5)], [2, 2, 1])


def test_a_watch_tells_what_comes_changes_and_goes(api: HttpsApi, namespace: str) -> None:
    """From a version on; an object that is no longer selected goes for its watcher."""
    version = api.call("GET", f"/api/v1/namespaces/{namespace}/configmaps")["metadata"]["resourceVersion"]
    api.create(config_map("c", namespace, a="1"))
    api.patch("v1", "ConfigMap", "c", {"data": {"a": "2"}}, namespace)
    api.delete("v1", "ConfigMap", "c", namespace)
    events = []
    for event in api.watch("v1", "ConfigMap", namespace, resource_version=version, seconds=5):
        events.append((event["type"], event["object"]["data"]["a"]))
        if len(events) == 3:
            break
    assert events == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]


def test_a_watch_begins_with_what_exists_and_ends_in_time(api: HttpsApi, namespace: str) -> None:
    """Without a version."""
    api.create(config_map("c", namespace, a="1"))
    events = list(api.watch("v1", "ConfigMap", namespace, seconds=1))
    assert ("ADDED", "c") in [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def test_a_service_gets_an_address_that_stays(api: HttpsApi, namespace: str) -> None:
    """A client that leaves it out does not change it."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": namespace}}
    made = api.create({**service, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    [port] = made["spec"]["ports"]
    assert made["spec"]["clusterIP"].startswith("10.100.")
    assert 30000 <= port["nodePort"] <= 32767
    again = api.call(
        "PUT",
        f"/api/v1/namespaces/{namespace}/services/s",
        body={**service, "spec": {"type": "NodePort", "ports": [{"port": 80, "targetPort": 8080}]}},
    )
    assert again["spec"]["clusterIP"] == made["spec"]["clusterIP"]
    assert again["spec"]["ports"][0]["nodePort"] == port["nodePort"]
