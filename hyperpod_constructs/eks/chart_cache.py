"""Fetched charts in the user's cache: archives named by their hash, and a record of where the newest came from.

A record is also the lock file of a project: whoever has it gets the same bytes, or an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.eks.chart_files import MOST_BYTES, MOST_FILES, ChartError
from hyperpod_constructs.facts.chart import no_chart

LOCK_FILE = "hyperpod-chart.lock"
_CURRENT = "current.json"
_MOST_PACKED = MOST_BYTES + MOST_FILES * 2048
_MOST_RECORD = 2**16
_REVISION = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TEXT = re.compile(r"[\w.+/-]{1,200}")


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """One fetched dependency: its place in the chart, its version and the SHA-256 of its archive."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Where a packed chart came from.

    :param revision: the commit of the service's repository.
    :param dependencies: what was fetched beside it.
    :param chart: SHA-256 of the packed chart.
    """

    revision: str
    dependencies: tuple[Locked, ...]
    chart: str

    def text(self) -> str:
        """The record as it is written."""
        found = {one.name: {"version": one.version, "sha256": one.sha256} for one in self.dependencies}
        return json.dumps({"revision": self.revision, "dependencies": found, "chart": self.chart}, indent=2) + "\n"


def read_record(path: Path) -> Record | None:
    """A record or lock file; `None` without one.

    :raises ChartError: for a file that is no record.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_RECORD + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ChartError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        if len(text) > _MOST_RECORD:
            raise ValueError("it is too long")
        return _record(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ChartError(f"{path}: not a record of `hyperpod chart fetch` ({error}); delete it and fetch again") from error


def _record(found: Mapping[str, Any]) -> Record:
    locked = sorted(
        Locked(_form(_TEXT, name), _form(_TEXT, one["version"]), _form(_SHA256, one["sha256"]))
        for name, one in found["dependencies"].items()
    )
    return Record(revision=_form(_REVISION, found["revision"]), dependencies=tuple(locked), chart=_form(_SHA256, found["chart"]))


def _form(pattern: re.Pattern[str], text: Any) -> str:
    if not isinstance(text, str) or pattern.fullmatch(text) is None:
        raise ValueError(f"{text!r:.80} is not of the form {pattern.pattern}")
    return text


def cache_directory() -> Path:
    """Where charts of this user lie: `XDG_CACHE_HOME`, else `~/.cache`."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    return base / "hyperpod-constructs" / "charts"


def private(directory: Path) -> Path:
    """The directory, made for this user alone if it is not there.

    :raises ChartError: if others can write to it, or it is somebody else's.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.lstat()
    others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or others)):
        raise ChartError(f"{directory}: others can write here, so a chart in it proves nothing; run `chmod 700` on it, or own it")
    return directory


def store(packed: bytes, record: Record, directory: Path) -> None:
    """Put a packed chart into the cache. It appears whole or not at all."""
    private(directory)
    replace(directory / f"{record.chart}.zip", packed)
    replace(directory / _CURRENT, record.text().encode())


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step: a reader sees the old or the new one."""
    handle, temporary = tempfile.mkstemp(prefix=f"{path.name}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(directory: Path, record: Record | None) -> tuple[bytes, Record]:
    """The packed chart of that record, else of the newest one in the cache.

    :raises ChartError: if it is not there, with the command; and if its bytes are not those of its name.
    """
    if not directory.is_dir():
        raise ChartError(str(no_chart(str(directory))))
    private(directory)
    found = record or read_record(directory / _CURRENT)
    if found is None:
        raise ChartError(str(no_chart(str(directory))))
    path = directory / f"{found.chart}.zip"
    try:
        with path.open("rb") as file:
            packed = file.read(_MOST_PACKED)
    except FileNotFoundError as error:
        raise ChartError(str(no_chart(str(directory)))) from error
    if hashlib.sha256(packed).hexdigest() != found.chart:
        raise ChartError(f"{path}: its content was changed; delete the file and run `hyperpod chart fetch`")
    return packed, found
