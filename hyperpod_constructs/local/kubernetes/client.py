"""The Kubernetes API over HTTPS, as the administrator: the same for both control planes."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from hyperpod_constructs.local.kubernetes.interface import Object

_SECONDS = 30.0
_Kind = tuple[str, str]


class KubernetesError(RuntimeError):
    """A refusal of the API server: `code` is the HTTP status, `reason` its word for it, `status` the whole answer."""

    def __init__(self, code: int, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message", "")) or f"the api server answers {code}")
        self.code = code
        self.reason = str(status.get("reason", ""))
        self.status = status


class HttpsApi:
    """A `KubernetesApi` with a bearer token. One client may be used by many threads."""

    def __init__(self, endpoint: str, certificate_authority: bytes, token: str) -> None:
        address = urlsplit(endpoint)
        self._host, self._port = address.hostname or "", address.port
        self._context = ssl.create_default_context(cadata=certificate_authority.decode())
        self.token = token
        self._kinds: dict[_Kind, tuple[str, bool]] = {}
        self._local = threading.local()
        self._open: list[http.client.HTTPSConnection] = []

    def version(self) -> str:
        """What the server says of its version, such as `v1.35.0`."""
        return str(self.call("GET", "/version")["gitVersion"])

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        """One object."""
        return self.call("GET", self._path(api_version, kind, namespace, name))

    def list(self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None) -> list[Object]:
        """All objects of a kind, of one namespace or of all."""
        query = {"labelSelector": label_selector} if label_selector else {}
        answer = self.call("GET", self._path(api_version, kind, namespace), query)
        return [{"apiVersion": api_version, "kind": kind, **item} for item in answer["items"]]

    def create(self, manifest: Mapping[str, Any]) -> Object:
        """Create an object."""
        path = self._path(manifest["apiVersion"], manifest["kind"], manifest.get("metadata", {}).get("namespace"))
        return self.call("POST", path, body=manifest)

    def apply(self, manifest: Mapping[str, Any], field_manager: str = "hyperpod", *, force: bool = True) -> Object:
        """Create or change an object by server-side apply."""
        metadata = manifest["metadata"]
        path = self._path(manifest["apiVersion"], manifest["kind"], metadata.get("namespace"), metadata["name"])
        query = {"fieldManager": field_manager, "force": str(force).lower()}
        return self.call("PATCH", path, query, manifest, "application/apply-patch+yaml")

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
        path = self._path(api_version, kind, namespace, name) + (f"/{subresource}" if subresource else "")
        return self.call("PATCH", path, {"fieldManager": "hyperpod"}, patch, "application/merge-patch+json")

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, grace_seconds: int | None = None
    ) -> None:
        """Delete an object; one that is not there is a success. `grace_seconds` are those that a pod has left to end."""
        query = {"propagationPolicy": "Background"}
        if grace_seconds is not None:
            query["gracePeriodSeconds"] = str(grace_seconds)
        try:
            self.call("DELETE", self._path(api_version, kind, namespace, name), query)
        except KubernetesError as error:
            if error.code != http.client.NOT_FOUND:
                raise

    def watch(
        self, api_version: str, kind: str, namespace: str | None = None, *, resource_version: str | None = None, seconds: int = 60
    ) -> Iterator[Object]:
        """The changes of a kind as `{"type": ..., "object": ...}`; without a resource version, what exists comes first as ADDED."""
        query = {"watch": "1", "timeoutSeconds": str(seconds)}
        if resource_version is not None:
            query["resourceVersion"] = resource_version
        path = f"{self._path(api_version, kind, namespace)}?{urlencode(query)}"
        connection = self._connect(seconds + _SECONDS)
        try:
            connection.request("GET", path, headers=self._headers())
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise _error(answer.status, answer.read())
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> Object:
        """Send one request.

        :raises KubernetesError: for an answer that is no success.
        """
        address = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body).encode()
        for last in (False, True):
            connection = self._kept()
            try:
                connection.request(method, address, data, {**self._headers(), "Content-Type": content_type})
                answer = connection.getresponse()
                content = answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
                connection.close()
                if last:
                    raise
            except BaseException:
                connection.close()  # One that has sent and not heard cannot be used again.
                raise
        if answer.status >= http.client.BAD_REQUEST:
            raise _error(answer.status, content)
        found: Object = json.loads(content)
        return found

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._open:
            connection.close()

    def _kept(self) -> http.client.HTTPSConnection:
        """This thread's connection."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect(_SECONDS)
            self._open.append(self._local.connection)
        connection: http.client.HTTPSConnection = self._local.connection
        return connection

    def _connect(self, seconds: float) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._context)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}

    def _path(self, api_version: str, kind: str, namespace: str | None, name: str | None = None) -> str:
        plural, namespaced = self._resource(api_version, kind)
        path = _root(api_version)
        if namespaced and (namespace or name):
            path += f"/namespaces/{quote(namespace or 'default', safe='')}"
        path += f"/{plural}"
        return f"{path}/{quote(name, safe='')}" if name else path

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        """The plural of a kind and whether it has namespaces, by discovery; kinds come and go with their definitions."""
        if (api_version, kind) not in self._kinds:
            for resource in self.call("GET", _root(api_version))["resources"]:
                if "/" not in resource["name"]:
                    self._kinds[api_version, resource["kind"]] = (resource["name"], resource["namespaced"])
        if (api_version, kind) not in self._kinds:
            raise KubernetesError(
                http.client.NOT_FOUND,
                {"reason": "NotFound", "message": f'no matches for kind "{kind}" in version "{api_version}"'},
            )
        return self._kinds[api_version, kind]


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _error(code: int, content: bytes) -> KubernetesError:
    try:
        status = json.loads(content)
    except ValueError:
        status = {"message": content.decode(errors="replace")}
    return KubernetesError(code, status if isinstance(status, dict) else {})
