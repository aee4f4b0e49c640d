"""The whole templates of the presets.

After an intended change: `pytest tests/snapshot --snapshot-update`, and read the difference.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_constructs.node_software import lifecycle_scripts
from tests.presets import PRESETS, STACKS, build, templates
from tests.snapshot.scrubbing import scrub

Templates = dict[str, dict[str, Any]]
Place = tuple[str | int, ...]

#: Where a template names the content of files: the code of functions, the archive of scripts, their prefix, and the digest of the
#: cluster's properties.
_HASHED = {"S3Key", "SourceKey", "Prefix", "SourceS3Uri", "Follows"}


@pytest.fixture(scope="session")
def templates_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Templates]:
    """The templates of a preset, synthesized once."""
    return cache(lambda preset: templates(build(preset, tmp_path_factory.mktemp(preset))))


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_template(preset: str, stack: str, templates_of: Callable[[str], Templates], snapshot: SnapshotAssertion) -> None:
    assert scrub(templates_of(preset)[stack]) == snapshot(extension_class=JSONSnapshotExtension)


def test_an_edited_lifecycle_script_changes_nothing_that_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, templates_of: Callable[[str], Templates]
) -> None:
    before = templates_of(PRESETS[0])
    scripts = tmp_path / "lifecycle"
    shutil.copytree(lifecycle_scripts.packaged_scripts(), scripts, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    with (scripts / "on_init_complete.sh").open("a") as script:
        script.write("# one line more\n")
    monkeypatch.setattr(lifecycle_scripts, "packaged_scripts", lambda: scripts)
    edited = templates(build(PRESETS[0], tmp_path / "assembly"))
    assert edited["Cluster"] != before["Cluster"]
    assert scrub(edited) == scrub(before)


def test_only_names_of_content_are_scrubbed(templates_of: Callable[[str], Templates]) -> None:
    for stack in STACKS:
        template = templates_of(PRESETS[0])[stack]
        scrubbed = [place for place, value in _leaves(template) if scrub(value) != value]
        in_policies = [place for place in scrubbed if "PolicyDocument" in place]
        assert all(_HASHED & set(place) for place in scrubbed if place not in in_policies), scrubbed
        assert len(in_policies) == (1 if stack == "Cluster" else 0)
        assert bool(scrubbed) == (stack == "Cluster")


def test_every_other_change_is_seen(templates_of: Callable[[str], Templates]) -> None:
    """Each value of the templates, changed in turn, and each entry, renamed in turn."""
    for stack in STACKS:
        template = templates_of(PRESETS[0])[stack]
        expected = scrub(template)
        for place, value in _leaves(template):
            assert scrub(_changed(value)) != _at(expected, place), place
            *parents, last = place
            holder = copy.copy(_at(template, tuple(parents)))
            if isinstance(holder, dict):
                holder[f"{last}X"] = holder.pop(last)
                assert scrub(holder) != _at(expected, tuple(parents)), place


def _leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield place, value
        return
    for key, item in items:
        yield from _leaves(item, (*place, key))


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _changed(value: Any) -> Any:
    """Another value of the same type; in a text with a hash, the text around the hash changes."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"
