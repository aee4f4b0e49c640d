"""Mistakes and updates by someone who has not read the rules: correct templates, and single edits of them as data.

`bases` has the templates; `mistakes`, `variants.yaml` (edits that do no harm) and `updates.yaml` the edits; `sources.yaml` their
documents. The presets of the reference app come from their snapshots. The folders `second` to `thirtieth` have further sets,
each by somebody who has not read the rules either; a set may edit the bases of every set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.reading import read_template

_HERE = Path(__file__).parent
_SNAPSHOTS = _HERE.parent / "snapshot" / "__snapshots__" / "test_presets"
_PRESETS = ("announcement", "llm", "kubernetes")
_LATER = (
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twentyfirst",
    "twentysecond",
    "twentythird",
    "twentyfourth",
    "twentyfifth",
    "twentysixth",
    "twentyseventh",
    "twentyeighth",
    "twentyninth",
    "thirtieth",
)
_FOLDERS: Mapping[str, Path] = {"first": _HERE, **{name: _HERE / name for name in _LATER}}
SETS = tuple(_FOLDERS)
"""The names of the sets."""
Templates = Mapping[str, dict[str, Raw]]
"""The templates of a base by the name of their file."""


class CaseError(ValueError):
    """An edit that does not fit its base."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One change of one place in a template.

    :param at: path, its steps separated by `/`. It starts at `Resources`, or at the template if it begins with `/`; `-` is behind
        the last item of a list.
    :param file: the file of the base; the only one with this resource unless given.
    :param set: the new value, unless the place is removed or renamed.
    :param part: the part of a text that the new value replaces; it stands there once. The whole place unless given.
    :param rename: the new key of the place.
    """

    at: str
    file: str | None = None
    set: Any = None
    part: str | None = None
    remove: bool = False
    rename: str | None = None

    @property
    def steps(self) -> list[str]:
        """The path from the template, step by step."""
        whole = self.at[1:] if self.at.startswith("/") else f"Resources/{self.at}"
        return whole.split("/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """A mistake in a base, and the logical ids of which a finding names one."""

    id: str
    kind: str
    base: str
    edits: tuple[Edit, ...]
    why: str
    source: str
    names: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Update:
    """An update of a base, and the verdicts on its resource that are right."""

    id: str
    base: str
    before: tuple[Edit, ...]
    edits: tuple[Edit, ...]
    why: str
    source: str
    resource: str
    verdicts: tuple[str, ...]


def bases(of: str = "first") -> list[str]:
    """The names of all bases of a set."""
    presets = _PRESETS if of == "first" else ()
    return [*presets, *sorted(path.stem for path in (_FOLDERS[of] / "bases").iterdir())]


@cache
def files_of(base: str) -> Mapping[str, Path]:
    """The files of a base by the name that they have in a copy."""
    if base in _PRESETS:
        return {f"{stack}.json": _SNAPSHOTS / f"test_template[{base}-{stack}].json" for stack in ("Foundation", "Cluster")}
    (found,) = (path for folder in _FOLDERS.values() for path in (folder / "bases").iterdir() if path.stem == base)
    return {path.name: path for path in (sorted(found.iterdir()) if found.is_dir() else [found])}


@cache
def templates_of(base: str) -> Templates:
    """The templates of a base, short forms of functions in their long form."""
    return {name: read_template(path) for name, path in files_of(base).items()}


def mistakes(of: str = "first") -> list[Mistake]:
    """All mistakes of a set, by file and place in it."""
    return [_mistake(path.stem, entry) for path in sorted((_FOLDERS[of] / "mistakes").iterdir()) for entry in _read(path)]


def variants(of: str = "first") -> list[Mistake]:
    """Edits after which a base is as correct as before: mistakes that are none, and name nothing."""
    return [_mistake("correct", entry) for entry in _read(_FOLDERS[of] / "variants.yaml")]


def updates(of: str = "first") -> list[Update]:
    """All updates of a set."""
    return [
        Update(
            id=entry["id"],
            base=entry["base"],
            before=tuple(Edit(**edit) for edit in entry.get("old", [])),
            edits=_edits(entry),
            why=entry["why"],
            source=_sources()[entry["src"]],
            resource=entry["of"],
            verdicts=tuple(entry["verdicts"]),
        )
        for entry in _read(_FOLDERS[of] / "updates.yaml")
    ]


def edited(base: str, edits: Sequence[Edit]) -> Templates:
    """A base with these edits. It shares with the base what they leave alone, so nobody may change it.

    :raises CaseError: for an edit that does not fit.
    """
    templates = dict(templates_of(base))
    for edit in edits:
        file = edit.file or _file_with(templates, edit)
        templates[file] = _changed(templates[file], edit)
    return templates


def write(templates: Templates, directory: Path) -> list[Path]:
    """Write templates into a directory, as JSON, which is YAML too; their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / name for name in templates]
    for path, template in zip(paths, templates.values(), strict=True):
        path.write_text(json.dumps(template), "utf-8")
    return paths


