"""Whether two assemblies hold the same stacks."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path
from typing import Any


def differences(library: Path, floor: Path) -> list[str]:
    """The differences between the stacks of two assemblies, one line each; empty if they are the same.

    The comparison covers every resource with type, properties, dependencies and policies, every output, parameter and rule, and the
    files of every asset. It ignores the order of dependencies and keys, which means nothing to CloudFormation, and the CDK CLI's
    metadata (construct paths, asset paths), which names constructs. The name of an asset is a hash of its files and of their
    selection; two assets with the same files are the same.
    """
    found: list[str] = []
    renamed = _assets(library, floor, found)
    names = sorted(file.name for file in library.glob("*.template.json"))
    if names != sorted(file.name for file in floor.glob("*.template.json")):
        return [*found, f"templates: {names} against {sorted(file.name for file in floor.glob('*.template.json'))}"]
    for name in names:
        ours, text = (library / name).read_text("utf-8"), (floor / name).read_text("utf-8")
        for old, new in renamed.items():
            text = text.replace(old, new)
        found += _compare(name.removesuffix(".template.json"), json.loads(ours), json.loads(text))
    return found


def _assets(library: Path, floor: Path, found: list[str]) -> dict[str, str]:
    """The floor's asset names, each with the library's name of the same files."""
    theirs = sorted(floor.glob("asset.*"))
    renamed = {}
    for ours in sorted(library.glob("asset.*")):
        same = next((other for other in theirs if _same_files(ours, other)), None)
        if same is None:
            found.append(f"assets: {ours.name} is not in the floor")
        else:
            theirs.remove(same)
            renamed[_hash(same)] = _hash(ours)
    found += [f"assets: {other.name} is not in the library's assembly" for other in theirs]
    return renamed


def _hash(asset: Path) -> str:
    return asset.name.split(".")[1]  # what follows is the file ending of the source


def _same_files(one: Path, other: Path) -> bool:
    names = {file.relative_to(one) for file in one.rglob("*") if file.is_file()}
    if names != {file.relative_to(other) for file in other.rglob("*") if file.is_file()}:
        return False
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


def _compare(stack: str, ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    found = []
    for section in sorted(set(ours) | set(theirs)):
        mine, other = ours.get(section, {}), theirs.get(section, {})
        if not isinstance(mine, dict) or not isinstance(other, dict):
            found += [] if mine == other else [f"{stack} {section}: {mine!r} against {other!r}"]
            continue
        for name in sorted(set(mine) | set(other)):
            left, right = _normal(mine.get(name)), _normal(other.get(name))
            if left != right:
                found.append(f"{stack} {section} {name}: {json.dumps(left)} against {json.dumps(right)}")
    return found


def _normal(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    normal = dict(entry)
    if "DependsOn" in normal:
        normal["DependsOn"] = sorted(normal["DependsOn"])
    metadata = {key: value for key, value in normal.pop("Metadata", {}).items() if not key.startswith(("aws:cdk:", "aws:asset:"))}
    return {**normal, "Metadata": metadata} if metadata else normal
