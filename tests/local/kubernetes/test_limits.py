"""What a hostile definition, role or option would cost or destroy without a limit."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes import custom_values, definitions, schemas, watching
from hyperpod_constructs.local.kubernetes.authorization import GROUP, User
from hyperpod_constructs.local.kubernetes.client import HttpsApi
from hyperpod_constructs.local.kubernetes.connection import Call
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import Resources
from hyperpod_constructs.local.kubernetes.status import ApiError
from hyperpod_constructs.local.kubernetes.wire import Format, Query
from tests.local.kubernetes.manifests import config_map, definition

ITEMS = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "default": "x" * 10_000}}}}


def test_defaults_have_a_limit_for_one_object() -> None:
    """Three megabytes of empty items would become thirty gigabytes."""
    assert custom_values.with_defaults(ITEMS, [{}] * 100)[99] == {"a": "x" * 10_000}
    with pytest.raises(ApiError, match="limit is 3145728") as caught:
        custom_values.with_defaults(ITEMS, [{}] * 1000)
    assert caught.value.code == 413


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": [f"e{number}" for number in range(20_000)]},
        {"anyOf": [{"type": "string", "maxLength": 1}] * 20_000},
        {"type": "string", "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"},
    ],
    ids=["enum", "any", "pattern"],
)
def test_judging_has_a_limit_of_time(monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any]) -> None:
    """Many values against many schemas, or against patterns that go back and forth."""
    monkeypatch.setattr(custom_values, "SECONDS", 0.2)
    monkeypatch.setattr(custom_values, "MOST_CAUSES", 10**9)
    start = time.process_time()
    with pytest.raises(ApiError, match=r"takes more than 0\.2 seconds of processor time to judge"):
        custom_values.problems({"type": "array", "items": schema}, ["a" * 40] * 2_000)
    assert time.process_time() - start < 2


def test_a_role_of_too_many_rights_is_refused() -> None:
    """To compare them with one's own takes their product."""
    cluster = Objects(Resources(schemas.load("1.34")))
    kind = cluster.resources.of_kind(f"{GROUP}/v1", "Role")
    assert kind is not None
    names = [f"n{number}" for number in range(400)]
    rules = [{"apiGroups": names, "resources": names, "verbs": names}]
    role = {"apiVersion": f"{GROUP}/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": rules}
    with pytest.raises(ApiError, match="the rules grant 64000000 single rights, and at most 10000 are compared"):
        cluster.create(Request(kind, User("ann"), "default", "r"), role)


@pytest.mark.parametrize(
    ("field", "path"),
    [("specReplicasPath", ".metadata.labels.a"), ("specReplicasPath", ".specs.n"), ("statusReplicasPath", ".spec.n")],
)
def test_a_scale_is_of_the_desired_state(field: str, path: str) -> None:
    """Whoever may scale writes no metadata."""
    made = definition(subresources={"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n", field: path}})
    [cause] = definitions.problems(made)
    assert cause.field == f"spec.versions[0].subresources.scale.{field}"
    assert "should be a json path under ." in cause.message


def test_a_dry_run_in_the_body_deletes_no_collection(api: HttpsApi, namespace: str) -> None:
    """As one in the address does not."""
    api.create(config_map("kept", namespace))
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    api.call("DELETE", path, body={"dryRun": ["All"]})
    assert api.get("v1", "ConfigMap", "kept", namespace) is not None


def test_one_user_takes_not_every_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another can still watch, and after its watch a user may begin the next."""
    monkeypatch.setattr(watching, "MOST_OF_ONE_USER", 2)
    cluster = Objects(Resources(schemas.load("1.34")))
    kind = cluster.resources.of_kind("v1", "ConfigMap")
    assert kind is not None
    request, watches = Request(kind, namespace="default"), watching.Watches(cluster)

    async def watch(name: str, seconds: int) -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            pass

        query = Query({"watch": "true", "timeoutSeconds": str(seconds)})
        await watches.serve(Call("GET", "/", [], query, [], User(name), Format(), receive, send), request)

    async def scenario() -> None:
        running = [asyncio.create_task(watch("ann", 1)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="500 watches, 2 of one user"):
            await watch("ann", 1)
        await watch("bob", 1)
        await asyncio.gather(*running)
        await watch("ann", 1)

    asyncio.run(scenario())
