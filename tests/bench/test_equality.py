"""The proof that two assemblies hold the same stacks, on assemblies written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.equality import differences

QUEUE: dict[str, Any] = {"Type": "AWS::SQS::Queue", "Properties": {"DelaySeconds": 5}, "DependsOn": ["A", "B"]}


def assembly(directory: Path, resource: dict[str, Any], assets: dict[str, str] | None = None) -> Path:
    directory.mkdir()
    (directory / "Stack.template.json").write_text(json.dumps({"Description": "one", "Resources": {"Queue": resource}}))
    for name, text in (assets or {}).items():
        (directory / f"asset.{name}").mkdir()
        (directory / f"asset.{name}" / "handler.py").write_text(text)
    return directory


def compared(tmp_path: Path, resource: dict[str, Any]) -> list[str]:
    return differences(assembly(tmp_path / "library", QUEUE), assembly(tmp_path / "floor", resource))


def test_equal_assemblies_have_no_differences(tmp_path: Path) -> None:
    assert compared(tmp_path, QUEUE) == []


@pytest.mark.parametrize(
    "change",
    [
        {"Properties": {"DelaySeconds": 6}},
        {"Properties": {"DelaySeconds": 5, "FifoQueue": True}},
        {"Type": "AWS::SQS::OtherQueue"},
        {"DependsOn": ["A"]},
        {"DeletionPolicy": "Retain"},
        {"Metadata": {"Own": 1}},
    ],
)
def test_a_changed_resource_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    (found,) = compared(tmp_path, QUEUE | change)
    assert found.startswith("Stack Resources Queue: ")


def test_order_of_dependencies_and_construct_paths_mean_nothing(tmp_path: Path) -> None:
    assert compared(tmp_path, QUEUE | {"DependsOn": ["B", "A"], "Metadata": {"aws:cdk:path": "Stack/Queue"}}) == []


def test_a_missing_resource_is_named(tmp_path: Path) -> None:
    library, floor = assembly(tmp_path / "library", QUEUE), assembly(tmp_path / "floor", QUEUE)
    (floor / "Stack.template.json").write_text(json.dumps({"Description": "one", "Resources": {}}))
    assert differences(library, floor)[0].startswith("Stack Resources Queue: ")


def test_a_missing_stack_is_named(tmp_path: Path) -> None:
    library, floor = assembly(tmp_path / "library", QUEUE), assembly(tmp_path / "floor", QUEUE)
    (floor / "Stack.template.json").unlink()
    assert differences(library, floor) == ["templates: ['Stack.template.json'] against []"]


def test_an_asset_of_the_same_files_may_have_another_hash(tmp_path: Path) -> None:
    resource = {"Type": "AWS::Lambda::Function", "Properties": {"Key": "aaaa.zip"}}
    library = assembly(tmp_path / "library", resource, {"aaaa": "pass"})
    floor = assembly(tmp_path / "floor", resource | {"Properties": {"Key": "bbbb.zip"}}, {"bbbb": "pass"})
    assert differences(library, floor) == []


def test_an_asset_of_other_files_is_named(tmp_path: Path) -> None:
    library, floor = (
        assembly(tmp_path / "library", QUEUE, {"aaaa": "pass"}),
        assembly(tmp_path / "floor", QUEUE, {"aaaa": "x = 1"}),
    )
    assert differences(library, floor) == [
        "assets: asset.aaaa is not in the floor",
        "assets: asset.aaaa is not in the library's assembly",
    ]
