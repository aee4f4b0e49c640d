"""The schemas of the built-in kinds, out of the package `kubernetes-validate`, for one minor version."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

Schema = Mapping[str, Any]
GroupVersionKind = tuple[str, str, str]
REFERENCE = "#/$defs/"


class Schemas:
    """The definitions of one minor version. References between them are resolved while they are read."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self.definitions = definitions
        self._names: dict[GroupVersionKind, str] = {}
        for name, schema in definitions.items():
            for kind in schema.get("x-kubernetes-group-version-kind", ()):
                self._names.setdefault((kind["group"], kind["version"], kind["kind"]), name)

    def name(self, group: str, version: str, kind: str) -> str | None:
        """The name of a kind's definition."""
        return self._names.get((group, version, kind))

    def get(self, group: str, version: str, kind: str) -> Schema | None:
        """The schema of a kind; None where this version has no such kind."""
        name = self.name(group, version, kind)
        return None if name is None else self.definitions[name]

    def resolve(self, schema: Schema) -> Schema:
        """The schema itself, or the one that it refers to. What stands beside a reference (how lists merge) stays in force."""
        reference = schema.get("$ref")
        if reference is None:
            return schema
        target = self.definitions[reference.rpartition("/")[2]]
        beside = {key: value for key, value in schema.items() if key.startswith("x-kubernetes-")}
        return {**target, **beside} if beside else target

    @property
    def metadata(self) -> Schema:
        """The schema of `metadata`."""
        return self.definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]


def supported_versions() -> list[str]:
    """The minor versions whose schemas are installed."""
    found = {path.name.split("-")[0].removeprefix("v").removesuffix(".0") for path in _folder().glob("v*-local")}
    return sorted(found, key=lambda version: tuple(int(part) for part in version.split(".")))


@lru_cache(maxsize=2)
def load(version: str) -> Schemas:
    """The schemas of a minor version such as `1.34`.

    :raises ValueError: for a version without schemas.
    """
    if version not in supported_versions():
        raise ValueError(f"kubernetes version {version}: there are schemas of {', '.join(supported_versions())}; take one of them")
    text = (_folder() / f"v{version}.0-local" / "_definitions.json").read_text()
    return Schemas(json.loads(text)["$defs"])


def _folder() -> Path:
    """Found without importing the package, which loads jsonschema and more."""
    package = importlib.util.find_spec("kubernetes_validate")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("kubernetes-validate is not installed: pip install 'hyperpod-constructs[local]'")
    return Path(package.origin).parent / "kubernetes-json-schema"
