"""Parts of the double without a server: deletion, rules, decoding, selectors."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes import expressions, objects, schemas, selectors, store, values
from hyperpod_constructs.local.kubernetes.authorization import User
from hyperpod_constructs.local.kubernetes.decoding import Decoder
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import Key, Resources
from hyperpod_constructs.local.kubernetes.status import ApiError
from hyperpod_constructs.local.kubernetes.store import Place
from tests.local.kubernetes.manifests import config_map, definition, deployment

SCHEMAS = schemas.load("1.34")
CONFIG_MAPS = Key("", "configmaps")


@pytest.fixture
def cluster() -> Objects:
    """An empty cluster in this process."""
    return Objects(Resources(SCHEMAS))


def _request(cluster: Objects, name: str) -> Request:
    kind = cluster.resources.of_kind("v1", "ConfigMap")
    assert kind is not None
    return Request(kind, namespace="default", name=name)


def test_a_chain_of_owners_is_deleted_without_recursion(cluster: Objects) -> None:
    """However long it is."""
    owner = cluster.create(_request(cluster, "c-0"), config_map("c-0", "default"))
    for number in range(1, 1200):
        child = config_map(f"c-{number}", "default")
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        child["metadata"]["ownerReferences"] = [reference]
        owner = cluster.create(_request(cluster, child["metadata"]["name"]), child)
    cluster.delete(_request(cluster, "c-0"), {})
    assert list(cluster.store.select(CONFIG_MAPS)) == []


def test_an_object_of_another_namespace_holds_no_owner(cluster: Objects) -> None:
    """A finalizer on it would keep the owner from ever being deleted."""
    owner = cluster.create(_request(cluster, "owner"), config_map("owner", "default"))
    child = config_map("child", "kube-system")
    child["metadata"]["finalizers"] = ["example.com/never"]
    child["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    ]
    cluster.create(replace(_request(cluster, "child"), namespace="kube-system"), child)
    cluster.delete(_request(cluster, "owner"), {"propagationPolicy": "Foreground"})
    assert [obj["metadata"]["name"] for obj in cluster.store.select(CONFIG_MAPS)] == ["child"]


@pytest.mark.parametrize(
    ("rule", "value", "holds"),
    [
        ("self.all(x, x.startsWith('a'))", ["a", "ab"], True),
        ("self.join(',') == 'a,b'", ["a", "b"], True),
        ("self.isSorted()", ["b", "a"], False),
        ("self.find('[0-9]+') == '12'", "a12", True),
        ("self.lowerAscii() == 'ab'", "AB", True),
        ("quantity(self).isGreaterThan(quantity('1Mi'))", "1Gi", True),
        ("isURL(self)", "https://a/b", True),
        ("self.split('/').size() == 2", "a/b", True),
        ("duration(self) <= duration('1h')", "30m", True),
    ],
)
def test_rules_have_the_functions_of_kubernetes(rule: str, value: Any, holds: bool) -> None:
    """Beyond those of the language."""
    found = list(expressions.broken({"type": "object", expressions.RULES: [{"rule": rule}]}, value, path="spec"))
    assert (found == []) is holds


def test_rules_see_names_escaped_and_numbers_as_declared() -> None:
    """`a-b` is `a__dash__b`; an integer in a field of type number is a double."""
    schema = {
        "type": "object",
        "properties": {"a-b": {"type": "number"}, "namespace": {"type": "string"}},
        expressions.RULES: [{"rule": "self.a__dash__b / 2.0 == 0.5 && self.__namespace__ == 'n'"}],
    }
    assert list(expressions.broken(schema, {"a-b": 1, "namespace": "n"})) == []


def test_a_rule_that_fails_says_so_at_its_field() -> None:
    """An error while it runs, a message of its own, and an expression for the message."""
    rules = [
        {"rule": "self.missing == 1"},
        {"rule": "false", "messageExpression": "'found ' + string(self.a)", "fieldPath": ".a", "reason": "FieldValueForbidden"},
    ]
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, expressions.RULES: rules}
    first, second = expressions.broken(schema, {"a": 7}, path="spec")
    assert "no such key: missing" in first.message
    assert (second.field, second.message, second.reason) == ("spec.a", "Forbidden: found 7", "FieldValueForbidden")


def test_items_of_a_list_with_keys_have_a_past() -> None:
    """Of other lists they have none, so that the rule does not run."""
    rule = {expressions.RULES: [{"rule": "self.v >= oldSelf.v"}], "type": "object", "properties": {"v": {"type": "integer"}}}
    keyed = {"type": "array", "items": rule, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    before, after = [{"k": "a", "v": 2}, {"k": "b", "v": 2}], [{"k": "b", "v": 1}, {"k": "c", "v": 0}]
    assert [cause.field for cause in expressions.broken(keyed, after, before, "l")] == ["l[0]"]
    assert list(expressions.broken({"type": "array", "items": rule}, after, before, "l")) == []


def test_a_rule_that_cannot_be_read_is_a_warning(cluster: Objects) -> None:
    """The definition is served without it, and its writer is told."""
    kind = cluster.resources.of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert kind is not None
    schema = {"type": "object", "properties": {}, expressions.RULES: [{"rule": "self.?a.orValue(1) == 1"}]}
    request = Request(kind)
    cluster.create(request, definition("odds", "Odd", schema))
    [warning] = request.warnings
    assert "this double cannot evaluate the rule 'self.?a.orValue(1) == 1'" in warning


def _defined(group: str, plural: str, kind: str, **annotations: str) -> dict[str, Any]:
    found = definition(plural, kind)
    found["metadata"] = {"name": f"{plural}.{group}", "annotations": annotations}
    found["spec"]["group"] = group
    return found


def _define(cluster: Objects, obj: dict[str, Any]) -> None:
    kind = cluster.resources.of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert kind is not None
    cluster.create(Request(kind), obj)


@pytest.mark.parametrize(
    ("plural", "kind", "field"), [("deployments", "Other", "spec.names.plural"), ("others", "Deployment", "spec.names.kind")]
)
def test_a_definition_takes_the_place_of_no_built_in_resource(cluster: Objects, plural: str, kind: str, field: str) -> None:
    """Neither its path nor its kind, in whatever version."""
    served = cluster.resources.find("apps", "v1", "deployments")
    with pytest.raises(ApiError, match=f"{field}: Invalid value: .*: is served by Kubernetes itself in group apps") as caught:
        _define(cluster, _defined("apps", plural, kind))
    assert caught.value.code == 422
    assert cluster.resources.find("apps", "v1", "deployments") is served
    _define(cluster, _defined("apps.example.com", plural, kind))


@pytest.mark.parametrize("group", ["k8s.io", "rbac.authorization.k8s.io", "kubernetes.io", "a.kubernetes.io"])
def test_a_definition_in_a_group_of_kubernetes_is_approved(cluster: Objects, group: str) -> None:
    """By the address of the approval, or marked as unapproved."""
    with pytest.raises(ApiError, match=r"annotations\[api-approved.kubernetes.io\]: Required value"):
        _define(cluster, _defined(group, "queues", "Queue"))
    for wrong in ("yes", "https://", "http://[x"):
        with pytest.raises(ApiError, match=r"annotations\[api-approved.kubernetes.io\]: Invalid value"):
            _define(cluster, _defined(group, "queues", "Queue", **{"api-approved.kubernetes.io": wrong}))
    _define(cluster, _defined(group, "queues", "Queue", **{"api-approved.kubernetes.io": "https://example.com/1"}))
    _define(cluster, _defined(group, "lines", "Line", **{"api-approved.kubernetes.io": "unapproved, an experiment"}))


RBAC = "rbac.authorization.k8s.io"
ANN = User("ann")
READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
READ_SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
GATHERING = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}


def _access(cluster: Objects, kind: str, name: str, user: User | None = None) -> Request:
    found = cluster.resources.of_kind(f"{RBAC}/v1", kind)
    assert found is not None
    request = Request(found, name=name, namespace="default" if found.namespaced else "")
    return request if user is None else replace(request, user=user)


def _cluster_role(cluster: Objects, name: str, rule: dict[str, Any], user: User | None = None, **more: Any) -> None:
    role = {"metadata": {"name": name}, "rules": [rule], **more}
    cluster.create(_access(cluster, "ClusterRole", name, user), role)


def _bind(cluster: Objects, name: str, role: str, to: str, user: User | None = None) -> None:
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": to}]
    body = {"metadata": {"name": name}, "roleRef": reference, "subjects": subjects}
    cluster.create(_access(cluster, "ClusterRoleBinding", name, user), body)


def _change(cluster: Objects, name: str, patch: dict[str, Any]) -> None:
    cluster.patch(_access(cluster, "ClusterRole", name, ANN), objects.MERGE, patch)


def test_a_role_with_more_rights_is_not_changed_by_who_lacks_them(cluster: Objects) -> None:
    """Also where its rules stay: a label may hand them to an aggregated role. Who owns it and what holds it may change."""
    _cluster_role(cluster, "pods", READ_PODS)
    _cluster_role(cluster, "secrets", READ_SECRETS)
    _bind(cluster, "ann", "pods", "ann")
    labels = {"metadata": {"labels": {f"{RBAC}/aggregate-to-view": "true"}}}
    with pytest.raises(ApiError, match="not currently held"):
        _change(cluster, "secrets", labels)
    assert not cluster.authorizer.missing(ANN, "", [READ_PODS])
    _change(cluster, "secrets", {"metadata": {"finalizers": ["example.com/a"]}})
    _change(cluster, "pods", labels)


@pytest.mark.parametrize("rule", [GATHERING, {"clusterRoleSelectors": []}])
def test_a_role_that_gathers_others_needs_every_right(cluster: Objects, rule: dict[str, Any]) -> None:
    """To be made, and to be changed in any part."""
    _cluster_role(cluster, "pods", READ_PODS)
    _bind(cluster, "ann", "pods", "ann")
    _cluster_role(cluster, "mine", READ_PODS, ANN)
    needed = r'{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]}\n{Verbs:\["\*"\], NonResourceURLs:\["\*"\]}'
    with pytest.raises(ApiError, match=needed):
        _cluster_role(cluster, "other", READ_PODS, ANN, aggregationRule=rule)
    with pytest.raises(ApiError, match=needed):
        _change(cluster, "mine", {"aggregationRule": rule})
    cluster.patch(_access(cluster, "ClusterRole", "mine"), objects.MERGE, {"aggregationRule": rule})
    with pytest.raises(ApiError, match=needed):
        _change(cluster, "mine", {"aggregationRule": None})
    _bind(cluster, "all", "cluster-admin", "ann")
    _change(cluster, "mine", {"aggregationRule": None})


def test_a_binding_to_a_role_that_is_absent_needs_the_right_to_bind_it(cluster: Objects) -> None:
    """Else the role that comes later would be granted unjudged."""
    with pytest.raises(ApiError, match=r'clusterroles.rbac.authorization.k8s.io "later" not found') as caught:
        _bind(cluster, "early", "later", "ann", ANN)
    assert caught.value.code == 404
    assert cluster.store.get(Key(RBAC, "clusterrolebindings"), Place("", "early")) is None
    _bind(cluster, "by-administrator", "later", "bob")
    _cluster_role(cluster, "binder", {"apiGroups": [RBAC], "resources": ["clusterroles"], "verbs": ["bind"]})
    _bind(cluster, "binders", "binder", "ann")
    _bind(cluster, "early", "later", "ann", ANN)


def test_decoding_drops_and_names_unknown_fields() -> None:
    """Numbers become quantities, null is absence."""
    schema = SCHEMAS.get("apps", "v1", "Deployment")
    assert schema is not None
    obj = deployment("web", "default")
    [container] = obj["spec"]["template"]["spec"]["containers"]
    container |= {"resources": {"limits": {"cpu": 2}}, "imagePullPolicies": "x", "args": None}
    found = Decoder(SCHEMAS, "Deployment", "v1").decode(schema, obj)
    [read] = found.value["spec"]["template"]["spec"]["containers"]
    assert found.unknown == ["spec.template.spec.containers[0].imagePullPolicies"]
    assert (read["resources"], "args" in read) == ({"limits": {"cpu": "2"}}, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replicas": True}, "cannot unmarshal bool into Go struct field DeploymentSpec.spec.replicas of type int32"),
        ({"template": []}, "cannot unmarshal array into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec"),
        ({"strategy": {"rollingUpdate": {"maxSurge": 1.5}}}, "of type intstr.IntOrString"),
    ],
)
def test_values_of_another_type_are_400(change: dict[str, Any], message: str) -> None:
    """In the API server's words."""
    schema = SCHEMAS.get("apps", "v1", "Deployment")
    assert schema is not None
    obj = deployment("web", "default")
    obj["spec"] |= change
    with pytest.raises(ApiError) as caught:
        Decoder(SCHEMAS, "Deployment", "v1").decode(schema, obj)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "labels", "selected"),
    [
        ("a=1,b!=2", {"a": "1"}, True),
        ("a==1", {"a": "2"}, False),
        ("a in (1, 2)", {"a": "2"}, True),
        ("a notin (1,2)", {}, True),
        ("a,!b", {"a": ""}, True),
        ("!a", {"a": "x"}, False),
        ("", {}, True),
    ],
)
def test_label_selectors(text: str, labels: dict[str, str], selected: bool) -> None:
    """Equality, sets and presence."""
    assert selectors.labels(text)(labels) is selected


