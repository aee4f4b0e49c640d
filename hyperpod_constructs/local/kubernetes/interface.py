"""What a Kubernetes control plane on 127.0.0.1 is to the rest of the embedded AWS, whichever of the two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

BINARIES = "HYPERPOD_KUBERNETES"
"""The variable that names a directory with kube-apiserver, kube-controller-manager and kube-scheduler."""

Object = dict[str, Any]


class ControlPlaneError(RuntimeError):
    """A control plane did not start."""


class ObjectsApi(Protocol):
    """The API as its administrator, as far as services of the embedded AWS need it. Objects are named by `apiVersion`, kind, name
    and, where they have one, namespace.

    Every method raises `KubernetesError` (see `client`) with the status that the server answers.
    """

    def version(self) -> str:
        """What the server says of its version, such as `v1.35.0`."""
        ...

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        """One object."""
        ...

    def list(self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None) -> list[Object]:
        """All objects of a kind, of one namespace or of all."""
        ...

    def apply(self, manifest: Mapping[str, Any]) -> Object:
        """Create or change an object by server-side apply."""
        ...

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        patch: Mapping[str, Any],
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> Object:
        """Change an object, or its `status`, by a merge patch."""
        ...

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, grace_seconds: int | None = None
    ) -> None:
        """Delete an object; one that is not there is a success. `grace_seconds` are those that a pod has left to end."""
        ...


class KubernetesApi(ObjectsApi, Protocol):
    """The whole API as its administrator."""

    def create(self, manifest: Mapping[str, Any]) -> Object:
        """Create an object."""
        ...

    def apply(self, manifest: Mapping[str, Any], field_manager: str = "hyperpod", *, force: bool = True) -> Object:
        """Create or change an object by server-side apply."""
        ...

    def watch(
        self, api_version: str, kind: str, namespace: str | None = None, *, resource_version: str | None = None, seconds: int = 60
    ) -> Iterator[Object]:
        """The changes of a kind as `{"type": ..., "object": ...}`; without a resource version, what exists comes first as ADDED."""
        ...


class RunningControlPlane(Protocol):
    """A control plane that runs, as far as services of the embedded AWS need it."""

    @property
    def endpoint(self) -> str:
        """The address, `https://127.0.0.1:port`."""
        ...

    @property
    def certificate_authority(self) -> bytes:
        """The certificate of the authority that signed the server's, as PEM."""
        ...

    @property
    def api(self) -> ObjectsApi:
        """The API as the administrator."""
        ...

    def stop(self) -> None:
        """End it at once, with all that it holds; a second call does nothing."""
        ...


class ControlPlane(RunningControlPlane, Protocol):
    """A running control plane with its whole API."""

    @property
    def kind(self) -> str:
        """What runs: `double` or `official binaries`."""
        ...

    @property
    def api(self) -> KubernetesApi:
        """The whole API as the administrator."""
        ...
