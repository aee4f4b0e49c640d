"""Templates without the hashes of file contents, so that an edited file does not change them."""

from __future__ import annotations

import re
from typing import Any

_ASSET = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{64}\.zip(?![0-9A-Za-z.])")
_DIGEST = re.compile(r"^[0-9a-f]{32}$")
_VERSION = re.compile(r"(^|/)[0-9a-f]{16}(?=/)|(?<=^/)[0-9a-f]{16}$")


def scrub(value: Any) -> Any:
    """The value with `<content>` in place of the name of an uploaded asset, of the hash in the prefix of lifecycle scripts, and of
    the digest of a cluster's properties, which hold that prefix.
    """
    if isinstance(value, dict):
        return {key: scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, str):
        return _DIGEST.sub("<content>", _VERSION.sub(r"\1<content>", _ASSET.sub("<content>.zip", value)))
    return value
