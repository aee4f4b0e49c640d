"""This package's part of `config.json`: `cluster.node_recovery`, `software.health` and the mounts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from node_health.errors import NodeHealthError

RECOVERIES = ("Automatic", "None")
NUMBERS = {
    "interval_seconds": 60,
    "max_marks_per_node_per_day": 1,
    "max_marks_per_cluster_per_hour": 2,
    "hang_seconds": 600,
}
CHECKS_DIRECTORY = "/opt/hyperpod/checks.d"


class Settings(NamedTuple):
    """The settings; `mounts` are the paths of all groups, `group_mounts` those of some groups."""

    enabled: bool = False
    recovers: bool = True
    shared_directory: str | None = None
    mounts: tuple[str, ...] = ()
    group_mounts: tuple[str, ...] = ()
    checks_directory: str = CHECKS_DIRECTORY
    interval_seconds: int = NUMBERS["interval_seconds"]
    max_marks_per_node_per_day: int = NUMBERS["max_marks_per_node_per_day"]
    max_marks_per_cluster_per_hour: int = NUMBERS["max_marks_per_cluster_per_hour"]
    hang_seconds: int = NUMBERS["hang_seconds"]


def read_settings(path: Path) -> Settings:
    """The settings in a file.

    :raises NodeHealthError: if the file is missing or does not match the schema.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NodeHealthError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise NodeHealthError(f"{path}: is not JSON: {error}") from error
    try:
        return settings(document)
    except NodeHealthError as error:
        raise NodeHealthError(f"{path}: {error}") from error


def settings(document: Any) -> Settings:
    """The settings in a parsed `config.json`."""
    software = _object("software", _object("the document", document).get("software", {}))
    recovery = _object("cluster", document.get("cluster", {})).get("node_recovery", "Automatic")
    if recovery not in RECOVERIES:
        raise NodeHealthError(f"cluster.node_recovery is {recovery!r}, allowed are {', '.join(RECOVERIES)}")
    health = software.get("health")
    if health is None:
        return Settings(enabled=False, recovers=recovery == "Automatic")
    _object("software.health", health)
    for key in health:
        if key not in NUMBERS and key != "checks_directory":
            allowed = ", ".join((*NUMBERS, "checks_directory"))
            raise NodeHealthError(f"software.health has the unknown key {key!r}, allowed are {allowed}")
    every, some = _mounts(document)
    return Settings(
        enabled=True,
        recovers=recovery == "Automatic",
        shared_directory=_path("software.shared_directory", software.get("shared_directory")),
        mounts=every,
        group_mounts=some,
        checks_directory=_path("software.health.checks_directory", health.get("checks_directory")) or CHECKS_DIRECTORY,
        **{name: _number(f"software.health.{name}", health.get(name, default)) for name, default in NUMBERS.items()},
    )


def _mounts(document: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    mounts = _object("mounts", document.get("mounts", {}))
    try:
        paths = [{entry["path"] for entry in mounts.get(group, [])} for group in document.get("groups", {})]
    except (KeyError, TypeError) as error:
        raise NodeHealthError(f"mounts is {mounts!r}, it must hold a list of objects with a path for each group") from error
    every = set.intersection(*paths) if paths else set()
    return tuple(sorted(every)), tuple(sorted(set().union(*paths) - every))


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NodeHealthError(f"{where} is {value!r}, it must be an object")
    return value


def _number(where: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise NodeHealthError(f"{where} is {value!r}, it must be a whole number of 1 or more")
    return value


def _path(where: str, value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value.startswith("/")):
        raise NodeHealthError(f"{where} is {value!r}, it must be an absolute path")
    return value
