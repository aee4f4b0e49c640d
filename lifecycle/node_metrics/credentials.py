"""The credentials of the node's role: those that the `aws` command would use, or those of the instance's own service.

Version 1 of the command does not tell its credentials.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html
"""

from __future__ import annotations

import datetime
import urllib.request
from typing import Any

from node_health.bounds import load, shown
from node_health.system import System

from node_metrics.signing import Credentials

EXPORT = ("aws", "configure", "export-credentials", "--format", "process")
METADATA = "http://169.254.169.254/latest"
ROLES = "meta-data/iam/security-credentials"
LIFETIME = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
SECONDS = 10.0
METADATA_SECONDS = 2.0
LONGEST = 16 * 1024


def role_credentials(system: System, metadata: str = METADATA) -> tuple[Credentials, float]:
    """The credentials, and the time of their end.

    :raises ValueError: if neither source tells them.
    """
    answer = system.run(EXPORT, SECONDS)
    if answer.code == 0:
        return _read(load(answer.output), "SessionToken", " ".join(EXPORT))
    try:
        return _read(load(_of_instance(metadata)), "Token", metadata)
    except OSError as error:
        said = shown(answer.last_line, 200) or "no answer"
        raise ValueError(f"no credentials: {' '.join(EXPORT)}: {said}; {metadata}: {error}") from None


def _of_instance(metadata: str) -> str:
    """The document of the instance's role, by a session of version 2."""
    token = _ask(f"{metadata}/api/token", "PUT", LIFETIME)
    session = {"X-aws-ec2-metadata-token": token}
    role = _ask(f"{metadata}/{ROLES}/", "GET", session).split("\n")[0].strip()
    return _ask(f"{metadata}/{ROLES}/{role}", "GET", session)


def _ask(url: str, method: str, headers: dict[str, str]) -> str:
    request = urllib.request.Request(url, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=METADATA_SECONDS) as answer:
        content: bytes = answer.read(LONGEST)
    return content.decode("utf-8", "replace")


def _read(found: Any, token: str, source: str) -> tuple[Credentials, float]:
    try:
        credentials = Credentials(str(found["AccessKeyId"]), str(found["SecretAccessKey"]), found.get(token))
        end = found.get("Expiration")
        return credentials, float("inf") if end is None else _moment(str(end))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"no credentials: {source} answers what holds none") from None


def _moment(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
