"""The resource schemas of CloudFormation that cfn-lint ships."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hyperpod_constructs.plan.change import NAMED_ITEMS
from hyperpod_constructs.plan.table import is_branch

Path_ = tuple[str, ...]


@cache
def schema(kind: str) -> dict[str, Any]:
    """The schema of a type."""
    spec = importlib.util.find_spec("cfnlint")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "data" / "schemas"
    digest = json.loads((folder / "providers/us-east-1.json").read_text())[kind]
    found: dict[str, Any] = json.loads((folder / f"resources/{digest}.json").read_text())
    return found


def members(of: dict[str, Any], node: Any) -> dict[str, Any]:
    """The properties of a node of a schema, behind references and lists."""
    if "$ref" in node:
        return members(of, of["definitions"][node["$ref"].rpartition("/")[2]])
    if "items" in node:
        return members(of, node["items"])
    found: dict[str, Any] = dict(node.get("properties", {}))
    for branch in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        found |= members(of, branch)
    return found


def properties(kind: str, item: str = "*") -> Iterator[Path_]:
    """The properties that a template can set, as deep as the plan compares them; `item` names the items of a list."""
    found = schema(kind)
    hidden = {tuple(path.removeprefix("/properties/").split("/")) for path in found.get("readOnlyProperties", ())}
    for name, node in found["properties"].items():
        for path in _inside(kind, found, (name,), node, item):
            if not any(path[: len(one)] == one or _unnamed(kind, path) == one for one in hidden):
                yield path


def _inside(kind: str, of: dict[str, Any], path: Path_, node: Any, item: str) -> Iterator[Path_]:
    if (kind, path[0]) in NAMED_ITEMS and len(path) == 1:
        path = (*path, item)
    inner = members(of, node) if is_branch(kind, path) or path[-1] == item else {}
    if not inner:
        yield path
    for name, child in inner.items():
        yield from _inside(kind, of, (*path, name), child, item)


def _unnamed(kind: str, path: Path_) -> Path_:
    return (path[0], "*", *path[2:]) if (kind, path[0]) in NAMED_ITEMS else path
