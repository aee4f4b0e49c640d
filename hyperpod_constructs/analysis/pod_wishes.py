"""The nodes that pods want: by labels that they select, and by taints that they tolerate.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/ (as of 2026-12-01)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.facts.raw_parts import items, mapping, part
from hyperpod_constructs.templates.values import Value, as_items, frozen

_TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


def wanted_labels(pods: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]] | None:
    """The labels that a node of pods surely has, each with the values of which it has one; `None` if some are not known.

    Terms of an affinity are alternatives: only a single one is needed.
    """
    selector = pods.get("nodeSelector") or {}
    if not isinstance(selector, Mapping) or any(has_hole(one) for pair in selector.items() for one in pair):
        return None
    found: dict[str, tuple[str, ...]] = {str(key): (str(value),) for key, value in selector.items()}
    terms = items(part(pods, *_TERMS))
    for one in items(mapping(terms[0]).get("matchExpressions")) if len(terms) == 1 else ():
        values = items(part(one, "values"))
        if any(map(has_hole, (part(one, "key"), *values))):
            return None
        if part(one, "operator") == "In" and values:
            found.setdefault(str(part(one, "key")), tuple(map(str, values)))
    return found


def tolerations_of(pods: Mapping[str, Any]) -> tuple[Value, ...] | None:
    """The tolerations of pods; `None` if they are not known."""
    found = pods.get("tolerations") or []
    is_known = isinstance(found, list) and not any(has_hole(one) or any(map(has_hole, mapping(one).values())) for one in found)
    return as_items(frozen(found)) if is_known else None
