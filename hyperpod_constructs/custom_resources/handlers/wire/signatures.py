"""Signatures of requests, version 4.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from .requests import Request

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = frozenset({"user-agent"})


class Credentials(NamedTuple):
    """The credentials of a role; the token is empty for a user."""

    access_key: str
    secret_key: str
    token: str


def signed(request: Request, credentials: Credentials, service: str, region: str, now: datetime) -> Request:
    """The request with its signature.

    :param service: the service's name in signatures. S3 signs the path as it is, and the digest of the body is a header.
    :param now: the time, in UTC.
    """
    time, digest = now.strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(request.body).hexdigest()
    headers = {**request.headers, "X-Amz-Date": time}
    if credentials.token:
        headers["X-Amz-Security-Token"] = credentials.token
    if service == "s3":
        headers["X-Amz-Content-SHA256"] = digest
    counted = {name.lower(): " ".join(value.split()) for name, value in headers.items() if name.lower() not in _UNSIGNED}
    lines, names = [f"{name}:{counted[name]}\n" for name in sorted(counted)], ";".join(sorted(counted))
    path = urlsplit(request.url).path or "/"
    canonical = [request.method, path if service == "s3" else quote(path, safe="/~"), "", "".join(lines), names, digest]
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    text = "\n".join([_ALGORITHM, time, scope, hashlib.sha256("\n".join(canonical).encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={credentials.access_key}/{scope}"
    headers["Authorization"] = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
    return request._replace(headers=headers)
