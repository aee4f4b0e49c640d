"""A Kubernetes API in memory, for what needs no judge: objects by kind, namespace and name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from hyperpod_constructs.local.kubernetes import selectors
from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.kubernetes.control_plane import Object

Key = tuple[str, str, str | None, str]


class MemoryApi:
    """Objects, and the calls that changed them: `calls` holds a verb, a kind and a name each.

    `gone` is raised instead of every answer; objects whose names are in `refused` are refused, `refusals` times so
    far.
    """

    def __init__(self) -> None:
        self.objects: dict[Key, Object] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.gone: Exception | None = None
        self.refused: set[str] = set()
        self.refusals = 0

    def _answer(self, name: str = "") -> None:
        if self.gone is not None:
            raise self.gone
        if name in self.refused:
            self.refusals += 1
            raise KubernetesError(422, {"message": f"{name} is refused"})

    def _found(self, key: Key) -> Object:
        self._answer(key[3])
        if key not in self.objects:
            raise KubernetesError(404, {"message": f"{key[3]} not found"})
        return self.objects[key]

    def version(self) -> str:
        return "v1.34.0-hyperpod-double"

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        return deepcopy(self._found((api_version, kind, namespace, name)))

    def list(self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None) -> list[Object]:
        self._answer()
        chosen = selectors.labels(label_selector or "")
        found = [item for key, item in self.objects.items() if key[:2] == (api_version, kind) and namespace in (None, key[2])]
        return deepcopy([item for item in found if chosen(item["metadata"].get("labels", {}))])

    def create(self, manifest: Mapping[str, Any]) -> Object:
        return self.apply(manifest)

    def apply(self, manifest: Mapping[str, Any], field_manager: str = "hyperpod", *, force: bool = True) -> Object:
        key = manifest["apiVersion"], manifest["kind"], manifest["metadata"].get("namespace"), manifest["metadata"]["name"]
        self._answer(key[3])
        self.objects[key] = _merged(self.objects.get(key, {}), manifest)
        self.calls.append(("apply", key[1], key[3]))
        return deepcopy(self.objects[key])

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: Mapping[str, Any],
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> Object:
        key = api_version, kind, namespace, name
        self.objects[key] = _merged(self._found(key), patch)
        self.calls.append(("patch", kind, name))
        return deepcopy(self.objects[key])

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, grace_seconds: int | None = None
    ) -> None:
        self._answer(name)
        self.objects.pop((api_version, kind, namespace, name), None)
        self.calls.append(("delete", kind, name))

    def watch(
        self, api_version: str, kind: str, namespace: str | None = None, *, resource_version: str | None = None, seconds: int = 60
    ) -> Iterator[Object]:
        yield from ({"type": "ADDED", "object": item} for item in self.list(api_version, kind, namespace))


def _merged(old: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch of RFC 7396."""
    found = dict(old)
    for name, value in change.items():
        before = found.get(name)
        if value is None:
            found.pop(name, None)
        else:
            found[name] = _merged(before if isinstance(before, Mapping) else {}, value) if isinstance(value, Mapping) else value
    return found
