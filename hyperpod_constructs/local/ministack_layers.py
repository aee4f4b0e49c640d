"""Layers of functions, whose programs can be run. Like `ministack.py`, it names private parts of ministack."""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack.core import lambda_runtime  # type: ignore[import-untyped]


class _LayerZip(zipfile.ZipFile):
    """A zip file whose members keep the permission to be executed, as on AWS, and run with the Python of this machine.

    The content of a layer is unpacked once and shared by all workers, which may not change it on AWS either.
    """

    def extractall(self, path: Any = None, *rest: Any, **options: Any) -> None:
        if path is None or not Path(path).name.startswith("layer_"):
            self._extract(path, *rest, **options)
            return
        with _UNPACKING:
            shared = Path(tempfile.gettempdir()) / f"layer-{_digest(Path(str(self.filename)))}"
            if not shared.is_dir():
                partial = Path(tempfile.mkdtemp(prefix="unpacking-"))
                self._extract(partial, *rest, **options)
                partial.rename(shared)
        for item in shared.iterdir():
            (Path(path) / item.name).symlink_to(item)

    def _extract(self, path: Any, *rest: Any, **options: Any) -> None:
        super().extractall(path, *rest, **options)
        for member in self.infolist():
            mode = member.external_attr >> 16 & 0o777
            if not member.is_dir() and mode & 0o111:
                file = Path(path or ".") / member.filename
                _run_with_this_python(file)
                file.chmod(mode | 0o600)


_UNPACKING = threading.Lock()


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:32]


def _run_with_this_python(file: Path) -> None:
    """Replace the Python of AWS's image in the first line of a script."""
    with file.open("rb") as script:
        first = script.readline(200)
        if re.match(rb"#! ?(/var/lang/bin/python|/usr/bin/env python)", first):
            file.write_bytes(b"#!" + sys.executable.encode() + b"\n" + script.read())


def keep_layers_runnable() -> None:
    """Let programs in the layers of functions be run; ministack extracts them without that permission."""
    # ministack names an error that the module does not have.
    lambda_runtime.zipfile = SimpleNamespace(ZipFile=_LayerZip, BadZipFile=zipfile.BadZipFile, LargeFileError=zipfile.LargeZipFile)
