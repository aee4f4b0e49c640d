"""Who may do what: tokens, roles, impersonation, and rights that nobody may hand on without having them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from tests.local.kubernetes.conftest import Webhook
from tests.local.kubernetes.manifests import Object, binding, config_map, role

AsUser = Callable[[str], HttpsApi]
ANN, BOB = {"kind": "User", "name": "ann"}, {"kind": "User", "name": "bob"}


def _refused(api: HttpsApi, code: int, *call: Any, **more: Any) -> KubernetesError:
    with pytest.raises(KubernetesError) as caught:
        api.call(*call, **more)
    assert caught.value.code == code
    return caught.value


def test_a_token_of_nobody_is_401(as_user: AsUser) -> None:
    """Also for what everybody may see."""
    for path in ("/api/v1/namespaces", "/version"):
        assert _refused(as_user("nobody"), 401, "GET", path).reason == "Unauthorized"


def test_a_user_without_a_role_is_403(as_user: AsUser, namespace: str) -> None:
    """In the API server's words; discovery is for all who have a name."""
    bob = as_user("token-of-bob")
    error = _refused(bob, 403, "GET", f"/api/v1/namespaces/{namespace}/secrets")
    assert str(error) == (
        f'secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "{namespace}"'
    )
    error = _refused(bob, 403, "GET", "/apis/apps/v1/deployments")
    assert str(error).endswith('cannot list resource "deployments" in API group "apps" at the cluster scope')
    assert bob.call("GET", "/apis")["kind"] == "APIGroupList"
    assert str(_refused(bob, 403, "GET", "/metrics")) == 'forbidden: User "bob" cannot get path "/metrics"'


def test_a_role_holds_in_its_namespace_for_its_verbs(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """By group, user and service account alike; nowhere else."""
    ann = as_user("token-of-ann")
    api.create(role(namespace, verbs=["create", "get"], resources=["configmaps"]))
    api.create(binding(namespace, {"kind": "Group", "name": "team-a"}))
    ann.create(config_map("c", namespace))
    assert ann.get("v1", "ConfigMap", "c", namespace)["metadata"]["name"] == "c"
    for method, path in (
        ("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/c"),
        ("GET", f"/api/v1/namespaces/{namespace}/configmaps"),
        ("GET", "/api/v1/namespaces/default/configmaps/c"),
        ("GET", f"/api/v1/namespaces/{namespace}/configmaps/c/status"),
        ("GET", f"/api/v1/namespaces/{namespace}/secrets/c"),
    ):
        _refused(ann, 403, method, path)
    api.delete("rbac.authorization.k8s.io/v1", "RoleBinding", "binding", namespace)
    _refused(ann, 403, "GET", f"/api/v1/namespaces/{namespace}/configmaps/c")


def test_a_watch_on_one_name_is_a_get(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """Who may see one object gets that one, whatever the query asks for."""
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "watch"], "resourceNames": ["mine"]}
    api.create({**role(namespace, verbs=[], resources=[]), "rules": [rule]})
    api.create(binding(namespace, ANN))
    for name in ("mine", "other"):
        api.create(config_map(name, namespace))
    path, query = f"/api/v1/namespaces/{namespace}/configmaps", {"watch": "1", "timeoutSeconds": "1"}
    found = as_user("token-of-ann").call("GET", f"{path}/mine", query)
    assert (found["kind"], found["metadata"]["name"]) == ("ConfigMap", "mine")
    _refused(as_user("token-of-ann"), 403, "GET", path, query)


