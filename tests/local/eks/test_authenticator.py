"""Who is let into a control plane: tokens of `aws eks get-token`, and access policies as RBAC objects."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from ministack.services import eks  # type: ignore[import-untyped]

from hyperpod_constructs.local import ministack_eks
from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.ministack_eks import REVIEWS, Authenticator
from hyperpod_constructs.local.signatures import Credential
from tests.local.eks.conftest import PREFIX
from tests.local.eks.fakes import FakeApi
from tests.local.moto_cloud import CALLER

HOST = "127.0.0.1:4566"
KEY, SECRET = "AKIAONE", "secret"
ROLE = "arn:aws:iam::123456789012:role/team"
EDIT = f"{PREFIX}AmazonEKSEditPolicy"
RBAC = "rbac.authorization.k8s.io/v1"


@pytest.fixture
def authenticator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Authenticator]:
    """One that knows a single key, in the places that it takes in ministack until the test ends."""
    for name in ("_get_docker", "_verify_eks_token", "_authenticate_token_review"):
        monkeypatch.setattr(eks, name, getattr(eks, name))
    made = Authenticator(f"http://{HOST}", lambda key: Credential(SECRET) if key == KEY else None)
    made.install()
    yield made
    made.close(CALLER, "demo")


def token(cluster: str = "demo", *, host: str = f"http://{HOST}", secret: str = SECRET, key: str = KEY, **query: str) -> str:
    """What `aws eks get-token` prints."""
    words = {"Action": "GetCallerIdentity", "Version": "2011-06-15"} | query
    url = f"{host}/?" + "&".join(f"{name}={value}" for name, value in words.items())
    request = AWSRequest("GET", url, headers={"x-k8s-aws-id": cluster})
    SigV4QueryAuth(Credentials(key, secret), "sts", "us-west-2", expires=60).add_auth(request)
    return "k8s-aws-v1." + base64.urlsafe_b64encode(str(request.url).encode()).decode().rstrip("=")


def test_a_token_of_a_known_key_is_valid_for_its_cluster(authenticator: Authenticator) -> None:
    assert authenticator.knows(token(), "demo")
    assert authenticator.knows(token(host="https://sts.us-west-2.amazonaws.com"), "demo")
    assert not authenticator.knows(token(), "other")


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "",
        "secret",
        "k8s-aws-v1.",
        "k8s-aws-v1.!!!!",
        "k8s-aws-v1." + "A" * 20000,
        token(secret="guessed"),
        token(key="AKIATWO"),
        token(host="http://elsewhere:4566"),
        token(host="https://sts.eu-west-1.amazonaws.com"),
        token(Action="AssumeRole"),
    ],
)
def test_any_other_token_is_refused(authenticator: Authenticator, wrong: Any) -> None:
    assert not authenticator.knows(wrong, "demo")


def test_a_token_holds_a_quarter_of_an_hour(authenticator: Authenticator, monkeypatch: pytest.MonkeyPatch) -> None:
    held = token()

    class Later(datetime):
        minutes = 0

        @classmethod
        def now(cls, zone: Any = None) -> Any:
            return datetime.now(UTC) + timedelta(minutes=cls.minutes)

    monkeypatch.setattr(ministack_eks, "datetime", Later)
    for Later.minutes, valid in ((14, True), (16, False), (-6, False)):
        assert authenticator.knows(held, "demo") is valid


def test_only_its_own_address_is_answered(authenticator: Authenticator) -> None:
    path = authenticator.open(CALLER, "demo").removeprefix(f"http://{HOST}")
    assert path.startswith(REVIEWS)
    assert authenticator.awaits("POST", path)
    assert not authenticator.awaits("GET", path)
    assert not authenticator.awaits("POST", path[:-1] + ("a" if path[-1] != "a" else "b"))
    assert not authenticator.awaits("POST", path.replace("demo", "other"))
    authenticator.close(CALLER, "demo")
    assert not authenticator.awaits("POST", path)


def test_nobody_without_a_key_is_let_in_without_evaluation_of_policies(authenticator: Authenticator) -> None:
    authenticator.open(CALLER, "demo")
    secret = eks._clusters.get_scoped(*ministack_eks._scope(CALLER), "demo")["_auth_token"]

    def review(given: Any) -> bytes:
        answer = eks._authenticate_token_review("demo", CALLER.account, CALLER.region, {"spec": {"token": given}}, secret)
        return bytes(answer[2])

    assert b'"authenticated": false' in review("anything")
    assert b'"authenticated": true' in review(token())


def test_policies_become_rbac_objects_in_their_namespaces(authenticator: Authenticator) -> None:
    api = FakeApi()
    for name in ("team-a", "other"):
        api.add("v1", "Namespace", name)
    authenticator.open(CALLER, "demo")
    authenticator.set_entry(CALLER, "demo", {"principalArn": ROLE, "username": "", "kubernetesGroups": []})
    authenticator.attach(CALLER, "demo", api)
    authenticator.set_policy(CALLER, "demo", ROLE, EDIT, {"type": "namespace", "namespaces": ["team-*"]})
    (binding,) = api.list(RBAC, "RoleBinding")
    assert binding["metadata"]["namespace"] == "team-a"
    assert api.list(RBAC, "ClusterRoleBinding") == []
    authenticator.set_policy(CALLER, "demo", ROLE, EDIT, {"type": "cluster"})
    assert api.list(RBAC, "RoleBinding") == []
    assert len(api.list(RBAC, "ClusterRoleBinding")) == 1
    authenticator.remove_entry(CALLER, "demo", ROLE)
    assert api.list(RBAC, "ClusterRoleBinding") == []


class JudgingApi(FakeApi):
    """Refuses another role for a binding that exists, and content for a namespace that ends."""

    ending = "team-b"

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        metadata = manifest["metadata"]
        if metadata.get("namespace") == self.ending:
            raise KubernetesError(403, {"message": "namespace team-b is being terminated"})
        found = self.objects.get((manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"]))
        if found is not None and found.get("roleRef") != manifest.get("roleRef"):
            raise KubernetesError(422, {"message": "roleRef: Invalid value: cannot change roleRef"})
        return super().apply(manifest)


@pytest.fixture
def judging(authenticator: Authenticator) -> JudgingApi:
    """The API of a cluster with a principal and three namespaces for its team, one of which takes nothing."""
    api = JudgingApi()
    for name in ("team-a", "team-b", "team-c"):
        api.add("v1", "Namespace", name)
    authenticator.open(CALLER, "demo")
    authenticator.set_entry(CALLER, "demo", {"principalArn": ROLE, "username": "", "kubernetesGroups": []})
    authenticator.attach(CALLER, "demo", api)
    return api


TEAMS = {"type": "namespace", "namespaces": ["team-*"]}


def places(api: FakeApi, kind: str = "RoleBinding") -> list[tuple[str, str]]:
    return [(item["metadata"].get("namespace", ""), item["roleRef"]["name"]) for item in api.list(RBAC, kind)]


def test_one_binding_that_is_refused_holds_up_no_other(
    authenticator: Authenticator, judging: JudgingApi, caplog: pytest.LogCaptureFixture
) -> None:
    authenticator.set_policy(CALLER, "demo", ROLE, f"{PREFIX}AmazonEKSClusterAdminPolicy", {"type": "cluster"})
    authenticator.set_policy(CALLER, "demo", ROLE, EDIT, TEAMS)
    assert [place for place, _ in places(judging)] == ["team-a", "team-c"]
    assert "namespace team-b is being terminated" in caplog.text
    authenticator.remove_policy(CALLER, "demo", ROLE, f"{PREFIX}AmazonEKSClusterAdminPolicy")
    assert places(judging, "ClusterRoleBinding") == []


def test_a_binding_that_somebody_gave_another_role_is_made_again(authenticator: Authenticator, judging: JudgingApi) -> None:
    judging.ending = ""
    authenticator.set_policy(CALLER, "demo", ROLE, EDIT, TEAMS)
    made = places(judging)
    stolen = judging.list(RBAC, "RoleBinding", "team-a")[0]
    stolen["roleRef"] = {**stolen["roleRef"], "name": "cluster-admin"}
    judging.delete(RBAC, "RoleBinding", judging.list(RBAC, "RoleBinding", "team-c")[0]["metadata"]["name"], "team-c")
    authenticator.set_policy(CALLER, "demo", ROLE, EDIT, TEAMS)
    assert sorted(places(judging)) == sorted(made)
