"""An object on its way into the store: read by its schema, completed, judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes import checks, custom_values, defaults, definitions, expressions, metadata, status
from hyperpod_constructs.local.kubernetes.decoding import Decoder
from hyperpod_constructs.local.kubernetes.resources import DEFINITIONS, ResourceType
from hyperpod_constructs.local.kubernetes.schemas import Schemas
from hyperpod_constructs.local.kubernetes.status import Cause
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"


class Read(NamedTuple):
    """An object with known fields only; `missing` are fields that its schema requires."""

    value: Object
    missing: list[Cause]


class Admission:
    """Reads, completes and judges objects of all kinds."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def read(
        self, kind: ResourceType, obj: Mapping[str, Any], *, validation: str, warnings: list[str], apply: bool = False
    ) -> Read:
        """The object by its schema.

        :raises ApiError: 400 for values of another type, and for unknown fields under `Strict`.
        """
        decoder = Decoder(self._schemas, kind.kind, kind.version)
        if kind.custom:
            value, unknown = custom_values.prune(kind.schema, dict(obj), root=True)
            found = decoder.decode(
                {"properties": {"metadata": kind.schema["properties"]["metadata"]}}, {"metadata": obj["metadata"]}
            )
            value["metadata"] = found.value["metadata"]
        else:
            found = decoder.decode(kind.schema, obj)
            value, unknown = found.value, []
        self._tell(kind, obj, unknown + found.unknown, validation, warnings, apply=apply)
        return Read({"apiVersion": kind.api_version, "kind": kind.kind, **value}, found.missing)

    def _tell(
        self,
        kind: ResourceType,
        obj: Mapping[str, Any],
        unknown: Iterable[str],
        validation: str,
        warnings: list[str],
        *,
        apply: bool,
    ) -> None:
        texts = [f'unknown field "{path}"' for path in unknown]
        if not texts or validation == IGNORE:
            return
        if validation == STRICT and apply:
            place = "/".join(filter(None, (at(obj, "metadata", "namespace"), at(obj, "metadata", "name"))))
            path = texts[0].split('"')[1]
            raise status.bad_request(
                f"failed to create typed patch object ({place}; {kind.api_version}, Kind={kind.kind}): "
                f".{path}: field not declared in schema"
            )
        if validation == STRICT:
            raise status.bad_request(
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
                f"strict decoding error: {', '.join(texts)}"
            )
        warnings += texts

    def complete(self, kind: ResourceType, obj: Object) -> Object:
        """The object with its defaults."""
        if kind.custom:
            filled: Object = custom_values.with_defaults(kind.schema, obj)
            return filled
        defaults.fill(kind.key, obj)
        return obj

    def judge(self, kind: ResourceType, obj: Object, before: Object | None, missing: list[Cause], warnings: list[str]) -> None:
        """Whether the object may be stored.

        :raises ApiError: 422 with every wrong field.
        """
        causes = [*metadata.problems(kind.key, obj["metadata"])]
        if kind.custom:
            plain = {key: item for key, item in obj.items() if key != "metadata"}
            causes += custom_values.problems({**kind.schema, "required": _without_metadata(kind)}, plain)
            if not causes and expressions.has_rules(kind.schema):
                past = () if before is None else (before,)
                causes += expressions.broken(kind.schema, obj, *past)
        else:
            causes += missing
            known = {cause.field for cause in causes}
            causes += (cause for cause in checks.problems(kind.key, obj) if cause.field not in known)
            if before is not None:
                causes += checks.changes(kind.key, before, obj)
        if kind.key == DEFINITIONS:
            causes += definitions.problems(obj)
            if not causes:
                self._judge_rules(obj, warnings)
        if causes:
            raise status.invalid(kind.named(obj["metadata"].get("name", "")), causes)

    def _judge_rules(self, obj: Object, warnings: list[str]) -> None:
        for index, version in enumerate(obj["spec"]["versions"]):
            path = f"spec.versions[{index}].schema.openAPIV3Schema"
            for where, rule, reason in expressions.unreadable(version["schema"]["openAPIV3Schema"], path):
                warnings.append(f"{where}: this double cannot evaluate the rule {rule!r} and leaves it out: {reason}")


def _without_metadata(kind: ResourceType) -> list[str]:
    return [name for name in kind.schema.get("required", ()) if name != "metadata"]
