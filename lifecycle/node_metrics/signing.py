"""Signature version 4 of a request without a query.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import NamedTuple
from urllib.parse import quote, urlsplit


class Credentials(NamedTuple):
    access_key_id: str
    secret_access_key: str
    session_token: str | None


def signed(url: str, body: bytes, service: str, region: str, credentials: Credentials, now: float) -> dict[str, str]:
    """The headers that sign a POST of this body."""
    parts = urlsplit(url)
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    headers = {"host": parts.netloc, "x-amz-date": moment}
    if credentials.session_token is not None:
        headers["x-amz-security-token"] = credentials.session_token
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = "\n".join(["POST", quote(parts.path or "/", safe="/-_.~%"), "", lines, names, hashlib.sha256(body).hexdigest()])
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_access_key}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    named = f"Credential={credentials.access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**{name: headers[name] for name in headers if name != "host"}, "Authorization": f"AWS4-HMAC-SHA256 {named}"}
