"""The child of ``node_health.shared``: does what a JSON document on its standard input asks for and prints what it read."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
from pathlib import Path

LIMIT = 4 * 1024 * 1024


def main() -> int:
    request = json.load(sys.stdin)
    base = Path(request["directory"])
    if not base.parent.is_dir():
        sys.stderr.write(f"{base.parent}: is not there\n")
        return 1
    for name, text in request["write"].items():
        write(base / name, text.encode("utf-8"), request["owner"])
    for name, text in request["encoded"].items():
        write(base / name, base64.b64decode(text), request["owner"])
    for name in request["remove"]:
        with contextlib.suppress(OSError):
            (base / name).unlink()
            (base / name).parent.rmdir()
    found = {}
    for name in request["read"]:
        for path in sorted((base / name).glob("*.json")):
            with contextlib.suppress(OSError):
                found[str(path.relative_to(base))] = path.read_text(encoding="utf-8")[:LIMIT]
    json.dump(found, sys.stdout)
    return 0


def write(path: Path, content: bytes, owner: int) -> None:
    """Replaces the file as a whole; its folders are made on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(content)
    if owner:
        os.chown(partial, owner, -1)
        partial.chmod(0o600)
        os.chown(path.parent, owner, -1)
        path.parent.chmod(0o700)
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
