"""Wrong templates: a single mistake in a correct one, and the rule that finds it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hyperpod_constructs.templates.yaml_reading import parsed
from tests.rules.catalogue.cases import REMOVED, edited, no_longer_awaited
from tests.rules.wrong_templates.bases import Templates, base


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongTemplate:
    """One entry of samples.yaml."""

    name: str
    base: str
    edit: Mapping[str, Any]
    rule: str
    source: str
    warning: str | None = None
    """Why the finding is a warning, where it is one."""

    @property
    def reported(self) -> bool:
        """Whether a public report of it exists."""
        return self.source.startswith("https://github.com/")

    def templates(self) -> Templates:
        """The base with the mistake."""
        changed = base(self.base)
        for path, value in self.edit.items():
            file, place = _placed(changed, path)
            changed[file] = _changed(changed[file], place, value)
        return changed


@cache
def listed() -> tuple[WrongTemplate, ...]:
    """All of them."""
    entries: Any = parsed((Path(__file__).parent / "samples.yaml").read_text("utf-8"))
    return tuple(WrongTemplate(**entry) for entry in entries)


def written(templates: Templates, directory: Path) -> list[Path]:
    """The templates as files, which are JSON whatever their names."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, template in templates.items():
        (directory / name).write_text(json.dumps(template, indent=2), "utf-8")
    return [directory / name for name in templates]


def _placed(templates: Templates, path: str) -> tuple[str, list[str]]:
    """The file and the keys of a path: `Id/Property`, `Id/.Attribute` and `.Section/key`, with `file:` in front if needed.

    The id of a resource can be the beginning of one: constructs end theirs with a hash.
    """
    given, colon, rest = path.partition(":")
    if not (colon and given in templates):
        given, rest = "", path
    first, *keys = rest.split("/")
    if first.startswith("."):
        return given or next(iter(templates)), [first[1:], *keys]
    files = [given] if given else list(templates)
    found = {(file, id) for file in files for id in templates[file]["Resources"] if id == first}
    found = found or {(file, id) for file in files for id in templates[file]["Resources"] if id.startswith(first)}
    file, id = min(found) if len(found) == 1 else (files[0], first)
    return file, ["Resources", id, *_properties(keys)]


def _properties(keys: Sequence[str]) -> list[str]:
    if keys and keys[0].startswith("."):
        return [keys[0][1:], *keys[1:]]
    return ["Properties", *keys] if keys else []


def _changed(template: dict[str, Any], keys: list[str], value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value.startswith("-"):
        value = [item for item in _at(template, keys) if item != value[1:]]
    path = "/".join(["whole", f".{keys[0]}", *keys[1:]])
    change = {path: REMOVED if value == "REMOVED" else value}
    result: dict[str, Any] = edited({"Resources": {"whole": template}}, change)["Resources"]["whole"]
    if value == "REMOVED" and keys[0] == "Resources" and len(keys) == 2:
        no_longer_awaited(result, keys[1])
    return result


def _at(value: Any, keys: Sequence[str]) -> list[Any]:
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return list(value)
