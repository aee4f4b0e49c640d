"""Archives of charts as tests need them: plain, and hostile."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import Any

import yaml


def chart_yaml(name: str, version: str = "1.0.0", dependencies: list[dict[str, Any]] | None = None, **more: Any) -> bytes:
    found = {"apiVersion": "v2", "name": name, "version": version, **more}
    return yaml.safe_dump(found | ({"dependencies": dependencies} if dependencies else {})).encode()


def archive(name: str, files: Mapping[str, bytes], *members: tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for member in members:
            tar.addfile(member, io.BytesIO(b"\0" * member.size))
    return packed.getvalue()


def chart_archive(name: str, version: str = "1.0.0", marker: str = "", **more: Any) -> bytes:
    return archive(name, {"Chart.yaml": chart_yaml(name, version, **more), "templates/marker.yaml": f"# {marker}\n".encode()})


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size, entry.linkname = kind, size, target
    return entry
