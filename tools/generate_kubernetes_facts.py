"""Writes `hyperpod_constructs/facts/kubernetes_kinds.tsv`: the fields of Kubernetes' own kinds in templates, with their forms.

The source is Kubernetes' API as the package `kubernetes-validate` of PyPI has it, in one set of schemas for each version:

    python tools/generate_kubernetes_facts.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types

TABLE = Path(__file__).parents[1] / "hyperpod_constructs" / "facts" / "kubernetes_kinds.tsv"
VERSIONS = tuple(f"1.{minor}" for minor in range(30, 38))
KINDS: Mapping[str, tuple[str, ...]] = {
    "v1": (
        *("ConfigMap", "LimitRange", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod"),
        *("ResourceQuota", "Secret", "Service", "ServiceAccount"),
    ),
    "apps/v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling/v1": ("HorizontalPodAutoscaler",),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "networking.k8s.io/v1": ("Ingress", "IngressClass", "NetworkPolicy"),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": ("StorageClass",),
}
"""The kinds that templates apply, by their API version."""
_FORMS = {"string": "s", "integer": "i", "number": "n", "boolean": "b", "object": "o"}
_SPECIAL = {"Quantity": "q", "IntOrString": "x", "Time": "s", "MicroTime": "s", "FieldsV1": "o"}
_LEFT_OUT: Mapping[str, str] = {"status": "o", "managedFields": "[o]"}
"""Fields that Kubernetes writes itself: what is in them is not told."""
_Definitions = Mapping[str, Mapping[str, Any]]
_Fields = dict[str, dict[str, str]]


def render() -> str:
    """The table of all versions together: a field of one of them is a field, and one that each of them needs is needed."""
    fields: _Fields = {}
    for version in VERSIONS:
        definitions = _definitions(version)
        for names in KINDS.values():
            for name in names:
                for key in definitions:
                    if _is_kind(key, name):
                        _add(fields, definitions, key)
    lines = (
        f"# Fields of Kubernetes' kinds in its versions {VERSIONS[0]} to {VERSIONS[-1]}, from kubernetes-validate (Apache-2.0).",
        "# tools/generate_kubernetes_facts.py writes this file: a definition, and its fields with their forms: s a text, i a whole",
        "# number, n a number, b true or false, q an amount, x a number or a text, o an object, [ ] a list, { } a map, else a",
        "# definition; ! for a field that is needed. The rows with a version are kinds.",
        *(f"{version} {name}\t{_short(_key_of(version, name))}" for version, names in KINDS.items() for name in names),
        *(f"{name}\t{' '.join(f'{one}:{form}' for one, form in sorted(found.items()))}" for name, found in sorted(fields.items())),
    )
    return "\n".join(lines) + "\n"


def _definitions(version: str) -> _Definitions:
    root = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{version}.0-local"
    found: _Definitions = json.loads((root / "_definitions.json").read_text("utf-8"))["$defs"]
    return found


def _key_of(version: str, name: str) -> str:
    group, _, number = version.rpartition("/")
    return f"io.k8s.api.{group.split('.')[0] or 'core'}.{number}.{name}"


def _is_kind(key: str, name: str) -> bool:
    return any(name in names and key == _key_of(version, name) for version, names in KINDS.items())


def _short(key: str) -> str:
    """The name of a definition: its last part, with group and version where the group is not that of pods."""
    group, version, name = key.split(".")[-3:]
    plain = group in ("core", "meta") or key.startswith("io.k8s.apimachinery")
    return name if plain else f"{group}.{version}.{name}"


def _add(fields: _Fields, definitions: _Definitions, key: str) -> None:
    """Adds a definition and all that it names."""
    found, needed = definitions[key].get("properties", {}), definitions[key].get("required", ())
    name = _short(key)
    known, fresh = fields.get(name, {}), name not in fields
    merged = dict(known)
    for field, schema in found.items():
        form = _LEFT_OUT.get(field) or _form(schema)
        merged[field] = f"{form}!" if field in needed and (fresh or known.get(field, "").endswith("!")) else form
    fields[name] = {field: form if field in found else form.removesuffix("!") for field, form in merged.items()}
    if fresh or merged != known:
        for inner in _named(schema for field, schema in found.items() if field not in _LEFT_OUT):
            _add(fields, definitions, inner)


def _form(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = _short(_target(schema))
        return _SPECIAL.get(name, name)
    listed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kinds = [kind for kind in listed if kind != "null"]
    if kinds == ["array"]:
        return f"[{_form(schema['items'])}]"
    if kinds == ["object"] and "additionalProperties" in schema:
        return f"{{{_form(schema['additionalProperties'])}}}"
    return _FORMS[kinds[0]]


def _target(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _named(schemas: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for schema in schemas:
        inner = [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), Mapping)]
        yield from _named(inner)
        if "$ref" in schema and _short(_target(schema)) not in _SPECIAL:
            yield _target(schema)


def main() -> None:
    """Writes the table."""
    TABLE.write_text(render(), "utf-8")


if __name__ == "__main__":
    main()
