"""What Kueue's objects may hold, as structural schemas for their definitions: the fields that people write, and their limits.

The status is open, because Kueue alone writes it. Left out: admission checks on flavors, topologies of cohorts, workloads.

Source: https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta1/ (as of 2026-11-24)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

_NAME = {"type": "string", "maxLength": 253, "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"}
_TEXT = {"type": "string"}
_AMOUNT = {
    "x-kubernetes-int-or-string": True,
    "pattern": r"^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[munkMGTPE]|[eE][+-]?[0-9]+)?$",
}
"""A quantity, of which Kueue takes none below zero."""
_OPEN: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    return {"type": "object", "properties": dict(properties), **({"required": list(required)} if required else {})}


def _list(items: Schema, most: int, *, least: int = 0, key: str = "") -> Schema:
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]} if key else {}
    return {"type": "array", "items": items, "maxItems": most, **({"minItems": least} if least else {}), **keys}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


def _of_kind(spec: Schema) -> Schema:
    return _object({"spec": spec, "status": _OPEN})


_STOP = _one_of("None", "Hold", "HoldAndDrain")
_FAIR_SHARING = _object({"weight": _AMOUNT})
_SELECTOR = _object(
    {
        "matchLabels": {"type": "object", "additionalProperties": _TEXT},
        "matchExpressions": {
            "type": "array",
            "items": _object({"key": _TEXT, "operator": _TEXT, "values": {"type": "array", "items": _TEXT}}, ("key", "operator")),
        },
    }
)
_QUOTA = _object(
    {"name": _TEXT, "nominalQuota": _AMOUNT, "borrowingLimit": _AMOUNT, "lendingLimit": _AMOUNT}, ("name", "nominalQuota")
)
_FLAVOR_QUOTAS = _object(
    {"name": _NAME, "resources": _list(_QUOTA, 64, least=1, key="name")},
    ("name", "resources"),
)
_GROUP: Schema = {
    **_object(
        {"coveredResources": _list(_TEXT, 64, least=1), "flavors": _list(_FLAVOR_QUOTAS, 64, least=1, key="name")},
        ("coveredResources", "flavors"),
    ),
    "x-kubernetes-validations": [
        {
            "rule": "self.flavors.all(f, f.resources.map(r, r.name) == self.coveredResources)",
            "message": "each flavor lists the covered resources, all of them and in their order",
        }
    ],
}
_GROUPS = _list(_GROUP, 16)
_ALONE = {
    "rule": "has(self.cohort) || !has(self.resourceGroups) || self.resourceGroups.all(g, g.flavors.all(f, "
    "f.resources.all(r, !has(r.borrowingLimit) && !has(r.lendingLimit))))",
    "message": "borrowingLimit and lendingLimit need a cohort",
}
_FUNGIBILITY = _object({"whenCanBorrow": _TEXT, "whenCanPreempt": _TEXT, "preference": _TEXT})
_PREEMPTION = _object(
    {
        "reclaimWithinCohort": _one_of("Never", "LowerPriority", "Any"),
        "borrowWithinCohort": _object(
            {"policy": _one_of("Never", "LowerPriority"), "maxPriorityThreshold": {"type": "integer", "format": "int32"}}
        ),
        "withinClusterQueue": _one_of("Never", "LowerPriority", "LowerOrNewerEqualPriority"),
    }
)
_EFFECT = _one_of("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = _object({"key": _TEXT, "value": _TEXT, "effect": _EFFECT, "timeAdded": _TEXT}, ("key", "effect"))
_TOLERATION = _object(
    {
        "key": _TEXT,
        "operator": _one_of("Exists", "Equal"),
        "value": _TEXT,
        "effect": _EFFECT,
        "tolerationSeconds": {"type": "integer", "format": "int64"},
    }
)

SCHEMAS: Mapping[str, Schema] = {
    "ClusterQueue": _of_kind(
        {
            **_object(
                {
                    "resourceGroups": _GROUPS,
                    "cohort": _NAME,
                    "queueingStrategy": {**_one_of("StrictFIFO", "BestEffortFIFO"), "default": "BestEffortFIFO"},
                    "namespaceSelector": _SELECTOR,
                    "flavorFungibility": _FUNGIBILITY,
                    "preemption": _PREEMPTION,
                    "admissionChecks": _list(_NAME, 64),
                    "admissionChecksStrategy": _OPEN,
                    "stopPolicy": {**_STOP, "default": "None"},
                    "fairSharing": _FAIR_SHARING,
                    "admissionScope": _OPEN,
                }
            ),
            "x-kubernetes-validations": [_ALONE],
        }
    ),
    "Cohort": _of_kind(_object({"parentName": _NAME, "resourceGroups": _GROUPS, "fairSharing": _FAIR_SHARING})),
    "LocalQueue": _of_kind(
        _object({"clusterQueue": _NAME, "stopPolicy": {**_STOP, "default": "None"}, "fairSharing": _FAIR_SHARING})
    ),
    "ResourceFlavor": _of_kind(
        _object(
            {
                "nodeLabels": {"type": "object", "additionalProperties": _TEXT, "maxProperties": 8},
                "nodeTaints": _list(_TAINT, 8),
                "tolerations": _list(_TOLERATION, 8),
                "topologyName": _NAME,
            }
        )
    ),
    "WorkloadPriorityClass": _object({"value": {"type": "integer", "format": "int32"}, "description": _TEXT}, ("value",)),
}
"""The schemas by kind."""