def _mistake(kind: str, entry: Mapping[str, Any]) -> Mistake:
    return Mistake(
        id=entry["id"],
        kind=entry.get("kind", kind),
        base=entry["base"],
        edits=_edits(entry),
        why=entry["why"],
        source=_sources()[entry["src"]],
        names=frozenset(entry.get("names", ())),
    )


def _edits(entry: Mapping[str, Any]) -> tuple[Edit, ...]:
    own = {key: entry[key] for key in ("at", "file", "set", "part", "remove", "rename") if key in entry}
    return tuple(Edit(**edit) for edit in (own, *entry.get("also", [])))


def _file_with(templates: Templates, edit: Edit) -> str:
    if len(templates) == 1:
        return next(iter(templates))
    section, name = edit.steps[:2]
    found = [file for file, template in templates.items() if name in _mapping(template.get(section))]
    if len(found) != 1:
        raise CaseError(f"{edit.at}: {len(found)} files have it; name one of {', '.join(templates)}")
    return found[0]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _changed(template: dict[str, Raw], edit: Edit) -> dict[str, Raw]:
    try:
        changed: dict[str, Raw] = _with(template, edit.steps, edit)
    except (KeyError, IndexError, TypeError) as error:
        raise CaseError(f"{edit.at}: does not fit the base: {error!r}") from error
    return changed


def _with(place: Any, steps: Sequence[str], edit: Edit) -> Any:
    """A copy of a place with an edit; what the edit leaves alone is shared with the place."""
    step, *further = steps
    key, changed = _key(place, step), copy(place)
    if further:
        changed[key] = _with(place[key], further, edit)
    elif edit.remove:
        del changed[key]
    elif edit.rename is not None:
        changed[edit.rename] = changed.pop(key)
    elif edit.part is not None:
        changed[key] = _replaced(place[key], edit.part, edit.set)
    elif isinstance(place, list) and key == len(place):
        changed.append(edit.set)
    else:
        changed[key] = edit.set
    return changed


def _replaced(text: str, part: str, new: str) -> str:
    if text.count(part) != 1:
        raise CaseError(f"{part!r} stands {text.count(part)} times in its text, not once")
    return text.replace(part, new)


def _key(place: object, step: str) -> str | int:
    if not isinstance(place, list):
        return step
    return len(place) if step == "-" else int(step)


@cache
def _sources() -> Mapping[str, str]:
    texts = [(folder / "sources.yaml").read_text("utf-8") for folder in _FOLDERS.values()]
    return {key: source for text in texts for key, source in _parsed(text).items()}


@cache
def _read(path: Path) -> Sequence[Mapping[str, Any]]:
    return tuple(_parsed(path.read_text("utf-8")))


def _parsed(text: str) -> Any:
    """The content of a YAML file of ours; in C, as every process of the tests reads all sets."""
    return yaml.load(text, yaml.CSafeLoader)