def test_a_watcher_that_does_not_read_is_cut_off(cluster: Objects) -> None:
    """Its queue is bounded."""

    async def run() -> bool:
        watcher = cluster.store.watch(CONFIG_MAPS)
        for number in range(store.MOST_WAITING + 1):
            name = f"c-{number}"
            cluster.store.put(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}})
        return watcher.overrun

    assert asyncio.run(run())


def test_depth_is_bounded_without_recursion() -> None:
    """One level more than allowed."""
    value: Any = 1
    for _ in range(values.MOST_DEPTH):
        value = [value]
    assert values.depth_within(value)
    assert not values.depth_within([value])


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("Deployment", {"selector": {"matchLabels": {"app": "other"}}}, "`selector` does not match template `labels`"),
        ("Deployment", {"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        ("Deployment", {"selector": None}, "spec.selector: Required value"),
        ("Service", {"ports": []}, "spec.ports: Required value"),
        ("Service", {"ports": [{"port": 0}]}, "must be between 1 and 65535, inclusive"),
        ("Service", {"type": "Nodeport"}, 'spec.type: Unsupported value: "Nodeport"'),
        (
            "Job",
            {"template": {"spec": {"restartPolicy": "Always", "containers": [{"name": "a", "image": "b"}]}}},
            "Unsupported value",
        ),
    ],
)
def test_built_in_kinds_are_judged_beyond_their_schemas(cluster: Objects, kind: str, change: dict[str, Any], message: str) -> None:
    """Closed lists, ranges and cross-references."""
    base = {
        "Deployment": deployment("x", "default"),
        "Service": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [{"port": 80}]}},
        "Job": {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {}},
    }[kind]
    obj = {**base, "spec": {**base["spec"], **change}}
    found = cluster.resources.of_kind(obj["apiVersion"], kind)
    assert found is not None
    with pytest.raises(ApiError) as caught:
        cluster.create(Request(found, namespace="default"), obj)
    assert caught.value.code == 422
    assert message in str(caught.value)
