"""Reads objects of a Kubernetes API; the certificate of the API is the one that EKS names."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 10
_LARGEST = 16 * 1024 * 1024


class KubernetesError(Exception):
    """The API does not answer, or refuses; the text says why."""


class KubernetesApi:
    """The API of an EKS cluster.

    :param cluster: the answer of DescribeCluster.
    :param token: a bearer token.
    :param seconds: the longest time until it connects, and between two parts of an answer.
    """

    def __init__(self, cluster: Mapping[str, Any], token: str, *, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._address = urlsplit(cluster["endpoint"])
        authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode("ascii")
        self._trusted = ssl.create_default_context(cadata=authority)
        self._token = token

    def get(self, path: str) -> dict[str, Any]:
        """The object or list at a path. Redirects are not followed, because the token is for this API alone.

        :raises KubernetesError: if there is none, or no answer in time.
        """
        connection = http.client.HTTPSConnection(
            self._address.hostname or "", self._address.port or 443, timeout=self._seconds, context=self._trusted
        )
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            raise KubernetesError(f"{self._address.netloc} does not answer: {error}") from error
        finally:
            connection.close()
        return _read(answer.status, body)


def _read(status: int, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body) if len(body) <= _LARGEST else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise KubernetesError(f"the answer (status {status}) is no object of Kubernetes")
    if status != http.client.OK:
        raise KubernetesError(f"{status} {found.get('message', '')}".strip())
    return found
