"""What stands in for control planes and for ministack's authenticator where a test needs neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import Caller


class FakeApi:
    """The objects of a control plane, without any judgement."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str, str], dict[str, Any]] = {}
        self.add("v1", "Namespace", "default")

    def add(self, api_version: str, kind: str, name: str, namespace: str = "", **members: Any) -> None:
        metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **members.pop("metadata", {})}
        self.apply({"apiVersion": api_version, "kind": kind, "metadata": metadata, **members})

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        metadata = manifest["metadata"]
        key = (manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])
        self.objects[key] = dict(manifest)
        return self.objects[key]

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None
    ) -> list[dict[str, Any]]:
        label, _, value = (label_selector or "").partition("=")
        return [
            item
            for (version, of, place, _), item in list(self.objects.items())
            if (version, of) == (api_version, kind)
            and namespace in (None, place)
            and (not label or item["metadata"].get("labels", {}).get(label) == value)
        ]

    def version(self) -> str:
        return "v1.34.0-hyperpod-double"

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        return self.objects[api_version, kind, namespace or "", name]

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: Mapping[str, Any],
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> dict[str, Any]:
        found = self.get(api_version, kind, name, namespace)
        found |= patch
        return found

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, grace_seconds: int | None = None
    ) -> None:
        self.objects.pop((api_version, kind, namespace or "", name), None)


class FakeControlPlane:
    def __init__(self) -> None:
        self.endpoint = "https://127.0.0.1:6443"
        self.certificate_authority = b"-----BEGIN CERTIFICATE-----\n"
        self.api = FakeApi()
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class FakeControlPlanes:
    """Starts fakes, by the name of their state; `fault` is what goes wrong instead."""

    def __init__(self) -> None:
        self.started: dict[str, FakeControlPlane] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.fault: Exception | None = None

    @property
    def only(self) -> FakeControlPlane:
        (found,) = self.started.values()
        return found

    def start(self, name: str, version: str, webhook: str) -> FakeControlPlane:
        self.asked.append((name, version, webhook))
        if self.fault is not None:
            raise self.fault
        self.started[name] = FakeControlPlane()
        return self.started[name]

    def forget(self, name: str) -> None:
        self.started.pop(name, None)


class FakeAccess:
    """Remembers who was let in, by cluster and principal."""

    def __init__(self) -> None:
        self.open_clusters: set[str] = set()
        self.attached: set[str] = set()
        self.entries: dict[tuple[str, str], dict[str, Any]] = {}
        self.policies: dict[tuple[str, str, str], dict[str, Any]] = {}

    def open(self, caller: Caller, cluster: str) -> str:
        self.open_clusters.add(cluster)
        return f"http://127.0.0.1:1/{cluster}/secret"

    def attach(self, caller: Caller, cluster: str, api: Any) -> None:
        self.attached.add(cluster)

    def close(self, caller: Caller, cluster: str) -> None:
        self.open_clusters.discard(cluster)
        self.attached.discard(cluster)
        self.entries = {key: entry for key, entry in self.entries.items() if key[0] != cluster}

    def set_entry(self, caller: Caller, cluster: str, entry: Mapping[str, Any]) -> None:
        self.entries[cluster, entry["principalArn"]] = dict(entry)

    def remove_entry(self, caller: Caller, cluster: str, principal: str) -> None:
        del self.entries[cluster, principal]

    def set_policy(self, caller: Caller, cluster: str, principal: str, policy: str, scope: Mapping[str, Any]) -> None:
        self.policies[cluster, principal, policy] = dict(scope)

    def remove_policy(self, caller: Caller, cluster: str, principal: str, policy: str) -> None:
        del self.policies[cluster, principal, policy]