def test_apply_of_something_new_needs_the_right_to_create(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """Patch alone changes what exists."""
    api.create(role(namespace, verbs=["patch"], resources=["configmaps"]))
    api.create(binding(namespace, ANN))
    ann = as_user("token-of-ann")
    path, query = f"/api/v1/namespaces/{namespace}/configmaps/c", {"fieldManager": "ann"}
    error = _refused(ann, 403, "PATCH", path, query, config_map("c", namespace), "application/apply-patch+yaml")
    assert 'cannot create resource "configmaps"' in str(error)


def test_roles_of_the_cluster_are_put_together(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """`edit` has what is aggregated to it, also by a role that comes later."""
    api.create(binding(namespace, ANN, role="edit", kind="ClusterRole"))
    ann = as_user("token-of-ann")
    ann.create(config_map("c", namespace))
    path = f"/apis/policy/v1/namespaces/{namespace}/nothings"
    _refused(ann, 403, "GET", path)
    rule = {"apiGroups": ["policy"], "resources": ["nothings"], "verbs": ["list"]}
    labels = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    extra = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [rule]}
    api.create({**extra, "metadata": {"name": "extra", "labels": labels}})
    try:
        _refused(ann, 404, "GET", path)
    finally:
        api.delete("rbac.authorization.k8s.io/v1", "ClusterRole", "extra")
    _refused(ann, 403, "GET", path)


def test_nobody_hands_on_rights_that_he_does_not_have(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """An administrator of a namespace writes roles there, up to his own rights."""
    api.create(binding(namespace, ANN, role="admin", kind="ClusterRole"))
    ann = as_user("token-of-ann")
    ann.create(role(namespace, verbs=["get"], resources=["pods"], name="mine"))
    ann.create(binding(namespace, BOB, role="mine", name="given"))
    nodes = role(namespace, verbs=["get"], resources=["nodes"], name="more")
    with pytest.raises(KubernetesError, match="is attempting to grant RBAC permissions not currently held") as caught:
        ann.create(nodes)
    assert '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}' in str(caught.value)
    with pytest.raises(KubernetesError, match="not currently held"):
        ann.create(binding(namespace, BOB, role="cluster-admin", kind="ClusterRole", name="all"))
    with pytest.raises(KubernetesError, match="not currently held"):
        ann.apply(role(namespace, verbs=["*"], resources=["*"], groups=("*",), name="mine"))


def _as(api: HttpsApi, path: str, **headers: str) -> Object:
    given = api._headers
    api._headers = lambda: {**given(), **{key.replace("_", "-"): value for key, value in headers.items()}}  # type: ignore[method-assign]
    try:
        return api.call("GET", path)
    finally:
        api._headers = given  # type: ignore[method-assign]


def test_impersonation_needs_the_right_to(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """The administrator may; a user may not, not even as himself with another group."""
    with pytest.raises(KubernetesError, match='User "bob" cannot list resource "pods"'):
        _as(api, f"/api/v1/namespaces/{namespace}/pods", Impersonate_User="bob")
    with pytest.raises(KubernetesError, match='User "ann" cannot impersonate resource "users"') as caught:
        _as(as_user("token-of-ann"), f"/api/v1/namespaces/{namespace}/pods", Impersonate_User="hyperpod:administrator")
    assert caught.value.code == 403
    with pytest.raises(KubernetesError, match="without impersonating a user"):
        _as(as_user("token-of-ann"), "/api", Impersonate_Group="system:masters")


def test_impersonation_of_a_group_is_asked_for_by_itself(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """Who may act as a service account may not add a group to it."""
    api.create(role(namespace, verbs=["impersonate"], resources=["serviceaccounts"]))
    api.create(binding(namespace, ANN))
    ann, name = as_user("token-of-ann"), f"system:serviceaccount:{namespace}:default"
    assert _as(ann, "/api", Impersonate_User=name)["kind"] == "APIVersions"
    with pytest.raises(KubernetesError, match='cannot impersonate resource "groups"'):
        _as(ann, "/api", Impersonate_User=name, Impersonate_Group="system:masters")


def test_reviews_say_who_and_what(api: HttpsApi, as_user: AsUser, namespace: str) -> None:
    """As clients ask for them."""
    api.create(role(namespace, verbs=["get"], resources=["pods"]))
    api.create(binding(namespace, ANN))
    ann = as_user("token-of-ann")
    who = ann.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body={})
    assert who["status"]["userInfo"] == {"username": "ann", "uid": "1", "groups": ["team-a", "system:authenticated"]}

    def may(verb: str) -> bool:
        attributes = {"namespace": namespace, "verb": verb, "resource": "pods"}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        allowed: bool = ann.call("POST", path, body={"spec": {"resourceAttributes": attributes}})["status"]["allowed"]
        return allowed

    assert (may("get"), may("delete")) == (True, False)
    rules = ann.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body={"spec": {"namespace": namespace}})
    assert {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]} in rules["status"]["resourceRules"]


def test_an_answer_about_a_token_is_kept_for_a_while(as_user: AsUser, webhook: Webhook) -> None:
    """The webhook is asked once for many requests."""
    bob = as_user("token-of-bob")
    bob.call("GET", "/api")
    before = webhook.questions
    for _ in range(5):
        bob.call("GET", "/api")
    assert webhook.questions <= before + 1
